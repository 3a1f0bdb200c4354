// Resampling by the processor's common instructions. CMake compiles only this file for these instruction sets.
#define IRUKA_RESAMPLE_TARGET baseline
#include "backend/cpu/resample_lanes.h"
