#include "backend/cpu/cpu_device.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "backend/cpu/compiler/compiler.h"
#include "core/thread_pool.h"

namespace iruka::cpu_backend {
namespace {

// Below this, one core copies as fast as several.
constexpr size_t kThreadedCopy = size_t{4} << 20;
constexpr int64_t kPage = 4096;

class CpuProgram final : public LoadedProgram {
 public:
  CpuProgram(std::string_view code, const std::string& entry) : object_(code, entry) {}
  EntryFunction entry() const { return object_.entry(); }
  int lanes() const { return object_.lanes(); }
  bool is_uncertain() const override { return object_.is_uncertain(); }

 private:
  LinkedObject object_;
};

/// The size a core's cache of `index` has by the kernel's account, 0 where there is none.
size_t listed_cache(int index) {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
  size_t kibibytes = 0;
  return file >> kibibytes ? kibibytes << 10 : 0;
}

// The C library counts the caches of every core of the host together on some virtual machines, so it is asked last.
size_t last_level_cache() {
  size_t largest = 0;
  for (int index = 0; index < 8; ++index) largest = std::max(largest, listed_cache(index));
  if (largest > 0) return largest;
  for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long bytes = sysconf(level); bytes > 0) return static_cast<size_t>(bytes);
  }
  return size_t{8} << 20;
}

/// Ranges that leave no lane empty: whole vectors, and several of them where there are many, because the ends of rows
/// cut vectors short as well.
int64_t range_align(const LaunchRange& range, int lanes) {
  if (lanes == 1 || !range.counts_elements) return range.align;
  const int64_t vectors =
      std::clamp<int64_t>(range.count / (int64_t{64} * lanes * ThreadPool::instance().thread_count()), 1, 4);
  return std::max(range.align, vectors * lanes);
}

/// Of two kernels that fail at once on two threads, each may raise the other's.
void throw_if_asserted() {
  const std::string failed = take_failed_assertion();
  if (!failed.empty()) throw DeviceError("the assertion " + failed + " failed");
}

/// All of the range, on this thread where waking others costs more.
void run_ranges(const CpuProgram& loaded, std::span<const std::byte> arguments, const LaunchRange& range) {
  const EntryFunction entry = loaded.entry();
  const void* block = arguments.data();
  // Waking a thread costs more than such a loop, or it is one range anyhow.
  if (range.count <= std::max(range.grain, range.align)) {
    if (range.count <= 0) return;
    entry(block, range.begin, range.begin + range.count);
    throw_if_stopped();
    return;
  }
  ThreadPool::instance().run(
      range.count, range_align(range, loaded.lanes()),
      [=, first = range.begin](int64_t begin, int64_t end) { entry(block, first + begin, first + end); },
      /*goes_on=*/range.begin > 0);
}

}  // namespace

CpuDevice::CpuDevice() { set_cancel_poll(should_stop); }

const TargetDescription& CpuDevice::target() const {
  static const auto& description =
      *new TargetDescription{"cpu", compiler_fingerprint(), host_vector_bytes(), last_level_cache()};
  return description;
}

void CpuDevice::copy(void* to, const void* from, size_t bytes, StreamHandle) {
  if (bytes < kThreadedCopy) {
    std::memcpy(to, from, bytes);
    return;
  }
  ThreadPool::instance().run(static_cast<int64_t>(bytes), kPage, [=](int64_t begin, int64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                static_cast<size_t>(end - begin));
  });
}

void CpuDevice::fill(void* to, int value, size_t bytes, StreamHandle) {
  if (bytes < kThreadedCopy) {
    std::memset(to, value, bytes);
    return;
  }
  ThreadPool::instance().run(static_cast<int64_t>(bytes), kPage, [=](int64_t begin, int64_t end) {
    std::memset(static_cast<char*>(to) + begin, value, static_cast<size_t>(end - begin));
  });
}

CompiledProgram CpuDevice::compile(const ProgramSource& source) { return cpu_backend::compile(source); }

CompiledProgram CpuDevice::check(const ProgramSource& source) { return cpu_backend::check(source); }

std::string CpuDevice::assembly(const ProgramSource& source) { return cpu_backend::assembly(source); }

std::shared_ptr<const LoadedProgram> CpuDevice::load(std::string_view code, const std::string& entry) {
  return std::make_shared<CpuProgram>(code, entry);
}

void CpuDevice::launch(const LoadedProgram& program, std::span<const std::byte> arguments, const LaunchRange& range,
                       StreamHandle) {
  try {
    run_ranges(static_cast<const CpuProgram&>(program), arguments, range);
  } catch (...) {
    take_failed_assertion();  // or the next kernel would raise it
    throw;
  }
  throw_if_asserted();
}

CpuDevice& cpu_device() {
  static CpuDevice& device = *new CpuDevice;
  return device;
}

}  // namespace iruka::cpu_backend
