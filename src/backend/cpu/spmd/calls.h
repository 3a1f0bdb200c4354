// How calls are widened.
#pragma once

#include "backend/cpu/spmd/block_calls.h"
#include "backend/cpu/spmd/division.h"
#include "backend/cpu/spmd/lane_by_lane.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

namespace iruka::cpu_backend::spmd {

enum class CallForm : uint8_t {
  dropped,   ///< a hint for the optimiser or a debugger
  identity,  ///< returns its first operand
  unknown,   ///< tests whether an operand is a constant; the result is false
  division,  ///< of integers
  prefetch,
  together,      ///< lanes act together (block_calls.h)
  math,          ///< a function of the vector math library
  intrinsic,     ///< has a vector form
  lane_by_lane,  ///< anything else
};

CallForm call_form(const llvm::CallInst& call, const LaneAnalysis& analysis, const llvm::TargetLibraryInfo& library,
                   const llvm::TargetTransformInfo& costs);

class CallWriter {
 public:
  CallWriter(LaneBuilder& build, LaneValues& values, LaneByLane& lane_by_lane, DivisionWriter& divisions,
             const Body& body);

  void write(llvm::CallInst& call);

 private:
  void write_math(llvm::CallInst& call);
  llvm::Value* math(llvm::StringRef name, llvm::ArrayRef<llvm::Value*> arguments);
  void write_intrinsic(llvm::CallInst& call);
  void write_prefetch(llvm::CallInst& call);

  LaneBuilder& build_;
  LaneValues& values_;
  LaneByLane& lane_by_lane_;
  DivisionWriter& divisions_;
  BlockCallWriter block_calls_;
  const Body& body_;
};

}  // namespace iruka::cpu_backend::spmd
