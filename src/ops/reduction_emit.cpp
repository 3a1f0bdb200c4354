#include "ops/reduction_emit.h"

#include <algorithm>

#include "ops/cast_text.h"

namespace iruka::ops {
namespace {

using Row = ReductionFunction::Row;

std::string number(int64_t value) { return std::to_string(value); }

/// bool is computed in as a byte: vectors of bool are bit masks.
std::string computing_type(Dtype dtype) {
  return dtype == Dtype::bool_ ? "unsigned char" : info(computing_dtype(dtype)).c_type;
}

/// The type whose vectors hold the stored elements.
std::string raw_type(Dtype dtype) {
  if (dtype == Dtype::float16) return "_Float16";
  return dtype == Dtype::bfloat16 ? "unsigned short" : computing_type(dtype);
}

std::string start_text(Start start, Dtype accumulator) {
  if (start == Start::zero) return "A(0)";
  if (start == Start::one) return "A(1)";
  const bool highest = start == Start::highest;
  const std::string infinity = start == Start::nan ? "NAN" : highest ? "INFINITY" : "-INFINITY";
  if (kind(accumulator) == Kind::complex) return "A(" + infinity + ", " + infinity + ")";
  if (kind(accumulator) == Kind::floating) return "A(" + infinity + ")";
  if (accumulator == Dtype::bool_) return highest ? "A(1)" : "A(0)";
  if (kind(accumulator) == Kind::unsigned_integer) return highest ? "A(~A(0))" : "A(0)";
  const std::string most = "A((1ull << (sizeof(A) * 8 - 1)) - 1)";
  return highest ? most : "A(-" + most + " - 1)";
}

// Vectors of the language's extension: 32 lanes whatever the machine, so that results do not depend on it.
constexpr const char* kVectors = R"(
constexpr ptrdiff_t W = 32;
typedef Raw VRaw __attribute__((ext_vector_type(32)));
typedef C VC __attribute__((ext_vector_type(32)));
typedef A VA __attribute__((ext_vector_type(32)));
static inline VA cast(VC x) { return __builtin_convertvector(x, VA); }
static inline VA nonzero(VC x) { return __builtin_convertvector((x != (VC)(C(0))) & 1, VA); }
static inline VC number_or(VC x, int other) { return (x == x) ? x : (VC)(C(other)); }
static inline VA magnitude(VC x) { return cast((x < (VC)(C(0))) ? -x : x); }
static inline VA squared_magnitude(VC x) { return cast(x) * cast(x); }
)";

constexpr const char* kScalars = R"(
template <class X> static inline A cast(X x) { return A(x); }
static inline A nonzero(C x) { return A(x != C(0)); }
static inline C number_or(C x, int other) { return x == x ? x : C(other); }
)";

constexpr const char* kRealMagnitudes = R"(
static inline A magnitude(C x) { return A(x < C(0) ? -x : x); }
static inline A squared_magnitude(C x) { return A(x) * A(x); }
)";

constexpr const char* kComplexMagnitudes = R"(
static inline A magnitude(C x) { return A(hypot(x.real(), x.imag())); }
static inline A squared_magnitude(C x) { return A(x.real()) * A(x.real()) + A(x.imag()) * A(x.imag()); }
)";

// Complex numbers have no vectors: four in a row, so that additions overlap.
constexpr const char* kLanes = R"(
constexpr ptrdiff_t W = 4;
struct VA { A lane[W]; };
static inline VA combine(VA a, VA b) {
  for (int l = 0; l < W; ++l) a.lane[l] = combine(a.lane[l], b.lane[l]);
  return a;
}
static inline VA load(const char* p, [[maybe_unused]] ptrdiff_t stride) {
  VA v;
  for (int l = 0; l < W; ++l) v.lane[l] = map(element(p, l, stride));
  return v;
}
)";

constexpr const char* kVectorLoad = R"(
static inline VC load_computing(const char* p, [[maybe_unused]] ptrdiff_t stride) {
  VRaw raw;
  if constexpr (kContiguous) {
    __builtin_memcpy(&raw, p, sizeof(raw));
  } else {
    Raw buffer[W];
    for (int l = 0; l < W; ++l) __builtin_memcpy(&buffer[l], p + l * stride, sizeof(Raw));
    __builtin_memcpy(&raw, buffer, sizeof(raw));
  }
  return widen(raw);
}
static inline VA load(const char* p, ptrdiff_t stride) { return map(load_computing(p, stride)); }
)";

// Sixteen vectors are added one after another; sums of sixteen are the leaves of a binary tree, kept as a binary
// counter is: level l holds the sum of 2^l leaves. The error grows with the logarithm of the length.
constexpr const char* kAccumulator = R"(
struct Accumulator {
  VA levels[48];
  VA lanes;
  A rest = start();
  ptrdiff_t leaves = 0;
  bool wide = false;
  void add_lanes(VA v) {
    lanes = wide ? combine(lanes, v) : v;
    wide = true;
  }
  void add_leaf(VA v) {
    int level = 0;
    for (ptrdiff_t carry = leaves; carry & 1; carry >>= 1) v = combine(levels[level++], v);
    levels[level] = v;
    ++leaves;
  }
  void row(const char* p, ptrdiff_t n, ptrdiff_t stride) {
    ptrdiff_t i = 0;
    if constexpr (kTree) {
      for (; i + 16 * W <= n; i += 16 * W) {
        VA v = load(p + i * stride, stride);
        for (int k = 1; k < 16; ++k) v = combine(v, load(p + (i + k * W) * stride, stride));
        add_leaf(v);
      }
    }
    if (i + W <= n) {
      VA v = load(p + i * stride, stride);
      for (i += W; i + W <= n; i += W) v = combine(v, load(p + i * stride, stride));
      add_lanes(v);
    }
    for (; i < n; ++i) rest = combine(rest, map(element(p, i, stride)));
  }
  A result() {
    int level = 0;
    for (ptrdiff_t left = leaves; left; left >>= 1, ++level)
      if (left & 1) add_lanes(levels[level]);
    if (!wide) return rest;
    A part[W];
    __builtin_memcpy(part, &lanes, sizeof(part));
    for (int w = W / 2; w; w /= 2)
      for (int l = 0; l < w; ++l) part[l] = combine(part[l], part[l + w]);
    return combine(part[0], rest);
  }
};
)";

// argmin: the least value of each block of a row by vectors, then a search of the one block where it stands.
constexpr const char* kBest = R"(
struct Best {
  C value;
  long long index;
};
static inline bool beats(C b, C a) { return (b BEFORE a) | ((b != b) & (a == a)); }
static inline bool ties(C a, C b) { return (a == b) | ((a != a) & (b != b)); }
static inline Best combine(Best a, Best b) {
  return beats(b.value, a.value) | (ties(b.value, a.value) & (b.index < a.index)) ? b : a;
}
static inline Best start_best() { return {start(), 0x7fffffffffffffffll}; }
struct Accumulator {
  Best best = start_best();
  void row(const char* p, ptrdiff_t n, ptrdiff_t stride, long long first, ptrdiff_t step) {
    constexpr ptrdiff_t kBlock = 1024;
    C value = element(p, 0, stride);
    ptrdiff_t at = 0;
    for (ptrdiff_t i = 0; i < n; i += kBlock) {
      const C least = extreme(p + i * stride, n - i < kBlock ? n - i : kBlock, stride);
      if (beats(least, value)) value = least, at = i;
    }
    while (!ties(element(p, at, stride), value)) ++at;
    best = combine(best, Best{value, first + at * step});
  }
  Best result() { return best; }
};
)";

constexpr const char* kVectorExtreme = R"(
static inline C extreme(const char* p, ptrdiff_t n, ptrdiff_t stride) {
  C value = start();
  ptrdiff_t i = 0;
  if (n >= W) {
    VA v = load(p, stride);
    for (i = W; i + W <= n; i += W) v = combine(v, load(p + i * stride, stride));
    for (int l = 0; l < W; ++l) value = combine(value, v[l]);
  }
  for (; i < n; ++i) value = combine(value, element(p, i, stride));
  return value;
}
)";

constexpr const char* kScalarExtreme = R"(
static inline C extreme(const char* p, ptrdiff_t n, ptrdiff_t stride) {
  C value = start();
  for (ptrdiff_t i = 0; i < n; ++i) value = combine(value, element(p, i, stride));
  return value;
}
)";

// Joins chunks in a tree of fixed shape, in place, for a range of outputs.
constexpr const char* kJoin = R"(
static void join(const Arguments& a, ptrdiff_t begin, ptrdiff_t end) {
  Partial* p = (Partial*)a.partial;
  for (ptrdiff_t width = 1; width < a.chunks; width *= 2)
    for (ptrdiff_t c = 0; c + width < a.chunks; c += 2 * width)
      for (ptrdiff_t o = begin; o < end; ++o)
        p[c * a.outputs + o] = combine(p[c * a.outputs + o], p[(c + width) * a.outputs + o]);
  for (ptrdiff_t o = begin; o < end; ++o) ((Out*)a.out)[o] = finish(p[o], a.count);
}
)";

class Emitter {
 public:
  Emitter(const Row& row, const ReductionVariant& variant) : row_(row), variant_(variant) {}

  std::string text() {
    types();
    functions();
    arguments();
    out_ += variant_.form == ReductionForm::short_rows ? "" : kJoin;
    locate();
    out_ +=
        "extern \"C\" void iruka_entry(const unsigned char* block, ptrdiff_t begin, ptrdiff_t end) {\n"
        "const Arguments& a = *(const Arguments*)block;\n";
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
    out_ += std::string("using In = ") + info(input).c_type + ";\nusing Raw = " + raw_type(input) +
            ";\nusing C = " + computing_type(input) + ";\nusing A = " + computing_type(accumulator) +
            ";\nusing Out = " + info(variant_.types.output).c_type + ";\n";
    out_ += std::string("constexpr bool kContiguous = ") + (variant_.contiguous ? "true" : "false") +
            ", kTree = " + (joins_by_tree() ? "true" : "false") + ";\n";
    out_ += "static inline A start() { return " + start_text(row_.start, accumulator) + "; }\n";
    const std::string widened = cast_text(input, computing_dtype(input), "value");
    out_ +=
        "static inline C element(const char* p, ptrdiff_t i, [[maybe_unused]] ptrdiff_t stride) {\n"
        "  const In value = kContiguous ? ((const In*)p)[i] : *(const In*)(p + i * stride);\n  return C(" +
        widened + ");\n}\n";
  }

  void functions() {
    const bool complex = !has_vectors();
    out_ += kScalars;
    out_ += complex ? kComplexMagnitudes : kRealMagnitudes;
    out_ += std::string("static inline A map(C x) { return ") + row_.map +
            "; }\nstatic inline A combine(A a, A b) { return " + row_.combine + "; }\n";
    if (!complex) {
      out_ += kVectors;
      out_ += std::string("static inline VA map(VC x) { return ") + row_.map +
              "; }\nstatic inline VA combine(VA a, VA b) { return " + row_.combine + "; }\n";
      widen();
      out_ += kVectorLoad;
    } else {
      out_ += kLanes;
    }
    if (indexed()) {
      std::string best = kBest;
      best.replace(best.find("BEFORE"), 6, row_.start == Start::highest ? "<" : ">");
      out_ += (complex ? kScalarExtreme : kVectorExtreme) + best +
              "using Partial = Best;\nstatic inline Out finish(Best best, double) { return best.index; }\n";
      return;
    }
    out_ += kAccumulator;
    const Dtype accumulator = variant_.types.accumulator;
    const std::string output = accumulator == Dtype::bool_ && variant_.types.output == Dtype::bool_
                                   ? "(value != 0)"
                                   : cast_text(computing_dtype(accumulator), variant_.types.output, "value");
    out_ += std::string(
                "using Partial = A;\nstatic inline Out finish(A a, [[maybe_unused]] double count) {\n"
                "  const A value = A(") +
            row_.finish + ");\n  return " + output + ";\n}\n";
  }

  void widen() {
    out_ += "static inline VC widen(VRaw raw) {\n";
    if (variant_.types.input == Dtype::bfloat16) {
      out_ +=
          "  typedef unsigned VU __attribute__((ext_vector_type(32)));\n"
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

  void stage() { out_ += "if (a.stage) return join(a, begin, end);\n"; }

  static constexpr const char* kUnit =
      "for (ptrdiff_t unit = begin; unit < end; ++unit) {\n"
      "ptrdiff_t chunk = 0, place = unit;\n"
      "if (a.chunks > 1) chunk = unit % a.chunks, place = unit / a.chunks;\n";

  void rows() {
    stage();
    out_ += kUnit;
    out_ +=
        "ptrdiff_t group = chunk, part = 0;\nif (a.parts > 1) part = chunk % a.parts, group = chunk / a.parts;\n"
        "const char* base = a.x;\nptrdiff_t at = a.out_offset;\nlocate_kept(a, place, base, at);\n"
        "const ptrdiff_t first = group * a.rows_per_chunk, from = part * a.part_length;\n"
        "const ptrdiff_t last = a.rows - first < a.rows_per_chunk ? a.rows : first + a.rows_per_chunk;\n"
        "const ptrdiff_t length = a.extent - from < a.part_length ? a.extent - from : a.part_length;\n"
        "Accumulator accumulator;\n"
        "for (ptrdiff_t row = first; row < last; ++row) {\n"
        "const char* p = base + from * stride_of(a);\n[[maybe_unused]] ptrdiff_t index = from * a.step;\n"
        "locate_reduced(a, row, p, index);\n";
    out_ += std::string("accumulator.row(p, length, stride_of(a)") + (indexed() ? ", index, a.step" : "") +
            ");\n}\n"
            "const Partial value = accumulator.result();\n"
            "if (a.chunks > 1) ((Partial*)a.partial)[chunk * a.outputs + at] = value;\n"
            "else ((Out*)a.out)[at] = finish(value, a.count);\n}\n";
    insert_stride();
  }

  /// A contiguous walk's stride is a constant of the text.
  void insert_stride() {
    const std::string function =
        std::string("static inline ptrdiff_t stride_of([[maybe_unused]] const Arguments& a) { return ") +
        (variant_.contiguous ? "sizeof(In)" : "a.stride") + "; }\n";
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
    } else {
      out_ += "A value = start();\nfor (int k = 0; k < " + n +
              "; ++k) value = combine(value, map(element((const char*)(x + o * " + n + "), k, 0)));\n";
    }
    out_ += "out[o] = finish(value, a.count);\n}\n";
  }

  void begin_strip(const char* width) {
    stage();
    out_ += kUnit;
    out_ +=
        "ptrdiff_t strip = 0;\nif (a.strips > 1) strip = place % a.strips, place /= a.strips;\n"
        "const char* base = a.x;\nptrdiff_t at = a.out_offset;\nlocate_kept(a, place, base, at);\n"
        "const ptrdiff_t column = strip * " +
        number(kStripWidth) +
        ";\n"
        "const ptrdiff_t first = chunk * a.rows_per_chunk;\n"
        "const ptrdiff_t last = a.rows - first < a.rows_per_chunk ? a.rows : first + a.rows_per_chunk;\n"
        "const ptrdiff_t width = a.extent - column < " +
        number(kStripWidth) + " ? a.extent - column : " + number(kStripWidth) +
        ";\nbase += column * stride_of(a);\nat += column * a.step;\n" + accumulators(width);
  }

  /// One accumulator a column; those of argmin as two arrays, so that both are vectorised.
  std::string accumulators(const std::string& width) const {
    const std::string all = "[" + number(kStripWidth) + "]", each = "for (ptrdiff_t j = 0; j < " + width + "; ++j) ";
    if (!indexed()) return "A sums" + all + ";\n" + each + "sums[j] = start();\n";
    if (rows_are_ordered())
      return "C values" + all + ";\nunsigned rows" + all + ";\n" + each + "values[j] = start(), rows[j] = 0;\n";
    return "C values" + all + ";\nlong long indices" + all + ";\n" + each +
           "values[j] = start(), indices[j] = start_best().index;\n";
  }

  /// Whether rows come in the order of their index, so that the first of equals is the one met first.
  bool rows_are_ordered() const { return variant_.reduced_rank <= 1; }

  std::string strip_result() const {
    if (!indexed()) return "sums[j]";
    return rows_are_ordered() ? "(Best{values[j], (long long)(first + rows[j]) * a.reduced_step[0]})"
                              : "(Best{values[j], indices[j]})";
  }

  void end_strip() {
    const std::string sum = strip_result();
    out_ +=
        "if (a.chunks > 1) {\nPartial* to = (Partial*)a.partial + chunk * a.outputs + at;\n"
        "for (ptrdiff_t j = 0; j < width; ++j) to[j * a.step] = " +
        sum +
        ";\n} else {\nOut* to = (Out*)a.out + at;\n"
        "for (ptrdiff_t j = 0; j < width; ++j) to[j * a.step] = finish(" +
        sum + ", a.count);\n}\n}\n";
    insert_stride();
  }

  // Four rows a pass, so that accumulators are loaded and stored once for four elements.
  void columns() {
    begin_strip("width");
    out_ += "ptrdiff_t row = first;\n";
    if (indexed()) {
      const bool ordered = rows_are_ordered();
      out_ +=
          "for (; row < last; ++row) {\nconst char* p = base;\nptrdiff_t index = 0;\nlocate_reduced(a, row, p, "
          "index);\n"
          "for (ptrdiff_t j = 0; j < width; ++j) {\nconst C value = element(p, j, stride_of(a));\nconst bool takes = "
          "beats(value, values[j])";
      out_ += ordered
                  ? ";\nrows[j] = takes ? unsigned(row - first) : rows[j];\n"
                  : " | (ties(value, values[j]) & (index < indices[j]));\nindices[j] = takes ? index : indices[j];\n";
      out_ += "values[j] = takes ? value : values[j];\n}\n}\n";
    } else {
      out_ += "[[maybe_unused]] ptrdiff_t index = 0;\nfor (; row + 4 <= last; row += 4) {\n";
      for (const char* k : {"0", "1", "2", "3"})
        out_ += std::string("const char* p") + k + " = base;\nlocate_reduced(a, row + " + k + ", p" + k + ", index);\n";
      out_ +=
          "for (ptrdiff_t j = 0; j < width; ++j)\nsums[j] = combine(combine(combine(combine(sums[j], "
          "map(element(p0, j, stride_of(a)))), map(element(p1, j, stride_of(a)))), map(element(p2, j, stride_of(a)))), "
          "map(element(p3, j, stride_of(a))));\n}\n"
          "for (; row < last; ++row) {\nconst char* p = base;\nlocate_reduced(a, row, p, index);\n"
          "for (ptrdiff_t j = 0; j < width; ++j) sums[j] = combine(sums[j], map(element(p, j, stride_of(a))));\n}\n";
    }
    end_strip();
  }

  // Rows lie end to end: as many as fit side by side make one long row, folded at the end.
  void periodic() {
    begin_strip("period");
    const size_t at = out_.find("A sums[");
    out_.insert(at, "const ptrdiff_t period = " + number(kStripWidth) + " / width * width;\n");
    out_ +=
        "const char* p = base + first * a.reduced_stride[0];\nconst ptrdiff_t n = (last - first) * width;\n"
        "ptrdiff_t i = 0;\nfor (; i + period <= n; i += period, p += period * sizeof(In))\n"
        "for (ptrdiff_t j = 0; j < period; ++j) sums[j] = combine(sums[j], map(element(p, j, 0)));\n"
        "for (ptrdiff_t j = 0; j < n - i; ++j) sums[j] = combine(sums[j], map(element(p, j, 0)));\n"
        "for (ptrdiff_t k = width; k < period; k += width)\n"
        "for (ptrdiff_t j = 0; j < width; ++j) sums[j] = combine(sums[j], sums[k + j]);\n";
    end_strip();
  }

  const Row& row_;
  const ReductionVariant& variant_;
  std::string out_;
};

}  // namespace

std::string emit_reduction(const Row& row, const ReductionVariant& variant) { return Emitter(row, variant).text(); }

}  // namespace iruka::ops
