#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "jit/cache.h"

namespace iruka::jit {
namespace {

namespace fs = std::filesystem;

class DiskCacheTest : public ::testing::Test {
 protected:
  DiskCacheTest() {
    std::string pattern = (fs::temp_directory_path() / "iruka-cache-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~DiskCacheTest() override {
    ::chmod(root_.c_str(), 0700);
    fs::remove_all(root_);
  }
  std::string folder() const { return root_ + "/a/b"; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder())) names.push_back(entry.path().string());
    return names;
  }
  std::string root_;
};

constexpr uint64_t kBudget = 1 << 20;

TEST_F(DiskCacheTest, GivesBackWhatWasWritten) {
  DiskCache cache(folder(), kBudget);
  const CacheKey key = hash_key("text");
  EXPECT_FALSE(cache.read(key));
  cache.write(key, "payload");
  EXPECT_EQ(cache.read(key), "payload");
  cache.write(key, "");
  EXPECT_EQ(cache.read(key), "");
  EXPECT_FALSE(cache.read(hash_key("other")));
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(DiskCacheTest, FolderIsPrivate) {
  DiskCache cache(folder(), kBudget);
  struct stat status;
  ASSERT_EQ(::stat(folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  cache.write(hash_key("x"), "y");
  ASSERT_EQ(::stat(files()[0].c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(DiskCacheTest, RefusesAFolderOthersCouldWrite) {
  fs::create_directories(folder());
  for (mode_t mode : {0720, 0702, 0777}) {
    ::chmod(folder().c_str(), mode);
    DiskCache cache(folder(), kBudget);
    EXPECT_EQ(cache.directory(), "");
    cache.write(hash_key("x"), "y");
    EXPECT_FALSE(cache.read(hash_key("x")));
    EXPECT_TRUE(files().empty());
  }
}

TEST_F(DiskCacheTest, UnusablePlacesGiveAnEmptyCache) {
  std::ofstream(root_ + "/file") << "not a folder";
  for (const std::string& place : {std::string(), root_ + "/file/below", std::string("/proc/no/such/place")}) {
    DiskCache cache(place, kBudget);
    EXPECT_EQ(cache.directory(), "") << place;
    cache.write(hash_key("x"), "y");
    EXPECT_FALSE(cache.read(hash_key("x")));
    cache.clear();
  }
}

TEST_F(DiskCacheTest, DamagedEntriesAreMissesAndAreDeleted) {
  DiskCache cache(folder(), kBudget);
  const CacheKey key = hash_key("text");
  const std::string whole = encode_entry(key, "some payload of a kernel");
  cache.write(key, "some payload of a kernel");
  const std::string file = files().at(0);
  for (size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, length);
    EXPECT_FALSE(cache.read(key)) << length;
    EXPECT_FALSE(fs::exists(file)) << length;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
    EXPECT_FALSE(cache.read(key)) << at;
  }
  cache.write(key, "again");
  EXPECT_EQ(cache.read(key), "again");
}

TEST_F(DiskCacheTest, AnEntryUnderAnotherKeysNameIsAMiss) {
  DiskCache cache(folder(), kBudget);
  cache.write(hash_key("a"), "payload of a");
  fs::copy_file(files().at(0), folder() + "/" + hash_key("b").hex() + ".kernel");
  EXPECT_FALSE(cache.read(hash_key("b")));
}

TEST_F(DiskCacheTest, LeastRecentlyUsedGoesFirst) {
  DiskCache cache(folder(), 10'000);
  const std::string payload(1900, 'x');
  for (int k = 0; k < 4; ++k) {
    const CacheKey key = hash_key(std::to_string(k));
    cache.write(key, payload);
    const timespec times[2] = {{1'000'000 + k, 0}, {1'000'000 + k, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder() + "/" + key.hex() + ".kernel").c_str(), times, 0), 0);
  }
  EXPECT_TRUE(cache.read(hash_key("0")));  // now the youngest
  cache.write(hash_key("4"), payload);
  cache.write(hash_key("5"), payload);
  cache.evict();
  EXPECT_TRUE(cache.read(hash_key("0")));
  EXPECT_FALSE(cache.read(hash_key("1")));
  EXPECT_TRUE(cache.read(hash_key("5")));
}

TEST_F(DiskCacheTest, AnEntryOverTheBudgetIsNotKept) {
  DiskCache cache(folder(), 100);
  cache.write(hash_key("x"), std::string(200, 'x'));
  EXPECT_FALSE(cache.read(hash_key("x")));
  EXPECT_TRUE(files().empty());
}

TEST_F(DiskCacheTest, ClearDeletesOnlyItsOwnFiles) {
  DiskCache cache(folder(), kBudget);
  cache.write(hash_key("x"), "y");
  const std::string mine = folder() + "/notes.kernel";
  std::ofstream(mine) << "mine";
  cache.clear();
  EXPECT_EQ(files(), std::vector<std::string>{mine});
}

TEST_F(DiskCacheTest, AReadOnlyFolderStillReads) {
  DiskCache cache(folder(), kBudget);
  cache.write(hash_key("x"), "y");
  ::chmod(folder().c_str(), 0500);
  EXPECT_EQ(DiskCache(folder(), kBudget).read(hash_key("x")), "y");
  ::chmod(folder().c_str(), 0700);
}

TEST_F(DiskCacheTest, TenProcessesAtOnce) {
  std::vector<pid_t> children;
  for (int child = 0; child < 10; ++child) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      DiskCache cache(folder(), kBudget);
      bool right = true;
      for (int k = 0; k < 50; ++k) {
        const std::string payload(static_cast<size_t>(k) * 37, static_cast<char>('a' + k % 26));
        cache.write(hash_key(std::to_string(k)), payload);
        const auto read = cache.read(hash_key(std::to_string(k)));
        right &= read.has_value() && *read == payload;
      }
      ::_exit(right ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(files().size(), 50u);  // no temporary is left
}

TEST_F(DiskCacheTest, TheEnvironmentChoosesTheFolder) {
  const auto with = [](const char* own, const char* xdg, const char* home) {
    const auto set = [](const char* name, const char* value) { value ? ::setenv(name, value, 1) : ::unsetenv(name); };
    set("IRUKA_CACHE_DIR", own);
    set("XDG_CACHE_HOME", xdg);
    set("HOME", home);
    return DiskCache::default_directory();
  };
  EXPECT_EQ(with("/own", "/xdg", "/home/me"), "/own");
  EXPECT_EQ(with(nullptr, "/xdg", "/home/me"), "/xdg/iruka");
  EXPECT_EQ(with(nullptr, "relative", root_.c_str()), root_ + "/.cache/iruka");
  EXPECT_EQ(with("", "", root_.c_str()), root_ + "/.cache/iruka");
  EXPECT_EQ(with("", "", (root_ + "/missing").c_str()), "");
  EXPECT_EQ(with(nullptr, nullptr, nullptr), "");
  ::setenv("IRUKA_CACHE_SIZE", "3M", 1);
  EXPECT_EQ(DiskCache::default_budget(), 3u << 20);
  ::setenv("IRUKA_CACHE_SIZE", "rubbish", 1);
  EXPECT_EQ(DiskCache::default_budget(), 512u << 20);
  ::unsetenv("IRUKA_CACHE_SIZE");
}

}  // namespace
}  // namespace iruka::jit
