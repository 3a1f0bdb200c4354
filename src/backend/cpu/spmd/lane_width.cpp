#include "backend/cpu/spmd/lane_width.h"

#include <algorithm>
#include <array>

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Instruction;

/// The bits of the type an instruction works in, or 0 for address arithmetic. Sums and products of 64-bit integers
/// count as such, because most become uniform or linear.
unsigned working_bits(const Instruction& instruction) {
  const llvm::Type* type = instruction.getType();
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) type = store->getValueOperand()->getType();
  if (const auto* compare = llvm::dyn_cast<llvm::CmpInst>(&instruction)) type = compare->getOperand(0)->getType();
  if (type->isFloatingPointTy()) return std::clamp(type->getScalarSizeInBits(), 32u, 64u);
  if (!type->isIntegerTy() || type->isIntegerTy(1) || llvm::isa<llvm::CastInst>(instruction)) return 0;
  const unsigned bits = std::min(64u, type->getIntegerBitWidth());
  if (bits < 64) return bits;
  switch (instruction.getOpcode()) {
    case Instruction::Xor:
    case Instruction::And:
    case Instruction::Or:
    case Instruction::LShr:
    case Instruction::AShr:
    case Instruction::Load:
    case Instruction::Store: return bits;
    case Instruction::Call: return llvm::isa<llvm::IntrinsicInst>(instruction) ? bits : 0;
    default: return 0;
  }
}

/// A loop whose rounds depend on one another leaves execution units idle. A second register of lanes fills them if the
/// loop-carried values fit into the registers twice.
bool has_spare_registers(const LaneLoop& lane, const Request& request) {
  const unsigned most = request.has_mask_registers ? 12 : 5;
  unsigned inner_loops = 0;
  for (const llvm::Loop* loop : lane.loop->getLoopsInPreorder()) {
    if (loop == lane.loop || !loop->isInnermost()) continue;
    ++inner_loops;
    unsigned carried = 0;
    for (const llvm::PHINode& phi : loop->getHeader()->phis()) carried += working_bits(phi) != 0;
    if (carried > most) return false;
  }
  return inner_loops > 0;
}

}  // namespace

LaneWidth choose_lanes(const LaneLoop& lane, const Request& request) {
  std::array<double, 65> work{};
  double all = 0;
  for (const llvm::BasicBlock* block : lane.loop->blocks()) {
    if (!lane.contains(block)) continue;
    double weight = 1;
    for (const llvm::Loop* loop = lane.loops->getLoopFor(block); loop != lane.loop; loop = loop->getParentLoop())
      weight *= 8;
    for (const Instruction& instruction : *block) {
      if (const unsigned bits = working_bits(instruction))
        work[bits <= 8 ? 8 : bits <= 16 ? 16 : bits <= 32 ? 32 : 64] += weight;
    }
  }
  for (double part : work) all += part;
  unsigned bits = 32;
  if (work[64] > 0.5 * all)
    bits = 64;
  else if (work[8] > 0.75 * all)
    bits = 8;
  else if (work[8] + work[16] > 0.75 * all)
    bits = 16;
  const auto width = static_cast<unsigned>(request.vector_bytes) * 8;
  if (request.lanes >= 2) return {request.lanes, bits};
  const unsigned lanes = width / bits * (bits >= 32 && has_spare_registers(lane, request) ? 2 : 1);
  return {static_cast<int>(std::min(lanes, 32u)), bits};
}

}  // namespace iruka::cpu_backend::spmd
