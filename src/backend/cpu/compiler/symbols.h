// The only functions and variables outside a kernel that its code may use.
#pragma once

#include <string>
#include <string_view>

namespace llvm {
class TargetLibraryInfoImpl;
}

namespace iruka::cpu_backend {

/// The address of the C math function, memory function or compiler support function `name`; null for any other name.
void* symbol_address(std::string_view name);

/// Restricts the optimiser's calls to functions that symbol_address() knows.
void restrict_library(llvm::TargetLibraryInfoImpl& library);

/// Tells the assertion sink of a failure on this thread.
void note_failed_assertion(const char* condition, const char* file, int line, long long element) noexcept;

/// The function that compiled loops call to poll for cancellation, and its address.
bool cancel_poll();
inline constexpr const char* kCancelPollName = "iruka_cancel_poll";
inline constexpr const char* kSavingCancelPollName = "iruka_saving_cancel_poll";  ///< see saving_poll.h

}  // namespace iruka::cpu_backend
