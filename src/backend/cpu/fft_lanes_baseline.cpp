// Transforms by the instructions that every processor of this kind has.
#define IRUKA_FFT_TARGET baseline
#include "backend/cpu/fft_lanes.h"
