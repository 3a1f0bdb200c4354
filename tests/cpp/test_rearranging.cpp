// Arrays turned, rolled, repeated, split, and with elements put in or taken out.
#include <gtest/gtest.h>

#include <numeric>

#include "iruka/iruka.h"

namespace {

using namespace iruka;

Array counted(const Dims& shape) {
  std::vector<int64_t> values(static_cast<size_t>(count(shape)));
  std::iota(values.begin(), values.end(), 0);
  return Array::from<int64_t>(values, shape);
}

using Values = std::vector<int64_t>;
Values values_of(const Array& x) { return x.to_vector<int64_t>(); }

TEST(Rearranging, AxesMoveAndAreAdded) {
  const Array x = counted({2, 3, 4});
  EXPECT_EQ(moveaxis(x, {0}, {-1}).shape(), (Dims{3, 4, 2}));
  EXPECT_EQ(moveaxis(x, {0, 2}, {1, 0}).shape(), (Dims{4, 2, 3}));
  EXPECT_EQ(rollaxis(x, 2).shape(), (Dims{4, 2, 3}));
  EXPECT_EQ(rollaxis(x, 0, 3).shape(), (Dims{3, 4, 2}));
  EXPECT_EQ(matrix_transpose(x).shape(), (Dims{2, 4, 3}));
  EXPECT_EQ(atleast_1d(counted({})).shape(), (Dims{1}));
  EXPECT_EQ(atleast_2d(counted({5})).shape(), (Dims{1, 5}));
  EXPECT_EQ(atleast_3d(counted({5})).shape(), (Dims{1, 5, 1}));
  EXPECT_EQ(atleast_3d(counted({5, 6})).shape(), (Dims{5, 6, 1}));
  EXPECT_THROW(moveaxis(x, {0, 0}, {1, 2}), ValueError);
  EXPECT_THROW(moveaxis(x, {0, 1}, {1}), ValueError);
  EXPECT_THROW(moveaxis(x, {3}, {0}), AxisError);
  EXPECT_THROW(rollaxis(x, 0, 4), AxisError);
  EXPECT_THROW(matrix_transpose(counted({3})), ValueError);
}

TEST(Rearranging, BroadcastArraysAreReadOnlyViews) {
  const Array arrays[] = {counted({3, 1}), counted({2})};
  const std::vector<Array> all = broadcast_arrays(arrays);
  EXPECT_EQ(all[0].shape(), (Dims{3, 2}));
  EXPECT_EQ(values_of(all[1]), (Values{0, 1, 0, 1, 0, 1}));
  EXPECT_FALSE(all[1].writable());
  const Array unlike[] = {counted({3}), counted({2})};
  EXPECT_THROW(broadcast_arrays(unlike), ShapeError);
}

TEST(Rearranging, TurnedArraysAreViews) {
  const Array x = counted({2, 3});
  EXPECT_EQ(values_of(flip(x)), (Values{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(values_of(flip(x, Dims{1})), (Values{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(values_of(flipud(x)), (Values{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(values_of(fliplr(x)), (Values{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(values_of(rot90(x)), (Values{2, 5, 1, 4, 0, 3}));
  EXPECT_EQ(values_of(rot90(x, 2)), (Values{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(values_of(rot90(x, -1)), (Values{3, 0, 4, 1, 5, 2}));
  EXPECT_EQ(rot90(x).buffer(), x.buffer());
  EXPECT_EQ(values_of(flip(counted({0, 2}))), Values{});
  EXPECT_THROW(rot90(x, 1, 0, 0), ValueError);
  EXPECT_THROW(fliplr(counted({3})), ValueError);
  EXPECT_THROW(flip(x, Dims{2}), AxisError);
}

TEST(Rearranging, RolledElementsComeBackInFront) {
  const Array x = counted({2, 3});
  EXPECT_EQ(values_of(roll(x, {1})), (Values{5, 0, 1, 2, 3, 4}));
  EXPECT_EQ(values_of(roll(x, {-7})), (Values{1, 2, 3, 4, 5, 0}));
  EXPECT_EQ(values_of(roll(x, {1}, Dims{1})), (Values{2, 0, 1, 5, 3, 4}));
  EXPECT_EQ(values_of(roll(x, {1, 1}, Dims{0, 1})), (Values{5, 3, 4, 2, 0, 1}));
  EXPECT_EQ(values_of(roll(x.transpose(), {1}, Dims{0})), (Values{2, 5, 0, 3, 1, 4}));
  EXPECT_EQ(values_of(roll(counted({0}), {3})), Values{});
  EXPECT_THROW(roll(x, {1, 2, 3}, Dims{0, 1}), ValueError);
  EXPECT_THROW(roll(x, {1}, Dims{2}), AxisError);
}

TEST(Rearranging, TilesRepeatAndResizeGoesOnFromTheStart) {
  EXPECT_EQ(values_of(tile(counted({2}), {2, 2})), (Values{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(tile(counted({2, 1}), {3}).shape(), (Dims{2, 3}));
  EXPECT_EQ(tile(counted({2}), {0}).shape(), (Dims{0}));
  EXPECT_THROW(tile(counted({2}), {-1}), ValueError);
  EXPECT_EQ(values_of(resize(counted({3}), {2, 4})), (Values{0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(values_of(resize(counted({3}), {2})), (Values{0, 1}));
  EXPECT_EQ(values_of(resize(counted({0}), {2})), (Values{0, 0}));
  EXPECT_THROW(resize(counted({3}), {-1}), ValueError);
}

TEST(Rearranging, PartsOfAnAxisAreViews) {
  const Array x = counted({7});
  std::vector<Values> parts;
  for (const Array& part : array_split(x, 3)) parts.push_back(values_of(part));
  EXPECT_EQ(parts, (std::vector<Values>{{0, 1, 2}, {3, 4}, {5, 6}}));
  const int64_t places[] = {2, -1};
  parts.clear();
  for (const Array& part : array_split(x, places)) parts.push_back(values_of(part));
  EXPECT_EQ(parts, (std::vector<Values>{{0, 1}, {2, 3, 4, 5}, {6}}));
  EXPECT_THROW(array_split(x, int64_t{0}), ValueError);
  EXPECT_THROW(split(x, int64_t{2}), ValueError);
  EXPECT_EQ(hsplit(counted({2, 4}), 2)[1].shape(), (Dims{2, 2}));
  EXPECT_THROW(vsplit(x, 7), ValueError);
  const std::vector<Array> rows = unstack(counted({2, 3}), 1);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(values_of(rows[1]), (Values{1, 4}));
  EXPECT_THROW(unstack(counted({})), ValueError);
}

TEST(Rearranging, StacksJoin) {
  const Array both[] = {counted({2}), counted({2})};
  EXPECT_EQ(vstack(both).shape(), (Dims{2, 2}));
  EXPECT_EQ(values_of(hstack(both)), (Values{0, 1, 0, 1}));
  EXPECT_EQ(dstack(both).shape(), (Dims{1, 2, 2}));
  EXPECT_EQ(values_of(column_stack(both)), (Values{0, 0, 1, 1}));
  EXPECT_EQ(values_of(append(counted({2, 1}), counted({1, 1}), 0)), (Values{0, 1, 0}));
  EXPECT_EQ(values_of(append(counted({2, 1}), counted({}))), (Values{0, 1, 0}));
  EXPECT_THROW(append(counted({2, 1}), counted({2}), 0), ShapeError);
}

TEST(Rearranging, PartsOfAGivenAxisMayHaveUnlikeExtents) {
  const Array x = counted({3, 2});
  const int64_t places[] = {1};
  EXPECT_EQ(values_of(hsplit(x, places)[0]), (Values{0, 2, 4}));
  EXPECT_EQ(values_of(vsplit(x, places)[1]), (Values{2, 3, 4, 5}));
  EXPECT_EQ(dsplit(counted({1, 1, 3}), places)[1].shape(), (Dims{1, 1, 2}));
  EXPECT_THROW(vsplit(counted({3}), places), ValueError);
}

TEST(Rearranging, BlocksMakeAnArray) {
  const Array a = counted({2, 2}), b = counted({2, 1}), c = counted({1, 3});
  const Array x = block({{a, b}, {c}});
  EXPECT_EQ(x.shape(), (Dims{3, 3}));
  EXPECT_EQ(values_of(x), (Values{0, 1, 0, 2, 3, 1, 0, 1, 2}));
  EXPECT_EQ(block({{counted({}), counted({})}}).shape(), (Dims{1, 2}));
  EXPECT_EQ(block({counted({1, 1, 3}), counted({1})}).shape(), (Dims{1, 1, 4}));
  EXPECT_NE(block(a).buffer(), a.buffer());
  EXPECT_THROW(block({{a}, b}), ValueError);
  EXPECT_THROW(block({std::vector<Blocks>()}), ValueError);
}

TEST(Insertion, ValuesStandBeforeTheirPlaces) {
  const Array x = counted({4});
  const Array nine = Array::from<int64_t>({9}), pair = Array::from<int64_t>({8, 9});
  EXPECT_EQ(values_of(insert(x, 1, nine)), (Values{0, 9, 1, 2, 3}));
  EXPECT_EQ(values_of(insert(x, 4, pair)), (Values{0, 1, 2, 3, 8, 9}));
  EXPECT_EQ(values_of(insert(x, -1, nine)), (Values{0, 1, 2, 9, 3}));
  EXPECT_EQ(values_of(insert(x, Array::from<int64_t>({3, 1}), pair)), (Values{0, 9, 1, 2, 8, 3}));
  EXPECT_EQ(values_of(insert(x, Array::from<int64_t>({2, 2}), pair)), (Values{0, 1, 8, 9, 2, 3}));
  EXPECT_EQ(values_of(insert(x, Slice{{}, {}, 2}, nine)), (Values{9, 0, 1, 9, 2, 3}));
  EXPECT_EQ(values_of(insert(counted({2, 2}), 1, pair, 1)), (Values{0, 8, 1, 2, 9, 3}));
  EXPECT_EQ(values_of(insert(counted({2, 2}), 0, nine, 0)), (Values{9, 9, 0, 1, 2, 3}));
  EXPECT_THROW(insert(x, 5, nine), IndexError);
  EXPECT_THROW(insert(x, Array::from<double>({1, 2}), nine), IndexError);
  EXPECT_THROW(insert(x, Array::from<double>({1}), nine), TypeError);
  EXPECT_THROW(insert(counted({2, 2}), 0, counted({3}), 0), ShapeError);
  EXPECT_THROW(insert(x, 0, nine, 1), AxisError);
}

TEST(Insertion, ManyPlacesAreAsGoodAsFew) {
  const int64_t n = 1000;
  std::vector<int64_t> every(n), doubled, odd;
  std::iota(every.begin(), every.end(), 0);
  for (int64_t k = 0; k < n; ++k) doubled.insert(doubled.end(), {-1, k});
  for (int64_t k = 1; k < n; k += 2) odd.push_back(k);
  const Array x = counted({n});
  EXPECT_EQ(values_of(insert(x, Array::from<int64_t>(every, {n}), Array::from<int64_t>({-1}))), doubled);
  EXPECT_EQ(values_of(delete_elements(x, Slice{0, {}, 2})), odd);
}

TEST(Insertion, DeletedElementsAreGone) {
  const Array x = counted({5});
  EXPECT_EQ(values_of(delete_elements(x, 1)), (Values{0, 2, 3, 4}));
  EXPECT_EQ(values_of(delete_elements(x, -5)), (Values{1, 2, 3, 4}));
  EXPECT_EQ(values_of(delete_elements(x, Array::from<int64_t>({1, -1, 1}))), (Values{0, 2, 3}));
  EXPECT_EQ(values_of(delete_elements(x, Slice{1, 4, {}})), (Values{0, 4}));
  EXPECT_EQ(values_of(delete_elements(x, Slice{{}, {}, -1})), Values{});
  EXPECT_EQ(values_of(delete_elements(x, less(x, 2))), (Values{2, 3, 4}));
  EXPECT_EQ(values_of(delete_elements(counted({2, 3}), 1, -1)), (Values{0, 2, 3, 5}));
  EXPECT_EQ(values_of(delete_elements(x, Array::empty({0}, Dtype::int64))), (Values{0, 1, 2, 3, 4}));
  EXPECT_THROW(delete_elements(x, 5), IndexError);
  EXPECT_THROW(delete_elements(x, less(counted({4}), 2)), ValueError);
  EXPECT_THROW(delete_elements(x, 0, 1), AxisError);
}

TEST(Insertion, ZerosAtTheEndsGo) {
  const Array x = Array::from<int64_t>({0, 0, 3, 0, 4, 0});
  EXPECT_EQ(values_of(trim_zeros(x)), (Values{3, 0, 4}));
  EXPECT_EQ(values_of(trim_zeros(x, true, false)), (Values{3, 0, 4, 0}));
  EXPECT_EQ(values_of(trim_zeros(x, false, true)), (Values{0, 0, 3, 0, 4}));
  EXPECT_EQ(trim_zeros(zeros({3, 2})).shape(), (Dims{0, 0}));
  EXPECT_EQ(trim_zeros(eye(3, {}, 1), true, true, Dims{0}).shape(), (Dims{2, 3}));
}

}  // namespace
