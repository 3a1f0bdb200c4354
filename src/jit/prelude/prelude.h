// The kernel language: everything a body may use besides C++ itself. Only the target headers depend on the device.
#pragma once

#ifdef __CUDACC_RTC__
#include "target_cuda.h"
#else
#include "target_cpu.h"
#endif
#include "float16.h"
#include "functions.h"
#include "complex.h"
#include "carray.h"
#include "atomics.h"
#include "narrowing.h"
#include "numeric.h"
