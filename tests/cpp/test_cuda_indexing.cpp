// Gathers and scatters of a GPU, run by an emulated device: whole blocks of four elements a thread, and what is left.
#include <gtest/gtest.h>

#include <numeric>

#include "emulated_cuda.h"
#include "iruka/indexing.h"

namespace {

using namespace iruka;
using namespace iruka::test;

class CudaIndexing : public EmulatedDeviceTest, public ::testing::WithParamInterface<int64_t> {
 protected:
  static std::vector<int64_t> places(int64_t n) {
    std::vector<int64_t> all(static_cast<size_t>(n));
    for (int64_t k = 0; k < n; ++k) all[static_cast<size_t>(k)] = k * 7919 % n - (k % 3 == 0 ? n : 0);
    return all;
  }
  static Array on_device(const std::vector<int64_t>& x) {
    return copy_to(emulated_cuda(), Array::from(std::span<const int64_t>(x), {static_cast<int64_t>(x.size())}));
  }
  static std::vector<int64_t> on_host(const Array& x) { return copy_to(cpu(), x).to_vector<int64_t>(); }
};

TEST_P(CudaIndexing, GathersScattersAndAddsAtIndices) {
  const int64_t n = GetParam();
  std::vector<int64_t> x(static_cast<size_t>(n)), at = places(n);
  std::iota(x.begin(), x.end(), 5);
  const auto place = [&](size_t k) { return static_cast<size_t>(at[k] + (at[k] < 0 ? n : 0)); };
  std::vector<int64_t> gathered(x), scattered(x), added(x);
  for (size_t k = 0; k < x.size(); ++k) gathered[k] = x[place(k)], scattered[place(k)] = x[k], added[place(k)] += x[k];
  const Array device = on_device(x), indices = on_device(at);
  const AnyIndex entries[] = {indices};
  EXPECT_EQ(on_host(index(device, entries)), gathered);
  const Array target = on_device(x), sums = on_device(x);
  assign_index(target, entries, device);
  EXPECT_EQ(on_host(target), scattered);
  scatter_at(sums, entries, ElementwiseFunction("add"), &device);
  EXPECT_EQ(on_host(sums), added);
  check_indices(emulated_cuda());
  at.back() = n;
  const AnyIndex wrong[] = {on_device(at)};
  index(device, wrong);
  EXPECT_THROW(check_indices(emulated_cuda()), IndexError);
}

INSTANTIATE_TEST_SUITE_P(Lengths, CudaIndexing, ::testing::Values(3, 512, 2000));

}  // namespace
