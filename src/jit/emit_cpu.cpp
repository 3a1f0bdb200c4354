// The loops of a CPU's kernel around the element function.
#include "jit/kernel_writer.h"

namespace iruka::jit {
namespace {

class CpuEmitter : KernelWriter {
 public:
  using KernelWriter::KernelWriter;

  // Every loop below is written so that its length can be computed: the compiler makes loops of unknown length look for
  // an interrupt.
  std::string text() {
    placeholders();
    out_ += with_line_directives("preamble", kernel_.preamble);
    fixed_functions();
    argument_struct();
    out_ +=
        "extern \"C\" void iruka_lane_loop(uint64_t);\nextern \"C\" void iruka_array_bytes(const void*, ptrdiff_t);\n"
        "extern \"C\" void iruka_output_array(const void*);\nextern \"C\" void iruka_separate_array(const void*);\n";
    include_slices();
    if (signature_.form == LoopForm::stream) out_ += include_kernel("cpu/stream");
    if (signature_.form == LoopForm::tiles) out_ += include_kernel("cpu/turn");
    if (gathers() || has_stages()) out_ += include_kernel("cpu/gather");
    if (has_scratch()) out_ += include_kernel("cpu/scratch");
    if (has_stages()) out_ += "extern \"C\" bool iruka_cancel_poll(void) noexcept;\n";
    element_functions("static inline __attribute__((always_inline)) ");
    entry();
    return std::move(out_);
  }

 private:
  void entry() {
    out_ += "extern \"C\" void " + std::string(entry_name(kernel_)) +
            "(const unsigned char* iruka_block, ptrdiff_t iruka_begin, ptrdiff_t iruka_end) {\n"
            "const iruka_arguments& iruka_a = *(const iruka_arguments*)iruka_block;\n";
    tell_arrays();
    bind_arguments("__attribute__((always_inline)) ");
    switch (signature_.form) {
      case LoopForm::flat: flat_loop("iruka_begin", "iruka_end"); break;
      case LoopForm::stream: stream_loop(); break;
      case LoopForm::rows: row_loop(); break;
      case LoopForm::tiles: tile_loop(); break;
      case LoopForm::slices: batch_loop(); break;
    }
    after_loop();
    out_ += "}\n";
  }

  // Tells a compiler that widens bodies how long raw arrays are, so that it may read elements that only some rounds
  // need, and which arrays the others' stores do not change.
  void tell_arrays() {
    each([&](size_t k, const Parameter&) {
      if (is_scratch(k) || !(is_raw(k) || is_plain(k))) return;
      const std::string data = "iruka_a.data" + number(k);
      if (kernel_.is_stored(k)) out_ += "iruka_output_array(" + data + ");\n";
      if (!is_raw(k)) return;
      if (signature_.operands[k].is_separate) out_ += "iruka_separate_array(" + data + ");\n";
      if (signature_.operands[k].access == Access::raw_contiguous)
        out_ += "iruka_array_bytes(" + data + ", iruka_a.size" + number(k) + " * sizeof(*" + data + "));\n";
    });
  }

  // Compilers leave out loops around marked ones when they make loops interruptible.
  static constexpr const char* kPoll = "if (iruka_step % 64 == 63 && iruka_cancel_poll()) return;\n";

  void batch_loop() {
    if (has_scratch())
      out_ +=
          "unsigned char* const iruka_scratch = (unsigned char*)iruka_take_memory(iruka_a.scratch_bytes);\n"
          "if (!iruka_scratch) return;\n";
    out_ +=
        "for (ptrdiff_t iruka_batch = iruka_begin; iruka_batch < iruka_end; ++iruka_batch) {\n"
        "const ptrdiff_t iruka_first = iruka_batch * iruka_a.batch;\n"
        "const ptrdiff_t iruka_last = iruka_a.n - iruka_first < iruka_a.batch ? iruka_a.n : iruka_first + "
        "iruka_a.batch;\n";
    bind_scratch();
    each_stage(kPoll, [this] {
      if (rank_ == 1) return flat_loop("iruka_first", "iruka_stop");
      out_ += "const ptrdiff_t iruka_begin = iruka_first, iruka_end = iruka_stop;\n";
      row_loop();
    });
    out_ += "}\n";
  }

  // The vectoriser interleaves by itself; unrolling what it leaves over only takes the compiler's time. Strips are
  // short and are to be unrolled whole.
  std::string parallel_pragma(bool is_strip = false) const {
    if (!kernel_.loop_prep.empty()) return "";
    return std::string("#pragma clang loop vectorize(assume_safety)") + (is_strip ? "\n" : " unroll(disable)\n");
  }

  // Tells a compiler that widens bodies which loop's rounds are elements: 1: few of them, left over from another loop;
  // 2: every raw array has fewer than 2^31 elements; 4: so has the loop.
  void mark_loop(bool is_remainder = false) {
    out_ +=
        "iruka_lane_loop(" + number(is_remainder + 2 * signature_.small_arrays + 4 * signature_.small_index) + ");\n";
  }

  template <class Address>
  void plain_element(const std::string& index, Address&& address) {
    element(index, address, address);
  }

  // Elements of a block whose strided inputs are gathered, so that the loop over it reads all of them side by side.
  static constexpr int64_t kGatheredBlock = 256;

  bool is_gathered(size_t k) const {
    return is_plain(k) && signature_.operands[k].access == Access::strided && !kernel_.is_stored(k) && gathers();
  }

  // False if an output is strided as well, because its stores prevent vectorisation of the loop.
  bool gathers() const {
    bool any = false, dense = signature_.form != LoopForm::tiles;
    each([&](size_t k, const Parameter&) {
      if (!is_plain(k)) return;
      const bool strided = signature_.operands[k].access == Access::strided;
      (kernel_.is_stored(k) ? dense : any) = kernel_.is_stored(k) ? dense && !strided : any || strided;
    });
    return any && dense;
  }

  // The type that holds an element's bits, so that all dtypes of a size share one function.
  std::string bits(size_t k) const {
    const int64_t size = itemsize(signature_.operands[k].dtype);
    return size > 8 ? storage(k) : "uint" + number(8 * size) + "_t";
  }

  void gather(size_t k, const std::string& from, const std::string& count) {
    const std::string id = number(k);
    out_ += storage(k) + " iruka_gathered" + id + "[" + number(kGatheredBlock) + "];\niruka_gather<" + bits(k) + ">(" +
            from + ", iruka_a.stride" + id + "[" + number(rank_ - 1) + "], " + count + ", (" + bits(k) +
            "*)iruka_gathered" + id + ");\n";
  }

  // A loop over blocks; `from` says where a gathered input has element iruka_base.
  template <class From, class Address>
  void gathering_loop(const std::string& begin, const std::string& end, const std::string& index, From&& from,
                      Address&& address) {
    const std::string block = number(kGatheredBlock);
    out_ += "for (ptrdiff_t iruka_b = " + begin + "; iruka_b < " + end + "; iruka_b += " + block +
            ") {\n"
            "const ptrdiff_t iruka_count = " +
            end + " - iruka_b < " + block + " ? " + end + " - iruka_b : " + block + ";\n";
    each([&](size_t k, const Parameter&) {
      if (is_gathered(k)) gather(k, from(k), "iruka_count");
    });
    out_ += parallel_pragma() + "for (ptrdiff_t iruka_j = 0; iruka_j < iruka_count; ++iruka_j) {\n";
    mark_loop();
    out_ += "const ptrdiff_t iruka_k = iruka_b + iruka_j;\n";
    plain_element(index,
                  [&](size_t k) { return is_gathered(k) ? "iruka_gathered" + number(k) + "[iruka_j]" : address(k); });
    out_ += "}\n}\n";
  }

  void flat_loop(const std::string& begin, const std::string& end, bool is_remainder = false) {
    if (gathers()) {
      const auto from = [&](size_t k) { return "(const char*)&" + flat_address(k, "iruka_b"); };
      return gathering_loop(begin, end, "iruka_k", from, [&](size_t k) { return flat_address(k, "iruka_k"); });
    }
    out_ += parallel_pragma() + "for (ptrdiff_t iruka_i = " + begin + "; iruka_i < " + end + "; ++iruka_i) {\n";
    mark_loop(is_remainder);
    plain_element("iruka_i", [&](size_t k) { return flat_address(k, "iruka_i"); });
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
    const std::string strip = number(stream_strip());
    const auto each_output = [this](auto&& callable) {
      each([&](size_t k, const Parameter&) {
        if (kernel_.is_output(k) && is_plain(k)) callable(number(k), storage(k));
      });
    };
    out_ += "const ptrdiff_t iruka_strips = (iruka_end - iruka_begin) / " + strip +
            ";\n"
            "for (ptrdiff_t iruka_s = 0; iruka_s < iruka_strips; ++iruka_s) {\n"
            "const ptrdiff_t iruka_base = iruka_begin + iruka_s * " +
            strip + ";\n";
    each_output([&](const std::string& id, const std::string& type) {
      out_ += "alignas(64) " + type + " iruka_buffer" + id + "[" + strip + "];\n";
    });
    each([&](size_t k, const Parameter&) {
      if (is_gathered(k)) gather(k, "(const char*)&" + flat_address(k, "iruka_base"), strip);
    });
    out_ += parallel_pragma(true) + "for (ptrdiff_t iruka_k = 0; iruka_k < " + strip + "; ++iruka_k) {\n";
    mark_loop();
    const auto address = [&](size_t k) {
      return is_gathered(k) ? "iruka_gathered" + number(k) + "[iruka_k]" : flat_address(k, "(iruka_base + iruka_k)");
    };
    element("(iruka_base + iruka_k)", address,
            [&](size_t k) { return kernel_.is_output(k) ? "iruka_buffer" + number(k) + "[iruka_k]" : address(k); });
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
      case Access::interleaved:
        return "((" + storage(k) + "*)iruka_row" + number(signature_.operands[k].leader) + ")[" +
               channel_index(k, "iruka_k") + "]";
      case Access::crosswise: return "iruka_turned" + number(k) + "[iruka_r - iruka_y][iruka_k - iruka_x]";
      default:
        return "*(" + storage(k) + "*)(" + row + " + iruka_k * iruka_a.stride" + number(k) + "[" + number(rank_ - 1) +
               "])";
    }
  }

  void row_pointers(const std::string& coordinate_of_row) {
    each([&](size_t k, const Parameter&) {
      if (!is_plain(k) || signature_.operands[k].access == Access::crosswise) return;
      const std::string id = number(k);
      out_ += "char* const iruka_row" + id + " = (char*)iruka_a.data" + id;
      for (size_t axis = 0; axis + 2 < rank_; ++axis) out_ += plane_offset(k, axis);
      out_ += " + " + coordinate_of_row + " * iruka_a.stride" + id + "[" + number(rank_ - 2) + "];\n";
    });
  }

  std::string plane_offset(size_t k, size_t axis) const {
    return " + iruka_c[" + number(axis) + "] * iruka_a.stride" + number(k) + "[" + number(axis) + "]";
  }

  // Reads a tile of a crosswise input the way it lies, whole cache lines at a time: neighbours along its slow axis may
  // all fall into one set of the cache, so a line must be used up before the next is touched. Squares are turned in
  // registers; what is left at the edges, element by element.
  void turn_tiles() {
    each([&](size_t k, const Parameter&) {
      if (signature_.operands[k].access == Access::crosswise) turn_tile(k);
    });
  }

  void turn_tile(size_t k) {
    const int64_t size = itemsize(signature_.operands[k].dtype);
    const std::string edge = number(signature_.tile_edge), id = number(k), turned = "iruka_turned" + id;
    const std::string stride = "iruka_a.stride" + id + "[" + number(rank_ - 1) + "]";
    std::string from = "(const char*)iruka_a.data" + id;
    for (size_t axis = 0; axis + 2 < rank_; ++axis) from += plane_offset(k, axis);
    const int64_t square = size == 1 ? 16 : size == 8 ? 4 : size == 16 ? 1 : 8;
    out_ += storage(k) + " " + turned + "[" + edge + "][" + edge + "];\niruka_turn<" + bits(k) + ", " + number(square) +
            ", " + edge + ">(" + from + " + iruka_x * " + stride + " + iruka_y * " + number(size) + ", " + stride +
            ", iruka_x_stop - iruka_x, iruka_y_stop - iruka_y, (" + bits(k) + "*)" + turned + ");\n";
  }

  void row_loop() {
    const std::string outer = number(rank_ - 1), last = number(rank_ - 2);
    out_ +=
        "const ptrdiff_t iruka_inner = iruka_a.shape[" + outer + "];\nptrdiff_t iruka_c[" + outer +
        "];\n"
        "ptrdiff_t iruka_column = iruka_begin % iruka_inner, iruka_rest = iruka_begin / iruka_inner;\n"
        "for (int axis = " +
        last +
        "; axis >= 0; --axis) {\n"
        "  iruka_c[axis] = iruka_rest % iruka_a.shape[axis];\n  iruka_rest /= iruka_a.shape[axis];\n}\n"
        "const ptrdiff_t iruka_rows = (iruka_end - iruka_begin + iruka_column + iruka_inner - 1) / iruka_inner;\n"
        "for (ptrdiff_t iruka_r = 0; iruka_r < iruka_rows; ++iruka_r) {\n"
        "const ptrdiff_t iruka_base = iruka_begin / iruka_inner * iruka_inner + iruka_r * iruka_inner;\n"
        "const ptrdiff_t iruka_stop = iruka_end - iruka_base < iruka_inner ? iruka_end - iruka_base : iruka_inner;\n";
    row_pointers("iruka_c[" + last + "]");
    if (gathers()) {
      const auto from = [&](size_t k) {
        return "iruka_row" + number(k) + " + iruka_b * iruka_a.stride" + number(k) + "[" + outer + "]";
      };
      gathering_loop("iruka_column", "iruka_stop", "(iruka_base + iruka_k)", from,
                     [&](size_t k) { return row_address(k); });
    } else {
      out_ += parallel_pragma() + "for (ptrdiff_t iruka_k = iruka_column; iruka_k < iruka_stop; ++iruka_k) {\n";
      mark_loop();
      plain_element("(iruka_base + iruka_k)", [&](size_t k) { return row_address(k); });
      out_ += "}\n";
    }
    out_ +=
        "iruka_column = 0;\n"
        "for (int axis = " +
        last +
        "; axis >= 0; --axis) {\n"
        "  if (++iruka_c[axis] < iruka_a.shape[axis]) break;\n  iruka_c[axis] = 0;\n}\n}\n";
  }

  void tile_loop() {
    const std::string inner = "iruka_a.shape[" + number(rank_ - 1) + "]",
                      rows = "iruka_a.shape[" + number(rank_ - 2) + "]";
    const std::string edge = number(signature_.tile_edge);
    out_ += "const ptrdiff_t iruka_across = (" + inner + " + " + edge + " - 1) / " + edge + ", iruka_down = (" + rows +
            " + " + edge + " - 1) / " + edge +
            ";\n"
            "for (ptrdiff_t iruka_tile = iruka_begin; iruka_tile < iruka_end; ++iruka_tile) {\n"
            "const ptrdiff_t iruka_x = iruka_tile % iruka_across * " +
            edge +
            ";\n"
            "ptrdiff_t iruka_rest = iruka_tile / iruka_across;\n"
            "const ptrdiff_t iruka_y = iruka_rest % iruka_down * " +
            edge +
            ";\niruka_rest /= iruka_down;\n"
            "const ptrdiff_t iruka_plane = iruka_rest;\n";
    if (rank_ > 2) {
      out_ += "ptrdiff_t iruka_c[" + number(rank_ - 2) + "];\nfor (int axis = " + number(rank_ - 3) +
              "; axis >= 0; --axis) {\n  iruka_c[axis] = iruka_rest % iruka_a.shape[axis];\n"
              "  iruka_rest /= iruka_a.shape[axis];\n}\n";
    }
    out_ += "const ptrdiff_t iruka_x_stop = iruka_x + " + edge + " < " + inner + " ? iruka_x + " + edge + " : " +
            inner +
            ";\n"
            "const ptrdiff_t iruka_y_stop = iruka_y + " +
            edge + " < " + rows + " ? iruka_y + " + edge + " : " + rows + ";\n";
    turn_tiles();
    out_ +=
        "for (ptrdiff_t iruka_r = iruka_y; iruka_r < iruka_y_stop; ++iruka_r) {\n"
        "const ptrdiff_t iruka_base = (iruka_plane * " +
        rows + " + iruka_r) * " + inner + ";\n";
    row_pointers("iruka_r");
    out_ += parallel_pragma() + "for (ptrdiff_t iruka_k = iruka_x; iruka_k < iruka_x_stop; ++iruka_k) {\n";
    mark_loop();
    plain_element("(iruka_base + iruka_k)", [&](size_t k) { return row_address(k); });
    out_ += "}\n}\n}\n";
  }
};

}  // namespace

std::string emit_cpu_kernel(const KernelText& kernel, const Signature& signature, const FixedValues& fixed) {
  return CpuEmitter(kernel, signature, fixed).text();
}

}  // namespace iruka::jit
