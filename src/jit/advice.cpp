#include "jit/advice.h"

#include <algorithm>
#include <vector>

#include "iruka/dtype.h"
#include "jit/grammar.h"

namespace iruka::jit {
namespace {

/// The part of `message` between `before` and `end`.
std::string_view between(std::string_view message, std::string_view before, char end) {
  const size_t at = message.find(before);
  if (at == message.npos) return "";
  const size_t begin = at + before.size();
  return message.substr(begin, message.find(end, begin) - begin);
}

/// The unknown identifier in an error message of Clang or NVRTC.
std::string_view unknown_name(std::string_view message) {
  for (const std::string_view before : {"undeclared identifier '", "unknown type name '", "undeclared label '"})
    if (const std::string_view name = between(message, before, '\''); !name.empty()) return name;
  const std::string_view name = between(message, "identifier \"", '"');
  return message.find("is undefined") != message.npos ? name : "";
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// Advice on names that CUDA and C++ have, and a kernel has not.
struct NameAdvice {
  std::string_view name;
  bool is_prefix;
  const char* advice;
};
constexpr const char* kNoStandardLibrary =
    "; a kernel has no standard library but std::numeric_limits, uint32_t, min, max, swap, is_same, sqrt and the like, "
    "which #include <limits>, <cstdint>, <algorithm>, <utility>, <type_traits> and <cmath> declare; max, min, abs and "
    "sqrt are there without std::";
constexpr const char* kNoPrint =
    "; a kernel cannot print: write what is to be seen to an output, or state it with assert(...)";
constexpr const char* kNoPrefix =
    "; a kernel is C++: max, min, abs, sqrt, isnan and the like are there without a prefix";
constexpr const char* kNoAllocation =
    "; a kernel allocates no memory: use a local array of fixed size, __shared__ memory, or an array argument";
constexpr const char* kSynchronous =
    "; CUDA has only the functions with a mask of the threads, as in __shfl_down_sync(0xffffffff, x, 1)";
constexpr const char* kNoTextures = "; there are no textures: give the array, and interpolate in the kernel";
constexpr const char* kNoHost = "; a kernel cannot call CUDA's functions of the host";
constexpr const char* kNoRandom = "; draw the numbers with iruka.random before the call, and give them as an array";
constexpr const char* kGroups =
    "; write #include <cooperative_groups.h> and namespace cg = cooperative_groups; for CUDA's groups of threads";
constexpr const char* kNoPairs = "; there are no pairs of 16-bit numbers: write two float16 or bfloat16";
constexpr const char* kConstants = "; write #include <math_constants.h>";
constexpr const char* kHalf = "; write #include <cuda_fp16.h>, or the types float16 and bfloat16";
constexpr NameAdvice kNameAdvice[] = {
    {"std", false, kNoStandardLibrary},
    {"printf", false, kNoPrint},
    {"puts", false, kNoPrint},
    {"cout", false, kNoPrint},
    {"True", false, "; C++ writes true"},
    {"False", false, "; C++ writes false"},
    {"np", false, kNoPrefix},
    {"numpy", false, kNoPrefix},
    {"math", false, kNoPrefix},
    {"malloc", false, kNoAllocation},
    {"free", false, kNoAllocation},
    {"__shfl", false, kSynchronous},
    {"__shfl_up", false, kSynchronous},
    {"__shfl_down", false, kSynchronous},
    {"__shfl_xor", false, kSynchronous},
    {"__ballot", false, kSynchronous},
    {"__any", false, kSynchronous},
    {"__all", false, kSynchronous},
    {"tex1D", true, kNoTextures},
    {"tex2D", true, kNoTextures},
    {"tex3D", true, kNoTextures},
    {"cudaTextureObject_t", false, kNoTextures},
    {"cudaSurfaceObject_t", false, kNoTextures},
    {"texture", false, kNoTextures},
    {"curandState", true, kNoRandom},
    {"curand_", true, kNoRandom},
    {"wmma", false, "; iruka.matmul uses tensor cores; in a kernel they need CUDA's own headers, and a GPU"},
    {"cooperative_groups", false, kGroups},
    {"cg", false, kGroups},
    {"cudaM", true, kNoHost},
    {"cudaF", true, kNoHost},
    {"cudaG", true, kNoHost},
    {"cudaD", true, kNoHost},
    {"cudaS", true, kNoHost},
    {"half2", false, kNoPairs},
    {"__half2", false, kNoPairs},
    {"__nv_bfloat162", false, kNoPairs},
    {"__hadd2", false, kNoPairs},
    {"__hmul2", false, kNoPairs},
    {"__hfma2", false, kNoPairs},
    {"half", false, kHalf},
    {"__half", false, kHalf},
    {"__nv_bfloat16", false, kHalf},
    {"nv_bfloat16", false, kHalf},
    {"__float2half", true, kHalf},
    {"__half2float", false, kHalf},
    {"__float2bfloat16", true, kHalf},
    {"__bfloat162float", false, kHalf},
    {"__hadd", false, kHalf},
    {"__hmul", false, kHalf},
    {"__hfma", false, kHalf},
    {"__hsub", false, kHalf},
    {"CUDART_PI", true, kConstants},
    {"CUDART_INF", true, kConstants},
    {"CUDART_NAN", true, kConstants},
    {"cuComplex", false, "; write #include <cuComplex.h>, or the type complex<float>"},
    {"cuFloatComplex", false, "; write #include <cuComplex.h>, or the type complex<float>"},
    {"cuDoubleComplex", false, "; write #include <cuComplex.h>, or the type complex<double>"},
    {"make_cuComplex", false, "; write #include <cuComplex.h>"},
    {"make_cuFloatComplex", false, "; write #include <cuComplex.h>"},
    {"make_cuDoubleComplex", false, "; write #include <cuComplex.h>"},
};

const char* advice_on_name(std::string_view name) {
  for (const NameAdvice& known : kNameAdvice)
    if (known.is_prefix ? name.starts_with(known.name) : name == known.name) return known.advice;
  return nullptr;
}

/// Whether the parts of a complex number are taken for members x and y.
bool is_about_parts(std::string_view message) {
  static constexpr std::string_view kMembers[] = {"no member named 'x'", "no member named 'y'", "has no member \"x\"",
                                                  "has no member \"y\""};
  return has(message, "complex<") &&
         std::ranges::any_of(kMembers, [&](std::string_view member) { return has(message, member); });
}

constexpr const char* kParts = "; write z.real() and z.imag(), and z = {re, im} to set them";

/// Advice on what kernels do not have, by the words of Clang's and NVRTC's messages.
constexpr std::pair<std::string_view, const char*> kRefusals[] = {
    {"namespace \"std\" has no member", kNoStandardLibrary},
    {"in namespace 'std'", kNoStandardLibrary},
    {"inline assembly is disabled", "; assembly for GPUs runs on GPUs only"},
    {"cannot use 'throw'", "; a kernel has no exceptions: a failed assert(...) is an error of the call"},
    {"operator new", kNoAllocation},
    {"integer to pointer conversion", "; x[i] is an element of a pointer x"},
};

/// Whether one of `notes` says `words`.
bool any_says(std::span<const Diagnostic> notes, std::string_view words) {
  return std::ranges::any_of(notes, [&](const Diagnostic& note) { return has(note.message, words); });
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The identifier that begins at `column` of `line`, which counts from 1.
std::string_view word_at(std::string_view line, int column) {
  if (column < 1 || static_cast<size_t>(column) > line.size()) return "";
  const std::string_view rest = line.substr(static_cast<size_t>(column) - 1);
  return rest.substr(0, static_cast<size_t>(std::ranges::find_if_not(rest, is_word) - rest.begin()));
}

/// The C++ type for a dtype's name, if the two differ.
std::string_view type_for(std::string_view dtype) {
  for (int k = 0; k < kDtypeCount; ++k) {
    const auto& known = info(static_cast<Dtype>(k));
    if (dtype == known.name && dtype != known.c_type) return known.c_type;
  }
  return "";
}

/// The number of axes in "CArray<float, 2>"; -1 if `message` names no raw array.
int axes_of_array(std::string_view message) {
  const size_t begin = message.find("Array<");
  if (begin == message.npos) return -1;
  for (size_t at = message.find(", ", begin); at != message.npos; at = message.find(", ", at + 1)) {
    size_t end = at + 2;
    int axes = 0;
    for (; end < message.size() && is_digit(message[end]); ++end) axes = 10 * axes + message[end] - '0';
    if (end > at + 2 && message.substr(end).starts_with('>')) return axes;
  }
  return -1;
}

/// The number of entries of the list "[{...}]" that begins at `column` of `line`; -1 if there is none.
int count_indices(std::string_view line, int column) {
  if (column < 1 || static_cast<size_t>(column) > line.size() || line[column - 1] != '[') return -1;
  const size_t open = line.find_first_not_of(" \t", static_cast<size_t>(column));
  if (open == line.npos || line[open] != '{') return -1;
  int depth = 0, commas = 0;
  for (size_t at = open; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ',' && depth == 1) ++commas;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0)
      return line.find_first_not_of(" \t", open + 1) == at ? 0 : commas + 1;
  }
  return -1;
}

std::string counted(int count, const char* one, const char* several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

/// Whether a compiler says that the target of an assignment or of an atomic function is const.
bool is_about_const(std::string_view message, std::span<const Diagnostic> notes) {
  for (const std::string_view refusal :
       {"'operator[]' returns a const value", "must be a modifiable lvalue", "cannot increment value of type 'const ",
        "cannot decrement value of type 'const "})
    if (has(message, refusal)) return true;
  if (has(message, "deleted function") && has(message, "atomic")) return true;
  const auto is_generated = [](const Diagnostic& note) { return note.file == "generated"; };
  if (has(message, "cannot assign to variable '"))  // a variable of the user's own is no parameter
    return !any_says(notes, "declared const here") || std::ranges::any_of(notes, is_generated);
  if (has(message, "no viable overloaded '"))
    return any_says(notes, "'this' argument has type 'const ") || any_says(notes, "would lose const qualifier");
  const std::string_view sign = between(message, "no operator \"", '"');
  const bool assigns = sign == "++" || sign == "--" ||
                       (sign.ends_with('=') && sign != "==" && sign != "!=" && sign != "<=" && sign != ">=");
  return assigns && has(message, "operand types are: const ");
}

/// Advice on operators, elements and assignments.
std::string advice_on_expression(const Diagnostic& error, std::span<const Diagnostic> notes, std::string_view line) {
  const std::string_view message = error.message;
  if (is_about_const(message, notes))
    return "; plain inputs, const parameters and read-only arrays may not be written: copy the value to a local "
           "variable, or pass an array that may be written, as an output or a '_non_const' input";
  if (has(message, "_Complex") || any_says(notes, "_Complex") ||
      has(message, "user-defined literal operator not found"))
    return "; there are no imaginary literals: write complex<float>(re, im) or complex<double>(re, im)";
  const size_t column = static_cast<size_t>(std::max(error.column, 0));
  if (has(message, "no viable overloaded operator[]") || has(message, "no operator \"[]\"")) {
    const int axes = axes_of_array(message), indices = count_indices(line, error.column);
    if (axes < 0 || indices < 0 || axes == indices) return "";
    return "; " + counted(indices, "index", "indices") + ", but the array has " + counted(axes, "axis", "axes");
  }
  for (const std::string_view refusal : {"does not provide a call operator", "is not a function or function pointer",
                                         "without appropriate operator()", "must have (pointer-to-) function type",
                                         "subscripted value is not an array", "must have pointer-to-object type"})
    if (has(message, refusal))
      return "; a plain parameter is one element; an element of a raw parameter is a[k], or a[{y, x}] with an index "
             "for each axis";
  if (has(message, "indirection requires pointer operand") || has(message, "operand of \"*\" must be a pointer")) {
    // Clang marks the second '*', NVRTC the operand behind it.
    for (const size_t length : {column, column - (column > 0)}) {
      std::string_view before = line.substr(0, length);
      before = before.substr(0, before.find_last_not_of(" \t") + 1);
      if (before.ends_with("**")) return "; C++ has no operator for powers: write pow(x, y), or x * x";
    }
  }
  const bool is_marked = column > 0 && column <= line.size() && line[column - 1] == '%';
  if ((has(message, "invalid operands to binary expression") && is_marked) || has(message, "no operator \"%") ||
      (has(message, "must have integral or unscoped enum type") && has(line, "%")))
    return "; '%' is for integers: fmod(x, y) is the remainder of floats, with the sign of x";
  return "";
}

}  // namespace

std::string advice_on(const Diagnostic& error, std::span<const Diagnostic> notes, std::string_view line) {
  const std::string_view message = error.message;
  const bool is_qualifier = has(message, "name followed by \"::\" must be");  // NVRTC does not repeat the name
  const std::string_view name = is_qualifier ? word_at(line, error.column) : unknown_name(message);
  if (const char* advice = advice_on_name(name)) return advice;
  const bool needs_namespace = has(message, "expected namespace name") || has(message, "name must be a namespace name");
  if (needs_namespace && has(line, "cooperative_groups")) return kGroups;
  if (is_about_parts(message)) return kParts;
  for (const auto& [words, advice] : kRefusals)
    if (has(message, words)) return advice;
  if (const std::string_view type = type_for(name); !type.empty())
    return "; '" + std::string(name) + "' is a dtype's name, for parameters; inside a text its type is called '" +
           std::string(type) + "'";
  return advice_on_expression(error, notes, line);
}

bool is_about_unknown_name(std::string_view message) {
  return !unknown_name(message).empty() || has(message, "has no member") || has(message, "no member named");
}

std::optional<UnmatchedBracket> unmatched_bracket(std::string_view text) {
  struct Open {
    char bracket;
    int line, column;
  };
  std::vector<Open> open;
  int line = 1;
  size_t line_begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = skip_unseen(text, at);
    if (end > at) {
      for (; at < end; ++at)
        if (text[at] == '\n') ++line, line_begin = at + 1;
      continue;
    }
    const char c = text[at];
    if (is_digit(c)) {  // 1'000 holds no character
      while (at < text.size() && (is_word(text[at]) || text[at] == '\'')) ++at;
      continue;
    }
    const int column = static_cast<int>(at - line_begin) + 1;
    if (c == '(' || c == '[' || c == '{') open.push_back({c, line, column});
    if (c == ')' || c == ']' || c == '}') {
      const char partner = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty()) return UnmatchedBracket{line, column, std::string("this '") + c + "' has no opening bracket"};
      if (open.back().bracket != partner)
        return UnmatchedBracket{line, column,
                                std::string("this '") + c + "' does not match the '" + open.back().bracket +
                                    "' of line " + std::to_string(open.back().line)};
      open.pop_back();
    }
    if (c == '\n') ++line, line_begin = at + 1;
    ++at;
  }
  if (open.empty()) return {};
  return UnmatchedBracket{open.back().line, open.back().column,
                          std::string("this '") + open.back().bracket + "' is never closed"};
}

}  // namespace iruka::jit
