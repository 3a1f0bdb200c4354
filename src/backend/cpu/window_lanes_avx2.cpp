// Convolutions and pooling by AVX2 and FMA. CMake compiles only this file for these instruction sets.
#if defined(__x86_64__)
#define IRUKA_WINDOW_TARGET avx2
#define IRUKA_WINDOW_BYTES 32
#define IRUKA_WINDOW_REGISTERS 16
#include "backend/cpu/window_lanes.h"
#endif
