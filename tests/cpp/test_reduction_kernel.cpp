// ReductionKernel from C++, and that its plans reach every element once.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "iruka/device.h"
#include "iruka/ops.h"
#include "iruka/reduction_kernel.h"
#include "ops/reduce/reduction_kernel_plan.h"

namespace iruka {
namespace {

ReductionKernel squares() { return ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "squares"); }

TEST(ReductionKernel, ReducesAllAxesOrSome) {
  const Array x = arange(0, 12, 1, Dtype::int64).reshape({3, 4});
  EXPECT_EQ(squares()(x).item<int64_t>(), 506);
  const Argument list[] = {Argument(x)};
  EXPECT_EQ(squares().call(list, {.axes = Dims{1}}).front().to_vector<int64_t>(), (std::vector<int64_t>{14, 126, 366}));
  EXPECT_EQ(squares().call(list, {.axes = Dims{0}, .keepdims = true}).front().shape(), (Dims{1, 4}));
  EXPECT_EQ(squares().to_string(), "ReductionKernel squares(T x) -> (T y)");
}

TEST(ReductionKernel, SaysWhereItWasMade) {
  try {
    ReductionKernel("float32 x", "float32 y", "x", "a + c", "y = a", "0", "wrong");
    FAIL() << "the text is not C++";
  } catch (const CompileError& error) {
    EXPECT_NE(std::string(error.what()).find("test_reduction_kernel.cpp"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("reduce_expr, line 1"), std::string::npos) << error.what();
  }
}

TEST(ReductionKernel, ShowsItsTexts) {
  const ReductionKernel kernel("T x", "T y", "x * x /* mark */", "a + b", "y = sqrt(a)", "0", "shown");
  EXPECT_EQ(kernel.nin(), 1);
  EXPECT_EQ(kernel.nout(), 1);
  const Array small = ones({3, 4}), large = ones({3'000'000}, Dtype::float32);
  const Argument rows[] = {small}, all[] = {large};
  const std::string text = kernel.source(rows, {.axes = Dims{1}});
  for (const char* part : {"x * x /* mark */", "a + b", "y = sqrt(a)"}) EXPECT_NE(text.find(part), text.npos) << part;
  EXPECT_EQ(text.find("// stage"), text.npos);
  EXPECT_TRUE(kernel.source(all).starts_with("// stage 1 of "));
  EXPECT_FALSE(kernel.assembly(rows).empty());
  EXPECT_EQ(kernel.report(all).kernel, "shown");
  EXPECT_TRUE(kernel.generated_sources().empty());
  kernel.call(rows, {.axes = Dims{1}});
  kernel.call(all);
  const std::vector<GeneratedSource> sources = kernel.generated_sources();
  ASSERT_GE(sources.size(), 3u);
  EXPECT_EQ(sources[0].text, text);
  EXPECT_EQ(sources[0].array_dtypes, (std::vector<Dtype>{Dtype::float64, Dtype::float64}));
  for (size_t k = 1; k < sources.size(); ++k)
    EXPECT_EQ(sources[k].array_dtypes, (std::vector<Dtype>{Dtype::float32, Dtype::float32}));
}

TEST(ReductionKernel, IndexesEveryAxisWithoutReduceDims) {
  const ReductionKernel kernel("T x", "int64 y", "x * (_in_ind.get()[0] * 10 + _in_ind.get()[1])", "a + b",
                               "y = a * 10 + _out_ind.ndim", "0", "indexed", {.reduce_dims = false});
  const Array x = ones({2, 3}, Dtype::int64);
  const Argument list[] = {x};  // reduced axes come first
  EXPECT_EQ(kernel.call(list, {.axes = Dims{1}}).front().to_vector<int64_t>(), (std::vector<int64_t>{301, 331}));
  EXPECT_EQ(kernel.call(list, {.axes = Dims{0}, .keepdims = true}).front().to_vector<int64_t>(),
            (std::vector<int64_t>{102, 122, 142}));
}

/// None of the blocks of `length`, of which the last takes the rest, is empty.
void expect_covers(int64_t extent, int64_t blocks, int64_t length) {
  EXPECT_GE(blocks, 1);
  if (blocks == 1) return;
  EXPECT_GE(length, 1);
  EXPECT_LT((blocks - 1) * length, extent);
}

void expect_plan(const ops::ReductionSizes& sizes, int64_t n) {
  SCOPED_TRACE(testing::Message() << "n " << n << " outputs " << sizes.outputs << " outer " << sizes.outer << " lanes "
                                  << sizes.lanes << " blocks " << sizes.blocks << " of " << sizes.length << " groups "
                                  << sizes.groups << " of " << sizes.group_length);
  expect_covers(n, sizes.blocks, sizes.length);
  expect_covers(sizes.outer, sizes.groups, sizes.group_length);
  // Every lane has an element, so that a reduction without identity has something to start from.
  EXPECT_LE(sizes.lanes, sizes.blocks == 1 ? n : std::min(sizes.length, n - (sizes.blocks - 1) * sizes.length));
  if (sizes.passes == 0) return;
  EXPECT_GE(sizes.blocks * sizes.length, n);  // no block takes more passes than the first
  EXPECT_GE(sizes.passes * ops::kReductionPass * sizes.lanes, sizes.length * sizes.group_length);
  const int64_t columns = sizes.lanes > 1 ? sizes.width / sizes.lanes : sizes.strips * sizes.width;
  EXPECT_GE(columns, sizes.inner);
  EXPECT_LT(columns - sizes.width, sizes.inner);
}

const ops::ReductionPlanning& planning_of(DeviceKind kind) {
  return *ops::ReductionPlanning::implementations.of_kind[static_cast<size_t>(kind)];
}

TEST(ReductionKernel, PlansReachEveryElementAndEnd) {
  constexpr int64_t kExtents[] = {1, 2, 3, 15, 31, 64, 100, 257, 1000, 16385, 1'000'003, 3'000'000'000};
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda})
    for (const auto& [by_columns, is_flat] : {std::pair(false, false), std::pair(true, false), std::pair(true, true)})
      for (const int64_t outputs : kExtents)
        for (const int64_t n : kExtents)
          for (const int64_t outer : {1, 7, 5000}) {
            ops::ReductionWork work{outputs, outputs, n, outer, by_columns, is_flat && outer == 1};
            const ops::ReductionSizes first = planning_of(kind).map(work);
            expect_plan(first, n);
            int64_t left = first.partials();
            int launches = 1;
            for (; left > 1; ++launches) {
              work = {.outputs = outputs, .inner = outputs, .n = left, .by_columns = by_columns};
              const ops::ReductionSizes next = planning_of(kind).join(work);
              expect_plan(next, left);
              ASSERT_LT(next.partials(), left);
              left = next.partials();
            }
            EXPECT_LE(launches, 8);
          }
}

TEST(ReductionKernel, GpusLaunchWholeWarps) {
  for (const int64_t n : {4, 9, 40, 1000, 100'000})
    for (const int64_t outputs : {1, 3, 77, 5000}) {
      const ops::ReductionSizes sizes =
          planning_of(DeviceKind::cuda).map({.outputs = outputs, .inner = outputs, .n = n});
      if (sizes.lanes > 1) {
        EXPECT_EQ(sizes.units() % 32, 0);
      }
    }
}

}  // namespace
}  // namespace iruka
