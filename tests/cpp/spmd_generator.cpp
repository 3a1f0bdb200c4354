#include "spmd_generator.h"

#include <algorithm>

#include "spmd_writer.h"

namespace iruka::testing {
namespace {

std::string number(int64_t value) { return std::to_string(value); }

/// The dtypes a kernel mostly works in: people mix few.
std::vector<Dtype> choose_types(Random& random) {
  constexpr Dtype kCommon[] = {Dtype::float32, Dtype::float32, Dtype::float32, Dtype::int32, Dtype::int32,
                               Dtype::uint8,   Dtype::float64, Dtype::int64,   Dtype::uint32};
  std::vector<Dtype> types;
  for (int k = random.between(1, 3); k > 0; --k)
    types.push_back(random.chance(60) ? random.pick(kCommon) : static_cast<Dtype>(random.below(kDtypeCount)));
  return types;
}

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed), types_(choose_types(random_)), writer_(random_, types_) {
    kernel_.seed = seed;
  }

  GeneratedKernel generate() {
    choose_form();
    choose_parameters();
    write_helpers();
    write_loop_prep();
    show_parameters();
    write_body();
    add_protection();
    choose_shapes();
    return std::move(kernel_);
  }

 private:
  enum class Form { line, plane, all_raw };

  void choose_form();
  void choose_parameters();
  void choose_outputs();
  void choose_layout(GeneratedParameter& parameter);
  void share_memory();
  GeneratedParameter& add(Role role, const std::string& stem, Dtype dtype);
  void write_helpers();
  void write_value_helper(const std::string& name);
  void write_changing_helper(const std::string& name);
  void write_array_helper(const std::string& name);
  void write_loop_prep();
  void show_parameters();
  void show_samples(const GeneratedParameter& parameter);
  void show_image(const GeneratedParameter& parameter);
  void show_places(const GeneratedParameter& parameter);
  void show_counters(const GeneratedParameter& parameter);
  void write_body();
  void add_protection();
  void choose_shapes();

  Dtype any_type() { return writer_.any_type(); }
  bool has(Role role) const {
    return std::ranges::any_of(kernel_.parameters, [&](const GeneratedParameter& p) { return p.role == role; });
  }

  GeneratedKernel kernel_;
  Random random_;
  std::vector<Dtype> types_;
  Writer writer_;
  Form form_ = Form::line;
  std::vector<std::string> outputs_;  ///< texts that the body ends by writing
  std::vector<Dtype> output_types_;
};

void Generator::choose_form() {
  const int kind = random_.below(100);
  form_ = kind < 65 ? Form::line : kind < 85 ? Form::plane : Form::all_raw;
  kernel_.all_raw = form_ == Form::all_raw;
  constexpr int kLanes[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  8,  8,  8, 8, 8,
                            8, 8, 8, 8, 8, 4, 4, 4, 4, 4, 4, 16, 16, 16, 16, 16, 2, 2, 32};
  kernel_.lanes = random_.pick(kLanes);
}

GeneratedParameter& Generator::add(Role role, const std::string& stem, Dtype dtype) {
  GeneratedParameter parameter;
  const auto same = std::ranges::count(kernel_.parameters, role, &GeneratedParameter::role);
  const bool is_single = role == Role::count || role == Role::width || role == Role::image || role == Role::permutation;
  parameter.name = stem + (is_single ? "" : number(same));
  parameter.dtype = dtype;
  parameter.role = role;
  const int kind = random_.below(100);
  parameter.flavour = kind < 45 ? Flavour::tame : kind < 65 ? Flavour::wide : Flavour::special;
  const bool is_output = role >= Role::output;
  const bool is_raw = role >= Role::samples && role != Role::output;
  choose_layout(parameter);
  std::string& list = is_output ? kernel_.outputs : kernel_.inputs;
  list += (list.empty() ? "" : ", ") + std::string(is_raw ? "raw " : "") +
          (role == Role::changed ? "_non_const " : "") + iruka::name(dtype) + " " + parameter.name;
  kernel_.parameters.push_back(parameter);
  return kernel_.parameters.back();
}

void Generator::choose_layout(GeneratedParameter& parameter) {
  const bool reads_only = parameter.role == Role::input;
  const bool is_plain = reads_only || parameter.role == Role::changed || parameter.role == Role::output;
  const bool is_array = is_plain || parameter.role == Role::samples || parameter.role == Role::table ||
                        parameter.role == Role::image || parameter.role == Role::places;
  const bool two_axes = parameter.role == Role::image || (form_ == Form::plane && is_plain);
  const int kind = random_.below(100);
  if (!is_array || kind < 60) return;
  if (kind < 72)
    parameter.layout = Layout::stepped;
  else if (kind < 78)
    parameter.layout = Layout::reversed;
  else if (kind < 88 && reads_only)
    parameter.layout = Layout::broadcast;
  else if (two_axes && kind < 92)
    parameter.layout = Layout::padded;
  else if (two_axes && kind < 97)
    parameter.layout = Layout::transposed;
  else if (two_axes && reads_only)
    parameter.layout = Layout::broadcast_rows;
}

void Generator::choose_parameters() {
  const bool plain = form_ != Form::all_raw;
  if (plain)
    for (int k = random_.between(1, 3); k > 0; --k) add(Role::input, "in", any_type());
  for (int k = random_.below(plain ? 2 : 3) + !plain; k > 0; --k)
    add(Role::samples, "raw", any_type()).per_element = random_.between(1, 4);
  if (random_.chance(30)) add(Role::table, "table", any_type()).length = random_.between(3, 40);
  for (int k = random_.below(3); k > 0; --k) add(Role::scalar, "scalar", any_type());
  if (random_.chance(40)) add(Role::count, "count", Dtype::int32).value = random_.between(0, kLargestCount);
  if (random_.chance(30)) {
    constexpr Dtype kTypes[] = {Dtype::int32, Dtype::int32, Dtype::int64, Dtype::uint16, Dtype::uint32};
    constexpr int kWidths[] = {1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 31, 64, 100};
    add(Role::width, "columns", random_.pick(kTypes)).value = random_.pick(kWidths);
    if (random_.chance(80)) add(Role::image, "picture", any_type());
  }
  if (random_.chance(15)) add(Role::permutation, "permuted", random_.chance(50) ? Dtype::int32 : Dtype::int64);
  if (random_.chance(20)) {
    constexpr Dtype kTypes[] = {Dtype::int32, Dtype::uint32, Dtype::int64, Dtype::uint64};
    add(Role::counters, "hits", random_.pick(kTypes)).length = random_.between(1, 9);
  }
  if (plain && random_.chance(12)) add(Role::changed, "own", any_type());
  choose_outputs();
}

void Generator::choose_outputs() {
  const bool plain = form_ != Form::all_raw;
  if (plain)
    for (int k = random_.between(1, 3); k > 0; --k) add(Role::output, "out", any_type());
  if (!plain || random_.chance(30))
    for (int k = plain ? 1 : random_.between(1, 2); k > 0; --k)
      add(Role::places, "place", any_type()).per_element = random_.between(1, 4);
  if (plain && random_.chance(10)) share_memory();
}

/// An input that is given as the output, too.
void Generator::share_memory() {
  for (size_t k = 0; k < kernel_.parameters.size(); ++k)
    for (GeneratedParameter& output : kernel_.parameters) {
      const GeneratedParameter& input = kernel_.parameters[k];
      if (input.role != Role::input || output.role != Role::output || input.dtype != output.dtype ||
          input.layout >= Layout::broadcast)
        continue;
      output.same_as = static_cast<int>(k);
      output.layout = input.layout;
      return;
    }
}

void Generator::write_helpers() {
  const int most = random_.below(3);
  for (int k = 0; k < most; ++k) {
    const std::string name = "helper" + number(k);
    const int kind = random_.below(3);
    if (kind == 0)
      write_value_helper(name);
    else if (kind == 1)
      write_changing_helper(name);
    else
      write_array_helper(name);
  }
}

void Generator::write_value_helper(const std::string& name) {
  constexpr const char* kHeads[] = {"__device__ ", "__device__ ", "inline ", "static ", "__device__ __forceinline__ "};
  Writer text(random_, types_);
  Helper helper{name, any_type(), {}};
  std::string parameters;
  for (int k = random_.between(1, 3); k > 0; --k) {
    helper.parameters.push_back(any_type());
    const std::string parameter = "argument" + number(k);
    parameters += (parameters.empty() ? "" : ", ") + c_type(helper.parameters.back()) + " " + parameter;
    text.variables.push_back({parameter, helper.parameters.back(), true, 0});
  }
  text.returns = helper.result;
  text.in_body = false;
  text.helpers = writer_.helpers;
  text.budget = 3;
  text.statements(random_.between(1, 3));
  kernel_.preamble += random_.pick(kHeads) + c_type(helper.result) + " " + name + "(" + parameters + ") {\n" +
                      text.text() + "  return " + text.value(helper.result, 2) + "; }\n";
  writer_.helpers.push_back(helper);
}

void Generator::write_changing_helper(const std::string& name) {
  Writer text(random_, types_);
  Helper helper{name, any_type(), {any_type(), any_type()}, true};
  helper.parameters[0] = helper.result;
  text.variables.push_back({"target", helper.result, true, 0});
  text.variables.push_back({"amount", helper.parameters[1], true, 0});
  text.in_body = false;
  text.helpers = writer_.helpers;
  text.budget = 3;
  text.statements(random_.between(1, 3));
  text.assign(text.variables[0]);
  kernel_.preamble += "__device__ void " + name + "(" + c_type(helper.result) + "& target, " +
                      c_type(helper.parameters[1]) + " amount) {\n" + text.text() + "}\n";
  writer_.helpers.push_back(helper);
}

void Generator::write_array_helper(const std::string& name) {
  constexpr const char* kReading[] = {
      "  $ sum = start;\n  for (int k = 0; k < count; ++k) sum += p[k];\n  return sum; }\n",
      "  for (int k = 0; k < count; ++k) {\n    if (p[k] == start) return ($)k;\n  }\n  return start; }\n",
      "  $ sum = start;\n  const $* end = p + count;\n  while (p != end) sum = ($)(sum * ($)3 + *p++);\n  return sum; "
      "}\n"};
  constexpr const char* kChanging[] = {
      "  for (int k = count - 1; k > 0; --k) p[k] = p[k - 1];\n  p[0] = start;\n}\n",
      "  for (int k = 0; k < count / 2; ++k) {\n    $ held = p[k];\n    p[k] = p[count - 1 - k];\n    p[count - 1 - k] "
      "= held;\n  }\n  *p = start;\n}\n",
      "  for (int k = 0; k < count; ++k) {\n    p[k] = ($)(p[k] + start);\n    start = ($)(start * p[k]);\n  }\n}\n"};
  Dtype type = any_type();
  if (type == Dtype::bool_) type = Dtype::uint8;
  const bool changes = random_.chance(50);
  std::string text = changes ? random_.pick(kChanging) : random_.pick(kReading);
  for (size_t at = text.find('$'); at != text.npos; at = text.find('$')) text.replace(at, 1, c_type(type));
  kernel_.preamble += "__device__ " + (changes ? "void" : c_type(type)) + " " + name + "(" + (changes ? "" : "const ") +
                      c_type(type) + "* p, int count, " + c_type(type) + " start) {\n" + text;
  writer_.array_helpers.push_back({name, type, changes});
}

void Generator::write_loop_prep() {
  if (!random_.chance(4)) return;
  const Dtype type = writer_.float_type();
  kernel_.loop_prep =
      "const " + c_type(type) + " prepared = " + writer_.literal(type) + ";\nconst int steps[4] = {1, 5, 2, 0};";
  writer_.variables.push_back({"prepared", type, false, 0});
  writer_.arrays.push_back({"steps", "", Dtype::int32, 4, false});
}

void Generator::show_parameters() {
  for (const GeneratedParameter& parameter : kernel_.parameters) {
    switch (parameter.role) {
      case Role::input:
      case Role::scalar: writer_.variables.push_back({parameter.name, parameter.dtype, false, 0}); break;
      case Role::count: writer_.variables.push_back({parameter.name, Dtype::int32, false, kLargestCount + 1}); break;
      case Role::width: writer_.variables.push_back({parameter.name, parameter.dtype, false, 0}); break;
      case Role::changed:
      case Role::output:
        writer_.variables.push_back({parameter.name, parameter.dtype, true, 0});
        outputs_.push_back(parameter.name);
        output_types_.push_back(parameter.dtype);
        break;
      case Role::samples: show_samples(parameter); break;
      case Role::table:
        writer_.sources.emplace_back(parameter.dtype, [this, name = parameter.name, length = parameter.length] {
          return name + "[" + writer_.index(length) + "]";
        });
        break;
      case Role::image: show_image(parameter); break;
      case Role::permutation: break;
      case Role::counters: show_counters(parameter); break;
      case Role::places: show_places(parameter); break;
    }
  }
}

void Generator::show_samples(const GeneratedParameter& parameter) {
  const std::string name = parameter.name;
  const int per_element = parameter.per_element;
  writer_.sources.emplace_back(parameter.dtype, [this, name, per_element] {
    const int kind = random_.below(100);
    const std::string index = kind % 3 ? "i" : "(int)i";
    if (kind < 45)
      return name + "[" + index + (per_element > 1 ? " * " + number(per_element) : "") + " + " +
             number(random_.below(kExtraElements)) + "]";
    if (kind < 60) return name + "[min(max(i + (" + number(random_.between(-4, 4)) + "), (ptrdiff_t)0), n - 1)]";
    if (kind < 70) return name + "[n - 1 - i]";
    if (kind < 78 && has(Role::permutation)) return name + "[permuted[i]]";
    return name + "[(uint32_t)(" + writer_.value(writer_.integer_type(), 1) + ") % (uint32_t)" + name + ".size()]";
  });
  if (is_complex(parameter.dtype)) return;
  writer_.guards.push_back([this, name, type = parameter.dtype] {
    const std::string at = "i + (" + number(random_.between(-3, 3)) + ")";
    return "(" + at + " >= 0 && " + at + " < n && " + name + "[" + at + "] > " + writer_.literal(type) + ")";
  });
}

void Generator::show_image(const GeneratedParameter& parameter) {
  if (random_.chance(50)) {
    const std::string type = c_type(parameter.dtype);
    kernel_.preamble += "__device__ " + type + " around(CArray<" + type + ", 2>& a, int x, int y, int w, int h) {\n  " +
                        type + " sum = " + type +
                        "(0);\n  for (int dy = -1; dy <= 1; ++dy) {\n    for (int dx = -1; dx <= 1; ++dx) {\n"
                        "      if (x + dx < 0 || x + dx >= w || y + dy < 0 || y + dy >= h) continue;\n"
                        "      sum = (" +
                        type + ")(sum + a[{y + dy, x + dx}]);\n    }\n  }\n  return sum; }\n";
    writer_.sources.emplace_back(parameter.dtype, [name = parameter.name, uses = 0]() mutable -> std::string {
      if (++uses > 1) return name + "[at]";  // nine reads take long to compile
      return "around(" + name + ", column, row, (int)columns, (int)" + name + ".shape()[0])";
    });
  }
  writer_.sources.emplace_back(parameter.dtype, [this, name = parameter.name] {
    const std::string rows = "(int)" + name + ".shape()[0]";
    const int kind = random_.below(100);
    if (kind < 30) return name + "[{row, column}]";
    if (kind < 50) return name + "[at]";
    if (kind < 60) return name + "[i]";
    if (kind < 70) return name + "[{min(row + " + number(random_.between(1, 2)) + ", " + rows + " - 1), column}]";
    if (kind < 80) return name + "[{row, max(column - " + number(random_.between(1, 3)) + ", 0)}]";
    return name + "[{min(max(row + (int)(" + writer_.index(3) + "), 0), " + rows +
           " - 1), min(column + 1, (int)columns - 1)}]";
  });
}

/// Elements that only this element of the loop uses.
void Generator::show_places(const GeneratedParameter& parameter) {
  const int per_element = parameter.per_element, kind = random_.below(100);
  const bool permuted = has(Role::permutation) && kind < 60;
  const std::string index = permuted ? "permuted[i]" : kind < 75 ? "i" : kind < 85 ? "(int)i" : "(n - 1 - i)";
  const int shift = random_.below(kExtraElements + 1);
  for (int k = 0; k < per_element; ++k) {
    const std::string text = parameter.name + "[" + index + (per_element > 1 ? " * " + number(per_element) : "") +
                             (k + shift > 0 ? " + " + number(k + shift) : "") + "]";
    writer_.variables.push_back({text, parameter.dtype, true, 0});
    if (k > 0 && random_.chance(20)) continue;
    outputs_.push_back(text);
    output_types_.push_back(parameter.dtype);
  }
}

void Generator::show_counters(const GeneratedParameter& parameter) {
  const Dtype type = parameter.dtype;
  // One function for one array: sums, or bits, or extremes, do not depend on the order of the elements.
  constexpr const char* kFunctions[] = {"atomicAdd", "atomicAdd", "atomicAdd", "atomicMax",
                                        "atomicMin", "atomicXor", "atomicOr",  "atomicSub"};
  const std::string function = random_.pick(kFunctions);
  writer_.atomics.emplace_back(type, [this, function, type, name = parameter.name, length = parameter.length] {
    return function + "(&" + name + "[" + writer_.index(length) + "], " +
           (random_.chance(50) ? "1" : writer_.value(type, 2)) + ");";
  });
}

void Generator::write_body() {
  const bool has_rows = has(Role::width);
  if (has_rows) {
    writer_.line("const int row = (int)(i / columns), column = (int)(i % columns);");
    writer_.line(random_.chance(50) ? "int at[] = {row, column};" : "const ptrdiff_t at[2] = {row, column};");
    writer_.variables.push_back({"row", Dtype::int32, false, 0});
    writer_.variables.push_back({"column", Dtype::int32, false, 0});
  }
  if (random_.chance(form_ == Form::plane ? 50 : 10)) {
    writer_.line("const ptrdiff_t* where = _ind.get();");
    writer_.variables.push_back({"where[0]", Dtype::int64, false, 0});
    if (form_ == Form::plane) writer_.variables.push_back({"where[1]", Dtype::int64, false, 0});
  }
  if (random_.chance(60)) writer_.variables.push_back({"i", Dtype::int64, false, 0});
  if (random_.chance(15)) writer_.variables.push_back({"n", Dtype::int64, false, 0});
  const int kind = random_.below(100);
  writer_.budget = kind < 65 ? random_.between(2, 5) : kind < 92 ? random_.between(4, 8) : random_.between(8, 13);
  writer_.statements(writer_.budget);
  for (size_t k = 0; k < outputs_.size(); ++k) {
    const std::string value = writer_.value(output_types_[k], random_.between(1, 3));
    const std::string statement =
        outputs_[k] + (output_types_[k] == Dtype::bool_ || random_.chance(60) ? " = " : " += ") + value + ";";
    writer_.line(random_.chance(85) ? statement : "if (" + writer_.condition(2) + ") " + statement);
  }
  kernel_.body = writer_.text();
}

/// The sign of a NaN does not matter.
void Generator::add_protection() {
  const std::string word = "unless_nan(";
  if (kernel_.body.find(word) == word.npos && kernel_.preamble.find(word) == word.npos) return;
  kernel_.preamble =
      "template <class T> __device__ T unless_nan(T x) { return isnan(x) ? (T)1 : x; }\n" + kernel_.preamble;
}

void Generator::choose_shapes() {
  const int lanes = kernel_.lanes ? kernel_.lanes : 8;
  if (form_ == Form::plane) {
    constexpr int kSmall[] = {2, 3, 5, 7, 8, 9, 13}, kLarge[] = {16, 17, 19, 33};
    const bool is_large = random_.chance(40);  // both axes long: square tiles where layouts differ
    for (int k = 0; k < 3; ++k) {
      const int64_t rows = is_large ? random_.pick(kLarge) : random_.pick(kSmall);
      const int64_t columns = is_large || random_.chance(40) ? random_.pick(kLarge) : random_.pick(kSmall);
      kernel_.shapes.push_back({rows, columns});
    }
    return;
  }
  const int sizes[] = {0,  1,  2,  3,  lanes - 1, lanes, lanes + 1, 2 * lanes, 2 * lanes + 3, 4 * lanes - 1,
                       17, 31, 64, 65, 100,       131,   257};
  kernel_.shapes.push_back({random_.between(100, 257)});
  kernel_.shapes.push_back({2 * lanes + 3});
  for (int k = 0; k < 3; ++k) kernel_.shapes.push_back({random_.pick(sizes)});
}

}  // namespace

std::string GeneratedKernel::describe() const {
  std::string text = "seed " + number(static_cast<int64_t>(seed)) + ", --lanes=" + number(lanes) +
                     "\ninputs: " + inputs + "\noutputs: " + outputs;
  constexpr const char* kLayouts[] = {"contiguous", "stepped",   "reversed",      "padded",
                                      "transposed", "broadcast", "broadcast rows"};
  for (const GeneratedParameter& p : parameters) {
    if (p.layout != Layout::contiguous) text += "\n" + p.name + ": " + kLayouts[static_cast<int>(p.layout)];
    if (p.role == Role::width || p.role == Role::count) text += "\n" + p.name + ": " + number(p.value);
    if (p.same_as >= 0) text += "\n" + p.name + ": the array of " + parameters[static_cast<size_t>(p.same_as)].name;
  }
  text += "\nshapes:";
  for (const Dims& shape : shapes) text += " " + to_string(shape);
  if (!preamble.empty()) text += "\npreamble:\n" + preamble;
  if (!loop_prep.empty()) text += "\nloop_prep:\n" + loop_prep;
  return text + "\nbody:\n" + body;
}

GeneratedKernel generate_kernel(uint64_t seed) { return Generator(seed).generate(); }

}  // namespace iruka::testing
