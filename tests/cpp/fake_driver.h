// A CUDA driver in software: device memory is host memory, streams are queues that can be held, errors come on demand.
// Tests put table() in the driver's place with cuda_backend::replace_driver(); built as libcuda.so.1 it serves Python.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backend/cuda/driver.h"
#include "core/module.h"

namespace iruka::testing::fake_driver {

using namespace cuda_backend;

/// The functions, to be called as the driver's.
const Driver& table();

/// One kernel launch as the driver saw it.
struct Launch {
  std::string function;
  LaunchGrid grid;
  CUstream stream;
};
/// Called by each launch, before it returns: gives the work to be done in the stream's order, or nothing.
using LaunchHandler = std::function<std::function<void()>(const Launch&, void** parameters)>;
void set_launch_handler(LaunchHandler handler);
std::vector<Launch> launches();

/// 2 devices of 1 GiB unless a test says otherwise.
void set_device_count(int count);
void set_device_bytes(size_t bytes);

/// Modules loaded from here on have a variable of that name at `address`.
void set_global(const std::string& name, void* address, size_t bytes);

/// Modules loaded from here on have these functions, and none else; without names, any function.
void set_functions(std::vector<std::string> names);
/// Every function's, from here on: what it is given, and an attribute as the driver tells it.
void set_parameters(std::vector<ParameterPlace> parameters);
void set_function_attribute(FunctionAttribute which, int value);
/// What cuFuncSetAttribute was told last: which, and the value.
std::pair<int, int> last_function_attribute();
/// Blocks of any function that a multiprocessor runs at the same time.
void set_blocks_per_multiprocessor(int blocks);

/// Work for the stream waits from here on, and with it what waits for that work; waiting threads wait, too.
void hold(CUstream stream);
void let_go(CUstream stream);

/// The next `count` calls of `function` ("cuMemAlloc") give `error`.
void fail(const std::string& function, CUresult error, int count = 1);
/// How often `function` was called.
int64_t calls(const std::string& function);
/// Bytes of device memory, or of page-locked host memory, that are allocated.
size_t live_device_bytes();
size_t live_host_bytes();
/// What was assembled last: options by their numbers, a line each, and then the text.
std::string assembled();
/// Calls that a real driver answers with a crash or with wrong data, in words: handles that were destroyed, memory that
/// was freed while work that uses it was to come.
std::vector<std::string> misuses();

}  // namespace iruka::testing::fake_driver
