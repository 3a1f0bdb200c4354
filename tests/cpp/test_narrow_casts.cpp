// Casts of floats to integers of 8 and 16 bits in texts for a GPU: an emulated device that casts by way of 32 bits, as
// CUDA's compiler does, gives what the CPU gives.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "core/narrow_casts.h"
#include "emulated_cuda.h"
#include "iruka/ops.h"
#include "nvrtc_testing.h"
#include "ops/reduce/reduction_emit_cuda.h"
#include "ops/reduce/reduction_table.h"

namespace {

using namespace iruka;
using namespace iruka::test;

class NarrowCasts : public EmulatedDeviceTest {};

constexpr Dtype kFloats[] = {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64};
constexpr Dtype kNarrow[] = {Dtype::int8, Dtype::uint8, Dtype::int16, Dtype::uint16};

/// Numbers within and beyond the range of every narrow type, of 32 bits and of 64, infinities and NaN.
Array floats(Dtype dtype) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values = {0.0,   -0.0,  0.5,  -0.75, kInfinity, -kInfinity, kNan,
                                -kNan, 1e-30, 1e30, -1e30, 5e9,       -5e9,       2e19};
  for (const double edge : {1.0, 127.0, 128.0, 129.0, 255.0, 256.0, 257.0, 300.0, 32767.0, 32768.0, 40000.0, 65535.0,
                            65536.0, 70000.0, 2147483648.0, 4294967296.0})
    for (const double step : {-1.0, -0.5, 0.0, 0.25, 1.0})
      values.push_back(edge + step), values.push_back(-edge - step);
  Array made = Array::empty({static_cast<int64_t>(values.size())}, Dtype::float64, cpu());
  std::copy(values.begin(), values.end(), static_cast<double*>(made.data()));
  return made.astype(dtype);
}

/// What the body gives for z with z = 7 before it, as float64: on the CPU or, copied there, on the emulated device.
std::vector<double> run(const ElementwiseKernel& kernel, const Array& x, Dtype narrow, bool is_emulated) {
  Array z = Array::empty(x.shape(), narrow, cpu());
  z.fill(7);
  if (is_emulated) {
    const Array copy = copy_to(emulated_cuda(), z);
    kernel(copy_to(emulated_cuda(), x), copy);
    z = copy_to(cpu(), copy);
  } else {
    kernel(x, z);
  }
  return z.astype(Dtype::float64).to_vector<double>();
}

/// The first element for which the two devices differ, in words; empty where they agree.
std::string difference(const ElementwiseKernel& kernel, Dtype wide, Dtype narrow) {
  const Array x = floats(wide);
  const std::vector<double> values = x.astype(Dtype::float64).to_vector<double>(), want = run(kernel, x, narrow, false),
                            got = run(kernel, x, narrow, true);
  for (size_t k = 0; k < want.size(); ++k)
    if (want[k] != got[k])
      return std::string(name(wide)) + " " + std::to_string(values[k]) + " to " + name(narrow) + ": " +
             std::to_string(want[k]) + " on the CPU, " + std::to_string(got[k]) + " emulated";
  return "";
}

KernelOptions options_with(const std::string& preamble, const std::string& loop_prep = "") {
  KernelOptions options;
  options.preamble = preamble;
  options.loop_prep = loop_prep;
  options.options = {"--fmad=false"};
  return options;
}

/// A way to cast x, a T, to the Z that z is.
struct Form {
  const char* name;
  const char* body;
  const char* preamble = "";
  const char* loop_prep = "";
};

const Form kForms[] = {
    {"assignment", "z = x"},
    {"assignment of an expression", "z = x * 2 + 1"},
    {"assignment of a condition", "z = x > T(3) ? x * 2.0f : -1.5f * x"},
    {"c cast", "z = (Z)x"},
    {"c cast of a sum", "z = 1 + (Z)(x + T(1)) - (Z)-x"},
    {"functional cast", "z = Z(x)"},
    {"static cast", "z = static_cast<Z>(x)"},
    {"cast within a cast", "z = (Z)((float)(Z)(x * 2.0f) * 3.0f)"},
    {"cast that a 32-bit one follows", "z = (Z)(unsigned)(float)x"},
    {"chain of assignments", "Z first; z = first = x"},
    {"comma", "z = (i, x)"},
    {"initialiser", "Z first = x; const Z second(x), third{x}; z = first + 2 * second + 3 * third"},
    {"array", "Z all[2][2] = {{x, Z(1)}, Z(x)}; z = all[0][0] + all[1][0]"},
    {"structure", "struct { Z a; int b; } both = {x, 3}; z = both.a + both.b"},
    {"designated initialiser", "struct Both { Z a; int b; }; z = Both{.a = x}.a"},
    {"member initialiser", "z = Held(x).value",
     "struct Held { Z value, other = 3.5f * 100; Held(T x) : value(x) {} };"},
    {"base's reference", "const Z& bound = x; z = bound"},
    {"+=", "z += x"},
    {"-=", "z -= 0.5f * x"},
    {"*=", "z *= x * 1.0"},
    {"/=", "z /= x"},
    {"+= of an element", "Z some[] = {1, 2}; int k = 0; some[k++] += x; z = some[0] + 5 * some[1] + 11 * k"},
    {"+= twice", "(z += x) *= 1.5f"},
    {"+= that changes its target", "z += (z = Z(3), x)"},
    {"+= as a value", "z = (z -= x) + 1"},
    {"volatile", "volatile Z slow = 3; slow += x; z = slow"},
    {"constants", "z = x > T(0) ? 1 : 0; z += Z(300.7f) + Z(-1e30) + Z(70000.0); z = z ^ (Z)1e10f; z += 1e10"},
    {"result", "z = halved(x)", "__device__ Z halved(T x) { return x * 0.5f; }"},
    {"argument", "z = next(x)", "__device__ Z next(Z x) { return x + 1; }"},
    {"default argument", "z = next(1)", "__device__ Z next(int k, Z x = -3e5f) { return x + k; }"},
    {"overloaded function", "z = f(x, 1)",
     "inline Z f(Z x, int) { return x; } inline Z f(const char*, char*) { return 0; }"},
    {"template's cast", "z = to<Z>(x) + to<int>(x) + to<T>(x)",
     "template <class U> __device__ U to(T x) { return (U)(x * 2); }"},
    {"template's result", "z = to<Z>(x) + (int)to<double>(x)", "template <class U> U to(T x) { return x; }"},
    {"template's variable", "z = to<Z>(x) + (Z)to<float16>(x)", "template <class U> U to(T x) { U y = x; return y; }"},
    {"template's assignment", "Z a; complex<float> b; set(a, x); set(b, x); z = a + Z(b.real())",
     "template <class U> void set(U& u, float x) { u = x; }"},
    {"template's +=", "float f = 1; Z g = 1; float16 h = 1; add(f, x); add(g, x); add(h, x); z = g + Z(f) + 3 * Z(h)",
     "template <class U, class V> void add(U& u, V x) { u += x; }"},
    {"template's own types", "z = twice(x) + twice(3)",
     "template <class U> U twice(U x) { unsigned char y = 2.5f * x; return y; }"},
    {"template's functional cast", "z = to<Z>(x)", "template <class U, class V> U to(V x) { return U(x); }"},
    {"complex in the same template", "z = to<Z>(x) + Z(to<complex<double>>(x).real())",
     "template <class U, class V> U to(V x) { return static_cast<U>(x); }"},
    {"class template", "Box<Z> box; box.put(x); z = box.value",
     "template <class U> struct Box { U value; void put(T x) { value = x; } };"},
    {"generic lambda",
     "auto to = [](auto value, auto like) { decltype(like) y = value; return y; }; z = to(x, Z()) + to(3, 4)"},
    {"lambda's result", "auto to = [](float value) -> Z { return value; }; z = to(x)"},
    {"capture", "auto held = [y = (Z)x] { return y; }; z = held()"},
    {"enumeration", "enum Level : Z { low }; z = (Z)(Level)(float)x + (Z)static_cast<Level>(x * 2.0f)"},
    {"enumeration in a template", "z = (Z)to<Level>(x)",
     "enum class Level : Z { low }; template <class U> U to(float x) { return static_cast<U>(x); }"},
    {"macro", "z = TO(x * 2)", "#define TO(y) (Z)(y)\n"},
    {"macro without parentheses", "z = TO(x); z += TO(x) + TO(-x + 1.0f)", "#define TO(y) (Z)y\n"},
    {"macro that names the type", "z = TO(Z, x * 3.0f) + TO(int, x)", "#define TO(A, y) ((A)(y))\n"},
    {"macro that assigns", "Z a; float b; SET(a, x * 2); SET(b, x * 2); z = a + Z(b)", "#define SET(a, b) a = b\n"},
    {"macro that assigns more", "MORE(z, x)", "#define MORE(a, b) a = b * 2.0f + 1.0f\n"},
    {"macro that passes on", "z = SAME(x * 2.0f)", "#define SAME(y) y\n"},
    {"macro within a macro", "z = OUTER(x)", "#define INNER(y) (Z)(y)\n#define OUTER(y) INNER((y) * 2) + INNER(y)\n"},
    {"macro as an operand", "z = DOUBLE", "#define DOUBLE x * 2.0f\n"},
    {"macro's +=", "ADD(z, x)", "#define ADD(a, b) a += b\n"},
    {"loop_prep", "z = most; z -= x", "", "const Z most = 70000.5f * float(n)"},
    {"raw bits", "Z bits = x; z = bits; struct { int low : 4; } part; part.low = x; z += part.low"},
    {"words of 32 bits", "z = (int)x + (unsigned)x + (long long)x"},
};

/// The form with its types written out.
ElementwiseKernel kernel_of(const Form& form) {
  return ElementwiseKernel("T x", "Z z", form.body, "cast", options_with(form.preamble, form.loop_prep));
}

TEST_F(NarrowCasts, EveryFormGivesWhatTheCpuGives) {
  constexpr size_t kPlainForms = 6;  // with every pair of dtypes
  for (size_t f = 0; f < std::size(kForms); ++f) {
    const ElementwiseKernel kernel = kernel_of(kForms[f]);
    for (size_t n = 0; n < std::size(kNarrow); ++n)
      for (size_t w = 0; w < std::size(kFloats); ++w) {
        if (f >= kPlainForms && w != (n + f) % std::size(kFloats)) continue;
        try {
          EXPECT_EQ(difference(kernel, kFloats[w], kNarrow[n]), "") << kForms[f].name;
        } catch (const Error& error) {
          ADD_FAILURE() << kForms[f].name << ": " << error.what();
        }
      }
  }
}

// What cannot be reached stays as CUDA has it, which shows that the emulated device casts as CUDA does.
TEST_F(NarrowCasts, SomeCastsStay) {
  const ElementwiseKernel range("float32 x", "uint8 z", "float all[] = {x}; for (unsigned char one : all) z = one",
                                "range", options_with(""));
  EXPECT_EQ(difference(range, Dtype::float32, Dtype::uint8),
            "float32 256.000000 to uint8: 255.000000 on the CPU, 0.000000 emulated");
}

/// The text for a GPU of the kernel, for float x and narrow z, and what becomes of it.
ProgramSource source_of(const ElementwiseKernel& kernel, Dtype wide, Dtype narrow) {
  const Array x = Array::empty({5000}, wide, emulated_cuda()), z = Array::empty({5000}, narrow, emulated_cuda());
  ProgramSource source{kernel.source(std::vector<Argument>{x, z}), "iruka_entry", {}, "<test>"};
  return source;
}
std::string rewritten(const ProgramSource& source) {
  const std::optional<ProgramSource> saturating = emulated_cuda().service<iruka::NarrowCasts>().saturate(source);
  EXPECT_TRUE(saturating) << source.text;
  return saturating ? saturating->text : "";
}

TEST_F(NarrowCasts, AreNoServiceOfTheCpu) {
  EXPECT_EQ(cpu().find_service<iruka::NarrowCasts>(), nullptr);
  try {
    cpu().service<iruka::NarrowCasts>();
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "cpu does not support casts to narrow integers");
  }
}

TEST_F(NarrowCasts, TextsWithoutThemStay) {
  for (const char* body : {"z = 3", "z = Z(255.0) + 1.5", "z += Z(2)", "z = (int)x", "z = x > T(0)",
                           "z = iruka::saturate<Z>(x)", "int k = x; z = k", "float f = x; f += 2; z = Z(int(f))"}) {
    const ElementwiseKernel kernel("T x", "Z z", body, "plain");
    const ProgramSource source = source_of(kernel, Dtype::float32, Dtype::int16);
    EXPECT_EQ(rewritten(source), source.text);
  }
}

TEST_F(NarrowCasts, RewrittenTextsHaveNoneLeft) {
  for (const Form& form : kForms) {
    ProgramSource source = source_of(kernel_of(form), Dtype::float32, Dtype::uint8);
    source.text = rewritten(source);
    EXPECT_EQ(rewritten(source), source.text) << form.name;
  }
}

TEST_F(NarrowCasts, CudasOwnNamesAreKnown) {
  const ElementwiseKernel kernel(
      "T x", "Z z",
      "uchar4 pixel = make_uchar4(x, x, 3, threadIdx.x); pixel.y = x * 2.0f; short2 pair; pair.x = x;"
      "z = __shfl_down_sync(__activemask(), pixel.x, 1) + Z(__shfl_xor_sync(~0u, x, 2)) + pair.x",
      "cuda", options_with(""));
  const std::string text = rewritten(source_of(kernel, Dtype::float32, Dtype::uint8));
  for (const char* part :
       {"make_uchar4(iruka::saturate<unsigned char, float>(x), iruka::saturate<unsigned char, float>(x), 3, "
        "threadIdx.x)",
        "pixel.y = iruka::saturate<unsigned char, float>(x * 2.0f)", "pair.x = iruka::saturate<short, float>(x)",
        "Z(iruka::saturate<unsigned char, float>(__shfl_xor_sync(~0u, x, 2)))"})
    EXPECT_NE(text.find(part), text.npos) << part << "\n" << text;
}

TEST_F(NarrowCasts, HeadersSaturateToo) {
  const std::string folder = ::testing::TempDir() + "iruka_casts_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/narrow.h") << "inline unsigned char plain(float x) { return (unsigned char)x; }\n"
                                         "template <class U> U chosen(float x) { return static_cast<U>(x); }\n"
                                         "#define AS_SHORT(x) (short)(x)\n"
                                         "struct Sum { unsigned char s = 0; void add(float x) { s += x; } };\n";
  KernelOptions options = options_with("#include \"narrow.h\"\n");
  options.options = {"-I" + folder};
  for (const char* body : {"z = plain(x)", "z = chosen<Z>(x)", "z = AS_SHORT(x)", "Sum sum; sum.add(x); z = sum.s"}) {
    const ElementwiseKernel kernel("T x", "Z z", body, "narrow", options);
    EXPECT_EQ(difference(kernel, Dtype::float32, Dtype::uint8), "") << body;
  }
  std::filesystem::remove_all(folder);
}

// One argument is cast and multiplied: put around it, the words for a cast would be in the way of the product.
TEST_F(NarrowCasts, TextsThatCannotBeRewrittenRunAsTheyAre) {
  const ElementwiseKernel kernel("float32 x", "uint8 z", "z = BOTH(x)", "both",
                                 options_with("#define BOTH(y) (unsigned char)y + (int)(y * 2)\n"));
  const std::vector<float> values = {1.5f, 100.25f, 300.0f};
  const Array x = Array::from(std::span<const float>(values), {3}), y = copy_to(emulated_cuda(), x);
  EXPECT_EQ(copy_to(cpu(), kernel.call(std::vector<Argument>{y})[0]).to_vector<uint8_t>(),
            (std::vector<uint8_t>{1 + 3, 300 - 256 + 0, static_cast<uint8_t>(44 + 600)}));
}

TEST_F(NarrowCasts, ErrorsShowTheUsersOwnLine) {
  const ElementwiseKernel kernel("T x", "Z z", "z = x * 2.0f; z += x; unknown(z)", "wrong");
  const Array x = Array::empty({3}, Dtype::float32, emulated_cuda()),
              z = Array::empty({3}, Dtype::uint8, emulated_cuda());
  try {
    kernel(x, z);
    FAIL() << "no error";
  } catch (const CompileError& error) {
    EXPECT_NE(std::string(error.what()).find("      z = x * 2.0f; z += x; unknown(z)\n                            ^"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(NarrowCasts, ArraysMethodsSaturate) {
  for (const Dtype wide : kFloats)
    for (const Dtype narrow : kNarrow) {
      const Array x = floats(wide), y = copy_to(emulated_cuda(), x);
      EXPECT_EQ(copy_to(cpu(), y.astype(narrow)).astype(Dtype::int32).to_vector<int32_t>(),
                x.astype(narrow).astype(Dtype::int32).to_vector<int32_t>())
          << name(wide) << " to " << name(narrow);
    }
}

// The library's own texts saturate by themselves.
TEST_F(NarrowCasts, ReductionsHaveNone) {
  using namespace iruka::ops;
  const Dtype f32 = Dtype::float32, f64 = Dtype::float64, i64 = Dtype::int64;
  const auto& casts = emulated_cuda().service<iruka::NarrowCasts>();
  int parsed = 0;
  for (const auto& row : reduction_table())
    for (const Dtype narrow : {Dtype::uint8, Dtype::int16})
      for (const ReductionTypes& types :
           {ReductionTypes{f32, f64, narrow}, {narrow, i64, narrow}, {f32, i64, narrow}}) {
        ProgramSource source{
            emit_reduction_cuda(row, {types, ReductionForm::rows, 0, true, 1, 1, 0, 0}), "iruka_entry", {}, "<test>"};
        const std::optional<ProgramSource> saturating = casts.saturate(source);
        if (!saturating) continue;  // not every row has every dtype
        EXPECT_EQ(saturating->text, source.text) << row.name;
        ++parsed;
      }
  EXPECT_GT(parsed, 60);
}

class NarrowCastsByNvrtc : public NvrtcArchitectureTest {};

TEST_P(NarrowCastsByNvrtc, EveryFormCompiles) {
  // All for one architecture, every third for the others.
  for (size_t f = 0; f < std::size(kForms); f += GetParam() == 90 ? 1 : 3)
    ptx_of(rewritten(
        source_of(kernel_of(kForms[f]), kFloats[f % std::size(kFloats)], kNarrow[f / 2 % std::size(kNarrow)])));
}

TEST_P(NarrowCastsByNvrtc, RewrittenTextsClamp) {
  const ElementwiseKernel kernel("T x", "Z z", "z = x * 255", "scale");
  const ProgramSource source = source_of(kernel, Dtype::float32, Dtype::uint8);
  const std::string as_it_was = ptx_of(source.text), clamped = ptx_of(rewritten(source));
  for (const char* instruction : {"min.s32", "max.s32"}) {
    EXPECT_EQ(as_it_was.find(instruction), std::string::npos) << as_it_was;
    EXPECT_NE(clamped.find(instruction), std::string::npos) << clamped;
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, NarrowCastsByNvrtc, ::testing::Values(75, 90, 120));

}  // namespace
