#include "jit/kernel_writer.h"

namespace iruka::jit {

std::string with_line_directives(const char* file, const std::string& text) {
  return std::string("#line 1 \"") + file + "\"\n" + text + "\n#line 1 \"generated\"\n";
}

bool KernelWriter::names_count() const {
  for (size_t k = 0; k < kernel_.parameter_count(); ++k)
    if (kernel_.parameter(k).name == "n") return false;
  return true;
}

void KernelWriter::placeholders() {
  std::string seen;
  each([&](size_t k, const Parameter& parameter) {
    if (parameter.dtype || seen.find(parameter.type) != seen.npos) return;
    seen += parameter.type;
    out_ += "typedef " + type(k) + " " + parameter.type + ";\n";
  });
}

// Values come out of functions, not constants, so that `x / width` with width 0 reaches the guard as a division.
void KernelWriter::fixed_functions() {
  each([&](size_t k, const Parameter&) {
    if (!is_fixed(k)) return;
    out_ += "static inline " + type(k) + " iruka_fixed" + number(k) + "() { return (" + type(k) + ")" +
            std::to_string(fixed_.scalars[k]->as_uint64()) + "ull; }\n";
  });
}

void KernelWriter::argument_struct(const std::string& dividers) {
  out_ += "struct iruka_arguments {\n  ptrdiff_t n;\n";
  if (rank_ > 1) out_ += "  ptrdiff_t shape[" + number(rank_) + "];\n";
  out_ += dividers;
  if (kernel_.sees_indexer) out_ += "  ptrdiff_t indexer_shape[" + number(signature_.indexer_rank) + "];\n";
  each([&](size_t k, const Parameter& parameter) {
    const std::string id = number(k);
    if (is_hidden(k)) return;
    if (is_scalar(k)) {
      out_ += "  " + type(k) + " value" + id + ";\n";
    } else if (is_by_value(k)) {
      out_ += "  " + type(k) + " value" + id + "[" + number(parameter.extent) + "];\n";
    } else if (is_scratch(k)) {
      out_ += "  ptrdiff_t shape" + id + "[" + number(std::max<int>(signature_.operands[k].rank, 1)) + "], place" + id +
              ";\n";
    } else if (is_raw(k)) {
      const std::string rank = number(std::max<int>(signature_.operands[k].rank, 1));
      out_ += "  " + type(k) + "* data" + id + ";\n  ptrdiff_t size" + id + ", shape" + id + "[" + rank + "], stride" +
              id + "[" + rank + "];\n";
    } else {
      out_ += "  " + storage(k) + "* data" + id + ";\n";
      if (has_strides(k)) out_ += "  ptrdiff_t stride" + id + "[" + number(rank_) + "];\n";
    }
  });
  if (signature_.form == LoopForm::slices)
    out_ += "  ptrdiff_t batch, slice;\n  unsigned slice_magic, slice_shift;\n  ptrdiff_t scratch_bytes;\n";
  else if (groups() > 0)
    out_ += "  ptrdiff_t groups[" + number(groups()) + "];\n";
  if (kernel_.sees_step && kernel_.stages.empty()) out_ += "  ptrdiff_t step;\n";
  out_ += "};\n";
}

std::string KernelWriter::place_in_slice(const std::string& index) {
  std::string arguments;
  if (kernel_.sees_slice) {
    if (groups() > 0) {
      out_ += slice_type() + " iruka_at_slice(iruka_a.groups, " + index + ");\n";
    } else {
      const std::string within = "(" + index + " - iruka_first)";
      const bool is_lone = signature_.slicing == kLoneSlice;
      out_ += slice_type() + " iruka_at_slice(iruka_a.slice, " + index + ", " + within + ", " +
              (is_lone ? "0" : "iruka_divide((unsigned)" + within + ", iruka_a.slice_magic, iruka_a.slice_shift)") +
              ", iruka_first / iruka_a.slice);\n";
    }
    arguments += ", iruka_at_slice";
  }
  if (kernel_.sees_step) arguments += stage_ ? ", iruka_step" : ", iruka_a.step";
  return arguments;
}

void KernelWriter::element_function(const std::string& head, const std::string& tail) {
  std::string parameters = "[[maybe_unused]] const ptrdiff_t i";
  if (names_count()) parameters += ", [[maybe_unused]] const ptrdiff_t n";
  parameters += ", [[maybe_unused]] " + indexer_type() + "& _ind";
  std::string index = kernel_.asserts ? "[[maybe_unused]] const ptrdiff_t iruka_element_index = i;\n" : "";
  if (kernel_.sees_slice) {
    parameters += ", [[maybe_unused]] const " + slice_type() + " _slice";
    index += "[[maybe_unused]] const ptrdiff_t _J = _slice.place_, _i = _slice.number_;\n";
  }
  if (kernel_.sees_step) parameters += ", [[maybe_unused]] const ptrdiff_t _step";
  each([&](size_t k, const Parameter& parameter) {
    if (is_hidden(k)) return;
    parameters += ", [[maybe_unused]] ";
    if (is_by_value(k)) {
      parameters += by_value_reference(k);
      return;
    }
    if (is_raw(k)) {
      parameters += array_type(k) + "& ";
    } else if (is_plain(k) && kernel_.is_stored(k)) {
      parameters += type(k) + "& ";
    } else {
      parameters += (parameter.is_const ? "const " : "") + type(k) + " ";
    }
    parameters += parameter.name;
  });
  const std::string body = stage_ ? with_line_directives(stage_->file.c_str(), stage_->body)
                                  : with_line_directives(kernel_.operation_file.c_str(), kernel_.operation);
  out_ += head + parameters + tail + index + "do {\n" + body + ";} while (0);\n}\n";
}

std::string KernelWriter::width_arguments(const std::string& slice) const {
  std::string arguments = (names_count() ? "iruka_a.n, " : "") + slice +
                          (kernel_.sees_step ? stage_ ? ", iruka_step" : ", iruka_a.step" : "");
  each([&](size_t k, const Parameter& parameter) {
    if (is_scalar(k)) arguments += ", " + parameter.name;
  });
  return arguments;
}

void KernelWriter::width_function(const std::string& head) {
  if (elements().empty()) return;
  std::string parameters = names_count() ? "[[maybe_unused]] const ptrdiff_t n, " : "";
  parameters += "[[maybe_unused]] const " + slice_type() + "& _slice";
  if (kernel_.sees_step) parameters += ", [[maybe_unused]] const ptrdiff_t _step";
  each([&](size_t k, const Parameter& parameter) {
    if (is_scalar(k)) parameters += ", [[maybe_unused]] const " + type(k) + " " + parameter.name;
  });
  const std::string file = (stage_ ? stage_->file : kernel_.operation_file) + "'s elements";
  out_ += head + width_name() + "(" + parameters + ") {\nreturn (\n" + with_line_directives(file.c_str(), elements()) +
          ");\n}\n";
}

// Where a batch is one slice, elements that take no part need not be visited.
void KernelWriter::stage_bounds() {
  if (elements().empty() || signature_.slicing != kLoneSlice) {
    out_ += "const ptrdiff_t iruka_stop = iruka_last;\n";
    return;
  }
  out_ += "const " + slice_type() +
          " iruka_whole(iruka_a.slice, iruka_first, 0, 0, iruka_first / iruka_a.slice);\n"
          "const ptrdiff_t iruka_width = " +
          width_name() + "(" + width_arguments("iruka_whole") +
          ");\n"
          "const ptrdiff_t iruka_stop = iruka_width < iruka_a.slice ? iruka_first + (iruka_width > 0 ? iruka_width : "
          "0) : iruka_last;\n";
}

void KernelWriter::include_slices() {
  if (!kernel_.sees_slice) return;
  if (signature_.slicing == kManySlices && !has_dividers(signature_)) out_ += include_kernel("divide");
  out_ += include_kernel("slices");
}

void KernelWriter::element_functions(const std::string& head) {
  if (kernel_.stages.empty() && kernel_.loop_prep.empty()) {
    width_function(head + "ptrdiff_t ");
    element_function(head + "void iruka_element(", ") {\n");
  }
  for (const StageText& stage : kernel_.stages) {
    stage_ = &stage;
    width_function(head + "ptrdiff_t ");
    element_function(head + "void " + element_name() + "(", ") {\n");
  }
  stage_ = nullptr;
}

// Element k lies at data_[k], so that bodies index a scratch array as they do the whole one.
void KernelWriter::bind_scratch() {
  each([&](size_t k, const Parameter& parameter) {
    if (!is_scratch(k)) return;
    const std::string id = number(k);
    const int rank = signature_.operands[k].rank;
    std::string shape, strides, pitch = "(ptrdiff_t)sizeof(" + type(k) + ")";
    for (int axis = std::max(rank, 1) - 1; axis >= 0; --axis) {
      const std::string extent = "iruka_a.shape" + id + "[" + number(axis) + "]", comma = axis > 0 ? ", " : "";
      shape.insert(0, comma + extent);
      strides.insert(0, comma + pitch);
      pitch += " * " + extent;
    }
    out_ += "[[maybe_unused]] CArray<" + type(k) + ", " + number(rank) + "> " + parameter.name + "{(" + type(k) +
            "*)(iruka_scratch + iruka_a.place" + id + ") - iruka_first, iruka_a.n, {" + shape + "}, {" + strides +
            "}, true};\n";
  });
}

void KernelWriter::bind_arguments(const std::string& lambda_attribute) {
  if (names_count()) out_ += "[[maybe_unused]] const ptrdiff_t n = iruka_a.n;\n";
  std::string shape = "iruka_a.n";
  for (int axis = 0; kernel_.sees_indexer && axis < signature_.indexer_rank; ++axis)
    shape = (axis ? shape + ", " : "") +
            (fixed_.indexer.empty() ? "iruka_a.indexer_shape[" + number(axis) + "]" : number(fixed_.indexer[axis]));
  out_ += "[[maybe_unused]] " + indexer_type() + " _ind{iruka_a.n, {" + shape + "}};\n";
  each([&](size_t k, const Parameter& parameter) { bind(k, parameter); });
  if (kernel_.loop_prep.empty()) return;
  out_ += with_line_directives("loop_prep", kernel_.loop_prep) + ";\n";
  element_function("auto iruka_element = [&](", ") " + lambda_attribute + "{\n");
  out_ += ";\n";
}

void KernelWriter::after_loop() {
  if (!kernel_.after_loop.empty()) out_ += "{\n" + with_line_directives("after_loop", kernel_.after_loop) + ";}\n";
}

// Scalars and raw arrays become locals of the entry. An axis of one element may have any stride. Whether a raw array is
// contiguous is a constant for the optimiser, and so are the layouts that a variant fixes.
void KernelWriter::bind(size_t k, const Parameter& parameter) {
  const std::string id = number(k);
  if (is_scalar(k)) {
    const std::string value = is_fixed(k) ? "iruka_fixed" + id + "()" : "iruka_a.value" + id;
    out_ += "[[maybe_unused]] " + std::string(parameter.is_const ? "const " : "") + type(k) + " " + parameter.name +
            " = " + value + ";\n";
  } else if (is_by_value(k)) {
    out_ += "[[maybe_unused]] " + by_value_reference(k) + " = iruka_a.value" + id + ";\n";
  } else if (is_raw(k) && !is_scratch(k)) {
    const int rank = signature_.operands[k].rank;
    const bool contiguous = signature_.operands[k].access == Access::raw_contiguous;
    const FixedLayout* const fixed = fixed_layout(k);
    std::string shape, stride;
    for (int axis = 0; axis < std::max(rank, 1); ++axis) {
      const std::string comma = axis ? ", " : "", at = "[" + number(axis) + "]";
      shape += comma + (fixed ? number(fixed->shape[axis]) : "iruka_a.shape" + id + at);
      // Contiguous neighbours are a constant as well, for accesses with several indices.
      const bool is_dense = contiguous && axis + 1 == rank;
      stride += comma + (is_dense                           ? "sizeof(" + type(k) + ")"
                         : fixed && fixed->shape[axis] != 1 ? number(fixed->strides[axis])
                                                            : "iruka_a.stride" + id + at);
    }
    const std::string size = fixed ? number(count(fixed->shape)) : "iruka_a.size" + id;
    const std::string members =
        "iruka_a.data" + id + ", " + size + ", {" + shape + "}, {" + stride + "}, " + (contiguous ? "true" : "false");
    const bool is_const = signature_.operands[k].is_const;  // a class with a base takes braces of its own for that
    out_ += "[[maybe_unused]] " + array_type(k) + " " + parameter.name + (is_const ? "{{" : "{") + members +
            (is_const ? "}};\n" : "};\n");
  }
}

/// The place of an interleaved operand's element behind its leader's address.
std::string KernelWriter::channel_index(size_t k, const std::string& index) const {
  const OperandSignature& operand = signature_.operands[k];
  return index + " * " + number(operand.step) + " + " + number(operand.channel);
}

std::string KernelWriter::flat_address(size_t k, const std::string& index) const {
  const std::string id = number(k);
  switch (signature_.operands[k].access) {
    case Access::contiguous: return "iruka_a.data" + id + "[" + index + "]";
    case Access::broadcast: return "iruka_a.data" + id + "[0]";
    case Access::interleaved:
      return "iruka_a.data" + number(signature_.operands[k].leader) + "[" + channel_index(k, index) + "]";
    default:
      return "*(" + storage(k) + "*)((char*)iruka_a.data" + id + " + " + index + " * iruka_a.stride" + id + "[0])";
  }
}

}  // namespace iruka::jit
