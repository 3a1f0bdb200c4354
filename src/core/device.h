// The whole interface of a backend. A new device is one implementation of this class and one line in the registry.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/last_launches.h"
#include "core/launch_context.h"
#include "core/module.h"
#include "iruka/device.h"
#include "iruka/error.h"
#include "iruka/memory.h"
#include "iruka/report.h"
#include "iruka/stream.h"

namespace iruka {

/// A header besides the prelude's; texts include it by its path.
struct HeaderFile {
  std::string path;
  std::shared_ptr<const std::string> text;
};
using HeaderFiles = std::shared_ptr<const std::vector<HeaderFile>>;

/// One text to compile. `text` is complete but for the prelude, which the target puts in front.
struct ProgramSource {
  std::string text;
  std::string entry;                 ///< the extern "C" function to launch
  std::vector<std::string> options;  ///< the user's compiler options
  std::string file_name;             ///< names the generated text in diagnostics: "<kernel_name>"
  bool wants_report = false;         ///< compile only for a report, with line tables
  bool runs_blocks = false;          ///< the entry runs blocks of threads (jit/kernels/cpu/blocks.h)
  bool may_narrow = false;           ///< the text may cast floats to integers of 8 or 16 bits (core/narrow_casts.h)
  std::vector<std::string> must_write{};  ///< variables; a warning names those that none of the user's texts writes
  /// Functions and variables that the module has by name beside `entry`, which may be empty. A GPU's module has all
  /// that its text makes visible.
  std::vector<std::string> exports{};
  /// Functions, and addresses of variables, as the text's C++ names them: "scale<float, 4>", "&table<int>".
  std::vector<std::string> name_expressions{};
  HeaderFiles headers{};                           ///< all files besides the prelude that compilers see; null: none
  std::shared_ptr<std::atomic<bool>> cancelled{};  ///< true when no thread waits for the result any more; null: never
  /// Compilers check this at intervals and end early.
  bool is_cancelled() const { return cancelled && cancelled->load(std::memory_order_relaxed); }
};

/// Where and what the compiler complained about.
struct Diagnostic {
  enum class Level : uint8_t { note, warning, error };
  Level level;
  /// As #line directives say; the user's texts are "operation", "preamble", "loop_prep" and "after_loop".
  std::string file;
  int line = 0;    ///< 1-based
  int column = 0;  ///< 1-based
  std::string message;
};

inline bool has_error(std::span<const Diagnostic> diagnostics) {
  return std::ranges::any_of(diagnostics,
                             [](const Diagnostic& each) { return each.level == Diagnostic::Level::error; });
}

/// The outcome of vectorisation: how many elements run side by side, and remarks about the code.
struct LaneReport {
  int lanes = 1;
  std::string reason;           ///< why the body was not widened; non-empty exactly when lanes is 1
  std::vector<Remark> remarks;  ///< may repeat, because each widened copy of the body adds its own

  /// Adds the report of a further loop over the same body.
  void add(LaneReport loop) {
    if (reason.empty()) reason = std::move(loop.reason);
    if (loop.lanes > lanes) lanes = loop.lanes;
    if (lanes > 1) reason.clear();
    remarks.insert(remarks.end(), std::make_move_iterator(loop.remarks.begin()),
                   std::make_move_iterator(loop.remarks.end()));
  }
};

/// Name expressions, and the names in a module of what they name.
using NamePairs = std::vector<std::pair<std::string, std::string>>;

/// Machine code as bytes (the disk cache holds these), or the diagnostics that explain why there is none.
struct CompiledProgram {
  bool ok = false;
  std::string code;
  std::vector<Diagnostic> diagnostics;
  NamePairs names{};  ///< of the source's name expressions
  LaneReport report;  ///< if the source wants a report; there is no code then
};

/// Devices of one kind share the implementations of services (core/service.h).
enum class DeviceKind : uint8_t { cpu, cuda };
inline constexpr size_t kDeviceKinds = 2;

/// The properties of a device on which the emitter and other code depend, so that no code asks which device it is.
struct TargetDescription {
  std::string name;         ///< "cpu", "cuda"
  std::string fingerprint;  ///< compiler version, processor and features: part of every cache key
  int vector_bytes = 16;
  size_t last_level_cache_bytes = 0;
  int multiprocessors = 0;
  size_t most_argument_bytes = SIZE_MAX;  ///< of one launch
  DeviceKind kind = DeviceKind::cpu;
  bool is_host = true;  ///< the process reads and writes the device's memory itself, and calls return when work is done
  bool needs_alignment = false;  ///< of elements to their dtype's alignment
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const std::string& name() const = 0;
  virtual const TargetDescription& target() const = 0;

  virtual void* allocate(size_t bytes) = 0;  ///< 64-byte aligned; raises OutOfMemoryError
  virtual void release(void* memory, size_t bytes) noexcept = 0;
  virtual void copy(void* to, const void* from, size_t bytes) = 0;
  virtual void fill(void* to, int value, size_t bytes) = 0;

  // Streams and events, which `Stream` and `Event` (iruka/stream.h) own: their comments list the errors. The
  // implementations here are for devices whose calls return when their work is done.
  virtual StreamHandle create_stream(const StreamOptions& /*options*/) { return nullptr; }
  virtual void destroy_stream(StreamHandle /*stream*/) noexcept {}  ///< waits for its work
  /// The calling thread's stream, to which memory, copies, launches and library calls belong.
  virtual StreamHandle current_stream() const { return nullptr; }
  virtual StreamHandle exchange_stream(StreamHandle /*stream*/) { return nullptr; }  ///< returns the previous one
  virtual bool is_stream_done(StreamHandle /*stream*/) { return true; }
  virtual void synchronize_stream(StreamHandle /*stream*/) {}
  /// Whether the stream's work may become part of a graph instead of running; its events must not be queried then.
  virtual bool is_capturing(StreamHandle /*stream*/) { return false; }
  virtual EventHandle create_event(const EventOptions& options);
  virtual void destroy_event(EventHandle event) noexcept;
  virtual void record_event(EventHandle event, StreamHandle stream);
  virtual bool is_event_done(EventHandle /*event*/) { return true; }
  virtual void synchronize_event(EventHandle /*event*/) {}
  virtual void wait_for_event(StreamHandle /*stream*/, EventHandle /*event*/) {}
  virtual double elapsed_milliseconds(EventHandle begin, EventHandle end);
  virtual void synchronize() = 0;

  virtual CompiledProgram compile(const ProgramSource& source) = 0;
  /// Parses and checks types only; the result holds no code.
  virtual CompiledProgram check(const ProgramSource& source) = 0;
  /// The assembly text of what compile() would give; for people to read.
  virtual std::string assembly(const ProgramSource& source) = 0;
  /// The module's name is for errors. Raises DeviceError when `code` is not what compile() gave.
  virtual std::shared_ptr<const Module> load(std::string_view code, const std::string& name) = 0;
  /// The same for code that uses the variables of another module instead of its own of the same names. A device whose
  /// modules hold all functions of a text need not do this.
  virtual std::shared_ptr<const Module> load_beside(std::string_view code, const std::string& name,
                                                    std::shared_ptr<const Module> /*variables*/) {
    return load(code, name);
  }
  // A device launches functions over ranges, or over grids, and copies the arguments before the call returns. Launches
  // raise Interrupted when the interrupt check says so, and DeviceError where an assertion of the text failed: a GPU at
  // a later wait for the stream or the device.
  /// Calls `function(arguments, begin, end)` for ranges that cover `range`.
  virtual void launch(LaunchContext& /*context*/, const Function& /*function*/,
                      std::span<const std::byte> /*arguments*/, const LaunchRange& /*range*/) {
    throw DeviceError(name() + ": kernels are launched over a grid of thread blocks, not over ranges");
  }
  /// Each thread calls `function(parameters...)`. Raises ValueError for a grid that the device or the function does not
  /// allow.
  virtual void launch_grid(LaunchContext& /*context*/, const Function& /*function*/,
                           std::span<const ParameterBytes> /*parameters*/, const LaunchGrid& /*grid*/) {
    throw DeviceError(name() + ": kernels are launched over ranges, not over a grid of thread blocks");
  }

  /// The implementation of a service for devices of this kind; core/service.h says more.
  template <class Service>
  auto& service();  ///< raises DeviceError where there is none
  template <class Service>
  auto* find_service();  ///< null where there is none

  LastLaunches& last_launches() { return last_launches_; }

 private:
  LastLaunches last_launches_;
};

}  // namespace iruka
