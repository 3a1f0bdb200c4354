// Ctrl-C while C++ runs, on the main thread and on others.
#pragma once

#include "iruka/error.h"

namespace iruka::python {

/// Called once, while the module is made, with the GIL.
void prepare_interrupts();

/// Sets the Python error of a call that was interrupted: what the signal's handler raised, else KeyboardInterrupt.
void set_interrupted(const Interrupted& error);

}  // namespace iruka::python
