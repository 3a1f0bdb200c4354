// Bodies whose local arrays are indexed at run time, in every form of loop: each element has locals of its own.
#include <gtest/gtest.h>

#include <functional>

#include "core/device.h"
#include "iruka/iruka.h"

namespace iruka {
namespace {

/// The values of an element: its inputs and its place in a 2-D loop.
struct Element {
  float x;
  int32_t k;
  int64_t row, column;
};

struct Body {
  const char* name;
  const char* text;  ///< over float32 x, int32 k (0 to 99), float32 z
  std::function<float(const Element&)> reference;
};

float table_of_four(const Element& e) { return e.x * static_cast<float>((e.k & 3) + 1); }
float place_on_axis(const Element& e) { return static_cast<float>(e.k & 1 ? e.column : e.row); }

float swapped(const Element& e) {
  int pair[2] = {e.k, e.k + 1};
  std::swap(pair[e.k & 1], pair[0]);
  return static_cast<float>(pair[0] * 200 + pair[1]);
}

float through_a_pointer(const Element& e) {
  float a = e.x, b = 2 * e.x;
  (e.k & 1 ? a : b) += 1;
  return a * 3 + b;
}

float structure(const Element& e) { return e.x + static_cast<float>(e.k * (e.k % 3)); }

float running_total(const Element& e) {
  int total = 0;
  for (int j = 0; j <= e.k % 8; ++j) total += j * e.k;
  return static_cast<float>(total);
}

const Body kBodies[] = {
    {"Table", "float t[4]; t[0] = x; t[1] = x * 2; t[2] = x * 3; t[3] = x * 4; z = t[k & 3];", table_of_four},
    {"Indexer", "z = _ind.get()[k & 1];", place_on_axis},
    {"Swap",
     "int pair[2] = {k, k + 1}; int kept = pair[k & 1]; pair[k & 1] = pair[0]; pair[0] = kept; z = pair[0] * 200 + "
     "pair[1];",
     swapped},
    {"Pointer", "float a = x, b = 2 * x; float* p = k & 1 ? &a : &b; *p += 1; z = a * 3 + b;", through_a_pointer},
    {"PointerArray", "float a = x, b = 2 * x; float* p[2] = {&b, &a}; *p[k & 1] += 1; z = a * 3 + b;",
     through_a_pointer},
    {"Structure",
     "struct Pair { int u; float v; } p[3]; p[0] = {0, x}; p[1] = {1, x}; p[2] = {2, x};"
     "z = p[k % 3].v + p[k % 3].u * k;",
     structure},
    {"RunningTotal", "int t[8]; t[0] = 0; for (int j = 1; j < 8; ++j) t[j] = t[j - 1] + j * k; z = t[k % 8];",
     running_total},
};

struct Form {
  const char* name;
  Dims shape;
  Array (*lay_out)(const Array&);  ///< other strides for the first input, the same values
};

Array as_is(const Array& array) { return array; }
Array with_gaps(const Array& array) {
  Array wide = Array::empty({array.shape()[0], array.shape()[1] + 3}, array.dtype());
  Array part = wide.at(Slice{}, Slice{0, array.shape()[1]});
  part.assign(array);
  return part;
}
Array transposed(const Array& array) { return array.transpose().copy().transpose(); }

/// 100 003 elements, or so many that the output alone fills the last-level cache.
Form form(int index) {
  const auto filling = static_cast<int64_t>(cpu().target().last_level_cache_bytes / sizeof(float));
  switch (index) {
    case 0: return {"Flat", {1, 100'003}, as_is};
    case 1: return {"Stream", {7, filling / 7 + 77}, as_is};
    case 2: return {"Rows", {23, 4348}, with_gaps};
    default: return {"Tiles", {317, 316}, transposed};
  }
}

class KernelLocals : public testing::TestWithParam<std::tuple<Body, int>> {};

TEST_P(KernelLocals, BelongToOneElement) {
  const auto& [body, index] = GetParam();
  const Form loop = form(index);
  const int64_t size = count(loop.shape), columns = loop.shape[1];
  std::vector<float> xs(static_cast<size_t>(size));
  std::vector<int32_t> ks(xs.size());
  for (size_t k = 0; k < xs.size(); ++k) {
    xs[k] = static_cast<float>(k % 1009);
    ks[k] = static_cast<int32_t>(k * 2654435761u >> 7 & 0xFFFF) % 100;
  }
  const Array x = loop.lay_out(Array::from(std::span<const float>(xs), loop.shape));
  const Array k = Array::from(std::span<const int32_t>(ks), loop.shape);
  const ElementwiseKernel kernel("float32 x, int32 k", "float32 z", body.text);
  const auto z = kernel(x, k).to_vector<float>();
  for (size_t e = 0; e < z.size(); ++e) {
    const auto place = static_cast<int64_t>(e);
    ASSERT_EQ(z[e], body.reference({xs[e], ks[e], place / columns, place % columns})) << "element " << e;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryForm, KernelLocals, testing::Combine(testing::ValuesIn(kBodies), testing::Range(0, 4)),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + std::string(form(std::get<1>(info.param)).name);
                         });

TEST(KernelLoops, WithoutLocalsInMemoryStayVectors) {
  if (device_name(default_device()) != "cpu") GTEST_SKIP() << "the vectors are the CPU's";
  for (int index = 0; index < 4; ++index) {
    const Form loop = form(index);
    const Array x = loop.lay_out(Array::empty(loop.shape, Dtype::float32)),
                y = Array::empty(loop.shape, Dtype::float32);
    const Argument arguments[] = {x, y};
    const ElementwiseKernel sum("float32 x, float32 y", "float32 z", "z = x + y;");
    EXPECT_NE(sum.assembly(arguments).find("addps"), std::string::npos) << loop.name;
    const ElementwiseKernel power("float32 x, float32 y", "float32 z", "float t[2] = {x, y}; z = expf(t[0]) + t[1];");
    const std::string text = power.assembly(arguments);
    EXPECT_TRUE(text.find("expf16_") != text.npos || text.find("expf8_") != text.npos ||
                text.find("expf4_") != text.npos)
        << loop.name << text;
  }
}

}  // namespace
}  // namespace iruka
