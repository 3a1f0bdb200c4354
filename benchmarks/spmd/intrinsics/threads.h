// Splits a range among threads, as baseline/baseline.cpp does.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

/// part(begin, end) on `threads` threads; parts begin at multiples of 64.
template <class Part>
void in_parts(int64_t n, int64_t threads, Part&& part) {
  const int64_t step = (n / threads + 63) / 64 * 64;
  std::vector<std::thread> others;
  for (int64_t t = 1; t < threads; ++t)
    others.emplace_back([&, t] { part(std::min(n, t * step), t + 1 == threads ? n : std::min(n, (t + 1) * step)); });
  part(int64_t{0}, threads == 1 ? n : std::min(n, step));
  for (std::thread& other : others) other.join();
}

/// Chunks taken in turn by whoever is free, for work of unequal length.
template <class Part>
void in_turns(int64_t n, int64_t threads, int64_t chunk, Part&& part) {
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t begin; (begin = next.fetch_add(chunk)) < n;) part(begin, std::min(n, begin + chunk));
  };
  std::vector<std::thread> others;
  for (int64_t t = 1; t < threads; ++t) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}
