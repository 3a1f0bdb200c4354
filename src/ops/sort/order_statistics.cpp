#include "ops/sort/order_statistics.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/device.h"
#include "core/parallel.h"
#include "iruka/sorting.h"
#include "ops/elementwise/cast_text.h"
#include "ops/sort/vector_sort.h"

namespace iruka::ops {
namespace {

constexpr int64_t kGrainElements = 8192;  ///< the fewest elements of a thread
constexpr int64_t kLongRow = 1 << 17;     ///< a row that threads share
constexpr int64_t kPiece = 1 << 16;       ///< elements of a long row that a thread takes
constexpr int kKeyBits = 12;              ///< of the key, which give an element's approximate rank

/// Where each row of a strided array begins.
class Rows {
 public:
  explicit Rows(const Array& x) : x_(x), n_(x.shape(x.ndim() - 1)), stride_(x.strides()[x.ndim() - 1]) {}
  int64_t n() const { return n_; }
  int64_t count() const { return n_ ? x_.size() / n_ : 0; }
  int64_t stride() const { return stride_; }
  const char* operator[](int64_t row) const {
    const char* p = static_cast<const char*>(x_.data());
    for (int axis = x_.ndim() - 2; axis >= 0; --axis) {
      p += row % x_.shape(axis) * x_.strides()[axis];
      row /= x_.shape(axis);
    }
    return p;
  }

 private:
  const Array& x_;
  int64_t n_, stride_;
};

template <class T>
bool is_nan(T value) {
  return value != value;
}

template <class T>
T element(const char* row, int64_t k, int64_t stride) {
  return *reinterpret_cast<const T*>(row + k * stride);
}

/// Copies a row. False if it has a NaN.
template <class T>
bool take_row(const char* row, int64_t n, int64_t stride, T* to) {
  bool has_nan = false;
  for (int64_t k = 0; k < n; ++k) {
    to[k] = element<T>(row, k, stride);
    has_nan |= is_nan(to[k]);
  }
  return !has_nan;
}

/// A requested rank, and the row of the result for it.
struct WantedRank {
  int64_t rank, place;
};
using WantedRanks = std::span<const WantedRank>;  ///< ascending

template <class T>
void select_in(T* first, T* last, WantedRanks ranks, int64_t offset, T* out, int64_t out_step) {
  T* from = first;
  for (const auto& [rank, place] : ranks) {
    T* const at = first + (rank - offset);
    if (at >= from) {
      if constexpr (kIsVectorSorted<T>)
        vector_select(from, at - from, last - from);
      else
        std::nth_element(from, at, last);
      from = at + 1;
    }
    out[place * out_step] = *at;
  }
}

/// The number's highest bits, as an unsigned number in the same order.
template <class T>
size_t key_of(T value) {
  using Bits = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  constexpr int kBits = sizeof(T) * 8, kKept = std::min(kBits, kKeyBits);
  Bits bits = std::bit_cast<Bits>(value == T(0) ? T(0) : value);  // both zeros alike
  constexpr Bits kSign = Bits(1) << (kBits - 1);
  if constexpr (std::is_floating_point_v<T>)
    bits = bits & kSign ? Bits(~bits) : Bits(bits | kSign);
  else if constexpr (std::is_signed_v<T>)
    bits = Bits(bits ^ kSign);
  return static_cast<size_t>(bits >> (kBits - kKept));
}

/// A long row: threads count the elements of each key, and gather those whose key contains a requested rank. Another
/// thread may change the row in between: then there are more or fewer elements of that key than counted.
template <class T>
class LongRow {
 public:
  LongRow(const char* row, int64_t n, int64_t stride) : row_(row), n_(n), stride_(stride) {}

  void select(WantedRanks ranks, T* out, int64_t out_step) {
    if (!count()) {
      for (size_t k = 0; k < ranks.size(); ++k)
        out[static_cast<int64_t>(k) * out_step] = std::numeric_limits<T>::quiet_NaN();
      return;
    }
    std::vector<int64_t> before(kKeys + 1);
    std::partial_sum(counts_.begin(), counts_.end(), before.begin() + 1);
    for (size_t k = 0; k < ranks.size();) {
      const auto key =
          static_cast<size_t>(std::upper_bound(before.begin(), before.end(), ranks[k].rank) - before.begin() - 1);
      size_t end = k + 1;
      while (end < ranks.size() && ranks[end].rank < before[key + 1]) ++end;
      std::vector<T> found = gather(key);
      select_in(found.data(), found.data() + found.size(), ranks.subspan(k, end - k), before[key], out, out_step);
      k = end;
    }
  }

 private:
  static constexpr size_t kKeys = size_t{1} << kKeyBits;
  int64_t pieces() const { return (n_ + kPiece - 1) / kPiece; }

  /// False if there is a NaN.
  bool count() {
    counts_.assign(kKeys, 0);
    std::vector<std::atomic<int64_t>> shared(kKeys);
    std::atomic<bool> has_nan{false};
    parallel_for(pieces(), 1, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> own(4 * kKeys);  // four counters a key, so that increments of one key are independent
      bool nan = false;
      const int64_t last = std::min(n_, end * kPiece);
      for (int64_t k = begin * kPiece; k < last; ++k) {
        const T value = element<T>(row_, k, stride_);
        nan |= is_nan(value);
        ++own[(static_cast<size_t>(k) & 3) * kKeys + key_of(value)];
      }
      if (nan) has_nan = true;
      for (size_t key = 0; key < kKeys; ++key)
        if (const int64_t sum = own[key] + own[kKeys + key] + own[2 * kKeys + key] + own[3 * kKeys + key])
          shared[key].fetch_add(sum, std::memory_order_relaxed);
    });
    for (size_t key = 0; key < kKeys; ++key) counts_[key] = shared[key].load(std::memory_order_relaxed);
    return !has_nan;
  }

  std::vector<T> gather(size_t wanted) const {
    std::vector<T> found(static_cast<size_t>(counts_[wanted]));
    std::atomic<int64_t> next{0};
    parallel_for(pieces(), 1, [&](int64_t begin, int64_t end) {
      std::vector<T> own(kPiece);
      for (int64_t piece = begin; piece < end; ++piece) {
        int64_t size = 0;
        const int64_t last = std::min(n_, (piece + 1) * kPiece);
        for (int64_t k = piece * kPiece; k < last; ++k) {
          const T value = element<T>(row_, k, stride_);
          own[static_cast<size_t>(size)] = value;
          size += key_of(value) == wanted && !is_nan(value);
        }
        const int64_t place = next.fetch_add(size, std::memory_order_relaxed);
        const int64_t space = std::max<int64_t>(std::ssize(found) - place, 0);
        std::copy_n(own.begin(), std::min(size, space), found.end() - space);
      }
    });
    return found;
  }

  const char* row_;
  int64_t n_, stride_;
  std::vector<int64_t> counts_;
};

template <class T>
void select_rows(const Array& x, WantedRanks ranks, const Array& result) {
  const Rows rows(x);
  T* const out = static_cast<T*>(result.data());
  if (rows.n() >= kLongRow && rows.count() < 16) {
    for (int64_t row = 0; row < rows.count(); ++row)
      LongRow<T>(rows[row], rows.n(), rows.stride()).select(ranks, out + row, rows.count());
    return;
  }
  parallel_for(rows.count(), kGrainElements / rows.n() + 1, [&](int64_t begin, int64_t end) {
    std::vector<T> scratch(static_cast<size_t>(rows.n()));
    for (int64_t row = begin; row < end; ++row) {
      if (take_row(rows[row], rows.n(), rows.stride(), scratch.data())) {
        select_in(scratch.data(), scratch.data() + rows.n(), ranks, 0, out + row, rows.count());
      } else {
        for (size_t k = 0; k < ranks.size(); ++k)
          out[row + static_cast<int64_t>(k) * rows.count()] = std::numeric_limits<T>::quiet_NaN();
      }
    }
  });
}

template <class T>
void select_weighted_rows(const Array& x, const Array& weights, std::span<const double> quantiles,
                          const Array& result) {
  const Rows rows(x), weight_rows(weights);
  T* const out = static_cast<T*>(result.data());
  const Array orders = argsort(x);
  parallel_for(rows.count(), kGrainElements / rows.n() + 1, [&](int64_t begin, int64_t end) {
    std::vector<double> sums(static_cast<size_t>(rows.n()));
    for (int64_t row = begin; row < end; ++row) {
      const int64_t* const order = static_cast<const int64_t*>(orders.data()) + row * rows.n();
      const char* const weight = weight_rows[row];
      double sum = 0;
      for (size_t k = 0; k < sums.size(); ++k) sums[k] = sum += element<double>(weight, order[k], weight_rows.stride());
      if (!(sum > 0) || std::isinf(sum)) throw ValueError("Weights included NaN, inf or were all zero.");
      for (double& each : sums) each = each == 0 ? -1 : each / sum;
      const T last = element<T>(rows[row], order[rows.n() - 1], rows.stride());
      for (size_t k = 0; k < quantiles.size(); ++k) {
        const int64_t at = std::lower_bound(sums.begin(), sums.end(), quantiles[k]) - sums.begin();
        const T found = element<T>(rows[row], order[std::min(at, rows.n() - 1)], rows.stride());
        out[row + static_cast<int64_t>(k) * rows.count()] = is_nan(last) ? last : found;
      }
    }
  });
}

template <class Call>
void for_dtype(Dtype dtype, Call&& call) {
  switch (dtype) {
    case Dtype::bool_:
    case Dtype::uint8: return call(uint8_t());
    case Dtype::int8: return call(int8_t());
    case Dtype::int16: return call(int16_t());
    case Dtype::int32: return call(int32_t());
    case Dtype::int64: return call(int64_t());
    case Dtype::uint16: return call(uint16_t());
    case Dtype::uint32: return call(uint32_t());
    case Dtype::uint64: return call(uint64_t());
    case Dtype::float32: return call(float());
    default: return call(double());
  }
}

void check(const char* function, const Array& x) {
  if (is_complex(x.dtype())) throw TypeError(std::string(function) + ": an array of real numbers is needed");
  if (!x.device().target().is_host)
    throw DeviceError(std::string(function) + ": runs only on the CPU, but the array is on " + x.device().name());
}

Dims result_shape(const Array& x, size_t count) {
  Dims shape{static_cast<int64_t>(count)};
  for (int axis = 0; axis + 1 < x.ndim(); ++axis) shape.push_back(x.shape(axis));
  return shape;
}

/// Converts float16 and bfloat16 through float32, which represents them exactly.
template <class Run>
Array by_float32(const Array& x, Run&& run) {
  return run(x.astype(Dtype::float32)).astype(x.dtype());
}

}  // namespace

Array select_ranks(const Array& x, std::span<const int64_t> ranks) {
  check("select_ranks", x);
  if (is_half(x.dtype())) return by_float32(x, [&](const Array& wide) { return select_ranks(wide, ranks); });
  Array result = Array::empty(result_shape(x, ranks.size()), x.dtype(), x.device());
  std::vector<WantedRank> wanted;
  for (const int64_t rank : ranks) {
    if (rank < 0 || rank >= x.shape(x.ndim() - 1))
      throw IndexError("select_ranks: rank " + std::to_string(rank) + " is out of bounds for rows of " +
                       std::to_string(x.shape(x.ndim() - 1)));
    wanted.push_back({rank, static_cast<int64_t>(wanted.size())});
  }
  std::ranges::sort(wanted, {}, &WantedRank::rank);
  if (result.size() > 0) for_dtype(x.dtype(), [&](auto t) { select_rows<decltype(t)>(x, wanted, result); });
  return result;
}

Array select_weighted(const Array& x, const Array& weights, std::span<const double> quantiles) {
  check("select_weighted", x);
  if (is_half(x.dtype()))
    return by_float32(x, [&](const Array& wide) { return select_weighted(wide, weights, quantiles); });
  Array result = Array::empty(result_shape(x, quantiles.size()), x.dtype(), x.device());
  if (result.size() > 0)
    for_dtype(x.dtype(), [&](auto t) { select_weighted_rows<decltype(t)>(x, weights, quantiles, result); });
  return result;
}

}  // namespace iruka::ops
