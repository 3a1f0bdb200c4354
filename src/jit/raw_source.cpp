#include "jit/raw_source.h"

#include <algorithm>
#include <cctype>

#include "jit/grammar.h"

namespace iruka::jit {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The tokens of C++ text without comments and literals: words, and single characters.
std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  bool at_line = true;  // only spaces since the line's begin
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\n') at_line = true;
    if (std::isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
      continue;
    }
    if (text[at] == '#' && at_line) {  // a directive ends where its last line does
      while (at < text.size() && text[at] != '\n') at += text[at] == '\\' && at + 1 < text.size() ? 2 : 1;
      continue;
    }
    at_line = false;
    if (const size_t end = skip_unseen(text, at); end != at) {
      if (text[at] == '"') tokens.push_back(text.substr(at, end - at));  // extern "C"
      at = end;
      continue;
    }
    size_t end = at + 1;
    if (is_word(text[at]))
      while (end < text.size() && is_word(text[end])) ++end;
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

/// The place behind the bracket that closes the one at `at`.
size_t behind_bracket(std::span<const std::string_view> tokens, size_t at) {
  int depth = 0;
  for (; at < tokens.size(); ++at) {
    if (tokens[at] == "(" || tokens[at] == "{" || tokens[at] == "[") ++depth;
    if (tokens[at] == ")" || tokens[at] == "}" || tokens[at] == "]")
      if (--depth == 0) return at + 1;
  }
  return at;
}

/// The name in front of the parameters of a declaration that begins at `at`; empty if there is none.
std::string_view declared_name(std::span<const std::string_view> tokens, size_t at) {
  for (; at + 1 < tokens.size(); ++at) {
    const std::string_view token = tokens[at];
    if (token == ";" || token == "{" || token == "(" || token == ":") return "";
    if (tokens[at + 1] != "(") continue;
    if (token != "__launch_bounds__" && token != "__cluster_dims__" && token != "__attribute__" && token != "alignas")
      return is_word(token[0]) && token != "void" ? token : "";
    at = behind_bracket(tokens, at + 1) - 1;
  }
  return "";
}

std::string extent(const char* axis, unsigned threads) {
  return std::string("#define IRUKA_BLOCK_") + axis + " " + std::to_string(threads) + "\n";
}

std::string user_text(std::string_view code, std::string_view macros) {
  return "#include \"jit/kernels/signature.h\"\n" + std::string(macros) + "#line 1 \"" + kCodeFile + "\"\n" +
         std::string(code);
}

/// The signatures of the names, each in a line of its own.
std::string signature_types(std::span<const std::string> names) {
  std::string text;
  for (size_t k = 0; k < names.size(); ++k)
    text += "\n#line 1 \"generated\"\nusing iruka_signature_" + std::to_string(k) +
            " = iruka_signature_of<decltype(\n#line " + std::to_string(k + 1) + " \"" + kNamesFile + "\"\n" + names[k] +
            "\n#line 1 \"generated\"\n)>;\n";
  return text;
}

}  // namespace

CodeKind kind_of_code(std::string_view code) {
  // ELF, the fat binaries of nvcc, and compressed ones
  for (const std::string_view begin : {"\x7f"
                                       "ELF",
                                       "\x50\xed\x55\xba", "CCOB"})
    if (code.starts_with(begin)) return CodeKind::machine;
  // PTX has these directives in its first lines, where C++ has no word that begins with a point.
  for (size_t at = 0; at < code.size();) {
    if (const size_t end = skip_unseen(code, at); end != at)
      at = end;
    else if (std::isspace(static_cast<unsigned char>(code[at])))
      ++at;
    else
      return code.substr(at).starts_with(".version") ? CodeKind::ptx : CodeKind::cuda;
  }
  return CodeKind::cuda;
}

std::vector<std::string> kernels_in(std::string_view code) {
  const std::vector<std::string_view> all = tokens_of(code);
  const std::span<const std::string_view> tokens = all;
  std::vector<std::string> names;
  bool is_template = false;  // the declaration that is being read
  for (size_t at = 0; at < tokens.size(); ++at) {
    const std::string_view token = tokens[at];
    if (token == "template") is_template = true;
    if (token == ";") is_template = false;
    if (token == "{") {
      const bool is_linkage = at >= 2 && tokens[at - 2] == "extern" && tokens[at - 1] == "\"C\"";
      if (!is_linkage) at = behind_bracket(tokens, at) - 1;
      is_template = false;
    }
    if (token != "__global__" || is_template) continue;
    const std::string_view name = declared_name(tokens, at + 1);
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  }
  return names;
}

std::optional<std::string> parameters_in(std::string_view code, std::string_view name) {
  name = name.substr(0, name.find('<'));
  name = name.substr(0, name.find_last_not_of(" \t") + 1);
  if (const size_t scope = name.rfind("::"); scope != name.npos) name = name.substr(scope + 2);
  const std::vector<std::string_view> all = tokens_of(code);
  const std::span<const std::string_view> tokens = all;
  for (size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at] != "__global__") continue;
    const std::string_view declared = declared_name(tokens, at + 1);
    if (declared.empty() || declared != name) continue;
    size_t open = at;
    while (tokens[open].data() != declared.data()) ++open;
    const size_t end = behind_bracket(tokens, ++open);
    std::string text;
    for (size_t k = open + 1; k + 1 < end; ++k) {
      const bool is_apart = !text.empty() && tokens[k].data() != tokens[k - 1].data() + tokens[k - 1].size();
      text += (is_apart ? " " : "") + std::string(tokens[k]);
    }
    return text;
  }
  return {};
}

bool may_have_variables(std::string_view code) {
  const std::vector<std::string_view> all = tokens_of(code);
  const std::span<const std::string_view> tokens = all;
  for (size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at] == "__constant__" || tokens[at] == "__managed__") return true;
    if (tokens[at] != "__device__") continue;
    // A function's parameters come in front of what ends a variable's declarator.
    const size_t end = static_cast<size_t>(std::ranges::find_if(tokens.subspan(at),
                                                                [](std::string_view token) {
                                                                  return token == "(" || token == ";" || token == "=" ||
                                                                         token == "[" || token == "{" || token == ",";
                                                                }) -
                                           tokens.subspan(at).begin()) +
                       at;
    const bool is_attribute = end > 0 && end < tokens.size() && tokens[end] == "(" &&
                              (tokens[end - 1].starts_with("__") || tokens[end - 1] == "alignas");
    if (end >= tokens.size() || tokens[end] != "(" || is_attribute) return true;
  }
  return code.find("##") != code.npos;  // macros may declare them
}

SplitOptions split_options(const std::vector<std::string>& options) {
  SplitOptions split;
  for (size_t k = 0; k < options.size(); ++k) {
    std::string_view option = options[k];
    const bool has_word = (option == "-D" || option == "-U") && k + 1 < options.size();
    const bool undefines = option.starts_with("-U") || option.starts_with("--undefine-macro=");
    std::string_view macro;
    if (has_word)
      macro = options[k + 1];
    else if (option.starts_with("-D") || option.starts_with("-U"))
      macro = option.substr(2);
    else if (option.starts_with("--define-macro=") || option.starts_with("--undefine-macro="))
      macro = option.substr(option.find('=') + 1);
    const size_t equals = undefines ? macro.npos : macro.find('=');
    const std::string_view name = macro.substr(0, equals);
    const bool is_name = !name.empty() && std::ranges::all_of(name, is_word) && macro.find('\n') == macro.npos &&
                         !std::isdigit(static_cast<unsigned char>(name[0]));
    if (!is_name) {  // no macro, or one that the reader of options refuses
      split.others.push_back(options[k]);
      continue;
    }
    if (has_word) ++k;
    split.macros += "#undef " + std::string(name) + "\n";
    if (undefines) continue;
    split.macros += "#define " + std::string(name) + " " +
                    (equals == macro.npos ? "1" : std::string(macro.substr(equals + 1))) + "\n";
  }
  return split;
}

std::string module_text(std::string_view code, std::string_view macros, std::span<const std::string> names) {
  return user_text(code, macros) + signature_types(names);
}

std::string block_text(std::string_view code, std::string_view macros, std::span<const std::string> names,
                       const Dim3& threads) {
  std::string text = extent("X", threads.x) + extent("Y", threads.y) + extent("Z", threads.z) +
                     "#include \"jit/kernels/cpu/blocks.h\"\n" + module_text(code, macros, names);
  // A name of its own, because the user's may be a variable's in the loop.
  for (const std::string& name : names)
    text += "constexpr auto& iruka_kernel =\n#line 1 \"" + std::string(kNamesFile) + "\"\n" + name +
            "\n#line 1 \"generated\"\n;\nIRUKA_RUN_BLOCKS(iruka_kernel)\n";
  return text;
}

std::string signature_expression(size_t k) { return "&iruka_signature<iruka_signature_" + std::to_string(k) + ">"; }

}  // namespace iruka::jit
