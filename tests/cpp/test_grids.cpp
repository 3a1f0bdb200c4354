// Arrays made like others, of diagonals, and such that index others. Expected values are NumPy's.
#include <gtest/gtest.h>

#include "iruka/iruka.h"

namespace {

using namespace iruka;

using Values = std::vector<int64_t>;

Array vector_of(const Values& values) { return Array::from<int64_t>(values, {static_cast<int64_t>(values.size())}); }
Values values_of(const Array& x) { return x.to_vector<int64_t>(); }

TEST(Creation, LikesTakeShapeDtypeAndOrder) {
  const Array x = empty({2, 3, 4}, Dtype::int16);
  const Array turned = x.transpose({1, 2, 0});
  EXPECT_EQ(zeros_like(turned).strides(), turned.strides());
  EXPECT_EQ(zeros_like(turned).dtype(), Dtype::int16);
  EXPECT_EQ(values_of(ones_like(turned)), Values(24, 1));
  EXPECT_EQ(zeros_like(turned, {.order = MemoryOrder::c}).strides(), (Dims{16, 4, 2}));
  EXPECT_EQ(zeros_like(x, {.order = MemoryOrder::fortran}).strides(), (Dims{2, 4, 12}));
  EXPECT_EQ(zeros_like(x.transpose(), {.order = MemoryOrder::any}).strides(), (Dims{2, 8, 24}));
  const Array other = full_like(x, 2.5, {.dtype = Dtype::float32, .shape = Dims{2}});
  EXPECT_EQ(other.to_vector<double>(), (std::vector<double>{2.5, 2.5}));
  EXPECT_EQ(other.dtype(), Dtype::float32);
  EXPECT_EQ(zeros_like(x.at(Slice{{}, {}, -1})).strides(), x.strides());
  EXPECT_EQ(empty_like(zeros({}), {}).ndim(), 0);
  EXPECT_THROW(zeros_like(x, {.shape = Dims{-1}}), ShapeError);
  const Array numbers = arange(6).reshape({2, 3});
  EXPECT_EQ(asfortranarray(numbers).strides(), (Dims{8, 16}));
  EXPECT_EQ(values_of(asfortranarray(numbers)), (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(asfortranarray(numbers.transpose()).buffer(), numbers.buffer());
}

TEST(Creation, PowersAsColumns) {
  EXPECT_EQ(values_of(vander(vector_of({1, 2, 3}), 4)), (Values{1, 1, 1, 1, 8, 4, 2, 1, 27, 9, 3, 1}));
  EXPECT_EQ(values_of(vander(vector_of({2, 3}), {}, true)), (Values{1, 2, 1, 3}));
  EXPECT_EQ(vander(zeros({2}, Dtype::float32)).dtype(), Dtype::float64);
  EXPECT_EQ(vander(zeros({0})).shape(), (Dims{0, 0}));
  EXPECT_THROW(vander(ones({2, 2})), ValueError);
  EXPECT_THROW(vander(ones({2}), -1), ValueError);
  EXPECT_EQ(values_of(identity(2)), (Values{1, 0, 0, 1}));
}

TEST(Diagonals, MatricesAndTheirDiagonals) {
  EXPECT_EQ(values_of(diagflat(vector_of({1, 2}), -1)), (Values{0, 0, 0, 1, 0, 0, 0, 2, 0}));
  EXPECT_EQ(diagflat(zeros({0}), 2).shape(), (Dims{2, 2}));
  const Array x = arange(6).reshape({2, 3});
  EXPECT_EQ(values_of(diag(x, 1)), (Values{1, 5}));
  EXPECT_NE(diag(x).buffer(), x.buffer());
  EXPECT_EQ(values_of(diag(vector_of({1, 2}))), (Values{1, 0, 0, 2}));
  EXPECT_THROW(diag(ones({2, 2, 2})), ValueError);
  EXPECT_EQ(trace(x).item<int64_t>(), 4);
  EXPECT_EQ(trace(x, -1, 0, 1, Dtype::float32).dtype(), Dtype::float32);
  EXPECT_EQ(values_of(trace(ones({2, 3, 3}), 0, 1, 2)), (Values{3, 3}));
}

TEST(Diagonals, AreFilled) {
  Array tall = zeros({5, 2}, Dtype::int64);
  fill_diagonal(tall, vector_of({1, 2, 3}), true);
  EXPECT_EQ(values_of(tall), (Values{1, 0, 0, 2, 0, 0, 3, 0, 0, 1}));
  tall.fill(0);
  fill_diagonal(tall, full({}, 4));
  EXPECT_EQ(values_of(tall), (Values{4, 0, 0, 4, 0, 0, 0, 0, 0, 0}));
  const Array cube = zeros({2, 2, 2});
  fill_diagonal(cube.transpose(), full({1}, 7));
  EXPECT_EQ(values_of(cube), (Values{7, 0, 0, 0, 0, 0, 0, 7}));
  const Array wide = zeros({2, 4});
  fill_diagonal(wide.at(Slice{}, Slice{{}, {}, 2}), vector_of({1, 2}));
  EXPECT_EQ(values_of(wide), (Values{1, 0, 0, 0, 0, 0, 2, 0}));
  fill_diagonal(zeros({0, 2}), full({}, 1));
  EXPECT_THROW(fill_diagonal(zeros({2}), full({}, 1)), ValueError);
  EXPECT_THROW(fill_diagonal(zeros({2, 2, 3}), full({}, 1)), ValueError);
  EXPECT_THROW(fill_diagonal(zeros({2, 2}).read_only(), full({}, 1)), ValueError);
}

TEST(Grids, IndicesOfShapes) {
  EXPECT_EQ(values_of(indices({2, 3})), (Values{0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(indices({}).shape(), (Dims{0}));
  EXPECT_EQ(sparse_indices({2, 3}, Dtype::float32)[1].shape(), (Dims{1, 3}));
  const Array coordinates[] = {vector_of({1, 2}), vector_of({3, 4, 5})};
  EXPECT_EQ(values_of(meshgrid(coordinates)[0]), (Values{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(values_of(meshgrid(coordinates)[1]), (Values{3, 3, 4, 4, 5, 5}));
  EXPECT_EQ(meshgrid(coordinates, {.is_cartesian = false})[0].shape(), (Dims{2, 3}));
  EXPECT_EQ(meshgrid(coordinates, {.is_sparse = true})[0].shape(), (Dims{1, 2}));
  EXPECT_FALSE(meshgrid(coordinates, {.copies = false})[0].writable());
  EXPECT_TRUE(meshgrid({}).empty());
  const Array vectors[] = {vector_of({4, 2}), vector_of({1, 0, 1}).astype(Dtype::bool_)};
  const std::vector<Array> index = ix_(vectors);
  EXPECT_EQ(index[0].shape(), (Dims{2, 1}));
  EXPECT_EQ(values_of(index[1]), (Values{0, 2}));
  const Array scalar[] = {full({}, 1)};
  EXPECT_THROW(ix_(scalar), ValueError);
}

TEST(Grids, TrianglesAndPositions) {
  EXPECT_EQ(values_of(tril_indices(3, 2, -1)[0]), (Values{1, 2, 2}));
  EXPECT_EQ(values_of(tril_indices(3, 2, -1)[1]), (Values{0, 0, 1}));
  EXPECT_EQ(values_of(triu_indices(2, 3)[0]), (Values{0, 0, 0, 1, 1}));
  EXPECT_EQ(values_of(triu_indices(2, 3)[1]), (Values{0, 1, 2, 1, 2}));
  EXPECT_EQ(diag_indices(3, 3).size(), 3u);
  EXPECT_EQ(values_of(diag_indices(3)[1]), (Values{0, 1, 2}));
  const IndexMode raise[] = {IndexMode::raise, IndexMode::raise}, other[] = {IndexMode::clip, IndexMode::wrap};
  const Array within[] = {vector_of({1, 2}), vector_of({0, 3})}, outside[] = {vector_of({1, 5}), vector_of({-1, 3})};
  EXPECT_EQ(values_of(ravel_multi_index(within, {3, 4}, raise)), (Values{4, 11}));
  EXPECT_EQ(values_of(ravel_multi_index(outside, {3, 4}, other, true)), (Values{10, 11}));
  EXPECT_THROW(ravel_multi_index(outside, {3, 4}, raise), ValueError);
  EXPECT_THROW(ravel_multi_index(within, {3, 0}, raise), ValueError);
  EXPECT_THROW(ravel_multi_index(within, {INT64_MAX, 2}, raise), ValueError);
  EXPECT_THROW(ravel_multi_index(within, {3}, raise), ValueError);
  const Array floats[] = {ones({2}), ones({2})};
  EXPECT_THROW(ravel_multi_index(floats, {3, 4}, raise), TypeError);
}

}  // namespace
