// The type slots of iruka.ndarray: operators, indexing, conversions to Python's numbers, buffer.
#pragma once

#include "convert.h"
#include "iruka/ops.h"

namespace iruka::python {

/// Ends with {0, nullptr}.
const PyType_Slot* array_slots();

/// x[key] by NumPy's rules: a value for a full index of integers, else a view where no array is in the key; in
/// indexing.cpp. Raises IndexError.
Array get_item(const Array& array, nb::handle key);
Array get_item(const Array& array, int64_t position);
/// x[key] = value, in place.
void set_item(Array array, nb::handle key, nb::handle value);
/// array[key] = function(array[key], values) for each index in turn. `values` is null for a function of one input.
void update_at(Array array, nb::handle key, const ElementwiseFunction& function, const Array* values);
/// Writes `value`, a scalar or anything array-like, broadcast and cast, into `target`.
void assign_value(Array target, nb::handle value);

}  // namespace iruka::python
