#include "backend/cpu/spmd/windows.h"

#include "backend/cpu/spmd/gather.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"

namespace iruka::cpu_backend::spmd {

using llvm::Value;

namespace {

/// Elements that are loaded at once, which fill 128 bits.
unsigned piece_of(int64_t element_size) { return static_cast<unsigned>(16 / element_size); }

/// `count` elements, as a vector that fills 128 bits.
Value* load_piece(LaneBuilder& build, const Access& access, Value* place, unsigned count) {
  auto* load = build.CreateAlignedLoad(llvm::FixedVectorType::get(access.type, count), place, access.align);
  if (!build.mask()) load->setAAMetadata(access.aliases);
  const unsigned piece = piece_of(access.size);
  return count == piece ? load : build.CreateShuffleVector(load, llvm::createSequentialMask(0, count, piece - count));
}

/// From a vector of 2 or 4 elements for each lane, 2 or 4 vectors of lanes. Every step stays within 128 bits, which is
/// cheap: lanes l, l + 4, l + 8... share a register from the beginning.
llvm::SmallVector<Value*, 4> transposed(LaneBuilder& build, llvm::ArrayRef<Value*> rows) {
  const unsigned piece = llvm::cast<llvm::FixedVectorType>(rows[0]->getType())->getNumElements();
  llvm::SmallVector<Value*, 4> now;
  for (unsigned k = 0; k < piece; ++k) {
    llvm::SmallVector<Value*, 16> parts;
    for (unsigned lane = k; lane < build.lanes(); lane += piece) parts.push_back(rows[lane]);
    now.push_back(llvm::concatenateVectors(build, parts));
  }
  // Elements of a and b in turn, from the lower or the upper half of every 128 bits.
  const auto unpack = [&](Value* a, Value* b, bool upper) {
    llvm::SmallVector<int, 64> order;
    for (unsigned k = 0; k < build.lanes(); ++k) {
      const unsigned place = k % piece, source = k - place + place / 2 + (upper ? piece / 2 : 0);
      order.push_back(static_cast<int>(source + (place % 2 ? build.lanes() : 0)));
    }
    return build.CreateShuffleVector(a, b, order);
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

}  // namespace

bool can_gather_windows(const InterleavedGroup& group, const LaneBuilder& build) {
  return piece_of(static_cast<int64_t>(build.layout().getTypeStoreSize(group.type).getFixedValue())) <= build.lanes();
}

Channels gather_windows(LaneBuilder& build, LaneValues& values, const InterleavedGroup& group, const Access& access) {
  const unsigned piece = piece_of(access.size);
  const uint64_t back = static_cast<uint64_t>(-group.members.front().channel * access.size);
  llvm::SmallVector<Value*, 64> places;
  for (unsigned lane = 0; lane < build.lanes(); ++lane) {
    Value* place = build.CreateGEP(build.getInt8Ty(), values.in_lane(access.pointer, lane), build.getInt64(back));
    places.push_back(build.mask() ? build.CreateSelect(build.is_active(lane), place, zero_place(build)) : place);
  }
  Channels result;
  for (unsigned from = 0; from < group.channels; from += piece) {
    const unsigned count = std::min(piece, static_cast<unsigned>(group.channels) - from);
    llvm::SmallVector<Value*, 64> rows;
    for (Value* place : places)
      rows.push_back(load_piece(build, access, build.CreateConstGEP1_32(access.type, place, from), count));
    result.append(transposed(build, rows));
  }
  result.truncate(static_cast<size_t>(group.channels));
  return result;
}

}  // namespace iruka::cpu_backend::spmd
