# hash_sources(OUTPUT NAMESPACE FUNCTION FILE...): a C++ file that defines `const char* NAMESPACE::FUNCTION()`, the hash of
# the files' names and contents. A change of one of them recompiles only this file for the hash.
set(IRUKA_HASH_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/hash_sources_script.cmake)
function(hash_sources output namespace function)
  string(REPLACE ";" "|" joined "${ARGN}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAMESPACE=${namespace} -DFUNCTION=${function} "-DFILES=${joined}"
            -P ${IRUKA_HASH_SCRIPT}
    DEPENDS ${ARGN} ${IRUKA_HASH_SCRIPT}
    VERBATIM)
endfunction()
