// Pictures of samples before they are made.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "image/codec.h"
#include "image/file.h"
#include "iruka/pipeline.h"

namespace iruka::pipeline {

/// A decoder that has read a header and no pixel yet, until one of the threads that share a value needs it.
class OpenedDecoder {
 public:
  OpenedDecoder() = default;
  ~OpenedDecoder() { take(); }
  OpenedDecoder(const OpenedDecoder&) = delete;
  OpenedDecoder& operator=(const OpenedDecoder&) = delete;
  std::unique_ptr<image::Decoder> take() const { return exchange(nullptr); }
  void keep(std::unique_ptr<image::Decoder> decoder) const { exchange(std::move(decoder)); }

 private:
  std::unique_ptr<image::Decoder> exchange(std::unique_ptr<image::Decoder> decoder) const {
    return std::unique_ptr<image::Decoder>(decoder_.exchange(decoder.release()));
  }
  mutable std::atomic<image::Decoder*> decoder_{nullptr};
};

/// A picture's file: its bytes, and how it is decoded.
struct Value::Encoded {
  image::DecodeOptions options;  ///< without a chain
  std::string where;             ///< the prefix of errors
  std::span<const uint8_t> bytes;
  image::FileBytes file{};  ///< owns the bytes where they were read
  Array array{};            ///< owns the bytes where they were there
  OpenedDecoder opened{};
};

/// A value on the CPU whose shape is known and that is about to be made. It refers to the value.
class Making {
 public:
  explicit Making(const Value& value);
  const Dims& shape() const { return shape_; }
  Dtype dtype() const { return dtype_; }
  /// Into a C-contiguous array of this shape and dtype, or into a new one if it is null.
  Array make(const Array* out) const;
  /// For a value that is not made now, but perhaps later: its header need not be read again.
  void keep_opened() &&;

 private:
  const Value& value_;
  std::optional<image::DecodePlan> plan_;
  std::optional<image::Chain> chain_;
  Dims shape_;
  Dtype dtype_ = Dtype::uint8;
};

}  // namespace iruka::pipeline
