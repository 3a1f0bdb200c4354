#include "backend/cuda/cufft.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "backend/cuda/vendor_library.h"
#include "core/once.h"

namespace iruka::cuda_backend {
namespace {

/// cufftHandle
using Handle = int;

/// cufftType of single precision, by FourierKind and precision.
enum : int { kR2C = 0x2a, kC2R = 0x2c, kC2C = 0x29, kD2Z = 0x6a, kZ2D = 0x6c, kZ2Z = 0x69 };

// As cufft.h of CUDA 12 and 13 has them.
struct Cufft {
  VendorLibrary library{"cufft", 11, 12};
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*set_stream)(Handle, CUstream);
  int (*set_auto_allocation)(Handle, int);
  int (*set_work_area)(Handle, void*);
  int (*plan_many)(Handle, int rank, long long* length, long long* in_embed, long long in_stride, long long in_distance,
                   long long* out_embed, long long out_stride, long long out_distance, int type, long long batch,
                   size_t* work_bytes);
  int (*c2c)(Handle, void* in, void* out, int direction);
  int (*z2z)(Handle, void* in, void* out, int direction);
  int (*r2c)(Handle, void* in, void* out);
  int (*d2z)(Handle, void* in, void* out);
  int (*c2r)(Handle, void* in, void* out);
  int (*z2d)(Handle, void* in, void* out);

  Cufft() {
    library.find(create, "cufftCreate");
    library.find(destroy, "cufftDestroy");
    library.find(set_stream, "cufftSetStream");
    library.find(set_auto_allocation, "cufftSetAutoAllocation");
    library.find(set_work_area, "cufftSetWorkArea");
    library.find(plan_many, "cufftMakePlanMany64");
    library.find(c2c, "cufftExecC2C");
    library.find(z2z, "cufftExecZ2Z");
    library.find(r2c, "cufftExecR2C");
    library.find(d2z, "cufftExecD2Z");
    library.find(c2r, "cufftExecC2R");
    library.find(z2d, "cufftExecZ2D");
  }
};

const Cufft& cufft() {
  const Cufft& found = made_once_locked([] { return Cufft(); });
  found.library.check_found();
  return found;
}

/// A plan without a work area; each transform passes one. The plan owns tables in the GPU's memory, so it must live
/// until its transforms are done.
struct Plan {
  /// The last transform of a stream.
  struct Use {
    StreamHandle stream;
    CUevent event;  ///< recorded after the transform
  };

  const Cufft& library;
  CudaDevice& device;
  Handle handle = 0;
  size_t work_bytes = 0;
  std::vector<Use> uses;

  Plan(const Cufft& f, CudaDevice& gpu) : library(f), device(gpu) {}
  ~Plan() {
    if (handle) library.destroy(handle);
    for (const Use& use : uses) device.give_back(use.event);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Called after a transform was put into the stream.
  void note_use(CUstream stream) {
    const StreamHandle name = device.pool_stream(stream);
    auto use = std::ranges::find(uses, name, &Use::stream);
    if (use == uses.end()) {
      drop_finished_uses();
      use = uses.insert(uses.end(), {name, device.take_event()});
    }
    check(driver().cuEventRecord(use->event, stream), "cuEventRecord", device.name());
  }
  /// Releases the events of transforms that are done. Returns whether all are done.
  bool drop_finished_uses() {
    const AllowedWhileCapturing allowed;
    std::erase_if(uses, [&](const Use& use) {
      const bool is_over = driver().cuEventQuery(use.event) == kSuccess;
      if (is_over) device.give_back(use.event);
      return is_over;
    });
    return uses.empty();
  }
};

class CudaFourier final : public FourierLibrary {
 public:
  explicit CudaFourier(CudaDevice& device) : device_(device) {}

  bool scales() const override { return false; }
  // Not for real kinds, whose columns may begin unaligned for vector loads, nor for several outer indices, each of
  // which would be a call. Long columns beyond the caches take 5 times as long as rows; a transposition costs less.
  bool prefers_columns(const FourierTransform& job) const override {
    constexpr int64_t kShort = 32, kCachedBytes = 32 << 20;
    const int64_t bytes = job.length * job.inner * (job.is_double ? 16 : 8);
    return job.kind == FourierKind::complex && job.outer == 1 && (job.length <= kShort || bytes <= kCachedBytes);
  }
  int most_axes() const override { return 3; }
  bool overwrites_input() const override { return true; }
  size_t alignment() const override { return 16; }  // cuFFT loads whole vectors

  // Rows of a dense array, or blocks of them, are one batch; so are the columns of a matrix. Transforms of one plan may
  // be under way in several streams, so each works in memory of its own stream.
  void transform(const FourierTransform& job, double) override {
    const Cufft& f = cufft();
    const ContextScope active = device_.activate();
    const std::shared_ptr<Plan> plan = find_plan(f, job);
    const Scratch work(device_, plan->work_bytes);
    std::lock_guard lock(mutex_);  // only one thread may use a plan at a time
    check_status(f.set_stream(plan->handle, device_.thread_stream()), "cufftSetStream", device_);
    check_status(f.set_work_area(plan->handle, work.data()), "cufftSetWorkArea", device_);
    execute(f, plan->handle, job);
    note_use(plan);
  }

 private:
  using Key = std::tuple<FourierKind, bool, std::vector<long long>, int64_t, int64_t>;  ///< kind to outer and inner
  static constexpr size_t kMostPlans = 64;
  struct Cached {
    std::shared_ptr<Plan> plan;
    uint64_t last_use;
  };

  void execute(const Cufft& f, Handle plan, const FourierTransform& job) {
    void* const in = const_cast<void*>(job.in);
    void* const out = job.out;
    const int direction = job.forward ? -1 : 1;
    int status = 0;
    switch (job.kind) {
      case FourierKind::complex: status = (job.is_double ? f.z2z : f.c2c)(plan, in, out, direction); break;
      case FourierKind::real_to_complex: status = (job.is_double ? f.d2z : f.r2c)(plan, in, out); break;
      case FourierKind::complex_to_real: status = (job.is_double ? f.z2d : f.c2r)(plan, in, out);
    }
    check_status(status, "cufftExec", device_);
  }

  /// A graph that contains the transform keeps the plan. For a graph of another library, the plan stays until the
  /// process ends.
  void note_use(const std::shared_ptr<Plan>& plan) {
    const CUstream stream = device_.thread_stream();
    const bool is_legacy = stream == nullptr || stream == kLegacyStream;  // this stream cannot be captured
    if (is_legacy || !may_capture(stream))
      plan->note_use(stream);
    else if (!device_.keep_for_graph(stream, plan))
      kept_.push_back(plan);
  }

  std::shared_ptr<Plan> find_plan(const Cufft& f, const FourierTransform& job) {
    std::vector<long long> lengths(job.earlier.begin(), job.earlier.end());
    lengths.push_back(job.length);
    const Key key{job.kind, job.is_double, lengths, job.outer, job.inner};
    {
      std::lock_guard lock(mutex_);
      if (const auto found = plans_.find(key); found != plans_.end()) {
        found->second.last_use = ++last_use_;
        return found->second.plan;
      }
    }
    std::shared_ptr<Plan> made = make_plan(f, job, lengths);
    std::lock_guard lock(mutex_);
    if (plans_.size() >= kMostPlans && !plans_.contains(key))
      drop(std::ranges::min_element(plans_, {}, [](const auto& item) { return item.second.last_use; }));
    destroy_dropped();
    return plans_.try_emplace(key, std::move(made), ++last_use_).first->second.plan;
  }

  std::shared_ptr<Plan> make_plan(const Cufft& f, const FourierTransform& job, std::vector<long long>& lengths) {
    constexpr int kTypes[3][2] = {{kC2C, kZ2Z}, {kR2C, kD2Z}, {kC2R, kZ2D}};
    const int type = kTypes[static_cast<size_t>(job.kind)][job.is_double], rank = static_cast<int>(lengths.size());
    // Null describes dense rows, which some of cuFFT's kernels require.
    long long* const in_memory = job.inner == 1 ? nullptr : lengths.data();
    const long long stride = job.inner, batch = job.inner == 1 ? job.outer : job.inner;
    std::shared_ptr<Plan> plan;
    const auto make = [&] {
      plan = std::make_shared<Plan>(f, device_);
      check_status(f.create(&plan->handle), "cufftCreate", device_);
      check_status(f.set_auto_allocation(plan->handle, 0), "cufftSetAutoAllocation", device_);
      return f.plan_many(plan->handle, rank, lengths.data(), in_memory, stride, 1, in_memory, stride, 1, type, batch,
                         &plan->work_bytes);
    };
    constexpr int kNoMemory = 2;  // CUFFT_ALLOC_FAILED
    int status = make();
    if (status == kNoMemory) {  // plans allocate memory outside of the pool
      {
        std::lock_guard lock(mutex_);
        while (!plans_.empty()) drop(plans_.begin());
      }
      device_.pool().free_all_blocks();  // waits for the device, except during a capture
      {
        std::lock_guard lock(mutex_);
        destroy_dropped();
      }
      status = make();
    }
    check_status(status, "cufftMakePlanMany64", device_);
    return plan;
  }

  void drop(std::map<Key, Cached>::iterator cached) {
    dropped_.push_back(std::move(cached->second.plan));
    plans_.erase(cached);
  }

  /// Destroys dropped plans that no thread, graph or running transform needs.
  void destroy_dropped() {
    const AllowedWhileCapturing allowed;
    std::erase_if(dropped_, [](const std::shared_ptr<Plan>& plan) {
      return plan.use_count() == 1 && plan->drop_finished_uses();
    });
  }

  CudaDevice& device_;
  std::mutex mutex_;
  std::map<Key, Cached> plans_;
  uint64_t last_use_ = 0;
  std::vector<std::shared_ptr<Plan>> dropped_;  ///< removed from plans_, but not destroyed yet
  std::vector<std::shared_ptr<Plan>> kept_;
};

}  // namespace

FourierLibrary& cuda_fourier(CudaDevice& device) {
  static constinit Once<CudaFourier> made[kMostDevices];
  return made[device.index()].get([&] { return CudaFourier(device); });
}

}  // namespace iruka::cuda_backend
