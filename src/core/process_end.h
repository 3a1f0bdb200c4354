// What the library does when its process ends. Global values are never destroyed, so that threads may use them to the
// last moment; threads that use what other libraries do destroy are ended here first.
#pragma once

#include <cstdint>

namespace iruka {

/// The steps in their order.
enum class EndStep : uint8_t {
  compilers,
  background_compilation,  ///< its thread waits for compilers
};
inline constexpr int kEndSteps = 2;

/// Registers what a step does, once for each step. `action` returns whether all threads of the step have ended. Where
/// one has not, the process ends at once, without the destructors that would take a running thread's memory from it.
void at_process_end(EndStep step, bool (*action)() noexcept);

/// Puts the steps in front of the destructors that other libraries have registered until now. What was registered last
/// runs first when a process ends, and a compiler registers destructors when a part of it is used for the first time.
void run_end_steps_before_known_destructors();

}  // namespace iruka
