// Threads of a launch over several pictures.
#pragma once

namespace iruka::image {

/// The picture of thread `at`, and the thread's number among its picture's. `end` of a job counts the threads of its
/// picture and of those before it.
template <class Job> struct ThreadOfPicture {
  const Job* job;
  long long number;
};
template <class Job> IRUKA_INLINE ThreadOfPicture<Job> thread_of_picture(const Job* jobs, int count, long long at) {
  int first = 0;
  for (int end = count - 1; first < end;) {
    const int middle = (first + end) / 2;
    if (at < jobs[middle].end)
      end = middle;
    else
      first = middle + 1;
  }
  return {jobs + first, first > 0 ? at - jobs[first - 1].end : at};
}

}  // namespace iruka::image
