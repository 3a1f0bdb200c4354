// assert() on a GPU: a program's record keeps the failure of its lowest element, and the host reads it when it waits.
#pragma once

namespace iruka {

/// The layout equals that of backend/cuda/assertions.cpp.
struct AssertionRecord {
  unsigned long long element = ~0ull;
  unsigned* flag = nullptr;
  unsigned lock = 0;
  int line = 0;
  char file[32] = {}, condition[200] = {};
};
// A template, so that programs without assertions have no such variable.
template <class> __device__ AssertionRecord assertion_record;

template <int size> __device__ void copy_text(char (&to)[size], const char* from) {
  int k = 0;
  for (; k < size - 1 && from[k]; ++k) to[k] = from[k];
  to[k] = 0;
}

template <class Record>
__noinline__ __device__ void note_failed_assertion(const char* condition, const char* file, int line,
                                                   long long element) {
  AssertionRecord& record = assertion_record<Record>;
  const unsigned long long rank = element < 0 ? ~1ull : (unsigned long long)element;
  volatile unsigned long long& first = record.element;
  // A thread takes and releases the lock in one round, so that threads of a warp do not wait for each other. Threads
  // leave the loop once the record has a lower element, because all threads of a GPU may fail at once.
  while (rank < first) {
    if (atomicCAS(&record.lock, 0u, 1u) != 0) continue;
    __threadfence();
    if (rank < first) {
      record.line = line;
      copy_text(record.file, file);
      copy_text(record.condition, condition);
      __threadfence();
      first = rank;
      __threadfence_system();  // the host reads the record when it has seen the flag
      *(volatile unsigned*)record.flag = 1;
    }
    atomicExch(&record.lock, 0u);
  }
}

}  // namespace iruka

// The element function declares a variable of this name; outside of it the element is unknown.
constexpr long long iruka_element_index = -1;
#undef assert
#define assert(...) \
  ((__VA_ARGS__) ? (void)0 : iruka::note_failed_assertion<void>(#__VA_ARGS__, __FILE__, __LINE__, iruka_element_index))
