// One row an elementwise function: its types, its body and its documentation.
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <string_view>

#include "iruka/ops.h"

namespace iruka {
namespace ops {

/// How dtypes are chosen, in addition to the list of loops.
enum class Rule : uint8_t {
  promote,              ///< the first loop that holds every input without loss
  refuse_bool,          ///< the same, but if all inputs are bool it is a TypeError
  integers_as_float64,  ///< the same, but integers and bools are float64
  compare,  ///< the same as promote, but int64 with uint64 is compared exactly, and a literal may be out of range
  power,    ///< the same as promote, but integers to negative integers are a ValueError
};

/// The dtypes for which the body gives infinity or NaN for finite numbers without a floating-point exception.
enum class Quiet : uint8_t { no, complex_numbers, all };

/// Most arguments, inputs and outputs together, that a row may have.
inline constexpr int kMaxArguments = 6;

struct Variant;  // a kernel for given dtypes; elementwise.cpp

}  // namespace ops

struct ElementwiseFunction::Row {
  const char* name;
  /// NumPy's notation: T is the loop's dtype, R its real part's, ? bool, l int64, i int32, B uint8.
  const char* signature;
  /// The loops' dtypes in the order they are tried: NumPy's characters, and E for bfloat16.
  const char* loops;
  /// Sets out0, out1... from in0, in1.... T and R name the computing types: float16 and bfloat16 compute in float.
  /// S is the type T is stored as.
  const char* body;
  const char* documentation;
  ops::Rule rule = ops::Rule::promote;
  const char* helpers = "";  ///< HEADER.h of kernels/ declares the functions that the body calls
  ops::Quiet quiet = ops::Quiet::no;
};

namespace ops {

std::span<const ElementwiseFunction::Row> elementwise_table();
/// Includes HEADER.h of kernels/, whose functions are in the namespace op.
std::string helper_text(const std::string& header);
/// The names of types in a row's body, and the functions that it calls.
std::string body_names(const ElementwiseFunction::Row& row, Dtype loop);
/// The row's index, also for a second name (mod for remainder); -1 if there is none.
int find_elementwise(std::string_view name);
/// The second names, each with the row's own.
struct Alias {
  const char *alias, *name;
};
std::span<const Alias> elementwise_aliases();

/// Axes from the outermost to the innermost, as numpy.nditer walks the inputs: ties and conflicts go to C order.
Dims axes_by_stride(std::span<const Argument> inputs, int ndim);
/// NumPy raises where an integer power would have to give a fraction: ValueError for exponents that are negative in the
/// loop's dtype, of which those outside the mask do not count.
void check_exponents(const Argument& exponent, Dtype loop, const Array* where = nullptr);

}  // namespace ops
}  // namespace iruka
