"""Operations on pictures as values, of which image.Chain makes one pass."""

from __future__ import annotations

import abc
import builtins
import dataclasses
import math
import operator
from collections.abc import Sequence

import numpy as _np

from ..errors import TypeError, ValueError
from .elsewhere import explain_arguments


def pair_of(given, function: str, names: str = "(height, width)") -> tuple[int, int]:
    """Two integers. Raises TypeError and ValueError otherwise."""
    try:
        pair = tuple(operator.index(each) for each in given)
    except builtins.TypeError:
        raise TypeError(f"{function}: {names} are two integers, not {given!r}") from None
    if len(pair) != 2:
        raise ValueError(f"{function}: {names} are two integers, not {given!r}")
    return pair


def types_of(fields: tuple) -> tuple:
    """The types of all numbers, which tell 3 from 3.0 in the key of a cache."""
    return tuple(types_of(each) if type(each) is tuple else type(each) for each in fields)


def numbers_of(values) -> float | tuple[float, ...]:
    """One number, or a tuple of numbers for the channels."""
    if isinstance(values, (int, float)):
        return values
    given = _np.asarray(values)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"a stage takes a number, or one for each channel, not {values!r}")
    array = given.astype(_np.float64)
    return float(array) if array.ndim == 0 else tuple(array.ravel().tolist())


def _frozen(value):
    """Arrays and lists as tuples, which keep their numbers, are compared as a whole and have a hash."""
    value = value.tolist() if hasattr(type(value), "tolist") else value
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


@dataclasses.dataclass(frozen=True)
class Stage(abc.ABC):
    """An operation on a picture, a part of a Chain."""

    def __post_init__(self):
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, _frozen(getattr(self, field.name)))

    @abc.abstractmethod
    def _fields(self) -> tuple:
        """The name of the operation and its numbers, as the core takes them."""


@dataclasses.dataclass(frozen=True)
class Resize(Stage):
    """Resamples to `size`, (height, width): see image.resize."""

    size: tuple[int, int]
    filter: str = "linear"
    antialias: bool | None = None
    convention: str = "pillow"
    fit: str = "stretch"
    roi: tuple[float, float, float, float] | None = None

    def _fields(self):
        height, width = pair_of(self.size, "resize")
        return ("resize", height, width, self.filter, self.fit, self.antialias, self.convention, self.roi)


@dataclasses.dataclass(frozen=True)
class Crop(Stage):
    """The rectangle of `size`, (height, width), whose first pixel is at `at`, (y, x); by default in the centre."""

    size: tuple[int, int]
    at: tuple[int, int] | None = None

    def _fields(self):
        at = (None, None) if self.at is None else pair_of(self.at, "crop", "(y, x)")
        return ("crop", *pair_of(self.size, "crop"), *at)


@dataclasses.dataclass(frozen=True)
class Pad(Stage):
    """Adds rows and columns around the picture: see image.pad."""

    margins: int | tuple
    mode: str = "constant"
    value: float | Sequence[float] = 0

    def _fields(self):
        margins = _np.asarray(self.margins)
        if margins.dtype.kind not in "iu" or margins.shape not in ((), (2,), (2, 2)):
            raise ValueError(
                f"pad: margins are one integer, (rows, columns) or ((top, bottom), (left, right)), not {self.margins!r}"
            )
        spread = _np.broadcast_to(margins[:, None] if margins.shape == (2,) else margins, (2, 2))
        return ("pad", *spread.ravel().tolist(), self.mode, numbers_of(self.value))


@dataclasses.dataclass(frozen=True)
class Flip(Stage):
    """Mirrors the order of the columns (`horizontal`), of the rows (`vertical`), or both."""

    horizontal: bool = True
    vertical: bool = False

    def _fields(self):
        for name in ("horizontal", "vertical"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"flip: {name} must be True or False, not {getattr(self, name)!r}")
        return ("flip", self.horizontal, self.vertical)


@dataclasses.dataclass(frozen=True)
class Transpose(Stage):
    """Rows become columns."""

    def _fields(self):
        return ("transpose",)


@dataclasses.dataclass(frozen=True)
class Normalize(Stage):
    """(x - mean) * (1 / std) in float32, each operation rounded; mean and std are numbers, or one for each channel."""

    mean: float | Sequence[float] = 0.0
    std: float | Sequence[float] = 1.0

    def _fields(self):
        return ("normalize", numbers_of(self.mean), numbers_of(self.std))


@dataclasses.dataclass(frozen=True)
class Cast(Stage):
    """Another dtype: uint8, uint16, float16 or float32. Values are not scaled. Integers are rounded, ties to even, and
    saturate; NaN becomes 0."""

    dtype: object

    def _fields(self):
        return ("cast", self.dtype)


@dataclasses.dataclass(frozen=True)
class Layout(Stage):
    """The order of the result's axes, 'HWC' or 'CHW'. A picture of two axes keeps them."""

    layout: str

    def _fields(self):
        return ("layout", self.layout)


@dataclasses.dataclass(frozen=True)
class PyramidDown(Stage):
    """Half the size, rounded up, of the picture smoothed by (1, 4, 6, 4, 1) / 16 along both axes: OpenCV's pyrDown."""

    def _fields(self):
        return ("pyramid_down",)


def matrix_of(matrix) -> tuple:
    """A matrix as tuples, which have a hash."""
    return tuple(map(tuple, _np.asarray(matrix, dtype=_np.float64).tolist()))


def _matrix_fields(matrix, rows: int, inverse: bool, function: str) -> tuple[float, ...]:
    """The matrix from places of the result to those of the picture, three rows."""
    given = _np.asarray(matrix, dtype=_np.float64)
    if given.shape != (rows, 3):
        raise ValueError(f"{function}: the matrix must have shape ({rows}, 3), but has {given.shape}")
    full = given if rows == 3 else _np.vstack([given, [0.0, 0.0, 1.0]])
    if not inverse:
        try:
            full = _np.linalg.inv(full)
        except _np.linalg.LinAlgError:
            raise ValueError(f"{function}: the matrix has no inverse") from None
    return tuple(full.ravel().tolist())


@dataclasses.dataclass(frozen=True)
class WarpAffine(Stage):
    """An affine map of the plane: see image.warp_affine."""

    matrix: object
    size: tuple[int, int] | None = None
    filter: str = "linear"
    inverse: bool = False
    mode: str = "constant"
    value: float | Sequence[float] = 0

    _rows = 2
    _name = "warp_affine"

    def _fields(self):
        height, width = pair_of(self.size, self._name) if self.size is not None else (0, 0)
        matrix = _matrix_fields(self.matrix, self._rows, self.inverse, self._name)
        return ("warp", height, width, matrix, self.filter, self.mode, numbers_of(self.value))


@dataclasses.dataclass(frozen=True)
class WarpPerspective(WarpAffine):
    """A projective map of the plane: see image.warp_perspective."""

    _rows = 3
    _name = "warp_perspective"


@dataclasses.dataclass(frozen=True)
class Rotate(Stage):
    """Turns the picture about its centre: see image.rotate."""

    angle: float
    expand: bool = False
    filter: str = "linear"
    mode: str = "constant"
    value: float | Sequence[float] = 0

    def _fields(self):
        if not math.isfinite(self.angle):
            raise ValueError(f"rotate: the angle must be finite, not {self.angle}")
        return ("rotate", float(self.angle), self.expand, self.filter, self.mode, numbers_of(self.value))


explain_arguments(Stage)
