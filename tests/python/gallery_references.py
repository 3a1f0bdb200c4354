"""What the examples of examples/kernels compute, by NumPy, SciPy, scikit-image and plain loops, in float64."""

import functools
import math

import numpy as np
from scipy import ndimage, optimize


def bilateral(picture, radius, distance, contrast):
    height, width = picture.shape
    padded = np.pad(picture.astype(float), radius, constant_values=np.nan)
    total, weights = np.zeros((height, width)), np.zeros((height, width))
    for dy in range(2 * radius + 1):
        for dx in range(2 * radius + 1):
            other = padded[dy : dy + height, dx : dx + width]
            away = ((dy - radius) ** 2 + (dx - radius) ** 2) / distance**2
            weight = np.exp(-0.5 * (away + ((other - picture) / contrast) ** 2))
            total += np.nan_to_num(weight * other)
            weights += np.nan_to_num(weight)
    return total / weights


def gray_scott(u, v, feed, kill, steps):
    def spread(a):
        straight = sum(np.roll(a, shift, axis) for axis in (0, 1) for shift in (-1, 1))
        diagonal = sum(np.roll(a, (dy, dx), (0, 1)) for dy in (-1, 1) for dx in (-1, 1))
        return 0.2 * straight + 0.05 * diagonal - a

    for _ in range(steps):
        reacting = u * v * v
        u, v = (
            u + spread(u) - reacting + feed * (1 - u),
            v + 0.5 * spread(v) + reacting - (kill[:, None] + feed) * v,
        )
    return u, v


def background(picture, tile, rounds, deviations):
    rows, columns = (extent // tile for extent in picture.shape)
    mean, deviation = np.zeros((rows, columns)), np.zeros((rows, columns))
    for row in range(rows):
        for column in range(columns):
            kept = picture[row * tile : (row + 1) * tile, column * tile : (column + 1) * tile].astype(float).ravel()
            kept = kept[~np.isnan(kept)]
            whole = kept
            for _ in range(rounds - 1):
                kept = whole[np.abs(whole - kept.mean()) <= deviations * kept.std()]
            mean[row, column], deviation[row, column] = kept.mean(), kept.std()
    return mean, deviation


def peaks(significance, least):
    """The first of the largest of each 5 x 5 neighbourhood."""
    found = np.zeros(significance.shape, bool)
    for y in range(2, significance.shape[0] - 2):
        for x in range(2, significance.shape[1] - 2):
            around = significance[y - 2 : y + 3, x - 2 : x + 3]
            found[y, x] = around[2, 2] >= least and around.argmax() == 12
    return found


def equalised(picture, tile, limit):
    height, width = picture.shape
    rows, columns = height // tile, width // tile
    tables = np.empty((rows, columns, 256))
    for row in range(rows):
        for column in range(columns):
            part = picture[row * tile : (row + 1) * tile, column * tile : (column + 1) * tile]
            counts = np.minimum(np.bincount(part.ravel(), minlength=256), int(limit * tile * tile / 256))
            tables[row, column] = np.cumsum(counts + (tile * tile - counts.sum()) / 256) * 255 / tile**2
    y, x = np.indices(picture.shape)
    y, x = (np.clip((at + 0.5) / tile - 0.5, 0, extent - 1) for at, extent in ((y, rows), (x, columns)))
    return ndimage.map_coordinates(tables, (y, x, picture), order=1)


def disparities(left, right, radius, shifts):
    height, width = left.shape
    left = np.pad(left.astype(int), radius, mode="edge")
    right = np.pad(right.astype(int), ((radius, radius), (radius + shifts, radius)), mode="edge")
    costs = []
    for shift in range(shifts):
        difference = np.abs(left - right[:, shifts - shift : shifts - shift + left.shape[1]])
        sums = np.pad(difference.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        side = 2 * radius + 1
        costs.append(sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side])
    return np.argmin(costs, axis=0).reshape(height, width)


def smoothed(picture, sigma):
    return ndimage.gaussian_filter(picture.astype(float), sigma, mode="nearest", radius=int(3 * sigma + 0.5))


def ridges(smooth):
    """The lengths of the gradient, the mask of its ridges, and how close each pixel is to another decision."""
    smooth = smooth.astype(float)
    padded = np.pad(smooth, 2, mode="edge")
    dx, dy = (ndimage.sobel(padded, axis, mode="nearest")[1:-1, 1:-1] for axis in (1, 0))
    lengths = np.hypot(dx, dy)
    inner = np.s_[1:-1, 1:-1]
    step_x, step_y = np.abs(dx) > math.tan(math.pi / 8) * np.abs(dy), np.abs(dy) > math.tan(math.pi / 8) * np.abs(dx)
    step_x, step_y = step_x.astype(int), np.where(dx * dy < 0, -1, 1) * step_y
    y, x = np.indices(lengths.shape)[:, 1:-1, 1:-1]
    step_x, step_y = step_x[inner], step_y[inner]
    behind, ahead = lengths[y - step_y, x - step_x], lengths[y + step_y, x + step_x]
    dx, dy, lengths = np.abs(dx[inner]), np.abs(dy[inner]), lengths[inner]
    tangent = math.tan(math.pi / 8)
    margin = np.min(
        [abs(lengths - behind), abs(lengths - ahead), abs(dx - tangent * dy), abs(dy - tangent * dx), dx, dy], axis=0
    )
    return lengths, (lengths > behind) & (lengths >= ahead), margin


def corner_responses(picture):
    padded = np.pad(picture.astype(float), 1, mode="edge")
    dx, dy = (ndimage.sobel(padded, axis)[1:-1, 1:-1] for axis in (1, 0))
    binomial = np.array([1, 4, 6, 4, 1]) / 16
    a, b, c = (
        ndimage.convolve1d(ndimage.convolve1d(each, binomial, 0, mode="constant"), binomial, 1, mode="constant")
        for each in (dx * dx, dx * dy, dy * dy)
    )
    return a * c - b * b - 0.05 * (a + c) ** 2


def components(mask):
    return ndimage.label(mask, np.ones((3, 3)))[0]


def connected(lengths, low, high):
    numbers = components(lengths > low)
    return np.isin(numbers, np.unique(numbers[lengths > high])) & (numbers > 0)


def colour_difference(picture, colour):
    from skimage import color

    return color.deltaE_ciede2000(color.rgb2lab(picture), color.rgb2lab(np.array([[colour]], np.uint8)))


@functools.partial(np.vectorize, otypes=[float])
def eccentric_anomaly(mean, eccentricity):
    """By bisection and interpolation (Brent's method), which needs no derivative."""
    return optimize.brentq(lambda e: e - eccentricity * math.sin(e) - mean, mean - 1, mean + 1, xtol=1e-15, rtol=1e-15)


def velocities(days, period, amplitude, eccentricity, periastron):
    mean = 2 * np.pi / period * days
    e = eccentric_anomaly(np.remainder(mean + np.pi, 2 * np.pi) - np.pi, eccentricity)
    away = 1 - eccentricity * np.cos(e)
    cosine, sine = (np.cos(e) - eccentricity) / away, np.sqrt(1 - eccentricity**2) * np.sin(e) / away
    w = np.radians(periastron)
    return amplitude * (cosine * np.cos(w) - sine * np.sin(w) + eccentricity * np.cos(w))


def demodulated(samples, squelch, rate, deviation):
    steps = samples[1:].astype(complex) * np.conj(samples[:-1].astype(complex))
    return np.where(np.abs(steps) > squelch**2, np.angle(steps) * rate / (2 * np.pi * deviation), 0)


def relaxation_times(echoes, times, least):
    """The weighted regression in closed form."""
    use = np.maximum(echoes, 1)
    weight, log = use**2, np.log(use)
    total = weight.sum(-1)
    mean_time, mean_log = (weight * times).sum(-1) / total, (weight * log).sum(-1) / total
    centred = times - mean_time[..., None]
    slope = (weight * centred * (log - mean_log[..., None])).sum(-1) / (weight * centred**2).sum(-1)
    return np.where(echoes[..., 0] < least, 0, -1 / slope)
