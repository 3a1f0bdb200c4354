"""Pictures: patches, windows, colours, resizing."""

import numpy as np

from ..computation import Computation, computation


def smooth_picture(height, width, channels, seed):
    """Whole numbers from 0 to 255 as float32: waves and noise, repeated where the picture is large."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: min(height, 500), : min(width, 500)]
    waves = 127 + 60 * np.sin(x / 17 + y / 29 + seed) + 50 * np.cos(y / 11 - seed)
    noise = rng.normal(0, 12, (*waves.shape, channels))
    tile = np.clip(np.rint(waves[..., None] + noise), 0, 255).astype(np.float32)
    times = (-(-height // tile.shape[0]), -(-width // tile.shape[1]), 1)
    return np.ascontiguousarray(np.tile(tile, times)[:height, :width])


def edge_windows(picture):
    """The 3x3 windows around each pixel, the edge repeated: (height, width, ..., 3, 3)."""
    margin = ((1, 1), (1, 1), *((0, 0) for _ in picture.shape[2:]))
    return np.lib.stride_tricks.sliding_window_view(np.pad(picture, margin, "edge"), (3, 3), (0, 1))


@computation(full=(48, 64, 48, 64), long=(134, 200, 134, 200), small=(2, 3, 3, 2), odd=(7, 13, 5, 9))
def patch_match(height, width, height_b, width_b):
    a, b = smooth_picture(height, width, 3, 1), smooth_picture(height_b, width_b, 3, 2)

    def expected():
        first, second = (edge_windows(each).reshape(-1, 27).astype(np.float64) for each in (a, b))
        squares = (second**2).sum(1)
        parts = [first[k : k + 1024] for k in range(0, len(first), 1024)]
        at = np.concatenate([(squares - 2 * part @ second.T).argmin(1) for part in parts])  # whole numbers: exact
        return {"nnf": np.stack([at % width_b, at // width_b], 1).reshape(height, width, 2).astype(np.int32)}

    return Computation(
        title=f"nearest 3x3 patch in colour, {width}x{height} in {width_b}x{height_b}",
        data=dict(
            a=a,
            b=b,
            width_a=width,
            height_a=height,
            width_b=width_b,
            height_b=height_b,
            radius=1,
            pixels=height * width,
        ),
        outputs=dict(nnf=np.zeros((height, width, 2), np.int32)),
        views=dict(nearest_x=("nnf", (..., 0)), nearest_y=("nnf", (..., 1))),
        expected=expected,
        native=("a", "b", "width_a", "height_a", "width_b", "height_b", "nnf"),
    )


@computation(full=(2400, 3000), small=(2, 3), odd=(13, 37))
def mean(height, width):
    picture = smooth_picture(height, width, 1, 3)[..., 0]

    def expected():
        padded, counts = np.pad(picture.astype(np.float64), 1), np.pad(np.ones((height, width)), 1)
        windows, inside = (np.lib.stride_tricks.sliding_window_view(x, (3, 3)) for x in (padded, counts))
        return {"mean": (windows.sum((2, 3)) / inside.sum((2, 3))).astype(np.float32)}

    return Computation(
        title=f"3x3 mean, {width}x{height}",
        data=dict(picture=picture, width=width, height=height),
        outputs=dict(mean=np.zeros((height, width), np.float32)),
        expected=expected,
        rtol=1e-6,
        native=("picture", "width", "height", "mean"),
    )


@computation(full=(2400, 3000), small=(2, 3), odd=(13, 37))
def convolve(height, width):
    picture = smooth_picture(height, width, 1, 4)[..., 0]
    padded = np.pad(picture, 1, "edge")
    taps = np.outer([1, 2, 1], [1, 2, 1]).astype(np.float32) / 16

    def expected():
        return {"result": (edge_windows(picture).astype(np.float64) * taps).sum((2, 3)).astype(np.float32)}

    shifted = {f"p{v}{u}": ("padded", (slice(v, v + height), slice(u, u + width))) for v in range(3) for u in range(3)}
    return Computation(
        title=f"3x3 convolution, {width}x{height}",
        data=dict(picture=picture, padded=padded, taps=taps, width=width, height=height, size=3),
        outputs=dict(result=np.zeros((height, width), np.float32)),
        views=shifted,
        expected=expected,
        rtol=1e-6,
        native=("picture", "taps", "width", "height", "result"),
    )


@computation(full=(4000, 6000), small=(2, 3), odd=(13, 37))
def grey(height, width):
    picture = smooth_picture(height, width, 3, 5).astype(np.uint8)
    weights = np.array([0.299, 0.587, 0.114], np.float32)

    def expected():
        return {"grey": np.rint(picture.astype(np.float64) @ [0.299, 0.587, 0.114]).astype(np.uint8)}

    return Computation(
        title=f"grey of RGB bytes, {width}x{height}",
        data=dict(picture=picture, weights=weights, width=width, pixels=height * width),
        outputs=dict(grey=np.zeros((height, width), np.uint8)),
        views={name: ("picture", (..., c)) for c, name in enumerate(("red", "green", "blue"))},
        expected=expected,
        atol=1,
        native=("picture", "pixels", "grey"),
    )


@computation(full=(2000, 3000), small=(2, 3), odd=(13, 37))
def hsv(height, width):
    picture = smooth_picture(height, width, 3, 6) / np.float32(255)
    picture[: height // 3] = picture[: height // 3, :, :1]  # grey pixels have no hue

    def expected():
        r, g, b = np.moveaxis(picture.astype(np.float64), -1, 0)
        v, low = picture.max(-1).astype(np.float64), picture.min(-1).astype(np.float64)
        d = v - low
        with np.errstate(divide="ignore", invalid="ignore"):
            h = np.where(v == r, (g - b) / d % 6, np.where(v == g, (b - r) / d + 2, (r - g) / d + 4)) * 60
            s = np.where(v > 0, d / v, 0)
        return {"hsv": np.stack([np.where(d > 0, h, 0), s, v], -1).astype(np.float32)}

    colours, parts = ("red", "green", "blue"), ("hue", "saturation", "value")
    return Computation(
        title=f"hue, saturation, value, {width}x{height}",
        data=dict(picture=picture, pixels=height * width),
        outputs=dict(hsv=np.zeros((height, width, 3), np.float32)),
        views={
            **{name: ("picture", (..., c)) for c, name in enumerate(colours)},
            **{name: ("hsv", (..., c)) for c, name in enumerate(parts)},
        },
        expected=expected,
        rtol=1e-5,
        atol=1e-4,
        native=("picture", "pixels", "hsv"),
    )


@computation(full=(500, 700), small=(2, 3), odd=(13, 37))
def bilateral(height, width):
    picture = smooth_picture(height, width, 1, 7)[..., 0]
    sigma_space, sigma_range = 2.0, 30.0
    y, x = np.mgrid[-2:3, -2:3]
    space = np.exp(-(x * x + y * y) / (2 * sigma_space**2))

    def expected():
        padded, exact = np.pad(picture.astype(np.float64), 2, "edge"), picture.astype(np.float64)
        total, weights = np.zeros_like(exact), np.zeros_like(exact)
        for v in range(5):
            for u in range(5):
                value = padded[v : v + height, u : u + width]
                weight = space[v, u] * np.exp(-((value - exact) ** 2) / (2 * sigma_range**2))
                total += weight * value
                weights += weight
        return {"result": (total / weights).astype(np.float32)}

    return Computation(
        title=f"bilateral filter of 5x5, {width}x{height}",
        data=dict(
            picture=picture, width=width, height=height, radius=2, sigma_space=sigma_space, sigma_range=sigma_range,
            space=space.astype(np.float32),
        ),
        outputs=dict(result=np.zeros((height, width), np.float32)),
        expected=expected,
        rtol=1e-5,
        native=("picture", "width", "height", "sigma_space", "sigma_range", "result"),
    )  # fmt: skip


@computation(full=(1400, 2000), small=(2, 3), odd=(13, 37))
def median(height, width):
    picture = smooth_picture(height, width, 1, 8)[..., 0].astype(np.uint8)

    def expected():
        return {"median": np.partition(edge_windows(picture).reshape(height, width, 9), 4)[..., 4]}

    return Computation(
        title=f"3x3 median of bytes, {width}x{height}",
        data=dict(picture=picture, width=width, height=height),
        outputs=dict(median=np.zeros((height, width), np.uint8)),
        expected=expected,
        native=("picture", "width", "height", "median"),
    )


def bilinear(picture, u, v):
    """Samples at columns u and rows v, which are inside."""
    height, width = picture.shape
    x0, y0 = np.floor(u).astype(int), np.floor(v).astype(int)
    x1, y1 = np.minimum(x0 + 1, width - 1), np.minimum(y0 + 1, height - 1)
    fx, fy = u - x0, v - y0
    above = picture[y0, x0] * (1 - fx) + picture[y0, x1] * fx
    below = picture[y1, x0] * (1 - fx) + picture[y1, x1] * fx
    return above * (1 - fy) + below * fy


@computation(full=(1100, 1500, 1600, 2100), small=(2, 3, 3, 2), odd=(13, 37, 17, 23))
def resize(height, width, new_height, new_width):
    picture = smooth_picture(height, width, 1, 9)[..., 0]
    rows = np.clip((np.arange(new_height) + 0.5) * height / new_height - 0.5, 0, height - 1)
    columns = np.clip((np.arange(new_width) + 0.5) * width / new_width - 0.5, 0, width - 1)

    def expected():
        found = bilinear(picture.astype(np.float64), columns[None], rows[:, None])
        return {"result": found.astype(np.float32)}

    return Computation(
        title=f"bilinear resizing, {width}x{height} to {new_width}x{new_height}",
        data=dict(
            picture=picture, width=width, height=height, new_width=new_width, new_height=new_height,
            scale_x=width / new_width, scale_y=height / new_height,
            column=columns.astype(np.int32), column_part=(columns % 1).astype(np.float32),
            row=rows.astype(np.int32), row_part=(rows % 1).astype(np.float32),
        ),
        outputs=dict(result=np.zeros((new_height, new_width), np.float32)),
        expected=expected,
        atol=0.05,
        native=("picture", "width", "height", "new_width", "new_height", "result"),
    )  # fmt: skip


@computation(full=(1400, 2000), small=(4, 5), odd=(23, 37))
def warp(height, width):
    picture = smooth_picture(height, width, 1, 10)[..., 0]
    angle = 0.3
    y, x = np.mgrid[:height, :width].astype(np.float64)
    dx, dy = x - width / 2, y - height / 2
    u = np.cos(angle) * dx - np.sin(angle) * dy + width / 2 + 3 * np.sin(0.05 * y)
    v = np.sin(angle) * dx + np.cos(angle) * dy + height / 2

    def expected():
        inside = (u >= 0) & (u < width - 1) & (v >= 0) & (v < height - 1)
        found = bilinear(picture.astype(np.float64), np.where(inside, u, 0), np.where(inside, v, 0))
        return {"result": np.where(inside, found, 0).astype(np.float32)}

    return Computation(
        title=f"turning a picture in waves, {width}x{height}",
        data=dict(
            picture=picture, width=width, height=height, angle=angle, cosine=float(np.cos(angle)),
            sine=float(np.sin(angle)), map_x=u.astype(np.float32), map_y=v.astype(np.float32),
        ),
        outputs=dict(result=np.zeros((height, width), np.float32)),
        expected=expected,
        atol=0.1,
        portion=0.001,
        native=("picture", "width", "height", "cosine", "sine", "result"),
    )  # fmt: skip


@computation(full=(2000, 3000), small=(2, 3), odd=(13, 37))
def histogram(height, width):
    picture = smooth_picture(height, width, 1, 11)[..., 0].astype(np.uint8)
    return Computation(
        title=f"histogram of bytes, {width}x{height}",
        data=dict(picture=picture, value=picture, width=width, height=height, pixels=height * width),
        outputs=dict(bins=np.zeros(256, np.int32)),
        expected=lambda: {"bins": np.bincount(picture.ravel(), minlength=256).astype(np.int32)},
        native=("picture", "pixels", "bins"),
    )
