// ElementwiseKernel: the body of a loop as a string of C++.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "iruka/array.h"
#include "iruka/report.h"
#include "iruka/stream.h"

namespace iruka {

namespace jit {
struct Includes;
}

/// One argument of a kernel call: an array or a scalar. It refers to its array, which must live until the call returns:
/// k(x, f(y)) is valid; a list of Arguments must not outlive their arrays.
class Argument {
 public:
  Argument(const Array& array) : array_(&array) {}
  Argument(const Scalar& scalar) : scalar_(scalar) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Argument(T value) : scalar_(value) {}
  Argument(std::complex<double> value) : scalar_(value) {}

  bool is_array() const { return array_ != nullptr; }
  const Array& array() const { return *array_; }
  const Scalar& scalar() const { return scalar_; }

 private:
  const Array* array_ = nullptr;
  Scalar scalar_;
};

/// One parameter as written: "raw const float32 image".
struct Parameter {
  std::string name;
  std::string type;            ///< as written: "float32", "T"
  std::optional<Dtype> dtype;  ///< absent for a placeholder
  bool raw = false;
  bool is_const = true;        ///< false for outputs and `_non_const` inputs, which are written back
  bool follows_array = false;  ///< a raw input without qualifier: writable if its array is
  int64_t extent = 0;          ///< elements of a small array by value, "float32 taps[9]"; 0: anything else

  bool is_by_value() const { return extent > 0; }
  /// Whether the body sees an element of an array at a time.
  bool has_elements() const { return !raw && !is_by_value(); }
  /// "raw float32 x", without the words for const.
  std::string to_string() const;
};

/// The options of CuPy's ElementwiseKernel, besides the four texts.
struct KernelOptions {
  std::string preamble{};    ///< helper functions and types
  std::string loop_prep{};   ///< runs before the elements of a block
  std::string after_loop{};  ///< runs after the elements of a block
  /// Compiler options: "--use_fast_math", "-DNAME=value", "-I/folder". The texts may include files of the folders. They
  /// are read when the kernel is made, and all of its compilations see them as they were then.
  std::vector<std::string> options{};
  bool reduce_dims = true;  ///< merge axes where layouts allow
  bool return_tuple = false;
  bool no_return = false;
  bool diagnose_early = true;  ///< check the C++ in the constructor if all types are concrete
  /// The user's texts that `operation` contains, each after the file name that its #line directive gives it.
  std::vector<std::pair<std::string, std::string>> embedded_texts{};
  std::vector<std::string> must_write{};  ///< variables besides the outputs; a warning names those that no text writes
  std::string argument_types{};           ///< the arguments in compile errors; each parameter and its dtype if empty
  std::string made_at{};  ///< "file:line" of the call that made the kernel; the C++ call itself when empty
  std::shared_ptr<const jit::Includes> includes{};  ///< headers that were read before; null: read them now
};

/// The options of one call.
struct CallOptions {
  std::optional<int64_t> size{};   ///< the loop's length when every array is raw
  int64_t block_size = 128;        ///< accepted for compatibility with CuPy; must be positive
  const Stream* stream = nullptr;  ///< of the launch and of all memory that the call takes; null: the current one
};

/// A text that was generated for a call, and the dtypes of the arrays (inputs, then outputs) it is for.
struct GeneratedSource {
  std::vector<Dtype> array_dtypes;
  std::string text;
};

/// A kernel made from C++ text. Cheap to copy; calls are thread-safe. Compiled once per signature.
class IRUKA_API ElementwiseKernel {
 public:
  /// Raises ValueError for a malformed parameter list or name, CompileError for invalid C++ where all types are
  /// concrete; what only machine code shows (a frame that is too large) is an error at the first call.
  ElementwiseKernel(std::string in_params, std::string out_params, std::string operation, std::string name = "kernel",
                    KernelOptions options = {}, std::source_location where = std::source_location::current());

  /// Takes inputs, then (optionally) outputs to fill. Returns the first output; an invalid Array if there is none.
  template <class... A>
  Array operator()(const A&... arguments) const {
    const Argument list[] = {Argument(arguments)...};
    std::vector<Array> outputs = call(list);
    return outputs.empty() ? Array() : std::move(outputs.front());
  }
  /// The same with options; returns all outputs in order (given outputs are returned as they are).
  std::vector<Array> call(std::span<const Argument> arguments, const CallOptions& options = {}) const;
  /// The same, if outputs are passed; returns nothing.
  void fill(std::span<const Argument> arguments, const CallOptions& options = {}) const;

  const std::string& name() const;
  const std::string& operation() const;
  const KernelOptions& options() const;
  std::span<const Parameter> in_params() const;
  std::span<const Parameter> out_params() const;
  int nin() const { return static_cast<int>(in_params().size()); }
  int nout() const { return static_cast<int>(out_params().size()); }

  /// The generated text, and its assembly, for arguments like these.
  std::string source(std::span<const Argument> arguments, const CallOptions& options = {}) const;
  std::string assembly(std::span<const Argument> arguments, const CallOptions& options = {}) const;
  /// How many elements run side by side for arguments like these, or why they do not, with remarks about the user's
  /// lines. Compiles again at each call. Raises what assembly() raises.
  KernelReport report(std::span<const Argument> arguments, const CallOptions& options = {}) const;
  /// Every text generated so far, most recent last.
  std::vector<GeneratedSource> generated_sources() const;
  /// The compiler's warnings about the texts since the last call of this function, each worded like an error: an
  /// output that is not written, a statement without effect, a variable without a value, a[y, x]. Empty as a rule.
  std::vector<std::string> pop_warnings() const;
  /// "ElementwiseKernel mat_add(float32 x, float32 y) -> (float32 z)"
  std::string to_string() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// One event of the JIT compiler in this process.
struct KernelEvent {
  enum class Kind : uint8_t {
    compiled,
    loaded_from_disk,
    specialised,      ///< compiled for integer arguments and layouts of raw arrays that stay the same
    scalar_compiled,  ///< the scalar path was compiled, to be measured against the lanes
    lanes_compiled,   ///< lanes that an estimate had refused were compiled, to be measured against the scalar path
    lanes_chosen,     ///< the lanes were measured against the scalar path and stay in use
    scalar_chosen,    ///< the scalar path was faster and runs from now on
  };
  Kind kind;
  std::string kernel;
  std::string device;
  double milliseconds;  ///< of compiling, loading or measuring
};

/// What was compiled or found on disk since the start (or the last clear), in order; reused variants are not listed.
IRUKA_API std::vector<KernelEvent> kernel_history();
IRUKA_API void clear_kernel_history();

/// Forgets compiled kernels in memory and deletes the disk cache. Running kernels are safe.
IRUKA_API void clear_cache();
/// The folder of the disk cache, or "" if none can be used.
IRUKA_API std::string cache_directory();

/// Waits until kernels being specialised in the background are ready. For tests and benchmarks.
IRUKA_API void finish_background_compilation();

}  // namespace iruka
