// Of elements two apart, both are loaded: kReach is how many elements a load touches.
constexpr ptrdiff_t kReach = kSpacing == 2 ? 2 * W : W;
static inline VRaw load_raw(const char* p, [[maybe_unused]] ptrdiff_t stride) {
  VRaw raw;
  if constexpr (kSpacing == 1) {
    __builtin_memcpy(&raw, p, sizeof(raw));
  } else if constexpr (kSpacing == 2) {
    VSpread spread;
    __builtin_memcpy(&spread, p, sizeof(spread));
    raw = spread.even;
  } else {
    for (int l = 0; l < W; ++l) raw[l] = *(const Raw*)(p + l * stride);
  }
  return raw;
}
static inline VC load_computing(const char* p, ptrdiff_t stride) { return widen(load_raw(p, stride)); }
static inline VA load(const char* p, ptrdiff_t stride) { return map(load_computing(p, stride)); }
