#include "jit/includes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "core/file.h"
#include "core/fork.h"
#include "core/once.h"
#include "jit/compile_options.h"
#include "jit/grammar.h"
#include "jit/kernel_headers.h"

namespace iruka::jit {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;  ///< of a kernel's headers, and of those that stay in memory
constexpr size_t kMostFiles = 10'000;
/// A file that changed less than this before it was read may change again without a change of its times and size.
constexpr time_t kSettledSeconds = 2;

/// Headers of CUDA, CuPy and C whose names the kernel language has, and its header in place of each. A file of that
/// name in an include folder is taken first.
constexpr std::string_view kStandardNames = "standard_names.h", kStdNames = "std_names.h";
constexpr std::pair<std::string_view, std::string_view> kKnownHeaders[] = {
    {"algorithm", kStdNames},
    {"assert.h", kStandardNames},
    {"cassert", kStandardNames},
    {"cfloat", kStdNames},
    {"climits", kStdNames},
    {"cmath", kStdNames},
    {"cstddef", kStdNames},
    {"cstdint", kStdNames},
    {"cstdio", kStandardNames},
    {"cstdlib", kStdNames},
    {"cuComplex.h", "complex_names.h"},
    {"cuda.h", kStandardNames},
    {"cuda_bf16.h", "half_names.h"},
    {"cuda_fp16.h", "half_names.h"},
    {"cuda_runtime.h", kStdNames},
    {"cuda_runtime_api.h", kStandardNames},
    {"cupy/atomics.cuh", kStandardNames},
    {"cupy/carray.cuh", kStandardNames},
    {"cupy/complex.cuh", kStandardNames},
    {"device_launch_parameters.h", kStandardNames},
    {"float.h", kStandardNames},
    {"limits", kStdNames},
    {"limits.h", kStandardNames},
    {"math.h", kStandardNames},
    {"math_constants.h", "math_constants.h"},
    {"stddef.h", kStandardNames},
    {"stdint.h", kStandardNames},
    {"stdio.h", kStandardNames},
    {"stdlib.h", kStandardNames},
    {"thrust/complex.h", kStandardNames},
    {"type_traits", kStdNames},
    {"utility", kStdNames},
};

enum class Form : uint8_t { quoted, angled, unnamed };

/// A place where a text names a file, with its quotes or angle brackets; empty for one that is not named there.
struct Mention {
  size_t begin, end;
  Form form;
};

bool is_word(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/// Behind a space, a comment or a continued line at `at`; else `at`.
size_t skip_blank(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("\\\n")) return at + 2;
  if (rest.starts_with("\\\r\n")) return at + 3;
  if (rest.starts_with("/*")) return skip_unseen(text, at);
  if (!rest.starts_with("//")) return rest.find_first_of(" \t\r\v\f") == 0 ? at + 1 : at;
  for (size_t end = text.find('\n', at); end != text.npos; end = text.find('\n', end + 1)) {
    const size_t last = text[end - 1] == '\r' ? end - 2 : end - 1;
    if (text[last] != '\\') return end;
  }
  return text.size();
}

size_t skip_blanks(std::string_view text, size_t at) {
  while (at < text.size()) {
    const size_t next = skip_blank(text, at);
    if (next == at) break;
    at = next;
  }
  return at;
}

std::string_view word_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(at, end - at);
}

/// Behind the raw string whose quotation mark is at `at`.
size_t skip_raw_string(std::string_view text, size_t at) {
  const size_t open = text.find('(', at);
  if (open == text.npos) return text.size();
  const std::string close = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
  const size_t end = text.find(close, open);
  return end == text.npos ? text.size() : end + close.size();
}

/// The places where `text` names files, in order.
class MentionFinder {
 public:
  explicit MentionFinder(std::string_view text) : text_(text) {}

  std::vector<Mention> find() {
    if (text_.find("include") == text_.npos && text_.find("import") == text_.npos) return {};
    bool begins_line = true;
    while (at_ < text_.size()) {
      if (const size_t next = skip_blank(text_, at_); next > at_) {
        at_ = next;
      } else if (text_[at_] == '\n') {
        begins_line = true;
        ++at_;
      } else if (begins_line && (text_[at_] == '#' || text_.substr(at_, 2) == "%:")) {
        begins_line = false;
        read_directive();
      } else {
        begins_line = false;
        is_word(text_[at_]) ? read_word() : skip_token();
      }
    }
    return std::move(found_);
  }

 private:
  void read_directive() {
    at_ = skip_blanks(text_, at_ + (text_[at_] == '#' ? 1 : 2));
    const std::string_view directive = word_at(text_, at_);
    at_ += directive.size();
    const bool follows = directive == "include";
    if (!follows && directive != "include_next" && directive != "import") return;
    at_ = skip_blanks(text_, at_);
    if ((!follows || !read_name()) && at_ < text_.size() && text_[at_] != '\n')
      found_.push_back({at_, at_, Form::unnamed});
  }

  /// Whether a name in quotes or angle brackets is here.
  bool read_name() {
    if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '<')) return false;
    const Form form = text_[at_] == '"' ? Form::quoted : Form::angled;
    const size_t end = text_.find_first_of(form == Form::quoted ? "\"\n" : ">\n", at_ + 1);
    const bool is_closed = end != text_.npos && text_[end] != '\n';
    if (is_closed) found_.push_back({at_, end + 1, form});
    at_ = is_closed ? end + 1 : at_ + 1;
    return true;
  }

  void read_word() {
    const std::string_view word = word_at(text_, at_);
    at_ += word.size();
    if (word[0] >= '0' && word[0] <= '9') {
      while (at_ + 1 < text_.size() && text_[at_] == '\'' && is_word(text_[at_ + 1]))  // 1'000
        at_ += 1 + word_at(text_, at_ + 1).size();
    } else if (word == "__has_include") {
      at_ = skip_blanks(text_, at_);
      if (at_ < text_.size() && text_[at_] == '(') at_ = skip_blanks(text_, at_ + 1);
      read_name();
    } else if (word.back() == 'R' && word.size() <= 3 && at_ < text_.size() && text_[at_] == '"') {
      at_ = skip_raw_string(text_, at_);
    }
  }

  void skip_token() {
    const size_t end = skip_unseen(text_, at_);
    // An apostrophe in a text that no compiler reads does not end with its line.
    at_ = end == at_ ? at_ + 1 : text_[end - 1] == '\n' ? end - 1 : end;
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::vector<Mention> found_;
};

/// `text` with `name(mention)` in the places of `mentions`.
template <class Name>
std::string with_names(std::string_view text, const std::vector<Mention>& mentions, Name&& name) {
  std::string result;
  size_t at = 0;
  for (const Mention& mention : mentions) {
    result += text.substr(at, mention.begin - at);
    result += mention.form == Form::unnamed ? "<" + std::string(kUnnamedFile) + "> "
                                            : name(text.substr(mention.begin, mention.end - mention.begin));
    at = mention.end;
  }
  return result += text.substr(at);
}

/// The properties by which versions of a file differ.
struct Stamp {
  dev_t device;
  ino_t number;
  off_t size;
  time_t modified, changed;
  long modified_nanoseconds, changed_nanoseconds;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

Stamp stamp_of(const struct stat& status) {
  return {status.st_dev,         status.st_ino,          status.st_size,        status.st_mtim.tv_sec,
          status.st_ctim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_nsec};
}

/// A file that was read.
struct Header {
  Stamp stamp;
  bool is_settled = false;
  std::shared_ptr<const std::string> text;
  std::vector<Mention> mentions;
  std::string refusal;  ///< why compilers do not get it: "cannot be read: ..."
};

using FileNumber = std::pair<dev_t, ino_t>;

struct HeaderTable {
  ForkSafeMutex mutex;
  std::map<FileNumber, std::shared_ptr<const Header>> headers;
  size_t bytes = 0;
};

HeaderTable& header_table() {
  return made_once([] { return HeaderTable(); });
}

/// All of an open file. False: errno says why, or is 0 where the file is too large.
bool read_all(const File& file, std::string& text) {
  char piece[65536];
  for (;;) {
    const ssize_t got = ::read(file.get(), piece, sizeof(piece));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) return true;
    text.append(piece, static_cast<size_t>(got));
    errno = 0;
    if (text.size() > kMostBytes) return false;
  }
}

std::shared_ptr<const Header> read_header(const std::string& path) {
  const auto header = std::make_shared<Header>();
  std::string text;
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  const time_t now = ::time(nullptr);
  if (!file.is_open() || ::fstat(file.get(), &status) != 0 || !read_all(file, text))
    header->refusal = errno == 0 ? "is larger than 64 MiB" : std::string("cannot be read: ") + std::strerror(errno);
  else if (const size_t zero = text.find('\0'); zero != text.npos)
    header->refusal = "is not a text: byte " + std::to_string(zero) + " is zero";
  header->stamp = stamp_of(status);
  header->is_settled = std::max(header->stamp.modified, header->stamp.changed) + kSettledSeconds < now;
  if (!header->refusal.empty()) return header;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  header->text = std::make_shared<const std::string>(as_utf8(std::move(text)));
  header->mentions = MentionFinder(*header->text).find();
  return header;
}

/// The file at `path`, from memory unless it has changed.
std::shared_ptr<const Header> header_at(const std::string& path, const struct stat& status) {
  HeaderTable& table = header_table();
  const FileNumber number{status.st_dev, status.st_ino};
  {
    std::lock_guard lock(table.mutex);
    const auto known = table.headers.find(number);
    if (known != table.headers.end() && known->second->is_settled && known->second->stamp == stamp_of(status))
      return known->second;
  }
  std::shared_ptr<const Header> header = read_header(path);
  if (!header->text) return header;
  std::lock_guard lock(table.mutex);
  if (table.bytes + header->text->size() > kMostBytes) {
    table.headers.clear();
    table.bytes = 0;
  }
  std::shared_ptr<const Header>& kept = table.headers[number];
  table.bytes += header->text->size() - (kept ? kept->text->size() : 0);
  return kept = header;
}

/// The real folder of a file, and its name there.
std::string real_path(const std::string& path) {
  const size_t slash = path.rfind('/');
  char* const folder = ::realpath(path.substr(0, slash + 1).c_str(), nullptr);
  if (!folder) return path;
  const std::string real = folder;
  std::free(folder);
  return (real == "/" ? "" : real) + path.substr(slash);
}

/// A folder as an absolute path; `~` is the home.
std::string absolute_folder(std::string folder) {
  if (const char* home = std::getenv("HOME"); home && (folder == "~" || folder.starts_with("~/")))
    folder.replace(0, 1, home);
  std::error_code unknown;
  const std::filesystem::path absolute = std::filesystem::absolute(folder, unknown);
  return unknown ? folder : absolute.string();
}

/// Whether a path ends in the name of one of the kernel language's own headers.
bool is_own_name(const std::string& path) {
  return std::ranges::any_of(kernel_headers(),
                             [&](const auto& header) { return path.ends_with("/" + std::string(header.first)); });
}

/// Follows the includes of texts, and of the headers that are found.
class HeaderReader {
 public:
  explicit HeaderReader(Includes& includes) : includes_(includes) {}

  /// What replaces `name`, which has quotes or angle brackets, in a text of `folder`; empty for a text in no file.
  std::string found_name(std::string_view name, const std::string& folder) {
    const std::string inner(name.substr(1, name.size() - 2));
    const bool is_quoted = name[0] == '"';
    std::vector<std::string> candidates;
    if (inner.starts_with('/')) {
      candidates.push_back(inner);
    } else {
      if (is_quoted && !folder.empty()) candidates.push_back(folder + "/" + inner);
      for (const std::string& each : includes_.folders) candidates.push_back(each + "/" + inner);
    }
    for (const std::string& candidate : candidates)
      if (const std::string* path = take(candidate))
        return path->find('"') == path->npos ? "\"" + *path + "\"" : "<" + *path + ">";
    const auto is_own = [&](const auto& header) { return header.first == inner; };
    if (const auto known = std::ranges::find_if(kKnownHeaders, is_own); known != std::end(kKnownHeaders))
      return "\"" + std::string(known->second) + "\"";
    if (!is_quoted || inner.starts_with('/') || std::ranges::any_of(kernel_headers(), is_own)) return std::string(name);
    return "<" + inner + ">";  // with angle brackets no compiler looks into the current folder
  }

  /// Reads what the headers include, and what those include. The order is of discovery, so that chains take no stack.
  void finish() {
    std::vector<HeaderFile> files;
    for (size_t k = 0; k < headers_.size(); ++k) {
      const auto [path, header] = headers_[k];
      includes_.originals.push_back(header->text);
      if (header->mentions.empty()) {
        files.push_back({path, header->text});
        continue;
      }
      const std::string folder = path.substr(0, path.rfind('/'));
      files.push_back({path, std::make_shared<const std::string>(
                                 with_names(*header->text, header->mentions,
                                            [&](std::string_view name) { return found_name(name, folder); }))});
    }
    if (!files.empty()) includes_.files = std::make_shared<const std::vector<HeaderFile>>(std::move(files));
  }

 private:
  /// The path under which compilers get the file; null where there is none.
  const std::string* take(const std::string& candidate) {
    const auto [known, is_new] = taken_.try_emplace(candidate);
    if (is_new) known->second = read(candidate);
    return known->second ? &*known->second : nullptr;
  }

  std::optional<std::string> read(const std::string& candidate) {
    struct stat status;
    if (::stat(candidate.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
    const FileNumber number{status.st_dev, status.st_ino};
    if (const auto known = paths_.find(number); known != paths_.end())
      return known->second;  // a file is included once, as with #pragma once
    std::string path = real_path(candidate);
    std::shared_ptr<const Header> header = header_at(candidate, status);
    std::string refusal = header->refusal;
    if (refusal.empty() && (headers_.size() >= kMostFiles || bytes_ + header->text->size() > kMostBytes))
      refusal = "is one header too many: a kernel may have " + std::to_string(kMostFiles) + ", of 64 MiB together";
    if (refusal.empty() &&
        (path.find('\n') != path.npos || (path.find('"') != path.npos && path.find('>') != path.npos)))
      refusal = "has a path that no #include can name";
    if (!refusal.empty()) {
      includes_.refused.push_back("'" + path + "' " + refusal);
      return {};
    }
    // NVRTC takes the kernel language's own headers for files of the current folder, where this one may be.
    if (is_own_name(path)) path += ' ';
    bytes_ += header->text->size();
    headers_.emplace_back(path, std::move(header));
    paths_.emplace(number, path);
    return path;
  }

  Includes& includes_;
  size_t bytes_ = 0;
  std::vector<std::pair<std::string, std::shared_ptr<const Header>>> headers_;
  std::map<FileNumber, std::string> paths_;
  std::map<std::string, std::optional<std::string>> taken_;  ///< by candidate
};

}  // namespace

std::string Includes::with_paths(std::string_view text) const {
  return with_names(text, MentionFinder(text).find(), [this](std::string_view name) {
    const auto found = names.find(name);
    return found == names.end() ? std::string(name) : found->second;
  });
}

const std::string* Includes::text_of(std::string_view path) const {
  for (size_t k = 0; k < originals.size(); ++k)
    if ((*files)[k].path == path) return originals[k].get();
  return nullptr;
}

std::shared_ptr<const Includes> read_includes(std::span<const std::string* const> texts,
                                              const std::vector<std::string>& options) {
  std::vector<std::pair<const std::string*, std::vector<Mention>>> mentions;
  for (const std::string* text : texts)
    if (std::vector<Mention> found = MentionFinder(*text).find(); !found.empty())
      mentions.emplace_back(text, std::move(found));
  if (mentions.empty()) return nullptr;
  const auto includes = std::make_shared<Includes>();
  CompileOptions given;
  std::vector<Diagnostic> ignored;
  parse_options(options, given, ignored);
  for (std::string& folder : given.include_folders) includes->folders.push_back(absolute_folder(std::move(folder)));
  HeaderReader reader(*includes);
  bool matters = !includes->folders.empty();  // at least to error messages
  for (const auto& [text, found] : mentions)
    for (const Mention& mention : found) {
      matters |= mention.form == Form::unnamed;
      if (mention.form == Form::unnamed) continue;
      const std::string name = text->substr(mention.begin, mention.end - mention.begin);
      std::string becomes = reader.found_name(name, "");
      matters |= becomes != name;
      includes->names.emplace(name, std::move(becomes));
    }
  reader.finish();
  return matters || includes->files || !includes->refused.empty() ? includes : nullptr;
}

}  // namespace iruka::jit
