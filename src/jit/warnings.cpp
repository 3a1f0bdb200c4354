#include "jit/warnings.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "core/fork.h"
#include "jit/diagnose.h"

namespace iruka::jit {
namespace {

/// Warnings are rare, so one mutex serves all kernels.
constinit ForkSafeMutex warnings_mutex;

void append(std::string& bytes, uint64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void append(std::string& bytes, std::string_view text) {
  append(bytes, text.size());
  bytes += text;
}

bool take(std::string_view& bytes, uint64_t& number) {
  if (bytes.size() < sizeof(number)) return false;
  std::memcpy(&number, bytes.data(), sizeof(number));
  bytes.remove_prefix(sizeof(number));
  return true;
}

bool take(std::string_view& bytes, std::string_view& text) {
  uint64_t size = 0;
  if (!take(bytes, size) || size > bytes.size()) return false;
  text = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

/// Kernel, text and line, which worded warnings begin with.
std::string place_of(const std::string& warning) { return warning.substr(0, warning.find("warning: ")); }

}  // namespace

std::string encode_warnings(std::span<const Diagnostic> warnings) {
  std::string bytes;
  for (const Diagnostic& warning : warnings) {
    append(bytes, static_cast<uint64_t>(warning.line));
    append(bytes, static_cast<uint64_t>(warning.column));
    append(bytes, std::string_view(warning.file));
    append(bytes, std::string_view(warning.message));
  }
  return bytes;
}

std::vector<Diagnostic> decode_warnings(std::string_view bytes) {
  std::vector<Diagnostic> warnings;
  uint64_t line = 0, column = 0;
  std::string_view file, message;
  while (take(bytes, line) && take(bytes, column) && take(bytes, file) && take(bytes, message))
    warnings.push_back({Diagnostic::Level::warning, std::string(file), static_cast<int>(line), static_cast<int>(column),
                        std::string(message)});
  return warnings;
}

std::string pack_code(std::span<const Diagnostic> warnings, const NamePairs& names, std::string_view code) {
  std::string entry, encoded;
  for (const auto& [expression, name] : names) {
    append(encoded, std::string_view(expression));
    append(encoded, std::string_view(name));
  }
  append(entry, std::string_view(encode_warnings(warnings)));
  append(entry, std::string_view(encoded));
  return entry.append(code);
}

bool unpack_code(std::string_view entry, std::vector<Diagnostic>& warnings, NamePairs& names, std::string_view& code) {
  std::string_view encoded, names_encoded, expression, name;
  if (!take(entry, encoded) || !take(entry, names_encoded)) return false;
  warnings = decode_warnings(encoded);
  names.clear();
  while (!names_encoded.empty()) {
    if (!take(names_encoded, expression) || !take(names_encoded, name)) return false;
    names.emplace_back(expression, name);
  }
  code = entry;
  return true;
}

void PendingWarnings::add(std::span<const Diagnostic> warnings, const ErrorContext& context) {
  std::vector<std::string> worded;
  for (const Diagnostic& warning : warnings) worded.push_back(describe_warning(warning, context));
  add(std::move(worded));
}

void PendingWarnings::add(std::vector<std::string> worded) {
  if (worded.empty()) return;
  std::unordered_set<std::string> places;
  std::lock_guard lock(warnings_mutex);
  for (std::string& warning : worded) {
    std::string place = place_of(warning);
    if (known_places_.contains(place) || std::ranges::find(waiting_, warning) != waiting_.end()) continue;
    places.insert(std::move(place));
    waiting_.push_back(std::move(warning));
  }
  known_places_.merge(places);
  has_any_.store(!waiting_.empty(), std::memory_order_release);
}

std::vector<std::string> PendingWarnings::take() {
  if (!has_any_.load(std::memory_order_acquire)) return {};
  std::lock_guard lock(warnings_mutex);
  has_any_.store(false, std::memory_order_release);
  return std::exchange(waiting_, {});
}

}  // namespace iruka::jit
