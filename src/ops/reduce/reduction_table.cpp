// The table of reductions. CONTRIBUTING.md lists what a new one needs besides a row.
#include "ops/reduce/reduction_table.h"

namespace iruka::ops {
namespace {

using Row = ReductionFunction::Row;
using enum Row::Trait;

constexpr const char* kSmaller = "((b < a) | (b != b)) ? b : a";
constexpr const char* kLarger = "((b > a) | (b != b)) ? b : a";

constexpr Row kTable[] = {
    {"sum", ResultRule::sum, Start::zero, true, "cast(x)", "a + b", "a", "Sum of elements.", kAddsElements},
    {"prod", ResultRule::sum, Start::one, true, "cast(x)", "a * b", "a", "Product of elements."},
    {"mean", ResultRule::mean, Start::zero, true, "cast(x)", "a + b", "a / count", "Arithmetic mean; NaN of none.",
     kAddsElements},
    {"min", ResultRule::same, Start::highest, false, "cast(x)", kSmaller, "a", "Smallest element; NaN if one is.",
     kExact},
    {"max", ResultRule::same, Start::lowest, false, "cast(x)", kLarger, "a", "Largest element; NaN if one is.", kExact},
    {"any", ResultRule::boolean, Start::zero, true, "nonzero(x)", "a | b", "a", "Whether an element is nonzero.",
     kExact | kDecidedByOneElement},
    {"all", ResultRule::boolean, Start::one, true, "nonzero(x)", "a & b", "a", "Whether every element is nonzero.",
     kExact | kDecidedByOneElement},
    {"argmin", ResultRule::index, Start::highest, false, "cast(x)", kSmaller, "a",
     "Index of the smallest element, the first of equals; of the first NaN if there is one.", kExact},
    {"argmax", ResultRule::index, Start::lowest, false, "cast(x)", kLarger, "a",
     "Index of the largest element, the first of equals; of the first NaN if there is one.", kExact},
    {"count_nonzero", ResultRule::count, Start::zero, true, "nonzero(x)", "a + b", "a", "Number of nonzero elements.",
     kExact},
    {"nansum", ResultRule::sum, Start::zero, true, "cast(number_or(x, 0))", "a + b", "a", "Sum of elements, NaN as 0.",
     kAddsElements | kIgnoresNan},
    {"nanprod", ResultRule::sum, Start::one, true, "cast(number_or(x, 1))", "a * b", "a",
     "Product of elements, NaN as 1.", kIgnoresNan},
    {"nanmin", ResultRule::same, Start::nan, false, "cast(x)", "((b < a) | (a != a)) ? b : a", "a",
     "Smallest element that is not NaN.", kExact | kIgnoresNan},
    {"nanmax", ResultRule::same, Start::nan, false, "cast(x)", "((b > a) | (a != a)) ? b : a", "a",
     "Largest element that is not NaN.", kExact | kIgnoresNan},
    {"bitwise_and", ResultRule::same, Start::ones, true, "cast(x)", "a & b", "a", "Bits set in every element.",
     kInternal | kExact},
    {"bitwise_or", ResultRule::same, Start::zero, true, "cast(x)", "a | b", "a", "Bits set in any element.",
     kInternal | kExact},
    {"bitwise_xor", ResultRule::same, Start::zero, true, "cast(x)", "a ^ b", "a",
     "Bits set in an odd number of elements.", kInternal | kExact},
    {"logical_xor", ResultRule::boolean, Start::zero, true, "nonzero(x)", "a ^ b", "a",
     "Whether an odd number of elements is nonzero.", kInternal | kExact},
    {"all_numbers", ResultRule::boolean, Start::one, true, "nonzero(number_or(x, 0)) | (nonzero(x) ^ 1)", "a & b", "a",
     "Whether no element is NaN.", kInternal | kExact | kDecidedByOneElement},
    {"var", ResultRule::moments, Start::zero, true, "cast(x)", "a + b", "m.squares / R(count)",
     "Mean of squared distances from the mean.", kInternal},
    {"std", ResultRule::moments, Start::zero, true, "cast(x)", "a + b", "sqrt(m.squares / R(count))",
     "Square root of var.", kInternal},
    {"nanmean", ResultRule::numbers, Start::zero, true, "x == x ? Narrow(First(x), 1) : Narrow(First(0), 0)",
     "V(a.first + b.first, a.second + b.second)", "a.first / (double)a.second", "Mean of what is not NaN.",
     kInternal | kIgnoresNan},
    {"ptp", ResultRule::extremes, Start::lowest, false, "Narrow(x, x)",
     "V(((b.first < a.first) | (b.first != b.first)) ? b.first : a.first, "
     "((b.second > a.second) | (b.second != b.second)) ? b.second : a.second)",
     "a.second - a.first", "Largest element minus smallest.", kInternal | kExact},
    {"norm1", ResultRule::length, Start::zero, true, "magnitude(x)", "a + b", "a", "Sum of absolute values.",
     kInternal},
    {"norm2", ResultRule::length, Start::zero, true, "squared_magnitude(x)", "a + b", "sqrt(a)",
     "Square root of the sum of squares.", kInternal},
};

}  // namespace

std::span<const Row> reduction_table() { return kTable; }

}  // namespace iruka::ops
