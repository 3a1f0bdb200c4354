#include "image/geometry/stream.h"

#include "image/geometry/run.h"
#include "iruka/device.h"

namespace iruka::image {

std::unique_ptr<ChainStream> ChainStream::open(const Chain& chain, const Dims& shape, Dtype dtype, const Array& out) {
  auto made = std::make_unique<ChainStream>();
  made->passes_ = plan(chain, shape, dtype);
  made->out_ = out;
  const PassPlan& first = made->passes_.front();
  if (first.warp || first.to.height * first.to.width > first.from.height * first.from.width) return nullptr;
  // Rows begin a pixel behind a multiple of 64 bytes: to aligned rows libjpeg writes past the cache. An odd multiple
  // keeps rows from sharing the sets of a cache.
  Dims some = shape;
  some[0] = stream_rows(first);
  some[1] = ((shape[1] + 64) / 64 | 1) * 64;
  made->rows_ = Array::empty(some, dtype, cpu()).at(Slice{}, Slice{1, 1 + shape[1]});
  made->result_ = made->passes_.size() == 1 ? out : Array::empty(first.to.dims(), first.result_dtype, cpu());
  made->first_ = stream_pass({.plan = first, .source = made->rows_, .result = made->result_, .map_y = {}, .map_x = {}});
  return made->first_ ? std::move(made) : nullptr;
}

void ChainStream::finish() {
  first_.reset();
  for (size_t k = 1; k < passes_.size(); ++k) {
    const PassPlan& pass = passes_[k];
    Array result = k + 1 == passes_.size() ? out_ : Array::empty(pass.to.dims(), pass.result_dtype, cpu());
    const PassRun run{.plan = pass, .source = result_, .result = result, .map_y = {}, .map_x = {}};
    run_passes({&run, 1});
    result_ = std::move(result);
  }
}

}  // namespace iruka::image
