// Convolutions and pooling by what every processor of the architecture has.
#define IRUKA_WINDOW_TARGET baseline
#define IRUKA_WINDOW_BYTES 16
#define IRUKA_WINDOW_REGISTERS 16
#include "backend/cpu/window_lanes.h"
