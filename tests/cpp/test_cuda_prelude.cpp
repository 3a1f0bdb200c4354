// The prelude on CUDA, as far as it shows without a GPU: every name for every number type compiles for several
// architectures, expressions have the CPU's types, and what folds to a constant has the CPU's value.
#include <cstring>
#include <map>
#include <optional>
#include <tuple>

#include "article_texts.h"
#include "backend/cuda/assertions.h"
#include "backend/cuda/nvrtc.h"
#include "iruka/dtype.h"
#include "jit/diagnose.h"
#include "jit/grammar.h"
#include "nvrtc_testing.h"
#include "prelude_texts.h"

namespace iruka::test {
namespace {

const std::vector<std::string> kIntegers = {"bool",    "char",     "int8_t",    "uint8_t",
                                            "int16_t", "uint16_t", "int32_t",   "uint32_t",
                                            "int64_t", "uint64_t", "long long", "unsigned long long"};
const std::vector<std::string> kFloats = {"float16", "bfloat16", "float", "double"};

const std::vector<std::string> kOneArgument = {
    "exp",           "exp2",    "exp10",      "expm1",  "log",    "log2",  "log10", "log1p",    "logb", "sqrt",
    "rsqrt",         "cbrt",    "rcbrt",      "sin",    "cos",    "tan",   "sinpi", "cospi",    "asin", "acos",
    "atan",          "sinh",    "cosh",       "tanh",   "asinh",  "acosh", "atanh", "erf",      "erfc", "erfinv",
    "erfcinv",       "normcdf", "normcdfinv", "tgamma", "lgamma", "j0",    "j1",    "y0",       "y1",   "cyl_bessel_i0",
    "cyl_bessel_i1", "fabs",    "floor",      "ceil",   "trunc",  "round", "rint",  "nearbyint"};
const std::vector<std::string> kOfNumber = {
    "isnan",       "isinf",          "isfinite",       "signbit",       "abs",
    "iruka::sign", "iruka::deg2rad", "iruka::rad2deg", "iruka::square", "iruka::reciprocal"};
const std::vector<std::string> kTwoArguments = {"pow",       "atan2",    "hypot", "rhypot", "fmod",
                                                "remainder", "copysign", "fmin",  "fmax",   "fdim"};
const std::vector<std::string> kOfTwoNumbers = {"min",
                                                "max",
                                                "iruka::floor_divide",
                                                "iruka::remainder",
                                                "iruka::fmod",
                                                "iruka::heaviside",
                                                "iruka::minimum",
                                                "iruka::maximum",
                                                "iruka::fmin",
                                                "iruka::fmax"};

bool is_integer(const std::string& type) { return std::ranges::find(kIntegers, type) != kIntegers.end(); }

std::vector<std::string> real_types() {
  std::vector<std::string> all = kIntegers;
  all.insert(all.end(), kFloats.begin(), kFloats.end());
  return all;
}

/// "extern "C" __global__ void NAME(PARAMETERS) { BODY }".
std::string kernel(const std::string& name, const std::string& parameters, const std::string& body) {
  return "extern \"C\" __global__ void " + name + "(" + parameters + ") {\n" + body + "\n}\n";
}

/// Statements that add up in `double z` what every name gives for `const T x, y`, and for x beside other types.
std::string calls(const std::string& type, bool mixes) {
  std::string body;
  const auto add = [&](const std::string& call) { body += "z += (double)" + call + ";\n"; };
  for (const auto& name : kOneArgument) add(name + "(x)"), add(name + "f(x)");
  for (const auto& name : kOfNumber) add(name + "(x)");
  for (const auto& name : kTwoArguments) add(name + "(x, y)"), add(name + "f(x, y)");
  for (const auto& name : kOfTwoNumbers) add(name + "(x, y)");
  std::vector<std::string> others;
  if (mixes) others = {"2", "2.0f", "2.0", "2u", "2ll", "true"};
  if (mixes && is_integer(type)) others.insert(others.end(), {"(float16)2", "(bfloat16)2"});
  for (const auto& other : others) {
    for (const auto& name : kTwoArguments) add(name + "(x, " + other + ")"), add(name + "(" + other + ", x)");
    for (const char* name : {"min", "max"}) {
      const std::string call = name;
      add(call + "(x, " + other + ")"), add(call + "(" + other + ", x)");
    }
  }
  for (const char* call :
       {"fma(x, y, x)", "fmaf(x, y, x)", "ldexp(x, 3)", "frexp(x, &k)", "nextafterf(x, y)",
        "iruka::divmod(x, y).quotient", "iruka::clip(x, y, x)", "iruka::highest<T>()", "iruka::lowest<T>()",
        "iruka::saturate<int8_t>(x)", "iruka::saturate<uint64_t>(x)", "__ldg(p)", "__ldca(p)", "__ldcg(p)", "__ldcs(p)",
        "__ldlu(p)", "__ldcv(p)", "(float16)x", "(bfloat16)x"})
    add(call);
  if (is_integer(type)) {
    if (type == "bool") return body;
    for (const char* name : {"power", "gcd", "lcm", "left_shift", "right_shift"})
      add("iruka::" + std::string(name) + "(x, y)");
  } else {
    for (const char* call :
         {"modf(x, &w)", "nextafter(x, y)", "iruka::around(x, 2)", "iruka::spacing(x)", "iruka::sinc(x)",
          "iruka::logaddexp(x, y)", "iruka::logaddexp2(x, y)", "iruka::power(x, y)"})
      add(call);
  }
  return body;
}

std::string names_kernel(const std::string& type, bool makes_code) {
  const std::string body = "using T = " + type + "; const T x = p[0], y = p[1]; T w; int k; double z = 0;\n";
  // In a branch that is never taken names are looked up and templates instantiated, but nothing is left to optimise.
  const std::string branch = makes_code ? "{\n" : "if (false) {\n";
  return kernel("names", "const " + type + "* p, double* to",
                body + branch + calls(type, /*mixes=*/!makes_code) + "}\n*to = z;");
}

using CudaPrelude = NvrtcArchitectureTest;
INSTANTIATE_TEST_SUITE_P(Architectures, CudaPrelude, testing::Values(75, 80, 90, 100),
                         [](const auto& info) { return "compute_" + std::to_string(info.param); });

TEST_P(CudaPrelude, EveryNameTakesEveryNumberType) {
  for (const auto& type : real_types()) ptx_of(names_kernel(type, /*makes_code=*/false));
}

TEST_P(CudaPrelude, NumbersMixAsOnTheCpu) {
  ptx_of(kSmallFloatRules);
  ptx_of(kPromotionRules);
}

TEST_P(CudaPrelude, ComplexNumbers) {
  std::string functions;
  for (const char* name : {"exp",
                           "log",
                           "log2",
                           "log10",
                           "sqrt",
                           "sin",
                           "cos",
                           "tan",
                           "asin",
                           "acos",
                           "atan",
                           "sinh",
                           "cosh",
                           "tanh",
                           "asinh",
                           "acosh",
                           "atanh",
                           "conj",
                           "proj",
                           "iruka::sign",
                           "iruka::rint",
                           "iruka::square",
                           "iruka::reciprocal",
                           "iruka::sinc"})
    functions += "z += " + std::string(name) + "(x);\n";
  const std::string body = R"(
    complex<T> x = p[0], y = p[1], z = 0;
    z += x + y; z -= x * y; z *= x / y; z /= T(2); z += 1; z += 2.0f; z = 2 * x + x / 3 - 1.0f * y; z += (float16)1 * x;
    z += pow(x, y) + pow(x, 2) + pow(2.0f, x) + polar(T(1), T(2));
    z += abs(x) + arg(x) + norm(x) + real(x) + imag(x) + (isnan(x) || isinf(x) || isfinite(x));
    z += x < y || x <= y || x > y || x >= y || x == y || x != y || x == 1;
    z += iruka::minimum(x, y) + iruka::maximum(x, y) + iruka::fmin(x, y) + iruka::fmax(x, y) + iruka::around(x, 2);
    z += iruka::clip(x, y, x) + iruka::power(x, y) + atomicAdd(q, x) + atomicSub(q, 1) + __ldg(p);
    if (x) z = thrust::complex<T>(1, 2);
    complex<double> wide = x; complex<float> narrow = wide; z += narrow.real();)";
  for (const std::string type : {"float", "double"}) {
    ptx_of(kernel("numbers", "const complex<" + type + ">* p, complex<" + type + ">* q",
                  "using T = " + type + ";" + body + "q[0] = z;"));
    ptx_of(kernel("functions", "const complex<" + type + ">* p, complex<" + type + ">* q",
                  "using T = " + type + "; complex<T> x = p[0], z = 0;\nif (false) {" + functions + "}\nq[0] = z;"));
  }
}

TEST_P(CudaPrelude, AtomicsOfEveryNumberType) {
  std::string text;
  for (const auto& type : real_types()) {
    std::string body =
        "*old = atomicExch(q, x); *old += atomicCAS(q, x, 2); *old += atomicMin(q, x); *old += atomicMax(q, 1);";
    if (type != "bool")
      body += "*old += atomicAdd(q, 1); *old += atomicSub(q, x); *old += atomicInc(q, 9); *old += atomicDec(q, x);";
    if (is_integer(type)) body += "*old += atomicAnd(q, x); *old += atomicOr(q, 1); *old += atomicXor(q, x);";
    text += kernel("k" + std::to_string(text.size()), type + "* q, " + type + " x, double* old", body);
  }
  const std::string ptx = ptx_of(text);
  // What the hardware has is used: 64-bit integers, float and double, 16-bit compare-and-swap, float16's addition.
  std::vector<std::string> instructions = {"add.u64", "min.s64", "max.u64", "and.b64", "or.b64",
                                           "xor.b64", "add.f32", "add.f64", "cas.b16", "add.noftz.f16"};
  if (GetParam() >= 90) instructions.push_back("add.noftz.bf16");
  for (const auto& instruction : instructions)
    EXPECT_NE(ptx.find("atom." + instruction) != ptx.npos || ptx.find("atom.global." + instruction) != ptx.npos, false)
        << instruction;
  if (find_ptxas().empty()) return;
  EXPECT_TRUE(assembles(ptx, GetParam()));
}

/// A plain parameter is a local variable, which no instruction for global memory may touch.
TEST_P(CudaPrelude, LoadsAndStoresWithCacheHintsTakeAnyAddress) {
  const std::map<std::string, std::string> loads = {{"__ldg", "nc"},  {"__ldca", "ca"}, {"__ldcg", "cg"},
                                                    {"__ldcs", "cs"}, {"__ldlu", "lu"}, {"__ldcv", "cv"}};
  const std::map<std::string, std::string> stores = {
      {"__stwb", "wb"}, {"__stcg", "cg"}, {"__stcs", "cs"}, {"__stwt", "wt"}};
  std::string of_arrays, of_locals = "const float x = p[i]; float y = 0;\n";
  for (const auto& [name, hint] : loads) {
    of_arrays += "q[i] += " + name + "(p + i);\n";
    of_locals += "q[i] += " + name + "(&x);\n";
  }
  for (const auto& [name, hint] : stores) {
    of_arrays += name + "(q + i, 2);\n";
    of_locals += name + "(&y, p[i]); q[i] += y;\n";
  }
  const std::string arrays = ptx_of(kernel("k", "const float* p, float* q, int i", of_arrays));
  const std::string locals = ptx_of(kernel("k", "const float* p, float* q, int i", of_locals));
  for (const auto* names : {&loads, &stores}) {
    for (const auto& [name, hint] : *names) {
      const std::string instruction = (names == &loads ? "ld.global." : "st.global.") + hint + ".f32";
      EXPECT_NE(arrays.find(instruction), arrays.npos) << name;
      EXPECT_EQ(locals.find(instruction), locals.npos) << name;
    }
  }
  ptx_of("struct Pair { int a, b; };\n__device__ Pair __ldg(const Pair* p) { return {__ldg(&p->a), __ldg(&p->b)}; }\n" +
         kernel("k", "const Pair* p, const float4* v, int* q",
                "*q = __ldg(p).b + (int)__ldg(v).w; __stcg(q, 1); bool b; __stcs(&b, true); *q = b;"));
}

/// Wherever the name of such a load may come from.
TEST(CudaCaches, AreIncludedWhereverTheyMayBeNamed) {
  const auto includes_caches = [](const std::string& text, const std::vector<std::string>& options = {}) {
    return cuda_backend::with_prelude(text, options).find("cuda_caches.h") != std::string::npos;
  };
  EXPECT_FALSE(includes_caches("z = x + y;"));
  EXPECT_FALSE(includes_caches("#include \"ops/sort/kernels/before.h\"\nz = x;", {"-DSCALE=2"}));
  EXPECT_TRUE(includes_caches("z = __ldg(&x[i]);"));
  EXPECT_TRUE(includes_caches("__stcs(&z[i], x);"));
  EXPECT_TRUE(includes_caches("z = LOAD(&x[i]);", {"-DLOAD=__ldg"}));
  EXPECT_TRUE(includes_caches("#define LOAD(name) __l##name\nz = LOAD(dg)(&x[i]);"));
  EXPECT_TRUE(includes_caches("#include \"mine.h\"\nz = x;"));
}

// The host finds the record by its name; programs without assertions have none.
TEST_P(CudaPrelude, AssertionsFillARecord) {
  using cuda_backend::AssertionRecord;
  const std::string record = std::string(AssertionRecord::kName) + "[" + std::to_string(sizeof(AssertionRecord)) + "]";
  const std::string ptx = ptx_of(kernel("k", "const float* p, float* q", "assert(p[1] > 0 && \"text\"); *q = *p;"));
  EXPECT_NE(ptx.find(".global .align 8 .b8 " + record), ptx.npos) << ptx;
  // The host may read the record as soon as it has seen the flag, which is the last store.
  const size_t flag = ptx.rfind("st.volatile"), element = ptx.rfind("st.volatile", flag - 1);
  const size_t fence = ptx.find("membar.sys", element);
  EXPECT_TRUE(element < fence && fence < flag) << ptx;
  EXPECT_EQ(ptx_of(kernel("k", "const float* p, float* q", "*q = *p;")).find(AssertionRecord::kName), ptx.npos);
  if (find_ptxas().empty()) return;
  EXPECT_TRUE(assembles(ptx, GetParam()));
}

TEST_P(CudaPrelude, ArraysAndIndices) {
  ptx_of(R"(
enum Axis { kFirst, kSecond };
static_assert(sizeof(CArray<float, 2>) == 56 && CArray<double, 3>::ndim == 3 && CIndexer<2>::ndim == 2);
float by_reference(CArray<float, 2>& a) { return a[5]; }
__device__ float by_const_reference(const CArray<float, 2>& a) {
  return a[5] + a.size() * a.shape()[1] + a.strides()[0];
}
extern "C" __global__ void k(float* data, float* z, ptrdiff_t i) {
  CArray<float, 2> a{data, 6, {2, 3}, {12, 4}, true}; CArray<float, 0> s{data + 4, 1, {}, {}, true};
  CArray<float, 1> v{data, 3, {3}, {8}, false}; CIndexer<3> _ind{24, {2, 3, 4}}; _ind.set(i);
  long long k = 5; int8_t small = 4; bool one = true; size_t wide = 2;
  z[0] = a[k]; z[1] = a[small]; z[2] = a[one]; z[3] = a[kSecond]; z[4] = a[{one, wide}]; z[5] = s[0]; z[6] = v[2];
  z[7] = v[{wide}]; z[8] = by_reference(a); z[9] = by_const_reference(a); z[10] = a[(unsigned)3]; int at[] = {i + 1};
  z[11] = v[at]; z[12] = a[_ind.get()]; z[13] = _ind.size() + _ind.shape()[2];
}
)");
}

/// The articles' kernels with what an emitter puts around a body.
TEST_P(CudaPrelude, TakesTheArticlesKernels) {
  for (const ArticleText* article : kArticleTexts) {
    std::string parameters;
    for (const bool is_output : {false, true}) {
      const char* list = is_output ? article->outputs : article->inputs;
      for (const Parameter& parameter : jit::parse_parameters(article->name, list, is_output)) {
        const std::string type = info(*parameter.dtype).c_type;
        parameters += parameter.raw ? "CArray<" + type + ", " + std::to_string(article->rank) + "> "
                                    : type + (is_output ? "& " : " ");
        parameters += parameter.name + ", ";
      }
    }
    const std::string rank = std::to_string(article->rank);
    ptx_of(article->preamble +
           kernel(article->name, parameters + "CIndexer<" + rank + "> _ind, ptrdiff_t n",
                  "ptrdiff_t i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; _ind.set(i);\n" +
                      std::string(article->operation)));
  }
}

/// Constants that `ptx` stores at [%register + 8 * k]; nothing where a store's value is worked out on the GPU.
std::map<int64_t, int64_t> stored_constants(const std::string& ptx) {
  std::map<std::string, int64_t> registers;
  std::map<int64_t, int64_t> stored;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    std::erase(line, ',');
    std::erase(line, ';');
    std::istringstream words(line);
    std::string opcode, to, from;
    words >> opcode >> to >> from;
    const auto value = [&]() -> std::optional<int64_t> {
      if (registers.contains(from)) return registers[from];
      if (from.empty() || from.find_first_not_of("-0123456789") != from.npos) return std::nullopt;
      return static_cast<int64_t>(std::stoull(from.substr(from[0] == '-')) * (from[0] == '-' ? ~0ull : 1ull));
    };
    if (opcode == "mov.u64" || opcode == "mov.b64") {
      if (const auto constant = value()) registers[to] = *constant;
    } else if (opcode == "st.global.u64" || opcode == "st.global.b64") {
      const size_t plus = to.find('+');
      const int64_t offset = plus == to.npos ? 0 : std::stoll(to.substr(plus + 1));
      if (const auto constant = value()) stored[offset / 8] = *constant;
    }
  }
  return stored;
}

TEST_P(CudaPrelude, IntrinsicsThatFoldHaveTheCpusValues) {
  const auto stored = stored_constants(ptx_of(kernel("k", "long long* z", kIntrinsicsBody)));
  EXPECT_GE(stored.size(), 12u);  // how many fold is the compiler's choice
  for (const auto& [k, value] : stored) EXPECT_EQ(value, kIntrinsicsWant[k]) << "z[" << k << "]";
}

TEST_P(CudaPrelude, ConstantsHaveTheCpusValues) {
  const std::string text = kernel("k", "long long* z", R"(
    constexpr float infinity = INFINITY;
    z[0] = INT_MIN; z[1] = UINT_MAX; z[2] = LONG_MIN; z[3] = (long long)ULLONG_MAX; z[4] = INT64_MAX; z[5] = SHRT_MIN;
    z[6] = __float_as_int(infinity); z[7] = __double_as_longlong(M_PI); z[8] = __float_as_int(FLT_MAX);
    z[9] = __double_as_longlong(DBL_MAX); z[10] = __float_as_int(NAN); z[11] = __double_as_longlong(DBL_MIN);
    z[12] = __float_as_int(FLT_MIN); z[13] = iruka::highest<int8_t>(); z[14] = iruka::lowest<int64_t>();
    z[15] = __float_as_int(-INFINITY); z[16] = (long long)(sizeof(ptrdiff_t) + sizeof(intptr_t) + sizeof(uint16_t));
    z[17] = iruka::power((int64_t)3, (int64_t)4); z[18] = max((uint16_t)7, (int64_t)9); z[19] = abs((int8_t)-5);
    z[20] = ((bfloat16)1.00390625f).bits_; z[21] = ((bfloat16)(uint64_t)0x8080000000000001ull).bits_;)");
  const auto bits = [](double value) {
    int64_t all;
    std::memcpy(&all, &value, sizeof(all));
    return all;
  };
  const std::vector<int64_t> want = {INT32_MIN,  UINT32_MAX,
                                     INT64_MIN,  -1,
                                     INT64_MAX,  INT16_MIN,
                                     0x7f800000, bits(3.14159265358979323846),
                                     0x7f7fffff, 0x7fefffffffffffff,
                                     0x7fc00000, 0x0010000000000000,
                                     0x00800000, 127,
                                     INT64_MIN,  static_cast<int32_t>(0xff800000),
                                     18,         81,
                                     9,          5,
                                     0x3f80,     0x5f01};
  const auto stored = stored_constants(ptx_of(text));
  for (size_t k = 0; k < want.size(); ++k) {
    const auto found = stored.find(static_cast<int64_t>(k));
    ASSERT_NE(found, stored.end()) << "z[" << k << "] is no constant";
    EXPECT_EQ(found->second, want[k]) << "z[" << k << "]";
  }
}

using CudaPreludeCode = NvrtcTest;

/// PTX clamps to 32 bits; from there it takes a minimum and a maximum.
TEST_F(CudaPreludeCode, ClampsToNarrowIntegers) {
  const std::string ptx = ptx_of(kernel("k", "const float* x, uint8_t* z", "z[0] = iruka::saturate<uint8_t>(x[0]);"));
  for (const char* instruction : {"cvt.rzi.s32.f32", "max.s32", "min.s32"})
    EXPECT_NE(ptx.find(instruction), ptx.npos) << instruction << ptx;
}

TEST_F(CudaPreludeCode, IsMadeOfEveryName) {
  for (const char* type : {"float16", "float", "double"}) ptx_of(names_kernel(type, /*makes_code=*/true));
}

TEST_F(CudaPreludeCode, HoldsNothingThatTheBodyDoesNotUse) {
  const std::string ptx = ptx_of(kernel("k", "const float* x, const float* y, float* z", "z[0] = x[0] + y[0];"));
  EXPECT_EQ(ptx.find("5iruka"), ptx.npos) << ptx;  // NVRTC 12.1 has variables of its own, in no namespace of ours
  EXPECT_EQ(ptx.find(".func"), ptx.npos) << ptx;
}

/// A product whose rounding error is computed must be rounded separately, with any --fmad.
TEST_F(CudaPreludeCode, RoundsProductsThatCarryTheirError) {
  for (const auto& [type, instruction] : {std::pair{"float", "mul.rn.f32"}, {"double", "mul.rn.f64"}}) {
    const std::string complex = "complex<" + std::string(type) + ">";
    const std::string ptx = ptx_of(kernel("k", complex + "* z", "z[0].real(iruka::log_abs(z[1]));"));
    size_t count = 0;
    for (size_t at = ptx.find(instruction); at != ptx.npos; at = ptx.find(instruction, at + 1)) ++count;
    EXPECT_GE(count, 2u) << type;
  }
}

using CudaNames = NvrtcTest;

TEST_F(CudaNames, NameExpressionsGiveNamesInTheCode) {
  ProgramSource source{
      "template <class T, int N> __global__ void scale(T* x) { *x *= N; }\n"
      "template <class T> __device__ T table[3];\n__constant__ int fixed = 3;\n",
      "",
      {},
      "<test>"};
  source.name_expressions = {"scale<float, 4>", "&table<int>", "&fixed"};
  const std::vector<std::string> options = {"--gpu-architecture=sm_90", "--std=c++20",
                                            "--device-as-default-execution-space"};
  const cuda_backend::NvrtcOutput output =
      cuda_backend::run_nvrtc(cuda_backend::with_prelude(source.text, {}), source, options);
  ASSERT_TRUE(output.ok) << output.log;
  const NamePairs expected = {
      {"scale<float, 4>", "_Z5scaleIfLi4EEvPT_"}, {"&table<int>", "_Z5tableIiE"}, {"&fixed", "fixed"}};
  EXPECT_EQ(output.names, expected);
  for (const auto& [expression, name] : expected) EXPECT_NE(output.ptx.find(name), std::string::npos) << output.ptx;
}

TEST_F(CudaNames, NameExpressionsThatNameNothingAreErrorsThatQuoteThem) {
  for (const char* expression : {"nothing<int>", "scale<float>", "1 +", "value"}) {
    ProgramSource source{
        "template <class T, int N> __global__ void scale(T* x) {}\n__device__ int value;\n", "", {}, "<test>"};
    source.name_expressions = {"&value", expression};
    const std::vector<std::string> options = {"--gpu-architecture=sm_90", "--std=c++20",
                                              "--device-as-default-execution-space"};
    const cuda_backend::NvrtcOutput output =
        cuda_backend::run_nvrtc(cuda_backend::with_prelude(source.text, {}), source, options);
    EXPECT_FALSE(output.ok) << expression;
    std::string said;
    for (const Diagnostic& each : cuda_backend::parse_log(output.log)) said += each.file + "|" + each.message + "\n";
    EXPECT_TRUE(said.starts_with("|name expression '" + std::string(expression) + "': ")) << said << output.log;
  }
}

/// What a user reads about `body`, of a kernel whose parameters are `parameters`, after NVRTC's errors.
std::string nvrtc_error_of(const std::string& parameters, const std::string& body) {
  const ProgramSource source{"template <class T> void iruka_check(" + parameters +
                                 ") {\ndo {\n#line 1 \"operation\"\n" + body +
                                 "\n#line 1 \"generated\"\n;} while (0);\n}\n"
                                 "template void iruka_check<float>(" +
                                 parameters + ");\n",
                             "",
                             {},
                             "<test>"};
  const std::vector<std::string> options = {"--gpu-architecture=sm_90", "--std=c++20",
                                            "--device-as-default-execution-space"};
  const cuda_backend::NvrtcOutput output =
      cuda_backend::run_nvrtc(cuda_backend::with_prelude(source.text, {}), source, options);
  EXPECT_FALSE(output.ok) << body;
  return jit::describe(cuda_backend::parse_log(output.log), {"faulty", "", "", {{"operation", body}}});
}

TEST_F(CudaNames, NvrtcsErrorsGetTheSameAdviceAsClangs) {
  constexpr const char *kConst = "plain inputs, const parameters and read-only arrays may not be written",
                       *kElement = "an element of a raw parameter is a[k], or a[{y, x}]";
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"const int x", "x = 2;", kConst},
      {"const int x", "x += 2;", kConst},
      {"const complex<float> x", "x = 2;", kConst},
      {"const complex<float> x", "x += 2;", kConst},
      {"const float16 x", "x = 2;", kConst},
      {"const float16 x", "x += x;", kConst},
      {"CConstArray<float, 1>& x", "x[0] = 2;", kConst},
      {"CConstArray<complex<float>, 1>& x", "x[0] = 2;", kConst},
      {"CConstArray<int, 1>& x", "atomicAdd(&x[0], 1);", kConst},
      {"CArray<float, 1>& x", "x[{1, 2}] = 1;", "2 indices, but the array has 1 axis"},
      {"CArray<complex<float>, 2>& x", "x[{1, 2, 3}] = 1;", "3 indices, but the array has 2 axes"},
      {"CArray<float, 2>& x", "x(1, 0) = 1;", kElement},
      {"CArray<float, 2>& x", "x[1][0] = 1;", kElement},
      {"const float x", "float z = x[1];", kElement},
      {"const float x", "float z = x(1);", kElement},
      {"const float x", "float z = x ** 2;", "C++ has no operator for powers"},
      {"const float x", "float z = x % 2;", "'%' is for integers"},
      {"complex<float>& z", "z = 2i;", "there are no imaginary literals"},
  };
  for (const auto& [parameters, body, advice] : cases) {
    const std::string message = nvrtc_error_of(parameters, body);
    EXPECT_NE(message.find(advice), message.npos) << message;
  }
  for (const char* body : {"z = \"a\";", "z == \"a\";"}) {
    const std::string message = nvrtc_error_of("complex<float>& z", body);
    EXPECT_EQ(message.find("may not be written"), message.npos) << message;
  }
}

}  // namespace
}  // namespace iruka::test
