// Differences, slopes, integrals and convolutions along an axis.
#include "iruka/calculus.h"

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "composed.h"

namespace iruka::python {

namespace {

Scalar number_of(nb::handle given, const char* what) {
  Scalar number;
  if (is_array(given.ptr()))
    number = item_of(array_of(given.ptr()));
  else if (!to_scalar(given.ptr(), number, /*inexact=*/true))
    throw TypeError(std::string(what) + " must be a number, not " + describe(given));
  return number;
}

Spacing spacing_of(nb::handle given) {
  if (is_array(given.ptr()) && array_of(given.ptr()).ndim() > 0) return array_of(given.ptr());
  return number_of(given, "gradient: a distance");
}

template <auto function>
void bind_convolution(nb::module_& module, const char* name) {
  module.def(name, [](Array a, Array v, const std::string& mode) {
    const ConvolutionMode part = parse_convolution_mode(mode);
    return composed_array([&] { return function(a, v, part); });
  });
}

}  // namespace

void bind_calculus(nb::module_& module) {
  module.def(
      "diff",
      [](Array x, int64_t times, int64_t axis, nb::handle prepend, nb::handle append) {
        const std::optional<Array> before = optional_array(prepend, "diff: prepend"),
                                   behind = optional_array(append, "diff: append");
        return composed_array([&] { return diff(x, times, axis, pointer_to(before), pointer_to(behind)); });
      },
      nb::arg("x"), nb::arg("times"), nb::arg("axis"), nb::arg("prepend").none(), nb::arg("append").none());
  module.def(
      "ediff1d",
      [](Array x, nb::handle to_end, nb::handle to_begin) {
        const std::optional<Array> end = optional_array(to_end, "ediff1d: to_end"),
                                   begin = optional_array(to_begin, "ediff1d: to_begin");
        return composed_array([&] { return ediff1d(x, pointer_to(end), pointer_to(begin)); });
      },
      nb::arg("x"), nb::arg("to_end").none(), nb::arg("to_begin").none());
  module.def(
      "unwrap",
      [](Array x, nb::handle jump, int64_t axis, nb::handle period) {
        std::optional<Scalar> largest;
        if (!jump.is_none()) largest = number_of(jump, "unwrap: discont");
        Scalar length;
        if (!to_scalar(period.ptr(), length)) throw TypeError("unwrap: period must be a number");
        return composed_array([&] { return unwrap(x, largest, axis, length); });
      },
      nb::arg("x"), nb::arg("jump").none(), nb::arg("axis"), nb::arg("period"));
  module.def(
      "gradient",
      [](Array f, nb::handle spacings, nb::handle axis, int edge_order) {
        std::vector<Spacing> steps;
        for (nb::handle spacing : spacings) steps.push_back(spacing_of(spacing));
        const std::optional<Dims> axes = optional_axes(axis);
        return to_tuple(composed([&] { return gradient(f, steps, axes, edge_order); }));
      },
      nb::arg("f"), nb::arg("spacings"), nb::arg("axis").none(), nb::arg("edge_order"));
  module.def("trapezoid_at",
             [](Array y, Array x, int64_t axis) { return composed_array([&] { return trapezoid(y, x, axis); }); });
  module.def("trapezoid", [](Array y, nb::handle distance, int64_t axis) {
    Operand widths;
    if (!widths.take(distance.ptr(), false)) throw TypeError("trapezoid: dx must be an array or a number");
    return composed_array([&] { return trapezoid(y, axis, widths.argument()); });
  });
  bind_convolution<convolve>(module, "convolve");
  bind_convolution<correlate>(module, "correlate");
}

}  // namespace iruka::python
