"""What is counted or averaged over whole pictures."""

from __future__ import annotations

from typing import NamedTuple

import numpy as _np

from .. import _core
from .._core import ndarray
from ..errors import ValueError

_color = _core._color


class ChannelMoments(NamedTuple):
    """What channel_moments finds. A tuple (mean, std)."""

    mean: ndarray
    std: ndarray


def histogram(picture, bins: int | None = None, range: tuple[float, float] | None = None, *, layout: str = "HWC"):
    """How often each value occurs in each channel: int64 (channels, bins), or (bins,) for a picture of two axes.

    bins: by default the 256 or 65536 values of uint8 and uint16. A number of bins of one width counts each channel as
        numpy.histogram does; pictures of floats need it.
    range: the ends of the bins, by default (0, 256), (0, 65536) or, for floats, (0, 1).

    picture: as for a Chain. Raises TypeError for another dtype, ShapeError (a ValueError) for another shape, ValueError
    for other numbers.
    """
    return _color.histogram(picture, bins, range, layout)


def channel_moments(picture, *, layout: str = "HWC") -> ChannelMoments:
    """The mean and the standard deviation (of the population) of each channel: ChannelMoments(mean, std), both float64
    (channels,). A batch of four axes gives (pictures, channels). Raises what histogram raises."""
    return ChannelMoments(*_color.channel_moments(picture, layout))


def _check_unit_range(function: str, a, b) -> None:
    """Floats outside of [-1, 1] have another range than the default of 1, as in scikit-image."""
    for picture in (a, b):
        x = _core.as_array(picture, None)
        if x.size == 0 or _np.dtype(x.dtype).kind != "f":
            continue
        low, high = float(x.min()), float(x.max())
        if low < -1 or high > 1:
            raise ValueError(f"{function}: floats from {low:g} to {high:g} need data_range, such as 255")


def psnr(a, b, data_range: float | None = None) -> float:
    """Peak signal-to-noise ratio in decibels, 10 log10(data_range**2 / mean squared difference), in float64; infinite
    for equal pictures. data_range: 255, 65535 or 1 (floats) by default. Raises ShapeError (a ValueError) for pictures
    of two shapes, TypeError for two dtypes, ValueError for a range that is not positive, or absent for floats outside
    of [-1, 1]."""
    if data_range is None:
        _check_unit_range("psnr", a, b)
    return _color.psnr(a, b, data_range)


def ssim(
    a,
    b,
    window: str | int = "gaussian",
    *,
    sigma: float = 1.5,
    data_range: float | None = None,
    sample_covariance: bool = False,
    layout: str = "HWC",
) -> float:
    """The mean structural similarity of two pictures (Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment:
    from error visibility to structural similarity", IEEE Transactions on Image Processing 13(4), 2004), in float64.

    window: 'gaussian', of standard deviation `sigma` and cut at 3.5 of them (11 x 11 pixels), or the odd side of a
        square whose pixels count alike. The mean is over all windows within the picture, and over the channels.
    data_range: 255, 65535 or 1 (floats) by default.
    sample_covariance: divide covariances by n - 1 instead of n.

    The defaults are the paper's. scikit-image's structural_similarity has window=7 and sample_covariance=True. Raises
    what psnr raises, and ValueError for a window that is even or larger than the picture.
    """
    is_gaussian = isinstance(window, str)
    if is_gaussian and window != "gaussian":
        raise ValueError(f"ssim: window must be 'gaussian' or an odd number, not {window!r}")
    if data_range is None:
        _check_unit_range("ssim", a, b)
    options = (is_gaussian, sigma, 7 if is_gaussian else window, data_range, bool(sample_covariance))
    return _color.ssim(a, b, options, layout)
