// The hardware engine decodes batches; where a GPU has none, nvJPEG's kernels decode picture by picture behind host
// threads that undo the Huffman coding. Declared as nvjpeg.h of CUDA 12 and 13 has them.
#include "backend/cuda/nvjpeg.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "backend/cuda/vendor_library.h"
#include "core/once.h"
#include "core/thread_pool.h"
#include "iruka/error.h"
#include "iruka/stream.h"

namespace iruka::cuda_backend {
namespace {

// Opaque to the caller.
using Handle = void*;
using State = void*;
using Bitstream = void*;

/// nvjpegBackend_t
enum class Backend : int { automatic = 0, hardware = 3 };
/// nvjpegOutputFormat_t: of one plane, or of interleaved pixels.
enum class Format : int { luma = 2, rgb = 5, bgr = 6 };
/// The flags of a handle: missing data are an error, and chroma is interpolated as libjpeg does it.
enum : unsigned { kStrict = 1 << 2, kInterpolates = 1 << 5 };

/// nvjpegImage_t
struct Destination {
  unsigned char* planes[4] = {};
  size_t row_bytes[4] = {};
};

struct Nvjpeg {
  VendorLibrary library{"nvjpeg", 12, 13};
  int (*create)(Backend, void* device_allocator, void* host_allocator, unsigned flags, Handle*);
  int (*create_state)(Handle, State*);
  int (*destroy_state)(State);
  int (*create_bitstream)(Handle, Bitstream*);
  int (*destroy_bitstream)(Bitstream);
  int (*parse_header)(Handle, const unsigned char* bytes, size_t length, Bitstream);
  int (*is_refused)(Handle, Bitstream, int* is_refused);  ///< by the batch decoder
  int (*decode)(Handle, State, const unsigned char* bytes, size_t length, Format, Destination*, CUstream);
  int (*start_batch)(Handle, State, int pictures, int threads, Format);
  int (*decode_batch)(Handle, State, const unsigned char* const* bytes, const size_t* lengths, Destination*, CUstream);

  Nvjpeg() {
    library.find(create, "nvjpegCreateEx");
    library.find(create_state, "nvjpegJpegStateCreate");
    library.find(destroy_state, "nvjpegJpegStateDestroy");
    library.find(create_bitstream, "nvjpegJpegStreamCreate");
    library.find(destroy_bitstream, "nvjpegJpegStreamDestroy");
    library.find(parse_header, "nvjpegJpegStreamParseHeader");
    library.find(is_refused, "nvjpegDecodeBatchedSupported");
    library.find(decode, "nvjpegDecode");
    library.find(start_batch, "nvjpegDecodeBatchedInitialize");
    library.find(decode_batch, "nvjpegDecodeBatched");
  }
};

const Nvjpeg& nvjpeg() {
  return made_once_locked([] { return Nvjpeg(); });
}

Format format_of(JpegDecoding::Color color) {
  switch (color) {
    case JpegDecoding::Color::gray: return Format::luma;
    case JpegDecoding::Color::bgr: return Format::bgr;
    default: return Format::rgb;
  }
}

Destination destination_of(const JpegDecoding& picture) {
  Destination made;
  made.planes[0] = static_cast<unsigned char*>(picture.result);
  made.row_bytes[0] = static_cast<size_t>(picture.width * (picture.color == JpegDecoding::Color::gray ? 1 : 3));
  return made;
}

using Owned = std::unique_ptr<void, int (*)(void*)>;  ///< with the library's function that destroys it

/// A decoder's state with a stream of its own. The state is free for other pictures once `done` has passed.
struct Lane {
  Owned state;
  Stream stream;
  Event done;
  StreamHandle caller;  ///< the stream whose work its last pictures began behind
};

/// The lanes of a device that no thread uses. A thread takes one, and gives it back while its pictures are decoded.
class Lanes {
 public:
  explicit Lanes(CudaDevice& device) : device_(device) {}

  /// A lane that is done, or a new one. Where `most` have work behind the caller's stream, which bounds how far its
  /// calls run ahead, the oldest of them. The work of other streams, which may wait for this one, is not waited for.
  /// None where the library makes no state.
  std::optional<Lane> take(Handle handle, StreamHandle caller, size_t most) {
    {
      const std::lock_guard lock(mutex_);
      const auto is_callers = [&](const Lane& lane) { return lane.caller == caller; };
      auto found = std::ranges::find_if(free_, [](const Lane& lane) { return lane.done.is_done(); });
      if (found == free_.end() && static_cast<size_t>(std::ranges::count_if(free_, is_callers)) >= most)
        found = std::ranges::find_if(free_, is_callers);
      if (found != free_.end()) {
        Lane taken = std::move(*found);
        free_.erase(found);
        taken.caller = caller;
        return taken;
      }
    }
    State state = nullptr;
    if (nvjpeg().create_state(handle, &state) != 0) return {};
    return Lane{Owned(state, nvjpeg().destroy_state), Stream(device_, {.non_blocking = true}),
                Event(device_, {.timing = false}), caller};
  }
  void give_back(Lane&& used) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(used));
  }

 private:
  CudaDevice& device_;
  ForkSafeMutex mutex_;
  std::deque<Lane> free_;
};

/// The work of one call. Lanes begin behind the work that the calling thread's current stream has, and that stream goes
/// on behind theirs, whatever happens between.
class OrderedWork {
 public:
  explicit OrderedWork(CudaDevice& device)
      : device_(device), caller_(device.current_stream()), begin_(device, {.timing = false}) {
    begin_.record();
  }
  ~OrderedWork() {
    try {
      for (const EventHandle done : ends_) device_.wait_for_event(caller_, done);
    } catch (const DeviceError&) {  // the device has failed, and the next call says so
    }
  }
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;

  StreamHandle caller() const { return caller_; }
  /// Waits for the lane's earlier pictures.
  void begin(const Lane& lane) const {
    lane.done.synchronize();
    lane.stream.wait_for(begin_);
  }
  void end(const Lane& lane) {
    lane.done.record(lane.stream);
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(ends_, lane.done.handle()) == ends_.end()) ends_.push_back(lane.done.handle());
  }

 private:
  CudaDevice& device_;
  const StreamHandle caller_;
  const Event begin_;
  std::mutex mutex_;
  std::vector<EventHandle> ends_;
};

/// A lane in use, where there is one.
class LaneScope {
 public:
  LaneScope(Lanes& lanes, std::optional<Lane> lane, OrderedWork& work)
      : lanes_(lanes), lane_(std::move(lane)), work_(work) {
    if (lane_) work_.begin(*lane_);
  }
  ~LaneScope() {
    if (!lane_) return;
    try {
      work_.end(*lane_);
    } catch (const DeviceError&) {  // as above
    }
    lanes_.give_back(std::move(*lane_));
  }
  LaneScope(const LaneScope&) = delete;
  LaneScope& operator=(const LaneScope&) = delete;

  explicit operator bool() const { return lane_.has_value(); }
  State state() const { return lane_->state.get(); }
  CUstream stream() const { return static_cast<CUstream>(lane_->stream.handle()); }

 private:
  Lanes& lanes_;
  std::optional<Lane> lane_;
  OrderedWork& work_;
};

class CudaJpegDecoders final : public JpegDecoders {
 public:
  explicit CudaJpegDecoders(CudaDevice& device) : device_(device) {}

  std::string name() override {
    problem();
    return has_engine_ ? "nvJPEG (hardware engine)" : "nvJPEG (kernels)";
  }

  const std::string& problem() override {
    if (const std::string* const known = problem_.find()) return *known;
    const std::lock_guard lock(opening_);
    return problem_.get([&] { return open(); });
  }

  void decode(std::span<JpegDecoding> pictures) override {
    if (pictures.empty() || !problem().empty()) return;
    const ContextScope active = device_.activate();
    refuse_capture(device_.thread_stream(), "decode: pictures are not decoded by graphs; ");
    const AllowedWhileCapturing allowed;
    OrderedWork work(device_);
    if (has_engine_)
      decode_by_engine(work, pictures);
    else
      decode_by_kernels(work, pictures);
  }

 private:
  /// Pixels of a batch, which bound the memory that the engine needs.
  static constexpr int64_t kMostPixels = int64_t{1} << 28;
  static constexpr size_t kEngineLanes = 3;
  /// Headers that take about as long as waking a thread.
  static constexpr int64_t kHeadersOfThread = 16;

  std::string open() {
    const Nvjpeg& library = nvjpeg();
    if (!library.library.problem().empty()) return library.library.problem();
    const ContextScope active = device_.activate();
    const AllowedWhileCapturing allowed;
    struct Way {
      Backend backend;
      unsigned flags;
    };
    // A version that does not know a flag makes no handle.
    constexpr Way kWays[] = {{Backend::hardware, kInterpolates},
                             {Backend::hardware, 0},
                             {Backend::automatic, kInterpolates | kStrict},
                             {Backend::automatic, kStrict},
                             {Backend::automatic, 0}};
    int status = 0;
    for (const Way& way : kWays) {
      status = library.create(way.backend, nullptr, nullptr, way.flags, &handle_);
      has_engine_ = way.backend == Backend::hardware;
      if (status == 0) return "";
    }
    return "nvjpegCreateEx failed with status " + std::to_string(status) +
           ": this nvJPEG may be for a newer version of CUDA than the driver's";
  }

  LaneScope lane_for(OrderedWork& work) {
    const size_t most = has_engine_ ? kEngineLanes : 2 * static_cast<size_t>(ThreadPool::instance().thread_count());
    return {lanes_, lanes_.take(handle_, work.caller(), most), work};
  }

  /// Of one thread at a time; null where the library makes none.
  Owned take_bitstream() {
    {
      const std::lock_guard lock(bitstreams_mutex_);
      if (!bitstreams_.empty()) {
        Owned taken = std::move(bitstreams_.back());
        bitstreams_.pop_back();
        return taken;
      }
    }
    Bitstream made = nullptr;
    const bool is_made = nvjpeg().create_bitstream(handle_, &made) == 0;
    return {is_made ? made : nullptr, nvjpeg().destroy_bitstream};
  }
  void give_back(Owned&& bitstream) {
    const std::lock_guard lock(bitstreams_mutex_);
    if (bitstream) bitstreams_.push_back(std::move(bitstream));
  }

  /// Whether the engine takes the picture.
  bool takes(Bitstream bitstream, const JpegDecoding& picture) const {
    const Nvjpeg& library = nvjpeg();
    int is_refused = 1;
    return bitstream && picture.has_one_scan &&
           library.parse_header(handle_, picture.bytes.data(), picture.bytes.size(), bitstream) == 0 &&
           library.is_refused(handle_, bitstream, &is_refused) == 0 && is_refused == 0;
  }

  /// Pictures that the engine takes, by their colours.
  std::vector<JpegDecoding*> taken_by_engine(std::span<JpegDecoding> pictures) {
    std::vector<char> is_taken(pictures.size());
    ThreadPool::instance().run(std::ssize(pictures), kHeadersOfThread, [&](int64_t begin, int64_t end) {
      const ContextScope active = device_.activate();
      Owned bitstream = take_bitstream();
      for (auto k = static_cast<size_t>(begin); k < static_cast<size_t>(end); ++k)
        is_taken[k] = takes(bitstream.get(), pictures[k]);
      give_back(std::move(bitstream));
    });
    std::vector<JpegDecoding*> taken;
    for (size_t k = 0; k < pictures.size(); ++k) {
      if (is_taken[k]) taken.push_back(&pictures[k]);
    }
    std::ranges::stable_sort(taken, {}, &JpegDecoding::color);
    return taken;
  }

  /// The engine decodes some pictures while the threads read the headers of the next ones.
  void decode_by_engine(OrderedWork& work, std::span<JpegDecoding> pictures) {
    for (size_t begin = 0; begin < pictures.size(); begin += kMostTogether)
      decode_batches(work, taken_by_engine(pictures.subspan(begin, std::min(kMostTogether, pictures.size() - begin))));
  }

  /// Batches of one colour each.
  void decode_batches(OrderedWork& work, const std::vector<JpegDecoding*>& taken) {
    for (size_t begin = 0, end = 0; begin < taken.size(); begin = end) {
      int64_t pixels = 0;
      for (; end < taken.size() && taken[end]->color == taken[begin]->color; ++end) {
        pixels += taken[end]->height * taken[end]->width;
        if (pixels > kMostPixels && end > begin) break;
      }
      decode_batch(work, std::span(taken).subspan(begin, end - begin));
    }
  }

  /// The status of a batch does not tell which picture is at fault, so that its halves are tried.
  void decode_batch(OrderedWork& work, std::span<JpegDecoding* const> batch) {
    if (try_batch(work, batch)) {
      for (JpegDecoding* const picture : batch) picture->is_done = true;
    } else if (batch.size() > 1) {
      decode_batch(work, batch.first(batch.size() / 2));
      decode_batch(work, batch.subspan(batch.size() / 2));
    }
  }

  bool try_batch(OrderedWork& work, std::span<JpegDecoding* const> batch) {
    std::vector<const unsigned char*> bytes;
    std::vector<size_t> lengths;
    std::vector<Destination> destinations;
    for (const JpegDecoding* const picture : batch) {
      bytes.push_back(picture->bytes.data());
      lengths.push_back(picture->bytes.size());
      destinations.push_back(destination_of(*picture));
    }
    const Nvjpeg& library = nvjpeg();
    const LaneScope lane = lane_for(work);
    return lane &&
           library.start_batch(handle_, lane.state(), static_cast<int>(batch.size()), 1,
                               format_of(batch.front()->color)) == 0 &&
           library.decode_batch(handle_, lane.state(), bytes.data(), lengths.data(), destinations.data(),
                                lane.stream()) == 0;
  }

  void decode_by_kernels(OrderedWork& work, std::span<JpegDecoding> pictures) {
    ThreadPool::instance().run(std::ssize(pictures), 1, [&](int64_t begin, int64_t end) {
      const ContextScope active = device_.activate();
      const AllowedWhileCapturing allowed;
      for (auto k = static_cast<size_t>(begin); k < static_cast<size_t>(end); ++k) {
        JpegDecoding& picture = pictures[k];
        Destination destination = destination_of(picture);
        const LaneScope lane = lane_for(work);
        picture.is_done = lane && nvjpeg().decode(handle_, lane.state(), picture.bytes.data(), picture.bytes.size(),
                                                  format_of(picture.color), &destination, lane.stream()) == 0;
      }
    });
  }

  CudaDevice& device_;
  ForkSafeMutex opening_;
  Once<std::string> problem_;
  Handle handle_ = nullptr;
  bool has_engine_ = false;
  Lanes lanes_{device_};
  ForkSafeMutex bitstreams_mutex_;
  std::vector<Owned> bitstreams_;
};

}  // namespace

JpegDecoders& cuda_jpeg_decoders(CudaDevice& device) {
  static constinit Once<CudaJpegDecoders> made[kMostDevices];
  return made[device.index()].get([&] { return CudaJpegDecoders(device); });
}

}  // namespace iruka::cuda_backend
