// StagedKernel: several bodies over one index space, one after the other, with arrays between them.
#pragma once

#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "iruka/kernel.h"

namespace iruka {

/// A body, how many times in a row it runs, and for which elements.
struct Stage {
  Stage(std::string its_body, int64_t its_count = 1, std::string its_elements = "")
      : body(std::move(its_body)), count(its_count), elements(std::move(its_elements)) {}
  Stage(const char* its_body, int64_t its_count = 1, std::string its_elements = "")
      : Stage(std::string(its_body), its_count, std::move(its_elements)) {}
  /// `its_count`: the name of an integer input, whose value in a call says how many times.
  Stage(std::string its_body, std::string its_count, std::string its_elements = "")
      : body(std::move(its_body)), count_name(std::move(its_count)), elements(std::move(its_elements)) {}

  std::string body;
  int64_t count = 1;
  std::string count_name{};  ///< empty: `count` times
  /// A C++ expression of scalars, n, _step and _slice.size(): the body runs for the elements of each slice whose _J is
  /// smaller. Empty: for all elements.
  std::string elements{};
};

/// The options of a StagedKernel, besides its parameters and texts.
struct StagedKernelOptions {
  std::string preamble{};              ///< helper functions and types
  std::vector<std::string> options{};  ///< compiler options, as ElementwiseKernel's
  /// The axes along which stages exchange values; the others are independent slices. Absent: all axes are one slice.
  std::optional<Dims> axis{};
  bool reduce_dims = true;  ///< merge axes where layouts allow
  bool return_tuple = false;
  bool no_return = false;
  bool diagnose_early = true;  ///< check the C++ in the constructor if all types are concrete
  std::string made_at{};       ///< "file:line" of the call that made the kernel; the C++ call itself when empty
};

/// The options of one call.
struct StagedCallOptions {
  std::optional<int64_t> size{};   ///< the number of elements when every array is raw
  std::optional<Dims> axis{};      ///< in place of the kernel's
  const Stream* stream = nullptr;  ///< of the launches and of all memory that the call takes; null: the current one
};

/// A kernel of several stages: each begins when all elements of the slice have gone through the one before. Cheap to
/// copy; calls are thread-safe. Compiled once per signature.
class IRUKA_API StagedKernel {
 public:
  /// `in_params` and `out_params` are ElementwiseKernel's. `intermediates` is a list of "TYPE NAME": arrays over the
  /// index space, which every stage sees like raw parameters, and which exist during a call only. Raises ValueError for
  /// malformed lists, names and stages, CompileError for invalid C++ where all types are concrete.
  StagedKernel(std::string in_params, std::string out_params, std::string intermediates, std::vector<Stage> stages,
               std::string name = "staged_kernel", StagedKernelOptions options = {},
               std::source_location where = std::source_location::current());

  /// Takes inputs, then (optionally) outputs to fill. Returns the first output; an invalid Array if there is none.
  template <class... A>
  Array operator()(const A&... arguments) const {
    const Argument list[] = {Argument(arguments)...};
    std::vector<Array> outputs = call(list);
    return outputs.empty() ? Array() : std::move(outputs.front());
  }
  /// The same with options; returns all outputs in order. Raises what ElementwiseKernel::call raises, AxisError and
  /// IndexError for axes, ValueError for a negative number of repetitions.
  std::vector<Array> call(std::span<const Argument> arguments, const StagedCallOptions& options = {}) const;

  /// The generated text, and its assembly, for arguments like these. Where a call launches stage by stage, their texts
  /// come one after the other.
  std::string source(std::span<const Argument> arguments, const StagedCallOptions& options = {}) const;
  std::string assembly(std::span<const Argument> arguments, const StagedCallOptions& options = {}) const;
  /// How many elements run side by side for arguments like these, in the stage with the most, or why they do not, with
  /// remarks about the lines of all stages. Compiles again at each call.
  KernelReport report(std::span<const Argument> arguments, const StagedCallOptions& options = {}) const;
  /// Every text generated so far.
  std::vector<GeneratedSource> generated_sources() const;
  /// The compiler's warnings since the last call of this function, each worded like an error; as ElementwiseKernel's,
  /// and an intermediate array that is read before a stage has written to it.
  std::vector<std::string> pop_warnings() const;

  const std::string& name() const;
  std::span<const Stage> stages() const;
  const StagedKernelOptions& options() const;
  std::span<const Parameter> in_params() const;
  std::span<const Parameter> out_params() const;
  std::span<const Parameter> intermediates() const;
  int nin() const { return static_cast<int>(in_params().size()); }
  int nout() const { return static_cast<int>(out_params().size()); }
  /// "StagedKernel blur(float32 x; float32 rows) -> (float32 y)"
  std::string to_string() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace iruka
