static inline A magnitude(C x) { return A(hypot(x.real(), x.imag())); }
static inline A squared_magnitude(C x) { return A(x.real()) * A(x.real()) + A(x.imag()) * A(x.imag()); }
