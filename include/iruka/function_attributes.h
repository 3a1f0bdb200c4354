// The properties of a compiled kernel over a grid of thread blocks.
#pragma once

namespace iruka {

/// The properties of a compiled function for a grid, in CUDA's terms.
struct FunctionAttributes {
  int max_threads_per_block = 0;
  int shared_size_bytes = 0;  ///< of static shared memory
  int const_size_bytes = 0;
  int local_size_bytes = 0;  ///< of each thread
  int num_regs = 0;          ///< of each thread
  int ptx_version = 0;       ///< 90 for 9.0, as the next
  int binary_version = 0;
  int cache_mode_ca = 0;
  int max_dynamic_shared_size_bytes = 0;
  int preferred_shared_memory_carveout = -1;  ///< percent of the memory that shared memory and cache divide; -1: any
};

}  // namespace iruka
