// Constants of networks as numbers of the host, to fold small ones: usual dtypes need no kernel, whose compilation
// would take longer than the folding.
#pragma once

#include <vector>

#include "iruka/array.h"

namespace iruka::nn {

/// The elements in C order.
std::vector<double> doubles_of(const Array& array);
/// An array of the host.
Array array_of(const std::vector<double>& numbers, const Dims& shape, Dtype dtype);

}  // namespace iruka::nn
