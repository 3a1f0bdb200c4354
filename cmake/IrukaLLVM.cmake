# iruka_use_llvm(TARGET): lets TARGET include the headers of Clang and LLVM 22.
# iruka_link_llvm(TARGET): links Clang and LLVM 22 statically into the shared library TARGET and hides their symbols.
# Links only what compiling C++ for x86-64 in memory needs: no Polly, no Z3, no libxml2, no libedit, no curl.
find_program(IRUKA_LLVM_CONFIG NAMES llvm-config-22 llvm-config HINTS ${LLVM_DIR}/../../../bin PATHS /usr/lib/llvm-22/bin)
if(NOT IRUKA_LLVM_CONFIG)
  message(FATAL_ERROR "llvm-config of LLVM 22 not found: install llvm-22-dev and libclang-22-dev, or set LLVM_DIR")
endif()

function(iruka_llvm_config result)
  execute_process(COMMAND ${IRUKA_LLVM_CONFIG} ${ARGN} OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

iruka_llvm_config(IRUKA_LLVM_VERSION --version)
if(NOT IRUKA_LLVM_VERSION MATCHES "^22\\.")
  message(FATAL_ERROR "LLVM 22 is needed; ${IRUKA_LLVM_CONFIG} is of version ${IRUKA_LLVM_VERSION}")
endif()
iruka_llvm_config(IRUKA_LLVM_INCLUDE --includedir)
iruka_llvm_config(IRUKA_LLVM_LIBRARIES --libdir)
iruka_llvm_config(components --link-static --libs x86 jitlink passes coverage)

set(IRUKA_CLANG_LIBRARIES "")
foreach(library Frontend CodeGen Driver Options Serialization Parse Sema Analysis AnalysisLifetimeSafety Edit AST ASTMatchers
                APINotes Support Lex Basic)
  if(EXISTS ${IRUKA_LLVM_LIBRARIES}/libclang${library}.a)
    list(APPEND IRUKA_CLANG_LIBRARIES ${IRUKA_LLVM_LIBRARIES}/libclang${library}.a)
  endif()
endforeach()
set(IRUKA_LLVM_STATIC_LIBRARIES "")
separate_arguments(components)
foreach(component ${components})
  string(REGEX REPLACE "^-l" "" name ${component})
  list(APPEND IRUKA_LLVM_STATIC_LIBRARIES ${IRUKA_LLVM_LIBRARIES}/lib${name}.a)
endforeach()

find_library(IRUKA_SLEEF NAMES sleef REQUIRED)
find_library(IRUKA_ZLIB NAMES libz.a z REQUIRED)
find_library(IRUKA_ZSTD NAMES libzstd.a zstd REQUIRED)
include(CheckLinkerFlag)
# 200,000 relative relocations take most of the load time; packed ones take almost none.
get_directory_property(CMAKE_REQUIRED_LINK_OPTIONS LINK_OPTIONS)  # the check does not use them otherwise
check_linker_flag(CXX "-Wl,-z,pack-relative-relocs" IRUKA_LINKER_PACKS_RELOCATIONS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)

function(iruka_use_llvm target)
  target_include_directories(${target} SYSTEM PRIVATE ${IRUKA_LLVM_INCLUDE})
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS
                             __STDC_LIMIT_MACROS)
  target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
  if(IRUKA_SANITIZE MATCHES address)
    target_compile_options(${target} PRIVATE
      "SHELL:-include ${PROJECT_SOURCE_DIR}/src/backend/cpu/compiler/uninstrumented_llvm.h")
  endif()
endfunction()

function(iruka_link_llvm target)
  target_link_libraries(${target} PRIVATE
    -Wl,--start-group ${IRUKA_CLANG_LIBRARIES} -Wl,--end-group ${IRUKA_LLVM_STATIC_LIBRARIES}
    ${IRUKA_SLEEF} ${IRUKA_ZLIB} ${IRUKA_ZSTD} Threads::Threads ${CMAKE_DL_LIBS} m)
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-Bsymbolic -Wl,-z,now
    -Wl,-z,relro -Wl,--as-needed $<$<CONFIG:Release>:-Wl,-s>)
  if(NOT IRUKA_SANITIZE)  # only the executable contains Clang's sanitizer runtime
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  if(IRUKA_LINKER_PACKS_RELOCATIONS)
    target_link_options(${target} PRIVATE -Wl,-z,pack-relative-relocs)
  endif()
endfunction()
