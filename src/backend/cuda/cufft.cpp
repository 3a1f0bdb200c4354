#include "backend/cuda/cufft.h"

#include <map>
#include <mutex>
#include <tuple>

#include "backend/cuda/vendor_library.h"

namespace iruka::cuda_backend {
namespace {

using Plan = int;

/// cufftType of single precision, by FourierKind and precision.
enum : int { kR2C = 0x2a, kC2R = 0x2c, kC2C = 0x29, kD2Z = 0x6a, kZ2D = 0x6c, kZ2Z = 0x69 };

// As cufft.h of CUDA 12 and 13 has them.
struct Cufft {
  VendorLibrary library{"cufft", 11, 12};
  int (*create)(Plan*);
  int (*destroy)(Plan);
  int (*set_stream)(Plan, CUstream);
  int (*plan_many)(Plan, int rank, long long* length, long long* in_embed, long long in_stride, long long in_distance,
                   long long* out_embed, long long out_stride, long long out_distance, int type, long long batch,
                   size_t* work_bytes);
  int (*c2c)(Plan, void* in, void* out, int direction);
  int (*z2z)(Plan, void* in, void* out, int direction);
  int (*r2c)(Plan, void* in, void* out);
  int (*d2z)(Plan, void* in, void* out);
  int (*c2r)(Plan, void* in, void* out);
  int (*z2d)(Plan, void* in, void* out);

  Cufft() {
    library.find(create, "cufftCreate");
    library.find(destroy, "cufftDestroy");
    library.find(set_stream, "cufftSetStream");
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
  static const Cufft& found = *new Cufft;
  found.library.check_found();
  return found;
}

class CudaFourier final : public FourierLibrary {
 public:
  explicit CudaFourier(CudaDevice& device) : device_(device) {}

  bool scales() const override { return false; }
  // Real columns of each outer index may begin where no vector of theirs is aligned.
  bool takes_columns(FourierKind kind, int64_t) const override { return kind == FourierKind::complex; }

  // Rows of a dense array are one batch. Columns are one for each outer index.
  void transform(const FourierTransform& job, double) override {
    const Cufft& f = cufft();
    std::lock_guard lock(mutex_);
    const ContextScope active = device_.activate();
    const Plan plan = find_plan(f, job);
    check_status(f.set_stream(plan, device_.current_stream()), "cufftSetStream", device_);
    const int64_t part = job.is_double ? 8 : 4, half = job.length / 2 + 1;
    const int64_t in_bytes = job.kind == FourierKind::real_to_complex   ? job.length * part
                             : job.kind == FourierKind::complex_to_real ? half * 2 * part
                                                                        : job.length * 2 * part;
    const int64_t out_bytes = job.kind == FourierKind::complex_to_real   ? job.length * part
                              : job.kind == FourierKind::real_to_complex ? half * 2 * part
                                                                         : job.length * 2 * part;
    const int64_t steps = job.inner == 1 ? 1 : job.outer;
    for (int64_t k = 0; k < steps; ++k)
      execute(f, plan, job, static_cast<char*>(const_cast<void*>(job.in)) + k * in_bytes * job.inner,
              static_cast<char*>(job.out) + k * out_bytes * job.inner);
  }

 private:
  using Key = std::tuple<FourierKind, bool, int64_t, int64_t, int64_t>;
  static constexpr size_t kMostPlans = 64;

  void execute(const Cufft& f, Plan plan, const FourierTransform& job, void* in, void* out) {
    const int direction = job.forward ? -1 : 1;
    int status = 0;
    switch (job.kind) {
      case FourierKind::complex:
        status = (job.is_double ? f.z2z : f.c2c)(plan, in, out, direction);
        break;
      case FourierKind::real_to_complex:
        status = (job.is_double ? f.d2z : f.r2c)(plan, in, out);
        break;
      case FourierKind::complex_to_real:
        status = (job.is_double ? f.z2d : f.c2r)(plan, in, out);
    }
    check_status(status, "cufftExec", device_);
  }

  Plan find_plan(const Cufft& f, const FourierTransform& job) {
    const bool rows = job.inner == 1;
    const int64_t batch = rows ? job.outer : job.inner;
    const Key key{job.kind, job.is_double, job.length, batch, job.inner};
    if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
    if (plans_.size() >= kMostPlans) drop_plans(f);
    constexpr int kTypes[3][2] = {{kC2C, kZ2Z}, {kR2C, kD2Z}, {kC2R, kZ2D}};
    const long long half = job.length / 2 + 1, stride = job.inner;
    long long length = job.length;
    long long in_length = job.kind == FourierKind::complex_to_real ? half : length;
    long long out_length = job.kind == FourierKind::real_to_complex ? half : length;
    Plan plan = 0;
    check_status(f.create(&plan), "cufftCreate", device_);
    size_t bytes = 0;
    const int status =
        f.plan_many(plan, 1, &length, &in_length, stride, rows ? in_length : 1, &out_length, stride,
                    rows ? out_length : 1, kTypes[static_cast<size_t>(job.kind)][job.is_double], batch, &bytes);
    if (status != 0) f.destroy(plan);
    check_status(status, "cufftMakePlanMany64", device_);
    return plans_[key] = plan;
  }

  void drop_plans(const Cufft& f) {
    device_.synchronize();  // plans own memory that work under way may use
    for (const auto& [key, plan] : plans_) f.destroy(plan);
    plans_.clear();
  }

  CudaDevice& device_;
  std::mutex mutex_;
  std::map<Key, Plan> plans_;
};

}  // namespace

FourierLibrary& cuda_fourier(CudaDevice& device) {
  static std::mutex& mutex = *new std::mutex;
  static auto* const made = new CudaFourier*[kMostDevices]();
  std::lock_guard lock(mutex);
  CudaFourier*& found = made[device.index()];
  if (!found) found = new CudaFourier(device);
  return *found;
}

}  // namespace iruka::cuda_backend
