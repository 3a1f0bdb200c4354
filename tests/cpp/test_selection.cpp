// Sets, elements chosen among arrays or by masks, and packed bits. Expected values are NumPy's.
#include <gtest/gtest.h>

#include <cmath>

#include "iruka/iruka.h"

namespace {

using namespace iruka;

using Values = std::vector<int64_t>;

Array vector_of(const Values& values) { return Array::from<int64_t>(values, {static_cast<int64_t>(values.size())}); }
Array matrix_of(const Values& values, const Dims& shape) { return Array::from<int64_t>(values, shape); }
Array flags_of(const Values& values) { return vector_of(values).astype(Dtype::bool_); }
Array bytes_of(const Values& values) { return vector_of(values).astype(Dtype::uint8); }
Values values_of(const Array& x) { return x.to_vector<int64_t>(); }

const Array kA = vector_of({3, 1, 2, 3, 1}), kB = vector_of({2, 5, 3});

TEST(Sets, AreSortedArrays) {
  EXPECT_EQ(values_of(union1d(kA, kB)), (Values{1, 2, 3, 5}));
  EXPECT_EQ(values_of(setdiff1d(kA, kB)), (Values{1}));
  EXPECT_EQ(values_of(setdiff1d(vector_of({4, 2, 1}), kB, true)), (Values{4, 1}));
  EXPECT_EQ(values_of(setxor1d(kA, kB)), (Values{1, 5}));
  const Intersection common = intersect1d(kA, kB, true);
  EXPECT_EQ(values_of(common.values), (Values{2, 3}));
  EXPECT_EQ(values_of(common.first), (Values{2, 0}));
  EXPECT_EQ(values_of(common.second), (Values{0, 2}));
  EXPECT_FALSE(intersect1d(kA, kB).first.valid());
  EXPECT_EQ(union1d(zeros({0}), zeros({0})).size(), 0);
  EXPECT_EQ(union1d(kA, ones({2, 2}, Dtype::float32)).dtype(), Dtype::float64);
}

TEST(Sets, Membership) {
  EXPECT_EQ(values_of(isin(kA, kB)), (Values{1, 0, 1, 1, 0}));
  EXPECT_EQ(values_of(isin(kA, kB, true)), (Values{0, 1, 0, 0, 1}));
  EXPECT_EQ(isin(ones({2, 3}), kB).shape(), (Dims{2, 3}));
  EXPECT_EQ(values_of(isin(kB, zeros({0}))), (Values{0, 0, 0}));
  EXPECT_EQ(values_of(isin(full({1}, NAN), full({1}, NAN))), (Values{0}));
}

TEST(Sets, DistinctSlices) {
  const Array x = matrix_of({1, 2, 0, 1, 1, 2}, {3, 2});
  const UniqueResult rows = unique_along(x, 0, {true, true, true});
  EXPECT_EQ(values_of(rows.values), (Values{0, 1, 1, 2}));
  EXPECT_EQ(values_of(rows.index), (Values{1, 0}));
  EXPECT_EQ(values_of(rows.inverse), (Values{1, 0, 1}));
  EXPECT_EQ(values_of(rows.counts), (Values{1, 2}));
  const UniqueResult columns = unique_along(x.transpose(), -1);
  EXPECT_EQ(columns.values.shape(), (Dims{2, 2}));
  EXPECT_EQ(values_of(columns.values), (Values{0, 1, 1, 2}));
  EXPECT_EQ(unique_along(zeros({3, 0}), 0).values.shape(), (Dims{1, 0}));
  EXPECT_THROW(unique_along(x, 2), AxisError);
}

TEST(Selection, ChooseAmongArraysAndNumbers) {
  const Array column = matrix_of({5, 6}, {2, 1}), row = vector_of({1, 2});
  const Argument choices[] = {10, row, column};
  EXPECT_EQ(values_of(choose(matrix_of({0, 1, 2, 0}, {2, 2}), choices)), (Values{10, 2, 6, 10}));
  const Array left = vector_of({1, 2}), right = vector_of({3, 4}), numbers = vector_of({-1, 5});
  const Argument both[] = {left, right};
  EXPECT_EQ(values_of(choose(numbers, both, IndexMode::wrap)), (Values{3, 4}));
  EXPECT_EQ(values_of(choose(numbers, both, IndexMode::clip)), (Values{1, 4}));
  EXPECT_EQ(choose(zeros({0, 2}, Dtype::bool_), both).shape(), (Dims{0, 2}));
  EXPECT_THROW(choose(numbers, both), ValueError);
  EXPECT_THROW(choose(vector_of({2, 0}), both), ValueError);
  EXPECT_THROW(choose(ones({2}), both), TypeError);
  EXPECT_THROW(choose(numbers, {}), ValueError);
}

TEST(Selection, FirstConditionThatHolds) {
  const Array conditions[] = {flags_of({1, 0, 0}), flags_of({1, 1, 0})}, first = vector_of({1, 2, 3});
  const Argument choices[] = {first, 0.5};
  EXPECT_EQ(select(conditions, choices, -1).to_vector<double>(), (std::vector<double>{1, 0.5, -1}));
  const Argument integers[] = {first, 7};
  EXPECT_EQ(select(conditions, integers).dtype(), Dtype::int64);
  const Array wide = ones({2, 1});
  const Argument broadcast[] = {wide, 0};
  EXPECT_EQ(select(conditions, broadcast).shape(), (Dims{2, 3}));
  EXPECT_THROW(select(conditions, std::span(choices).first(1)), ValueError);
  EXPECT_THROW(select({}, {}), ValueError);
  const Array numbers[] = {first, first};
  EXPECT_THROW(select(numbers, choices), TypeError);
}

TEST(Selection, Masks) {
  const Array mask = flags_of({0, 0, 0, 1, 1, 1}), values = vector_of({-1, -2});
  const Array x = arange(6), y = arange(6);
  putmask(x, mask, values);
  EXPECT_EQ(values_of(x), (Values{0, 1, 2, -2, -1, -2}));
  place(y, mask, values);
  EXPECT_EQ(values_of(y), (Values{0, 1, 2, -1, -2, -1}));
  EXPECT_EQ(values_of(extract(mask, y)), (Values{-1, -2, -1}));
  putmask(x, mask, zeros({0}));
  EXPECT_EQ(values_of(x), (Values{0, 1, 2, -2, -1, -2}));
  EXPECT_THROW(putmask(x, flags_of({1}), values), ValueError);
  EXPECT_THROW(place(x, flags_of({1}), values), ValueError);
  EXPECT_THROW(place(x, mask, zeros({0})), ValueError);
}

TEST(Selection, PackedBits) {
  const Array flags = vector_of({1, 0, 0, 0, 0, 0, 0, 1, 1});
  EXPECT_EQ(values_of(packbits(flags)), (Values{129, 128}));
  EXPECT_EQ(values_of(packbits(flags.astype(Dtype::bool_), 0, BitOrder::lowest_first)), (Values{129, 1}));
  EXPECT_EQ(values_of(packbits(matrix_of({1, 0, 0, 1, 1, 1}, {3, 2}), 0)), (Values{160, 96}));
  EXPECT_EQ(packbits(zeros({0, 3}, Dtype::bool_), 0).shape(), (Dims{0, 3}));
  EXPECT_EQ(values_of(packbits(full({}, 5))), (Values{128}));
  EXPECT_EQ(values_of(unpackbits(bytes_of({3, 128}))), (Values{0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(values_of(unpackbits(bytes_of({3}), {}, -2, BitOrder::lowest_first)), (Values{1, 1, 0, 0, 0, 0}));
  const Array longer = unpackbits(bytes_of({3, 1}).reshape({2, 1}), 1, 10);
  EXPECT_EQ(values_of(longer), (Values{0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(unpackbits(zeros({0}, Dtype::uint8), {}, 3).shape(), (Dims{3}));
  EXPECT_THROW(packbits(ones({2})), TypeError);
  EXPECT_THROW(unpackbits(flags), TypeError);
  EXPECT_THROW(unpackbits(bytes_of({3}), {}, -9), ValueError);
  EXPECT_THROW(packbits(flags, 1), AxisError);
}

}  // namespace
