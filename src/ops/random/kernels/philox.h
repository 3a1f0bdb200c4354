// philox(counter, key): four 32-bit words from a 128-bit counter and a 64-bit key, lowest words first.
// philox_block(seed, stream, block, attempt): the words of one block of an array's stream. The counter holds 48 bits of
// the block's number, 48 of the stream's and 32 of the attempt's; a rejection draws with the next attempt.
#pragma once

namespace iruka::random {

struct PhiloxWords {
  unsigned w0, w1, w2, w3;
};
/// The words between rounds. On a CPU they are the low halves of 64 bits, whose lanes a vector instruction multiplies
/// without unpacking. A GPU's compiler needs the halves of a product separately; otherwise it multiplies all 64 bits.
#ifdef __CUDA_ARCH__
struct PhiloxState {
  unsigned c0, c1, c2, c3;
};
static inline PhiloxState philox_round(PhiloxState c, unsigned key0, unsigned key1) {
  return PhiloxState{__umulhi(0xCD9E8D57u, c.c2) ^ c.c1 ^ key0, 0xCD9E8D57u * c.c2,
                     __umulhi(0xD2511F53u, c.c0) ^ c.c3 ^ key1, 0xD2511F53u * c.c0};
}
#else
struct PhiloxState {
  unsigned long long c0, c1, c2, c3;
};
static inline PhiloxState philox_round(PhiloxState c, unsigned key0, unsigned key1) {
  const unsigned long long p0 = 0xD2511F53ull * (c.c0 & 0xffffffffull), p1 = 0xCD9E8D57ull * (c.c2 & 0xffffffffull);
  return PhiloxState{(p1 >> 32) ^ c.c1 ^ key0, p1, (p0 >> 32) ^ c.c3 ^ key1, p0};
}
#endif
static inline PhiloxState philox_begin(PhiloxWords w) { return PhiloxState{w.w0, w.w1, w.w2, w.w3}; }
static inline PhiloxWords philox_end(PhiloxState c) {
  return PhiloxWords{(unsigned)c.c0, (unsigned)c.c1, (unsigned)c.c2, (unsigned)c.c3};
}
static inline PhiloxWords philox(PhiloxWords counter, unsigned key0, unsigned key1) {
  PhiloxState c = philox_begin(counter);
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) c = philox_round(c, key0, key1);
  return philox_end(c);
}
static inline PhiloxWords philox_counter(unsigned long long stream, unsigned long long block, unsigned attempt) {
  return PhiloxWords{(unsigned)block, (unsigned)(stream >> 32) << 16 | ((unsigned)(block >> 32) & 0xffffu),
                     (unsigned)stream, attempt};
}
static inline PhiloxWords philox_block(unsigned long long seed, unsigned long long stream, unsigned long long block,
                                       unsigned attempt) {
  return philox(philox_counter(stream, block, attempt), (unsigned)seed, (unsigned)(seed >> 32));
}
/// philox_block for rare calls: its loop stays rolled, so that the code around it stays small.
static inline PhiloxWords seldom_philox_block(unsigned long long seed, unsigned long long stream,
                                              unsigned long long block, unsigned attempt) {
  PhiloxState c = philox_begin(philox_counter(stream, block, attempt));
  unsigned key0 = (unsigned)seed, key1 = (unsigned)(seed >> 32);
#pragma unroll 1
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) c = philox_round(c, key0, key1);
  return philox_end(c);
}

}  // namespace iruka::random
