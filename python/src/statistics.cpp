// Scans, variance, order statistics and counting for the package's Python modules.
#include "iruka/statistics.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "convert.h"
#include "float_errors.h"
#include "ops.h"
#include "ops/count/histogram.h"
#include "ops/reduce/reduction.h"

namespace iruka::python {

namespace {

ScanOperation scan_operation(const std::string& name) {
  if (name == "add") return ScanOperation::add;
  if (name == "multiply") return ScanOperation::multiply;
  if (name == "minimum") return ScanOperation::minimum;
  if (name == "maximum") return ScanOperation::maximum;
  throw ValueError("scan: the operation must be 'add', 'multiply', 'minimum' or 'maximum', not '" + name + "'");
}

std::optional<Dims> axes_of(nb::handle axis) {
  if (axis.is_none()) return {};
  return to_dims(axis, "axis");
}

}  // namespace

void bind_statistics(nb::module_& module) {
  module.def(
      "scan",
      [](Array x, const std::string& operation, int64_t axis, nb::handle dtype, bool skips_nan, bool initial) {
        const ScanOptions options{to_optional_dtype(dtype), skips_nan, initial};
        const ScanOperation combine = scan_operation(operation);
        return to_result(computed_telling(
            "scan", [&] { return scan(x, combine, axis, options); }, x, operation, axis, dtype, skips_nan));
      },
      nb::arg("x"), nb::arg("operation"), nb::arg("axis"), nb::arg("dtype") = nb::none(), nb::arg("skips_nan") = false,
      nb::arg("includes_initial") = false,
      nb::sig("def scan(x: ndarray, operation: str, axis: int, dtype=None, "
              "skips_nan: bool = False, includes_initial: bool = False) -> ndarray"));
  module.def(
      "variance",
      [](Array x, nb::handle axis, bool keepdims, double correction, bool root) {
        const std::optional<Dims> axes = axes_of(axis);
        return to_result(computed_telling(
            "variance", [&] { return variance(x, axes, keepdims, correction, root); }, x, axis, correction));
      },
      nb::arg("x"), nb::arg("axis").none(), nb::arg("keepdims"), nb::arg("correction"), nb::arg("root"),
      nb::sig("def variance(x: ndarray, axis, keepdims: bool, correction: float, root: bool) -> ndarray"));
  module.def(
      "reduce_gpu",
      [](Array x, const std::string& row, nb::handle axis, bool keepdims) {
        const std::optional<Dims> axes = axes_of(axis);
        return make_array([&] { return ops::reduce_row(ops::reduction_row(row), x, axes, keepdims, {}); });
      },
      nb::arg("x"), nb::arg("row"), nb::arg("axis").none(), nb::arg("keepdims"),
      nb::sig("def reduce_gpu(x: ndarray, row: str, axis, keepdims: bool) -> ndarray"),
      "A reduction of the table that only a GPU computes in one pass: nanmean, ptp.");
  module.def(
      "index_range", [](Array indices) { return without_gil([&] { return ops::index_range(indices); }); },
      nb::arg("indices"), nb::sig("def index_range(indices: ndarray) -> tuple[int, int]"));
  module.def(
      "count_bins",
      [](Array indices, nb::handle weights, int64_t bins) {
        Array given;
        if (!weights.is_none()) given = checked_array(weights, "count_bins");
        return make_array([&] { return ops::count_bins(indices, given.valid() ? &given : nullptr, bins); });
      },
      nb::arg("indices"), nb::arg("weights").none(), nb::arg("bins"),
      nb::sig("def count_bins(indices: ndarray, weights: ndarray | None, bins: int) -> ndarray"));
}

}  // namespace iruka::python
