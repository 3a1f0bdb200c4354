// What report() tells: from line tables in the compiler to the words a user reads.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "compile_text.h"
#include "core/device.h"
#include "host_device.h"
#include "iruka/iruka.h"
#include "jit/report.h"

namespace iruka {
namespace {

using test::errors;
using test::loop_text;
using test::program;
using Kind = Remark::Kind;

ProgramSource for_report(ProgramSource source) {
  source.wants_report = true;
  return source;
}

/// The instructions of an assembly text, without labels and directives.
std::vector<std::string> instructions(const std::string& assembly) {
  std::vector<std::string> lines;
  std::istringstream stream(assembly);
  for (std::string line; std::getline(stream, line);) {
    const bool is_instruction = line.size() > 1 && line[0] == '\t' && line[1] >= 'a' && line[1] <= 'z';
    if (is_instruction) lines.push_back(line.substr(0, line.find('#')));
  }
  return lines;
}

/// The places that line tables name, as "file:line:column".
std::set<std::string> places(const std::string& assembly) {
  std::map<std::string, std::string> files;
  std::set<std::string> found;
  std::istringstream stream(assembly);
  const std::regex file(R"re(\s+\.file\s+(\d+) (?:"[^"]*" )?"([^"]*)".*)re"),
      place(R"(\s+\.loc\s+(\d+) (\d+) (\d+).*)");
  std::smatch match;
  for (std::string line; std::getline(stream, line);) {
    if (std::regex_match(line, match, file)) files[match[1]] = match[2];
    if (std::regex_match(line, match, place))
      found.insert(files[match[1]] + ":" + match[2].str() + ":" + match[3].str());
  }
  return found;
}

TEST(LineTables, NameTheUsersTextsLinesAndColumns) {
  const std::string preamble =
      "#line 1 \"preamble\"\n"
      "static float twice(const float* p) {\n"
      "  return *p\n"
      "      / 3;\n"
      "}\n#line 1 \"generated\"\n";
  const std::string body = "float t =\n  a / b;\nz = twice(&t)\n  * b;";
  const ProgramSource source = program(preamble + loop_text("float", "float", "float", body), {"-O1"});
  const auto found = places(cpu_backend::assembly(for_report(source)));
  for (const char* place : {"operation:2:5", "operation:4:3", "preamble:3:7"})
    EXPECT_TRUE(found.contains(place)) << place;
}

TEST(LineTables, AMacroStandsWhereItIsWritten) {
  const std::string macro = "#line 1 \"preamble\"\n#define DIVIDE(x, y) ((x) / (y))\n#line 1 \"generated\"\n";
  const ProgramSource source = program(macro + loop_text("float", "float", "float", "\nz =  DIVIDE(a, b);"), {"-O1"});
  EXPECT_TRUE(places(cpu_backend::assembly(for_report(source))).contains("operation:2:6"));
}

TEST(LineTables, AreNotMadeForACall) {
  const std::string text = cpu_backend::assembly(program(loop_text("float", "float", "float", "z = a * b;")));
  EXPECT_TRUE(places(text).empty());
  EXPECT_EQ(text.find(".debug_"), text.npos);
}

// A report must describe the code that runs.
TEST(LineTables, DoNotChangeTheCode) {
  for (const char* body :
       {"z = a * b + 1;", "z = 0; for (int k = 0; k < 9; ++k) { if (a * k > b) break; z += sinf(a + k); }",
        "float q[4] = {a, b, a - b, a + b}; for (int k = 1; k < 4; ++k) if (q[k] < q[0]) q[0] = q[k]; z = q[0];",
        "z = (int)a / (int)b + ((int)a << ((int)b & 31)); while (z > 1) z *= 0.5f;"}) {
    for (const char* level : {"-O0", "-O1", "-O3"}) {
      const ProgramSource source = program(loop_text("float", "float", "float", body), {level});
      const auto plain = instructions(cpu_backend::assembly(source));
      EXPECT_GT(plain.size(), 5u);
      EXPECT_EQ(plain, instructions(cpu_backend::assembly(for_report(source)))) << body << " " << level;
    }
  }
}

TEST(CompileForReport, GivesTheReasonAndNoCode) {
  const ProgramSource source = program(loop_text("float", "float", "float", "z = a * b;"), {"--lanes=1"});
  const CompiledProgram plain = cpu_backend::compile(source);
  ASSERT_TRUE(plain.ok);
  EXPECT_FALSE(plain.code.empty());
  EXPECT_EQ(plain.report.reason, "");
  const CompiledProgram told = cpu_backend::compile(for_report(source));
  ASSERT_TRUE(told.ok) << errors(told.diagnostics);
  EXPECT_TRUE(told.code.empty());
  EXPECT_EQ(told.report.lanes, 1);
  EXPECT_EQ(told.report.reason, "the option --lanes=1 disables widening");
  EXPECT_TRUE(told.report.remarks.empty());
}

TEST(CompileForReport, ATextWithoutALoopHasAReasonToo) {
  const auto told = cpu_backend::compile(
      for_report(program("extern \"C\" void iruka_entry(const unsigned char*, long, long) {}", {"--lanes=8"})));
  ASSERT_TRUE(told.ok) << errors(told.diagnostics);
  EXPECT_EQ(told.report.lanes, 1);
  EXPECT_NE(told.report.reason.find("no loop"), std::string::npos) << told.report.reason;
}

TEST(CompileForReport, AWrongTextIsAnError) {
  const auto told = cpu_backend::compile(for_report(program(loop_text("float", "float", "float", "z = q;"))));
  EXPECT_FALSE(told.ok);
  EXPECT_NE(errors(told.diagnostics).find("operation:1:5"), std::string::npos) << errors(told.diagnostics);
}

TEST(LaneReport, LoopsOverOneBodyGiveOneReport) {
  LaneReport all;
  all.add({1, "too few rounds", {{Kind::not_widened, "operation", 1, 1, "too few rounds"}}});
  EXPECT_EQ(all.lanes, 1);
  EXPECT_EQ(all.reason, "too few rounds");
  all.add({1, "another", {}});
  EXPECT_EQ(all.reason, "too few rounds");
  all.add({8, "", {{Kind::gather, "operation", 2, 3, "a gather"}}});
  all.add({4, "", {}});
  all.add({1, "late", {}});
  EXPECT_EQ(all.lanes, 8);
  EXPECT_EQ(all.reason, "");
  EXPECT_EQ(all.remarks.size(), 2u);
}

template <class T>
Array filled(int64_t count, T value) {
  const std::vector<T> values(static_cast<size_t>(count), value);
  return Array::from(std::span<const T>(values), {count});
}

/// A device whose compiler reports what the test chooses.
class TellingDevice final : public testing::HostDevice {
 public:
  CompiledProgram compile(const ProgramSource& source) override {
    EXPECT_TRUE(source.wants_report);
    return compiled;
  }
  CompiledProgram compiled;
};

const jit::ErrorContext& error_context() {
  static const jit::ErrorContext context{
      "patch_match",
      "float32 x",
      "here.py:3",
      {{"operation", "int k = 0;\n\twhile (k < x)\n  ++k;"},
       {"preamble", "float f(float x) {\n  return x;\n}\n" + std::string(300, ' ') + "long_line();"},
       {"loop_prep", ""},
       {"after_loop", ""}}};
  return context;
}

KernelReport told(LaneReport report) {
  TellingDevice device;
  device.compiled = {.ok = true, .report = std::move(report)};
  return jit::report(device, program("text"), error_context());
}

TEST(KernelReport, QuotesTheUsersLines) {
  const KernelReport report = told({8,
                                    "",
                                    {{Kind::divergent_loop, "operation", 2, 2, "the loop runs while any lane is alive"},
                                     {Kind::gather, "preamble", 2, 10, "gather of 4 bytes"}}});
  EXPECT_EQ(report.kernel, "patch_match");
  EXPECT_EQ(report.device, "host");
  EXPECT_EQ(report.lanes, 8);
  EXPECT_EQ(report.reason, "");
  EXPECT_EQ(report.to_string(),
            "kernel 'patch_match' on host: 8 lanes a vector\n"
            "  operation:2:2: the loop runs while any lane is alive\n"
            "      \twhile (k < x)\n"
            "      \t^\n"
            "  preamble:2:10: gather of 4 bytes\n"
            "        return x;\n"
            "               ^");
}

TEST(KernelReport, SaysWhyABodyWasNotWidened) {
  const KernelReport report =
      told({1, "the control flow is irreducible", {{Kind::not_widened, "operation", 3, 0, "a jump into a loop"}}});
  EXPECT_EQ(report.to_string(),
            "kernel 'patch_match' on host: not widened: the control flow is irreducible\n"
            "  operation:3: a jump into a loop\n"
            "        ++k;");
}

TEST(KernelReport, MergesRemarksOfOneKindAndPlaceAndFollowsTheTexts) {
  const KernelReport report = told({16,
                                    "",
                                    {{Kind::note, "", 0, 0, "second note"},
                                     {Kind::note, "", 0, 0, "first note"},
                                     {Kind::note, "", 0, 0, "second note"},
                                     {Kind::gather, "preamble", 2, 10, "gather"},
                                     {Kind::note, "carray.h", 37, 5, "not the user's"},
                                     {Kind::gather, "operation", 3, 5, "gather"},
                                     {Kind::scatter, "operation", 3, 5, "scatter"},
                                     {Kind::gather, "operation", 2, 4, "gather, again"},
                                     {Kind::gather, "operation", 3, 3, "gather"},
                                     {Kind::gather, "preamble", 2, 10, "gather, in the remainder"}}});
  std::vector<std::string> found;
  for (const Remark& remark : report.remarks) {
    found.push_back(remark.file + ":" + std::to_string(remark.line) + ":" + std::to_string(remark.column) + " " +
                    name(remark.kind) + " " + remark.message);
  }
  EXPECT_EQ(found, (std::vector<std::string>{"operation:2:4 gather gather, again", "operation:3:3 gather gather",
                                             "operation:3:5 gather gather", "operation:3:5 scatter scatter",
                                             "preamble:2:10 gather gather", ":0:0 note first note",
                                             ":0:0 note second note", "carray.h:37:5 note not the user's"}));
  const std::string text = report.to_string();
  EXPECT_NE(text.find("\n  first note\n  second note\n  carray.h:37:5: not the user's"), text.npos) << text;
}

TEST(KernelReport, QuotesNothingWhereThereIsNoSuchLine) {
  const KernelReport report =
      told({4, "", {{Kind::spill, "operation", 99, 1, "far"}, {Kind::spill, "preamble", 4, 301, "long"}}});
  EXPECT_EQ(report.to_string(),
            "kernel 'patch_match' on host: 4 lanes a vector\n"
            "  operation:99:1: far\n"
            "  preamble:4:301: long");
}

TEST(KernelReport, KindsHaveTheirNames) {
  EXPECT_STREQ(name(Kind::not_widened), "not_widened");
  EXPECT_STREQ(name(Kind::note), "note");
  EXPECT_STREQ(name(Kind::gather), "gather");
  EXPECT_STREQ(name(Kind::scatter), "scatter");
  EXPECT_STREQ(name(Kind::divergent_branch), "divergent_branch");
  EXPECT_STREQ(name(Kind::divergent_loop), "divergent_loop");
  EXPECT_STREQ(name(Kind::per_lane), "per_lane");
  EXPECT_STREQ(name(Kind::interleaved), "interleaved");
  EXPECT_STREQ(name(Kind::spill), "spill");
}

TEST(KernelReport, AnErrorIsWordedAsACallWordsIt) {
  TellingDevice device;
  device.compiled = {false, "", {{Diagnostic::Level::error, "operation", 2, 9, "no such thing"}}, {}};
  try {
    jit::report(device, program("text"), error_context());
    FAIL() << "nothing was thrown";
  } catch (const CompileError& error) {
    EXPECT_STREQ(error.what(),
                 "kernel 'patch_match' does not compile for (float32 x), made at here.py:3:\n"
                 "  operation, line 2: error: no such thing\n"
                 "      \twhile (k < x)\n"
                 "      \t       ^");
  }
}

template <class Callable>
std::string error_of(Callable&& callable) {
  try {
    callable();
  } catch (const Error& error) {
    return std::string(typeid(error).name()) + ": " + error.what();
  }
  return "";
}

TEST(KernelReport, RaisesWhatAssemblyRaises) {
  const ElementwiseKernel late("T x", "T z", "z = x.nothing();", "late");
  const ElementwiseKernel pair("T x, T y", "T z", "z = x + y;", "pair");
  const ElementwiseKernel raw("raw float32 x", "float32 z", "z = x[i];", "raw_only");
  const Array f = filled(3, 1.0f), d = filled(3, 1.0), longer = filled(4, 1.0f);
  const std::pair<const ElementwiseKernel*, std::vector<Argument>> calls[] = {
      {&late, {f}}, {&pair, {f}}, {&pair, {f, d}}, {&pair, {f, longer}}, {&raw, {f}}};
  for (const auto& [kernel, arguments] : calls) {
    const std::string expected = error_of([&] { kernel->assembly(arguments); });
    EXPECT_NE(expected, "") << kernel->name();
    EXPECT_EQ(error_of([&] { kernel->report(arguments); }), expected);
  }
  KernelOptions wrong;
  wrong.options = {"--lanes=5"};
  EXPECT_NE(error_of([&] {
              ElementwiseKernel("float32 x", "float32 z", "z = x;", "odd", wrong);
            }).find("'--lanes=5'; --lanes=N takes 0"),
            std::string::npos);
}

TEST(KernelReport, TheScalarPathIsReportedAndNothingElseChanges) {
  if (device_name(default_device()) != "cpu") GTEST_SKIP() << "a GPU has no scalar path";
  KernelOptions options;
  options.options = {"--lanes=1"};
  const ElementwiseKernel k("float32 x, float32 y", "float32 z", "z = x * 3 + y;", "scalar_path", options);
  const Array x = filled(5, 2.0f), y = filled(5, 1.0f);
  Array z = filled(5, -1.0f);
  clear_kernel_history();
  const KernelReport report = k.report(std::vector<Argument>{x, y, z});
  EXPECT_EQ(report.kernel, "scalar_path");
  EXPECT_EQ(report.device, "cpu");
  EXPECT_EQ(report.lanes, 1);
  EXPECT_EQ(report.reason, "the option --lanes=1 disables widening");
  EXPECT_EQ(report.to_string(), "kernel 'scalar_path' on cpu: not widened: the option --lanes=1 disables widening");
  EXPECT_TRUE(kernel_history().empty());
  EXPECT_TRUE(k.generated_sources().empty());
  EXPECT_EQ(z.to_vector<float>(), std::vector<float>(5, -1.0f));
  EXPECT_EQ(k(x, y).to_vector<float>(), std::vector<float>(5, 7.0f));
}

TEST(KernelReport, TheReasonIsThereExactlyWithOneLane) {
  for (const char* lanes :
       {"--lanes=0", "--lanes=1", "--lanes=2", "--lanes=4", "--lanes=8", "--lanes=16", "--lanes=32", "--lanes=64"}) {
    for (const char* level : {"-O0", "-O1", "-O3"}) {
      KernelOptions options;
      options.options = {lanes, level};
      const ElementwiseKernel k("float32 x", "float32 z", "z = x; while (z > 1) z *= 0.5f;", "reasons", options);
      const Array x = filled(100, 5.0f);
      const KernelReport report = k.report(std::vector<Argument>{x});
      EXPECT_GE(report.lanes, 1);
      EXPECT_EQ(report.lanes == 1, !report.reason.empty()) << lanes << " " << level << " " << report.to_string();
      EXPECT_EQ(k(x).to_vector<float>(), std::vector<float>(100, 0.625f)) << lanes << " " << level;
    }
  }
}

}  // namespace
}  // namespace iruka
