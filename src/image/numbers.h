// Numbers that functions of pictures are given.
#pragma once

#include <string>

#include "iruka/dtype.h"

namespace iruka::image {

/// The shortest text that reads as the number: "3", "0.1", "1e-40".
std::string number_text(double value);

/// A number as float32. Raises ValueError where it is not finite there.
float finite_float(const std::string& function, const std::string& what, double value);

/// A number as an element of a picture. Raises ValueError where the dtype has no such number: fractions of integers,
/// and finite numbers beyond its range. Floats have infinities and NaN.
float element_of(const std::string& function, const std::string& what, double value, Dtype dtype);

}  // namespace iruka::image
