# kernel_headers(VARIABLE): the headers of the kernel language: the prelude, and kernel code that texts include by its path
# under src. Those in a folder `cpu` or `cuda` are only for that device.
function(kernel_headers variable)
  set(src ${PROJECT_SOURCE_DIR}/src)
  file(GLOB headers CONFIGURE_DEPENDS ${src}/jit/prelude/*.h ${src}/ops/reduce/kernels/*.h ${src}/ops/random/kernels/*.h
       ${src}/ops/*/kernels/cpu/*.h ${src}/ops/*/kernels/cuda/*.h
       ${src}/jit/kernels/cpu/*.h ${src}/jit/kernels/cuda/*.h)
  set(${variable} ${headers} PARENT_SCOPE)
endfunction()
