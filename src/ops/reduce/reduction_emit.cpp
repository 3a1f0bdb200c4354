#include "ops/reduce/reduction_emit.h"

#include <algorithm>

#include "ops/elementwise/cast_text.h"
#include "ops/reduce/kernel_texts.h"
#include "ops/reduce/reduction_text.h"

namespace iruka::ops {
namespace {

using Row = ReductionFunction::Row;

std::string number(int64_t value) { return std::to_string(value); }

/// The type whose vectors hold the stored elements.
std::string raw_type(Dtype dtype) {
  if (dtype == Dtype::float16) return "_Float16";
  return dtype == Dtype::bfloat16 ? "unsigned short" : computing_type(dtype);
}

// Sixteen vectors are added one after another; sums of sixteen are the leaves of a binary tree, kept as a binary
// counter is: level l holds the sum of 2^l leaves. The error grows with the logarithm of the length.
constexpr const char* kTree = R"(
struct Accumulator {
  VA lanes = start_lanes();
  A rest = start();
  ptrdiff_t leaves = 0;
  VA levels[48];
  __attribute__((noinline)) void add_leaf(const VA* leaf) {
    VA v = *leaf;
    int level = 0;
    for (ptrdiff_t carry = leaves; carry & 1; carry >>= 1) v = combine(levels[level++], v);
    levels[level] = v;
    ++leaves;
  }
  ptrdiff_t add_blocks(const char* p, ptrdiff_t last, ptrdiff_t stride) {
    ptrdiff_t i = 0;
    for (; i + 15 * W <= last; i += 16 * W) {
      VA v = start_lanes();
#pragma clang loop unroll(disable)
      for (int k = 0; k < 16; ++k) v = combine(v, load(p + (i + k * W) * stride, stride));
      add_leaf(&v);
    }
    return i;
  }
  void join_leaves() {
    int level = 0;
    for (ptrdiff_t left = leaves; left; left >>= 1, ++level)
      if (left & 1) lanes = combine(lanes, levels[level]);
  }
)";

// Blocks of sixteen vectors are added in the input's float32, blocks in float64: half the work, and fewer float32
// roundings than in any pairwise sum.
constexpr const char* kBlocks = R"(
struct Accumulator {
  VA lanes = start_lanes();
  A rest = start();
  ptrdiff_t add_blocks(const char* p, ptrdiff_t last, ptrdiff_t stride) {
    ptrdiff_t i = 0;
    for (; i + 15 * W <= last; i += 16 * W) {
      VC v = prepare(load_computing(p + i * stride, stride));
      for (int k = 1; k < 16; ++k) v = v + prepare(load_computing(p + (i + k * W) * stride, stride));
      lanes = combine(lanes, cast(v));
    }
    return i;
  }
  void join_leaves() {}
)";

// Booleans are counted in lanes as narrow as the elements, 64 vectors at a time.
constexpr const char* kCounts = R"(
struct Accumulator {
  VA lanes = start_lanes();
  A rest = start();
  ptrdiff_t add_blocks(const char* p, ptrdiff_t last, ptrdiff_t stride) {
    constexpr int kVectors = 64;
    ptrdiff_t i = 0;
    for (; i + (kVectors - 1) * W <= last; i += kVectors * W) {
      auto narrow = load_raw(p + i * stride, stride) != (VRaw)(Raw(0));
      for (int k = 1; k < kVectors; ++k) narrow = narrow + (load_raw(p + (i + k * W) * stride, stride) != (VRaw)(Raw(0)));
      lanes = lanes - __builtin_convertvector(narrow, VA);
    }
    return i;
  }
  void join_leaves() {}
)";

constexpr const char* kPlain = R"(
struct Accumulator {
  VA lanes = start_lanes();
  A rest = start();
  ptrdiff_t add_blocks(const char*, ptrdiff_t, ptrdiff_t) { return 0; }
  void join_leaves() {}
)";

// `last` is where the last vector may begin.
constexpr const char* kAccumulator = R"(
  void row(const char* p, ptrdiff_t n, ptrdiff_t stride) {
    const ptrdiff_t last = n - kReach;
    ptrdiff_t i = add_blocks(p, last, stride);
    for (; i <= last; i += W) lanes = combine(lanes, load(p + i * stride, stride));
    for (; i < n; ++i) rest = combine(rest, map(element(p, i, stride)));
  }
  A result() {
    join_leaves();
    return combine(fold(lanes), rest);
  }
};
)";

constexpr const char* kJoinStage = R"(if (a.stage) {
  for (ptrdiff_t o = begin; o < end; o += kJoined) {
    const ptrdiff_t count = end - o < kJoined ? end - o : kJoined;
    Partial joined[kJoined];
    join(joined, (const Partial*)a.partial + o, a.chunks, a.outputs, count);
    for (ptrdiff_t k = 0; k < count; ++k) ((Out*)a.out)[o + k] = finish(joined[k], a.count);
  }
  return;
}
)";

// Rows added to one accumulator a column, several a pass, so that accumulators are loaded and stored once for all.
constexpr const char* kAddRows = R"(
static inline __attribute__((always_inline)) void add_counted_rows(A* sums, const char* const* p, int count, ptrdiff_t width, ptrdiff_t stride) {
  ptrdiff_t j = 0;
  for (; j <= width - kReach; j += W) {
    VA v;
    __builtin_memcpy(&v, sums + j, sizeof(v));
    ADD
    __builtin_memcpy(sums + j, &v, sizeof(v));
  }
  for (; j < width; ++j)
    for (int k = 0; k < count; ++k) sums[j] = combine(sums[j], map(element(p[k], j, stride)));
}
static inline void add_rows(A* sums, const char* const* p, int count, ptrdiff_t width, ptrdiff_t stride) {
  if (count == 8) return add_counted_rows(sums, p, 8, width, stride);
  add_counted_rows(sums, p, count, width, stride);
}
)";

constexpr const char* kAddEach = "for (int k = 0; k < count; ++k) v = combine(v, load(p[k] + j * stride, stride));";

// As kBlocks: the rows of a pass are added in float32.
constexpr const char* kAddBlock = R"(VC block = prepare(load_computing(p[0] + j * stride, stride));
    for (int k = 1; k < count; ++k) block = block + prepare(load_computing(p[k] + j * stride, stride));
    v = combine(v, cast(block));)";

constexpr const char* kMomentsRest = R"(for (; j < width; ++j)
    for (int k = 0; k < count; ++k) {
      const A d = (map(element(p[k], j, stride)) - pivots[j]) - means[j];
      means[j] = means[j] + d * share[k];
      squares[j] = squares[j] + square_of(d) * (R(1) - share[k]);
    })";

class Emitter {
 public:
  Emitter(const Row& row, const ReductionVariant& variant) : row_(row), variant_(variant) {}

  std::string text() {
    types();
    functions();
    arguments();
    if (variant_.is_chunked) out_ += kernels::join;
    locate();
    out_ +=
        "extern \"C\" void iruka_entry(const unsigned char* block, ptrdiff_t begin, ptrdiff_t end) {\n"
        "const Arguments& a = *(const Arguments*)block;\n";
    if (variant_.is_chunked) out_ += kJoinStage;
    switch (variant_.form) {
      case ReductionForm::rows:
        rows();
        break;
      case ReductionForm::short_rows:
        short_rows();
        break;
      case ReductionForm::columns:
        columns();
        break;
      case ReductionForm::periodic:
        periodic();
        break;
    }
    return std::move(out_) + "}\n";
  }

 private:
  bool indexed() const { return row_.rule == ResultRule::index; }
  bool has_vectors() const { return kind(variant_.types.input) != Kind::complex; }
  bool joins_by_tree() const {
    return !row_.is_exact && computing_dtype(variant_.types.input) == variant_.types.accumulator &&
           kind(variant_.types.accumulator) >= Kind::floating;
  }

  void types() {
    const Dtype input = variant_.types.input, accumulator = variant_.types.accumulator;
    // Any byte but 0 is true, so bools are read as bytes.
    const bool is_bool = input == Dtype::bool_;
    out_ += std::string("using In = ") + (is_bool ? "unsigned char" : info(input).c_type) +
            ";\nusing Raw = " + raw_type(input) + ";\nusing C = " + computing_type(input) +
            ";\nusing A = " + computing_type(accumulator) + ";\nusing Out = " + info(variant_.types.output).c_type +
            ";\n";
    out_ += "constexpr int kSpacing = " + number(variant_.spacing) + ";\n";
    out_ += "static inline A start() { return " + start_text(row_.start, accumulator) + "; }\n";
    const std::string widened = is_bool ? "value != 0" : cast_text(input, computing_dtype(input), "value");
    out_ +=
        "static inline C element(const char* p, ptrdiff_t i, [[maybe_unused]] ptrdiff_t stride) {\n"
        "  const In value = kSpacing ? ((const In*)p)[i * kSpacing] : *(const In*)(p + i * stride);\n  return C(" +
        widened + ");\n}\n";
  }

  void functions() {
    const bool complex = !has_vectors();
    out_ += kernels::scalars;
    out_ += complex ? kernels::complex_magnitudes : kernels::real_magnitudes;
    out_ += std::string("static inline A map(C x) { return ") + row_.map +
            "; }\ntemplate <class V> static inline V combine(V a, V b) { return " + row_.combine + "; }\n";
    const bool has_lanes = variant_.form != ReductionForm::short_rows;
    if (has_lanes && !complex) {
      std::string vectors = kernels::vectors;
      for (size_t at; (at = vectors.find("LANES")) != std::string::npos;) vectors.replace(at, 5, number(lanes()));
      out_ += vectors;
      out_ += std::string("static inline VA map(VC x) { return ") + row_.map + "; }\n";
      widen();
      out_ += kernels::vector_load;
      fold();
    } else if (has_lanes) {
      out_ += kernels::complex_lanes;
      out_ += "constexpr ptrdiff_t kReach = W;\n";
    }
    if (indexed()) {
      std::string best = best_text(row_.start);
      if (is_strips() && !complex) best += kernels::best_rows;
      if (is_rows())
        best = (complex ? kernels::scalar_extreme : kernels::vector_extreme) + best + (complex ? kernels::scalar_skip : kernels::vector_skip) +
               kernels::best_accumulator;
      out_ += best + "using Partial = Best;\nstatic inline Out finish(Best best, double) { return best.index; }\n";
      return;
    }
    if (moments()) return moments_functions();
    if (is_rows()) accumulator();
    if (is_strips()) add_rows();
    const std::string output = output_text(variant_.types.accumulator, variant_.types.output);
    out_ += std::string(
                "using Partial = A;\nstatic inline Out finish(A a, [[maybe_unused]] double count) {\n"
                "  const A value = A(") +
            row_.finish + ");\n  return " + output + ";\n}\n";
  }

  void moments_functions() {
    const bool complex = !has_vectors();
    out_ += moments_text(variant_.types.accumulator);
    if (is_rows()) out_ += std::string(complex ? kernels::moments_of_scalars : kernels::moments_of_vectors) + kernels::moments_accumulator;
    if (is_strips()) {
      std::string rows = complex ? kernels::moments_rows_of_scalars : kernels::moments_rows_of_vectors;
      out_ += rows.replace(rows.find("REST"), 4, kMomentsRest);
    }
    const Dtype squares = real_dtype(variant_.types.accumulator);
    out_ += std::string(
                "using Partial = Moments;\nstatic inline Out finish(Moments m, double count) {\n  const R value = ") +
            row_.finish + ";\n  return " + output_text(squares, variant_.types.output) + ";\n}\n";
  }

  bool moments() const { return row_.rule == ResultRule::moments; }
  bool is_rows() const { return variant_.form == ReductionForm::rows; }
  bool is_strips() const { return !is_rows() && variant_.form != ReductionForm::short_rows; }

  /// Rows need many additions under way; columns, few left over.
  int64_t lanes() const {
    return is_rows() ? 32 : std::min<int64_t>(32, 64 / itemsize(computing_dtype(variant_.types.input)));
  }

  /// Whether float32 may be added in blocks: only where the result is float32 as well.
  bool adds_in_blocks() const {
    return row_.rule == ResultRule::sum && row_.start == Start::zero && variant_.types.input == Dtype::float32 &&
           variant_.types.output == Dtype::float32;
  }

  /// Whether what is added is whether an element is nonzero. Halves are vectors of bits, of which -0 is not zero.
  bool counts_booleans() const {
    const Dtype input = variant_.types.input;
    if (row_.rule == ResultRule::count) return has_vectors() && !is_half(input);
    return row_.rule == ResultRule::sum && row_.start == Start::zero && input == Dtype::bool_ &&
           is_integer(variant_.types.accumulator);
  }

  /// What is cast is what is added: the map is "cast(...)".
  void prepare() { out_ += "static inline VC prepare(VC x) { return " + std::string(row_.map).substr(4) + "; }\n"; }

  void add_rows() {
    if (adds_in_blocks()) prepare();
    std::string text = kAddRows;
    out_ += text.replace(text.find("ADD"), 3, adds_in_blocks() ? kAddBlock : kAddEach);
  }

  void accumulator() {
    if (adds_in_blocks()) {
      prepare();
      out_ += kBlocks;
    } else if (counts_booleans()) {
      out_ += kCounts;
    } else {
      out_ += joins_by_tree() ? kTree : kPlain;
    }
    out_ += kAccumulator;
  }

  /// The lanes of a vector to one value: halves are combined.
  void fold() {
    out_ += "static inline A fold(VA v) {\n";
    std::string whole = "v";
    for (int64_t half = lanes() / 2; half; half /= 2) {
      const std::string name = "v" + number(half);
      out_ += "  const auto " + name + " = combine(" +
              (half > 1 ? whole + ".lo, " + whole + ".hi" : "A(" + whole + "[0]), A(" + whole + "[1])") + ");\n";
      whole = name;
    }
    out_ += "  return " + whole + ";\n}\n";
  }

  void widen() {
    out_ += "static inline VC widen(VRaw raw) {\n";
    if (variant_.types.input == Dtype::bool_) {
      out_ += "  return __builtin_convertvector((raw != 0) & 1, VC);\n}\n";
    } else if (variant_.types.input == Dtype::bfloat16) {
      out_ +=
          "  typedef unsigned VU __attribute__((ext_vector_type(W)));\n"
          "  return __builtin_bit_cast(VC, __builtin_convertvector(raw, VU) << 16);\n}\n";
    } else {
      out_ += "  return __builtin_convertvector(raw, VC);\n}\n";
    }
  }

  void arguments() {
    const std::string kept = number(std::max(variant_.kept_rank, 1)),
                      reduced = number(std::max(variant_.reduced_rank, 1));
    out_ +=
        "struct Arguments {\n  const char* x;\n  char *out, *partial;\n  ptrdiff_t stage, chunks, outputs;\n"
        "  double count;\n  ptrdiff_t out_offset, rows, rows_per_chunk, parts, part_length, strips, extent, stride, "
        "step;\n"
        "  ptrdiff_t kept_extent[" +
        kept + "], kept_stride[" + kept + "], kept_step[" + kept +
        "];\n"
        "  ptrdiff_t reduced_extent[" +
        reduced + "], reduced_stride[" + reduced + "], reduced_step[" + reduced + "];\n};\n";
  }

  /// Moves a byte offset and a step count to element `number` of a group of axes.
  void locate_in(const std::string& group, int rank) {
    out_ += "static inline void locate_" + group +
            "([[maybe_unused]] const Arguments& a, [[maybe_unused]] ptrdiff_t number, [[maybe_unused]] const char*& p, "
            "[[maybe_unused]] ptrdiff_t& steps) {\n";
    for (int axis = rank - 1; axis >= 0; --axis) {
      const std::string index = "[" + std::to_string(axis) + "]", extent = "a." + group + "_extent" + index;
      out_ += axis ? "  const ptrdiff_t c" + std::to_string(axis) + " = number % " + extent +
                         ";\n  number /= " + extent + ";\n"
                   : "  const ptrdiff_t c0 = number;\n";
      out_ += "  p += c" + std::to_string(axis) + " * a." + group + "_stride" + index + ";\n  steps += c" +
              std::to_string(axis) + " * a." + group + "_step" + index + ";\n";
    }
    out_ += "}\n";
  }
  void locate() {
    locate_in("kept", variant_.kept_rank);
    locate_in("reduced", variant_.reduced_rank);
  }

  void begin_unit() {
    out_ += "for (ptrdiff_t unit = begin; unit < end; ++unit) {\n";
    out_ += variant_.is_chunked ? "const ptrdiff_t chunk = unit % a.chunks;\nptrdiff_t place = unit / a.chunks;\n"
                                : "ptrdiff_t place = unit;\n";
    out_ += "const char* base = a.x;\nptrdiff_t at = a.out_offset;\n";
  }

  /// The rows of a unit: those of `group`.
  std::string row_range(const std::string& group) const {
    if (!variant_.is_chunked) return "const ptrdiff_t first = 0, last = a.rows;\n";
    return "const ptrdiff_t first = " + group +
           " * a.rows_per_chunk;\n"
           "const ptrdiff_t last = a.rows - first < a.rows_per_chunk ? a.rows : first + a.rows_per_chunk;\n";
  }

  void rows() {
    begin_unit();
    const bool has_rows = variant_.reduced_rank > 0;
    out_ += "locate_kept(a, place, base, at);\n";
    if (has_rows) out_ += row_range("(chunk / a.parts)");
    if (variant_.is_chunked) {
      out_ += std::string("const ptrdiff_t from = ") + (has_rows ? "chunk % a.parts" : "chunk") +
              " * a.part_length;\n"
              "const ptrdiff_t length = a.extent - from < a.part_length ? a.extent - from : a.part_length;\n"
              "base += from * stride_of(a);\n";
    } else {
      out_ += "const ptrdiff_t from = 0, length = a.extent;\n";
    }
    out_ += "Accumulator accumulator;\n";
    if (has_rows) out_ += "for (ptrdiff_t row = first; row < last; ++row) ";
    out_ += "{\nconst char* p = base;\n[[maybe_unused]] ptrdiff_t index = from * a.step;\n";
    if (has_rows) out_ += "locate_reduced(a, row, p, index);\n";
    out_ += std::string("accumulator.row(p, length, stride_of(a)") + (indexed() ? ", index, a.step" : "") + ");\n}\n";
    out_ += variant_.is_chunked ? "((Partial*)a.partial)[chunk * a.outputs + at] = accumulator.result();\n}\n"
                                : "((Out*)a.out)[at] = finish(accumulator.result(), a.count);\n}\n";
    insert_stride();
  }

  /// A contiguous walk's stride is a constant of the text.
  void insert_stride() {
    const std::string function =
        std::string("static inline ptrdiff_t stride_of([[maybe_unused]] const Arguments& a) { return ") +
        (variant_.spacing ? "kSpacing * sizeof(In)" : "a.stride") + "; }\n";
    out_.insert(out_.find("extern \"C\""), function);
  }

  void short_rows() {
    const std::string n = number(variant_.row_length);
    out_ +=
        "const In* x = (const In*)a.x;\nOut* out = (Out*)a.out;\n"
        "#pragma clang loop vectorize(assume_safety)\nfor (ptrdiff_t o = begin; o < end; ++o) {\n";
    if (indexed()) {
      out_ += "Best value = start_best();\nfor (int k = 0; k < " + n +
              "; ++k) value = combine(value, Best{element((const char*)(x + o * " + n + "), k, 0), k});\n";
    } else if (moments()) {
      const std::string each = "for (int k = 0; k < " + n + "; ++k) ",
                        element = "map(element((const char*)(x + o * " + n + "), k, 0))";
      const std::string distance = "(" + element + " - pivot)";
      out_ += "const A pivot = map(element((const char*)(x + o * " + n + "), 0, 0));\nA mean = start();\n" + each +
              "mean = mean + " + distance + ";\nmean = mean / R(" + n + ");\nR squares = R(0);\n" + each +
              "squares = squares + square_of(" + distance + " - mean);\nconst Moments value{pivot, mean, squares, " +
              n + "};\n";
    } else {
      out_ += "A value = start();\nfor (int k = 0; k < " + n +
              "; ++k) value = combine(value, map(element((const char*)(x + o * " + n + "), k, 0)));\n";
    }
    out_ += "out[o] = finish(value, a.count);\n}\n";
  }

  int64_t strip_width() const { return variant_.form == ReductionForm::periodic ? kPeriodicWidth : kStripWidth; }

  void begin_strip(const std::string& width) {
    const std::string strip = number(strip_width());
    begin_unit();
    out_ += "const ptrdiff_t column = place % a.strips * " + strip +
            ";\nplace /= a.strips;\nlocate_kept(a, place, base, at);\n" + row_range("chunk") +
            "const ptrdiff_t width = a.extent - column < " + strip + " ? a.extent - column : " + strip +
            ";\nbase += column * stride_of(a);\nat += column * a.step;\n";
    if (width != "width") out_ += "const ptrdiff_t " + width + " = " + strip + " / width * width;\n";
    out_ += accumulators(width);
  }

  /// One accumulator a column; those of argmin as two arrays, so that both are vectors.
  std::string accumulators(const std::string& width) const {
    const std::string all = "[" + number(strip_width()) + "]", each = "for (ptrdiff_t j = 0; j < " + width + "; ++j) ";
    if (moments())
      return "A pivots" + all + ", means" + all + ";\nR squares" + all + ";\n" + each +
             "pivots[j] = means[j] = start(), squares[j] = R(0);\n";
    if (!indexed())
      return "A sums" + all + ";\nconst VA none = start_lanes();\nfor (ptrdiff_t j = 0; j < " + width +
             "; j += W) __builtin_memcpy(sums + j, &none, sizeof(none));\n";
    if (rows_are_ordered())
      return "C values" + all + ";\nint rows" + all + ";\n" + each + "values[j] = start(), rows[j] = 0;\n";
    return "C values" + all + ";\nlong long indices" + all + ";\n" + each +
           "values[j] = start(), indices[j] = start_best().index;\n";
  }

  /// Whether rows come in the order of their index, so that the first of equals is the one met first.
  bool rows_are_ordered() const { return variant_.reduced_rank <= 1 && has_vectors(); }

  std::string strip_result() const {
    if (moments())
      return variant_.form == ReductionForm::periodic
                 ? "moments[j]"
                 : "(Moments{pivots[j], means[j], squares[j], double(last - first)})";
    if (!indexed()) return "sums[j]";
    return rows_are_ordered() ? "(Best{values[j], (long long)(first + rows[j]) * a.reduced_step[0]})"
                              : "(Best{values[j], indices[j]})";
  }

  void end_strip() {
    out_ += variant_.is_chunked ? "Partial* to = (Partial*)a.partial + chunk * a.outputs + at;\n"
                                : "Out* to = (Out*)a.out + at;\n";
    out_ += "for (ptrdiff_t j = 0; j < width; ++j) to[j * a.step] = ";
    out_ += variant_.is_chunked ? strip_result() : "finish(" + strip_result() + ", a.count)";
    out_ += ";\n}\n";
    insert_stride();
  }

  /// A loop over rows, eight a pass, around `call`.
  void row_loop(const std::string& call) {
    out_ +=
        "for (; row < last; row += 8) {\nconst char* p[8];\nconst int count = last - row < 8 ? int(last - row) : 8;\n"
        "for (int k = 0; k < count; ++k) p[k] = base, locate_reduced(a, row + k, p[k], index);\n" +
        call + "\n}\n";
  }

  void columns() {
    begin_strip("width");
    out_ += "ptrdiff_t row = first;\n[[maybe_unused]] ptrdiff_t index = 0;\n";
    if (moments()) {
      out_ +=
          "{\nconst char* p = base;\nlocate_reduced(a, first, p, index);\n"
          "for (ptrdiff_t j = 0; j < width; ++j) pivots[j] = map(element(p, j, stride_of(a)));\n}\n";
      row_loop("moments_rows(pivots, means, squares, p, count, row - first, width, stride_of(a));");
    } else if (!indexed()) {
      row_loop("add_rows(sums, p, count, width, stride_of(a));");
    } else if (rows_are_ordered()) {
      row_loop("best_rows(values, rows, p, count, int(row - first), width, stride_of(a));");
    } else {
      out_ +=
          "for (; row < last; ++row) {\nconst char* p = base;\nindex = 0;\nlocate_reduced(a, row, p, index);\n"
          "for (ptrdiff_t j = 0; j < width; ++j) {\nconst C value = element(p, j, stride_of(a));\n"
          "if (beats(value, values[j]) | (ties(value, values[j]) & (index < indices[j])))\n"
          "values[j] = value, indices[j] = index;\n}\n}\n";
    }
    end_strip();
  }

  // Rows lie end to end: as many as fit side by side make one long row, folded at the end.
  void periodic() {
    begin_strip("period");
    out_ +=
        "const char* p[8] = {base + first * a.reduced_stride[0]};\nptrdiff_t n = (last - first) * width;\n"
        "[[maybe_unused]] const ptrdiff_t all = n;\n[[maybe_unused]] ptrdiff_t seen = 0;\n"
        "while (n > 0) {\nint count = 1;\n"
        "for (; count < 8 && n >= (count + 1) * period; ++count) p[count] = p[count - 1] + period * sizeof(In);\n";
    const std::string pivots =
        "for (ptrdiff_t j = 0; seen == 0 && j < period && j < all; ++j) pivots[j] = map(element(p[0], j, "
        "sizeof(In)));\n";
    if (moments()) out_ += pivots;
    out_ += moments() ? "moments_rows(pivots, means, squares, p, count, seen, n < period ? n : period, "
                        "sizeof(In));\nseen += count;\n"
                      : "add_rows(sums, p, count, n < period ? n : period, sizeof(In));\n";
    out_ += "n -= count * period;\np[0] = p[count - 1] + period * sizeof(In);\n}\n";
    if (moments())
      out_ += "Moments moments[" + number(strip_width()) +
              "];\nfor (ptrdiff_t j = 0; j < period; ++j)\n"
              "moments[j] = Moments{pivots[j], means[j], squares[j], double((all - j + period - 1) / period)};\n";
    const std::string sums = moments() ? "moments" : "sums";
    out_ += "for (ptrdiff_t k = width; k < period; k += width)\nfor (ptrdiff_t j = 0; j < width; ++j) " + sums +
            "[j] = combine(" + sums + "[j], " + sums + "[k + j]);\n";
    end_strip();
  }

  const Row& row_;
  const ReductionVariant& variant_;
  std::string out_;
};

}  // namespace

std::string emit_reduction(const Row& row, const ReductionVariant& variant) { return Emitter(row, variant).text(); }

std::vector<std::string> reduction_options(const ReductionVariant& variant) {
  if (variant.form == ReductionForm::short_rows) return {};
  return {"-O1"};
}

}  // namespace iruka::ops
