// Declared as cublasLt.h of CUDA 12 and 13 has it.
#include "backend/cuda/cublas_lt.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "backend/cuda/vendor_library.h"
#include "core/once.h"
#include "core/precision.h"

namespace iruka::cuda_backend {
namespace {

using Handle = void*;
using Opaque = void*;
constexpr int kStatusInvalid = 7, kStatusNotSupported = 15;  // cublasStatus_t

/// cublasLtMatmulDescAttributes_t, cublasLtMatmulPreferenceAttributes_t and cublasLtEpilogue_t
constexpr int kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8;
constexpr int kMostWorkspace = 1, kAlignmentA = 5;  // of b, c and d: the next three
constexpr uint32_t kEpilogueBias = 4, kEpilogueReluBias = 6;
/// Which allocations of the driver have, and beyond which no code is faster.
constexpr int kMostAlignment = 256;
constexpr uint64_t kWorkspaceBytes = 32 << 20;
constexpr int kMostProposals = 8;

/// cublasLtMatmulHeuristicResult_t
struct Proposal {
  uint64_t way[8];
  size_t workspace;
  int status;
  float waves;
  int reserved[4];
};

struct CublasLt {
  VendorLibrary library{"cublasLt", 12, 13, {.product = "cuBLAS", .has_parts = true}};
  int (*create)(Handle*);
  int (*create_operation)(Opaque*, int compute, int scale);
  int (*set_operation)(Opaque, int attribute, const void* value, size_t bytes);
  int (*create_layout)(Opaque*, int type, uint64_t rows, uint64_t columns, int64_t leading);
  int (*create_preference)(Opaque*);
  int (*set_preference)(Opaque, int attribute, const void* value, size_t bytes);
  int (*destroy_operation)(Opaque);
  int (*destroy_layout)(Opaque);
  int (*destroy_preference)(Opaque);
  int (*propose)(Handle, Opaque operation, Opaque a, Opaque b, Opaque c, Opaque d, Opaque preference, int most,
                 Proposal* proposals, int* count);
  int (*multiply)(Handle, Opaque operation, const void* alpha, const void* a, Opaque a_layout, const void* b,
                  Opaque b_layout, const void* beta, const void* c, Opaque c_layout, void* d, Opaque d_layout,
                  const uint64_t* way, void* workspace, size_t bytes, CUstream stream);

  CublasLt() {
    library.find(create, "cublasLtCreate");
    library.find(create_operation, "cublasLtMatmulDescCreate");
    library.find(set_operation, "cublasLtMatmulDescSetAttribute");
    library.find(create_layout, "cublasLtMatrixLayoutCreate");
    library.find(create_preference, "cublasLtMatmulPreferenceCreate");
    library.find(set_preference, "cublasLtMatmulPreferenceSetAttribute");
    library.find(destroy_operation, "cublasLtMatmulDescDestroy");
    library.find(destroy_layout, "cublasLtMatrixLayoutDestroy");
    library.find(destroy_preference, "cublasLtMatmulPreferenceDestroy");
    library.find(propose, "cublasLtMatmulAlgoGetHeuristic");
    library.find(multiply, "cublasLtMatmul");
  }
};

const CublasLt& cublas_lt() {
  return made_once_locked([] { return CublasLt(); });
}

/// cudaDataType_t
int data_type(Dtype dtype) { return dtype == Dtype::float16 ? 2 : dtype == Dtype::bfloat16 ? 14 : 0; }

}  // namespace

LayerProducts::Key LayerProducts::key_of(const MatrixProduct& p, const void* bias, bool has_relu) {
  uintptr_t addresses = kMostAlignment;
  for (const void* each : {p.a.data, p.b.data, static_cast<const void*>(p.c), bias})
    addresses |= reinterpret_cast<uintptr_t>(each);
  return {p.m,
          p.n,
          p.k,
          p.a.leading,
          p.b.leading,
          p.a.transpose,
          p.b.transpose,
          p.dtype,
          p.result_dtype,
          1 << std::countr_zero(addresses),
          p.dtype == Dtype::float32 && thread_precision() == Precision::tf32,
          has_relu};
}

LayerProducts::Plan LayerProducts::make_plan(CudaDevice& device, const Key& key, const MatrixProduct& p) const {
  const CublasLt& f = cublas_lt();
  constexpr int kSingle = 68, kFastTf32 = 77, kScale = 0;  // cublasComputeType_t, cudaDataType_t
  Plan plan;
  void* made = nullptr;
  check_status(f.create_operation(&made, key.is_tf32 ? kFastTf32 : kSingle, kScale), "cublasLtMatmulDescCreate",
               device);
  plan.operation = {made, f.destroy_operation};
  const int a = key.a == Transpose::no ? 0 : 1, b = key.b == Transpose::no ? 0 : 1;  // cublasOperation_t
  const uint32_t epilogue = key.has_relu ? kEpilogueReluBias : kEpilogueBias;
  const auto set = [&](int attribute, const void* value, size_t bytes) {
    check_status(f.set_operation(plan.operation.get(), attribute, value, bytes), "cublasLtMatmulDescSetAttribute",
                 device);
  };
  set(kTransposeA, &a, sizeof a);
  set(kTransposeB, &b, sizeof b);
  set(kEpilogue, &epilogue, sizeof epilogue);
  const auto create_layout = [&](Dtype dtype, bool turned, int64_t rows, int64_t columns, int64_t leading) {
    if (turned) std::swap(rows, columns);
    check_status(
        f.create_layout(&made, data_type(dtype), static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), leading),
        "cublasLtMatrixLayoutCreate", device);
    return Descriptor(made, f.destroy_layout);
  };
  plan.a = create_layout(key.dtype, a, key.m, key.k, key.a_leading);
  plan.b = create_layout(key.dtype, b, key.k, key.n, key.b_leading);
  plan.c = create_layout(key.result_dtype, false, key.m, key.n, key.m);
  check_status(f.create_preference(&made), "cublasLtMatmulPreferenceCreate", device);
  const Descriptor preference(made, f.destroy_preference);
  f.set_preference(preference.get(), kMostWorkspace, &kWorkspaceBytes, sizeof kWorkspaceBytes);
  const auto alignment = static_cast<uint32_t>(key.alignment);
  for (int operand = 0; operand < 4; ++operand)
    f.set_preference(preference.get(), kAlignmentA + operand, &alignment, sizeof alignment);
  Proposal proposals[kMostProposals] = {};
  int count = 0;
  const int status = f.propose(handle_, plan.operation.get(), plan.a.get(), plan.b.get(), plan.c.get(), plan.c.get(),
                               preference.get(), key.has_relu ? kMostProposals : 1, proposals, &count);
  // A product that the library does not take is remembered; a lack of memory passes.
  if (status != kStatusInvalid && status != kStatusNotSupported)
    check_status(status, "cublasLtMatmulAlgoGetHeuristic", device);
  for (const Proposal& proposal : std::span(proposals).first(status == 0 ? static_cast<size_t>(count) : 0)) {
    if (proposal.status != 0) continue;
    std::ranges::copy(proposal.way, plan.way);
    plan.workspace = proposal.workspace;
    plan.has_way = !key.has_relu || keeps_nan(device, plan, p);
    if (plan.has_way) break;
  }
  return plan;
}

void LayerProducts::launch(CudaDevice& device, const Plan& plan, const MatrixProduct& p, const void* bias) const {
  const CublasLt& f = cublas_lt();
  check_status(f.set_operation(plan.operation.get(), kBiasPointer, &bias, sizeof bias),
               "cublasLtMatmulDescSetAttribute", device);
  const Scratch workspace(device, plan.workspace);
  static constexpr float kOne = 1, kZero = 0;
  check_status(
      f.multiply(handle_, plan.operation.get(), &kOne, p.a.data, plan.a.get(), p.b.data, plan.b.get(), &kZero, p.c,
                 plan.c.get(), p.c, plan.c.get(), plan.way, workspace.data(), plan.workspace, device.thread_stream()),
      "cublasLtMatmul", device);
}

/// Some of the library's kernels take the larger of NaN and 0 to be 0, and no attribute tells which: results whose
/// biases are all NaN show it. Overwrites c.
bool LayerProducts::keeps_nan(CudaDevice& device, const Plan& plan, const MatrixProduct& p) const {
  const auto bytes = static_cast<size_t>(p.m * itemsize(p.result_dtype));
  const Scratch bias(device, bytes);
  device.fill(bias.data(), 0xFF, bytes);  // NaN in every format
  launch(device, plan, p, bias.data());
  uint32_t first = 0;
  device.copy(&first, p.c, static_cast<size_t>(itemsize(p.result_dtype)));
  device.synchronize_stream(device.current_stream());
  return first != 0;
}

bool LayerProducts::multiply(CudaDevice& device, const MatrixProduct& p, const void* bias, bool has_relu) {
  const bool is_single = p.dtype == Dtype::float32 || p.dtype == Dtype::float16 || p.dtype == Dtype::bfloat16;
  if (!is_single || p.batch != 1 || p.a.transpose == Transpose::conjugate || p.b.transpose == Transpose::conjugate)
    return false;
  const CublasLt& f = cublas_lt();
  if (!f.library.problem().empty()) return false;
  const ContextScope active = device.activate();
  const std::lock_guard lock(mutex_);
  if (!handle_) check_status(f.create(&handle_), "cublasLtCreate", device);
  const Key key = key_of(p, bias, has_relu);
  auto found = plans_.find(key);
  if (found == plans_.end()) {
    if (has_relu && device.is_capturing(device.current_stream())) return false;  // nothing can be tried
    if (constexpr size_t kMostPlans = 256; plans_.size() >= kMostPlans) plans_.clear();
    found = plans_.emplace(key, make_plan(device, key, p)).first;
  }
  if (found->second.has_way) launch(device, found->second, p, bias);
  return found->second.has_way;
}

}  // namespace iruka::cuda_backend
