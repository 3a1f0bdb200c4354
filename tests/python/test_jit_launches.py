"""jit.rawkernel: how kernels are launched, and the indices of their threads."""

import enum
import math
import threading

import numpy as np
import pytest

import iruka
from iruka import jit

rng = np.random.default_rng(6)


@jit.rawkernel()
def copy_elements(x, y, size):
    start = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    for k in range(start, size, jit.gridDim.x * jit.blockDim.x):
        y[k] = x[k]


def on_device(values):
    return iruka.array(np.asarray(values))


class TestIndices:
    """Integers have 64 bits, whatever the indices of threads and blocks have."""

    @pytest.mark.parametrize(
        "block", [(1,), (7,), (33,), (256,), (1024,), (100, 1, 2), (16, 4), (3, 65), (7, 5, 3), (1, 1, 64), (32, 32)]
    )
    def test_coordinates_of_all_threads(self, block):
        @jit.rawkernel()
        def coordinates(y, blocks):
            inside = (jit.threadIdx.z * jit.blockDim.y + jit.threadIdx.y) * jit.blockDim.x + jit.threadIdx.x
            place = jit.blockIdx.x * (jit.blockDim.x * jit.blockDim.y * jit.blockDim.z) + inside
            y[place, 0], y[place, 1], y[place, 2] = jit.threadIdx.x, jit.threadIdx.y, jit.threadIdx.z
            y[place, 3], y[place, 4] = jit.blockIdx.x, jit.threadIdx.x - 1
            y[place, 5] = (jit.grid(1) - blocks) * 123456789123
            y[place, 6] = jit.threadIdx.x * 4294967296 // jit.blockDim.x

        x, y, z = (*block, 1, 1)[:3]
        places = iruka.zeros((3 * x * y * z, 7), int)
        coordinates((3,), block, (places, 3))
        number, k, j, i = (each.ravel() for each in np.indices((3, z, y, x)))
        expected = [i, j, k, number, i - 1, (number * x + i - 3) * 123456789123, i * 4294967296 // x]
        np.testing.assert_array_equal(iruka.asnumpy(places), np.stack(expected, 1))

    def test_extents_beyond_32_bits(self):
        @jit.rawkernel()
        def ends(x, y):
            k = jit.grid(1)
            first = x.size - 70 + k
            y[k, 0], y[k, 1], y[k, 2] = first, x[first], x.shape[0] * 3
            for place in range(first, x.size, jit.gridsize(1)):
                y[k, 3] += place - 4294967296

        size = 2**33 + 70
        x, y = iruka.broadcast_to(on_device(np.array([5])), (size,)), iruka.zeros((70, 4), int)
        ends((7,), (10,), (x, y))
        k = np.arange(70)
        first = size - 70 + k
        expected = np.stack([first, np.full(70, 5), np.full(70, 3 * size), first - 2**32], 1)
        np.testing.assert_array_equal(iruka.asnumpy(y), expected)

    @pytest.mark.parametrize("size", [0, 1, 63, 64, 1000, 4099])
    @pytest.mark.parametrize("stride", [1, 2, -1])
    def test_spellings_of_a_place(self, size, stride):
        @jit.rawkernel()
        def by_blocks(x, y):
            i = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
            if i < x.size:
                y[i] = x[i] + i

        @jit.rawkernel()
        def by_while(x, y):
            i = jit.threadIdx.x + jit.blockDim.x * jit.blockIdx.x
            while i < len(x):
                y[i] = x[i] + i
                i += jit.gridDim.x * jit.blockDim.x

        @jit.rawkernel()
        def backwards(x, y):
            for i in range(x.shape[0] - 1 - jit.grid(1), -1, -1 * jit.gridsize(1)):
                y[i] = x[i] + i

        @jit.rawkernel()
        def neighbours(x, y):
            i = jit.grid(1) - 1
            if i >= 0 and i + 1 <= x.size:
                y[i] = x[i - 1 + 1] + i

        x = rng.integers(0, 100, 2 * size)[:: 2 if stride == 2 else 1][:size][:: 1 if stride != -1 else -1]
        for kernel, blocks in (
            (by_blocks, size // 60 + 1),
            (by_while, 3),
            (backwards, 5),
            (neighbours, size // 60 + 2),
        ):
            y = iruka.zeros(2 * size, int)[:: 2 if stride == 2 else 1][:size]
            given = iruka.zeros(2 * size, int)[:: abs(stride)][:size][:: stride // abs(stride)]
            given[...] = x
            kernel((blocks,), (61,), (given, y))
            np.testing.assert_array_equal(iruka.asnumpy(y), x + np.arange(size))

    def test_rows_of_both_layouts_in_one_variable(self):
        @jit.rawkernel()
        def chosen(x, y, out):
            k = jit.threadIdx.x
            row = x[k]
            if k % 2 == 1:
                row = y[k]
            for j in range(len(row)):
                out[k, j] = row[j]

        x, y = rng.random((6, 5)), rng.random((5, 6)).T
        out = iruka.zeros((6, 5))
        chosen((1,), (6,), (on_device(x), on_device(y.T.copy()).T, out))
        np.testing.assert_array_equal(iruka.asnumpy(out), np.where(np.arange(6)[:, None] % 2, y, x))


class TestSharedMemoryOfSeveralAxes:
    def test_a_tile_is_transposed(self):
        @jit.rawkernel()
        def transposed(x, y):
            tile = jit.shared_memory(np.float32, (8, 9))
            i, j = jit.threadIdx.y, jit.threadIdx.x
            row, column = jit.blockIdx.y * 8 + i, jit.blockIdx.x * 8 + j
            if row < x.shape[0] and column < x.shape[1]:
                tile[i, j] = x[row, column]
            jit.syncthreads()
            row, column = jit.blockIdx.x * 8 + i, jit.blockIdx.y * 8 + j
            if row < y.shape[0] and column < y.shape[1]:
                y[row, column] = tile[j, i]

        x = rng.normal(size=(21, 13)).astype("f4")
        y = iruka.zeros((13, 21), "f4")
        transposed[(2, 3), (8, 8)](on_device(x), y)
        np.testing.assert_array_equal(iruka.asnumpy(y), x.T)

    def test_atomics_and_extents(self):
        @jit.rawkernel()
        def counted(x, y):
            table = jit.shared_memory(np.int32, size=(np.int64(2), 3, 4), alignment=16)
            k = jit.threadIdx.x
            if k < table.size:
                table[k // 12, k // 4 % 3, k % 4] = 0
            jit.syncthreads()
            jit.atomic_add(table, (k % 2, x[k], len(table)), 1)
            jit.syncthreads()
            if k < table.shape[1]:
                y[0, k] = table[0, k, 2]
                y[1, k] = table[1, k, 2]

        x = rng.integers(0, 3, 60)
        y = iruka.zeros((2, 3), "i4")
        counted[1, 60](on_device(x), y)
        expected = [np.bincount(x[k::2], minlength=3) for k in range(2)]
        np.testing.assert_array_equal(iruka.asnumpy(y), expected)

    @pytest.mark.parametrize("size", [(), (4, 0), (4, None), (4, 2.0), (True, 3), ((2, 3),), "ab"])
    def test_wrong_sizes(self, size):
        def kernel(x):
            tile = jit.shared_memory(np.float32, size)
            tile[0, 0] = 1

        with pytest.raises(iruka.errors.TranslationError, match="must be an int above 0, a tuple of them, or None"):
            jit.rawkernel()(kernel)[1, 1](iruka.zeros(1))

    def test_indices_of_each_axis_are_needed(self):
        def kernel(x):
            tile = jit.shared_memory(np.float32, (4, 5))
            x[0] = tile[3]

        def changes(x):
            tile = jit.shared_memory(np.float32, (4, 5))
            jit.atomic_add(tile, 3, 1)

        for function in (kernel, changes):
            with pytest.raises(iruka.errors.TranslationError, match="takes 2 indices.*, not 1"):
                jit.rawkernel()(function)[1, 1](iruka.zeros(1))


class TestLaunches:
    def test_a_configured_kernel_is_used_again(self):
        configured = copy_elements[2, (64, 1)]
        assert repr(configured) == "<jit kernel copy_elements(x, y, size)>[(2, 1, 1), (64, 1, 1)]"
        for dtype in ("i4", "f8"):
            x, y = on_device(np.arange(100).astype(dtype)), iruka.zeros(100, dtype)
            assert configured(x, y, 100) is None
            np.testing.assert_array_equal(iruka.asnumpy(y), np.arange(100))

    def test_each_kind_of_number(self):
        class Colour(enum.IntEnum):
            RED = 7

        @jit.rawkernel()
        def stored(y, value):
            y[0] = value

        numbers = [True, 7, Colour.RED, 2.5, 1j, np.bool_(True), *(np.dtype(each).type(3) for each in "bBhHiIlLefdFD")]
        for number in [*numbers, iruka.arange(4, dtype="f4")[2], -(2**63), 2**63, 2**31]:
            y = iruka.zeros(1, "c16")
            stored((1,), (1,), (y, number))
            assert complex(iruka.asnumpy(y)[0]) == complex(number)

    def test_arrays_of_other_libraries(self):
        class Foreign:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        x, y = on_device(np.arange(12.0)), iruka.zeros(12)
        copy_elements((1,), (4,), [Foreign(x), Foreign(y), 12])
        np.testing.assert_array_equal(iruka.asnumpy(y), np.arange(12.0))

    @pytest.mark.parametrize("ndim", [1, 2, 3, 6, 7])
    def test_arrays_of_many_axes(self, ndim):
        @jit.rawkernel()
        def extents(x, y):
            for k in range(x.ndim):
                y[k] = x.shape[0]
            y[x.ndim] = x.size

        shape = tuple(range(2, 2 + ndim))
        y = iruka.zeros(9, int)
        extents((1,), (1,), (iruka.zeros(shape), y))
        assert iruka.asnumpy(y).tolist() == [2] * ndim + [math.prod(shape)] + [0] * (8 - ndim)

    def test_empty_arrays(self):
        y = iruka.full(3, 5)
        copy_elements((1,), (4,), (iruka.zeros(0, int), y, 0))
        assert iruka.asnumpy(y).tolist() == [5, 5, 5]

    def test_many_threads_make_one_kernel(self):
        @jit.rawkernel()
        def filled(x, value):
            x[jit.threadIdx.x] = value

        arrays = [iruka.zeros(4) for _ in range(8)]
        start = threading.Barrier(8)

        def work(number):
            start.wait()
            filled[1, 4](arrays[number], number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [iruka.asnumpy(each).tolist() for each in arrays] == [[float(number)] * 4 for number in range(8)]
        assert len(filled.cached_codes) == 1

    @pytest.mark.cpu_only
    def test_arrays_that_are_not_aligned(self):
        x = np.zeros(33, "u1")[1:].view("f8")
        with pytest.raises(
            iruka.errors.TypeError, match=r"copy_elements\(\) takes no array whose elements are not aligned"
        ):
            copy_elements((1,), (4,), (x, x, 4))

    def test_errors_of_launches(self):
        x = iruka.zeros(4)
        with pytest.raises(iruka.errors.TypeError, match=r"copy_elements\(\) takes 3 arguments, not 1"):
            copy_elements[1, 4](x)
        with pytest.raises(iruka.errors.TypeError, match="takes no keywords; kernel"):
            copy_elements[1, 4](x, y=x, size=4)
        with pytest.raises(iruka.errors.TypeError, match="unexpected keyword argument 'size'"):
            copy_elements((1,), (4,), (x, x), size=4)
        for key in (4, (1, 4, 0, 128), ()):
            with pytest.raises(iruka.errors.TypeError, match=r"copy_elements\[grid, block\]: two are needed, not"):
                copy_elements[key]
        with pytest.raises(iruka.errors.TypeError, match="grid must be an int or a tuple of 1 to 3 ints, not 1.5"):
            copy_elements[1.5, 4]
        with pytest.raises(iruka.errors.ValueError, match="block has 1 to 3 dimensions, not 4"):
            copy_elements[1, (1, 1, 1, 1)]
        with pytest.raises(iruka.errors.ValueError, match="a grid has 1 to"):
            copy_elements[0, 4](x, x, 4)
        with pytest.raises(iruka.errors.TypeError, match="holds nothing|not initiali[sz]ed|__init__"):
            type(copy_elements).__new__(type(copy_elements))((1,), (1,), ())
