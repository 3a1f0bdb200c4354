// RawKernel and RawModule: CUDA C++ with `__global__` functions, launched over a grid of thread blocks on every device.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "iruka/array.h"
#include "iruka/device.h"
#include "iruka/function_attributes.h"
#include "iruka/stream.h"

namespace iruka {

/// One argument of a launch: an array, a number, an address, or the bytes of a structure. It refers to arrays and
/// bytes, which must live until the launch returns.
class RawArgument {
 public:
  enum class Kind : uint8_t { array, number, address, bytes, memory };

  RawArgument(const Array& array) : kind_(Kind::array), data_(&array) {}
  RawArgument(const Scalar& number) : kind_(Kind::number), number_(number) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  RawArgument(T number) : kind_(Kind::number), number_(number) {}
  RawArgument(std::complex<double> number) : kind_(Kind::number), number_(number) {}
  RawArgument(std::nullptr_t) : kind_(Kind::address) {}
  template <class T>
  RawArgument(T* address) : kind_(Kind::address), data_(address) {}
  /// A structure by its bytes.
  template <class T>
    requires std::is_class_v<T> && std::is_trivially_copyable_v<T>
  RawArgument(const T& structure) : RawArgument(std::as_bytes(std::span(&structure, 1))) {}
  RawArgument(std::span<const std::byte> bytes) : kind_(Kind::bytes), data_(bytes.data()), size_(bytes.size()) {}
  /// The memory of a foreign array that the kernel's device reads, whose dtype may be none of Iruka's.
  static RawArgument memory(const void* address, bool is_writable, std::optional<Dtype> dtype) {
    RawArgument made(nullptr);
    made.kind_ = Kind::memory;
    made.data_ = address;
    made.size_ = is_writable;
    made.dtype_ = dtype;
    return made;
  }

  Kind kind() const { return kind_; }
  const Array& array() const { return *static_cast<const Array*>(data_); }
  const Scalar& number() const { return number_; }
  const void* address() const { return data_; }    ///< of Kind::address and Kind::memory
  bool is_writable() const { return size_ != 0; }  ///< of Kind::memory, as the next
  std::optional<Dtype> dtype() const { return dtype_; }
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

 private:
  Kind kind_;
  const void* data_ = nullptr;
  size_t size_ = 0;
  std::optional<Dtype> dtype_;
  Scalar number_;
};

struct RawOptions {
  /// Compiler options: "-DN=4", "-I/folder", "--use_fast_math", "--maxrregcount=64".
  std::vector<std::string> options{};
  bool enable_cooperative_groups = false;  ///< all blocks of a launch run at the same time
  /// Functions and variables of a module as C++ names them: "scale<float, 4>".
  std::vector<std::string> name_expressions{};
  std::string made_at{};  ///< "file:line" of the call; the C++ call itself when empty
};

/// Numbers of blocks in a grid, or of threads in a block.
struct LaunchExtents {
  int64_t x = 1, y = 1, z = 1;
};

struct RawLaunch {
  LaunchExtents grid{}, block{};
  int64_t shared_bytes = 0;        ///< of each block's dynamic shared memory
  const Stream* stream = nullptr;  ///< null: the current one
};

namespace jit {
struct RawCode;
struct RawFunction;
struct RawFunctions;
}  // namespace jit

/// A `__global__` function. It is compiled for each device that launches it, on the CPU for each size of blocks. Cheap
/// to copy; calls are thread-safe.
class IRUKA_API RawKernel {
 public:
  /// `name` is the function in `code`, also with template arguments: "scale<float>". Raises ValueError for a name that
  /// is none.
  RawKernel(std::string code, std::string name, RawOptions options = {},
            std::source_location where = std::source_location::current());

  /// Launches over `launch.grid` on the device of the arrays, else on the default device. Raises ValueError for a grid
  /// or an array that does not fit, TypeError and OverflowError for arguments that the parameters do not take,
  /// CompileError for code that does not compile.
  void launch(const RawLaunch& launch, std::span<const RawArgument> arguments) const;
  template <class... A>
  void operator()(LaunchExtents grid, LaunchExtents block, const A&... arguments) const {
    const RawArgument list[] = {RawArgument(arguments)..., RawArgument(nullptr)};
    launch({.grid = grid, .block = block}, {list, sizeof...(A)});
  }
  /// Compiles and loads the kernel where a launch needs no size of blocks for it.
  void compile(Device& device) const;

  const std::string& name() const;
  const std::string& code() const;       ///< empty for code that was read from a file
  const std::string& file_path() const;  ///< empty for code that was given
  const RawOptions& options() const;
  /// "RawKernel add(const float* x, float* y, int n)", without the parameters where the code does not show them.
  std::string to_string() const;
  FunctionAttributes attributes(Device& device) const;
  /// Apply to later launches of the function. These raise ValueError for a value that the device does not allow.
  void set_max_dynamic_shared_size_bytes(Device& device, int bytes) const;
  void set_preferred_shared_memory_carveout(Device& device, int percent) const;
  /// The compiler's warnings about the code since the last call of this function, each worded like an error.
  std::vector<std::string> pop_warnings() const;

 private:
  friend class RawModule;
  explicit RawKernel(std::shared_ptr<jit::RawFunction> function);

  std::shared_ptr<jit::RawFunction> function_;
};

/// Code with several kernels and variables: CUDA C++, PTX, or a GPU's machine code. Cheap to copy; calls are
/// thread-safe.
class IRUKA_API RawModule {
 public:
  explicit RawModule(std::string code, RawOptions options = {},
                     std::source_location where = std::source_location::current());
  /// Reads a file of CUDA C++, PTX or machine code. Raises FileError if it cannot be read.
  static RawModule from_file(const std::string& path, RawOptions options = {},
                             std::source_location where = std::source_location::current());

  /// A kernel by its name or one of the name expressions. A name that the code lacks is an error at the kernel's first
  /// use.
  RawKernel get_function(const std::string& name) const;
  /// The bytes of a `__device__` or `__constant__` variable on `device`. Raises DeviceError if there is none.
  Array get_global(const std::string& name, Device& device) const;
  void compile(Device& device) const;

  const std::string& code() const;       ///< empty for code that was read from a file
  const std::string& file_path() const;  ///< empty for code that was given
  const RawOptions& options() const;
  std::vector<std::string> pop_warnings() const;

 private:
  explicit RawModule(std::shared_ptr<jit::RawCode> code);

  std::shared_ptr<jit::RawCode> code_;
  std::shared_ptr<jit::RawFunctions> functions_;
};

}  // namespace iruka
