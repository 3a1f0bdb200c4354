// Folds with elementwise functions, and the rules of a call: the C++ interface of NumPy's ufuncs.
#include <gtest/gtest.h>

#include "iruka/fold.h"
#include "iruka/iruka.h"

namespace {

using namespace iruka;

std::vector<double> numbers(const Array& x) { return x.astype(Dtype::float64).to_vector<double>(); }

TEST(CallRules, CastingIsCheckedForEveryCall) {
  const Array x = Array::from<double>({1.5, 2.5});
  const Argument list[] = {x, x};
  const auto forced = [&](Casting casting) {
    return add.call(list, {.dtype = Dtype::int32, .casting = casting}).front();
  };
  EXPECT_EQ(numbers(forced(Casting::unsafe)), (std::vector<double>{2, 4}));
  EXPECT_THROW(forced(Casting::same_kind), TypeError);  // also after the unsafe one was compiled
  EXPECT_EQ(numbers(forced(Casting::unsafe)), (std::vector<double>{2, 4}));
}

TEST(CallRules, SignatureNamesALoop) {
  const Array x = Array::from<int32_t>({1, 2});
  const Argument list[] = {x, x};
  EXPECT_EQ(add.call(list, {.signature = {Dtype::float64, {}, {}}}).front().dtype(), Dtype::float64);
  EXPECT_THROW(add.call(list, {.signature = {Dtype::float64, {}, Dtype::int8}}), TypeError);
  EXPECT_THROW(add.call(list, {.signature = {Dtype::float64}}), ValueError);
  EXPECT_EQ(add.types(list), (std::vector<Dtype>{Dtype::int32, Dtype::int32, Dtype::int32}));
  EXPECT_EQ(less.loops().front(), "??->?");
}

TEST(CallRules, MaskKeepsWhatWasThere) {
  const Array x = Array::from<float>({1, 2, 3, 4}), mask = Array::from<int8_t>({1, 0, 1, 0}).astype(Dtype::bool_);
  const Array out = full({4}, -1, Dtype::float32);
  const Argument list[] = {x, Argument(10), out};
  add.call(list, {.where = &mask});
  EXPECT_EQ(numbers(out), (std::vector<double>{11, -1, 13, -1}));
}

TEST(CallRules, NewOutputsLieAsTheInputsDo) {
  const Array x = arange(24).reshape({2, 3, 4}).transpose({2, 0, 1});
  const Argument list[] = {x};
  EXPECT_EQ(negative.call(list).front().strides(), x.strides());
  EXPECT_TRUE(negative.call(list, {.order = MemoryOrder::c}).front().is_c_contiguous());
  EXPECT_TRUE(negative.call(list, {.order = MemoryOrder::fortran}).front().is_f_contiguous());
}

TEST(Fold, LongAxesGiveThePlainLoopsAnswer) {
  const ElementwiseFunction exclusive_or("bitwise_xor"), largest("fmax");
  for (int64_t length : {1, 63, 64, 1000, 16384, 100'003}) {
    const Array x = multiply(arange(length), 2654435761).reshape({1, length});
    int64_t expected = 0;
    for (int64_t k = 0; k < length; ++k) expected ^= k * 2654435761;
    EXPECT_EQ(fold(exclusive_or, x, Dims{1}).item<int64_t>(), expected) << length;
    EXPECT_EQ(fold(largest, x, Dims{1}).item<int64_t>(), (length - 1) * 2654435761) << length;
  }
}

TEST(Fold, OrderIsKeptWhereItMatters) {
  const Array x = Array::from<double>({100, 5, 2});
  EXPECT_EQ(fold(divide, x, Dims{0}).item<double>(), 10);
  EXPECT_EQ(numbers(accumulate(subtract, x, 0)), (std::vector<double>{100, 95, 93}));
  EXPECT_EQ(fold(subtract, x, Dims{0}, {.initial = Scalar(0)}).item<double>(), -107);
}

TEST(Fold, FortranOrderGivesTheSameWithoutACopy) {
  const Array x = arange(60).reshape({3, 4, 5}), turned = x.transpose({2, 1, 0}).copy().transpose({2, 1, 0});
  const Array mask = greater(x, 20), starts = Array::from<int64_t>({0, 2, 1});
  const ElementwiseFunction largest("fmax"), exclusive_or("bitwise_xor");
  for (int64_t axis : {0, 1, 2}) {
    EXPECT_EQ(numbers(fold(subtract, turned, Dims{axis})), numbers(fold(subtract, x, Dims{axis})));
    EXPECT_EQ(numbers(accumulate(subtract, turned, axis)), numbers(accumulate(subtract, x, axis)));
    EXPECT_EQ(accumulate(subtract, turned, axis).strides(), turned.strides());
    EXPECT_EQ(numbers(fold_segments(add, turned, starts, axis)), numbers(fold_segments(add, x, starts, axis)));
    const FoldRules rules{.keepdims = true, .initial = Scalar(7), .where = &mask};
    EXPECT_EQ(numbers(fold(largest, turned, Dims{axis}, rules)), numbers(fold(largest, x, Dims{axis}, rules)));
    EXPECT_EQ(fold(largest, turned, Dims{axis}, rules).shape(), fold(largest, x, Dims{axis}, rules).shape());
  }
  EXPECT_EQ(numbers(fold(exclusive_or, turned, Dims{0, 2})), numbers(fold(exclusive_or, x, Dims{0, 2})));
}

TEST(Fold, IdentitiesFillEmptyAxes) {
  const Array none = zeros({0, 2}, Dtype::uint8);
  EXPECT_EQ(numbers(fold(ElementwiseFunction("bitwise_and"), none, Dims{0})), (std::vector<double>{255, 255}));
  EXPECT_THROW(fold(maximum, none, Dims{0}), ValueError);
  EXPECT_THROW(fold(add, none, Dims{0}, {.has_identity = false}), ValueError);
  EXPECT_EQ(numbers(fold(maximum, none, Dims{0}, {.initial = Scalar(7)})), (std::vector<double>{7, 7}));
}

TEST(Fold, SegmentsMayBeEmptyOrGoBackwards) {
  const Array x = arange(6), starts = Array::from<int64_t>({0, 4, 1, 1});
  EXPECT_EQ(numbers(fold_segments(add, x, starts, 0)), (std::vector<double>{6, 4, 1, 15}));
  EXPECT_THROW(fold_segments(add, x, Array::from<int64_t>({6}), 0), IndexError);
}

}  // namespace
