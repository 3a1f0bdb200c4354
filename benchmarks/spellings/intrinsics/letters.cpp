// Bytes: case, characters of UTF-8, a pattern, edit distances of kBytes pairs at a time.
#include "lanes.h"

extern "C" void fold_case(const uint8_t* text, int64_t count, uint8_t* folded, int64_t threads) {
  in_parts(count, threads, [=](int64_t i, int64_t end) {
    const auto one = [](uint8_t c) { return static_cast<uint8_t>(c >= 'A' && c <= 'Z' ? c + 32 : c); };
    for (; i < end && reinterpret_cast<uintptr_t>(folded + i) % kBytes; ++i) folded[i] = one(text[i]);
    for (; i + kBytes <= end; i += kBytes) {
      const Bytes c = load_as<Bytes>(text + i);
      const Bytes found = c - bytes('A') < bytes(26) ? c + bytes(32) : c;
      stream(folded + i, reinterpret_cast<Float>(found));
    }
    for (; i < end; ++i) folded[i] = one(text[i]);
  });
}

namespace {

/// The bytes of a row from `k` on, zeros behind its end.
Bytes bytes_at(const uint8_t* row, int64_t k, int64_t width) {
  if (k + kBytes <= width) return load_as<Bytes>(row + k);
  uint8_t rest[kBytes] = {};
  if (k < width) std::copy(row + k, row + width, rest);
  return load_as<Bytes>(rest);
}

}  // namespace

extern "C" void utf8_length(const uint8_t* text, int64_t width, int64_t rows, int32_t* length, int64_t threads) {
  in_parts(rows, threads, [=](int64_t row, int64_t end) {
    for (; row < end; ++row) {
      int count = 0;
      for (int64_t k = 0; k < width; k += kBytes) {
        const Bytes c = bytes_at(text + row * width, k, width);
        const uint64_t zeros = where_equal(c, bytes(0)), middles = where_equal(c & bytes(0xc0), bytes(0x80));
        const uint64_t before = zeros ? (zeros & -zeros) - 1 : ~uint64_t{0} >> (64 - kBytes);
        count += __builtin_popcountll(~middles & before);
        if (zeros) break;
      }
      length[row] = count;
    }
  });
}

extern "C" void count_pattern(const uint8_t* text, int64_t width, int64_t rows, int32_t* found, int64_t threads) {
  in_parts(rows, threads, [=](int64_t row, int64_t end) {
    for (; row < end; ++row) {
      const uint8_t* const from = text + row * width;
      int count = 0;
      uint64_t t = 0, h = 0;  // of the vector before, whose last bytes may begin the pattern
      for (int64_t k = 0; k < width; k += kBytes) {
        const Bytes c = bytes_at(from, k, width);
        const uint64_t next_t = where_equal(c, bytes('t')), next_h = where_equal(c, bytes('h'));
        const uint64_t th = (next_t << 1 | t >> (kBytes - 1)) & next_h;
        count += __builtin_popcountll((th << 1 | h >> (kBytes - 1)) & where_equal(c, bytes('e')));
        t = next_t, h = th;
      }
      found[row] = count;
    }
  });
}

namespace {

using Few = uint8_t __attribute__((vector_size(kLanes)));

/// Letter k of kBytes words of 12 letters, for each k.
void turn_words(const uint8_t* words, Bytes to[12]) {
  uint8_t letters[12][kBytes];
  for (int part = 0; part < 4; ++part)
    for (int word = 0; word < 3; ++word) {
      const auto* from = reinterpret_cast<const int32_t*>(words + part * kLanes * 12) + word;
      const Words four = reinterpret_cast<Words>(gather(from, counting_ints() * 3));
      for (int k = 0; k < 4; ++k)
        store_as(letters[4 * word + k] + part * kLanes, __builtin_convertvector(four >> 8 * k & 255, Few));
    }
  for (int k = 0; k < 12; ++k) to[k] = load_as<Bytes>(letters[k]);
}

Bytes distances(const uint8_t* a, const uint8_t* b) {
  Bytes s[12], t[12], row[13];
  turn_words(a, s);
  turn_words(b, t);
  for (int k = 0; k <= 12; ++k) row[k] = bytes(k);
  for (int p = 0; p < 12; ++p) {
    Bytes diagonal = row[0];
    row[0] = bytes(p + 1);
#pragma clang loop unroll(full)
    for (int q = 0; q < 12; ++q) {
      const Bytes above = row[q + 1];
      const Bytes changed = s[p] == t[q] ? diagonal : diagonal + bytes(1);
      row[q + 1] = least(changed, least(above, row[q]) + bytes(1));
      diagonal = above;
    }
  }
  return row[12];
}

}  // namespace

extern "C" void edit_distance(const uint8_t* a, const uint8_t* b, int64_t count, int32_t* distance, int64_t threads) {
  in_parts(count, threads, [=](int64_t i, int64_t end) {
    for (; i < end; i += kBytes) {
      const int64_t size = std::min<int64_t>(kBytes, end - i);
      uint8_t first[12 * kBytes] = {}, second[12 * kBytes] = {}, found[kBytes];
      const bool is_whole = size == kBytes;
      if (!is_whole) std::copy_n(a + 12 * i, 12 * size, first), std::copy_n(b + 12 * i, 12 * size, second);
      store_as(found, is_whole ? distances(a + 12 * i, b + 12 * i) : distances(first, second));
      for (int64_t k = 0; k < size; ++k) distance[i + k] = found[k];
    }
  });
}
