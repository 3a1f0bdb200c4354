# clang_object(LIST SOURCE FLAGS...): compiles SOURCE by Clang with FLAGS and adds the object file to LIST. For loops whose
# sums must stay in registers, which GCC keeps in memory. The object has no sanitizer.
find_program(IRUKA_CLANG NAMES clang++-22 clang++ HINTS ${LLVM_DIR}/../../../bin PATHS /usr/lib/llvm-22/bin)
if(NOT IRUKA_CLANG)
  message(FATAL_ERROR "clang++ not found: install clang-22, or set IRUKA_CLANG")
endif()

function(clang_object list source)
  cmake_path(GET source STEM name)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.clang.o)
  add_custom_command(OUTPUT ${object} DEPFILE ${object}.d DEPENDS ${source} VERBATIM
    COMMAND ${IRUKA_CLANG} -std=c++20 -O3 -DNDEBUG -fPIC -fvisibility=hidden -ffp-contract=fast -Wall -Wextra ${ARGN}
            -I ${PROJECT_SOURCE_DIR}/src -MD -MT ${object} -MF ${object}.d -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object})
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(${list} ${${list}} ${object} PARENT_SCOPE)
endfunction()
