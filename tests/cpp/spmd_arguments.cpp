#include "spmd_arguments.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "spmd_random.h"

namespace iruka::testing {
namespace {

size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

double random_real(Random& random, Flavour flavour) {
  constexpr double kSpecial[] = {0.0,     -0.0,    INFINITY,     -INFINITY,     NAN,
                                 5e-324,  1e-45,   -1e-40,       3e-8,          3.4e38,
                                 1.7e308, 65504,   2147483648.0, -2147483649.0, 4294967296.0,
                                 9.3e18,  -9.3e18, 1.9e19,       0.49999997,    4503599627370497.5,
                                 127.5,   -128.9};
  if (flavour == Flavour::special && random.chance(30)) return random.pick(kSpecial);
  if (flavour != Flavour::wide) return random.between(-64, 64) / 8.0;
  return std::ldexp(random.between(-4096, 4096), random.between(-40, 12));
}

uint64_t random_bits(Random& random, Flavour flavour) {
  constexpr uint64_t kSpecial[] = {0x8000000000000000u,
                                   0x7fffffffffffffffu,
                                   0x80000000u,
                                   0xffffffff80000000u,
                                   0x7fffffffu,
                                   0xffffffffu,
                                   0xffff8000u,
                                   0x7fffu,
                                   0x8000u,
                                   0xffu,
                                   0x80u,
                                   0xffffffffffffff80u,
                                   0u,
                                   ~uint64_t{0},
                                   1u};
  if (flavour == Flavour::wide) return random.next();
  if (flavour == Flavour::special && random.chance(30)) return random.pick(kSpecial);
  return static_cast<uint64_t>(random.between(-20, 20));
}

void store_random(Random& random, Dtype dtype, Flavour flavour, char* at) {
  const auto put = [at](const auto& value) { std::memcpy(at, &value, sizeof value); };
  switch (dtype) {
    case Dtype::bool_: return put(static_cast<uint8_t>(random.next() >> 40 & 1));
    case Dtype::float16: return put(float16_bits(random_real(random, flavour)));
    case Dtype::bfloat16: return put(bfloat16_bits(random_real(random, flavour)));
    case Dtype::float32: return put(static_cast<float>(random_real(random, flavour)));
    case Dtype::float64: return put(random_real(random, flavour));
    case Dtype::complex64:
      return put(std::complex<float>(static_cast<float>(random_real(random, flavour)),
                                     static_cast<float>(random_real(random, flavour))));
    case Dtype::complex128:
      return put(std::complex<double>(random_real(random, flavour), random_real(random, flavour)));
    default: {
      const uint64_t bits = random_bits(random, flavour);  // of a little-endian machine the low bytes come first
      std::memcpy(at, &bits, static_cast<size_t>(itemsize(dtype)));
    }
  }
}

/// The bits of one number, all NaN being one.
template <class T>
T canonical(const char* at, T exponent) {
  T bits;
  std::memcpy(&bits, at, sizeof bits);
  const T magnitude = static_cast<T>(bits & static_cast<T>(~(T{1} << (sizeof(T) * 8 - 1))));
  return magnitude > exponent ? exponent + 1 : bits;
}

bool same_element(Dtype dtype, const char* a, const char* b) {
  constexpr uint32_t kSingle = 0x7f800000u;
  constexpr uint64_t kDouble = 0x7ff0000000000000u;
  switch (dtype) {
    case Dtype::float16: return canonical<uint16_t>(a, 0x7c00) == canonical<uint16_t>(b, 0x7c00);
    case Dtype::bfloat16: return canonical<uint16_t>(a, 0x7f80) == canonical<uint16_t>(b, 0x7f80);
    case Dtype::float32: return canonical(a, kSingle) == canonical(b, kSingle);
    case Dtype::float64: return canonical(a, kDouble) == canonical(b, kDouble);
    case Dtype::complex64: return same_element(Dtype::float32, a, b) && same_element(Dtype::float32, a + 4, b + 4);
    case Dtype::complex128: return same_element(Dtype::float64, a, b) && same_element(Dtype::float64, a + 8, b + 8);
    default: return std::memcmp(a, b, static_cast<size_t>(itemsize(dtype))) == 0;
  }
}

std::string shown(Dtype dtype, const char* at) {
  std::string bits = Scalar::load(dtype, at).to_string() + " (0x";
  for (int64_t k = itemsize(dtype) - 1; k >= 0; --k) {
    constexpr const char* kDigits = "0123456789abcdef";
    bits += {kDigits[(at[k] >> 4) & 15], kDigits[at[k] & 15]};
  }
  return bits + ")";
}

/// Strides in elements.
Dims lay_out(const Dims& shape, Layout layout) {
  Dims strides(shape.size());
  int64_t step = layout == Layout::stepped ? 3 : layout == Layout::reversed ? -1 : 1;
  for (int k = shape.size() - 1; k >= 0; --k) {
    const int axis = layout == Layout::transposed ? shape.size() - 1 - k : k;
    strides[axis] = step;
    step *= std::max<int64_t>(shape[axis], 1);
    if (layout == Layout::padded && k == shape.size() - 1) step += 5;
  }
  return strides;
}

}  // namespace

GuardedPool::~GuardedPool() {
  for (char* slot : slots_) munmap(slot - page_bytes(), kSlotBytes + 2 * page_bytes());
}

char* GuardedPool::slot(size_t k) {
  while (slots_.size() <= k) {
    const size_t page = page_bytes();
    void* memory = mmap(nullptr, kSlotBytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    char* inside = static_cast<char*>(memory) + page;
    if (mprotect(inside, kSlotBytes, PROT_READ | PROT_WRITE) != 0) throw std::runtime_error("mprotect failed");
    slots_.push_back(inside);
  }
  return slots_[k];
}

CallArguments::CallArguments(const GeneratedKernel& kernel, const Dims& shape, uint64_t seed, GuardedPool& pool,
                             size_t first_slot)
    : shape_(shape), count_(iruka::count(shape)), all_raw_(kernel.all_raw), pool_(pool) {
  for (const GeneratedParameter& parameter : kernel.parameters)
    if (parameter.role == Role::width) width_ = parameter.value;
  for (size_t k = 0; k < kernel.parameters.size(); ++k)
    add(kernel.parameters[k], Random(seed, k).next(), first_slot + k);
}

Dims CallArguments::array_shape(const GeneratedParameter& parameter) const {
  switch (parameter.role) {
    case Role::samples:
    case Role::places: return {count_ * parameter.per_element + kExtraElements};
    case Role::table:
    case Role::counters: return {parameter.length};
    case Role::image: return {(count_ + width_ - 1) / width_, width_};
    case Role::permutation: return {count_};
    default: break;
  }
  Dims shape = shape_;
  if (parameter.layout == Layout::broadcast) shape[shape.size() - 1] = 1;
  if (parameter.layout == Layout::broadcast_rows) shape[0] = 1;
  return shape;
}

void CallArguments::add(const GeneratedParameter& parameter, uint64_t seed, size_t slot) {
  Random random(seed);
  Item item{};
  item.parameter = &parameter;
  if (parameter.role == Role::count || parameter.role == Role::width) {
    item.scalar = Scalar(parameter.value);
  } else if (parameter.role == Role::scalar) {
    alignas(16) char value[16];
    store_random(random, parameter.dtype, parameter.flavour, value);
    item.scalar = Scalar::load(parameter.dtype, value);
  } else if (parameter.same_as >= 0) {
    item = items_[static_cast<size_t>(parameter.same_as)];
    item.parameter = &parameter;
  } else {
    place(item, array_shape(parameter), pool_.slot(slot), random.next());
    const auto size = static_cast<size_t>(itemsize(parameter.dtype));
    for (int64_t k = 0; k < item.elements; ++k)
      store_random(random, parameter.dtype, parameter.flavour, item.memory + static_cast<size_t>(k) * size);
    char* first = static_cast<char*>(item.view.data());
    if (parameter.role == Role::counters) std::memset(first, 0, static_cast<size_t>(item.view.nbytes()));
    if (parameter.role == Role::permutation) {
      std::vector<int64_t> order(static_cast<size_t>(count_));
      std::iota(order.begin(), order.end(), 0);
      for (size_t k = order.size(); k > 1; --k)
        std::swap(order[k - 1], order[static_cast<size_t>(random.below(static_cast<int>(k)))]);
      for (size_t k = 0; k < order.size(); ++k) std::memcpy(first + k * size, &order[k], size);
    }
  }
  items_.push_back(std::move(item));
}

/// Places the array at the slot's start or end, next to a page that faults, or inside, with elements around it.
void CallArguments::place(Item& item, const Dims& shape, char* slot, uint64_t placement) {
  const Dtype dtype = item.parameter->dtype;
  const int64_t size = itemsize(dtype);
  Dims strides = lay_out(shape, item.parameter->layout);
  int64_t lowest = 0, highest = 0;
  for (int axis = 0; axis < shape.size(); ++axis) {
    const int64_t reach = strides[axis] * std::max<int64_t>(shape[axis] - 1, 0);
    lowest += std::min<int64_t>(reach, 0);
    highest += std::max<int64_t>(reach, 0);
    strides[axis] *= size;
  }
  const int64_t span = iruka::count(shape) > 0 ? highest - lowest + 1 : 0;
  const int64_t margin = 16 + static_cast<int64_t>(placement >> 8 & 15);
  const int kind = static_cast<int>(placement & 3);  // 0: at the start, 1: at the end, else inside
  item.elements = kind == 1 || kind == 0 ? span + margin : span + 2 * margin;
  if (static_cast<size_t>(item.elements * size) > GuardedPool::kSlotBytes)
    throw std::length_error("an array is larger than a slot");
  item.memory = kind == 1 ? slot + GuardedPool::kSlotBytes - item.elements * size : slot;
  item.first = (kind == 0 ? 0 : margin) - lowest;
  const auto buffer =
      std::make_shared<Buffer>(cpu(), item.memory, static_cast<size_t>(item.elements * size), true, nullptr);
  item.view = Array(buffer, dtype, shape, strides, item.first * size);
}

std::vector<Argument> CallArguments::arguments() const {
  std::vector<Argument> list;
  for (const Item& item : items_) list.push_back(item.view.valid() ? Argument(item.view) : Argument(item.scalar));
  return list;
}

std::optional<std::string> CallArguments::difference(const CallArguments& other) const {
  for (size_t p = 0; p < items_.size(); ++p) {
    const Item &a = items_[p], &b = other.items_[p];
    const Dtype dtype = a.parameter->dtype;
    for (int64_t k = 0; k < a.elements; ++k) {
      const char *in_a = a.memory + k * itemsize(dtype), *in_b = b.memory + k * itemsize(dtype);
      if (same_element(dtype, in_a, in_b)) continue;
      return a.parameter->name + " (" + iruka::name(dtype) + ", " + to_string(a.view.shape()) + "), element " +
             std::to_string(k - a.first) + " in memory: " + shown(dtype, in_a) + " and " + shown(dtype, in_b) +
             ", in a loop of " + to_string(shape_);
    }
  }
  return {};
}

bool CallArguments::wrote_different_values(const CallArguments& untouched) const {
  for (size_t p = 0; p < items_.size(); ++p) {
    const Item& item = items_[p];
    if (!item.view.valid()) continue;
    const Dtype dtype = item.parameter->dtype;
    const char* first_written = nullptr;
    for (int64_t k = 0; k < item.elements; ++k) {
      const char* at = item.memory + k * itemsize(dtype);
      if (same_element(dtype, at, untouched.items_[p].memory + k * itemsize(dtype))) continue;
      if (first_written && !same_element(dtype, at, first_written)) return true;
      if (!first_written) first_written = at;
    }
  }
  return false;
}

}  // namespace iruka::testing
