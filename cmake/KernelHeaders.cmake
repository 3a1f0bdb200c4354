# kernel_headers(VARIABLE): the headers of the kernel language: the prelude, and kernel code that texts include by its path
# under src. Those in a folder `cpu` or `cuda` are only for that device.
function(kernel_headers variable)
  set(src ${PROJECT_SOURCE_DIR}/src)
  set(patterns ${src}/jit/prelude/*.h)
  foreach(folder jit/kernels ops/*/kernels nn/kernels image/kernels core/kernels)
    list(APPEND patterns ${src}/${folder}/*.h ${src}/${folder}/cpu/*.h ${src}/${folder}/cuda/*.h)
  endforeach()
  file(GLOB headers CONFIGURE_DEPENDS ${patterns})
  set(${variable} ${headers} PARENT_SCOPE)
endfunction()
