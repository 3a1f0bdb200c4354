// Bytes that a launch over several pictures reads beside them: a structure for each picture, and tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/device.h"
#include "iruka/array.h"
#include "iruka/device.h"

namespace iruka::image {

/// The jobs, and behind them each table behind the one before it.
template <class Job>
class LaunchTables {
 public:
  /// Room for jobs at the beginning.
  explicit LaunchTables(size_t jobs) { grow(jobs * sizeof(Job)); }

  /// Where the values are behind the beginning, as an address that on() makes one of the device.
  template <class T>
  const T* add(std::span<const T> values) {
    constexpr size_t kAlignment = 16;
    const size_t place = (size_ + kAlignment - 1) / kAlignment * kAlignment;
    grow(place + std::max<size_t>(values.size(), 1) * sizeof(T));
    std::ranges::copy(values, reinterpret_cast<T*>(bytes() + place));
    return reinterpret_cast<const T*>(place);
  }
  template <class T>
  const T* add(const std::vector<T>& values) {
    return add(std::span<const T>(values));
  }

  /// All bytes in the device's memory. `visit(job, move)` calls `move` for each address of a table.
  template <class Visit>
  Array on(Device& device, std::vector<Job>& jobs, Visit visit) {
    const Array made = Array::empty({static_cast<int64_t>(size_)}, Dtype::uint8, device);
    const auto base = reinterpret_cast<uintptr_t>(made.data());
    for (Job& job : jobs) {
      visit(job, [&]<class T>(const T*& place) {
        place = reinterpret_cast<const T*>(base + reinterpret_cast<uintptr_t>(place));
      });
    }
    std::memcpy(bytes(), jobs.data(), jobs.size() * sizeof(Job));
    device.copy(made.data(), bytes(), size_);
    return made;
  }

 private:
  char* bytes() const { return static_cast<char*>(memory_.data()); }
  void grow(size_t size) {
    const auto capacity = memory_.valid() ? static_cast<size_t>(memory_.size()) : 0;
    if (size > capacity) {
      constexpr size_t kLeast = 64 << 10;
      const Array larger =
          Array::empty({static_cast<int64_t>(std::max({size, 4 * capacity, kLeast}))}, Dtype::uint8, cpu());
      if (size_ > 0) std::memcpy(larger.data(), bytes(), size_);
      memory_ = larger;
    }
    size_ = size;
  }

  Array memory_;  ///< of the CPU's pool, so that large tables need no new pages
  size_t size_ = 0;
};

}  // namespace iruka::image
