// The kernel language: everything a body may use besides C++ itself. Only the target headers depend on the device.
#pragma once

#include "target.h"
#include "float16.h"
#include "functions.h"
#include "complex.h"
#include "carray.h"
#include "atomics.h"
#include "narrowing.h"
#include "numeric.h"
