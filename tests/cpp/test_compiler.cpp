// The CPU compiler: fixed meanings of what C++ leaves undefined, diagnostics, hostile texts, linking.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <regex>
#include <thread>

#include "compile_text.h"

namespace iruka {
namespace {

using cpu_backend::LinkedObject;
using test::build;
using test::errors;
using test::evaluate;
using test::loop_text;
using test::program;

template <class T> constexpr const char* kType = "";
template <> constexpr const char* kType<int8_t> = "signed char";
template <> constexpr const char* kType<int16_t> = "short";
template <> constexpr const char* kType<int32_t> = "int";
template <> constexpr const char* kType<int64_t> = "long";
template <> constexpr const char* kType<uint8_t> = "unsigned char";
template <> constexpr const char* kType<uint16_t> = "unsigned short";
template <> constexpr const char* kType<uint32_t> = "unsigned int";
template <> constexpr const char* kType<uint64_t> = "unsigned long";
template <> constexpr const char* kType<float> = "float";
template <> constexpr const char* kType<double> = "double";

template <class T>
std::vector<T> interesting() {
  // clang-format off
  std::vector<T> values = {0, 1, 2, 3, 7, std::numeric_limits<T>::max(), std::numeric_limits<T>::min(),
                           static_cast<T>(-1), static_cast<T>(std::numeric_limits<T>::min() + 1)};
  // clang-format on
  std::mt19937_64 random(7);
  for (int k = 0; k < 40; ++k) values.push_back(static_cast<T>(random()));
  return values;
}

/// Every pair of interesting values.
template <class T>
void pairs(std::vector<T>& a, std::vector<T>& b) {
  for (const T x : interesting<T>()) {
    for (const T y : interesting<T>()) {
      a.push_back(x);
      b.push_back(y);
    }
  }
}

template <class T>
class Integers : public testing::Test {};
using IntegerTypes = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

TYPED_TEST(Integers, DivisionAndRemainderByZeroGiveZeroAndOverflowWraps) {
  using T = TypeParam;
  std::vector<T> a, b;
  pairs(a, b);
  const std::string type = kType<T>;
  const auto quotients = evaluate<T>(loop_text(type, type, type, "z = a / b;"), a, b);
  const auto remainders = evaluate<T>(loop_text(type, type, type, "z = a % b;"), a, b);
  for (size_t k = 0; k < a.size(); ++k) {
    const __int128 x = a[k], y = b[k];
    ASSERT_EQ(quotients[k], y == 0 ? T(0) : static_cast<T>(x / y)) << +a[k] << " / " << +b[k];
    ASSERT_EQ(remainders[k], y == 0 ? T(0) : static_cast<T>(x % y)) << +a[k] << " % " << +b[k];
  }
}

TYPED_TEST(Integers, CompoundDivisionByConstantsAndUniformValues) {
  using T = TypeParam;
  const std::vector<T> a = interesting<T>(), b(a.size(), 0);
  const std::string type = kType<T>;
  const auto results =
      evaluate<T>(loop_text(type, type, type, type + " t = a; t /= b; t += a % 7; t += a / -1; z = t;"), a, b);
  for (size_t k = 0; k < a.size(); ++k) {
    // C++'s own rules: operands are promoted to int, or stay what they are.
    using P = decltype(a[k] + 0);
    const auto by_minus_one = static_cast<T>(static_cast<__int128>(static_cast<P>(a[k])) / static_cast<P>(-1));
    const T expected = static_cast<T>(static_cast<__int128>(a[k] % 7) + by_minus_one);
    ASSERT_EQ(results[k], expected) << +a[k];
  }
}

TYPED_TEST(Integers, OverLongShiftsShiftEverythingOut) {
  using T = TypeParam;
  using P = decltype(T() << T());  // the type that C++ shifts in
  constexpr int width = sizeof(P) * 8;
  std::vector<T> a, b;
  for (const T x : interesting<T>()) {
    for (const int y : {0, 1, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100}) {
      a.push_back(x);
      b.push_back(static_cast<T>(y));
    }
  }
  const std::string type = kType<T>, wide = std::is_signed_v<P> ? (width == 32 ? "int" : "long")
                                                                : (width == 32 ? "unsigned" : "unsigned long");
  const auto left = evaluate<P>(loop_text(type, type, wide, "z = a << b;"), a, b);
  const auto right = evaluate<P>(loop_text(type, type, wide, "z = a >> b;"), a, b);
  for (size_t k = 0; k < a.size(); ++k) {
    const int amount = b[k];
    const P x = a[k];
    const P shifted_left = amount >= width ? P(0) : static_cast<P>(static_cast<unsigned __int128>(x) << amount);
    const P shifted_right = amount >= width ? (x < 0 ? P(-1) : P(0)) : static_cast<P>(x >> amount);
    ASSERT_EQ(left[k], shifted_left) << +a[k] << " << " << amount;
    ASSERT_EQ(right[k], shifted_right) << +a[k] << " >> " << amount;
  }
}

/// What a saturating cast gives, by exact comparison in long double (64-bit significand).
template <class T, class F>
T saturated(F value) {
  if (std::isnan(value)) return 0;
  const auto exact = static_cast<long double>(value);
  if (exact <= static_cast<long double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (exact >= static_cast<long double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

template <class T, class F>
void check_casts() {
  // clang-format off
  std::vector<F> a = {0,    F(-0.0), F(0.5), F(-0.5), F(0.999), F(-0.999), F(1.5),    F(-1.5),  127,     128,
                      -128, -129,    255,    256,     32767,    32768,     -32769,    65535,    65536,   F(2147483647.0),
                      F(2147483648.0), F(-2147483648.0), F(-2147483904.0), F(4294967295.0), F(4294967296.0), F(9.2e18),
                      F(9223372036854775808.0), F(-9223372036854775808.0), F(18446744073709551616.0), F(1e30), F(-1e30),
                      std::numeric_limits<F>::infinity(), -std::numeric_limits<F>::infinity(),
                      std::numeric_limits<F>::quiet_NaN(), std::numeric_limits<F>::denorm_min()};
  // clang-format on
  std::mt19937_64 random(3);
  for (int k = 0; k < 200; ++k) {
    a.push_back(std::ldexp(static_cast<F>(static_cast<int64_t>(random())), static_cast<int>(random() % 80) - 70));
  }
  const auto results =
      evaluate<T>(loop_text(kType<F>, kType<F>, kType<T>, std::string("z = (") + kType<T> + ")a;"), a, a);
  for (size_t k = 0; k < a.size(); ++k) ASSERT_EQ(results[k], (saturated<T, F>(a[k]))) << kType<T> << " from " << a[k];
}

TYPED_TEST(Integers, FloatCastsSaturateAndNaNGivesZero) {
  check_casts<TypeParam, float>();
  check_casts<TypeParam, double>();
}

TYPED_TEST(Integers, CastsOfConstantsSaturate) {
  using T = TypeParam;
  const std::vector<int> a(20);
  const auto constant = [&](const char* text) {
    return evaluate<T>(loop_text("int", "int", kType<T>, std::string("z = ") + text + ";"), a, a);
  };
  EXPECT_EQ(constant("1e30f"), std::vector<T>(a.size(), std::numeric_limits<T>::max()));
  EXPECT_EQ(constant("-1e300"), std::vector<T>(a.size(), std::numeric_limits<T>::min()));
  EXPECT_EQ(constant("0.0f / 0.0f"), std::vector<T>(a.size(), 0));
  EXPECT_EQ(constant("-0.5"), std::vector<T>(a.size(), 0));
}

TEST(Compiler, SignedOverflowWrapsAndBitCountsOfZeroAreDefined) {
  const std::vector<int32_t> a = {INT32_MAX, INT32_MIN, 0}, b = {1, -1, 0};
  EXPECT_EQ(evaluate<int32_t>(loop_text("int", "int", "int", "z = a + b;"), a, b),
            (std::vector<int32_t>{INT32_MIN, INT32_MAX, 0}));
  EXPECT_EQ(evaluate<int32_t>(loop_text("int", "int", "int", "z = a + 1 > a;"), a, b), (std::vector<int32_t>{0, 1, 1}));
  EXPECT_EQ(evaluate<int32_t>(loop_text("int", "int", "int", "z = __builtin_clz(a);"), a, b)[2], 32);
}

TYPED_TEST(Integers, DivisionsMeanTheSameAtEveryLevelAndInEveryFunction) {
  using T = TypeParam;
  std::vector<T> a, b;
  pairs(a, b);
  const std::string type = kType<T>;
  const std::string helpers = "static __attribute__((noinline)) " + type + " quotient(" + type + " x, " + type +
                              " y) { return x / y; }\n" + "static __attribute__((noinline)) " + type + " remainder(" +
                              type + " x, " + type + " y) { return x % y; }\n";
  for (const char* level : {"-O0", "-O1", "-O2", "-O3"}) {
    const std::string text =
        helpers + loop_text(type, type, "long", "z = a % 3 ? quotient(a, b) : remainder(a, b) + a / b * 2;");
    const auto results = evaluate<int64_t>(text, a, b, {level});
    for (size_t k = 0; k < a.size(); ++k) {
      const __int128 x = a[k], y = b[k];
      const T quotient = y == 0 ? T(0) : static_cast<T>(x / y), remainder = y == 0 ? T(0) : static_cast<T>(x % y);
      using P = decltype(a[k] + 0);  // the type that C++ divides and adds in, where numbers wrap
      const auto inner = static_cast<P>(y == 0 ? 0 : x / y);
      const auto sum =
          static_cast<P>(static_cast<uint64_t>(static_cast<P>(remainder)) + static_cast<uint64_t>(inner) * 2);
      ASSERT_EQ(results[k], a[k] % 3 ? static_cast<int64_t>(static_cast<P>(quotient)) : static_cast<int64_t>(sum))
          << level << ": " << +a[k] << ", " << +b[k];
    }
  }
}

TEST(Compiler, DivisorsThatBecomeConstantsNeedNoGuard) {
  const std::string helper = "static inline int seven() { return 7; }\n";
  const auto constant =
      cpu_backend::assembly(program(helper + loop_text("int", "int", "int", "z = a / seven() + a % seven();")));
  EXPECT_EQ(constant.find("idiv"), constant.npos) << constant;
  EXPECT_EQ(constant.find("iruka."), constant.npos) << constant;
}

TEST(Compiler, DivisionByAConstantZeroIsNeverATrap) {
  const std::vector<int32_t> a = {5, -5, 0};
  EXPECT_EQ(evaluate<int32_t>(loop_text("int", "int", "int", "z = a / 0 + a % 0;"), a, a),
            (std::vector<int32_t>{0, 0, 0}));
  EXPECT_EQ(evaluate<int32_t>(loop_text("int", "int", "int", "const int n = 0; z = 1 / n;"), a, a),
            (std::vector<int32_t>{0, 0, 0}));
}

TEST(Compiler, MissingReturnsAndTrapsEndTheElementOnly) {
  const std::vector<int32_t> a = {1, -1, 3};
  const std::string helper = "static inline int positive(int x) { if (x > 0) return x; }\n";
  EXPECT_EQ(evaluate<int32_t>(helper + loop_text("int", "int", "int", "z = positive(a) + 1;"), a, a),
            (std::vector<int32_t>{2, 1, 4}));
  const std::string trap = "static inline int checked(int x) { if (x < 0) __builtin_trap(); return x; }\n";
  EXPECT_EQ(evaluate<int32_t>(trap + loop_text("int", "int", "int", "z = checked(a);"), a, a)[2], 3);
}

TEST(Compiler, PowWithAConstantExponentBecomesMultiplications) {
  const auto text = cpu_backend::assembly(program(loop_text("float", "float", "float", "z = powf(a, 2);")));
  EXPECT_EQ(text.find("powf"), text.npos) << text;
  EXPECT_NE(text.find("mulps"), text.npos) << text;
}

TEST(Compiler, GuardsDoNotSpoilVectorisation) {
  for (const char* body : {"z = a << (b & 63);", "z = a >> b;", "z = (int)(a * 0.5f);"}) {
    const auto text = cpu_backend::assembly(program(loop_text("int", "int", "int", body)));
    EXPECT_TRUE(text.find("%ymm") != text.npos || text.find("%xmm") != text.npos || text.find("%zmm") != text.npos)
        << body;
    EXPECT_TRUE(text.find("vps") != text.npos || text.find("cvttps") != text.npos || text.find("psll") != text.npos ||
                text.find("psra") != text.npos)
        << body << text;
  }
}

TEST(Compiler, DiagnosticsNameFileLineAndColumn) {
  const auto compiled =
      cpu_backend::compile(program(loop_text("float", "float", "float", "z = a;\nz = a + undefined_name;")));
  ASSERT_FALSE(compiled.ok);
  EXPECT_TRUE(compiled.code.empty());
  ASSERT_FALSE(compiled.diagnostics.empty());
  const auto& found = compiled.diagnostics.front();
  EXPECT_EQ(found.level, Diagnostic::Level::error);
  EXPECT_EQ(found.file, "operation");
  EXPECT_EQ(found.line, 2);
  EXPECT_EQ(found.column, 9);
  EXPECT_NE(found.message.find("undefined_name"), std::string::npos);
}

TEST(Compiler, CheckFindsErrorsAndGivesNoCode) {
  const auto good = cpu_backend::check(program(loop_text("float", "float", "float", "z = a;")));
  EXPECT_TRUE(good.ok) << errors(good.diagnostics);
  EXPECT_TRUE(good.code.empty());
  const auto bad = cpu_backend::check(program(loop_text("float", "float", "float", "z = a.x;")));
  EXPECT_FALSE(bad.ok);
  EXPECT_NE(errors(bad.diagnostics).find("operation:1:"), std::string::npos) << errors(bad.diagnostics);
}

TEST(Compiler, ErrorsAreCapped) {
  std::string body;
  for (int k = 0; k < 5000; ++k) body += "missing" + std::to_string(k) + "();\n";
  const auto compiled = cpu_backend::compile(program(loop_text("float", "float", "float", body)));
  EXPECT_FALSE(compiled.ok);
  EXPECT_LE(compiled.diagnostics.size(), 128u);
}

TEST(Compiler, NothingOutsideTheTextCanBeReached) {
  const std::pair<const char*, const char*> cases[] = {
      {"#include <stdio.h>\n", "file not found"},
      {"#include \"/etc/passwd\"\n", "file not found"},
      {"#import \"/etc/passwd\"\n", "file not found"},
      {"const unsigned char data[] = {\n#embed \"/etc/passwd\"\n};\n", "file not found"},
      {"extern \"C\" int system(const char*);\nstatic int run() { return system(\"true\"); }\n", "system"},
      {"extern int environ_like;\nstatic int run() { return environ_like; }\n", "environ_like"},
      {"static int run() { asm volatile(\"nop\"); return 0; }\n", "assembly"},
      {"asm(\".incbin \\\"/etc/passwd\\\"\");\n", "assembly"},
      {"static int run() { static thread_local int x; return ++x; }\n", "thread-local"},
      {"struct S { S(); ~S(); int x; }; static S s;\nstatic int run() { return s.x; }\n", "cannot"},
      {"static int run() { return *new int(4); }\n", "new"},
      {"static int run() { throw 1; }\n", "exceptions"},
      {"static int run() { printf(\"x\"); return 0; }\n", "printf"},
  };
  for (const auto& [preamble, expected] : cases) {
    const bool calls = std::string(preamble).find("run()") != std::string::npos;
    const auto compiled =
        cpu_backend::compile(program(preamble + loop_text("float", "float", "float", calls ? "z = run();" : "z = a;")));
    EXPECT_FALSE(compiled.ok) << preamble;
    EXPECT_NE(errors(compiled.diagnostics).find(expected), std::string::npos)
        << preamble << "gives: " << errors(compiled.diagnostics);
  }
  const auto has_include = evaluate<int32_t>(
      "#if __has_include(<stdio.h>) || __has_include(\"/etc/passwd\")\nconstexpr int found = 1;\n#else\nconstexpr int "
      "found = 0;\n"
      "#endif\n" +
          loop_text("int", "int", "int", "z = found;"),
      std::vector<int32_t>{1}, std::vector<int32_t>{1});
  EXPECT_EQ(has_include[0], 0);
}

HeaderFiles headers(std::vector<std::pair<std::string, std::string>> texts) {
  std::vector<HeaderFile> files;
  for (auto& [path, text] : texts) files.push_back({path, std::make_shared<const std::string>(std::move(text))});
  return std::make_shared<const std::vector<HeaderFile>>(std::move(files));
}

TEST(Compiler, HeadersComeFromTheSourceAlone) {
  ProgramSource source =
      program("#include \"/iruka/types.h\"\n" + loop_text("int", "int", "int", "z = a + types();"), {"-I/etc"});
  EXPECT_NE(errors(cpu_backend::compile(source).diagnostics).find("'/iruka/types.h' file not found"),
            std::string::npos);
  source.headers = headers({{"/iruka/types.h", "static int types() { return 41; }"}});
  const auto object = build(source);
  ASSERT_TRUE(object);
  const int one = 1;
  int result = 0;
  const struct {
    const int *a, *b;
    int* z;
  } block{&one, &one, &result};
  object->symbols().front().function()(&block, 0, 1);
  EXPECT_EQ(result, 42);
}

TEST(Compiler, HeadersThatMultiplyAreErrors) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (int k = 0; k < 60; ++k) {
    const std::string next = "#include \"/h/" + std::to_string(k + 1) + "\"\n";
    texts.emplace_back("/h/" + std::to_string(k), next + next);
  }
  texts.emplace_back("/h/60", "");
  ProgramSource source = program("#include \"/h/0\"\n" + loop_text("int", "int", "int", "z = a;"));
  source.headers = headers(std::move(texts));
  const auto compiled = cpu_backend::compile(source);
  EXPECT_FALSE(compiled.ok);
  EXPECT_NE(errors(compiled.diagnostics).find("includes too many files"), std::string::npos);
  source.headers = headers({{"/h/0", std::string(5000, '(')}});
  EXPECT_NE(errors(cpu_backend::compile(source).diagnostics).find("bracket nesting"), std::string::npos);
}

TEST(Compiler, NameExpressionsGiveNamesInTheCode) {
  ProgramSource source{
      "template <class T, int N> void scale(const void* x, long begin, long end) {\n"
      "  for (long k = begin; k < end; ++k) ((T* const*)x)[0][k] *= N;\n}\n"
      "template <class T> __device__ T table[3] = {1, 2, 3};\n"
      "namespace inner { static int hidden = 7; static void same(const void*, long, long) {} }\n",
      "",
      {},
      "<test>"};
  source.name_expressions = {"scale<float, 4>", "&table<short>", "&inner::hidden", "inner::same",
                             "(&scale<double, 3>)"};
  const auto compiled = cpu_backend::compile(source);
  ASSERT_TRUE(compiled.ok) << errors(compiled.diagnostics);
  const NamePairs expected = {{"scale<float, 4>", "_Z5scaleIfLi4EEvPKvll"},
                              {"&table<short>", "_Z5tableIsE"},
                              {"&inner::hidden", "_ZN5innerL6hiddenE"},
                              {"inner::same", "_ZN5innerL4sameEPKvll"},
                              {"(&scale<double, 3>)", "_Z5scaleIdLi3EEvPKvll"}};
  EXPECT_EQ(compiled.names, expected);
  const auto module = cpu().load(compiled.code, "test");
  for (const char* name : {"_Z5scaleIfLi4EEvPKvll", "_ZN5innerL4sameEPKvll", "_Z5scaleIdLi3EEvPKvll"})
    EXPECT_EQ(module->function(name).name(), name);
  EXPECT_EQ(module->global("_Z5tableIsE").bytes, 3 * sizeof(short));
  EXPECT_EQ(static_cast<short*>(module->global("_Z5tableIsE").address)[2], 3);
  EXPECT_EQ(*static_cast<int*>(module->global("_ZN5innerL6hiddenE").address), 7);
}

TEST(Compiler, NameExpressionsThatNameNothingAreErrorsThatQuoteThem) {
  for (const char* expression : {"nothing<int>", "scale<float>", "scale", "1 +", "", "value", "12", "scale<float, 4>;",
                                 "missing", "&value + 1", "sizeof(int)"}) {
    ProgramSource source{
        "template <class T, int N> void scale(const void*, long, long) {}\nint value = 1;\n"
        "void missing(int);\n",
        "",
        {},
        "<test>"};
    source.name_expressions = {"&value", expression};
    const auto compiled = cpu_backend::compile(source);
    EXPECT_FALSE(compiled.ok) << expression;
    const std::string said = errors(compiled.diagnostics);
    EXPECT_NE(said.find("name expression '" + std::string(expression) + "': "), said.npos)
        << expression << ": " << said;
  }
}

TEST(Compiler, DebugPragmasAreErrors) {
  for (const char* what : {"crash", "overflow_stack", "dump", "llvm_fatal_error", "assert", "parser_crash"}) {
    for (const std::string& text : {std::string("\n#pragma clang __debug ") + what + "\n z = a;",
                                    std::string("_Pragma(\"clang __debug ") + what + "\") z = a;"}) {
      const auto compiled = cpu_backend::compile(program(loop_text("float", "float", "float", text)));
      EXPECT_FALSE(compiled.ok);
      EXPECT_NE(errors(compiled.diagnostics).find("pragma is not allowed"), std::string::npos)
          << errors(compiled.diagnostics);
    }
  }
}

TEST(Compiler, TemplatesThatMultiplyAreAnError) {
  const std::string text =
      "template <int N, int M> struct F { static constexpr int v = F<N - 1, 2 * M>::v + F<N - 1, 2 * M + 1>::v; };\n"
      "template <int M> struct F<0, M> { static constexpr int v = 1; };\n";
  const auto loop = [](const char* depth) {
    return loop_text("int", "int", "int", std::string("z = F<") + depth + ", 0>::v;");
  };
  const auto compiled = cpu_backend::compile(program(text + loop("25")));
  EXPECT_FALSE(compiled.ok);
  EXPECT_NE(errors(compiled.diagnostics).find("too many templates"), std::string::npos) << errors(compiled.diagnostics);
  EXPECT_FALSE(cpu_backend::check(program(text + loop("25"))).ok);
  EXPECT_EQ(evaluate<int>(text + loop("10"), std::vector<int>{1}, std::vector<int>{1})[0], 1024);
}

TEST(Compiler, LargeFramesAreErrors) {
  const auto text = [](const std::string& count) {
    return loop_text("int", "int", "int",
                     "int t[" + count + "]; for (int j = 0; j < a; ++j) t[j * 7 % 1000] = j; z = t[b];");
  };
  const auto compiled = cpu_backend::compile(program(text("300000")));
  EXPECT_FALSE(compiled.ok);
  EXPECT_NE(errors(compiled.diagnostics).find("1200000 bytes; at most 1048576"), std::string::npos)
      << errors(compiled.diagnostics);
  EXPECT_FALSE(cpu_backend::compile(program(text("a"))).ok);
  EXPECT_EQ(evaluate<int>(text("200000"), std::vector<int>{5}, std::vector<int>{28})[0], 4);
}

std::string repeat(const std::string& piece, int count) {
  std::string all;
  for (int k = 0; k < count; ++k) all += piece;
  return all;
}

TEST(Compiler, HostileTextsGiveErrorsNotCrashes) {
  const std::string texts[] = {
      "z = " + repeat("(", 100000) + "a" + repeat(")", 100000) + ";",
      repeat("{", 100000),
      "z = " + repeat("!", 20000) + "a;",
      "z = " + repeat("-", 1) + repeat(" -", 20000) + "a;",
      repeat("if (a > 0) ", 20000) + "z = a;",
      "z = a" + repeat(" + a", 20000) + ";",
      "z = " + repeat("a > 0 ? a : ", 5000) + "a;",
      repeat("if (a > 0) z = a; else ", 5000) + "z = b;",
      "int " + repeat("*", 50000) + "p; z = a;",
      "float q" + repeat("[2]", 3000) + "; z = a;",
      "constexpr auto f = [](auto self, int n) -> int { return n == 0 ? 0 : self(self, n + 1); }; constexpr int v = "
      "f(f, 1); z = v;",
      repeat("for (;;) ", 20000) + ";",
      repeat("{ if (a > 0) z = a; else ", 150) + repeat("}", 150),
      "#define F(x) x\nz = " + repeat("F(", 20000) + "a" + repeat(")", 20000) + ";",
      "#if " + repeat("!", 1000000) + "1\n#endif",
      "#if " + repeat("(", 5000) + "1\n#endif",
      "#define A0 a + a\n" +
          [] {
            std::string macros;
            for (int k = 1; k < 60; ++k) {
              const std::string last = "A" + std::to_string(k - 1);
              macros += "#define A" + std::to_string(k) + " " + last + " + " + last + "\n";
            }
            return macros;
          }() +
          "z = A59;",
      repeat("z = z * a + b;\n", 3000),
      "} } } }",
      std::string("z = a\0b;", 8),
      "z = '" + repeat("\\", 1001) + ";",
      "/* never closed",
      "R\"(never closed",
      "#define A A A\n#define B A A\nB B B z = a;",
      "#if 1\nz = a;",
      "#line 4294967296 \"x\"\nz = a;",
      "#pragma clang module import nothing\nz = q;",
      "#error no\n",
      "return; __builtin_unreachable(); goto nowhere;",
      "\xff\xfe\x80 z = a;",
  };
  for (const std::string& text : texts) {
    const auto compiled = cpu_backend::compile(program(loop_text("float", "float", "float", text)));
    EXPECT_EQ(compiled.ok, errors(compiled.diagnostics).empty()) << text.substr(0, 80);
    ProgramSource for_report = program(loop_text("float", "float", "float", text));
    for_report.wants_report = true;
    EXPECT_EQ(cpu_backend::compile(for_report).ok, compiled.ok) << text.substr(0, 80);
  }
  const std::string templates =
      "template <int N> struct Deep { static constexpr int value = Deep<N + 1>::value; };\n"
      "static int run() { return Deep<0>::value; }\n";
  EXPECT_FALSE(cpu_backend::compile(program(templates + loop_text("float", "float", "float", "z = run();"))).ok);
  EXPECT_FALSE(cpu_backend::compile(program("")).ok);
  EXPECT_FALSE(cpu_backend::compile(program("int iruka_entry;")).ok);
}

TEST(Compiler, OptionsChooseOrAreRefusedByName) {
  const std::vector<int32_t> a = {1};
  EXPECT_EQ(
      evaluate<int32_t>(loop_text("int", "int", "int", "z = VALUE + FLAG;"), a, a, {"-DVALUE=41", "-D", "FLAG"})[0],
      42);
  EXPECT_EQ(evaluate<int32_t>(loop_text("int", "int", "int", "#ifdef GONE\nz = 1;\n#else\nz = 2;\n#endif"), a, a,
                              {"-DGONE", "-UGONE"})[0],
            2);
  EXPECT_EQ(evaluate<int32_t>(loop_text("int", "int", "int", "if consteval { z = 1; } else { z = 2; }"), a, a,
                              {"-std=c++23"})[0],
            2);
  for (const char* option : {"--maxrregcount=32",
                             "-arch=sm_80",
                             "-lineinfo",
                             "--restrict",
                             "-std=c++14",
                             "-O1",
                             "-O0",
                             "-w",
                             "-Wall",
                             "--fmad=false",
                             "--use_fast_math",
                             "--std=c++17",
                             "-Wno-unused",
                             "--lanes=0",
                             "--lanes=1",
                             "--lanes=2",
                             "--lanes=4",
                             "--lanes=8",
                             "--lanes=16",
                             "--lanes=32",
                             "--lanes=64"}) {
    EXPECT_TRUE(cpu_backend::compile(program(loop_text("float", "float", "float", "z = a * b + 1;"), {option})).ok)
        << option;
  }
  for (const char* option : {"-I", "-include", "/etc/passwd", "-fplugin=x.so", "-o", "-D1BAD", "-DX\n#include",
                             "-Xclang", "-load", "-std=c99", "-O9", "@file", ""}) {
    const auto compiled = cpu_backend::compile(program(loop_text("float", "float", "float", "z = a;"), {option}));
    EXPECT_FALSE(compiled.ok) << option;
    EXPECT_NE(errors(compiled.diagnostics).find(std::string("'") + option + "'"), std::string::npos)
        << errors(compiled.diagnostics);
  }
  EXPECT_TRUE(cpu_backend::compile(program(loop_text("float", "float", "float", "z = a;"), {"--lanes", "8"})).ok);
  for (const char* value : {"", "3", "-1", "08", "128", "8x", " 8", "auto", "4294967296"}) {
    const std::string option = std::string("--lanes=") + value;
    const auto compiled = cpu_backend::compile(program(loop_text("float", "float", "float", "z = a;"), {option}));
    EXPECT_FALSE(compiled.ok) << option;
    const std::string message = errors(compiled.diagnostics);
    EXPECT_NE(message.find("'" + option + "'; --lanes=N takes 0 (automatic), 1 (scalar), 2, 4, 8, 16, 32 or 64"),
              message.npos)
        << message;
  }
  const auto warned = cpu_backend::compile(
      program(loop_text("int", "int", "int", "int unused; z = a;"), {"-Werror=unused-variable", "-Wall"}));
  EXPECT_FALSE(warned.ok);
}

TEST(Compiler, ContractionAndFastMathFollowTheOptions) {
  const float x = 1 + std::ldexp(1.0f, -12);
  const std::vector<float> a = {x}, b = {-(x * x)};
  const auto fused = evaluate<float>(loop_text("float", "float", "float", "z = a * a + b;"), a, b);
  const auto apart = evaluate<float>(loop_text("float", "float", "float", "z = a * a + b;"), a, b, {"--fmad=false"});
  EXPECT_EQ(apart[0], 0.0f);
  const bool has_fma = cpu_backend::compiler_fingerprint().find("+fma,") != std::string::npos;
  EXPECT_EQ(fused[0], has_fma ? std::fma(x, x, b[0]) : 0.0f);
  const auto text = loop_text("float", "float", "float", "z = (a + b) - a;");
  EXPECT_EQ(evaluate<float>(text, std::vector<float>{1e30f}, std::vector<float>{1.0f})[0], 0.0f);
  EXPECT_EQ(evaluate<float>(text, std::vector<float>{1e30f}, std::vector<float>{1.0f}, {"--use_fast_math"})[0], 1.0f);
  const auto nan = evaluate<int32_t>(loop_text("float", "float", "int", "z = a != a;"), std::vector<float>{NAN},
                                     std::vector<float>{0}, {"--use_fast_math"});
  EXPECT_EQ(nan[0], 1);
}

TEST(LinkedObject, DamagedCodeIsRefused) {
  const auto source = program(loop_text("float", "float", "float", "z = a + b;"));
  const auto compiled = cpu_backend::compile(source);
  ASSERT_TRUE(compiled.ok);
  EXPECT_THROW(LinkedObject(""), DeviceError);
  for (size_t size = 0; size < compiled.code.size(); size += 37) {
    EXPECT_THROW(LinkedObject(compiled.code.substr(0, size)), DeviceError) << size;
  }
  std::mt19937 random(5);
  for (int k = 0; k < 300; ++k) {
    std::string code = compiled.code;
    code[random() % code.size()] ^= static_cast<char>(1 + random() % 255);
    EXPECT_THROW(LinkedObject{code}, DeviceError);
  }
  EXPECT_THROW(LinkedObject(std::string(1000, 'x')), DeviceError);
}

TEST(LinkedObject, ManyComeAndGo) {
  const auto source = program(loop_text("int", "int", "int", "z = a * 3;"));
  const auto compiled = cpu_backend::compile(source);
  ASSERT_TRUE(compiled.ok);
  for (int k = 0; k < 2000; ++k) {
    LinkedObject object(compiled.code);
    const int a = k;
    int z = 0;
    struct {
      const int *a, *b;
      int* z;
    } arguments{&a, &a, &z};
    object.symbols().front().function()(&arguments, 0, 1);
    ASSERT_EQ(z, 3 * k);
  }
}

TEST(Compiler, ManyThreadsCompileAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> results(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&results, t] {
      for (int k = 0; k < 3; ++k) {
        const int value = 100 * t + k;
        const auto z = evaluate<int32_t>(loop_text("int", "int", "int", "z = a + " + std::to_string(value) + ";"),
                                         std::vector<int32_t>{1}, std::vector<int32_t>{1});
        results[t] += z[0] == value + 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(results, (std::vector<int>{3, 3, 3, 3}));
}

TEST(Compiler, LoopsOfUnknownLengthStopWhenTold) {
  static int asked;
  asked = 0;
  cpu_backend::set_cancel_poll([]() noexcept { return ++asked >= 3; });
  // A loop with a computable count checks between strips of 65536 iterations, so short ones never do.
  const std::vector<int32_t> a = {1000000}, few = {65536};
  const std::string counting =
      loop_text("int", "int", "int", "int s = 0; for (int q = 0; q < a; ++q) s += q ^ (s << 1); z = s;");
  evaluate<int32_t>(counting, few, few);
  EXPECT_EQ(asked, 0);
  evaluate<int32_t>(counting, a, a);
  EXPECT_EQ(asked, 3);
  for (const char* body :
       {"while (true);", "float x = 1; while (x != 0) { x = x * 1.5f + 1; if (x > 1e30f) x = 1; } z = x;",
        "for (;;) { z = z * 3 + 1; }", "do { z += 1; } while (z != z + 1);",
        "volatile int go = 1; while (go) for (int q = 0; q < 1000; ++q) z += q;"}) {
    asked = 0;
    evaluate<int32_t>(loop_text("int", "int", "int", body), a, a);
    EXPECT_GE(asked, 3) << body;
  }
  const std::string helper = "static int forever(int x) { while (x < 10 || true) x ^= 1; return x; }\n";
  asked = 0;
  evaluate<int32_t>(helper + loop_text("int", "int", "int", "z = forever(a); z += 2;"), a, a);
  EXPECT_GE(asked, 3);
  cpu_backend::set_cancel_poll(nullptr);
}

#ifdef __x86_64__
// What a loop carries must outlive the question whether to stop, which changes every register that it may.
bool answer_and_change_all_registers() noexcept {
  asm volatile(
      "xor %%ecx, %%ecx\n xor %%edx, %%edx\n xor %%esi, %%esi\n xor %%edi, %%edi\n xor %%r8d, %%r8d\n xor %%r9d, "
      "%%r9d\n"
      "xor %%r10d, %%r10d\n xor %%r11d, %%r11d\n pcmpeqd %%xmm0, %%xmm0\n pcmpeqd %%xmm1, %%xmm1\n pcmpeqd %%xmm15, "
      "%%xmm15" ::
          : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm15");
  if (__builtin_cpu_supports("avx")) asm volatile("vzeroall" ::: "memory");
  if (__builtin_cpu_supports("avx512bw")) {
    asm volatile(
        "vpternlogd $255, %%zmm16, %%zmm16, %%zmm16\n vpternlogd $255, %%zmm31, %%zmm31, %%zmm31\n"
        "kxorq %%k0, %%k0, %%k0\n kxorq %%k1, %%k1, %%k1\n kxorq %%k2, %%k2, %%k2\n kxorq %%k3, %%k3, %%k3\n"
        "kxorq %%k4, %%k4, %%k4\n kxorq %%k5, %%k5, %%k5\n kxorq %%k6, %%k6, %%k6\n kxorq %%k7, %%k7, %%k7" ::
            : "memory");
  }
  return false;
}

TEST(Compiler, PollsLeaveARunningLoopItsRegisters) {
  const char* body =
      "float p = a, q = 1, r = 2, s = 3, t = 4, u = 5; int c = 0; long long d = 1;"
      "for (int k = 0; k < 300000 && p < 1e30f; ++k) {"
      "  p = p * 0.5f + q; q = q * 0.25f + r; r = r * 0.5f - s; s = s * 0.125f + t; t = t * 0.75f - u * 0.5f; u = u * "
      "0.5f + a;"
      "  c += p > q; d = d * 3 + c; }"
      "z = p + q + r + s + t + u + c + (d & 1023);";
  std::vector<float> a(37);
  for (size_t k = 0; k < a.size(); ++k) a[k] = static_cast<float>(k) * 0.25f;
  const auto undisturbed = evaluate<float>(loop_text("float", "float", "float", body), a, a);
  cpu_backend::set_cancel_poll(answer_and_change_all_registers);
  const auto disturbed = evaluate<float>(loop_text("float", "float", "float", body), a, a);
  cpu_backend::set_cancel_poll(nullptr);
  EXPECT_EQ(undisturbed, disturbed);
}
#endif

TEST(Compiler, TheFingerprintNamesTheSourcesTheCompilerTheProcessor) {
  const std::string& fingerprint = cpu_backend::compiler_fingerprint();
  EXPECT_NE(fingerprint.find("llvm 22."), std::string::npos) << fingerprint;
  EXPECT_NE(fingerprint.find("sse2"), std::string::npos) << fingerprint;
  const std::regex version("code [0-9a-f]{16} ");
  EXPECT_TRUE(std::regex_search(fingerprint, version)) << fingerprint;
}

}  // namespace
}  // namespace iruka
