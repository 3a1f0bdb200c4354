#include "ops/reduce/reduction_emit_cuda.h"

#include <algorithm>

#include "ops/elementwise/cast_text.h"
#include "ops/reduce/reduction_plan_cuda.h"
#include "ops/reduce/reduction_text.h"

namespace iruka::ops {
namespace {

using Row = ReductionFunction::Row;

std::string number(int64_t value) { return std::to_string(value); }

// `map` gives a Narrow: what few elements may be added in before they go to an accumulator.
constexpr const char* kMaps = R"(
template <class X> inline Narrow cast(X x) { return Narrow(x); }
inline Narrow nonzero(C x) { return Narrow(x != C(0)); }
inline C number_or(C x, int other) { return x == x ? x : C(other); }
)";

// Two values at once. Sums are of few elements at first, and then in wider types.
constexpr const char* kPair = R"(
template <class F, class S> struct Pair {
  F first;
  S second;
  Pair() = default;
  Pair(F a, S b) : first(a), second(b) {}
  template <class G, class T> explicit Pair(const Pair<G, T>& other) : first(F(other.first)), second(S(other.second)) {}
};
)";

constexpr const char* kRealMagnitudes = R"(
inline A magnitude(C x) { return A(x < C(0) ? -x : x); }
inline A squared_magnitude(C x) { return A(x) * A(x); }
)";

constexpr const char* kComplexMagnitudes = R"(
inline A magnitude(C x) { return A(hypot(x.real(), x.imag())); }
inline A squared_magnitude(C x) { return A(x.real()) * A(x.real()) + A(x.imag()) * A(x.imag()); }
)";

// A Word is what a thread loads at once.
constexpr const char* kWords = R"(
struct Lanes { In lane[kLanes]; };
inline C lane_of(const Word& word, int v) { return widen(__builtin_bit_cast(Lanes, word).lane[v]); }
inline ptrdiff_t stride_of([[maybe_unused]] const Arguments& a) { return kDense ? sizeof(In) : a.stride; }
inline C element(const char* p, ptrdiff_t i, ptrdiff_t stride) { return widen(*(const In*)(p + i * stride)); }
inline Word load(const char* p, ptrdiff_t k, ptrdiff_t stride) {
  return *(const Word*)(p + k * (kLanes > 1 ? (ptrdiff_t)sizeof(Word) : stride));
}
)";

// Rows of `width` partial results to the first row, in a tree of fixed shape.
// Here and below: the compiler takes its time over what it unrolls, so it does where that pays alone.
constexpr const char* kFold = R"(
inline void fold(Partial* cells, int rows, int width) {
#pragma unroll 1
  for (; rows > 1; rows = (rows + 1) / 2) {
    const int half = (rows + 1) / 2, count = (rows - half) * width;
    __syncthreads();
#pragma unroll 1
    for (int k = threadIdx.x; k < count; k += kThreads) cells[k] = combine(cells[k], cells[k + half * width]);
  }
  __syncthreads();
}
)";

// Every `lanes`-th chunk of an output, four loads at a time.
constexpr const char* kJoin = R"(
inline Partial joined(const Arguments& a, ptrdiff_t output, Index lane, int lanes) {
  Partial value = start_partial();
#pragma unroll 1
  for (; lane < (Index)a.chunks; lane += 4 * lanes) {
    Partial parts[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const Index chunk = lane + u * lanes;
      parts[u] = start_partial();
      if (chunk < (Index)a.chunks) parts[u] = ((const Partial*)a.partial)[chunk * (ptrdiff_t)a.outputs + output];
    }
    value = combine(value, combine(combine(parts[0], parts[1]), combine(parts[2], parts[3])));
  }
  return value;
}
)";

// One thread's part of a row: whole words where they are aligned, elements at the row's ends.
constexpr const char* kWalk = R"(
inline int head_of(const char* p, int n) {
  const int head = kLanes > 1 ? int((0 - (size_t)p) % sizeof(Word) / sizeof(In)) : 0;
  return head < n ? head : n;
}
inline A value_of(const Word& word) {
  Narrow x[kLanes];
#pragma unroll
  for (int v = 0; v < kLanes; ++v) x[v] = map(lane_of(word, v));
HALVES  return A(x[0]);
}
)";

constexpr const char* kSumWalk = R"(
inline A walk(const char* p, int n, ptrdiff_t stride, int lane, int lanes) {
  const int head = head_of(p, n), words = (n - head) / kLanes, edges = n - words * kLanes;
  A sums[kLoads];
#pragma unroll
  for (int u = 0; u < kLoads; ++u) sums[u] = start();
#pragma unroll 1
  for (int k = kLanes > 1 ? lane : edges; k < edges; k += lanes)
    sums[1] = combine(sums[1], A(map(element(p, k < head ? k : k + words * kLanes, stride))));
  p += head * stride;
#pragma unroll 1
  for (int k = lane; k < words; k += kLoads * lanes) {
    Word word[kLoads];
#pragma unroll
    for (int u = 0; u < kLoads; ++u)
      if (k + u * lanes < words) word[u] = load(p, k + u * lanes, stride);
#pragma unroll
    for (int u = 0; u < kLoads; ++u)
      if (k + u * lanes < words) sums[u] = combine(sums[u], value_of(word[u]));
  }
  if constexpr (kLoads == 4) sums[0] = combine(sums[0], sums[2]), sums[1] = combine(sums[1], sums[3]);
  return combine(sums[0], sums[1]);
}
)";

// argmin: the best word first, then the element in it.
constexpr const char* kBestWalk = R"(
inline Best walk(const char* p, int n, ptrdiff_t stride, int lane, int lanes, long long first, ptrdiff_t step) {
  const int head = head_of(p, n), words = (n - head) / kLanes, edges = n - words * kLanes;
  Best best = start_best();
#pragma unroll 1
  for (int k = kLanes > 1 ? lane : edges; k < edges; k += lanes) {
    const int i = k < head ? k : k + words * kLanes;
    best = combine(best, Best{element(p, i, stride), first + i * step});
  }
  p += head * stride;
  C value = start();
  int at = -1;
#pragma unroll 1
  for (int k = lane; k < words; k += kLoads * lanes) {
    Word word[kLoads];
#pragma unroll
    for (int u = 0; u < kLoads; ++u)
      if (k + u * lanes < words) word[u] = load(p, k + u * lanes, stride);
#pragma unroll
    for (int u = 0; u < kLoads; ++u)
      if (k + u * lanes < words) {
        const C found = value_of(word[u]);
        if ((at < 0) | beats(found, value)) value = found, at = k + u * lanes;
      }
  }
  if (at < 0) return best;
  int i = at * kLanes;
#pragma unroll 1
  while (kLanes > 1 && !ties(element(p, i, stride), value)) ++i;
  return combine(best, Best{value, first + (head + i) * step});
}
)";

// A thread's columns of some rows, added to its accumulators.
constexpr const char* kSumColumns = R"(
template <int kRows> inline void add_rows(A* sums, const Word* word, const ptrdiff_t*) {
#pragma unroll
  for (int v = 0; v < kLanes; ++v) {
    Narrow x = map(lane_of(word[0], v));
    if constexpr (kRows >= 2) x = combine(x, map(lane_of(word[1], v)));
    if constexpr (kRows == 4) x = combine(x, combine(map(lane_of(word[2], v)), map(lane_of(word[3], v))));
    sums[v] = combine(sums[v], A(x));
  }
}
inline A partial_of(C x, ptrdiff_t) { return A(map(x)); }
)";

constexpr const char* kBestColumns = R"(
template <int kRows> inline void add_rows(Best* sums, const Word* word, const ptrdiff_t* index) {
#pragma unroll
  for (int u = 0; u < kRows; ++u)
#pragma unroll
    for (int v = 0; v < kLanes; ++v) sums[v] = combine(sums[v], Best{lane_of(word[u], v), index[u]});
}
)";

// var: the moments of a few loads' elements are joined to the thread's.
constexpr const char* kMomentsWalk = R"(
inline Moments one(A value) { return {value, A(0), R(0), 1}; }
inline Moments walk(const char* p, int n, ptrdiff_t stride, int lane, int lanes) {
  const int head = head_of(p, n), words = (n - head) / kLanes, edges = n - words * kLanes;
  Moments all = start_moments();
#pragma unroll 1
  for (int k = kLanes > 1 ? lane : edges; k < edges; k += lanes)
    all = combine(all, one(map(element(p, k < head ? k : k + words * kLanes, stride))));
  p += head * stride;
#pragma unroll 1
  for (int k = lane; k < words; k += kLoads * lanes) {
    Word word[kLoads];
    A sum = start(), pivot = start();
    R squares = R(0);
    int count = 0;
#pragma unroll
    for (int u = 0; u < kLoads; ++u)
      if (k + u * lanes < words) word[u] = load(p, k + u * lanes, stride), count += kLanes;
    pivot = map(lane_of(word[0], 0));
#pragma unroll
    for (int u = 0; u < kLoads; ++u)
      if (k + u * lanes < words) {
#pragma unroll
        for (int v = 0; v < kLanes; ++v) sum = combine(sum, map(lane_of(word[u], v)) - pivot);
      }
    const A mean = sum / R(count);
#pragma unroll
    for (int u = 0; u < kLoads; ++u)
      if (k + u * lanes < words) {
#pragma unroll
        for (int v = 0; v < kLanes; ++v) squares += square_of((map(lane_of(word[u], v)) - pivot) - mean);
      }
    all = combine(all, Moments{pivot, mean, squares, (double)count});
  }
  return all;
}
)";

constexpr const char* kMomentsColumns = R"(
template <int kRows> inline void add_rows(Moments* sums, const Word* word, const ptrdiff_t*) {
#pragma unroll
  for (int v = 0; v < kLanes; ++v) {
    const A pivot = map(lane_of(word[0], v));
    A mean = start();
    R squares = R(0);
#pragma unroll
    for (int u = 1; u < kRows; ++u) mean = combine(mean, map(lane_of(word[u], v)) - pivot);
    mean = mean / R(kRows);
#pragma unroll
    for (int u = 0; u < kRows; ++u) squares += square_of((map(lane_of(word[u], v)) - pivot) - mean);
    sums[v] = combine(sums[v], Moments{pivot, mean, squares, (double)kRows});
  }
}
inline Moments partial_of(C x, ptrdiff_t) { return {map(x), A(0), R(0), 1}; }
)";

constexpr const char* kColumns = R"(
template <int kRows> inline void take_rows(const Arguments& a, Partial* sums, const char* p, Index row) {
  Word word[kRows];
  ptrdiff_t index[kRows];
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    const char* q = p;
    index[u] = 0;
    locate_reduced(a, row + u * a.row_lanes, q, index[u]);
    word[u] = load(q, 0, 0);
  }
  add_rows<kRows>(sums, word, index);
}
)";

class Emitter {
 public:
  Emitter(const Row& row, const ReductionVariant& variant) : row_(row), variant_(variant) {}

  std::string text() {
    types();
    arguments();
    out_ += kWords;
    partials();
    if (is_rows()) walk();
    if (has_columns())
      out_ += std::string(indexed() ? kBestColumns : moments() ? kMomentsColumns : kSumColumns) + kColumns;
    out_ += "extern \"C\" __global__ void __launch_bounds__(" + number(kBlockThreads) +
            ") iruka_entry(const Arguments a, const ptrdiff_t begin, const ptrdiff_t end) {\n";
    // Raw memory: a shared variable must not be constructed.
    out_ += "__shared__ uint4 memory[" + shared_words() + "];\nconst int thread = threadIdx.x;\n";
    if (variant_.form != ReductionForm::short_rows) out_ += "Partial* cells = (Partial*)memory;\n";
    is_rows() ? rows() : has_columns() ? columns() : short_rows();
    return std::move(out_) + "}\n";
  }

 private:
  bool indexed() const { return row_.rule == ResultRule::index; }
  bool moments() const { return row_.rule == ResultRule::moments; }
  bool pairs() const { return carries_pair(row_.rule); }
  bool is_rows() const { return variant_.form == ReductionForm::rows; }
  bool is_periodic() const { return variant_.form == ReductionForm::periodic; }
  bool has_columns() const { return variant_.form == ReductionForm::columns || is_periodic(); }
  int64_t lanes() const { return variant_.vector_bytes ? variant_.vector_bytes / itemsize(variant_.types.input) : 1; }

  std::string shared_words() const {
    if (variant_.form == ReductionForm::short_rows) return number(kTileBytes / 16);
    const std::string cells = number(kBlockThreads) + (has_columns() ? " * kLanes" : "");
    return "(" + cells + " * sizeof(Partial) + 15) / 16";
  }

  /// Where a handful of elements add up exactly in 32 bits, or in float32 with fewer roundings than a pairwise sum has.
  std::string narrow_type() const {
    const ReductionTypes& types = variant_.types;
    if (row_.rule == ResultRule::count) return "int";
    const std::string value = computing_type(types.accumulator);
    if (row_.rule == ResultRule::extremes) return "A";
    if (row_.rule == ResultRule::numbers) return "Pair<" + (types.input == Dtype::float32 ? "float" : value) + ", int>";
    const bool adds = row_.start == Start::zero && (row_.rule == ResultRule::sum || row_.rule == ResultRule::mean);
    if (adds && kind(types.input) < Kind::floating && itemsize(types.input) <= 2) return "int";
    if (adds && types.input == Dtype::float32 && types.output == Dtype::float32) return "float";
    return "A";
  }

  std::string accumulator_type() const {
    if (!pairs()) return "Value";
    return row_.rule == ResultRule::numbers ? "Pair<Value, long long>" : "Pair<Value, Value>";
  }

  void start() {
    const Dtype accumulator = variant_.types.accumulator;
    if (!pairs()) {
      out_ += "inline A start() { return " + start_text(row_.start, accumulator) + "; }\n" + kMaps;
    } else if (row_.rule == ResultRule::numbers) {
      out_ += "using First = decltype(Narrow::first);\ninline A start() { return A(Value(0), 0); }\n";
    } else {
      for (const Start end : {Start::highest, Start::lowest})
        out_ += std::string("template <class A> inline A ") + (end == Start::highest ? "highest" : "lowest") +
                "() { return " + start_text(end, accumulator) + "; }\n";
      out_ += "inline A start() { return A(highest<Value>(), lowest<Value>()); }\n";
    }
  }

  std::string word_type() const {
    switch (lanes() > 1 ? variant_.vector_bytes : 0) {
      case 16:
        return "uint4";
      case 8:
        return "uint2";
      case 4:
        return "unsigned int";
      case 2:
        return "unsigned short";
      default:
        return "In";
    }
  }

  void types() {
    const Dtype input = variant_.types.input, accumulator = variant_.types.accumulator;
    const bool is_bool = input == Dtype::bool_;
    out_ += std::string("using In = ") + (is_bool ? "unsigned char" : info(input).c_type) +
            ";\nusing C = " + computing_type(input) + ";\n" + (pairs() ? kPair : "") +
            "using Value = " + computing_type(accumulator) + ";\nusing A = " + accumulator_type() +
            ";\nusing Out = " + info(variant_.types.output).c_type + ";\nusing Narrow = " + narrow_type() +
            ";\nusing Word = " + word_type() + ";\nusing Index = " + (variant_.is_wide ? "long long" : "unsigned int") +
            ";\nconstexpr int kThreads = " + number(kBlockThreads) + ", kLanes = " + number(lanes()) +
            "; [[maybe_unused]] constexpr int kLoads = " + (lanes() > 4 || indexed() ? "2" : "4") +
            ";\nconstexpr bool kDense = " + (variant_.spacing ? "true" : "false") + ";\n";
    const std::string widened = is_bool ? "value != 0" : cast_text(input, computing_dtype(input), "value");
    out_ += "inline C widen(In value) { return C(" + widened + "); }\n";
    start();
    if (row_.rule == ResultRule::length) out_ += kind(input) == Kind::complex ? kComplexMagnitudes : kRealMagnitudes;
    out_ += std::string("inline Narrow map(C x) { return ") + row_.map +
            "; }\ntemplate <class V> inline V combine(V a, V b) { return " + row_.combine + "; }\n";
  }

  void partials() {
    if (indexed()) {
      out_ += best_text(row_.start) +
              "using Partial = Best;\ninline Best start_partial() { return start_best(); }\n"
              "inline Out finish(Best best, double) { return best.index; }\n";
    } else if (moments()) {
      const Dtype squares = real_dtype(variant_.types.accumulator);
      out_ += moments_text(variant_.types.accumulator) +
              "using Partial = Moments;\ninline Moments start_partial() { return start_moments(); }\n"
              "inline Out finish(Moments m, double count) {\n  const R value = " +
              row_.finish + ";\n  return " + output_text(squares, variant_.types.output) + ";\n}\n";
    } else {
      out_ += std::string(
                  "using Partial = A;\ninline A start_partial() { return start(); }\n"
                  "inline Out finish(A a, [[maybe_unused]] double count) {\n  const Value value = Value(") +
              row_.finish + ");\n  return " + output_text(variant_.types.accumulator, variant_.types.output) + ";\n}\n";
    }
    if (variant_.form != ReductionForm::short_rows) out_ += kFold;
    if (variant_.is_chunked) out_ += kJoin;
  }

  void walk() {
    std::string walk = kWalk, halves;
    for (int64_t half = lanes() / 2; half; half /= 2)
      for (int64_t v = 0; v < half; ++v)
        halves += "  x[" + number(v) + "] = combine(x[" + number(v) + "], x[" + number(v + half) + "]);\n";
    walk.replace(walk.find("HALVES"), 6, halves);
    out_ += walk + (indexed() ? kBestWalk : moments() ? kMomentsWalk : kSumWalk);
  }

  void arguments() {
    const std::string kept = number(std::max(variant_.kept_rank, 1)),
                      reduced = number(std::max(variant_.reduced_rank, 1));
    out_ +=
        "struct Arguments {\n  const char* x;\n  char *out, *partial;\n  ptrdiff_t stage, chunks, outputs;\n"
        "  double count;\n  ptrdiff_t out_offset, rows, rows_per_chunk, parts, part_length, strips, extent, stride, "
        "step;\n"
        "  ptrdiff_t kept_extent[" +
        kept + "], kept_stride[" + kept + "], kept_step[" + kept + "];\n  ptrdiff_t reduced_extent[" + reduced +
        "], reduced_stride[" + reduced + "], reduced_step[" + reduced +
        "];\n  int units, lane_bits, slot_bits, lanes, row_lanes, strip_width, rest;\n};\n";
    locate("kept", variant_.kept_rank);
    locate("reduced", variant_.reduced_rank);
  }

  /// Moves a byte offset and a step count to element `number` of a group of axes.
  void locate(const std::string& group, int rank) {
    out_ += "inline void locate_" + group +
            "([[maybe_unused]] const Arguments& a, [[maybe_unused]] Index number, [[maybe_unused]] const char*& p, "
            "[[maybe_unused]] ptrdiff_t& steps) {\n";
    for (int axis = rank - 1; axis >= 0; --axis) {
      const std::string index = "[" + number(axis) + "]", c = "c" + number(axis), extent = "extent" + number(axis);
      out_ += axis ? "  const Index " + extent + " = (Index)a." + group + "_extent" + index + ", " + c +
                         " = number % " + extent + ";\n  number /= " + extent + ";\n"
                   : "  const Index c0 = number;\n";
      out_ += "  p += (ptrdiff_t)" + c + " * a." + group + "_stride" + index + ";\n  steps += (ptrdiff_t)" + c +
              " * a." + group + "_step" + index + ";\n";
    }
    out_ += "}\n";
  }

  /// The rows of a unit: those of `group`.
  std::string row_range(const std::string& group) const {
    if (!variant_.is_chunked) return "const Index first = 0, last = (Index)a.rows;\n";
    return "const Index first = (Index)" + group +
           " * (Index)a.rows_per_chunk;\n"
           "const Index last = min((Index)a.rows, first + (Index)a.rows_per_chunk);\n";
  }

  // Threads by lane, then unit, then row: neighbouring units are neighbours in memory.
  void rows() {
    out_ +=
        "const int lane = thread & ((1 << a.lane_bits) - 1), slot = thread >> a.lane_bits & (a.units - 1);\n"
        "const int row_lane = thread >> (a.lane_bits + a.slot_bits), group = kThreads / a.units;\n"
        "const Index unit = (Index)begin + (Index)blockIdx.x * (Index)a.units + slot;\n"
        "Partial value = start_partial();\nptrdiff_t at = a.out_offset;\n";
    if (variant_.is_chunked)
      out_ += "if (a.stage) {\nat = unit;\nif (unit < (Index)end) value = joined(a, unit, row_lane, group);\n} else ";
    out_ += "if (unit < (Index)end) {\n";
    unit_of_rows();
    out_ +=
        "}\nif (group > 1) {\ncells[((row_lane << a.lane_bits) + lane) * a.units + slot] = value;\n"
        "fold(cells, group, a.units);\nvalue = cells[slot];\n}\n"
        "if (unit >= (Index)end || lane != 0 || row_lane != 0) return;\n";
    if (variant_.is_chunked) out_ += "if (!a.stage) {\n((Partial*)a.partial)[at] = value;\nreturn;\n}\n";
    out_ += "((Out*)a.out)[at] = finish(value, a.count);\n";
  }

  void unit_of_rows() {
    const bool has_rows = variant_.reduced_rank > 0;
    out_ += variant_.is_chunked ? "const Index chunk = unit % (Index)a.chunks, place = unit / (Index)a.chunks;\n"
                                : "const Index place = unit;\n";
    out_ += "const char* base = a.x;\nlocate_kept(a, place, base, at);\n";
    if (variant_.is_chunked) {
      out_ += std::string("const ptrdiff_t from = (ptrdiff_t)(") + (has_rows ? "chunk % (Index)a.parts" : "chunk") +
              ") * a.part_length;\nconst int length = (int)min(a.extent - from, a.part_length);\n"
              "base += from * stride_of(a);\nat += (ptrdiff_t)chunk * a.outputs;\n";
    } else {
      out_ += "const ptrdiff_t from = 0;\nconst int length = (int)a.extent;\n";
    }
    if (has_rows)
      out_ += row_range("(chunk / (Index)a.parts)") +
              "#pragma unroll 1\n"
              "for (Index row = first + row_lane; row < last; row += kThreads >> (a.lane_bits + a.slot_bits)) ";
    out_ += "{\nconst char* p = base;\n[[maybe_unused]] ptrdiff_t index = from * a.step;\n";
    if (has_rows) out_ += "locate_reduced(a, row, p, index);\n";
    out_ += std::string("value = combine(value, walk(p, length, stride_of(a), lane, 1 << a.lane_bits") +
            (indexed() ? ", index, a.step" : "") + "));\n}\n";
  }

  void short_rows() {
    out_ +=
        "const int n = (int)a.extent;\nconst ptrdiff_t first = begin + (ptrdiff_t)blockIdx.x * a.units;\n"
        "const int rows = (int)min((ptrdiff_t)a.units, end - first), count = rows * n, words = count / kLanes;\n"
        "const char* p = a.x + first * n * (ptrdiff_t)sizeof(In);\nIn* tile = (In*)memory;\n"
        "#pragma unroll 4\nfor (int k = thread; k < words; k += kThreads) ((Word*)memory)[k] = load(p, k, "
        "sizeof(In));\n"
        "#pragma unroll 1\nfor (int k = words * kLanes + thread; k < count; k += kThreads) tile[k] = ((const "
        "In*)p)[k];\n"
        "__syncthreads();\n#pragma unroll 1\nfor (int row = thread; row < rows; row += kThreads) {\nPartial value = "
        "start_partial();\n"
        "#pragma unroll 1\nfor (int k = 0; k < n; ++k) value = combine(value, ";
    out_ += indexed()   ? "Best{widen(tile[row * n + k]), k}"
            : moments() ? "Moments{map(widen(tile[row * n + k])), A(0), R(0), 1}"
                        : "A(map(widen(tile[row * n + k])))";
    out_ += ");\n((Out*)a.out)[a.out_offset + first + row] = finish(value, a.count);\n}\n";
  }

  // Threads by column, then unit, then row. In the end a thread has `mine` results to store, from cells[cell] on.
  void columns() {
    out_ +=
        "int rows = a.row_lanes, width = a.strip_width * a.units, mine = thread < width, cell = thread;\n"
        "ptrdiff_t at, step = 1;\n";
    if (variant_.is_chunked)
      out_ +=
          "if (a.stage) {\nrows = kThreads / a.units, width = a.units;\n"
          "const int slot = thread & (width - 1);\nat = begin + (ptrdiff_t)blockIdx.x * width + slot;\n"
          "mine = thread < width && at < end;\n"
          "if (at < end) cells[thread] = joined(a, at, thread >> a.slot_bits, rows);\n} else ";
    out_ += "{\n";
    unit_of_columns();
    out_ += "}\nfold(cells, rows, width);\n#pragma unroll 1\nfor (int v = 0; v < mine; ++v, at += step) ";
    if (variant_.is_chunked) out_ += "if (!a.stage) ((Partial*)a.partial)[at] = cells[cell + v];\nelse ";
    out_ += "((Out*)a.out)[at] = finish(cells[cell + v], a.count);\n";
  }

  void unit_of_columns() {
    out_ +=
        "const int group = thread / a.lanes, own = (thread - group * a.lanes) * kLanes;\n"
        "const int row_lane = group / a.units, slot = group - row_lane * a.units;\n"
        "Index place = (Index)begin + (Index)blockIdx.x * (Index)a.units + slot;\nconst bool exists = place < "
        "(Index)end;\n"
        "const ptrdiff_t column = (ptrdiff_t)(place % (Index)a.strips) * a.strip_width;\nplace /= (Index)a.strips;\n";
    if (variant_.is_chunked) out_ += "const Index chunk = place % (Index)a.chunks;\nplace /= (Index)a.chunks;\n";
    out_ +=
        "const char* p = a.x;\nat = a.out_offset + column * a.step, step = a.step;\nlocate_kept(a, place, p, at);\n" +
        row_range("chunk") + "p += column * stride_of(a);\n";
    if (variant_.is_chunked) out_ += "at += (ptrdiff_t)chunk * a.outputs;\n";
    out_ +=
        "if (row_lane < rows) {\nPartial sums[kLanes];\n"
        "#pragma unroll\nfor (int v = 0; v < kLanes; ++v) sums[v] = start_partial();\n";
    // Strips are whole words wide.
    out_ += is_periodic() ? "if (exists) " : "if (exists && column + own < a.extent) ";
    out_ +=
        "{\nconst char* q = p + own * stride_of(a);\nIndex row = first + row_lane;\n#pragma unroll 1\n"
        "for (; row + (kLoads - 1) * rows < last; row += kLoads * rows) take_rows<kLoads>(a, sums, q, row);\n"
        "#pragma unroll 1\nfor (; row < last; row += rows) take_rows<1>(a, sums, q, row);\n}\n"
        "#pragma unroll\nfor (int v = 0; v < kLanes; ++v) cells[row_lane * width + slot * a.strip_width + own + v] = "
        "sums[v];\n}\n";
    is_periodic() ? end_periods() : end_columns();
  }

  void end_columns() {
    out_ +=
        "mine = exists && row_lane == 0 && column + own < a.extent ? kLanes : 0;\n"
        "cell = slot * a.strip_width + own, at += own * step;\n";
  }

  // A period's accumulators repeat along the strip; what does not fill a strip is added to the first ones.
  void end_periods() {
    out_ +=
        "const int period = (int)a.extent;\nif (last == (Index)a.rows) {\n__syncthreads();\n"
        "p += a.rows * a.reduced_stride[0];\n#pragma unroll 1\nfor (int k = thread; k < a.rest; k += kThreads)\n"
        "cells[k] = combine(cells[k], partial_of(element(p, k, sizeof(In)), 0));\n}\n"
        "rows *= width / period, width = period;\nmine = thread < period, at += thread * step;\n";
  }

  const Row& row_;
  const ReductionVariant& variant_;
  std::string out_;
};

}  // namespace

std::string emit_reduction_cuda(const Row& row, const ReductionVariant& variant) {
  return Emitter(row, variant).text();
}

}  // namespace iruka::ops
