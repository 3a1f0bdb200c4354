// Scalars: exact 64-bit integers, floats and complex numbers, and their conversion to and from elements.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "core/float_status.h"
#include "iruka/dtype.h"
#include "iruka/error.h"

namespace iruka {
namespace {

/// Rounds a double to a smaller IEEE format once, to nearest with ties to even.
template <int kExponentBits, int kMantissaBits>
uint16_t round_to_bits(double value) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr int kShift = 52 - kMantissaBits;
  constexpr uint16_t kInfinity = ((1 << kExponentBits) - 1) << kMantissaBits;
  constexpr uint64_t kSmallestNormal = static_cast<uint64_t>(1023 - kBias + 1) << 52;
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 48) & 0x8000;
  const uint64_t magnitude = bits & 0x7fff'ffff'ffff'ffff;
  if (magnitude > 0x7ff0'0000'0000'0000) {
    const uint16_t quiet = 1 << (kMantissaBits - 1);
    return sign | kInfinity | quiet | (static_cast<uint16_t>(magnitude >> kShift) & (quiet - 1));
  }
  if (magnitude < kSmallestNormal) {
    // At this magnitude the last bit of a double has the value of the format's smallest subnormal.
    constexpr uint64_t kMagic = static_cast<uint64_t>(1023 + 52 + 1 - kBias - kMantissaBits) << 52;
    const double sum = std::bit_cast<double>(magnitude) + std::bit_cast<double>(kMagic);
    return sign | static_cast<uint16_t>(std::bit_cast<uint64_t>(sum) - kMagic);
  }
  const uint64_t rebased = magnitude - (static_cast<uint64_t>(1023 - kBias) << 52);
  const uint64_t rounded = (rebased + ((uint64_t{1} << (kShift - 1)) - 1) + ((rebased >> kShift) & 1)) >> kShift;
  return sign | static_cast<uint16_t>(rounded < kInfinity ? rounded : kInfinity);
}

template <int kExponentBits, int kMantissaBits>
double value_of_bits(uint16_t bits) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr int kLargest = (1 << kExponentBits) - 1;
  const uint64_t sign = static_cast<uint64_t>(bits & 0x8000) << 48;
  const uint64_t exponent = (bits >> kMantissaBits) & kLargest;
  const uint64_t mantissa = bits & ((1 << kMantissaBits) - 1);
  if (exponent == 0) {
    const double value = std::ldexp(static_cast<double>(mantissa), 1 - kBias - kMantissaBits);
    return sign ? -value : value;
  }
  const uint64_t wide = exponent == kLargest ? 0x7ff : exponent + (1023 - kBias);
  return std::bit_cast<double>(sign | wide << 52 | mantissa << (52 - kMantissaBits));
}

/// float to integer: towards zero, saturating, NaN gives 0.
template <class T>
T saturate(double value) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  // 2^bits is exact where the largest value itself may not be.
  if (value >= std::ldexp(1.0, Limits::digits)) return Limits::max();
  return static_cast<T>(value);
}

template <class T>
T read(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <class T>
void write(void* element, T value) {
  std::memcpy(element, &value, sizeof(T));
}

bool is_real_number(Kind kind) { return kind == Kind::floating || kind == Kind::complex; }

template <class T>
void write_integer(const Scalar& scalar, void* element) {
  if (!is_real_number(scalar.kind())) return write(element, static_cast<T>(scalar.as_int64()));
  using Limits = std::numeric_limits<T>;
  const double value = scalar.as_double();
  const bool fits = std::trunc(value) >= static_cast<double>(Limits::min()) && value < std::ldexp(1.0, Limits::digits);
  if (!fits) add_float_flags(kFloatInvalid);
  write(element, saturate<T>(value));
}

/// A double that rounds to the 16-bit float nearest to the scalar: 64-bit integers keep a sticky last bit.
double before_rounding(const Scalar& scalar) {
  if (is_real_number(scalar.kind())) return scalar.as_double();
  const bool negative = scalar.kind() == Kind::signed_integer && scalar.as_int64() < 0;
  uint64_t magnitude = negative ? -scalar.as_uint64() : scalar.as_uint64();
  constexpr uint64_t kBelowDouble = (1 << 11) - 1;
  if (magnitude >> 53 && magnitude & kBelowDouble) magnitude = (magnitude & ~kBelowDouble) | (kBelowDouble + 1);
  const double value = static_cast<double>(magnitude);
  return negative ? -value : value;
}

/// Digits as Python's repr shows them, from the shortest scientific text: "1.5e+20" or "150.0".
std::string python_digits(std::string text) {
  const size_t at = text.find('e');
  const int exponent = std::stoi(text.substr(at + 1));
  const bool negative = text[0] == '-';
  std::string digits;
  for (char c : text.substr(0, at))
    if (c >= '0' && c <= '9') digits += c;
  std::string result = negative ? "-" : "";
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) return text;
  if (exponent < 0) return result + "0." + std::string(-exponent - 1, '0') + digits;
  if (count <= exponent + 1) return result + digits + std::string(exponent + 1 - count, '0') + ".0";
  return result + digits.substr(0, exponent + 1) + "." + digits.substr(exponent + 1);
}

/// Fewest digits that read back as the same 16-bit float.
template <class Bits>
std::string shortest_16_bit(double value, Bits bits) {
  char text[32];
  for (int precision = 0;; ++precision) {
    const char* end = std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific, precision).ptr;
    double back = 0;
    std::from_chars(text, end, back);
    if (bits(back) == bits(value)) return std::string(text, static_cast<size_t>(end - text));
  }
}

std::string real_text(double value, Dtype dtype) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (dtype == Dtype::float16) return python_digits(shortest_16_bit(value, float16_bits));
  if (dtype == Dtype::bfloat16) return python_digits(shortest_16_bit(value, bfloat16_bits));
  char text[40];
  const char* end =
      dtype == Dtype::float32
          ? std::to_chars(text, text + sizeof(text), static_cast<float>(value), std::chars_format::scientific).ptr
          : std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific).ptr;
  return python_digits(std::string(text, static_cast<size_t>(end - text)));
}

/// A part of a complex number, without a trailing ".0", as Python prints it.
std::string complex_part(double value, Dtype dtype) {
  std::string text = real_text(value, dtype);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

}  // namespace

uint16_t float16_bits(double value) { return round_to_bits<5, 10>(value); }
double float16_value(uint16_t bits) { return value_of_bits<5, 10>(bits); }
uint16_t bfloat16_bits(double value) { return round_to_bits<8, 7>(value); }
double bfloat16_value(uint16_t bits) { return value_of_bits<8, 7>(bits); }

Scalar Scalar::as_element(Dtype dtype) const {
  alignas(16) std::byte element[16];
  store(dtype, element);
  return load(dtype, element);
}

Scalar Scalar::load(Dtype dtype, const void* element) {
  std::optional<FloatScope> floats;  // widening would flush subnormals to zero if the caller has set that mode
  if (is_real_number(iruka::kind(dtype))) floats.emplace();
  Scalar result;
  result.dtype_ = dtype;
  switch (dtype) {
    case Dtype::bool_: result.unsigned_ = read<uint8_t>(element) != 0; break;
    case Dtype::int8: result.signed_ = read<int8_t>(element); break;
    case Dtype::int16: result.signed_ = read<int16_t>(element); break;
    case Dtype::int32: result.signed_ = read<int32_t>(element); break;
    case Dtype::int64: result.signed_ = read<int64_t>(element); break;
    case Dtype::uint8: result.unsigned_ = read<uint8_t>(element); break;
    case Dtype::uint16: result.unsigned_ = read<uint16_t>(element); break;
    case Dtype::uint32: result.unsigned_ = read<uint32_t>(element); break;
    case Dtype::uint64: result.unsigned_ = read<uint64_t>(element); break;
    case Dtype::float16: result.real_ = float16_value(read<uint16_t>(element)); break;
    case Dtype::bfloat16: result.real_ = bfloat16_value(read<uint16_t>(element)); break;
    case Dtype::float32: result.real_ = read<float>(element); break;
    case Dtype::float64: result.real_ = read<double>(element); break;
    case Dtype::complex64:
      result.real_ = read<float>(element);
      result.imaginary_ = read<float>(static_cast<const float*>(element) + 1);
      break;
    case Dtype::complex128:
      result.real_ = read<double>(element);
      result.imaginary_ = read<double>(static_cast<const double*>(element) + 1);
      break;
  }
  return result;
}

void Scalar::store(Dtype dtype, void* element) const {
  std::optional<FloatScope> floats;
  if (is_real_number(kind()) || is_real_number(iruka::kind(dtype))) floats.emplace();
  switch (dtype) {
    case Dtype::bool_: return write<uint8_t>(element, as_bool());
    case Dtype::int8: return write_integer<int8_t>(*this, element);
    case Dtype::int16: return write_integer<int16_t>(*this, element);
    case Dtype::int32: return write_integer<int32_t>(*this, element);
    case Dtype::int64: return write_integer<int64_t>(*this, element);
    case Dtype::uint8: return write_integer<uint8_t>(*this, element);
    case Dtype::uint16: return write_integer<uint16_t>(*this, element);
    case Dtype::uint32: return write_integer<uint32_t>(*this, element);
    case Dtype::uint64: return write_integer<uint64_t>(*this, element);
    case Dtype::float16: {
      const double value = before_rounding(*this);
      const uint16_t bits = float16_bits(value);
      if ((bits & 0x7FFF) == 0x7C00 && std::isfinite(value)) add_float_flags(kFloatOverflow);
      return write(element, bits);
    }
    case Dtype::bfloat16: return write(element, bfloat16_bits(before_rounding(*this)));
    case Dtype::float32: {
      // The integer is converted directly, because a double in between would round twice.
      if (is_real_number(kind())) return write(element, static_cast<float>(real_));
      return write(element, dtype_ == Dtype::uint64 ? static_cast<float>(unsigned_) : static_cast<float>(as_int64()));
    }
    case Dtype::float64: return write(element, as_double());
    case Dtype::complex64: {
      store(Dtype::float32, element);
      return write(static_cast<float*>(element) + 1, static_cast<float>(imaginary_));
    }
    case Dtype::complex128: {
      write(element, as_double());
      return write(static_cast<double*>(element) + 1, imaginary_);
    }
  }
}

Scalar Scalar::typed(Dtype dtype) const {
  const bool from_integer = is_integer(dtype_) || dtype_ == Dtype::bool_;
  if (is_integer(dtype) && from_integer && !fits(dtype))
    throw OverflowError((weak_ ? "Python integer " : "integer ") + to_string() + " out of bounds for " + name(dtype));
  alignas(16) char element[16];
  store(dtype, element);
  return load(dtype, element);
}

bool Scalar::fits(Dtype dtype) const {
  const int bits = static_cast<int>(itemsize(dtype)) * 8;
  if (iruka::kind(dtype) == Kind::boolean) return as_uint64() <= 1;
  if (kind() == Kind::signed_integer && signed_ < 0)
    return iruka::kind(dtype) == Kind::signed_integer && signed_ >= INT64_MIN >> (64 - bits);
  const int value_bits = iruka::kind(dtype) == Kind::signed_integer ? bits - 1 : bits;
  return unsigned_ <= UINT64_MAX >> (64 - value_bits);
}

bool Scalar::as_bool() const {
  if (!is_real_number(kind())) return unsigned_ != 0;
  return real_ != 0 || imaginary_ != 0;
}

int64_t Scalar::as_int64() const { return is_real_number(kind()) ? saturate<int64_t>(real_) : signed_; }

uint64_t Scalar::as_uint64() const { return is_real_number(kind()) ? saturate<uint64_t>(real_) : unsigned_; }

double Scalar::as_double() const {
  if (is_real_number(kind())) return real_;
  return kind() == Kind::signed_integer ? static_cast<double>(signed_) : static_cast<double>(unsigned_);
}

std::complex<double> Scalar::as_complex() const { return {as_double(), imaginary_}; }

std::string Scalar::to_string() const {
  switch (kind()) {
    case Kind::boolean: return unsigned_ ? "True" : "False";
    case Kind::signed_integer: return std::to_string(signed_);
    case Kind::unsigned_integer: return std::to_string(unsigned_);
    case Kind::floating: return real_text(real_, dtype_);
    case Kind::complex: break;
  }
  const Dtype part = real_dtype(dtype_);
  const std::string imaginary = complex_part(imaginary_, part) + "j";
  if (real_ == 0 && !std::signbit(real_)) return imaginary;
  const bool signed_text = imaginary[0] == '-';
  return "(" + complex_part(real_, part) + (signed_text ? "" : "+") + imaginary + ")";
}

}  // namespace iruka
