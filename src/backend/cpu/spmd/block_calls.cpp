#include "backend/cpu/spmd/block_calls.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace iruka::cpu_backend::spmd {

using llvm::Value;

namespace {

constexpr BlockFunction kFunctions[] = {{kBarrierName, BlockCall::barrier, "__syncthreads()"},
                                        {kGridBarrierName, BlockCall::barrier, "a barrier of the grid"},
                                        {"iruka_unit_fence", BlockCall::unit_fence, "__syncwarp()"},
                                        {"iruka_ballot", BlockCall::ballot, "votes of a warp"},
                                        {"iruka_shuffle_32", BlockCall::shuffle, "shuffles of a warp"},
                                        {"iruka_shuffle_64", BlockCall::shuffle, "shuffles of a warp"}};

/// The bytes of a structure that are no member have no value, and are shuffled with it.
void allow_padding(llvm::Function& shuffle) {
  shuffle.removeParamAttr(0, llvm::Attribute::NoUndef);
  for (llvm::User* user : llvm::make_early_inc_range(shuffle.users())) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call || call->getCalledFunction() != &shuffle) continue;
    call->removeParamAttr(0, llvm::Attribute::NoUndef);
    Value* value = call->getArgOperand(0);
    call->setArgOperand(0, llvm::IRBuilder<>(call).CreateFreeze(value));
  }
}

}  // namespace

std::optional<BlockCall> block_call(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration()) return {};
  for (const BlockFunction& row : kFunctions)
    if (callee->getName() == row.name) return row.kind;
  return {};
}

std::span<const BlockFunction> block_functions() { return kFunctions; }

void describe_block_calls(llvm::Module& module) {
  for (const BlockFunction& row : kFunctions) {
    llvm::Function* function = module.getFunction(row.name);
    if (!function) continue;
    function->setConvergent();
    function->setDoesNotThrow();
    function->addFnAttr(llvm::Attribute::WillReturn);
    const bool exchanges = row.kind == BlockCall::ballot || row.kind == BlockCall::shuffle;
    if (exchanges) function->setOnlyAccessesInaccessibleMemory();
    if (row.kind == BlockCall::shuffle) allow_padding(*function);
  }
}

bool has_exchange(const llvm::Module& module) {
  return llvm::any_of(kFunctions, [&](const BlockFunction& row) {
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
