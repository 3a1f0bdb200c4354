#include "jit/emit.h"

#include "jit/kernel_writer.h"

namespace iruka::jit {

std::string emit_kernel(const KernelText& kernel, const Signature& signature, const FixedValues& fixed) {
  return signature.pack ? emit_gpu_kernel(kernel, signature, fixed) : emit_cpu_kernel(kernel, signature, fixed);
}

bool fixes_layout(const KernelText& kernel, const OperandSignature& array) {
  const bool is_raw = array.access == Access::raw_contiguous || array.access == Access::raw_strided;
  return is_raw && (array.rank > 1 || (array.rank == 1 && kernel.sees_shapes));
}

std::vector<BodyText> bodies_of(const KernelText& kernel) {
  if (kernel.stages.empty()) return {{kernel.operation_file, kernel.operation, kernel.elements}};
  std::vector<BodyText> bodies;
  bodies.reserve(kernel.stages.size());
  for (const StageText& stage : kernel.stages) bodies.push_back({stage.file, stage.body, stage.elements});
  return bodies;
}

std::string emit_check(const KernelText& kernel) {
  std::string templates, parameters = "const ptrdiff_t i", names;
  if (kernel.sees_slice)
    parameters += ", const iruka_slice<0, 0, ptrdiff_t> _slice, const ptrdiff_t _J, const ptrdiff_t _i";
  if (kernel.sees_step) parameters += ", const ptrdiff_t _step";
  for (size_t k = 0; k < kernel.parameter_count(); ++k) {
    const Parameter& parameter = kernel.parameter(k);
    const std::string element = type_of(*parameter.dtype);
    names += parameter.name + ",";
    if (parameter.is_by_value()) {
      parameters += ", " + by_value_reference(parameter, element);
      continue;
    }
    if (parameter.raw) {
      // A template parameter stands for an array of any rank.
      templates += (templates.empty() ? "template <" : ", ") + std::string("class iruka_raw") + number(k);
      parameters += ", iruka_raw" + number(k) + "& ";
    } else {
      parameters +=
          std::string(", ") + (parameter.is_const ? "const " : "") + element + (kernel.is_stored(k) ? "& " : " ");
    }
    parameters += parameter.name;
  }
  // A template is used only where needed, because compilers check functions more thoroughly.
  if (kernel.sees_indexer) templates += (templates.empty() ? "template <" : ", ") + std::string("int iruka_axes");
  if (!templates.empty()) templates += ">\n";
  const std::string indexer = kernel.sees_indexer ? "CIndexer<iruka_axes>" : "CIndexer<1>";
  const bool names_count = ("," + names).find(",n,") == std::string::npos;
  std::string text = with_line_directives("preamble", kernel.preamble);
  if (kernel.sees_slice) text += include_kernel("slices");
  text += templates + "void iruka_check(" + parameters + (names_count ? ", const ptrdiff_t n" : "") + ", " + indexer +
          "& _ind) {\n";
  if (!kernel.loop_prep.empty()) text += with_line_directives("loop_prep", kernel.loop_prep) + ";\n";
  for (const BodyText& each : bodies_of(kernel)) {
    if (!each.elements.empty())
      text += "{\n[[maybe_unused]] const ptrdiff_t iruka_width = (\n" +
              with_line_directives(each.elements_file().c_str(), each.elements) + ");\n}\n";
    text += "do {\n" + with_line_directives(each.file.c_str(), each.body) + ";} while (0);\n";
  }
  if (!kernel.after_loop.empty()) text += "{\n" + with_line_directives("after_loop", kernel.after_loop) + ";}\n";
  return text + "}\n";
}

}  // namespace iruka::jit
