// Random kernels' texts for a GPU: they compile by NVRTC, and an emulated device draws the CPU's numbers.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "emulated_cuda.h"
#include "iruka/ops.h"
#include "iruka/random.h"
#include "nvrtc_testing.h"
#include "ops/random/kernels.h"
#include "ops/random/philox.h"
#include "ops/random/table.h"

namespace {

using namespace iruka;
using namespace iruka::test;

/// An emulated GPU that shows NVRTC every text before it takes it.
class CheckedCuda : public EmulatedCuda {
 public:
  CheckedCuda() { target_fingerprint("random " + std::to_string(getpid())); }  // nothing comes from the disk's cache

  const TargetDescription& target() const override { return checked_; }
  CompiledProgram compile(const ProgramSource& source) override {
    if (const Nvrtc* nvrtc = Nvrtc::find()) {
      const Nvrtc::Output output = nvrtc->compile(source.text, 90);
      EXPECT_TRUE(output.ok) << output.log << "\n" << source.text;
      ++checked;
    }
    return EmulatedCuda::compile(source);
  }
  int checked = 0;

 private:
  void target_fingerprint(const std::string& text) {
    checked_ = EmulatedCuda::target();
    checked_.fingerprint += text;
  }
  TargetDescription checked_;
};

CheckedCuda& device() {
  static auto& instance = *new CheckedCuda;
  return instance;
}

class GpuRandom : public EmulatedDeviceTest {
 protected:
  /// What `draw` gives on the device, copied to the CPU.
  template <class Draw>
  static Array on(Device& device, Draw draw) {
    Device* previous = set_default_device(&device);
    random::Generator generator({7, 3});
    const Array result = draw(generator).contiguous();
    Array copy = Array::empty(result.shape(), result.dtype(), cpu());
    device.copy(copy.data(), result.data(), static_cast<size_t>(result.nbytes()));
    set_default_device(previous);
    return copy;
  }

  /// The same draw on both: equal where only integers are computed, close where the math libraries differ.
  template <class Draw>
  static void compare(const std::string& what, double tolerance, Draw draw) {
    const Array want = on(cpu(), draw), got = on(device(), draw);
    ASSERT_EQ(want.shape(), got.shape()) << what;
    const auto expected = want.astype(Dtype::float64).to_vector<double>();
    const auto drawn = got.astype(Dtype::float64).to_vector<double>();
    for (size_t k = 0; k < expected.size(); ++k)
      ASSERT_NEAR(drawn[k], expected[k], tolerance * (1 + std::abs(expected[k]))) << what << " " << k;
  }
};

TEST_F(GpuRandom, IntegersAreTheSame) {
  for (const Dtype dtype : {Dtype::int8, Dtype::uint16, Dtype::int32, Dtype::int64, Dtype::uint64})
    for (const int64_t high : {int64_t{100}, int64_t{1} << (8 * itemsize(dtype) - 2)})
      compare(name(dtype), 0,
              [&](random::Generator& g) { return g.integers(0, high, {.size = Dims{5, 77}, .dtype = dtype}); });
  compare("bytes", 0,
          [](random::Generator& g) { return g.integers(0, 256, {.size = Dims{77}, .dtype = Dtype::uint8}); });
  compare("wide", 0, [](random::Generator& g) {  // a quarter of the words is rejected
    return g.integers(0, int64_t{3} << 61, {.size = Dims{300}, .dtype = Dtype::uint64});
  });
  compare("arrays", 0, [](random::Generator& g) {
    const Array high = add(arange(40), 5);
    return g.integers(-5, high, {.size = Dims{9, 40}});
  });
}

TEST_F(GpuRandom, SeveralPacksAThread) {
  compare("integers", 0, [](random::Generator& g) {  // packs of two: two rounds a thread, and a last one cut short
    return g.integers(-7, 1000, {.size = Dims{(1 << 19) + 333}});
  });
  compare("binomial", 0, [](random::Generator& g) {  // what floats cannot decide as well
    const Argument parameters[] = {90, 0.4};
    return g.draw("binomial", parameters, {.size = Dims{(1 << 18) + 77}});
  });
}

TEST_F(GpuRandom, TargetsThatPacksDoNotFit) {
  compare("offset", 1e-6, [](random::Generator& g) {
    const Array whole = zeros({41}, Dtype::float32);
    const Argument parameters[] = {0, 1};
    g.draw("normal", parameters, {.out = whole.at(Slice{1, {}, 1})});
    return whole;
  });
  compare("strided", 0, [](random::Generator& g) {
    const Array whole = zeros({80}, Dtype::int64);
    g.integers(0, 10, {.out = whole.at(Slice{{}, {}, 2})});
    return whole;
  });
  compare("counts", 0, [](random::Generator& g) {  // one block of bytes for eight packs
    return g.integers(0, 256, {.size = Dims{77}});
  });
}

TEST_F(GpuRandom, OrdersAreTheSame) {
  for (const int64_t n : {5, 1000, 1025, 3000})
    compare("permutation", 0, [&](random::Generator& g) { return g.permutation(n); });
  compare("permuted", 0, [](random::Generator& g) { return g.permuted_rows(arange(60).reshape({6, 10})); });
  compare("rows", 0,
          [](random::Generator& g) { return random::take_rows(arange(60).reshape({20, 3}), g.permutation(20, 7)); });
}

struct Case {
  const char* name;
  std::vector<double> parameters;
};

const Case kCases[] = {
    {"uniform", {-1, 3}},
    {"exponential", {2}},
    {"laplace", {1, 2}},
    {"logistic", {1, 2}},
    {"gumbel", {1, 2}},
    {"pareto", {3}},
    {"power", {0.5}},
    {"rayleigh", {2}},
    {"weibull", {1.5}},
    {"standard_cauchy", {}},
    {"triangular", {0, 1, 4}},
    {"geometric", {0.3}},
    {"normal", {1, 2}},
    {"lognormal", {0.5, 0.7}},
    {"gamma", {0.6, 3}},
    {"log_gamma", {0.6}},
    {"chisquare", {3}},
    {"beta", {0.5, 3}},
    {"wald", {1, 2}},
    {"standard_t", {4}},
    {"f", {3, 5}},
    {"noncentral_chisquare", {3, 4}},
    {"noncentral_f", {3, 5, 2}},
    {"vonmises", {1, 4}},
    {"poisson", {30}},
    {"binomial", {100, 0.3}},
    {"negative_binomial", {3, 0.4}},
    {"hypergeometric", {50, 70, 40}},
    {"zipf", {2}},
    {"logseries", {0.9}},
};

TEST_F(GpuRandom, EveryDistribution) {
  for (const Case& one : kCases)
    for (const bool arrays : {false, true}) {
      const Dtype dtype = arrays ? Dtype::float32 : Dtype::float64;
      const bool integer = ops::distribution(one.name).result == ops::Result::integer;
      compare(one.name, dtype == Dtype::float32 ? 2e-3 : 1e-9, [&](random::Generator& g) {
        std::vector<Array> held;
        std::vector<Argument> parameters;
        for (const double p : one.parameters)
          held.push_back(full({20}, p, integer && p > 1 ? Dtype::int64 : Dtype::float64));
        for (size_t k = 0; k < one.parameters.size(); ++k)
          parameters.push_back(arrays ? Argument(held[k]) : Argument(one.parameters[k]));
        return g.draw(one.name, parameters, {.size = Dims{10, 20}, .dtype = integer ? Dtype::int64 : dtype});
      });
    }
}

TEST_F(GpuRandom, Counts) {
  compare("multinomial", 0,
          [](random::Generator& g) { return g.multinomial(full({6}, 40), full({4}, 0.25), std::nullopt); });
  compare("multivariate_hypergeometric", 0,
          [](random::Generator& g) { return g.multivariate_hypergeometric(full({4}, 30), 50, {6}); });
  if (Nvrtc::find()) {
    EXPECT_GT(device().checked, 1);
  }
}

TEST(Philox, HostAndKernelLanguageAgree) {
  KernelOptions options;
  options.preamble = ops::random_header("philox");
  const ElementwiseKernel kernel("uint64 seed, uint64 stream, uint64 block, uint32 attempt", "raw uint32 y",
                                 "const PhiloxWords w = philox_block(seed, stream, block, attempt), v = "
                                 "seldom_philox_block(seed, stream, block, attempt);"
                                 "y[0] = w.w0; y[1] = w.w1; y[2] = w.w2; y[3] = w.w3;"
                                 "y[4] = v.w0; y[5] = v.w1; y[6] = v.w2; y[7] = v.w3;",
                                 "philox_both", options);
  const uint64_t seed = 0x123456789abcdef0, stream = 0xfedcba987654, block = 0x80000000beef;
  const Array y = zeros({8}, Dtype::uint32);
  const Argument arguments[] = {Scalar(seed).typed(Dtype::uint64), Scalar(stream).typed(Dtype::uint64),
                                Scalar(block).typed(Dtype::uint64), Scalar(9).typed(Dtype::uint32), y};
  kernel.call(arguments, {.size = 1});
  const auto words = ops::philox_block(seed, stream, block, 9);
  std::vector<uint32_t> expected(words.begin(), words.end());
  expected.insert(expected.end(), words.begin(), words.end());
  EXPECT_EQ(y.to_vector<uint32_t>(), expected);
}

}  // namespace
