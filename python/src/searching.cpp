// Searches in sorted arrays, and interpolation between sorted points.
#include "iruka/searching.h"

#include "composed.h"

namespace iruka::python {

namespace {

std::optional<Scalar> optional_scalar(nb::handle value, const char* what) {
  if (value.is_none()) return {};
  Scalar scalar;
  if (is_array(value.ptr()) && array_of(value.ptr()).ndim() == 0) return item_of(array_of(value.ptr()));
  if (!to_scalar(value.ptr(), scalar)) throw TypeError(std::string(what) + " must be a number");
  return scalar;
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
        InterpOptions options{optional_scalar(left, "interp: left"), optional_scalar(right, "interp: right"), {}};
        if (!period.is_none()) options.period = nb::cast<double>(period);
        return composed_array([&] { return interp(x, xp, fp, options); });
      },
      nb::arg("x"), nb::arg("xp"), nb::arg("fp"), nb::arg("left").none(), nb::arg("right").none(),
      nb::arg("period").none());
}

}  // namespace iruka::python
