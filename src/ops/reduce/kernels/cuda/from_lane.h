// The lanes of a warp exchange values of any type as words.
#pragma once

template <class T> static __forceinline__ T _reduce_from_lane(const T& value, int distance) {
  unsigned words[(sizeof(T) + 3) / 4] = {};
  memcpy(words, &value, sizeof(T));
  for (int k = 0; k < int((sizeof(T) + 3) / 4); ++k) words[k] = __shfl_down_sync(0xffffffffu, words[k], distance);
  T result = value;
  memcpy(&result, words, sizeof(T));
  return result;
}
