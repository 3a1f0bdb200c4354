// Arrays that a call fills, which may be among the pictures that it reads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "iruka/array.h"

namespace iruka::image {

/// The pictures of a call, of which those that an array of `outs` may overlap are copies: every picture is read as it
/// was before the call. Invalid arrays among `outs` are none.
std::vector<Array> apart_from(std::span<const Array> outs, std::span<const Array> pictures);

/// Raises TypeError for another dtype than the result's, ShapeError for another shape, and ValueError for another
/// device than the picture's and for an array that must not be written to. `function` is the caller's name and ": ", or
/// empty.
void check_out(const std::string& function, const Array& out, const Dims& shape, Dtype dtype, const Array& picture);

}  // namespace iruka::image
