// Calling rows of the tables from Python.
#pragma once

#include <vector>

#include "convert.h"
#include "iruka/device.h"
#include "iruka/statistics.h"

namespace iruka::python {

/// Anything array-like, or a scalar, as an array; what lies in the CPU's memory comes to `device`.
Array as_operand(nb::handle object, const char* function, Device& device = default_device());
/// A sequence of them, on the device of the first array among them.
std::vector<Array> arrays_of(nb::handle sequence, const char* function);

/// A number, or the element of an array without axes. Raises TypeError, which names `function`, for others; an integer
/// beyond 64 bits is a float where the value is `inexact`, and an OverflowError elsewhere.
Scalar scalar_of(nb::handle object, const char* function, bool inexact = false);

/// The axes that are reduced; all without a value. An array without axes has one for a number, none for a tuple, as in
/// NumPy.
std::optional<Dims> reduction_axes(const char* function, const Array& array, nb::handle axis);

/// A reduction's keywords as values, and what they keep alive.
struct ReductionCall {
  ReductionCall(const char* function, const Array& array, nb::handle axis, nb::handle dtype, bool keepdims,
                nb::handle initial, nb::handle where);
  ReductionCall(const ReductionCall&) = delete;
  ReductionCall& operator=(const ReductionCall&) = delete;

  ReductionOptions options;

 private:
  std::optional<Array> mask_;
};

/// Gives the warnings and errors of a reduction that is done; `raised` are the exceptions of floats meanwhile.
void report_reduction_errors(const ReductionFunction& function, const Array& x, const ReductionOptions& options,
                             unsigned raised, const Array& result, const nb::tuple& arguments);

/// One elementwise function of arrays and scalars; first output.
Array apply_function(const ElementwiseFunction& function, std::initializer_list<nb::handle> inputs);

}  // namespace iruka::python
