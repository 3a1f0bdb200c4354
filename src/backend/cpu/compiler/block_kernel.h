// Kernels over a grid of thread blocks (jit/kernels/cpu/blocks.h). The threads of a unit are lanes; units that wait at
// __syncthreads() are coroutines, which a loop over the block's units resumes in turn. Values that live across a
// barrier are kept in the coroutine's frame. Sources: Jaeaeskelaeinen et al., pocl: A Performance-Portable OpenCL
// Implementation (IJPP 2015); Han et al., COX: Exposing CUDA Warp-Level Functions to CPUs (TACO 2022).
#pragma once

#include <string>
#include <vector>

#include "backend/cpu/compiler/container.h"
#include "core/device.h"

namespace llvm {
class Module;
}

namespace iruka::cpu_backend {

/// The function that runs the threads of one unit.
inline constexpr const char* kUnitName = "iruka_unit";

/// How the threads of a block are divided into units.
struct UnitPlan {
  int threads = 1;            ///< of a block
  int row = 1;                ///< threads of a row of the block
  int lanes = 0;              ///< threads of a unit; 0: no unit waits, so that the loop over threads has any width
  bool has_barriers = false;  ///< units are coroutines
  bool has_exchange = false;  ///< shuffles, votes and __syncwarp(), which need lanes
  BlockProperties block = {};
};

/// Gives the kernel its memory: __shared__ variables become parts of the block's memory, threadIdx and its kind the
/// unit's variables. All calls are inlined. Adds an error to `diagnostics` for what cannot be done.
UnitPlan plan_units(llvm::Module& module, int vector_bytes, int wanted_lanes, std::vector<Diagnostic>& diagnostics);

/// Sets the number of threads in a unit.
void set_unit_lanes(llvm::Module& module, const UnitPlan& plan);

/// Makes the unit a coroutine that is suspended at its barriers. Returns whether it has any.
bool make_coroutine(llvm::Module& module);

/// The bytes that the optimised unit of so many threads keeps in memory for each of them.
uint32_t local_bytes(const llvm::Module& module, int lanes);

}  // namespace iruka::cpu_backend
