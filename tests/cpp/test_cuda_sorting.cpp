// Sorts for CUDA, run by an emulated device, against std::stable_sort.
#include <gtest/gtest.h>

#include "emulated_cuda.h"
#include "iruka/indexing.h"
#include "ops/count/histogram.h"
#include "sort_references.h"

namespace {

using namespace iruka;
using namespace iruka::test;

class CudaSorts : public EmulatedDeviceTest, public ::testing::WithParamInterface<Dtype> {
 protected:
  static void check(const Array& x, bool descending) {
    const Array device = copy_to(emulated_cuda(), x);
    const SortOptions options{.descending = descending};
    const Array order = copy_to(cpu(), argsort(device, -1, options)),
                sorted = copy_to(cpu(), sort(device, -1, options));
    const int64_t n = x.shape(x.ndim() - 1);
    const Array rows = x.reshape({-1, n}), orders = order.reshape({-1, n}), values = sorted.reshape({-1, n});
    for (int64_t row = 0; row < rows.shape(0); ++row) {
      const Array own = rows.at(row);
      const std::vector<int64_t> expected = expected_order(own, descending);
      ASSERT_EQ(orders.at(row).to_vector<int64_t>(), expected)
          << name(x.dtype()) << " " << to_string(x.shape()) << " row " << row;
      for (int64_t k = 0; k < n; ++k) {
        const auto want = own.at(expected[static_cast<size_t>(k)]).item().as_complex(),
                   got = values.at(row, k).item().as_complex();
        ASSERT_FALSE(comes_before(want, got) || comes_before(got, want))
            << name(x.dtype()) << " " << to_string(x.shape()) << " row " << row << " element " << k;
      }
    }
  }
};

TEST_P(CudaSorts, ShortRows) {
  check(sortable({3, 5}, GetParam(), 1), false);
  check(sortable({2, 1500}, GetParam(), 2, 40), true);
}

TEST_P(CudaSorts, LongRows) {
  check(sortable({2, 2500}, GetParam(), 3, 300), false);
  check(sortable({20000}, GetParam(), 4), true);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, CudaSorts, ::testing::ValuesIn(kSortable),
                         [](const auto& dtype) { return std::string(name(dtype.param)); });

TEST_F(CudaSorts, KeysThatAgreeAndRowsOfExactTiles) {
  for (int64_t n : {2048, 2049, 7680, 7681}) {
    check(sortable({n}, Dtype::float32, 5, 1), false);
    check(sortable({2, n}, Dtype::uint8, 6), false);
  }
}

// Each row skips the passes in which its keys share the digit, others than its neighbours.
TEST_F(CudaSorts, RowsThatMoveInOtherPasses) {
  const int64_t n = 9000;
  for (Dtype dtype : {Dtype::int32, Dtype::uint16, Dtype::int64}) {
    const Array x = sortable({6, n}, dtype, 8);
    for (int64_t row = 0; row < 5; ++row)
      for (int64_t k = 0; k < n; ++k)
        x.at(row, k).fill(Scalar(row == 0   ? 7
                                 : row == 1 ? k * 7919 % 1000
                                 : row == 2 ? k % 2 * 256
                                 : row == 3 ? k % 3
                                            : k % 5 * 4000));
    check(x, false);
    check(x.at(Slice{1, 2, {}}), true);
  }
}

TEST_F(CudaSorts, MembersAndBins) {
  const auto on_device = [](const std::vector<double>& x) {
    return copy_to(emulated_cuda(), Array::from(std::span<const double>(x), {static_cast<int64_t>(x.size())}));
  };
  const Array x = on_device({-1, 0, 0.5, 1, 2, 3, NAN});
  const std::vector<std::pair<std::vector<double>, std::vector<int64_t>>> cases{
      {{0, 1, 1, 2}, {0, 1, 1, 3, 4, 4, 4}},
      {{2, 1, 1, 0}, {4, 3, 3, 1, 0, 0, 0}},
      {{1}, {0, 0, 0, 1, 1, 1, 1}},
      {{0, 2, NAN}, {0, 1, 1, 1, 2, 2, 3}},
      {{0, 0, 2, NAN, NAN}, {0, 2, 2, 2, 3, 3, 5}},
      {{NAN, 3, 2}, {3, 3, 3, 3, 2, 1, 0}},
      {{NAN, 1}, {2, 2, 2, 1, 1, 1, 0}},
      {{1, 1}, {0, 0, 0, 2, 2, 2, 2}},
      {{}, {0, 0, 0, 0, 0, 0, 0}}};
  for (const auto& [edges, bins] : cases) {
    const Array own = on_device(edges);
    EXPECT_EQ(copy_to(cpu(), ops::digitize_gpu(x, own, own, false)).to_vector<int64_t>(), bins);
    check_indices(emulated_cuda());
  }
  for (const std::vector<double>& edges : {std::vector<double>{3, 1, 1, 2, 0, 0, 0, 0, 0, 0}, {NAN, 1, 2}, {1, 3, 2}}) {
    const Array mixed = on_device(edges);
    ops::digitize_gpu(x, mixed, mixed, false);
    EXPECT_THROW(check_indices(emulated_cuda()), ValueError);
  }
  const Array sorted = on_device({0, 1, 1, 3, NAN});
  for (const bool invert : {false, true}) {
    const std::vector<int64_t> expected{0, 1, 0, 1, 0, 1, 0};
    const auto found = copy_to(cpu(), isin_sorted(sorted, x, invert)).astype(Dtype::int64).to_vector<int64_t>();
    for (size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(found[k], expected[k] ^ invert) << k;
  }
}

TEST_F(CudaSorts, SetsAndLexsort) {
  const Array x = sortable({5000}, Dtype::int32, 7, 700), device = copy_to(emulated_cuda(), x);
  const UniqueParts parts{true, true, true};
  const UniqueResult want = unique(x, parts), got = unique(device, parts);
  EXPECT_EQ(copy_to(cpu(), got.values).to_vector<int32_t>(), want.values.to_vector<int32_t>());
  for (const auto& [a, b] : {std::pair(got.index, want.index), {got.inverse, want.inverse}, {got.counts, want.counts}})
    EXPECT_EQ(copy_to(cpu(), a).to_vector<int64_t>(), b.to_vector<int64_t>());
  const Array few = sortable({5000}, Dtype::uint8, 8, 9);
  const Array keys[] = {x, few}, device_keys[] = {device, copy_to(emulated_cuda(), few)};
  EXPECT_EQ(copy_to(cpu(), lexsort(device_keys)).to_vector<int64_t>(), lexsort(keys).to_vector<int64_t>());
}

}  // namespace
