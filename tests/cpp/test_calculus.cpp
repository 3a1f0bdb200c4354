// Differences, slopes, integrals, convolutions, sequences and windows; the expected values are NumPy's.
#include <gtest/gtest.h>

#include <cmath>

#include "iruka/iruka.h"

namespace {

using namespace iruka;

void expect_near(const Array& x, const std::vector<double>& expected, double tolerance = 1e-14) {
  const std::vector<double> values = x.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t k = 0; k < values.size(); ++k) EXPECT_NEAR(values[k], expected[k], tolerance) << k;
}

Array doubles(std::initializer_list<double> values) { return Array::from<double>(values); }

TEST(Differences, OfNeighbours) {
  const Array squares = Array::from<int64_t>({1, 4, 9, 16}), table = squares.reshape({2, 2});
  expect_near(diff(squares), {3, 5, 7});
  expect_near(diff(squares, 2), {2, 2});
  EXPECT_EQ(diff(squares, 9).shape(), Dims{0});
  expect_near(diff(table, 1, 0), {8, 12});
  const Array zero = Array::from<int64_t>({0}).reshape({});
  expect_near(diff(table, 1, 1, &zero), {1, 3, 9, 7});
  EXPECT_EQ(diff(Array::from<bool>({true, true, false})).dtype(), Dtype::bool_);
  expect_near(diff(Array::from<bool>({true, true, false})), {0, 1});
  const Array end = Array::from<int64_t>({7, 8}), begin = Array::from<int64_t>({0}), inexact = doubles({1});
  expect_near(ediff1d(table, &end, &begin), {0, 3, 5, 7, 7, 8});
  EXPECT_THROW(ediff1d(table, &inexact), TypeError);
  EXPECT_THROW(diff(squares, -1), ValueError);
  EXPECT_THROW(diff(zero), ValueError);
  EXPECT_THROW(diff(squares, 1, 1), AxisError);
}

TEST(Differences, PhasesUnwrap) {
  const Array whole = unwrap(Array::from<int64_t>({0, 1, 2, -1, 0}), {}, -1, int64_t{4});
  expect_near(whole, {0, 1, 2, 3, 4});
  EXPECT_EQ(whole.dtype(), Dtype::int64);
  expect_near(unwrap(doubles({0, 3.2, 6.5, 0.2})), {0, -3.083185307179586, -6.0663706143591725, -6.083185307179586});
  expect_near(unwrap(doubles({0, 3.2, 6.5, 0.2}), 9.0), {0, 3.2, 6.5, 0.2});
  EXPECT_EQ(unwrap(zeros({0})).size(), 0);
}

TEST(Differences, SlopesHaveTwoOrdersAtTheEnds) {
  const Array f = doubles({1, 2, 4, 7});
  const Spacing two[] = {2}, places[] = {doubles({0, 1, 3, 4})}, wrong[] = {doubles({0, 1})};
  expect_near(gradient(f)[0], {1, 1.5, 2.5, 3});
  expect_near(gradient(f, two, {}, 2)[0], {0.25, 0.75, 1.25, 1.75});
  expect_near(gradient(f, places)[0], {1, 1, 7.0 / 3, 3});
  expect_near(gradient(f, places, {}, 2)[0], {1, 1, 7.0 / 3, 11.0 / 3});
  const std::vector<Array> both = gradient(f.reshape({2, 2}).astype(Dtype::int8));
  ASSERT_EQ(both.size(), 2u);
  expect_near(both[0], {3, 5, 3, 5});
  expect_near(both[1], {1, 1, 3, 3});
  EXPECT_EQ(gradient(f.astype(Dtype::float32))[0].dtype(), Dtype::float32);
  EXPECT_THROW(gradient(f, wrong), ValueError);
  EXPECT_THROW(gradient(f.reshape({2, 2}), places), TypeError);
  EXPECT_THROW(gradient(ones({1})), ValueError);
  EXPECT_THROW(gradient(ones({3}, Dtype::bool_)), TypeError);
}

TEST(Differences, Integrals) {
  const Array y = doubles({1, 2, 4, 0, 1, 5}).reshape({2, 3});
  expect_near(trapezoid(doubles({1, 2, 4})), {4.5});
  expect_near(trapezoid(y, doubles({0, 1, 3})), {7.5, 6.5});
  expect_near(trapezoid(y, 0, 0.5), {0.25, 0.75, 2.25});
  expect_near(trapezoid(Array::from<uint8_t>({250, 0})), {125});
  expect_near(trapezoid(doubles({3})), {0});
  EXPECT_EQ(trapezoid(y.astype(Dtype::float16)).dtype(), Dtype::float16);
  EXPECT_THROW(trapezoid(y, doubles({1}).reshape({})), ValueError);
  EXPECT_THROW(trapezoid(y, 2), AxisError);
}

TEST(Convolutions, ModesAndDtypes) {
  const Array a = Array::from<int64_t>({1, 2, 3}), v = Array::from<int64_t>({0, 1});
  expect_near(convolve(a, v), {0, 1, 2, 3});
  expect_near(convolve(a, v, ConvolutionMode::same), {0, 1, 2});
  expect_near(convolve(v, a, ConvolutionMode::valid), {1, 2});
  expect_near(correlate(a, Array::from<int64_t>({0, 1, 2})), {8});
  expect_near(correlate(v, a, parse_convolution_mode("same")), {3, 2, 1});
  const Array turned = correlate(Array::from<std::complex<double>>({{0, 1}, 2.0, 3.0}),
                                 Array::from<std::complex<double>>({0.0, {0, 1}}), ConvolutionMode::full);
  EXPECT_EQ(turned.to_vector<std::complex<double>>(), (std::vector<std::complex<double>>{1.0, {0, -2}, {0, -3}, 0.0}));
  EXPECT_EQ(convolve(ones({2}, Dtype::bool_), ones({2}, Dtype::bool_)).dtype(), Dtype::bool_);
  EXPECT_EQ(convolve(a.at(Slice{{}, {}, -1}), v).to_vector<int64_t>(), (std::vector<int64_t>{0, 3, 2, 1}));
  EXPECT_THROW(convolve(a, zeros({0})), ValueError);
  EXPECT_THROW(correlate(a, ones({})), ValueError);
  EXPECT_THROW(parse_convolution_mode("all"), ValueError);
}

TEST(Sequences, BetweenArraysAndOnALogarithmicScale) {
  const Array first = doubles({0, 1}), last = doubles({2, 5});
  expect_near(linspace(first, last, 3), {0, 1, 1, 3, 2, 5});
  EXPECT_EQ(linspace(first, last, 3, true, {}, -1).shape(), (Dims{2, 3}));
  expect_near(linspace(first, last, 2, false, Dtype::int64), {0, 1, 1, 3});
  EXPECT_EQ(linspace(first, last, 0).shape(), (Dims{0, 2}));
  EXPECT_THROW(linspace(first, last, -1), ValueError);
  expect_near(logspace(0, 2, 3), {1, 10, 100});
  expect_near(logspace(0, 2, 3, true, doubles({2, 3})), {1, 1, 2, 3, 4, 9});
  expect_near(geomspace(doubles({1}), doubles({1000}), 4), {1, 10, 100, 1000}, 1e-11);
  expect_near(geomspace(doubles({-1}), doubles({-8}), 4), {-1, -2, -4, -8});
  EXPECT_THROW(geomspace(doubles({0}), last), ValueError);
}

TEST(Sequences, Windows) {
  expect_near(bartlett(4), {0, 2.0 / 3, 2.0 / 3, 0});
  expect_near(hanning(4), {0, 0.75, 0.75, 0});
  expect_near(hamming(4), {0.08, 0.77, 0.77, 0.08});
  expect_near(blackman(4), {0, 0.63, 0.63, 0});
  expect_near(kaiser(4, 5), {0.036710892271286676, 0.7753221044454067, 0.7753221044454067, 0.036710892271286676});
  for (const auto window : {bartlett, hanning, hamming, blackman}) {
    EXPECT_EQ(window(0).size(), 0);
    expect_near(window(1), {1});
  }
}

TEST(Margins, OfEveryMode) {
  const Array x = Array::from<int64_t>({1, 2, 5});
  const auto padded = [&](const char* mode, PadOptions options = {}) {
    options.mode = parse_pad_mode(mode);
    return pad(x, {{2, 4}}, options).to_vector<int64_t>();
  };
  using Values = std::vector<int64_t>;
  EXPECT_EQ(padded("constant"), (Values{0, 0, 1, 2, 5, 0, 0, 0, 0}));
  EXPECT_EQ(padded("constant", {.values = {{7, 8}}}), (Values{7, 7, 1, 2, 5, 8, 8, 8, 8}));
  EXPECT_EQ(padded("edge"), (Values{1, 1, 1, 2, 5, 5, 5, 5, 5}));
  EXPECT_EQ(padded("linear_ramp", {.values = {{9, 9}}}), (Values{9, 5, 1, 2, 5, 6, 7, 8, 9}));
  EXPECT_EQ(padded("maximum"), (Values{5, 5, 1, 2, 5, 5, 5, 5, 5}));
  EXPECT_EQ(padded("mean", {.lengths = {{1, 1}}}), (Values{1, 1, 1, 2, 5, 5, 5, 5, 5}));
  EXPECT_EQ(padded("median"), (Values{2, 2, 1, 2, 5, 2, 2, 2, 2}));
  EXPECT_EQ(padded("reflect"), (Values{5, 2, 1, 2, 5, 2, 1, 2, 5}));
  EXPECT_EQ(padded("symmetric", {.is_odd = true}), (Values{0, 1, 1, 2, 5, 5, 8, 9, 9}));
  EXPECT_EQ(padded("wrap"), (Values{2, 5, 1, 2, 5, 1, 2, 5, 1}));
  EXPECT_EQ(padded("empty").size(), 9u);
  EXPECT_THROW(parse_pad_mode("nothing"), ValueError);
}

TEST(Margins, OfSeveralAxes) {
  const Array x = Array::from<int64_t>({1, 2, 3, 5}).reshape({2, 2});
  EXPECT_EQ(pad(x, {{1, 0}, {0, 2}}, {.mode = PadMode::reflect}).to_vector<int64_t>(),
            (std::vector<int64_t>{3, 5, 3, 5, 1, 2, 1, 2, 3, 5, 3, 5}));
  EXPECT_EQ(pad(x, {{1, 1}}).shape(), (Dims{4, 4}));
  EXPECT_EQ(pad(zeros({0, 2}), {{1, 1}}).shape(), (Dims{2, 4}));
  EXPECT_EQ(pad(ones({}), {}).ndim(), 0);
  EXPECT_THROW(pad(zeros({0, 2}), {{1, 1}}, {.mode = PadMode::edge}), ValueError);
  EXPECT_THROW(pad(x, {{-1, 0}}), ValueError);
  EXPECT_THROW(pad(x, {{1, 0}, {1, 0}, {1, 0}}), ValueError);
  EXPECT_THROW(pad(x.astype(Dtype::int8), {{1, 1}}, {.values = {{300, 0}}}), OverflowError);
}

}  // namespace
