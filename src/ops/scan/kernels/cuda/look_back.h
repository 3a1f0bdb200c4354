// Decoupled look-back: blocks publish the sums of tiles, of groups of 32 tiles, and of all tiles up to the end of each
// 32 groups.
#pragma once

#include "ops/scan/kernels/cuda/shuffles.h"

namespace iruka::scan {

struct TileArguments {
  const char* x;
  char* out;
  uint4* slots;
  ptrdiff_t n, tiles, groups, supers, group_slots, super_slots, x_row, out_row, x_stride;
};

/// A sum in words of 16 bytes: eight bytes of it, and a flag that says they are valid. A word is read whole or not at
/// all, so no order of stores is needed.
template <class A>
struct Published {
  static constexpr int kParts = (sizeof(A) + 7) / 8;
  uint4 part[kParts];

  static inline void publish(const TileArguments& a, ptrdiff_t slot, A value) {
    unsigned parts[kParts * 2] = {};
    memcpy(parts, &value, sizeof(A));
#pragma unroll
    for (int k = 0; k < kParts; ++k) {
      const uint4 word = {parts[2 * k], parts[2 * k + 1], 1, 0};
      publish_word(a.slots + slot * kParts + k, word);
    }
  }
  static inline Published peek(const TileArguments& a, ptrdiff_t slot) {
    Published seen;
#pragma unroll
    for (int k = 0; k < kParts; ++k) seen.part[k] = published_word(a.slots + slot * kParts + k);
    return seen;
  }
  /// Waits until the sum is published.
  inline A value(const TileArguments& a, ptrdiff_t slot) {
    unsigned parts[kParts * 2];
#pragma unroll
    for (int k = 0; k < kParts; ++k) {
      while (part[k].z == 0) part[k] = published_word(a.slots + slot * kParts + k);
      parts[2 * k] = part[k].x, parts[2 * k + 1] = part[k].y;
    }
    A value;
    memcpy(&value, parts, sizeof(A));
    return value;
  }
};

/// The sum of all tiles before this one, valid in the last thread of the first warp. All warps call it; `looks` is true
/// in the first one alone.
template <class Types>
inline typename Types::A look_back(const TileArguments& a, ptrdiff_t row, ptrdiff_t tile, typename Types::A own,
                                   int lane, bool looks) {
  using A = typename Types::A;
  using Sum = Published<A>;
  const ptrdiff_t group = tile / 32, super = group / 32, before_super = super - 1;
  const ptrdiff_t tiles = row * a.tiles, groups = a.group_slots + row * a.groups + super * 32;
  const ptrdiff_t supers = a.super_slots + row * a.supers, in_tiles = tiles + group * 32 + lane;
  const bool is_last = looks && lane == 31, sees_tile = looks && lane < tile % 32;
  const bool sees_group = looks && lane < group % 32, sees_super = is_last && super > 0;
  if (is_last) Sum::publish(a, tiles + tile, own);
  Sum tile_seen, group_seen, super_seen;
  if (sees_tile) tile_seen = Sum::peek(a, in_tiles);
  if (sees_group) group_seen = Sum::peek(a, groups + lane);
  if (sees_super) super_seen = Sum::peek(a, supers + before_super);
  const A in_group = warp_scan<Types>(sees_tile ? tile_seen.value(a, in_tiles) : Types::start(), lane);
  const bool ends_group = tile % 32 == 31, ends_super = ends_group && group % 32 == 31;
  if (is_last && ends_group) Sum::publish(a, groups + group % 32, Types::combine(in_group, own));
  const A of_groups = warp_scan<Types>(sees_group ? group_seen.value(a, groups + lane) : Types::start(), lane);
  if (!is_last) return own;
  const A before = sees_super ? super_seen.value(a, supers + before_super) : Types::start();
  if (ends_super)
    Sum::publish(a, supers + super, Types::combine(before, Types::combine(of_groups, Types::combine(in_group, own))));
  return Types::combine(before, Types::combine(of_groups, in_group));
}

}  // namespace iruka::scan
