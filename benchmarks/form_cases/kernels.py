"""Cases of kernels in C++ and of kernels over threads: ElementwiseKernel, ReductionKernel, RawKernel, jit.rawkernel."""

import functools
import pathlib
import re

import numpy as np

import iruka.jit

from . import thread_functions
from .common import AT_LEAST_EQUAL, HALF, ON_GPU, Case, cupy, floats, numba, of_both, place, power

RAW_TEXT = (pathlib.Path(__file__).parent / "raw.cu").read_text()


def elementwise_launches():
    for count in (2, 4, 8):
        names = [f"x{k}" for k in range(count)]
        parameters = ", ".join(f"float32 {name}" for name in names)

        def make(module, library, allocates, names=names, parameters=parameters):
            kernel = module.ElementwiseKernel(parameters, "float32 z", f"z = {' + '.join(names)}", "added")
            operands = [place(library, floats(16, k)) for k in range(len(names))]
            if not allocates:
                operands.append(module.empty(16, "float32"))
            return lambda: kernel(*operands)

        for allocates in (False, True) if count == 2 else (False,):
            name = f"ElementwiseKernel, {count} inputs{', allocating' if allocates else ''}"
            makers = of_both(functools.partial(make, allocates=allocates))
            yield Case("launch", name, makers, HALF, kind="launch")


def reduction_launches():
    for axis, shape in ((None, 16), (1, (4, 4)), (0, (4, 4))):

        def make(module, library, axis=axis, shape=shape):
            kernel = module.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "length")
            x = place(library, floats(shape))
            return lambda: kernel(x, axis=axis)

        yield Case("launch", f"ReductionKernel, axis {axis}", of_both(make), HALF, kind="launch")


def numbas_kernel(name):
    """The function of threads as Numba's, by its text."""
    lines = pathlib.Path(thread_functions.__file__).read_text().replace("jit.atomic_add(", "cuda.atomic.add(")
    text = re.sub(r"jit\.shared_memory\((\S+), (\d+)\)", r"cuda.shared.array(\2, \1)", lines).replace("jit.", "cuda.")
    names = {"np": np, "cuda": numba.cuda}
    exec(text, names)
    return numba.cuda.jit(names["kernels"](numba.cuda)[name])


def written(launch, arguments, output):
    def run():
        launch(arguments)
        return arguments[output]

    return run


def raw_makers(name, grid, block, arguments, output):
    def make(module, library):
        kernel = module.RawModule(code=RAW_TEXT).get_function(name)
        placed = tuple(place(library, value) for value in arguments)
        return written(lambda values: kernel(grid, block, values), placed, output)

    return of_both(make)


def jit_makers(name, grid, block, arguments, output):
    def make(jit, library):
        kernel = jit.rawkernel()(thread_functions.kernels(jit)[name])
        placed = tuple(place(library, value) for value in arguments)
        return written(lambda values: kernel(grid, block, values), placed, output)

    def make_numba():
        kernel = numbas_kernel(name)[grid, block]
        placed = tuple(place("Numba", value) for value in arguments)
        return written(lambda values: kernel(*values), placed, output)

    makers = {"Iruka": lambda: make(iruka.jit, "Iruka")}
    if cupy:
        makers["CuPy"] = lambda: make(__import__("cupyx.jit").jit, "CuPy")
    if numba and ON_GPU:
        makers["Numba"] = make_numba
    return makers


FORMS = {"RawKernel": raw_makers, "jit.rawkernel": jit_makers}


def raw_launches():
    for form, makers in FORMS.items():
        for count in (3, 8):
            arrays = [floats(16, k) for k in range(count)]
            yield Case(
                "launch",
                f"{form}, {count} arrays, a number",
                makers(f"add{count}", (1,), (32,), [*arrays, np.int32(16)], count - 1),
                HALF,
                kind="launch",
                expected=lambda arrays=arrays: sum(arrays[:-1]),
            )


def kernels_of_threads(quick):
    """Name, label, grid, block, arguments, the output's place, expected result."""
    size = 2**18 if quick else 2**26
    x, y, zeros = floats(size), floats(size, 2), np.zeros(size, "float32")
    n = np.int32(size)
    yield "saxpy", power(size), (size // 256,), (256,), [np.float32(2.5), x, y, zeros, n], 3, lambda: 2.5 * x + y
    for edge in (64, 128) if quick else (1024, 2048):
        a, b, grid = floats((edge, edge)), floats((edge, edge), 2), (edge // 32, edge // 32)
        arguments = [a.ravel(), b.ravel(), np.zeros(edge * edge, "float32"), np.int32(edge)]
        yield "product", f"{edge}^3", grid, (32, 32), arguments, 2, lambda a=a, b=b: (a @ b).ravel()
    blocks = 64 if quick else 1024
    part = x.reshape(-1, blocks, 256)
    for name in ("sums_shared", "sums_shuffled"):
        arguments = [x, np.zeros(blocks, "float32"), n]
        yield name, power(size), (blocks,), (256,), arguments, 1, lambda: part.sum((0, 2), dtype="float64")
    edge = 512 if quick else 8192
    image = floats((edge, edge))

    def blurred():
        wide = np.pad(image, 1, mode="edge")
        return (0.2 * (image + wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:])).ravel()

    arguments = [image.ravel(), np.zeros(edge * edge, "float32"), np.int32(edge)]
    yield "stencil", f"{edge}^2", (edge // 32, edge // 8), (32, 8), arguments, 1, blurred
    data = np.random.default_rng(3).integers(0, 256, size, dtype="uint8")
    places = (np.arange(size) // 256 % blocks * 256 + data).astype("int64")
    arguments = [data, np.zeros(blocks * 256, "int32"), n]
    counts = functools.partial(np.bincount, places, minlength=blocks * 256)
    yield "histogram", power(size), (blocks,), (256,), arguments, 1, counts
    sums = lambda: x.reshape(-1, 1024).cumsum(1, dtype="float64").ravel()
    yield "scan", power(size), (size // 1024,), (1024,), [x, zeros, n], 1, sums


def throughput(quick):
    for name, label, grid, block, arguments, output, expected in kernels_of_threads(quick):
        for form, makers in FORMS.items():
            yield Case(
                form,
                f"{name}, {label}",
                makers(name, grid, block, arguments, output),
                AT_LEAST_EQUAL,
                expected=expected,
                tolerance=1e-3,
            )


def first_calls():
    """Translation and compilation of a function of threads."""
    x = floats(256)

    def make(jit, library):
        function = thread_functions.kernels(jit)["sums_shuffled"]
        arguments = tuple(place(library, value) for value in (x, np.zeros(1, "float32"), np.int32(256)))
        return lambda: jit.rawkernel()(function)((1,), (256,), arguments)

    def make_numba():
        arguments = tuple(place("Numba", value) for value in (x, np.zeros(1, "float32"), np.int32(256)))
        return lambda: numbas_kernel("sums_shuffled")[(1,), (256,)](*arguments)

    makers = {"Iruka": lambda: make(iruka.jit, "Iruka")}
    if cupy:
        makers["CuPy"] = lambda: make(__import__("cupyx.jit").jit, "CuPy")
    if numba and ON_GPU:
        makers["Numba"] = make_numba
    yield Case("first call", "jit.rawkernel, sums_shuffled", makers, kind="first")
