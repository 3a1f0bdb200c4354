// The dtype table, NumPy's spellings of dtypes, and promotion.
#include "iruka/dtype.h"

#include <array>
#include <span>
#include <string>

#include "iruka/error.h"

namespace iruka {
namespace {

constexpr std::array<DtypeInfo, kDtypeCount> kTable{{
    {Dtype::bool_, "bool", "bool", Kind::boolean, 1},
    {Dtype::int8, "int8", "int8_t", Kind::signed_integer, 1},
    {Dtype::int16, "int16", "int16_t", Kind::signed_integer, 2},
    {Dtype::int32, "int32", "int32_t", Kind::signed_integer, 4},
    {Dtype::int64, "int64", "int64_t", Kind::signed_integer, 8},
    {Dtype::uint8, "uint8", "uint8_t", Kind::unsigned_integer, 1},
    {Dtype::uint16, "uint16", "uint16_t", Kind::unsigned_integer, 2},
    {Dtype::uint32, "uint32", "uint32_t", Kind::unsigned_integer, 4},
    {Dtype::uint64, "uint64", "uint64_t", Kind::unsigned_integer, 8},
    {Dtype::float16, "float16", "float16", Kind::floating, 2},
    {Dtype::bfloat16, "bfloat16", "bfloat16", Kind::floating, 2},
    {Dtype::float32, "float32", "float", Kind::floating, 4},
    {Dtype::float64, "float64", "double", Kind::floating, 8},
    {Dtype::complex64, "complex64", "complex<float>", Kind::complex, 8},
    {Dtype::complex128, "complex128", "complex<double>", Kind::complex, 16},
}};

constexpr bool table_is_in_order() {
  for (int i = 0; i < kDtypeCount; ++i)
    if (static_cast<int>(kTable[i].dtype) != i) return false;
  return true;
}
static_assert(table_is_in_order(), "a Dtype is the index of its row");

constexpr const DtypeInfo& row(Dtype dtype) { return kTable[static_cast<int>(dtype)]; }

constexpr Dtype signed_of_size(int bytes) {
  return bytes == 1 ? Dtype::int8 : bytes == 2 ? Dtype::int16 : bytes == 4 ? Dtype::int32 : Dtype::int64;
}

constexpr Dtype real_part(Dtype dtype) {
  if (dtype == Dtype::complex64) return Dtype::float32;
  return dtype == Dtype::complex128 ? Dtype::float64 : dtype;
}

constexpr Dtype promote_integers(const DtypeInfo& a, const DtypeInfo& b) {
  if (a.kind == b.kind) return a.size >= b.size ? a.dtype : b.dtype;
  const DtypeInfo& signed_one = a.kind == Kind::signed_integer ? a : b;
  const DtypeInfo& unsigned_one = a.kind == Kind::signed_integer ? b : a;
  if (signed_one.size > unsigned_one.size) return signed_one.dtype;
  return unsigned_one.size == 8 ? Dtype::float64 : signed_of_size(unsigned_one.size * 2);
}

/// The smallest float that NumPy promotes an integer with: float16 for 8 bits, float32 for 16, float64 above.
constexpr Dtype promote_floats(const DtypeInfo& a, const DtypeInfo& b) {
  if (a.kind != b.kind) {
    const DtypeInfo& real = a.kind == Kind::floating ? a : b;
    const DtypeInfo& integer = a.kind == Kind::floating ? b : a;
    if (integer.size == 1 || real.size > 4) return real.dtype;
    return integer.size == 2 ? Dtype::float32 : Dtype::float64;
  }
  if (a.size == 2 && b.size == 2) return Dtype::float32;  // neither float16 nor bfloat16 can represent the other
  return a.size >= b.size ? a.dtype : b.dtype;
}

constexpr Dtype compute_promotion(Dtype x, Dtype y) {
  const DtypeInfo &a = row(x), &b = row(y);
  if (x == y || b.kind == Kind::boolean) return x;
  if (a.kind == Kind::boolean) return y;
  if (a.kind == Kind::complex || b.kind == Kind::complex)
    return compute_promotion(compute_promotion(real_part(x), real_part(y)), Dtype::float32) == Dtype::float64
               ? Dtype::complex128
               : Dtype::complex64;
  if (a.kind == Kind::floating || b.kind == Kind::floating) return promote_floats(a, b);
  return promote_integers(a, b);
}

using PromotionTable = std::array<std::array<Dtype, kDtypeCount>, kDtypeCount>;
constexpr PromotionTable make_promotion_table() {
  PromotionTable table{};
  for (int i = 0; i < kDtypeCount; ++i)
    for (int j = 0; j < kDtypeCount; ++j) table[i][j] = compute_promotion(kTable[i].dtype, kTable[j].dtype);
  return table;
}
constexpr PromotionTable kPromotion = make_promotion_table();

struct Spelling {
  std::string_view name;
  Dtype dtype;
};

// NumPy's other names for the dtypes of the table, on 64-bit Linux (long has 64 bits).
constexpr Spelling kAliases[] = {
    {"bool_", Dtype::bool_},        {"byte", Dtype::int8},          {"short", Dtype::int16},
    {"intc", Dtype::int32},         {"int", Dtype::int64},          {"int_", Dtype::int64},
    {"intp", Dtype::int64},         {"long", Dtype::int64},         {"longlong", Dtype::int64},
    {"ubyte", Dtype::uint8},        {"ushort", Dtype::uint16},      {"uintc", Dtype::uint32},
    {"uint", Dtype::uint64},        {"uintp", Dtype::uint64},       {"ulong", Dtype::uint64},
    {"ulonglong", Dtype::uint64},   {"half", Dtype::float16},       {"single", Dtype::float32},
    {"float", Dtype::float64},      {"double", Dtype::float64},     {"csingle", Dtype::complex64},
    {"complex", Dtype::complex128}, {"cdouble", Dtype::complex128},
};

// Type characters, and kinds with a size in bytes; both may follow a byte order mark.
constexpr Spelling kCodes[] = {
    {"?", Dtype::bool_},      {"b", Dtype::int8},         {"h", Dtype::int16},     {"i", Dtype::int32},
    {"l", Dtype::int64},      {"q", Dtype::int64},        {"p", Dtype::int64},     {"n", Dtype::int64},
    {"B", Dtype::uint8},      {"H", Dtype::uint16},       {"I", Dtype::uint32},    {"L", Dtype::uint64},
    {"Q", Dtype::uint64},     {"P", Dtype::uint64},       {"N", Dtype::uint64},    {"e", Dtype::float16},
    {"f", Dtype::float32},    {"d", Dtype::float64},      {"F", Dtype::complex64}, {"D", Dtype::complex128},
    {"b1", Dtype::bool_},     {"i1", Dtype::int8},        {"i2", Dtype::int16},    {"i4", Dtype::int32},
    {"i8", Dtype::int64},     {"u1", Dtype::uint8},       {"u2", Dtype::uint16},   {"u4", Dtype::uint32},
    {"u8", Dtype::uint64},    {"f2", Dtype::float16},     {"f4", Dtype::float32},  {"f8", Dtype::float64},
    {"c8", Dtype::complex64}, {"c16", Dtype::complex128},
};

const Spelling* find(std::span<const Spelling> list, std::string_view name) {
  for (const Spelling& spelling : list)
    if (spelling.name == name) return &spelling;
  return nullptr;
}

}  // namespace

const DtypeInfo& info(Dtype dtype) { return row(dtype); }

Dtype parse_dtype(std::string_view name) {
  for (const DtypeInfo& entry : kTable)
    if (entry.name == name) return entry.dtype;
  if (const Spelling* alias = find(kAliases, name)) return alias->dtype;
  const bool marked = !name.empty() && std::string_view("<>=|").find(name[0]) != std::string_view::npos;
  const Spelling* code = find(kCodes, marked ? name.substr(1) : name);
  if (!code) throw TypeError("parse_dtype: data type '" + std::string(name) + "' not understood");
  if (name[0] == '>' && itemsize(code->dtype) > 1)
    throw TypeError("parse_dtype: '" + std::string(name) + "' is big-endian; elements are little-endian here: '<" +
                    std::string(code->name) + "'");
  return code->dtype;
}

Dtype promote(Dtype a, Dtype b) { return kPromotion[static_cast<int>(a)][static_cast<int>(b)]; }

Dtype real_dtype(Dtype dtype) { return real_part(dtype); }

constexpr const char* kCastingNames[] = {"no", "equiv", "safe", "same_kind", "unsafe"};

Casting parse_casting(std::string_view text) {
  for (int k = 0; k < 5; ++k)
    if (text == kCastingNames[k]) return static_cast<Casting>(k);
  throw ValueError("casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got '" + std::string(text) +
                   "')");
}

const char* name(Casting casting) { return kCastingNames[static_cast<int>(casting)]; }

bool can_cast(Dtype from, Dtype to, Casting casting) {
  if (from == to || casting == Casting::unsafe) return true;
  if (casting == Casting::safe) return promote(from, to) == to;
  return casting == Casting::same_kind && can_cast_same_kind(from, to);
}

bool can_cast_same_kind(Dtype from, Dtype to) {
  constexpr int kOrder[] = {0, 2, 1, 3, 4};  // bool < unsigned < signed < float < complex
  return kOrder[static_cast<int>(kind(from))] <= kOrder[static_cast<int>(kind(to))];
}

Dtype promote_weak(Dtype strong, const Scalar& weak) {
  if (!weak.weak()) return promote(strong, weak.dtype());
  switch (weak.kind()) {
    case Kind::boolean: return strong;
    case Kind::signed_integer:
    case Kind::unsigned_integer: return strong == Dtype::bool_ ? Dtype::int64 : strong;
    case Kind::floating: return is_inexact(strong) ? strong : Dtype::float64;
    case Kind::complex: return is_inexact(strong) ? promote(strong, Dtype::complex64) : Dtype::complex128;
  }
  return strong;
}

}  // namespace iruka
