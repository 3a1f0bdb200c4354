// Vectors of the language's extension, as many lanes (LANES) on every machine, so that results do not depend on it.
constexpr ptrdiff_t W = LANES;
typedef Raw VRaw __attribute__((ext_vector_type(LANES)));
typedef Raw VSpread __attribute__((ext_vector_type(2 * LANES)));
typedef C VC __attribute__((ext_vector_type(LANES)));
typedef A VA __attribute__((ext_vector_type(LANES)));
static inline VA start_lanes() { return (VA)(start()); }
static inline VA cast(VC x) { return __builtin_convertvector(x, VA); }
static inline VA nonzero(VC x) { return __builtin_convertvector((x != (VC)(C(0))) & 1, VA); }
static inline VC number_or(VC x, int other) { return (x == x) ? x : (VC)(C(other)); }
static inline VA magnitude(VC x) { return cast((x < (VC)(C(0))) ? -x : x); }
static inline VA squared_magnitude(VC x) { return cast(x) * cast(x); }
