// What a chain lets a decoder leave out: what a first crop cuts off, and detail that a first resize averages.
#pragma once

#include <optional>

#include "image/codec.h"
#include "iruka/picture_geometry.h"

namespace iruka::image {

struct ChainedDecoding {
  std::optional<Region> region{};         ///< the part of the upright picture to be decoded
  std::optional<PictureSize> at_least{};  ///< its least size
  /// The chain for that part once it was decoded at 1 / divisor of its size.
  Chain behind(int64_t divisor) const;

  const Chain* chain;
  int64_t height, width;                 ///< of the part
  std::pair<int64_t, int64_t> origin{};  ///< of the part in the upright picture
};

/// For an upright picture (height, width). `gap` is DecodeOptions::reducing_gap; `may_crop`: whether the caller has
/// chosen no part. Raises ValueError for a chain of planes and for a gap below 1.
ChainedDecoding chained_decoding(const Chain& chain, int64_t height, int64_t width, double gap, bool may_crop,
                                 const std::string& where);

}  // namespace iruka::image
