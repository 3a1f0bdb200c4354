// iruka.ndarray: attributes and methods.
#include <string>

#include "array_memory.h"
#include "array_protocols.h"
#include "array_slots.h"
#include "convert.h"
#include "core/once.h"
#include "cuda.h"
#include "device.h"
#include "float_errors.h"
#include "interop.h"
#include "iruka/ops.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/elementwise/elementwise_table.h"

namespace iruka::python {

namespace {

/// x.method(2, 3) and x.method((2, 3)) mean the same.
Dims dims_of(const nb::args& arguments, const char* what) {
  if (arguments.size() == 1) return to_dims(arguments[0], what);
  return to_dims(arguments, what);
}

Dims reversed(Dims dims) {
  std::reverse(dims.begin(), dims.end());
  return dims;
}

/// Whether `order` is Fortran's; A follows the layout, and so does K where the axes lie in C or Fortran order.
bool is_fortran(const Array& x, nb::handle order) {
  const MemoryOrder wanted = order.is_none() ? MemoryOrder::c : to_order(order);
  if (wanted == MemoryOrder::c || wanted == MemoryOrder::fortran) return wanted == MemoryOrder::fortran;
  return x.is_f_contiguous() && !x.is_c_contiguous();
}

bool keeps_order(nb::handle order) { return !order.is_none() && to_order(order) == MemoryOrder::keep; }

Array reshape(Array x, const Dims& shape) {
  return without_gil([&] { return x.reshape(shape); });
}

/// What views with axes are made of: a copy of a value, as of NumPy's scalars.
Array viewed(const Array& x) { return x.is_value() ? x.copy() : x; }

Array reshape_ordered(const Array& given, const Dims& shape, nb::handle order) {
  if (keeps_order(order)) throw ValueError("order 'K' is not permitted for reshaping");
  if (given.is_value() && shape.empty()) return given;
  const Array x = viewed(given);
  if (!is_fortran(x, order)) return reshape(x, shape);
  return reshape(x.transpose(), reversed(shape)).transpose();
}

/// x.shape = shape. Raises AttributeError, as NumPy does, where that takes a copy.
void set_shape(nb::handle self, nb::handle shape) {
  Array& x = checked_array(self, "shape");
  if (x.is_value()) throw nb::attribute_error("the shape of a value, such as x[3] or x.sum(), cannot be set");
  std::optional<Array> view = x.reshape_view(to_dims(shape, "shape"));
  if (!view)
    throw nb::attribute_error(
        "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape.");
  x = *std::move(view);
}

/// copy: None for a copy where strides need one, True for one in any case, False for an error instead.
Array reshape_copying(Array x, const Dims& shape, nb::handle order, nb::handle copy) {
  Array result = reshape_ordered(x, shape, order);
  if (copy.is_none()) return result;
  const bool is_wanted = nb::cast<bool>(copy), is_shared = result.buffer() == x.buffer();
  if (!is_wanted && !is_shared) throw ValueError("reshape: the strides need a copy, which copy=False forbids");
  if (!is_wanted || !is_shared) return result;
  return without_gil([&] { return result.copy(); });
}

/// Any dtype, shape and strides (bytes) over the memory of `x`, from its first element.
Array over_elements(const char* function, const Array& x, Dtype dtype, const Dims& shape, const Dims& strides) {
  const std::string asked =
      std::string(function) + ": shape " + to_string(shape) + " with strides " + to_string(strides);
  const int64_t itemsize = iruka::itemsize(dtype);
  if (shape.size() != strides.size()) throw ValueError(asked + ": one stride is needed for each axis");
  int64_t lowest = x.offset(), highest = x.offset() + itemsize;
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < 0) throw ValueError(asked + ": negative dimensions are not allowed");
    if (strides[axis] % itemsize != 0)
      throw ValueError(asked + ": a stride is not a multiple of the " + std::to_string(itemsize) +
                       " bytes of an element");
    int64_t reach = 0;
    if (__builtin_mul_overflow(shape[axis] - 1, strides[axis], &reach) ||
        __builtin_add_overflow(reach < 0 ? lowest : highest, reach, reach < 0 ? &lowest : &highest))
      throw ValueError(asked + ": too large");
  }
  const Array result = x.view(dtype, shape, strides, x.offset());
  const int64_t bytes = static_cast<int64_t>(x.buffer()->bytes());
  if (result.size() > 0 && (lowest < 0 || highest > bytes))
    throw ValueError(asked + " reaches bytes " + std::to_string(lowest) + " to " + std::to_string(highest) +
                     " of a buffer of " + std::to_string(bytes));
  return result;
}

/// ndarray(...): uninitialised memory, or the memory of another array, given by its `data` as `memptr`.
Array make(nb::handle shape, nb::handle dtype, nb::handle memptr, nb::handle strides, nb::handle order) {
  const Dims extents = to_dims(shape, "ndarray: shape");
  const Dtype type = to_dtype(dtype);
  const MemoryOrder wanted = to_order(order);
  if (wanted != MemoryOrder::c && wanted != MemoryOrder::fortran)
    throw ValueError("ndarray: order must be 'C' or 'F', not " + describe(order));
  const bool is_fortran = wanted == MemoryOrder::fortran;
  if (memptr.is_none()) {
    if (!strides.is_none()) throw ValueError("ndarray: strides describe given memory, so they need memptr");
    // A full pool waits for its device.
    return without_gil(
        [&] { return is_fortran ? Array::empty(reversed(extents), type).transpose() : Array::empty(extents, type); });
  }
  if (!nb::isinstance(memptr, package_attribute("iruka._array", "Memory")))
    throw TypeError("ndarray: memptr must be the data of an iruka.ndarray, not " + describe(memptr.type()));
  const nb::object owner = memptr.attr("_array");
  const Array& memory = checked_array(owner, "ndarray: memptr");
  if (memory.offset() % itemsize(type) != 0)
    throw ValueError(std::string("ndarray: memptr is not aligned for ") + name(type));
  const Dims steps = !strides.is_none() ? to_dims(strides, "ndarray: strides")
                     : is_fortran       ? reversed(c_strides(reversed(extents), itemsize(type)))
                                        : c_strides(extents, itemsize(type));
  return over_elements("ndarray", memory, type, extents, steps);
}

Array transpose(const Array& x, const nb::args& axes) {
  if (axes.size() == 0 || (axes.size() == 1 && axes[0].is_none())) return x.transpose();
  return x.transpose(dims_of(axes, "transpose: axes"));
}

Array squeeze(const Array& x, nb::handle axis) {
  if (axis.is_none()) return x.squeeze();
  Dims axes = to_dims(axis, "squeeze: axis");
  if (axes.size() == 1) return x.squeeze(axes[0]);
  for (int64_t& a : axes) a = normalize_axis("squeeze", a, x.ndim());
  std::sort(axes.begin(), axes.end(), std::greater<>());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    throw ValueError("squeeze: duplicate value in 'axis': " + to_string(axes));
  Array result = x;
  for (int64_t a : axes) result = result.squeeze(a);
  return result;
}

/// The axes in the order in which a new array of that `order` has them in memory, the slowest first.
Dims memory_order(const Array& x, nb::handle order) {
  Dims axes;
  for (int k = 0; k < x.ndim(); ++k) axes.push_back(k);
  if (is_fortran(x, order)) {
    std::reverse(axes.begin(), axes.end());
  } else if (keeps_order(order)) {
    std::stable_sort(axes.begin(), axes.end(),
                     [&](int64_t a, int64_t b) { return std::abs(x.strides()[a]) > std::abs(x.strides()[b]); });
  }
  return axes;
}

/// The elements as a contiguous 1-d array in that order of memory: a view if possible, else a copy.
Array ravel(const Array& given, nb::handle order) {
  const Array x = viewed(given);
  const Argument walked(x);
  const bool walks = keeps_order(order) && !is_fortran(x, order);
  const Array turned = x.transpose(walks ? ops::axes_by_stride({&walked, 1}, x.ndim()) : memory_order(x, order));
  return without_gil([&] { return turned.contiguous().reshape({-1}); });
}

/// What `make` gives of x with its axes in that order, with the axes back in their places.
template <class Make>
Array in_order(const Array& x, const Dims& axes, Make make) {
  if (std::is_sorted(axes.begin(), axes.end())) return make(x);
  Dims back = axes;
  for (int k = 0; k < x.ndim(); ++k) back[axes[k]] = k;
  return make(x.transpose(axes)).transpose(back);
}

Array copy(Array x, nb::handle order) {
  if (x.is_value()) return x;
  const Dims axes = memory_order(x, order);
  return without_gil([&] { return in_order(x, axes, [](const Array& turned) { return turned.copy(); }); });
}

Array astype(Array x, nb::handle dtype, nb::handle order, const std::string& casting, bool copy) {
  Dtype to = to_dtype(dtype);
  ops::check_cast(x.dtype(), to, parse_casting(casting));
  warn_of_discarded_imaginary(x.dtype(), to);
  const Dims axes = memory_order(x, order);
  const FloatWatch floats;
  Array result =
      without_gil([&] { return in_order(x, axes, [&](const Array& turned) { return turned.astype(to, copy); }); });
  if (const unsigned raised = floats.raised()) report_cast_errors(raised, to_python(x), to, x.device());
  return x.is_value() ? std::move(result).as_value() : result;
}

Array view(const Array& x, nb::handle dtype) {
  return dtype.is_none() ? x.at(iruka::Ellipsis{}) : x.view(to_dtype(dtype));
}

nb::object item(Array x, const nb::args& index) {
  if (index.size() == 0) return from_scalar(item_of(x));
  Dims position = dims_of(index, "item: index");
  std::vector<Index> indices(position.begin(), position.end());
  if (position.size() != 1 && position.size() != x.ndim())
    throw ValueError("item: incorrect number of indices for array: " + std::to_string(position.size()) + " for " +
                     std::to_string(x.ndim()) + " axes");
  bool flat = indices.size() == 1 && x.ndim() != 1;
  return from_scalar(item_of((flat ? reshape(x, {-1}) : x).index(indices)));
}

nb::object as_numpy(nb::handle self) {
  if (const Array& x = checked_array(self, "asnumpy"); !is_host(x.device())) return download(x);
  return numpy_attribute("array")(numpy_view(self), nb::arg("order") = "C", nb::arg("copy") = true);
}

/// numpy.asarray(x): shares memory unless a copy or another dtype is asked for. Raises TypeError for a GPU's array.
nb::object numpy_protocol(nb::handle self, nb::handle dtype, nb::handle copy) {
  if (!is_host(checked_array(self, "__array__").device())) throw TypeError(kNoImplicitCopy);
  nb::object array = numpy_view(self);
  bool other = !dtype.is_none() && !dtype.equal(array.attr("dtype"));
  if (!copy.is_none() && !nb::cast<bool>(copy)) {
    if (other) throw ValueError("__array__: another dtype needs a copy, which copy=False forbids");
    return array;
  }
  if (other) return array.attr("astype")(dtype);
  return copy.is_none() ? array : array.attr("copy")();
}

/// A method that the package's Python code does: module._array.NAME(self, ...).
nb::object in_package(const char* name) { return package_attribute("iruka._array", name); }

using ArrayClass = nb::class_<Array>;

void bind_attributes(ArrayClass& type) {
  type.def_prop_rw(
          "shape", [](const Array& x) { return from_dims(x.shape()); }, set_shape,
          nb::for_getter(nb::sig("def shape(self) -> tuple[int, ...]")),
          nb::for_setter(nb::sig("def shape(self, shape: int | tuple[int, ...], /) -> None")),
          "Extents, one an axis. May be set where strides allow it.")
      .def_prop_ro(
          "strides", [](const Array& x) { return from_dims(x.strides()); },
          nb::sig("def strides(self) -> tuple[int, ...]"), "Bytes from one element to the next, one an axis.")
      .def_prop_ro(
          "dtype", [](const Array& x) { return dtype_object(x.dtype()); }, nb::sig("def dtype(self) -> numpy.dtype"),
          "Element type, a numpy.dtype.")
      .def_prop_ro("ndim", &Array::ndim, "Number of axes, 0 to 32.")
      .def_prop_ro("size", &Array::size, "Number of elements.")
      .def_prop_ro("nbytes", &Array::nbytes, "Bytes that the elements take.")
      .def_prop_ro("itemsize", &Array::itemsize, "Bytes of one element.")
      .def_prop_ro(
          "T", [](const Array& x) { return to_python(x.transpose()); }, nb::sig("def T(self) -> ndarray"),
          "View with the axes reversed.")
      .def_prop_ro(
          "mT",
          [](const Array& x) {
            if (x.ndim() < 2) throw ShapeError("mT: the array needs two axes, its shape is " + to_string(x.shape()));
            return to_python(x.swapaxes(-2, -1));
          },
          nb::sig("def mT(self) -> ndarray"), "View with the last two axes exchanged.")
      .def_prop_ro(
          "device", [](const Array& x) { return PyDevice{&x.device()}; }, "Where the elements are.")
      .def_prop_ro(
          "flags", [](nb::handle x) { return in_package("Flags")(x); },
          nb::sig("def flags(self) -> iruka._array.Flags"),
          "Memory layout: c_contiguous, f_contiguous, writeable, owndata, aligned.")
      .def_prop_ro(
          "data", [](nb::handle x) { return in_package("Memory")(x); },
          nb::sig("def data(self) -> iruka._array.Memory"), "The memory: data.ptr is the address of the first element.")
      .def_prop_rw(
          "real", [](nb::handle x) { return in_package("real")(x); },
          [](nb::handle x, nb::handle values) {
            nb::object(in_package("real")(x)).attr("__setitem__")(nb::ellipsis(), values);
          },
          nb::for_getter(nb::sig("def real(self) -> ndarray")),
          nb::for_setter(nb::sig("def real(self, values: object, /) -> None")),
          "Real part: a view, the array itself where it is real. May be set.")
      .def_prop_rw(
          "imag", [](nb::handle x) { return in_package("imag")(x); },
          [](nb::handle x, nb::handle values) { in_package("set_imag")(x, values); },
          nb::for_getter(nb::sig("def imag(self) -> ndarray")),
          nb::for_setter(nb::sig("def imag(self, values: object, /) -> None")),
          "Imaginary part: a view, which may be set; zeros for a real array.")
      .def_prop_ro("_address", [](const Array& x) { return reinterpret_cast<uintptr_t>(x.data()); })
      .def_prop_ro("_is_value", &Array::is_value)
      .def_prop_ro("_layout", [](const Array& x) {
        return nb::make_tuple(x.is_c_contiguous(), x.is_f_contiguous(), x.writable(), !x.buffer()->foreign());
      });
  type.attr("__array_priority__") = 1000;
}

void bind_views(ArrayClass& type) {
  type.def(
          "reshape",
          [](const Array& x, nb::args shape, nb::handle order, nb::handle copy) {
            return to_python(reshape_copying(x, dims_of(shape, "reshape: shape"), order, copy));
          },
          nb::arg("shape"), nb::arg("order") = "C", nb::arg("copy") = nb::none(),
          nb::sig("def reshape(self, *shape, order: str = 'C', copy: bool | None = None) -> ndarray"),
          "The same elements in another shape: a view where strides allow it, else a copy; copy=True always copies and "
          "copy=False raises ValueError where it must. One extent may be -1.")
      .def(
          "ravel", [](Array x, nb::handle order) { return to_python(ravel(x, order)); }, nb::arg("order") = "C",
          nb::sig("def ravel(self, order: str = 'C') -> ndarray"),
          "The elements as a contiguous 1-d array: a view if possible, otherwise a copy.")
      .def(
          "flatten",
          [](Array x, nb::handle order) {
            Array flat = ravel(x, order);
            return to_python(flat.buffer() == x.buffer() ? copy(flat, nb::none()) : flat);
          },
          nb::arg("order") = "C", nb::sig("def flatten(self, order: str = 'C') -> ndarray"),
          "The elements along one axis, copied.")
      .def(
          "transpose", [](const Array& x, nb::args axes) { return to_python(transpose(x, axes)); },
          nb::sig("def transpose(self, *axes) -> ndarray"),
          "View with the axes in the given order; reversed without one.")
      .def(
          "swapaxes",
          [](const Array& x, nb::handle a, nb::handle b) {
            return to_python(x.swapaxes(to_int64(a, "swapaxes: axis1"), to_int64(b, "swapaxes: axis2")));
          },
          nb::arg("axis1"), nb::arg("axis2"), nb::sig("def swapaxes(self, axis1: int, axis2: int) -> ndarray"),
          "View with two axes exchanged.")
      .def(
          "squeeze", [](const Array& x, nb::handle axis) { return to_python(squeeze(x, axis)); },
          nb::arg("axis") = nb::none(),
          nb::sig("def squeeze(self, axis: int | tuple[int, ...] | None = None) -> ndarray"),
          "View without axes of extent 1.")
      .def(
          "view", [](const Array& x, nb::handle dtype) { return to_python(view(x, dtype)); },
          nb::arg("dtype") = nb::none(), nb::sig("def view(self, dtype=None) -> ndarray"),
          "The same bytes, as another dtype when one is given.")
      .def("_expand_dims", [](const Array& x, int64_t axis) { return to_python(viewed(x).expand_dims(axis)); })
      .def("_broadcast_to",
           [](const Array& x, nb::handle shape) {
             return to_python(x.broadcast_to(to_dims(shape, "broadcast_to: shape")).read_only());
           })
      .def("_as_strided", [](const Array& x, nb::handle shape, nb::handle strides, bool writeable) {
        Array result = over_elements("as_strided", viewed(x), x.dtype(), to_dims(shape, "as_strided: shape"),
                                     to_dims(strides, "as_strided: strides"));
        return to_python(writeable ? result : result.read_only());
      });
}

void bind_copies(ArrayClass& type) {
  type.def(
          "astype",
          [](const Array& x, nb::handle dtype, nb::handle order, const char* casting, bool copy) {
            return to_python(astype(x, dtype, order, casting, copy));
          },
          nb::arg("dtype"), nb::arg("order") = "K", nb::arg("casting") = "unsafe", nb::arg("copy") = true,
          nb::sig("def astype(self, dtype, order: str = 'K', casting: str = 'unsafe', copy: bool = True) -> ndarray"),
          "A copy with another dtype. A float out of an integer's range saturates and NaN gives 0 (NumPy leaves both "
          "to the processor). copy=False: itself when nothing changes. Raises TypeError where `casting` forbids the "
          "cast.")
      .def(
          "copy", [](const Array& x, nb::handle order) { return to_python(copy(x, order)); }, nb::arg("order") = "C",
          nb::sig("def copy(self, order: str = 'C') -> ndarray"), "A copy with its own memory.")
      .def("__copy__", [](const Array& x) { return to_python(copy(x, nb::none())); })
      .def(
          "__deepcopy__", [](const Array& x, nb::handle) { return to_python(copy(x, nb::none())); }, nb::arg("memo"))
      .def(
          "fill",
          [](const Array& x, nb::handle value) {
            if (is_array(value.ptr()) && array_of(value.ptr()).ndim() != 0)
              throw ValueError("fill: the value must be a scalar");
            assign_value(x, value);
          },
          nb::arg("value"), "Sets every element to a scalar.")
      .def(
          "set",
          [](nb::handle x, nb::handle array, nb::handle stream) {
            checked_array(x, "set");
            in_package("set_elements")(x, array, stream);
          },
          nb::arg("array"), nb::arg("stream") = nb::none(), nb::sig("def set(self, array, stream=None) -> None"),
          "Copies the elements of an array of any library into this one. With a stream, in its order: a copy from "
          "pinned "
          "memory may then be under way when this returns.")
      .def(
          "to_device",
          [](nb::handle self, nb::handle device, nb::handle stream) {
            Device& target = to_device(device, "to_device: device");
            const Array x = array_of(self.ptr());
            if (&target == &x.device()) return nb::borrow(self);
            Device& gpu = is_host(target) ? x.device() : target;
            const std::optional<StreamHandle> given = to_stream(stream);
            const bool is_value = x.is_value();
            return make_mutable_array([&] {
              std::optional<StreamScope> scope;
              if (given) scope.emplace(gpu, *given);
              const Array moved = x.to_device(target);
              return is_value ? moved.as_value() : moved;
            });
          },
          nb::arg("device"), nb::kw_only(), nb::arg("stream") = nb::none(),
          nb::sig("def to_device(self, device: Device | str | int, /, *, stream=None) -> ndarray"),
          "The array itself when it is there, else a copy on that device: 'cpu', 'cuda:0', a Device.")
      .def("item", item, nb::sig("def item(self, *index: int) -> bool | int | float | complex"),
           "One element as a Python scalar: the only one, or the one at a flat or full index.")
      .def(
          "tolist", [](nb::handle x) { return in_package("tolist")(x); }, nb::sig("def tolist(self) -> object"),
          "Nested lists of Python scalars.")
      .def(
          "tobytes", [](nb::handle x, nb::handle order) { return numpy_view(x).attr("tobytes")(order); },
          nb::arg("order") = "C", nb::sig("def tobytes(self, order: str = 'C') -> bytes"),
          "The elements in that order, as bytes: 'C', 'F', 'A' (F if the array is) or 'K' (memory order).")
      .def(
          "get",
          [](nb::handle x, nb::handle stream, nb::handle order, nb::handle out, bool blocking) {
            checked_array(x, "get");
            return in_package("get_elements")(x, stream, order, out, blocking);
          },
          nb::arg("stream") = nb::none(), nb::arg("order") = "C", nb::arg("out") = nb::none(),
          nb::arg("blocking") = true,
          nb::sig("def get(self, stream=None, order: str = 'C', out: numpy.ndarray | None = None, "
                  "blocking: bool = True) -> numpy.ndarray"),
          "A NumPy array with a copy of the elements: `out` when it is given. blocking=False returns before a copy to "
          "pinned memory is done.")
      .def(
          "copy_to_host",
          [](nb::handle x, nb::handle ary, nb::handle stream) { return in_package("copy_to_host")(x, ary, stream); },
          nb::arg("ary") = nb::none(), nb::arg("stream") = nb::none(),
          nb::sig("def copy_to_host(self, ary: numpy.ndarray | None = None, stream=None) -> numpy.ndarray"),
          "Numba's name for get(): a NumPy array with a copy of the elements, `ary` when it is given.")
      .def(
          "copy_to_device",
          [](nb::handle x, nb::handle ary, nb::handle stream) { in_package("copy_to_device")(x, ary, stream); },
          nb::arg("ary"), nb::arg("stream") = nb::none(), nb::sig("def copy_to_device(self, ary, stream=None) -> None"),
          "Numba's name for set(): copies the elements of `ary`, of the same shape, into this array.")
      .def(
          "dot",
          [](nb::handle x, nb::handle b, nb::handle out) { return package_attribute("iruka", "dot")(x, b, out); },
          nb::arg("b"), nb::arg("out") = nb::none(), nb::sig("def dot(self, b, out: ndarray | None = None) -> ndarray"),
          "Matrix or inner product, as iruka.dot.")
      .def(
          "clip",
          [](nb::handle x, nb::handle low, nb::handle high, nb::handle out) {
            return in_package("clip")(x, low, high, out);
          },
          nb::arg("min") = nb::none(), nb::arg("max") = nb::none(), nb::arg("out") = nb::none(),
          nb::sig("def clip(self, min=None, max=None, out: ndarray | None = None) -> ndarray"),
          "Every element held within [min, max].")
      .def(
          "conj", [](nb::handle x) { return in_package("conjugate")(x); }, nb::sig("def conj(self) -> ndarray"),
          "Complex conjugate.");
}

#define IRUKA_STATISTIC(name, arguments, documentation)                         \
  type.def(                                                                     \
      name,                                                                     \
      [](nb::handle self, nb::args positional, nb::kwargs keywords) {           \
        return package_attribute("iruka", name)(self, *positional, **keywords); \
      },                                                                        \
      nb::sig("def " name "(self, " arguments ") -> ndarray"), documentation)

void bind_statistics(ArrayClass& type) {
  IRUKA_STATISTIC("var",
                  "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None",
                  "Mean of squared distances from the mean along axes.");
  IRUKA_STATISTIC("std",
                  "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None",
                  "Standard deviation along axes: the square root of var.");
  IRUKA_STATISTIC("ptp", "axis=None, out=None, keepdims=False", "Largest minus smallest element along axes.");
  IRUKA_STATISTIC("cumsum", "axis=None, dtype=None, out=None", "Sums of every prefix of an axis.");
  IRUKA_STATISTIC("cumprod", "axis=None, dtype=None, out=None", "Products of every prefix of an axis.");
  IRUKA_STATISTIC("searchsorted", "v, side='left', sorter=None", "Where elements of v belong in this sorted array.");
}
#undef IRUKA_STATISTIC

void bind_protocols(ArrayClass& type) {
  type.def(
          "__repr__", [](nb::handle x) { return numpy_attribute("array_repr")(numpy_view(x)); },
          nb::sig("def __repr__(self) -> str"))
      .def("__str__", [](nb::handle x) { return nb::str(numpy_view(x)); })
      .def(
          "__round__", [](nb::handle x, nb::handle digits) { return in_package("round_value")(x, digits); },
          nb::arg("ndigits") = nb::none(), nb::sig("def __round__(self, ndigits: int | None = None) -> object"))
      .def(
          "__trunc__", [](nb::handle x) { return in_package("whole_number")(x, "trunc"); },
          nb::sig("def __trunc__(self) -> int"))
      .def(
          "__floor__", [](nb::handle x) { return in_package("whole_number")(x, "floor"); },
          nb::sig("def __floor__(self) -> int"))
      .def(
          "__ceil__", [](nb::handle x) { return in_package("whole_number")(x, "ceil"); },
          nb::sig("def __ceil__(self) -> int"))
      .def(
          "__format__", [](nb::handle x, nb::handle spec) { return in_package("format_array")(x, spec); },
          nb::sig("def __format__(self, spec: str) -> str"))
      .def(
          "__complex__",
          [](const Array& x) {
            if (x.size() != 1)
              throw TypeError("complex: only an array of one element can be converted to a Python scalar");
            std::complex<double> value = item_of(x).as_complex();
            return nb::steal(PyComplex_FromDoubles(value.real(), value.imag()));
          },
          nb::sig("def __complex__(self) -> complex"))
      .def(
          "__reduce_ex__", [](nb::handle x, int) { return in_package("reduce_array")(x); },
          nb::sig("def __reduce_ex__(self, protocol: int) -> tuple"))
      .def("__array__", numpy_protocol, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
           nb::sig("def __array__(self, dtype=None, copy: bool | None = None) -> numpy.ndarray"))
      .def(
          "__dlpack__",
          [](nb::handle x, nb::handle stream, nb::handle max_version, nb::handle device, nb::handle copy) {
            return to_dlpack(x, stream, max_version, device, copy);
          },
          nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
          nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none(),
          nb::sig("def __dlpack__(self, *, stream=None, max_version: tuple[int, int] | None = None, "
                  "dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> object"))
      .def("__dlpack_device__", dlpack_device_of, nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def_prop_ro("__array_interface__", array_interface, nb::sig("def __array_interface__(self) -> dict"))
      .def_prop_ro("__cuda_array_interface__", cuda_array_interface,
                   nb::sig("def __cuda_array_interface__(self) -> dict"));
}

}  // namespace

void bind_array(nb::module_& module) {
  bind_device(module);
  ArrayClass type(module, "ndarray", nb::type_slots(array_slots()), nb::is_weak_referenceable(),
                  "An array: shape, strides, dtype and a handle on memory. ndarray(shape, dtype) is uninitialised; "
                  "ndarray(shape, dtype, memptr, strides, order) is a view of the memory of another array, from the "
                  "first element of the one whose `data` memptr is. iruka.array, zeros, arange and their neighbours "
                  "make filled ones.");
  array_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def(
      "__init__",
      [](Array* self, nb::handle shape, nb::handle dtype, nb::handle memptr, nb::handle strides, nb::handle order) {
        new (self) Array(make(shape, dtype, memptr, strides, order));
      },
      nb::arg("shape"), nb::arg("dtype") = "float64", nb::arg("memptr") = nb::none(), nb::arg("strides") = nb::none(),
      nb::arg("order") = "C",
      nb::sig("def __init__(self, shape, dtype='float64', memptr=None, strides=None, order: str = 'C') -> None"));
  bind_attributes(type);
  bind_views(type);
  bind_copies(type);
  bind_reduction_methods(type);
  bind_statistics(type);
  bind_index_methods(type);
  bind_protocols(type);
  bind_array_protocols(type);
  bind_array_memory(type);
  module.def("asnumpy", as_numpy, nb::arg("array"), nb::sig("def asnumpy(array: ndarray) -> numpy.ndarray"));
}

}  // namespace iruka::python
