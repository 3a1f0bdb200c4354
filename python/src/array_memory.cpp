// iruka.ndarray's methods about its bytes: flags, base, fields, resizing, files; and CuPy's names for updates.
#include "array_memory.h"

#include <cstdlib>

#include "interop.h"

namespace iruka::python {

namespace {

nb::object in_memory(const char* name) { return package_attribute("iruka._array.storage", name); }

/// The bytes of the buffer that an array, which has elements, reaches: the first and the one after the last.
std::pair<int64_t, int64_t> reach_of(const Array& x) {
  int64_t first = x.offset(), last = x.offset() + x.itemsize();
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const int64_t reach = (x.shape(axis) - 1) * x.strides()[axis];
    (reach < 0 ? first : last) += reach;
  }
  return {first, last};
}

/// Whether the elements fill the whole buffer, in any order of axes.
bool spans_buffer(const Array& x) {
  return x.size() == 0 || reach_of(x) == std::pair<int64_t, int64_t>(0, static_cast<int64_t>(x.buffer()->bytes()));
}

/// None where x has its buffer to itself, else all of the buffer as x's dtype, or as bytes.
nb::object base_of(const Array& x) {
  const BufferHandle& buffer = x.buffer();
  if (!buffer->foreign() && spans_buffer(x)) return nb::none();
  const int64_t bytes = static_cast<int64_t>(buffer->bytes());
  const Dtype dtype = x.offset() % x.itemsize() == 0 && bytes % x.itemsize() == 0 ? x.dtype() : Dtype::uint8;
  const int64_t size = itemsize(dtype);
  return to_python(Array(buffer, dtype, {bytes / size}, {size}));
}

/// Whether two elements are one: a broadcast view or windows, which NumPy does not let become writeable either.
bool repeats_elements(const Array& x) {
  if (x.size() == 0) return false;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (x.strides()[axis] == 0 && x.shape(axis) > 1) return true;
  const auto [first, last] = reach_of(x);
  return x.nbytes() > last - first;
}

void set_writeable(Array& x, bool writeable) {
  if (!writeable) {
    x = x.read_only();
    return;
  }
  if (x.writable()) return;
  // Another array of the memory may be the one that was made read-only, and this one a view of it.
  if (!x.buffer()->writable() || x.is_value() || repeats_elements(x) || x.buffer().use_count() > 1)
    throw ValueError("setflags: cannot set WRITEABLE flag to True of this array");
  x = Array(x.buffer(), x.dtype(), x.shape(), x.strides(), x.offset());
}

/// The bytes from `offset` on of each element, as another dtype: a view. Elements of arrays are aligned to their size.
Array field_of(const Array& x, Dtype dtype, int64_t offset) {
  const int64_t room = x.itemsize() - itemsize(dtype);
  if (offset < 0 || offset > room || offset % itemsize(dtype) != 0)
    throw ValueError("getfield: need a multiple of " + std::to_string(itemsize(dtype)) +
                     ", 0 <= offset <= " + std::to_string(room) + ", for " + name(dtype) + " of " + name(x.dtype()) +
                     ", but received offset = " + std::to_string(offset));
  return x.view(dtype, x.shape(), x.strides(), x.offset() + offset);
}

/// Axes that strides allow to be one made one, and axes of extent 1 dropped.
Array reduced_view(const Array& x) {
  if (x.size() == 0) return x.at(iruka::Ellipsis{});
  Dims shape, strides;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (x.shape(axis) == 1) continue;
    const int64_t extent = x.shape(axis), stride = x.strides()[axis];
    if (!shape.empty() && strides[strides.size() - 1] == extent * stride) {
      shape[shape.size() - 1] *= extent;
      strides[strides.size() - 1] = stride;
    } else {
      shape.push_back(extent);
      strides.push_back(stride);
    }
  }
  return x.view(x.dtype(), shape, strides, x.offset());
}

void bind_flags(nb::class_<Array>& type) {
  type.def_prop_ro(
          "base", [](const Array& x) { return base_of(x); }, nb::sig("def base(self) -> ndarray | None"),
          "None where the elements are all of their memory; for a part of it, and for memory of another library, an "
          "array of one axis over the whole. No array owns memory that views share, so this is none of those made "
          "before.")
      .def(
          "setflags",
          [](nb::handle x, nb::handle write, nb::handle align, nb::handle uic) {
            Array& array = checked_array(x, "setflags");
            if (!align.is_none() && !nb::cast<bool>(nb::bool_(align)))
              throw ValueError("setflags: arrays are always aligned; align must be None or True");
            if (!uic.is_none() && nb::cast<bool>(nb::bool_(uic)))
              throw ValueError("setflags: cannot set WRITEBACKIFCOPY flag to True");
            if (!write.is_none()) set_writeable(array, nb::cast<bool>(nb::bool_(write)));
          },
          nb::arg("write") = nb::none(), nb::arg("align") = nb::none(), nb::arg("uic") = nb::none(),
          nb::sig("def setflags(self, write: bool | None = None, align: bool | None = None, "
                  "uic: bool | None = None) -> None"),
          "write=False: the array is read-only from now on, and views made of it are; write=True undoes that. Raises "
          "ValueError for memory that its owner keeps read-only, for broadcast views, and while other arrays share the "
          "memory. Arrays are always aligned.")
      .def_prop_ro(
          "ctypes", [](nb::handle x) { return in_memory("ctypes_of")(x); }, nb::sig("def ctypes(self) -> object"),
          "numpy.ndarray.ctypes of an array on the CPU: data, shape, strides, data_as(). AttributeError on a GPU.");
}

void bind_bytes(nb::class_<Array>& type) {
  type.def(
          "resize",
          [](nb::handle x, nb::args shape, bool refcheck) {
            // Two references: the caller's variable and this call. Any other, or a view, would see the change.
            const bool shared = Py_REFCNT(x.ptr()) > 2 || checked_array(x, "resize").buffer().use_count() > 1;
            nb::object resized = in_memory("resized")(x, shape, refcheck && shared);
            if (!resized.is_none()) array_of(x.ptr()) = array_of(resized.ptr());
          },
          nb::arg("new_shape"), nb::kw_only(), nb::arg("refcheck") = true,
          nb::sig("def resize(self, *new_shape, refcheck: bool = True) -> None"),
          "Changes shape and size in place; new elements are 0. Raises ValueError where views or other names see the "
          "array (refcheck=False: views keep the memory they have) and for arrays that are not contiguous.")
      .def(
          "byteswap", [](nb::handle x, bool inplace) { return in_memory("byteswap")(x, inplace); },
          nb::arg("inplace") = false, nb::sig("def byteswap(self, inplace: bool = False) -> ndarray"),
          "The elements with their bytes in reverse order, the dtype unchanged; of complex numbers, each part.")
      .def(
          "getfield",
          [](const Array& x, nb::handle dtype, nb::handle offset) {
            return to_python(field_of(x, to_dtype(dtype), to_int64(offset, "getfield: offset")));
          },
          nb::arg("dtype"), nb::arg("offset") = 0, nb::sig("def getfield(self, dtype, offset: int = 0) -> ndarray"),
          "View of some bytes of each element as another dtype, whose size divides `offset`.")
      .def(
          "setfield",
          [](nb::handle x, nb::handle value, nb::handle dtype, nb::handle offset) {
            nb::handle(x.attr("getfield")(dtype, offset)).attr("__setitem__")(nb::ellipsis(), value);
          },
          nb::arg("val"), nb::arg("dtype"), nb::arg("offset") = 0,
          nb::sig("def setfield(self, val, dtype, offset: int = 0) -> None"),
          "Writes values into some bytes of each element.")
      .def(
          "tofile",
          [](nb::handle x, nb::handle fid, nb::handle sep, nb::handle format) {
            in_memory("tofile")(x, fid, sep, format);
          },
          nb::arg("fid"), nb::arg("sep") = "", nb::arg("format") = "%s",
          nb::sig("def tofile(self, fid, sep: str = '', format: str = '%s') -> None"),
          "Writes the elements in C order to a file or path: bytes, or texts with `sep` between them.")
      .def(
          "dump", [](nb::handle x, nb::handle file) { in_memory("dump")(x, file); }, nb::arg("file"),
          nb::sig("def dump(self, file) -> None"), "Pickles the array to a file or path.")
      .def(
          "dumps", [](nb::handle x) { return in_memory("dumps")(x); }, nb::sig("def dumps(self) -> bytes"),
          "The array pickled, as bytes.");
}

#define IRUKA_SCATTER(name, ufunc, documentation)                                                                     \
  type.def(                                                                                                           \
      name, [](nb::handle x, nb::handle slices, nb::handle value) { in_memory("scatter")(ufunc, x, slices, value); }, \
      nb::arg("slices"), nb::arg("value"), nb::sig("def " name "(self, slices, value) -> None"), documentation)

void bind_cupy_names(nb::class_<Array>& type) {
  IRUKA_SCATTER("scatter_add", "add", "self[slices] += value, repeated indices adding up: iruka.add.at.");
  IRUKA_SCATTER("scatter_max", "maximum", "self[slices] = max(self[slices], value): iruka.maximum.at.");
  IRUKA_SCATTER("scatter_min", "minimum", "self[slices] = min(self[slices], value): iruka.minimum.at.");
  type.def(
          "reduced_view", [](const Array& x, nb::handle) { return to_python(reduced_view(x)); },
          nb::arg("dtype") = nb::none(), nb::sig("def reduced_view(self, dtype=None) -> ndarray"),
          "View with as few axes as strides allow, C order kept.")
      .def(
          "toDlpack", [](nb::handle x) { return x.attr("__dlpack__")(); }, nb::sig("def toDlpack(self) -> object"),
          "A DLPack capsule: __dlpack__() under CuPy's older name.");
}
#undef IRUKA_SCATTER

}  // namespace

void bind_array_memory(nb::class_<Array>& type) {
  bind_flags(type);
  bind_bytes(type);
  bind_cupy_names(type);
}

}  // namespace iruka::python
