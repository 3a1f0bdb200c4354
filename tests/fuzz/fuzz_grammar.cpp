// Parameter lists, kernel names and the identifier scan on arbitrary text: an Iruka error or a consistent answer.
#include <cctype>
#include <cstdlib>

#include "iruka/error.h"
#include "jit/grammar.h"

using iruka::Parameter;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_identifier(const std::string& text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  for (unsigned char c : text) {
    if (!std::isalnum(c) && c != '_') return false;
  }
  return true;
}

std::string written(const std::vector<Parameter>& parameters, bool is_output) {
  std::string text;
  for (const Parameter& p : parameters) {
    text += text.empty() ? "" : ", ";
    text += p.raw ? "raw " : "";
    text += p.is_const || is_output ? "" : "_non_const ";
    text += p.type + " " + p.name;
  }
  return text;
}

void check_list(const std::string& text, bool is_output) {
  const std::vector<Parameter> parameters = iruka::jit::parse_parameters("k", text, is_output);
  require(parameters.size() <= static_cast<size_t>(iruka::jit::kMaxParameters));
  for (const Parameter& p : parameters) require(is_identifier(p.name) && !p.type.empty());
  // What was understood, written out again, means the same.
  const std::vector<Parameter> again = iruka::jit::parse_parameters("k", written(parameters, is_output), is_output);
  require(again.size() == parameters.size());
  for (size_t i = 0; i < again.size(); ++i) {
    require(again[i].name == parameters[i].name && again[i].type == parameters[i].type);
    require(again[i].dtype == parameters[i].dtype && again[i].raw == parameters[i].raw);
    require(again[i].is_const == parameters[i].is_const);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    check_list(text, data[0] & 1);
  } catch (const iruka::Error&) {
  }
  try {
    iruka::jit::check_kernel_name(text);
    require(is_identifier(text));
  } catch (const iruka::Error&) {
  }
  // A raw string literal is not looked into: it may hold anything.
  const bool has_raw_string = text.find("R\"") != std::string::npos;
  if (iruka::jit::mentions(text, "loop")) require(has_raw_string || text.find("loop") != std::string::npos);
  if (iruka::jit::has_open_power(text)) require(has_raw_string || text.find("pow") != std::string::npos);
  return 0;
}
