// Unit u is lane u % lanes of row u / lanes; a row is one block of the elements of one output. By columns, unit u is
// output u % outputs of part u / outputs. Lanes and columns read side by side, on a CPU's vectors and a GPU's warps.
//
// A CPU goes through many rows in passes: a strip of neighbouring columns takes some rows at a time, in the order in
// which they lie in memory, and keeps its values between passes. Few columns have lanes: a strip is then as many lines
// as there are lanes, one after the other.
#include "ops/reduce/reduction_kernel_text.h"

#include <algorithm>
#include <utility>

#include "jit/grammar.h"
#include "jit/kernel_writer.h"
#include "ops/kernel_text.h"

namespace iruka::ops {
namespace {

using jit::number;
using jit::with_line_directives;

/// A user's text inside generated ones.
std::string on_own_lines(const char* file, const std::string& text) { return "\n" + with_line_directives(file, text); }

std::string storage(Dtype dtype) { return dtype == Dtype::bool_ ? "uint8_t" : jit::type_of(dtype); }

/// The scalar with an extent of `_in_ind` or `_out_ind`.
std::string extent_name(const std::string& indexer, int axis) { return "_reduce" + indexer + "_" + number(axis); }

/// The scalar that says how far the number of the output moves along a kept axis.
std::string step_name(int axis) { return "_reduce_step_" + number(axis); }

class StageWriter {
 public:
  StageWriter(const ReductionTexts& texts, const ReductionStage& stage, const std::vector<Dtype>& types)
      : texts_(texts), stage_(stage), types_(types) {}

  std::string text() {
    out_ = "#line 1 \"generated\"\ntypedef " + on_own_lines("reduce_type", reduce_type_of(texts_)) +
           " _type_reduce;\n" + "static_assert(sizeof(_type_reduce) <= " + number(kMostReductionBytes) +
           ", \"a reduce_type has at most 64 bytes\");\n"
           "const auto _reduce_join = [&](_type_reduce a, _type_reduce b) -> _type_reduce { return (" +
           on_own_lines("reduce_expr", texts_.reduce_expr) + "); };\n";
    if (texts_.identity)
      out_ += "const auto _reduce_identity = [&]() -> _type_reduce { return _type_reduce(" +
              on_own_lines("identity", *texts_.identity) + "); };\n";
    constants();
    place();
    if (stage_.in_passes) {
      pass();
    } else {
      line();
      whole();
    }
    if (is_warp()) join_warp();
    stage_.finishes ? finish() : keep_partial();
    return std::move(out_);
  }

  /// The units of a strip that have a column; the others are its last ones.
  std::string elements() const {
    return stage_.has_column_lanes ? "" : "_reduce_inner - _slice.number_ % _reduce_strips * _reduce_width";
  }

 private:
  bool is_warp() const { return stage_.in_warps && stage_.lanes > 1; }
  /// Clang must split the loop over units into rows by an unknown divisor, also if integer
  /// arguments have become constants: the partial results' extent.
  std::string lanes() const {
    if (stage_.has_column_lanes) return "_reduce_lanes";
    return stage_.in_warps || stage_.lanes == 1 ? number(stage_.lanes) : "_reduce_to.shape_[1]";
  }
  bool has_parts() const { return !stage_.finishes; }

  // The sizes that are no parameters, because the stage leaves them no choice.
  void constants() {
    const auto add = [&](const char* name, const char* value) {
      out_ += std::string("[[maybe_unused]] const ptrdiff_t ") + name + " = " + value + ";\n";
    };
    if (!stage_.reads_lines()) add("_reduce_outer", "1");
    if (!has_parts()) add("_reduce_blocks", "1"), add("_reduce_length", "_reduce_n");
    if (!has_parts() || !stage_.reads_lines()) add("_reduce_groups", "1"), add("_reduce_group_length", "_reduce_outer");
    if (!stage_.joins) add("_reduce_elements", "_reduce_n * _reduce_outer");
  }

  // Which output, which part of it, which lane.
  void place() {
    out_ += "const ptrdiff_t _reduce_unit = i;\n";
    if (stage_.has_column_lanes) {
      out_ +=
          "const ptrdiff_t _reduce_flat = _slice.place_, _reduce_part = _slice.number_;\n"
          "const ptrdiff_t _reduce_c = _reduce_flat % _reduce_inner, _reduce_lane = _reduce_flat / _reduce_inner;\n"
          "const ptrdiff_t _reduce_prefix = 0, _i = _reduce_c;\n";
    } else if (stage_.by_columns) {
      out_ +=
          std::string(
              stage_.in_passes
                  ? "const ptrdiff_t _reduce_strip = _slice.number_ % _reduce_strips;\n"
                    "const ptrdiff_t _reduce_c = _reduce_strip * _reduce_width + _slice.place_, "
                    "_reduce_line_number = _slice.number_ / _reduce_strips;\n"
                  : "const ptrdiff_t _reduce_c = _reduce_unit % _reduce_inner, _reduce_line_number = _reduce_unit / "
                    "_reduce_inner;\n") +
          "const ptrdiff_t _reduce_lines = _reduce_outputs / _reduce_inner;\n"
          "const ptrdiff_t _reduce_prefix = _reduce_line_number % _reduce_lines, _reduce_part = _reduce_line_number / "
          "_reduce_lines;\n"
          "const ptrdiff_t _i = " +
          output_number() +
          ";\n"
          "const ptrdiff_t _reduce_lane = 0;\n";
    } else {
      out_ += "const ptrdiff_t _reduce_lane = " + (stage_.lanes == 1 ? "0" : "_reduce_unit % " + lanes()) + ";\n";
      out_ += "ptrdiff_t _reduce_row = " + (stage_.lanes == 1 ? "_reduce_unit" : "_reduce_unit / " + lanes()) + ";\n";
      if (is_warp())  // whole warps run, so lanes beyond the end compute unused values
        out_ +=
            "const ptrdiff_t _reduce_rows = _reduce_outputs * _reduce_blocks * _reduce_groups;\n"
            "const bool _reduce_is_over = _reduce_row >= _reduce_rows;\n"
            "if (_reduce_is_over) _reduce_row = _reduce_rows - 1;\n";
      if (has_parts())
        out_ +=
            "const ptrdiff_t _reduce_parts = _reduce_blocks * _reduce_groups;\n"
            "const ptrdiff_t _i = _reduce_row / _reduce_parts, _reduce_part = _reduce_row % _reduce_parts;\n";
      else
        out_ += "const ptrdiff_t _i = _reduce_row, _reduce_part = 0;\n";
    }
    out_ +=
        "const ptrdiff_t _reduce_block = _reduce_part % _reduce_blocks, _reduce_group = _reduce_part / "
        "_reduce_blocks;\n"
        "const ptrdiff_t _reduce_begin = _reduce_block * _reduce_length;\n"
        "const ptrdiff_t _reduce_end = _reduce_block + 1 == _reduce_blocks ? _reduce_n : _reduce_begin + "
        "_reduce_length;\n";
  }

  // The reduction of the unit's elements along the innermost reduced axis.
  void line() {
    out_ += "const auto _reduce_line = [&](const ptrdiff_t _reduce_at) -> _type_reduce {\n";
    if (!stage_.joins)
      for (size_t k = 0; k < texts_.inputs.size(); ++k)
        if (is_element(k)) base(k);
    map();
    const bool starts = texts_.identity.has_value();
    const std::string step = lanes();
    out_ += "const ptrdiff_t _reduce_full = (_reduce_end - _reduce_begin) / " + step +
            ", _reduce_rest = (_reduce_end - _reduce_begin) - _reduce_full * " + step + ";\n";
    const auto value = [&](int chain) { return "_reduce_map(_reduce_k + " + number(chain) + " * " + step + ")"; };
    const auto chain = [](int k) { return "_reduce_s" + number(k); };
    const std::string used = starts ? "0" : "1";
    out_ += "ptrdiff_t _reduce_k = _reduce_begin + _reduce_lane, _reduce_done = " + used + ";\n_type_reduce " +
            chain(0) + " = " + (starts ? "_reduce_identity()" : "_reduce_map(_reduce_k)") + ";\n";
    if (!starts) out_ += "_reduce_k += " + step + ";\n";
    out_ += "if (_reduce_full >= " + number(2 * kReductionChains) + ") {\n";
    for (int k = 1; k < kReductionChains; ++k)
      out_ += "_type_reduce " + chain(k) + " = " + (starts ? "_reduce_identity()" : value(k - 1)) + ";\n";
    if (!starts)
      out_ += "_reduce_k += " + number(kReductionChains - 1) + " * " + step +
              ";\n_reduce_done = " + number(kReductionChains) + ";\n";
    out_ += "const ptrdiff_t _reduce_rounds = (_reduce_full - _reduce_done) / " + number(kReductionChains) + ";\n" +
            (stage_.in_warps ? "#pragma unroll 2\n" : "") +
            "for (ptrdiff_t _reduce_r = 0; _reduce_r < _reduce_rounds; ++_reduce_r, _reduce_k += " +
            number(kReductionChains) + " * " + step + ") {\n";
    for (int k = 0; k < kReductionChains; ++k)
      out_ += "const _type_reduce _reduce_m" + number(k) + " = " + value(k) + ";\n";
    for (int k = 0; k < kReductionChains; ++k)
      out_ += chain(k) + " = _reduce_join(" + chain(k) + ", _reduce_m" + number(k) + ");\n";
    out_ += "}\n_reduce_done += _reduce_rounds * " + number(kReductionChains) + ";\n";
    for (int half = kReductionChains / 2; half > 0; half /= 2)
      for (int k = 0; k < half; ++k) out_ += chain(k) + " = _reduce_join(" + chain(k) + ", " + chain(k + half) + ");\n";
    out_ += "}\nfor (; _reduce_done < _reduce_full; ++_reduce_done, _reduce_k += " + step + ") " + chain(0) +
            " = _reduce_join(" + chain(0) + ", _reduce_map(_reduce_k));\n";
    if (stage_.lanes > 1)
      out_ += "if (_reduce_lane < _reduce_rest) " + chain(0) + " = _reduce_join(" + chain(0) +
              ", _reduce_map(_reduce_k));\n";
    out_ += "return " + chain(0) + ";\n};\n";
  }

  // A pass over some rows: their values are combined with one another, and then with the unit's value of the passes
  // before. Goes on after the last pass.
  void pass() {
    const std::string rows = number(kReductionPass), all = rows + " * " + lanes();
    out_ += "const ptrdiff_t _reduce_line_passes = (_reduce_length + " + all + " - 1) / (" + all + ");\n";
    if (stage_.reads_lines())
      out_ +=
          "const ptrdiff_t _reduce_at = _reduce_group * _reduce_group_length + _step / _reduce_line_passes;\n"
          "const ptrdiff_t _reduce_row_pass = _reduce_at < _reduce_outer ? _step % _reduce_line_passes : "
          "_reduce_line_passes;\n";
    else
      out_ += "[[maybe_unused]] const ptrdiff_t _reduce_at = 0;\nconst ptrdiff_t _reduce_row_pass = _step;\n";
    out_ += "const ptrdiff_t _reduce_row = _reduce_begin + _reduce_row_pass * " + all +
            ";\nconst ptrdiff_t _reduce_left = _reduce_end - _reduce_row;\n";
    if (!stage_.joins)
      for (size_t k = 0; k < texts_.inputs.size(); ++k)
        if (is_element(k)) base(k);
    map();
    // The elements of the strip follow one another, whatever the size of a word is.
    out_ +=
        "_type_reduce& a = ((_type_reduce*)(_reduce_held.data_ + (_reduce_unit - _slice.place_)))[_slice.place_];\n"
        "if (_reduce_left >= " +
        all + ") {\n";
    combine_rows(0, kReductionPass);
    join_held("_step == 0", "_reduce_m0");
    out_ += "} else {\nfor (ptrdiff_t _reduce_k = 0; _reduce_k * " + lanes() + " < _reduce_left; ++_reduce_k) {\n";
    if (stage_.has_column_lanes)
      out_ += "if (_reduce_flat >= (_reduce_left - _reduce_k * _reduce_lanes) * _reduce_inner) break;\n";
    out_ += "const _type_reduce _reduce_m = _reduce_map(_reduce_row + _reduce_k * " + lanes() + ");\n";
    join_held("_step == 0 && _reduce_k == 0", "_reduce_m");
    out_ += "}\n}\nif (_step + 1 < _reduce_passes) return;\n";
  }

  // A tree over the rows of a pass, depth first, so that few values are held at a time.
  void combine_rows(int first, int count) {
    const std::string value = "_reduce_m" + number(first);
    if (count == 1) {
      out_ += "_type_reduce " + value + " = _reduce_map(_reduce_row + " + number(first) + " * " + lanes() + ");\n";
      return;
    }
    combine_rows(first, count / 2);
    combine_rows(first + count / 2, count / 2);
    out_ += value + " = _reduce_join(" + value + ", _reduce_m" + number(first + count / 2) + ");\n";
  }

  void join_held(const std::string& is_first, const std::string& value) {
    const std::string first = texts_.identity ? "_reduce_join(_reduce_identity(), " + value + ")" : value;
    out_ += "if (" + is_first + ") a = " + first + ";\nelse a = _reduce_join(a, " + value + ");\n";
  }

  bool is_element(size_t k) const {
    const Reach reach = stage_.reach[k];
    return reach != Reach::scalar && reach != Reach::raw && reach != Reach::output;
  }

  /// By columns, the number of a unit's output.
  std::string output_number() const {
    if (!stage_.is_sorted) return "_reduce_prefix * _reduce_inner + _reduce_c";
    size_t element = 0;
    while (!is_element(element)) ++element;
    const std::string array = hidden_name(texts_.inputs[element]);
    const int last = stage_.kept_axes - 1;
    const std::string across = "_reduce_c * " + step_name(last);
    if (last == 0) return across;
    return offset_of("_reduce_prefix", array, 0, last, step_name) + " + " + across;
  }

  /// "c0 * strides[0] + ...": the byte offset for a flat index over some axes of a hidden array.
  static std::string bytes_of(const std::string& index, const std::string& array, int first, int axes) {
    return offset_of(index, array, first, axes, [&](int axis) { return array + ".strides_[" + number(axis) + "]"; });
  }
  /// The same with other strides.
  template <class Stride>
  static std::string offset_of(const std::string& index, const std::string& array, int first, int axes,
                               Stride&& stride) {
    if (axes == 1) return index + " * " + stride(first);
    std::string sum, rest = "(" + index + ")";
    for (int axis = first + axes - 1; axis >= first; --axis) {
      const std::string extent = array + ".shape_[" + number(axis) + "]",
                        at = axis == first ? rest : rest + " % " + extent;
      sum += (sum.empty() ? "" : " + ") + ("(" + at + ") * " + stride(axis));
      rest = "(" + rest + " / " + extent + ")";
    }
    return sum;
  }

  // Where an input has this unit's elements; by columns all but the place along the last kept axis.
  void base(size_t k) {
    const std::string array = hidden_name(texts_.inputs[k]);
    std::string bytes;
    const int kept = stage_.by_columns ? stage_.kept_axes - 1 : stage_.kept_axes;
    if (kept > 0) bytes += " + " + bytes_of(stage_.by_columns ? "_reduce_prefix" : "_i", array, 0, kept);
    if (stage_.outer_axes > 0) bytes += " + " + bytes_of("_reduce_at", array, stage_.kept_axes, stage_.outer_axes);
    out_ += "const char* const _reduce_base_" + texts_.inputs[k].name + " = (const char*)" + array + ".data_" + bytes +
            ";\n";
  }

  std::string element(size_t k) const {
    const Parameter& parameter = texts_.inputs[k];
    const std::string type = "const " + storage(types_[k]) + "*", base = "_reduce_base_" + parameter.name,
                      array = hidden_name(parameter),
                      along = array + ".strides_[" + number(stage_.kept_axes + stage_.outer_axes) + "]",
                      across = array + ".strides_[" + number(stage_.kept_axes - 1) + "]";
    const std::string line = stage_.by_columns ? "(" + base + " + _reduce_k * " + along + ")" : base;
    const std::string fast = stage_.by_columns ? "_reduce_c" : "_reduce_k";
    const std::string suffix = types_[k] == Dtype::bool_ ? " != 0" : "";
    switch (stage_.reach[k]) {
      case Reach::dense: return "((" + type + ")" + line + ")[" + fast + "]" + suffix;
      case Reach::flat:
        return "((" + type + ")(" + base + " + _reduce_at_line * " + along + "))[_reduce_flat]" + suffix;
      case Reach::second: return "((" + type + ")" + line + ")[2 * " + fast + "]" + suffix;
      case Reach::third: return "((" + type + ")" + line + ")[3 * " + fast + "]" + suffix;
      case Reach::fourth: return "((" + type + ")" + line + ")[4 * " + fast + "]" + suffix;
      case Reach::same: return "*(" + type + ")" + line + suffix;
      default:
        return "*(" + type + ")(" + line + " + " + fast + " * " + (stage_.by_columns ? across : along) + ")" + suffix;
    }
  }

  void map() {
    // Where columns have lanes, vectors read whole lines from one address.
    out_ += stage_.has_column_lanes
                ? "const auto _reduce_map = [&](const ptrdiff_t _reduce_at_line) -> _type_reduce {\n"
                  "[[maybe_unused]] const ptrdiff_t _reduce_k = _reduce_at_line + _reduce_lane;\n"
                : "const auto _reduce_map = [&](const ptrdiff_t _reduce_k) -> _type_reduce {\n";
    if (stage_.joins) {
      out_ += std::string("return ((const _type_reduce*)_reduce_from.data_)[") +
              (stage_.by_columns ? "_reduce_k * _reduce_outputs + _i" : "_i * _reduce_n + _reduce_k") + "];\n};\n";
      return;
    }
    for (size_t k = 0; k < texts_.inputs.size(); ++k)
      if (is_element(k))
        out_ += "[[maybe_unused]] const " + jit::type_of(types_[k]) + " " + texts_.inputs[k].name + " = " + element(k) +
                ";\n";
    indices("(_reduce_at * _reduce_n + _reduce_k)");
    out_ += "return static_cast<_type_reduce>(" + on_own_lines("map_expr", texts_.map_expr) + ");\n};\n";
  }

  bool has_parameter(const std::string& name) const {
    for (size_t k = 0; k < texts_.parameter_count(); ++k)
      if (texts_.parameter(k).name == name) return true;
    return false;
  }

  static std::string indexer(const std::string& name, const std::string& count, int axes) {
    std::string extents = axes == 0 ? count : "";
    for (int axis = 0; axis < axes; ++axis) extents += (axis > 0 ? ", " : "") + extent_name(name, axis);
    return "CIndexer<" + number(axes == 0 ? 1 : axes) + "> " + name + "{" + count + ", {" + extents + "}};\n";
  }

  // CuPy's names: _J counts along the reduction, _j over all elements, reduced axes first. `i` and `n` are, as in every
  // kernel, the number of this element and how many there are.
  void indices(const std::string& along) {
    const bool maps = !along.empty();
    out_ += std::string() +
            "[[maybe_unused]] const ptrdiff_t _reduce_total = _reduce_elements * _reduce_outputs;\n"
            "[[maybe_unused]] " +
            indexer("_in_ind", "_reduce_total", stage_.index_axes) + "[[maybe_unused]] " +
            indexer("_out_ind", "_reduce_outputs", stage_.result_axes) + "_out_ind.set(_i);\n";
    if (maps)
      out_ += "[[maybe_unused]] const ptrdiff_t _J = " + along +
              ", _j = _J * _reduce_outputs + _i, i = _j;\n_in_ind.set(_j);\n";
    else
      out_ += "[[maybe_unused]] const ptrdiff_t i = _i;\n";
    if (!has_parameter("n"))
      out_ +=
          std::string("[[maybe_unused]] const ptrdiff_t n = ") + (maps ? "_reduce_total" : "_reduce_outputs") + ";\n";
  }

  // All lines of the unit's group.
  void whole() {
    if (stage_.outer_axes == 0 || stage_.joins) {
      out_ += "_type_reduce a = _reduce_line(0);\n";
      return;
    }
    const bool starts = texts_.identity.has_value();
    out_ +=
        "const ptrdiff_t _reduce_first = _reduce_group * _reduce_group_length;\n"
        "const ptrdiff_t _reduce_stop = _reduce_group + 1 == _reduce_groups ? _reduce_outer : _reduce_first + "
        "_reduce_group_length;\n";
    out_ += "_type_reduce a = " + std::string(starts ? "_reduce_identity()" : "_reduce_line(_reduce_first)") + ";\n" +
            "for (ptrdiff_t _reduce_l = _reduce_first" + (starts ? "" : " + 1") +
            "; _reduce_l < _reduce_stop; ++_reduce_l) a = _reduce_join(a, _reduce_line(_reduce_l));\n";
  }

  void join_warp() {
    out_ += "#pragma unroll\nfor (int _reduce_d = " + number(stage_.lanes / 2) +
            "; _reduce_d > 0; _reduce_d /= 2) a = _reduce_join(a, _reduce_from_lane(a, _reduce_d));\n"
            "if (_reduce_lane != 0 || _reduce_is_over) return;\n";
  }

  void keep_partial() {
    const char* const at = is_warp()                                      ? "_reduce_row"
                           : stage_.in_passes && !stage_.has_column_lanes ? "_reduce_part * _reduce_outputs + _i"
                                                                          : "_reduce_unit";
    out_ += std::string("((_type_reduce*)_reduce_to.data_)[") + at + "] = a;\n";
  }

  void finish() {
    for (const Parameter& output : texts_.outputs)
      if (!output.raw) out_ += "[[maybe_unused]] auto& " + output.name + " = " + hidden_name(output) + "[_i];\n";
    out_ += "{\n";
    indices("");
    out_ += on_own_lines("post_map_expr", texts_.post_map_expr) + ";\n}\n";
  }

  const ReductionTexts& texts_;
  const ReductionStage& stage_;
  const std::vector<Dtype>& types_;
  std::string out_;
};

std::string parameter_list(const ReductionTexts& texts, const ReductionStage& stage) {
  std::string list;
  for (size_t k = 0; k < texts.parameter_count(); ++k) {
    const Parameter& parameter = texts.parameter(k);
    const bool is_output = k >= texts.inputs.size();
    const bool is_scalar = stage.reach[k] == Reach::scalar && !parameter.raw;
    if (parameter.is_by_value()) {
      list += (k ? ", " : "") + parameter.to_string();
      continue;
    }
    list += std::string(k ? ", " : "") + (is_scalar ? "" : "raw ") +
            (is_output || !parameter.is_const ? "_non_const "
             : parameter.follows_array        ? ""
                                              : "const ") +
            parameter.type + " " + (parameter.raw || is_scalar ? parameter.name : hidden_name(parameter));
  }
  if (stage.joins) list += ", raw const uint64 _reduce_from";
  if (!stage.finishes) list += ", raw _non_const uint64 _reduce_to";
  for_each_size(stage, [&](const char* name, auto) { list += std::string(", int64 ") + name; });
  for (int axis = 0; axis < stage.index_axes; ++axis) list += ", int64 " + extent_name("_in_ind", axis);
  for (int axis = 0; axis < stage.result_axes; ++axis) list += ", int64 " + extent_name("_out_ind", axis);
  for (int axis = 0; stage.is_sorted && axis < stage.kept_axes; ++axis) list += ", int64 " + step_name(axis);
  if (stage.in_passes) list += ", raw _non_const uint64 _reduce_held";
  return list;
}

std::string spoken_types(const ReductionTexts& texts, const std::vector<Dtype>& types) {
  std::string list;
  for (size_t k = 0; k < texts.parameter_count(); ++k) {
    const Parameter& parameter = texts.parameter(k);
    list += (k == 0                     ? ""
             : k == texts.inputs.size() ? " -> "
                                        : ", ") +
            std::string(parameter.raw ? "raw " : "") + name(types[k]) + " " + parameter.name +
            (parameter.is_by_value() ? "[" + std::to_string(parameter.extent) + "]" : "");
  }
  return list;
}

}  // namespace

std::string ReductionStage::key() const {
  std::string key;
  for (const int part : {int{in_warps}, int{joins}, int{finishes}, int{by_columns}, int{in_passes},
                         int{has_column_lanes}, int{is_sorted}, lanes, kept_axes, outer_axes, index_axes, result_axes})
    key += static_cast<char>('0' + part);
  for (const Reach each : reach) key += static_cast<char>(each);
  return key;
}

std::string hidden_name(const Parameter& parameter) { return "_reduce_of_" + parameter.name; }

std::string reduce_type_of(const ReductionTexts& texts) {
  const std::string& written = texts.options.reduce_type;
  const Parameter& first = texts.outputs.front();
  if (written.empty()) return first.dtype ? jit::type_of(*first.dtype) : first.type;
  for (int dtype = 0; dtype < kDtypeCount; ++dtype)
    if (written == info(static_cast<Dtype>(dtype)).name) return info(static_cast<Dtype>(dtype)).c_type;
  return written;
}

std::shared_ptr<ElementwiseKernel::State> reduction_stage_kernel(const ReductionTexts& texts,
                                                                 const ReductionStage& stage,
                                                                 const std::vector<Dtype>& types) {
  KernelOptions options;
  options.preamble = texts.options.preamble +
                     (stage.in_warps && stage.lanes > 1 ? "\n" + include_text("reduce", "cuda/from_lane") : "");
  options.options = texts.options.options;
  options.made_at = texts.options.made_at;
  options.includes = texts.includes;
  options.argument_types = spoken_types(texts, types);
  options.embedded_texts = {{"map_expr", texts.map_expr},
                            {"reduce_expr", texts.reduce_expr},
                            {"post_map_expr", texts.post_map_expr},
                            {"identity", texts.identity.value_or("")},
                            {"reduce_type", reduce_type_of(texts)}};
  if (stage.finishes)
    for (const Parameter& output : texts.outputs) options.must_write.push_back(output.name);
  jit::KernelText text;
  text.name = texts.name;
  text.inputs = jit::parse_parameters(texts.name, parameter_list(texts, stage), false, "ReductionKernel");
  text.preamble = options.preamble;
  StageWriter writer(texts, stage, types);
  text.operation = writer.text();
  if (stage.in_passes) {
    const auto passes = std::ranges::find(text.inputs, "_reduce_passes", &Parameter::name);
    jit::StageText body{std::exchange(text.operation, ""), text.operation_file};
    body.count_parameter = static_cast<size_t>(passes - text.inputs.begin());
    body.elements = writer.elements();
    body.uses.assign(text.inputs.size(), true);
    text.stages.push_back(std::move(body));
    text.is_staged = true;
    text.intermediates = 1;
  }
  return jit::make_kernel_state(std::move(text), std::move(options));
}

}  // namespace iruka::ops
