// NumPy's floating-point errors (errstate, RuntimeWarning, FloatingPointError) of what the CPU computes. The
// processor's flags say when there may be one; what to say, and how, iruka/_array/float_errors.py finds out.
#pragma once

#include <optional>
#include <span>
#include <type_traits>

#include "convert.h"
#include "core/float_status.h"

namespace iruka::python {

/// The exceptions of floats (FloatFlag) that this thread's work on the CPU raises while the object lives. They may
/// nest: making Python objects may run finalisers, which may watch work of their own.
class FloatWatch {
 public:
  FloatWatch() : outer_(take_float_flags()) {}
  ~FloatWatch() { add_float_flags(outer_); }
  FloatWatch(const FloatWatch&) = delete;
  FloatWatch& operator=(const FloatWatch&) = delete;
  unsigned raised() const { return take_float_flags(); }

 private:
  const unsigned outer_;
};

/// The same for a call of a ufunc. The flags do not tell whether integers are divided by zero: lanes beyond an array's
/// end raise them, too, and so do branches that the compiler computes for all elements. So the divisors are read,
/// before the call where it overwrites them.
class UfuncWatch {
 public:
  /// `arguments` are the inputs and any given outputs; they outlive the object.
  UfuncWatch(const ElementwiseFunction& function, std::span<const Argument> arguments);
  unsigned raised() const;

 private:
  const FloatWatch floats_;
  const Argument* divisor_ = nullptr;  ///< of a function that may divide integers
  std::optional<bool> had_zero_;       ///< among divisors that the call overwrites
};

/// Gives a warning at the line of the innermost caller outside this package. Raises it where it is an error.
void warn_caller(const char* message, nb::handle category = PyExc_RuntimeWarning);

/// Whether an element is NaN; false on a GPU, which is not waited for.
bool any_nan(const Array& x);

/// To be called where any exception was raised, after the results have Python objects: `results` is an array or a tuple
/// of arrays. Raises what the error state requires, FloatingPointError or a warning that is an error. `inputs` and
/// `keywords` are as the caller gave them, `keywords` may be null; an operator says what NumPy's operator says.
void report_ufunc_errors(const ElementwiseFunction& function, unsigned raised, std::span<PyObject* const> inputs,
                         PyObject* results, PyObject* keywords, bool is_operator);
/// The same of a ufunc's method, and of another function, by the name that iruka/_array/float_errors.py knows it by.
/// An error is hidden if the result may be finite nevertheless.
void report_method_errors(const ElementwiseFunction& function, const char* method, unsigned raised, const Array& result,
                          const nb::tuple& inputs, const nb::dict& keywords);
void report_function_errors(const char* function, unsigned raised, const Array& result, const nb::tuple& arguments,
                            bool is_hidden = false);
/// Calls `compute` without the GIL and reports its errors as those of a function with these arguments.
template <class Compute, class... Arguments>
Array compute_and_report(const char* function, Compute&& compute, const Arguments&... arguments) {
  const FloatWatch floats;
  Array result = without_gil(compute);
  const auto given = [](const auto& argument) {
    if constexpr (std::is_same_v<decltype(argument), const Array&>)
      return to_python(argument);
    else
      return argument;
  };
  if (const unsigned raised = floats.raised())
    report_function_errors(function, raised, result, nb::make_tuple(given(arguments)...));
  return result;
}
/// The same of a cast of `source`, an array or a scalar, to `dtype` on `device`.
void report_cast_errors(unsigned raised, nb::handle source, Dtype dtype, const Device& device);

}  // namespace iruka::python
