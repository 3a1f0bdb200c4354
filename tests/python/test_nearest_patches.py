"""iruka.image.nnf and reconstruct against brute force in float64, and their rules for ties, masks, windows and borders."""

import itertools
import signal
import threading

import numpy as np
import pytest

import iruka
from helpers import HAS_SANITIZER
from iruka import image

LARGEST = np.iinfo(np.int64).max
INTEGERS = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
FLOATS = ["float16", "float32", "float64"]
BORDERS = ["edge", "reflect", "constant", "wrap", "symmetric"]


def patches(picture, patch, border):
    """(height, width, numbers): the patches of NumPy's pad."""
    picture = picture.reshape(*picture.shape[:2], -1)
    before = patch // 2
    margin = (before, patch - 1 - before)
    padded = np.pad(picture, (margin, margin, (0, 0)), border)
    view = np.lib.stride_tricks.sliding_window_view(padded, (patch, patch), (0, 1))
    return view.reshape(*picture.shape[:2], -1)


def all_distances(a, b, patch=3, border="edge", mask=None, window=None):
    """(height, width, candidates) in float64, infinity for what may be no neighbour."""
    first, second = (patches(x, patch, border).astype(np.float64) for x in (a, b))
    with np.errstate(all="ignore"):
        distances = ((first[:, :, None] - second.reshape(-1, second.shape[-1])[None, None]) ** 2).sum(-1)
    distances[~np.isfinite(distances)] = np.inf
    y, x = np.divmod(np.arange(b.shape[0] * b.shape[1]), b.shape[1])
    if mask is not None:
        distances[:, :, ~np.asarray(mask).ravel()] = np.inf
    if window is not None:
        rows, columns = np.broadcast_to(window, 2)
        far_y = abs(y[None] - np.arange(a.shape[0])[:, None]) > rows
        far_x = abs(x[None] - np.arange(a.shape[1])[:, None]) > columns
        distances[far_y[:, None, :] | far_x[None, :, :]] = np.inf
    return distances


def expected(a, b, k=1, **options):
    """The field and float64 distances, (height, width, k, 2) and (height, width, k)."""
    distances = all_distances(a, b, **options)
    order = np.argsort(distances, axis=-1, kind="stable")[:, :, :k]
    nearest = np.take_along_axis(distances, order, -1)
    field = np.stack(np.divmod(order, b.shape[1]), -1)
    field[np.isinf(nearest)] = -1
    return field, nearest


def check(a, b, **options):
    field, nearest = expected(a, b, **{name: value for name, value in options.items() if name != "method"})
    found = image.nnf(a, b, **options)
    if options.get("k", 1) == 1:
        field, nearest = field[:, :, 0], nearest[:, :, 0]
    got, distances = iruka.asnumpy(found.field), iruka.asnumpy(found.distances)
    assert got.dtype == np.int32
    message = f"{a.dtype} {a.shape} {b.shape} { {k: v for k, v in options.items() if k != 'mask'} }"
    np.testing.assert_array_equal(got, field, message)
    if np.dtype(distances.dtype).kind == "i":
        assert distances.dtype == np.int64
        is_found = np.isfinite(nearest)
        nearest = np.where(is_found, np.where(is_found, nearest, 0).astype(np.int64), LARGEST)
    np.testing.assert_array_equal(distances, nearest, message)


def numbers(rng, dtype, shape):
    """Values whose sums of squares are exact in float32, with few levels in half of the cases."""
    high = rng.choice([2, 4, 256])
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    low = {"int8": -128, "int16": -300, "int32": -300, "int64": -300}.get(dtype, 0)
    if dtype in FLOATS:
        return (rng.integers(-min(high, 32), min(high, 32), shape) / 4).astype(dtype)
    return rng.integers(low, low + high, shape).astype(dtype)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
@pytest.mark.parametrize("case", range(24))
def test_random_cases_equal_brute_force(rng, dtype, case):
    rng = np.random.default_rng([case, (INTEGERS + FLOATS).index(dtype)])
    channels = [(), (1,), (2,), (3,), (4,), (5,), (9,)][rng.integers(7)]
    shapes = [tuple(rng.integers(1, 24, 2)) + channels for _ in range(2)]
    a, b = (numbers(rng, dtype, shape) for shape in shapes)
    options = {"patch": int(rng.integers(1, 8)), "border": BORDERS[rng.integers(len(BORDERS))]}
    if rng.random() < 0.4:
        options["mask"] = rng.random(b.shape[:2]) < 0.5
        options["mask"][0, 0] = True
    if rng.random() < 0.4:
        options["window"] = [int(rng.integers(0, 9)), tuple(int(x) for x in rng.integers(0, 9, 2))][rng.integers(2)]
    allowed = int(options["mask"].sum()) if "mask" in options else b.shape[0] * b.shape[1]
    options["k"] = int(min(rng.integers(1, 9), allowed))
    check(a, b, **options)


@pytest.mark.parametrize("patch", [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 19, 33, 34])
@pytest.mark.parametrize("channels", [(), (3,), (6,)])
def test_every_patch_size(rng, patch, channels):
    a, b = (rng.integers(0, 256, (11, 37, *channels), dtype=np.uint8) for _ in range(2))
    check(a, b, patch=patch)


@pytest.mark.parametrize("shape_a, shape_b", list(itertools.product([(1, 1), (1, 70), (70, 1), (2, 3)], repeat=2)))
@pytest.mark.parametrize("border", BORDERS)
def test_pictures_that_are_smaller_than_a_patch(rng, shape_a, shape_b, border):
    for dtype in ("uint8", "float32"):
        a, b = (numbers(rng, dtype, (*shape, 3)) for shape in (shape_a, shape_b))
        check(a, b, patch=5, border=border)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
@pytest.mark.parametrize("width", [15, 16, 17, 47, 48, 49, 97, 130])
def test_wide_pictures(rng, dtype, width):
    """Several vectors and strips of columns."""
    a, b = rng.integers(0, 64, (5, width, 3)).astype(dtype), rng.integers(0, 64, (6, 145 - width, 3)).astype(dtype)
    check(a, b, patch=3)
    check(b, a, patch=4, k=3)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32", "float32"])
@pytest.mark.parametrize("k", [1, 2, 8])
def test_of_equal_patches_the_first_is_nearer(rng, dtype, k):
    flat = np.full((9, 40), 7, dtype)
    check(flat, flat, k=k)
    stripes = np.tile(np.array([0, 5], dtype), (7, 21))
    check(stripes, stripes[:, ::-1], k=k, patch=2)
    few = rng.integers(0, 2, (40, 13)).astype(dtype)
    check(few, few[::-1], k=k, patch=2)


@pytest.mark.parametrize(
    "dtype, low, high",
    [
        ("uint16", 0, 65536),
        ("int16", -32768, 32768),
        ("uint16", 65000, 65200),
        ("int64", 2**62, 2**62 + 200),
        ("uint64", 2**64 - 200, 2**64 - 1),
        ("int32", -(2**24), 2**24),
        ("uint32", 0, 2**27),
    ],
)
def test_integers_are_summed_exactly(rng, dtype, low, high):
    a, b = (rng.integers(low, high, (7, 9, 2), dtype=dtype) for _ in range(2))
    found = image.nnf(a, b)
    first, second = (patches(x.astype(object), 3, "edge") for x in (a, b))
    distances = ((first[:, :, None] - second.reshape(-1, second.shape[-1])[None, None]) ** 2).sum(-1)
    np.testing.assert_array_equal(iruka.asnumpy(found.distances), distances.min(-1).astype(np.int64))
    best = distances.argmin(-1)
    np.testing.assert_array_equal(iruka.asnumpy(found.field), np.stack([best // 9, best % 9], -1))


def test_integers_of_too_large_a_span_are_refused():
    with pytest.raises(ValueError, match=r"nnf: the pictures hold integers from 0 to 4294967295, so .* 2\*\*61"):
        image.nnf(np.array([[0, 2**32 - 1]], np.uint32), np.array([[0, 5]], np.uint32))


def rounded(a, b, patch, dtype):
    """The stated order of additions, (height, width, candidates); products are exact in the wider type."""
    wide = np.float64 if dtype == np.float32 else np.longdouble
    first, second = (patches(x, patch, "edge") for x in (a, b))
    shape = (patch, patch, -1)
    rows = None
    # sliding_window_view puts channels before the window.
    first, second = (
        x.reshape(*x.shape[:2], -1, patch, patch).transpose(0, 1, 3, 4, 2).reshape(x.shape[0] * x.shape[1], *shape)
        for x in (first, second)
    )
    for y in range(patch):
        row = None
        for x in range(patch):
            pixel = np.zeros((len(first), len(second)), dtype)
            for c in range(first.shape[-1]):
                difference = (first[:, None, y, x, c] - second[None, :, y, x, c]).astype(wide)
                pixel = (pixel.astype(wide) + difference * difference).astype(dtype)
            row = pixel if row is None else row + pixel
        rows = row if rows is None else rows + row
    return rows


@pytest.mark.parametrize("patch", [1, 2, 3, 5])
@pytest.mark.parametrize("channels", [1, 3])
def test_floats_are_rounded_as_stated(rng, patch, channels):
    """float32, whose fused products float64 holds nearly always: the values have 12 bits, so that it always does."""
    a, b = (
        (rng.integers(-2048, 2048, (6, 21, channels)) / 1000).astype(np.float16).astype(np.float32) for _ in range(2)
    )
    a, b = a * np.float32(1.25), b * np.float32(0.75)
    found = image.nnf(a, b, patch=patch)
    distances = rounded(a, b, patch, np.float32)
    best = distances.argmin(-1)
    np.testing.assert_array_equal(iruka.asnumpy(found.distances).ravel(), distances.min(-1))
    np.testing.assert_array_equal(iruka.asnumpy(found.field).reshape(-1, 2), np.stack([best // 21, best % 21], -1))


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinity_are_no_neighbours(rng, dtype):
    a, b = ((rng.integers(0, 9, (8, 11)) / 2).astype(dtype) for _ in range(2))
    a[2, 3], b[4, 5], b[0, 0] = np.nan, np.nan, np.inf
    check(a, b, k=3)
    found = image.nnf(a, np.full((4, 4), np.nan, dtype))
    assert (iruka.asnumpy(found.field) == -1).all()
    assert np.isposinf(iruka.asnumpy(found.distances)).all()


def test_a_window_may_leave_no_neighbour():
    a, b = np.zeros((3, 9), np.uint8), np.zeros((3, 4), np.uint8)
    found = image.nnf(a, b, window=2, k=3)
    assert (iruka.asnumpy(found.field)[:, 6:] == -1).all()
    assert (iruka.asnumpy(found.distances)[:, 6:] == LARGEST).all()
    check(a, b, window=2, k=3)


def test_mixed_dtypes_and_layouts(rng):
    a, b = rng.integers(0, 9, (8, 12, 3)).astype(np.uint8), rng.integers(0, 9, (12, 9, 3)).astype(np.float32)
    check(a, b, patch=2)
    check(a[::-1, ::2], b.transpose(1, 0, 2), patch=3)
    found = image.nnf(iruka.asarray(a), iruka.asarray(a))
    assert isinstance(found, image.NearestPatches) and isinstance(found.field, iruka.ndarray)


@pytest.mark.cpu_only
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_threads_do_not_change_the_field(rng, dtype):
    a, b = (rng.integers(0, 30, (61, 70, 3)).astype(dtype) for _ in range(2))
    before = iruka.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 8):
            iruka.set_num_threads(threads)
            for method in ("exact", "patchmatch"):
                found = image.nnf(a, b, patch=3, k=2, method=method)
                results.append((method, iruka.asnumpy(found.field), iruka.asnumpy(found.distances)))
    finally:
        iruka.set_num_threads(before)
    for method, field, distances in results:
        reference = results[0 if method == "exact" else 1]
        np.testing.assert_array_equal(field, reference[1])
        np.testing.assert_array_equal(distances, reference[2])


@pytest.mark.parametrize("method", ["exact", "patchmatch"])
def test_progress(rng, method):
    a, b = (rng.integers(0, 256, (70, 80, 3), dtype=np.uint8) for _ in range(2))
    calls = []
    found = image.nnf(a, b, method=method, progress=lambda done, count: calls.append((done, count)))
    assert calls[-1] == (70 * 80, 70 * 80)
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})
    np.testing.assert_array_equal(iruka.asnumpy(found.field), iruka.asnumpy(image.nnf(a, b, method=method).field))

    def stop(done, count):
        raise LookupError("stop")

    with pytest.raises(LookupError, match="stop"):
        image.nnf(a, b, method=method, progress=stop)


@pytest.mark.cpu_only
@pytest.mark.skipif(HAS_SANITIZER, reason="a matter of time")
@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_an_interrupt_ends_the_search(dtype):
    """The whole search would take minutes."""
    picture = np.random.default_rng(0).integers(0, 256, (1500, 1500, 3)).astype(dtype)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            image.nnf(picture, picture, patch=9)
    finally:
        timer.cancel()


@pytest.mark.parametrize(
    "change, error, message",
    [
        ({"a": np.zeros(3)}, ValueError, r"nnf: a must be \(height, width\) or .*, not of shape \(3,\)"),
        (
            {"b": np.zeros((3, 3, 2))},
            ValueError,
            r"nnf: a and b must have the same channels, not shapes \(4, 5\) and \(3, 3, 2\)",
        ),
        ({"b": np.zeros((0, 3))}, ValueError, r"nnf: a and b must have pixels"),
        ({"a": np.zeros((3, 3), complex)}, TypeError, "nnf: a must hold real numbers, not complex128"),
        ({"a": "picture"}, TypeError, "nnf: a must be an array, not"),
        ({"patch": 0}, ValueError, "nnf: patch must be 1 to 1023, not 0"),
        ({"patch": 2.5}, TypeError, "patch"),
        ({"k": 9}, ValueError, "nnf: k must be 1 to 8, not 9"),
        ({"b": np.zeros((1, 2)), "k": 3}, ValueError, "nnf: k must be at most the 2 pixels of b"),
        ({"mask": np.zeros((4, 4), bool)}, ValueError, "nnf: k must be at most the 0 pixels"),
        ({"mask": np.zeros((2, 4), bool)}, ValueError, r"nnf: mask must have b's shape \(4, 4\), not \(2, 4\)"),
        ({"mask": np.zeros((4, 4))}, TypeError, "nnf: mask must be bool, not float64"),
        ({"window": -1}, ValueError, r"nnf: window must be displacements of 0 or more, not \(-1, -1\)"),
        ({"window": (1, 2, 3)}, ValueError, "nnf: window must be a number or"),
        (
            {"border": "mirror"},
            ValueError,
            "border must be one of 'constant', 'edge', 'reflect', 'symmetric', 'wrap', not 'mirror'",
        ),
        ({"method": "fast"}, ValueError, "method must be 'exact' or 'patchmatch', not 'fast'"),
        ({"seed": -1}, ValueError, "nnf: seed must not be negative"),
        ({"iterations": -1}, ValueError, "nnf: iterations must be 0 to 1000, not -1"),
    ],
)
def test_errors(change, error, message):
    arguments = {"a": np.zeros((4, 5)), "b": np.zeros((4, 4)), **change}
    with pytest.raises(error, match=message):
        image.nnf(**arguments)


def rebuilt(field, b, patch, border):
    """The mean of the patches that are laid, in float64."""
    height, width = field.shape[:2]
    before = patch // 2
    flat = b.reshape(*b.shape[:2], -1).astype(np.float64)
    margin = (before, patch - 1 - before)
    padded = np.pad(flat, (margin, margin, (0, 0)), border)
    total = np.zeros((height + patch - 1, width + patch - 1, flat.shape[2]))
    count = np.zeros((height + patch - 1, width + patch - 1, 1))
    for y, x in np.ndindex(height, width):
        b_y, b_x = field[y, x]
        if b_y < 0:
            continue
        total[y : y + patch, x : x + patch] += padded[b_y : b_y + patch, b_x : b_x + patch]
        count[y : y + patch, x : x + patch] += 1
    mean = (total / np.maximum(count, 1))[before : before + height, before : before + width]
    return mean.reshape(height, width, *b.shape[2:])


@pytest.mark.parametrize("dtype", ["uint8", "bool", "int16", "float32", "float16"])
@pytest.mark.parametrize("patch", [1, 2, 3, 6])
@pytest.mark.parametrize("border", BORDERS)
def test_reconstruct_lays_patches(rng, dtype, patch, border):
    for channels in ((), (3,)):
        b = numbers(rng, dtype, (9, 7, *channels))
        field = np.stack([rng.integers(0, 9, (6, 8)), rng.integers(0, 7, (6, 8))], -1).astype(np.int32)
        field[rng.random((6, 8)) < 0.2] = -1
        got = iruka.asnumpy(image.reconstruct(field, b, patch, border))
        want = rebuilt(field, b, patch, border)
        assert got.dtype == b.dtype
        if np.dtype(dtype).kind == "f":
            np.testing.assert_allclose(got, want, rtol=2e-3 if dtype == "float16" else 1e-6)
        else:
            np.testing.assert_array_equal(got, np.rint(want).astype(dtype))


def test_a_picture_rebuilds_itself(rng):
    picture = rng.integers(0, 256, (30, 40, 3), dtype=np.uint8)
    found = image.nnf(picture, picture)
    assert (iruka.asnumpy(found.distances) == 0).all()
    np.testing.assert_array_equal(iruka.asnumpy(image.reconstruct(found.field, picture)), picture)


@pytest.mark.parametrize(
    "field, patch, error, message",
    [
        (np.zeros((3, 3), np.int32), 3, ValueError, r"reconstruct: field must be \(height, width, 2\)"),
        (np.zeros((3, 3, 2), np.int64), 3, TypeError, "reconstruct: field must be int32, not int64"),
        (np.full((3, 3, 2), 4, np.int32), 3, IndexError, "reconstruct: field has y = 4, but b is of shape"),
        (np.zeros((3, 3, 2), np.int32), 0, ValueError, "reconstruct: patch must be 1 to 1023, not 0"),
    ],
)
def test_errors_of_reconstruct(field, patch, error, message):
    with pytest.raises(error, match=message):
        image.reconstruct(field, np.zeros((4, 5)), patch)
