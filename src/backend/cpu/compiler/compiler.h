// The only interface to Clang and LLVM. They are linked into the shared library iruka_compiler, so that no other part
// of Iruka includes an LLVM header or links LLVM.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "core/launch_context.h"
#include "iruka/function_attributes.h"

namespace iruka::cpu_backend {

#define IRUKA_COMPILER_API __attribute__((visibility("default")))

/// Host processor, features, compiler version and a hash of this library's sources, as one line; part of every cache
/// key.
IRUKA_COMPILER_API const std::string& compiler_fingerprint();
/// Bytes in the host's widest vector register.
IRUKA_COMPILER_API int host_vector_bytes();
/// SLEEF's function of C's name ("exp", "tanh"...) for vectors of `bytes` bytes of floats or doubles, which compiled
/// programs call, too; null where there is none for this host.
IRUKA_COMPILER_API void* vector_function(std::string_view name, bool is_single, int64_t bytes);

/// C++ text to a relocatable object for this host, in memory. Thread-safe. Never prints, never aborts.
/// Integer division by zero is made to give 0, float-to-integer casts to saturate, over-long shifts to shift everything
/// out.
IRUKA_COMPILER_API CompiledProgram compile(const ProgramSource& source);
/// Parses and checks types only: diagnostics, no code.
IRUKA_COMPILER_API CompiledProgram check(const ProgramSource& source);
/// A source for CUDA with its casts of floats to integers of 8 and 16 bits spelled so that they saturate, also those in
/// headers. Nothing for a source with errors.
IRUKA_COMPILER_API std::optional<ProgramSource> saturate_narrow_casts(const ProgramSource& source);
IRUKA_COMPILER_API std::string assembly(const ProgramSource& source);

/// A function that a compiled program exports for launches over ranges.
using EntryFunction = void (*)(const void* arguments, int64_t begin, int64_t end);

/// A function or variable that an object exports.
struct ExportedSymbol {
  std::string name;
  void* address;
  size_t bytes;
  bool is_function;
  EntryFunction function() const { return reinterpret_cast<EntryFunction>(address); }
};

/// Links an object into this process. Raises DeviceError when the object is damaged.
class IRUKA_COMPILER_API LinkedObject {
 public:
  /// With `variables`, the object uses its variables instead of its own of the same names, and must not outlive it.
  explicit LinkedObject(std::string_view object, const LinkedObject* variables = nullptr);
  ~LinkedObject();
  LinkedObject(const LinkedObject&) = delete;
  LinkedObject& operator=(const LinkedObject&) = delete;
  /// The `entry` and the `exports` of the source.
  const std::vector<ExportedSymbol>& symbols() const;
  /// Elements that the code computes at a time; shorter ranges leave lanes idle.
  int lanes() const { return lanes_; }
  /// A number of lanes that may be faster, which only a measurement can show; 0: none.
  int rival_lanes() const { return rival_lanes_; }
  /// Of a kernel over blocks of threads.
  const FunctionAttributes& attributes() const { return attributes_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  FunctionAttributes attributes_;
  int lanes_ = 1;
  int rival_lanes_ = 0;
};

/// Loops whose length the compiler cannot bound call this every few thousand rounds, on the thread that runs them; if
/// it is true, the function around the loop returns at once. Set it once, before the first launch; without it no loop
/// stops.
using CancelPoll = bool (*)() noexcept;
IRUKA_COMPILER_API void set_cancel_poll(CancelPoll poll);

/// The entry of a text that runs blocks of threads (jit/kernels/cpu/blocks.h), and the one that runs one block up to
/// the next barrier of the whole grid, which kernels without such barriers do not have.
inline constexpr std::string_view kBlocksEntry = "iruka_blocks", kGridBlocksEntry = "iruka_grid_blocks";

/// The memory of blocks that a thread has taken, before and after a call of compiled code that may end early.
IRUKA_COMPILER_API size_t memory_mark() noexcept;
IRUKA_COMPILER_API void return_memory(size_t mark) noexcept;

/// The blocks of a launch that wait for each other. Each keeps its memory while others run.
class IRUKA_COMPILER_API GridBlocks {
 public:
  /// `entry` is kGridBlocksEntry.
  GridBlocks(EntryFunction entry, const void* arguments, int64_t count);
  ~GridBlocks();
  GridBlocks(const GridBlocks&) = delete;
  GridBlocks& operator=(const GridBlocks&) = delete;

  /// Starts blocks, or resumes those that wait, up to their next barrier of the grid. Returns how many wait there.
  /// Threads may run different blocks at once.
  int64_t run(int64_t begin, int64_t end);

 private:
  struct Block;
  struct State;
  std::unique_ptr<State> state_;
};

/// Called for each failure on the thread that runs the kernel. Set once, before the first launch.
using AssertionSink = void (*)(const FailedAssertion&) noexcept;
IRUKA_COMPILER_API void set_assertion_sink(AssertionSink sink);

}  // namespace iruka::cpu_backend
