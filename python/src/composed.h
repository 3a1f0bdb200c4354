// Functions of the array library that are made of its other functions.
#pragma once

#include "convert.h"
#include "float_errors.h"
#include "ops/listener.h"

namespace iruka::python {

/// While it lives, what the calling thread computes gives NumPy's warnings and errors, by the functions inside it.
class Telling final : public ops::Listener {
 public:
  Telling() : scope_(this) {}
  void called(const ElementwiseFunction& function, std::span<const Argument> inputs,
              std::span<const Array> outputs) override;
  void reduced(const ReductionFunction& function, const Array& x, const ReductionOptions& options,
               const Array& result) override;
  void computed(const char* function, std::span<const Argument> inputs, const Array& result) override;
  void varied(const Array& x, const std::optional<Dims>& axes, double correction, const Array& result) override;
  void scanned(const Array& x, ScanOperation operation, int64_t axis, const ScanOptions& options,
               const Array& result) override;
  void cast(const Array& x, Dtype dtype) override;
  void warned(const char* message) override;

 private:
  const FloatWatch floats_;
  const ops::ListenerScope scope_;
};

/// What `make` returns, made without the GIL of other functions, whose errors are reported.
template <class Make>
auto composed(Make&& make) {
  const Telling telling;
  return without_gil(make);
}

/// The same of an array, which is new; a value where it has no axes.
template <class Make>
nb::object composed_array(Make&& make) {
  return to_result(composed(make));
}

/// Both operands of a function as arrays, on the device of the first array among them.
struct OperandPair {
  OperandPair(nb::handle a, nb::handle b, const char* function);

  Array a, b;
};

/// A list of arrays, and a tuple of them, as Python's.
nb::list to_list(std::vector<Array> arrays);
nb::tuple to_tuple(std::vector<Array> arrays);

/// None, or an axis; None, or axes.
std::optional<int64_t> optional_axis(nb::handle axis, const char* what);
std::optional<Dims> optional_axes(nb::handle axes);

/// None, or an array. Raises TypeError, which names `what`, for anything else.
std::optional<Array> optional_array(nb::handle array, const char* what);
inline const Array* pointer_to(const std::optional<Array>& array) { return array ? &*array : nullptr; }

void bind_comparing(nb::module_& module);
void bind_creation_of_likes(nb::module_& module);
void bind_polynomials(nb::module_& module);
void bind_products(nb::module_& module);
void bind_calculus(nb::module_& module);
void bind_histograms(nb::module_& module);
void bind_selection(nb::module_& module);
void bind_quantiles(nb::module_& module);
void bind_rearranging(nb::module_& module);
void bind_searching(nb::module_& module);
void bind_sequences(nb::module_& module);

}  // namespace iruka::python
