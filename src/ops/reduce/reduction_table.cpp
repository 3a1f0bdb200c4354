// The table of reductions. CONTRIBUTING.md lists what a new one needs besides a row.
#include "ops/reduce/reduction_table.h"

namespace iruka::ops {
namespace {

using Row = ReductionFunction::Row;
using enum Row::Trait;

constexpr const char* kSmaller = "((b < a) | (b != b)) ? b : a";
constexpr const char* kLarger = "((b > a) | (b != b)) ? b : a";

constexpr Row kTable[] = {
    {"sum", Keywords::sum, ResultRule::sum, Start::zero, true, "cast(x)", "a + b", "a",
     "Sum of elements along axes, of all without one.", kMethod | kAddsElements},
    {"prod", Keywords::sum, ResultRule::sum, Start::one, true, "cast(x)", "a * b", "a",
     "Product of elements along axes.", kMethod},
    {"mean", Keywords::mean, ResultRule::mean, Start::zero, true, "cast(x)", "a + b", "a / count",
     "Arithmetic mean along axes, of integers in float64; NaN of none.", kMethod | kAddsElements},
    {"min", Keywords::selection, ResultRule::same, Start::highest, false, "cast(x)", kSmaller, "a",
     "Smallest element along axes; NaN if one is.", kMethod | kExact},
    {"max", Keywords::selection, ResultRule::same, Start::lowest, false, "cast(x)", kLarger, "a",
     "Largest element along axes; NaN if one is.", kMethod | kExact},
    {"any", Keywords::truth, ResultRule::boolean, Start::zero, true, "nonzero(x)", "a | b", "a",
     "Whether an element along axes is nonzero.", kMethod | kExact | kDecidedByOneElement},
    {"all", Keywords::truth, ResultRule::boolean, Start::one, true, "nonzero(x)", "a & b", "a",
     "Whether every element along axes is nonzero.", kMethod | kExact | kDecidedByOneElement},
    {"argmin", Keywords::position, ResultRule::index, Start::highest, false, "cast(x)", kSmaller, "a",
     "Index of the smallest element, the first of equals; of the first NaN if there is one.", kMethod | kExact},
    {"argmax", Keywords::position, ResultRule::index, Start::lowest, false, "cast(x)", kLarger, "a",
     "Index of the largest element, the first of equals; of the first NaN if there is one.", kMethod | kExact},
    {"count_nonzero", Keywords::count, ResultRule::count, Start::zero, true, "nonzero(x)", "a + b", "a",
     "Number of nonzero elements.", kExact},
    {"nansum", Keywords::sum, ResultRule::sum, Start::zero, true, "cast(number_or(x, 0))", "a + b", "a",
     "Sum of elements, NaN as 0.", kAddsElements | kIgnoresNan},
    {"nanprod", Keywords::sum, ResultRule::sum, Start::one, true, "cast(number_or(x, 1))", "a * b", "a",
     "Product of elements, NaN as 1.", kIgnoresNan},
    {"nanmin", Keywords::selection, ResultRule::same, Start::nan, false, "cast(x)", "((b < a) | (a != a)) ? b : a", "a",
     "Smallest element that is not NaN.", kExact | kIgnoresNan},
    {"nanmax", Keywords::selection, ResultRule::same, Start::nan, false, "cast(x)", "((b > a) | (a != a)) ? b : a", "a",
     "Largest element that is not NaN.", kExact | kIgnoresNan},
    {"bitwise_and", Keywords::none, ResultRule::same, Start::ones, true, "cast(x)", "a & b", "a",
     "Bits set in every element.", kExact},
    {"bitwise_or", Keywords::none, ResultRule::same, Start::zero, true, "cast(x)", "a | b", "a",
     "Bits set in any element.", kExact},
    {"bitwise_xor", Keywords::none, ResultRule::same, Start::zero, true, "cast(x)", "a ^ b", "a",
     "Bits set in an odd number of elements.", kExact},
    {"logical_xor", Keywords::none, ResultRule::boolean, Start::zero, true, "nonzero(x)", "a ^ b", "a",
     "Whether an odd number of elements is nonzero.", kExact},
    {"all_numbers", Keywords::none, ResultRule::boolean, Start::one, true,
     "nonzero(number_or(x, 0)) | (nonzero(x) ^ 1)", "a & b", "a", "Whether no element is NaN.",
     kExact | kDecidedByOneElement},
    {"var", Keywords::none, ResultRule::moments, Start::zero, true, "cast(x)", "a + b", "m.squares / R(count)",
     "Mean of squared distances from the mean."},
    {"std", Keywords::none, ResultRule::moments, Start::zero, true, "cast(x)", "a + b", "sqrt(m.squares / R(count))",
     "Square root of var."},
    {"nanmean", Keywords::none, ResultRule::numbers, Start::zero, true,
     "x == x ? Narrow(First(x), 1) : Narrow(First(0), 0)", "V(a.first + b.first, a.second + b.second)",
     "a.first / (double)a.second", "Mean of what is not NaN.", kIgnoresNan},
    {"ptp", Keywords::none, ResultRule::extremes, Start::lowest, false, "Narrow(x, x)",
     "V(((b.first < a.first) | (b.first != b.first)) ? b.first : a.first, "
     "((b.second > a.second) | (b.second != b.second)) ? b.second : a.second)",
     "a.second - a.first", "Largest element minus smallest.", kExact},
    {"norm1", Keywords::none, ResultRule::length, Start::zero, true, "magnitude(x)", "a + b", "a",
     "Sum of absolute values."},
    {"norm2", Keywords::none, ResultRule::length, Start::zero, true, "squared_magnitude(x)", "a + b", "sqrt(a)",
     "Square root of the sum of squares."},
};

}  // namespace

std::span<const Row> reduction_table() { return kTable; }

}  // namespace iruka::ops
