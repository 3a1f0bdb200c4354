// What reductions are to give: plain loops over each output's elements, in long double.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

#include "iruka/iruka.h"

namespace iruka::test {

using Real = long double;

inline const std::vector<Dtype> kReal{Dtype::bool_,    Dtype::int8,    Dtype::int16,  Dtype::int32,  Dtype::int64,
                                      Dtype::uint8,    Dtype::uint16,  Dtype::uint32, Dtype::uint64, Dtype::float16,
                                      Dtype::bfloat16, Dtype::float32, Dtype::float64};

inline std::vector<double> doubles(const Array& array) { return array.astype(Dtype::float64).to_vector<double>(); }

/// Small whole numbers, exact in every dtype, with zeros and repeats.
inline Array numbers(const Dims& shape, Dtype dtype, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<double> values(static_cast<size_t>(count(shape)));
  for (double& value : values) value = dtype == Dtype::bool_ ? random() % 2 : random() % 7;
  return Array::from(std::span<const double>(values), shape).astype(dtype);
}

/// Groups the elements of x by output: values[o] lists the elements of output o in C order of the reduced axes.
inline std::vector<std::vector<double>> groups(const Array& x, const std::vector<bool>& reduced) {
  const auto values = doubles(x);
  int64_t outputs = 1;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (!reduced[static_cast<size_t>(axis)]) outputs *= x.shape(axis);
  std::vector<std::vector<double>> result(static_cast<size_t>(outputs));
  for (int64_t k = 0; k < x.size(); ++k) {
    int64_t rest = k, output = 0, step = 1;
    for (int axis = x.ndim() - 1; axis >= 0; --axis) {
      const int64_t index = rest % x.shape(axis);
      rest /= x.shape(axis);
      if (reduced[static_cast<size_t>(axis)]) continue;
      output += index * step;
      step *= x.shape(axis);
    }
    result[static_cast<size_t>(output)].push_back(values[static_cast<size_t>(k)]);
  }
  return result;
}

inline double sum_of(const std::vector<double>& v) {
  Real total = 0;
  for (double x : v) total += x;
  return static_cast<double>(total);
}
inline double least(const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }
inline double most(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }
inline double variance_of(const std::vector<double>& v) {
  const Real mean = sum_of(v) / static_cast<Real>(v.size());
  Real squares = 0;
  for (double x : v) squares += (x - mean) * (x - mean);
  return static_cast<double>(squares / static_cast<Real>(v.size()));
}
inline double count_of(const std::vector<double>& v) {
  return static_cast<double>(v.size()) - static_cast<double>(std::count(v.begin(), v.end(), 0.0));
}

struct Reference {
  const char* name;
  std::function<double(const std::vector<double>&)> formula;
};
inline const Reference kReferences[] = {
    {"sum", sum_of},
    {"mean", [](const auto& v) { return sum_of(v) / static_cast<double>(v.size()); }},
    {"min", least},
    {"max", most},
    {"any", [](const auto& v) { return static_cast<double>(count_of(v) > 0); }},
    {"all", [](const auto& v) { return static_cast<double>(count_of(v) == static_cast<double>(v.size())); }},
    {"argmin", [](const auto& v) { return static_cast<double>(std::min_element(v.begin(), v.end()) - v.begin()); }},
    {"argmax", [](const auto& v) { return static_cast<double>(std::max_element(v.begin(), v.end()) - v.begin()); }},
    {"count_nonzero", count_of},
    {"nansum", sum_of},
    {"nanmin", least},
    {"nanmax", most},
    {"var", variance_of},
    {"std", [](const auto& v) { return std::sqrt(variance_of(v)); }},
};

/// How far a result may be from its formula, relative: what is divided is rounded to its dtype; all else here is exact.
inline double tolerance(const Reference& row, Dtype dtype) {
  const std::string_view name = row.name;
  if (name != "mean" && name != "var" && name != "std") return 0;
  return dtype == Dtype::float16 ? 2e-3 : dtype == Dtype::bfloat16 ? 1e-2 : dtype == Dtype::float32 ? 1e-6 : 1e-14;
}

}  // namespace iruka::test
