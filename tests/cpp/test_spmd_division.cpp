// Elements as lanes: integer division and remainder, which have no vector instruction.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "spmd_testing.h"

namespace iruka::test {
namespace {

const std::vector<std::string> kChoices = {"--lanes=8", "--lanes=4", "--lanes=16", "--lanes=2"};
const std::vector<std::string> kFewChoices = {"--lanes=8", "--lanes=4"};

/// What the language fixes, of numbers that may be of wider types.
template <class T>
T quotient(T a, T b) {
  return b == 0 ? T(0) : static_cast<T>(static_cast<__int128>(a) / b);
}
template <class T>
T remainder(T a, T b) {
  return b == 0 ? T(0) : static_cast<T>(static_cast<__int128>(a) % b);
}

template <class T>
struct Pairs {
  std::vector<T> a, b;
  void add(T x, T y) {
    a.push_back(x);
    b.push_back(y);
  }
  int64_t size() const { return static_cast<int64_t>(a.size()); }
};

/// Runs `text`, which sees a and b and sets q and r, against `meaning(a, b, q, r)`.
template <class T, class Meaning>
void check_pairs(const Pairs<T>& pairs, const std::string& text, Meaning meaning,
                 const std::vector<std::string>& choices = kChoices) {
  const std::string type = name(dtype_of<T>), in = type + " a, " + type + " b", out = type + " q, " + type + " r";
  const Body body{text.c_str(), [&](ptrdiff_t, ptrdiff_t, Indexer&, T a, T b, T& q, T& r) { meaning(a, b, q, r); }};
  const auto make = [&](int64_t n) {
    return operands(plain(pairs.a), plain(pairs.b), test::out<T>(n), test::out<T>(n));
  };
  check({.in = in.c_str(), .out = out.c_str(), .lanes = choices}, body, make, {pairs.size()});
}

template <class T>
void check_plain_division(const Pairs<T>& pairs) {
  check_pairs(pairs, "q = a / b; r = a % b;", [](T a, T b, T& q, T& r) {
    q = quotient(a, b);
    r = remainder(a, b);
  });
}

/// Zero, one, both ends, powers of two and their neighbours, and numbers of all lengths.
template <class T>
std::vector<T> interesting(int random_count) {
  using U = std::make_unsigned_t<T>;
  std::vector<T> values = {
      0, 1, 2, 3, 7, 10, std::numeric_limits<T>::max(), std::numeric_limits<T>::min(), static_cast<T>(-1)};
  constexpr int bits = sizeof(T) * 8;
  for (int k = 3; k < bits; ++k) {
    const U power = static_cast<U>(U(1) << k);
    for (const U value : {power, static_cast<U>(power - 1), static_cast<U>(power + 1), static_cast<U>(0 - power)}) {
      values.push_back(static_cast<T>(value));
    }
  }
  std::mt19937_64 random(11);
  for (int k = 0; k < random_count; ++k) values.push_back(static_cast<T>(static_cast<U>(random()) >> (k % bits)));
  return values;
}

template <class T>
Pairs<T> interesting_pairs(int random_count = 100) {
  Pairs<T> pairs;
  const auto values = interesting<T>(random_count);
  for (const T a : values)
    for (const T b : values) pairs.add(a, b);
  return pairs;
}

/// A truncated quotient can only be wrong next to a step: dividends around multiples of the divisor.
template <class T>
Pairs<T> steps(int count) {
  using U = std::make_unsigned_t<T>;
  Pairs<T> pairs;
  std::mt19937_64 random(12);
  for (int k = 0; k < count; ++k) {
    const U b = static_cast<U>(static_cast<U>(random()) >> (random() % (sizeof(T) * 8)));
    const U most = b ? static_cast<U>(std::numeric_limits<U>::max() / b) : U(0);
    const U m = static_cast<U>(static_cast<U>(random()) >> (random() % (sizeof(T) * 8)));
    const U a = static_cast<U>(b * (most && m > most ? m % most : m));
    for (const U near : {a, static_cast<U>(a - 1), static_cast<U>(a + 1)}) {
      pairs.add(static_cast<T>(near), static_cast<T>(b));
      if (std::is_signed_v<T>) pairs.add(static_cast<T>(0 - near), static_cast<T>(b));
      if (std::is_signed_v<T>) pairs.add(static_cast<T>(near), static_cast<T>(0 - b));
    }
  }
  return pairs;
}

template <class T>
class SpmdDivision : public testing::Test {};
using IntegerTypes = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(SpmdDivision, IntegerTypes);

TYPED_TEST(SpmdDivision, OfLanesByLanes) {
  check_plain_division(interesting_pairs<TypeParam>());
  check_plain_division(steps<TypeParam>(20'000));
}

TYPED_TEST(SpmdDivision, OnlyTheQuotientOrTheRemainder) {
  using T = TypeParam;
  const auto pairs = interesting_pairs<T>();
  check_pairs(pairs, "q = a / b;", [](T a, T b, T& q, T&) { q = quotient(a, b); });
  check_pairs(pairs, "r = a % b;", [](T a, T b, T&, T& r) { r = remainder(a, b); });
}

TYPED_TEST(SpmdDivision, UnderAMask) {
  using T = TypeParam;
  check_pairs(interesting_pairs<T>(),
              "if (b != 0) { q = a / b; if (a > b) r = a % b; } else if (a & 1) r = a / (b + 1);",
              [](T a, T b, T& q, T& r) {
                if (b != 0) q = quotient(a, b);
                if (b != 0 && a > b) r = remainder(a, b);
                if (b == 0 && (a & 1)) r = a;
              });
}

TYPED_TEST(SpmdDivision, ByAScalarAndOfAScalar) {
  using T = TypeParam;
  const auto values = interesting<T>(300);
  const std::string type = name(dtype_of<T>), in = type + " a, " + type + " s",
                    out = type + " q, " + type + " r, " + type + " t";
  const Body body{"q = a / s; r = a % s; t = s / a + s % a;",
                  [](ptrdiff_t, ptrdiff_t, Indexer&, T a, T s, T& q, T& r, T& t) {
                    q = quotient(a, s);
                    r = remainder(a, s);
                    t = static_cast<T>(static_cast<std::make_unsigned_t<T>>(quotient(s, a)) +
                                       static_cast<std::make_unsigned_t<T>>(remainder(s, a)));
                  }};
  const auto n = static_cast<int64_t>(values.size());
  LaneKernels kernels({.in = in.c_str(), .out = out.c_str(), .lanes = kChoices}, body.text);
  for (const T s : interesting<T>(10)) {
    auto a = plain(values);
    auto single = scalar(s);
    auto q = test::out<T>(n), r = test::out<T>(n), t = test::out<T>(n);
    Indexer place({n});
    for (ptrdiff_t i = 0; i < n; ++i) {
      place.set(i);
      body.reference(i, n, place, a.argument(place), s, q.argument(place), r.argument(place), t.argument(place));
    }
    const test::Operand* const list[] = {&a, &single, &q, &r, &t};
    kernels.run(list, n);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// A number as a constant of the language, MIN included.
template <class T>
std::string literal(T value) {
  const std::string digits = std::to_string(static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(value)));
  return "((" + std::string(info(dtype_of<T>).c_type) + ")" + digits + "ull)";
}

TYPED_TEST(SpmdDivision, ByConstants) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  Pairs<T> pairs;
  for (const T a : interesting<T>(300)) pairs.add(a, T(5));
  for (const T d : {T(0), T(1), T(-1), T(2), T(3), T(7), T(10), T(64), T(-2), T(-7), T(-64), T(100), Limits::max(),
                    Limits::min(), static_cast<T>(Limits::max() / 3), static_cast<T>(Limits::max() / 1000)}) {
    const auto meaning = [d](T a, T, T& q, T& r) {
      q = quotient(a, d);
      r = remainder(a, d);
    };
    check_pairs(pairs, "q = a / " + literal(d) + "; r = a % " + literal(d) + ";", meaning, kFewChoices);
  }
}

/// All dividends and divisors of 8 bits.
template <class T>
void check_all_bytes() {
  Pairs<T> pairs;
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) pairs.add(static_cast<T>(a), static_cast<T>(b));
  check_plain_division(pairs);
  const std::string type = std::is_signed_v<T> ? "_BitInt(8)" : "unsigned _BitInt(8)";
  check_pairs(pairs, type + " x = a, y = b; q = x / y; r = x % y;", [](T a, T b, T& q, T& r) {
    q = quotient(a, b);
    r = remainder(a, b);
  });
}

TEST(SpmdDivisionOfBytes, IsRightForAll) {
  check_all_bytes<int8_t>();
  check_all_bytes<uint8_t>();
}

/// Every step of every divisor of 16 bits: between two steps a truncated quotient cannot change, as rounding is
/// monotonic.
template <class T>
void check_all_steps_of_short() {
  Pairs<T> pairs;
  const int most = std::numeric_limits<T>::max();
  for (int b = 1; b <= most; ++b) {
    for (int a = 0; a <= most; a += b) {
      pairs.add(static_cast<T>(a), static_cast<T>(b));
      if (a) pairs.add(static_cast<T>(a - 1), static_cast<T>(b));
      if (std::is_signed_v<T> && a) pairs.add(static_cast<T>(1 - a), static_cast<T>(-b));
      if (std::is_signed_v<T>) pairs.add(static_cast<T>(-a), static_cast<T>(b));
    }
  }
  check_plain_division(pairs);
}

TEST(SpmdDivisionOfShorts, IsRightForAll) {
  check_all_steps_of_short<int16_t>();
  check_all_steps_of_short<uint16_t>();
}

/// Runs of short numbers, of which whole vectors are divided otherwise than of long ones, with a long one among them
/// now and then.
template <class T>
void check_runs() {
  using U = std::make_unsigned_t<T>;
  Pairs<T> pairs;
  std::mt19937_64 random(13);
  for (int k = 0; k < 40'000; ++k) {
    const int cut = (k / 40) % 3 == 0 ? 13 : 14;  // 51 and 50 bits
    const auto number = [&] {
      return static_cast<T>(static_cast<T>(static_cast<U>(random())) >> (cut + random() % 50));
    };
    pairs.add(k % 97 == 0 ? static_cast<T>(random()) : number(), k % 131 == 0 ? static_cast<T>(random()) : number());
  }
  for (const T edge : {T(1) << 49, T(1) << 50, T(1) << 51, T(1) << 52}) {
    for (int k = 0; k < 64; ++k) {
      pairs.add(static_cast<T>(edge - k % 3), static_cast<T>(1 + k % 2));
      pairs.add(static_cast<T>(0 - edge + k % 3 - 1), static_cast<T>(k % 2 ? -1 : 1));
      pairs.add(static_cast<T>(k % 5), static_cast<T>(edge - k % 3));
    }
  }
  check_plain_division(pairs);
}

TEST(SpmdDivisionOfLongs, OfVectorsOfShortNumbers) {
  check_runs<int64_t>();
  check_runs<uint64_t>();
}

// What is known of a 64-bit number lets it be divided as a shorter one.

/// q and r of x and y, which `text` makes from a and b, and `make` too.
template <class T, class Make>
void check_known(const std::string& text, Make make) {
  Pairs<T> pairs = interesting_pairs<T>(20);
  const Pairs<T> more = steps<T>(3000);
  pairs.a.insert(pairs.a.end(), more.a.begin(), more.a.end());
  pairs.b.insert(pairs.b.end(), more.b.begin(), more.b.end());
  const std::string type = info(dtype_of<T>).c_type;
  const auto meaning = [make](T a, T b, T& q, T& r) {
    make(a, b);
    q = quotient(a, b);
    r = remainder(a, b);
  };
  check_pairs(pairs, type + " x = a, y = b; " + text + " q = x / y; r = x % y;", meaning, kFewChoices);
}

TEST(SpmdKnownRanges, OfUnsignedDividends) {
  for (const int bits : {8, 24, 25, 31, 32, 50, 51, 53, 63}) {
    check_known<uint64_t>("x &= (1ull << " + std::to_string(bits) + ") - 1;",
                          [bits](uint64_t& x, uint64_t&) { x &= (uint64_t{1} << bits) - 1; });
  }
}

TEST(SpmdKnownRanges, OfUnsignedDividendsAndDivisors) {
  for (const int bits : {1, 24, 25, 31, 32, 50, 51}) {
    check_known<uint64_t>("x >>= 64 - " + std::to_string(bits) + "; y >>= 64 - " + std::to_string(bits) + ";",
                          [bits](uint64_t& x, uint64_t& y) { x >>= 64 - bits, y >>= 64 - bits; });
  }
  check_known<uint32_t>("x >>= 8; y >>= 8;", [](uint32_t& x, uint32_t& y) { x >>= 8, y >>= 8; });
  check_known<uint32_t>("x >>= 1;", [](uint32_t& x, uint32_t&) { x >>= 1; });
  check_known<uint32_t>("y >>= 1;", [](uint32_t&, uint32_t& y) { y >>= 1; });
}

TEST(SpmdKnownRanges, OfSignedDividends) {
  for (const int bits : {1, 25, 26, 31, 32, 33, 51, 52}) {
    const std::string shift = std::to_string(64 - bits);
    check_known<int64_t>("x >>= " + shift + ";", [bits](int64_t& x, int64_t&) { x >>= 64 - bits; });
    check_known<int64_t>("x >>= " + shift + "; y >>= " + shift + ";",
                         [bits](int64_t& x, int64_t& y) { x >>= 64 - bits, y >>= 64 - bits; });
  }
  check_known<int64_t>("x &= 0x7fffffff;", [](int64_t& x, int64_t&) { x &= 0x7fffffff; });
  check_known<int64_t>("x &= 0x7fffffff; y &= 0x7fffffff;",
                       [](int64_t& x, int64_t& y) { x &= 0x7fffffff, y &= 0x7fffffff; });
  check_known<int32_t>("x &= 0x7fffffff;", [](int32_t& x, int32_t&) { x &= 0x7fffffff; });
  check_known<int32_t>("y |= 1;", [](int32_t&, int32_t& y) { y |= 1; });
  check_known<int32_t>("x >>= 7; y >>= 7;", [](int32_t& x, int32_t& y) { x >>= 7, y >>= 7; });
}

TEST(SpmdKnownRanges, OfTheIndex) {
  using I = int64_t;
  for (const int64_t d :
       {I(0), I(1), I(-1), I(3), I(-3), I(16), I(1000), I(INT32_MAX), I(INT32_MAX) + 1, I(-INT32_MAX) - 2, INT64_MIN}) {
    const auto make = [d](int64_t n) {
      return operands(scalar<int64_t>(d), out<int64_t>(n), out<int64_t>(n), out<int64_t>(n));
    };
    check({.in = "int64 d", .out = "int64 q, int64 r, int64 t", .lanes = kChoices},
          BODY_AND_MEANING("q = i / d; r = i % d; t = (3 * i + 1) / d - (5 * i) % d;",
                           (int64_t d, int64_t& q, int64_t& r, int64_t& t),
                           {
                             q = quotient<int64_t>(i, d);
                             r = remainder<int64_t>(i, d);
                             t = quotient<int64_t>(3 * i + 1, d) - remainder<int64_t>(5 * i, d);
                           }),
          make, {1, 5, 8, 33, 64, 257, 1000});
  }
}

// Widths that are no power of two, and what is wider than 64 bits.

template <int width, bool is_signed>
void check_odd_width() {
  using T = std::conditional_t<is_signed, int64_t, uint64_t>;
  const std::string type = (is_signed ? "_BitInt(" : "unsigned _BitInt(") + std::to_string(width) + ")";
  const auto narrow = [](T x) {
    return static_cast<T>(static_cast<T>(static_cast<uint64_t>(x) << (64 - width)) >> (64 - width));
  };
  check_pairs(interesting_pairs<T>(), type + " x = a, y = b; q = x / y; r = x % y;", [narrow](T a, T b, T& q, T& r) {
    q = narrow(quotient(narrow(a), narrow(b)));
    r = narrow(remainder(narrow(a), narrow(b)));
  });
}

TEST(SpmdDivisionOfOtherWidths, IsExact) {
  check_odd_width<5, true>();
  check_odd_width<24, true>();
  check_odd_width<24, false>();
  check_odd_width<31, true>();
  check_odd_width<37, false>();
  check_odd_width<37, true>();
  check_odd_width<55, true>();
  check_odd_width<63, false>();
}

TEST(SpmdDivisionOfOtherWidths, Beyond64Bits) {
  check_pairs(interesting_pairs<int64_t>(),
              "__int128 x = (__int128)a * 1000003, y = (__int128)b * 77; q = x / y; r = x % y;",
              [](int64_t a, int64_t b, int64_t& q, int64_t& r) {
                const __int128 x = static_cast<__int128>(a) * 1000003, y = static_cast<__int128>(b) * 77;
                q = y ? static_cast<int64_t>(x / y) : 0;
                r = y ? static_cast<int64_t>(x % y) : 0;
              });
}

}  // namespace
}  // namespace iruka::test
