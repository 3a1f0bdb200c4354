// Arrays that a call fills, which may be among the pictures that it reads.
#pragma once

#include <span>
#include <vector>

#include "iruka/array.h"

namespace iruka::image {

/// The pictures of a call, of which those that an array of `outs` may overlap are copies: every picture is read as it
/// was before the call. Invalid arrays among `outs` are none.
std::vector<Array> apart_from(std::span<const Array> outs, std::span<const Array> pictures);

}  // namespace iruka::image
