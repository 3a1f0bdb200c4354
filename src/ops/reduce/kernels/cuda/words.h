// How a thread reads elements: it loads a Word of kLanes elements at once. The generated text defines Types.
#pragma once

#include "ops/reduce/kernels/arguments.h"
#include "ops/reduce/kernels/scalars.h"

namespace iruka::reduction {

/// How the threads of a block share its units: the fields of BlockShape.
template <int kKeptRank, int kReducedRank>
struct BlockArguments : Arguments<kKeptRank, kReducedRank> {
  int units, lane_bits, slot_bits, lanes, row_lanes, strip_width, rest;
};

template <class Types>
struct Words : Scalars<Types> {
  using typename Types::C;
  using typename Types::In;
  using typename Types::Word;
  static constexpr int kLanes = Types::kLanes;
  struct Lanes {
    In lane[kLanes];
  };

  static inline C lane_of(const Word& word, int v) {
    return Scalars<Types>::computed(__builtin_bit_cast(Lanes, word).lane[v]);
  }
  template <class Arguments>
  static inline ptrdiff_t stride_of([[maybe_unused]] const Arguments& a) {
    return Types::kDense ? sizeof(In) : a.stride;
  }
  static inline C element(const char* p, ptrdiff_t i, ptrdiff_t stride) {
    return Scalars<Types>::computed(*(const In*)(p + i * stride));
  }
  static inline Word load(const char* p, ptrdiff_t k, ptrdiff_t stride) {
    return *(const Word*)(p + k * (kLanes > 1 ? (ptrdiff_t)sizeof(Word) : stride));
  }
};

}  // namespace iruka::reduction
