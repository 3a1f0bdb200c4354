// Complex numbers have no vectors: four in a row, so that additions overlap.
constexpr ptrdiff_t W = 4;
struct VA { A lane[W]; };
static inline VA start_lanes() { return {start(), start(), start(), start()}; }
static inline VA combine(VA a, VA b) {
  for (int l = 0; l < W; ++l) a.lane[l] = combine(a.lane[l], b.lane[l]);
  return a;
}
static inline VA load(const char* p, [[maybe_unused]] ptrdiff_t stride) {
  VA v;
  for (int l = 0; l < W; ++l) v.lane[l] = map(element(p, l, stride));
  return v;
}
static inline A fold(VA v) { return combine(combine(v.lane[0], v.lane[2]), combine(v.lane[1], v.lane[3])); }
