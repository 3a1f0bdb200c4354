// assert() on a GPU: the program's record keeps the failure of the first element, and the host reads it when it waits.
#pragma once

namespace iruka {

/// As backend/cuda/assertions.cpp has it.
struct AssertionRecord {
  unsigned long long element = ~0ull;
  unsigned* flag = nullptr;
  unsigned lock = 0;
  int line = 0;
  char file[32] = {}, condition[200] = {};
};
// A template, so that programs without assertions have none.
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
  // The lock is taken and given back in one round, so that threads of a warp do not wait for each other. Those that
  // wait for it leave once a lower element is known: the threads of a whole GPU may fail at once.
  while (rank < first) {
    if (atomicCAS(&record.lock, 0u, 1u) != 0) continue;
    __threadfence();
    if (rank < first) {
      record.line = line;
      copy_text(record.file, file);
      copy_text(record.condition, condition);
      __threadfence();
      first = rank;
      *(volatile unsigned*)record.flag = 1;
      __threadfence_system();
    }
    atomicExch(&record.lock, 0u);
  }
}

}  // namespace iruka

// The operation has an index of its own; elsewhere it is unknown.
constexpr long long iruka_element_index = -1;
#undef assert
#define assert(...) \
  ((__VA_ARGS__) ? (void)0 : iruka::note_failed_assertion<void>(#__VA_ARGS__, __FILE__, __LINE__, iruka_element_index))
