"""Cases of functions of arrays: fuse beside CuPy's and Numba, apply_along_axis beside NumPy's and CuPy's."""

import inspect

import numpy as np

import iruka

from .common import AT_LEAST_EQUAL, HALF, ON_GPU, Case, cupy, floats, numba, place, power


def squared_difference(xp, x, y):
    return (x - y) * (x - y)


def gelu(xp, x, y):
    return 0.5 * x * (1 + xp.tanh(0.7978846 * (x + 0.044715 * x * x * x))) + y


def masked(xp, x, y):
    return xp.where(x > y, xp.sqrt(abs(x)), xp.exp(y) - 1) * (x + y)


def length(xp, x, y):
    return xp.sqrt(((x - y) * (x - y)).sum(axis=1) + 1)


def total(xp, x, y):
    return (x * y).sum()


def column_sums(xp, x, y):
    return (x * y).sum(axis=0)


def column_ranges(xp, x, y):
    return (x * y).max(axis=0) - (x * y).min(axis=0)


def softmax(xp, x, y):
    e = xp.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


ELEMENTWISE = (squared_difference, gelu, masked)
FUSED = (*ELEMENTWISE, length, total, column_sums, column_ranges, softmax)


def numbas(function):
    """The text of the function as a scalar function, which Numba compiles for all threads."""
    text = inspect.getsource(function).replace("(xp, x, y)", "(x, y)").replace("xp.where(x > y, ", "select(x > y, ")
    names = {"xp": np, "select": numba.njit(lambda condition, x, y: x if condition else y)}
    exec(text, names)
    return numba.vectorize(["float32(float32, float32)"], target="parallel")(names[function.__name__])


def fused_by(module, function):
    def traced(x, y):  # CuPy refuses functions without a name
        return function(module, x, y)

    return module.fuse(kernel_name=function.__name__)(traced)


def fused_makers(function, shape):
    x, y = floats(shape), floats(shape, 2)

    def make(module, library):
        fused = fused_by(module, function)
        operands = place(library, x), place(library, y)
        return lambda: fused(*operands)

    def make_numba():
        compiled = numbas(function)
        return lambda: compiled(x, y)

    def one_by_one():
        operands = place("Iruka", x), place("Iruka", y)
        return lambda: function(iruka, *operands)

    makers = {"Iruka": lambda: make(iruka, "Iruka"), "Iruka, one by one": one_by_one}
    if cupy:
        makers["CuPy"] = lambda: make(cupy, "CuPy")
    if not ON_GPU:
        makers["NumPy"] = lambda: lambda: function(np, x, y)
        if numba and function in ELEMENTWISE:
            makers["Numba"] = make_numba
    return makers


def fuse_launches():
    for function in (squared_difference, masked, length, softmax):
        yield Case(
            "launch",
            f"fuse, {function.__name__}",
            fused_makers(function, (4, 4)),
            HALF,
            kind="launch",
            without_floor=("Iruka, one by one", "NumPy"),
        )


def fuse_throughput(quick):
    size = 2**16 if quick else 2**26 if ON_GPU else 2**24
    for function in FUSED:
        yield Case(
            "fuse",
            f"{function.__name__}, {power(size)}",
            fused_makers(function, (size // 1024, 1024)),
            AT_LEAST_EQUAL,
            without_floor=("Iruka, one by one", "NumPy"),
            tolerance=1e-3,
        )


def first_calls():
    """Tracing and compilation."""
    for function in (gelu, softmax):
        x = floats((4, 4))

        def make(module, library, function=function, x=x):
            placed = place(library, x)
            return lambda: fused_by(module, function)(placed, placed)

        makers = {"Iruka": lambda make=make: make(iruka, "Iruka")}
        if cupy:
            makers["CuPy"] = lambda make=make: make(cupy, "CuPy")
        elif numba and function in ELEMENTWISE:
            makers["Numba"] = lambda function=function, x=x: lambda: numbas(function)(x, x)
        yield Case("first call", f"fuse, {function.__name__}", makers, kind="first")


LAYERS = [
    (floats((16, 8), 3), floats(16, 4)),
    (floats((4, 16), 5), floats(4, 6)),
]
PLACES = np.linspace(0, 1, 32)


def network_of(layers):
    """The article's network of the features of one voxel."""

    def network(v):
        for weight, bias in layers:
            v = np.maximum(weight @ v + bias, 0)
        return v

    return network


network = network_of(LAYERS)


def standardised(v):
    return (v - v.mean()) / v.std()


def second_largest(v):
    return np.sort(v)[-2]


def slope(v):
    return np.polyfit(PLACES, v, 1)[0]


def smoothed(v):
    return np.convolve(v, np.ones(5) / 5, mode="valid")


def mean_of_positive(v):
    return v[v > 0].mean()


def sign_of_mean(v):
    if v.mean() > 0:
        return np.median(v)
    return -np.median(v)


def longest_rise(v):
    longest = length = 1
    for k in range(1, len(v)):
        length = length + 1 if v[k] > v[k - 1] else 1
        longest = max(longest, length)
    return longest


def network_by_hand(x):
    for weight, bias in LAYERS:
        x = iruka.maximum(x @ iruka.asarray(weight).T + iruka.asarray(bias), 0)
    return x


BY_HAND = {
    network: network_by_hand,
    standardised: lambda x: (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True),
    second_largest: lambda x: iruka.sort(x, axis=1)[:, -2],
    slope: lambda x: iruka.polyfit(PLACES, x.T, 1)[0],
}
OF_SLICES = (standardised, second_largest, slope, smoothed, mean_of_positive, sign_of_mean, longest_rise)


def slice_makers(function, x):
    def make():
        placed = iruka.asarray(x)
        return lambda: iruka.apply_along_axis(function, -1, placed)

    def by_hand():
        placed = iruka.asarray(x)
        return lambda: BY_HAND[function](placed)

    makers = {"Iruka": make, "NumPy": lambda: lambda: np.apply_along_axis(function, -1, x)}
    return makers | ({"Iruka, by hand": by_hand} if function in BY_HAND else {})


def along_axis(quick):
    """All that apply_along_axis does in a call: tracing, for functions of numbers translation."""
    edge, slices = (8, 500) if quick else (64, 20_000 if ON_GPU else 100_000)
    settings = {"kind": "once", "tolerance": 1e-3, "without_floor": ("Iruka, by hand",)}
    makers = slice_makers(network, floats((edge, edge, edge, 8)))
    yield Case("apply_along_axis", f"network, {edge}^3 voxels", makers, 20, **settings)
    if cupy:
        x = floats((16, 16, 16, 8))

        def of_cupy():
            theirs = network_of([(cupy.asarray(weight), cupy.asarray(bias)) for weight, bias in LAYERS])
            placed = cupy.asarray(x)
            return lambda: cupy.apply_along_axis(theirs, -1, placed)

        makers = {"Iruka": slice_makers(network, x)["Iruka"], "CuPy": of_cupy}
        yield Case("apply_along_axis", "network, 16^3 voxels", makers, 20, **settings)
    for function in OF_SLICES:
        makers = slice_makers(function, floats((slices, 32), 7).astype("float64"))
        yield Case("apply_along_axis", f"{function.__name__}, {slices} slices", makers, None, **settings)
