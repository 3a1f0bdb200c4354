#include "backend/cpu/spmd/strided.h"

#include "llvm/Analysis/VectorUtils.h"

namespace iruka::cpu_backend::spmd {

using llvm::Value;

namespace {

/// `count` elements from `first` on, as a vector of W * factor. It reads nothing beyond them.
Value* read_span(LaneBuilder& build, const Access& access, Value* first, unsigned factor, unsigned count) {
  const auto load = [&](llvm::Type* type, unsigned from) {
    auto* part = build.CreateAlignedLoad(type, build.CreateConstGEP1_32(access.type, first, from), access.align);
    part->setAAMetadata(access.aliases);
    return part;
  };
  if (count == build.lanes() * factor) return load(llvm::FixedVectorType::get(access.type, count), 0);
  // Vectors of W; the last one starts so early that it ends with the last element.
  llvm::SmallVector<Value*, 4> parts;
  for (unsigned from = 0; from < build.lanes() * factor; from += build.lanes()) {
    if (from >= count) {
      parts.push_back(llvm::PoisonValue::get(build.widened(access.type)));
      continue;
    }
    const unsigned start = std::min(from, count - build.lanes()), skipped = from - start;
    Value* part = load(build.widened(access.type), start);
    if (skipped)
      part = build.CreateShuffleVector(part, llvm::createSequentialMask(skipped, build.lanes() - skipped, skipped));
    parts.push_back(part);
  }
  return llvm::concatenateVectors(build, parts);
}

}  // namespace

Channels read_strided(LaneBuilder& build, const Access& access, Value* first, unsigned factor, unsigned channels) {
  Value* all = read_span(build, access, first, factor, (build.lanes() - 1) * factor + channels);
  Channels result;
  for (unsigned channel = 0; channel < channels; ++channel) {
    result.push_back(build.CreateShuffleVector(all, llvm::createStrideMask(channel, factor, build.lanes())));
  }
  return result;
}

}  // namespace iruka::cpu_backend::spmd
