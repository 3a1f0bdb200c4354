// Which elementwise functions fold in any order, and the reductions that do the same.
#pragma once

#include <optional>
#include <string_view>

namespace iruka::ops {

/// A function whose operands may change places. `reduction` is the row that folds by it, "" where there is none.
struct Folding {
  const char* function;
  std::optional<double> identity;
  const char* reduction;
};

/// nullptr for a function that folds in order only.
const Folding* find_folding(std::string_view function);
/// What joins two results of a reduction; nullptr where nothing does.
const Folding* folding_of_reduction(std::string_view reduction);

}  // namespace iruka::ops
