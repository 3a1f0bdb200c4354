// StagedKernel from C++: stages in their order, slices, counts, and its texts.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "iruka/device.h"
#include "iruka/ops.h"
#include "iruka/staged_kernel.h"

namespace iruka {
namespace {

StagedKernel mirror(std::optional<Dims> axis = {}) {
  return StagedKernel("T x", "T y", "T kept", {"kept[i] = x;", "y = kept[_slice[_slice.size() - 1 - _J]];"}, "mirror",
                      {.axis = axis});
}

TEST(StagedKernel, EveryStageSeesThoseBefore) {
  for (const int64_t rows : {1, 3, 20'000}) {
    const Array x = arange(0, static_cast<double>(rows * 4), 1, Dtype::int64).reshape({rows, 4});
    std::vector<int64_t> all, lines, columns;
    for (int64_t k = 0; k < rows * 4; ++k) {
      all.push_back(rows * 4 - 1 - k);
      lines.push_back(k / 4 * 4 + 3 - k % 4);
      columns.push_back((rows - 1 - k / 4) * 4 + k % 4);
    }
    EXPECT_EQ(mirror()(x).to_vector<int64_t>(), all);
    EXPECT_EQ(mirror(Dims{-1})(x).to_vector<int64_t>(), lines);
    const Argument list[] = {x};
    EXPECT_EQ(mirror().call(list, {.axis = Dims{0}}).front().to_vector<int64_t>(), columns);
  }
}

TEST(StagedKernel, RepeatsStages) {
  const StagedKernel kernel("T x, int32 times", "T y", "",
                            {"y = x;", {"y = 2 * y + _step;", 3}, {"y += 1000;", std::string("times")}}, "repeated");
  EXPECT_EQ(kernel(arange(0, 3, 1, Dtype::int64), 2).to_vector<int64_t>(), (std::vector<int64_t>{2004, 2012, 2020}));
  EXPECT_EQ(kernel(arange(0, 3, 1, Dtype::int64), 0).to_vector<int64_t>(), (std::vector<int64_t>{4, 12, 20}));
  EXPECT_THROW(kernel(arange(0, 3, 1, Dtype::int64), -1), ValueError);
  EXPECT_THROW(StagedKernel("T x", "T y", "", {{"y = x;", -1}}), ValueError);
  EXPECT_THROW(StagedKernel("T x", "T y", "", {{"y = x;", std::string("x")}}), ValueError);
  EXPECT_THROW(StagedKernel("T x", "T y", "", {}), ValueError);
}

TEST(StagedKernel, SaysWhereItWasMade) {
  try {
    StagedKernel("float32 x", "float32 y", "float32 a", {"a[i] = x;", "y = a[i] + wrong;"}, "faulty");
    FAIL() << "the text is not C++";
  } catch (const CompileError& error) {
    EXPECT_NE(std::string(error.what()).find("test_staged_kernel.cpp"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("stage 2, line 1"), std::string::npos) << error.what();
  }
}

TEST(StagedKernel, ShowsItsTexts) {
  const StagedKernel kernel = mirror();
  EXPECT_EQ(kernel.to_string(), "StagedKernel mirror(T x; T kept) -> (T y)");
  EXPECT_EQ(kernel.nin(), 1);
  EXPECT_EQ(kernel.nout(), 1);
  EXPECT_EQ(kernel.intermediates().front().name, "kept");
  EXPECT_EQ(kernel.stages().size(), 2u);
  const Array small = ones({3, 4}), large = ones({1000, 1000});
  const Argument few[] = {small}, many[] = {large};
  const std::string text = kernel.source(few);
  EXPECT_NE(text.find("kept[i] = x;"), text.npos);
  EXPECT_EQ(text.find("// stage"), text.npos);
  EXPECT_TRUE(kernel.source(many).starts_with("// stage 1 of 2\n"));
  EXPECT_FALSE(kernel.assembly(many).empty());
  EXPECT_EQ(kernel.report(many).kernel, "mirror");
  EXPECT_TRUE(kernel.generated_sources().empty());
  kernel.call(few);
  kernel.call(many);
  const std::vector<GeneratedSource> sources = kernel.generated_sources();
  ASSERT_EQ(sources.size(), 3u);
  EXPECT_EQ(sources[0].text, text);
  EXPECT_EQ(sources[0].array_dtypes, (std::vector<Dtype>{Dtype::float64, Dtype::float64}));
}

TEST(StagedKernel, IsCalledByManyThreads) {
  const StagedKernel kernel = mirror(Dims{-1});
  const Array x = arange(0, 6000, 1, Dtype::int64).reshape({60, 100});
  const std::vector<int64_t> want = kernel(x).to_vector<int64_t>();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k)
    threads.emplace_back([&] {
      for (int call = 0; call < 50; ++call) wrong += kernel(x).to_vector<int64_t>() != want;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace iruka
