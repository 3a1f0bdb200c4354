// The loops of convolutions and pooling for this processor.
#pragma once

#include "backend/cpu/window_job.h"

namespace iruka::cpu_backend {

/// Those of the widest vectors that the processor has and IRUKA_CPU_LEVEL allows.
const WindowLoops& window_loops();

template <class T>
const WindowLoopsOf<T>& loops_of(const WindowLoops& loops) {
  if constexpr (sizeof(T) == 4)
    return loops.singles;
  else
    return loops.doubles;
}

}  // namespace iruka::cpu_backend
