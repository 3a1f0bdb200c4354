// __cuda_array_interface__, version 3, both ways.
#include "core/layout.h"
#include "cuda.h"
#include "interop.h"
#include "iruka/device.h"

namespace iruka::python {

namespace {

/// NumPy's typestr; bfloat16, which has none, is two bytes without a meaning, as ml_dtypes writes it.
nb::object type_string(Dtype dtype) { return dtype_object(dtype).attr("str"); }

Dtype dtype_from(nb::handle object, nb::handle type_string) {
  const nb::object dtype = numpy_attribute("dtype")(type_string);
  const bool opaque = text_of(dtype.attr("kind")) == "V" && nb::cast<int>(dtype.attr("itemsize")) == 2;
  if (opaque && text_of(nb::getattr(object, "dtype", nb::none())).ends_with("bfloat16")) return Dtype::bfloat16;
  return to_dtype(dtype);
}

nb::object entry(const nb::dict& interface, const char* name) {
  return interface.contains(name) ? nb::object(interface[name]) : nb::none();
}

/// The GPU that holds the memory; without memory, the default one.
Device& place_of(void* data) {
  if (!data) return is_cuda(default_device()) ? default_device() : device("cuda:0");
  const int index = cuda::device_of(data);
  if (index < 0) throw ValueError("__cuda_array_interface__: the memory is not on a GPU of this process");
  return device("cuda:" + std::to_string(index));
}

}  // namespace

nb::dict array_interface(const Array& array) {
  if (!is_host(array.device()) || array.dtype() == Dtype::bfloat16)
    throw nb::attribute_error("__array_interface__: only arrays on the CPU, of dtypes that NumPy has, have one");
  nb::dict result;
  result["shape"] = from_dims(array.shape());
  result["typestr"] = type_string(array.dtype());
  result["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(array.data()), !array.writable());
  result["strides"] = array.is_c_contiguous() ? nb::none() : nb::object(from_dims(array.strides()));
  result["version"] = 3;
  return result;
}

nb::dict cuda_array_interface(Array array) {
  if (!is_cuda(array.device()))
    throw nb::attribute_error(
        "__cuda_array_interface__: the array is on the CPU; x.to_device('cuda:0') copies it to a GPU");
  nb::dict result;
  const uintptr_t data = array.size() ? reinterpret_cast<uintptr_t>(array.data()) : 0;
  result["shape"] = from_dims(array.shape());
  result["typestr"] = type_string(array.dtype());
  result["data"] = nb::make_tuple(data, !array.writable());
  result["strides"] = array.is_c_contiguous() ? nb::none() : nb::object(from_dims(array.strides()));
  result["version"] = 3;
  result["stream"] = stream_number(array.device().current_stream());
  return result;
}

Array from_cuda_array_interface(nb::handle object) {
  const nb::object given = object.attr("__cuda_array_interface__");
  if (!nb::isinstance<nb::dict>(given))
    throw TypeError("__cuda_array_interface__ must be a dict, not " + describe(given.type()));
  const auto interface = nb::borrow<nb::dict>(given);
  for (const char* name : {"shape", "typestr", "data"})
    if (!interface.contains(name)) throw TypeError(std::string("__cuda_array_interface__ lacks '") + name + "'");
  if (!entry(interface, "mask").is_none()) {
    PyErr_SetString(PyExc_NotImplementedError, "__cuda_array_interface__: arrays with a mask are not supported");
    throw nb::python_error();
  }
  const Dtype dtype = dtype_from(object, interface["typestr"]);
  const Dims shape = to_dims(interface["shape"], "__cuda_array_interface__: shape");
  const nb::object steps = entry(interface, "strides");
  const Dims strides =
      steps.is_none() ? c_strides(shape, itemsize(dtype)) : to_dims(steps, "__cuda_array_interface__: strides");
  if (strides.size() != shape.size())
    throw ShapeError("__cuda_array_interface__: strides " + to_string(strides) + " do not go with shape " +
                     to_string(shape));
  const nb::object pair = interface["data"];
  void* const data = count(shape) ? PyLong_AsVoidPtr(nb::object(pair[0]).ptr()) : nullptr;
  if (!data && PyErr_Occurred()) throw nb::python_error();
  if (!data && count(shape))
    throw ValueError("__cuda_array_interface__: data is 0, but shape " + to_string(shape) + " has elements");
  const bool read_only = nb::cast<bool>(nb::bool_(nb::object(pair[1])));
  if (!is_aligned(data, dtype, shape, strides))
    throw ValueError("__cuda_array_interface__: the memory is not aligned to its elements");
  Device& device = place_of(data);
  const nb::object stream = entry(interface, "stream");
  std::optional<StreamHandle> owner;  // which the protocol has live as long as the object
  if (!stream.is_none()) {
    if (to_int64(stream, "__cuda_array_interface__: stream") == 0)
      throw ValueError(
          "__cuda_array_interface__: stream 0 is ambiguous: 1 is the legacy default stream, 2 the per-thread one");
    owner = to_stream(stream);
    GilRelease release;
    order_streams(device, *owner, device.current_stream());
  }
  auto release = [&device, owner, drop = drop_reference(nb::borrow(object))] {
    finish_foreign_use(device, owner);
    drop();
  };
  return over_memory(data, dtype, shape, strides, !read_only, std::move(release), device);
}

}  // namespace iruka::python
