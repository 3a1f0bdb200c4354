"""A program that a type checker reads (test_typing.py) and the tests run: what results are, and what is an error."""

from typing import Any, assert_type

import numpy

import iruka as cp
from iruka.pipeline import Decode, Pipeline, RandomResizedCrop, arrays, pipeline_def

# Arrays and what they are made of.
x = cp.arange(12, dtype=cp.float32).reshape(3, 4)
assert_type(x, cp.ndarray)
assert_type(x.shape, tuple[int, ...])
assert_type(x.T, cp.ndarray)
assert_type(x.dtype, numpy.dtype[Any])
assert_type(x[0], cp.ndarray)
assert_type(x[1:, None, ..., [0, 1]], cp.ndarray)
assert_type([row.size for row in x], list[int])
assert_type(len(x), int)
assert_type(bool(x[0, 0] < 1), bool)
assert_type({x[0, 0]: 1}, dict[cp.ndarray, int])
assert_type(cp.array_api.sum(x), Any)
x[x > 5] = 0
assert_type(cp.asnumpy(x).shape, tuple[Any, ...])
y = cp.linspace(0, 1, 12, dtype=cp.float32).reshape((3, 4), copy=True)

# Operators, functions of elements, reductions.
assert_type(x + y, cp.ndarray)
assert_type(2 * x - 1, cp.ndarray)
assert_type(-(x**2) @ y.T, cp.ndarray)
assert_type(x == y, cp.ndarray)
assert_type(divmod(x, 2), tuple[cp.ndarray, cp.ndarray])
assert_type(cp.exp(x), cp.ndarray)
assert_type(cp.add(x, y, out=cp.empty_like(x), where=x > 1), cp.ndarray)
assert_type(cp.modf(y), tuple[cp.ndarray, cp.ndarray])
assert_type(cp.add.reduce(x, axis=1), cp.ndarray)
assert_type(cp.sum(x, axis=(0, 1), keepdims=True), cp.ndarray)
assert_type(x.mean(axis=0), cp.ndarray)
assert_type(cp.allclose(x, x), bool)
assert_type(cp.where(x > 1, x, y), cp.ndarray)
assert_type(cp.where(x > 1), tuple[cp.ndarray, ...])
assert_type(cp.sort(x, axis=0), cp.ndarray)
assert_type(cp.clip(x, min=1), cp.ndarray)

# Parts of the package.
assert_type(cp.linalg.norm(x), cp.ndarray)
assert_type(cp.fft.rfft(x), cp.ndarray)
assert_type(cp.random.default_rng(3).normal(size=5), cp.ndarray)
assert_type(cp.lib.stride_tricks.sliding_window_view(x, 2, axis=1), cp.ndarray)
assert_type(cp.default_device(), cp.Device)
assert_type(cp.cuda.is_available(), bool)

# A kernel of one's own.
square = cp.ElementwiseKernel("T x", "T y", "y = x * x", "square")
assert_type(square.name, str)
z: cp.ndarray = square(x)
flipped = cp.StagedKernel("T x", "T y", "T kept", ["kept[i] = x", ("y = kept[n - 1 - i]", 2)], "flipped", axis=-1)
assert_type(flipped.stages, tuple[str | tuple[str, int | str] | tuple[str, int | str, str], ...])
assert_type(flipped.axis, int | tuple[int, ...] | None)
square(flipped(x, axis=(0, 1)))
square(x, cp.empty_like(x), size=None)


@cp.jit.rawkernel()
def numbered(out):
    out[cp.jit.blockIdx.x * cp.jit.blockDim.x + cp.jit.threadIdx.x] = cp.jit.threadIdx.x % cp.jit.warpsize


def of_python_functions() -> None:
    """Never called, as kernels of Python functions need a file."""
    larger = cp.vectorize(["float32(float32, float32)"], target="parallel")(lambda a, b: a if a > b else b)
    larger(x, y, out=cp.empty_like(x))
    larger.reduce(x, axis=0)
    cp.vectorize(float)(x)
    numbered[1, 8](x)


def of_pipelines(mask: cp.ndarray) -> None:
    """Never called, as there are no such files."""
    stages = [Decode(), RandomResizedCrop((224, 224)), cp.image.Normalize(127.5, 64.0), lambda picture: picture]
    pipe = Pipeline("photographs", stages, 32, shuffle=True, last_batch="drop", output="numpy", device=None)
    assert_type(pipe, Pipeline)
    assert_type(len(pipe), int)
    with Pipeline(arrays(mask=mask), {"mask": [cp.image.Crop((2, 2))]}) as own:
        assert_type(own, Pipeline)
        for batch in own:
            print(batch.mask, own[3].mask)
    Pipeline(batch_size=4, num_threads=2, device_id=None, exec_async=True)
    Pipeline(4, 2, 0).run()

    @pipeline_def(batch_size=4, num_threads=2, device_id=0)
    def read(root: str) -> object:
        return root

    read("photographs").run()


def wrong_pipelines() -> None:
    Pipeline("photographs", shufle=True)  # type: ignore[call-overload]
    Pipeline("photographs", batch_size="4")  # type: ignore[call-overload]
    Pipeline("photographs", last_batch="no")  # type: ignore[call-overload]
    Pipeline(source="photographs", batch_size=4, drop_last=True)  # type: ignore[call-overload]
    Pipeline(batch_size="4", num_threads=3)  # type: ignore[call-overload]
    Decode(gap=2)  # type: ignore[call-arg]


def wrong() -> None:
    """Never called: each line is an error that the checker must find (an unused ignore is one too)."""
    cp.zerros(3)  # type: ignore[attr-defined]
    x.shappe  # type: ignore[attr-defined]
    cp.zeros(3, dtipe=cp.int8)  # type: ignore[call-arg]
    x.sum(keepdims="yes")  # type: ignore[arg-type]
    cp.exp(x, wher=True)  # type: ignore[call-arg]
    cp.ElementwiseKernel("T x", "T y")  # type: ignore[call-arg]
    cp.StagedKernel("T x", "T y", "", [3])  # type: ignore[list-item]
    cp.linalg.nrom(x)  # type: ignore[attr-defined]


if __name__ == "__main__":
    print(float(z.sum()))
