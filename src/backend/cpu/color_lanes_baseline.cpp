// Colours by the processor's common instructions. CMake compiles only this file for these instruction sets.
#define IRUKA_COLOR_TARGET baseline
#include "backend/cpu/color_lanes.h"
