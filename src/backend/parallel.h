// Loops of the library's own code on the CPU's threads, for the folders that may not include a backend.
#pragma once

#include <cstdint>
#include <type_traits>

namespace iruka {

/// Calls `body(begin, end)` on ranges that cover [0, count) once, by several threads where a thread gets at least
/// `grain`. The first exception is rethrown. Raises Interrupted when the interrupt check says so.
void parallel_for(int64_t count, int64_t grain, void* body, void (*call)(void* body, int64_t begin, int64_t end));

template <class Body>
void parallel_for(int64_t count, int64_t grain, Body&& body) {
  using Own = std::remove_reference_t<Body>;
  parallel_for(count, grain, const_cast<void*>(static_cast<const void*>(&body)),
               [](void* own, int64_t begin, int64_t end) { (*static_cast<Own*>(own))(begin, end); });
}

}  // namespace iruka
