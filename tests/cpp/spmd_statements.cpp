// The statements of random kernels. A line that ends with ';' and a block of lines may be left out without harm, which
// is what makes a failing kernel easy to reduce.
#include "spmd_writer.h"

namespace iruka::testing {
namespace {

constexpr int kDeepest = 4;

std::string number(int value) { return std::to_string(value); }
Variable fixed(const std::string& text, Dtype type, int below = 0) { return {text, type, false, below}; }

}  // namespace

void Writer::line(const std::string& text) {
  text_ += std::string(static_cast<size_t>(indent_) * 2, ' ') + text + "\n";
}

void Writer::nested(int count, std::span<const Variable> extra) {
  const size_t kept_variables = variables.size(), kept_arrays = arrays.size();
  variables.insert(variables.end(), extra.begin(), extra.end());
  ++indent_, ++nesting_;
  statements(count);
  --indent_, --nesting_;
  variables.resize(kept_variables);
  arrays.resize(kept_arrays);
}

void Writer::block(const std::string& opening, int count, std::span<const Variable> extra) {
  line(opening + " {");
  nested(count, extra);
  line("}");
}

void Writer::statements(int count) {
  for (int k = 0; k < count && (k == 0 || budget > 0); ++k) statement();
}

void Writer::statement() {
  if (--budget < 0 && nesting_ > 0) {
    if (const Variable* variable = any_variable(true)) assign(*variable);
    return;
  }
  const int kind = random_.below(100);
  if (kind < 12) return declare();
  if (kind < 16) return declare_undecided();
  if (kind < 22) return declare_array();
  if (kind < 25) return declare_structure();
  if (kind < 32) return change_element();
  if (kind < 37) return call_statement();
  if (kind < 40) return pointer_statement();
  if (kind < 43 && !atomics.empty()) return line(random_.pick(atomics).second());
  if (kind < 48) return leave();
  if (nesting_ < kDeepest) {
    if (kind < 60) return branch();
    if (kind < 63) return switch_statement();
    if (kind < 71) return for_loop();
    if (kind < 75) return while_loop();
    if (kind < 84 && nesting_ < 2) return idiom();
  }
  if (const Variable* variable = any_variable(true)) return assign(*variable);
  declare();
}

void Writer::assign(const Variable& variable) {
  const Dtype type = variable.type;
  const int kind = random_.below(100);
  if (type == Dtype::bool_) {
    constexpr const char* kOperators[] = {" = ", " ^= ", " |= ", " &= ", " = "};
    return line(variable.text + random_.pick(kOperators) + condition(2) + ";");
  }
  if (is_integer(type) && kind < 30) {
    constexpr const char* kOperators[] = {" ^= ", " |= ", " &= ", " <<= ", " >>= ", " /= ", " %= "};
    return line(variable.text + kOperators[random_.below(random_.chance(70) ? 3 : 7)] + value(type, 2) + ";");
  }
  if (!is_complex(type) && kind < 35) return line((random_.chance(50) ? "++" : "--") + variable.text + ";");
  constexpr const char* kOperators[] = {" = ", " = ", " = ", " += ", " += ", " -= ", " *= "};
  line(variable.text + random_.pick(kOperators) + value(type, random_.between(1, 3)) + ";");
}

void Writer::declare() {
  const Dtype type = any_type();
  const std::string name = fresh("v");
  const bool is_const = random_.chance(20);
  line((is_const ? "const " : "") + c_type(type) + " " + name + " = " + value(type, 2) + ";");
  variables.push_back({name, type, !is_const, 0});
}

/// A variable that every path sets, but not its declaration.
void Writer::declare_undecided() {
  const Dtype type = any_type();
  const std::string name = fresh("u");
  line(c_type(type) + " " + name + "; if (" + condition(2) + ") " + name + " = " + value(type, 2) + "; else " + name +
       " = " + value(type, 2) + ";");
  variables.push_back({name, type, true, 0});
}

void Writer::declare_array() {
  constexpr int kLengths[] = {2, 3, 3, 4, 4, 5, 7, 8, 9, 16, 33};
  const Dtype type = any_type();
  const int length = random_.pick(kLengths), kind = random_.below(100);
  const std::string name = fresh("t"), head = c_type(type) + " " + name + "[" + number(length) + "]";
  if (kind < 30) {
    line(head + " = {};");
  } else if (kind < 60 && length < 10) {
    std::string values;
    for (int k = 0; k < length; ++k) values += (k ? ", " : "") + value(type, 1);
    line(head + " = {" + values + "};");
  } else if (kind < 75) {
    const std::string j = fresh("j");
    const Variable loop = fixed(j, Dtype::int32, length);
    variables.push_back(loop);
    line(head + "; for (int " + j + " = 0; " + j + " < " + number(length) + "; ++" + j + ") " + name + "[" + j +
         "] = " + value(type, 2) + ";");
    variables.pop_back();
  } else {
    std::string values;
    for (int k = 0; k < length; ++k) values += (k ? ", " : "") + literal(type);
    const bool is_static = random_.chance(50) && !is_complex(type) && !(is_float(type) && itemsize(type) == 2);
    line(std::string(is_static ? "static const " : "const ") + head + " = {" + values + "};");
    arrays.push_back({name, "", type, length, false});
    return;
  }
  arrays.push_back({name, "", type, length, true});
}

void Writer::declare_structure() {
  const Dtype a = any_type(), b = any_type(), c = any_type();
  const std::string type = fresh("S"), name = fresh("q");
  line("struct " + type + " { " + c_type(a) + " a; " + c_type(b) + " b; " + c_type(c) + " c[2]; };");
  const auto one = [&] {
    return "{" + value(a, 1) + ", " + value(b, 1) + ", {" + value(c, 1) + ", " + value(c, 1) + "}}";
  };
  if (random_.chance(50)) {
    line(type + " " + name + " = " + one() + ";");
    variables.push_back({name + ".a", a, true, 0});
    variables.push_back({name + ".b", b, true, 0});
    arrays.push_back({name + ".c", "", c, 2, true});
    return;
  }
  const int length = random_.between(2, 4);
  std::string values;
  for (int k = 0; k < length; ++k) values += (k ? ", " : "") + one();
  line(type + " " + name + "[" + number(length) + "] = {" + values + "};");
  arrays.push_back({name, ".a", a, length, true});
  arrays.push_back({name, ".b", b, length, true});
  if (random_.chance(40)) line(name + "[" + index(length) + "] = " + name + "[" + index(length) + "];");
}

void Writer::branch() {
  line("if (" + condition(2) + ") {");
  nested(random_.between(1, 3));
  for (int k = random_.below(3); k > 0; --k) {
    line("} else if (" + condition(1) + ") {");
    nested(random_.between(1, 2));
  }
  if (random_.chance(50)) {
    line("} else {");
    nested(random_.between(1, 3));
  }
  line("}");
}

void Writer::switch_statement() {
  const int cases = random_.between(2, 5);
  line("switch (" + small_integer(cases + 1) + ") {");
  ++indent_;
  for (int k = 0; k < cases; ++k) {
    line("case " + number(k) + ": {");
    nested(random_.between(1, 2));
    line(random_.chance(75) ? "} break;" : "}");
  }
  if (random_.chance(60)) block("default:", 1);
  --indent_;
  line("}");
}

void Writer::for_loop() {
  constexpr Dtype kTypes[] = {Dtype::int32,  Dtype::int32, Dtype::int32, Dtype::int64,
                              Dtype::uint32, Dtype::uint8, Dtype::int16};
  const Dtype type = random_.pick(kTypes);
  const std::string j = fresh("j");
  const int most = random_.between(2, nesting_ > 1 ? 4 : 7), kind = random_.below(100);
  const std::string head = "for (" + c_type(type) + " " + j + " = ";
  std::string opening;
  if (kind < 35)
    opening = head + "0; " + j + " < " + number(most) + "; ++" + j + ")";
  else if (kind < 65)
    opening = head + "0; " + j + " < " + small_integer(most + 1) + "; ++" + j + ")";
  else if (kind < 72)
    opening = "for (int " + j + " = " + small_integer(most) + "; " + j + " >= 0; --" + j + ")";
  else if (kind < 80)
    opening = head + small_integer(most) + "; " + j + " < " + number(most) + "; ++" + j + ")";
  else if (kind < 88)
    opening = head + "0; " + j + " < " + number(most) + " && " + condition(1) + "; ++" + j + ")";
  else if (kind < 94)
    opening = head + "0; " + j + " < " + number(most * 2) + "; " + j + " += 2)";
  const bool is_counted = !opening.empty();
  if (!is_counted) opening = head + "0;; ++" + j + ")";
  const Variable loop = fixed(j, kind >= 65 && kind < 72 ? Dtype::int32 : type, kind >= 88 ? most * 2 : most);
  const std::string exit = is_counted ? "" : " if (" + j + " >= " + number(most) + " || " + condition(1) + ") break;";
  line(opening + " {" + exit);
  ++loops_;
  nested(random_.between(1, 3), {&loop, 1});
  --loops_;
  line("}");
}

void Writer::while_loop() {
  const std::string w = fresh("w");
  const int most = random_.between(2, 7);
  const bool at_end = random_.chance(50);
  line("int " + w + " = 0;");
  const Variable round = fixed(w, Dtype::int32);
  line(at_end ? "do {" : "while (" + condition(2) + " && " + w + "++ < " + number(most) + ") {");
  ++loops_;
  nested(random_.between(1, 3), {&round, 1});
  --loops_;
  line(at_end ? "} while (++" + w + " < " + number(most) + " && " + condition(1) + ");" : "}");
}

/// break and continue; an early return from helper functions and, not often, from the body.
void Writer::leave() {
  const std::string when = "if (" + condition(2) + ") ";
  if (loops_ > 0 && random_.chance(75)) return line(when + (random_.chance(50) ? "break;" : "continue;"));
  if (returns) return line(when + "return " + value(*returns, 2) + ";");
  if (!in_body) return line(when + "return;");
  constexpr const char* kLeave[] = {"return;", "return;", "continue;", "break;"};
  if (nesting_ > 0 || random_.chance(40)) return line(when + random_.pick(kLeave));
  declare();
}

void Writer::change_element() {
  for (int attempt = 0; attempt < 3 && !arrays.empty(); ++attempt) {
    const LocalArray& array = random_.pick(arrays);
    if (array.writable) return assign({element(array), array.type, true, 0});
  }
  declare_array();
}

void Writer::call_statement() {
  if (!array_helpers.empty() && random_.chance(50)) {
    const ArrayHelper& helper = random_.pick(array_helpers);
    for (const LocalArray& array : arrays) {
      if (array.type != helper.type || !array.member.empty() || (helper.changes && !array.writable)) continue;
      const std::string call =
          helper.name + "(" + array.name + ", " + number(array.length) + ", " + value(helper.type, 1) + ")";
      if (helper.changes) return line(call + ";");
      const std::string name = fresh("v");
      line(c_type(helper.type) + " " + name + " = " + call + ";");
      variables.push_back({name, helper.type, true, 0});
      return;
    }
  }
  for (const Helper& helper : helpers) {
    if (!helper.changes) continue;
    const Variable* target = any_variable(true, helper.parameters[0]);
    if (!target) continue;
    const std::string rest = call(helper, 1, 2);
    return line(helper.name + "(" + target->text + (rest.empty() ? "" : ", " + rest) + ");");
  }
  declare();
}

/// A write through a pointer to one of two locals.
void Writer::pointer_statement() {
  const Dtype type = any_type();
  const std::string a = fresh("a"), b = fresh("b"), p = fresh("p");
  line(c_type(type) + " " + a + " = " + value(type, 2) + ", " + b + " = " + value(type, 1) + ";");
  line("{ " + c_type(type) + "* " + p + " = " + condition(2) + " ? &" + a + " : &" + b + "; *" + p + " = " +
       value(type, 2) + "; }");
  variables.push_back({a, type, true, 0});
  variables.push_back({b, type, true, 0});
}

}  // namespace iruka::testing
