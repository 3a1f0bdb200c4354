// A way from compiled loops to cancel_poll() that costs them no registers.
#pragma once

namespace iruka::cpu_backend {

/// Where there is one for this processor: code that calls cancel_poll(), leaves the answer (0 or 1) in eax and every
/// other register, vector and mask registers included, as it was. It may be entered with any alignment of the stack.
/// With a call that follows the usual convention on its cold path, a loop would keep in memory what it carries. Null
/// elsewhere.
void* saving_cancel_poll();

}  // namespace iruka::cpu_backend
