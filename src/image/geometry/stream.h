// A chain behind a decoder.
#pragma once

#include <memory>
#include <vector>

#include "core/resampling.h"
#include "image/geometry/plan.h"
#include "iruka/array.h"

namespace iruka::image {

/// A chain of a picture on the CPU whose rows arrive one after the other. Its first pass reads them while they are in
/// the cache, and the picture as a whole is never in memory.
class ChainStream {
 public:
  /// Null where the first pass needs the whole picture, or makes more of it, so that several threads are better.
  static std::unique_ptr<ChainStream> open(const Chain& chain, const Dims& shape, Dtype dtype, const Array& out);

  /// Memory for some rows: the picture's row y is at y % rows().shape(0).
  const Array& rows() const { return rows_; }
  /// The rows before `end` are there.
  void advance(int64_t end) { first_->advance(end); }
  /// All rows have been there: fills `out`.
  void finish();

 private:
  std::vector<PassPlan> passes_;
  Array rows_, result_, out_;
  std::unique_ptr<ResamplingStream> first_;
};

}  // namespace iruka::image
