// ReductionKernel: a reduction as three strings of C++, for an element, for two values, and for the result.
#pragma once

#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "iruka/kernel.h"

namespace iruka {

/// The options of CuPy's ReductionKernel, besides its texts and its name.
struct ReductionKernelOptions {
  std::string reduce_type{};  ///< of mapped values: a dtype, or a type of the preamble; the first output's when empty
  std::string preamble{};     ///< helper functions and types
  std::vector<std::string> options{};  ///< compiler options
  bool reduce_dims = true;             ///< whether `_in_ind` and `_out_ind` have one axis, not those of the arrays
  bool diagnose_early = true;          ///< check the C++ in the constructor if all types are concrete
  std::string made_at{};               ///< "file:line" of the call that made the kernel; the C++ call itself when empty
};

/// Which axes a call reduces, and where it runs.
struct ReductionAxes {
  std::optional<Dims> axes{};      ///< all of them when absent
  bool keepdims = false;           ///< reduced axes stay with extent 1
  const Stream* stream = nullptr;  ///< of the launches and of all memory that the call takes; null: the current one
};

/// A reduction made from C++ text: map every element, combine values two by two, finish. Cheap to copy; calls are
/// thread-safe. The order in which values are combined depends only on shapes, layouts and the device.
class IRUKA_API ReductionKernel {
 public:
  /// `map_expr` uses inputs by name, raw ones as CArray, and has the type reduce_type. `reduce_expr` combines two such
  /// values, `a` and `b`. `post_map_expr` assigns outputs from the last value, `a`. `identity` is the result for no
  /// elements, an expression that changes no value it is combined with; without it an empty reduction is an error.
  /// Raises ValueError for malformed parameters or names, CompileError for wrong C++ if all types are concrete.
  ReductionKernel(std::string in_params, std::string out_params, std::string map_expr, std::string reduce_expr,
                  std::string post_map_expr, std::optional<std::string> identity, std::string name = "reduce_kernel",
                  ReductionKernelOptions options = {}, std::source_location where = std::source_location::current());

  /// Inputs, then (optionally) outputs to fill; plain inputs broadcast together. Returns all outputs in order. Raises
  /// TypeError and ValueError as ElementwiseKernel does, AxisError and IndexError for axes, ShapeError for an output of
  /// another shape, ValueError for an empty reduction without identity.
  std::vector<Array> call(std::span<const Argument> arguments, const ReductionAxes& axes = {}) const;
  /// Over all axes; the first output.
  template <class... A>
  Array operator()(const A&... arguments) const {
    const Argument list[] = {Argument(arguments)...};
    return call(list).front();
  }

  /// The generated text, and its assembly, for arguments like these. Where a call launches several stages, their texts
  /// come one after the other. Raises what a call raises before it runs, assembly() also what compiling raises.
  std::string source(std::span<const Argument> arguments, const ReductionAxes& axes = {}) const;
  std::string assembly(std::span<const Argument> arguments, const ReductionAxes& axes = {}) const;
  /// How the stage that reads the inputs runs for arguments like these: how many of its units (parts of outputs, or
  /// outputs) run side by side, or why they do not, with remarks about the user's lines. Compiles again at each call.
  /// Raises what assembly() raises.
  KernelReport report(std::span<const Argument> arguments, const ReductionAxes& axes = {}) const;
  /// Every text generated so far; the first is of a stage that reads inputs.
  std::vector<GeneratedSource> generated_sources() const;
  /// The compiler's warnings since the last call of this function, each worded like an error; as ElementwiseKernel's.
  std::vector<std::string> pop_warnings() const;

  const std::string& name() const;
  const std::string& map_expr() const;
  const std::string& reduce_expr() const;
  const std::string& post_map_expr() const;
  const std::optional<std::string>& identity() const;
  const ReductionKernelOptions& options() const;
  std::span<const Parameter> in_params() const;
  std::span<const Parameter> out_params() const;
  int nin() const { return static_cast<int>(in_params().size()); }
  int nout() const { return static_cast<int>(out_params().size()); }
  /// "ReductionKernel l2norm(T x) -> (T y)"
  std::string to_string() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace iruka
