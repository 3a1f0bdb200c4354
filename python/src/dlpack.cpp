// DLPack both ways, as the Python array API standard (2023.12) words it, of CPU arrays and of CUDA arrays.
#include "dlpack.h"

#include <memory>

#include "core/layout.h"
#include "cuda.h"
#include "interop.h"
#include "iruka/device.h"

namespace iruka::python {

namespace {

dlpack::DataType to_dlpack_type(Dtype dtype) {
  auto bits = static_cast<uint8_t>(itemsize(dtype) * 8);
  if (dtype == Dtype::bfloat16) return {dlpack::kBfloat, 16, 1};
  switch (kind(dtype)) {
    case Kind::boolean: return {dlpack::kBool, 8, 1};
    case Kind::signed_integer: return {dlpack::kInt, bits, 1};
    case Kind::unsigned_integer: return {dlpack::kUnsigned, bits, 1};
    case Kind::floating: return {dlpack::kFloat, bits, 1};
    case Kind::complex: break;
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

dlpack::Device dlpack_device(const Device& device) {
  const int index = cuda::device_index(device);
  return index < 0 ? dlpack::Device{dlpack::kCpu, 0} : dlpack::Device{dlpack::kCuda, index};
}

/// What an exported tensor points to: the array, and its strides in elements.
struct Exported {
  Array array;
  std::optional<StreamHandle> consumer;  ///< behind whose work the memory is reused
  int64_t shape[kMaxRank];
  int64_t strides[kMaxRank];
};

/// The consumer is done: what it has in its stream now is its last use of the memory.
void take_back(Exported* exported) noexcept {
  const std::unique_ptr<Exported> owner(exported);
  if (!owner->consumer) return;
  const GilReleaseIfHeld release;  // a full stream makes the driver wait, perhaps for a function in Python
  Device& device = owner->array.device();
  Buffer& buffer = *owner->array.buffer();
  try {
    if (buffer.foreign()) {
      order_streams(device, *owner->consumer, device.current_stream());  // which its own owner then waits for
    } else {
      cuda::record_use(buffer.data(), Stream::foreign(device, *owner->consumer));
    }
  } catch (const std::exception&) {  // a device that has failed uses nothing any more
  }
}

template <class M>
nb::object export_capsule(const Array& array, std::optional<StreamHandle> consumer, const char* name, bool copied) {
  auto exported = std::make_unique<Exported>();
  exported->array = array;
  exported->consumer = consumer;
  for (int axis = 0; axis < array.ndim(); axis++) {
    exported->shape[axis] = array.shape()[axis];
    exported->strides[axis] = array.strides()[axis] / array.itemsize();
  }
  auto managed = std::make_unique<M>();
  managed->tensor = {array.data(),
                     dlpack_device(array.device()),
                     array.ndim(),
                     to_dlpack_type(array.dtype()),
                     exported->shape,
                     exported->strides,
                     0};
  managed->context = exported.release();
  managed->deleter = [](M* self) {
    take_back(static_cast<Exported*>(self->context));
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

namespace {

/// The consumer's stream by the array API standard's rules; nothing for -1, which means no synchronisation.
std::optional<StreamHandle> consumer_stream(nb::handle stream) {
  if (stream.is_none()) return StreamHandle{nullptr};
  const int64_t number = to_int64(stream, "__dlpack__: stream");
  if (number == -1) return {};
  if (number == 0)
    throw ValueError("__dlpack__: stream 0 is ambiguous on CUDA: 1 is the legacy default stream, 2 the per-thread one");
  if (number < -1)
    throw ValueError("__dlpack__: stream must be None, -1, 1, 2 or a CUDA stream's handle, not " +
                     std::to_string(number));
  return reinterpret_cast<StreamHandle>(number == 1 ? 0 : static_cast<uintptr_t>(number));
}

/// The consumer's stream goes on after what made the array. The result: a stream behind whose work, once the consumer
/// is done, the memory may be reused; that is the default stream where it waits for the consumer's, which its owner may
/// have destroyed by then.
std::optional<StreamHandle> hand_over(const Array& array, nb::handle stream) {
  const std::optional<StreamHandle> consumer = consumer_stream(stream);
  if (!consumer) return {};
  Device& device = array.device();
  GilRelease release;
  order_streams(device, device.current_stream(), *consumer);
  return cuda::is_non_blocking(Stream::foreign(device, *consumer)) ? consumer : StreamHandle{nullptr};
}

/// The tensor's device: the CPU or the array's device.
bool wants_host(const Array& array, nb::handle device) {
  if (device.is_none()) return false;
  const Dims wanted = to_dims(device, "__dlpack__: dl_device");
  const dlpack::Device own = dlpack_device(array.device());
  if (wanted == Dims{own.type, own.id}) return false;
  if (!is_host(array.device()) && wanted == Dims{dlpack::kCpu, 0}) return true;
  throw nb::buffer_error(is_host(array.device())
                             ? "__dlpack__: arrays of the CPU are exported to the CPU only"
                             : "__dlpack__: an array of a GPU is exported to that GPU and to the CPU only");
}

}  // namespace

nb::object to_dlpack(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle device, nb::handle copy) {
  Array array = checked_array(self, "__dlpack__");
  const bool to_host = wants_host(array, device);
  bool copied = to_host || (!copy.is_none() && nb::cast<bool>(copy));
  if (to_host && !copy.is_none() && !nb::cast<bool>(copy))
    throw nb::buffer_error("__dlpack__: an array of a GPU needs a copy to be on the CPU, which copy=False forbids");
  for (int axis = 0; axis < array.ndim(); axis++) {
    if (array.strides()[axis] % array.itemsize() != 0)
      throw nb::buffer_error("__dlpack__: strides are not whole elements");
  }
  if (array.is_value() && copy.is_none()) copied = true;  // not all consumers take what is read-only
  if (copied) {
    GilRelease release;
    array = to_host ? array.to_device(cpu()) : array.copy();
  }
  bool versioned = !max_version.is_none() && to_dims(max_version, "__dlpack__: max_version")[0] >= 1;
  if (!versioned && !array.writable())
    throw nb::buffer_error("__dlpack__: a read-only array needs DLPack 1.0 (max_version=(1, 0))");
  std::optional<StreamHandle> consumer;
  if (is_host(array.device()) && !stream.is_none())
    throw ValueError("__dlpack__: stream must be None for a tensor on the CPU, not " + describe(stream));
  if (!is_host(array.device())) consumer = hand_over(array, stream);
  if (versioned) return export_capsule<dlpack::ManagedVersioned>(array, consumer, "dltensor_versioned", copied);
  return export_capsule<dlpack::Managed>(array, consumer, "dltensor", copied);
}

nb::tuple dlpack_device_of(const Array& array) {
  const dlpack::Device device = dlpack_device(array.device());
  return nb::make_tuple(device.type, device.id);
}

namespace {

Device& tensor_device(dlpack::Device device) {
  if (device.type == dlpack::kCpu || device.type == dlpack::kCudaHost) return cpu();
  if (device.type == dlpack::kCuda || device.type == dlpack::kCudaManaged)
    return iruka::device("cuda:" + std::to_string(device.id));
  throw nb::buffer_error("from_dlpack: the tensor is neither in the CPU's memory nor in a CUDA GPU's");
}

template <class M>
Array import_tensor(M* managed, bool writable) {
  std::shared_ptr<M> owner(managed, [](M* m) {
    if (m->deleter) m->deleter(m);
  });
  const dlpack::Tensor& tensor = managed->tensor;
  Device& device = tensor_device(tensor.device);
  if (tensor.ndim < 0 || tensor.ndim > kMaxRank) {
    throw ShapeError("from_dlpack: " + std::to_string(tensor.ndim) + " axes; arrays have at most " +
                     std::to_string(kMaxRank));
  }
  Dtype dtype = from_dlpack_type(tensor.dtype);
  Dims shape(tensor.shape, tensor.ndim);
  Dims strides = tensor.strides ? Dims(tensor.strides, tensor.ndim) : c_strides(shape, 1);
  for (int64_t& stride : strides) stride *= itemsize(dtype);
  void* data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  auto release = [owner = std::move(owner), &device]() mutable {
    if (!can_call_python()) return;
    finish_foreign_use(device);
    const GilHold hold;  // the producer may be Python
    owner.reset();
  };
  Array array = over_memory(data, dtype, shape, strides, writable, std::move(release), device);
  if (is_aligned(data, dtype, shape, strides)) return array;
  if (!is_host(device)) throw nb::buffer_error("from_dlpack: the tensor's memory is not aligned to its elements");
  return as_array(numpy_attribute("array")(to_python(array)), cpu());
}

nb::object ask_for_capsule(nb::handle object, nb::handle copy) {
  nb::object method = object.attr("__dlpack__");
  nb::dict keywords;
  keywords["max_version"] = nb::make_tuple(1, 0);
  if (!copy.is_none()) keywords["copy"] = copy;
  nb::dict older;
  const nb::object place = nb::getattr(object, "__dlpack_device__", nb::none());
  if (!place.is_none()) {
    const nb::object device = place();
    const int type = nb::cast<int>(nb::int_(device[0]));
    if (type == dlpack::kCuda || type == dlpack::kCudaManaged) {
      const Device& gpu = tensor_device({dlpack::kCuda, nb::cast<int>(nb::int_(device[1]))});
      keywords["stream"] = older["stream"] = stream_number(gpu.current_stream());
    }
  }
  try {
    return method(**keywords);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return method(**older);  // a producer from before DLPack 1.0
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

}  // namespace iruka::python
