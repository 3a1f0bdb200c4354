#include "backend/cuda/guard_ptx.h"

#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

namespace iruka::cuda_backend {
namespace {

/// "@%p1 div.s32 %r1, %r2, %r3;" in its parts.
struct Instruction {
  std::string_view predicate;                ///< "@%p1 " with its space, or empty
  std::string_view opcode;                   ///< "div.s32"
  std::array<std::string_view, 3> operands;  ///< destination first
  size_t operand_count = 0;
};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// No value unless the line holds exactly one instruction of one to three operands.
std::optional<Instruction> parse(std::string_view line) {
  Instruction found;
  line = trimmed(line);
  if (line.empty() || line.back() != ';') return {};
  line.remove_suffix(1);
  if (line.find(';') != line.npos) return {};
  if (line.front() == '@') {
    const size_t end = line.find_first_not_of(" \t", line.find_first_of(" \t"));
    if (end == line.npos) return {};
    found.predicate = line.substr(0, end);
    line.remove_prefix(end);
  }
  const size_t gap = line.find_first_of(" \t");
  found.opcode = line.substr(0, gap);
  std::string_view rest = gap == line.npos ? std::string_view() : line.substr(gap);
  while (!rest.empty() && found.operand_count < found.operands.size()) {
    const size_t comma = rest.find(',');
    found.operands[found.operand_count++] = trimmed(rest.substr(0, comma));
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
  }
  if (!rest.empty()) return {};
  return found;
}

/// The width that a type's name ends in: "32" of "s32".
std::string_view width_of(std::string_view type) { return type.substr(type.find_first_of("0123456789")); }

/// "{ .reg .pred; `test`; `instruction`; selp: 0 where the test holds }". The predicate is local to the braces.
std::string with_zero_where(const std::string& test, const Instruction& found, std::string_view instruction,
                            std::string_view width) {
  const std::string result(found.operands[0]);
  return "\t{\n\t.reg .pred \t%iruka_zero;\n\t" + test + "\n\t" + std::string(instruction) + "\n\t" +
         std::string(found.predicate) + "selp.b" + std::string(width) + " \t" + result + ", 0, " + result +
         ", %iruka_zero;\n\t}\n";
}

/// Whether a divisor that is a constant is zero; no value for a register.
std::optional<bool> constant_is_zero(std::string_view operand) {
  if (operand.empty() || operand.front() == '%' || operand.find_first_of("0123456789") == operand.npos) return {};
  if (operand.front() != '-' && (operand.front() < '0' || operand.front() > '9')) return {};
  const size_t digits = operand.starts_with("0x") || operand.starts_with("0X") ? 2 : 0;
  return operand.find_first_of("123456789abcdefABCDEF", digits) == operand.npos;
}

std::string guard_division(const Instruction& found, std::string_view line, std::string_view type) {
  const std::string width(width_of(type));
  const std::optional<bool> is_zero = constant_is_zero(found.operands[2]);
  if (is_zero && !*is_zero) return {};
  if (is_zero)
    return "\t" + std::string(found.predicate) + "mov.b" + width + " \t" + std::string(found.operands[0]) + ", 0;\n";
  const std::string test = "setp.eq.b" + width + " \t%iruka_zero, " + std::string(found.operands[2]) + ", 0;";
  return with_zero_where(test, found, trimmed(line), width);
}

std::string guard_conversion(const Instruction& found, std::string_view line, std::string_view to,
                             std::string_view from) {
  if (from != "f64" && width_of(to) != "64") return {};
  // A double constant as an operand cannot be NaN here: the compiler has folded those.
  const std::string value(found.operands[1]);
  const std::string test = "setp.nan." + std::string(from) + " \t%iruka_zero, " + value + ", " + value + ";";
  return with_zero_where(test, found, trimmed(line), width_of(to));
}

/// The suffixes after the opcode's name: "cvt.rzi.s64.f32" -> "rzi", "s64", "f32".
struct Suffixes {
  std::array<std::string_view, 5> all;
  size_t count = 0;
};
Suffixes suffixes_of(std::string_view opcode) {
  Suffixes found;
  for (size_t dot = opcode.find('.'); dot != opcode.npos && found.count < found.all.size();) {
    const size_t next = opcode.find('.', dot + 1);
    found.all[found.count++] = opcode.substr(dot + 1, next == opcode.npos ? next : next - dot - 1);
    dot = next;
  }
  return found;
}

bool is_integer_type(std::string_view type) {
  return type.size() >= 3 && (type[0] == 's' || type[0] == 'u') && type.find_first_not_of("0123456789", 1) == type.npos;
}
bool is_rounding_to_integer(std::string_view mode) {
  return mode == "rzi" || mode == "rni" || mode == "rmi" || mode == "rpi";
}

/// The text that replaces the line; empty if the line stays.
std::string guarded(std::string_view line) {
  const std::string_view text = trimmed(line);
  // Nearly every line ends here.
  const size_t name = text.starts_with('@') ? text.find_first_not_of(" \t", text.find_first_of(" \t")) : 0;
  if (text.empty() || name == text.npos) return {};
  const std::string_view head = text.substr(name, 4);
  if (head != "div." && head != "rem." && head != "cvt." && head != "trap") return {};
  const std::optional<Instruction> found = parse(line);
  if (!found) return {};
  if (found->opcode == "trap") return "\t" + std::string(found->predicate) + "exit;\n";
  const Suffixes suffixes = suffixes_of(found->opcode);
  if (head == "cvt.") {
    if (suffixes.count < 3 || found->operand_count != 2 || !is_rounding_to_integer(suffixes.all[0])) return {};
    const std::string_view to = suffixes.all[suffixes.count - 2], from = suffixes.all[suffixes.count - 1];
    return is_integer_type(to) ? guard_conversion(*found, line, to, from) : std::string();
  }
  if (suffixes.count != 1 || found->operand_count != 3 || !is_integer_type(suffixes.all[0])) return {};
  return guard_division(*found, line, suffixes.all[0]);
}

/// Where a body asks for quotient and remainder, the compiler divides once: r = x - x / y * y, which is x where y is 0.
class SharedRemainders {
 public:
  /// Remembers quotients, and their products with the divisor.
  void note(std::string_view line) {
    if (line.starts_with('}')) {  // registers of the next function are others
      quotients_.clear();
      products_.clear();
    }
    const std::string_view text = trimmed(line);
    const bool is_division = text.starts_with("div.s") || text.starts_with("div.u");
    if (!is_division && (quotients_.empty() || !text.starts_with("mul.lo."))) return;
    const std::optional<Instruction> found = parse(line);
    if (!found || found->operand_count != 3) return;
    const auto& [to, a, b] = found->operands;
    if (is_division) {
      quotients_[to] = {a, b};
    } else if (const Division* division = product_of(a, b)) {
      products_[to] = *division;
    }
  }
  /// The subtraction with its guard; empty for any other line.
  std::string guarded(std::string_view line) const {
    if (products_.empty() || !trimmed(line).starts_with("sub.")) return {};
    const std::optional<Instruction> found = parse(line);
    if (!found || found->operand_count != 3) return {};
    const auto product = products_.find(found->operands[2]);
    if (product == products_.end() || product->second.dividend != found->operands[1]) return {};
    if (constant_is_zero(product->second.divisor)) return {};
    const std::string width(width_of(found->opcode.substr(4)));
    return with_zero_where("setp.eq.b" + width + " \t%iruka_zero, " + std::string(product->second.divisor) + ", 0;",
                           *found, trimmed(line), width);
  }

 private:
  struct Division {
    std::string_view dividend, divisor;
  };
  const Division* product_of(std::string_view a, std::string_view b) const {
    for (const auto& [quotient, factor] : {std::pair(a, b), std::pair(b, a)}) {
      const auto found = quotients_.find(quotient);
      if (found != quotients_.end() && found->second.divisor == factor) return &found->second;
    }
    return nullptr;
  }
  std::unordered_map<std::string_view, Division> quotients_, products_;
};

}  // namespace

std::string guard_ptx(std::string_view ptx) {
  SharedRemainders remainders;
  std::string result;
  result.reserve(ptx.size() + ptx.size() / 8);
  while (!ptx.empty()) {
    const size_t length = ptx.find('\n') == ptx.npos ? ptx.size() : ptx.find('\n') + 1;
    const std::string_view line = ptx.substr(0, length);
    std::string replacement = guarded(line.substr(0, line.find('\n')));
    if (replacement.empty()) replacement = remainders.guarded(line.substr(0, line.find('\n')));
    remainders.note(line.substr(0, line.find('\n')));
    result += replacement.empty() ? line : std::string_view(replacement);
    ptx.remove_prefix(length);
  }
  return result;
}

}  // namespace iruka::cuda_backend
