static inline A magnitude(C x) { return A(x < C(0) ? -x : x); }
static inline A squared_magnitude(C x) { return A(x) * A(x); }
