// Filters by AVX2. CMake compiles only this file for these instruction sets.
#if defined(__x86_64__)
#define IRUKA_FILTER_TARGET avx2
#include "backend/cpu/filter_lanes.h"
#endif
