// The loops of approximate patch matching by trees, a part of patch_lanes.h. Lanes are patches of the second picture,
// or patterns; a patch of the first picture is broadcast to all of them.

/// Copies the bytes of a patch one after the other, and some that follow.
IRUKA_PATCH_INLINE void pack_bytes(const PatchRows& from, const uint8_t* at, uint8_t* to) {
  constexpr int64_t kSmall = 16, kLarge = 32;
  using Small __attribute__((vector_size(kSmall), aligned(1), may_alias)) = uint8_t;
  using Large __attribute__((vector_size(kLarge), aligned(1), may_alias)) = uint8_t;
  for (int64_t k = 0; k < from.patch; ++k, at += from.line, to += from.bytes) {
    if (from.bytes <= kSmall) {
      *reinterpret_cast<Small*>(to) = *reinterpret_cast<const Small*>(at);
    } else {
      for (int64_t j = 0; j < from.bytes; j += kLarge)
        *reinterpret_cast<Large*>(to + j) = *reinterpret_cast<const Large*>(at + j);
    }
  }
}

/// The words of a patch, whose numbers are signed, from -128 on, or unsigned. What follows the patch in its last word
/// is not defined.
template <bool kIsSigned>
IRUKA_PATCH_INLINE void pack_patch(const PatchRows& from, const uint8_t* at, int64_t words, int32_t* to) {
  if constexpr (kWordNumbers == 4) {
    pack_bytes(from, at, reinterpret_cast<uint8_t*>(to));
    if constexpr (kIsSigned)
      for (int64_t k = 0; k < words; k += Words::count)
        Words::store(Words::load(to + k) ^ Words::all(static_cast<int32_t>(0x80808080)), to + k);
  } else {
    uint8_t* const bytes = reinterpret_cast<uint8_t*>(to + words);
    pack_bytes(from, at, bytes);
    for (int64_t k = 0; k < words; ++k) {
      const int32_t first = bytes[2 * k] - (kIsSigned ? 128 : 0), second = bytes[2 * k + 1] - (kIsSigned ? 128 : 0);
      to[k] = static_cast<int32_t>((static_cast<uint32_t>(second) << 16) | (static_cast<uint32_t>(first) & 0xffff));
    }
  }
}

void patch_features(const PatchRows& from, const PatchPatterns& patterns, int64_t y, int64_t x, int64_t count,
                    int32_t* scratch, int32_t* features) {
  constexpr int kVectors = static_cast<int>(kFeatures) / Words::count;
  for (int64_t k = 0; k < count; ++k, features += kFeatures) {
    pack_patch<false>(from, from.at(y, x + k), patterns.count, scratch);
    Word sums[kVectors]{};
    for (int64_t word = 0; word < patterns.count; ++word) {
      const Word patch = Words::all(scratch[word]);
      repeat<kVectors>([&](auto j) IRUKA_PATCH_LAMBDA {
        const int32_t* const pattern = patterns.words + word * kFeatures + j.value * Words::count;
        sums[j.value] = add_products(sums[j.value], patch, Words::load(pattern));
      });
    }
    repeat<kVectors>([&](auto j)
                         IRUKA_PATCH_LAMBDA { Words::store(sums[j.value], features + j.value * Words::count); });
  }
}

/// Pixels of a leaf, and its patches, lie anywhere in their pictures.
IRUKA_PATCH_INLINE void prefetch(const PatchRows& from, const uint8_t* at) {
  for (int64_t k = 0; k < from.patch; ++k, at += from.line) __builtin_prefetch(at);
}
constexpr int64_t kAhead = 8;  // patches
IRUKA_PATCH_INLINE const uint8_t* patch_at(const PatchRows& from, int64_t width, int32_t label) {
  const auto columns = static_cast<uint32_t>(width), number = static_cast<uint32_t>(label);
  return from.at(number / columns, number % columns);
}

/// A leaf's patches in words, (words, lanes), with what scores lack of twice the products.
struct PackedLeaf {
  int64_t words, lanes;  ///< lanes: whole vectors
  int32_t *patches, *squares, *labels;
};

IRUKA_PATCH_INLINE PackedLeaf pack_leaf(const LeafScan& job, int32_t* patch) {
  PackedLeaf leaf;
  leaf.words = job.b.words(kWordNumbers);
  leaf.lanes = (job.item_count + Words::count - 1) / Words::count * Words::count;
  leaf.squares = job.scratch;
  leaf.labels = leaf.squares + kMostItems;
  leaf.patches = leaf.labels + kMostItems;
  const int64_t numbers = job.b.patch * job.b.bytes - (leaf.words - 1) * kWordNumbers;  // of the last word
  const auto last = static_cast<int32_t>(~uint32_t{0} >> (32 - 32 / kWordNumbers * numbers));
  for (int64_t k = 0; k < leaf.lanes; ++k) {
    const int32_t label = job.items[k < job.item_count ? k : 0];
    if (k + kAhead < job.item_count) prefetch(job.b, patch_at(job.b, job.b_width, job.items[k + kAhead]));
    pack_patch<false>(job.b, patch_at(job.b, job.b_width, label), leaf.words, patch);
    patch[leaf.words - 1] &= last;
    for (int64_t word = 0; word < leaf.words; ++word) leaf.patches[word * leaf.lanes + k] = patch[word];
    leaf.labels[k] = label;
  }
  constexpr int kBits = 32 / kWordNumbers;
  for (int64_t k = 0; k < leaf.lanes; k += Words::count) {
    Word sum{};
    for (int64_t word = 0; word < leaf.words; ++word) {
      const Word packed = Words::load(leaf.patches + word * leaf.lanes + k);
      repeat<kWordNumbers>([&](auto j) IRUKA_PATCH_LAMBDA {
        const Word value = (packed >> (j.value * kBits)) & 255;
        sum += value * (value - 256);
      });
    }
    Words::store(sum, leaf.squares + k);
  }
  for (int64_t k = job.item_count; k < leaf.lanes; ++k) leaf.squares[k] = kNoPatch;
  return leaf;
}

/// Puts a candidate among those of a pixel that are kept, if it is near enough.
IRUKA_PATCH_INLINE void keep_label(int64_t kept, int32_t* scores, int32_t* labels, int32_t score, int32_t label) {
  const auto is_behind = [&](int64_t k) { return scores[k] < score || (scores[k] == score && labels[k] > label); };
  if (!is_behind(kept - 1)) return;
  for (int64_t k = 0; k < kept; ++k)
    if (labels[k] == label) return;
  int64_t k = kept - 1;
  for (; k > 0 && is_behind(k - 1); --k) {
    scores[k] = scores[k - 1];
    labels[k] = labels[k - 1];
  }
  scores[k] = score;
  labels[k] = label;
}

/// A bit for each lane of a mask.
IRUKA_PATCH_INLINE unsigned lane_bits(Word mask) {
#if defined(__AVX512F__)
  return _mm512_movepi32_mask((__m512i)mask);
#elif defined(__AVX2__)
  return static_cast<unsigned>(_mm256_movemask_ps((__m256)mask));
#elif defined(__SSE2__)
  return static_cast<unsigned>(_mm_movemask_ps((__m128)mask));
#else
  unsigned bits = 0;
  for (int lane = 0; lane < Words::count; ++lane) bits |= (mask[lane] & 1U) << lane;
  return bits;
#endif
}

template <int kPixels>
void scan_pixels(const LeafScan& job, const PackedLeaf& leaf, const int32_t* pixels, int32_t* patches) {
  const int64_t words = leaf.words, size = words + Words::count, last = job.kept - 1;
  int32_t *scores[kPixels], *labels[kPixels];
  repeat<kPixels>([&](auto q) IRUKA_PATCH_LAMBDA {
    const int64_t pixel = pixels[q.value];
    // From the first on, because a patch's copy ends behind its words.
    pack_patch<true>(job.a, patch_at(job.a, job.a_width, pixels[q.value]), words, patches + q.value * size);
    scores[q.value] = job.scores + pixel * job.kept;
    labels[q.value] = job.labels + pixel * job.kept;
  });
  for (int64_t k = 0; k < leaf.lanes; k += Words::count) {
    Word sums[kPixels]{};
    for (int64_t word = 0; word < words; ++word) {
      const Word b = Words::load(leaf.patches + word * leaf.lanes + k);
      repeat<kPixels>([&](auto q) IRUKA_PATCH_LAMBDA {
        sums[q.value] = add_products(sums[q.value], b, Words::all(patches[q.value * size + word]));
      });
    }
    const Word squares = Words::load(leaf.squares + k);
    repeat<kPixels>([&](auto q) IRUKA_PATCH_LAMBDA {
      const Word found = sums[q.value] * 2 - squares, worst = Words::all(scores[q.value][last]);
      if (__builtin_expect(!is_any(found >= worst), 1)) return;
      const Word others = Words::load(leaf.labels + k), other = Words::all(labels[q.value][last]);
      if (!is_any((found > worst) | ((found == worst) & (others < other)))) return;
      int32_t lanes[Words::count];
      Words::store(found, lanes);
      for (unsigned left = lane_bits(found >= worst); left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        keep_label(job.kept, scores[q.value], labels[q.value], lanes[lane], leaf.labels[k + lane]);
      }
    });
  }
}

void scan_leaf(const LeafScan& job) {
  int32_t* const patches = job.scratch + (2 + job.b.words(kWordNumbers)) * kMostItems;
  const PackedLeaf leaf = pack_leaf(job, patches);
  int64_t k = 0;
  for (; k + kScanned <= job.pixel_count; k += kScanned) {
    for (int64_t next = k + kAhead; next < job.pixel_count && next < k + kAhead + kScanned; ++next) {
      prefetch(job.a, patch_at(job.a, job.a_width, job.pixels[next]));
      __builtin_prefetch(job.scores + int64_t{job.pixels[next]} * job.kept, 1);
      __builtin_prefetch(job.labels + int64_t{job.pixels[next]} * job.kept, 1);
    }
    scan_pixels<static_cast<int>(kScanned)>(job, leaf, job.pixels + k, patches);
  }
  for (; k < job.pixel_count; ++k) scan_pixels<1>(job, leaf, job.pixels + k, patches);
}
