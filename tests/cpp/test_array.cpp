// Arrays and views: NumPy's answers for chains of views, and the edges those cannot reach.
#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

#include "host_device.h"
#include "iruka/array.h"
#include "iruka/device.h"

namespace iruka {
namespace {

constexpr const char* kCases =
#include "layout_cases.inc"
    ;

testing::HostDevice& host() {
  static testing::HostDevice device;
  return device;
}

Array counting(const Dims& shape, Dtype dtype = Dtype::int32) {
  Array array = Array::empty(shape, dtype, host());
  for (int64_t k = 0; k < array.size(); ++k)
    Scalar(k).store(dtype, static_cast<char*>(array.data()) + k * array.itemsize());
  return array;
}

template <class E, class F>
void expect_error(F&& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "no error with " << part;
  } catch (const E& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

// --- NumPy's cases -------------------------------------------------------------------------------------------------

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + separator.size())
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

Dims parse_dims(const std::string& text) {
  Dims dims;
  if (text == "-") return dims;
  for (const std::string& part : split(text, ",")) dims.push_back(std::stoll(part));
  return dims;
}

Index parse_entry(const std::string& text) {
  if (text == "n") return NewAxis{};
  if (text == "...") return Ellipsis{};
  if (text.find(':') == std::string::npos) return static_cast<int64_t>(std::stoll(text));
  const std::vector<std::string> parts = split(text, ":");
  auto bound = [](const std::string& part) {
    return part.empty() ? std::optional<int64_t>() : std::optional<int64_t>(std::stoll(part));
  };
  return Slice{bound(parts[0]), bound(parts[1]), bound(parts[2])};
}

/// No array: a reshape that needs a copy.
std::optional<Array> take_step(const Array& x, const std::string& step) {
  std::istringstream words(step);
  std::string name, word;
  words >> name;
  if (name == "index") {
    std::vector<Index> entries;
    while (words >> word) entries.push_back(parse_entry(word));
    return x.index(entries);
  }
  words >> word;
  if (name == "view") return x.view(parse_dtype(word));
  const Dims dims = parse_dims(word);
  if (name == "reshape") return x.reshape_view(dims);
  if (name == "transpose") return x.transpose(dims);
  if (name == "broadcast_to") return x.broadcast_to(dims);
  if (name == "swapaxes") return x.swapaxes(static_cast<int>(dims[0]), static_cast<int>(dims[1]));
  if (name == "squeeze") return x.squeeze(dims.empty() ? std::optional<int>() : static_cast<int>(dims[0]));
  throw std::logic_error("unknown step " + step);
}

std::string dims_text(const Dims& dims) {
  std::string text;
  for (int64_t value : dims) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text.empty() ? "-" : text;
}

std::string outcome(const std::optional<Array>& x) {
  if (!x) return "copy";
  std::string flags;
  if (x->is_c_contiguous()) flags += 'C';
  if (x->is_f_contiguous()) flags += 'F';
  if (x->writable()) flags += 'W';
  const std::string where = x->size() ? dims_text(x->strides()) + " " + std::to_string(x->offset()) : "? ?";
  return "view " + dims_text(x->shape()) + " " + where + " " + (flags.empty() ? "-" : flags);
}

std::string run(const std::vector<std::string>& steps) {
  try {
    std::optional<Array> x = Array::empty(parse_dims(steps[0]), Dtype::int32, host());
    for (size_t step = 1; step < steps.size(); ++step) x = take_step(*x, steps[step]);
    return outcome(x);
  } catch (const IndexError&) {
    return "IndexError";
  } catch (const ValueError&) {
    return "ValueError";
  }
}

TEST(Array, ViewsAreThoseOfNumPy) {
  std::istringstream lines(kCases);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const std::vector<std::string> sides = split(line, " -> ");
    ASSERT_EQ(sides.size(), 2u) << line;
    EXPECT_EQ(run(split(sides[0], " ; ")), sides[1]) << line;
  }
  EXPECT_GT(count, 1000);
}

// --- edges ---------------------------------------------------------------------------------------------------------

TEST(Array, DefaultIsNoArray) { EXPECT_FALSE(Array().valid()); }

TEST(Array, ZeroDimensional) {
  const Array x = counting({});
  EXPECT_EQ(x.ndim(), 0);
  EXPECT_EQ(x.size(), 1);
  EXPECT_TRUE(x.is_c_contiguous() && x.is_f_contiguous());
  EXPECT_EQ(x.item<int64_t>(), 0);
  EXPECT_EQ(x.at(NewAxis{}, Ellipsis{}).shape(), Dims{1});
  expect_error<IndexError>([&] { x.at(0); }, "too many indices for array: array is 0-dimensional, but 1 were indexed");
}

TEST(Array, RankLimit) {
  Dims shape(32, 1);
  const Array x = Array::empty(shape, Dtype::int8, host());
  EXPECT_EQ(x.ndim(), 32);
  EXPECT_EQ(x.transpose().ndim(), 32);
  EXPECT_EQ(x.reshape({1}).shape(), Dims{1});
  EXPECT_EQ(x.squeeze().ndim(), 0);
  expect_error<ShapeError>([&] { x.expand_dims(0); }, "32 axes");
  expect_error<ShapeError>([&] { x.at(NewAxis{}); }, "32 axes");
  expect_error<ShapeError>([&] { x.at(NewAxis{}, NewAxis{}, NewAxis{}); }, "32 axes");
  expect_error<ShapeError>([&] { x.reshape(Dims(33, 1)); }, "32 axes, not 33");
  expect_error<ShapeError>([&] { x.broadcast_to(Dims(33, 1)); }, "32 axes, not 33");
  expect_error<ShapeError>([] { Array::empty(Dims(33, 1), Dtype::int8, host()); }, "32 axes, not 33");
  expect_error<ShapeError>([] { Array::empty(Dims(100, 1), Dtype::int8, host()); }, "32 axes, not 100");
}

TEST(Array, SizesThatDoNotFit) {
  const int64_t huge = int64_t{1} << 62;
  expect_error<ShapeError>([&] { Array::empty({huge, 2}, Dtype::int8, host()); }, "(4611686018427387904, 2)");
  expect_error<ShapeError>([&] { Array::empty({huge}, Dtype::int16, host()); }, "2^63 - 1 bytes");
  expect_error<ShapeError>([&] { Array::empty({huge, 4, 0}, Dtype::int8, host()); }, "(4611686018427387904, 4, 0)");
  expect_error<ShapeError>([&] { Array::empty({2, -3}, Dtype::int8, host()); }, "negative dimensions");
  expect_error<OutOfMemoryError>([&] { Array::empty({huge}, Dtype::int8, host()); }, "4611686018427387904 bytes");
  const Array one = counting({1});
  EXPECT_EQ(one.broadcast_to({huge / 4}).nbytes(), huge / 4 * one.itemsize());
  expect_error<ShapeError>([&] { one.broadcast_to({huge}); }, "2^63 - 1 bytes");
  expect_error<ShapeError>([&] { one.broadcast_to({huge, 2}); }, "63 bits");
  expect_error<ShapeError>([&] { one.reshape({huge, 4}); }, "(4611686018427387904, 4)");
}

TEST(Array, EmptyArrays) {
  const Array x = counting({3, 0, 2});
  EXPECT_EQ(x.size(), 0);
  EXPECT_EQ(x.nbytes(), 0);
  EXPECT_NE(x.data(), nullptr);
  EXPECT_TRUE(x.is_c_contiguous() && x.is_f_contiguous());
  EXPECT_EQ(x.reshape({-1, 5}).shape(), (Dims{0, 5}));
  expect_error<ShapeError>([&] { x.reshape({-1, 0}); }, "reshape: cannot give shape (-1, 0) to 0 elements");
  expect_error<ValueError>([&] { x.item(); }, "(3, 0, 2)");
  EXPECT_FALSE(x.may_overlap(x));
}

TEST(Array, MessagesOfNumPy) {
  const Array x = counting({3, 2});
  expect_error<IndexError>([&] { x.at(5); }, "index 5 is out of bounds for axis 0 with size 3");
  expect_error<IndexError>([&] { x.at(0, -3); }, "index -3 is out of bounds for axis 1 with size 2");
  expect_error<IndexError>([&] { x.at(0, 0, 0); }, "array is 2-dimensional, but 3 were indexed");
  expect_error<IndexError>([&] { x.at(Ellipsis{}, Ellipsis{}); }, "single ellipsis");
  expect_error<ValueError>([&] { x.at(Slice{{}, {}, 0}); }, "slice step cannot be zero");
  expect_error<ShapeError>([&] { x.reshape({4, 2}); }, "reshape: cannot give shape (4, 2) to 6 elements");
  expect_error<ShapeError>([&] { x.reshape({-1, -1}); }, "only specify one unknown dimension");
  expect_error<ShapeError>([&] { x.reshape({-2, 3}); }, "negative");
  expect_error<ShapeError>([&] { x.transpose({0, 0}); }, "repeated axis");
  expect_error<ShapeError>([&] { x.transpose({0}); }, "don't match");
  expect_error<IndexError>([&] { x.transpose({0, 2}); }, "axis 2 is out of bounds for array of dimension 2");
  expect_error<ShapeError>([&] { x.squeeze(1); }, "not equal to one");
  expect_error<ShapeError>([&] { x.broadcast_to({3, 4}); }, "cannot broadcast shape (3, 2) to shape (3, 4)");
  expect_error<ValueError>([&] { x.item(); }, "array of size 1");
  expect_error<ValueError>([&] { x.transpose().view(Dtype::int8); }, "last axis must be contiguous");
  expect_error<ValueError>([&] { counting({3}).view(Dtype::int64); }, "12 bytes");
  const Dims a{2, 3}, b{4}, c{1};
  const Dims* shapes[] = {&a, &b, &c};
  expect_error<ShapeError>([&] { broadcast_shapes(shapes); },
                           "operands could not be broadcast together with shapes (2, 3) (4,) (1,)");
}

TEST(Array, ViewsShareElements) {
  const Array x = counting({4, 6});
  const Array y = x.at(Slice{{}, {}, -1}, Slice{1, 5, 2});  // rows backwards, columns 1 and 3
  EXPECT_EQ(y.shape(), (Dims{4, 2}));
  for (int64_t row = 0; row < 4; ++row)
    for (int64_t column = 0; column < 2; ++column)
      EXPECT_EQ(y.at(row, column).item<int64_t>(), (3 - row) * 6 + 1 + 2 * column);
  EXPECT_EQ(x.buffer().get(), y.buffer().get());
  EXPECT_EQ(x.buffer().use_count(), 2);
  EXPECT_EQ(x.reshape({2, 2, 6}).at(1, 0, 0).item<int64_t>(), 12);
  EXPECT_EQ(x.expand_dims(-1).shape(), (Dims{4, 6, 1}));
  EXPECT_EQ(x.expand_dims(1).reshape({24}).at(23).item<int64_t>(), 23);
}

TEST(Array, ReadOnlyIsInherited) {
  const Array x = counting({4, 6});
  EXPECT_TRUE(x.writable());
  const Array y = x.read_only();
  EXPECT_TRUE(x.writable());
  for (const Array& view : {y.at(0), y.transpose(), y.reshape({24}), y.transpose({1, 0}), y.view(Dtype::uint8),
                            y.expand_dims(0), y.squeeze(), y.swapaxes(0, 1), x.broadcast_to({2, 4, 6})})
    EXPECT_FALSE(view.writable());
}

TEST(Array, ItemOfEveryDtype) {
  for (int i = 0; i < kDtypeCount; ++i) {
    const Dtype dtype = static_cast<Dtype>(i);
    const Array x = counting({2, 1}, dtype);
    EXPECT_EQ(x.at(1).item().dtype(), dtype);
    EXPECT_EQ(x.at(1).item().as_double(), 1) << name(dtype);
    EXPECT_EQ(x.at(0).item().as_double(), 0) << name(dtype);
  }
}

TEST(Array, FromCopiesValues) {
  std::vector<double> values{1.5, -2, 3};
  const Array x = Array::from(std::span<const double>(values), {3, 1});
  values[0] = 0;
  EXPECT_EQ(x.dtype(), Dtype::float64);
  EXPECT_EQ(x.at(0).item<double>(), 1.5);
  EXPECT_EQ(x.at(2, 0).item<double>(), 3);
  EXPECT_EQ(Array::from<int8_t>({}).size(), 0);
  EXPECT_EQ(Array::from({true, false}).at(0).item<bool>(), true);
  expect_error<ShapeError>([&] { Array::from(std::span<const double>(values), {2, 2}); },
                           "3 values do not fill shape (2, 2)");
}

TEST(Array, MayOverlapComparesBounds) {
  const Array x = counting({10}), y = counting({10});
  EXPECT_FALSE(x.may_overlap(y));
  EXPECT_TRUE(x.may_overlap(x));
  EXPECT_FALSE(x.at(Slice{0, 5}).may_overlap(x.at(Slice{5, 10})));
  EXPECT_TRUE(x.at(Slice{0, 6}).may_overlap(x.at(Slice{5, 10})));
  EXPECT_FALSE(x.at(Slice{4, {}, -1}).may_overlap(x.at(Slice{5, {}})));
  EXPECT_TRUE(x.at(Slice{{}, {}, 2}).may_overlap(x.at(Slice{1, {}, 2})));
  // As another library hands back what it was given.
  const auto returned = [&](void* data) {
    return Array(std::make_shared<Buffer>(x.device(), data, 8, true, nullptr), x.dtype(), {2}, {x.itemsize()});
  };
  EXPECT_TRUE(returned(x.at(8).data()).may_overlap(x));
  EXPECT_TRUE(x.may_overlap(returned(x.at(8).data())));
  EXPECT_TRUE(returned(x.at(3).data()).may_overlap(returned(x.at(4).data())));
  EXPECT_FALSE(returned(x.at(3).data()).may_overlap(returned(x.at(5).data())));
}

TEST(Array, StridesMustMatchTheShape) {
  const Array x = counting({4});
  expect_error<ShapeError>([&] { Array(x.buffer(), Dtype::int32, {2, 2}, {4}); }, "strides (4,)");
}

TEST(Dims, HoldManyAndFew) {
  Dims dims;
  for (int i = 0; i < 33; ++i) dims.push_back(i);
  EXPECT_EQ(dims.size(), 33);
  EXPECT_THROW(dims.push_back(33), ShapeError);
  const Dims copy = dims, few{1, 2};
  EXPECT_EQ(copy, dims);
  EXPECT_EQ(copy[32], 32);
  dims = few;
  EXPECT_EQ(dims, few);
  dims = copy;
  EXPECT_EQ(dims, copy);
  EXPECT_FALSE(dims == few);
  EXPECT_EQ(Dims(100, 7)[99], 7);
}

TEST(Dims, MovingLeavesNone) {
  for (const int size : {3, 9}) {
    Dims from(size, 5);
    const Dims to(std::move(from));
    EXPECT_EQ(to, Dims(size, 5));
    EXPECT_EQ(from, Dims());
    from.push_back(7);
    EXPECT_EQ(from, Dims{7});
    Dims other;
    other = std::move(from);
    EXPECT_EQ(other, Dims{7});
    EXPECT_TRUE(from.empty());
  }
}

TEST(Dims, PrintAsPythonTuples) {
  EXPECT_EQ(to_string(Dims{}), "()");
  EXPECT_EQ(to_string(Dims{4}), "(4,)");
  EXPECT_EQ(to_string(Dims{2, -3}), "(2, -3)");
}

TEST(Dims, NormalizeAxis) {
  EXPECT_EQ(normalize_axis("sum", -1, 3), 2);
  EXPECT_EQ(normalize_axis("sum", 0, 3), 0);
  expect_error<IndexError>([] { normalize_axis("sum", 3, 3); },
                           "sum: axis 3 is out of bounds for array of dimension 3");
  expect_error<IndexError>([] { normalize_axis("sum", -1, 0); }, "axis -1");
}

}  // namespace
}  // namespace iruka
