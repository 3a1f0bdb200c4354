// Bytes that a launch over several pictures reads beside them: a structure for each picture, and tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/device.h"
#include "iruka/array.h"

namespace iruka::image {

/// The jobs, and behind them each table behind the one before it.
template <class Job>
class LaunchTables {
 public:
  /// Room for jobs at the beginning.
  explicit LaunchTables(size_t jobs) : bytes_(jobs * sizeof(Job)) {}

  /// Where the values are behind the beginning, as an address that on() makes one of the device.
  template <class T>
  const T* add(std::span<const T> values) {
    constexpr size_t kAlignment = 16;
    bytes_.resize((bytes_.size() + kAlignment - 1) / kAlignment * kAlignment);
    const size_t place = bytes_.size();
    bytes_.resize(place + std::max<size_t>(values.size(), 1) * sizeof(T));
    std::ranges::copy(values, reinterpret_cast<T*>(bytes_.data() + place));
    return reinterpret_cast<const T*>(place);
  }
  template <class T>
  const T* add(const std::vector<T>& values) {
    return add(std::span<const T>(values));
  }

  /// All bytes in the device's memory. `visit(job, move)` calls `move` for each address of a table.
  template <class Visit>
  Array on(Device& device, std::vector<Job>& jobs, Visit visit) {
    const Array made = Array::empty({std::ssize(bytes_)}, Dtype::uint8, device);
    const auto base = reinterpret_cast<uintptr_t>(made.data());
    for (Job& job : jobs) {
      visit(job, [&]<class T>(const T*& place) {
        place = reinterpret_cast<const T*>(base + reinterpret_cast<uintptr_t>(place));
      });
    }
    std::memcpy(bytes_.data(), jobs.data(), jobs.size() * sizeof(Job));
    device.copy(made.data(), bytes_.data(), bytes_.size());
    return made;
  }

 private:
  std::vector<char> bytes_;
};

}  // namespace iruka::image
