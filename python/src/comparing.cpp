// Whether arrays are equal, or nearly so.
#include "iruka/comparing.h"

#include "composed.h"
#include "ops.h"
#include "truth.h"

namespace iruka::python {

void bind_comparing(nb::module_& module) {
  module.def("allclose", [](nb::handle a, nb::handle b, nb::handle relative, nb::handle absolute, Truth equal_nan) {
    PyObject* const given[] = {a.ptr(), b.ptr(), relative.ptr(), absolute.ptr()};
    Operand operands[4];
    for (size_t k = 0; k < 4; ++k)
      if (!operands[k].take(given[k], false, HugeInteger::as_float, given))
        throw TypeError("allclose: expected an array or a number, not " + describe(nb::handle(given[k]).type()));
    return composed([&] {
      return allclose(operands[0].argument(), operands[1].argument(), operands[2].argument(), operands[3].argument(),
                      equal_nan);
    });
  });
  module.def("array_equal", [](nb::handle a, nb::handle b, Truth equal_nan) {
    const Array x = as_operand(a, "array_equal"), y = as_operand(b, "array_equal");
    return composed([&] { return array_equal(x, y, equal_nan); });
  });
  module.def("array_equiv", [](nb::handle a, nb::handle b) {
    const Array x = as_operand(a, "array_equiv"), y = as_operand(b, "array_equiv");
    return composed([&] { return array_equiv(x, y); });
  });
  module.def("real_if_close", [](nb::handle x, double tolerance) {
    const Array array = as_operand(x, "real_if_close");
    return to_python(composed([&] { return real_if_close(array, tolerance); }));
  });
}

}  // namespace iruka::python
