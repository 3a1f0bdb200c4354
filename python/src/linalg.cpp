// Linear algebra for iruka.linalg: products and decompositions of arrays, without argument shaping.
#include "iruka/linalg.h"

#include <nanobind/stl/string.h>

#include <string>

#include "composed.h"
#include "float_errors.h"
#include "interop.h"
#include "linalg.h"
#include "ops.h"
#include "truth.h"

namespace iruka::python {

namespace {

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
  const Array array = as_operand(a, name);
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
  Array result = compute_and_report("matmul", [&] { return matmul(a, b, target); }, a, b);
  return target ? nb::none() : to_result(std::move(result));
}

/// A function of determinants, which NumPy warns of.
template <class Function>
auto determinants(nb::handle a, const char* name, Function&& function) {
  const FloatWatch floats;
  auto result = of_matrix(a, name, function);
  if (const unsigned raised = floats.raised()) report_function_errors(name, raised, result, nb::make_tuple(a));
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

namespace {

/// What norm() does for an order that has a name.
Array named_norm(const Array& x, const std::string& order, const std::optional<Dims>& axes, bool keepdims) {
  const int rank = axes ? axes->size() : x.ndim();
  if (rank == 1) throw ValueError("norm: Invalid norm order '" + order + "' for vectors");
  if (rank != 2)
    throw ValueError("norm: Improper number of dimensions to norm: " + std::to_string(rank) + "; order '" + order +
                     "' needs two axes");
  if (order == "fro" || order == "f") return linalg::norm(x, {}, axes, keepdims);
  if (order == "nuc") return linalg::nuclear_norm(x, axes.value_or(Dims{0, 1}), keepdims);
  throw ValueError("norm: Invalid norm order '" + order + "' for matrices");
}

Array any_norm(const Array& x, nb::handle order, const std::optional<Dims>& axes, bool keepdims) {
  if (PyUnicode_Check(order.ptr())) {
    const std::string name = to_text(order, "norm: ord");
    return without_gil([&] { return named_norm(x, name, axes, keepdims); });
  }
  std::optional<double> p;
  if (!order.is_none()) p = to_double(order, "norm: ord");
  return without_gil([&] { return linalg::norm(x, p, axes, keepdims); });
}

/// A norm whose errors are reported as those of `function` with the array, the order and the axes.
template <class Compute>
nb::object reported_norm(const char* function, const Array& x, nb::handle order, nb::handle axis, Compute&& compute) {
  const FloatWatch floats;
  Array result = compute();
  // A norm of negative order is the reciprocal of a sum, which is 0 where the sum is infinite.
  const bool is_reciprocal = PyNumber_Check(order.ptr()) && to_double(order, "norm: ord") < 0;
  if (const unsigned raised = floats.raised())
    report_function_errors(function, raised, result, nb::make_tuple(to_python(x), order, axis), is_reciprocal);
  return to_result(std::move(result));
}

void bind_norms(nb::module_& module) {
  module.def(
      "norm",
      [](nb::handle x, nb::handle order, nb::handle axis, Truth keepdims) {
        const Array array = as_operand(x, "norm");
        const std::optional<Dims> axes = optional_axes(axis);
        return reported_norm("norm", array, order, axis, [&] { return any_norm(array, order, axes, keepdims); });
      },
      nb::arg("x"), nb::arg("order").none(), nb::arg("axis").none(), nb::arg("keepdims"));
  module.def(
      "vector_norm",
      [](nb::handle x, nb::handle order, nb::handle axis, Truth keepdims) {
        const Array array = as_operand(x, "vector_norm");
        const std::optional<Dims> axes = optional_axes(axis);
        const double p = to_double(order, "vector_norm: ord");
        return reported_norm("vector_norm", array, order, axis, [&] {
          return without_gil([&] { return linalg::vector_norm(array, p, axes, keepdims); });
        });
      },
      nb::arg("x"), nb::arg("order"), nb::arg("axis").none(), nb::arg("keepdims"));
  module.def(
      "matrix_norm",
      [](nb::handle x, nb::handle order, Truth keepdims) {
        const Array array = as_operand(x, "matrix_norm");
        if (array.ndim() < 2)
          throw linalg::LinAlgError("matrix_norm: " + std::to_string(array.ndim()) +
                                    "-dimensional array given. Array must be at least two-dimensional");
        const Dims axes{-2, -1};
        return reported_norm("norm", array, order, from_dims(axes),
                             [&] { return any_norm(array, order, axes, keepdims); });
      },
      nb::arg("x"), nb::arg("order").none(), nb::arg("keepdims"));
  module.def(
      "cond",
      [](nb::handle x, nb::handle order) {
        const Array array = as_operand(x, "cond");
        if (PyUnicode_Check(order.ptr())) {
          const std::string name = to_text(order, "cond: p");
          if (name != "fro" && name != "f" && name != "nuc")
            throw ValueError("norm: Invalid norm order '" + name + "' for matrices");
          return make_array(
              [&] { return name == "nuc" ? linalg::nuclear_cond(array) : linalg::frobenius_cond(array); });
        }
        std::optional<double> p;
        if (!order.is_none()) p = to_double(order, "cond: p");
        return make_array([&] { return linalg::cond(array, p); });
      },
      nb::arg("x"), nb::arg("order").none());
}

/// An array of tolerances, one a matrix; none for None.
std::optional<Array> tolerances(nb::handle given, const char* function, const Array& a) {
  if (given.is_none()) return {};
  return as_operand(given, function, a.device());
}

std::optional<Argument> optional_argument(const std::optional<Array>& array) {
  if (!array) return {};
  return Argument(*array);
}

void bind_by_singular_values(nb::module_& module) {
  module.def("svd_hermitian", [](nb::handle a, bool vectors) {
    const Array array = as_operand(a, "svd");
    linalg::SvdResult parts = composed([&] { return linalg::svd_hermitian(array, vectors); });
    return nb::make_tuple(optional_array(parts.u), to_python(parts.s), optional_array(parts.vh));
  });
  module.def(
      "pinv",
      [](nb::handle a, nb::handle tolerance, Truth hermitian) {
        const Array array = as_operand(a, "pinv");
        if (PyFloat_Check(tolerance.ptr())) {
          const Argument number(to_double(tolerance, "pinv: rcond"));
          return composed_array([&] { return linalg::pinv(array, number, hermitian); });
        }
        const std::optional<Array> given = tolerances(tolerance, "pinv", array);
        return composed_array([&] { return linalg::pinv(array, optional_argument(given), hermitian); });
      },
      nb::arg("a"), nb::arg("tolerance").none(), nb::arg("hermitian"));
  module.def(
      "matrix_rank",
      [](nb::handle a, nb::handle tolerance, nb::handle relative, Truth hermitian) {
        const Array array = as_operand(a, "matrix_rank");
        const std::optional<Array> limits = tolerances(tolerance, "matrix_rank", array);
        const std::optional<Array> shares = tolerances(relative, "matrix_rank", array);
        return composed_array([&] {
          return linalg::matrix_rank(array, {optional_argument(limits), optional_argument(shares), hermitian});
        });
      },
      nb::arg("a"), nb::arg("tolerance").none(), nb::arg("relative_tolerance").none(), nb::arg("hermitian"));
  module.def(
      "lstsq",
      [](nb::handle a, nb::handle b, nb::handle tolerance) {
        const OperandPair pair(a, b, "lstsq");
        std::optional<double> relative;
        if (!tolerance.is_none()) relative = to_double(tolerance, "lstsq: rcond");
        const linalg::LeastSquares found = composed([&] { return linalg::lstsq(pair.a, pair.b, relative); });
        return nb::make_tuple(to_python(found.x), to_python(found.residuals), found.rank,
                              to_python(found.singular_values));
      },
      nb::arg("a"), nb::arg("b"), nb::arg("tolerance").none());
}

void bind_chains(nb::module_& module) {
  module.def("matrix_power", [](nb::handle a, int64_t power) {
    const Array array = as_operand(a, "matrix_power");
    return composed_array([&] { return linalg::matrix_power(array, power); });
  });
  module.def("multi_dot", [](nb::handle arrays) {
    const std::vector<Array> chain = arrays_of(arrays, "multi_dot");
    return composed_array([&] { return linalg::multi_dot(chain); });
  });
  module.def(
      "tensorsolve",
      [](nb::handle a, nb::handle b, nb::handle axes) {
        const OperandPair pair(a, b, "tensorsolve");
        const std::optional<Dims> moved = optional_axes(axes);
        return make_mutable_array([&] { return linalg::tensorsolve(pair.a, pair.b, moved); });
      },
      nb::arg("a"), nb::arg("b"), nb::arg("axes").none());
  module.def("tensorinv", [](nb::handle a, int64_t rows) {
    const Array array = as_operand(a, "tensorinv");
    return make_mutable_array([&] { return linalg::tensorinv(array, rows); });
  });
}

}  // namespace

void bind_linalg(nb::module_& module) {
  bind_norms(module);
  bind_by_singular_values(module);
  bind_chains(module);
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
    const OperandPair pair(a, b, "solve");
    return make_array([&] { return linalg::solve(pair.a, pair.b); });
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
