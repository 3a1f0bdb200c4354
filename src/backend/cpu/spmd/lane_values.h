// The widened forms of the values of the body.
#pragma once

#include "backend/cpu/spmd/lane_builder.h"
#include "llvm/ADT/DenseMap.h"

namespace iruka::cpu_backend::spmd {

/// A value of the body has up to two forms:
///   scalar(v)  the one value of a uniform v, the first lane's of a linear v
///   vector(v)  all lanes' values, <W x T>; of a structure, a structure of vectors
/// The first lane may be inactive, so code that can trap or touch memory may use scalar() of a linear value only where
/// the mask is full.
class LaneValues {
 public:
  LaneValues(LaneBuilder& build, const Body& body, const BodyStart& start);

  /// Begins the copy of the body behind `block`, which has no terminator.
  void open(llvm::BasicBlock* block);
  llvm::Value* scalar(llvm::Value* value);
  llvm::Value* vector(llvm::Value* value);
  /// The value in the lane of a constant number, without the vector of all lanes where that is possible.
  llvm::Value* in_lane(llvm::Value* value, unsigned lane);
  llvm::Value* stored_vector(llvm::Value* value);  ///< vector() with i1 as bytes, as memory holds it
  void set_scalar(const llvm::Value* value, llvm::Value* form) { scalars_[value] = form; }
  void set_vector(const llvm::Value* value, llvm::Value* form) { vectors_[value] = form; }

 private:
  void write_local(llvm::AllocaInst& local);

  LaneBuilder& build_;
  const Body& body_;
  const BodyStart& start_;
  llvm::BasicBlock* first_ = nullptr;  ///< where values from outside of the loop are spread over the lanes
  llvm::DenseMap<const llvm::Value*, llvm::Value*> scalars_, vectors_;
};

}  // namespace iruka::cpu_backend::spmd
