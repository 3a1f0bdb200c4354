// Polynomials as arrays of coefficients.
#include "iruka/polynomials.h"

#include "composed.h"
#include "ops.h"

namespace iruka::python {

namespace {

/// A result of its own memory: no view of what was given.
nb::object own(const Array& result, const Array& given) {
  return to_python(result.buffer() == given.buffer() ? without_gil([&] { return result.copy(); }) : result);
}

}  // namespace

void bind_polynomials(nb::module_& module) {
  module.def("polyval", [](nb::handle p, nb::handle x) {
    const OperandPair pair(p, x, "polyval");
    return composed_array([&] { return polyval(pair.a, pair.b); });
  });
  module.def("polyadd", [](nb::handle a, nb::handle b) {
    const OperandPair pair(a, b, "polyadd");
    return to_python(composed([&] { return polyadd(pair.a, pair.b); }));
  });
  module.def("polysub", [](nb::handle a, nb::handle b) {
    const OperandPair pair(a, b, "polysub");
    return to_python(composed([&] { return polysub(pair.a, pair.b); }));
  });
  module.def("polymul", [](nb::handle a, nb::handle b) {
    const OperandPair pair(a, b, "polymul");
    return to_python(composed([&] { return polymul(pair.a, pair.b); }));
  });
  module.def("polydiv", [](nb::handle u, nb::handle v) {
    const OperandPair pair(u, v, "polydiv");
    PolynomialQuotient parts = composed([&] { return polydiv(pair.a, pair.b); });
    return nb::make_tuple(to_python(parts.quotient), to_python(parts.remainder));
  });
  module.def("polyder", [](nb::handle p, int64_t m) {
    const Array array = as_operand(p, "polyder");
    return own(composed([&] { return polyder(array, m); }), array);
  });
  module.def(
      "polyint",
      [](nb::handle p, int64_t m, nb::handle constants) {
        const Array array = as_operand(p, "polyint");
        std::optional<Array> given;
        if (!constants.is_none()) given = as_operand(constants, "polyint: k", array.device());
        return own(composed([&] { return polyint(array, m, given ? &*given : nullptr); }), array);
      },
      nb::arg("p"), nb::arg("m"), nb::arg("k").none());
  module.def("poly", [](nb::handle zeros) {
    const Array array = as_operand(zeros, "poly");
    return to_python(composed([&] { return poly(array); }));
  });
  module.def("roots", [](nb::handle p) {
    const Array array = as_operand(p, "roots");
    return to_python(composed([&] { return roots(array); }));
  });
}

}  // namespace iruka::python
