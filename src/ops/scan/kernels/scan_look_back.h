// Sums that blocks publish for one another, eight bytes a word, each beside the flag that says it is there: what is
// seen of a word is all of it, so that nobody waits for an order of writes.
constexpr int kParts = (sizeof(A) + 7) / 8;
struct Published { uint4 part[kParts]; };
inline void publish(const Arguments& a, ptrdiff_t slot, A value) {
  unsigned parts[kParts * 2] = {};
  memcpy(parts, &value, sizeof(A));
#pragma unroll
  for (int k = 0; k < kParts; ++k) {
    const uint4 word = {parts[2 * k], parts[2 * k + 1], 1, 0};
    iruka::publish_word(a.slots + slot * kParts + k, word);
  }
}
inline Published peek(const Arguments& a, ptrdiff_t slot) {
  Published seen;
#pragma unroll
  for (int k = 0; k < kParts; ++k) seen.part[k] = iruka::published_word(a.slots + slot * kParts + k);
  return seen;
}
inline A published(const Arguments& a, ptrdiff_t slot, Published seen) {
  unsigned parts[kParts * 2];
#pragma unroll
  for (int k = 0; k < kParts; ++k) {
    while (seen.part[k].z == 0) seen.part[k] = iruka::published_word(a.slots + slot * kParts + k);
    parts[2 * k] = seen.part[k].x, parts[2 * k + 1] = seen.part[k].y;
  }
  A value;
  memcpy(&value, parts, sizeof(A));
  return value;
}
// What stands before the tile, in the first warp's last thread. The other warps come along and look nowhere.
inline A look_back(const Arguments& a, ptrdiff_t row, ptrdiff_t tile, A own, int lane, bool looks) {
  const ptrdiff_t group = tile / 32, super = group / 32, before_super = super - 1;
  const ptrdiff_t tiles = row * a.tiles, groups = a.group_slots + row * a.groups + super * 32;
  const ptrdiff_t supers = a.super_slots + row * a.supers, in_tiles = tiles + group * 32 + lane;
  const bool is_last = looks && lane == 31, sees_tile = looks && lane < tile % 32;
  const bool sees_group = looks && lane < group % 32, sees_super = is_last && super > 0;
  if (is_last) publish(a, tiles + tile, own);
  Published tile_seen, group_seen, super_seen;
  if (sees_tile) tile_seen = peek(a, in_tiles);
  if (sees_group) group_seen = peek(a, groups + lane);
  if (sees_super) super_seen = peek(a, supers + before_super);
  const A in_group = warp_scan(sees_tile ? published(a, in_tiles, tile_seen) : start(), lane);
  const bool ends_group = tile % 32 == 31, ends_super = ends_group && group % 32 == 31;
  if (is_last && ends_group) publish(a, groups + group % 32, combine(in_group, own));
  const A of_groups = warp_scan(sees_group ? published(a, groups + lane, group_seen) : start(), lane);
  if (!is_last) return own;
  const A before = sees_super ? published(a, supers + before_super, super_seen) : start();
  if (ends_super) publish(a, supers + super, combine(before, combine(of_groups, combine(in_group, own))));
  return combine(before, combine(of_groups, in_group));
}
