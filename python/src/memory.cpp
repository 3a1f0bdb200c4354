// The pool, the cache and what the JIT did.
#include "iruka/memory.h"

#include <nanobind/stl/string.h>

#include "convert.h"
#include "iruka/kernel.h"

namespace iruka::python {

namespace {

nb::dict statistics() {
  PoolStatistics pool = memory_statistics();
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
    case KernelEvent::Kind::compiled:
      return "compiled";
    case KernelEvent::Kind::loaded_from_disk:
      return "loaded_from_disk";
    case KernelEvent::Kind::specialised:
      return "specialised";
    case KernelEvent::Kind::rival:
      return "rival";
    case KernelEvent::Kind::lanes_chosen:
      return "lanes_chosen";
    case KernelEvent::Kind::scalar_chosen:
      break;
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
  module.def(
      "memory_statistics", statistics,
      "The CPU pool in bytes: used, held for reuse, peak, limit (0: none); and its numbers of allocations and reuses.");
  module.def(
      "set_memory_limit",
      [](nb::handle bytes) {
        int64_t limit = to_int64(bytes, "set_memory_limit: bytes");
        if (limit < 0)
          throw ValueError("set_memory_limit: the limit must not be negative, but is " + std::to_string(limit));
        set_memory_limit(static_cast<size_t>(limit));
      },
      nb::arg("bytes"), "Most bytes that the CPU pool may hold; 0 lifts the limit.");
  module.def("free_held_memory", &free_held_memory, "Gives memory that no array uses back to the system.");
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
