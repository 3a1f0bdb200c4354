template <class X> static inline A cast(X x) { return A(x); }
static inline A nonzero(C x) { return A(x != C(0)); }
static inline C number_or(C x, int other) { return x == x ? x : C(other); }
