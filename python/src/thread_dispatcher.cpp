// The base class of jit.rawkernel's kernels: finds the RawKernel for the types of a call's arguments and launches it.
// The derived class makes the kernels.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "convert.h"
#include "interop.h"
#include "iruka/raw_kernel.h"
#include "kernel.h"
#include "numpy_arrays.h"
#include "raw_call.h"
#include "typed_argument.h"

namespace iruka::python {

namespace {

/// What the C++ of a kernel depends on. An array without axes is a number.
struct ThreadArgument {
  Dtype dtype;
  uint8_t ndim = 0;
  bool is_writable = false, is_contiguous = false;
  bool is_small = false;  ///< extents, and places and bytes within the array, fit int32

  /// The arguments of the kernel that it becomes: a number; or a pointer, extents, and strides unless contiguous.
  size_t count() const { return size_t{1} + size_t{ndim} * (is_contiguous ? 1 : 2); }
  bool operator==(const ThreadArgument&) const = default;
};

struct ThreadKernel {
  std::vector<ThreadArgument> arguments;
  bool has_small_grid;
  RawKernel kernel;
};

/// Kernels are added and never removed, so that one in use stays where it is.
struct ThreadDispatcher {
  std::string name;
  size_t parameters;
  bool halves_floats;  ///< Python's floats are float32
  bool is_device;      ///< a function that kernels call
  std::deque<ThreadKernel> kernels{};
};

/// Less than this many blocks along x: the place of a thread in the grid fits int32.
constexpr unsigned kSmallGrid = 1u << 21;

bool is_small(const Dims& shape, Dtype dtype) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (std::ranges::any_of(shape, [](int64_t extent) { return extent > kMost; })) return false;
  int64_t bytes = itemsize(dtype);
  for (const int64_t extent : shape)
    if (extent > 0 && (bytes *= extent) > kMost) return false;
  return true;
}

ThreadArgument type_of(const Array& array) {
  if (array.ndim() == 0) return {array.dtype()};
  return {array.dtype(), static_cast<uint8_t>(array.ndim()), array.writable(), array.is_c_contiguous(),
          is_small(array.shape(), array.dtype())};
}

class ThreadLaunch {
 public:
  ThreadLaunch(PyObject* self, const RawCall& call)
      : self_(self), dispatcher_(instance_of<ThreadDispatcher>(self)), call_(call), given_(call.arguments()) {
    if (dispatcher_.is_device)
      throw TypeError(dispatcher_.name + "() is a function that kernels call (device=True), no kernel");
    if (given_.size() != dispatcher_.parameters)
      throw TypeError(dispatcher_.name + "() takes " + std::to_string(dispatcher_.parameters) + " arguments, not " +
                      std::to_string(given_.size()));
    convert_foreign();
  }

  void run() {
    FixedList<ThreadArgument, 16> types(given_.size());
    size_t count = 0;
    for (PyObject* object : given_) count += types.add(type_of_object(object)).count();
    const RawKernel& kernel = find(types.span());
    RawArguments arguments(kernel.name(), given_, count);
    for (size_t k = 0; k < given_.size(); ++k) add(arguments, k, types.span()[k]);
    call_.launch(kernel, arguments);
  }

 private:
  /// Arrays of other libraries as arrays of Iruka.
  void convert_foreign() {
    const auto is_known = [](PyObject* object) {
      return typed_argument(object) || is_array(object) || PyType_IsSubtype(Py_TYPE(object), imported.ndarray) ||
             PyType_IsSubtype(Py_TYPE(object), imported.generic) || PyLong_Check(object) || PyFloat_Check(object) ||
             PyComplex_Check(object);
    };
    if (std::ranges::all_of(given_, is_known)) return;
    nb::list all;
    for (PyObject* object : given_) {
      if (is_known(object)) {
        all.append(nb::handle(object));
        continue;
      }
      if (!nb::hasattr(object, "__cuda_array_interface__") && !nb::hasattr(object, "__dlpack__"))
        throw TypeError(dispatcher_.name + "() takes arrays and numbers, not " +
                        text_of(nb::handle(object).type().attr("__name__")));
      all.append(to_python(as_array(object)));
    }
    converted_ = nb::tuple(all);
    given_ = RawCall::items_of(converted_);
  }

  ThreadArgument type_of_object(PyObject* object) const {
    if (is_array(object)) return type_of(array_of(object));
    if (PyType_IsSubtype(Py_TYPE(object), imported.ndarray)) return type_of_numpy(object);
    Scalar number;
    if (!to_scalar(object, number)) refuse_dtype(object);
    return {dtype_of(number)};
  }

  Dtype dtype_of(const Scalar& number) const {
    if (!number.weak() || !dispatcher_.halves_floats) return number.dtype();
    if (number.dtype() == Dtype::float64) return Dtype::float32;
    return number.dtype() == Dtype::complex128 ? Dtype::complex64 : number.dtype();
  }

  ThreadArgument type_of_numpy(PyObject* object) const {
    const std::optional<Dtype> dtype = native_numpy_dtype(object);
    if (!dtype) refuse_dtype(object);
    const NumpyMemory memory = numpy_memory(object);
    if (memory.shape.empty()) return {*dtype};
    return {*dtype, static_cast<uint8_t>(memory.shape.size()), memory.writable, memory.contiguous,
            is_small(memory.shape, *dtype)};
  }

  [[noreturn]] void refuse_dtype(PyObject* object) const {
    const nb::handle given = object;
    if (PyType_IsSubtype(Py_TYPE(object), imported.ndarray) && !nb::cast<bool>(given.attr("flags").attr("aligned")))
      throw TypeError(dispatcher_.name + "() takes no array whose elements are not aligned");
    throw TypeError(dispatcher_.name + "(): the dtype " + text_of(given.attr("dtype")) +
                    " has no place in a rawkernel");
  }

  const RawKernel& find(std::span<const ThreadArgument> types) {
    const bool has_small_grid = call_.extents().grid.x < kSmallGrid;
    const auto known = [&]() -> const RawKernel* {
      for (const ThreadKernel& each : dispatcher_.kernels)
        if (each.has_small_grid == has_small_grid && std::ranges::equal(each.arguments, types)) return &each.kernel;
      return nullptr;
    };
    if (const RawKernel* found = known()) return *found;
    nb::list key;
    for (const ThreadArgument& each : types) key.append(key_of(each));
    const nb::object made = nb::handle(self_).attr("_made")(nb::tuple(key), has_small_grid);
    if (const RawKernel* found = known()) return *found;  // another thread was first
    return dispatcher_.kernels
        .emplace_back(std::vector(types.begin(), types.end()), has_small_grid, instance_of<RawKernel>(made.ptr()))
        .kernel;
  }

  static nb::tuple key_of(const ThreadArgument& type) {
    const nb::object dtype = dtype_object(type.dtype);
    if (type.ndim == 0) return nb::make_tuple(dtype);
    return nb::make_tuple(dtype, static_cast<int>(type.ndim), type.is_writable, type.is_contiguous, type.is_small);
  }

  void add(RawArguments& arguments, size_t k, const ThreadArgument& type) const {
    arguments.add_argument(k);
    if (type.ndim == 0) return;
    const auto add_all = [&](const Dims& numbers) {
      for (const int64_t each : numbers) arguments.add_number(Scalar(each));
    };
    if (is_array(given_[k])) {
      const Array& array = array_of(given_[k]);
      add_all(array.shape());
      if (!type.is_contiguous) add_all(array.strides());
    } else {
      const NumpyMemory memory = numpy_memory(given_[k]);
      add_all(memory.shape);
      if (!type.is_contiguous) add_all(memory.strides);
    }
  }

  PyObject* self_;
  ThreadDispatcher& dispatcher_;
  const RawCall& call_;
  std::span<PyObject* const> given_;
  nb::object converted_;  ///< holds given_ where foreign arrays were converted
};

/// kernel[grid, block]
struct ConfiguredKernel {
  nb::object kernel;
  LaunchExtents grid, block;
};

PyObject* call_dispatcher(PyObject* self, PyObject* positional, PyObject* keywords) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const RawCall call(instance_of<ThreadDispatcher>(self).name, positional, keywords);
    ThreadLaunch(self, call).run();
    Py_RETURN_NONE;
  });
}

PyObject* configure(PyObject* self, PyObject* key) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const std::string& name = instance_of<ThreadDispatcher>(self).name;
    if (!PyTuple_Check(key) || PyTuple_GET_SIZE(key) != 2)
      throw TypeError(name + "[grid, block]: two are needed, not " + describe(key));
    return nb::cast(ConfiguredKernel{nb::borrow(self), to_extents(PyTuple_GET_ITEM(key, 0), name, "grid"),
                                     to_extents(PyTuple_GET_ITEM(key, 1), name, "block")})
        .release()
        .ptr();
  });
}

PyObject* call_configured(PyObject* self, PyObject* positional, PyObject* keywords) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const auto& [kernel, grid, block] = instance_of<ConfiguredKernel>(self);
    if (keywords && PyDict_GET_SIZE(keywords) > 0)
      throw TypeError(instance_of<ThreadDispatcher>(kernel.ptr()).name +
                      "[grid, block](...) takes no keywords; kernel(grid, block, args, shared_mem=, stream=) does");
    const RawCall call(grid, block, positional);
    ThreadLaunch(kernel.ptr(), call).run();
    Py_RETURN_NONE;
  });
}

const PyType_Slot kDispatcherSlots[] = {{Py_tp_call, reinterpret_cast<void*>(call_dispatcher)},
                                        {Py_mp_subscript, reinterpret_cast<void*>(configure)},
                                        {0, nullptr}};
const PyType_Slot kConfiguredSlots[] = {{Py_tp_call, reinterpret_cast<void*>(call_configured)}, {0, nullptr}};

}  // namespace

void bind_thread_dispatcher(nb::module_& module) {
  nb::class_<ThreadDispatcher>(
      module, "ThreadDispatcher", nb::type_slots(kDispatcherSlots),
      "Launches the RawKernel for the types of a call's arguments. A derived class has a method\n"
      "_made(types, has_small_grid), which gives it. A type is (dtype,) of a number and (dtype, ndim, is_writable,\n"
      "is_contiguous, is_small) of an array.")
      .def(
          "__init__",
          [](ThreadDispatcher* self, std::string name, size_t parameters, bool halves_floats, bool is_device) {
            new (self) ThreadDispatcher{.name = std::move(name),
                                        .parameters = parameters,
                                        .halves_floats = halves_floats,
                                        .is_device = is_device};
          },
          nb::arg("name"), nb::arg("parameters"), nb::arg("halves_floats"), nb::arg("is_device"));
  nb::class_<ConfiguredKernel>(module, "ConfiguredKernel", nb::type_slots(kConfiguredSlots),
                               "kernel[grid, block], which takes the kernel's arguments.")
      .def("__repr__", [](const ConfiguredKernel& self) {
        const auto text = [](const LaunchExtents& e) {
          return "(" + std::to_string(e.x) + ", " + std::to_string(e.y) + ", " + std::to_string(e.z) + ")";
        };
        return describe(self.kernel) + "[" + text(self.grid) + ", " + text(self.block) + "]";
      });
}

}  // namespace iruka::python
