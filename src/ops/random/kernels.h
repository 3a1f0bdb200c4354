// Common code of random kernels: kernels kept by their purpose, the result's shape, and the two forms of a run.
#pragma once

#include <array>
#include <functional>
#include <tuple>

#include "iruka/random.h"
#include "ops/kernel_text.h"

namespace iruka::ops {

inline constexpr uint64_t kStreamMask = (uint64_t{1} << 48) - 1;

/// Random kernels are always widened, whatever their estimated cost: Philox takes 0.8 ns a word in 16 lanes
/// against 5 in the scalar path, and a rejection that the guess counts as usual is seldom. Rejections in double take 8:
/// twice as many gain little there and compile for long.
inline constexpr const char* kLanes = "--lanes=16";
inline constexpr const char* kFewerLanes = "--lanes=8";

/// The key of a kernel: its owner, and two numbers that the owner chooses (a dtype, a form).
using KernelKey = std::tuple<const void*, int, int>;

/// The kernel made for `key`: made once, kept for the life of the process.
const ElementwiseKernel& cached_kernel(const KernelKey& key, const std::function<ElementwiseKernel()>& make);

/// Includes HEADER.h of kernels/, and names what it declares.
inline std::string random_header(const std::string& header) { return header_text("random", header, "random"); }

inline Argument typed(uint64_t value) { return Scalar(value).typed(Dtype::uint64); }

/// Raises ShapeError unless `parameters` broadcast to `size`.
void check_broadcast(const std::string& function, const Dims& parameters, const Dims& size);

/// The shape of a draw: the size, else out's, else what the parameters broadcast to. Raises ShapeError where they do
/// not go together, TypeError for an out of another dtype.
Dims result_shape(const char* function, std::span<const Argument> parameters, const random::DrawOptions& options,
                  Dtype dtype);

/// How many elements a kernel fills at a time, and in which order.
struct Filling {
  int64_t elements = 1;
  bool packed = false;  ///< the kernel's body is in pack_loop(), for a grid of threads
};

/// Elements of 16 bytes, or `most` of fewer: what a thread of a GPU stores by one instruction. Neighbouring threads'
/// stores combine only then; separate stores of 8 bytes take five times as long.
int64_t pack_elements(Dtype dtype, int64_t most);
/// What each_pack() of kernels/cuda/packs.h needs, in the kernel's parameters.
inline constexpr const char* kPackParameters = ", int64 packs, int32 rounds";

/// Runs kernel(seed, stream, arguments..., [packs, rounds,] raw y).
Array run_filling(const ElementwiseKernel& kernel, random::State state, std::span<const Argument> arguments,
                  const Dims& shape, Dtype dtype, Filling filling, const std::optional<Array>& out);
/// Whether the device of a draw into `out` has a grid of threads, to which packs belong.
bool takes_packs(const std::optional<Array>& out);
/// Runs kernel(seed, stream, arguments..., y), an element at a time.
Array run_elements(const ElementwiseKernel& kernel, random::State state, std::span<const Argument> arguments,
                   const Dims& shape, Dtype dtype, const std::optional<Array>& out);

}  // namespace iruka::ops
