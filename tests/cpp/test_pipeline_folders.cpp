// Files and classes of folders: in torchvision's order, whatever the file system's, and by which links.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "iruka/file_error.h"
#include "iruka/pipeline.h"

namespace iruka::pipeline {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

class PipelineFolders : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("iruka-folders-" + std::to_string(::getpid()));
    for (const char* name : {"b/2.jpg", "b/10.JPEG", "b/x/1.png", "b/x-y/1.png", "b/x/z/0.webp", "a/notes.txt",
                             "c/0.tiff", "loose.png", "c/npy/0.npy"})
      touch(name);
  }
  void TearDown() override { fs::remove_all(root_); }

  void touch(const std::string& name) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << "picture";
  }
  Texts relative(const Texts& paths) const {
    Texts names;
    for (const std::string& path : paths) names.push_back(fs::path(path).lexically_relative(root_).string());
    return names;
  }

  fs::path root_;
};

TEST_F(PipelineFolders, AreClassesInOrder) {
  const Folder folder = list_folder(root_.string());
  EXPECT_EQ(folder.classes, (Texts{"a", "b", "c"}));
  EXPECT_EQ(relative(folder.paths),
            (Texts{"b/10.JPEG", "b/2.jpg", "b/x/1.png", "b/x-y/1.png", "b/x/z/0.webp", "c/0.tiff"}));
  EXPECT_EQ(folder.labels, (std::vector<int64_t>{1, 1, 1, 1, 1, 2}));
}

TEST_F(PipelineFolders, TakeExtensions) {
  EXPECT_EQ(relative(list_files(root_.string(), {"npy", "TXT"})), (Texts{"a/notes.txt", "c/npy/0.npy"}));
  EXPECT_EQ(list_files(root_.string()).size(), 7U);
  EXPECT_TRUE(list_folder(root_.string(), {"gif"}).paths.empty());
}

TEST_F(PipelineFolders, FollowLinksThatAreNoCircles) {
  fs::create_directory_symlink(root_, root_ / "b" / "root");
  fs::create_directory_symlink("../b", root_ / "b" / "self");
  fs::create_directory_symlink("../c", root_ / "b" / "other");
  fs::create_symlink("nowhere", root_ / "b" / "broken");
  EXPECT_EQ(relative(list_files((root_ / "b").string(), {"tiff", "jpg"})), (Texts{"b/2.jpg", "b/other/0.tiff"}));
}

TEST_F(PipelineFolders, SayWhatCannotBeRead) {
  const std::string path = (root_ / "nowhere").string();
  try {
    list_files(path, {}, "npy");
    FAIL();
  } catch (const SystemFileError& error) {
    EXPECT_EQ(error.what(), "npy: cannot read '" + path + "': No such file or directory");
    EXPECT_EQ(error.number(), ENOENT);
    EXPECT_EQ(error.path(), path);
  }
  EXPECT_THROW(list_folder((root_ / "loose.png").string()), SystemFileError);
}

}  // namespace
}  // namespace iruka::pipeline
