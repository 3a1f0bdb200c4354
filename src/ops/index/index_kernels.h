// Kernels that walk a plan on a GPU, for gather, scatter and scatter_at.
#pragma once

#include <string>
#include <vector>

#include "iruka/kernel.h"
#include "ops/index/index_plan.h"

namespace iruka::ops {

/// Source that computes which element of `raw x` belongs to an iteration.
struct IndexTexts {
  std::string preamble;
  std::string parameters;  ///< ", A p0, int64 extent0..., raw int64 report": the parameters after x (and value)
  std::string prepare;     ///< statements that leave the element's address in `char* element`
};
IndexTexts index_texts(const IndexPlan& plan, bool has_axes);

/// The arguments of a kernel made from those texts: as few axes as possible, words as wide as possible.
class IndexCall {
 public:
  /// `other` is what is written (gather) or read (scatter), in the plan's shape. With `joins_words` elements are moved
  /// as words of their bytes, else as what they are. Raises IndexError for indices into an axis without elements.
  IndexCall(const IndexPlan& plan, const Array& other, bool joins_words = true);
  /// Whether `x` has axes that are not indexed.
  bool has_axes() const { return has_axes_; }
  /// Calls a kernel of (x, [value], positions..., report[, y]).
  void run(const ElementwiseKernel& kernel, bool is_gather) const;

 private:
  std::vector<Argument> arguments(bool is_gather) const;

  const IndexPlan& plan_;
  bool has_axes_ = false;
  Array base_, other_, report_;
  std::vector<Array> positions_;
};

}  // namespace iruka::ops
