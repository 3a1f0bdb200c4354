# kernel_headers(VARIABLE): the headers of kernel code that texts include by their path under src. Those in a folder
# `cpu` or `cuda` are only for that device.
function(kernel_headers variable)
  set(src ${PROJECT_SOURCE_DIR}/src)
  file(GLOB headers CONFIGURE_DEPENDS ${src}/ops/reduce/kernels/*.h ${src}/ops/*/kernels/cpu/*.h
       ${src}/ops/*/kernels/cuda/*.h
       ${src}/jit/kernels/cpu/*.h ${src}/jit/kernels/cuda/*.h)
  set(${variable} ${headers} PARENT_SCOPE)
endfunction()
