#include <cstdlib>
#include <string_view>

#include "composed.h"
#include "core/process_end.h"
#include "cuda.h"
#include "jit/specialise.h"
#include "kernel.h"
#include "linalg.h"
#include "numpy_arrays.h"
#include "ufunc.h"

namespace {

/// What ends before the interpreter does, in this order. Daemon threads go on meanwhile.
void end_with_interpreter() {
  using namespace iruka::python;
  GilRelease release;
  end_host_functions();
  iruka::jit::end_compilation_on_other_threads();
}

}  // namespace

NB_MODULE(_core, module) {
  using namespace iruka::python;
  module.doc() = "The C++ core of iruka.";
  // nanobind's leak warnings at exit are printed only for the tests.
  const char* warns = std::getenv("IRUKA_LEAK_WARNINGS");
  nb::set_leak_warnings(warns && std::string_view(warns) == "1");
  import_needed();
  import_numpy_interface();
  bind_errors(module);
  bind_array(module);
  bind_kernel(module);
  bind_reduction_kernel(module);
  bind_staged_kernel(module);
  bind_raw_kernel(module);
  bind_kernel_dispatcher(module);
  bind_thread_dispatcher(module);
  bind_ufunc(module);
  bind_reductions(module);
  bind_ops(module);
  bind_indexing(module);
  bind_random(module);
  bind_statistics(module);
  bind_image(module);
  bind_geometry(module);
  bind_filters(module);
  bind_picture_statistics(module);
  bind_patch_matching(module);
  bind_pipeline(module);
  bind_nn(module);
  bind_interop(module);
  bind_memory(module);
  bind_sorting(module);
  bind_cuda(module);
  bind_memory_hook(module);
  bind_linalg(module);
  bind_fft(module);
  bind_comparing(module);
  bind_creation_of_likes(module);
  bind_polynomials(module);
  bind_products(module);
  bind_calculus(module);
  bind_histograms(module);
  bind_selection(module);
  bind_quantiles(module);
  bind_rearranging(module);
  bind_searching(module);
  bind_fuse(module);
  bind_sequences(module);
  explain_refused_arguments(module);
  package_attribute("atexit", "register")(nb::cpp_function(end_with_interpreter));
  // The last thing that the interpreter does: a compiler that is still at work may register destructors until then.
  Py_AtExit(iruka::run_end_steps_before_known_destructors);
}
