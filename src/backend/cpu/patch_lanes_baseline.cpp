// Patch matching by what every processor of the architecture has.
#define IRUKA_PATCH_TARGET baseline
#define IRUKA_PATCH_BYTES 16
#define IRUKA_PATCH_VECTORS 2
#include "backend/cpu/patch_lanes.h"
