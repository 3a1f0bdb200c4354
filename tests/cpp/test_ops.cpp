// Elementwise functions: which dtypes they give (NumPy's answers), literals, outputs, broadcasting, overlap, errors.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "error_of.h"
#include "iruka/iruka.h"
#include "ops/elementwise/loop_types.h"

namespace {

using namespace iruka;

struct TypeCase {
  const char* name;
  int arity;
  const char* results;
};
constexpr TypeCase kTypeCases[] = {
#include "ops_cases.inc"
};
constexpr Dtype kOrder[] = {Dtype::bool_,   Dtype::int8,    Dtype::int16,     Dtype::int32,     Dtype::int64,
                            Dtype::uint8,   Dtype::uint16,  Dtype::uint32,    Dtype::uint64,    Dtype::float16,
                            Dtype::float32, Dtype::float64, Dtype::complex64, Dtype::complex128};
constexpr std::string_view kCharacters = "?bhilBHILefdFD";

/// One character an element: 1 where true.
std::string truths(const Array& array) {
  EXPECT_EQ(array.dtype(), Dtype::bool_);
  std::string text;
  for (uint8_t value : array.astype(Dtype::uint8).to_vector<uint8_t>()) text += value ? '1' : '0';
  return text;
}

std::string resolved(const ElementwiseFunction::Row& row, std::span<const Array> inputs) {
  std::vector<Argument> arguments(inputs.begin(), inputs.end());
  try {
    const ops::LoopTypes types = ops::loop_types(row, arguments, {});
    std::string result;
    for (int k = 0; k < ops::output_count(row); ++k) {
      const Dtype dtype = types.types[inputs.size() + static_cast<size_t>(k)];
      const auto at = std::find(std::begin(kOrder), std::end(kOrder), dtype) - std::begin(kOrder);
      result += kCharacters[static_cast<size_t>(at)];
    }
    return result;
  } catch (const TypeError&) {
    return "x";
  }
}

TEST(OpsTypes, EveryFunctionGivesNumPysDtypes) {
  int checked = 0;
  for (const TypeCase& expected : kTypeCases) {
    const int index = ops::find_elementwise(expected.name);
    ASSERT_GE(index, 0) << expected.name;
    const auto& row = ops::elementwise_table()[static_cast<size_t>(index)];
    ASSERT_EQ(ops::input_count(row), expected.arity) << expected.name;
    std::istringstream results(expected.results);
    for (Dtype first : kOrder)
      for (Dtype second : kOrder) {
        if (expected.arity == 1 && second != kOrder[0]) continue;
        std::vector<Array> inputs{ones({1}, first)};
        if (expected.arity == 2) inputs.push_back(ones({1}, second));
        std::string want;
        results >> want;
        EXPECT_EQ(resolved(row, inputs), want) << expected.name << " of " << name(first) << ", " << name(second);
        ++checked;
      }
  }
  EXPECT_GT(checked, 7000);
}

TEST(OpsTypes, NamesAreCallableAndDocumented) {
  const auto names = elementwise_names();
  EXPECT_GT(names.size(), 80u);
  for (const std::string& name : names) {
    const ElementwiseFunction function(name.c_str());
    EXPECT_GE(function.nin(), 1) << name;
    EXPECT_GE(function.nout(), 1) << name;
    EXPECT_STRNE(function.documentation(), "") << name;
  }
  EXPECT_STREQ(ElementwiseFunction("mod").name(), "remainder");
  EXPECT_THROW(ElementwiseFunction("no_such_function"), ValueError);
}

TEST(OpsTypes, Bfloat16ComputesInFloatAndKeepsItsDtype) {
  const Array x = arange(0, 8, 1).astype(Dtype::bfloat16);
  const Array y = add(x, x);
  EXPECT_EQ(y.dtype(), Dtype::bfloat16);
  EXPECT_EQ(y.astype(Dtype::float32).to_vector<float>(), (std::vector<float>{0, 2, 4, 6, 8, 10, 12, 14}));
  EXPECT_EQ(iruka::sqrt(x).dtype(), Dtype::bfloat16);
  EXPECT_EQ(add(x, ones({8}, Dtype::float16)).dtype(), Dtype::float32);
}

TEST(OpsLiterals, AreWeak) {
  EXPECT_EQ(add(ones({2}, Dtype::int8), 3).dtype(), Dtype::int8);
  EXPECT_EQ(add(ones({2}, Dtype::float32), 3.0).dtype(), Dtype::float32);
  EXPECT_EQ(add(ones({2}, Dtype::int32), 3.0).dtype(), Dtype::float64);
  EXPECT_EQ(add(ones({2}, Dtype::bool_), 3).dtype(), Dtype::int64);
  EXPECT_EQ(multiply(ones({2}, Dtype::float32), std::complex<double>(0, 1)).dtype(), Dtype::complex64);
  EXPECT_EQ(add(ones({2}, Dtype::float32), Scalar(3.0).typed(Dtype::float64)).dtype(), Dtype::float64);
  const Array sum = add(2, 3);
  EXPECT_EQ(sum.ndim(), 0);
  EXPECT_EQ(sum.dtype(), Dtype::int64);
  EXPECT_EQ(sum.item<int64_t>(), 5);
}

TEST(OpsLiterals, OutOfRangeOverflowsInArithmeticOnly) {
  const Array x = Array::from<uint8_t>({1, 200});
  try {
    add(x, 300);
    FAIL();
  } catch (const OverflowError& error) {
    EXPECT_STREQ(error.what(), "Python integer 300 out of bounds for uint8");
  }
  EXPECT_THROW(add(x, -1), OverflowError);
  EXPECT_EQ(truths(less(x, 300)), "11");
  EXPECT_EQ(truths(greater(x, -1)), "11");
  EXPECT_EQ(truths(equal(x, 300)), "00");
  EXPECT_EQ(truths(less(-1, x)), "11");
  const Array wide = Array::from<int64_t>({-1, INT64_MAX});
  EXPECT_EQ(truths(less(wide, uint64_t{1} << 63)), "11");
}

TEST(OpsCompare, SignedBesideUnsignedIsExact) {
  const Array a = Array::from<int64_t>({-1, INT64_MAX, 5, 0}),
              b = Array::from<uint64_t>({UINT64_MAX, uint64_t(INT64_MAX) + 1, 5, 1});
  EXPECT_EQ(truths(equal(a, b)), "0010");
  EXPECT_EQ(truths(less(a, b)), "1101");
  EXPECT_EQ(truths(greater(b, a)), "1101");
  EXPECT_EQ(truths(ElementwiseFunction("less_equal")(a, b)), "1111");
  EXPECT_EQ(truths(ElementwiseFunction("greater_equal")(a, b)), "0010");
  EXPECT_EQ(truths(ElementwiseFunction("not_equal")(b, a)), "1101");
}

TEST(OpsErrors, AreNumPys) {
  const Array bools = ones({2}, Dtype::bool_), ints = ones({2}, Dtype::int32), floats = ones({2});
  EXPECT_THROW(negative(bools), TypeError);
  EXPECT_THROW(subtract(bools, bools), TypeError);
  EXPECT_THROW(ElementwiseFunction("bitwise_and")(floats, floats), TypeError);
  EXPECT_THROW(add(ones({2}), ones({3})), ShapeError);
  EXPECT_THROW(power(ints, -1), ValueError);
  EXPECT_EQ(test::error_of<Error>([&] { power(ints, negative(ints)); }),
            "Integers to negative integer powers are not allowed.");
  EXPECT_EQ(test::error_of<Error>([&] { add(floats, floats, ints); }),
            "Cannot cast ufunc 'add' output from dtype('float64') to dtype('int32') with casting rule 'same_kind'");
  EXPECT_EQ(test::error_of<Error>([&] { add(ones({2, 3}), 1.0, ones({3})); }),
            "non-broadcastable output operand with shape (3,) doesn't match the broadcast shape (2, 3)");
  EXPECT_EQ(test::error_of<Error>([&] { add(floats, floats, ones({2}).read_only()); }),
            "add: output array is read-only");
  const Argument one[] = {floats};
  EXPECT_THROW(add.call(one), TypeError);
  const Argument two[] = {floats, floats};
  EXPECT_EQ(test::error_of<Error>([&] { add.call(two, {.dtype = Dtype::int32}); }),
            "Cannot cast ufunc 'add' input 0 from dtype('float64') to dtype('int32') with casting rule 'same_kind'");
  EXPECT_THROW(less.call(two, {.dtype = Dtype::float32}), TypeError);
}

TEST(OpsOutputs, ForcedDtypeAndGivenOutput) {
  const Array x = Array::from<int32_t>({1, 2, 3});
  const Argument arguments[] = {x, x};
  EXPECT_EQ(add.call(arguments, {.dtype = Dtype::float32}).front().dtype(), Dtype::float32);
  EXPECT_EQ(add.call(arguments, {.dtype = Dtype::int8}).front().dtype(), Dtype::int8);
  Array out = Array::empty({3}, Dtype::float16);
  const Array result = add(x, 0.5, out);
  EXPECT_EQ(result.data(), out.data());
  EXPECT_EQ(out.astype(Dtype::float64).to_vector<double>(), (std::vector<double>{1.5, 2.5, 3.5}));
  Array wide = zeros({2, 3}, Dtype::int64);
  add(x, 1, wide);
  EXPECT_EQ(wide.to_vector<int64_t>(), (std::vector<int64_t>{2, 3, 4, 2, 3, 4}));
  Array quotient = zeros({3}, Dtype::int32), rest = zeros({3}, Dtype::int32);
  const Argument all[] = {x, 2, quotient, rest};
  EXPECT_EQ(ElementwiseFunction("divmod").call(all).size(), 2u);
  EXPECT_EQ(quotient.to_vector<int32_t>(), (std::vector<int32_t>{0, 1, 1}));
  EXPECT_EQ(rest.to_vector<int32_t>(), (std::vector<int32_t>{1, 0, 1}));
}

TEST(OpsOutputs, OverlapReadsInputsAsTheyWere) {
  for (int64_t n : {5, 64, 1000, 100003}) {
    Array x = arange(n);
    const Array head = x.at(Slice{0, n - 1, {}}), tail = x.at(Slice{1, n, {}});
    add(head, tail, tail);  // x[k] = k + k - 1 from the old values
    std::vector<int64_t> want(static_cast<size_t>(n));
    for (int64_t k = 1; k < n; ++k) want[static_cast<size_t>(k)] = 2 * k - 1;
    EXPECT_EQ(x.to_vector<int64_t>(), want) << n;
    Array y = arange(n);
    add(y, y.at(Slice{{}, {}, -1}), y);
    EXPECT_EQ(y.to_vector<int64_t>(), std::vector<int64_t>(static_cast<size_t>(n), n - 1)) << n;
    Array z = arange(n);
    multiply(z, 3, z);
    EXPECT_EQ(z.to_vector<int64_t>()[static_cast<size_t>(n - 1)], 3 * (n - 1));
  }
}

TEST(OpsLayouts, StridedBroadcastReversedEmptyAndScalarArrays) {
  const Array x = arange(24).reshape({2, 3, 4});
  const Array views[] = {x,
                         x.transpose(),
                         x.at(Slice{{}, {}, -1}),
                         x.transpose({1, 0, 2}),
                         x.at(Ellipsis{}, Slice{{}, {}, 2}),
                         x.at(Slice{}, Slice{0, 1, {}}).broadcast_to({2, 3, 4}),
                         x.at(Slice{}, Slice{0, 0, {}}),
                         x.at(0, 0, 0)};
  for (const Array& view : views) {
    const Array doubled = add(view, view);
    ASSERT_EQ(doubled.shape(), view.shape());
    const auto values = view.to_vector<int64_t>(), got = doubled.to_vector<int64_t>();
    for (size_t k = 0; k < values.size(); ++k) EXPECT_EQ(got[k], 2 * values[k]);
    const Array mixed = multiply(view, Array::from<float>({0.5f}).reshape({}));
    const auto halves = mixed.to_vector<double>();
    EXPECT_EQ(mixed.dtype(), Dtype::float64);
    for (size_t k = 0; k < values.size(); ++k) EXPECT_EQ(halves[k], 0.5 * static_cast<double>(values[k]));
  }
  const Array outer = add(arange(3).reshape({3, 1}), arange(4));
  EXPECT_EQ(outer.to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5}));
  EXPECT_EQ(add(zeros({0, 3}), ones({3})).shape(), (Dims{0, 3}));
}

TEST(OpsWhere, PicksByTruthOfAnyDtype) {
  const Array condition = Array::from<double>({0, -0.0, NAN, 2});
  const Array picked = where(condition, Array::from<int32_t>({1, 2, 3, 4}), Scalar(9).typed(Dtype::int8));
  EXPECT_EQ(picked.dtype(), Dtype::int32);
  EXPECT_EQ(picked.to_vector<int32_t>(), (std::vector<int32_t>{9, 9, 3, 4}));
  EXPECT_EQ(where(ones({2}, Dtype::bool_), 1, 2.5).dtype(), Dtype::float64);
}

TEST(OpsPower, LiteralTwoIsTheSquare) {
  const Array x = Array::from<float>({1.1f, -3.3f, 1e20f});
  const auto values = x.to_vector<float>();
  const Array squared = power(x, 2);
  EXPECT_EQ(squared.dtype(), Dtype::float32);
  EXPECT_EQ(squared.to_vector<float>(), (std::vector<float>{values[0] * values[0], values[1] * values[1], INFINITY}));
  EXPECT_EQ(power(Array::from<int8_t>({3, -3}), 2.0).dtype(), Dtype::float64);
}

TEST(OpsSpeed, KernelsAreReusedFromCallToCall) {
  const Array x = ones({16}, Dtype::float32);
  add(x, x);
  clear_kernel_history();
  for (int k = 0; k < 100; ++k) add(x, x);
  EXPECT_TRUE(kernel_history().empty());
}

TEST(OpsTypes, ResultTypeFollowsNep50) {
  const Array f32 = ones({1}, Dtype::float32), i8 = ones({1}, Dtype::int8);
  const Argument a[] = {f32, 1.5}, b[] = {i8, 1.5}, c[] = {i8, 1}, d[] = {1, 2.5};
  EXPECT_EQ(result_type(a), Dtype::float32);
  EXPECT_EQ(result_type(b), Dtype::float64);
  EXPECT_EQ(result_type(c), Dtype::int8);
  EXPECT_EQ(result_type(d), Dtype::float64);
  EXPECT_THROW(result_type({}), ValueError);
}

}  // namespace
