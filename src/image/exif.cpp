// The orientation in a picture's EXIF data, and the rotation that makes the picture upright.
#include <algorithm>

#include "image/codec.h"
#include "image/geometry/plan.h"
#include "iruka/picture_geometry.h"

namespace iruka::image {
namespace {

/// Reads a TIFF block's integers; what lies outside the block reads as 0.
class TiffReader {
 public:
  explicit TiffReader(Bytes bytes) : bytes_(bytes), big_endian_(byte(0) == 'M') {}
  uint32_t u16(uint64_t at) const { return big_endian_ ? byte(at) << 8 | byte(at + 1) : byte(at + 1) << 8 | byte(at); }
  uint32_t u32(uint64_t at) const { return big_endian_ ? u16(at) << 16 | u16(at + 2) : u16(at + 2) << 16 | u16(at); }
  bool is_tiff() const { return byte(0) == byte(1) && (byte(0) == 'I' || byte(0) == 'M') && u16(2) == 42; }

 private:
  uint32_t byte(uint64_t at) const { return at < bytes_.size() ? bytes_[at] : 0; }

  Bytes bytes_;
  bool big_endian_;
};

}  // namespace

int exif_orientation(Bytes tiff) {
  constexpr uint32_t kOrientationTag = 0x0112, kShort = 3;
  TiffReader reader(tiff);
  if (!reader.is_tiff()) return 1;
  uint64_t directory = reader.u32(4);
  uint32_t entries = reader.u16(directory);
  for (uint32_t i = 0; i < entries; ++i) {
    uint64_t entry = directory + 2 + 12 * uint64_t{i};
    if (reader.u16(entry) != kOrientationTag) continue;
    uint32_t value = reader.u16(entry + 8);
    return reader.u16(entry + 2) == kShort && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

namespace {

bool flips_rows(int orientation) {
  return orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
}
bool flips_columns(int orientation) {
  return orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
}

}  // namespace

Array upright(const Array& picture, int orientation) {
  const Slice all, reversed{.step = -1};
  Array turned = swaps_axes(orientation) ? picture.swapaxes(0, 1) : picture;
  return turned.at(flips_rows(orientation) ? reversed : all, flips_columns(orientation) ? reversed : all);
}

Array upright_copy(const Array& picture, int orientation, const Array* out) {
  const Array turned = upright(picture, orientation);
  Array made = out ? *out : Array::empty(turned.shape(), picture.dtype(), picture.device());
  if (std::max(picture.shape(0), picture.shape(1)) > kMostExtent) {  // too large for a chain
    made.assign(turned);
    return made;
  }
  std::vector<Stage> stages;
  if (swaps_axes(orientation)) stages.emplace_back(Transpose());
  stages.emplace_back(Flip{.horizontal = flips_columns(orientation), .vertical = flips_rows(orientation)});
  Chain(stages).into(made, picture);
  return made;
}

Region stored_region(const Region& region, int64_t upright_height, int64_t upright_width, int orientation) {
  Region r = region;
  if (flips_rows(orientation)) r.y = upright_height - r.y - r.height;
  if (flips_columns(orientation)) r.x = upright_width - r.x - r.width;
  return swaps_axes(orientation) ? Region{r.x, r.y, r.width, r.height} : r;
}

}  // namespace iruka::image
