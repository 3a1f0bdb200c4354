// The library's global values. Each is initialised by a constant or made at its first use, so that none depends on the
// order in which files are initialised, and none is ever destroyed, so that threads may use it until the process ends
// (core/process_end.h).
#pragma once

#include <atomic>
#include <mutex>
#include <type_traits>
#include <utility>

#include "core/fork.h"

namespace iruka {

/// A value that is made at its first use. Several threads may make one at the same time; the first one made is kept.
template <class T>
class Once {
 public:
  template <class Make>
  T& get(Make&& make) {
    if (T* const found = find()) return *found;
    T* const made = new T(std::forward<Make>(make)());
    T* first = nullptr;
    if (value_.compare_exchange_strong(first, made, std::memory_order_acq_rel)) return *made;
    delete made;
    return *first;
  }
  /// Null before the first use.
  T* find() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<T*> value_{nullptr};
};

/// The value of `make()`, which is called once for each place in the code and never destroyed. It replaces a function's
/// static variable, whose initialisation takes a lock that fork() does not know.
template <class Make>
  requires std::is_class_v<Make>
auto& made_once(Make make) {
  static constinit Once<std::invoke_result_t<Make>> value;
  return value.get(make);
}
/// The same for a value that two threads must not create at the same time.
template <class Make>
  requires std::is_class_v<Make>
auto& made_once_locked(Make make) {
  static constinit Once<std::invoke_result_t<Make>> value;
  static constinit ForkSafeMutex making;
  if (auto* const found = value.find()) return *found;
  std::lock_guard lock(making);
  return value.get(make);
}

}  // namespace iruka
