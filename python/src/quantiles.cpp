// Medians and quantiles.
#include "iruka/quantiles.h"

#include <nanobind/stl/string.h>

#include <string>

#include "composed.h"

namespace iruka::python {

namespace {

/// A number stays a number, which leaves a float array's dtype as it is; the rest is an array.
class GivenShares {
 public:
  explicit GivenShares(nb::handle q) {
    if (is_array(q.ptr()))
      array_ = array_of(q.ptr());
    else if (!to_scalar(q.ptr(), scalar_))
      throw TypeError("quantile: q must be numbers, not " + describe(q.type()));
  }
  Argument argument() const { return array_ ? Argument(*array_) : Argument(scalar_); }

 private:
  std::optional<Array> array_;
  Scalar scalar_;
};

template <auto function>
void bind_quantile(nb::module_& module, const char* name) {
  module.def(
      name,
      [](Array x, nb::handle q, nb::handle axis, const std::string& method, bool keepdims, nb::handle weights) {
        const GivenShares shares(q);
        const std::optional<Array> given = optional_array(weights, "quantile: weights");
        const QuantileOptions options{optional_axes(axis), parse_quantile_method(method), keepdims, pointer_to(given)};
        return composed_array([&] { return function(x, shares.argument(), options); });
      },
      nb::arg("x"), nb::arg("q"), nb::arg("axis").none(), nb::arg("method"), nb::arg("keepdims"),
      nb::arg("weights").none());
}

template <auto function>
void bind_median(nb::module_& module, const char* name) {
  module.def(
      name,
      [](Array x, nb::handle axis, bool keepdims) {
        const std::optional<Dims> axes = optional_axes(axis);
        return composed_array([&] { return function(x, axes, keepdims); });
      },
      nb::arg("x"), nb::arg("axis").none(), nb::arg("keepdims"));
}

}  // namespace

void bind_quantiles(nb::module_& module) {
  bind_quantile<quantile>(module, "quantile");
  bind_quantile<percentile>(module, "percentile");
  bind_quantile<nanquantile>(module, "nanquantile");
  bind_quantile<nanpercentile>(module, "nanpercentile");
  bind_median<median>(module, "median");
  bind_median<nanmedian>(module, "nanmedian");
}

}  // namespace iruka::python
