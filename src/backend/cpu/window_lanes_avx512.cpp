// Convolutions and pooling by AVX-512. CMake compiles only this file for these instruction sets.
#if defined(__x86_64__)
#define IRUKA_WINDOW_TARGET avx512
#define IRUKA_WINDOW_BYTES 64
#define IRUKA_WINDOW_REGISTERS 32
#include "backend/cpu/window_lanes.h"
#endif
