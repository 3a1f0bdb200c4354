// Loops of the library's own compiled code on the CPU's threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/float_status.h"
#include "core/thread_pool.h"

namespace iruka {

/// Calls `body(begin, end)` on ranges that cover [0, count) once, by several threads where each gets at least `grain`.
/// The first exception is rethrown. Raises Interrupted when the interrupt check says so. The check runs between ranges,
/// so that a body with long steps must call should_stop() between them and return if it is true.
template <class Body>
void parallel_for(int64_t count, int64_t grain, Body&& body) {
  if (count <= 0) return;
  if (count < 2 * grain) {
    {
      const FloatScope floats;
      body(int64_t{0}, count);
    }
    throw_if_stopped();
    return;
  }
  // The pool starts with small ranges; a quarter of a grain keeps them above single elements.
  ThreadPool::instance().run(count, std::max<int64_t>(1, grain / 4), body);
}

}  // namespace iruka
