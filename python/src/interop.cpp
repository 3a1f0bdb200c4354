#include "interop.h"

#include <cstring>
#include <functional>
#include <memory>

#include "dlpack.h"
#include "iruka/device.h"

namespace iruka::python {

namespace {

/// A release function for a Buffer that lets go of Python's object whatever thread it runs on.
std::function<void()> drop_reference(nb::object owner) {
  PyObject* reference = owner.release().ptr();
  return [reference] {
    if (!Py_IsInitialized()) return;  // at exit the interpreter's memory goes anyway
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(reference);
    PyGILState_Release(state);
  };
}

/// An array over foreign memory whose first element is at `data`; the buffer spans all its elements.
Array over_memory(void* data, Dtype dtype, const Dims& shape, const Dims& strides, bool writable,
                  std::function<void()> release) {
  int64_t low = 0, high = itemsize(dtype);
  for (int axis = 0; axis < shape.size(); axis++) {
    if (shape[axis] == 0) {
      low = high = 0;
      break;
    }
    int64_t reach = (shape[axis] - 1) * strides[axis];
    (reach < 0 ? low : high) += reach;
  }
  auto buffer = std::make_shared<Buffer>(cpu(), static_cast<char*>(data) + low, static_cast<size_t>(high - low),
                                         writable, std::move(release));
  return Array(std::move(buffer), dtype, shape, strides, -low);
}

bool is_aligned(const void* data, Dtype dtype, const Dims& shape, const Dims& strides) {
  int64_t alignment = kind(dtype) == Kind::complex ? itemsize(dtype) / 2 : itemsize(dtype);
  if (reinterpret_cast<uintptr_t>(data) % alignment != 0) return false;
  for (int axis = 0; axis < shape.size(); axis++) {
    if (shape[axis] > 1 && strides[axis] % alignment != 0) return false;
  }
  return true;
}

bool is_numpy_array(PyObject* object) { return PyType_IsSubtype(Py_TYPE(object), imported.ndarray); }

/// A NumPy array's memory without a copy, through its buffer; a copy where the memory is not aligned.
Array from_numpy(nb::handle array) {
  Dtype dtype = to_dtype(array.attr("dtype"));
  if (dtype == Dtype::bfloat16) return from_numpy(array.attr("view")("uint16")).view(dtype);
  auto view = std::make_unique<Py_buffer>();
  bool writable = PyObject_GetBuffer(array.ptr(), view.get(), PyBUF_STRIDES | PyBUF_WRITABLE) == 0;
  if (!writable) {
    PyErr_Clear();
    if (PyObject_GetBuffer(array.ptr(), view.get(), PyBUF_STRIDES) != 0) throw nb::python_error();
  }
  nb::object owner = nb::borrow(array);
  void* data = view->buf;
  Dims shape(view->ndim), strides(view->ndim);
  for (int axis = 0; axis < view->ndim; axis++) {
    shape[axis] = view->shape[axis];
    strides[axis] = view->strides[axis];
  }
  PyBuffer_Release(view.get());  // the array itself keeps the memory
  if (!is_aligned(data, dtype, shape, strides)) {
    return from_numpy(numpy_attribute("array")(array, nb::arg("order") = "C", nb::arg("copy") = true));
  }
  return over_memory(data, dtype, shape, strides, writable, drop_reference(std::move(owner)));
}

}  // namespace

bool is_array_like(PyObject* object) {
  if (is_array(object) || is_numpy_array(object) || PyList_Check(object) || PyTuple_Check(object)) return true;
  if (PyUnicode_Check(object) || PyBytes_Check(object) || object == Py_None || PyType_Check(object)) return false;
  if (PyObject_CheckBuffer(object) || PySequence_Check(object)) return true;
  for (const char* name : {"__array__", "__array_interface__", "__dlpack__"}) {
    if (PyObject_HasAttrString(object, name)) return true;
  }
  return false;
}

Array as_array(nb::handle object) {
  if (is_array(object.ptr())) return array_of(object.ptr());
  Scalar scalar;
  if (!is_numpy_array(object.ptr()) && to_scalar(object.ptr(), scalar)) {
    Array array = Array::empty({}, scalar.dtype());
    scalar.store(array.dtype(), array.data());
    return array;
  }
  if (is_numpy_array(object.ptr())) return from_numpy(object);
  bool dlpack_alone = nb::hasattr(object, "__dlpack__") && !nb::hasattr(object, "__array_interface__");
  if (dlpack_alone && !PyObject_CheckBuffer(object.ptr())) return from_dlpack(object, nb::none());
  nb::object array = numpy_attribute("asarray")(object);
  return from_numpy(array);
}

nb::object numpy_view(nb::handle array) {
  const Array& x = checked_array(array, "asnumpy");
  if (x.dtype() == Dtype::bfloat16) {
    nb::object bits = to_python(x.view(Dtype::uint16));
    return numpy_view(bits).attr("view")(dtype_object(Dtype::bfloat16));
  }
  nb::object memory = nb::steal(PyMemoryView_FromObject(array.ptr()));
  if (!memory.is_valid()) throw nb::python_error();
  return numpy_attribute("asarray")(memory);
}

namespace {

const char* buffer_format(Dtype dtype) {
  switch (dtype) {
    case Dtype::bool_:
      return "?";
    case Dtype::int8:
      return "b";
    case Dtype::int16:
      return "h";
    case Dtype::int32:
      return "i";
    case Dtype::int64:
      return "l";
    case Dtype::uint8:
      return "B";
    case Dtype::uint16:
      return "H";
    case Dtype::uint32:
      return "I";
    case Dtype::uint64:
      return "L";
    case Dtype::float16:
      return "e";
    case Dtype::bfloat16:
      return nullptr;
    case Dtype::float32:
      return "f";
    case Dtype::float64:
      return "d";
    case Dtype::complex64:
      return "Zf";
    case Dtype::complex128:
      return "Zd";
  }
  return nullptr;
}

/// Shape and strides of an exported buffer; freed by release_buffer.
struct ExportedDims {
  Py_ssize_t shape[kMaxRank];
  Py_ssize_t strides[kMaxRank];
};

int refuse_buffer(const char* message) {
  PyErr_SetString(PyExc_BufferError, message);
  return -1;
}

}  // namespace

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded(-1, [&] {
    const Array& array = array_of(self);
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

namespace {

dlpack::DataType to_dlpack_type(Dtype dtype) {
  auto bits = static_cast<uint8_t>(itemsize(dtype) * 8);
  if (dtype == Dtype::bfloat16) return {dlpack::kBfloat, 16, 1};
  switch (kind(dtype)) {
    case Kind::boolean:
      return {dlpack::kBool, 8, 1};
    case Kind::signed_integer:
      return {dlpack::kInt, bits, 1};
    case Kind::unsigned_integer:
      return {dlpack::kUnsigned, bits, 1};
    case Kind::floating:
      return {dlpack::kFloat, bits, 1};
    case Kind::complex:
      break;
  }
  return {dlpack::kComplex, bits, 1};
}

Dtype from_dlpack_type(dlpack::DataType type) {
  if (type.lanes == 1) {
    for (int i = 0; i < kDtypeCount; i++) {
      dlpack::DataType candidate = to_dlpack_type(static_cast<Dtype>(i));
      if (candidate.code == type.code && candidate.bits == type.bits) return static_cast<Dtype>(i);
    }
  }
  throw TypeError("from_dlpack: DLPack type code " + std::to_string(type.code) + " with " + std::to_string(type.bits) +
                  " bits and " + std::to_string(type.lanes) + " lanes is not supported");
}

/// What an exported tensor points to: the array, and its strides in elements.
struct Exported {
  Array array;
  int64_t shape[kMaxRank];
  int64_t strides[kMaxRank];
};

template <class M>
nb::object export_capsule(const Array& array, const char* name, bool copied) {
  auto exported = std::make_unique<Exported>();
  exported->array = array;
  for (int axis = 0; axis < array.ndim(); axis++) {
    exported->shape[axis] = array.shape()[axis];
    exported->strides[axis] = array.strides()[axis] / array.itemsize();
  }
  auto managed = std::make_unique<M>();
  managed->tensor = {array.data(),
                     {dlpack::kCpu, 0},
                     array.ndim(),
                     to_dlpack_type(array.dtype()),
                     exported->shape,
                     exported->strides,
                     0};
  managed->context = exported.release();
  managed->deleter = [](M* self) {
    delete static_cast<Exported*>(self->context);
    delete self;
  };
  if constexpr (std::is_same_v<M, dlpack::ManagedVersioned>) {
    managed->version = {1, 0};
    managed->flags = (array.writable() ? 0 : dlpack::kReadOnly) | (copied ? dlpack::kCopied : 0);
  }
  M* released = managed.release();
  auto destroy = [](PyObject* capsule) {  // a consumed capsule has another name and belongs to its consumer
    const char* name = std::is_same_v<M, dlpack::ManagedVersioned> ? "dltensor_versioned" : "dltensor";
    if (!PyCapsule_IsValid(capsule, name)) return;
    M* managed = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
    managed->deleter(managed);
  };
  PyObject* capsule = PyCapsule_New(released, name, destroy);
  if (!capsule) {
    released->deleter(released);
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

}  // namespace

nb::object to_dlpack(nb::handle self, nb::handle max_version, nb::handle device, nb::handle copy) {
  Array array = checked_array(self, "__dlpack__");
  if (!device.is_none()) {
    Dims wanted = to_dims(device, "__dlpack__: dl_device");
    if (!(wanted == Dims{dlpack::kCpu, 0}))
      throw nb::buffer_error("__dlpack__: arrays of the CPU are exported to the CPU only");
  }
  for (int axis = 0; axis < array.ndim(); axis++) {
    if (array.strides()[axis] % array.itemsize() != 0)
      throw nb::buffer_error("__dlpack__: strides are not whole elements");
  }
  bool copied = !copy.is_none() && nb::cast<bool>(copy);
  if (copied) {
    GilRelease release;
    array = array.copy();
  }
  bool versioned = !max_version.is_none() && to_dims(max_version, "__dlpack__: max_version")[0] >= 1;
  if (versioned) return export_capsule<dlpack::ManagedVersioned>(array, "dltensor_versioned", copied);
  if (!array.writable()) throw nb::buffer_error("__dlpack__: a read-only array needs DLPack 1.0 (max_version=(1, 0))");
  return export_capsule<dlpack::Managed>(array, "dltensor", copied);
}

namespace {

template <class M>
Array import_tensor(M* managed, bool writable) {
  std::shared_ptr<M> owner(managed, [](M* m) {
    if (m->deleter) m->deleter(m);
  });
  const dlpack::Tensor& tensor = managed->tensor;
  if (tensor.device.type != dlpack::kCpu && tensor.device.type != dlpack::kCudaHost) {
    throw nb::buffer_error("from_dlpack: the tensor is not in CPU memory");
  }
  if (tensor.ndim < 0 || tensor.ndim > kMaxRank) {
    throw ShapeError("from_dlpack: " + std::to_string(tensor.ndim) + " axes; arrays have at most " +
                     std::to_string(kMaxRank));
  }
  Dtype dtype = from_dlpack_type(tensor.dtype);
  Dims shape(tensor.shape, tensor.ndim);
  Dims strides = tensor.strides ? Dims(tensor.strides, tensor.ndim) : c_strides(shape, 1);
  for (int64_t& stride : strides) stride *= itemsize(dtype);
  void* data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  auto release = [owner = std::move(owner)]() mutable {
    if (!Py_IsInitialized()) return;
    PyGILState_STATE state = PyGILState_Ensure();  // the producer may be Python
    owner.reset();
    PyGILState_Release(state);
  };
  Array array = over_memory(data, dtype, shape, strides, writable, std::move(release));
  return is_aligned(data, dtype, shape, strides) ? array : from_numpy(numpy_attribute("array")(to_python(array)));
}

nb::object ask_for_capsule(nb::handle object, nb::handle copy) {
  nb::object method = object.attr("__dlpack__");
  try {
    nb::tuple version = nb::make_tuple(1, 0);
    if (copy.is_none()) return method(nb::arg("max_version") = version);
    return method(nb::arg("max_version") = version, nb::arg("copy") = copy);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return method();  // a producer from before DLPack 1.0
}

}  // namespace

Array from_dlpack(nb::handle object, nb::handle copy) {
  nb::object capsule;
  if (PyCapsule_CheckExact(object.ptr())) {
    capsule = nb::borrow(object);
  } else if (nb::hasattr(object, "__dlpack__")) {
    capsule = ask_for_capsule(object, copy);
  } else {
    throw TypeError("from_dlpack: " + describe(object.type()) + " has no __dlpack__");
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto* managed = static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (managed->version.major > 1) {
      throw nb::buffer_error("from_dlpack: the tensor's DLPack version is newer than 1");
    }
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    return import_tensor(managed, !(managed->flags & dlpack::kReadOnly));
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    auto* managed = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor");
    return import_tensor(managed, true);
  }
  throw nb::value_error("from_dlpack: the capsule holds no tensor, or was used before");
}

void bind_interop(nb::module_& module) {
  module.def(
      "from_dlpack", [](nb::handle object, nb::handle copy) { return to_python(from_dlpack(object, copy)); },
      nb::arg("object"), nb::arg("copy").none());
  module.def("numpy_view", numpy_view, nb::arg("array"), nb::sig("def numpy_view(array: ndarray) -> numpy.ndarray"),
             "A NumPy array over the same memory.");
}

}  // namespace iruka::python
