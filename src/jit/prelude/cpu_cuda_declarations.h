// CUDA's vector types and functions, without bodies: in front of a GPU's text that Clang only parses.
#pragma once

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDA_ARCH__ 900
#undef __shared__
#define __shared__
#undef __syncthreads
#define __syncthreads() ((void)0)
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define IRUKA_VECTORS(name, type)                 \
  struct name##1 { type x; };                     \
  struct name##2 { type x, y; };                  \
  struct name##3 { type x, y, z; };               \
  struct name##4 { type x, y, z, w; };            \
  name##1 make_##name##1(type x);                 \
  name##2 make_##name##2(type x, type y);         \
  name##3 make_##name##3(type x, type y, type z); \
  name##4 make_##name##4(type x, type y, type z, type w)
IRUKA_VECTORS(char, signed char);
IRUKA_VECTORS(uchar, unsigned char);
IRUKA_VECTORS(short, short);
IRUKA_VECTORS(ushort, unsigned short);
IRUKA_VECTORS(int, int);
IRUKA_VECTORS(uint, unsigned);
IRUKA_VECTORS(long, long);
IRUKA_VECTORS(ulong, unsigned long);
IRUKA_VECTORS(longlong, long long);
IRUKA_VECTORS(ulonglong, unsigned long long);
IRUKA_VECTORS(float, float);
IRUKA_VECTORS(double, double);
#undef IRUKA_VECTORS
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  operator uint3() const;
};
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
extern const int warpSize;
#define memcpy __builtin_memcpy
#define memset __builtin_memset
#define printf __builtin_printf

namespace iruka {
template <class Word> void store_word(Word* to, Word word);
void publish_word(uint4* to, uint4 word);
uint4 published_word(const uint4* from);
unsigned agreeing_lanes(unsigned digit, unsigned bit);
unsigned* grid_counter();
}  // namespace iruka

template <class T> T __shfl_sync(unsigned mask, T x, int lane, int width = 32);
template <class T> T __shfl_up_sync(unsigned mask, T x, unsigned delta, int width = 32);
template <class T> T __shfl_down_sync(unsigned mask, T x, unsigned delta, int width = 32);
template <class T> T __shfl_xor_sync(unsigned mask, T x, int lanes, int width = 32);
unsigned __activemask();
unsigned __ballot_sync(unsigned mask, int predicate);
int __any_sync(unsigned mask, int predicate);
int __all_sync(unsigned mask, int predicate);
template <class T> unsigned __match_any_sync(unsigned mask, T x);
template <class T> unsigned __match_all_sync(unsigned mask, T x, int* predicate);
