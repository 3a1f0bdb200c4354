// A short list of extents or strides. Ranks up to six cost no allocation.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "iruka/export.h"

namespace iruka {

/// Largest rank of an array.
inline constexpr int kMaxRank = 32;

/// Up to kMaxRank signed 64-bit numbers, in place while there are at most six.
class Dims {
 public:
  Dims() = default;
  explicit Dims(int size, int64_t value = 0) { assign(size, value); }
  Dims(std::initializer_list<int64_t> values) : Dims(values.begin(), static_cast<int>(values.size())) {}
  Dims(const int64_t* values, int size) {
    assign(size, 0);
    std::copy_n(values, size, data());
  }
  Dims(const Dims& other) : size_(other.size_), inline_(other.inline_) {
    if (size_ <= kInline) return;
    heap_ = std::make_unique<int64_t[]>(std::max(size_, kMaxRank + 1));
    std::copy_n(other.data(), size_, heap_.get());
  }
  /// Leaves `other` empty.
  Dims(Dims&& other) noexcept
      : size_(std::exchange(other.size_, 0)), inline_(other.inline_), heap_(std::move(other.heap_)) {}
  Dims& operator=(const Dims& other) {
    if (this != &other) {
      if (other.size_ > kInline) {
        *this = Dims(other);
      } else {
        size_ = other.size_;
        inline_ = other.inline_;
        heap_.reset();
      }
    }
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    if (this != &other) {
      size_ = std::exchange(other.size_, 0);
      inline_ = other.inline_;
      heap_ = std::move(other.heap_);
    }
    return *this;
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return heap_ ? heap_.get() : inline_.data(); }
  const int64_t* data() const { return heap_ ? heap_.get() : inline_.data(); }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  int64_t& operator[](int axis) { return data()[axis]; }
  int64_t operator[](int axis) const { return data()[axis]; }
  int64_t back() const { return data()[size_ - 1]; }

  void assign(int size, int64_t value) {
    size_ = size;
    heap_ = size > kInline ? std::make_unique<int64_t[]>(std::max(size, kMaxRank + 1)) : nullptr;
    std::fill_n(data(), size, value);
  }
  /// Appends. Raises ShapeError beyond kMaxRank + 1 entries.
  void push_back(int64_t value) {
    if (size_ > kMaxRank) raise_full();
    if (size_ == kInline && !heap_) {
      auto heap = std::make_unique<int64_t[]>(kMaxRank + 1);
      std::copy_n(inline_.data(), size_, heap.get());
      heap_ = std::move(heap);
    }
    data()[size_++] = value;
  }

  friend bool operator==(const Dims& a, const Dims& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  [[noreturn]] IRUKA_API static void raise_full();

  static constexpr int kInline = 6;
  int size_ = 0;
  std::array<int64_t, kInline> inline_{};  ///< copied as a whole, which needs no call
  std::unique_ptr<int64_t[]> heap_;
};

/// "(2, 3)", "(4,)" or "()": as Python prints a tuple.
IRUKA_API std::string to_string(const Dims& dims);

}  // namespace iruka
