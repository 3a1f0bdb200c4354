#include "backend/cpu/openblas.h"

#include <dlfcn.h>

#include <atomic>
#include <string>
#include <type_traits>

#include "core/float_status.h"
#include "core/once.h"
#include "core/thread_pool.h"
#include "iruka/error.h"

namespace iruka::cpu_backend {
namespace {

constexpr char kFileName[] = "libscipy_openblas.so";

/// The folder of the library or program that contains this code.
std::string own_folder() {
  Dl_info found;
  if (!dladdr(reinterpret_cast<const void*>(&openblas), &found) || !found.dli_fname) return "";
  const std::string path = found.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

/// Tries the folder of this library, then the path that CMake found, then the system's search path.
void* open_openblas() {
  for (const std::string& path : {own_folder() + kFileName, std::string(IRUKA_OPENBLAS_PATH), std::string(kFileName)})
    if (!path.empty())
      if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

template <class T>
constexpr char kLetter = std::is_same_v<T, float>                 ? 's'
                         : std::is_same_v<T, double>              ? 'd'
                         : std::is_same_v<T, std::complex<float>> ? 'c'
                                                                  : 'z';
template <class T>
constexpr bool kIsComplex = !std::is_floating_point_v<T>;

struct Library {
  Blas<float> s;
  Blas<double> d;
  Blas<std::complex<float>> c;
  Blas<std::complex<double>> z;
  void (*set_threads)(int) = nullptr;
  std::atomic<int> threads{0};
  std::string problem;

  Library() {
    void* const library = open_openblas();
    if (!library) {
      problem = std::string(kFileName) +
                " was not found: run `pip install scipy-openblas32`, and put the library into the loader's search path "
                "or next " +
                "to Iruka's own";
      return;
    }
    find(library, "openblas_set_num_threads", set_threads);
    fill(library, s), fill(library, d), fill(library, c), fill(library, z);
  }

 private:
  template <class F>
  void find(void* library, const std::string& name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, ("scipy_" + name).c_str()));
    if (!function) problem = std::string(kFileName) + " has no " + name;
  }

  template <class T>
  void fill(void* library, Blas<T>& table) {
    const auto get = [&](auto& function, const char* name) {
      find(library, kLetter<T> + std::string(name) + "_", function);
    };
    get(table.gemm, "gemm"), get(table.syrk, "syrk"), get(table.gemv, "gemv"), get(table.getrf, "getrf"),
        get(table.getrs, "getrs");
    if constexpr (!kIsComplex<T>) get(table.dot, "dot");
    get(table.potrf, "potrf"), get(table.geqrf, "geqrf");
    get(table.orgqr, kIsComplex<T> ? "ungqr" : "orgqr");
    get(table.syevd, kIsComplex<T> ? "heevd" : "syevd");
    get(table.gesdd, "gesdd"), get(table.geev, "geev");
  }
};

Library& library() {
  return made_once_locked([] { return Library(); });
}

}  // namespace

const char* openblas_problem() { return library().problem.c_str(); }

template <class T>
const Blas<T>& blas() {
  const FloatScope floats;  // threads that OpenBLAS starts inherit it
  Library& found = library();
  if (!found.problem.empty()) throw DeviceError("linear algebra needs OpenBLAS: " + found.problem);
  const int wanted = ThreadPool::instance().thread_count();
  if (found.threads.load(std::memory_order_relaxed) != wanted) {
    found.set_threads(wanted);
    found.threads.store(wanted, std::memory_order_relaxed);
  }
  if constexpr (std::is_same_v<T, float>)
    return found.s;
  else if constexpr (std::is_same_v<T, double>)
    return found.d;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return found.c;
  else
    return found.z;
}

template const Blas<float>& blas<float>();
template const Blas<double>& blas<double>();
template const Blas<std::complex<float>>& blas<std::complex<float>>();
template const Blas<std::complex<double>>& blas<std::complex<double>>();

}  // namespace iruka::cpu_backend
