// What decoders share: bytes of a file and the words of their errors.
#include "image/codec.h"
#include "iruka/error.h"

namespace iruka::image {

uint32_t Decoder::u8(uint64_t offset) const {
  if (offset >= bytes_.size()) raise_truncated("in the header");
  return bytes_[offset];
}

void Decoder::raise_damaged(const std::string& reason) const {
  throw ValueError(where_ + ": damaged " + codec_.name + ": " + reason);
}

void Decoder::raise_unsupported(const std::string& what) const {
  throw ValueError(where_ + ": this " + codec_.name + " has " + what + ", which cannot be decoded");
}

void Decoder::raise_truncated(const std::string& place) const {
  throw ValueError(where_ + ": truncated " + codec_.name + ": its " + size_text() + " bytes end " + place);
}

void Decoder::raise_truncated_in_row(int64_t y) const {
  raise_truncated("in row " + std::to_string(y) + " of " + std::to_string(header_.height));
}

void Decoder::check_bytes(uint64_t needed) const {
  if (needed <= bytes_.size()) return;
  throw ValueError(where_ + ": truncated " + codec_.name + ": " + size_text() + " bytes cannot hold the " +
                   std::to_string(header_.width) + " x " + std::to_string(header_.height) +
                   " pixels that the header promises");
}

void Decoder::check_sides(int64_t height, int64_t width) const {
  if (height >= 1 && width >= 1) return;
  raise_damaged("its header says " + std::to_string(width) + " x " + std::to_string(height) + " pixels");
}

}  // namespace iruka::image
