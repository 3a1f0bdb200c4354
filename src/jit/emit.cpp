#include "jit/emit.h"

#include <algorithm>

namespace iruka::jit {
namespace {

std::string number(size_t value) { return std::to_string(value); }
std::string type_of(Dtype dtype) { return info(dtype).c_type; }
std::string raw_type(const std::string& element, const std::string& rank) { return "CArray<" + element + ", " + rank + ">"; }

/// A user's text under its own name and line numbers, so that diagnostics speak of it.
std::string quoted(const char* file, const std::string& text) {
  return std::string("#line 1 \"") + file + "\"\n" + text + "\n#line 1 \"generated\"\n";
}

// The loop vectoriser leaves non-temporal element stores scalar, so a few lines' worth of results gather in a local
// array, which the optimiser keeps in registers, and leave as whole lines. x86 orders such stores only by a fence.
constexpr const char* kStreamFunctions = R"(
typedef uint64_t iruka_line __attribute__((vector_size(64)));
template <class T, int N> static inline __attribute__((always_inline)) void iruka_stream(T* to, const T (&from)[N]) {
  static_assert(N * sizeof(T) % sizeof(iruka_line) == 0);
  for (int k = 0; k < int(N * sizeof(T) / sizeof(iruka_line)); ++k)
    __builtin_nontemporal_store(((const iruka_line*)from)[k], (iruka_line*)to + k);
}
static inline void iruka_stream_fence() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}
)";

class Emitter {
 public:
  Emitter(const KernelText& kernel, const Signature& signature, FixedValues fixed)
      : kernel_(kernel), signature_(signature), fixed_(fixed), rank_(signature.rank) {}

  // Every loop below is written so that its length can be computed: the compiler makes loops of unknown length look for
  // an interrupt.
  std::string text() {
    placeholders();
    out_ += quoted("preamble", kernel_.preamble);
    fixed_functions();
    argument_struct();
    out_ += "extern \"C\" void iruka_lane_loop(uint64_t);\n";
    if (signature_.form == LoopForm::stream) out_ += kStreamFunctions;
    if (kernel_.loop_prep.empty()) element_function("static inline __attribute__((always_inline)) void iruka_element(", ") {\n");
    entry();
    return std::move(out_);
  }

 private:
  bool is_raw(size_t k) const { return signature_.operands[k].access >= Access::raw_contiguous; }
  bool is_scalar(size_t k) const { return signature_.operands[k].access == Access::scalar; }
  bool is_plain(size_t k) const { return !is_raw(k) && !is_scalar(k); }
  bool has_strides(size_t k) const { return signature_.rank > 1 || signature_.operands[k].access == Access::strided; }
  bool is_fixed(size_t k) const { return k < fixed_.size() && fixed_[k].has_value(); }
  bool names_count() const {
    for (size_t k = 0; k < kernel_.parameter_count(); ++k)
      if (kernel_.parameter(k).name == "n") return false;
    return true;
  }
  std::string type(size_t k) const { return type_of(signature_.operands[k].dtype); }
  bool is_bool(size_t k) const { return signature_.operands[k].dtype == Dtype::bool_; }
  /// How elements lie in memory: views of other dtypes may leave any byte in a bool array, and all but 0 are true.
  std::string storage(size_t k) const { return is_bool(k) ? "uint8_t" : type(k); }
  template <class Callable>
  void each(Callable&& callable) const {
    for (size_t k = 0; k < kernel_.parameter_count(); ++k) callable(k, kernel_.parameter(k));
  }

  void placeholders() {
    std::string seen;
    each([&](size_t k, const Parameter& parameter) {
      if (parameter.dtype || seen.find(parameter.type) != seen.npos) return;
      seen += parameter.type;
      out_ += "typedef " + type(k) + " " + parameter.type + ";\n";
    });
  }

  // Values come out of functions, not constants, so that `x / width` with width 0 reaches the guard as a division.
  void fixed_functions() {
    each([&](size_t k, const Parameter&) {
      if (!is_fixed(k)) return;
      out_ += "static inline " + type(k) + " iruka_fixed" + number(k) + "() { return (" + type(k) + ")" +
              std::to_string(fixed_[k]->as_uint64()) + "ull; }\n";
    });
  }

  void argument_struct() {
    out_ += "struct iruka_arguments {\n  ptrdiff_t n;\n";
    if (rank_ > 1) out_ += "  ptrdiff_t shape[" + number(rank_) + "];\n";
    if (kernel_.sees_indexer) out_ += "  ptrdiff_t indexer_shape[" + number(signature_.indexer_rank) + "];\n";
    each([&](size_t k, const Parameter&) {
      const std::string id = number(k);
      if (is_scalar(k)) {
        out_ += "  " + type(k) + " value" + id + ";\n";
      } else if (is_raw(k)) {
        const std::string rank = number(std::max<int>(signature_.operands[k].rank, 1));
        out_ += "  " + type(k) + "* data" + id + ";\n  ptrdiff_t size" + id + ", shape" + id + "[" + rank + "], stride" +
                id + "[" + rank + "];\n";
      } else {
        out_ += "  " + storage(k) + "* data" + id + ";\n";
        if (has_strides(k)) out_ += "  ptrdiff_t stride" + id + "[" + number(rank_) + "];\n";
      }
    });
    out_ += "};\n";
  }

  std::string indexer_type() const { return "CIndexer<" + number(signature_.indexer_rank) + ">"; }

  // The body, alone: the index and the arguments in, stores out through references.
  void element_function(const std::string& head, const std::string& tail) {
    std::string parameters = "[[maybe_unused]] const ptrdiff_t i";
    if (names_count()) parameters += ", [[maybe_unused]] const ptrdiff_t n";
    parameters += ", [[maybe_unused]] " + indexer_type() + "& _ind";
    each([&](size_t k, const Parameter& parameter) {
      parameters += ", [[maybe_unused]] ";
      if (is_raw(k)) {
        parameters += raw_type(type(k), number(signature_.operands[k].rank)) + "& ";
      } else if (is_plain(k) && kernel_.is_stored(k)) {
        parameters += type(k) + "& ";
      } else {
        parameters += (parameter.is_const ? "const " : "") + type(k) + " ";
      }
      parameters += parameter.name;
    });
    out_ += head + parameters + tail + "do {\n" + quoted("operation", kernel_.operation) + ";} while (0);\n}\n";
  }

  void entry() {
    out_ += "extern \"C\" void " + std::string(kEntryName) +
            "(const unsigned char* iruka_block, ptrdiff_t iruka_begin, ptrdiff_t iruka_end) {\n"
            "const iruka_arguments& iruka_a = *(const iruka_arguments*)iruka_block;\n";
    if (names_count()) out_ += "[[maybe_unused]] const ptrdiff_t n = iruka_a.n;\n";
    std::string shape = "iruka_a.n";
    for (int axis = 0; kernel_.sees_indexer && axis < signature_.indexer_rank; ++axis)
      shape = (axis ? shape + ", " : "") + "iruka_a.indexer_shape[" + number(axis) + "]";
    out_ += "[[maybe_unused]] " + indexer_type() + " _ind{iruka_a.n, {" + shape + "}};\n";
    each([&](size_t k, const Parameter& parameter) { bind(k, parameter); });
    if (!kernel_.loop_prep.empty()) {
      out_ += quoted("loop_prep", kernel_.loop_prep) + ";\n";
      element_function("auto iruka_element = [&](", ") __attribute__((always_inline)) {\n");
      out_ += ";\n";
    }
    switch (signature_.form) {
      case LoopForm::flat: flat_loop("iruka_begin", "iruka_end"); break;
      case LoopForm::stream: stream_loop(); break;
      case LoopForm::rows: row_loop(); break;
      case LoopForm::tiles: tile_loop(); break;
    }
    if (!kernel_.after_loop.empty()) out_ += "{\n" + quoted("after_loop", kernel_.after_loop) + ";}\n";
    out_ += "}\n";
  }

  // Scalars and raw arrays become locals of the entry; that a raw array is contiguous is a constant the optimiser sees.
  void bind(size_t k, const Parameter& parameter) {
    const std::string id = number(k);
    if (is_scalar(k)) {
      const std::string value = is_fixed(k) ? "iruka_fixed" + id + "()" : "iruka_a.value" + id;
      out_ += "[[maybe_unused]] " + std::string(parameter.is_const ? "const " : "") + type(k) + " " + parameter.name + " = " +
              value + ";\n";
    } else if (is_raw(k)) {
      const int rank = signature_.operands[k].rank;
      const bool contiguous = signature_.operands[k].access == Access::raw_contiguous;
      std::string shape, stride;
      for (int axis = 0; axis < std::max(rank, 1); ++axis) {
        const std::string comma = axis ? ", " : "";
        shape += comma + "iruka_a.shape" + id + "[" + number(axis) + "]";
        // That neighbours lie side by side is a constant as well, for accesses by several indices.
        const bool is_dense = contiguous && axis + 1 == rank;
        stride += comma + (is_dense ? "sizeof(" + type(k) + ")" : "iruka_a.stride" + id + "[" + number(axis) + "]");
      }
      out_ += "[[maybe_unused]] " + raw_type(type(k), number(rank)) + " " + parameter.name + "{iruka_a.data" + id + ", iruka_a.size" + id +
              ", {" + shape + "}, {" + stride + "}, " + (contiguous ? "true" : "false") + "};\n";
    }
  }

  // The vectoriser interleaves by itself; unrolling what it leaves over only takes the compiler's time. Strips are short
  // and are to be unrolled whole.
  std::string parallel_pragma(bool is_strip = false) const {
    if (!kernel_.loop_prep.empty()) return "";
    return std::string("#pragma clang loop vectorize(assume_safety)") + (is_strip ? "\n" : " unroll(disable)\n");
  }

  // Tells a compiler that widens bodies which loop's rounds are elements: 1: few of them, left over from another loop;
  // 2: every raw array has fewer than 2^31 elements; 4: so has the loop.
  void mark_loop(bool is_remainder = false) {
    out_ += "iruka_lane_loop(" + number(is_remainder + 2 * signature_.small_arrays + 4 * signature_.small_index) + ");\n";
  }

  // One element at `index`: loads, the element function, stores. address(k) is an lvalue of the element.
  template <class Address>
  void element(const std::string& index, Address&& address, bool stream = false) {
    // With a range known, 64-bit divisions of the index become 32-bit ones; a body that does not see it needs neither.
    if (signature_.small_index && kernel_.sees_index) out_ += "__builtin_assume(" + index + " >= 0 && " + index + " < 2147483647);\n";
    std::string arguments = index;
    if (names_count()) arguments += ", iruka_a.n";
    arguments += ", _ind";
    if (kernel_.sees_indexer) out_ += "_ind.set(" + index + ");\n";
    each([&](size_t k, const Parameter& parameter) {
      if (is_plain(k)) {
        const std::string local = "iruka_e" + number(k);
        out_ += std::string(kernel_.is_stored(k) ? "" : "const ") + type(k) + " " + local + " = " + address(k) +
                (is_bool(k) ? " != 0" : "") + ";\n";
        arguments += ", " + local;
      } else {
        arguments += ", " + parameter.name;
      }
    });
    out_ += "iruka_element(" + arguments + ");\n";
    each([&](size_t k, const Parameter&) {
      if (!is_plain(k) || !kernel_.is_stored(k)) return;
      const std::string local = "iruka_e" + number(k);
      out_ += (stream && kernel_.is_output(k) ? "iruka_buffer" + number(k) + "[iruka_k]" : address(k)) + " = " + local + ";\n";
    });
  }

  std::string flat_address(size_t k, const std::string& index) const {
    const std::string id = number(k);
    switch (signature_.operands[k].access) {
      case Access::contiguous: return "iruka_a.data" + id + "[" + index + "]";
      case Access::broadcast: return "iruka_a.data" + id + "[0]";
      default: return "*(" + storage(k) + "*)((char*)iruka_a.data" + id + " + " + index + " * iruka_a.stride" + id + "[0])";
    }
  }

  void flat_loop(const std::string& begin, const std::string& end, bool is_remainder = false) {
    out_ += parallel_pragma() + "for (ptrdiff_t iruka_i = " + begin + "; iruka_i < " + end + "; ++iruka_i) {\n";
    mark_loop(is_remainder);
    element("iruka_i", [&](size_t k) { return flat_address(k, "iruka_i"); });
    out_ += "}\n";
  }

  // Elements to gather: four lines of the largest output, and at least one of the smallest.
  int64_t stream_strip() const {
    int64_t smallest = 16, largest = 1;
    each([&](size_t k, const Parameter&) {
      if (!kernel_.is_output(k) || !is_plain(k)) return;
      smallest = std::min(smallest, itemsize(signature_.operands[k].dtype));
      largest = std::max(largest, itemsize(signature_.operands[k].dtype));
    });
    return std::max(64 / smallest, 256 / largest);
  }

  void stream_loop() {
    const std::string strip = number(static_cast<size_t>(stream_strip()));
    const auto each_output = [this](auto&& callable) {
      each([&](size_t k, const Parameter&) { if (kernel_.is_output(k) && is_plain(k)) callable(number(k), storage(k)); });
    };
    out_ += "const ptrdiff_t iruka_strips = (iruka_end - iruka_begin) / " + strip + ";\n"
            "for (ptrdiff_t iruka_s = 0; iruka_s < iruka_strips; ++iruka_s) {\n"
            "const ptrdiff_t iruka_base = iruka_begin + iruka_s * " + strip + ";\n";
    each_output([&](const std::string& id, const std::string& type) {
      out_ += "alignas(64) " + type + " iruka_buffer" + id + "[" + strip + "];\n";
    });
    out_ += parallel_pragma(true) + "for (ptrdiff_t iruka_k = 0; iruka_k < " + strip + "; ++iruka_k) {\n";
    mark_loop();
    element("(iruka_base + iruka_k)", [&](size_t k) { return flat_address(k, "(iruka_base + iruka_k)"); }, true);
    out_ += "}\n";
    each_output([&](const std::string& id, const std::string&) {
      out_ += "iruka_stream(iruka_a.data" + id + " + iruka_base, iruka_buffer" + id + ");\n";
    });
    out_ += "}\n";
    flat_loop("iruka_begin + iruka_strips * " + strip, "iruka_end", /*is_remainder=*/true);
    out_ += "iruka_stream_fence();\n";
  }

  std::string row_address(size_t k) const {
    const std::string row = "iruka_row" + number(k);
    switch (signature_.operands[k].access) {
      case Access::contiguous: return "((" + storage(k) + "*)" + row + ")[iruka_k]";
      case Access::broadcast: return "*(" + storage(k) + "*)" + row;
      case Access::crosswise: return "iruka_turned" + number(k) + "[iruka_r - iruka_y][iruka_k - iruka_x]";
      default: return "*(" + storage(k) + "*)(" + row + " + iruka_k * iruka_a.stride" + number(k) + "[" + number(rank_ - 1) + "])";
    }
  }

  void row_pointers(const std::string& coordinate_of_row) {
    each([&](size_t k, const Parameter&) {
      if (!is_plain(k) || signature_.operands[k].access == Access::crosswise) return;
      const std::string id = number(k);
      out_ += "char* const iruka_row" + id + " = (char*)iruka_a.data" + id;
      for (size_t axis = 0; axis + 2 < rank_; ++axis)
        out_ += plane_offset(k, axis);
      out_ += " + " + coordinate_of_row + " * iruka_a.stride" + id + "[" + number(rank_ - 2) + "];\n";
    });
  }

  std::string plane_offset(size_t k, size_t axis) const {
    return " + iruka_c[" + number(axis) + "] * iruka_a.stride" + number(k) + "[" + number(axis) + "]";
  }

  // Reads a tile of a crosswise input the way it lies, whole cache lines at a time: neighbours along its slow axis may
  // all fall into one set of the cache, so a line must be used up before the next is touched.
  void turn_tiles() {
    const std::string edge = number(signature_.tile_edge), last = number(rank_ - 1);
    each([&](size_t k, const Parameter&) {
      if (signature_.operands[k].access != Access::crosswise) return;
      const std::string id = number(k);
      out_ += storage(k) + " iruka_turned" + id + "[" + edge + "][" + edge + "];\n"
              "for (ptrdiff_t iruka_k = iruka_x; iruka_k < iruka_x_stop; ++iruka_k) {\n"
              "const " + storage(k) + "* const iruka_line = (const " + storage(k) + "*)((const char*)iruka_a.data" + id +
              " + iruka_k * iruka_a.stride" + id + "[" + last + "]";
      for (size_t axis = 0; axis + 2 < rank_; ++axis) out_ += plane_offset(k, axis);
      out_ += ");\nfor (ptrdiff_t iruka_r = iruka_y; iruka_r < iruka_y_stop; ++iruka_r) iruka_turned" + id +
              "[iruka_r - iruka_y][iruka_k - iruka_x] = iruka_line[iruka_r];\n}\n";
    });
  }

  void row_loop() {
    const std::string outer = number(rank_ - 1), last = number(rank_ - 2);
    out_ += "const ptrdiff_t iruka_inner = iruka_a.shape[" + outer + "];\nptrdiff_t iruka_c[" + outer + "];\n"
            "ptrdiff_t iruka_first = iruka_begin % iruka_inner, iruka_rest = iruka_begin / iruka_inner;\n"
            "for (int axis = " + last + "; axis >= 0; --axis) {\n"
            "  iruka_c[axis] = iruka_rest % iruka_a.shape[axis];\n  iruka_rest /= iruka_a.shape[axis];\n}\n"
            "const ptrdiff_t iruka_rows = (iruka_end - iruka_begin + iruka_first + iruka_inner - 1) / iruka_inner;\n"
            "for (ptrdiff_t iruka_r = 0; iruka_r < iruka_rows; ++iruka_r) {\n"
            "const ptrdiff_t iruka_base = iruka_begin / iruka_inner * iruka_inner + iruka_r * iruka_inner;\n"
            "const ptrdiff_t iruka_stop = iruka_end - iruka_base < iruka_inner ? iruka_end - iruka_base : iruka_inner;\n";
    row_pointers("iruka_c[" + last + "]");
    out_ += parallel_pragma() + "for (ptrdiff_t iruka_k = iruka_first; iruka_k < iruka_stop; ++iruka_k) {\n";
    mark_loop();
    element("(iruka_base + iruka_k)", [&](size_t k) { return row_address(k); });
    out_ += "}\niruka_first = 0;\n"
            "for (int axis = " + last + "; axis >= 0; --axis) {\n"
            "  if (++iruka_c[axis] < iruka_a.shape[axis]) break;\n  iruka_c[axis] = 0;\n}\n}\n";
  }

  void tile_loop() {
    const std::string inner = "iruka_a.shape[" + number(rank_ - 1) + "]", rows = "iruka_a.shape[" + number(rank_ - 2) + "]";
    const std::string edge = number(signature_.tile_edge);
    out_ += "const ptrdiff_t iruka_across = (" + inner + " + " + edge + " - 1) / " + edge + ", iruka_down = (" + rows + " + " +
            edge + " - 1) / " + edge + ";\n"
            "for (ptrdiff_t iruka_tile = iruka_begin; iruka_tile < iruka_end; ++iruka_tile) {\n"
            "const ptrdiff_t iruka_x = iruka_tile % iruka_across * " + edge + ";\n"
            "ptrdiff_t iruka_rest = iruka_tile / iruka_across;\n"
            "const ptrdiff_t iruka_y = iruka_rest % iruka_down * " + edge + ";\niruka_rest /= iruka_down;\n"
            "const ptrdiff_t iruka_plane = iruka_rest;\n";
    if (rank_ > 2) {
      out_ += "ptrdiff_t iruka_c[" + number(rank_ - 2) + "];\nfor (int axis = " + number(rank_ - 3) +
              "; axis >= 0; --axis) {\n  iruka_c[axis] = iruka_rest % iruka_a.shape[axis];\n"
              "  iruka_rest /= iruka_a.shape[axis];\n}\n";
    }
    out_ += "const ptrdiff_t iruka_x_stop = iruka_x + " + edge + " < " + inner + " ? iruka_x + " + edge + " : " + inner + ";\n"
            "const ptrdiff_t iruka_y_stop = iruka_y + " + edge + " < " + rows + " ? iruka_y + " + edge + " : " + rows + ";\n";
    turn_tiles();
    out_ += "for (ptrdiff_t iruka_r = iruka_y; iruka_r < iruka_y_stop; ++iruka_r) {\n"
            "const ptrdiff_t iruka_base = (iruka_plane * " + rows + " + iruka_r) * " + inner + ";\n";
    row_pointers("iruka_r");
    out_ += parallel_pragma() + "for (ptrdiff_t iruka_k = iruka_x; iruka_k < iruka_x_stop; ++iruka_k) {\n";
    mark_loop();
    element("(iruka_base + iruka_k)", [&](size_t k) { return row_address(k); });
    out_ += "}\n}\n}\n";
  }

  const KernelText& kernel_;
  const Signature& signature_;
  FixedValues fixed_;
  size_t rank_;
  std::string out_;
};

}  // namespace

std::string emit_kernel(const KernelText& kernel, const Signature& signature, FixedValues fixed) {
  return Emitter(kernel, signature, fixed).text();
}

std::string emit_check(const KernelText& kernel) {
  std::string templates, parameters = "const ptrdiff_t i", names;
  for (size_t k = 0; k < kernel.parameter_count(); ++k) {
    const Parameter& parameter = kernel.parameter(k);
    const std::string element = type_of(*parameter.dtype);
    names += parameter.name + ",";
    if (parameter.raw) {
      // An open type stands for an array of any rank, or a scalar given for it.
      templates += (templates.empty() ? "template <" : ", ") + std::string("class iruka_raw") + number(k);
      parameters += ", iruka_raw" + number(k) + "& ";
    } else {
      parameters += std::string(", ") + (parameter.is_const ? "const " : "") + element + (kernel.is_stored(k) ? "& " : " ");
    }
    parameters += parameter.name;
  }
  templates += (templates.empty() ? "template <" : ", ") + std::string("int iruka_axes>\n");
  const bool names_count = ("," + names).find(",n,") == std::string::npos;
  std::string text = quoted("preamble", kernel.preamble) + templates + "void iruka_check(" + parameters +
                     (names_count ? ", const ptrdiff_t n" : "") + ", CIndexer<iruka_axes>& _ind) {\n";
  if (!kernel.loop_prep.empty()) text += quoted("loop_prep", kernel.loop_prep) + ";\n";
  text += "do {\n" + quoted("operation", kernel.operation) + ";} while (0);\n";
  if (!kernel.after_loop.empty()) text += "{\n" + quoted("after_loop", kernel.after_loop) + ";}\n";
  return text + "}\n";
}

}  // namespace iruka::jit
