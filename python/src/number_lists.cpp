// Nested lists of Python's numbers as arrays, by NumPy's rules for their shapes and dtypes.
#include <algorithm>
#include <complex>

#include "interop.h"
#include "iruka/device.h"

namespace iruka::python {

namespace {

bool is_list(PyObject* object) { return PyList_CheckExact(object) || PyTuple_CheckExact(object); }

std::span<PyObject* const> items_of(PyObject* list) {
  return {PySequence_Fast_ITEMS(list), static_cast<size_t>(PySequence_Fast_GET_SIZE(list))};
}

std::complex<double> complex_of(PyObject* number) {
  if (PyComplex_CheckExact(number)) return {PyComplex_RealAsDouble(number), PyComplex_ImagAsDouble(number)};
  return PyFloat_CheckExact(number) ? PyFloat_AS_DOUBLE(number) : static_cast<double>(PyLong_AsLongLong(number));
}

/// The extents of nested lists and the widest kind of their numbers. No Python code runs, so nothing changes meanwhile.
class NumberList {
 public:
  /// Whether these are lists of one length at each depth, of bools, ints of 64 bits, floats and complex numbers.
  bool measure(PyObject* list) {
    for (PyObject* first = list; is_list(first); first = items_of(first)[0]) {
      if (items_of(first).empty() || shape_.size() == kMaxRank) return false;
      shape_.push_back(static_cast<int64_t>(items_of(first).size()));
    }
    return fits(list, 0);
  }

  Array store(PyObject* list) const {
    switch (kind_) {
      case Kind::boolean: return stored<bool>(list, Dtype::bool_, [](PyObject* number) { return number == Py_True; });
      case Kind::floating:
        return stored<double>(list, Dtype::float64, [](PyObject* number) {
          return PyFloat_CheckExact(number) ? PyFloat_AS_DOUBLE(number)
                                            : static_cast<double>(PyLong_AsLongLong(number));
        });
      case Kind::complex: return stored<std::complex<double>>(list, Dtype::complex128, complex_of);
      default: return stored<int64_t>(list, Dtype::int64, [](PyObject* number) { return PyLong_AsLongLong(number); });
    }
  }

 private:
  bool fits(PyObject* list, int depth) {
    const std::span<PyObject* const> items = items_of(list);
    if (static_cast<int64_t>(items.size()) != shape_[depth]) return false;
    const bool is_last = depth + 1 == shape_.size();
    return std::all_of(items.begin(), items.end(),
                       [&](PyObject* item) { return is_last ? take(item) : is_list(item) && fits(item, depth + 1); });
  }

  bool take(PyObject* number) {
    Kind kind = Kind::boolean;
    if (PyFloat_CheckExact(number)) {
      kind = Kind::floating;
    } else if (PyLong_CheckExact(number)) {
      int overflow = 0;
      PyLong_AsLongLongAndOverflow(number, &overflow);
      if (overflow) return false;
      kind = Kind::signed_integer;
    } else if (PyComplex_CheckExact(number)) {
      kind = Kind::complex;
    } else if (!PyBool_Check(number)) {
      return false;
    }
    kind_ = std::max(kind_, kind);
    return true;
  }

  template <class T, class Convert>
  Array stored(PyObject* list, Dtype dtype, Convert convert) const {
    Array array = Array::empty(shape_, dtype, cpu());
    T* to = static_cast<T*>(array.data());
    store_items(list, 0, to, convert);
    return array;
  }

  template <class T, class Convert>
  void store_items(PyObject* list, int depth, T*& to, Convert convert) const {
    for (PyObject* item : items_of(list)) {
      if (depth + 1 < shape_.size())
        store_items(item, depth + 1, to, convert);
      else
        *to++ = convert(item);
    }
  }

  Dims shape_;
  Kind kind_ = Kind::boolean;
};

}  // namespace

std::optional<Array> from_numbers(PyObject* list) {
  NumberList numbers;
  if (!is_list(list) || !numbers.measure(list)) return {};
  return numbers.store(list);
}

}  // namespace iruka::python
