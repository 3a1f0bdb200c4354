// Patch matching by AVX2. CMake compiles only this file for these instruction sets.
#if defined(__x86_64__)
#define IRUKA_PATCH_TARGET avx2
#define IRUKA_PATCH_BYTES 32
#define IRUKA_PATCH_VECTORS 2
#include "backend/cpu/patch_lanes.h"
#endif
