// The table of elementwise functions. CONTRIBUTING.md lists what a new one needs besides a row.
#include "ops/elementwise/elementwise_table.h"

#include "ops/elementwise/cast_text.h"
#include "ops/kernel_text.h"

namespace iruka::ops {
namespace {

using Row = ElementwiseFunction::Row;

constexpr const char* kEvery = "?bBhHiIlLeEfdFD";
constexpr const char* kReal = "?bBhHiIlLeEfd";
constexpr const char* kNumbers = "bBhHiIlLeEfdFD";
constexpr const char* kRealNumbers = "bBhHiIlLeEfd";
constexpr const char* kFloats = "eEfd";
constexpr const char* kInexact = "eEfdFD";
constexpr const char* kComplex = "FD";
constexpr const char* kIntegers = "bBhHiIlL";
constexpr const char* kBits = "?bBhHiIlL";

constexpr Row kTable[] = {
    // Arithmetic
    {"add", "TT->T", kEvery, "out0 = iruka::wrapping_add(in0, in1);", "Sum; of bools, logical or."},
    {"subtract", "TT->T", kNumbers, "out0 = iruka::wrapping_subtract(in0, in1);", "Difference.", Rule::refuse_bool},
    {"multiply", "TT->T", kEvery, "out0 = iruka::wrapping_multiply(in0, in1);", "Product; of bools, logical and."},
    {"divide", "TT->T", kInexact, "out0 = in0 / in1;", "Quotient; of integers, in float64.", Rule::integers_as_float64},
    {"floor_divide", "TT->T", kRealNumbers, "out0 = op::floor_divide(in0, in1);",
     "Largest integer not above the quotient; by integer zero, 0.", Rule::promote, "division"},
    {"remainder", "TT->T", kRealNumbers, "out0 = op::remainder(in0, in1);",
     "Remainder with the divisor's sign; by integer zero, 0.", Rule::promote, "division"},
    {"divmod", "TT->TT", kRealNumbers, "out0 = op::floor_divide(in0, in1); out1 = op::remainder(in0, in1);",
     "floor_divide and remainder.", Rule::promote, "division"},
    {"fmod", "TT->T", kRealNumbers, "out0 = op::truncated_remainder(in0, in1);",
     "Remainder with the dividend's sign; by integer zero, 0.", Rule::promote, "division"},
    {"power", "TT->T", kNumbers, "out0 = op::power(in0, in1);", "First to the power of second; integers wrap.",
     Rule::power, "power", Quiet::all},
    {"float_power", "TT->T", "dD", "out0 = op::power(in0, in1);", "power in float64 or complex128.", Rule::promote,
     "power", Quiet::all},
    {"negative", "T->T", kNumbers, "out0 = iruka::wrapping_negate(in0);", "Negation.", Rule::refuse_bool},
    {"positive", "T->T", kNumbers, "out0 = in0;", "The value itself.", Rule::refuse_bool},
    {"absolute", "T->R", kEvery, "out0 = op::absolute(in0);", "Absolute value.", Rule::promote, "absolute"},
    {"fabs", "T->T", kFloats, "out0 = fabs(in0);", "Absolute value of a real number, as a float."},
    {"sign", "T->T", kNumbers, "out0 = op::sign(in0);", "-1, 0 or 1; of complex z, z / |z|.", Rule::refuse_bool,
     "sign"},
    {"square", "T->T", kNumbers, "out0 = iruka::wrapping_multiply(in0, in0);", "The value times itself."},
    {"reciprocal", "T->T", kNumbers, "out0 = op::reciprocal(in0);", "1 / x; of integers, truncated, and 0 of zero.",
     Rule::promote, "sign"},
    {"sqrt", "T->T", kInexact, "out0 = sqrt(in0);", "Square root."},
    {"cbrt", "T->T", kFloats, "out0 = cbrt(in0);", "Cube root."},
    {"clip", "TTT->T", kEvery, "out0 = op::clip(in0, in1, in2);",
     "The value, not below the second nor above the third.", Rule::promote, "clip"},
    {"gcd", "TT->T", kIntegers, "out0 = op::gcd(in0, in1);", "Greatest common divisor.", Rule::refuse_bool, "gcd"},
    {"lcm", "TT->T", kIntegers, "out0 = op::lcm(in0, in1);", "Least common multiple.", Rule::refuse_bool, "gcd"},
    {"heaviside", "TT->T", kFloats, "out0 = iruka::heaviside(in0, in1);", "0 below zero, 1 above, the second at zero."},
    {"nan_to_num", "TRRR->T", kInexact, "out0 = op::nan_to_num(in0, in1, in2, in3);",
     "NaN, infinity and -infinity replaced by the second, third and fourth.", Rule::promote, "nan_to_num"},

    // Rounding
    {"rint", "T->T", kInexact, "out0 = op::rint(in0);", "Nearest integer, halves to even.", Rule::promote, "rounding"},
    {"floor", "T->T", kReal, "out0 = op::floor(in0);", "Largest integer not above.", Rule::promote, "rounding"},
    {"ceil", "T->T", kReal, "out0 = op::ceil(in0);", "Smallest integer not below.", Rule::promote, "rounding"},
    {"round", "TR?->T", kInexact, "out0 = in2 ? op::rint(in0 * in1) / in1 : op::rint(in0 / in1) * in1;",
     "The nearest multiple of a power of ten, the second: of its inverse where the third is true.", Rule::promote,
     "rounding"},
    {"trunc", "T->T", kReal, "out0 = op::trunc(in0);", "Nearest integer towards zero.", Rule::promote, "rounding"},

    // Complex numbers
    {"conjugate", "T->T", kNumbers, "out0 = op::conjugate(in0);", "Complex conjugate.", Rule::promote, "complex_parts"},
    {"real", "T->R", kEvery, "out0 = op::real(in0);", "Real part.", Rule::promote, "complex_parts"},
    {"isreal", "T->?", kEvery, "out0 = op::imaginary(in0) == 0;", "Whether the imaginary part is zero.", Rule::promote,
     "complex_parts"},
    {"iscomplex", "T->?", kEvery, "out0 = op::imaginary(in0) != 0;", "Whether the imaginary part is not zero.",
     Rule::promote, "complex_parts"},
    {"imag", "T->R", kEvery, "out0 = op::imaginary(in0);", "Imaginary part.", Rule::promote, "complex_parts"},
    {"angle", "T->R", kInexact, "out0 = op::angle(in0);", "Argument of a complex number, in radians.", Rule::promote,
     "complex_parts"},

    // Exponentials and logarithms
    {"exp", "T->T", kInexact, "out0 = exp(op::at_most(in0, 100));", "e to the power of x.", Rule::promote, "",
     Quiet::complex_numbers},
    {"exp2", "T->T", kInexact, "out0 = op::exp2(op::at_most(in0, 140));", "2 to the power of x.", Rule::promote,
     "exponentials", Quiet::complex_numbers},
    {"expm1", "T->T", kInexact, "out0 = op::expm1(op::at_most(in0, 100));", "exp(x) - 1, exact near 0.", Rule::promote,
     "exponentials", Quiet::complex_numbers},
    {"log", "T->T", kInexact, "out0 = log(in0);", "Natural logarithm.", Rule::promote, "", Quiet::all},
    {"log2", "T->T", kInexact, "out0 = op::log2(in0);", "Logarithm to base 2.", Rule::promote, "exponentials",
     Quiet::all},
    {"log10", "T->T", kInexact, "out0 = op::log10(in0);", "Logarithm to base 10.", Rule::promote, "exponentials",
     Quiet::all},
    {"log1p", "T->T", kInexact, "out0 = op::log1p(in0);", "log(1 + x), exact near 0.", Rule::promote, "exponentials",
     Quiet::all},
    {"logaddexp", "TT->T", kFloats, "out0 = op::logaddexp(in0, in1);", "log(exp(x) + exp(y)) without overflow.",
     Rule::promote, "exponentials"},
    {"logaddexp2", "TT->T", kFloats, "out0 = op::logaddexp2(in0, in1);", "log2(exp2(x) + exp2(y)) without overflow.",
     Rule::promote, "exponentials"},

    // Trigonometry, in radians
    {"sin", "T->T", kInexact, "out0 = sin(in0);", "Sine.", Rule::promote, "", Quiet::all},
    {"cos", "T->T", kInexact, "out0 = cos(in0);", "Cosine.", Rule::promote, "", Quiet::all},
    {"tan", "T->T", kInexact, "out0 = tan(in0);", "Tangent.", Rule::promote, "", Quiet::all},
    {"arcsin", "T->T", kInexact, "out0 = asin(in0);", "Inverse sine."},
    {"arccos", "T->T", kInexact, "out0 = acos(in0);", "Inverse cosine."},
    {"arctan", "T->T", kInexact, "out0 = atan(in0);", "Inverse tangent."},
    {"arctan2", "TT->T", kFloats, "out0 = atan2(in0, in1);", "Angle of the point (second, first)."},
    {"hypot", "TT->T", kFloats, "out0 = hypot(in0, in1);", "Length of the vector (first, second)."},
    {"sinh", "T->T", kInexact, "out0 = sinh(in0);", "Hyperbolic sine.", Rule::promote, "", Quiet::all},
    {"cosh", "T->T", kInexact, "out0 = cosh(in0);", "Hyperbolic cosine.", Rule::promote, "", Quiet::all},
    {"tanh", "T->T", kInexact, "out0 = tanh(in0);", "Hyperbolic tangent."},
    {"arcsinh", "T->T", kInexact, "out0 = asinh(in0);", "Inverse hyperbolic sine."},
    {"arccosh", "T->T", kInexact, "out0 = acosh(in0);", "Inverse hyperbolic cosine."},
    {"arctanh", "T->T", kInexact, "out0 = atanh(in0);", "Inverse hyperbolic tangent.", Rule::promote, "", Quiet::all},
    {"degrees", "T->T", kFloats, "out0 = in0 * T(57.29577951308232);", "Radians to degrees."},
    {"radians", "T->T", kFloats, "out0 = in0 * T(0.017453292519943295);", "Degrees to radians."},
    {"sinc", "T->T", kInexact, "out0 = iruka::sinc(in0);", "sin(pi x) / (pi x); 1 at 0.", Rule::integers_as_float64},
    {"i0", "T->T", kFloats, "out0 = op::bessel_i0(in0);", "Modified Bessel function of the first kind, order 0.",
     Rule::integers_as_float64, "bessel"},

    // Bits
    {"bitwise_and", "TT->T", kBits, "out0 = in0 & in1;", "Bits set in both."},
    {"bitwise_or", "TT->T", kBits, "out0 = in0 | in1;", "Bits set in either."},
    {"bitwise_xor", "TT->T", kBits, "out0 = in0 ^ in1;", "Bits set in one only."},
    {"invert", "T->T", kBits, "out0 = op::invert(in0);", "Every bit flipped; of bools, logical not.", Rule::promote,
     "bit_helpers"},
    {"left_shift", "TT->T", kIntegers, "out0 = op::left_shift(in0, in1);", "Bits moved up; past the width, 0.",
     Rule::promote, "bit_helpers"},
    {"right_shift", "TT->T", kIntegers, "out0 = op::right_shift(in0, in1);",
     "Bits moved down, keeping the sign; past the width, 0 or -1.", Rule::promote, "bit_helpers"},
    {"bitwise_count", "T->B", kIntegers, "out0 = op::bit_count(in0);", "Number of bits set in the absolute value.",
     Rule::promote, "bit_helpers"},

    // Comparison
    {"greater", "TT->?", kEvery, "out0 = op::is_less(in1, in0);", "Whether first > second.", Rule::compare, "compare"},
    {"greater_equal", "TT->?", kEvery, "out0 = op::is_less_equal(in1, in0);", "Whether first >= second.", Rule::compare,
     "compare"},
    {"less", "TT->?", kEvery, "out0 = op::is_less(in0, in1);", "Whether first < second.", Rule::compare, "compare"},
    {"less_equal", "TT->?", kEvery, "out0 = op::is_less_equal(in0, in1);", "Whether first <= second.", Rule::compare,
     "compare"},
    {"equal", "TT->?", kEvery, "out0 = op::is_equal(in0, in1);", "Whether first == second.", Rule::compare, "compare"},
    {"not_equal", "TT->?", kEvery, "out0 = !op::is_equal(in0, in1);", "Whether first != second.", Rule::compare,
     "compare"},
    {"isclose", "TTRR?->?", kInexact, "out0 = op::is_close(in0, in1, in2, in3, in4);",
     "Whether |a - b| <= atol + rtol |b|: a, b, rtol, atol, whether NaNs are equal.", Rule::integers_as_float64,
     "is_close"},
    {"logical_and", "\?\?->?", "?", "out0 = in0 && in1;", "Whether both are nonzero."},
    {"logical_or", "\?\?->?", "?", "out0 = in0 || in1;", "Whether either is nonzero."},
    {"logical_xor", "\?\?->?", "?", "out0 = in0 != in1;", "Whether one only is nonzero."},
    {"logical_not", "?->?", "?", "out0 = !in0;", "Whether it is zero."},
    {"maximum", "TT->T", kEvery, "out0 = op::maximum(in0, in1);", "The larger; NaN if either is.", Rule::promote,
     "extrema"},
    {"minimum", "TT->T", kEvery, "out0 = op::minimum(in0, in1);", "The smaller; NaN if either is.", Rule::promote,
     "extrema"},
    {"fmax", "TT->T", kEvery, "out0 = op::fmax(in0, in1);", "The larger; a NaN gives way to a number.", Rule::promote,
     "extrema"},
    {"fmin", "TT->T", kEvery, "out0 = op::fmin(in0, in1);", "The smaller; a NaN gives way to a number.", Rule::promote,
     "extrema"},
    {"where", "?TT->T", kEvery, "out0 = in0 ? in1 : in2;", "The second where the first is nonzero, else the third."},

    // The floating-point format
    {"isfinite", "T->?", kEvery, "out0 = op::is_finite(in0);", "Whether neither infinite nor NaN.", Rule::promote,
     "classify"},
    {"isinf", "T->?", kEvery, "out0 = op::is_inf(in0);", "Whether infinite.", Rule::promote, "classify"},
    {"isposinf", "T->?", kReal, "out0 = op::is_inf(in0) && in0 > T(0);", "Whether positive infinity.", Rule::promote,
     "classify"},
    {"isneginf", "T->?", kReal, "out0 = op::is_inf(in0) && in0 < T(0);", "Whether negative infinity.", Rule::promote,
     "classify"},
    {"isnan", "T->?", kEvery, "out0 = op::is_nan(in0);", "Whether NaN.", Rule::promote, "classify"},
    {"signbit", "T->?", kFloats, "out0 = copysign(T(1), in0) < 0;", "Whether the sign bit is set."},
    {"copysign", "TT->T", kFloats, "out0 = copysign(in0, in1);", "The first with the sign of the second."},
    {"nextafter", "TT->T", kFloats, "out0 = op::next_after<S>(in0, in1);",
     "The next representable value towards the second.", Rule::promote, "format", Quiet::all},
    {"spacing", "T->T", kFloats, "out0 = op::spacing<S>(in0);", "Distance to the next value away from zero.",
     Rule::promote, "format", Quiet::all},
    {"modf", "T->TT", kFloats, "out1 = trunc(in0); out0 = copysign(in0 == out1 ? T(0) : in0 - out1, in0);",
     "Fractional and integral parts, both with the sign of x."},
    {"ldexp", "Tl->T", kFloats, "out0 = op::scale(in0, in1);", "First times 2 to the power of the integer second.",
     Rule::promote, "format"},
    {"frexp", "T->Ti", kFloats, "int exponent; out0 = op::split(in0, exponent); out1 = exponent;",
     "Mantissa in [0.5, 1) and exponent of 2.", Rule::promote, "format"},
};

constexpr Alias kAliases[] = {
    {"true_divide", "divide"},
    {"mod", "remainder"},
    {"abs", "absolute"},
    {"conj", "conjugate"},
    {"pow", "power"},
    {"rad2deg", "degrees"},
    {"deg2rad", "radians"},
    {"bitwise_not", "invert"},
    {"asin", "arcsin"},
    {"acos", "arccos"},
    {"atan", "arctan"},
    {"atan2", "arctan2"},
    {"asinh", "arcsinh"},
    {"acosh", "arccosh"},
    {"atanh", "arctanh"},
    {"bitwise_invert", "invert"},
    {"fix", "trunc"},
    {"bitwise_left_shift", "left_shift"},
    {"bitwise_right_shift", "right_shift"},
};

}  // namespace

std::span<const Row> elementwise_table() { return kTable; }

std::string helper_text(const std::string& header) {
  return include_text("elementwise", header) + "namespace op = iruka::op;\n";
}

std::string body_names(const Row& row, Dtype loop) {
  const Dtype computing = computing_dtype(loop);
  return std::string("using S = ") + info(loop).c_type + ";\nusing T = " + info(computing).c_type +
         ";\nusing R = " + info(real_dtype(computing)).c_type + ";\n" +
         (row.quiet == Quiet::no ? "" : helper_text("float_exceptions")) +
         (*row.helpers ? helper_text(row.helpers) : "");
}

std::span<const Alias> elementwise_aliases() { return kAliases; }

int find_elementwise(std::string_view name) {
  for (const Alias& alias : kAliases)
    if (name == alias.alias) name = alias.name;
  for (size_t i = 0; i < std::size(kTable); ++i)
    if (name == kTable[i].name) return static_cast<int>(i);
  return -1;
}

}  // namespace iruka::ops
