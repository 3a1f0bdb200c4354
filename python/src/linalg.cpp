// Linear algebra for iruka.linalg: products and decompositions of arrays, without argument shaping.
#include "iruka/linalg.h"

#include <nanobind/stl/string.h>

#include <string>

#include "composed.h"
#include "float_errors.h"
#include "interop.h"
#include "linalg.h"
#include "ops.h"

namespace iruka::python {

namespace {

Array matrix_operand(nb::handle object, const char* function) { return checked_array(object, function); }

/// Both results as a tuple, None for one that was not requested.
nb::object optional_array(Array array) { return array.valid() ? to_python(std::move(array)) : nb::none(); }

linalg::QrMode qr_mode(const std::string& mode) {
  if (mode == "reduced") return linalg::QrMode::reduced;
  if (mode == "complete") return linalg::QrMode::complete;
  if (mode == "r") return linalg::QrMode::r;
  if (mode == "raw") return linalg::QrMode::raw;
  throw ValueError("qr: Unrecognized mode '" + mode + "'; 'reduced', 'complete', 'r' and 'raw' are known");
}

/// A function of one array without the GIL.
template <class Function>
auto of_matrix(nb::handle a, const char* name, Function&& function) {
  const Array array = matrix_operand(a, name);
  return without_gil([&] { return function(array); });
}

/// The array of an operand of @, or none if Python should try the other operand.
std::optional<Array> operator_operand(PyObject* object, PyObject* other) {
  if (is_array(object)) return array_of(object);
  if (!is_array_like(object)) return {};
  PyObject* const others[] = {other};
  return as_array(object, device_among(others));
}

/// a @ b, in `target` where one is given: None then.
nb::object product(const Array& a, const Array& b, const Array* target = nullptr) {
  Array result = computed_telling("matmul", [&] { return matmul(a, b, target); }, a, b);
  return target ? nb::none() : to_result(std::move(result));
}

/// A function of determinants, which NumPy warns of.
template <class Function>
auto determinants(nb::handle a, const char* name, Function&& function) {
  const FloatWatch floats;
  auto result = of_matrix(a, name, function);
  if (const unsigned raised = floats.raised()) tell_function_errors(name, raised, result, nb::make_tuple(a));
  return result;
}

}  // namespace

PyObject* matrix_multiply(PyObject* x, PyObject* y) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const std::optional<Array> a = operator_operand(x, y), b = operator_operand(y, x);
    if (!a || !b) Py_RETURN_NOTIMPLEMENTED;
    return product(*a, *b).release().ptr();
  });
}

PyObject* inplace_matrix_multiply(PyObject* x, PyObject* y) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const std::optional<Array> b = operator_operand(y, x);
    if (!b) Py_RETURN_NOTIMPLEMENTED;
    const Array a = array_of(x);
    product(a, *b, &a);
    return Py_NewRef(x);
  });
}

void bind_linalg(nb::module_& module) {
  module.def(
      "matmul",
      [](nb::handle a, nb::handle b, nb::handle out) -> nb::object {
        const OperandPair pair(a, b, "matmul");
        if (out.is_none()) return product(pair.a, pair.b);
        const std::optional<Array> given = given_output(out);
        const Array target = given ? *given : checked_array(out, "matmul: out");
        product(pair.a, pair.b, &target);
        return nb::borrow(out);
      },
      nb::arg("a"), nb::arg("b"), nb::arg("out").none());
  module.def("linalg_inv", [](nb::handle a) { return to_python(of_matrix(a, "inv", linalg::inv)); });
  module.def("linalg_solve", [](nb::handle a, nb::handle b) {
    const Array matrices = matrix_operand(a, "solve"), sides = matrix_operand(b, "solve");
    return make_array([&] { return linalg::solve(matrices, sides); });
  });
  module.def("linalg_det", [](nb::handle a) { return to_result(determinants(a, "det", linalg::det)); });
  module.def("linalg_slogdet", [](nb::handle a) {
    linalg::LogDeterminant parts = of_matrix(a, "slogdet", linalg::slogdet);
    return nb::make_tuple(to_result(parts.sign), to_result(parts.logarithm));
  });
  module.def("linalg_cholesky", [](nb::handle a, bool upper) {
    return to_python(of_matrix(a, "cholesky", [&](const Array& x) { return linalg::cholesky(x, upper); }));
  });
  module.def("linalg_qr", [](nb::handle a, const std::string& mode) {
    const linalg::QrMode which = qr_mode(mode);
    linalg::QrResult parts = of_matrix(a, "qr", [&](const Array& x) { return linalg::qr(x, which); });
    return nb::make_tuple(optional_array(parts.q), to_python(parts.r));
  });
  module.def("linalg_svd", [](nb::handle a, bool full, bool vectors) {
    linalg::SvdResult parts = of_matrix(a, "svd", [&](const Array& x) { return linalg::svd(x, full, vectors); });
    return nb::make_tuple(optional_array(parts.u), to_python(parts.s), optional_array(parts.vh));
  });
  module.def("linalg_eigh", [](nb::handle a, bool lower, bool vectors) {
    linalg::EigenResult parts = of_matrix(a, "eigh", [&](const Array& x) { return linalg::eigh(x, lower, vectors); });
    return nb::make_tuple(to_python(parts.values), optional_array(parts.vectors));
  });
  module.def("linalg_eig", [](nb::handle a, bool vectors) {
    linalg::EigenResult parts = of_matrix(a, "eig", [&](const Array& x) { return linalg::eig(x, vectors); });
    return nb::make_tuple(to_python(parts.values), optional_array(parts.vectors));
  });
}

}  // namespace iruka::python
