// What the generated texts of all devices have in common: arguments, the element function, loads and stores around it.
#pragma once

#include <algorithm>
#include <string>

#include "jit/emit.h"

namespace iruka::jit {

inline std::string number(int64_t value) { return std::to_string(value); }
inline std::string type_of(Dtype dtype) { return info(dtype).c_type; }

/// Includes HEADER.h of jit/kernels.
inline std::string include_kernel(const std::string& header) { return "#include \"jit/kernels/" + header + ".h\"\n"; }

/// A user's text under its own name and line numbers, so that diagnostics refer to it.
std::string with_line_directives(const char* file, const std::string& text);

/// What declares a small array by value: its elements stay among the arguments.
inline std::string by_value_reference(const Parameter& parameter, const std::string& type) {
  return "const " + type + " (&" + parameter.name + ")[" + number(parameter.extent) + "]";
}

class KernelWriter {
 public:
  KernelWriter(const KernelText& kernel, const Signature& signature, const FixedValues& fixed)
      : kernel_(kernel), signature_(signature), fixed_(fixed), rank_(signature.rank) {}

 protected:
  /// Whether the text, or the stage that is being written, does not mention the parameter.
  bool is_hidden(size_t k) const {
    return signature_.operands[k].access == Access::unused || (stage_ && !stage_->uses[k]);
  }
  bool is_raw(size_t k) const { return !is_hidden(k) && signature_.operands[k].access >= Access::raw_contiguous; }
  bool is_scratch(size_t k) const { return !is_hidden(k) && signature_.operands[k].access == Access::scratch; }
  bool is_scalar(size_t k) const { return !is_hidden(k) && signature_.operands[k].access == Access::scalar; }
  bool is_by_value(size_t k) const { return !is_hidden(k) && signature_.operands[k].access == Access::by_value; }
  bool is_plain(size_t k) const { return !is_hidden(k) && !is_raw(k) && !is_scalar(k) && !is_by_value(k); }
  bool has_strides(size_t k) const { return signature_.rank > 1 || signature_.operands[k].access == Access::strided; }
  /// NVRTC treats a division by a constant zero as unreachable, so on a GPU a zero is not made a constant.
  bool is_fixed(size_t k) const {
    return k < fixed_.scalars.size() && fixed_.scalars[k].has_value() &&
           (signature_.pack == 0 || fixed_.scalars[k]->as_uint64() != 0);
  }
  /// The constant shape and strides of a raw array; null where they are arguments.
  const FixedLayout* fixed_layout(size_t k) const {
    return k < fixed_.layouts.size() && fixed_.layouts[k] ? &*fixed_.layouts[k] : nullptr;
  }
  bool names_count() const;
  std::string type(size_t k) const { return type_of(signature_.operands[k].dtype); }
  bool is_bool(size_t k) const { return signature_.operands[k].dtype == Dtype::bool_; }
  /// The type in memory. A view of another dtype may leave any byte in a bool array; every byte but 0 is true.
  std::string storage(size_t k) const { return is_bool(k) ? "uint8_t" : type(k); }
  /// The declared type of a raw parameter in the body.
  std::string array_type(size_t k) const {
    const OperandSignature& operand = signature_.operands[k];
    return (operand.is_const ? "CConstArray<" : "CArray<") + type(k) + ", " + number(operand.rank) + ">";
  }
  std::string by_value_reference(size_t k) const { return jit::by_value_reference(kernel_.parameter(k), type(k)); }
  template <class Callable>
  void each(Callable&& callable) const {
    for (size_t k = 0; k < kernel_.parameter_count(); ++k) callable(k, kernel_.parameter(k));
  }
  template <class Callable>
  void each_plain(Callable&& callable) const {
    for (size_t k = 0; k < kernel_.parameter_count(); ++k)
      if (is_plain(k)) callable(k, number(static_cast<int64_t>(k)));
  }

  void placeholders();
  void fixed_functions();
  /// `dividers`: members that follow the loop's shape.
  void argument_struct(const std::string& dividers = "");
  std::string indexer_type() const { return "CIndexer<" + number(signature_.indexer_rank) + ">"; }
  /// The body as a function: takes the index and the arguments, and stores outputs through references.
  void element_function(const std::string& head, const std::string& tail);
  bool has_stages() const { return signature_.form == LoopForm::slices; }
  void include_slices();
  /// The functions for an element, of the text or of each stage. `head`: their specifiers.
  void element_functions(const std::string& head);
  /// Runs `loop`, over elements from iruka_first to iruka_stop, for each stage, in a loop over steps where the stage is
  /// repeated. `end` follows each run of a stage.
  template <class Loop>
  void each_stage(const std::string& end, Loop&& loop) {
    for (const StageText& stage : kernel_.stages) {
      stage_ = &stage;
      const std::string count =
          stage.count_parameter ? "(ptrdiff_t)" + kernel_.inputs[*stage.count_parameter].name : number(stage.count);
      out_ += "for (ptrdiff_t iruka_step = 0, iruka_steps = " + count + "; iruka_step < iruka_steps; ++iruka_step) {\n";
      stage_bounds();
      loop();
      out_ += end + "}\n";
      stage_ = nullptr;
    }
  }
  /// The scratch arrays of the batch whose first element is iruka_first, in memory at iruka_scratch.
  void bind_scratch();
  bool has_scratch() const {
    bool any = false;
    each([&](size_t k, const Parameter&) { any |= is_scratch(k); });
    return any;
  }
  /// Scalars and raw arrays as locals of the entry, then loop_prep, then the element function if it uses those locals.
  void bind_arguments(const std::string& lambda_attribute);
  void after_loop();

  /// One element at `index`: loads, the element function, stores. address(k) is an lvalue of the element to load,
  /// target(k) of the one to store.
  template <class Address, class Target>
  void element(const std::string& index, Address&& address, Target&& target) {
    // A known range turns 64-bit divisions of the index into 32-bit ones; a body without the index does not need it.
    if (signature_.small_index && kernel_.sees_index)
      out_ += "__builtin_assume(" + index + " >= 0 && " + index + " < 2147483647);\n";
    std::string arguments = index;
    if (names_count()) arguments += ", iruka_a.n";
    arguments += ", _ind" + place_in_slice(index);
    if (kernel_.sees_indexer) out_ += "_ind.set(" + index + ");\n";
    each([&](size_t k, const Parameter& parameter) {
      if (is_plain(k)) {
        const std::string local = "iruka_e" + number(static_cast<int64_t>(k));
        out_ += std::string(kernel_.is_stored(k) ? "" : "const ") + type(k) + " " + local + " = " + address(k) +
                (is_bool(k) ? " != 0" : "") + ";\n";
        arguments += ", " + local;
      } else if (!is_hidden(k)) {
        arguments += ", " + parameter.name;
      }
    });
    if (!elements().empty() && signature_.slicing != kLoneSlice)  // there, the loop ends before such elements
      out_ +=
          "if (iruka_at_slice.place_ >= " + width_name() + "(" + width_arguments("iruka_at_slice") + ")) continue;\n";
    out_ += element_name() + "(" + arguments + ");\n";
    each_plain([&](size_t k, const std::string& id) {
      if (kernel_.is_stored(k)) out_ += target(k) + " = iruka_e" + id + ";\n";
    });
  }

  std::string flat_address(size_t k, const std::string& index) const;
  std::string channel_index(size_t k, const std::string& index) const;

  const KernelText& kernel_;
  const Signature& signature_;
  const FixedValues& fixed_;
  size_t rank_;
  std::string out_;
  const StageText* stage_ = nullptr;  ///< the one that is being written

 private:
  void bind(size_t k, const Parameter& parameter);
  std::string element_name() const {
    return stage_ ? "iruka_element" + number(stage_ - kernel_.stages.data()) : "iruka_element";
  }
  const std::string& elements() const { return stage_ ? stage_->elements : kernel_.elements; }
  std::string width_name() const { return "iruka_width" + element_name().substr(13); }
  /// Of the function that says how many elements of a slice take part.
  std::string width_arguments(const std::string& slice) const;
  void width_function(const std::string& head);
  void stage_bounds();
  /// Groups of axes of a text whose elements come in C order.
  int groups() const { return signature_.slicing < kGroups ? 0 : (signature_.slicing - kGroups) / 2; }
  std::string slice_type() const {
    const bool is_short = signature_.pack > 0 && signature_.small_index;  // GPUs divide 64-bit numbers slowly
    return "iruka_slice<" + number(groups()) + ", " + number(groups() > 0 ? signature_.slicing % 2 : 0) + ", " +
           (is_short ? "unsigned>" : "ptrdiff_t>");
  }
  /// Writes the element's place in its slice and the step; the arguments that pass them to the element function.
  std::string place_in_slice(const std::string& index);
};

std::string emit_cpu_kernel(const KernelText& kernel, const Signature& signature, const FixedValues& fixed);
std::string emit_gpu_kernel(const KernelText& kernel, const Signature& signature, const FixedValues& fixed);

}  // namespace iruka::jit
