// Filters by the processor's common instructions. CMake compiles only this file for these instruction sets.
#define IRUKA_FILTER_TARGET baseline
#include "backend/cpu/filter_lanes.h"
