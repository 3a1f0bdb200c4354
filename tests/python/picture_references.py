"""Resizes in NumPy with float64, written from the definitions of the filters and not from the library."""

import numpy as np

RADII = {"linear": 1, "triangular": 1, "cubic": 2, "lanczos3": 3, "lanczos4": 4, "gaussian": 1, "area": 0.5}


def value_of(filter, x, convention):
    x = np.asarray(x, dtype=np.float64)
    size = np.abs(x)
    if filter in ("linear", "triangular"):
        return np.maximum(0, 1 - size)
    if filter == "cubic":
        a = -0.5 if convention == "pillow" else -0.75
        near = (a + 2) * size**3 - (a + 3) * size**2 + 1
        far = a * size**3 - 5 * a * size**2 + 8 * a * size - 4 * a
        return np.where(size < 1, near, np.where(size < 2, far, 0))
    if filter in ("lanczos3", "lanczos4"):
        lobes = int(filter[-1])
        return np.where(size < lobes, np.sinc(x) * np.sinc(x / lobes), 0)
    if filter == "gaussian":
        return np.where(size < 1, np.exp(-4 * x**2), 0)
    return np.where((x > -0.5) & (x <= 0.5), 1.0, 0.0)


def matrix_of(count, out, filter, convention="pillow", antialias=None, begin=0.0, length=None):
    """The weights (out, count) with which inputs become outputs along an axis."""
    length = count if length is None else length
    scale = length / out
    if antialias is None:
        antialias = convention == "pillow"
    stretch = max(scale, 1) if antialias or filter == "triangular" else 1
    matrix = np.zeros((out, count))
    for k in range(out):
        if filter == "nearest":
            place = begin + (k + 0.5) * scale if convention == "pillow" else begin + k * scale
            matrix[k, min(int(place), count - 1)] = 1
            continue
        if filter == "area" and convention == "opencv":
            first, last = begin + k * scale, begin + (k + 1) * scale
            places = np.arange(count)
            matrix[k] = np.clip(np.minimum(places + 1, last) - np.maximum(places, first), 0, None) / scale
            continue
        center = begin + (k + 0.5) * scale
        reach = int(RADII[filter] * stretch) + 2
        for place in range(int(center) - reach, int(center) + reach + 1):
            weight = value_of(filter, (place + 0.5 - center) / stretch, convention)
            if convention == "opencv":
                matrix[k, np.clip(place, 0, count - 1)] += weight
            elif 0 <= place < count:
                matrix[k, place] += weight
        if matrix[k].sum() == 0:
            matrix[k, min(int(center), count - 1)] = 1
    return matrix / matrix.sum(axis=1, keepdims=True)


def resized(picture, size, filter, convention="pillow", antialias=None):
    """A picture (height, width, ...) as float64, not rounded."""
    rows = matrix_of(picture.shape[0], size[0], filter, convention, antialias)
    columns = matrix_of(picture.shape[1], size[1], filter, convention, antialias)
    return np.einsum("yi,xj,ij...->yx...", rows, columns, picture.astype(np.float64))
