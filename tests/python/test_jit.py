"""jit.rawkernel: kernels over blocks of threads, written in Python."""

import copy
import math
import pickle
import re
import threading

import numpy as np
import pytest

import iruka
from iruka import jit
from iruka.errors import DeviceError, TranslationError

rng = np.random.default_rng(5)
SCALE = 3
BLOCK = 64


@jit.rawkernel()
def copy_elements(x, y, size):
    start = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    for k in range(start, size, jit.gridDim.x * jit.blockDim.x):
        y[k] = x[k]


@jit.rawkernel()
def block_sums(x, sums):
    shared = jit.shared_memory(np.float32, BLOCK)
    thread = jit.threadIdx.x
    place = jit.grid(1)
    shared[thread] = x[place] if place < x.size else 0
    jit.syncthreads()
    half = jit.blockDim.x // 2
    while half > 0:
        if thread < half:
            shared[thread] += shared[thread + half]
        jit.syncthreads()
        half //= 2
    if thread == 0:
        sums[jit.blockIdx.x] = shared[0]


@jit.rawkernel()
def sums_of_any_size(x, sums):
    shared = jit.shared_memory(np.float64, None)
    thread = jit.threadIdx.x
    shared[thread] = x[jit.grid(1)]
    jit.syncthreads()
    if thread == 0:
        total = 0.0
        for k in range(jit.blockDim.x):
            total += shared[k]
        sums[jit.blockIdx.x] = total


@jit.rawkernel()
def warp_scan(x, y):
    value = x[jit.grid(1)]
    distance = 1
    while distance < jit.warpsize:
        below = jit.shfl_up_sync(0xFFFFFFFF, value, distance)
        if jit.laneid() >= distance:
            value += below
        distance *= 2
    y[jit.grid(1)] = value


@jit.rawkernel()
def histogram(x, counts):
    shared = jit.shared_memory(np.int32, 16)
    if jit.threadIdx.x < 16:
        shared[jit.threadIdx.x] = 0
    jit.syncthreads()
    for k in range(jit.grid(1), len(x), jit.gridsize(1)):
        jit.atomic_add(shared, x[k], 1)
    jit.syncthreads()
    if jit.threadIdx.x < 16:
        jit.atomic_add(counts, jit.threadIdx.x, shared[jit.threadIdx.x])


@jit.rawkernel(device=True)
def clamped(k, extent):
    return min(max(k, 0), extent - 1)


@jit.rawkernel()
def blur(x, y):
    j, i = jit.grid(2)
    rows, columns = x.shape
    if i >= rows or j >= columns:
        return
    total = 0.0
    for di in jit.range(-1, 2, unroll=True):
        for dj in jit.range(-1, 2):
            total += x[clamped(i + di, rows), clamped(j + dj, columns)]
    y[i, j] = total / 9


@jit.rawkernel(device=True)
def add_to(array, k, value):
    array[k] += value


@jit.rawkernel(device=True)
def extremes(a, b):
    return min(a, b), max(a, b)


@jit.rawkernel()
def with_device_functions(x, low, high):
    shared = jit.shared_memory(np.float32, BLOCK)
    k = jit.threadIdx.x
    shared[k] = x[k]
    add_to(shared, k, SCALE)
    a, b = extremes(shared[k], 0)
    low[k] = a
    high[k] = b


def on_device(values):
    return iruka.array(np.asarray(values))


def expected_blur(x):
    padded = np.pad(x, 1, mode="edge").astype("f8")
    rows, columns = x.shape
    return sum(padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3)) / 9


class TestKernels:
    @pytest.mark.parametrize("dtype", ["?", "i1", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
    def test_copies(self, dtype):
        x = on_device(np.arange(300) % 2 if dtype == "?" else np.arange(300).astype(dtype)).astype(dtype)
        y = iruka.zeros(300, dtype)
        assert copy_elements((3,), (32,), (x, y, 300)) is None
        np.testing.assert_array_equal(iruka.asnumpy(y), iruka.asnumpy(x))

    def test_grid_and_block_as_indices(self):
        x, y = on_device(np.arange(300)), iruka.zeros(300, int)
        copy_elements[2, 64](x, y, np.int32(200))
        np.testing.assert_array_equal(iruka.asnumpy(y), np.where(np.arange(300) < 200, np.arange(300), 0))
        copy_elements[(1, 1), (64, 1, 1)](x, y, 300)
        np.testing.assert_array_equal(iruka.asnumpy(y), np.arange(300))

    def test_reduction_with_shared_memory(self):
        x = rng.integers(0, 100, 1000).astype("f4")
        sums = iruka.zeros(16, "f4")
        block_sums((16,), (BLOCK,), (on_device(x), sums))
        expected = np.pad(x, (0, 24)).reshape(16, BLOCK).sum(1)
        np.testing.assert_array_equal(iruka.asnumpy(sums), expected)

    @pytest.mark.parametrize("block", [8, 100])
    def test_shared_memory_of_the_launch(self, block):
        x = rng.integers(0, 100, 4 * block).astype("f8")
        sums = iruka.zeros(4)
        sums_of_any_size((4,), (block,), (on_device(x), sums), shared_mem=8 * block)
        np.testing.assert_array_equal(iruka.asnumpy(sums), x.reshape(4, block).sum(1))

    @pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "u4", "f4", "f8"])
    def test_scan_by_shuffles(self, dtype):
        x = rng.integers(0, 50, 128).astype(dtype)
        y = iruka.zeros(128, dtype)
        warp_scan((2,), (64,), (on_device(x), y))
        np.testing.assert_array_equal(iruka.asnumpy(y), np.cumsum(x.reshape(4, 32), 1, dtype=dtype).ravel())

    def test_histogram_with_shared_atomics(self):
        x = rng.integers(0, 16, 5000)
        counts = iruka.zeros(16, "i4")
        histogram((4,), (128,), (on_device(x), counts))
        np.testing.assert_array_equal(iruka.asnumpy(counts), np.bincount(x, minlength=16))

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    def test_stencil_in_two_dimensions(self, dtype):
        x = rng.integers(0, 100, (37, 50)).astype(dtype)
        y = iruka.zeros((37, 50), dtype)
        blur((4, 5), (16, 8), (on_device(x), y))
        np.testing.assert_allclose(iruka.asnumpy(y), expected_blur(x), rtol=1e-6)

    @pytest.mark.parametrize(
        "view", [lambda a: a[::2, 1::3], lambda a: a.T, lambda a: a[::-1, ::-1], lambda a: a[3:20, 2:30]]
    )
    def test_strided_arrays(self, view):
        x, out = rng.integers(0, 100, (40, 60)).astype("f4"), np.zeros((40, 60), "f4")
        gx, gy = on_device(x), on_device(out)
        blur((8, 8), (8, 8), (view(gx), view(gy)))
        view(out)[...] = expected_blur(view(x))
        np.testing.assert_allclose(iruka.asnumpy(gy), out, rtol=1e-6)

    def test_device_functions(self):
        x = rng.integers(-9, 9, BLOCK).astype("f4")
        low, high = iruka.zeros(BLOCK, "f4"), iruka.zeros(BLOCK, "f4")
        with_device_functions((1,), (BLOCK,), (on_device(x), low, high))
        np.testing.assert_array_equal(iruka.asnumpy(low), np.minimum(x + SCALE, 0))
        np.testing.assert_array_equal(iruka.asnumpy(high), np.maximum(x + SCALE, 0))

    def test_rows_lengths_and_local_arrays(self):
        @jit.rawkernel()
        def row_facts(x, y):
            i = jit.threadIdx.x
            row = x[i]
            local = np.zeros(2)
            for value in row:
                local[0] += value
            for k in range(len(row)):
                local[1] = max(local[1], row[k])
            y[i, 0], y[i, 1], y[i, 2], y[i, 3] = local[0], local[1], x.size, x.ndim

        x = rng.integers(0, 9, (6, 5))
        y = iruka.zeros((6, 4))
        row_facts((1,), (6,), (on_device(x), y))
        expected = np.stack([x.sum(1), x.max(1), np.full(6, 30), np.full(6, 2)], 1)
        np.testing.assert_array_equal(iruka.asnumpy(y), expected)

    @pytest.mark.parametrize("bounds", [(3, 11, 2), (11, 3, -3), (0, 5, 1), (5, 0, 2), (0, 5, -1), (0, 9, 0)])
    def test_ranges_with_a_step_of_the_call(self, bounds):
        @jit.rawkernel()
        def visited(y, start, stop, step):
            for k in range(start, stop, step):
                y[k] += 1
            for k in jit.range(start, stop, step, unroll=2):
                y[k] += jit.blockDim.x
            for k in jit.range(jit.threadIdx.x, 12, jit.blockDim.x * 2, unroll=False):
                y[k] += 10

        y = iruka.zeros(12, int)
        visited((1,), (1,), (y, *bounds))
        expected = np.zeros(12, int)
        expected[list(range(*bounds)) if bounds[2] else []] += 2
        expected[::2] += 10
        np.testing.assert_array_equal(iruka.asnumpy(y), expected)

    def test_three_dimensions_and_coordinates(self):
        @jit.rawkernel()
        def places(y):
            i, j, k = jit.grid(3)
            a, b, c = jit.gridsize(3)
            y[i, j, k] = (i * b + j) * c + k
            if jit.blockIdx.y == 1 and jit.threadIdx.z == 0:
                jit.atomic_max(y, (0, 0, 0), 1000 + jit.blockDim.z)

        y = iruka.zeros((4, 6, 2), int)
        places((2, 2, 1), (2, 3, 2), (y,))
        expected = np.arange(48).reshape(4, 6, 2)
        expected[0, 0, 0] = 1002
        np.testing.assert_array_equal(iruka.asnumpy(y), expected)

    def test_shuffles(self):
        @jit.rawkernel()
        def shuffled(x, y):
            k = jit.threadIdx.x
            v = x[k]
            y[0, k] = jit.shfl_sync(0xFFFFFFFF, v, 3)
            y[1, k] = jit.shfl_down_sync(0xFFFFFFFF, v, 1, width=8)
            y[2, k] = jit.shfl_xor_sync(0xFFFFFFFF, v, 5)
            jit.syncwarp()
            jit.syncwarp(mask=0xFFFFFFFF)

        x = rng.integers(0, 1000, 32).astype("f4")
        y = iruka.zeros((3, 32), "f4")
        shuffled((1,), (32,), (on_device(x), y))
        lanes = np.arange(32)
        expected = [x[np.full(32, 3)], x[np.where(lanes % 8 == 7, lanes, lanes + 1)], x[lanes ^ 5]]
        np.testing.assert_array_equal(iruka.asnumpy(y), expected)

    def test_atomics(self):
        @jit.rawkernel()
        def all_of_them(x, y, old):
            k = jit.threadIdx.x
            jit.atomic_add(x, 0, k)
            jit.atomic_sub(x, 1, k)
            jit.atomic_min(x, 2, k)
            jit.atomic_max(x, 3, k)
            jit.atomic_or(x, 4, k)
            jit.atomic_and(x, 5, k | 128)
            jit.atomic_xor(x, 6, k)
            jit.atomic_inc(y, 0, 9)
            jit.atomic_dec(y, 1, 9)
            old[k] = jit.atomic_exch(x, 7, k)
            if jit.atomic_cas(x, 8, 0, 77) == 0:
                jit.atomic_add(y, 2, 1)

        x, y = on_device(np.array([0, 0, 500, -1, 0, 255, 0, -1, 0])), iruka.zeros(3, "u4")
        old = iruka.zeros(50, int)
        all_of_them((1,), (50,), (x, y, old))
        k = np.arange(50)
        expected = [k.sum(), -k.sum(), 0, 49, np.bitwise_or.reduce(k), np.bitwise_and.reduce(k | 128)]
        x, old = iruka.asnumpy(x), iruka.asnumpy(old)
        assert x[:7].tolist() == [*expected, np.bitwise_xor.reduce(k)]
        assert x[8] == 77
        assert sorted([*old, x[7]]) == [-1, *range(50)]
        counts = iruka.asnumpy(y)
        assert counts[0] == 0 and counts[2] == 1  # 50 steps through 0 ... 9
        assert counts[1] == 0  # 9, 8 ... 0, five times


class TestTypes:
    @pytest.mark.parametrize("mode, dtype", [("cuda", "f4"), ("numpy", "f8")])
    def test_floats_of_the_text(self, mode, dtype):
        @jit.rawkernel(mode=mode)
        def third(y, factor):
            value = 1.0
            value = value / 3
            y[0], y[1], y[2] = value, factor / 3, math.pi

        y = iruka.zeros(3)
        third((1,), (1,), (y, 1.0))
        expected = [np.ones(1, dtype)[0] / 3, np.ones(1, dtype)[0] / 3, np.float64(np.dtype(dtype).type(np.pi))]
        if mode == "cuda":
            expected[2] = np.pi  # a constant has the type of what it is stored in
        np.testing.assert_array_equal(iruka.asnumpy(y), np.array(expected, dtype="f8"))

    def test_numbers_take_the_type_of_the_array(self):
        @jit.rawkernel()
        def scaled(x, y):
            k = jit.threadIdx.x
            y[k] = x[k] * 0.1 + 2

        for dtype in ("f4", "f8"):
            x = rng.random(20).astype(dtype)
            y = iruka.zeros(20)
            scaled((1,), (20,), (on_device(x), y))
            tolerance = 3e-7 if dtype == "f4" else 1e-15
            np.testing.assert_allclose(iruka.asnumpy(y), x * x.dtype.type(0.1) + 2, rtol=tolerance)
            is_single = np.array_equal(iruka.asnumpy(y), iruka.asnumpy(y).astype("f4"))
            assert is_single == (dtype == "f4")

    def test_an_accumulator_is_as_wide_as_its_values(self):
        @jit.rawkernel()
        def total(x, y):
            sum_of_all = 0.0
            for k in range(x.size):
                sum_of_all += x[k]
            y[0] = sum_of_all

        x = np.array([1, 2.0**-40])
        y = iruka.zeros(1)
        total((1,), (1,), (on_device(x), y))
        assert y[0] == 1 + 2.0**-40

    def test_numbers_of_each_type(self):
        @jit.rawkernel()
        def stored(y, a, b, c, d, e):
            y[0], y[1], y[2], y[3], y[4] = a, b, c, d, e

        y = iruka.zeros(5, "c16")
        stored((1,), (1,), (y, True, -3, np.uint8(200), np.float64(0.1), 1 + 2j))
        np.testing.assert_array_equal(iruka.asnumpy(y), [1, -3, 200, 0.1, 1 + 2j])

    def test_numbers_beyond_the_types(self):
        @jit.rawkernel()
        def stored(y, a):
            y[0] = a

        y = iruka.zeros(1, "u8")
        stored((1,), (1,), (y, 2**64 - 1))
        assert int(y[0]) == 2**64 - 1
        with pytest.raises(OverflowError):
            stored((1,), (1,), (y, 2**64))
        with pytest.raises(iruka.errors.TypeError, match="the dtype datetime64.* has no place in a rawkernel"):
            stored((1,), (1,), (y, np.datetime64("2020-01-01")))

    @pytest.mark.cpu_only
    def test_arrays_of_numpy(self):
        x, y = np.arange(20.0)[::2], np.zeros(10)
        copy_elements((1,), (4,), (x, y, 10))
        np.testing.assert_array_equal(y, x)
        with pytest.raises(iruka.errors.TypeError):
            copy_elements((1,), (4,), (x.astype(">f8"), y, 10))

    def test_integers_have_the_meaning_of_python(self):
        @jit.rawkernel()
        def divided(x, y):
            k = jit.threadIdx.x
            y[k, 0], y[k, 1], y[k, 2] = x[k] // 3, x[k] % 3, k - 5

        x = np.arange(-5, 5)
        y = iruka.zeros((10, 3), int)
        divided((1,), (10,), (on_device(x), y))
        np.testing.assert_array_equal(iruka.asnumpy(y), np.stack([x // 3, x % 3, x], 1))

    def test_complex_shared_memory(self):
        @jit.rawkernel()
        def reversed_by_memory(x):
            shared = jit.shared_memory(dtype=np.complex64, size=8, alignment=16)
            k = jit.threadIdx.x
            shared[k] = x[k]
            jit.syncthreads()
            x[k] = shared[len(shared) - 1 - k] * 1j

        x = (rng.random(8) + 1j * rng.random(8)).astype("c8")
        y = on_device(x)
        reversed_by_memory((1,), (8,), (y,))
        np.testing.assert_allclose(iruka.asnumpy(y), x[::-1] * 1j, rtol=1e-6)


class TestObjects:
    def test_one_kernel_for_each_combination_of_types(self):
        @jit.rawkernel()
        def one(x):
            x[jit.threadIdx.x] = 1

        for x in (iruka.zeros(4), iruka.ones(4), iruka.zeros(4, int), iruka.zeros(8)[::2]):
            one((1,), (4,), (x,))
            np.testing.assert_array_equal(iruka.asnumpy(x), np.ones(4))
        assert len(one.cached_codes) == 3
        assert "__global__ void jit_one" in one.cached_code

    def test_kernels_are_values(self):
        assert copy_elements == copy.deepcopy(copy_elements) == pickle.loads(pickle.dumps(copy_elements))
        assert copy_elements != block_sums
        assert hash(copy_elements) == hash(copy.copy(copy_elements))
        assert repr(copy_elements) == "<jit kernel copy_elements(x, y, size)>"
        assert copy_elements.__name__ == "copy_elements"

    def test_many_threads(self):
        results = {}

        def work(number):
            x, y = on_device(np.arange(100) + number), iruka.zeros(100, int)
            copy_elements((1,), (32,), (x, y, 100))
            results[number] = iruka.asnumpy(y)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number in range(8):
            np.testing.assert_array_equal(results[number], np.arange(100) + number)

    def test_names_of_cupy(self):
        names = """atomic_add atomic_sub atomic_exch atomic_min atomic_max atomic_inc atomic_dec atomic_cas atomic_and
        atomic_or atomic_xor blockDim blockIdx cg cub grid gridDim gridsize laneid range rawkernel shared_memory
        shfl_down_sync shfl_sync shfl_up_sync shfl_xor_sync syncthreads syncwarp threadIdx thrust warpsize"""
        assert sorted(jit.__all__, key=str.lower) == sorted(names.split(), key=str.lower)


class TestErrors:
    def refused(self, function, *arguments, error=TranslationError):
        given = arguments or (iruka.zeros(4), iruka.zeros(4))
        with pytest.raises(error) as caught:
            jit.rawkernel()(function)((1,), (4,), given)
        return str(caught.value)

    def test_the_line_and_a_caret(self):
        def unclear(x, y):
            k = jit.grid(1)
            y[k] = {1: 2}[x[k]]

        lines = self.refused(unclear).splitlines()
        assert re.match(r"unclear has no kernel \(.*test_jit.py, line \d+\): a dict has no place", lines[0])
        assert lines[1].index("{") == lines[2].index("^")

    def test_cub_and_thrust_by_name(self):
        def with_cub(x, y):
            y[0] = jit.cub.WarpReduce[np.float32](x).Sum(x[0])

        def with_thrust(x, y):
            jit.thrust.sort(x, y)

        assert "cub.WarpReduce is not part of a rawkernel; write the block's" in self.refused(with_cub)
        assert "thrust.sort is not part of a rawkernel; write a loop" in self.refused(with_thrust)

    def test_negative_indices(self):
        def last(x, y):
            y[0] = x[-1]

        def shared(x, y):
            tile = jit.shared_memory(np.float32, (2, 4))
            y[0] = tile[-1, 0]

        def shared_column(x, y):
            tile = jit.shared_memory(np.float32, (2, 4))
            k = -3
            tile[0, k] += 1

        def of_the_launch(x, y):
            tile = jit.shared_memory(np.float32, None)
            tile[-1] = x[0]

        def own(x, y):
            values = np.zeros(4)
            values[-2] = x[0]

        def counted(x, y):
            for k in range(-2, 0):
                y[k] = 1

        def atomic(x, y):
            tile = jit.shared_memory(np.int32, (2, 4))
            jit.atomic_add(tile, (1, -1), 1)

        words = "do not count from the end; "
        assert words + "write x.shape[0] - 1" in self.refused(last)
        assert words + "write 2 - 1" in self.refused(shared)
        assert words + "write 4 - 3" in self.refused(shared_column)
        assert words + "write the extent - 1" in self.refused(of_the_launch)
        assert words + "write 4 - 2" in self.refused(own)
        assert words + "add x.shape[0] to this one" in self.refused(counted)
        assert words + "write 4 - 1" in self.refused(atomic)

    def test_negative_indices_that_nothing_computes(self):
        @jit.rawkernel()
        def rounds(x):
            tile = jit.shared_memory(np.float32, 4)
            tile[0] = 2
            for k in range(len((1,)) - 1):
                tile[k - 0] = 3
            table = (1.0, 5.0)
            x[0] = tile[0] + table[-1]

        x = iruka.zeros(1)
        rounds((1,), (1,), (x,))
        assert float(x[0]) == 7

    def test_read_only_arrays(self):
        def stores(x):
            x[0] = 1

        def adds(x):
            jit.atomic_add(x, 0, 1)

        constant = iruka.broadcast_to(iruka.zeros(1), (4,))
        assert "this array is read-only" in self.refused(stores, constant)
        assert "this array is read-only" in self.refused(adds, constant)

    @pytest.mark.parametrize("number, words", [
        (0, "a kernel returns nothing and writes into arrays"),
        (1, "array of 1 axis takes 1 indices here, not 2"),
        (2, "an index must be an integer, not float64"),
        (3, "atomic_and takes no array of float64"),
        (4, "the size of shared memory must be an int above 0"),
        (5, "shared memory is made by an assignment to a name"),
        (6, "copy_elements() is a kernel; what a kernel calls is made by jit.rawkernel(device=True)"),
        (7, "grid() takes 1, 2 or 3"),
        (8, "jit.range() stands in `for ... in jit.range(...)`"),
        (9, "missing a required argument: 'value'"),
        (10, "shared_memory(dtype, size, alignment=None) takes what is known"),
        (11, "cannot catch exceptions"),
        (12, "the alignment must be a power of 2, not 3"),
        (13, "the launch gives the size of this shared memory"),
        (14, "the launch gives the size of this shared memory"),
    ])  # fmt: skip
    def test_what_is_refused(self, number, words):
        assert words in self.refused(REFUSED[number])

    def test_arguments_of_calls(self):
        x = iruka.zeros(4)
        with pytest.raises(iruka.errors.TypeError, match=r"copy_elements\(\) takes 3 arguments, not 2"):
            copy_elements((1,), (4,), (x, x))
        with pytest.raises(iruka.errors.TypeError, match="takes arrays and numbers, not str"):
            copy_elements((1,), (4,), (x, x, "4"))
        with pytest.raises(iruka.errors.TypeError, match="args must be a tuple, not .*ndarray"):
            copy_elements((1,), (4,), x)
        with pytest.raises(iruka.errors.TypeError, match="a function that kernels call"):
            clamped((1,), (1,), (1, 2))
        with pytest.raises(iruka.errors.TypeError, match=r"\[grid, block\]: two are needed"):
            copy_elements[4]
        with pytest.raises(iruka.errors.ValueError, match="mode must be 'cuda' or 'numpy', not 'c'"):
            jit.rawkernel(mode="c")
        with pytest.raises(iruka.errors.TypeError, match="a Python function is needed"):
            jit.rawkernel()(max)

    @pytest.mark.parametrize("function", [
        lambda: jit.grid(1), lambda: jit.syncthreads(), lambda: jit.atomic_add(np.zeros(1), 0, 1),
        lambda: jit.shared_memory(np.float32, 3),
    ])  # fmt: skip
    def test_outside_a_kernel(self, function):
        with pytest.raises(iruka.errors.TypeError, match=r"jit.\w+\(\) has a meaning only in a function under"):
            function()

    @pytest.mark.cpu_only
    def test_raise_and_assert(self):
        @jit.rawkernel()
        def checked(x):
            k = jit.grid(1)
            assert k < 8
            if x[k] > 1:
                raise ValueError("too large: µ")
            x[k] = 1

        x = iruka.zeros(8)
        checked((1,), (8,), (x,))
        np.testing.assert_array_equal(iruka.asnumpy(x), np.ones(8))
        line = checked.function.__code__.co_firstlineno
        with pytest.raises(DeviceError, match=rf"assert k < 8\W*\(test_jit.py, line {line + 3}\) failed"):
            checked((1,), (9,), (iruka.zeros(9),))
        words = rf"raise ValueError\('too large: \?'\)\W*\(test_jit.py, line {line + 5}\) failed"
        with pytest.raises(DeviceError, match=words):
            checked((1,), (8,), (iruka.full(8, 2.0),))


def returns(x, y):
    return x[0]


def too_many(x, y):
    jit.atomic_add(x, (0, 1), 1)


def no_index(x, y):
    y[x[0]] = 1


def bits_of_floats(x, y):
    jit.atomic_and(x, 0, 1)


def no_size(x, y):
    shared = jit.shared_memory(np.float32, -3)
    shared[0] = 1


def unnamed(x, y):
    y[0] = jit.shared_memory(np.float32, 3)[0]


def calls_a_kernel(x, y):
    copy_elements(x, y, 3)


def no_axis(x, y):
    y[jit.grid(4)] = 1


def no_loop(x, y):
    r = jit.range(3)
    y[0] = r


def no_value(x, y):
    jit.atomic_add(x, 0)


def unknown_size(x, y):
    shared = jit.shared_memory(np.float32, x.size)
    shared[0] = 1


def catches(x, y):
    try:
        y[0] = x[0]
    except ValueError:
        pass


def misaligned(x, y):
    shared = jit.shared_memory(np.float32, 4, alignment=3)
    shared[0] = 1


def no_length(x, y):
    shared = jit.shared_memory(np.float32, None)
    y[0] = len(shared)


def no_extent(x, y):
    shared = jit.shared_memory(np.float32, None)
    y[0] = shared.shape[0]


REFUSED = [
    returns, too_many, no_index, bits_of_floats, no_size, unnamed, calls_a_kernel, no_axis, no_loop, no_value,
    unknown_size, catches, misaligned, no_length, no_extent,
]  # fmt: skip
