// A listener to the calls inside a function that is built from other functions: Python's module, which words
// floating-point errors and warnings.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "core/float_status.h"
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
  virtual void varied(const Array& x, const std::optional<Dims>& axes, double correction, const Array& result) = 0;
  virtual void scanned(const Array& x, ScanOperation operation, int64_t axis, const ScanOptions& options,
                       const Array& result) = 0;
  virtual void cast(const Array& x, Dtype dtype) = 0;
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

/// While it exists, neither calls nor warnings of the thread are reported, nor are the errors that floats raised.
class SilentScope {
 public:
  SilentScope() : scope_(nullptr), flags_(take_float_flags()) {}
  ~SilentScope() {
    take_float_flags();
    add_float_flags(flags_);
  }
  SilentScope(const SilentScope&) = delete;
  SilentScope& operator=(const SilentScope&) = delete;

 private:
  const ListenerScope scope_;
  const unsigned flags_;
};

/// x as an array of `dtype`, itself where it is one. The cast is reported.
inline Array cast(const Array& x, Dtype dtype) {
  if (x.dtype() == dtype) return x;
  Array result = x.astype(dtype, false);
  if (current_listener) current_listener->cast(x, dtype);
  return result;
}

inline void warn(const char* message) {
  if (current_listener) current_listener->warned(message);
}

}  // namespace iruka::ops
