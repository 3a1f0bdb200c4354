"""What pickles and copies: kernels, functions, devices, arrays, generators; and that other processes get them."""

import copy
import multiprocessing
import pickle

import joblib
import numpy as np
import pytest

import iruka
from helpers import assert_same

WAYS = {
    **{f"pickle {k}": lambda x, k=k: pickle.loads(pickle.dumps(x, k)) for k in range(pickle.HIGHEST_PROTOCOL + 1)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@ways
def test_elementwise_kernel(way):
    kernel = iruka.ElementwiseKernel(
        "raw T x, const float32 y",
        "T z, int32 places",
        "z = twice(x[i]) + y; places = count; ++count",
        "told",
        False,
        "template <class T> __device__ T twice(T x) { return 2 * x; }",
        doc="Doubles.",
        loop_prep="int count = 3;",
        options=("--fmad=false",),
    )
    kernel.note = "kept"
    made = way(kernel)
    x = np.arange(5, dtype="float32")
    assert_same(made(iruka.array(x), iruka.ones(5, "float32"))[0], 2 * x + 1)
    assert repr(made) == repr(kernel) and made.__doc__ == "Doubles." and made.note == "kept"
    for name in ("operation", "preamble", "reduce_dims", "no_return", "return_tuple", "kwargs"):
        assert getattr(made, name) == getattr(kernel, name)
    assert [repr(p) for p in made.params] == [repr(p) for p in kernel.params]
    assert [p.is_const for p in made.params] == [p.is_const for p in kernel.params]


@ways
def test_reduction_kernel(way):
    kernel = iruka.ReductionKernel(
        "T x, int32 k",
        "float64 y",
        "f(x) * k",
        "a + b",
        "y = a",
        0,
        "weighed",
        "double",
        preamble="#define f(x) (x * x)",
    )
    made = way(kernel)
    assert float(made(iruka.arange(4), 2)) == 28 and repr(made) == repr(kernel)
    assert made.reduce_type == kernel.reduce_type and made.identity == kernel.identity


@ways
def test_functions_are_themselves(way):
    functions = [getattr(iruka, name) for name in iruka.__dir__() if not name.startswith("_")]
    functions = [f for f in functions if callable(f)]
    assert {iruka.sum, iruka.add, iruka.amax, iruka.median, iruka.default_device, iruka.nansum} <= set(functions)
    for function in functions:
        assert way(function) is function


@ways
def test_devices(way):
    for device in (iruka.default_device(), iruka.device("cpu")):
        assert way(device) == device and way(iruka.ones(3)).device == iruka.default_device()


@pytest.mark.parametrize("way", [w for name, w in WAYS.items() if name != "copy"])  # copy.copy shares the stream
def test_generators_go_on(way):
    for make in (iruka.random.default_rng, iruka.random.RandomState):
        first = make(3)
        first.random(5) if hasattr(first, "random") else first.rand(5)
        second = way(first)
        a, b = first.normal(size=7), second.normal(size=7)
        assert a.tolist() == b.tolist()


def shifted(arguments):
    kernel, reduction, x = arguments
    return kernel(x), reduction(x), x[1]


def test_other_processes():
    kernel = iruka.ElementwiseKernel("T x", "T z", "z = x + 1", "shifted")
    work = [(kernel, iruka.sum, np.arange(3.0) + k) for k in range(4)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = pool.map(shifted, work)
    results += joblib.Parallel(n_jobs=2)(joblib.delayed(shifted)(w) for w in work)
    for k, (moved, total, element) in enumerate(results):
        assert_same(moved, np.arange(1.0, 4) + k % 4)
        assert float(total) == 3 + 3 * (k % 4) and element == 1 + k % 4


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_methods(protocol):
    """As Python's own: those of an object with it, those of a type by name."""
    x = iruka.arange(4.0)
    calls = ((x.sum, ()), (x.dot, (x,)), (x.reshape, ((2, 2),)), (iruka.add.reduce, (x,)), (x[1].copy, ()))
    for method, arguments in calls:
        made = pickle.loads(pickle.dumps(method, protocol))
        assert_same(made(*arguments), iruka.asnumpy(method(*arguments)))
    assert pickle.loads(pickle.dumps(iruka.ndarray.sum, protocol)) is iruka.ndarray.sum
    assert copy.deepcopy(x.sum)() == 6
    bound = pickle.loads(pickle.dumps([x, x.__setitem__, x.fill], protocol))
    bound[2](3)
    assert bound[0].tolist() == [3, 3, 3, 3]  # one array


ELEMENTWISE = {
    "in_params": "float32 x, raw float32 y", "out_params": "float32 z", "operation": "z = x;", "name": "first",
    "reduce_dims": True, "preamble": "", "no_return": False, "return_tuple": False, "doc": "",
    "options": ("-DA=1",), "loop_prep": "", "after_loop": "",
}  # fmt: skip
REDUCTION = {
    "in_params": "float32 x, raw float32 y", "out_params": "float32 z", "map_expr": "x", "reduce_expr": "a + b",
    "post_map_expr": "z = a", "identity": "0", "name": "first", "reduce_type": "float32", "reduce_dims": True,
    "preamble": "", "options": ("-DA=1",),
}  # fmt: skip
CHANGES = {
    "in_params": ["float32 x, float32 y", "float32 x, raw const float32 y", "float32 x, raw _non_const float32 y"],
    "out_params": ["float64 z"], "operation": ["z = x; "], "name": ["second"], "reduce_dims": [False],
    "preamble": ["// text"], "no_return": [True], "return_tuple": [True], "options": [(), ("-DA=2",), ("-DA=1", "-O1")],
    "loop_prep": ["float a;"], "after_loop": ["float b;"], "map_expr": ["x + 1"], "reduce_expr": ["b + a"],
    "post_map_expr": ["z = a + 1"], "identity": [None, "0.0", ""], "reduce_type": ["float64", None],
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "given"), [(iruka.ElementwiseKernel, ELEMENTWISE), (iruka.ReductionKernel, REDUCTION)]
)
def test_kernels_are_values(kind, given):
    kernel = kind(**given)
    for same in (kind(**given), kind(**(given | {"options": ["-DA=1"]})), *(way(kernel) for way in WAYS.values())):
        assert same == kernel and not same != kernel and hash(same) == hash(kernel) and {kernel: 1}[same] == 1
    for parameter, values in CHANGES.items():
        for value in values if parameter in given else ():
            other = kind(**(given | {parameter: value}))
            assert other != kernel and not other == kernel, (parameter, value)
    assert kernel != given and kernel != None and kernel != kind  # noqa: E711
    assert type("Derived", (kind,), {})(**given) != kernel


def test_kernels_of_two_kinds_differ():
    assert iruka.ElementwiseKernel(**ELEMENTWISE) != iruka.ReductionKernel(**REDUCTION)


class Scaling(iruka.ElementwiseKernel):
    """Takes other arguments than the kernel it is."""

    def __init__(self, factor):
        super().__init__("float32 x", "float32 y", f"y = x * {factor}", "scaling")
        self.factor = factor


def test_derived_kernels():
    for made in (pickle.loads(pickle.dumps(Scaling(3))), copy.deepcopy(Scaling(3))):
        assert type(made) is Scaling and made.factor == 3
        assert made(iruka.ones(2, "float32")).tolist() == [3, 3]


ADD_ONE = 'extern "C" __global__ void add(float* x) { x[threadIdx.x] += 1; }'
KERNELS = {
    "ElementwiseKernel": lambda: iruka.ElementwiseKernel("T x", "T y", "y = x", "copied"),
    "ReductionKernel": lambda: iruka.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "added"),
    "StagedKernel": lambda: iruka.StagedKernel("T x", "T y", "T a", ["a[i] = x;", "y = a[n - 1 - i];"], "turned"),
    "RawKernel": lambda: iruka.RawKernel(ADD_ONE, "add"),
    "RawModule": lambda: iruka.RawModule(code=ADD_ONE),
    "function of a module": lambda: iruka.RawModule(code=ADD_ONE).get_function("add"),
    "ufunc": lambda: iruka.sin,
    "reduction": lambda: iruka.sum,
}


@pytest.mark.parametrize("name", KERNELS)
def test_dir_has_public_names(name):
    kernel = KERNELS[name]()
    is_own = name not in ("ufunc", "reduction", "function of a module")  # which is pickled by its name
    if is_own:
        kernel.note = "kept"
    names = dir(kernel)
    assert [each for each in names if each.startswith("_") and not each.startswith("__")] == []
    assert "__reduce__" in names and ("note" in names) == is_own
    assert all(hasattr(type(kernel), each) or each in vars(kernel) for each in names)
    assert {each for each in dir(type(kernel)) if not each.startswith("_")} <= {*names}
    for made in (pickle.loads(pickle.dumps(kernel)), copy.deepcopy(kernel)):
        assert made == kernel and dir(made) == names
