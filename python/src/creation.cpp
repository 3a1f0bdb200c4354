// Arrays made like others, of diagonals, and such that index others.
#include "iruka/creation.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "composed.h"
#include "device.h"
#include "float_errors.h"
#include "iruka/diagonals.h"
#include "iruka/grids.h"
#include "ops.h"
#include "truth.h"

namespace iruka::python {

namespace {

using Like = Array (*)(const Array&, const LikeOptions&);

void bind_like(nb::module_& module, const char* name, Like make) {
  module.def(
      name,
      [name, make](nb::handle x, nb::handle dtype, nb::handle order, nb::handle shape, nb::handle device) {
        const Array like = as_operand(x, name);
        LikeOptions options{.dtype = to_optional_dtype(dtype), .order = to_order(order)};
        if (!shape.is_none()) options.shape = to_dims(shape, "shape");
        if (!device.is_none()) options.device = &to_device(device, "device");
        return make_mutable_array([&] { return make(like, options); });
      },
      nb::arg("x"), nb::arg("dtype").none(), nb::arg("order").none(), nb::arg("shape").none(),
      nb::arg("device").none());
}

void bind_diagonal_matrices(nb::module_& module) {
  module.def("diag", [](nb::handle x, int64_t k) {
    const Array array = as_operand(x, "diag");
    return make_mutable_array([&] { return diag(array, k); });
  });
  module.def("diagflat", [](nb::handle x, int64_t k) {
    const Array array = as_operand(x, "diagflat");
    return make_mutable_array([&] { return diagflat(array, k); });
  });
  module.def("fill_diagonal", [](Array x, nb::handle values, Truth wrap) {
    const Array from = checked_array(values, "fill_diagonal: val");
    const FloatWatch floats;
    without_gil([&] { fill_diagonal(x, from, wrap); });
    warn_of_discarded_imaginary(from.dtype(), x.dtype());
    if (const unsigned raised = floats.raised()) report_cast_errors(raised, values, x.dtype(), x.device());
  });
  module.def(
      "trace",
      [](nb::handle x, int64_t offset, int64_t axis1, int64_t axis2, nb::handle dtype) {
        const Array array = as_operand(x, "trace");
        const std::optional<Dtype> wanted = to_optional_dtype(dtype);
        return composed_array([&] { return trace(array, offset, axis1, axis2, wanted); });
      },
      nb::arg("x"), nb::arg("offset"), nb::arg("axis1"), nb::arg("axis2"), nb::arg("dtype").none());
}

void bind_grids(nb::module_& module) {
  module.def("indices", [](nb::handle shape, nb::handle dtype) {
    const Dims extents = to_dims(shape, "indices: dimensions");
    const Dtype type = to_dtype(dtype);
    return make_mutable_array([&] { return indices(extents, type); });
  });
  module.def("sparse_indices", [](nb::handle shape, nb::handle dtype) {
    const Dims extents = to_dims(shape, "indices: dimensions");
    const Dtype type = to_dtype(dtype);
    return to_tuple(without_gil([&] { return sparse_indices(extents, type); }));
  });
  module.def("meshgrid", [](nb::handle coordinates, Truth copies, Truth is_sparse, bool is_cartesian) {
    const std::vector<Array> vectors = arrays_of(coordinates, "meshgrid");
    return to_tuple(without_gil([&] { return meshgrid(vectors, {is_sparse, copies, is_cartesian}); }));
  });
  module.def("ix_", [](nb::handle vectors) {
    const std::vector<Array> arrays = arrays_of(vectors, "ix_");
    return to_tuple(without_gil([&] { return ix_(arrays); }));
  });
  module.def("tril_indices", [](int64_t rows, int64_t columns, int64_t k) {
    return to_tuple(without_gil([&] { return tril_indices(rows, columns, k); }));
  });
  module.def("triu_indices", [](int64_t rows, int64_t columns, int64_t k) {
    return to_tuple(without_gil([&] { return triu_indices(rows, columns, k); }));
  });
  module.def("ravel_multi_index",
             [](nb::handle parts, nb::handle shape, const std::vector<std::string>& modes, bool is_fortran) {
               const std::vector<Array> arrays = arrays_of(parts, "ravel_multi_index");
               const Dims extents = to_dims(shape, "ravel_multi_index: dims");
               std::vector<IndexMode> ways;
               ways.reserve(modes.size());
               for (const std::string& mode : modes) ways.push_back(parse_index_mode(mode));
               return make_array([&] { return ravel_multi_index(arrays, extents, ways, is_fortran); });
             });
}

}  // namespace

void bind_creation_of_likes(nb::module_& module) {
  bind_like(module, "empty_like", empty_like);
  bind_like(module, "zeros_like", zeros_like);
  bind_like(module, "ones_like", ones_like);
  module.def(
      "vander",
      [](nb::handle x, nb::handle columns, Truth increasing) {
        const Array array = as_operand(x, "vander");
        std::optional<int64_t> wanted;
        if (!columns.is_none()) wanted = to_int64(columns, "vander: N");
        return composed_array([&] { return vander(array, wanted, increasing); });
      },
      nb::arg("x"), nb::arg("columns").none(), nb::arg("increasing"));
  bind_diagonal_matrices(module);
  bind_grids(module);
}

}  // namespace iruka::python
