// NVRTC for tests that need no GPU: texts in, PTX out; and ptxas, to see that PTX is well formed.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "jit/kernel_headers.h"

namespace iruka::cuda_backend {
std::string with_prelude(const std::string& text, std::span<const std::string> options);
}  // namespace iruka::cuda_backend

namespace iruka::test {

/// Folders of CUDA installations that may be there, best first.
inline std::vector<std::filesystem::path> cuda_folders() {
  std::vector<std::filesystem::path> folders;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    if (const char* folder = std::getenv(variable)) folders.emplace_back(folder);
  }
  folders.emplace_back("/usr/local/cuda");
  return folders;
}

class Nvrtc {
 public:
  struct Output {
    bool ok = false;
    std::string log, ptx;
  };

  /// Null where NVRTC cannot be found.
  static const Nvrtc* find() {
    static const Nvrtc found;
    return found.get_ptx_ ? &found : nullptr;
  }

  bool supports(int architecture) const {
    return std::ranges::find(architectures_, architecture) != architectures_.end();
  }

  /// `text` after the prelude, with the options of the product. `architecture` is 75, 90...
  Output compile(const std::string& text, int architecture) const {
    return compile_whole(cuda_backend::with_prelude(text, {}), architecture);
  }
  /// The same without the prelude.
  Output compile_whole(const std::string& source, int architecture) const {
    std::vector<std::string> names, files;
    for (const auto& [name, file] : jit::kernel_headers())
      if (!jit::is_for_cpu(name)) names.emplace_back(name), files.emplace_back(file);
    const std::vector<std::string> options = {"--gpu-architecture=compute_" + std::to_string(architecture),
                                              "--std=c++20",
                                              "--device-as-default-execution-space",
                                              "--fmad=true",
                                              "--ftz=false",
                                              "--prec-div=true",
                                              "--prec-sqrt=true",
                                              "--diag-suppress=177,550"};
    void* program = nullptr;
    create_(&program, source.c_str(), "test", static_cast<int>(names.size()), pointers(files).data(),
            pointers(names).data());
    Output output;
    output.ok = compile_(program, static_cast<int>(options.size()), pointers(options).data()) == 0;
    output.log = read(program, log_size_, get_log_);
    if (output.ok) output.ptx = read(program, ptx_size_, get_ptx_);
    destroy_(&program);
    return output;
  }

 private:
  using SizeFunction = int (*)(void*, size_t*);
  using TextFunction = int (*)(void*, char*);

  Nvrtc() {
    void* library = open();
    if (!library) return;
    load(library, create_, "nvrtcCreateProgram");
    load(library, destroy_, "nvrtcDestroyProgram");
    load(library, compile_, "nvrtcCompileProgram");
    load(library, log_size_, "nvrtcGetProgramLogSize");
    load(library, get_log_, "nvrtcGetProgramLog");
    load(library, ptx_size_, "nvrtcGetPTXSize");
    int (*count)(int*) = nullptr;
    int (*list)(int*) = nullptr;
    load(library, count, "nvrtcGetNumSupportedArchs");
    load(library, list, "nvrtcGetSupportedArchs");
    int size = 0;
    count(&size);
    architectures_.resize(static_cast<size_t>(size));
    list(architectures_.data());
    load(library, get_ptx_, "nvrtcGetPTX");
  }

  static void* open() {
    const std::string names[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
    for (const auto& folder : cuda_folders()) {
      for (const auto& name : names) {
        for (const char* part : {"lib64", "lib"}) {
          if (void* library = dlopen((folder / part / name).c_str(), RTLD_NOW)) return library;
        }
      }
    }
    for (const auto& name : names) {
      if (void* library = dlopen(name.c_str(), RTLD_NOW)) return library;
    }
    return nullptr;
  }
  template <class Function>
  static void load(void* library, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
  }
  static std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> all;
    for (const auto& text : texts) all.push_back(text.c_str());
    return all;
  }
  static std::string read(void* program, SizeFunction size_of, TextFunction get) {
    size_t size = 0;
    size_of(program, &size);
    std::string text(size, '\0');
    get(program, text.data());
    return text.substr(0, text.find('\0'));
  }

  int (*create_)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy_)(void**) = nullptr;
  int (*compile_)(void*, int, const char* const*) = nullptr;
  SizeFunction log_size_ = nullptr, ptx_size_ = nullptr;
  TextFunction get_log_ = nullptr, get_ptx_ = nullptr;
  std::vector<int> architectures_;
};

/// A test that compiles for one architecture; skipped if NVRTC is missing or does not support it.
class NvrtcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Nvrtc::find())
      GTEST_SKIP() << "libnvrtc was found neither in CUDA_PATH, CUDA_HOME, /usr/local/cuda nor by name";
  }
  /// PTX of `text`; a text that does not compile fails the test.
  static std::string ptx_of(const std::string& text, int architecture = 90) {
    const Nvrtc::Output output = Nvrtc::find()->compile(text, architecture);
    EXPECT_TRUE(output.ok) << "for compute_" << architecture << ": " << output.log << "\n" << text;
    return output.ptx;
  }
};

class NvrtcArchitectureTest : public NvrtcTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    NvrtcTest::SetUp();
    if (!IsSkipped() && !Nvrtc::find()->supports(GetParam()))
      GTEST_SKIP() << "this NVRTC does not know compute_" << GetParam();
  }
  static std::string ptx_of(const std::string& text) { return NvrtcTest::ptx_of(text, GetParam()); }
};

/// The ptxas of a CUDA installation; empty where there is none.
inline std::string find_ptxas() {
  for (const auto& folder : cuda_folders()) {
    if (std::filesystem::exists(folder / "bin/ptxas")) return (folder / "bin/ptxas").string();
  }
  return "";
}

/// Whether ptxas takes `ptx` for sm_`architecture`.
inline bool assembles(const std::string& ptx, int architecture) {
  const std::string path = ::testing::TempDir() + "iruka_" + std::to_string(getpid()) + ".ptx";
  std::ofstream(path) << ptx;
  const std::string command = find_ptxas() + " --gpu-name=sm_" + std::to_string(architecture) + " --opt-level 1 " +
                              path + " --output-file /dev/null";
  const bool is_good = std::system(command.c_str()) == 0;
  std::filesystem::remove(path);
  return is_good;
}

}  // namespace iruka::test
