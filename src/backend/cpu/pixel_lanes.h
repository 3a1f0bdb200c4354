// Pixels of three channels as a vector of each channel, and back: a part of headers that source files for an
// instruction set include, within their namespaces and after <immintrin.h>. The vectors of three neighbours in memory
// have each residue modulo three once at each place, since their length is no multiple of three; so blends and one
// permutation rearrange them.

#if defined(__AVX512VBMI__)
constexpr int kPixelVector = 64, kPixelLane = 64;
#elif defined(__AVX2__)
constexpr int kPixelVector = 32, kPixelLane = 16;  // permutations stay within lanes
#else
constexpr int kPixelVector = 0, kPixelLane = 0;
#endif

template <class T, int kPart = kPixelLane / int{sizeof(T)}>
struct PixelLanes {
  static constexpr int kPixels = kPixelVector / int{sizeof(T)};
  using Vector __attribute__((vector_size(kPixelVector))) = T;
  using Lane __attribute__((vector_size(kPixelLane), aligned(alignof(T)), may_alias)) = T;
  using Unaligned __attribute__((vector_size(kPixelVector), aligned(alignof(T)), may_alias)) = T;
  template <int... k>
  struct Indices {};
  template <int... k>
  static constexpr auto count_up(std::integer_sequence<int, k...>) {
    return Indices<k...>();
  }
  static constexpr auto kAll = count_up(std::make_integer_sequence<int, kPixels>());

  static inline __attribute__((always_inline)) void load(const T* from, Vector (&planes)[3]) {
    const Vector a = load_part(from, 0), b = load_part(from, 1), c = load_part(from, 2);
    planes[0] = plane<0>(a, b, c, kAll);
    planes[1] = plane<1>(a, b, c, kAll);
    planes[2] = plane<2>(a, b, c, kAll);
  }
  static inline __attribute__((always_inline)) void store(const Vector (&planes)[3], T* to) {
    const Vector r = spread<0>(planes[0], kAll), g = spread<1>(planes[1], kAll), b = spread<2>(planes[2], kAll);
    store_part(joined<0>(r, g, b, kAll), to, 0);
    store_part(joined<1>(r, g, b, kAll), to, 1);
    store_part(joined<2>(r, g, b, kAll), to, 2);
  }
  /// Copies pixels, the first channel and the last one exchanged.
  static inline __attribute__((always_inline)) void copy_reversed(const T* from, T* to) {
    const Vector a = load_part(from, 0), b = load_part(from, 1), c = load_part(from, 2);
    store_part(reversed<0>(a, b, c, kAll), to, 0);
    store_part(reversed<1>(a, b, c, kAll), to, 1);
    store_part(reversed<2>(a, b, c, kAll), to, 2);
  }
  static inline __attribute__((always_inline)) Vector load_plane(const T* from) {
    return *reinterpret_cast<const Unaligned*>(from);
  }
  static inline __attribute__((always_inline)) void store_plane(Vector v, T* to) {
    *reinterpret_cast<Unaligned*>(to) = v;
  }

 private:
  /// Part k of each lane's pixels.
  static inline __attribute__((always_inline)) Vector load_part(const T* from, int k) {
    Vector made;
    for (int lane = 0; lane < kPixelVector / kPixelLane; ++lane)
      reinterpret_cast<Lane*>(&made)[lane] = *reinterpret_cast<const Lane*>(from + (3 * lane + k) * kPart);
    return made;
  }
  static inline __attribute__((always_inline)) void store_part(Vector v, T* to, int k) {
    for (int lane = 0; lane < kPixelVector / kPixelLane; ++lane)
      *reinterpret_cast<Lane*>(to + (3 * lane + k) * kPart) = reinterpret_cast<const Lane*>(&v)[lane];
  }
  /// Of a blend of three vectors: from which of them place `at` is, if part `part` of it is of channel `channel`.
  static constexpr int source(int at, int channel) {
    int part = 0;
    while ((kPart * part + at % kPart) % 3 != channel) ++part;
    return part;
  }
  static constexpr int lane_of(int at) { return at / kPart * kPart; }
  template <int kChannel, int... k>
  static inline __attribute__((always_inline)) Vector plane(Vector a, Vector b, Vector c, Indices<k...>) {
    const Vector two = __builtin_shufflevector(a, b, (source(k, kChannel) == 1 ? kPixels + k : k)...);
    const Vector all = __builtin_shufflevector(two, c, (source(k, kChannel) == 2 ? kPixels + k : k)...);
    return __builtin_shufflevector(all, all, (lane_of(k) + (3 * (k % kPart) + kChannel) % kPart)...);
  }
  /// The pixel of a lane whose value of the channel is at place `at` of some part.
  static constexpr int pixel_of(int at, int channel) {
    int pixel = 0;
    while ((3 * pixel + channel) % kPart != at % kPart) ++pixel;
    return pixel;
  }
  template <int kChannel, int... k>
  static inline __attribute__((always_inline)) Vector spread(Vector v, Indices<k...>) {
    return __builtin_shufflevector(v, v, (lane_of(k) + pixel_of(k, kChannel))...);
  }
  template <int kThis, int... k>
  static inline __attribute__((always_inline)) Vector joined(Vector r, Vector g, Vector b, Indices<k...>) {
    constexpr auto channel = [](int at) { return (kPart * kThis + at % kPart) % 3; };
    const Vector two = __builtin_shufflevector(r, g, (channel(k) == 1 ? kPixels + k : k)...);
    return __builtin_shufflevector(two, b, (channel(k) == 2 ? kPixels + k : k)...);
  }
  /// Where in the parts of a lane the value comes from that place `at` of part `part` has in reversed pixels.
  static constexpr int reversed_place(int part, int at) {
    const int place = kPart * part + at % kPart;
    return place + 2 - 2 * (place % 3);
  }
  template <int kThis, int... k>
  static inline __attribute__((always_inline)) Vector reversed(Vector a, Vector b, Vector c, Indices<k...>) {
    constexpr auto part = [](int at) { return reversed_place(kThis, at) / kPart; };
    constexpr auto place = [](int at) { return lane_of(at) + reversed_place(kThis, at) % kPart; };
    if constexpr (kThis == 0) return __builtin_shufflevector(a, b, (part(k) * kPixels + place(k))...);
    if constexpr (kThis == 2) return __builtin_shufflevector(b, c, ((part(k) - 1) * kPixels + place(k))...);
    const Vector two = __builtin_shufflevector(a, b, (part(k) == 2 ? k : part(k) * kPixels + place(k))...);
    return __builtin_shufflevector(two, c, (part(k) == 2 ? kPixels + place(k) : k)...);
  }
};
