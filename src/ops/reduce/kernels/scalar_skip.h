static inline ptrdiff_t skip_others(const char*, ptrdiff_t at, ptrdiff_t, ptrdiff_t, C) { return at; }
