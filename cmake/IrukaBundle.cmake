# iruka_bundle(MODULE LIBRARY...): the contents of a wheel's `iruka` folder: the module, Iruka's libraries, and shared
# libraries of the system that a user's machine may lack.
function(iruka_bundle)
  # RPATH, not RUNPATH: it also serves what the bundled libraries themselves need (libpng needs zlib).
  foreach(target ${ARGN})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN")
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  endforeach()
  install(TARGETS ${ARGN} LIBRARY DESTINATION iruka)
  install(PROGRAMS ${IRUKA_OPENBLAS} DESTINATION iruka)  # loaded at run time
  foreach(library JPEG_LIBRARY_RELEASE PNG_LIBRARY_RELEASE ZLIB_LIBRARY_RELEASE IRUKA_SLEEF WEBP_LIBRARY
                  TIFF_LIBRARY_RELEASE GIF_LIBRARY)
    iruka_bundle_system_library(${library})
  endforeach()
  # Debian's libtiff needs libraries of compressions. One of them, jbigkit, has a licence (GPL) that a wheel of Iruka
  # cannot have, so a library without JBIG takes its place.
  iruka_bundle_needed_libraries(${TIFF_LIBRARY_RELEASE} libjbig.so.0)
  add_library(iruka_no_jbig SHARED ${PROJECT_SOURCE_DIR}/src/image/no_jbig/jbig.cpp)
  set_target_properties(iruka_no_jbig PROPERTIES OUTPUT_NAME jbig SUFFIX .so.0)
  install(TARGETS iruka_no_jbig LIBRARY DESTINATION iruka)
endfunction()

# Copies the library that a cache variable names, under its SONAME, the name by which programs load it.
function(iruka_bundle_system_library variable)
  if(NOT ${variable})
    message(FATAL_ERROR "cannot bundle ${variable}: not found")
  endif()
  if(${variable} MATCHES "\\.a$")
    return()
  endif()
  execute_process(COMMAND ${CMAKE_READELF} -d ${${variable}} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  if(NOT dynamic MATCHES "SONAME[^[]*\\[([^]]+)\\]")
    message(FATAL_ERROR "${${variable}} has no SONAME")
  endif()
  set(name ${CMAKE_MATCH_1})
  file(REAL_PATH ${${variable}} file)
  install(PROGRAMS ${file} DESTINATION iruka RENAME ${name})
endfunction()

# Copies the libraries that a shared library needs and that lie in its folder, without those named and without those of
# every Linux (tools/check_wheel.py).
function(iruka_bundle_needed_libraries library)
  execute_process(COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "NEEDED[^[]*\\[[^]]+\\]" entries "${dynamic}")
  get_filename_component(folder ${library} DIRECTORY)
  foreach(entry ${entries})
    string(REGEX REPLACE ".*\\[([^]]+)\\]" "\\1" name "${entry}")
    if(name IN_LIST ARGN OR name MATCHES "^(libc|libm|libstdc\\+\\+|libgcc_s|libpthread|ld-linux[^.]*)\\.so")
      continue()
    endif()
    file(REAL_PATH ${folder}/${name} file)
    install(PROGRAMS ${file} DESTINATION iruka RENAME ${name})
  endforeach()
endfunction()
