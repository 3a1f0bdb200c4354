#include "interop.h"

#include <cstring>
#include <memory>
#include <vector>

#include "core/layout.h"
#include "cuda.h"
#include "dlpack.h"
#include "iruka/device.h"
#include "iruka/ops.h"
#include "numpy_arrays.h"

namespace iruka::python {

/// A release function for a Buffer that drops the reference to a Python object on any thread.
std::function<void()> drop_reference(nb::object owner) {
  PyObject* reference = owner.release().ptr();
  return [reference] {
    if (!can_call_python()) return;  // the interpreter's memory goes anyway
    const GilHold hold;
    Py_DECREF(reference);
  };
}

/// An array over foreign memory whose first element is at `data`; the buffer spans all its elements.
Array over_memory(void* data, Dtype dtype, const Dims& shape, const Dims& strides, bool writable,
                  std::function<void()> release, Device& device) {
  int64_t low = 0, high = itemsize(dtype);
  for (int axis = 0; axis < shape.size(); axis++) {
    if (shape[axis] == 0) {
      low = high = 0;
      break;
    }
    int64_t reach = (shape[axis] - 1) * strides[axis];
    (reach < 0 ? low : high) += reach;
  }
  auto buffer = std::make_shared<Buffer>(device, static_cast<char*>(data) + low, static_cast<size_t>(high - low),
                                         writable, std::move(release));
  return Array(std::move(buffer), dtype, shape, strides, -low);
}

namespace {

bool is_numpy_array(PyObject* object) { return PyType_IsSubtype(Py_TYPE(object), imported.ndarray); }

/// The dtype of a NumPy array; nothing where it is in the other byte order.
std::optional<Dtype> native_dtype(nb::handle array) {
  if (const std::optional<Dtype> dtype = native_numpy_dtype(array)) return dtype;
  const nb::object own = array.attr("dtype");
  if (!nb::cast<bool>(own.attr("isnative"))) return {};
  return to_dtype(own);
}

}  // namespace

std::optional<Array> shared_with_numpy(nb::handle array) {
  const std::optional<Dtype> dtype = native_dtype(array);
  if (!dtype) return {};
  const NumpyMemory memory = numpy_memory(array);
  if (!is_aligned(memory.data, *dtype, memory.shape, memory.strides)) return {};
  return over_memory(memory.data, *dtype, memory.shape, memory.strides, memory.writable,
                     drop_reference(nb::borrow(array)), cpu());
}

namespace {

/// A NumPy array's memory where it can be shared, else a copy.
Array from_numpy(nb::handle array) {
  if (std::optional<Array> shared = shared_with_numpy(array)) return *std::move(shared);
  const nb::object own = array.attr("dtype");
  if (!nb::cast<bool>(own.attr("isnative"))) return from_numpy(array.attr("astype")(own.attr("newbyteorder")("=")));
  return from_numpy(numpy_attribute("array")(array, nb::arg("order") = "C", nb::arg("copy") = true));
}

}  // namespace

std::optional<Array> given_output(nb::handle out) {
  if (is_array(out.ptr())) return array_of(out.ptr());
  if (!is_numpy_array(out.ptr())) return {};
  if (std::optional<Array> shared = shared_with_numpy(out)) return shared;
  Array copy = from_numpy(out);
  if (copy.size() > 0)
    throw TypeError(
        "out is a NumPy array that is not aligned or not in this machine's byte order, so the results cannot be "
        "written to it");
  return copy;
}

bool is_array_like(PyObject* object) {
  if (is_array(object) || is_numpy_array(object) || PyList_Check(object) || PyTuple_Check(object)) return true;
  if (PyUnicode_Check(object) || PyBytes_Check(object) || object == Py_None || PyType_Check(object)) return false;
  if (PyObject_CheckBuffer(object) || PySequence_Check(object)) return true;
  for (const char* name : {"__array__", "__array_interface__", "__dlpack__", "__cuda_array_interface__"}) {
    if (PyObject_HasAttrString(object, name)) return true;
  }
  return false;
}

namespace {

/// Tensors of GPUs by DLPack, which says what waits for what, else by the older protocol; nothing for other objects.
std::optional<Array> from_gpu_object(nb::handle object) {
  if (nb::hasattr(object, "__dlpack_device__") && nb::hasattr(object, "__dlpack__")) {
    const nb::object place = object.attr("__dlpack_device__")();
    const int type = nb::cast<int>(nb::int_(place[0]));
    if (type == dlpack::kCuda || type == dlpack::kCudaManaged) return from_dlpack(object, nb::none());
  }
  if (nb::hasattr(object, "__cuda_array_interface__")) return from_cuda_array_interface(object);
  return {};
}

bool is_list(nb::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }

bool holds_gpu_array(nb::handle object) {
  if (is_array(object.ptr())) return !is_host(array_of(object.ptr()).device());
  if (!is_list(object)) return false;
  for (nb::handle item : object)
    if (holds_gpu_array(item)) return true;
  return false;
}

/// Says which number of a list has no dtype: for an integer beyond 64 bits NumPy makes an array of objects.
void refuse_huge_integers(nb::handle array) {
  if (!nb::cast<bool>(array.attr("dtype").attr("hasobject"))) return;
  for (nb::handle item : array.attr("flat"))
    if (is_huge_integer(item.ptr()))
      throw OverflowError("Python integer " + describe(item) + " is out of bounds for int64 and uint64");
}

/// What NumPy reads of an object. It refuses a GPU's arrays in lists: they are stacked there, with `device`'s own
/// parts.
Array read_by_numpy(nb::handle object, nb::object dtype, Device& device) {
  try {
    const nb::object array = numpy_attribute("asarray")(object, std::move(dtype));
    refuse_huge_integers(array);
    return from_numpy(array);
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) || !is_list(object) || !holds_gpu_array(object)) throw;
  }
  std::vector<Array> parts;
  for (nb::handle part : object) parts.push_back(as_array(part, device));
  GilRelease release;
  return stack(parts);
}

/// An array on the CPU, but for lists of a GPU's arrays.
Array read(nb::handle object, Device& device) {
  Scalar scalar;
  if (is_numpy_array(object.ptr())) return from_numpy(object);
  if (std::optional<Array> array = from_numbers(object.ptr())) return *std::move(array);
  if (to_scalar(object.ptr(), scalar)) {
    Array array = Array::empty({}, scalar.dtype(), cpu());
    scalar.store(array.dtype(), array.data());
    return array;
  }
  bool dlpack_alone = nb::hasattr(object, "__dlpack__") && !nb::hasattr(object, "__array_interface__");
  if (dlpack_alone && !PyObject_CheckBuffer(object.ptr())) return from_dlpack(object, nb::none());
  return read_by_numpy(object, nb::none(), device);
}

/// Python's and NumPy's values, which are never on a GPU.
bool is_plain(PyObject* object) {
  return is_numpy_array(object) || PyList_Check(object) || PyTuple_Check(object) || PyFloat_Check(object) ||
         PyLong_Check(object) || PyComplex_Check(object) || PyType_IsSubtype(Py_TYPE(object), imported.generic);
}

}  // namespace

Array as_array(nb::handle object, Device& device) {
  if (is_array(object.ptr())) return array_of(object.ptr());
  if (!is_plain(object.ptr())) {
    if (std::optional<Array> found = from_gpu_object(object)) return *std::move(found);
  }
  Array array = read(object, device);
  if (&device == &array.device() || !is_host(array.device())) return array;
  GilRelease release;
  return array.to_device(device);
}

Array as_array(nb::handle object) { return as_array(object, default_device()); }

Array as_elements(nb::handle values, Dtype dtype, Device& device) {
  if (!is_list(values)) return as_array(values, device);
  Array array = read_by_numpy(values, dtype_object(dtype), device);
  if (&device == &array.device() || !is_host(array.device())) return array;
  GilRelease release;
  return array.to_device(device);
}

Device& device_among(std::span<PyObject* const> objects) {
  for (PyObject* object : objects)
    if (is_array(object)) return array_of(object).device();
  return default_device();
}

const char* const kNoImplicitCopy =
    "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly.";

nb::object numpy_view(nb::handle array) {
  const Array& x = checked_array(array, "asnumpy");
  if (!is_host(x.device())) return download(x, x.is_f_contiguous() && !x.is_c_contiguous());
  if (x.dtype() == Dtype::bfloat16) {
    nb::object bits = to_python(x.view(Dtype::uint16));
    return numpy_view(bits).attr("view")(dtype_object(Dtype::bfloat16));
  }
  return numpy_array_over(x.is_value() ? x.copy() : x);  // NumPy's array of a scalar may be written to
}

namespace {

const char* buffer_format(Dtype dtype) {
  switch (dtype) {
    case Dtype::bool_: return "?";
    case Dtype::int8: return "b";
    case Dtype::int16: return "h";
    case Dtype::int32: return "i";
    case Dtype::int64: return "l";
    case Dtype::uint8: return "B";
    case Dtype::uint16: return "H";
    case Dtype::uint32: return "I";
    case Dtype::uint64: return "L";
    case Dtype::float16: return "e";
    case Dtype::bfloat16: return nullptr;
    case Dtype::float32: return "f";
    case Dtype::float64: return "d";
    case Dtype::complex64: return "Zf";
    case Dtype::complex128: return "Zd";
  }
  return nullptr;
}

/// Shape and strides of an exported buffer; freed by release_buffer.
struct ExportedDims {
  Py_ssize_t shape[kMaxRank];
  Py_ssize_t strides[kMaxRank];
  BufferHandle buffer;  ///< the array's buffer may change
};

int refuse_buffer(const char* message) {
  PyErr_SetString(PyExc_BufferError, message);
  return -1;
}

}  // namespace

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded(-1, [&] {
    const Array& own = array_of(self);
    if (!is_host(own.device())) throw TypeError(kNoImplicitCopy);
    const Array array = own.is_value() ? own.copy() : own;  // NumPy's array of a scalar may be written to
    const char* format = buffer_format(array.dtype());
    if (!format) return refuse_buffer("bfloat16 arrays have no buffer format; use view('uint16'), DLPack or asnumpy");
    if ((flags & PyBUF_WRITABLE) && !array.writable()) return refuse_buffer("the array is read-only");
    bool c_order = array.is_c_contiguous();
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !c_order) return refuse_buffer("the array is not C-contiguous");
    if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !c_order) {
      return refuse_buffer("the array is not C-contiguous");
    }
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !array.is_f_contiguous()) {
      return refuse_buffer("the array is not Fortran-contiguous");
    }
    if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !c_order && !array.is_f_contiguous()) {
      return refuse_buffer("the array is not contiguous");
    }
    auto dims = std::make_unique<ExportedDims>();
    std::copy(array.shape().begin(), array.shape().end(), dims->shape);
    std::copy(array.strides().begin(), array.strides().end(), dims->strides);
    dims->buffer = array.buffer();
    view->buf = array.data();
    view->obj = Py_NewRef(self);
    view->len = array.nbytes();
    view->itemsize = array.itemsize();
    view->readonly = !array.writable();
    view->ndim = array.ndim();
    view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
    view->shape = flags & PyBUF_ND ? dims->shape : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? dims->strides : nullptr;
    view->suboffsets = nullptr;
    view->internal = dims.release();
    return 0;
  });
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<ExportedDims*>(view->internal); }

void bind_interop(nb::module_& module) {
  module.def(
      "from_dlpack", [](nb::handle object, nb::handle copy) { return to_python(from_dlpack(object, copy)); },
      nb::arg("object"), nb::arg("copy").none());
  module.def("numpy_view", numpy_view, nb::arg("array"), nb::sig("def numpy_view(array: ndarray) -> numpy.ndarray"),
             "A NumPy array over the same memory; a copy for an array of a GPU.");
}

}  // namespace iruka::python
