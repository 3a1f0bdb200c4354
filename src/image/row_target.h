// Where decoders put their rows: conversion and cropping on the way to a picture's memory.
#pragma once

#include <cstdint>

#include "image/geometry/stream.h"
#include "image/pixel_format.h"
#include "iruka/array.h"
#include "iruka/image.h"

namespace iruka::image {

/// Takes rows of a source picture, in any order, and puts the pixels of a window into a picture. After its constructor
/// nothing allocates or raises but the steps of a stream, so that a codec's library may jump over its frames.
class RowTarget {
 public:
  /// `picture` has the window's size and dense rows. The source has rows of `source_width` pixels; each is smaller
  /// than the file's by `divisor`. Where there is a stream, `picture` is its rows(), and rows come in their order.
  RowTarget(const Array& picture, PixelFormat wanted, const Region& window, PixelFormat source, int64_t source_height,
            int64_t source_width, int64_t divisor, ChainStream* stream = nullptr);

  const Region& window() const { return window_; }
  PixelFormat source() const { return source_; }
  int64_t source_height() const { return source_height_; }
  int64_t source_width() const { return source_width_; }
  int64_t divisor() const { return divisor_; }
  bool is_wanted(int64_t y) const { return y >= window_.y && y < window_.y + window_.height; }

  /// From now on rows begin at the source's column `first` and have `width` pixels, which cover the window.
  void set_columns(int64_t first, int64_t width);
  /// Memory for the source's row `y`, to be filled before the next call and then passed to end(y). Rows outside the
  /// window are lost.
  uint8_t* begin(int64_t y);
  void end(int64_t y);
  /// The picture's memory where its rows are just the source's, else null.
  uint8_t* whole_picture() const;

 private:
  bool is_direct() const;
  void convert_row(int64_t y);
  uint8_t* picture_row(int64_t y) const { return picture_ + (y - window_.y) % picture_rows_ * picture_row_bytes_; }

  ChainStream* stream_;
  uint8_t* picture_;
  int64_t picture_rows_, picture_row_bytes_;
  Region window_;
  PixelFormat source_, wanted_;
  RowConverter convert_;
  int64_t source_height_, source_width_, divisor_;
  int64_t first_column_ = 0, columns_;
  Array scratch_memory_;
  uint8_t* scratch_;
};

/// The memory of a whole source picture, for decoders that do not finish one row after the other. finish() passes its
/// rows on.
class SourcePicture {
 public:
  explicit SourcePicture(RowTarget& rows);
  uint8_t* data() const { return data_; }
  int64_t row_bytes() const { return row_bytes_; }
  void finish();

 private:
  RowTarget& rows_;
  int64_t row_bytes_;
  uint8_t* data_;
  Array memory_;  ///< invalid where `data_` is the picture's own memory
};

}  // namespace iruka::image
