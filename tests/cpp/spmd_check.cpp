#include "spmd_check.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "spmd_random.h"

namespace iruka::testing {
namespace {

/// Runs `kernel` in a child. Empty: both paths agree, or it is no valid kernel.
std::string failure_in_child(const GeneratedKernel& kernel) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  const pid_t child = fork();
  if (child == 0) {
    for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM, SIGABRT}) std::signal(number, SIG_DFL);
    alarm(5);  // a line less may make a loop endless
    std::string text;
    try {
      GuardedPool pool;
      text = compare_paths(kernel, pool).value_or("");
    } catch (const CompileError&) {  // no C++
    } catch (const std::exception& error) {
      text = error.what();
    }
    text.resize(std::min<size_t>(text.size(), 4000));
    _exit(write(ends[1], text.data(), text.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string text;
  char part[512];
  for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM) return "ended by signal " + std::to_string(WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    return "ended with exit code " + std::to_string(WEXITSTATUS(status));
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines, const std::vector<bool>& kept) {
  std::string text;
  for (size_t k = 0; k < lines.size(); ++k)
    if (kept[k]) text += lines[k] + "\n";
  return text;
}

/// The line that closes the block that line `begin` opens, or `begin`.
size_t end_of_block(const std::vector<std::string>& lines, size_t begin) {
  int depth = 0;
  for (size_t k = begin; k < lines.size(); ++k) {
    depth += static_cast<int>(std::ranges::count(lines[k], '{') - std::ranges::count(lines[k], '}'));
    if (depth <= 0) return k;
  }
  return begin;
}

/// Tries to do without blocks, then lines, then the two ends of blocks. True when something went.
bool drop_lines(GeneratedKernel& kernel, std::string GeneratedKernel::* text, std::string& says) {
  bool any = false;
  const auto attempt = [&](const std::vector<std::string>& lines, const std::vector<bool>& kept) {
    GeneratedKernel smaller = kernel;
    smaller.*text = joined(lines, kept);
    const std::string failure = failure_in_child(smaller);
    if (failure.empty()) return false;
    kernel = std::move(smaller);
    says = failure;
    return any = true;
  };
  for (size_t k = 0; k < lines_of(kernel.*text).size();) {
    const std::vector<std::string> lines = lines_of(kernel.*text);
    const size_t end = end_of_block(lines, k);
    std::vector<bool> kept(lines.size(), true);
    std::fill(kept.begin() + static_cast<ptrdiff_t>(k), kept.begin() + static_cast<ptrdiff_t>(end) + 1, false);
    if (attempt(lines, kept)) continue;
    if (end > k) {
      std::fill(kept.begin(), kept.end(), true);
      kept[k] = kept[end] = false;
      if (attempt(lines, kept)) continue;
    }
    ++k;
  }
  return any;
}

/// The place of the parenthesis that closes the one at `open`.
size_t closing(const std::string& text, size_t open) {
  int depth = 0;
  for (size_t k = open; k < text.size(); ++k) {
    depth += text[k] == '(' ? 1 : text[k] == ')' ? -1 : 0;
    if (depth == 0) return k;
  }
  return open;
}

/// Whether the parenthesis may keep an index or a number of rounds in its range, or elements apart.
bool is_bound(const std::string& text, size_t open, size_t close) {
  if (open > 0 && text[open - 1] == '[') return true;
  int depth = 0;
  for (size_t k = open; k < close; ++k) {
    depth += text[k] == '(' ? 1 : text[k] == ')' ? -1 : 0;
    if (depth == 1 && text[k] == '%') return true;
  }
  return false;
}

/// Shorter expressions: something simple in place of a parenthesis.
bool simplify_expressions(GeneratedKernel& kernel, std::string GeneratedKernel::* text, std::string& says) {
  bool any = false;
  for (size_t open = 0; (open = (kernel.*text).find('(', open)) != std::string::npos; ++open) {
    const size_t close = closing(kernel.*text, open);
    if (close < open + 4 || is_bound(kernel.*text, open, close)) continue;
    for (const char* with : {"(1)", "(i)", "(true)"}) {
      GeneratedKernel smaller = kernel;
      (smaller.*text).replace(open, close - open + 1, with);
      const std::string failure = failure_in_child(smaller);
      if (failure.empty()) continue;
      kernel = std::move(smaller);
      says = failure;
      any = true;
      break;
    }
  }
  return any;
}

ElementwiseKernel make_kernel(const GeneratedKernel& kernel, std::vector<std::string> options) {
  KernelOptions all;
  all.preamble = kernel.preamble;
  all.loop_prep = kernel.loop_prep;
  all.options = std::move(options);
  all.diagnose_early = false;
  return ElementwiseKernel(kernel.inputs, kernel.outputs, kernel.body, "generated", std::move(all));
}

}  // namespace

ElementwiseKernel widened_kernel(const GeneratedKernel& kernel) {
  return make_kernel(kernel, {"--lanes=" + std::to_string(kernel.lanes)});
}

// The scalar path itself is no reference: what optimises it may be wrong in both.
ElementwiseKernel reference_kernel(const GeneratedKernel& kernel) { return make_kernel(kernel, {"--lanes=1", "-O0"}); }

std::optional<std::string> compare_paths(const GeneratedKernel& kernel, GuardedPool& pool, bool* has_effect) {
  const ElementwiseKernel reference = reference_kernel(kernel), widened = widened_kernel(kernel);
  const size_t slots = kernel.parameters.size();
  for (const Dims& shape : kernel.shapes) {
    uint64_t seed = kernel.seed;
    for (const int64_t extent : shape) seed = Random(seed, static_cast<uint64_t>(extent)).next();
    const CallArguments expected(kernel, shape, seed, pool, 0), found(kernel, shape, seed, pool, slots);
    reference.call(expected.arguments(), expected.options());
    widened.call(found.arguments(), found.options());
    if (auto difference = expected.difference(found)) {
      // Optimised code may compute pow(2, x) as exp2(x). The scalar path does so, too, then.
      const CallArguments optimised(kernel, shape, seed, pool, 2 * slots);
      make_kernel(kernel, {"--lanes=1"}).call(optimised.arguments(), optimised.options());
      if (optimised.difference(found)) return difference;
    }
    if (has_effect && !*has_effect) *has_effect = expected.wrote_different_values({kernel, shape, seed, pool, slots});
  }
  return {};
}

GeneratedKernel reduce(GeneratedKernel kernel, std::string& says) {
  says = failure_in_child(kernel);
  if (says.empty()) return kernel;
  for (size_t k = 0; k < kernel.shapes.size() && kernel.shapes.size() > 1;) {
    GeneratedKernel smaller = kernel;
    smaller.shapes.erase(smaller.shapes.begin() + static_cast<ptrdiff_t>(k));
    const std::string failure = failure_in_child(smaller);
    if (failure.empty())
      ++k;
    else
      kernel = std::move(smaller), says = failure;
  }
  for (int round = 0; round < 4; ++round) {
    bool smaller = drop_lines(kernel, &GeneratedKernel::body, says);
    smaller |= drop_lines(kernel, &GeneratedKernel::preamble, says);
    smaller |= simplify_expressions(kernel, &GeneratedKernel::body, says);
    if (!smaller) break;
  }
  return kernel;
}

}  // namespace iruka::testing
