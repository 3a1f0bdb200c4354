#include "ops/checks.h"

#include <algorithm>
#include <numeric>

#include "core/device.h"

namespace iruka::ops {

void check_device(const char* what, const Array& given, const Device& device) {
  if (&given.device() == &device) return;
  throw ValueError(std::string(what) + " is on " + given.device().name() + ", but the array is on " + device.name() +
                   "; to_device() moves either");
}

void check_out(const std::string& function, const Array& out, const Dims& shape, const Device& device) {
  check_device((function + ": out").c_str(), out, device);
  out.check_writable(function + ": output array");
  if (!(out.shape() == shape))
    throw ShapeError(function + ": out has shape " + to_string(out.shape()) + ", the result " + to_string(shape));
}

void check_cast(Dtype from, Dtype to, Casting rule) {
  if (can_cast(from, to, rule)) return;
  throw TypeError(std::string("Cannot cast array data from dtype('") + name(from) + "') to dtype('" + name(to) +
                  "') according to the rule '" + name(rule) + "'");
}

Dims normalize_axes(const char* function, const Dims& axes, int ndim) {
  Dims normalized(axes.size());
  for (int k = 0; k < axes.size(); ++k) normalized[k] = normalize_axis(function, axes[k], ndim);
  for (int k = 1; k < axes.size(); ++k)
    if (std::find(normalized.begin(), normalized.begin() + k, normalized[k]) != normalized.begin() + k)
      throw ValueError(std::string(function) + ": axis " + to_string(axes) + " names one axis twice");
  return normalized;
}

Dims axes_or_all(const char* function, const std::optional<Dims>& axes, int ndim) {
  if (axes) return normalize_axes(function, *axes, ndim);
  Dims all(ndim);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void check_one_axis(const Array& x) {
  if (x.ndim() != 1)
    throw ValueError(x.ndim() ? "object too deep for desired array" : "object of too small depth for desired array");
}

}  // namespace iruka::ops
