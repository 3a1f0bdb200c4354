// Colours by AVX-512 with VBMI. CMake compiles only this file for these instruction sets.
#if defined(__x86_64__)
#define IRUKA_COLOR_TARGET avx512
#include "backend/cpu/color_lanes.h"
#endif
