// Memory hooks in Python: iruka.cuda.MemoryHook listens through these.
#include <nanobind/stl/string.h>

#include <charconv>

#include "cuda.h"

namespace iruka::python {

namespace {

/// Calls the methods of a Python object. `hook` lives as long as it listens.
class PoolListener final : public cuda::PoolHook {
 public:
  explicit PoolListener(nb::object hook) : hook_(std::move(hook)) {}
  ~PoolListener() override {
    if (!is_listening_) return;
    try {
      cuda::PoolHook::leave();
    } catch (const Error&) {  // of a thread that has ended
    }
  }
  void enter() {
    cuda::PoolHook::enter();
    is_listening_ = true;
  }
  void leave() {
    cuda::PoolHook::leave();
    is_listening_ = false;
  }

  void malloc_preprocess(const std::string& pool, size_t requested, size_t bytes) noexcept override {
    call("malloc_preprocess", pool, {{"size", requested}, {"mem_size", bytes}});
  }
  void malloc_postprocess(const std::string& pool, size_t requested, size_t bytes, void* memory) noexcept override {
    call("malloc_postprocess", pool,
         {{"size", requested}, {"mem_size", bytes}, {"mem_ptr", address(memory)}, {"pmem_id", address(memory)}});
  }
  void alloc_preprocess(const std::string& pool, size_t bytes) noexcept override {
    call("alloc_preprocess", pool, {{"mem_size", bytes}});
  }
  void alloc_postprocess(const std::string& pool, size_t bytes, void* memory) noexcept override {
    call("alloc_postprocess", pool, {{"mem_size", bytes}, {"mem_ptr", address(memory)}});
  }
  void free_preprocess(const std::string& pool, void* memory, size_t bytes) noexcept override {
    call("free_preprocess", pool, {{"mem_size", bytes}, {"mem_ptr", address(memory)}, {"pmem_id", address(memory)}});
  }
  void free_postprocess(const std::string& pool, void* memory, size_t bytes) noexcept override {
    call("free_postprocess", pool, {{"mem_size", bytes}, {"mem_ptr", address(memory)}, {"pmem_id", address(memory)}});
  }

 private:
  using Arguments = std::initializer_list<std::pair<const char*, size_t>>;

  static size_t address(void* memory) { return reinterpret_cast<size_t>(memory); }

  /// As CuPy, nothing of page-locked memory. An error goes to sys.unraisablehook; one that is already set stays.
  void call(const char* method, const std::string& pool, Arguments arguments) const noexcept {
    constexpr std::string_view kGpu = "cuda:";
    if (!pool.starts_with(kGpu) || !can_call_python()) return;
    int device = 0;
    std::from_chars(pool.data() + kGpu.size(), pool.data() + pool.size(), device);
    const GilHold hold;
    const nb::error_scope earlier;
    try {
      nb::dict keywords;
      keywords["device_id"] = device;
      for (const auto& [name, value] : arguments) keywords[name] = value;
      hook_.attr(method)(**keywords);
    } catch (nb::python_error& error) {
      error.restore();
      PyErr_WriteUnraisable(hook_.ptr());
    }
  }

  const nb::object hook_;
  bool is_listening_ = false;
};

}  // namespace

void bind_memory_hook(nb::module_& module) {
  nb::class_<PoolListener>(module, "PoolListener", "Calls a MemoryHook's methods while it listens to this thread.")
      .def(nb::init<nb::object>(), nb::arg("hook"))
      .def("enter", &PoolListener::enter, "Listens to the calling thread. Raises ValueError if it does.")
      .def("leave", &PoolListener::leave, "Raises ValueError if it does not listen to the calling thread.");
}

}  // namespace iruka::python
