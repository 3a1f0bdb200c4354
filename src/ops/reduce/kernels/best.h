struct Best {
  C value;
  long long index;
};
template <class V> static inline auto beats(V b, V a) { return (b BEFORE a) | ((b != b) & (a == a)); }
static inline bool ties(C a, C b) { return (a == b) | ((a != a) & (b != b)); }
static inline Best combine(Best a, Best b) {
  return beats(b.value, a.value) | (ties(b.value, a.value) & (b.index < a.index)) ? b : a;
}
static inline Best start_best() { return {start(), 0x7fffffffffffffffll}; }
