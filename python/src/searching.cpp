// Searches in sorted arrays, and interpolation between sorted points.
#include "iruka/searching.h"

#include "composed.h"

namespace iruka::python {

namespace {

std::optional<Scalar> optional_number(nb::handle value, const char* what, bool takes_complex) {
  if (value.is_none()) return {};
  if (!takes_complex) return Scalar(to_double(value, what));
  const Py_complex number = PyComplex_AsCComplex(value.ptr());
  if (PyErr_Occurred()) throw nb::python_error();
  return Scalar(std::complex<double>(number.real, number.imag));
}

}  // namespace

void bind_searching(nb::module_& module) {
  module.def(
      "searchsorted",
      [](Array sorted, nb::handle sought, bool from_right, nb::handle order) {
        const HugeInteger huge = is_inexact(sorted.dtype()) ? HugeInteger::as_float : HugeInteger::as_infinity;
        const nb::object own = to_python(sorted);
        PyObject* const others[] = {own.ptr()};
        Operand operand;
        if (!operand.take(sought.ptr(), false, huge, others))
          throw TypeError("searchsorted: v must be an array or a number, not " + describe(sought.type()));
        const std::optional<Array> given = optional_array(order, "searchsorted: sorter");
        const SearchSide side = from_right ? SearchSide::right : SearchSide::left;
        return composed_array([&] { return searchsorted(sorted, operand.argument(), side, pointer_to(given)); });
      },
      nb::arg("sorted"), nb::arg("sought"), nb::arg("from_right"), nb::arg("order").none());
  module.def("digitize",
             [](Array x, Array bins, bool right) { return composed_array([&] { return digitize(x, bins, right); }); });
  module.def(
      "interp",
      [](Array x, Array xp, Array fp, nb::handle left, nb::handle right, nb::handle period) {
        const bool takes_complex = is_complex(fp.dtype());
        InterpOptions options{optional_number(left, "interp: left", takes_complex),
                              optional_number(right, "interp: right", takes_complex),
                              {}};
        if (!period.is_none()) options.period = to_double(period, "interp: period");
        return composed_array([&] { return interp(x, xp, fp, options); });
      },
      nb::arg("x"), nb::arg("xp"), nb::arg("fp"), nb::arg("left").none(), nb::arg("right").none(),
      nb::arg("period").none());
}

}  // namespace iruka::python
