#include "backend/cuda/assertions.h"

#include <algorithm>
#include <cstddef>
#include <mutex>

#include "core/launch_context.h"
#include "iruka/error.h"

namespace iruka::cuda_backend {
namespace {

constexpr size_t kMostStreams = 16;

CUdeviceptr address(void* host) { return reinterpret_cast<CUdeviceptr>(host); }

}  // namespace

bool Assertions::Launches::include(CUstream stream) const {
  return is_everywhere || !stream || stream == kLegacyStream || std::ranges::find(streams, stream) != streams.end();
}

bool Assertions::add(CUmodule module) {
  CUdeviceptr record = 0;
  size_t bytes = 0;
  if (driver().cuModuleGetGlobal(&record, &bytes, module, AssertionRecord::kName) != kSuccess ||
      bytes != sizeof(AssertionRecord))
    return false;
  std::lock_guard lock(mutex_);
  if (!flag_) {
    void* flag = nullptr;
    constexpr unsigned kPortableMapped = 1 | 2;
    check(driver().cuMemHostAlloc(&flag, sizeof(unsigned), kPortableMapped), "cuMemHostAlloc", "assertions");
    check(driver().cuStreamCreateWithPriority(&stream_, kStreamNonBlocking, 0), "cuStreamCreateWithPriority",
          "assertions");
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
  if (launches.is_everywhere || (stream && launches.include(stream))) return;
  launches.is_everywhere = !stream || stream == kLegacyStream || launches.streams.size() == kMostStreams;
  if (!launches.is_everywhere) launches.streams.push_back(stream);
}

bool Assertions::read(const Watched& watched, AssertionRecord& record) {
  return driver().cuMemcpyAsync(address(&record), watched.record, sizeof(record), stream_) == kSuccess &&
         driver().cuStreamSynchronize(stream_) == kSuccess && record.element != AssertionRecord::kNone;
}

void Assertions::collect(Watched& watched) {
  AssertionRecord record{};
  if (!read(watched, record)) return;
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
}

void Assertions::throw_failure(const CUstream* stream) {
  std::string text;
  {
    std::lock_guard lock(mutex_);
    __atomic_store_n(flag_, 0u, __ATOMIC_RELEASE);  // before the records are read: a later failure sets it again
    const auto is_meant = [&](const auto& what) { return !stream || what.launches.include(*stream); };
    bool has_others = false;
    for (Watched& watched : watched_) {
      AssertionRecord record{};
      if (is_meant(watched))
        collect(watched);
      else
        has_others |= read(watched, record);  // a kernel that runs may be writing it
    }
    if (const auto found = std::ranges::find_if(failures_, is_meant); found != failures_.end()) {
      text = std::move(found->text);
      failures_.erase(found);
    }
    if (has_others || !failures_.empty()) __atomic_store_n(flag_, 1u, __ATOMIC_RELEASE);
  }
  if (!text.empty()) throw DeviceError(text);
}

}  // namespace iruka::cuda_backend
