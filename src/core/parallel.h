// Loops of the library's own compiled code on the CPU's threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/thread_pool.h"

namespace iruka {

/// Calls `body(begin, end)` on ranges that cover [0, count) once, by several threads where each gets at least `grain`.
/// The first exception is rethrown. Raises Interrupted when the interrupt check says so.
template <class Body>
void parallel_for(int64_t count, int64_t grain, Body&& body) {
  if (count <= 0) return;
  ThreadPool& pool = ThreadPool::instance();
  if (count < 2 * grain || pool.thread_count() == 1) {
    body(int64_t{0}, count);
    return;
  }
  // The pool begins with small ranges: a quarter of a grain is small enough, and not one element.
  pool.run(count, std::max<int64_t>(1, grain / 4), body);
}

}  // namespace iruka
