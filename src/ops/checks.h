// Checks of arguments that functions share.
#pragma once

#include <string>

#include "iruka/array.h"

namespace iruka::ops {

/// Raises ValueError where `given`, called `what` in the message, does not lie on `device`: no array moves unseen.
void check_device(const char* what, const Array& given, const Device& device);

/// An `out` lies on the result's device, may be written to and has the result's shape. Raises ValueError or ShapeError.
void check_out(const std::string& function, const Array& out, const Dims& shape, const Device& device);

}  // namespace iruka::ops
