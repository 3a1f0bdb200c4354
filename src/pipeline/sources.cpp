#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "image/codec.h"
#include "iruka/error.h"
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

bool is_picture(const fs::path& path) {
  std::string ending = path.extension().string();
  if (ending.empty()) return false;
  ending.erase(0, 1);
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const image::Codec* codec : image::codecs()) {
    if (std::ranges::find(codec->extensions, ending) != codec->extensions.end()) return true;
  }
  return false;
}

/// Sorted, so that the order does not depend on the file system.
template <class Wanted>
std::vector<fs::path> entries(const fs::path& folder, Wanted wanted) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (wanted(*entry)) found.push_back(entry->path());
  }
  if (error) throw FileError("folder: cannot read '" + folder.string() + "': " + error.message());
  std::ranges::sort(found);
  return found;
}

}  // namespace

std::string Source::describe(int64_t index) const { return "sample " + std::to_string(index); }
int64_t Source::cost(int64_t) const { return 0; }
std::vector<GivenSample> Source::next(int64_t) { return {}; }
void Source::begin(int64_t) {}

std::shared_ptr<Source> files(std::vector<std::string> paths, std::vector<int64_t> labels) {
  return std::make_shared<Files>(std::move(paths), std::move(labels));
}

Folder list_folder(const std::string& path) {
  Folder folder;
  for (const fs::path& part : entries(path, [](const auto& entry) { return entry.is_directory(); })) {
    const std::vector<fs::path> pictures =
        entries(part, [](const auto& entry) { return entry.is_regular_file() && is_picture(entry.path()); });
    const auto label = std::ssize(folder.classes);
    folder.classes.push_back(part.filename().string());
    for (const fs::path& picture : pictures) {
      folder.paths.push_back(picture.string());
      folder.labels.push_back(label);
    }
  }
  if (folder.paths.empty())
    throw ValueError("folder: '" + path + "' has no folders with pictures in them, of which each is a class");
  return folder;
}

}  // namespace iruka::pipeline
