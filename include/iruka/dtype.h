// Element types, their names, their promotion (NumPy 2, NEP 50), and scalars.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "iruka/export.h"

namespace iruka {

/// Element type of an array. The order is the index into the table of DtypeInfo.
enum class Dtype : uint8_t {
  // clang-format off
  bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
  float16, bfloat16, float32, float64, complex64, complex128
  // clang-format on
};
inline constexpr int kDtypeCount = 15;

/// 'b'ool, signed 'i'nteger, 'u'nsigned integer, 'f'loat, 'c'omplex: ordered for promotion.
enum class Kind : uint8_t { boolean, signed_integer, unsigned_integer, floating, complex };

struct DtypeInfo {
  Dtype dtype;
  const char* name;    ///< NumPy's name: "float32"
  const char* c_type;  ///< the type in a kernel body: "float"
  Kind kind;
  uint8_t size;  ///< bytes
};

IRUKA_API const DtypeInfo& info(Dtype dtype);
inline const char* name(Dtype dtype) { return info(dtype).name; }
inline int64_t itemsize(Dtype dtype) { return info(dtype).size; }
inline Kind kind(Dtype dtype) { return info(dtype).kind; }
inline bool is_integer(Dtype d) { return kind(d) == Kind::signed_integer || kind(d) == Kind::unsigned_integer; }
inline bool is_complex(Dtype dtype) { return kind(dtype) == Kind::complex; }
/// Whether the dtype is a float or complex one.
inline bool is_inexact(Dtype dtype) { return kind(dtype) >= Kind::floating; }

/// The dtype of a NumPy name: "float32", also "int" (int64), "float" (float64), "complex", "bool", "half"...
/// Raises TypeError for a name that is no dtype.
IRUKA_API Dtype parse_dtype(std::string_view name);

/// The dtype that holds both: NumPy 2's table. bfloat16 with float16 gives float32, with integers it acts as float16.
IRUKA_API Dtype promote(Dtype a, Dtype b);

/// The real dtype of a complex one (complex64 -> float32); others unchanged.
IRUKA_API Dtype real_dtype(Dtype dtype);

/// NumPy's can_cast(from, to, 'same_kind'): bool, unsigned, signed, float, complex; bfloat16 is a float.
IRUKA_API bool can_cast_same_kind(Dtype from, Dtype to);

/// NumPy's rules for what may be cast to what. Native byte order is the only one, so `equiv` is `no`.
enum class Casting : uint8_t { no, equiv, safe, same_kind, unsafe };
/// Raises ValueError for a name that is no rule.
IRUKA_API Casting parse_casting(std::string_view name);
IRUKA_API const char* name(Casting casting);
/// NumPy's can_cast(from, to, casting).
IRUKA_API bool can_cast(Dtype from, Dtype to, Casting casting);

/// One value with a dtype. A weak one (a Python or C++ literal) adapts to the dtype of the arrays (NEP 50).
class IRUKA_API Scalar {
 public:
  Scalar() = default;
  Scalar(bool value) : dtype_(Dtype::bool_), weak_(true), unsigned_(value) {}
  template <std::integral T>
  Scalar(T value) : dtype_(Dtype::int64), weak_(true) {
    if (std::is_unsigned_v<T> && static_cast<uint64_t>(value) > static_cast<uint64_t>(INT64_MAX)) {
      dtype_ = Dtype::uint64;
      unsigned_ = static_cast<uint64_t>(value);
    } else {
      signed_ = static_cast<int64_t>(value);
    }
  }
  Scalar(double value) : dtype_(Dtype::float64), weak_(true), real_(value) {}
  Scalar(float value) : Scalar(static_cast<double>(value)) {}
  Scalar(std::complex<double> value)
      : dtype_(Dtype::complex128), weak_(true), real_(value.real()), imaginary_(value.imag()) {}

  /// The same value, bound to `dtype` as a NumPy scalar is. Raises OverflowError where an integer does not fit.
  Scalar typed(Dtype dtype) const;
  /// The value of one element in memory, typed.
  static Scalar load(Dtype dtype, const void* element);
  /// Writes the value as `dtype`. An integer that does not fit wraps; a float saturates as an integer (NaN: 0).
  void store(Dtype dtype, void* element) const;
  /// What an element of `dtype` holds once the value is stored there, typed.
  Scalar as_element(Dtype dtype) const;

  Dtype dtype() const { return dtype_; }
  bool weak() const { return weak_; }
  Kind kind() const { return iruka::kind(dtype_); }
  /// Whether the value, an integer or bool, is representable in the integer dtype `dtype`.
  bool fits(Dtype dtype) const;

  bool as_bool() const;
  int64_t as_int64() const;    ///< wraps uint64, saturates floats
  uint64_t as_uint64() const;  ///< wraps negatives, saturates floats
  double as_double() const;    ///< the real part
  std::complex<double> as_complex() const;
  std::string to_string() const;

 private:
  Dtype dtype_ = Dtype::bool_;
  bool weak_ = false;
  union {
    int64_t signed_;
    uint64_t unsigned_ = 0;
    double real_;
  };
  double imaginary_ = 0;
};

/// The dtype of an operation on `weak` and arrays of `strong` (NEP 50): a weak integer with
/// float32 is float32, a weak float with int64 is float64.
IRUKA_API Dtype promote_weak(Dtype strong, const Scalar& weak);

/// IEEE binary16 and bfloat16 conversions, round to nearest even.
IRUKA_API uint16_t float16_bits(double value);
IRUKA_API double float16_value(uint16_t bits);
IRUKA_API uint16_t bfloat16_bits(double value);
IRUKA_API double bfloat16_value(uint16_t bits);

template <class T> struct DtypeOf;
// clang-format off
template <> struct DtypeOf<bool> { static constexpr Dtype value = Dtype::bool_; };
template <> struct DtypeOf<int8_t> { static constexpr Dtype value = Dtype::int8; };
template <> struct DtypeOf<int16_t> { static constexpr Dtype value = Dtype::int16; };
template <> struct DtypeOf<int32_t> { static constexpr Dtype value = Dtype::int32; };
template <> struct DtypeOf<int64_t> { static constexpr Dtype value = Dtype::int64; };
template <> struct DtypeOf<uint8_t> { static constexpr Dtype value = Dtype::uint8; };
template <> struct DtypeOf<uint16_t> { static constexpr Dtype value = Dtype::uint16; };
template <> struct DtypeOf<uint32_t> { static constexpr Dtype value = Dtype::uint32; };
template <> struct DtypeOf<uint64_t> { static constexpr Dtype value = Dtype::uint64; };
template <> struct DtypeOf<float> { static constexpr Dtype value = Dtype::float32; };
template <> struct DtypeOf<double> { static constexpr Dtype value = Dtype::float64; };
template <> struct DtypeOf<std::complex<float>> { static constexpr Dtype value = Dtype::complex64; };
template <> struct DtypeOf<std::complex<double>> { static constexpr Dtype value = Dtype::complex128; };
// clang-format on
template <class T> inline constexpr Dtype dtype_of = DtypeOf<T>::value;

}  // namespace iruka
