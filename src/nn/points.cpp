#include "nn/points.h"

#include "core/layout.h"
#include "ops/views.h"

namespace iruka::nn {

Points::Points(const Array& x, int64_t alignment) : layout(PointLayout::strided) {
  const int last = x.ndim() - 1;
  const int64_t width = x.shape(last), itemsize = x.itemsize();
  stride = width == 1 ? itemsize : x.strides()[last];
  const Array first = ops::slice_at(x, last, 0);
  count = first.size();
  const LoopOperand operands[] = {LoopOperand(&first.shape(), &first.strides())};
  LoopLayout loop(first.shape(), operands);
  loop.merge_axes();
  const bool is_dense = count == 1 || (loop.rank() == 1 && loop.stride(0, 0) == width * itemsize);
  const bool is_aligned = reinterpret_cast<intptr_t>(x.data()) % alignment == 0;
  if (stride == itemsize && is_dense && is_aligned) {
    layout = PointLayout::packed;
    view = x.view(x.dtype(), {count * width}, {itemsize}, x.offset());
  } else {
    view = x.view(x.dtype(), Dims(loop.extents(), loop.rank()), Dims(loop.strides(0), loop.rank()), x.offset());
  }
}

}  // namespace iruka::nn
