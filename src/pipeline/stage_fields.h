// The numbers of stages by name.
#pragma once

#include <string>

#include "iruka/picture_geometry.h"

namespace iruka::pipeline {

/// Puts a number into a stage. `element` is within the field.
using SetField = void (*)(image::Stage& stage, int element, double value);

/// Raises ValueError where such a stage has no such field or element.
SetField find_field(const image::Stage& stage, const std::string& field, int element);

}  // namespace iruka::pipeline
