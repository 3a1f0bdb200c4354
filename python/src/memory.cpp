// The pool, the cache and what the JIT did.
#include "iruka/memory.h"

#include <nanobind/stl/string.h>

#include "convert.h"
#include "core/pool_control.h"
#include "cuda.h"
#include "device.h"
#include "iruka/kernel.h"
#include "jit/specialise.h"

namespace iruka::python {

namespace {

nb::dict statistics(nb::handle object) {
  Device& device = to_device(object, "memory_statistics: device");
  PoolStatistics pool = device.service<PoolControl>().statistics(device);
  nb::dict result;
  result["used_bytes"] = pool.used_bytes;
  result["held_bytes"] = pool.held_bytes;
  result["peak_bytes"] = pool.peak_bytes;
  result["limit_bytes"] = pool.limit_bytes;
  result["allocations"] = pool.allocations;
  result["reuses"] = pool.reuses;
  return result;
}

const char* kind_name(KernelEvent::Kind kind) {
  switch (kind) {
    case KernelEvent::Kind::compiled: return "compiled";
    case KernelEvent::Kind::loaded_from_disk: return "loaded_from_disk";
    case KernelEvent::Kind::specialised: return "specialised";
    case KernelEvent::Kind::scalar_compiled: return "scalar_compiled";
    case KernelEvent::Kind::lanes_compiled: return "lanes_compiled";
    case KernelEvent::Kind::lanes_chosen: return "lanes_chosen";
    case KernelEvent::Kind::scalar_chosen: break;
  }
  return "scalar_chosen";
}

nb::list history() {
  nb::object event_type = package_attribute("iruka._kernel", "KernelEvent");
  nb::list events;
  for (const KernelEvent& event : kernel_history()) {
    events.append(event_type(kind_name(event.kind), event.kernel, event.device, event.milliseconds));
  }
  return events;
}

}  // namespace

void bind_memory(nb::module_& module) {
  module.def("memory_statistics", statistics, nb::arg("device") = nb::none(),
             nb::sig("def memory_statistics(device: Device | str | int | None = None) -> dict[str, int]"),
             "The pool of a device, by default the default one, in bytes: used, held for reuse, peak, limit (0: none); "
             "and its "
             "numbers of allocations and reuses.");
  module.def(
      "set_memory_limit",
      [](nb::handle bytes, nb::handle object) {
        Device& device = to_device(object, "set_memory_limit: device");
        int64_t limit = to_int64(bytes, "set_memory_limit: bytes");
        if (limit < 0)
          throw ValueError("set_memory_limit: the limit must not be negative, but is " + std::to_string(limit));
        device.service<PoolControl>().set_limit(device, static_cast<size_t>(limit));
      },
      nb::arg("bytes"), nb::arg("device") = nb::none(),
      nb::sig("def set_memory_limit(bytes: int, device: Device | str | int | None = None) -> None"),
      "Most bytes that the pool of a device, by default the default one, may hold; 0 lifts the limit.");
  module.def(
      "free_held_memory",
      [](nb::handle object, nb::handle stream_object) {
        Device& device = to_device(object, "free_held_memory: device");
        const std::optional<StreamHandle> stream = to_stream(stream_object);
        GilRelease release;
        stream&& is_cuda(device) ? cuda::free_all_blocks(Stream::foreign(device, *stream))
                                 : device.service<PoolControl>().free_held(device);
      },
      nb::arg("device") = nb::none(), nb::arg("stream") = nb::none(),
      nb::sig("def free_held_memory(device: Device | str | int | None = None, stream=None) -> None"),
      "Gives memory that no array uses back to the system: that of one stream of a GPU where one is given.");
  module.def("cuda_free_blocks", [](const PyDevice& device) { return cuda::free_blocks(*device.device); });
  module.def("kernel_history", history, nb::sig("def kernel_history() -> list[iruka._kernel.KernelEvent]"),
             "What was compiled, found on disk, specialised or measured in this process, in order.");
  module.def("clear_kernel_history", &clear_kernel_history, "Empties kernel_history().");
  module.def(
      "clear_cache",
      [] {
        GilRelease release;
        clear_cache();
      },
      "Forgets compiled kernels in memory and deletes the disk cache. Running kernels are safe.");
  module.def("cache_directory", &cache_directory, "The folder of the disk cache, or '' where none can be had.");
  module.def(
      "finish_background_compilation",
      [] {
        GilRelease release;
        finish_background_compilation();
      },
      "Waits until kernels being specialised in the background are ready.");
}

}  // namespace iruka::python
