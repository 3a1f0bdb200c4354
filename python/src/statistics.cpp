// Scans, variance, order statistics and counting for the package's Python modules.
#include "iruka/statistics.h"

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "composed.h"
#include "float_errors.h"
#include "ops.h"
#include "truth.h"

namespace iruka::python {

namespace {

ScanOperation scan_operation(const std::string& name) {
  if (name == "add") return ScanOperation::add;
  if (name == "multiply") return ScanOperation::multiply;
  if (name == "minimum") return ScanOperation::minimum;
  if (name == "maximum") return ScanOperation::maximum;
  throw ValueError("scan: the operation must be 'add', 'multiply', 'minimum' or 'maximum', not '" + name + "'");
}

template <auto function>
void bind_variance(nb::module_& module, const char* name) {
  module.def(
      name,
      [](Array x, nb::handle axis, nb::handle dtype, Truth keepdims, double correction, bool root, nb::handle where,
         nb::handle mean) {
        const std::optional<Array> mask = optional_array(where, "var: where");
        VarianceOptions options{optional_axes(axis),      keepdims, correction,      root,
                                to_optional_dtype(dtype), {},       pointer_to(mask)};
        Operand known;
        if (!mean.is_none()) {
          if (!known.take(mean.ptr(), false)) throw TypeError("var: mean must be an array or a number");
          options.mean = known.argument();
        }
        return composed_array([&] { return function(x, options); });
      },
      nb::arg("x"), nb::arg("axis").none(), nb::arg("dtype").none(), nb::arg("keepdims"), nb::arg("correction"),
      nb::arg("root"), nb::arg("where").none(), nb::arg("mean").none());
}

template <auto function>
void bind_nan_selection(nb::module_& module, const char* name) {
  module.def(
      name,
      [](Array x, nb::handle axis, Truth keepdims) {
        const std::optional<int64_t> along = optional_axis(axis, "axis");
        return composed_array([&] { return function(x, along, keepdims); });
      },
      nb::arg("x"), nb::arg("axis").none(), nb::arg("keepdims"));
}

/// `is_value`: whether a result without axes is a value, as NumPy's is.
template <auto function, bool is_value>
void bind_covariance(nb::module_& module, const char* name) {
  module.def(
      name,
      [](Array x, nb::handle y, bool rowvar, int64_t correction, nb::handle fweights, nb::handle aweights,
         nb::handle dtype) {
        const std::optional<Array> more = optional_array(y, "cov: y"), counts = optional_array(fweights, "fweights"),
                                   shares = optional_array(aweights, "aweights");
        const CovarianceOptions options{
            pointer_to(more), rowvar, correction, pointer_to(counts), pointer_to(shares), to_optional_dtype(dtype)};
        Array result = composed([&] { return function(x, options); });
        return is_value ? to_result(std::move(result)) : to_python(std::move(result));
      },
      nb::arg("x"), nb::arg("y").none(), nb::arg("rowvar"), nb::arg("correction"), nb::arg("fweights").none(),
      nb::arg("aweights").none(), nb::arg("dtype").none());
}

}  // namespace

void bind_statistics(nb::module_& module) {
  module.def(
      "scan",
      [](Array x, const std::string& operation, int64_t axis, nb::handle dtype, bool skips_nan, bool initial) {
        const ScanOptions options{to_optional_dtype(dtype), skips_nan, initial};
        const ScanOperation combine = scan_operation(operation);
        return to_result(compute_and_report(
            "scan", [&] { return scan(x, combine, axis, options); }, x, operation, axis, dtype, skips_nan));
      },
      nb::arg("x"), nb::arg("operation"), nb::arg("axis"), nb::arg("dtype") = nb::none(), nb::arg("skips_nan") = false,
      nb::arg("includes_initial") = false,
      nb::sig("def scan(x: ndarray, operation: str, axis: int, dtype=None, "
              "skips_nan: bool = False, includes_initial: bool = False) -> ndarray"));
  bind_variance<variance>(module, "variance");
  bind_variance<nanvariance>(module, "nanvariance");
  module.def(
      "nanmean",
      [](Array x, nb::handle axis, nb::handle dtype, Truth keepdims, nb::handle where) {
        const ReductionCall call("nanmean", x, axis, dtype, keepdims, nb::none(), where);
        return composed_array([&] { return nanmean(x, call.options); });
      },
      nb::arg("x"), nb::arg("axis").none(), nb::arg("dtype").none(), nb::arg("keepdims"), nb::arg("where").none());
  bind_nan_selection<nanargmin>(module, "nanargmin");
  bind_nan_selection<nanargmax>(module, "nanargmax");
  module.def(
      "ptp",
      [](Array x, nb::handle axis, Truth keepdims) {
        const std::optional<Dims> axes = optional_axes(axis);
        return composed_array([&] { return ptp(x, axes, keepdims); });
      },
      nb::arg("x"), nb::arg("axis").none(), nb::arg("keepdims"));
  module.def(
      "average",
      [](Array x, Array weights, nb::handle axis, Truth keepdims) {
        const std::optional<Dims> axes = optional_axes(axis);
        WeightedMean result = composed([&] { return average(x, weights, axes, keepdims); });
        return nb::make_tuple(to_result(std::move(result.mean)), to_result(std::move(result.weights)));
      },
      nb::arg("x"), nb::arg("weights"), nb::arg("axis").none(), nb::arg("keepdims"));
  bind_covariance<cov, false>(module, "cov");
  bind_covariance<corrcoef, true>(module, "corrcoef");
}

}  // namespace iruka::python
