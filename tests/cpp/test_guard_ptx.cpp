// PTX with the kernel language's answers for division by zero and NaN: line by line, and as NVRTC gives it.
#include "backend/cuda/guard_ptx.h"
#include "nvrtc_testing.h"

namespace iruka::test {
namespace {

using cuda_backend::guard_ptx;

std::string guarded_by(const std::string& test, const std::string& instruction, const std::string& select) {
  return "\t{\n\t.reg .pred \t%iruka_zero;\n\t" + test + "\n\t" + instruction + "\n\t" + select + "\n\t}\n";
}

TEST(GuardPtx, DivisionByZeroGivesZero) {
  EXPECT_EQ(guard_ptx("\tdiv.s32 \t%r4, %r2, %r3;\n"),
            guarded_by("setp.eq.b32 \t%iruka_zero, %r3, 0;", "div.s32 \t%r4, %r2, %r3;",
                       "selp.b32 \t%r4, 0, %r4, %iruka_zero;"));
  EXPECT_EQ(guard_ptx("\trem.u64 \t%rd40, %rd11, %rd10;\n"),
            guarded_by("setp.eq.b64 \t%iruka_zero, %rd10, 0;", "rem.u64 \t%rd40, %rd11, %rd10;",
                       "selp.b64 \t%rd40, 0, %rd40, %iruka_zero;"));
  EXPECT_EQ(guard_ptx("\tdiv.s16 \t%rs18, 77, %rs17;\n"),
            guarded_by("setp.eq.b16 \t%iruka_zero, %rs17, 0;", "div.s16 \t%rs18, 77, %rs17;",
                       "selp.b16 \t%rs18, 0, %rs18, %iruka_zero;"));
  // The divisor is tested before the result takes its place; a predicate keeps holding.
  EXPECT_EQ(guard_ptx("\t@!%p1 rem.u32 %r3, %r3, %r3;\n"),
            guarded_by("setp.eq.b32 \t%iruka_zero, %r3, 0;", "@!%p1 rem.u32 %r3, %r3, %r3;",
                       "@!%p1 selp.b32 \t%r3, 0, %r3, %iruka_zero;"));
}

TEST(GuardPtx, RemainderThatSharesItsDivision) {
  const std::string divided = guarded_by("setp.eq.b64 \t%iruka_zero, %rd2, 0;", "div.s64 \t%rd4, %rd1, %rd2;",
                                         "selp.b64 \t%rd4, 0, %rd4, %iruka_zero;");
  const std::string product = "\tmul.lo.s64 \t%rd5, %rd2, %rd4;\n";
  const std::string subtraction = "\tsub.s64 \t%rd6, %rd1, %rd5;\n";
  EXPECT_EQ(guard_ptx("\tdiv.s64 \t%rd4, %rd1, %rd2;\n" + product + subtraction),
            divided + product +
                guarded_by("setp.eq.b64 \t%iruka_zero, %rd2, 0;", "sub.s64 \t%rd6, %rd1, %rd5;",
                           "selp.b64 \t%rd6, 0, %rd6, %iruka_zero;"));
  // Of another dividend, or of a product with something else, it is no remainder.
  for (const std::string& other :
       {product + "\tsub.s64 \t%rd6, %rd7, %rd5;\n", "\tmul.lo.s64 \t%rd5, %rd3, %rd4;\n" + subtraction})
    EXPECT_EQ(guard_ptx("\tdiv.s64 \t%rd4, %rd1, %rd2;\n" + other), divided + other);
}

TEST(GuardPtx, RegistersOfAnotherFunctionAreOthers) {
  const std::string division = "\tdiv.s64 \t%rd4, %rd1, %rd2;\n\tmul.lo.s64 \t%rd5, %rd2, %rd4;\n}\n";
  const std::string subtraction = "\tsub.s64 \t%rd6, %rd1, %rd5;\n";
  EXPECT_TRUE(guard_ptx(division + subtraction).ends_with("}\n" + subtraction));
}

TEST(GuardPtx, ConstantDivisors) {
  for (const char* line :
       {"\tdiv.s32 \t%r4, %r2, 7;\n", "\trem.u32 \t%r4, %r2, -1;\n", "\tdiv.u64 \t%rd4, %rd2, 0x10;\n"})
    EXPECT_EQ(guard_ptx(line), line);
  EXPECT_EQ(guard_ptx("\tdiv.s32 \t%r4, %r2, 0;\n"), "\tmov.b32 \t%r4, 0;\n");
  EXPECT_EQ(guard_ptx("\t@%p2 rem.u64 \t%rd4, %rd2, 0x0;\n"), "\t@%p2 mov.b64 \t%rd4, 0;\n");
}

TEST(GuardPtx, NanBecomesZeroWherePtxGivesTheTopBit) {
  EXPECT_EQ(guard_ptx("\tcvt.rzi.s32.f64 \t%r2, %fd1;\n"),
            guarded_by("setp.nan.f64 \t%iruka_zero, %fd1, %fd1;", "cvt.rzi.s32.f64 \t%r2, %fd1;",
                       "selp.b32 \t%r2, 0, %r2, %iruka_zero;"));
  EXPECT_EQ(guard_ptx("\tcvt.rni.u64.f32 \t%rd2, %f1;\n"),
            guarded_by("setp.nan.f32 \t%iruka_zero, %f1, %f1;", "cvt.rni.u64.f32 \t%rd2, %f1;",
                       "selp.b64 \t%rd2, 0, %rd2, %iruka_zero;"));
  EXPECT_EQ(guard_ptx("\tcvt.rmi.ftz.s64.f32 \t%rd2, %f1;\n"),
            guarded_by("setp.nan.f32 \t%iruka_zero, %f1, %f1;", "cvt.rmi.ftz.s64.f32 \t%rd2, %f1;",
                       "selp.b64 \t%rd2, 0, %rd2, %iruka_zero;"));
}

TEST(GuardPtx, TrapEndsTheThread) {
  EXPECT_EQ(guard_ptx("$L__BB2_2:\n\ttrap;\n"), "$L__BB2_2:\n\texit;\n");
  EXPECT_EQ(guard_ptx("\t@%p1 trap;\n"), "\t@%p1 exit;\n");
}

TEST(GuardPtx, LeavesEverythingElse) {
  for (const char* line :
       {"\tcvt.rzi.s32.f32 \t%r2, %f1;\n",    // NaN gives 0 already
        "\tcvt.rzi.f64.f64 \t%fd2, %fd1;\n",  // trunc
        "\tcvt.rn.f32.s64 \t%f1, %rd1;\n", "\tcvt.u32.u64 \t%r2, %rd4;\n", "\tcvt.rzi.u16.f32 \t%rs1, %f1;\n",
        "\tdiv.rn.f32 \t%f4, %f3, %f2;\n", "\tdiv.full.f32 \t%f4, %f3, %f2;\n", "\tdiv.approx.ftz.f32 %f1, %f2, %f3;\n",
        "// div.s32 %r1, %r2, %r3;\n", "\t// begin inline asm\n", "\tbra.uni \t$L__BB19_3;\n", "}\n", "\n",
        "\t@%p1 bra \t$L__BB19_2;\n", "\tdivision;\n", "\tmul.wide.s32 \t%rd7, %r4, 4;\n", "@%p1\n"})
    EXPECT_EQ(guard_ptx(line), line);
  EXPECT_EQ(guard_ptx(""), "");
  EXPECT_EQ(guard_ptx("\tret;"), "\tret;");  // no newline at the end
}

const char* const kDivisions = R"(
#define IRUKA_DIVISIONS(name, T)                                                      \
  extern "C" __global__ void name(const T* x, const T* y, T* z) {                     \
    z[0] = x[0] / y[0]; z[1] = x[1] % y[1]; z[2] = (T)77 / x[2]; z[3] = x[3] / (T)7;  \
  }
IRUKA_DIVISIONS(a, int8_t) IRUKA_DIVISIONS(b, uint8_t) IRUKA_DIVISIONS(c, int16_t) IRUKA_DIVISIONS(d, uint16_t)
IRUKA_DIVISIONS(e, int32_t) IRUKA_DIVISIONS(f, uint32_t) IRUKA_DIVISIONS(g, int64_t) IRUKA_DIVISIONS(h, uint64_t)
#define IRUKA_CASTS(name, F)                                                                      \
  extern "C" __global__ void name(const F* x, int32_t* a, uint32_t* b, int64_t* c, uint64_t* d) { \
    a[0] = (int32_t)x[0]; b[0] = (uint32_t)x[1]; c[0] = (int64_t)x[2]; d[0] = (uint64_t)x[3];      \
    a[1] = lrint(x[0]); c[1] = llround(x[1]);                                                     \
  }
IRUKA_CASTS(i, float) IRUKA_CASTS(j, double) IRUKA_CASTS(k, float16)
extern "C" __global__ void l(int* x) { if (x[0] == 3) __trap(); x[1] = 2; }
)";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    all.push_back(line.substr(std::min(line.find_first_not_of(" \t"), line.size())));
  return all;
}

using GuardNvrtc = NvrtcArchitectureTest;
INSTANTIATE_TEST_SUITE_P(Architectures, GuardNvrtc, testing::Values(75, 80, 90, 100),
                         [](const auto& info) { return "compute_" + std::to_string(info.param); });

TEST_P(GuardNvrtc, NoDivisionAndNoConversionIsLeftOpen) {
  const std::string ptx = guard_ptx(ptx_of(kDivisions));
  const auto lines = lines_of(ptx);
  int divisions = 0, conversions = 0;
  for (size_t k = 1; k + 1 < lines.size(); ++k) {
    const bool is_division = lines[k].starts_with("div.") || lines[k].starts_with("rem.");
    const bool is_to_integer = lines[k].starts_with("cvt.rzi.s") || lines[k].starts_with("cvt.rzi.u");
    const bool is_conversion =
        is_to_integer && (lines[k].find("64.f") != lines[k].npos || lines[k].find(".f64") != lines[k].npos);
    EXPECT_FALSE(lines[k].starts_with("trap"));
    if (!is_division && !is_conversion) continue;
    ++(is_division ? divisions : conversions);
    EXPECT_TRUE(lines[k - 1].starts_with(is_division ? "setp.eq.b" : "setp.nan.f")) << lines[k - 1] << "\n" << lines[k];
    EXPECT_TRUE(lines[k + 1].starts_with("selp.b")) << lines[k] << "\n" << lines[k + 1];
  }
  EXPECT_GE(divisions, 24);  // 64-bit ones have a 32-bit way too
  EXPECT_GE(conversions, 8);
  if (find_ptxas().empty()) GTEST_SKIP() << "there is no ptxas to assemble the guarded PTX";
  EXPECT_TRUE(assembles(ptx, GetParam())) << ptx;
}

}  // namespace
}  // namespace iruka::test
