// All of Iruka.
#pragma once

#include "iruka/array.h"
#include "iruka/device.h"
#include "iruka/dtype.h"
#include "iruka/error.h"
#include "iruka/fft.h"
#include "iruka/fold.h"
#include "iruka/image.h"
#include "iruka/kernel.h"
#include "iruka/linalg.h"
#include "iruka/memory.h"
#include "iruka/ops.h"
#include "iruka/random.h"
#include "iruka/reduction_kernel.h"
#include "iruka/statistics.h"
#include "iruka/sorting.h"
