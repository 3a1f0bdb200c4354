// Conversions that the bindings of iruka.image share.
#pragma once

#include <optional>

#include "convert.h"
#include "iruka/picture_geometry.h"

namespace iruka::python {

/// 'HWC' or 'CHW'.
image::Layout to_layout(nb::handle object);
/// Raises TypeError for what is no array.
Array array_like(nb::handle object);
/// An array to fill, or nothing for None.
std::optional<Array> output_of(nb::handle out);

}  // namespace iruka::python
