#include "backend/parallel.h"

#include <algorithm>

#include "core/thread_pool.h"

namespace iruka {

void parallel_for(int64_t count, int64_t grain, void* body, void (*call)(void*, int64_t, int64_t)) {
  if (count <= 0) return;
  auto& pool = ThreadPool::instance();
  if (count < 2 * grain || pool.thread_count() == 1) return call(body, 0, count);
  // The pool begins with small ranges: a quarter of a grain is small enough, and not one element.
  pool.run(count, std::max<int64_t>(1, grain / 4), [&](int64_t begin, int64_t end) { call(body, begin, end); });
}

}  // namespace iruka
