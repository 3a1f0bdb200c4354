// Transforms by AVX2 and FMA. CMake compiles only this file for these instruction sets.
#if defined(__x86_64__)
#define IRUKA_FFT_TARGET avx2
#include "backend/cpu/fft_lanes.h"
#endif
