// Groups of neighbouring channels: wide accesses that are shuffled, or a few elements for each lane that are transposed.
#include "backend/cpu/spmd/widener.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"

namespace iruka::cpu_backend::spmd {

using llvm::BasicBlock;
using llvm::Value;

void Widener::find_groups(BasicBlock& block) {
  groups_.clear();
  group_members_.clear();
  groups_ = find_interleaved_groups(block, analysis_, memory_, mask_ == nullptr);
  for (const InterleavedGroup& group : groups_) {
    if (!group.factor && !has_pieces(group)) continue;
    for (const auto& member : group.members) group_members_[member.instruction] = &group;
  }
}

bool Widener::write_group_member(llvm::Instruction& instruction) {
  const auto found = group_members_.find(&instruction);
  if (found == group_members_.end()) return false;
  const InterleavedGroup& group = *found->second;
  if (llvm::isa<llvm::LoadInst>(instruction)) {
    if (group.members.front().instruction == &instruction) read_group(group);
  } else if (group.members.back().instruction == &instruction) {
    write_group(group);
  }
  return true;
}

/// The address of the first lane's lowest channel, by way of a member that has been reached.
Value* Widener::group_address(const InterleavedGroup& group, const InterleavedGroup::Member& member) {
  const auto size = static_cast<int64_t>(layout_.getTypeAllocSize(group.type).getFixedValue());
  Value* pointer = scalar(const_cast<Value*>(llvm::getLoadStorePointerOperand(member.instruction)));
  return build_.CreateGEP(build_.getInt8Ty(), pointer, build_.getInt64(static_cast<uint64_t>(-member.channel * size)));
}

llvm::AAMDNodes Widener::group_aliases(const InterleavedGroup& group) const {
  llvm::AAMDNodes aliases = group.members.front().instruction->getAAMetadata();
  for (const auto& member : group.members) aliases = aliases.merge(member.instruction->getAAMetadata());
  return aliases;
}

/// The group's lowest channel as if it were accessed alone.
Widener::Access Widener::access_of(const InterleavedGroup& group) const {
  Access access = access_of(*group.members.front().instruction);
  access.align = llvm::commonAlignment(access.align, static_cast<uint64_t>(access.size));
  access.aliases = group_aliases(group);
  return access;
}

void Widener::read_group(const InterleavedGroup& group) {
  Channels channels;
  if (group.factor) {
    const Access access = access_of(group);
    channels = read_wide(access, group_address(group, group.members.front()), static_cast<unsigned>(group.factor),
                         static_cast<unsigned>(group.channels));
  } else {
    channels = read_windows(group);
  }
  for (const auto& [instruction, channel] : group.members) {
    Value* lanes = channels[static_cast<size_t>(channel)];
    llvm::Type* type = instruction->getType();
    set_vector(instruction, type == group.type ? lanes : build_.CreateTrunc(lanes, widened(type)));
  }
}

/// `channels` neighbouring elements of each lane, `factor` elements from lane to lane.
Widener::Channels Widener::read_wide(const Access& access, Value* first, unsigned factor, unsigned channels) {
  Value* all = read_span(access, first, factor, (lanes_ - 1) * factor + channels);
  Channels result;
  for (unsigned channel = 0; channel < channels; ++channel) {
    result.push_back(build_.CreateShuffleVector(all, llvm::createStrideMask(channel, factor, lanes_)));
  }
  return result;
}

/// `count` elements from `first` on, of W * factor; what lies behind them is not touched.
Value* Widener::read_span(const Access& access, Value* first, unsigned factor, unsigned count) {
  const auto load = [&](llvm::Type* type, unsigned from) {
    auto* part = build_.CreateAlignedLoad(type, build_.CreateConstGEP1_32(access.type, first, from), access.align);
    part->setAAMetadata(access.aliases);
    return part;
  };
  if (count == lanes_ * factor) return load(llvm::FixedVectorType::get(access.type, count), 0);
  // Vectors of W, the last so far back that it ends with the last element.
  llvm::SmallVector<Value*, 4> parts;
  for (unsigned from = 0; from < lanes_ * factor; from += lanes_) {
    if (from >= count) {
      parts.push_back(llvm::PoisonValue::get(widened(access.type)));
      continue;
    }
    const unsigned start = std::min(from, count - lanes_), skipped = from - start;
    Value* part = load(widened(access.type), start);
    if (skipped) part = build_.CreateShuffleVector(part, llvm::createSequentialMask(skipped, lanes_ - skipped, skipped));
    parts.push_back(part);
  }
  return llvm::concatenateVectors(build_, parts);
}

void Widener::write_group(const InterleavedGroup& group) {
  const auto factor = static_cast<unsigned>(group.factor);
  llvm::SmallVector<Value*, 4> channels(factor);
  llvm::Align align(1);
  for (const auto& [instruction, channel] : group.members) {
    channels[static_cast<size_t>(channel)] = stored_lanes(llvm::cast<llvm::StoreInst>(instruction)->getValueOperand());
    align = std::max(align, llvm::commonAlignment(llvm::getLoadStoreAlignment(instruction),
                                                  layout_.getTypeAllocSize(group.type).getFixedValue()));
  }
  Value* all = llvm::concatenateVectors(build_, channels);
  all = build_.CreateShuffleVector(all, llvm::createInterleaveMask(lanes_, factor));
  build_.CreateAlignedStore(all, group_address(group, group.members.back()), align)->setAAMetadata(group_aliases(group));
}

// Windows: what each lane reads at an address of its own.

namespace {

/// Elements that are loaded at once, which fill 128 bits.
unsigned piece_of(int64_t element_size) { return static_cast<unsigned>(16 / element_size); }

}  // namespace

bool Widener::has_pieces(const InterleavedGroup& group) const {
  return piece_of(static_cast<int64_t>(layout_.getTypeStoreSize(group.type).getFixedValue())) <= lanes_;
}

/// The channels of a window; where indices are clamped, tests first whether the lanes read a row.
Widener::Channels Widener::read_windows(const InterleavedGroup& group) {
  const Access access = access_of(group);
  const RowTest test = test_row(access);
  if (!test.is_row) return gather_windows(group, access);
  BasicBlock* row = new_block("row");
  BasicBlock* apart = new_block("apart");
  BasicBlock* behind = new_block("behind");
  build_.CreateCondBr(test.is_row, row, apart);
  build_.SetInsertPoint(row);
  const Channels neighbours = read_row(group, access, test);
  BasicBlock* from_row = build_.GetInsertBlock();
  build_.CreateBr(behind);
  build_.SetInsertPoint(apart);
  const Channels gathered = gather_windows(group, access);
  BasicBlock* from_apart = build_.GetInsertBlock();
  go_to(behind);
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
Widener::Channels Widener::read_row(const InterleavedGroup& group, const Access& access, const RowTest& test) {
  const auto channels = static_cast<unsigned>(group.channels);
  const auto factor = static_cast<unsigned>(test.step);
  const uint64_t back = static_cast<uint64_t>(-group.members.front().channel * access.size);
  Value* first = build_.CreateGEP(build_.getInt8Ty(), with_index(access, test.index, test.first), build_.getInt64(back));
  if (factor > 1 && channels <= factor) return read_wide(access, first, factor, channels);
  Channels result(channels, llvm::PoisonValue::get(widened(access.type)));
  for (const auto& member : group.members) {
    const auto channel = static_cast<unsigned>(member.channel);
    Value* place = build_.CreateConstGEP1_32(access.type, first, channel);
    result[channel] = factor == 1 ? read_neighbours(access, place, mask_) : read_wide(access, place, factor, 1)[0];
  }
  return result;
}

/// Each lane's channels by loads of up to 128 bits, which are transposed.
Widener::Channels Widener::gather_windows(const InterleavedGroup& group, const Access& access) {
  const unsigned piece = piece_of(access.size);
  const uint64_t back = static_cast<uint64_t>(-group.members.front().channel * access.size);
  llvm::SmallVector<Value*, 64> places;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    Value* place = build_.CreateGEP(build_.getInt8Ty(), in_lane(access.pointer, lane), build_.getInt64(back));
    places.push_back(mask_ ? build_.CreateSelect(is_active(lane), place, zero_place()) : place);
  }
  Channels result;
  for (unsigned from = 0; from < group.channels; from += piece) {
    const unsigned count = std::min(piece, static_cast<unsigned>(group.channels) - from);
    llvm::SmallVector<Value*, 64> rows;
    for (Value* place : places) rows.push_back(load_piece(access, build_.CreateConstGEP1_32(access.type, place, from), count));
    result.append(transposed(rows));
  }
  result.truncate(static_cast<size_t>(group.channels));
  return result;
}

/// `count` elements, as a vector that fills 128 bits.
Value* Widener::load_piece(const Access& access, Value* place, unsigned count) {
  auto* load = build_.CreateAlignedLoad(llvm::FixedVectorType::get(access.type, count), place, access.align);
  if (!mask_) load->setAAMetadata(access.aliases);
  const unsigned piece = piece_of(access.size);
  return count == piece ? load : build_.CreateShuffleVector(load, llvm::createSequentialMask(0, count, piece - count));
}

/// From a vector of 2 or 4 elements for each lane, 2 or 4 vectors of lanes. Every step stays within 128 bits, which is
/// cheap: lanes l, l + 4, l + 8... share a register from the beginning.
llvm::SmallVector<Value*, 4> Widener::transposed(llvm::ArrayRef<Value*> rows) {
  const unsigned piece = llvm::cast<llvm::FixedVectorType>(rows[0]->getType())->getNumElements();
  llvm::SmallVector<Value*, 4> now;
  for (unsigned k = 0; k < piece; ++k) {
    llvm::SmallVector<Value*, 16> parts;
    for (unsigned lane = k; lane < lanes_; lane += piece) parts.push_back(rows[lane]);
    now.push_back(llvm::concatenateVectors(build_, parts));
  }
  // One of a, one of b in turn, of the lower or the upper half of every 128 bits.
  const auto unpack = [&](Value* a, Value* b, bool upper) {
    llvm::SmallVector<int, 64> order;
    for (unsigned k = 0; k < lanes_; ++k) {
      const unsigned place = k % piece, source = k - place + place / 2 + (upper ? piece / 2 : 0);
      order.push_back(static_cast<int>(source + (place % 2 ? lanes_ : 0)));
    }
    return build_.CreateShuffleVector(a, b, order);
  };
  for (unsigned step = 1; step < piece; step *= 2) {
    llvm::SmallVector<Value*, 4> next;
    for (unsigned k = 0; k < piece / 2; ++k) {
      for (const bool upper : {false, true}) next.push_back(unpack(now[k], now[k + piece / 2], upper));
    }
    now = next;
  }
  return now;
}

}  // namespace iruka::cpu_backend::spmd
