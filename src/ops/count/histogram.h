// Counting how often each small integer occurs.
#pragma once

#include <string>
#include <utility>

#include "iruka/array.h"

namespace iruka::ops {

/// The smallest and largest of `indices` (int32 or int64, 1-d); 0 and -1 where there are none.
std::pair<int64_t, int64_t> index_range(const Array& indices);

/// For each k, the number of elements of `indices` (int32 or int64, 1-d, 0 <= index < bins) that equal k: int64, shape
/// (bins,). With `weights` (float64 or int64, same shape), the sum of their weights, in their dtype. On the CPU the
/// order of additions depends on the shape alone; on a GPU it is undefined.
Array count_bins(const Array& indices, const Array* weights, int64_t bins);

/// The text of a GPU's kernel for few bins.
std::string count_bins_text(Dtype index);

/// The bin that each element of x falls into (NumPy's digitize), on a GPU. `edges` are the bins in x's dtype. Bins that
/// neither ascend nor descend are a ValueError when the device is next waited for.
Array digitize_gpu(const Array& x, const Array& edges, const Array& bins, bool right);

}  // namespace iruka::ops
