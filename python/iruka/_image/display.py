"""Pictures on a screen: in notebooks, by the desktop's viewer, or as a file where there is neither."""

from __future__ import annotations

import importlib
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable

import numpy as _np

from .. import _core
from .._core import ndarray
from .color import Brightness, ConvertColor
from .geometry import Chain
from .stages import Cast, Layout, Resize, Stage, pair_of

_codecs = _core._image


def _array_of(picture, function: str):
    """A picture that has pixels and is uint8 or another dtype of pictures."""
    if not hasattr(picture, "dtype") and not isinstance(picture, (list, tuple)):
        raise TypeError(f"{function}: a picture is an array, not {type(picture).__name__}")
    array = _core.as_array(picture, None)
    return array * _np.uint8(255) if array.dtype == bool else array


def _stages_to_bytes(array, layout: str) -> list[Stage]:
    """What makes a picture uint8 (height, width, channels): floats from 0 to 1, uint16 from 0 to 65535."""
    stages: list[Stage] = [Layout("HWC")] if array.ndim == 3 and layout == "CHW" else []
    if array.dtype == _np.uint16:
        stages += [Cast(_np.float32), Brightness(255 / 65535), Cast(_np.uint8)]
    elif array.dtype != _np.uint8:
        stages += [Cast(_np.float32), Brightness(255), Cast(_np.uint8)]
    return stages


def _png_of(picture, layout: str) -> bytes:
    array = _array_of(picture, "show")
    return _codecs.imencode("png", Chain(_stages_to_bytes(array, layout), layout)(array), (95, 6, False))


class Picture:
    """An array that notebooks display as a picture; `array` is the array.

    picture: as for imwrite: 1 to 4 channels (grey, grey and alpha, RGB, RGBA) of uint8, uint16 (0 to 65535), or floats
        and bool (0 to 1; others are cut off). layout: 'HWC' or 'CHW'.
    """

    def __init__(self, picture, layout: str = "HWC"):
        self.array = picture
        self.layout = layout

    def _repr_png_(self) -> bytes:
        return _png_of(self.array, self.layout)

    def __repr__(self) -> str:
        return f"Picture({self.array.dtype} {tuple(self.array.shape)}, layout={self.layout!r})"


def contact_sheet(
    pictures: Iterable,
    columns: int | None = None,
    size: tuple[int, int] | None = None,
    *,
    gap: int = 4,
    background: int = 255,
    layout: str = "HWC",
) -> ndarray:
    """Pictures in rows and columns as one picture, uint8 (height, width, 3), or (height, width) if all are grey.

    pictures: a list of pictures of any sizes and dtypes, as for Picture, or an array of four axes. An exception in the
        list, as imread_batch gives it for a bad file, leaves its place empty.
    columns: of the sheet; by default so many that it has about as many rows.
    size: (height, width) of a place. Larger pictures are shrunk to it with their proportions, smaller ones are put in
        its centre. By default that of the largest picture, but 256 at most.
    gap: pixels between places. background: the level from 0 to 255 of what is left free.

    Raises ValueError for an empty list and numbers that are none, and what Chain raises for what is no picture.
    """
    shape = getattr(pictures, "shape", ())
    if len(shape) == 2 or (len(shape) == 3 and shape[-1 if layout == "HWC" else 0] <= 4):
        raise ValueError(f"contact_sheet: expected a list of pictures, not one picture of shape {tuple(shape)}")
    given = [None if isinstance(each, BaseException) else _array_of(each, "contact_sheet") for each in pictures]
    if not given:
        raise ValueError("contact_sheet: there are no pictures")
    columns = math.ceil(math.sqrt(len(given))) if columns is None else columns
    if columns < 1 or gap < 0 or not 0 <= background <= 255:
        raise ValueError(
            f"contact_sheet: columns must be positive, gap not negative and background from 0 to 255, not {columns}, "
            f"{gap} and {background}"
        )
    made = [None if each is None else _sheet_picture(each, layout) for each in given]
    known = [each for each in made if each is not None]
    if size is None:
        height, width = (min(256, max((each.shape[axis] for each in known), default=1)) for axis in (0, 1))
    else:
        height, width = pair_of(size, "contact_sheet")
    if height < 1 or width < 1:
        raise ValueError(f"contact_sheet: the size must be positive, not {(height, width)}")
    is_grey = all(each.ndim == 2 for each in known)
    rows = math.ceil(len(made) / columns)
    shape = (rows * (height + gap) + gap, columns * (width + gap) + gap)
    sheet = _core.full(shape if is_grey else (*shape, 3), background, _np.uint8)
    for number, each in enumerate(made):
        if each is None:
            continue
        corner = [gap + (number // columns) * (height + gap), gap + (number % columns) * (width + gap)]
        _place(each, sheet, corner, (height, width), is_grey)
    return sheet


def _sheet_picture(array, layout: str):
    """uint8, grey (height, width) or RGB; without alpha."""
    made = Chain(_stages_to_bytes(array, layout), layout)(array)
    channels = made.shape[2] if made.ndim == 3 else 1
    if channels == 4:
        return made[..., :3]
    if channels > 4:
        raise ValueError(f"contact_sheet: a picture has 1 to 4 channels, not {channels}")
    return made[..., 0] if made.ndim == 3 and channels < 3 else made


def _place(picture, sheet, corner, size, is_grey: bool) -> None:
    stages: list[Stage] = []
    if picture.shape[0] > size[0] or picture.shape[1] > size[1]:
        stages.append(Resize(size, fit="not_larger"))
    if picture.ndim == 2 and not is_grey:
        stages.append(ConvertColor("gray", "rgb"))
    chain = Chain(stages)
    shape = chain.result(picture.shape, picture.dtype)[0]
    y, x = (corner[axis] + (size[axis] - shape[axis]) // 2 for axis in (0, 1))
    chain(picture, out=sheet[y : y + shape[0], x : x + shape[1]])


def _in_notebook() -> bool:
    """Whether a Jupyter kernel runs this, which displays what it is given."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return shell is not None and hasattr(shell, "kernel")


def _open_command() -> list[str] | None:
    """The program that opens a file in the desktop's viewer, where there is a desktop."""
    if sys.platform == "darwin":
        return ["open"]
    has_display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    found = shutil.which("xdg-open") if has_display else None
    return [found] if found else None


def show(picture, *, layout: str = "HWC", path=None) -> str | None:
    """Shows a picture, or a list or batch of them as a contact sheet.

    In a notebook it is displayed there, and the result is None. Elsewhere it is written as a PNG, to `path` or into the
    folder for temporary files, and the result is the file's name. Where there is a display the desktop's viewer opens
    the file; where there is none, or no viewer, the name is printed. picture: as for Picture. Raises what imwrite
    raises; want of a display is no error.
    """
    if isinstance(picture, (list, tuple)) or getattr(picture, "ndim", 0) == 4:
        picture, layout = contact_sheet(picture, layout=layout), "HWC"
    data = _png_of(picture, layout)
    if path is None and _in_notebook():
        display = importlib.import_module("IPython.display")
        display.display(display.Image(data=data, format="png"))
        return None
    if path is None:
        handle, path = tempfile.mkstemp(prefix="iruka-", suffix=".png")
        os.close(handle)
    name = os.fsdecode(path)
    _codecs.write_bytes(os.fsencode(path), data)
    if not _opened(name):
        print(f"iruka.image.show: wrote {name}")
    return name


def _opened(name: str) -> bool:
    try:
        if sys.platform == "win32":
            os.startfile(name)
            return True
        command = _open_command()
        if command is None:
            return False
        subprocess.Popen([*command, name], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
        return True
    except OSError:
        return False
