// The steps at the end of a process, in a child that exits: what it writes into a pipe, and its exit status.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "core/process_end.h"

namespace iruka {
namespace {

int pipe_ends[2];

void say(char letter) { EXPECT_EQ(write(pipe_ends[1], &letter, 1), 1); }

/// What a child that runs `body` and then exit(7) wrote, and its status.
template <class Body>
std::pair<std::string, int> letters_of_exit(Body body) {
  EXPECT_EQ(pipe(pipe_ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    body();
    std::exit(7);
  }
  close(pipe_ends[1]);
  std::string letters;
  for (char letter; read(pipe_ends[0], &letter, 1) == 1;) letters += letter;
  close(pipe_ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  return {letters, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

void register_steps(bool have_compilers_ended) {
  static bool have_ended;
  have_ended = have_compilers_ended;
  // The order in which they are registered says nothing.
  at_process_end(EndStep::background_compilation, []() noexcept {
    say('b');
    return true;
  });
  at_process_end(EndStep::compilers, []() noexcept {
    say('c');
    return have_ended;
  });
}

TEST(ProcessEnd, StepsComeInTheirOrderAndOnce) {
  const auto [letters, status] = letters_of_exit([] {
    register_steps(true);
    run_end_steps_before_known_destructors();
  });
  EXPECT_EQ(letters, "cb");
  EXPECT_EQ(status, 7);
}

TEST(ProcessEnd, StepsComeBeforeDestructorsThatWereRegisteredLater) {
  const auto [letters, status] = letters_of_exit([] {
    register_steps(true);
    std::atexit([] { say('d'); });
    run_end_steps_before_known_destructors();
  });
  EXPECT_EQ(letters, "cbd");
  EXPECT_EQ(status, 7);
}

TEST(ProcessEnd, AThreadThatHoldsAStreamDoesNotKeepTheProcess) {
  const auto [letters, status] = letters_of_exit([] {
    std::fputs("text", fdopen(pipe_ends[1], "w"));
    std::atomic<bool> is_held{false};
    std::thread([&] {
      flockfile(stdin);
      is_held = true;
      pause();
    }).detach();
    while (!is_held) std::this_thread::yield();
    register_steps(false);
  });
  EXPECT_EQ(letters, "ctext");
  EXPECT_EQ(status, 7);
}

TEST(ProcessEnd, AThreadThatGoesOnKeepsWhatDestructorsWouldTake) {
  const auto [letters, status] = letters_of_exit([] {
    std::atexit([] { say('d'); });
    register_steps(false);
  });
  EXPECT_EQ(letters, "c");
  EXPECT_EQ(status, 7);
}

}  // namespace
}  // namespace iruka
