#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "image/codec.h"
#include "iruka/error.h"
#include "iruka/file_error.h"
#include "iruka/pipeline.h"

namespace iruka::pipeline {
namespace {

namespace fs = std::filesystem;

class Files final : public Source {
 public:
  Files(std::vector<std::string> paths, std::vector<int64_t> labels)
      : paths_(std::move(paths)), labels_(std::move(labels)), sizes_(paths_.size()) {
    if (paths_.empty()) throw ValueError("files: there are no files");
    if (!labels_.empty() && labels_.size() != paths_.size())
      throw ValueError("files: there are " + std::to_string(paths_.size()) + " files and " +
                       std::to_string(labels_.size()) + " labels");
  }
  int64_t size() const override { return std::ssize(paths_); }
  int values() const override { return labels_.empty() ? 1 : 2; }
  std::vector<Value> sample(int64_t index) const override {
    const auto k = static_cast<size_t>(index);
    std::vector<Value> values;
    values.push_back(Value::of_file(paths_[k]));
    if (!labels_.empty()) {
      const Array label = Array::empty({}, Dtype::int64, cpu());
      *static_cast<int64_t*>(label.data()) = labels_[k];
      values.emplace_back(label);
    }
    return values;
  }
  std::string describe(int64_t index) const override { return paths_[static_cast<size_t>(index)]; }
  int64_t cost(int64_t index) const override {
    std::atomic<int64_t>& size = sizes_[static_cast<size_t>(index)];
    int64_t known = size.load(std::memory_order_relaxed);
    if (known != 0) return known;
    struct stat status;
    known = ::stat(paths_[static_cast<size_t>(index)].c_str(), &status) == 0 ? std::max<int64_t>(status.st_size, 1) : 1;
    size.store(known, std::memory_order_relaxed);
    return known;
  }

 private:
  std::vector<std::string> paths_;
  std::vector<int64_t> labels_;
  mutable std::vector<std::atomic<int64_t>> sizes_;  ///< in bytes; 0: not asked for yet
};

/// The extensions of all pictures that are read.
std::vector<std::string> picture_extensions() {
  std::vector<std::string> extensions;
  for (const image::Codec* codec : image::codecs())
    extensions.insert(extensions.end(), codec->extensions.begin(), codec->extensions.end());
  return extensions;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

/// Calls visit(entry) for what is in a folder, in the order of the file system.
template <class Visit>
void for_each_entry(const fs::path& folder, const std::string& function, Visit visit) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) visit(*entry);
  if (error)
    throw SystemFileError(function + ": cannot read '" + folder.string() + "': " + error.message(), error.value(),
                          folder.string());
}

bool is_folder(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_directory(error);
}

/// Lists the files of a folder and of those below it.
class Walk {
 public:
  Walk(std::vector<std::string> extensions, std::string function)
      : extensions_(std::move(extensions)), function_(std::move(function)) {
    for (std::string& extension : extensions_) extension = "." + lower_case(std::move(extension));
  }

  std::vector<std::string> list(const fs::path& folder) {
    std::error_code error;
    found_.clear();
    around_.clear();
    for (fs::path real = fs::canonical(folder, error); real != real.root_path(); real = real.parent_path())
      add_around(real.parent_path());
    visit(folder);
    std::ranges::sort(found_);
    std::vector<std::string> paths;
    paths.reserve(found_.size());
    for (const auto& [parent, name] : found_) paths.push_back((fs::path(parent) / name).string());
    return paths;
  }

 private:
  void visit(const fs::path& folder) {
    add_around(folder);
    std::vector<fs::path> folders;
    for_each_entry(folder, function_, [&](const fs::directory_entry& entry) {
      std::error_code error;
      if (is_folder(entry)) {
        if (!entry.is_symlink(error) || !is_around(entry.path())) folders.push_back(entry.path());
      } else if (const std::string name = entry.path().filename().string(); is_wanted(name)) {
        found_.emplace_back(folder.string(), name);
      }
    });
    for (const fs::path& each : folders) visit(each);
    around_.pop_back();
  }

  void add_around(const fs::path& folder) {
    struct stat status{};
    ::stat(folder.c_str(), &status);
    around_.emplace_back(status.st_dev, status.st_ino);
  }

  bool is_wanted(const std::string& name) const {
    const std::string lower = lower_case(name);
    return std::ranges::any_of(extensions_, [&](const std::string& extension) { return lower.ends_with(extension); });
  }

  /// Whether a link leads to one of the folders that it is in.
  bool is_around(const fs::path& link) const {
    struct stat status;
    return ::stat(link.c_str(), &status) == 0 &&
           std::ranges::find(around_, std::pair(status.st_dev, status.st_ino)) != around_.end();
  }

  std::vector<std::string> extensions_;
  std::string function_;
  std::vector<std::pair<std::string, std::string>> found_;  ///< folders and names
  std::vector<std::pair<dev_t, ino_t>> around_;             ///< the folder that is visited, and those it is in
};

class Rows final : public Source {
 public:
  explicit Rows(std::vector<Array> arrays) : arrays_(std::move(arrays)) {
    if (arrays_.empty()) throw ValueError("arrays: there are no arrays");
    for (const Array& array : arrays_) {
      if (array.ndim() == 0) throw ValueError("arrays: an array has no axis that could count samples");
      if (array.shape(0) != size() || array.shape(0) == 0)
        throw ValueError("arrays: the lengths are " + std::to_string(size()) + " and " +
                         std::to_string(array.shape(0)) + ", not all the same and at least 1");
    }
  }
  int64_t size() const override { return arrays_.front().shape(0); }
  int values() const override { return static_cast<int>(arrays_.size()); }
  std::vector<Value> sample(int64_t index) const override {
    std::vector<Value> values;
    values.reserve(arrays_.size());
    for (const Array& array : arrays_) values.emplace_back(array.at(index));
    return values;
  }

 private:
  std::vector<Array> arrays_;
};

}  // namespace

std::string Source::describe(int64_t index) const { return "sample " + std::to_string(index); }
int64_t Source::cost(int64_t) const { return 0; }
std::vector<GivenSample> Source::next(int64_t) { return {}; }
void Source::begin(int64_t) {}

std::shared_ptr<Source> arrays(std::vector<Array> arrays) { return std::make_shared<Rows>(std::move(arrays)); }

std::shared_ptr<Source> files(std::vector<std::string> paths, std::vector<int64_t> labels) {
  return std::make_shared<Files>(std::move(paths), std::move(labels));
}

std::vector<std::string> list_files(const std::string& path, std::vector<std::string> extensions,
                                    const std::string& function) {
  return Walk(extensions.empty() ? picture_extensions() : std::move(extensions), function).list(path);
}

Folder list_folder(const std::string& path, const std::vector<std::string>& extensions) {
  const std::string function = "folder";
  Walk walk(extensions.empty() ? picture_extensions() : extensions, function);
  Folder folder;
  for_each_entry(path, function, [&](const fs::directory_entry& entry) {
    if (is_folder(entry)) folder.classes.push_back(entry.path().filename().string());
  });
  std::ranges::sort(folder.classes);
  for (size_t label = 0; label < folder.classes.size(); ++label) {
    std::vector<std::string> found = walk.list(fs::path(path) / folder.classes[label]);
    folder.labels.insert(folder.labels.end(), found.size(), static_cast<int64_t>(label));
    std::ranges::move(found, std::back_inserter(folder.paths));
  }
  return folder;
}

}  // namespace iruka::pipeline
