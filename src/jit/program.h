// From source to a loaded program: in-memory table, disk cache, compiler, in that order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/front_end.h"
#include "iruka/kernel.h"
#include "jit/includes.h"

namespace iruka::jit {

/// Units of work for a grid of thread blocks: each thread calls `entry(arguments, 0, count)` and finds its units by its
/// index in the grid.
struct GridRange {
  int64_t count = 0;
  int64_t units_per_block = 1;
  int threads_per_block = 256;
  unsigned shared_bytes = 0;  ///< of each block's dynamic shared memory
};

/// Compiled and loaded source, and the function of its module that is launched. Keep the handle, because a look-up
/// hashes the whole source.
class Program {
 public:
  /// `kernel` is the name in error messages. `entry` may be empty where only the module is wanted. Raises DeviceError
  /// where the module has no function of that name.
  Program(Device& device, std::shared_ptr<const Module> module, const std::string& entry, const std::string& kernel,
          std::vector<Diagnostic> warnings, NamePairs names = {});
  /// Returns what the device measured of it.
  MeasuredWork launch(std::span<const std::byte> arguments, const LaunchRange& range) const {
    LaunchContext context(kernel_);
    device_.launch(context, *function_, arguments, range);
    return context.work;
  }
  void launch(std::span<const std::byte> arguments, const GridRange& range) const;
  /// Launches one of the module's functions.
  void launch(const Function& function, std::span<const ParameterBytes> parameters, const LaunchGrid& grid) const;
  Device& device() const { return device_; }
  const Module& module() const { return *module_; }
  /// What the module has under a name, or under one of the source's name expressions. These raise DeviceError where
  /// there is none.
  const Function& function(const std::string& name) const { return module_->function(name_in_module(name)); }
  GlobalVariable global(const std::string& name) const { return module_->global(name_in_module(name)); }
  const NamePairs& names() const { return names_; }
  int rival_lanes() const { return module_->rival_lanes(); }
  /// The compiler's warnings about the user's texts.
  const std::vector<Diagnostic>& warnings() const { return warnings_; }

 private:
  Device& device_;
  const std::shared_ptr<const Module> module_;
  const Function* const function_;
  const char* const kernel_;  ///< lives as long as the process
  const std::vector<Diagnostic> warnings_;
  const NamePairs names_;

  const std::string& name_in_module(const std::string& name) const;
};

/// A kernel's texts by the file names that #line gives them: {"operation", text}...
using Texts = std::vector<std::pair<std::string, std::string>>;

/// What a compile error says about the kernel, besides the compiler's message.
struct ErrorContext {
  std::string kernel_name;
  std::string argument_types;                  ///< "float32 x, int16 width"; empty when nothing is resolved yet
  std::string made_at;                         ///< "file:line"
  Texts texts;                                 ///< to show the offending line
  std::shared_ptr<const Includes> includes{};  ///< to quote headers and name the folders of a search
  bool hides_generated = false;  ///< errors outside of the user's texts follow from errors in them, and are not told

  /// The user's text or header that diagnostics name `file`; null if there is none.
  const std::string* text_of(std::string_view file) const;
};

/// The program for `source` on `device`: from the table, from disk, or compiled. One compilation per key however many
/// threads need it; no lock is held. Raises CompileError worded with `context`. `kind` is the entry of the history.
std::shared_ptr<const Program> build(Device& device, const ProgramSource& source, const ErrorContext& context,
                                     KernelEvent::Kind kind = KernelEvent::Kind::compiled);

/// The program for `source` in a module of its own, with variables that no other program has; with `variables`, it uses
/// the variables of that module instead (Device::load_beside). Raises what build() raises.
std::shared_ptr<const Program> build_alone(Device& device, const ProgramSource& source, const ErrorContext& context,
                                           std::shared_ptr<const Module> variables = nullptr);

/// Only checks that `source` is valid C++. A source that passed once, also in another process, is not checked again.
/// Gives the warnings. Raises CompileError worded with `context`.
std::vector<Diagnostic> check(Device& device, const ProgramSource& source, const ErrorContext& context);
std::vector<Diagnostic> check(const FrontEnd& front_end, const ProgramSource& source, const ErrorContext& context);

/// What the compiler gives for `source`, neither loaded nor cached. Raises CompileError worded with `context`.
CompiledProgram compile_only(Device& device, const ProgramSource& source, const ErrorContext& context);

/// The assembly of the program that build() gives. Raises CompileError.
std::string assembly(Device& device, const ProgramSource& source);

/// Runs `work`; a DeviceError from it then names the kernel, as the compiler's errors do.
template <class Work>
auto naming_kernel(const std::string& kernel, Work&& work) {
  try {
    return work();
  } catch (const OutOfMemoryError& error) {
    throw OutOfMemoryError("kernel '" + kernel + "': " + error.what());
  } catch (const DeviceError& error) {
    throw DeviceError("kernel '" + kernel + "': " + error.what());
  }
}

/// Grows by one with each clear_cache(); programs of an older generation must be built again.
uint64_t cache_generation();

/// Packs the argument block a program's entry reads: natural alignment, in order of the calls.
class ArgumentBlock {
 public:
  template <class T>
  void push(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    push_bytes(&value, sizeof(T), alignof(T));
  }
  void push_bytes(const void* bytes, size_t size, size_t align) {
    size_t at = (size_ + align - 1) & ~(align - 1);
    reserve(at + size);
    if (at > size_) __builtin_memset(data() + size_, 0, at - size_);
    __builtin_memcpy(data() + at, bytes, size);
    size_ = at + size;
  }
  std::span<const std::byte> bytes() const { return {heap_.empty() ? inline_ : heap_.data(), size_}; }

 private:
  std::byte* data() { return heap_.empty() ? inline_ : heap_.data(); }
  void reserve(size_t size) {
    if (size <= (heap_.empty() ? sizeof(inline_) : heap_.size())) return;
    std::vector<std::byte> larger(size * 2);
    __builtin_memcpy(larger.data(), data(), size_);
    heap_ = std::move(larger);
  }
  alignas(16) std::byte inline_[1024];
  std::vector<std::byte> heap_;
  size_t size_ = 0;
};

}  // namespace iruka::jit
