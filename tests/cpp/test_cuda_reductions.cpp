// The texts of reductions for CUDA, run by an emulated device, against the references of the CPU's tests.
#include <gtest/gtest.h>

#include <array>
#include <complex>

#include "emulated_cuda.h"
#include "ops/reduce/reduction.h"
#include "reduction_references.h"

namespace {

using namespace iruka;
using namespace iruka::test;

using View = std::function<Array(const Array&)>;

std::vector<double> values_of(const Array& x) { return doubles(copy_to(cpu(), x)); }

/// The host's array and its copy on the device, seen through the same view.
struct Pair {
  Array host, device;
  explicit Pair(const Array& x) : host(x), device(copy_to(emulated_cuda(), x)) {}
  Pair(Array host, Array device) : host(std::move(host)), device(std::move(device)) {}
  Pair through(const View& view) const { return {view(host), view(device)}; }
};

void check(const Reference& row, const Pair& x, const std::vector<bool>& reduced) {
  Dims axes;
  for (int axis = 0; axis < x.host.ndim(); ++axis)
    if (reduced[static_cast<size_t>(axis)]) axes.push_back(axis);
  const auto got = values_of(ReductionFunction(row.name)(x.device, axes));
  const auto want = groups(x.host, reduced);
  ASSERT_EQ(got.size(), want.size());
  for (size_t k = 0; k < want.size(); ++k) {
    const double value = row.formula(want[k]);
    ASSERT_LE(std::abs(got[k] - value), tolerance(row, x.host.dtype()) * std::max(1.0, std::abs(value)))
        << row.name << " of " << name(x.host.dtype()) << " " << to_string(x.host.shape()) << " strides "
        << to_string(x.host.strides()) << " axes " << to_string(axes) << " output " << k;
  }
}

void check_axis_sets(const Reference& row, const Pair& x) {
  for (unsigned mask = 0; mask < 1u << x.host.ndim(); ++mask) {
    std::vector<bool> reduced;
    for (int axis = 0; axis < x.host.ndim(); ++axis) reduced.push_back(mask >> axis & 1);
    check(row, x, reduced);
  }
}

class CudaReductions : public EmulatedDeviceTest, public ::testing::WithParamInterface<Reference> {};
using CudaReductionLaunches = EmulatedDeviceTest;
using CudaReductionNan = EmulatedDeviceTest;
using CudaReductionBool = EmulatedDeviceTest;
using CudaReductionComplex = EmulatedDeviceTest;
using CudaReductionAccuracy = EmulatedDeviceTest;

TEST_P(CudaReductions, EveryForm) {
  const Pair x(numbers({3000, 9}, Dtype::float32));  // an odd row: unaligned, but as a whole
  for (const View& view : {View([](const Array& a) { return a; }), View([](const Array& a) { return a.ravel(); }),
                           View([](const Array& a) { return a.at(Slice{}, Slice{1, {}, {}}); })})
    check_axis_sets(GetParam(), x.through(view));
  check_axis_sets(GetParam(), Pair(numbers({300, 3, 8}, Dtype::float32)));  // many short columns
  check(GetParam(), Pair(numbers({3000, 4}, Dtype::float32)), {false, true});
}

INSTANTIATE_TEST_SUITE_P(Rows, CudaReductions, ::testing::ValuesIn(kReferences),
                         [](const auto& row) { return row.param.name; });

/// Representative rows, for tests in which the row does not matter.
class CudaReductionWalks : public CudaReductions {};

TEST_P(CudaReductionWalks, EveryDtype) {
  for (Dtype dtype : kReal) {
    const bool is_coarse = dtype == Dtype::bfloat16 || dtype == Dtype::float16;  // exact sums of few elements only
    for (int64_t n : {1, 31, 33, 257, 1031}) {
      if (is_coarse && n > 33) continue;
      check(GetParam(), Pair(numbers({n}, dtype, static_cast<unsigned>(n))), {true});
    }
    const Pair table(numbers({7, 33}, dtype));
    check(GetParam(), table, {true, false});
    check(GetParam(), table.through([](const Array& x) { return x.at(Slice{}, Slice{1, {}, {}}); }), {false, true});
  }
}

TEST_P(CudaReductionWalks, EveryAxisSetOfManyLayouts) {
  const Pair base(numbers({4, 9, 5, 6}, Dtype::float32));
  const View views[] = {[](const Array& x) { return x; },
                        [](const Array& x) { return x.transpose(); },
                        [](const Array& x) { return x.transpose({2, 0, 3, 1}); },
                        [](const Array& x) { return x.at(Slice{{}, {}, -1}, Slice{}, Slice{{}, {}, -2}); },
                        [](const Array& x) { return x.at(Ellipsis{}, Slice{1, {}, 2}); },
                        [](const Array& x) { return x.at(Slice{}, Slice{0, 1, {}}).broadcast_to({4, 9, 5, 6}); },
                        [](const Array& x) { return x.at(2); },
                        [](const Array& x) { return x.at(Slice{}, NewAxis{}, 3); }};
  for (const View& view : views) check_axis_sets(GetParam(), base.through(view));
}

TEST_P(CudaReductionWalks, ShapesThatAreCutIntoChunks) {
  const Dims shapes[] = {{140000}, {50000, 3}, {3, 70000}, {9000, 17}, {17, 9000}, {4, 100, 300}};
  for (const Dims& shape : shapes) {
    const Pair x(numbers(shape, Dtype::float32));
    for (const View& view :
         {View([](const Array& a) { return a; }), View([](const Array& a) { return a.transpose(); })})
      check_axis_sets(GetParam(), x.through(view));
  }
  // Unaligned rows and columns.
  const Pair bytes(numbers({300, 700}, Dtype::uint8));
  check_axis_sets(GetParam(), bytes.through([](const Array& x) { return x.at(Slice{}, Slice{3, {}, {}}); }));
  check_axis_sets(GetParam(), bytes.through([](const Array& x) { return x.at(Slice{1, {}, {}}, Slice{{}, 692, {}}); }));
}

INSTANTIATE_TEST_SUITE_P(Rows, CudaReductionWalks, ::testing::Values(kReferences[0], kReferences[6]),
                         [](const auto& row) { return row.param.name; });

TEST_F(CudaReductionLaunches, SmallArraysTakeOne) {
  for (const Dims& shape : {Dims{}, Dims{1}, Dims{16000}, Dims{100, 100}, Dims{5000, 3}, Dims{3, 5000}}) {
    const Pair x(numbers(shape, Dtype::float32));
    for (int64_t axis = -1; axis < shape.size(); ++axis) {
      const int before = emulated_cuda().launched;
      sum(x.device, axis < 0 ? std::nullopt : std::optional<Dims>(Dims{axis}));
      EXPECT_EQ(emulated_cuda().launched, before + 1) << to_string(shape) << " axis " << axis;
    }
  }
  const int before = emulated_cuda().launched;
  sum(Pair(numbers({100000}, Dtype::float32)).device);
  EXPECT_EQ(emulated_cuda().launched, before + 2);
  EXPECT_EQ(sum(Pair(numbers({0, 3}, Dtype::float32)).device, Dims{1}).shape(), Dims{0});
}

TEST_F(CudaReductionNan, PropagatesAndTheFirstWins) {
  for (Dtype dtype : {Dtype::float16, Dtype::float64})
    for (int64_t n : {3, 40, 3000, 100000}) {
      std::vector<double> values(static_cast<size_t>(n), 1.0);
      values[static_cast<size_t>(n / 2)] = values[static_cast<size_t>(n - 1)] = NAN;
      values[0] = -INFINITY;
      const Array x = copy_to(emulated_cuda(), Array::from(std::span<const double>(values), {n}).astype(dtype));
      for (const Array& view : {x, x.reshape({-1, 1}), x.reshape({1, -1}).broadcast_to({2, n}).transpose()}) {
        EXPECT_TRUE(std::isnan(values_of(min(view, Dims{0}))[0])) << n;
        EXPECT_TRUE(std::isnan(values_of(max(view, Dims{0}))[0])) << n;
        EXPECT_EQ(values_of(argmin(view, Dims{0}))[0], static_cast<double>(n / 2));
        EXPECT_EQ(values_of(argmax(view, Dims{0}))[0], static_cast<double>(n / 2));
        EXPECT_EQ(values_of(ReductionFunction("nanmax")(view, Dims{0}))[0], n == 3 ? -INFINITY : 1);
      }
    }
  const auto filled = [](int64_t n, auto value, Dtype dtype) {
    return copy_to(emulated_cuda(), full({n}, value, dtype));
  };
  EXPECT_TRUE(std::isnan(values_of(ReductionFunction("nanmin")(filled(3, double{NAN}, Dtype::float64)))[0]));
  EXPECT_EQ(values_of(argmin(filled(40, double{INFINITY}, Dtype::float64)))[0], 0);
  EXPECT_EQ(values_of(argmax(filled(5000, double{-INFINITY}, Dtype::float64)))[0], 0);
  EXPECT_EQ(values_of(argmax(filled(5000, INT64_MIN, Dtype::int64)))[0], 0);
}

TEST_F(CudaReductionNan, PairsTakeOnePass) {
  const auto reduce = [](const char* row, const Array& x, int64_t axis) {
    return values_of(ops::reduce_row(ops::reduction_row(row), x, Dims{axis}, false, {}));
  };
  for (Dtype dtype : {Dtype::float16, Dtype::float32, Dtype::float64, Dtype::int8})
    for (const Dims& shape : {Dims{1, 3}, Dims{7, 5}, Dims{40, 300}, Dims{2, 70000}, Dims{30000, 3}, Dims{700, 100}}) {
      Array x = numbers(shape, dtype);
      const int64_t n = shape[1];
      x.at(Slice{}, n - 1).fill(Scalar(9));
      for (int64_t axis : {0, 1}) {
        const std::vector<double> least = doubles(min(x, Dims{axis})), most = doubles(max(x, Dims{axis})),
                                  found = reduce("ptp", copy_to(emulated_cuda(), x), axis);
        for (size_t k = 0; k < found.size(); ++k) ASSERT_EQ(found[k], most[k] - least[k]) << to_string(shape) << axis;
      }
      if (kind(dtype) != Kind::floating) continue;
      const Array sums = sum(x.at(Slice{}, Slice{1, {}, {}}).astype(Dtype::float64), Dims{1});
      x.at(Slice{}, 0).fill(Scalar(double{NAN}));
      const Array device = copy_to(emulated_cuda(), x);
      const std::vector<double> rows = reduce("nanmean", device, 1), columns = reduce("nanmean", device, 0);
      for (size_t k = 0; k < rows.size(); ++k)
        ASSERT_NEAR(rows[k], doubles(sums)[k] / static_cast<double>(n - 1), dtype == Dtype::float16 ? 4e-3 : 1e-6);
      EXPECT_TRUE(std::isnan(columns[0]));
      EXPECT_EQ(columns[static_cast<size_t>(n - 1)], 9);
      EXPECT_TRUE(std::isnan(reduce("ptp", device, 1)[0]));
    }
}

TEST_F(CudaReductionBool, AnyByteButZeroIsTrueOnce) {
  const Array host = Array::empty({1000, 4}, Dtype::bool_);
  for (int64_t k = 0; k < host.size(); ++k)
    static_cast<uint8_t*>(host.data())[k] = std::array<uint8_t, 4>{0, 1, 2, 255}[static_cast<size_t>(k % 4)];
  const Array x = copy_to(emulated_cuda(), host);
  EXPECT_EQ(values_of(sum(x))[0], 3000);
  EXPECT_EQ(values_of(mean(x))[0], 0.75);
  EXPECT_EQ(values_of(argmax(x))[0], 1);
  EXPECT_EQ(values_of(sum(x, Dims{0})), (std::vector<double>{0, 1000, 1000, 1000}));
  EXPECT_EQ(values_of(sum(x.at(Slice{}, Slice{{}, {}, -2}), Dims{1}))[7], 2);
}

TEST_F(CudaReductionComplex, SumsMeansAndOrder) {
  std::vector<std::complex<double>> values;
  std::complex<double> total = 0;
  for (int k = 0; k < 3001; ++k) total += values.emplace_back(k % 17 - 8, k % 5);
  const std::complex<double> most(8, 4);
  const auto first = std::find(values.begin(), values.end(), most) - values.begin();
  for (Dtype dtype : {Dtype::complex64, Dtype::complex128}) {
    const Array x =
        copy_to(emulated_cuda(), Array::from(std::span<const std::complex<double>>(values), {3001}).astype(dtype));
    const auto value = [](const Array& y) { return copy_to(cpu(), y).item().as_complex(); };
    EXPECT_EQ(value(sum(x)), total);
    EXPECT_NEAR(std::abs(value(mean(x)) - total / 3001.0), 0, 1e-7);
    EXPECT_EQ(value(max(x)), most);
    EXPECT_EQ(values_of(argmax(x))[0], static_cast<double>(first));
    const Array rows = sum(x.at(Slice{1, {}, {}}).reshape({1000, 3}), Dims{0});
    std::complex<double> column = 0;
    for (size_t k = 2; k < 3001; k += 3) column += values[k];
    EXPECT_EQ(value(rows.at(1).reshape({})), column);
  }
}

TEST_F(CudaReductionAccuracy, FloatSumsAreAsGoodAsATree) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> values(1 << 19);
  for (double& value : values) value = uniform(random);
  Real exact = 0, exact32 = 0;
  for (double value : values) exact += value, exact32 += static_cast<float>(value);
  const Array host = Array::from(std::span<const double>(values), {1 << 10, 1 << 9});
  const Pair x(host), single(host.astype(Dtype::float32));
  for (const Array& total :
       {sum(x.device), sum(x.device.transpose()), sum(sum(x.device, Dims{0})), sum(sum(x.device, Dims{1}))})
    EXPECT_LE(std::abs(static_cast<Real>(values_of(total)[0]) - exact) / exact, 4 * 2.2e-16L);
  EXPECT_EQ(values_of(sum(single.device))[0], static_cast<float>(exact32));
  EXPECT_EQ(values_of(mean(single.device))[0], static_cast<float>(exact32 / static_cast<Real>(values.size())));
  const Pair halves(full({10000}, 0.1, Dtype::float16));
  EXPECT_NEAR(values_of(sum(halves.device))[0], 10000 * 0.0999755859375, 0.5);  // in float16 the sum would stop at 256
}

}  // namespace
