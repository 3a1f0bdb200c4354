// A listener to the calls inside a function that is built from other functions: Python's module, which words
// floating-point errors and warnings.
#pragma once

#include <span>
#include <utility>

#include "iruka/statistics.h"

namespace iruka::ops {

/// Called for each function that its thread calls. An exception from it ends the outer function.
class Listener {
 public:
  virtual void called(const ElementwiseFunction& function, std::span<const Argument> inputs,
                      std::span<const Array> outputs) = 0;
  virtual void reduced(const ReductionFunction& function, const Array& x, const ReductionOptions& options,
                       const Array& result) = 0;
  /// A function that is no row of a table.
  virtual void computed(const char* function, std::span<const Argument> inputs, const Array& result) = 0;
  /// A warning that cannot be derived from the result, as for the mean of no elements.
  virtual void warned(const char* message) = 0;

 protected:
  ~Listener() = default;
};

inline constinit thread_local Listener* current_listener = nullptr;

/// While it exists, the thread's calls are reported to `listener`, if it is not null.
class ListenerScope {
 public:
  explicit ListenerScope(Listener* listener) : before_(std::exchange(current_listener, listener)) {}
  ~ListenerScope() { current_listener = before_; }
  ListenerScope(const ListenerScope&) = delete;
  ListenerScope& operator=(const ListenerScope&) = delete;

 private:
  Listener* const before_;
};

inline void warn(const char* message) {
  if (current_listener) current_listener->warned(message);
}

}  // namespace iruka::ops
