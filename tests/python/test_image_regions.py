"""Distance transforms, connected components and block reductions against SciPy, OpenCV and scikit-image."""

import cv2
import numpy as np
import pytest
import scipy.ndimage
import skimage.measure

import iruka
from iruka import _core, image

SHAPES = [(1, 1), (1, 40), (40, 1), (2, 3), (37, 70), (70, 129), (64, 300), (3, 2100)]


@pytest.fixture(params=[False, True], ids=["loops", "kernels"])
def device_code(request):
    """Both ways to an answer: the CPU's loops, and the kernels that GPUs run."""
    _core._geometry.prefer_kernels(request.param)
    yield
    _core._geometry.prefer_kernels(False)


def pictures(rng):
    for shape in SHAPES:
        for density in (0.0, 0.02, 0.3, 0.5, 0.7, 0.98, 1.0):
            yield (rng.random(shape) < density).astype(np.uint8) * 255
    smooth = cv2.GaussianBlur(rng.random((120, 200)).astype(np.float32), (0, 0), 4)
    yield (smooth > smooth.mean()).astype(np.uint8)
    spiral = np.zeros((64, 64), np.uint8)  # one long component
    for k in range(0, 32, 4):
        spiral[k, k : 64 - k] = spiral[k : 64 - k, 63 - k] = spiral[63 - k, k : 64 - k] = 1
        spiral[k + 4 : 64 - k, k] = 1
        spiral[k + 4, k : k + 4] = 1
    yield spiral
    ends = np.ones((90, 1500), np.uint8)  # nearest columns that lie far apart
    ends[20, [0, -1]] = ends[40, 700] = ends[80, [3, 1400]] = 0
    yield ends


def brute_force(picture, metric):
    """The least distance to any zero, in float64."""
    y, x = np.nonzero(picture == 0)
    rows, columns = np.indices(picture.shape)
    dy, dx = np.abs(rows[..., None] - y), np.abs(columns[..., None] - x)
    if metric == "euclidean":
        return np.sqrt((dy**2 + dx**2).min(-1, initial=2**40).astype(float))
    return (dy + dx if metric == "cityblock" else np.maximum(dy, dx)).min(-1, initial=2**31 - 1)


@pytest.mark.usefixtures("device_code")
@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "chessboard"])
def test_distances_are_the_least(rng, metric):
    for picture in pictures(rng):
        got = iruka.asnumpy(image.distance_transform(picture, metric))
        assert got.dtype == (np.float32 if metric == "euclidean" else np.int32)
        if picture.all():
            assert (got == (np.inf if metric == "euclidean" else 2**31 - 1)).all()
            continue
        if picture.size < 6000:
            np.testing.assert_array_equal(got, brute_force(picture, metric).astype(got.dtype))
        if metric == "euclidean":
            want = scipy.ndimage.distance_transform_edt(picture).astype(np.float32)
        else:
            name = {"cityblock": "taxicab", "chessboard": "chessboard"}[metric]
            want = scipy.ndimage.distance_transform_cdt(picture, name)
        np.testing.assert_array_equal(got, want)


@pytest.mark.usefixtures("device_code")
def test_distances_of_tall_pictures(rng):
    picture = (rng.random((2500, 100)) < 0.98).astype(np.uint8)
    got = iruka.asnumpy(image.distance_transform(picture))
    np.testing.assert_array_equal(got, scipy.ndimage.distance_transform_edt(picture).astype(np.float32))


@pytest.mark.usefixtures("device_code")
@pytest.mark.parametrize("connectivity", [4, 8])
def test_components_are_scipys_and_opencvs(rng, connectivity):
    for picture in pictures(rng):
        labels, count, areas, boxes, centroids = image.connected_components(picture, connectivity, statistics=True)
        want, number = scipy.ndimage.label(picture, np.ones((3, 3)) if connectivity == 8 else None)
        assert count == number
        assert labels.dtype == np.int32
        np.testing.assert_array_equal(iruka.asnumpy(labels), want)
        others = cv2.connectedComponentsWithStats(picture, connectivity=connectivity)
        assert others[0] == count + 1
        areas, boxes, centroids = iruka.asnumpy(areas), iruka.asnumpy(boxes), iruka.asnumpy(centroids)
        assert (areas.dtype, boxes.dtype, centroids.dtype) == (np.int64, np.int32, np.float64)
        assert areas.sum() == picture.size
        for label in range(count + 1):
            y, x = np.nonzero(want == label)
            assert areas[label] == y.size
            if y.size == 0:
                assert np.isnan(centroids[label]).all() and (boxes[label] == 0).all()
                continue
            expected = (y.min(), x.min(), y.max() - y.min() + 1, x.max() - x.min() + 1)
            assert tuple(boxes[label]) == expected
            np.testing.assert_allclose(centroids[label], (y.mean(), x.mean()), rtol=1e-13)
        if count:  # OpenCV numbers components in another order
            their_areas = np.sort(others[2][1:, cv2.CC_STAT_AREA])
            np.testing.assert_array_equal(np.sort(areas[1:]), their_areas)


@pytest.mark.usefixtures("device_code")
def test_any_dtype_and_layout(rng):
    base = rng.integers(0, 3, (40, 50))
    for dtype in (bool, np.int8, np.uint16, np.int64, np.float16, np.float64):
        picture = base.astype(dtype)
        for view in (picture, picture.T, picture[::-1, ::2], np.asfortranarray(picture)):
            want = scipy.ndimage.label(view != 0)[0]
            np.testing.assert_array_equal(iruka.asnumpy(image.connected_components(view, 4).labels), want)
            edt = scipy.ndimage.distance_transform_edt(view != 0).astype(np.float32)
            np.testing.assert_array_equal(iruka.asnumpy(image.distance_transform(view)), edt)
    assert image.connected_components(base).areas is None
    for shape in ((0, 5), (5, 0)):
        assert image.distance_transform(np.zeros(shape, np.uint8)).shape == shape
        labels, count, areas, *_ = image.connected_components(np.zeros(shape, np.uint8), statistics=True)
        assert (labels.shape, count, areas.tolist()) == (shape, 0, [0])


def test_numbers_of_threads_do_not_change_answers(rng):
    picture = (rng.random((500, 700)) < 0.6).astype(np.uint8)
    before = iruka.get_num_threads()
    made = []
    try:
        for threads in (1, 4):
            iruka.set_num_threads(threads)
            made.append((image.distance_transform(picture), image.connected_components(picture, statistics=True)))
    finally:
        iruka.set_num_threads(before)
    np.testing.assert_array_equal(iruka.asnumpy(made[0][0]), iruka.asnumpy(made[1][0]))
    for one, other in zip(made[0][1], made[1][1]):
        np.testing.assert_array_equal(iruka.asnumpy(one), iruka.asnumpy(other))


@pytest.mark.parametrize(
    "function", [np.sum, np.mean, np.max, np.min, np.median, np.std, np.prod], ids=lambda function: function.__name__
)
def test_block_reduce_is_scikit_images(rng, function):
    ours = getattr(iruka, function.__name__)
    for shape, block in (
        ((5,), 2),
        ((6, 9), (2, 3)),
        ((7, 5), 3),
        ((5, 6, 3), (2, 2, 1)),
        ((2, 3, 4, 5), 2),
        ((4, 4), 9),
    ):
        for dtype in (np.uint8, np.int32, np.float32, np.float64):
            array = (rng.random(shape) * 4).astype(dtype)
            for cval in (0, 3):
                want = skimage.measure.block_reduce(array, block, function, cval)
                for reduce in (ours, function):
                    got = iruka.asnumpy(image.block_reduce(array, block, reduce, cval))
                    assert got.shape == want.shape
                    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert iruka.asnumpy(image.block_reduce(np.ones((4, 6), np.uint8), 2)).tolist() == [[4, 4, 4], [4, 4, 4]]


def test_block_reduce_takes_any_function_and_its_arguments():
    array = np.arange(12.0).reshape(3, 4)
    got = image.block_reduce(array, (2, 2), lambda blocks, axis: blocks.max(axis) - blocks.min(axis))
    assert got.tolist() == [[5, 5], [9, 11]]
    got = image.block_reduce(array, 2, iruka.mean, func_kwargs={"dtype": "float32"})
    assert got.dtype == np.float32


def test_errors():
    picture = np.zeros((4, 5), np.uint8)
    cases = [
        (ValueError, "height, width", lambda: image.distance_transform(np.zeros(4))),
        (ValueError, "height, width", lambda: image.connected_components(np.zeros((4, 5, 3)))),
        (TypeError, "real, not complex", lambda: image.distance_transform(picture + 1j)),
        (TypeError, "an array", lambda: image.connected_components("picture")),
        (ValueError, "metric must be one of", lambda: image.distance_transform(picture, "l2")),
        (ValueError, "4 or 8, not 6", lambda: image.connected_components(picture, 6)),
        (ValueError, "each of 2 axes", lambda: image.block_reduce(picture, (2,))),
        (ValueError, "positive", lambda: image.block_reduce(picture, (2, 0))),
        (TypeError, "cval must be a number", lambda: image.block_reduce(picture, 3, cval="none")),
    ]
    for error, message, call in cases:
        with pytest.raises(error, match=message):
            call()
