// Texts that would exhaust NVRTC's stack or memory are refused before it sees them.
#include <gtest/gtest.h>

#include <string>

#include "backend/cuda/nvrtc_limits.h"

namespace {

using iruka::cuda_backend::nvrtc_limit_error;

std::string repeated(const std::string& text, int count) {
  std::string made;
  for (int k = 0; k < count; ++k) made += text;
  return made;
}

TEST(NvrtcLimits, TakesUsualTexts) {
  const std::string texts[] = {
      "",
      "#",
      "#define",
      std::string("a\0b", 3),
      "int f() { return 1; }",
      "int a = " + repeated("(", 900) + "1" + repeated(")", 900) + ";",
      "int a[] = {" + repeated("1,", 50000) + "1};",
      "int a[20000][2] = {" + repeated("{1, 2},", 20000) + "};",
      repeated("y = x;\n", 100000),
      "#define B B + C\n#define C B + C\nint a = B;",
      "#define X \\\n 1 \\\n 2\nint a = X;",
      "#define Q(x x\nint a = Q(",
      "/*" + repeated("(", 5000) + "*/ // " + repeated("(", 5000) + "\nconst char* s = \"" + repeated("(", 5000) +
          "\";",
  };
  for (const std::string& text : texts) EXPECT_EQ(nvrtc_limit_error(text), "") << text.substr(0, 80);
}

TEST(NvrtcLimits, RefusesWhatIsTooLong) {
  EXPECT_EQ(nvrtc_limit_error("int a = " + repeated("(", 1001) + "1" + repeated(")", 1001) + ";"),
            "bracket nesting level exceeded maximum of 1000");
  EXPECT_EQ(nvrtc_limit_error("int a = " + repeated("- ", 6000) + "1;"), "a statement of the text is too long");
  EXPECT_EQ(nvrtc_limit_error("void f() { " + repeated("if (x) y = 1; else ", 5001) + "y = 2; }"),
            "the text has too many 'else' branches");
  EXPECT_EQ(nvrtc_limit_error(repeated("y = x;\n", 510000)), "the text is too long once its macros are expanded");
  EXPECT_EQ(nvrtc_limit_error(repeated(" ", 5 << 20)), "the text has 5242880 bytes; at most 4194304 are compiled");
}

TEST(NvrtcLimits, CountsWhatMacrosBecome) {
  const char* const expected = "the text is too long once its macros are expanded";
  std::string plain = "#define A0 n + n\n", doubling = "#define E0(x) x x\n";
  for (int k = 1; k < 31; ++k) {
    const std::string name = std::to_string(k), before = std::to_string(k - 1);
    plain += "#define A" + name + " A" + before + " + A" + before + "\n";
    doubling += "#define E" + name + "(x) E" + before + "(x) E" + before + "(x)\n";
  }
  EXPECT_EQ(nvrtc_limit_error(plain + "int a = A30;"), expected);
  EXPECT_EQ(nvrtc_limit_error(plain + "int a = A3;"), "");
  EXPECT_EQ(nvrtc_limit_error(doubling + "E30(int a;)"), expected);
  EXPECT_EQ(nvrtc_limit_error("#define D(x) x x\n" + repeated("D(", 40) + "a;" + repeated(")", 40)), expected);
}

}  // namespace
