"""Functions and lambdas inside of translated functions: their results are Python's, and what has no kernel is refused."""

import math

import numpy as np
import pytest

import iruka
from iruka import jit
from iruka.errors import TranslationError

SCALE = 3
X = np.concatenate([np.linspace(-4, 5, 37), [0.0, -0.0, 1e10, -1e10]])
Y = X[::-1].copy() / 2 + 0.25


def with_lambda(x, y):
    g = lambda t: t * x + y
    return g(2.0) - g(y)


def with_function(x, y):
    def g(t, weight=0.5):
        """A docstring."""
        if t > 0:
            return weight * t
        return t + SCALE

    return g(x) + g(y, 2.0) + g(weight=y, t=x)


def late_binding(x, y):
    def g(t):
        return t + total

    total = x
    first = g(1.0)
    total = total * y
    return first, g(1.0)


def computed_default(x, y):
    total = 0.0
    for k in range(4):
        g = lambda t, power=k, base=x: base * t + power
        total = total * 0.5 + g(y)
    return total


def line(slope):
    offset = slope * 2
    return lambda t, d=slope + 1: slope * t + offset * d


def copies_keep_their_values(x, y):
    f, g = line(x), line(y)
    kept = f
    f, g = g, f
    for k in range(3):
        if k == 1:
            f = line(x * y)
    return f(1.0) * 100 + g(2.0, 3.0) * 10 + kept(y)


def in_functions_of_functions(x, y):
    def outer(a):
        scale = a + x

        def inner(b):
            return b * scale + y

        return inner(a) - inner(1.0)

    return outer(y) + outer(2.0)


def simpson(f, low, high, n):
    step = (high - low) / n
    total = f(low) + f(high)
    for k in range(1, n):
        total += (4 if k % 2 else 2) * f(low + k * step)
    return total * step / 3


def given_to_another_function(x, y):
    def density(t):
        return math.exp(-t * t) * x

    return simpson(density, 0.0, 1.0, 8) + simpson(lambda t: t * y, 0.0, 2.0, 4) + simpson(math.sin, 0.0, x, 6)


def twice(f):
    return lambda t: f(f(t))


def made_by_a_function(x, y):
    g = twice(lambda t: t * 0.5 + x)
    return g(y) + twice(g)(1.0)


def of_tuples(x, y):
    pair = (x, y)

    def swapped(p, more=(1, 2.5)):
        return p[1] + more[1], pair[0] * more[0]

    a, b = swapped(pair)
    return a, b, swapped((b, a))[0]


def returns_nothing(x, y):
    a = np.zeros(3)

    def put(k, value):
        a[k] = value
        a[-1] += 1

    put(0, x)
    put(1, y)
    return a[0] * 2 + a[1] * 3 + a[2]


def of_same_names(x, y):
    def g(x):
        y = x * 2
        return x + y

    return g(y) * 10 + y


def at_once(x, y):
    return (lambda a, b=y: a - b)(x) + (lambda: x * y)()


def chosen_by_a_constant(x, y):
    f = (lambda t: t + x) if SCALE > 2 else None
    g = f if f else math.sin
    return g(y)


def integers_and_floats(x, y):
    def half(t):
        return t / 2

    def whole(t):
        return t * 3

    n = int(min(max(x, -100.0), 100.0))
    return half(n) + whole(n) + whole(y)


def in_branches_and_loops(x, y):
    total = 0.0
    for k in range(5):
        if k * x > 3:

            def step(t):
                return t * 0.5 + k

            total += step(y)
        else:
            total -= (lambda t: t + k)(x)
    return total


FUNCTIONS = [
    with_lambda, with_function, late_binding, computed_default, copies_keep_their_values, in_functions_of_functions,
    given_to_another_function, made_by_a_function, of_tuples, returns_nothing, of_same_names, at_once,
    chosen_by_a_constant, integers_and_floats, in_branches_and_loops,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results_are_pythons(function):
    found = iruka.vectorize(target="cpu")(function)(iruka.array(X), iruka.array(Y))
    wanted = [function(x, y) for x, y in zip(X.tolist(), Y.tolist(), strict=True)]
    columns = list(zip(*wanted, strict=True)) if isinstance(wanted[0], tuple) else [wanted]
    for one, column in zip(found if isinstance(found, tuple) else [found], columns, strict=True):
        np.testing.assert_allclose(one.get(), column, rtol=1e-12, atol=1e-300)


def test_exceptions_of_nested_functions():
    def checked(x):
        def root(t):
            if t < 0:
                raise ValueError(f"{t} has no root")
            return math.sqrt(t)

        return root(x) + root(x + 1)

    f = iruka.vectorize(target="cpu")(checked)
    np.testing.assert_allclose(f(X[X >= 0]), [checked(x) for x in X[X >= 0].tolist()], rtol=1e-14)
    with iruka.device("cpu"), pytest.raises(ValueError, match="-2.0 has no root"):
        f(np.array([1.0, -2.0, -3.0]))


@iruka.guvectorize(["void(float64[:,:], float64, float64[:])"], "(m,n),()->(m)")
def of_rows(a, limit, out):
    def clipped(v):
        return min(v, limit)

    def put(k):
        row = a[k]
        take = lambda j: row[-1 - j]
        out[k] = clipped(take(0)) + 10 * clipped(take(1))

    for k in range(len(a)):
        put(k)


def test_functions_of_arrays():
    a = np.arange(24.0).reshape(2, 4, 3)
    wanted = np.minimum(a[..., 2], 7.5) + 10 * np.minimum(a[..., 1], 7.5)
    np.testing.assert_array_equal(of_rows(iruka.array(a), 7.5).get(), wanted)
    np.testing.assert_array_equal(
        of_rows(a[:, :, ::-1], 7.5), np.minimum(a[..., 0], 7.5) + 10 * np.minimum(a[..., 1], 7.5)
    )


@jit.rawkernel()
def block_maxima(x, out):
    shared = jit.shared_memory(np.float32, 64)
    thread = jit.threadIdx.x

    def load(k, otherwise=-1):
        return x[k] if k < x.size else otherwise

    def fold(half):
        if thread < half:
            shared[thread] = max(shared[thread], shared[thread + half])

    shared[thread] = load(jit.grid(1))
    jit.syncthreads()
    half = 32
    while half > 0:
        fold(half)
        jit.syncthreads()
        half //= 2
    if thread == 0:
        out[jit.blockIdx.x] = shared[0]


def test_functions_in_rawkernels():
    x = np.random.default_rng(5).random(150).astype("float32")
    out = iruka.zeros(3, "float32")
    block_maxima[3, 64](iruka.array(x), out)
    assert out.tolist() == [x[:64].max(), x[64:128].max(), x[128:].max()]


def recursive(x):
    def g(t):
        return g(t - 1) if t > 0 else t

    return g(x)


def recursive_in_turn(x):
    def even(t):
        return odd(t - 1) if t > 0 else True

    def odd(t):
        return even(t - 1) if t > 0 else False

    return even(x)


def changes_an_outer_variable(x):
    total = 0.0

    def add(t):
        nonlocal total
        total += t

    add(x)
    return total


def called_too_early(x):
    g = lambda t: t + late
    y = g(x)
    late = 2.0
    return y + late


def two_functions_in_one_name(x):
    if x > 0:
        g = lambda t: t + 1
    else:
        g = lambda t: t - 1
    return g(x)


def of_any_number(x):
    g = lambda *t: t[0]
    return g(x)


def returned(x):
    return lambda t: t + x


def makes(x):
    a = np.zeros(2)
    a[0] = x
    return lambda k: a[k]


def uses_an_array_that_ended(x):
    return makes(x)(0)


def decorated(x):
    @np.vectorize
    def g(t):
        return t

    return g(x)


def too_many_arguments(x):
    g = lambda t: t
    return g(x, 2)


def has_no_elements(x):
    g = lambda t, d=x: t + d
    return g[0]


def is_no_number(x):
    g = lambda t: t
    return g + x


REFUSED = {
    recursive: (r"g\(\) calls itself", "return g(x)"),
    recursive_in_turn: (r"even\(\) calls itself", "return even(x)"),
    changes_an_outer_variable: ("cannot change variables of an outer function; return the value", "nonlocal total"),
    called_too_early: ("'late' is used before it has a value", "y = g(x)"),
    two_functions_in_one_name: ("use two names", "g = lambda t: t - 1"),
    of_any_number: (r"parameters with \* or \*\*", "g = lambda *t"),
    returned: ("it returns the function <lambda>", "def returned(x):"),
    uses_an_array_that_ended: ("uses an array of this function", "return lambda k: a[k]"),
    decorated: ("has no decorators", "@np.vectorize"),
    too_many_arguments: ("too many positional arguments", "return g(x, 2)"),
    has_no_elements: ("the function <lambda> has no elements", "return g[0]"),
    is_no_number: (r"\+ takes numbers, not the function <lambda>", "return g + x"),
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_refusals_show_the_line(function):
    message, line = REFUSED[function]
    with pytest.raises(TranslationError, match=message) as caught:
        iruka.vectorize(target="cpu")(function)(X)
    shown = str(caught.value).splitlines()
    assert line in shown[1] and shown[2].strip() == "^"
