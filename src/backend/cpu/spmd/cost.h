// Whether W elements side by side take less time than one after the other.
#pragma once

#include <string>

#include "backend/cpu/spmd/body.h"

namespace iruka::cpu_backend::spmd {

/// Estimated times of W elements, in about a processor's cycles.
struct CostEstimate {
  double scalar = 0, vector = 0;
  std::string why_not;        ///< empty where lanes are faster
  bool is_uncertain = false;  ///< the gain is small or depends on data
  bool is_doubtful = false;   ///< lanes are estimated to be slower, but not by more than estimates err
};

CostEstimate estimate(const LaneLoop& loop, const LaneAnalysis& analysis, const PrivateMemory& memory,
                      const WidenTarget& target);

/// Whether the body is straight-line code that LLVM's own loop vectoriser handles well: its accesses are consecutive,
/// and every call has a vector form.
bool loop_vectoriser_suffices(const LaneLoop& loop, const LaneAnalysis& analysis, const PrivateMemory& memory,
                              const WidenTarget& target);

}  // namespace iruka::cpu_backend::spmd
