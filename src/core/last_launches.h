// The kernels that were launched last on a device, named in the message when one of them has failed asynchronously.
#pragma once

#include <atomic>
#include <string>

namespace iruka {

class LastLaunches {
 public:
  /// `kernel` must live as long as the process. A race between threads may lose a name.
  void note(const char* kernel) noexcept {
    const unsigned last = last_.load(std::memory_order_relaxed);
    if (kernels_[last % kRemembered].load(std::memory_order_relaxed) == kernel) return;
    kernels_[(last + 1) % kRemembered].store(kernel, std::memory_order_relaxed);
    last_.store(last + 1, std::memory_order_relaxed);
  }
  /// "'c', 'b', 'a'", the latest first; empty where nothing was launched.
  std::string list() const {
    const unsigned last = last_.load(std::memory_order_relaxed);
    std::string names;
    for (unsigned k = 0; k < kRemembered; ++k)
      if (const char* kernel = kernels_[(last - k) % kRemembered].load(std::memory_order_relaxed))
        names += (names.empty() ? "'" : ", '") + std::string(kernel) + "'";
    return names;
  }

 private:
  static constexpr unsigned kRemembered = 4;
  std::atomic<const char*> kernels_[kRemembered] = {};
  std::atomic<unsigned> last_{0};
};

}  // namespace iruka
