// A list for the arguments of one call, which allocates nothing where they are few.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace iruka::python {

/// Up to a number of objects that is known from the start, in place while they are few. They never move.
template <class T, size_t kInline>
class FixedList {
 public:
  explicit FixedList(size_t most) {
    if (most > kInline) heap_ = std::make_unique<Slot[]>(most);
  }
  ~FixedList() { std::destroy_n(begin(), size_); }
  FixedList(const FixedList&) = delete;
  FixedList& operator=(const FixedList&) = delete;

  template <class... From>
  T& add(From&&... from) {
    T* made;
    if constexpr (sizeof...(From) == 0)
      made = new (begin() + size_) T;  // T() would clear all of it first
    else
      made = new (begin() + size_) T(std::forward<From>(from)...);
    ++size_;
    return *made;
  }
  std::span<const T> span() const { return {const_cast<FixedList*>(this)->begin(), size_}; }

 private:
  struct Slot {
    alignas(T) std::byte bytes[sizeof(T)];
  };
  T* begin() { return reinterpret_cast<T*>(heap_ ? heap_.get() : inline_); }

  Slot inline_[kInline];
  std::unique_ptr<Slot[]> heap_;
  size_t size_ = 0;
};

}  // namespace iruka::python
