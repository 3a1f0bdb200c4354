// A call of cancel_poll() for compiled loops that preserves all registers.
#pragma once

namespace iruka::cpu_backend {

/// Code that calls cancel_poll(), returns the answer (0 or 1) in eax and preserves every other register, including
/// vector and mask registers. It may be entered with any alignment of the stack. An ordinary call, even on a cold path,
/// would force the loop's values into memory. Null if there is no such code for this processor.
void* saving_cancel_poll();

}  // namespace iruka::cpu_backend
