# Installs BUILD into SCRATCH, builds EXAMPLE against that copy alone, moves the copy (it must be relocatable) and runs.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY COMMAND_ECHO STDOUT)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/first)
file(RENAME ${SCRATCH}/first ${SCRATCH}/moved)
run(${CMAKE_COMMAND} -S ${EXAMPLE} -B ${SCRATCH}/example -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${SCRATCH}/moved)
run(${CMAKE_COMMAND} --build ${SCRATCH}/example)
execute_process(COMMAND ${SCRATCH}/example/mat_add OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
message("the example printed: ${printed}")
