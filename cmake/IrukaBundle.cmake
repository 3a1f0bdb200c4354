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
  foreach(library JPEG_LIBRARY_RELEASE PNG_LIBRARY_RELEASE ZLIB_LIBRARY_RELEASE IRUKA_SLEEF)
    iruka_bundle_system_library(${library})
  endforeach()
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
