#include "backend/cuda/assertions.h"

#include <algorithm>
#include <cstddef>
#include <mutex>

#include "backend/cuda/cuda_device.h"
#include "core/launch_context.h"
#include "iruka/error.h"

namespace iruka::cuda_backend {
namespace {

constexpr size_t kMostStreams = 16;

CUdeviceptr address(void* host) { return reinterpret_cast<CUdeviceptr>(host); }

bool is_default(CUstream stream) { return !stream || stream == kLegacyStream; }

/// Whether the default stream waits for the stream with this name in the pools; true when in doubt.
bool is_blocking(CUstream name) {
  const std::optional<CUstream> stream = driver_stream(name);
  unsigned flags = 0;
  return !stream || driver().cuStreamGetFlags(*stream, &flags) != kSuccess || !(flags & kStreamNonBlocking);
}

}  // namespace

bool Assertions::Launches::include(CUstream stream) const {
  return is_everywhere || (is_default(stream) ? is_blocking : std::ranges::count(streams, stream) > 0);
}

bool Assertions::add(CUmodule module) {
  CUdeviceptr record = 0;
  size_t bytes = 0;
  if (driver().cuModuleGetGlobal(&record, &bytes, module, AssertionRecord::kName) != kSuccess ||
      bytes != sizeof(AssertionRecord))
    return false;
  std::lock_guard lock(mutex_);
  if (!stream_)
    check(driver().cuStreamCreateWithPriority(&stream_, kStreamNonBlocking, 0), "cuStreamCreateWithPriority",
          "assertions");
  if (!flag_) {
    void* flag = nullptr;
    constexpr unsigned kPortableMapped = 1 | 2;
    check(driver().cuMemHostAlloc(&flag, sizeof(unsigned), kPortableMapped), "cuMemHostAlloc", "assertions");
    flag_ = static_cast<unsigned*>(flag);
    __atomic_store_n(flag_, 0u, __ATOMIC_RELAXED);
  }
  uint64_t to = address(flag_);
  check(driver().cuMemcpyAsync(record + offsetof(AssertionRecord, flag), address(&to), sizeof(to), stream_),
        "cuMemcpyAsync", "assertions");
  check(driver().cuStreamSynchronize(stream_), "cuStreamSynchronize", "assertions");
  watched_.push_back({module, record, {}});
  return true;
}

void Assertions::note_launch(CUmodule module, const char* kernel, CUstream stream) {
  std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(watched_, module, &Watched::module);
  if (found == watched_.end()) return;
  Launches& launches = found->launches;
  launches.kernel = kernel;
  if (launches.is_everywhere || std::ranges::count(launches.streams, stream)) return;
  launches.is_everywhere = is_default(stream) || launches.streams.size() == kMostStreams;
  if (launches.is_everywhere) return;
  launches.streams.push_back(stream);
  launches.is_blocking = launches.is_blocking || is_blocking(stream);
}

bool Assertions::read(const Watched& watched, AssertionRecord& record) {
  if (driver().cuMemcpyAsync(address(&record), watched.record, sizeof(record), stream_) == kSuccess &&
      driver().cuStreamSynchronize(stream_) == kSuccess)
    return true;
  __atomic_store_n(flag_, 1u, __ATOMIC_RELEASE);
  return false;
}

void Assertions::find_failed() {
  if (!is_flag_set()) return;
  __atomic_store_n(flag_, 0u, __ATOMIC_RELEASE);  // before the records are read: a later failure sets it again
  for (Watched& watched : watched_) {
    AssertionRecord record{};
    if (!watched.has_failed) watched.has_failed = read(watched, record) && record.element != AssertionRecord::kNone;
  }
}

void Assertions::update_has_unraised() {
  has_unraised_.store(!failures_.empty() || std::ranges::count(watched_, true, &Watched::has_failed) > 0,
                      std::memory_order_release);
}

void Assertions::collect(Watched& watched) {
  AssertionRecord record{};
  if (!read(watched, record)) return;
  watched.has_failed = false;
  if (record.element == AssertionRecord::kNone) return;
  const int64_t element = record.element == AssertionRecord::kUnknown ? -1 : static_cast<int64_t>(record.element);
  const FailedAssertion failed{record.condition, record.file, record.line, element};
  failures_.push_back(
      {"kernel '" + std::string(watched.launches.kernel) + "': " + failed.to_string(), watched.launches});
  record.element = AssertionRecord::kNone;
  driver().cuMemcpyAsync(watched.record + offsetof(AssertionRecord, element), address(&record.element),
                         sizeof(record.element), stream_);
  driver().cuStreamSynchronize(stream_);
}

bool Assertions::is_watching(const std::vector<CUmodule>& modules) {
  std::lock_guard lock(mutex_);
  return std::ranges::any_of(
      watched_, [&](const Watched& watched) { return std::ranges::find(modules, watched.module) != modules.end(); });
}

void Assertions::remove(CUmodule module) {
  std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(watched_, module, &Watched::module);
  if (found == watched_.end()) return;
  if (has_failed()) collect(*found);
  watched_.erase(found);
  update_has_unraised();
}

void Assertions::forget_stream(CUstream stream) {
  std::lock_guard lock(mutex_);
  find_failed();
  for (Watched& watched : watched_) {
    Launches& launches = watched.launches;
    if (std::erase(launches.streams, stream) == 0 || !launches.streams.empty() || launches.is_everywhere) continue;
    launches.is_blocking = false;
    if (watched.has_failed) collect(watched);
  }
  for (Failure& failure : failures_) {
    std::erase(failure.launches.streams, stream);
    failure.launches.is_everywhere = failure.launches.is_everywhere || failure.launches.streams.empty();
  }
  update_has_unraised();
}

void Assertions::throw_failure(const CUstream* stream) {
  std::string text;
  {
    std::lock_guard lock(mutex_);
    find_failed();
    const auto matches = [&](const auto& what) { return !stream || what.launches.include(*stream); };
    for (Watched& watched : watched_)
      if (watched.has_failed && matches(watched)) collect(watched);
    if (const auto found = std::ranges::find_if(failures_, matches); found != failures_.end()) {
      text = std::move(found->text);
      failures_.erase(found);
    }
    update_has_unraised();
  }
  if (!text.empty()) throw DeviceError(text);
}

}  // namespace iruka::cuda_backend
