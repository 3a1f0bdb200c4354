// Products of vectors and arrays. Expected values are NumPy's.
#include <gtest/gtest.h>

#include <complex>
#include <numeric>

#include "iruka/iruka.h"

namespace {

using namespace iruka;

using Values = std::vector<int64_t>;
using Complex = std::complex<double>;
using ComplexValues = std::vector<Complex>;

Array counted(const Dims& shape) { return arange(count(shape)).reshape(shape); }
Array vector_of(const Values& values) { return Array::from<int64_t>(values, {static_cast<int64_t>(values.size())}); }
Values values_of(const Array& x) { return x.to_vector<int64_t>(); }

Array contraction(std::string_view subscripts, std::vector<Array> operands, const EinsumPath& path = {}) {
  return einsum(subscripts, operands, path);
}

const Array kA = counted({2, 3}), kB = add(counted({3, 4}), 1), kC = counted({2, 3, 4});

TEST(Products, OverOneAxis) {
  EXPECT_EQ(values_of(dot(kA, kB)), (Values{23, 26, 29, 32, 68, 80, 92, 104}));
  const Array deep = dot(kA, counted({2, 3, 2}));
  EXPECT_EQ(deep.shape(), (Dims{2, 2, 2}));
  EXPECT_EQ(values_of(deep), (Values{10, 13, 28, 31, 28, 40, 100, 112}));
  EXPECT_EQ(values_of(dot(full({}, 3), kA)), (Values{0, 3, 6, 9, 12, 15}));
  EXPECT_EQ(values_of(inner(kA, add(kA, 1))), (Values{8, 17, 26, 62}));
  EXPECT_EQ(inner(vector_of({1, 2}), vector_of({3, 4})).item<int64_t>(), 11);
  EXPECT_EQ(vdot(add(kA, Complex(0, 1)), multiply(kA, Complex(0, 1))).item().as_complex(), Complex(15, 55));
  EXPECT_EQ(values_of(outer(vector_of({1, 2}), vector_of({3, 4, 5}))), (Values{3, 4, 5, 6, 8, 10}));
  EXPECT_EQ(outer(zeros({0}), zeros({2, 2})).shape(), (Dims{0, 4}));
  EXPECT_THROW(dot(kA, kA), ShapeError);
  EXPECT_THROW(inner(kA, kB), ShapeError);
  EXPECT_THROW(vdot(kA, kB), ShapeError);
}

TEST(Products, OfBatchesOfVectors) {
  const Array imaginary = multiply(kA, Complex(0, 1));
  EXPECT_EQ(vecdot(imaginary, add(kA, 1)).to_vector<Complex>(), (ComplexValues{{0, -8}, {0, -62}}));
  EXPECT_EQ(values_of(vecdot(kA, kA, 0)), (Values{9, 17, 29}));
  EXPECT_EQ(values_of(matvec(kA, vector_of({1, 2, 3}))), (Values{8, 26}));
  const Array vector = Array::from<Complex>(ComplexValues{{0, 1}, {2, 0}}, {2});
  EXPECT_EQ(vecmat(vector, kA).to_vector<Complex>(), (ComplexValues{{6, 0}, {8, -1}, {10, -2}}));
  const Array flags = Array::from<bool>(std::array{true, false, true, true}, {2, 2});
  EXPECT_EQ(vecdot(flags, flags).dtype(), Dtype::bool_);
  EXPECT_THROW(vecdot(kA, kB), ShapeError);
  EXPECT_THROW(vecdot(full({}, 1), kB), ShapeError);
  EXPECT_THROW(matvec(vector_of({1}), kB), ShapeError);
  EXPECT_THROW(vecmat(kA, vector_of({1})), ShapeError);
  EXPECT_THROW(vecdot(kA, kA, 2), AxisError);
}

TEST(Products, OverSeveralAxes) {
  EXPECT_EQ(values_of(tensordot(kC, counted({4, 3, 2}), {1, 2}, {1, 0})), (Values{880, 946, 2464, 2674}));
  EXPECT_EQ(tensordot(kA, kA, 0).shape(), (Dims{2, 3, 2, 3}));
  EXPECT_EQ(tensordot(kA, kA).item<int64_t>(), 55);
  EXPECT_EQ(values_of(tensordot(zeros({2, 0}), zeros({0, 1}), 1)), (Values{0, 0}));
  EXPECT_THROW(tensordot(kA, kB, {0}, {0}), ShapeError);
  EXPECT_THROW(tensordot(kA, kB, {0, 1}, {0}), ValueError);
  EXPECT_THROW(tensordot(kA, kA, {0, 0}, {0, 1}), ValueError);
  EXPECT_THROW(tensordot(kA, kA, 3), AxisError);
}

TEST(Products, KroneckerBlocks) {
  const Array product = kron(kA.at(Slice{}, Slice{0, 2, {}}), Array::from<int64_t>(Values{1, 2}, {1, 2}));
  EXPECT_EQ(product.shape(), (Dims{2, 4}));
  EXPECT_EQ(values_of(product), (Values{0, 0, 1, 2, 3, 6, 4, 8}));
  EXPECT_EQ(kron(vector_of({1, 2}), counted({2, 1})).shape(), (Dims{2, 2}));
  EXPECT_EQ(kron(zeros({0, 2}), kA).shape(), (Dims{0, 6}));
}

TEST(Products, CrossOfVectors) {
  const Array b = Array::from<int64_t>(Values{4, 5, 6, 7, 8, 10}, {2, 3});
  EXPECT_EQ(values_of(cross(vector_of({1, 2, 3}), b)), (Values{-3, 6, -3, -4, 11, -6}));
  const Array x = Array::from<int64_t>(Values{1, 4, 2, 5, 3, 6}, {3, 2});
  const Array y = Array::from<int64_t>(Values{7, 1, 8, 2, 9, 4}, {3, 2});
  EXPECT_EQ(values_of(cross(x, y, 0, 0, 0)), (Values{-6, 8, 12, -10, -6, 3}));
  EXPECT_EQ(cross(vector_of({1, 2}), vector_of({3, 4})).item<int64_t>(), -2);
  EXPECT_EQ(values_of(cross(vector_of({1, 2}), vector_of({3, 4, 5}))), (Values{10, -5, -2}));
  EXPECT_EQ(values_of(cross(vector_of({3, 4, 5}), vector_of({1, 2}))), (Values{-10, 5, 2}));
  EXPECT_EQ(cross(zeros({0, 3}), zeros({3})).shape(), (Dims{0, 3}));
  EXPECT_THROW(cross(vector_of({1}), vector_of({1})), ValueError);
  EXPECT_THROW(cross(full({}, 1), vector_of({1, 2, 3})), ShapeError);
  EXPECT_THROW(cross(x, y, 2), AxisError);
}

TEST(Products, Einsum) {
  const Values chain{290, 730, 1170, 920, 2296, 3672};
  EXPECT_EQ(values_of(contraction("ij,jk,kl->il", {kA, kB, kB.transpose()})), chain);
  EXPECT_EQ(values_of(contraction("ij,jk,kl->il", {kA, kB, kB.transpose()}, {{1, 2}, {0, 1}})), chain);
  EXPECT_EQ(values_of(contraction("bij,bkj->bk", {kC, kC})), (Values{114, 378, 642, 2850, 3690, 4530}));
  EXPECT_EQ(values_of(contraction("i,j", {vector_of({1, 2}), vector_of({3, 4})})), (Values{3, 4, 6, 8}));
  EXPECT_EQ(values_of(contraction("ba", {kA})), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values_of(contraction("...j,j", {kC, vector_of({1, 2, 3, 4})})), (Values{20, 60, 100, 140, 180, 220}));
  EXPECT_EQ(values_of(contraction("ijj->i", {counted({2, 2, 2})})), (Values{3, 11}));
  EXPECT_EQ(contraction("...ij->...ji", {kC}).shape(), (Dims{2, 4, 3}));
  const Array diagonal = contraction("ii->i", {kB.at(Slice{}, Slice{0, 3, {}})});
  EXPECT_EQ(values_of(diagonal), (Values{1, 6, 11}));
  EXPECT_EQ(diagonal.buffer(), kB.buffer());
  const Array left = Array::from<bool>(std::array{true, false, true, true}, {2, 2});
  const Array right = Array::from<bool>(std::array{true, true, false, false}, {2, 2});
  EXPECT_EQ(values_of(contraction("ij,ij->j", {left, right})), (Values{1, 0}));
  EXPECT_EQ(contraction("ij,j->i", {zeros({2, 0}), zeros({0})}).to_vector<double>(), (std::vector<double>{0, 0}));
  // An axis of one element is repeated, as in NumPy.
  EXPECT_EQ(values_of(contraction("ij,j->i", {kA, vector_of({2})})), (Values{6, 24}));
  const Array operands[] = {kC, kB};
  EXPECT_EQ(einsum_subscripts("...j, kj", operands), "ABj,kj->ABk");
}

TEST(Products, EinsumRefusesWhatDoesNotFit) {
  for (const char* subscripts : {"ij,jk", "i1", "ij->ii", "ij->k", "i", "ijk", "ii", "...ijk"})
    EXPECT_THROW(contraction(subscripts, {kA}), ValueError) << subscripts;
  EXPECT_THROW(contraction("ij,ij", {kA, kB}), ValueError);
  EXPECT_THROW(contraction("", {}), ValueError);
  EXPECT_THROW(contraction("ij,jk", {kA, kB}, {{0, 2}}), ValueError);
  EXPECT_THROW(contraction("ij,jk,kl", {kA, kB, kB.transpose()}, {{0, 1}}), ValueError);
}

}  // namespace
