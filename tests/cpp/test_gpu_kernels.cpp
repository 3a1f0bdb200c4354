// Elementwise kernels' texts for a GPU, run by an emulated device, against the same calls on the CPU.
#include <gtest/gtest.h>

#include <functional>

#include "emulated_cuda.h"
#include "error_of.h"
#include "iruka/ops.h"

namespace {

using namespace iruka;
using namespace iruka::test;

class GpuKernels : public EmulatedDeviceTest {};

/// Small numbers of any dtype, in an order that repeats late.
Array numbers(const Dims& shape, Dtype dtype) {
  ElementwiseKernel fill("", "int64 y", "y = (i * 7919 + 13) % 23 - 7 * (i % 3)", "numbers");
  Array values = Array::empty(shape, Dtype::int64, cpu());
  fill(values);
  return values.astype(dtype);
}

std::string bytes_of(const Array& x) {
  const Array host = &x.device() == &cpu() ? x.contiguous() : copy_to(cpu(), x);
  return {static_cast<const char*>(host.data()), static_cast<size_t>(host.nbytes())};
}

using View = std::function<Array(const Array&)>;

/// Calls the kernel on both devices with `inputs`, each seen through its view, and compares what comes out.
void compare(const ElementwiseKernel& kernel, const std::vector<Array>& inputs, const std::vector<View>& views,
             const std::vector<Array>& outputs = {}, std::optional<int64_t> size = {}) {
  std::vector<Array> host, device;
  for (size_t k = 0; k < inputs.size(); ++k) {
    host.push_back(views[k](inputs[k]));
    device.push_back(views[k](copy_to(emulated_cuda(), inputs[k])));
  }
  for (const Array& output : outputs) {
    host.push_back(output.copy());
    device.push_back(copy_to(emulated_cuda(), output));
  }
  CallOptions options;
  options.size = size;
  const auto call = [&](const std::vector<Array>& arrays) {
    return kernel.call(std::vector<Argument>(arrays.begin(), arrays.end()), options);
  };
  const std::vector<Array> want = call(host), got = call(device);
  ASSERT_EQ(want.size(), got.size());
  for (size_t k = 0; k < want.size(); ++k)
    ASSERT_EQ(bytes_of(want[k]), bytes_of(got[k]))
        << kernel.to_string() << " output " << k << " shape " << to_string(want[k].shape()) << "\n"
        << kernel.source(std::vector<Argument>(device.begin(), device.end()), options);
}

const View kPlain = [](const Array& x) { return x; };
const View kTurned = [](const Array& x) { return x.transpose(); };
const View kReversed = [](const Array& x) { return x.at(Slice{{}, {}, -1}); };
const View kSecond = [](const Array& x) { return x.at(Slice{1, {}, 2}); };
const View kShifted = [](const Array& x) { return x.at(Slice{1, {}, {}}); };

TEST_F(GpuKernels, FlatLoopsOfEveryDtype) {
  const ElementwiseKernel light("T x, T y", "T z", "z = x + y", "light"),
      medium("T x, T y", "T z", "z = T(max(x, y))", "medium");
  for (const Dtype dtype : {Dtype::bool_, Dtype::int8, Dtype::uint16, Dtype::int32, Dtype::uint64, Dtype::float16,
                            Dtype::bfloat16, Dtype::float32, Dtype::float64})
    for (const int64_t n : {1, 255, 1024, 4099, 16384}) {
      const Array x = numbers({n}, dtype), y = numbers({n}, dtype);
      compare(light, {x, y}, {kPlain, kPlain});
      if (n < 5000) compare(medium, {x, y}, {kPlain, kPlain});
    }
  const Array z = numbers({3000}, Dtype::complex128);
  compare(light, {z, z}, {kPlain, kPlain});
}

TEST_F(GpuKernels, StridedAndMisalignedOperands) {
  const ElementwiseKernel add("T x, U y", "T z", "z = x + y", "add");
  for (const Dtype dtype : {Dtype::uint8, Dtype::float32}) {
    const Array x = numbers({5001}, dtype), y = numbers({10003}, Dtype::int32);
    compare(add, {x, y}, {kShifted, [](const Array& a) { return a.at(Slice{0, 5000, {}}); }});
    compare(add, {x, y}, {kPlain, kSecond});
    compare(add, {x, x}, {kReversed, kPlain});
    compare(add, {x, x}, {kReversed, kReversed});
    compare(add, {numbers({1}, dtype), y}, {kPlain, kPlain});
  }
}

TEST_F(GpuKernels, BroadcastAndTurnedOperands) {
  const ElementwiseKernel add("T x, T y", "T z", "z = x * 3 + y", "add"),
      see("T x, T y", "T z", "z = x + y + i % 7 + _ind.get()[0]", "see");
  for (const Dtype dtype : {Dtype::uint8, Dtype::int16, Dtype::float32, Dtype::float64})
    for (const int64_t height : {1, 17, 33, 64})
      for (const int64_t width : {3, 16, 31, 68}) {
        const Array x = numbers({height, width}, dtype), turned = numbers({width, height}, dtype);
        for (const ElementwiseKernel& kernel : {add, see}) {
          compare(kernel, {x, numbers({width}, dtype)}, {kPlain, kPlain});
          compare(kernel, {x, numbers({height, 1}, dtype)}, {kPlain, kPlain});
          compare(kernel, {x, turned}, {kPlain, kTurned});
          compare(kernel, {turned, turned}, {kTurned, kTurned});
          compare(kernel, {x, numbers({2 * height, width}, dtype)},
                  {kPlain, [](const Array& a) { return a.at(Slice{{}, {}, 2}); }});
        }
      }
  const Array deep = numbers({3, 4, 20, 24}, Dtype::float32), other = numbers({24, 20, 1, 3}, Dtype::float32);
  compare(add, {deep, other}, {kPlain, kTurned});
  compare(see, {deep, numbers({4, 1, 24}, Dtype::float32)}, {kPlain, kPlain});
}

TEST_F(GpuKernels, OutputsThatAreGiven) {
  const ElementwiseKernel two("float32 x", "float32 y, uint8 z", "if (x > 0) y = x; z += 1", "two");
  for (const int64_t n : {7, 2048, 5000}) {
    const Array x = numbers({n}, Dtype::float32);
    compare(two, {x}, {kPlain}, {numbers({n}, Dtype::float32), numbers({n}, Dtype::uint8)});
  }
  const ElementwiseKernel stored("_non_const int32 x, int32 y", "int32 z", "x += y; z = x", "stored");
  const Array x = numbers({3000}, Dtype::int32);
  compare(stored, {x, x}, {kPlain, kPlain});
}

TEST_F(GpuKernels, RawArraysLoopsAndFrames) {
  const ElementwiseKernel neighbours("raw float32 x, int32 k", "float32 z",
                                     "float s = 0; for (int d = -1; d <= 1; ++d) s += x[(i + d + n) % n]; z = s * k",
                                     "neighbours");
  for (const int64_t n : {5, 200, 3000})
    compare(neighbours, {numbers({n}, Dtype::float32), numbers({n}, Dtype::int32)}, {kPlain, kPlain});
  const ElementwiseKernel indexed(
      "raw T x", "T z", "ptrdiff_t at[] = {i % x.shape()[0], i / x.shape()[0] % x.shape()[1]}; z = x[at] + x[i]",
      "indexed");
  const Array x = numbers({20, 30}, Dtype::float64);
  for (const View& view : {kPlain, kTurned, kReversed}) compare(indexed, {x}, {view}, {numbers({600}, Dtype::float64)});
  KernelOptions frame;
  frame.loop_prep = "int seen = 0";
  frame.after_loop = "if (seen == 0) return";
  frame.preamble = "__device__ int twice(int v) { return 2 * v; }";
  compare(ElementwiseKernel("int32 x", "int32 z", "++seen; z = twice(x) + (seen > 0)", "frame", frame),
          {numbers({5000}, Dtype::int32)}, {kPlain});
  compare(ElementwiseKernel("", "raw int64 z", "z[i] = i * i", "square"), {}, {}, {numbers({777}, Dtype::int64)}, 777);
}

TEST_F(GpuKernels, OneElementAndNone) {
  const ElementwiseKernel add("T x, T y", "T z", "z = x + y", "add");
  compare(add, {numbers({}, Dtype::float32), numbers({}, Dtype::float32)}, {kPlain, kPlain});
  compare(add, {numbers({0, 3}, Dtype::float32), numbers({1, 3}, Dtype::float32)}, {kPlain, kPlain});
  compare(add, {numbers({1, 1, 1}, Dtype::int8), numbers({1}, Dtype::int8)}, {kPlain, kPlain});
}

TEST_F(GpuKernels, EmptyLoopsWhoseAxesStay) {
  KernelOptions options;
  options.reduce_dims = false;
  const ElementwiseKernel add("T x, T y", "T z", "z = x + y", "add", options);
  for (const Dims& shape : {Dims{0, 3}, Dims{3, 0}, Dims{2, 3}})
    compare(add, {numbers(shape, Dtype::float32), numbers(shape, Dtype::float32)}, {kPlain, kPlain});
}

TEST_F(GpuKernels, ComplexNumbersBesideTheirWords) {
  const ElementwiseKernel twice("T x", "T z", "z = x + x", "twice");
  const View shifted = [](const Array& x) { return x.at(Slice{1, {}, {}}).view(Dtype::complex64); };
  compare(twice, {numbers({4097}, Dtype::float32)}, {shifted});
}

TEST_F(GpuKernels, UnalignedElementsAreAnError) {
  const ElementwiseKernel twice("T x", "T z", "z = x + x", "twice");
  const Array bytes = copy_to(emulated_cuda(), numbers({16}, Dtype::uint8));
  EXPECT_EQ(
      error_of<ValueError>([&] { twice(Array(bytes.buffer(), Dtype::float32, {2}, {4}, 1)); }),
      "kernel 'twice': parameter 'x': the array's elements are not aligned to 4 bytes, which emulated needs: copy it");
  const std::string end = "the elements would not be aligned to 4 bytes, which emulated needs: copy the array first";
  const Array shifted = bytes.at(Slice{1, 9, {}});
  EXPECT_EQ(error_of<ValueError>([&] { shifted.view(Dtype::float32); }), "view: uint8 as float32: " + end);
  EXPECT_EQ(error_of<ValueError>([&] { shifted.view(Dtype::complex64); }), "view: uint8 as complex64: " + end);
  EXPECT_EQ(error_of<ValueError>([&] { bytes.view(Dtype::float16).at(Slice{1, 3, {}}).view(Dtype::float32); }),
            "view: float16 as float32: " + end);
  EXPECT_EQ(shifted.copy().view(Dtype::float32).shape(), Dims({2}));
  EXPECT_EQ(bytes.view(Dtype::complex64).view(Dtype::float32).at(Slice{1, 3, {}}).view(Dtype::complex64).shape(),
            Dims({1}));
  EXPECT_EQ(bytes.at(Slice{1, 1, {}}).view(Dtype::float32).size(), 0);
}

TEST_F(GpuKernels, TooManyBytesOfArgumentsAreAnError) {
  const auto many = [](int arrays, int rank) {
    std::string parameters, sum = "y = 0";
    for (int k = 0; k < arrays; ++k) {
      parameters += (k ? ", raw int32 x" : "raw int32 x") + std::to_string(k);
      sum += " + x" + std::to_string(k) + "[0]";
    }
    const Array one = copy_to(emulated_cuda(), numbers({1}, Dtype::int32)).reshape(Dims(rank, 1));
    const std::vector<Argument> inputs(static_cast<size_t>(arrays), one);
    CallOptions options;
    options.size = 1;
    return ElementwiseKernel(parameters, "int32 y", sum, "many").call(inputs, options);
  };
  many(7, 32);
  const int before = emulated_cuda().compiled;
  try {
    many(8, 32);  // 16 + 512 bytes for each, and 16 for the loop
    FAIL() << "no error";
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(),
                 "kernel 'many': its arguments take 4240 bytes, emulated takes at most 4080: give fewer "
                 "arrays, arrays with fewer axes, or raw ones in place of those by value");
  }
  EXPECT_EQ(emulated_cuda().compiled, before);
}

TEST_F(GpuKernels, OutputsWhoseElementsAreOne) {
  const ElementwiseKernel copy("float32 x", "float32 z", "z = 3", "copy");
  Array one = Array::empty({1}, Dtype::float32, emulated_cuda());
  const Array many(one.buffer(), Dtype::float32, {5000}, {0}, 0);
  copy(copy_to(emulated_cuda(), numbers({5000}, Dtype::float32)), many);
  EXPECT_EQ(one.to_vector<float>(), std::vector<float>{3});
}

}  // namespace
