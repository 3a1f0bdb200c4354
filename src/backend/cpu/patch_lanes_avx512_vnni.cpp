// Patch matching by AVX-512 and its dot products of bytes. CMake compiles only this file for these instruction sets.
#if defined(__x86_64__)
#define IRUKA_PATCH_TARGET avx512_vnni
#define IRUKA_PATCH_BYTES 64
#define IRUKA_PATCH_VECTORS 3
#include "backend/cpu/patch_lanes.h"
#endif
