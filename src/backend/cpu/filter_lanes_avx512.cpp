// Filters by AVX-512. CMake compiles only this file for these instruction sets.
#if defined(__x86_64__)
#define IRUKA_FILTER_TARGET avx512
#include "backend/cpu/filter_lanes.h"
#endif
