#include "numpy_arrays.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <array>

namespace iruka::python {

namespace {

static_assert(sizeof(npy_intp) == sizeof(int64_t) && sizeof(npy_longlong) == sizeof(int64_t));

char no_elements;  // where an array without elements begins

PyArrayObject* numpy_array(nb::handle array) { return reinterpret_cast<PyArrayObject*>(array.ptr()); }

constexpr int numpy_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::bool_: return NPY_BOOL;
    case Dtype::int8: return NPY_INT8;
    case Dtype::int16: return NPY_INT16;
    case Dtype::int32: return NPY_INT32;
    case Dtype::int64: return NPY_INT64;
    case Dtype::uint8: return NPY_UINT8;
    case Dtype::uint16: return NPY_UINT16;
    case Dtype::uint32: return NPY_UINT32;
    case Dtype::uint64: return NPY_UINT64;
    case Dtype::float16: return NPY_FLOAT16;
    case Dtype::bfloat16: break;
    case Dtype::float32: return NPY_FLOAT32;
    case Dtype::float64: return NPY_FLOAT64;
    case Dtype::complex64: return NPY_COMPLEX64;
    case Dtype::complex128: return NPY_COMPLEX128;
  }
  return NPY_NOTYPE;
}

/// The dtype of each of NumPy's types.
constexpr auto kDtypes = [] {
  std::array<std::optional<Dtype>, NPY_HALF + 1> dtypes;
  for (int k = 0; k < kDtypeCount; k++)
    if (const int type = numpy_type(static_cast<Dtype>(k)); type != NPY_NOTYPE)
      dtypes[static_cast<size_t>(type)] = static_cast<Dtype>(k);
  dtypes[NPY_LONGLONG] = Dtype::int64;
  dtypes[NPY_ULONGLONG] = Dtype::uint64;
  return dtypes;
}();

std::optional<Dtype> dtype_of_type(int type) {
  return static_cast<size_t>(type) < kDtypes.size() ? kDtypes[static_cast<size_t>(type)] : std::nullopt;
}

nb::object checked(PyObject* made) {
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

}  // namespace

void import_numpy_interface() {
  if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
}

std::optional<Dtype> native_numpy_dtype(nb::handle array) {
  if (!PyArray_ISBEHAVED_RO(numpy_array(array))) return {};  // aligned, of this byte order
  const int type = PyArray_TYPE(numpy_array(array));
  if (const std::optional<Dtype> dtype = dtype_of_type(type)) return dtype;
  if (!PyTypeNum_ISUSERDEF(type)) return {};
  const nb::object name = nb::handle(reinterpret_cast<PyObject*>(PyArray_DESCR(numpy_array(array)))).attr("name");
  return text_of(name) == "bfloat16" ? std::optional(Dtype::bfloat16) : std::nullopt;
}

NumpyMemory numpy_memory(nb::handle array) {
  PyArrayObject* const numpy = numpy_array(array);
  const int ndim = PyArray_NDIM(numpy);
  NumpyMemory memory{PyArray_DATA(numpy), Dims(ndim), Dims(ndim), PyArray_ISWRITEABLE(numpy) != 0,
                     PyArray_IS_C_CONTIGUOUS(numpy) != 0};
  std::copy_n(PyArray_DIMS(numpy), ndim, memory.shape.begin());
  std::copy_n(PyArray_STRIDES(numpy), ndim, memory.strides.begin());
  return memory;
}

std::optional<jit::Operand> numpy_operand(PyObject* array) {
  PyArrayObject* const numpy = numpy_array(array);
  const std::optional<Dtype> dtype = dtype_of_type(PyArray_TYPE(numpy));
  if (!dtype || !PyArray_ISBEHAVED_RO(numpy)) return {};
  jit::Operand operand(PyArray_DATA(numpy), *dtype);
  operand.shape = PyArray_DIMS(numpy);
  operand.strides = PyArray_STRIDES(numpy);
  operand.ndim = PyArray_NDIM(numpy);
  for (int axis = 0; axis < operand.ndim; ++axis) operand.size *= operand.shape[axis];
  operand.writable = PyArray_ISWRITEABLE(numpy) != 0;
  return operand;
}

std::optional<Scalar> numpy_scalar(PyObject* object) {
  if (!PyType_IsSubtype(Py_TYPE(object), &PyGenericArrType_Type)) return {};
  PyArray_Descr* const descr = PyArray_DescrFromScalar(object);
  if (!descr) throw nb::python_error();
  const nb::object owner = nb::steal(reinterpret_cast<PyObject*>(descr));
  const std::optional<Dtype> dtype = dtype_of_type(descr->type_num);
  if (!dtype) return {};
  alignas(16) std::byte element[16];
  PyArray_ScalarAsCtype(object, element);
  return Scalar::load(*dtype, element);
}

nb::object empty_numpy_array(const Dims& shape, Dtype dtype) {
  return checked(PyArray_SimpleNew(shape.size(), shape.data(), numpy_type(dtype)));
}

nb::object numpy_copy(PyObject* array, Dtype dtype) {
  return checked(PyArray_FromArray(numpy_array(array), PyArray_DescrFromType(numpy_type(dtype)),
                                   NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY | NPY_ARRAY_FORCECAST));
}

PyObject* to_numpy_scalar(const void* element, Dtype dtype) {
  PyArray_Descr* const descr = PyArray_DescrFromType(numpy_type(dtype));
  const nb::object owner = nb::steal(reinterpret_cast<PyObject*>(descr));
  return checked(PyArray_Scalar(const_cast<void*>(element), descr, nullptr)).release().ptr();
}

nb::object numpy_array_over(Array array) {
  npy_intp shape[kMaxRank], strides[kMaxRank];
  std::copy(array.shape().begin(), array.shape().end(), shape);
  std::copy(array.strides().begin(), array.strides().end(), strides);
  void* const data = array.size() > 0 ? array.data() : &no_elements;  // NumPy takes null for a wish for new memory
  const int flags = array.writable() ? NPY_ARRAY_WRITEABLE : 0;
  nb::object made = nb::steal(PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(numpy_type(array.dtype())),
                                                   array.ndim(), shape, strides, data, flags, nullptr));
  if (!made.is_valid()) throw nb::python_error();
  if (PyArray_SetBaseObject(numpy_array(made), wrap(std::move(array))) < 0) throw nb::python_error();
  return made;
}

}  // namespace iruka::python
