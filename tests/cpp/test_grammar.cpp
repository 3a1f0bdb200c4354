#include <gtest/gtest.h>

#include "iruka/error.h"
#include "jit/grammar.h"

namespace iruka::jit {
namespace {

std::vector<Parameter> inputs(std::string_view text) { return parse_parameters("k", text, false); }

template <class E, class Callable>
std::string message_of(Callable&& callable) {
  try {
    callable();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing of that class was thrown";
  return "";
}

TEST(Grammar, ReadsTypesNamesAndKeywords) {
  const auto list = inputs("raw float32 image,\\\n   T y, _non_const int w , raw const uint16 z");
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0].name, "image");
  EXPECT_EQ(list[0].dtype, Dtype::float32);
  EXPECT_TRUE(list[0].raw);
  EXPECT_TRUE(list[0].is_const);
  EXPECT_EQ(list[1].type, "T");
  EXPECT_FALSE(list[1].dtype.has_value());
  EXPECT_EQ(list[2].dtype, Dtype::int64);
  EXPECT_FALSE(list[2].is_const);
  EXPECT_EQ(list[3].dtype, Dtype::uint16);
  EXPECT_TRUE(list[3].raw);
}

TEST(Grammar, ReadsArraysByValue) {
  const auto list = inputs("float32 taps[9], const T w [ 2 ], float32 x");
  EXPECT_EQ(list[0].name, "taps");
  EXPECT_EQ(list[0].extent, 9);
  EXPECT_TRUE(list[0].is_const);
  EXPECT_FALSE(list[0].has_elements());
  EXPECT_EQ(list[1].name, "w");
  EXPECT_EQ(list[1].to_string(), "T w[2]");
  EXPECT_FALSE(list[2].is_by_value());
  for (const char* text : {"float32 x[]", "float32 x[0]", "float32 x[-1]", "float32 x[k]", "float32 x[9999999]",
                           "float32 [2]", "raw float32 x[2]", "_non_const float32 x[2]", "float32 x[2][2]"})
    EXPECT_THROW(inputs(text), ValueError) << text;
  EXPECT_THROW(parse_parameters("k", "float32 y[2]", true), ValueError);
}

TEST(Grammar, AnEmptyTextIsAnEmptyList) {
  EXPECT_TRUE(inputs("").empty());
  EXPECT_TRUE(inputs(" \n\t ").empty());
}

TEST(Grammar, OutputsAreNotConst) {
  EXPECT_FALSE(parse_parameters("k", "float32 z", true)[0].is_const);
  EXPECT_THROW(parse_parameters("k", "const float32 z", true), ValueError);
}

TEST(Grammar, RefusesBadLists) {
  for (const char* text : {"float32", "float32 x,", ",float32 x", "float32 x y z", "huge float32 x", "float32 1x",
                           "float32 x-y", "float32 i", "float32 _ind", "float32 for", "float32 __x", "float32 iruka_x",
                           "float32 _raw_x", "1 x", "float32 NAN", "float32 M_PI", "int32 INT_MAX"})
    EXPECT_THROW(inputs(text), ValueError) << text;
  EXPECT_THROW(inputs("float33 x"), TypeError);
  EXPECT_THROW(inputs("object x"), TypeError);
  std::string many;
  for (int k = 0; k <= kMaxParameters; ++k) many += (k ? ",float x" : "float x") + std::to_string(k);
  EXPECT_THROW(inputs(many), ValueError);
}

TEST(Grammar, MessagesNameKernelParameterAndRule) {
  const std::string message = message_of<ValueError>([] { parse_parameters("blur", "huge float32 x", false); });
  EXPECT_NE(message.find("blur"), message.npos);
  EXPECT_NE(message.find("huge float32 x"), message.npos);
  const std::string type = message_of<TypeError>([] { parse_parameters("blur", "float33 x", false); });
  EXPECT_NE(type.find("blur"), type.npos);
  EXPECT_NE(type.find("float33"), type.npos);
}

TEST(Grammar, NamesMustDiffer) {
  EXPECT_THROW(check_names_differ("k", inputs("float32 x"), inputs("float32 x")), ValueError);
  EXPECT_THROW(check_names_differ("k", inputs("T x, int8 T"), {}), ValueError);
  EXPECT_NO_THROW(check_names_differ("k", inputs("T x"), inputs("T y")));
}

TEST(Grammar, KernelNamesAreIdentifiers) {
  for (const char* name : {"", "1k", "a b", "a-b", "for", "k;"})
    EXPECT_THROW(check_kernel_name(name), ValueError) << name;
  EXPECT_NO_THROW(check_kernel_name("get_nnf_kernel2"));
}

TEST(Grammar, MentionsSkipsCommentsStringsAndLongerWords) {
  EXPECT_TRUE(mentions("z = i;", "i"));
  EXPECT_TRUE(mentions("z=x[i]", "i"));
  EXPECT_FALSE(mentions("z = idx + int1;", "i"));
  EXPECT_FALSE(mentions("z = 1; // i\n/* i */ char c = 'i'; const char* s = \"i \\\" i\";", "i"));
  EXPECT_TRUE(mentions("z = 1'000'000; y = i;", "i"));
  EXPECT_TRUE(mentions("/* */ i", "i"));
  EXPECT_TRUE(mentions("s = R\"(\" )\";", "i"));
  EXPECT_FALSE(mentions("/* i", "i"));
}

TEST(Grammar, FindsPowersWhoseExponentIsNotWrittenOut) {
  for (const char* text : {"z = powf(x - y, 2);", "pow(f(a, b), 0.5f)", "x = 2; __powf (x, -3)"})
    EXPECT_FALSE(has_open_power(text)) << text;
  for (const char* text : {"pow(x, n)", "powf(x, 2 * k)", "auto f = powf;", "pow(x, (y, 2", "pow(2, k[3])"})
    EXPECT_TRUE(has_open_power(text)) << text;
}

}  // namespace
}  // namespace iruka::jit
