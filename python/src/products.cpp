// Products of vectors, matrices and arrays.
#include "iruka/products.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "composed.h"
#include "ops.h"

namespace iruka::python {

namespace {

using Product = Array (*)(const Array&, const Array&);

void bind_product(nb::module_& module, const char* name, Product product) {
  module.def(name, [name, product](nb::handle a, nb::handle b) {
    const OperandPair pair(a, b, name);
    return composed_array([&] { return product(pair.a, pair.b); });
  });
}

bool has_two_elements(const Array& x, int64_t axis) { return x.shape(normalize_axis("cross", axis, x.ndim())) == 2; }

void bind_einsum(nb::module_& module) {
  module.def("einsum", [](const std::string& subscripts, nb::handle operands, const EinsumPath& path) {
    const std::vector<Array> arrays = arrays_of(operands, "einsum");
    return composed_array([&] {
      const Array result = einsum(subscripts, arrays, path);
      return result.ndim() == 0 && result.buffer() == arrays[0].buffer() ? result.copy() : result;
    });
  });
  module.def("einsum_subscripts", [](const std::string& subscripts, nb::handle operands) {
    return einsum_subscripts(subscripts, arrays_of(operands, "einsum"));
  });
}

}  // namespace

void bind_products(nb::module_& module) {
  bind_product(module, "dot", dot);
  bind_product(module, "inner", inner);
  bind_product(module, "vdot", vdot);
  bind_product(module, "outer", outer);
  bind_product(module, "matvec", matvec);
  bind_product(module, "vecmat", vecmat);
  bind_product(module, "kron", kron);
  module.def("vecdot", [](nb::handle a, nb::handle b, int64_t axis) {
    const OperandPair pair(a, b, "vecdot");
    return composed_array([&] { return vecdot(pair.a, pair.b, axis); });
  });
  module.def(
      "tensordot",
      [](nb::handle a, nb::handle b, nb::handle axes_a, nb::handle axes_b) {
        const OperandPair pair(a, b, "tensordot");
        if (axes_b.is_none()) {
          const int64_t axes = to_int64(axes_a, "tensordot: axes");
          return to_python(composed([&] { return tensordot(pair.a, pair.b, axes); }));
        }
        const Dims first = to_dims(axes_a, "tensordot: axes"), second = to_dims(axes_b, "tensordot: axes");
        return to_python(composed([&] { return tensordot(pair.a, pair.b, first, second); }));
      },
      nb::arg("a"), nb::arg("b"), nb::arg("axes_a"), nb::arg("axes_b").none());
  module.def("cross", [](nb::handle a, nb::handle b, int64_t axis_a, int64_t axis_b, int64_t axis) {
    const OperandPair pair(a, b, "cross");
    nb::object result = composed_array([&] { return cross(pair.a, pair.b, axis_a, axis_b, axis); });
    constexpr int kCallerOfCross = 2;
    const char* const message = "cross: vectors of 2 elements are deprecated; use 3";
    if ((has_two_elements(pair.a, axis_a) || has_two_elements(pair.b, axis_b)) &&
        PyErr_WarnEx(PyExc_DeprecationWarning, message, kCallerOfCross) < 0)
      throw nb::python_error();
    return result;
  });
  bind_einsum(module);
}

}  // namespace iruka::python
