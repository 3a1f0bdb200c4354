// Neighbouring elements that are loaded and stored 16 bytes at a time.
#pragma once

template <int bytes> struct iruka_word {
  using type = uint4;
};
template <> struct iruka_word<8> {
  using type = uint2;
};
template <> struct iruka_word<4> {
  using type = unsigned;
};
template <> struct iruka_word<2> {
  using type = unsigned short;
};
template <> struct iruka_word<1> {
  using type = unsigned char;
};
template <int bytes> constexpr int iruka_word_bytes = bytes < 16 ? bytes : 16;
template <class T, int N> struct alignas(iruka_word_bytes<sizeof(T) * N>) iruka_pack {
  T at[N];
  using word = typename iruka_word<iruka_word_bytes<sizeof(T) * N>>::type;
  __forceinline__ void load(const void* from) {
    word words[sizeof(T) * N / sizeof(word)];
    for (int k = 0; k < int(sizeof(T) * N / sizeof(word)); ++k) words[k] = ((const word*)from)[k];
    memcpy(at, words, sizeof(words));
  }
  __forceinline__ void store(void* to) const {
    word words[sizeof(T) * N / sizeof(word)];
    memcpy(words, at, sizeof(words));
    for (int k = 0; k < int(sizeof(T) * N / sizeof(word)); ++k) iruka::store_word((word*)to + k, words[k]);
  }
};
