// The parts of a stream pool: blocks, bins of free blocks with exact best fit, and a map from pointers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device.h"

namespace iruka::cuda_backend {

struct Arena;

/// A piece of memory. Small blocks fill a page, which is a large block; large blocks fill a chunk of the source.
struct Block {
  enum class State : uint8_t {
    used,       ///< handed out
    recording,  ///< released; a thread marks the work of other streams that use it
    waiting,    ///< released, but other streams may still use it
    free,       ///< in the bins of its arena
    page,       ///< filled by small blocks
    collected,  ///< taken off the bins, on its way back to the source
  };
  struct Use {
    StreamHandle stream;  ///< kNoStream if the stream was destroyed while it had work
    int device;
    void* event;                       ///< null if the source refused, or a capture forbade the call
    bool lasts_until_release = false;  ///< recorded then
  };

  char* address = nullptr;
  size_t bytes = 0;
  Arena* arena = nullptr;   ///< the arena that gets the block when it is released
  Block* page = nullptr;    ///< what a small block is a part of; null for a large one
  Block* before = nullptr;  ///< neighbours in the same page or chunk
  Block* after = nullptr;
  Block* previous = nullptr;  ///< in the one list that holds the block
  Block* next = nullptr;
  uint64_t released = 0;  ///< the pool's epoch when it was released
  State state = State::used;
  std::vector<Use> uses;  ///< by streams other than the arena's

  bool is_small() const { return page != nullptr; }
  /// Fills its page or chunk.
  bool is_whole() const { return !before && !after; }
};

/// A ring of links inside the blocks: it allocates nothing, and any block can be removed.
class BlockList {
 public:
  bool empty() const { return !first_; }
  void push_back(Block* block) {
    if (!first_) {
      first_ = block->previous = block->next = block;
      return;
    }
    block->next = first_;
    block->previous = first_->previous;
    block->previous->next = first_->previous = block;
  }
  void push_front(Block* block) {
    push_back(block);
    first_ = block;
  }
  void remove(Block* block) {
    if (block->next == block) {
      first_ = nullptr;
      return;
    }
    block->previous->next = block->next;
    block->next->previous = block->previous;
    if (first_ == block) first_ = block->next;
  }
  /// Null when there is none.
  Block* pop_front() {
    Block* block = first_;
    if (block) remove(block);
    return block;
  }
  /// Calls `visit(block)` in order until it returns false. It may remove the block.
  template <class Visit>
  void visit_while(Visit&& visit) const {
    Block* const last = first_ ? first_->previous : nullptr;
    for (Block *block = first_, *next; block; block = next) {
      next = block == last ? nullptr : block->next;
      if (!visit(block)) return;
    }
  }

 private:
  Block* first_ = nullptr;
};

/// Free blocks by size: bin k holds blocks of k + 1 units, the last bin everything from there on.
/// Two levels of bitmaps find the smallest block that fits in a few instructions.
class FreeBins {
 public:
  explicit FreeBins(size_t unit) : unit_shift_(std::countr_zero(unit)) {}

  void add(Block* block) {
    const size_t bin = bin_of(block->bytes);
    bins_[bin].push_front(block);
    occupied_[bin / 64] |= uint64_t{1} << (bin % 64);
    groups_ |= uint64_t{1} << (bin / 64);
    ++count_;
  }
  void remove(Block* block) {
    const size_t bin = bin_of(block->bytes);
    bins_[bin].remove(block);
    --count_;
    if (!bins_[bin].empty()) return;
    occupied_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
    if (occupied_[bin / 64] == 0) groups_ &= ~(uint64_t{1} << (bin / 64));
  }
  /// The smallest block of at least `bytes` that `accepts(block)`; of equal ones, the one released last. Null: none.
  template <class Accepts>
  Block* best(size_t bytes, Accepts&& accepts) const {
    for (size_t bin = next_occupied(bin_of(bytes)); bin < kBins; bin = next_occupied(bin + 1)) {
      const size_t least = std::max(bytes, (bin + 1) << unit_shift_);
      Block* best = nullptr;
      bins_[bin].visit_while([&](Block* block) {
        if (block->bytes >= bytes && (!best || block->bytes < best->bytes) && accepts(*block)) best = block;
        return !best || best->bytes > least;
      });
      if (best) return best;
    }
    return nullptr;
  }
  /// Calls `visit(block)` for every block. It may remove the block.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (size_t bin = next_occupied(0); bin < kBins; bin = next_occupied(bin + 1))
      bins_[bin].visit_while([&](Block* block) {
        visit(block);
        return true;
      });
  }
  size_t count() const { return count_; }

 private:
  static constexpr size_t kBins = 64 * 64;

  size_t bin_of(size_t bytes) const { return std::min((bytes >> unit_shift_) - 1, kBins - 1); }
  /// The first bin from `bin` on that holds a block, or kBins.
  size_t next_occupied(size_t bin) const {
    if (bin >= kBins) return kBins;
    const uint64_t here = occupied_[bin / 64] & (~uint64_t{0} << (bin % 64));
    if (here) return bin / 64 * 64 + std::countr_zero(here);
    const uint64_t later = groups_ & (~uint64_t{1} << (bin / 64));
    if (!later) return kBins;
    const size_t group = std::countr_zero(later);
    return group * 64 + std::countr_zero(occupied_[group]);
  }

  const int unit_shift_;
  size_t count_ = 0;
  uint64_t groups_ = 0;  ///< which words of occupied_ are not 0
  std::array<uint64_t, 64> occupied_{};
  std::array<BlockList, kBins> bins_{};
};

/// The free blocks that one stream may take without waiting, because its own work is what used them last.
struct Arena {
  static constexpr size_t kSmallUnit = 512;
  static constexpr size_t kLargeUnit = size_t{2} << 20;

  Arena(StreamHandle stream_, uint64_t graph_) : stream(stream_), graph(graph_) {}
  FreeBins& bins(bool is_small) { return is_small ? small : large; }
  FreeBins& bins_of(const Block& block) { return bins(block.is_small()); }

  const StreamHandle stream;
  const uint64_t graph;  ///< 0: ordinary memory; else only captures of that graph may take it
  FreeBins small{kSmallUnit};
  FreeBins large{kLargeUnit};
};

/// From pointers to objects: open addressing, at most half full, no tombstones.
template <class Value>
class PointerMap {
 public:
  /// Null when there is none.
  Value* find(const void* key) const {
    if (entries_.empty()) return nullptr;
    return entries_[slot_of(key)].value;
  }
  /// Makes room for one more, so that insert() cannot fail.
  void reserve_one() {
    if (2 * (count_ + 1) <= entries_.size()) return;
    std::vector<Entry> old(std::max<size_t>(2 * entries_.size(), 64));
    old.swap(entries_);
    shift_ = 64 - std::countr_zero(entries_.size());
    for (const Entry& entry : old)
      if (entry.value) entries_[slot_of(entry.key)] = entry;
  }
  /// `key` is new, `value` is not null, and reserve_one() came before.
  void insert(const void* key, Value* value) {
    entries_[slot_of(key)] = {key, value};
    ++count_;
  }
  /// Removes the key; returns its value, or null.
  Value* erase(const void* key) {
    if (entries_.empty()) return nullptr;
    size_t hole = slot_of(key);
    Value* const value = entries_[hole].value;
    if (!value) return nullptr;
    --count_;
    // Later entries move up, unless that would put one before the slot of its hash.
    const size_t mask = entries_.size() - 1;
    for (size_t slot = (hole + 1) & mask; entries_[slot].value; slot = (slot + 1) & mask) {
      if (((slot - home_of(entries_[slot].key)) & mask) < ((slot - hole) & mask)) continue;
      entries_[hole] = entries_[slot];
      hole = slot;
    }
    entries_[hole] = {};
    return value;
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : entries_)
      if (entry.value) visit(entry.value);
  }
  size_t size() const { return count_; }

 private:
  struct Entry {
    const void* key = nullptr;
    Value* value = nullptr;
  };

  size_t home_of(const void* key) const { return reinterpret_cast<uintptr_t>(key) * 0x9E3779B97F4A7C15u >> shift_; }
  /// Where `key` stands, or the empty slot where it would.
  size_t slot_of(const void* key) const {
    size_t slot = home_of(key);
    while (entries_[slot].value && entries_[slot].key != key) slot = (slot + 1) & (entries_.size() - 1);
    return slot;
  }

  std::vector<Entry> entries_;
  size_t count_ = 0;
  int shift_ = 64;
};

}  // namespace iruka::cuda_backend
