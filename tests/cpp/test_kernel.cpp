// The kernel language through the C++ API.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <complex>
#include <numeric>
#include <thread>

#include "core/device.h"
#include "iruka/iruka.h"
#include "jit/program.h"
#include "jit/warnings.h"

namespace iruka {
namespace {

template <class T>
Array sequence(const Dims& shape, T first = 0) {
  std::vector<T> values(static_cast<size_t>(count(shape)));
  std::iota(values.begin(), values.end(), first);
  return Array::from(std::span<const T>(values), shape);
}

template <class E, class Callable>
std::string message_of(Callable&& callable) {
  try {
    callable();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another class was thrown: " << error.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

void expect_words(const std::string& message, std::initializer_list<const char*> words) {
  for (const char* word : words)
    EXPECT_NE(message.find(word), message.npos) << "'" << word << "' is not in: " << message;
}

const ElementwiseKernel& adder() {
  static const ElementwiseKernel kernel("T x, T y", "T z", "z = x + y;", "adder");
  return kernel;
}

TEST(Kernel, AddsConcreteTypes) {
  const ElementwiseKernel k("float32 x, float32 y", "float32 z", "z = x + y;", "mat_add");
  const Array z = k(sequence<float>({3, 3}), sequence<float>({3}));
  EXPECT_EQ(z.shape(), (Dims{3, 3}));
  EXPECT_EQ(z.to_vector<float>(), (std::vector<float>{0, 2, 4, 3, 5, 7, 6, 8, 10}));
}

// Work that fails later is what they are for.
TEST(Kernel, TheCpuKeepsNoNamesOfLaunches) {
  adder()(sequence<float>({3}), sequence<float>({3}));
  EXPECT_EQ(cpu().last_launches().list(), "");
}

template <class T>
class KernelTypes : public ::testing::Test {};
using Types = ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float, double>;
TYPED_TEST_SUITE(KernelTypes, Types);

TYPED_TEST(KernelTypes, PlaceholdersFollowTheArrays) {
  const Array x = sequence<TypeParam>({5, 7}, 1), y = sequence<TypeParam>({5, 7}, 2);
  const Array z = adder()(x, y);
  EXPECT_EQ(z.dtype(), dtype_of<TypeParam>);
  const auto values = z.template to_vector<TypeParam>();
  for (int k = 0; k < 35; ++k) EXPECT_EQ(values[k], static_cast<TypeParam>(2 * k + 3));
}

TYPED_TEST(KernelTypes, AnyLayoutAnySize) {
  for (int64_t rows : {1, 2, 3, 31, 32, 33, 100})
    for (int64_t columns : {1, 7, 16, 33, 130}) {
      const Array x = sequence<TypeParam>({rows, columns});
      const Array y = sequence<TypeParam>({columns, rows}).transpose();
      const Array reversed = x.at(Slice{{}, {}, -1}, Slice{{}, {}, -1});
      const auto xy = adder()(x, y).template to_vector<TypeParam>();
      const auto xr = adder()(x, reversed).template to_vector<TypeParam>();
      const auto yy = adder()(y, y).template to_vector<TypeParam>();
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
          const int64_t at = r * columns + c, flipped = c * rows + r;
          ASSERT_EQ(xy[at], static_cast<TypeParam>(static_cast<TypeParam>(at) + static_cast<TypeParam>(flipped)));
          ASSERT_EQ(xr[at], static_cast<TypeParam>(static_cast<TypeParam>(at) +
                                                   static_cast<TypeParam>(rows * columns - 1 - at)));
          ASSERT_EQ(yy[at], static_cast<TypeParam>(2 * static_cast<TypeParam>(flipped)));
        }
    }
}

TEST(Kernel, ComplexHalfAndBool) {
  using C = std::complex<float>;
  const Array c = Array::from<C>({{1, 2}, {3, -1}});
  EXPECT_EQ(ElementwiseKernel("complex64 x", "complex64 z", "z = x * x;")(c).to_vector<C>(),
            (std::vector<C>{{-3, 4}, {8, -6}}));
  const Array b = Array::from<bool>({true, false, true});
  EXPECT_EQ(ElementwiseKernel("bool x", "bool z", "z = !x;")(b).view(Dtype::uint8).to_vector<uint8_t>(),
            (std::vector<uint8_t>{0, 1, 0}));
  const Array f = Array::from<float>({1.5f, 2.25f, -3.f});
  const Array half = ElementwiseKernel("float32 x", "float16 z", "z = x;")(f);
  EXPECT_EQ(half.dtype(), Dtype::float16);
  EXPECT_EQ(adder()(half, half).dtype(), Dtype::float16);
  EXPECT_EQ(ElementwiseKernel("float16 x", "float32 z", "z = x;")(adder()(half, half)).to_vector<float>(),
            (std::vector<float>{3.f, 4.5f, -6.f}));
  const Array brain = ElementwiseKernel("float32 x", "bfloat16 z", "z = x;")(f);
  EXPECT_EQ(ElementwiseKernel("bfloat16 x", "float32 z", "z = x * 2;")(brain).to_vector<float>(),
            (std::vector<float>{3.f, 4.5f, -6.f}));
}

TEST(Kernel, AnyByteButZeroIsTrue) {
  const Array bytes = Array::from<uint8_t>({0, 1, 2, 255}).view(Dtype::bool_);
  const ElementwiseKernel k("bool x", "int32 z", "z = x ? 10 : 5;");
  EXPECT_EQ(k(bytes).to_vector<int32_t>(), (std::vector<int32_t>{5, 10, 10, 10}));
  const Array square = sequence<uint8_t>({40, 40}).view(Dtype::bool_);
  const auto counted =
      ElementwiseKernel("bool x, bool y", "int32 z", "z = x + y;")(square, square.transpose()).to_vector<int32_t>();
  for (int r = 0; r < 40; ++r)
    for (int c = 0; c < 40; ++c) ASSERT_EQ(counted[r * 40 + c], ((r * 40 + c) % 256 != 0) + ((c * 40 + r) % 256 != 0));
}

TEST(Kernel, ARawStringMayHoldAnything) {
  Array z = Array::empty({3, 4}, Dtype::int64).transpose();
  ElementwiseKernel("", "int64 z", "const char* s = R\"(\" )\"; z = i;")(z);
  EXPECT_EQ(z.to_vector<int64_t>(), sequence<int64_t>({12}).to_vector<int64_t>());
}

TEST(Kernel, AKernelMayHaveNoOutput) {
  Array x = sequence<float>({5});
  EXPECT_FALSE(ElementwiseKernel("_non_const float32 x", "", "x += 1;")(x).valid());
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5}));
}

TEST(Kernel, ScalarsTakeTheSettledType) {
  const Array x = sequence<float>({4});
  EXPECT_EQ(adder()(x, 2).to_vector<float>(), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(adder()(2.5, x).to_vector<float>(), (std::vector<float>{2.5, 3.5, 4.5, 5.5}));
  const ElementwiseKernel k("raw float32 x, int16 width", "float32 z", "z = x[i % width];");
  Array z = Array::empty({6}, Dtype::float32);
  k(x, 3, z);
  EXPECT_EQ(z.to_vector<float>(), (std::vector<float>{0, 1, 2, 0, 1, 2}));
}

TEST(Kernel, SeveralOutputsGivenOrNot) {
  const ElementwiseKernel k("float32 x", "float32 a, int32 b", "a = x * 2; b = (int)x + 1;");
  const Array x = sequence<float>({2, 3});
  const Argument one[] = {x};
  const auto made = k.call(one);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[1].to_vector<int32_t>(), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  Array a = Array::empty({2, 3}, Dtype::float32), b = Array::empty({3, 2}, Dtype::int32).transpose();
  const Argument all[] = {x, a, b};
  const auto given = k.call(all);
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(b.to_vector<int32_t>(), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  ASSERT_EQ(given.size(), 2u);
  EXPECT_EQ(given[0].buffer(), a.buffer());
  EXPECT_EQ(given[1].buffer(), b.buffer());
  EXPECT_EQ(given[1].strides(), b.strides());
  a.fill(0);
  b.fill(0);
  k.fill(all);
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(b.to_vector<int32_t>(), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Kernel, OutputsKeepWhatTheBodyLeaves) {
  Array z = Array::from<float>({1, 2, 3, 4});
  ElementwiseKernel("float32 x", "float32 z", "if (x > 1) z += 10 * x;")(sequence<float>({4}), z);
  EXPECT_EQ(z.to_vector<float>(), (std::vector<float>{1, 2, 23, 34}));
}

TEST(Kernel, IndexAndIndexer) {
  const Array x = sequence<int16_t>({3, 4});
  const ElementwiseKernel k("raw int16 x", "int64 a, int64 b, int64 c, int64 d",
                            "a = i; b = _ind.size(); c = _ind.get()[0] * 100 + _ind.get()[1]; d = n;");
  Array outputs[4];
  for (Array& output : outputs) output = Array::empty({3, 4}, Dtype::int64);
  k(x, outputs[0], outputs[1], outputs[2], outputs[3]);
  for (int64_t row = 0; row < 3; ++row)
    for (int64_t column = 0; column < 4; ++column) {
      EXPECT_EQ(outputs[0].at(row, column).item<int64_t>(), row * 4 + column);
      EXPECT_EQ(outputs[1].at(row, column).item<int64_t>(), 12);
      EXPECT_EQ(outputs[2].at(row, column).item<int64_t>(), row * 100 + column);
      EXPECT_EQ(outputs[3].at(row, column).item<int64_t>(), 12);
    }
}

TEST(Kernel, TheIndexCountsInCOrderWhateverTheLayout) {
  Array z = Array::empty({40, 50}, Dtype::int64).transpose();
  ElementwiseKernel("", "int64 z", "z = i;")(z);
  EXPECT_EQ(z.to_vector<int64_t>(), sequence<int64_t>({2000}).to_vector<int64_t>());
}

TEST(Kernel, RawArraysByNumberAndByIndexInAnyLayout) {
  const Array base = sequence<float>({4, 6, 2});
  const ElementwiseKernel flat("raw float32 x", "float32 z", "z = x[i];");
  const ElementwiseKernel braces(
      "raw float32 x", "float32 z",
      "int h = x.shape()[1], w = x.shape()[2]; int c = i % w, b = i / w % h, a = i / w / h; z = x[{a, b, c}];");
  const ElementwiseKernel list("raw float32 x", "float32 z", "z = x[_ind.get()];");
  for (const Array& x :
       {base, base.transpose(), base.at(Slice{{}, {}, -1}, Slice{1, 5, 2}, Slice{}), base.at(Slice{0, 0})}) {
    const auto want = x.to_vector<float>();
    for (const ElementwiseKernel* kernel : {&flat, &braces, &list}) {
      Array z = Array::empty(x.shape(), Dtype::float32);
      (*kernel)(x, z);
      EXPECT_EQ(z.to_vector<float>(), want);
    }
  }
}

TEST(Kernel, RawArraysTellTheirLayout) {
  const Array x = sequence<int32_t>({4, 6}).transpose();
  const ElementwiseKernel k(
      "raw int32 x", "raw int64 z",
      "z[0] = x.size(); z[1] = x.ndim; z[2] = x.shape()[0]; z[3] = x.strides()[0]; z[4] = x.strides()[1];");
  Array z = Array::empty({5}, Dtype::int64);
  const Argument arguments[] = {x, z};
  k.call(arguments, {.size = 1});
  EXPECT_EQ(z.to_vector<int64_t>(), (std::vector<int64_t>{24, 2, 6, 4, 24}));
}

TEST(Kernel, RawBindsToConstAndPlainReferences) {
  const char* preamble = R"(
    __device__ float one(CArray<float, 2> &a, int k) { return a[k]; }
    __device__ float two(const CArray<float, 2> &a, int k) { int idx[] = {k / 3, k % 3}; return a[idx]; })";
  const ElementwiseKernel k("raw float32 x", "float32 z", "z = one(x, i) + two(x, i);", "both", {.preamble = preamble});
  Array z = Array::empty({6}, Dtype::float32);
  k(sequence<float>({2, 3}), z);
  EXPECT_EQ(z.to_vector<float>(), (std::vector<float>{0, 2, 4, 6, 8, 10}));
}

TEST(Kernel, RawOutputsWithSize) {
  const ElementwiseKernel k("raw int16 x", "raw int16 z", "z[i * 2] = x[i * 3]; z[i * 2 + 1] = x[i * 3 + 2];");
  Array z = Array::empty({4, 2}, Dtype::int16);
  const Array x = sequence<int16_t>({3, 4}).transpose();
  const Argument arguments[] = {x, z};
  k.call(arguments, {.size = 4});
  EXPECT_EQ(z.to_vector<int16_t>(), (std::vector<int16_t>{0, 8, 1, 9, 2, 10, 3, 11}));
  const Argument only[] = {x};
  EXPECT_EQ(ElementwiseKernel("raw int16 x", "raw int16 z", "z[i] = x[i];").call(only, {.size = 5})[0].shape(),
            (Dims{5}));
}

TEST(Kernel, NonConstInputsAreWritten) {
  Array x = sequence<float>({5});
  ElementwiseKernel("_non_const float32 x", "", "x = x * x;").call(std::vector<Argument>{x});
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 1, 4, 9, 16}));
}

TEST(Kernel, ContinueReturnAndShadowingWorkInABody) {
  const Array x = sequence<int32_t>({6});
  Array z = Array::from<int32_t>({-1, -1, -1, -1, -1, -1});
  ElementwiseKernel("int32 x", "int32 z",
                    "if (x == 1) continue; if (x == 2) return; { int x = 7; z = x; } if (x > 3) break; z = 8;")(x, z);
  EXPECT_EQ(z.to_vector<int32_t>(), (std::vector<int32_t>{8, -1, -1, 8, 7, 7}));
}

TEST(Kernel, ACommentMayEndTheBody) {
  EXPECT_EQ(ElementwiseKernel("int32 x", "int32 z", "z = x + 1; // more")(sequence<int32_t>({2})).to_vector<int32_t>(),
            (std::vector<int32_t>{1, 2}));
}

TEST(Kernel, LoopPrepAndAfterLoop) {
  const ElementwiseKernel k(
      "int64 x, raw int64 total", "int64 z", "sum += x; z = offset + x;", "summing",
      {.loop_prep = "int64_t sum = 0; const int64_t offset = 100;", .after_loop = "atomicAdd(&total[0], sum);"});
  Array total = zeros({1}, Dtype::int64);
  const Array x = sequence<int64_t>({100'000});
  const Array z = k(x, total);
  EXPECT_EQ(total.at(int64_t{0}).item<int64_t>(), 100'000ll * 99'999 / 2);
  EXPECT_EQ(z.at(int64_t{7}).item<int64_t>(), 107);
}

TEST(Kernel, AtomicsCountRight) {
  const ElementwiseKernel k("int32 x, raw int32 counts", "", "atomicAdd(&counts[x % 10], 1);");
  Array counts = zeros({10}, Dtype::int32);
  const Array x = sequence<int32_t>({200'000});
  k.call(std::vector<Argument>{x, counts});
  EXPECT_EQ(counts.to_vector<int32_t>(), std::vector<int32_t>(10, 20'000));
}

TEST(Kernel, ParametersNamedNHideTheCount) {
  EXPECT_EQ(
      ElementwiseKernel("int32 x, int32 n", "int32 z", "z = x * n;")(sequence<int32_t>({3}), 5).to_vector<int32_t>(),
      (std::vector<int32_t>{0, 5, 10}));
}

TEST(Kernel, ReduceDimsFalseKeepsTheAnswer) {
  const ElementwiseKernel k("float32 x", "float32 z", "z = x + 1;", "kept", {.reduce_dims = false});
  EXPECT_EQ(k(sequence<float>({2, 1, 3})).to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Kernel, EmptyAndZeroDimensional) {
  EXPECT_EQ(adder()(sequence<float>({0, 3}), sequence<float>({0, 3})).shape(), (Dims{0, 3}));
  const Array zero_d = adder()(sequence<float>({}, 4), 3);
  EXPECT_EQ(zero_d.ndim(), 0);
  EXPECT_EQ(zero_d.item<float>(), 7);
  Array z = Array::empty({0}, Dtype::float32);
  const Argument arguments[] = {z, z};
  EXPECT_NO_THROW(ElementwiseKernel("raw float32 x", "raw float32 z", "z[i] = x[i];").call(arguments, {.size = 0}));
}

TEST(Kernel, HighRanks) {
  Dims shape(32, 1);
  shape[0] = 2, shape[15] = 3, shape[16] = 3, shape[31] = 2;
  Dims axes(32);
  for (int k = 0; k < 32; ++k) axes[k] = 31 - k;
  const Array x = sequence<float>(shape), y = x.transpose(axes);
  const auto sum = adder()(x, y).to_vector<float>(), first = x.to_vector<float>(), second = y.to_vector<float>();
  for (size_t k = 0; k < sum.size(); ++k) EXPECT_EQ(sum[k], first[k] + second[k]);
}

TEST(Kernel, OverlappingInputsAreReadAsTheyWere) {
  Array x = sequence<float>({1000});
  const Array head = x.at(Slice{0, 999}), tail = x.at(Slice{1, 1000});
  adder()(head, 1, tail);
  for (int64_t k = 1; k < 1000; ++k) ASSERT_EQ(x.at(k).item<float>(), static_cast<float>(k));
  Array reversed = x.at(Slice{{}, {}, -1});
  const auto before = x.to_vector<float>();
  adder()(x, 0, reversed);
  const auto after = x.to_vector<float>();
  for (size_t k = 0; k < 1000; ++k) ASSERT_EQ(after[k], before[999 - k]);
}

TEST(Kernel, LargeArraysTakeTheStreamedLoop) {
  const int64_t size = (int64_t{1} << 24) + 77;
  const Array x = sequence<float>({size});
  const Array z = adder()(x, 1.0);
  const auto values = z.to_vector<float>(), inputs = x.to_vector<float>();
  for (int64_t k = 0; k < size; ++k) ASSERT_EQ(values[k], inputs[k] + 1.0f) << k;
  const auto bytes = sequence<uint8_t>({int64_t{100} << 20});
  const auto sums = adder()(bytes, bytes).to_vector<uint8_t>();
  for (size_t k = 0; k < sums.size(); ++k) ASSERT_EQ(sums[k], static_cast<uint8_t>(2 * k));
}

TEST(Kernel, NothingInABodyKillsTheProcess) {
  const Array x = Array::from<int32_t>({7, -7, INT32_MIN, 0}), y = Array::from<int32_t>({0, 2, -1, 0});
  const ElementwiseKernel k("int32 x, int32 y", "int32 q, int32 r", "q = x / y; r = x % y;");
  const auto made = k.call(std::vector<Argument>{x, y});
  EXPECT_EQ(made[0].to_vector<int32_t>(), (std::vector<int32_t>{0, -3, INT32_MIN, 0}));
  EXPECT_EQ(made[1].to_vector<int32_t>(), (std::vector<int32_t>{0, -1, 0, 0}));
  const Array f = Array::from<float>({1e20f, -1e20f, NAN, 3.7f});
  EXPECT_EQ(ElementwiseKernel("float32 x", "int32 z", "z = (int)x;")(f).to_vector<int32_t>(),
            (std::vector<int32_t>{INT32_MAX, INT32_MIN, 0, 3}));
  EXPECT_EQ(ElementwiseKernel("float32 x", "int16 z", "z = iruka::saturate<short>(x);")(f).to_vector<int16_t>(),
            (std::vector<int16_t>{32767, -32768, 0, 3}));
  // NVRTC makes this cast through 32 bits, which wraps.
  if (device_name(default_device()) == "cpu") {
    EXPECT_EQ(ElementwiseKernel("float32 x", "int16 z", "z = (short)x;")(f).to_vector<int16_t>(),
              (std::vector<int16_t>{32767, -32768, 0, 3}));
  }
}

TEST(Kernel, FixedIntegersGiveTheSameAnswers) {
  const ElementwiseKernel k("raw float32 x, int32 width, uint8 radius", "float32 z",
                            "float s = 0; int h = i / width, w = i % width;"
                            "for (int a = -radius; a <= radius; ++a) for (int b = -radius; b <= radius; ++b) {"
                            "  int p = max(0, min(n / width - 1, h + a)), q = max(0, min(width - 1, w + b)); s += x[p "
                            "* width + q] / (1 + a * a); }"
                            "z = s;",
                            "window");
  const Array x = sequence<float>({300, 200});
  Array z = Array::empty({300, 200}, Dtype::float32);
  k(x, 200, 4, z);
  const auto first = z.to_vector<float>();
  clear_kernel_history();
  size_t specialised = 0;
  for (int repeat = 0; repeat < 100'000 && specialised == 0;
       ++repeat) {  // until they have used some 20 ms of the device
    k(x, 200, 4, z);
    if (repeat % 64 != 63) continue;
    finish_background_compilation();
    for (const KernelEvent& event : kernel_history()) specialised += event.kind != KernelEvent::Kind::compiled;
  }
  k(x, 200, 4, z);
  EXPECT_EQ(z.to_vector<float>(), first);
  EXPECT_GE(specialised, 1u);
  k(x, 0, 1, z);  // other values take the generic program, and a division by zero stays harmless
}

TEST(Kernel, ThreadsMayShareAKernel) {
  const ElementwiseKernel k("T x", "T z", "z = x * 2 + 1;", "shared");
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int repeat = 0; repeat < 50; ++repeat) {
        const Array x = t % 2 ? sequence<float>({1000 + t}) : sequence<double>({1000 + t});
        if (k(x).at(int64_t{999}).item<double>() != 1999) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Kernel, ThreadsMayCheckOneTextAtOnce) {
  constexpr int kThreads = 8, kTexts = 4;
  std::vector<std::vector<std::string>> told(kThreads * kTexts);
  std::vector<std::thread> threads;
  std::atomic<int> ready{0};
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int text = 0; text < kTexts; ++text) {
        for (++ready; ready < kThreads * (text + 1);) std::this_thread::yield();
        std::vector<std::string>& own = told[static_cast<size_t>(text * kThreads + t)];
        const std::string id = std::to_string(text);
        own = ElementwiseKernel("float32 x", "float32 z", "z = x + " + id + "; z == x;", "checked").pop_warnings();
        try {
          const ElementwiseKernel wrong("float32 x", "float32 z", "z = unknown_" + id + ";", "refused");
        } catch (const CompileError& error) {
          own.emplace_back(error.what());
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t k = 0; k < told.size(); ++k) {
    const size_t text = k / kThreads;
    ASSERT_EQ(told[k].size(), 2u) << text;
    EXPECT_NE(told[k][0].find("z == x;"), std::string::npos) << told[k][0];
    EXPECT_NE(told[k][1].find("unknown_" + std::to_string(text)), std::string::npos) << told[k][1];
    EXPECT_EQ(told[k], told[text * kThreads]);
  }
}

TEST(Kernel, ThreadsTakeEachWarningOnce) {
  const ElementwiseKernel k("T x", "T z", "z = x + 1; z == x;", "warned");
  std::vector<std::thread> threads;
  std::atomic<size_t> taken{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      k(t % 2 ? sequence<float>({10}) : sequence<double>({10}));
      taken += k.pop_warnings().size();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken + k.pop_warnings().size(), 1u);
}

TEST(Kernel, HistoryTellsWhatWasCompiledAndClearForgets) {
  const ElementwiseKernel k("int32 x", "int32 z", "z = x * 12345 + 678;", "remembered");
  const Array x = sequence<int32_t>({3});
  clear_cache();
  clear_kernel_history();
  k(x);
  k(x);
  ASSERT_EQ(kernel_history().size(), 1u);
  EXPECT_EQ(kernel_history()[0].kind, KernelEvent::Kind::compiled);
  EXPECT_EQ(kernel_history()[0].kernel, "remembered");
  clear_cache();
  EXPECT_EQ(k(x).to_vector<int32_t>(), (std::vector<int32_t>{678, 13023, 25368}));
  EXPECT_EQ(kernel_history().size(), 2u);
}

TEST(Kernel, TellsAboutItself) {
  const ElementwiseKernel k("raw float32 x, T y", "T z", "z = y + x[i];", "teller");
  EXPECT_EQ(k.to_string(), "ElementwiseKernel teller(raw float32 x, T y) -> (T z)");
  EXPECT_EQ(k.nin(), 2);
  EXPECT_EQ(k.nout(), 1);
  EXPECT_TRUE(k.generated_sources().empty());
  const Array x = sequence<float>({4}), y = sequence<double>({4});
  const std::vector<Argument> kept = {x, y};
  expect_words(k.source(kept), {"z = y + x[i];", "typedef double T;", "iruka_entry"});
  expect_words(k.assembly(kept), {"iruka_entry", "ret"});
  k.call(kept);
  EXPECT_EQ(k.generated_sources().size(), 1u);
}

TEST(KernelErrors, WrongCounts) {
  const Array x = sequence<float>({3});
  expect_words(message_of<TypeError>([&] { adder()(x); }), {"adder", "2", "3", "1"});
  expect_words(message_of<TypeError>([&] { adder()(x, x, x, x); }), {"adder", "4"});
}

TEST(KernelErrors, Types) {
  const ElementwiseKernel k("float32 x, T y, T w", "T z", "z = x + y + w;", "typed");
  const Array f = sequence<float>({3}), d = sequence<double>({3});
  expect_words(message_of<TypeError>([&] { k(d, f, f); }), {"typed", "'x'", "float32", "float64"});
  expect_words(message_of<TypeError>([&] { k(f, f, d); }), {"typed", "'w'", "float32", "float64", "'y'"});
  Array z = Array::empty({3}, Dtype::int32);
  expect_words(message_of<TypeError>([&] { k(f, f, f, z); }), {"typed", "int32"});
  const ElementwiseKernel unsettled("float32 x", "T z", "z = x;", "unsettled");
  expect_words(message_of<TypeError>([&] { unsettled(f); }), {"unsettled", "'z'", "'T'"});
  expect_words(message_of<TypeError>([&] { adder().call(std::vector<Argument>{f, f, Scalar(1)}); }), {"adder", "'z'"});
}

TEST(KernelErrors, ShapesAndSizes) {
  const Array x = sequence<float>({3}), y = sequence<float>({4});
  expect_words(message_of<ShapeError>([&] { adder()(x, y); }), {"adder", "(3,)", "(4,)"});
  Array z = Array::empty({1}, Dtype::float32);
  expect_words(message_of<ShapeError>([&] { adder()(x, x, z); }), {"adder", "'z'", "(1,)", "(3,)"});
  const Argument sized[] = {x, x};
  expect_words(message_of<ValueError>([&] { adder().call(sized, {.size = 3}); }), {"adder", "size", "raw"});
  const ElementwiseKernel raw("raw float32 x", "raw float32 z", "z[i] = x[i];", "raw_only");
  expect_words(message_of<ValueError>([&] { raw(x, z); }), {"raw_only", "size"});
  const Argument one[] = {x, z};
  expect_words(message_of<ValueError>([&] { raw.call(one, {.size = -1}); }), {"raw_only", "-1"});
  for (int64_t block : {0, -3})
    expect_words(message_of<ValueError>([&] { raw.call(one, {.size = 1, .block_size = block}); }),
                 {"block_size", std::to_string(block).c_str()});
  Array fixed = x.read_only();
  expect_words(message_of<ValueError>([&] { adder()(x, x, fixed); }), {"adder", "read-only"});
}

TEST(KernelErrors, IntegersThatOverflow) {
  const ElementwiseKernel k("float32 x, int16 width, uint8 small", "float32 z", "z = x * width + small;", "narrow");
  const Array x = sequence<float>({3});
  expect_words(message_of<OverflowError>([&] { k(x, 40000, 1); }), {"narrow", "'width'", "40000", "int16"});
  expect_words(message_of<OverflowError>([&] { k(x, 1, -1); }), {"narrow", "'small'", "-1", "uint8"});
  EXPECT_NO_THROW(k(x, -32768, 255));
  EXPECT_THROW(k(sequence<float>({0}), 40000, 1), OverflowError);
  expect_words(message_of<TypeError>([&] { k(x, std::complex<double>(1, 2), 1); }),
               {"narrow", "'width'", "(1+2j)", "int16"});
}

TEST(KernelErrors, WrongCppIsToldWhenTheKernelIsMade) {
  const std::string message = message_of<CompileError>([] {
    ElementwiseKernel k("raw float32 input, int16 width", "float32 output", "int y = i / width;\noutput = inpot[y];\n",
                        "typo");
  });
  expect_words(message, {"typo", "operation, line 2", "inpot", "output = inpot[y];", "         ^", "float32 input",
                         "test_kernel.cpp:"});
  expect_words(message_of<CompileError>([] {
                 ElementwiseKernel k("float32 x", "float32 z", "z = twice(x);", "helper",
                                     {.preamble = "__device__ float twice(float x) {\n  retrun 2 * x;\n}"});
               }),
               {"preamble, line 2", "retrun"});
}

TEST(KernelErrors, PlaceholdersWaitForTheFirstCall) {
  const ElementwiseKernel k("T x", "T z", "z = x.nothing;", "late");
  const Array x = sequence<float>({3});
  expect_words(message_of<CompileError>([&] { k(x); }), {"late", "float32 x", "operation, line 1", "z = x.nothing;"});
  expect_words(message_of<CompileError>([&] { k(x); }), {"late"});  // and again: a failure is not kept
}

TEST(KernelWarnings, AreGivenOnceToWhoeverAsks) {
  const ElementwiseKernel k("float32 x", "float32 z", "z = x;\nz == x;", "suspect");
  const std::vector<std::string> warnings = k.pop_warnings();
  ASSERT_EQ(warnings.size(), 1u);
  for (const char* words : {"kernel 'suspect'", "operation, line 2: warning: ", "z == x;\n        ^"})
    EXPECT_NE(warnings[0].find(words), std::string::npos) << warnings[0];
  k(sequence<float>({3}));  // compiled from another text, which says the same
  EXPECT_TRUE(k.pop_warnings().empty());
  const ElementwiseKernel sound("float32 x", "float32 z", "z = x;", "sound");
  sound(sequence<float>({3}));
  EXPECT_TRUE(sound.pop_warnings().empty());
}

TEST(KernelWarnings, AreOfOneCompilerForEachLine) {
  jit::PendingWarnings pending;
  const std::string line = "kernel 'k':\n  operation, line ";
  pending.add(
      {line + "2: warning: result unused", line + "2: warning: unused variable", line + "2: warning: result unused"});
  pending.add(
      {line + "2: warning: #174-D: expression has no effect", line + "3: warning: #175-D: subscript out of range"});
  EXPECT_EQ(pending.take(),
            (std::vector<std::string>{line + "2: warning: result unused", line + "2: warning: unused variable",
                                      line + "3: warning: #175-D: subscript out of range"}));
  pending.add({line + "3: warning: array index 5 is past the end"});
  EXPECT_TRUE(pending.take().empty());
}

TEST(KernelErrors, UnbalancedBodiesAreErrors) {
  for (const char* body : {"z = x; }", "{ z = x;", "z = (x;", "z = x; /* open", "#include <vector>\nz = x;", "\""}) {
    EXPECT_THROW((ElementwiseKernel("float32 x", "float32 z", body, "unbalanced")), CompileError) << body;
  }
}

TEST(Programs, FindFunctionsAndVariablesByNameExpressions) {
  ProgramSource source{
      "template <class T, int N> void scale(const void* x, long begin, long end) {\n"
      "  for (long k = begin; k < end; ++k) (*(T* const*)x)[k] *= N;\n}\n"
      "template <class T> T table[3] = {1, 2, 3};\n"
      "// " +
          std::to_string(getpid()) + " " + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()),
      "",
      {},
      "<names>"};
  source.name_expressions = {"scale<float, 4>", "&table<int>"};
  const auto run = [&] {
    const auto program = jit::build(cpu(), source, {"names", "", "", {}});
    float values[] = {1, 2, 3};
    float* block = values;
    LaunchContext context("names");
    cpu().launch(context, program->function("scale<float, 4>"), std::as_bytes(std::span(&block, 1)), LaunchRange{3});
    EXPECT_EQ(values[0], 4);
    EXPECT_EQ(values[2], 12);
    EXPECT_EQ(program->global("&table<int>").bytes, 3 * sizeof(int));
    EXPECT_EQ(static_cast<int*>(program->global("&table<int>").address)[1], 2);
    EXPECT_EQ(program->function("_Z5scaleIfLi4EEvPKvll").name(), "_Z5scaleIfLi4EEvPKvll");
    EXPECT_THROW(program->function("scale<float, 5>"), DeviceError);
    EXPECT_THROW(program->global("&table<float>"), DeviceError);
  };
  clear_kernel_history();
  run();
  for (int k = 0; k < 200; ++k)  // more than stay in memory
    jit::build(cpu(),
               {"extern \"C\" void iruka_entry(const void*, long, long) {} // " + std::to_string(k),
                "iruka_entry",
                {"-O0"},
                "<other>"},
               {"other", "", "", {}});
  run();
  std::vector<KernelEvent::Kind> kinds;
  for (const KernelEvent& event : kernel_history())
    if (event.kernel == "names") kinds.push_back(event.kind);
  EXPECT_EQ(kinds, (std::vector{KernelEvent::Kind::compiled, KernelEvent::Kind::loaded_from_disk}));
  source.name_expressions = {"scale<float, 4>"};
  EXPECT_THROW(jit::build(cpu(), source, {"names", "", "", {}})->global("&table<int>"), DeviceError);
  source.name_expressions = {"gone<int>"};
  try {
    jit::build(cpu(), source, {"names", "", "", {}});
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_NE(std::string(error.what()).find("name expression 'gone<int>': "), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace iruka
