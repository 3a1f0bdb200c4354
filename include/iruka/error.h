// The errors Iruka raises. Each is, in Python, the exception a NumPy or CuPy user expects.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "iruka/export.h"

namespace iruka {

/// Root of every error. what() names the function, the rule and the actual values.
class IRUKA_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A value that no array or kernel could have (Python: ValueError).
class IRUKA_API ValueError : public Error {
 public:
  using Error::Error;
};

/// Shapes, strides or sizes that do not go together (Python: ValueError).
class IRUKA_API ShapeError : public ValueError {
 public:
  using ValueError::ValueError;
};

/// A dtype, or a kind of argument, that does not fit (Python: TypeError).
class IRUKA_API TypeError : public Error {
 public:
  using Error::Error;
};

/// An index outside its axis (Python: IndexError).
class IRUKA_API IndexError : public Error {
 public:
  using Error::Error;
};

/// An axis that an array does not have (Python: numpy.exceptions.AxisError, an IndexError and a ValueError).
class IRUKA_API AxisError : public IndexError {
 public:
  AxisError(const std::string& function, int64_t axis, int ndim)
      : IndexError(function + ": axis " + std::to_string(axis) + " is out of bounds for array of dimension " +
                   std::to_string(ndim)),
        function_(function),
        axis_(axis),
        ndim_(ndim) {}

  const std::string& function() const { return function_; }
  int64_t axis() const { return axis_; }
  int ndim() const { return ndim_; }

 private:
  std::string function_;
  int64_t axis_;
  int ndim_;
};

/// A Python or C++ integer that its dtype cannot hold (Python: OverflowError).
class IRUKA_API OverflowError : public Error {
 public:
  using Error::Error;
};

/// A body that is not C++ (Python: RuntimeError). The message shows the user's own line with a caret.
class IRUKA_API CompileError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read or written, or is not what its name says (Python: OSError).
class IRUKA_API FileError : public Error {
 public:
  using Error::Error;
};

/// A device that refused a call (Python: RuntimeError).
class IRUKA_API DeviceError : public Error {
 public:
  using Error::Error;
};

/// A pool has no memory left; the message has the requested size, the used size and the limit (Python: MemoryError).
class IRUKA_API OutOfMemoryError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// The user interrupted a running kernel (Python: KeyboardInterrupt).
class IRUKA_API Interrupted : public Error {
 public:
  using Error::Error;
};

}  // namespace iruka
