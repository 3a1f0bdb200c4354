#include <string>
#include <vector>

#include "iruka/error.h"
#include "iruka/padding.h"
#include "iruka/picture_filters.h"

namespace iruka::image {

Array block_view(const Array& array, const Dims& block, const Scalar& value) {
  const int axes = array.ndim();
  if (block.size() != axes)
    throw ValueError("block_reduce: block_size must have a number for each of " + std::to_string(axes) + " axes, not " +
                     to_string(block));
  std::vector<Margins<int64_t>> widths;
  Dims split, order;
  bool has_rest = false;
  for (int axis = 0; axis < axes; ++axis) {
    const int64_t size = block[axis], extent = array.shape(axis);
    if (size < 1) throw ValueError("block_reduce: numbers of block_size must be positive, not " + to_string(block));
    const int64_t rest = extent % size, margin = rest ? size - rest : 0;
    has_rest = has_rest || margin;
    widths.emplace_back(0, margin);
    split.push_back(extent / size + (rest ? 1 : 0));
    split.push_back(size);
    order.push_back(2 * axis);
  }
  for (int axis = 0; axis < axes; ++axis) order.push_back(2 * axis + 1);
  if (axes == 0) return array;
  PadOptions options;
  options.values = {{value, value}};
  return (has_rest ? pad(array, widths, options) : array).reshape(split).transpose(order);
}

}  // namespace iruka::image
