// Histograms of pictures and what equalisation makes of them. Texts include this file; none fuses a multiplication with
// an addition.
#pragma once

namespace iruka::image {

/// A picture whose axes are (height, width, channels) or (channels, height, width), in tiles. Index is int, or int64_t
/// for large pictures.
template <class Index> struct Tiling {
  Index height, width, channels;
  Index tile_height, tile_width, rows, columns;
};
template <class Index> struct PixelPlace {
  Index y, x, channel;
};
template <bool kHasPlanes, class Index>
IRUKA_INLINE PixelPlace<Index> place_of(const Tiling<Index>& job, Index i) {
  const Index size = kHasPlanes ? job.width : job.channels, rest = i / size, last = i - rest * size;
  const Index middle_size = kHasPlanes ? job.height : job.width, first = rest / middle_size;
  const Index middle = rest - first * middle_size;
  if (kHasPlanes) return {middle, last, first};
  return {first, middle, last};
}

/// Where value `i` of a picture is counted, of (channels, rows, columns, levels).
template <bool kHasPlanes, int kLevels, class Index>
IRUKA_INLINE Index count_place(const Tiling<Index>& job, Index i, int value) {
  const PixelPlace<Index> at = place_of<kHasPlanes>(job, i);
  const Index tile = (at.channel * job.rows + at.y / job.tile_height) * job.columns + at.x / job.tile_width;
  return tile * kLevels + value;
}

/// The first level of a channel that occurs: `sums` of `levels` rises from 0.
template <class Sums> IRUKA_INLINE long long first_level(const Sums& sums, long long begin, int levels) {
  long long low = begin, count = levels;
  while (count > 0) {
    const long long half = count / 2;
    if (sums[low + half] > 0) {
      count = half;
    } else {
      low += half + 1;
      count -= half + 1;
    }
  }
  return low;
}

/// The nearest level, ties to even.
IRUKA_INLINE float nearest_level(double value, int levels) {
  value = value > 0.0 ? value : 0.0;
  value = value < double(levels - 1) ? value : double(levels - 1);
  return float((value + 6755399441055744.0) - 6755399441055744.0);
}

/// What equalisation makes of level i % kLevels. uint8 is scaled in float32, as OpenCV does.
template <int kLevels, class Sums> IRUKA_INLINE float equalized_level(const Sums& sums, long long i) {
  const long long begin = i / kLevels * kLevels, first = first_level(sums, begin, kLevels);
  const long long least = sums[first], all = sums[begin + kLevels - 1];
  if (all == least) return float(i - begin);
  const long long above = sums[i] - least;
  if (kLevels > 256) return nearest_level(double(above) * (double(kLevels - 1) / double(all - least)), kLevels);
  const float scale = float(kLevels - 1) / float(all - least);
  return nearest_level(double(float(above) * scale), kLevels);
}

/// A count of a tile that is clipped, with its share of what was cut off from all.
template <int kLevels> IRUKA_INLINE long long clipped_count(long long count, long long limit, long long excess,
                                                            long long i) {
  const long long level = i % kLevels, each = excess / kLevels, left = excess - each * kLevels;
  count = (count < limit ? count : limit) + each;
  if (left == 0) return count;
  const long long step = kLevels / left > 1 ? kLevels / left : 1;
  return count + (level % step == 0 && level / step < left ? 1 : 0);
}

/// The two tiles between whose centres a place lies, and the share of the second.
struct NeighbourTiles {
  int first, second;
  float share;
};
IRUKA_INLINE NeighbourTiles tiles_at(int place, float per_tile, int tiles) {
  const float at = float(place) * per_tile - 0.5f, whole = floorf(at);
  const int first = int(whole), second = first + 1;
  return {first > 0 ? first : 0, second < tiles ? second : tiles - 1, at - whole};
}

/// Value `i` of a picture by the tables (channels, rows, columns, levels) of its tiles.
template <bool kHasPlanes, int kLevels, class Index, class Table>
IRUKA_INLINE float interpolated_level(const Tiling<Index>& job, const Table& table, Index i, int value) {
  const PixelPlace<Index> at = place_of<kHasPlanes>(job, i);
  const NeighbourTiles down = tiles_at(int(at.y), 1.0f / float(job.tile_height), int(job.rows));
  const NeighbourTiles across = tiles_at(int(at.x), 1.0f / float(job.tile_width), int(job.columns));
  const auto level = [&](int row, int column) {
    return float(table[((at.channel * job.rows + row) * job.columns + column) * kLevels + value]);
  };
  const float left = 1.0f - across.share, up = 1.0f - down.share;
  const float above = level(down.first, across.first) * left + level(down.first, across.second) * across.share;
  const float below = level(down.second, across.first) * left + level(down.second, across.second) * across.share;
  return nearest_level(double(above * up + below * down.share), kLevels);
}

/// The standard deviation of integers by their sum and that of their squares. These become the sums of the distances
/// from the integer next to the mean, which are small and exact.
IRUKA_INLINE double level_deviation(int64_t sum, int64_t squares, int64_t pixels) {
  const int64_t middle = (sum + pixels / 2) / pixels, apart = sum - pixels * middle;
  const int64_t squares_apart = squares - 2 * middle * sum + pixels * middle * middle;
  const double count = double(pixels);
  return sqrt((double(squares_apart) - double(apart) * double(apart) / count) / count);
}

}  // namespace iruka::image
