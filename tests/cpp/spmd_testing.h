// Kernels run with every choice of lanes against the same text compiled into the test as plain C++.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <tuple>

#include "guarded_memory.h"
#include "iruka/iruka.h"

#define __device__
#define __noinline__
#define __constant__ const
#define IRUKA_NAMES(...) __VA_ARGS__

/// One text in two forms: a kernel's body, and a function of the same names that the test's own compiler compiles.
#define BODY(parameters, ...)                                                                 \
  ::iruka::test::Body {                                                                       \
    #__VA_ARGS__, []([[maybe_unused]] const ptrdiff_t i, [[maybe_unused]] const ptrdiff_t n,  \
                     [[maybe_unused]] ::iruka::test::Indexer& _ind, IRUKA_NAMES parameters) { \
      do __VA_ARGS__                                                                          \
      while (0);                                                                              \
    }                                                                                         \
  }
/// A body whose meaning C++ does not fix: the text, and a function over the names that says what it means.
#define BODY_AND_MEANING(text, parameters, ...)                                                 \
  ::iruka::test::Body {                                                                         \
    text, []([[maybe_unused]] const ptrdiff_t i, [[maybe_unused]] const ptrdiff_t n,            \
             [[maybe_unused]] ::iruka::test::Indexer& _ind, IRUKA_NAMES parameters) __VA_ARGS__ \
  }
/// Definitions for a kernel's preamble and for the test itself.
#define PREAMBLE(name, ...) \
  __VA_ARGS__               \
  constexpr const char* name = #__VA_ARGS__;

namespace iruka::test {

/// The kernel's view of a raw array, over elements in C order.
template <class T, int N>
struct CArray {
  static constexpr int ndim = N;
  struct MultiIndex {
    std::array<ptrdiff_t, N> at;
    template <class... I>
      requires(sizeof...(I) == N)
    MultiIndex(I... index) : at{static_cast<ptrdiff_t>(index)...} {}
  };

  T* data = nullptr;
  std::array<ptrdiff_t, N> extents{};

  ptrdiff_t size() const {
    ptrdiff_t all = 1;
    for (const ptrdiff_t extent : extents) all *= extent;
    return all;
  }
  const ptrdiff_t* shape() const { return extents.data(); }
  T& operator[](ptrdiff_t k) const { return data[k]; }
  T& operator[](const MultiIndex& index) const { return (*this)[index.at.data()]; }
  template <std::integral I>
  T& operator[](const I* index) const {
    ptrdiff_t k = 0;
    for (int axis = 0; axis < N; ++axis) k = k * extents[static_cast<size_t>(axis)] + index[axis];
    return data[k];
  }
};

struct Indexer {
  std::vector<ptrdiff_t> extents, at;
  ptrdiff_t count;

  explicit Indexer(const Dims& shape) : at(static_cast<size_t>(std::max(shape.size(), 1))), count(iruka::count(shape)) {
    for (int axis = 0; axis < shape.size(); ++axis) extents.push_back(shape[axis]);
  }
  void set(ptrdiff_t i) {
    for (size_t axis = extents.size(); axis-- > 0; i /= extents[axis]) at[axis] = i % extents[axis];
  }
  ptrdiff_t size() const { return count; }
  const ptrdiff_t* get() const { return at.data(); }
};

template <class F>
struct Body {
  const char* text;
  F reference;
};
template <class F>
Body(const char*, F) -> Body<F>;

/// IEEE-like 16-bit elements: `exponent_bits` 5 is float16, 8 is bfloat16.
template <int exponent_bits>
struct SmallBits {
  uint16_t bits;
};

template <class T>
inline constexpr Dtype element_dtype = dtype_of<T>;
template <>
inline constexpr Dtype element_dtype<SmallBits<5>> = Dtype::float16;
template <>
inline constexpr Dtype element_dtype<SmallBits<8>> = Dtype::bfloat16;

/// Byte strides for a shape.
using Layout = Dims (*)(const Dims& shape, int64_t itemsize);
inline Dims c_order(const Dims& shape, int64_t itemsize) { return c_strides(shape, itemsize); }
inline Dims fortran_order(const Dims& shape, int64_t itemsize) {
  Dims strides(shape.size());
  for (int axis = 0; axis < shape.size(); ++axis) {
    strides[axis] = itemsize;
    itemsize *= std::max<int64_t>(shape[axis], 1);
  }
  return strides;
}
/// Rows with room for three more elements behind each.
inline Dims padded_rows(const Dims& shape, int64_t itemsize) {
  Dims wide = shape;
  wide[shape.size() - 1] += 3;
  return c_strides(wide, itemsize);
}
/// Only every third element of a row is used.
inline Dims every_third(const Dims& shape, int64_t itemsize) { return c_strides(shape, 3 * itemsize); }
inline Dims reversed(const Dims& shape, int64_t itemsize) {
  Dims strides = c_strides(shape, itemsize);
  for (int axis = 0; axis < shape.size(); ++axis) strides[axis] = -strides[axis];
  return strides;
}

/// One argument of the call: its elements in C order before the call, and after it as the reference left them.
struct Operand {
  enum class Role : uint8_t { plain, raw, scalar };
  Role role = Role::plain;
  Dtype dtype = Dtype::float32;
  Dims shape;
  Layout layout = c_order;
  std::vector<std::byte> before, after;
  Scalar value;
};

template <class T>
struct Plain : Operand {
  T& argument(const Indexer& place) {
    size_t k = 0;  // of the element that the loop's place broadcasts to
    const size_t missing = place.extents.size() - static_cast<size_t>(shape.size());
    for (int axis = 0; axis < shape.size(); ++axis) {
      const auto extent = static_cast<size_t>(shape[axis]);
      k = k * extent + (extent == 1 ? 0 : static_cast<size_t>(place.at[missing + static_cast<size_t>(axis)]));
    }
    return reinterpret_cast<T*>(after.data())[k];
  }
};

template <class T, int N>
struct Raw : Operand {
  CArray<T, N> view;
  CArray<T, N>& argument(const Indexer&) {
    view.data = reinterpret_cast<T*>(after.data());
    for (int axis = 0; axis < N; ++axis) view.extents[static_cast<size_t>(axis)] = shape[axis];
    return view;
  }
};

template <class T>
struct Single : Operand {
  T number;
  T argument(const Indexer&) const { return number; }
};

template <class T>
void set_elements(Operand& operand, const std::vector<T>& values, const Dims& shape, Layout layout) {
  operand.dtype = element_dtype<T>;
  operand.shape = shape;
  operand.layout = layout;
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  operand.before = operand.after = {bytes, bytes + values.size() * sizeof(T)};
}

template <class T>
Plain<T> plain(const std::vector<T>& values, const Dims& shape, Layout layout = c_order) {
  Plain<T> operand;
  set_elements(operand, values, shape, layout);
  return operand;
}
template <class T>
Plain<T> plain(const std::vector<T>& values) {
  return plain(values, {static_cast<int64_t>(values.size())});
}
template <class T, int N>
Raw<T, N> raw(const std::vector<T>& values, const Dims& shape, Layout layout = c_order) {
  Raw<T, N> operand;
  operand.role = Operand::Role::raw;
  set_elements(operand, values, shape, layout);
  return operand;
}
template <class T>
Raw<T, 1> raw(const std::vector<T>& values) {
  return raw<T, 1>(values, {static_cast<int64_t>(values.size())});
}
template <class T>
Single<T> scalar(T value) {
  Single<T> operand;
  operand.role = Operand::Role::scalar;
  operand.value = Scalar(value);
  operand.number = value;
  return operand;
}
/// uint8_t elements seen as bool.
template <class O>
O as_bool(O operand) {
  operand.dtype = Dtype::bool_;
  return operand;
}
template <class... O>
std::tuple<O...> operands(O... all) {
  return {std::move(all)...};
}

/// Any bits: of floats also NaN, infinities, zeros of both signs and denormals.
template <class T>
std::vector<T> wild(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed * 7919 + 1);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) {
    const uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof(T));
    if constexpr (std::is_floating_point_v<T>) {
      using Limits = std::numeric_limits<T>;
      const T special[] = {
          0,    T(-0.0), Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(),
          T(1), T(-1),   Limits::max(),      Limits::lowest()};
      const uint64_t kind = random() % 40;
      if (kind < 10) value = special[kind];
      if (kind >= 20) value = std::ldexp(T(int64_t(bits)), -int(bits % 70));
    }
  }
  return values;
}
template <class T>
std::vector<T> integers(int64_t count, uint64_t seed, int64_t low, int64_t high) {
  std::mt19937_64 random(seed * 7919 + 2);
  std::uniform_int_distribution<int64_t> between(low, high);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) value = static_cast<T>(between(random));
  return values;
}
/// Multiples of 1/4 between -32 and 32: short sums and products of them are exact.
template <class T>
std::vector<T> quarters(int64_t count, uint64_t seed) {
  std::vector<T> values = integers<T>(count, seed, -128, 128);
  for (T& value : values) value /= 4;
  return values;
}
/// What an output holds before the call.
template <class T>
Plain<T> out(int64_t count) {
  return plain(integers<T>(count, 99, 0, 100));
}
template <class T>
Raw<T, 1> raw_out(int64_t count) {
  return raw(integers<T>(count, 98, 0, 100));
}

inline const std::vector<std::string> kLaneChoices = {"--lanes=1", "--lanes=8", "--lanes=4", "--lanes=16", ""};
/// For what is done once for every element type.
inline const std::vector<std::string> kFewLaneChoices = {"--lanes=8", "--lanes=16", ""};

struct KernelSpec {
  const char* in;
  const char* out;
  const char* preamble = "";
  const char* loop_prep = "";
  const char* after_loop = "";
  bool is_widened = true;  ///< with a given number of lanes; false: the scalar path must run
  bool is_report_checked = true;
  std::vector<std::string> options = {"--fmad=false"};
  std::vector<std::string> lanes = kLaneChoices;  ///< the kernel is made once with each of these options
};

inline KernelSpec few_lane_choices(const char* in, const char* out) {
  return {.in = in, .out = out, .lanes = kFewLaneChoices};
}

inline bool is_nan(Dtype part, const std::byte* bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, static_cast<size_t>(itemsize(part)));
  switch (part) {
    case Dtype::float16: return (bits & 0x7FFF) > 0x7C00;
    case Dtype::bfloat16: return (bits & 0x7FFF) > 0x7F80;
    case Dtype::float32: return (bits & 0x7FFFFFFF) > 0x7F800000;
    case Dtype::float64: return (bits & INT64_MAX) > 0x7FF0000000000000;
    default: return false;
  }
}

/// Bit for bit, but any NaN equals any NaN.
inline bool same_element(Dtype dtype, const std::byte* a, const std::byte* b) {
  const Dtype part = real_dtype(dtype);
  for (int64_t at = 0; at < itemsize(dtype); at += itemsize(part)) {
    if (is_nan(part, a + at) && is_nan(part, b + at)) continue;
    if (std::memcmp(a + at, b + at, static_cast<size_t>(itemsize(part))) != 0) return false;
  }
  return true;
}

/// An operand's array in guarded memory.
class Placed {
 public:
  Placed(const Operand& operand, Flush flush)
      : operand_(operand), itemsize_(itemsize(operand.dtype)), strides_(operand.layout(operand.shape, itemsize_)) {
    int64_t low = 0, high = itemsize_;
    for (int axis = 0; axis < operand.shape.size(); ++axis) {
      const int64_t reach = strides_[axis] * (operand.shape[axis] - 1);
      (reach < 0 ? low : high) += reach;
    }
    const bool is_empty = operand.before.empty();
    offset_ = is_empty ? 0 : -low;
    memory_ = std::make_shared<GuardedMemory>(is_empty ? 0 : static_cast<size_t>(high - low), flush);
    each_element([&](size_t at, std::byte* element) { std::memcpy(element, &operand.before[at], size()); });
    array_ = guarded_array(memory_, operand.dtype, operand.shape, strides_, offset_);
  }

  const Array& array() const { return array_; }

  /// Empty, or what differs from what the reference left.
  std::string difference() {
    std::string found;
    each_element([&](size_t at, std::byte* element) {
      if (found.empty() && !same_element(operand_.dtype, element, &operand_.after[at]))
        found =
            "element " + std::to_string(at / size()) + " is " + shown(element) + ", not " + shown(&operand_.after[at]);
      std::memset(element, static_cast<int>(GuardedMemory::kPattern), size());
    });
    if (!found.empty()) return found;
    const auto* bytes = memory_->data();
    for (size_t at = 0; at < memory_->bytes(); ++at)
      if (bytes[at] != GuardedMemory::kPattern) return "byte " + std::to_string(at) + ", between elements, was written";
    return memory_->surroundings_are_intact() ? "" : "bytes outside of the array were written";
  }

 private:
  size_t size() const { return static_cast<size_t>(itemsize_); }
  std::string shown(const std::byte* element) const {
    std::string digits;
    for (size_t k = size(); k-- > 0;) {
      char two[3];
      std::snprintf(two, sizeof(two), "%02x", static_cast<unsigned>(element[k]));
      digits += two;
    }
    return Scalar::load(operand_.dtype, element).to_string() + " (0x" + digits + ")";
  }
  template <class F>
  void each_element(F&& visit) const {
    std::vector<int64_t> at(static_cast<size_t>(operand_.shape.size()));
    for (size_t k = 0; k < operand_.before.size(); k += size()) {
      int64_t offset = offset_;
      for (size_t axis = 0; axis < at.size(); ++axis) offset += at[axis] * strides_[static_cast<int>(axis)];
      visit(k, memory_->data() + offset);
      for (size_t axis = at.size(); axis-- > 0;) {
        if (++at[axis] < operand_.shape[static_cast<int>(axis)]) break;
        at[axis] = 0;
      }
    }
  }

  const Operand& operand_;
  int64_t itemsize_, offset_ = 0;
  Dims strides_;
  std::shared_ptr<GuardedMemory> memory_;
  Array array_;
};

/// What runs at the moment, for the last words of a test whose kernel leaves its arrays.
inline std::string& current_run() {
  static auto& text = *new std::string;
  return text;
}
inline void report_fault(int signal) {
  const std::string& text = current_run();
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  raise(signal);
}

/// Kernels are compiled again in every run, and ranges of their loops begin anywhere.
inline void prepare_process() {
  static const bool once = [] {
    struct sigaction action{};
    action.sa_handler = report_fault;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(signal, &action, nullptr);
    unsetenv("IRUKA_CACHE_DIR");
    setenv("XDG_CACHE_HOME", "", 1);
    setenv("HOME", "", 1);
    set_thread_count(3);
    return true;
  }();
  static_cast<void>(once);
}

/// A kernel with one choice of lanes each.
class LaneKernels {
 public:
  LaneKernels(const KernelSpec& spec, const char* text) : spec_(spec) {
    prepare_process();
    for (const std::string& choice : spec.lanes) {
      KernelOptions options{.preamble = spec.preamble,
                            .loop_prep = spec.loop_prep,
                            .after_loop = spec.after_loop,
                            .options = spec.options,
                            .diagnose_early = false};
      if (!choice.empty()) options.options.push_back(choice);
      const std::string lanes = choice.empty() ? "0" : choice.substr(choice.find('=') + 1);
      kernels_.emplace_back(spec.in, spec.out, text, "lanes_" + lanes, options);
    }
  }

  const std::vector<ElementwiseKernel>& kernels() const { return kernels_; }

  /// Runs all on `operands` over a loop of `n` elements; a failure names the first difference and ends it.
  void run(std::span<const Operand* const> operands, int64_t n) {
    for (const ElementwiseKernel& kernel : kernels_) {
      if (!kernel.options().options.empty() && kernel.options().options.back() == "--lanes=8")
        check_report(kernel, operands, n);
      for (const Flush flush : {Flush::back, Flush::front}) {
        if (testing::Test::HasFatalFailure()) return;
        run_one(kernel, operands, n, flush);
      }
    }
  }

 private:
  struct Call {
    Call(std::span<const Operand* const> operands, int64_t n, Flush flush) {
      for (const Operand* operand : operands) {
        if (operand->role != Operand::Role::scalar) placed.push_back(std::make_unique<Placed>(*operand, flush));
        has_plain |= operand->role == Operand::Role::plain;
      }
      size_t next = 0;
      for (const Operand* operand : operands) {
        if (operand->role == Operand::Role::scalar)
          arguments.push_back(operand->value);
        else
          arguments.push_back(placed[next++]->array());
      }
      if (!has_plain) options.size = n;
    }
    std::vector<std::unique_ptr<Placed>> placed;
    std::vector<Argument> arguments;
    CallOptions options;
    bool has_plain = false;
  };

  void check_report(const ElementwiseKernel& kernel, std::span<const Operand* const> operands, int64_t n) {
    if (is_reported_ || !spec_.is_report_checked || n < 8) return;
    is_reported_ = true;
    Call call(operands, n, Flush::back);
    current_run() = "fault in the report of " + kernel.name() + ":\n" + kernel.operation() + "\n";
    const KernelReport report = kernel.report(call.arguments, call.options);
    EXPECT_EQ(report.lanes, spec_.is_widened ? 8 : 1) << report.reason << "\n" << kernel.operation();
  }

  void run_one(const ElementwiseKernel& kernel, std::span<const Operand* const> operands, int64_t n, Flush flush) {
    Call call(operands, n, flush);
    const std::string run = kernel.name() + ", " + std::to_string(n) + " elements, against the guard page " +
                            (flush == Flush::back ? "behind" : "in front") + ":\n" + kernel.operation() + "\n";
    current_run() = "fault in " + run;
    kernel.call(call.arguments, call.options);
    for (size_t k = 0; k < call.placed.size(); ++k) {
      const std::string difference = call.placed[k]->difference();
      ASSERT_EQ(difference, "") << "array " << k << " of " << run;
    }
  }

  KernelSpec spec_;
  std::vector<ElementwiseKernel> kernels_;
  bool is_reported_ = false;
};

/// Every size up to 70, and some around larger multiples of W; the last is shared by threads.
inline const std::vector<int64_t>& usual_sizes() {
  static const auto& sizes = *[] {
    auto* all = new std::vector<int64_t>{20'011};
    for (int64_t n = 1; n <= 70; ++n) all->push_back(n);
    all->insert(all->end(), {127, 128, 129, 257, 1000});
    return all;
  }();
  return sizes;
}

/// The shape of the loop: what the plain operands broadcast to.
inline Dims loop_shape(std::span<const Operand* const> operands, int64_t n) {
  std::vector<const Dims*> shapes;
  for (const Operand* operand : operands)
    if (operand->role == Operand::Role::plain) shapes.push_back(&operand->shape);
  return shapes.empty() ? Dims{n} : broadcast_shapes(shapes);
}

/// make(n) gives the operands for a loop of n elements.
template <class F, class Make>
void check(const KernelSpec& spec, const Body<F>& body, Make make, const std::vector<int64_t>& sizes = usual_sizes()) {
  LaneKernels kernels(spec, body.text);
  for (const int64_t size : sizes) {
    auto all = make(size);
    std::apply(
        [&](auto&... operand) {
          const Operand* const list[] = {&operand...};
          const Dims shape = loop_shape(list, size);
          Indexer place(shape);
          for (ptrdiff_t i = 0; i < place.size(); ++i) {
            place.set(i);
            body.reference(i, place.size(), place, operand.argument(place)...);
          }
          kernels.run(list, size);
        },
        all);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace iruka::test
