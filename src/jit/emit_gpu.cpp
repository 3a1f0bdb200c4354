// A GPU's kernel around the element function: which elements a thread takes, and how it reaches them.
#include "jit/kernel_writer.h"

namespace iruka::jit {
namespace {

class GpuEmitter : KernelWriter {
 public:
  GpuEmitter(const KernelText& kernel, const Signature& signature, const FixedValues& fixed)
      : KernelWriter(kernel, signature, fixed), shape_(gpu_shape(kernel, signature)) {}

  std::string text() {
    placeholders();
    out_ += with_line_directives("preamble", kernel_.preamble);
    fixed_functions();
    const std::string rank = number(static_cast<int64_t>(rank_));
    argument_struct(has_dividers(signature_) ? "  unsigned magic[" + rank + "], shift[" + rank + "];\n" : "");
    out_ += include_kernel("cuda/pack");
    if (has_dividers(signature_)) out_ += include_kernel("divide");
    include_slices();
    element_functions("static __forceinline__ ");
    entry();
    return std::move(out_);
  }

 private:
  std::string pack() const { return number(signature_.pack); }
  std::string threads() const { return shape_.fixed_threads ? number(shape_.threads) : "blockDim.x"; }
  bool is_tiled() const { return signature_.form == LoopForm::tiles; }
  /// Whether elements are moved in packs. A single complex number need not be aligned to its size, so it is not one.
  bool is_packed(size_t k) const { return signature_.pack > 1 && signature_.operands[k].access == Access::contiguous; }
  /// Whether all rounds read the same element.
  bool is_shared(size_t k) const {
    return signature_.operands[k].access == Access::broadcast && signature_.rank == 1 && !kernel_.is_stored(k);
  }
  /// Whether there are texts around the loop, which every thread runs once, as in CuPy, for its many elements.
  bool has_frame() const { return !kernel_.loop_prep.empty() || !kernel_.after_loop.empty(); }

  void entry() {
    out_ += "extern \"C\" __global__ void __launch_bounds__(" + number(shape_.threads) + ") " + entry_name(kernel_) +
            "(const iruka_arguments iruka_a, const ptrdiff_t iruka_begin, const ptrdiff_t iruka_end) {\n";
    bind_arguments("");
    if (has_stages()) {
      batch();
    } else if (is_tiled()) {
      tile();
    } else {
      block_loop();
    }
    after_loop();
    out_ += "}\n";
  }

  // One batch of slices a block.
  void batch() {
    if (has_scratch())
      out_ +=
          "extern __shared__ uint4 iruka_shared[];\n"
          "unsigned char* const iruka_scratch = (unsigned char*)iruka_shared;\n";
    out_ +=
        "const ptrdiff_t iruka_first = (iruka_begin + (ptrdiff_t)blockIdx.x) * iruka_a.batch;\n"
        "const ptrdiff_t iruka_last = iruka_a.n - iruka_first < iruka_a.batch ? iruka_a.n : iruka_first + "
        "iruka_a.batch;\n";
    bind_scratch();
    each_stage("__syncthreads();\n", [this] {
      out_ += "for (ptrdiff_t iruka_i = iruka_first + threadIdx.x; iruka_i < iruka_stop; iruka_i += blockDim.x) {\n";
      locate("iruka_i");
      const auto address = [&](size_t k) { return element_address(k, "iruka_i", "0"); };
      element("iruka_i", address, address);
      out_ += "}\n";
    });
  }

  // A block's elements are neighbours; those of a whole block are loaded before any is worked on.
  void block_loop() {
    const std::string size = "(" + threads() + " * " + number(shape_.per_thread) + ")";
    out_ += "ptrdiff_t iruka_first = iruka_begin + (ptrdiff_t)blockIdx.x * " + size + ";\n";
    if (has_frame()) out_ += "for (; iruka_first < iruka_end; iruka_first += (ptrdiff_t)gridDim.x * " + size + ") {\n";
    if (shape_.per_thread > 1) {
      out_ += "if (iruka_first + " + size + " <= iruka_end) {\n";
      whole_block();
      out_ += "} else {\n";
    } else {
      out_ += "{\n";
    }
    out_ += "const ptrdiff_t iruka_stop = iruka_first + " + size + " < iruka_end ? iruka_first + " + size +
            " : iruka_end;\n#pragma unroll 1\nfor (ptrdiff_t iruka_i = iruka_first + threadIdx.x; iruka_i < "
            "iruka_stop; iruka_i += " +
            threads() + ") {\n";
    locate("iruka_i");
    const auto address = [&](size_t k) { return element_address(k, "iruka_i", "0"); };
    element("iruka_i", address, address);
    out_ += "}\n}\n";
    if (has_frame()) out_ += "}\n";
  }

  void whole_block() {
    const std::string rounds = number(shape_.per_thread / signature_.pack);
    each_plain([&](size_t k, const std::string& id) {
      if (is_shared(k))
        out_ += "const " + storage(k) + " iruka_all" + id + " = *iruka_a.data" + id + ";\n";
      else
        out_ += "iruka_pack<" + storage(k) + ", " + pack() + "> iruka_in" + id + "[" + rounds + "];\n";
    });
    round_loop(rounds);
    locate("iruka_i");
    bool has_lone_loads = false;
    each_plain([&](size_t k, const std::string& id) {
      load(k, id);
      has_lone_loads |= !is_packed(k) && !is_shared(k);
    });
    out_ += "}\n";
    // The driver's assembler moves lone loads down to where they are used, one after another, where the body branches.
    if (has_lone_loads) out_ += "__syncwarp();\n";
    round_loop(rounds);
    out_ += "#pragma unroll\nfor (int iruka_v = 0; iruka_v < " + pack() + "; ++iruka_v) {\n";
    const auto local = [&](size_t k) {
      const std::string id = number(static_cast<int64_t>(k));
      return is_shared(k) ? "iruka_all" + id : "iruka_in" + id + "[iruka_u].at[iruka_v]";
    };
    element("(iruka_i + iruka_v)", local, local);
    out_ += "}\n}\n";
    round_loop(rounds);
    locate("iruka_i");
    each_plain([&](size_t k, const std::string& id) {
      if (kernel_.is_stored(k)) store(k, id);
    });
    out_ += "}\n";
  }

  void round_loop(const std::string& rounds) {
    out_ += "#pragma unroll\nfor (int iruka_u = 0; iruka_u < " + rounds +
            "; ++iruka_u) {\n"
            "[[maybe_unused]] const ptrdiff_t iruka_i = iruka_first + (iruka_u * " +
            threads() + " + threadIdx.x) * " + pack() + ";\n";
  }

  void load(size_t k, const std::string& id) {
    if (is_shared(k)) return;
    const std::string to = "iruka_in" + id + "[iruka_u]";
    if (is_packed(k)) {
      out_ += to + ".load(&" + element_address(k, "iruka_i", "0") + ");\n";
    } else {
      for_pack(to + ".at[iruka_v] = " + element_address(k, "(iruka_i + iruka_v)", "iruka_v") + ";\n");
    }
  }

  void store(size_t k, const std::string& id) {
    const std::string from = "iruka_in" + id + "[iruka_u]";
    if (is_packed(k)) {
      out_ += from + ".store(&" + element_address(k, "iruka_i", "0") + ");\n";
    } else {
      for_pack(element_address(k, "(iruka_i + iruka_v)", "iruka_v") + " = " + from + ".at[iruka_v];\n");
    }
  }

  void for_pack(const std::string& statement) {
    out_ += "#pragma unroll\nfor (int iruka_v = 0; iruka_v < " + pack() + "; ++iruka_v) " + statement;
  }

  /// The element at `index`, or `ahead` of the one that locate() was for along the innermost axis.
  std::string element_address(size_t k, const std::string& index, const std::string& ahead) const {
    if (signature_.rank == 1) return flat_address(k, index);
    const std::string id = number(static_cast<int64_t>(k)), at = "iruka_at" + id;
    if (ahead == "0" || signature_.operands[k].access == Access::broadcast) return "(*(" + storage(k) + "*)" + at + ")";
    return "(*(" + storage(k) + "*)(" + at + " + " + ahead + " * iruka_a.stride" + id + "[" + last_axis() + "]))";
  }

  std::string last_axis() const { return number(static_cast<int64_t>(rank_) - 1); }

  /// Where each operand's element at `index` lies, for loops of several axes.
  void locate(const std::string& index) {
    if (signature_.rank == 1) return;
    const bool small = signature_.small_index;
    const std::string type = small ? "unsigned" : "ptrdiff_t";
    out_ += type + " iruka_rest = (" + type + ")" + index + ";\n";
    for (size_t axis = rank_ - 1; axis > 0; --axis) {
      const std::string n = number(static_cast<int64_t>(axis));
      out_ += "const " + type + " iruka_q" + n + " = " +
              (small ? "iruka_divide(iruka_rest, iruka_a.magic[" + n + "], iruka_a.shift[" + n + "])"
                     : "iruka_rest / iruka_a.shape[" + n + "]") +
              ", iruka_c" + n + " = iruka_rest - iruka_q" + n + " * (" + type + ")iruka_a.shape[" + n +
              "];\niruka_rest = iruka_q" + n + ";\n";
    }
    out_ += "const " + type + " iruka_c0 = iruka_rest;\n";
    each_plain([&](size_t k, const std::string& id) {
      out_ += "[[maybe_unused]] char* const iruka_at" + id + " = (char*)iruka_a.data" + id;
      for (size_t axis = 0; axis < rank_; ++axis) {
        const bool is_inner = axis + 1 == rank_;
        if (is_inner && signature_.operands[k].access == Access::broadcast) continue;
        const std::string n = number(static_cast<int64_t>(axis));
        out_ +=
            " + (ptrdiff_t)iruka_c" + n + " * " +
            (is_inner && signature_.operands[k].access == Access::contiguous ? "(ptrdiff_t)sizeof(" + storage(k) + ")"
                                                                             : "iruka_a.stride" + id + "[" + n + "]");
      }
      out_ += ";\n";
    });
  }

  // One square of the two innermost axes a block: inputs that are dense along the outer of them are read along it, and
  // turned in shared memory.
  void tile() {
    const std::string edge = number(signature_.tile_edge), inner = "iruka_a.shape[" + last_axis() + "]",
                      rows = "iruka_a.shape[" + number(static_cast<int64_t>(rank_) - 2) + "]";
    const std::string lines = number(shape_.threads / signature_.tile_edge);
    out_ += "const ptrdiff_t iruka_across = (" + inner + " + " + edge + " - 1) / " + edge + ", iruka_down = (" + rows +
            " + " + edge + " - 1) / " + edge + ";\nconst ptrdiff_t iruka_number = iruka_begin + blockIdx.x;\n";
    const std::string divide = signature_.small_index ? "(ptrdiff_t)((unsigned)" : "(ptrdiff_t)(";
    const std::string by = signature_.small_index ? "(unsigned)" : "";
    out_ += "ptrdiff_t iruka_rest = " + divide + "iruka_number / " + by +
            "iruka_across);\n"
            "const ptrdiff_t iruka_x = (iruka_number - iruka_rest * iruka_across) * " +
            edge +
            ";\n"
            "const ptrdiff_t iruka_plane = " +
            divide + "iruka_rest / " + by + "iruka_down), iruka_y = (iruka_rest - iruka_plane * iruka_down) * " + edge +
            ";\n"
            "const int iruka_tx = threadIdx.x % " +
            edge + ", iruka_ty = threadIdx.x / " + edge + ";\n";
    if (rank_ > 2) {
      out_ += "iruka_rest = iruka_plane;\n";
      for (size_t axis = rank_ - 3; axis > 0; --axis) {
        const std::string n = number(static_cast<int64_t>(axis)), extent = "iruka_a.shape[" + n + "]";
        out_ += "const ptrdiff_t iruka_c" + n + " = iruka_rest % " + extent + ";\niruka_rest /= " + extent + ";\n";
      }
      out_ += "const ptrdiff_t iruka_c0 = iruka_rest;\n";
    }
    each_plain([&](size_t, const std::string& id) {
      out_ += "char* const iruka_plane" + id + " = (char*)iruka_a.data" + id;
      for (size_t axis = 0; axis + 2 < rank_; ++axis) {
        const std::string n = number(static_cast<int64_t>(axis));
        out_ += " + iruka_c" + n + " * iruka_a.stride" + id + "[" + n + "]";
      }
      out_ += ";\n";
    });
    turn(edge, inner, rows, lines);
    out_ += "if (iruka_x + iruka_tx < " + inner + ") {\n#pragma unroll\nfor (int iruka_r = 0; iruka_r < " + edge +
            "; iruka_r += " + lines +
            ") {\nconst ptrdiff_t iruka_row = iruka_y + iruka_ty + iruka_r, iruka_k = iruka_x + iruka_tx;\n"
            "if (iruka_row < " +
            rows +
            ") {\n"
            "[[maybe_unused]] const ptrdiff_t iruka_i = (iruka_plane * " +
            rows + " + iruka_row) * " + inner + " + iruka_k;\n";
    const auto address = [&](size_t k) { return tile_address(k); };
    element("iruka_i", address, address);
    out_ += "}\n}\n}\n";
  }

  void turn(const std::string& edge, const std::string& inner, const std::string& rows, const std::string& lines) {
    bool any = false;
    each_plain([&](size_t k, const std::string& id) {
      if (signature_.operands[k].access != Access::crosswise) return;
      any = true;
      out_ += "__shared__ " + storage(k) + " iruka_turned" + id + "[" + edge + "][" + edge +
              " + 1];\n"
              "if (iruka_y + iruka_tx < " +
              rows + ") {\n#pragma unroll\nfor (int iruka_r = 0; iruka_r < " + edge + "; iruka_r += " + lines +
              ") {\nconst ptrdiff_t iruka_k = iruka_x + iruka_ty + iruka_r;\nif (iruka_k < " + inner +
              ") iruka_turned" + id + "[iruka_ty + iruka_r][iruka_tx] = ((const " + storage(k) + "*)(iruka_plane" + id +
              " + iruka_k * iruka_a.stride" + id + "[" + last_axis() + "]))[iruka_y + iruka_tx];\n}\n}\n";
    });
    if (any) out_ += "__syncthreads();\n";
  }

  std::string tile_address(size_t k) const {
    const std::string id = number(static_cast<int64_t>(k));
    const std::string row =
        "iruka_plane" + id + " + iruka_row * iruka_a.stride" + id + "[" + number(static_cast<int64_t>(rank_) - 2) + "]";
    switch (signature_.operands[k].access) {
      case Access::crosswise: return "iruka_turned" + id + "[iruka_tx][iruka_ty + iruka_r]";
      case Access::contiguous: return "((" + storage(k) + "*)(" + row + "))[iruka_k]";
      case Access::broadcast: return "(*(" + storage(k) + "*)(" + row + "))";
      default: return "(*(" + storage(k) + "*)(" + row + " + iruka_k * iruka_a.stride" + id + "[" + last_axis() + "]))";
    }
  }

  const GpuShape shape_;
};

}  // namespace

bool has_dividers(const Signature& signature) {
  const bool is_located = signature.form == LoopForm::rows || signature.form == LoopForm::slices;
  return signature.pack > 0 && signature.rank > 1 && is_located && signature.small_index;
}

GpuShape gpu_shape(const KernelText& kernel, const Signature& signature) {
  if (signature.form == LoopForm::tiles) return {256, 1, true};
  if (signature.form == LoopForm::slices) return {kMostStageThreads, 1, false};
  // Few loads of a gather depend on others, so a thread issues several of them at once.
  if (kernel.weight == BodyWeight::gather && signature.rank == 1) return {128, 4, false};
  if (kernel.weight >= BodyWeight::gather) return {128, 1, false};
  // Loads under way hide the memory's latency: 64 bytes a thread, or four elements.
  constexpr int kBytesUnderWay = 64, kMostRounds = 4;
  int bytes = 0;
  for (int k = 0; k < signature.operand_count; ++k) {
    const Access access = signature.operands[k].access;
    if (access == Access::contiguous || access == Access::strided)
      bytes += static_cast<int>(itemsize(signature.operands[k].dtype));
  }
  int rounds = std::clamp(kBytesUnderWay / std::max(bytes * signature.pack, 1), 1, kMostRounds);
  if (kernel.weight == BodyWeight::medium) rounds = 1;
  return {256, rounds * signature.pack, true};
}

std::string emit_gpu_kernel(const KernelText& kernel, const Signature& signature, const FixedValues& fixed) {
  return GpuEmitter(kernel, signature, fixed).text();
}

}  // namespace iruka::jit
