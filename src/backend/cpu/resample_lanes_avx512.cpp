// Resampling by AVX-512 with VBMI and VNNI. CMake compiles only this file for these instruction sets.
#if defined(__x86_64__)
#define IRUKA_RESAMPLE_TARGET avx512
#include "backend/cpu/resample_lanes.h"
#endif
