// The whole-function vectoriser, which runs every element in a lane. It widens the loops that the emitter marks, in the
// manner of ISPC (Pharr and Mark, InPar 2012), the Region Vectorizer (Moll and Hack, PLDI 2018) and Parsimony (Kandiah
// et al., CGO 2023).
#pragma once

#include "core/device.h"

namespace llvm {
class Module;
class TargetMachine;
class TargetLibraryInfoImpl;
}  // namespace llvm

namespace iruka::cpu_backend::spmd {

struct Request {
  int lanes = 0;             ///< 0: chosen by cost; 1: none; else this number
  bool is_optimised = true;  ///< otherwise, without lanes, only the markers are removed
  /// The loop has at most `lanes` rounds, which must run side by side, because they wait for each other.
  bool is_unit = false;
  bool exchanges = false;  ///< the unit has no other form
  int vector_bytes = 16;
  bool has_mask_registers = false;
};

struct Outcome {
  int lanes = 1;        ///< the most of any loop
  int rival_lanes = 0;  ///< only a measurement can show whether this number is faster; 0: none
};

/// Widens the marked loops of `module` and removes the markers. `report` may be null.
Outcome widen(llvm::Module& module, llvm::TargetMachine& machine, const llvm::TargetLibraryInfoImpl& library,
              const Request& request, LaneReport* report);

}  // namespace iruka::cpu_backend::spmd
