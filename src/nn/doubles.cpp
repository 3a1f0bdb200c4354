#include "nn/doubles.h"

#include <algorithm>

#include "core/device.h"

namespace iruka::nn {
namespace {

template <class T>
std::vector<double> copied(const Array& x) {
  const auto* const data = static_cast<const T*>(x.data());
  return {data, data + x.size()};
}

}  // namespace

std::vector<double> doubles_of(const Array& array) {
  const Array dense = array.to_device(cpu()).contiguous();
  return dense.dtype() == Dtype::float32 ? copied<float>(dense) : copied<double>(dense.astype(Dtype::float64, false));
}

Array array_of(const std::vector<double>& numbers, const Dims& shape, Dtype dtype) {
  const bool is_single = dtype == Dtype::float32;
  const Array made = Array::empty(shape, is_single ? Dtype::float32 : Dtype::float64, cpu());
  if (is_single)
    std::ranges::transform(numbers, static_cast<float*>(made.data()), [](double x) { return static_cast<float>(x); });
  else
    std::ranges::copy(numbers, static_cast<double*>(made.data()));
  return made.astype(dtype, false);
}

}  // namespace iruka::nn
