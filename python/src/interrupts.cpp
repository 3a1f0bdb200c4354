// Python runs signal handlers only on the main thread. A call on another thread detects Ctrl-C by a handler in front
// of Python's own, which notes the time and then calls Python's.
#include "interrupts.h"

#include <signal.h>
#include <time.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "convert.h"
#include "core/fork.h"
#include "gil.h"
#include "iruka/device.h"

namespace iruka::python {
namespace {

unsigned long main_thread = 0;        // Python's, as threading.main_thread().ident says
PyObject* pending_interrupt[3] = {};  // what a signal handler raised, while C++ unwinds

std::atomic<int64_t> last_interrupt{0};              // nanoseconds of the clock now() reads
std::atomic<void (*)(int)> handler_behind{nullptr};  // Python's, as a rule
ForkSafeMutex handler_mutex;                         // guards the change of the process's handler
thread_local int64_t begin_of_call = 0;

int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);  // which a signal handler may call
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void note_interrupt(int signal) {
  last_interrupt.store(now(), std::memory_order_relaxed);
  if (const auto handler = handler_behind.load(std::memory_order_acquire)) handler(signal);
}

/// Puts note_interrupt in front of the process's handler. Python brings back its own with each signal.signal(), so this
/// is asked again during long calls. A process that dies of Ctrl-C or ignores it needs none.
void listen() {
  struct sigaction action;
  std::lock_guard lock(handler_mutex);
  if (sigaction(SIGINT, nullptr, &action) != 0 || (action.sa_flags & SA_SIGINFO)) return;
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN || action.sa_handler == note_interrupt) return;
  handler_behind.store(action.sa_handler, std::memory_order_release);
  action.sa_handler = note_interrupt;
  sigaction(SIGINT, &action, nullptr);
}

/// Whether Ctrl-C raises KeyboardInterrupt. A program with a handler of its own decides by itself what ends.
bool has_default_handler() {
  const GilHold hold;
  try {
    return package_attribute("signal", "getsignal")(SIGINT).is(package_attribute("signal", "default_int_handler"));
  } catch (nb::python_error&) {
    return false;
  }
}

bool is_main_thread() { return PyThread_get_thread_ident() == main_thread; }

bool raised_on_main_thread() {
  const GilHold hold;
  const bool raised = PyErr_CheckSignals() != 0;
  if (raised) PyErr_Fetch(&pending_interrupt[0], &pending_interrupt[1], &pending_interrupt[2]);
  return raised;
}

thread_local GilKeeper* keeper = nullptr;

/// Whether Ctrl-C ends this thread's call.
bool is_requested() noexcept {
  if (is_main_thread()) return raised_on_main_thread();
  if (begin_of_call == 0) return false;  // a thread of the library's own
  if (last_interrupt.load(std::memory_order_relaxed) > begin_of_call) return has_default_handler();
  listen();
  return false;
}

}  // namespace

KeepsGil::KeepsGil(GilKeeper& call) : outer_(std::exchange(keeper, &call)) {}

KeepsGil::~KeepsGil() { keeper = outer_; }

void note_begin_of_call() {
  if (is_main_thread()) return;
  if (begin_of_call == 0) listen();
  begin_of_call = now();
}

// Called at intervals while a kernel runs.
bool interrupt_requested() noexcept {
  if (!can_call_python()) return false;
  if (!keeper) return is_requested();
  keeper->hold_memory();  // handlers and other threads may change its arrays
  if (is_requested()) return true;
  const int64_t begin = begin_of_call;
  {
    const GilRelease others_run;
  }  // the call takes longer than it was expected to
  begin_of_call = begin;
  return false;
}

void set_interrupted(const Interrupted& error) {
  if (pending_interrupt[0] && is_main_thread()) {
    PyErr_Restore(pending_interrupt[0], pending_interrupt[1], pending_interrupt[2]);
    for (PyObject*& part : pending_interrupt) part = nullptr;
  } else {
    PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
  }
}

void prepare_interrupts() {
  set_interrupt_check(interrupt_requested);
  main_thread = nb::cast<unsigned long>(package_attribute("threading", "main_thread")().attr("ident"));
}

}  // namespace iruka::python
