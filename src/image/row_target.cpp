#include "image/row_target.h"

#include <cstring>

#include "iruka/device.h"

namespace iruka::image {
namespace {

/// To rows that begin at a multiple of 16 bytes libjpeg writes past the cache, from which this row is read at once.
constexpr int64_t kUnaligned = 8;

}  // namespace

RowTarget::RowTarget(const Array& picture, PixelFormat wanted, const Region& window, PixelFormat source,
                     int64_t source_height, int64_t source_width, int64_t divisor, ChainStream* stream)
    : stream_(stream),
      picture_(static_cast<uint8_t*>(picture.data())),
      picture_rows_(picture.shape(0)),
      picture_row_bytes_(picture.strides()[0]),
      window_(window),
      source_(source),
      wanted_(wanted),
      convert_(source, wanted),
      source_height_(source_height),
      source_width_(source_width),
      divisor_(divisor),
      columns_(source_width),
      scratch_memory_(Array::empty({kUnaligned + source_width * convert_.scratch_bytes()}, Dtype::uint8, cpu())),
      scratch_(static_cast<uint8_t*>(scratch_memory_.data()) + kUnaligned) {}

void RowTarget::set_columns(int64_t first, int64_t width) {
  first_column_ = first;
  columns_ = width;
}

bool RowTarget::is_direct() const {
  return source_ == wanted_ && first_column_ == window_.x && columns_ == window_.width;
}

uint8_t* RowTarget::whole_picture() const {
  return is_direct() && picture_rows_ == source_height_ && !stream_ ? picture_ : nullptr;
}

uint8_t* RowTarget::begin(int64_t y) { return is_direct() && is_wanted(y) ? picture_row(y) : scratch_; }

void RowTarget::end(int64_t y) {
  if (!is_wanted(y)) return;
  if (!is_direct()) convert_row(y);
  if (stream_) stream_->advance(y - window_.y + 1);
}

void RowTarget::convert_row(int64_t y) {
  const int64_t skipped = window_.x - first_column_;
  // The first sample is at the start of the scratch memory, in which samples may grow.
  if (skipped)
    std::memmove(scratch_, scratch_ + skipped * source_.bytes(), static_cast<size_t>(window_.width * source_.bytes()));
  convert_(scratch_, picture_row(y), window_.width);
}

SourcePicture::SourcePicture(RowTarget& rows)
    : rows_(rows), row_bytes_(rows.source_width() * rows.source().bytes()), data_(rows.whole_picture()) {
  if (data_) return;
  memory_ = Array::empty({rows.source_height(), row_bytes_}, Dtype::uint8, cpu());
  data_ = static_cast<uint8_t*>(memory_.data());
}

void SourcePicture::finish() {
  if (!memory_.valid()) return;
  const Region& window = rows_.window();
  for (int64_t y = window.y; y < window.y + window.height; ++y) {
    std::memcpy(rows_.begin(y), data_ + y * row_bytes_, static_cast<size_t>(row_bytes_));
    rows_.end(y);
  }
}

}  // namespace iruka::image
