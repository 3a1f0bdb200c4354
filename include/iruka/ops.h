// Array functions. Elementwise functions and reductions are objects, each one row of a table in src/ops.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "iruka/array.h"
#include "iruka/kernel.h"

namespace iruka {

/// The memory order of new outputs: C, Fortran, Fortran if every input is, or that of the inputs.
enum class MemoryOrder : uint8_t { c, fortran, any, keep };

/// The options of one call of an elementwise function.
struct CallRules {
  std::optional<Dtype> dtype{};  ///< of the first output; forces the loop
  /// Dtypes of inputs and outputs that the loop must have, where they are given; empty for none.
  std::vector<std::optional<Dtype>> signature{};
  Casting casting = Casting::same_kind;  ///< from inputs to the loop, and from the loop to given outputs
  MemoryOrder order = MemoryOrder::keep;
  const Array* where = nullptr;  ///< bools; where false, a given output keeps its element, a new one is unspecified
};

/// A row of the elementwise table, callable: add(x, y), add(x, 3, out). Broadcasts; promotes by NEP 50; handles
/// outputs that overlap inputs as NumPy does. Raises TypeError where no loop takes the dtypes, ShapeError where shapes
/// do not broadcast.
class IRUKA_API ElementwiseFunction {
 public:
  explicit ElementwiseFunction(const char* name);
  const char* name() const;
  int nin() const;
  int nout() const;
  /// One line on what it computes.
  const char* documentation() const;
  template <class... A>
  Array operator()(const A&... arguments) const {
    const Argument list[] = {Argument(arguments)...};
    return std::move(call(list).front());
  }
  /// Inputs, then optionally outputs.
  std::vector<Array> call(std::span<const Argument> arguments, const CallRules& rules = {}) const;
  /// The same, if outputs are passed; returns nothing.
  void fill(std::span<const Argument> arguments, const CallRules& rules = {}) const;
  /// The loop's dtypes for these inputs (given outputs only have to be castable to): inputs, then outputs.
  std::vector<Dtype> types(std::span<const Argument> arguments, const CallRules& rules = {}) const;
  /// Every loop in NumPy's notation, "dd->d"; bfloat16 is E.
  std::vector<std::string> loops() const;
  struct Row;
  const Row& row() const { return *row_; }

 private:
  /// The new outputs; none if outputs were passed.
  std::vector<Array> run(std::span<const Argument> arguments, const CallRules& rules) const;

  const Row* row_;
};

/// A row of the reduction table, callable: sum(x), sum(x, {0, 2}, true). No axes: all of them.
class IRUKA_API ReductionFunction {
 public:
  explicit ReductionFunction(const char* name);
  const char* name() const;
  const char* documentation() const;
  /// Raises IndexError for an axis out of range or named twice, ValueError for an empty axis without identity.
  Array operator()(const Array& x, std::optional<Dims> axes = {}, bool keepdims = false,
                   std::optional<Dtype> dtype = {}) const;
  /// Whether the caller may choose the dtype: that of a sum, a product or a mean.
  bool takes_dtype() const;
  struct Row;
  const Row& row() const { return *row_; }

 private:
  const Row* row_;
};

IRUKA_API std::vector<std::string> elementwise_names();
IRUKA_API std::vector<std::string> reduction_names();

inline const ElementwiseFunction add{"add"}, subtract{"subtract"}, multiply{"multiply"}, divide{"divide"},
    power{"power"}, maximum{"maximum"}, minimum{"minimum"}, equal{"equal"}, less{"less"}, greater{"greater"},
    negative{"negative"}, absolute{"absolute"}, sqrt{"sqrt"}, exp{"exp"}, log{"log"}, sin{"sin"}, cos{"cos"},
    tanh{"tanh"}, square{"square"}, where{"where"};
inline const ReductionFunction sum{"sum"}, prod{"prod"}, min{"min"}, max{"max"}, mean{"mean"}, any{"any"}, all{"all"},
    argmin{"argmin"}, argmax{"argmax"};

// Creation. `dtype` defaults as NumPy's does.
IRUKA_API Array zeros(const Dims& shape, Dtype dtype = Dtype::float64);
IRUKA_API Array ones(const Dims& shape, Dtype dtype = Dtype::float64);
IRUKA_API Array empty(const Dims& shape, Dtype dtype = Dtype::float64);
IRUKA_API Array full(const Dims& shape, const Scalar& value, std::optional<Dtype> dtype = {});
IRUKA_API Array arange(const Scalar& start, const Scalar& stop, const Scalar& step, std::optional<Dtype> dtype = {});
inline Array arange(const Scalar& stop) { return arange(0, stop, 1); }
IRUKA_API Array linspace(double start, double stop, int64_t count = 50, bool endpoint = true,
                         Dtype dtype = Dtype::float64);
IRUKA_API Array eye(int64_t rows, std::optional<int64_t> columns = {}, int64_t k = 0, Dtype dtype = Dtype::float64);

IRUKA_API Array concatenate(std::span<const Array> arrays, int64_t axis = 0);
IRUKA_API Array stack(std::span<const Array> arrays, int64_t axis = 0);

/// The dtype arrays and scalars are computed in together (NEP 50).
IRUKA_API Dtype result_type(std::span<const Argument> arguments);

namespace linalg {
/// Vector 2-norm of the flattened array, or along `axes`; Frobenius for two axes. `order` as NumPy's: 1, 2, inf, -inf,
/// 0, p.
IRUKA_API Array norm(const Array& x, std::optional<double> order = {}, std::optional<Dims> axes = {},
                     bool keepdims = false);
}  // namespace linalg

}  // namespace iruka
