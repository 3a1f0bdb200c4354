// Pictures of samples before they are made.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "image/codec.h"
#include "image/file_batch.h"
#include "iruka/pipeline.h"

namespace iruka::pipeline {

/// A picture's file: its bytes, and how it is decoded.
struct Value::Encoded {
  image::DecodeOptions options;  ///< without a chain
  std::string where;             ///< the prefix of errors
  std::span<const uint8_t> bytes;
  image::FileBytes file{};  ///< owns the bytes where they were read
  Array array{};            ///< owns the bytes where they were there

  /// How the file becomes the picture behind a chain, which may be null. Raises what imdecode raises for the header.
  image::DecodePlan plan(const image::Chain* chain) const;
  /// A plan that nobody has decoded by: the next one need not read the header again.
  void give_back(image::DecodePlan plan) const;

 private:
  mutable std::mutex mutex_;
  mutable std::unique_ptr<image::Decoder> decoder_;  ///< which has read the header and no more
};

/// A value whose shape is known and that is about to be made, once. It refers to the value.
class Making {
 public:
  explicit Making(const Value& value);
  ~Making();
  Making(Making&&) = default;
  Making& operator=(Making&&) = delete;
  const Dims& shape() const { return shape_; }
  Dtype dtype() const { return dtype_; }
  const Value& value() const { return value_; }
  /// The stages behind the value's file or array; null if there are none.
  const image::Chain* chain() const { return chain_ ? &*chain_ : nullptr; }
  /// On the CPU: into a C-contiguous array of this shape and dtype, or into a new one if it is null.
  Array make(const Array* out);
  /// The same for a file that others decode, by a plan that is theirs.
  image::FileToDecode file_to_decode(const Array* out);

 private:
  const Value& value_;
  std::optional<image::DecodePlan> plan_;
  std::optional<image::Chain> chain_;
  image::DecodeOptions options_{};  ///< of the file, with the chain
  Dims shape_;
  Dtype dtype_ = Dtype::uint8;
};

}  // namespace iruka::pipeline
