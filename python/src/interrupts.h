// Ctrl-C while C++ runs, on the main thread and on others.
#pragma once

#include "iruka/error.h"

namespace iruka::python {

/// Called once, while the module is made, with the GIL.
void prepare_interrupts();

/// Sets the Python error of a call that was interrupted: what the signal's handler raised, else KeyboardInterrupt.
void set_interrupted(const Interrupted& error);

/// A call that keeps the GIL because it is expected to be brief.
class GilKeeper {
 public:
  /// Keeps the memory of the call's arrays, which other code may now change. Called with the GIL.
  virtual void hold_memory() = 0;

 protected:
  ~GilKeeper() = default;
};

/// While it lives, polls for Ctrl-C on this thread let other threads have the GIL.
class KeepsGil {
 public:
  explicit KeepsGil(GilKeeper& call);
  ~KeepsGil();
  KeepsGil(const KeepsGil&) = delete;
  KeepsGil& operator=(const KeepsGil&) = delete;

 private:
  GilKeeper* const outer_;
};

}  // namespace iruka::python
