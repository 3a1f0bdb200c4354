// Products of matrices with what follows them in a network's layer, by cuBLASLt.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "backend/cuda/cuda_device.h"
#include "core/linear_algebra.h"

namespace iruka::cuda_backend {

/// The plans of one device, which live as long as the process.
class LayerProducts {
 public:
  /// What LinearAlgebra::multiply_layer() says, for float32, float16 and bfloat16.
  bool multiply(CudaDevice& device, const MatrixProduct& product, const void* bias, bool has_relu);

 private:
  struct Key {
    int64_t m, n, k, a_leading, b_leading;
    Transpose a, b;
    Dtype dtype, result_dtype;
    int alignment;  ///< of all addresses, in bytes
    bool is_tf32, has_relu;
    auto operator<=>(const Key&) const = default;
  };
  using Descriptor = std::unique_ptr<void, int (*)(void*)>;  ///< with the library's function that destroys it
  /// What the library computes such a product by; without a way where it has none.
  struct Plan {
    Descriptor operation{nullptr, nullptr}, a{nullptr, nullptr}, b{nullptr, nullptr}, c{nullptr, nullptr};
    uint64_t way[8] = {};  ///< cublasLtMatmulAlgo_t
    size_t workspace = 0;
    bool has_way = false;
  };

  static Key key_of(const MatrixProduct& product, const void* bias, bool has_relu);
  Plan make_plan(CudaDevice& device, const Key& key, const MatrixProduct& product) const;
  void launch(CudaDevice& device, const Plan& plan, const MatrixProduct& product, const void* bias) const;
  bool keeps_nan(CudaDevice& device, const Plan& plan, const MatrixProduct& product) const;

  std::mutex mutex_;
  void* handle_ = nullptr;
  std::map<Key, Plan> plans_;
};

}  // namespace iruka::cuda_backend
