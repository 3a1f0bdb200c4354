// Random arrays: element k is a pure function of the seed, the number of the draw, and k.
#include "iruka/random.h"

#include <mutex>
#include <random>

#include "iruka/device.h"
#include "iruka/kernel.h"
#include "ops/philox.h"

namespace iruka::random {
namespace {

/// One array's numbers: the process-wide seed, and how many arrays were drawn since it was set.
struct Stream {
  uint64_t seed, number;
};

class Generator {
 public:
  Generator() {
    std::random_device entropy;
    stream_ = {static_cast<uint64_t>(entropy()) << 32 | entropy(), 0};
  }
  void seed(uint64_t value) {
    std::lock_guard lock(mutex_);
    stream_ = {value, 0};
  }
  Stream next() {
    std::lock_guard lock(mutex_);
    Stream stream = stream_;
    ++stream_.number;
    return stream;
  }

 private:
  std::mutex mutex_;
  Stream stream_;
};

Generator& generator() {
  static Generator instance;
  return instance;
}

ElementwiseKernel block_kernel(const char* parameters, const char* output, const char* body, const char* name,
                               const char* helpers = "") {
  KernelOptions options;
  options.preamble = std::string(ops::kPhilox) + helpers;
  options.diagnose_early = false;
  return ElementwiseKernel(std::string("uint64 seed, uint64 stream") + parameters, output, body, name, options);
}

const ElementwiseKernel& uniform_kernel(Dtype dtype) {
  static const ElementwiseKernel doubles = block_kernel(", float64 low, float64 width", "raw float64 y", R"(
    const PhiloxWords w = philox_block(seed, stream, i, 0);
    y[2 * i] = low + width * unit_double(w.w0, w.w1);
    y[2 * i + 1] = low + width * unit_double(w.w2, w.w3);
  )",
                                                        "random_uniform");
  static const ElementwiseKernel floats = block_kernel(", float32 low, float32 width", "raw float32 y", R"(
    const PhiloxWords w = philox_block(seed, stream, i, 0);
    y[4 * i] = low + width * unit_float(w.w0);
    y[4 * i + 1] = low + width * unit_float(w.w1);
    y[4 * i + 2] = low + width * unit_float(w.w2);
    y[4 * i + 3] = low + width * unit_float(w.w3);
  )",
                                                       "random_uniform");
  return dtype == Dtype::float64 ? doubles : floats;
}

// float32 takes all 32 bits for the radius: with 24, no deviate would lie beyond 5.8.
const ElementwiseKernel& normal_kernel(Dtype dtype) {
  static const ElementwiseKernel doubles = block_kernel(", float64 mean, float64 deviation", "raw float64 y", R"(
    const PhiloxWords w = philox_block(seed, stream, i, 0);
    const double radius = sqrt(-2.0 * log(1.0 - unit_double(w.w0, w.w1)));
    const double angle = 6.283185307179586 * unit_double(w.w2, w.w3);
    y[2 * i] = mean + deviation * (radius * cos(angle));
    y[2 * i + 1] = mean + deviation * (radius * sin(angle));
  )",
                                                        "random_normal");
  static const ElementwiseKernel floats = block_kernel(", float32 mean, float32 deviation", "raw float32 y", R"(
    const PhiloxWords w = philox_block(seed, stream, i, 0);
    const float radius0 = radius_of(w.w0), angle0 = 6.2831853f * unit_float(w.w1);
    const float radius1 = radius_of(w.w2), angle1 = 6.2831853f * unit_float(w.w3);
    y[4 * i] = mean + deviation * (radius0 * cosf(angle0));
    y[4 * i + 1] = mean + deviation * (radius0 * sinf(angle0));
    y[4 * i + 2] = mean + deviation * (radius1 * cosf(angle1));
    y[4 * i + 3] = mean + deviation * (radius1 * sinf(angle1));
  )",
                                                       "random_normal", R"(
    static inline float radius_of(unsigned word) {
      const float high = (float)(int)(word >> 16), low = (float)(int)(word & 0xffffu);
      return sqrtf(-2.0f * logf((high * 65536.0f + (low + 0.5f)) * 0x1p-32f));
    }
  )");
  return dtype == Dtype::float64 ? doubles : floats;
}

// Lemire, "Fast random integer generation in an interval", 2019. A rejected element draws the same place of its block
// again with the next attempt, so that it stays a function of its index.
constexpr const char* kBounded = R"(
static inline unsigned word_at(PhiloxWords w, int place) {
  return place == 0 ? w.w0 : place == 1 ? w.w1 : place == 2 ? w.w2 : w.w3;
}
static inline unsigned bounded_word(unsigned long long seed, unsigned long long stream, unsigned long long block,
                                    PhiloxWords words, int place, unsigned long long span) {
  const unsigned threshold = (unsigned)((1ull << 32) % span);
  unsigned long long product = word_at(words, place) * span;
  for (unsigned attempt = 1; (unsigned)product < threshold && attempt < 256; ++attempt)
    product = word_at(philox_block(seed, stream, block, attempt), place) * span;
  return (unsigned)(product >> 32);
}
static inline unsigned long long high_product(unsigned long long a, unsigned long long b, unsigned long long& low) {
  const unsigned long long a0 = (unsigned)a, a1 = a >> 32, b0 = (unsigned)b, b1 = b >> 32;
  const unsigned long long middle = a1 * b0 + (a0 * b0 >> 32), cross = a0 * b1 + (unsigned)middle;
  low = a * b;
  return a1 * b1 + (middle >> 32) + (cross >> 32);
}
static inline unsigned long long double_word(PhiloxWords w, int place) {
  return place ? (unsigned long long)w.w2 << 32 | w.w3 : (unsigned long long)w.w0 << 32 | w.w1;
}
/// A span of 0 stands for 2^64.
static inline unsigned long long bounded_double_word(unsigned long long seed, unsigned long long stream,
                                                     unsigned long long block, PhiloxWords words, int place,
                                                     unsigned long long span) {
  unsigned long long bits = double_word(words, place), low;
  if (span == 0) return bits;
  const unsigned long long threshold = (0 - span) % span;
  unsigned long long high = high_product(bits, span, low);
  for (unsigned attempt = 1; low < threshold && attempt < 256; ++attempt)
    high = high_product(double_word(philox_block(seed, stream, block, attempt), place), span, low);
  return high;
}
)";

ElementwiseKernel make_integer_kernel(Dtype dtype, bool wide) {
  const std::string output = std::string("raw ") + name(dtype) + " y", type = info(dtype).c_type;
  const std::string draw = wide ? "bounded_double_word" : "bounded_word", per_block = wide ? "2" : "4";
  const std::string body = "const PhiloxWords w = philox_block(seed, stream, i, 0);\nfor (int place = 0; place < " +
                           per_block + "; ++place)\n  y[" + per_block + " * i + place] = (" + type + ")(low + " + draw +
                           "(seed, stream, i, w, place, span));";
  return block_kernel(", uint64 low, uint64 span", output.c_str(), body.c_str(), "random_integers", kBounded);
}

const ElementwiseKernel& integer_kernel(Dtype dtype, bool wide) {
  static std::once_flag made[2][kDtypeCount];
  static std::optional<ElementwiseKernel> kernels[2][kDtypeCount];
  const auto k = static_cast<size_t>(dtype);
  std::call_once(made[wide][k], [&] { kernels[wide][k].emplace(make_integer_kernel(dtype, wide)); });
  return *kernels[wide][k];
}

Argument typed(uint64_t value) { return Scalar(value).typed(Dtype::uint64); }

/// Runs a kernel that fills `per_block` elements at a time; the last block may reach past the array, into its buffer.
Array draw(const ElementwiseKernel& kernel, const Dims& shape, Dtype dtype, int64_t per_block, const Argument& first,
           const Argument& second) {
  const Stream stream = generator().next();
  const int64_t blocks = (count(shape) + per_block - 1) / per_block;
  const Array padded = Array::empty({blocks * per_block}, dtype);
  const Argument arguments[] = {typed(stream.seed), typed(stream.number), first, second, padded};
  CallOptions options;
  options.size = blocks;
  kernel.call(arguments, options);
  return Array(padded.buffer(), dtype, shape, c_strides(shape, itemsize(dtype)));
}

void check_float(const char* function, Dtype dtype) {
  if (dtype != Dtype::float64 && dtype != Dtype::float32)
    throw TypeError(std::string("random.") + function + ": dtype must be float64 or float32, not " + name(dtype));
}

Argument real(double value, Dtype dtype) { return Scalar(value).typed(dtype); }

using Wide = __int128;

Wide exact(const Scalar& value) {
  if (value.kind() == Kind::floating || value.kind() == Kind::complex)
    throw TypeError("random.randint: bounds must be integers, not " + value.to_string());
  return value.dtype() == Dtype::uint64 ? static_cast<Wide>(value.as_uint64()) : static_cast<Wide>(value.as_int64());
}

Wide smallest(Dtype dtype) {
  return kind(dtype) == Kind::signed_integer ? -(Wide{1} << (itemsize(dtype) * 8 - 1)) : Wide{0};
}
Wide largest(Dtype dtype) {
  if (dtype == Dtype::bool_) return 1;
  return (Wide{1} << (itemsize(dtype) * 8 - (kind(dtype) == Kind::signed_integer ? 1 : 0))) - 1;
}

}  // namespace

void seed(uint64_t value) { generator().seed(value); }

Array random(const Dims& shape, Dtype dtype) {
  check_float("random", dtype);
  return uniform(0, 1, shape, dtype);
}

Array uniform(double low, double high, const Dims& shape, Dtype dtype) {
  check_float("uniform", dtype);
  return draw(uniform_kernel(dtype), shape, dtype, dtype == Dtype::float64 ? 2 : 4, real(low, dtype),
              real(high - low, dtype));
}

Array normal(double mean, double deviation, const Dims& shape, Dtype dtype) {
  check_float("normal", dtype);
  if (!(deviation >= 0))
    throw ValueError("random.normal: the deviation must not be negative, not " + Scalar(deviation).to_string());
  return draw(normal_kernel(dtype), shape, dtype, dtype == Dtype::float64 ? 2 : 4, real(mean, dtype),
              real(deviation, dtype));
}

Array randint(const Scalar& low, const Scalar& high, const Dims& shape, Dtype dtype, bool endpoint) {
  if (!is_integer(dtype) && dtype != Dtype::bool_)
    throw TypeError(std::string("random.randint: dtype must be an integer, not ") + name(dtype));
  const Wide first = exact(low), last = exact(high) - (endpoint ? 0 : 1);
  if (first > last)
    throw ValueError("random.randint: low " + low.to_string() + " must be below high " + high.to_string());
  if (first < smallest(dtype))
    throw ValueError("random.randint: low " + low.to_string() + " is out of bounds for " + name(dtype));
  if (last > largest(dtype))
    throw ValueError("random.randint: high " + high.to_string() + " is out of bounds for " + name(dtype));
  const Wide span = last - first + 1;
  const bool wide = span > Wide{1} << 32;
  return draw(integer_kernel(dtype, wide), shape, dtype, wide ? 2 : 4, typed(static_cast<uint64_t>(first)),
              typed(static_cast<uint64_t>(span)));
}

}  // namespace iruka::random
