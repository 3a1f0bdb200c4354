// What methods of Array need of array functions. `ops` fills the table; a program without `ops` has one of its own.
#pragma once

#include "iruka/array.h"

namespace iruka {

struct ArrayOperations {
  /// Writes `source` into `target`, cast to its dtype. Shapes are equal; memory does not overlap, but for identical
  /// layouts.
  void (*write)(const Array& source, const Array& target);
};

extern const ArrayOperations array_operations;

}  // namespace iruka
