"""A picture, and files that Pillow writes of one."""

import io

import numpy as np
from PIL import Image


def smooth(height, width, channels=3, dtype=np.uint8):
    """A picture with gradients and edges, which every format keeps well."""
    y, x = np.mgrid[:height, :width]
    planes = [x * 5 + y * 3, y * 7 + 20, 128 + 100 * np.sin(x / 5) * np.cos(y / 4), 255 - x * 2][:channels]
    picture = np.stack(planes, -1).astype(int) % 256
    picture[height // 3 : height // 2, width // 3 : width // 2] = 40
    picture = (picture * (257 if dtype == np.uint16 else 1)).astype(dtype)
    return picture[..., 0] if channels == 1 else picture


def pillow(picture, format, mode=None, **options):
    """The bytes that Pillow writes for an array, first converted to `mode`."""
    image = Image.fromarray(picture)
    if mode:
        image = image.convert(mode)
    buffer = io.BytesIO()
    image.save(buffer, format, **options)
    return buffer.getvalue()
