#include "backend/cpu/spmd/group_access.h"

#include "backend/cpu/spmd/windows.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"

namespace iruka::cpu_backend::spmd {

using llvm::BasicBlock;
using llvm::Value;

GroupAccess::GroupAccess(LaneBuilder& build, LaneValues& values, UnitStrideMemory& unit_stride, RowTester& rows,
                         const Body& body)
    : build_(build), values_(values), unit_stride_(unit_stride), rows_(rows), body_(body) {}

void GroupAccess::find(BasicBlock& block) {
  groups_.clear();
  members_.clear();
  groups_ = find_interleaved_groups(block, body_.analysis, body_.memory, build_.mask() == nullptr);
  for (const InterleavedGroup& group : groups_) {
    if (!group.factor && !can_gather_windows(group, build_)) continue;
    for (const auto& member : group.members) members_[member.instruction] = &group;
  }
}

bool GroupAccess::write(llvm::Instruction& instruction) {
  const auto found = members_.find(&instruction);
  if (found == members_.end()) return false;
  const InterleavedGroup& group = *found->second;
  if (llvm::isa<llvm::LoadInst>(instruction)) {
    if (group.members.front().instruction == &instruction) read_group(group);
  } else if (group.members.back().instruction == &instruction) {
    write_group(group);
  }
  return true;
}

/// The address of the first lane's lowest channel, from that of a member whose address is already written.
Value* GroupAccess::address_of(const InterleavedGroup& group, const InterleavedGroup::Member& member) {
  const auto size = static_cast<int64_t>(build_.layout().getTypeAllocSize(group.type).getFixedValue());
  Value* pointer = values_.scalar(const_cast<Value*>(llvm::getLoadStorePointerOperand(member.instruction)));
  return build_.CreateGEP(build_.getInt8Ty(), pointer, build_.getInt64(static_cast<uint64_t>(-member.channel * size)));
}

llvm::AAMDNodes GroupAccess::aliases_of(const InterleavedGroup& group) const {
  llvm::AAMDNodes aliases = group.members.front().instruction->getAAMetadata();
  for (const auto& member : group.members) aliases = aliases.merge(member.instruction->getAAMetadata());
  return aliases;
}

/// The access to the group's lowest channel.
Access GroupAccess::access_of_group(const InterleavedGroup& group) const {
  Access access = access_of(*group.members.front().instruction, body_);
  access.align = llvm::commonAlignment(access.align, static_cast<uint64_t>(access.size));
  access.aliases = aliases_of(group);
  return access;
}

void GroupAccess::read_group(const InterleavedGroup& group) {
  Channels channels;
  if (group.factor) {
    const Access access = access_of_group(group);
    channels = read_strided(build_, access, address_of(group, group.members.front()),
                            static_cast<unsigned>(group.factor), static_cast<unsigned>(group.channels));
  } else {
    channels = read_windows(group);
  }
  for (const auto& [instruction, channel] : group.members) {
    Value* lanes = channels[static_cast<size_t>(channel)];
    llvm::Type* type = instruction->getType();
    values_.set_vector(instruction, type == group.type ? lanes : build_.CreateTrunc(lanes, build_.widened(type)));
  }
}

void GroupAccess::write_group(const InterleavedGroup& group) {
  const auto factor = static_cast<unsigned>(group.factor);
  llvm::SmallVector<Value*, 4> channels(factor);
  llvm::Align align(1);
  for (const auto& [instruction, channel] : group.members) {
    channels[static_cast<size_t>(channel)] =
        values_.stored_vector(llvm::cast<llvm::StoreInst>(instruction)->getValueOperand());
    align = std::max(align, llvm::commonAlignment(llvm::getLoadStoreAlignment(instruction),
                                                  build_.layout().getTypeAllocSize(group.type).getFixedValue()));
  }
  Value* all = llvm::concatenateVectors(build_, channels);
  all = build_.CreateShuffleVector(all, llvm::createInterleaveMask(build_.lanes(), factor));
  build_.CreateAlignedStore(all, address_of(group, group.members.back()), align)->setAAMetadata(aliases_of(group));
}

/// The channels of a window; where indices are clamped, tests first whether the lanes read a row.
Channels GroupAccess::read_windows(const InterleavedGroup& group) {
  const Access access = access_of_group(group);
  const RowTest test = rows_.test(access);
  if (!test.is_row) return gather_windows(build_, values_, group, access);
  BasicBlock* row = build_.new_block("row");
  BasicBlock* apart = build_.new_block("apart");
  BasicBlock* behind = build_.new_block("behind");
  build_.CreateCondBr(test.is_row, row, apart);
  build_.SetInsertPoint(row);
  const Channels neighbours = read_row(group, access, test);
  BasicBlock* from_row = build_.GetInsertBlock();
  build_.CreateBr(behind);
  build_.SetInsertPoint(apart);
  const Channels gathered = gather_windows(build_, values_, group, access);
  BasicBlock* from_apart = build_.GetInsertBlock();
  build_.go_to(behind);
  Channels result;
  for (size_t channel = 0; channel < neighbours.size(); ++channel) {
    llvm::PHINode* lanes = build_.CreatePHI(neighbours[channel]->getType(), 2);
    lanes->addIncoming(neighbours[channel], from_row);
    lanes->addIncoming(gathered[channel], from_apart);
    result.push_back(lanes);
  }
  return result;
}

/// The channels of lanes whose windows follow one another.
Channels GroupAccess::read_row(const InterleavedGroup& group, const Access& access, const RowTest& test) {
  const auto channels = static_cast<unsigned>(group.channels);
  const auto factor = static_cast<unsigned>(test.step);
  const uint64_t back = static_cast<uint64_t>(-group.members.front().channel * access.size);
  Value* first = build_.CreateGEP(build_.getInt8Ty(), rows_.first_address(access.pointer, test), build_.getInt64(back));
  if (factor > 1 && channels <= factor) return read_strided(build_, access, first, factor, channels);
  Channels result(channels, llvm::PoisonValue::get(build_.widened(access.type)));
  for (const auto& member : group.members) {
    const auto channel = static_cast<unsigned>(member.channel);
    Value* place = build_.CreateConstGEP1_32(access.type, first, channel);
    result[channel] = factor == 1 ? unit_stride_.read(access, place, build_.mask())
                                  : read_strided(build_, access, place, factor, 1)[0];
  }
  return result;
}

}  // namespace iruka::cpu_backend::spmd
