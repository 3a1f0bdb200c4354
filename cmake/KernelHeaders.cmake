# kernel_headers(VARIABLE): the headers of kernel code that texts include by their path under src. Those in a folder
# `cpu` or `cuda` are for that device alone.
function(kernel_headers variable)
  set(src ${PROJECT_SOURCE_DIR}/src)
  foreach(family reduce scan)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${src}/ops/${family}/kernels/*.h)
    list(APPEND all ${headers})
  endforeach()
  set(${variable} ${all} PARENT_SCOPE)
endfunction()
