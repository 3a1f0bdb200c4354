// What depends on the device, and the concepts of number types. The headers that a target includes are parts of it.
#pragma once

#ifdef __CUDACC_RTC__
#include "target_cuda.h"
#else
#include "target_cpu.h"
#endif
