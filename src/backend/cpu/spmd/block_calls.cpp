#include "backend/cpu/spmd/block_calls.h"

#include <array>

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace iruka::cpu_backend::spmd {

using llvm::Value;

namespace {

struct Row {
  const char* name;
  BlockCall kind;
};
constexpr Row kRows[] = {{kBarrierName, BlockCall::barrier},
                         {"iruka_unit_fence", BlockCall::unit_fence},
                         {"iruka_ballot", BlockCall::ballot},
                         {"iruka_shuffle_32", BlockCall::shuffle},
                         {"iruka_shuffle_64", BlockCall::shuffle}};

}  // namespace

std::optional<BlockCall> block_call(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration()) return {};
  for (const Row& row : kRows)
    if (callee->getName() == row.name) return row.kind;
  return {};
}

std::span<const std::pair<const char*, const char*>> block_call_names() {
  static constexpr std::pair<const char*, const char*> names[] = {{"iruka_barrier", "__syncthreads()"},
                                                                  {"iruka_unit_fence", "__syncwarp()"},
                                                                  {"iruka_ballot", "votes of a warp"},
                                                                  {"iruka_shuffle_32", "shuffles of a warp"},
                                                                  {"iruka_shuffle_64", "shuffles of a warp"}};
  return names;
}

void describe_block_calls(llvm::Module& module) {
  for (const Row& row : kRows) {
    llvm::Function* function = module.getFunction(row.name);
    if (!function) continue;
    function->setConvergent();
    function->setDoesNotThrow();
    function->addFnAttr(llvm::Attribute::WillReturn);
    const bool exchanges = row.kind == BlockCall::ballot || row.kind == BlockCall::shuffle;
    if (exchanges) function->setOnlyAccessesInaccessibleMemory();
  }
}

bool has_exchange(const llvm::Module& module) {
  return llvm::any_of(kRows, [&](const Row& row) {
    const llvm::Function* function = module.getFunction(row.name);
    return row.kind != BlockCall::barrier && function && !function->use_empty();
  });
}

void BlockCallWriter::write(llvm::CallInst& call, BlockCall kind) {
  switch (kind) {
    case BlockCall::barrier: build_.Insert(call.clone()); return;
    case BlockCall::unit_fence: return;  // lanes finish each statement together
    case BlockCall::ballot: return write_ballot(call);
    case BlockCall::shuffle: return write_shuffle(call);
  }
}

void BlockCallWriter::write_ballot(llvm::CallInst& call) {
  // A lane that is not active may hold poison.
  Value* votes = build_.mask_and(build_.mask(), build_.CreateFreeze(values_.vector(call.getArgOperand(0))));
  values_.set_scalar(&call, build_.CreateZExtOrTrunc(build_.bits_of(votes), call.getType()));
}

void BlockCallWriter::write_shuffle(llvm::CallInst& call) {
  const unsigned lanes = build_.lanes();
  Value* vector = build_.CreateFreeze(values_.vector(call.getArgOperand(0)));
  Value* source = build_.CreateAnd(values_.vector(call.getArgOperand(1)),
                                   llvm::ConstantInt::get(build_.widened(call.getArgOperand(1)->getType()), lanes - 1));
  if (auto* known = llvm::dyn_cast<llvm::Constant>(source)) {
    llvm::SmallVector<int, 64> order;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const auto* from = llvm::dyn_cast_or_null<llvm::ConstantInt>(known->getAggregateElement(lane));
      order.push_back(from ? static_cast<int>(from->getZExtValue()) : 0);
    }
    return values_.set_vector(&call, build_.CreateShuffleVector(vector, order));
  }
  llvm::AllocaInst* memory = lane_by_lane_.spilled(vector);
  Value* places = build_.CreateGEP(call.getType(), memory, build_.CreateFreeze(source));
  Value* result = build_.CreateMaskedGather(build_.widened(call.getType()), places,
                                            build_.layout().getABITypeAlign(call.getType()), build_.full_mask());
  values_.set_vector(&call, result);
}

}  // namespace iruka::cpu_backend::spmd
