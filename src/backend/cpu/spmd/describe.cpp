#include "backend/cpu/spmd/describe.h"

#include "backend/cpu/compiler/guard_pass.h"
#include "backend/cpu/spmd/block_calls.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IntrinsicInst.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Instruction;
using Kind = Remark::Kind;

bool is_users(llvm::StringRef file) {
  return file == "operation" || file == "preamble" || file == "loop_prep" || file == "after_loop" ||
         file.starts_with("stage ");
}

/// The innermost line of the user's text in the chain of inlined calls.
Remark at(const llvm::DILocation* place, Kind kind, std::string message) {
  Remark remark{kind, "", 0, 0, std::move(message)};
  for (; place; place = place->getInlinedAt()) {
    if (!is_users(place->getFilename())) continue;
    remark.file = place->getFilename().str();
    remark.line = static_cast<int>(place->getLine());
    remark.column = static_cast<int>(place->getColumn());
    break;
  }
  return remark;
}

class Describer {
 public:
  Describer(const LaneLoop& lane, const LaneAnalysis& analysis, const PrivateMemory& memory)
      : lane_(lane), analysis_(analysis), memory_(memory), layout_(lane.header->getDataLayout()) {}

  LaneReport describe() {
    report_.lanes = analysis_.lanes();
    if (analysis_.split().divisor) {
      for (const Instruction* instruction : analysis_.split().quotients) say_row(*instruction);
      for (const Instruction* instruction : analysis_.split().remainders) say_row(*instruction);
    }
    for (const llvm::BasicBlock* block : lane_.loop->blocks()) {
      if (!lane_.contains(block)) continue;
      for (const Instruction& instruction : *block) visit(instruction);
    }
    for (const llvm::Loop* loop : lane_.loop->getLoopsInPreorder()) {
      if (loop == lane_.loop || !analysis_.is_divergent(loop)) continue;
      say(loop->getStartLoc().get(), Kind::divergent_loop,
          "lanes leave this loop after different numbers of iterations; it runs while a lane is active");
    }
    return std::move(report_);
  }

 private:
  void say(const llvm::DILocation* place, Kind kind, std::string message) {
    report_.remarks.push_back(at(place, kind, std::move(message)));
  }

  void say_row(const Instruction& instruction) {
    say(instruction.getDebugLoc().get(), Kind::note,
        "elements run row by row, so that neighbours in a row are neighbouring lanes");
  }

  void visit(const Instruction& instruction) {
    const llvm::DILocation* place = instruction.getDebugLoc().get();
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      say_access(place, *load->getPointerOperand(), load->getType(), /*is_store=*/false);
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      say_access(place, *store->getPointerOperand(), store->getValueOperand()->getType(), /*is_store=*/true);
    } else if (llvm::isa<llvm::AtomicRMWInst>(instruction) || llvm::isa<llvm::AtomicCmpXchgInst>(instruction)) {
      say(place, Kind::per_lane, "an atomic operation is done for one lane after the other");
    } else if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      const bool is_plain = llvm::isa<llvm::IntrinsicInst>(call) || division_opcode(*call) || block_call(*call) ||
                            call->doesNotAccessMemory();
      if (!is_plain) say(place, Kind::per_lane, "this call is made for one lane after the other");
    } else if (instruction.isTerminator() && analysis_.has_varying_branch(instruction.getParent())) {
      if (!is_exit(instruction))
        say(place, Kind::divergent_branch, "lanes take different sides; both run, each under a mask");
    }
  }

  bool is_exit(const Instruction& branch) const {
    const llvm::Loop* loop = lane_.loops->getLoopFor(branch.getParent());
    return loop != lane_.loop && loop->isLoopExiting(branch.getParent());
  }

  void say_access(const llvm::DILocation* place, const llvm::Value& pointer, llvm::Type* type, bool is_store) {
    const Shape shape = analysis_.shape(&pointer);
    if (memory_.may_be_private(&pointer)) {
      say(place, Kind::spill, "a local array whose index is not constant stays in memory, one for each lane");
      if (!shape.is_varying()) return;
    }
    if (shape.is_uniform()) return;
    const auto size = static_cast<int64_t>(layout_.getTypeStoreSize(type).getFixedValue());
    const int64_t step = shape.stride / size;
    if (shape.is_linear() && shape.stride == step * size && (step == 1 || step == -1)) return;
    if (shape.is_linear() && shape.stride == step * size && step >= 2 && step <= 4) {
      return say(
          place, Kind::interleaved,
          "one of " + std::to_string(step) + " channels: whole vectors are shuffled, single elements under a mask");
    }
    if (is_store)
      say(place, Kind::scatter,
          "lanes write to unrelated addresses, one after the other where the processor has no scatter");
    else
      say(place, Kind::gather, "lanes read from unrelated addresses");
  }

  const LaneLoop& lane_;
  const LaneAnalysis& analysis_;
  const PrivateMemory& memory_;
  const llvm::DataLayout& layout_;
  LaneReport report_;
};

}  // namespace

LaneReport describe(const LaneLoop& lane, const LaneAnalysis& analysis, const PrivateMemory& memory) {
  return Describer(lane, analysis, memory).describe();
}

void describe_refusal(const Refusal& refusal, LaneReport& report) {
  if (refusal.place) report.remarks.push_back(at(refusal.place.get(), Kind::not_widened, refusal.reason));
}

}  // namespace iruka::cpu_backend::spmd
