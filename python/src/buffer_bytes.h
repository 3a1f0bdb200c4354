// The bytes of Python objects that have a buffer.
#pragma once

#include <span>

#include "convert.h"

namespace iruka::python {

/// Bytes of anything with a contiguous buffer, which the object keeps while this exists.
class BufferBytes {
 public:
  explicit BufferBytes(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_C_CONTIGUOUS) != 0) throw nb::python_error();
  }
  ~BufferBytes() { PyBuffer_Release(&view_); }
  BufferBytes(const BufferBytes&) = delete;
  BufferBytes& operator=(const BufferBytes&) = delete;
  std::span<const uint8_t> span() const {
    return {static_cast<const uint8_t*>(view_.buf), static_cast<size_t>(view_.len)};
  }

 private:
  Py_buffer view_;
};

}  // namespace iruka::python
