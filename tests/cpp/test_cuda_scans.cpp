// The texts of scans for CUDA, run by an emulated device, against the CPU's scans; and compiled by NVRTC.
#include <gtest/gtest.h>

#include "emulated_cuda.h"
#include "iruka/statistics.h"
#include "nvrtc_testing.h"
#include "ops/count/histogram.h"
#include "ops/scan/scan.h"
#include "reduction_references.h"

namespace {

using namespace iruka;
using namespace iruka::test;

constexpr ScanOperation kOperations[] = {ScanOperation::add, ScanOperation::multiply, ScanOperation::minimum,
                                         ScanOperation::maximum};

class CudaScans : public EmulatedDeviceTest, public ::testing::WithParamInterface<ScanOperation> {};

/// Powers of two and small integers: exact in any order of combination.
Array values_for(ScanOperation operation, const Dims& shape, Dtype dtype) {
  if (operation != ScanOperation::multiply) return numbers(shape, dtype);
  const Array x = Array::empty(shape, Dtype::float64, cpu());
  for (int64_t k = 0; k < x.size(); ++k) static_cast<double*>(x.data())[k] = k % 7 == 3 ? 2 : k % 14 == 5 ? 0.5 : 1;
  return x.astype(dtype);
}

void check(ScanOperation operation, const Array& host, const Array& device, int64_t axis,
           const ScanOptions& options = {}) {
  const Array want = scan(host, operation, axis, options), got = copy_to(cpu(), scan(device, operation, axis, options));
  ASSERT_EQ(got.dtype(), want.dtype());
  ASSERT_EQ(got.shape(), want.shape());
  ASSERT_EQ(doubles(got), doubles(want)) << to_string(host.shape()) << " axis " << axis << " " << name(host.dtype());
}

TEST_P(CudaScans, EveryDtypeAndLength) {
  for (Dtype dtype : kReal)
    for (int64_t n : {1, 33, 513, 5000}) {
      if ((dtype == Dtype::float16 || dtype == Dtype::bfloat16) && n > 33) continue;
      const Array x = values_for(GetParam(), {3, n}, dtype);
      check(GetParam(), x, copy_to(emulated_cuda(), x), 1);
    }
}

TEST_P(CudaScans, TilesLookBackThroughGroupsOfGroups) {
  // 1100 tiles of 256 threads: two levels of groups, and a prefix of the first 1024 tiles.
  const int64_t tile = 256 * 16;
  const Array x = values_for(GetParam(), {1030 * tile + 77}, Dtype::int8);
  check(GetParam(), x, copy_to(emulated_cuda(), x), 0);
  const Array rows = values_for(GetParam(), {2, 40 * tile + 5}, Dtype::float32);  // rows that are not aligned
  check(GetParam(), rows, copy_to(emulated_cuda(), rows), 1);
}

TEST_P(CudaScans, GapsAndTurnedVectors) {
  const Array x = values_for(GetParam(), {9000}, Dtype::float32), device = copy_to(emulated_cuda(), x);
  for (int64_t step : {2, 7, -1, -2}) {
    const auto view = [step](const Array& a) { return a.at(Slice{{}, {}, step}); };
    check(GetParam(), view(x), view(device), 0);
  }
}

TEST_P(CudaScans, EveryAxisOfManyLayouts) {
  const Array x = values_for(GetParam(), {5, 70, 6}, Dtype::float32), device = copy_to(emulated_cuda(), x);
  const auto views = {
      std::function<Array(const Array&)>([](const Array& a) { return a; }),
      std::function<Array(const Array&)>([](const Array& a) { return a.transpose(); }),
      std::function<Array(const Array&)>([](const Array& a) { return a.at(Slice{{}, {}, -2}, Slice{1, {}, 3}); }),
      std::function<Array(const Array&)>([](const Array& a) { return a.at(Slice{}, NewAxis{}, 3); })};
  for (const auto& view : views)
    for (int axis = 0; axis < view(x).ndim(); ++axis) {
      check(GetParam(), view(x), view(device), axis);
      if (GetParam() < ScanOperation::minimum)
        check(GetParam(), view(x), view(device), axis, {.includes_initial = true});
    }
}

INSTANTIATE_TEST_SUITE_P(Operations, CudaScans, ::testing::ValuesIn(kOperations));

class CudaScanTexts : public NvrtcArchitectureTest {};

TEST_P(CudaScanTexts, CompileForEveryArchitecture) {
  for (Dtype dtype : {Dtype::float32, Dtype::int8, Dtype::bfloat16, Dtype::complex128}) {
    const Array x = zeros({4, 4}, dtype), sums = scan(x, ScanOperation::add, 0);
    const ops::ScanCall add{x, sums, ScanOperation::add, 0, true}, least{x, x, ScanOperation::minimum, 0, false};
    for (const std::string& text : {ops::scan_tiles_text(add, 256, {true, true, true, true}),
                                    ops::scan_tiles_text(least, 32, {true, false, false, false}),
                                    ops::scan_tiles_text(add, 256, {false, false, true, true}),
                                    ops::scan_walk_text(add, 2), ops::scan_walk_text(least, 1)}) {
      const std::string ptx = ptx_of(text);
      EXPECT_NE(ptx.find(".visible .entry iruka_entry("), std::string::npos) << text;
      EXPECT_EQ(ptx.find("ld.local"), std::string::npos) << text;
    }
  }
}

TEST_P(CudaScanTexts, CountsCompileForEveryArchitecture) {
  for (Dtype index : {Dtype::int32, Dtype::int64})
    EXPECT_NE(ptx_of(ops::count_bins_text(index)).find("atom.shared.add.u32"), std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(Architectures, CudaScanTexts, ::testing::Values(75, 80, 90, 100));

TEST(CudaCounts, BlocksAddUpTheirOwn) {
  const int64_t n = 150000;
  std::vector<int64_t> indices(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) indices[static_cast<size_t>(k)] = k * k % 4001;
  const Array x = Array::from(std::span<const int64_t>(indices), {n});
  for (Dtype dtype : {Dtype::int32, Dtype::int64})
    for (int64_t bins : {4001, 5000}) {
      const Array host = x.astype(dtype).at(Slice{{}, {}, -1}), device = copy_to(emulated_cuda(), x.astype(dtype));
      EXPECT_EQ(doubles(copy_to(cpu(), ops::count_bins(device.at(Slice{{}, {}, -1}), nullptr, bins))),
                doubles(ops::count_bins(host, nullptr, bins)));
    }
  const Array few = x.astype(Dtype::int32).at(Slice{0, 60, {}});
  EXPECT_EQ(doubles(copy_to(cpu(), ops::count_bins(copy_to(emulated_cuda(), few), nullptr, 4096))),
            doubles(ops::count_bins(few, nullptr, 4096)));
}

TEST(CudaScanValues, NanAndComplex) {
  std::vector<double> values(9000, 1.0);
  values[3] = values[5000] = NAN;
  const Array x = Array::from(std::span<const double>(values), {9000}), device = copy_to(emulated_cuda(), x);
  for (ScanOperation operation : kOperations) {
    const auto got = doubles(copy_to(cpu(), scan(device, operation, 0)));
    EXPECT_TRUE(std::isnan(got[3]) && std::isnan(got[8999]) && got[2] == got[2]);
    const ScanOptions options{.skips_nan = true};
    EXPECT_EQ(doubles(copy_to(cpu(), scan(device, operation, 0, options))), doubles(scan(x, operation, 0, options)));
  }
  const Array z = x.astype(Dtype::complex64), z_device = copy_to(emulated_cuda(), z);
  const ScanOptions options{.skips_nan = true};
  EXPECT_EQ(copy_to(cpu(), scan(z_device, ScanOperation::add, 0, options)).to_vector<std::complex<float>>()[8999],
            std::complex<float>(8998, 0));
}

}  // namespace
