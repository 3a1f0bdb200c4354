// Random kernels, widened and as plain scalar code: every array must hold the same bits afterwards.
//
// IRUKA_SPMD_SEED=n runs only the kernel of seed n (with IRUKA_SPMD_BODIES=m: n to n + m - 1), prints it and, when it
// fails, reduces it. IRUKA_SPMD_BODIES=m alone runs that many from the first seed on. IRUKA_SPMD_LANES=w asks for that
// many lanes for every seed.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "spmd_check.h"

namespace iruka::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int64_t kBodies = 240;
#else
constexpr int64_t kBodies = 2000;
#endif
constexpr int kShares = 8;
/// A kernel that should have ended long ago is ended.
constexpr unsigned kLongestSeconds = 100;

std::optional<int64_t> number_from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text && *text ? std::optional(std::strtoll(text, nullptr, 10)) : std::nullopt;
}

/// What a child process that runs kernels tells its parent, which outlives it.
struct Progress {
  std::atomic<int64_t> next;         ///< the kernel it is at, or the end of its share
  std::atomic<int64_t> with_effect;  ///< kernels that gave different elements different values
  char failure[60000];               ///< of the kernel before `next`; the child ends after a failure
};

/// No folder can have that name, so nothing is kept on disk.
void leave_no_files() { ::setenv("IRUKA_CACHE_DIR", std::string(300, 'x').c_str(), 1); }

class SpmdDifferential : public ::testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() { leave_no_files(); }
  SpmdDifferential() {
    void* memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    progress_ = new (memory) Progress{};
  }
  ~SpmdDifferential() override { munmap(progress_, sizeof(Progress)); }

  static uint64_t first_seed() { return static_cast<uint64_t>(number_from_environment("IRUKA_SPMD_SEED").value_or(1)); }
  static int64_t body_count() {
    return number_from_environment("IRUKA_SPMD_BODIES")
        .value_or(number_from_environment("IRUKA_SPMD_SEED") ? 1 : kBodies);
  }
  static bool is_single() { return number_from_environment("IRUKA_SPMD_SEED") && body_count() == 1; }

  /// Runs kernels from progress_->next on, up to `end` or the first failure.
  void run_until_failure(int64_t end) const;
  /// The same in a child process, so that a crash or an endless loop is a failure like any other.
  void run_in_child(int64_t end);

  Progress* progress_;
};

/// Prints a failing kernel, and what is left of it when all that does not matter is gone.
void print_reduced(const GeneratedKernel& kernel) {
  std::string says;
  const GeneratedKernel smaller = reduce(kernel, says);
  std::printf("%s\n", kernel.describe().c_str());
  if (says.empty()) return;
  std::printf("reduced: %s\n%s\n", says.c_str(), smaller.describe().c_str());
  std::fflush(stdout);
}

GeneratedKernel kernel_of(uint64_t seed) {
  GeneratedKernel kernel = generate_kernel(seed);
  if (const auto lanes = number_from_environment("IRUKA_SPMD_LANES")) kernel.lanes = static_cast<int>(*lanes);
  return kernel;
}

void SpmdDifferential::run_until_failure(int64_t end) const {
  GuardedPool pool;
  while (progress_->next < end && !progress_->failure[0]) {
    const GeneratedKernel kernel = kernel_of(first_seed() + static_cast<uint64_t>(progress_->next));
    alarm(kLongestSeconds);
    bool has_effect = false;
    std::string failure;
    try {
      failure = compare_paths(kernel, pool, &has_effect).value_or("");
    } catch (const std::exception& error) {
      failure = error.what();
    }
    failure.copy(progress_->failure, sizeof progress_->failure - 1);
    progress_->with_effect += has_effect;
    if (++progress_->next % 64 == 0) clear_cache();
  }
}

void SpmdDifferential::run_in_child(int64_t end) {
  std::memset(progress_->failure, 0, sizeof progress_->failure);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    run_until_failure(end);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status == 0 || progress_->failure[0]) return;
  // A sanitizer ends the process with an exit code: where it is, or (a race) at the end, when next is at the end, too.
  std::snprintf(progress_->failure, sizeof progress_->failure, "the process was ended by %s %d",
                WIFSIGNALED(status) ? "signal" : "exit code",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  if (progress_->next < end) ++progress_->next;
}

TEST_P(SpmdDifferential, BothPathsWriteTheSameBits) {
  const int64_t total = body_count(), begin = total * GetParam() / kShares, end = total * (GetParam() + 1) / kShares;
  if (is_single() && begin < end) print_reduced(kernel_of(first_seed()));
  progress_->next = begin;
  while (progress_->next < end) {
    run_in_child(end);
    if (!progress_->failure[0]) continue;
    const uint64_t seed = first_seed() + static_cast<uint64_t>(progress_->next - 1);
    ADD_FAILURE() << progress_->failure << "\nIRUKA_SPMD_SEED=" << seed << "\n" << kernel_of(seed).describe();
  }
  // Kernels that write one value everywhere would show nothing.
  if (end - begin >= 20) {
    EXPECT_GE(progress_->with_effect * 10, (end - begin) * 8);
  }
}

INSTANTIATE_TEST_SUITE_P(Shares, SpmdDifferential, ::testing::Range(0, kShares));

class SpmdGenerator : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { leave_no_files(); }
};

// Where bodies were refused, or left to the scalar path by the cost rule, the comparison above would compare nothing.
TEST_F(SpmdGenerator, MostKernelsAreWidened) {
  constexpr int kSample = 80;
  GuardedPool pool;
  int widened = 0, forced = 0, forced_and_widened = 0;
  for (uint64_t seed = 1; seed <= kSample; ++seed) {
    const GeneratedKernel kernel = generate_kernel(seed);
    const CallArguments arguments(kernel, kernel.shapes[0], seed, pool, 0);
    const bool is_wide = widened_kernel(kernel).report(arguments.arguments(), arguments.options()).lanes > 1;
    widened += is_wide;
    forced += kernel.lanes != 0;
    forced_and_widened += kernel.lanes != 0 && is_wide;
  }
  EXPECT_GE(widened * 10, kSample * 8);
  EXPECT_GE(forced_and_widened * 10, forced * 9);
}

// A difference of one element in one array is found, and the kernel is the same whenever it is made.
TEST_F(SpmdGenerator, AChangedBodyIsFoundOut) {
  GuardedPool pool;
  int found = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const GeneratedKernel kernel = generate_kernel(seed);
    EXPECT_EQ(kernel.describe(), generate_kernel(seed).describe());
    GeneratedKernel changed = kernel;
    const GeneratedParameter& output = kernel.parameters.back();
    changed.body += "if (i == n - 1) " + output.name + (output.role == Role::output ? "" : "[i]") + " = 77;\n";
    const CallArguments a(kernel, kernel.shapes[0], seed, pool, 0),
        b(kernel, kernel.shapes[0], seed, pool, kernel.parameters.size());
    reference_kernel(kernel).call(a.arguments(), a.options());
    reference_kernel(changed).call(b.arguments(), b.options());
    found += a.difference(b).has_value();
  }
  EXPECT_GE(found, 15);  // others leave early, or wrote that value before
}

}  // namespace
}  // namespace iruka::testing
