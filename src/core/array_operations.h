// The functions of `ops` that methods of Array call. `ops` fills this table; a program without `ops` must define one.
#pragma once

#include "iruka/array.h"

namespace iruka {

struct ArrayOperations {
  /// Writes `source` into `target`, cast to its dtype. Shapes must be equal. Memory may overlap only where the layouts
  /// are identical.
  void (*write)(const Array& source, const Array& target);
};

extern const ArrayOperations array_operations;

}  // namespace iruka
