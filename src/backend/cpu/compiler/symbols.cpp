#include "backend/cpu/compiler/symbols.h"

#include <atomic>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <unordered_map>

#include "backend/cpu/compiler/block_memory.h"
#include "backend/cpu/compiler/compiler.h"
#include "backend/cpu/compiler/saving_poll.h"
#include "backend/cpu/compiler/vector_math.h"
#include "core/once.h"
#include "llvm/Analysis/TargetLibraryInfo.h"

// libgcc's and libm's functions that code generation may call.
extern "C" {
__int128 __divti3(__int128, __int128);
__int128 __modti3(__int128, __int128);
unsigned __int128 __udivti3(unsigned __int128, unsigned __int128);
unsigned __int128 __umodti3(unsigned __int128, unsigned __int128);
__int128 __multi3(__int128, __int128);
float __floattisf(__int128);
double __floattidf(__int128);
float __floatuntisf(unsigned __int128);
double __floatuntidf(unsigned __int128);
__int128 __fixsfti(float);
__int128 __fixdfti(double);
unsigned __int128 __fixunssfti(float);
unsigned __int128 __fixunsdfti(double);
float __powisf2(float, int);
double __powidf2(double, int);
}

namespace iruka::cpu_backend {
namespace {

template <class To, class From>
To bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// Shifts right by `amount` and rounds the lost bits to nearest even.
uint64_t round_shift(uint64_t value, int amount) {
  if (amount > 63) return 0;
  const uint64_t kept = value >> amount, lost = value & ((uint64_t{1} << amount) - 1),
                 half = uint64_t{1} << (amount - 1);
  return kept + (lost > half || (lost == half && (kept & 1)));
}

/// A double as a 16-bit float with `exponent_bits` (5: binary16, 8: bfloat16), rounded once, to nearest even.
uint16_t narrow(double value, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const uint64_t raw = bits<uint64_t>(value), fraction = raw & ((uint64_t{1} << 52) - 1);
  const auto sign = static_cast<uint16_t>(raw >> 48 & 0x8000);
  const int exponent = static_cast<int>(raw >> 52 & 0x7FF);
  const auto infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  if (exponent == 0x7FF) {
    const auto quiet = static_cast<uint16_t>(1 << (fraction_bits - 1) | fraction >> (52 - fraction_bits));
    return sign | infinity | (fraction ? quiet : 0);
  }
  const int target = exponent - 1023 + bias;
  if (target >= (1 << exponent_bits) - 1) return sign | infinity;
  const uint64_t significand = exponent ? fraction | uint64_t{1} << 52 : fraction;
  const int lost = 52 - fraction_bits + (target < 1 ? 1 - target : 0);
  const uint64_t rounded = round_shift(significand, lost);
  // A carry out of the fraction correctly increments the exponent.
  const uint64_t base = target < 1 ? 0 : static_cast<uint64_t>(target - 1) << fraction_bits;
  return sign | static_cast<uint16_t>(base + rounded);
}

float widen_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
  if (exponent == 31) return bits<float>(sign | 0x7F800000u | fraction << 13);
  if (exponent) return bits<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

// The System V ABI passes 16-bit floats in the low bits of a vector register; a float carries the same bits.
float as_register(uint16_t half) { return bits<float>(static_cast<uint32_t>(half)); }
float truncate_double_to_half(double value) { return as_register(narrow(value, 5)); }
float truncate_float_to_half(float value) { return as_register(narrow(value, 5)); }
float truncate_double_to_bfloat(double value) { return as_register(narrow(value, 8)); }
float truncate_float_to_bfloat(float value) { return as_register(narrow(value, 8)); }
float extend_half(float half) { return widen_half(static_cast<uint16_t>(bits<uint32_t>(half))); }

template <class T>
void sine_and_cosine(T value, T* sine, T* cosine) {
  constexpr bool single = sizeof(T) == 4;
  // The scalar versions of SLEEF's vector functions, so that lanes and scalar elements get the same results.
  struct Functions {
    T (*sine)(T);
    T (*cosine)(T);
  };
  const Functions& functions = made_once([] {
    return Functions{reinterpret_cast<T (*)(T)>(symbol_address(single ? "sinf" : "sin")),
                     reinterpret_cast<T (*)(T)>(symbol_address(single ? "cosf" : "cos"))};
  });
  *sine = functions.sine(value);
  *cosine = functions.cosine(value);
}

std::atomic<AssertionSink> the_assertion_sink{nullptr};

/// printf of a kernel. Python and other users of the standard output see the text at once.
__attribute__((format(printf, 1, 2))) int print_text(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = std::vprintf(format, arguments);
  va_end(arguments);
  std::fflush(stdout);
  return written;
}

template <class F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

using SymbolTable = std::unordered_map<std::string_view, void*>;

SymbolTable make_symbols() {
  SymbolTable table;
#define IRUKA_SINGLE(name) table[#name "f"] = address(static_cast<float (*)(float)>(&::name##f));
#define IRUKA_DOUBLE(name) table[#name] = address(static_cast<double (*)(double)>(&::name));
#define IRUKA_UNARY(name) IRUKA_SINGLE(name) IRUKA_DOUBLE(name)
#define IRUKA_BINARY(name)                                                      \
  table[#name "f"] = address(static_cast<float (*)(float, float)>(&::name##f)); \
  table[#name] = address(static_cast<double (*)(double, double)>(&::name));
#define IRUKA_ANY(name) table[#name] = address(&::name);
  // clang-format off
  IRUKA_UNARY(exp) IRUKA_UNARY(exp2) IRUKA_UNARY(exp10) IRUKA_UNARY(expm1) IRUKA_UNARY(log) IRUKA_UNARY(log2)
  IRUKA_UNARY(log10) IRUKA_UNARY(log1p) IRUKA_UNARY(sin) IRUKA_UNARY(cos) IRUKA_UNARY(tan) IRUKA_UNARY(asin)
  IRUKA_UNARY(acos) IRUKA_UNARY(atan) IRUKA_UNARY(sinh) IRUKA_UNARY(cosh) IRUKA_UNARY(tanh) IRUKA_UNARY(asinh)
  IRUKA_UNARY(acosh) IRUKA_UNARY(atanh) IRUKA_UNARY(cbrt) IRUKA_UNARY(erf) IRUKA_UNARY(erfc) IRUKA_UNARY(tgamma)
  IRUKA_UNARY(lgamma) IRUKA_UNARY(floor) IRUKA_UNARY(ceil) IRUKA_UNARY(trunc) IRUKA_UNARY(rint)
  IRUKA_UNARY(nearbyint) IRUKA_UNARY(round) IRUKA_UNARY(roundeven) IRUKA_UNARY(sqrt) IRUKA_UNARY(fabs)
  IRUKA_UNARY(logb) IRUKA_UNARY(j0) IRUKA_UNARY(j1) IRUKA_UNARY(y0) IRUKA_UNARY(y1)
  IRUKA_BINARY(atan2) IRUKA_BINARY(pow) IRUKA_BINARY(hypot) IRUKA_BINARY(fmod) IRUKA_BINARY(remainder)
  IRUKA_BINARY(nextafter) IRUKA_BINARY(copysign) IRUKA_BINARY(fdim) IRUKA_BINARY(fmin) IRUKA_BINARY(fmax)
  IRUKA_ANY(fma) IRUKA_ANY(fmaf) IRUKA_ANY(ldexpf) IRUKA_ANY(ldexp) IRUKA_ANY(frexpf) IRUKA_ANY(frexp)
  IRUKA_ANY(scalbnf) IRUKA_ANY(scalbn) IRUKA_ANY(scalblnf) IRUKA_ANY(scalbln) IRUKA_ANY(ilogbf) IRUKA_ANY(ilogb)
  IRUKA_ANY(modff) IRUKA_ANY(modf) IRUKA_ANY(remquof) IRUKA_ANY(remquo) IRUKA_ANY(lroundf) IRUKA_ANY(lround)
  IRUKA_ANY(llroundf) IRUKA_ANY(llround) IRUKA_ANY(lrintf) IRUKA_ANY(lrint) IRUKA_ANY(llrintf) IRUKA_ANY(llrint)
  IRUKA_ANY(jnf) IRUKA_ANY(jn) IRUKA_ANY(ynf) IRUKA_ANY(yn)
  IRUKA_ANY(__divti3) IRUKA_ANY(__modti3) IRUKA_ANY(__udivti3) IRUKA_ANY(__umodti3) IRUKA_ANY(__multi3)
  IRUKA_ANY(__floattisf) IRUKA_ANY(__floattidf) IRUKA_ANY(__floatuntisf) IRUKA_ANY(__floatuntidf)
  IRUKA_ANY(__fixsfti) IRUKA_ANY(__fixdfti) IRUKA_ANY(__fixunssfti) IRUKA_ANY(__fixunsdfti)
  IRUKA_ANY(__powisf2) IRUKA_ANY(__powidf2)
  // clang-format on
#undef IRUKA_ANY
#undef IRUKA_BINARY
#undef IRUKA_UNARY
#undef IRUKA_DOUBLE
#undef IRUKA_SINGLE
                                                                                  table["memcpy"] =
                                                                                      address(&std::memcpy);
  table["memmove"] = address(&std::memmove);
  table["memset"] = address(&std::memset);
  table["memcmp"] = address(&std::memcmp);
  table["bcmp"] = address(&std::memcmp);
  table["sincosf"] = address(&sine_and_cosine<float>);
  table["sincos"] = address(&sine_and_cosine<double>);
  table["__truncdfhf2"] = address(&truncate_double_to_half);
  table["__truncsfhf2"] = address(&truncate_float_to_half);
  table["__gnu_f2h_ieee"] = address(&truncate_float_to_half);
  table["__truncdfbf2"] = address(&truncate_double_to_bfloat);
  table["__truncsfbf2"] = address(&truncate_float_to_bfloat);
  table["__extendhfsf2"] = address(&extend_half);
  table["iruka_note_failed_assertion"] = address(&note_failed_assertion);
  table["iruka_take_memory"] = address(&take_memory);
  table["iruka_fill_margin"] = address(&fill_margin);
  table["iruka_check_margin"] = address(&check_margin);
  table["iruka_memory_mark"] = address(&memory_mark);
  table["iruka_return_memory"] = address(&return_memory);
  table["printf"] = address(&print_text);
  table[kCancelPollName] = address(&cancel_poll);
  if (void* saving = saving_cancel_poll()) table[kSavingCancelPollName] = saving;
  return table;
}

}  // namespace

void* symbol_address(std::string_view name) {
  if (const char* sleef = sleef_scalar_name(name)) return sleef_address(sleef);
  if (void* found = sleef_address(name)) return found;
  const SymbolTable& table = made_once([] { return make_symbols(); });
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

void note_failed_assertion(const char* condition, const char* file, int line, long long element) noexcept {
  if (const AssertionSink sink = the_assertion_sink.load(std::memory_order_acquire))
    sink({condition, file, line, element});
}

void set_assertion_sink(AssertionSink sink) { the_assertion_sink.store(sink, std::memory_order_release); }

void restrict_library(llvm::TargetLibraryInfoImpl& library) {
  for (unsigned k = 0; k < llvm::NumLibFuncs; ++k) {
    const auto function = static_cast<llvm::LibFunc>(k);
    const llvm::StringRef name = llvm::TargetLibraryInfo(library).getName(function);
    if (!symbol_address(std::string_view(name.data(), name.size()))) library.setUnavailable(function);
  }
}

}  // namespace iruka::cpu_backend
