"""Translated functions compute the parts of statements in Python's order, each once: results are Python's own."""

import math

import numpy as np
import pytest

import iruka
from iruka import jit
from iruka.errors import TranslationError

rng = np.random.default_rng(11)
FLOATS = np.concatenate(
    [rng.normal(size=40) * 4, [0.0, -0.0, 1.0, 2.0, -3.0, 5e-324, 1e300, math.inf, -math.inf, math.nan]]
)
INTEGERS = np.concatenate([rng.integers(-20, 20, 40), [0, 1, -1, 2**31, -(2**31), 7, 3, 2**40, 5, -8]])


# Functions of numbers


def named_twice(x, y):
    return (z := x) + (z := y) * 2 + z


def named_and_augmented(x, y):
    x += (x := y) * 3
    x -= (y := x) + (x := 1.5)
    return x * 2 + y


def named_where_needed(x, y):
    z = 0.0
    a = x > 0 and (z := x * 2) > y
    b = z if y > 1 else (z := y + 1)
    c = x < (z := z + 1) < y < (z := z + 2)
    d = (z := z + 4) > x or (z := z + 8) < y or (z := z + 16) > 0
    return a, b, c, d, z


def named_in_tests(x, y):
    total, k = 0.0, 0
    while (k := k + 1) < 6 and (step := total + k) < 40:
        total = step + k
        if (k := k + 1) % 2 and not (total := total + 1) < 5:
            total -= 1
        elif (part := total * 0.5) > 4 and k > (k := k - 1):
            total += part
    return total + (x if x == x else 0.0), k


def named_in_calls(x, y):
    return max((z := x), z + 1, (z := y), z), (z, (z := 3.0), z)[int(y > 0)], min(z, (z := z - y))


def loop_over_changed_variables(x, y):
    total = 0.0
    for each in (x, y):
        y = 10.0
        x += 1
        total = total * 2 + each
    for k, each in enumerate((x, y, x)):
        x = x + 1
        total += each * k
    for each, other in zip((x, y, 1.0), (y, x, total)):
        y, total = each * 0.5, total + other
    return total


def loop_over_many_changed_variables(x, y):
    total = 0.0
    for each in (x, y, x, 1.0, y, x * y):
        x, y = y, x + 1
        total = total * 0.5 + each
    return total


def makes_its_own(a):
    a = np.zeros(2)
    a[0] = 5
    return a[0]


def may_make_its_own(a, x):
    if x > 0:
        a = np.array([a[1], a[0]])
    a[0] += 1
    return a[0] * 10 + a[1]


def arrays_of_callers(x, y):
    a = np.array([x, y])
    first = may_make_its_own(a, x) + a[0] * a[1]
    return makes_its_own(a) + a[0], first, a[1]


def arrays_of_their_own_elements(x, y):
    a = np.array([x, y, 1.0])
    for _ in range(3):
        a = np.array([a[2], a[0], a[1] + a[0]])
    b = np.full(3, a[0] + 1)
    b = np.full(3, b[1] * 2)
    return a[0], a[1], a[2], b[0], b[2]


def fill(a, x):
    a[0] += x
    return a[0]


def changes_local_arrays(x, y):
    a = np.zeros(2)
    first = a[0] + fill(a, x) * 2 + a[0]
    a[int(fill(a, y) > 0)] += a[0]
    return first, a[0], a[1], x > 0 and fill(a, 1.0) > 2 and a[0] in (fill(a, 1.0), x), a[0]


TABLE = np.array([[1.0, 2.0, 3.0], [-4.0, 5.0, 0.5], [7.0, -8.0, 9.0]])


def rows_of_a_table(x, y):
    a, b, total, k = TABLE[0], TABLE[1], 0.0, 0
    a, b = b, a
    for value in a:
        a, b = b, TABLE[2]
        total = total * 0.5 + value * x
    for value in TABLE[k]:
        k += 1
        total = total * 0.5 + value * a[int(y > 0)] - b[k % 3]
    return total, a[0], b[0]


FUNCTIONS = [
    named_twice, named_and_augmented, named_where_needed, named_in_tests, named_in_calls, loop_over_changed_variables,
    loop_over_many_changed_variables, arrays_of_callers, arrays_of_their_own_elements, changes_local_arrays,
    rows_of_a_table,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_functions_of_numbers(function):
    made = iruka.vectorize(target="cpu")(function)
    for x in (FLOATS, rng.permutation(FLOATS)[::-1], FLOATS[:0], FLOATS[3]):
        y = rng.permutation(x) if np.ndim(x) else FLOATS[5]
        found = made(x, y)
        with np.errstate(all="ignore"):
            expected = np.frompyfunc(made.py_func, 2, len(found) if isinstance(found, tuple) else 1)(x, y)
        for one, column in zip(np.atleast_1d(found) if np.ndim(found) == 0 else _columns(found), _columns(expected)):
            np.testing.assert_allclose(np.asarray(one, float), np.asarray(column, float), rtol=1e-14)


def _columns(results):
    return results if isinstance(results, tuple) else (results,)


def counted(start, stop):
    total = 0
    for k in range(start, stop, 4):
        total = total * 3 + k % 7
    for k in range(stop, start, -3):
        total = total * 3 + k % 7
    for n, k in enumerate(range(start, stop, 5)):
        total += (k % 7) * n
    for k in reversed(range(start, stop, 2)):
        total = total * 3 + k % 7
    return total % 1000003


def counted_by(start, stop, step):
    total = 0
    for k in range(start, stop, step):
        total = total * 3 + k % 7
    return total % 1000003


def wide_steps(x):
    total = 0
    for k in range(-(2**63), 2**63 - 1, 2**62):
        total = total * 3 + (k >> 60) + x
    for k in range(2**63 - 1, -(2**63), -(2**63)):
        total = total * 3 + (k >> 60) + x
    return total


def test_ranges_that_end_at_the_largest_integers():
    least, most = -(2**63), 2**63 - 1
    start = np.array([most - 2, most - 9, most, least, least + 1, 0, -5, 3])
    stop = np.array([most, most, most, least + 7, least, 9, 6, 3])
    steps = np.array([4, 3, 1, most, least, 2, most - 3, -1])
    np.testing.assert_array_equal(
        iruka.vectorize(target="cpu")(counted)(start, stop), list(map(counted, start.tolist(), stop.tolist()))
    )
    made = iruka.vectorize(target="cpu")(counted_by)
    for step in (steps, -np.maximum(steps, least + 1)):
        expected = [counted_by(*each) for each in zip(start.tolist(), stop.tolist(), step.tolist())]
        np.testing.assert_array_equal(made(start, stop, step), expected)
        expected = [counted_by(*each) for each in zip(stop.tolist(), start.tolist(), step.tolist())]
        np.testing.assert_array_equal(made(stop, start, step), expected)
    np.testing.assert_array_equal(
        iruka.vectorize(target="cpu")(wide_steps)(np.arange(5)), [wide_steps(k) for k in range(5)]
    )


# Functions of arrays, as those of guvectorize and of jit.rawkernel


def bump(out):
    out[0] = out[0] + 1
    return out[0]


def put(out, k):
    out[k] += 2


def reads(out):
    return out[0] * 3


def rank(out):
    out[1] += 1
    return 2


def first_row(x):
    return x[0]


def rows(x, k):
    return (x[k], x[1 - k]), k


def row_with_effect(x, out):
    out[0] += 1
    return x[int(out[0]) % 2]


def row_of(x, test):
    if test:
        return x[1]
    return first_row(x)


def swapped_views(x, like, out):
    a, b = x[0], x[1]
    a, b = b, a
    pair = (a, b)
    (a, b), c = pair[::-1], pair[0]
    out[0], out[1], out[2] = a[0], b[0], c[1]
    p = q = x[1]
    p = x[0]
    out[3], out[4] = p[1], q[1]


def returned_views(x, like, out):
    out[0] = first_row(x)[1]
    (a, b), k = rows(x, 1)
    out[1], out[2], out[3] = a[0], b[1], k
    out[4] = row_of(x, out[0] > 0)[0] + row_of(x, False)[1] * (rows(x, 0)[0][1][0] if out[0] == 1 else 2.0)
    a, b = rows(x, 0)[0] if out[1] > 100 else rows(x, 1)[0]
    out[5] = a[0] * 10 + b[0]
    out[6] = row_with_effect(x, out)[0] + row_with_effect(x, out)[0] * 10 + len(row_with_effect(x, out)) * out[0]


def chosen_views(x, like, out):
    a = x[0] if like[0] > like[1] else x[1]
    out[0] = a[0]
    b = x[1] if bump(out) > 100 else first_row(x)
    out[1] = b[0] + out[0]
    for value in a if like[0] > like[1] else b:
        a = x[0]
        out[2] = out[2] * 2 + value
    for value in a:
        a, b = b, x[1]
        out[3] = out[3] * 2 + value


def operands(x, like, out):
    out[0] = 5.0
    out[1] = out[0] * 10 + bump(out)
    out[2] = bump(out) * 10 + out[0]
    out[3] = out[0] * 100 + divmod(bump(out), 4.0)[0] + bump(out) ** 2 + bump(out) ** 3
    out[4] = reads(out) + bump(out) + reads(out)
    out[5] = max(out[0], bump(out), out[0]) + min(bump(out), out[0]) + abs(bump(out) - out[0])
    total = out[0]
    total += bump(out) + total
    out[6] = total + (bump(out), 2.0, bump(out))[1] + len((bump(out), 1)) + 0 * bump(out)


def targets(x, like, out):
    out[0] = out[1] = 1.0
    out[rank(out)] += 1
    out[rank(out)] -= out[rank(out)] * bump(out)
    out[0] += bump(out)
    out[rank(out)], out[3] = bump(out), out[0]
    out[4] = out[rank(out) + 3] = bump(out) + out[1]
    out[rank(out) + int(bump(out)) % 3] *= bump(out)


def conditions(x, like, out):
    out[1] = out[0] > 0 and bump(out) > 0
    out[2] = bump(out) in (5.0, 6.0, 1.0, bump(out))
    out[3] = 0 <= bump(out) < 100 > bump(out) > 2 < bump(out) < 1 < bump(out)
    out[4] = like[0] and (bump(out) or 9.0)
    out[5] = (bump(out) - 6 or bump(out) or bump(out)) and (bump(out) < 0 or bump(out))
    out[6] = bump(out) if bump(out) > 100 else bump(out) if not bump(out) < 0 else -bump(out)
    k = 0
    while k < 3 and bump(out) < 100:
        k += 1
        if k > 1 and bump(out) > 0 or bump(out) < 0:
            out[6] += out[0]
        elif bump(out) > 3 > bump(out):
            out[6] -= out[0]
    for value in (bump(out), out[0], bump(out)):
        out[0] += value
    for k in range(int(bump(out)) % 5, int(bump(out)) % 9):
        out[6] += bump(out) * k


def effects_alone(x, like, out):
    put(out, 0) if like[0] > like[1] else put(out, 1)
    put(out, 2), put(out, 2), out[2]
    nothing = put(out, 3)
    out[4] = nothing is None
    (out[4] > 0) + bump(out)
    out[5] = put(out, 3) is None or bump(out) > 0
    put(out, rank(out) + int(out[1]) % 2)


def inner_functions(x, like, out):
    add = lambda k, v: bump(out) + v + out[k]

    def total(k, first=like[0] + bump(out)):  # noqa: B008
        out[k] += first + bump(out)
        return out[k]

    out[1] = total(2) + out[2] * total(3) + out[0] * total(rank(out))
    out[4] = out[0] * 2 + (bump(out) if out[1] > 1e9 else total(5) - out[5]) + add(0, out[0]) * (k := 3) + add(k, k)


ARRAY_FUNCTIONS = [
    swapped_views, returned_views, chosen_views, operands, targets, conditions, effects_alone,
    inner_functions,
]  # fmt: skip
LAYOUTS = [lambda x: x, np.asfortranarray, lambda x: np.repeat(x, 3, -1)[..., ::3], lambda x: x[..., ::-1]]


def by_python(function, x, like):
    out = np.zeros((len(x), 8))
    for k in range(len(x)):
        function(x[k], like[k], out[k])
    return out


def array_arguments(layout):
    return layout(rng.integers(-4, 9, (7, 2, 2)).astype(float)), layout(rng.integers(0, 3, (7, 8)).astype(float))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", ARRAY_FUNCTIONS, ids=lambda function: function.__name__)
def test_guvectorize(function, layout):
    @iruka.guvectorize("void(float64[:,:], float64[:], float64[:])", "(m,n),(k)->(k)")
    def made(x, like, out):
        out[:] = 0
        function(x, like, out)

    x, like = array_arguments(layout)
    np.testing.assert_array_equal(made(x, like), by_python(function, x, like))


@pytest.mark.parametrize("mode", ["cuda", "numpy"])
@pytest.mark.parametrize("function", ARRAY_FUNCTIONS, ids=lambda function: function.__name__)
def test_rawkernel(function, mode):
    def kernel(x, like, out):
        k = jit.grid(1)
        function(x[k], like[k], out[k])

    for layout in LAYOUTS:
        x, like = array_arguments(layout)
        out = iruka.zeros((7, 8))
        jit.rawkernel(mode=mode)(kernel)((7,), (1,), (iruka.asarray(x), iruka.asarray(like), out))
        np.testing.assert_array_equal(out.get(), by_python(function, x, like))


def view_at(x, k):
    return x[k]


def two_views(x, k):
    return x[0], x[k]


def one_view(x, k, out):
    out[0] = view_at(x, k)[0]


def second_view(x, k, out):
    out[0] = two_views(x, k)[1][0]


def sum_of_views(x, k, out):
    out[0] = view_at(x, 0)[-1] + view_at(x, k)[0]


def chosen_view(x, k, out):
    out[0] = (view_at(x, k) if x[0, 0] > -100 else x[0])[0]


@pytest.mark.cpu_only
@pytest.mark.parametrize("function", [one_view, second_view, sum_of_views, chosen_view])
def test_a_view_that_does_not_exist(function):
    """A failed index of a helper is an IndexError; nothing reads the array that is not there."""
    made = iruka.guvectorize("void(float64[:,:], int64, float64[:])", "(m,n),()->()")(function)
    x = rng.normal(size=(5, 3, 2))
    for k in np.array([3, 2**62, -(2**63)]):
        with pytest.raises(IndexError):
            made(x, k)
    with pytest.raises(IndexError):
        made(x[:, :0], np.int64(0))
    with pytest.raises(IndexError):
        made(x[:, :, :0], np.int64(0))
    expected = np.zeros((5, 1))
    for k in range(5):
        function(x[k], 1, expected[k])
    np.testing.assert_array_equal(made(x, np.int64(1)), expected[:, 0])


# Functions of threads


@jit.rawkernel()
def counts(c, y):
    k = jit.grid(1)
    y[jit.atomic_add(c, 0, 1)] += 1
    y[k] += (k > 0) and (0 <= jit.atomic_add(c, 1, 1) < 100)
    y[k] += jit.atomic_add(c, 2, 1) in (5000, 6000, 7000)
    y[k] += (k > 1) and (jit.atomic_add(c, 3, 1) * 0 or 1)
    y[k] += min(jit.atomic_add(c, 4, 1), -5) + max(jit.atomic_add(c, 4, 1), 5000) - 4995
    y[k] += 0 * (jit.atomic_add(c, 5, 1) ** 2 + jit.atomic_add(c, 5, 1) ** 3)
    y[k] += 1 if k % 2 and jit.atomic_add(c, 6, 1) >= 0 else 0 * jit.atomic_add(c, 7, 1)
    (jit.atomic_add(c, 8, 1), k)
    if k > 2 or jit.atomic_add(c, 9, 1) < 0:
        y[k] += 0
    old = jit.atomic_add(c, 10, 1)
    y[k] += 0 * old


def test_atomic_functions_run_once():
    c, y, n = iruka.zeros(11, "int32"), iruka.zeros(96, "int64"), 96
    counts((3,), (32,), (c, y))
    assert c.get().tolist() == [n, n - 1, n, n - 2, 2 * n, 2 * n, n // 2, n // 2, n, 3, n]
    k = np.arange(n)
    np.testing.assert_array_equal(y.get(), 1 + (k > 0) + (k > 1) + (k % 2))


@jit.rawkernel()
def exchanges(x, y):
    shared = jit.shared_memory(np.float64, 64)
    k, t = jit.grid(1), jit.threadIdx.x
    shared[t] = x[k]
    before = shared[t], jit.syncthreads(), shared[63 - t]
    y[0, k] = before[0] + before[2] * 1000
    y[1, k] = x[k] + jit.shfl_down_sync(0xFFFFFFFF, x[k] * 2, 1) * (1 if jit.laneid() < 31 else 0)
    for j in range(2**63 - 1 - t, 2**63 - 1, 40):
        y[2, k] += j % 5
    for j in jit.range(0, t, 3, unroll=4):
        y[2, k] += j


def test_barriers_and_shuffles_in_expressions():
    x = rng.integers(0, 100, 128).astype(float)
    y = iruka.zeros((3, 128))
    exchanges((2,), (64,), (iruka.asarray(x), y))
    blocks, warps, t = x.reshape(2, 64), x.reshape(4, 32), np.arange(128) % 64
    np.testing.assert_array_equal(y[0].get(), (blocks + blocks[:, ::-1] * 1000).ravel())
    np.testing.assert_array_equal(y[1].get(), (warps + np.pad(warps[:, 1:] * 2, ((0, 0), (0, 1)))).ravel())
    last = 2**63 - 1
    expected = [sum(j % 5 for j in range(last - k, last, 40)) + sum(range(0, k, 3)) for k in t.tolist()]
    np.testing.assert_array_equal(y[2].get(), expected)


# What has no kernel


def array_in_a_tuple(x):
    a = np.zeros(2)
    pair = (a, 2.0)
    return pair[0][0] * x


def two_names(x):
    a = b = np.zeros(2)
    a[0] = x
    return b[0]


def returns_an_array(x):
    a = np.zeros(2)
    return (a, x)


def loops_over_an_array_that_it_makes(x):
    total = 0.0
    a = np.zeros(2)
    for each in a:
        a = np.ones(2)
        total += each
    return total * x


def chooses_among_arrays_by_where(x):
    return np.where(x > 0, (x, 1.0), (1.0, x))


@pytest.mark.parametrize(
    "function, words",
    [
        (array_in_a_tuple, "has no arrays"),
        (two_names, "one name"),
        (returns_an_array, "returns"),
        (loops_over_an_array_that_it_makes, "another name"),
        (chooses_among_arrays_by_where, "where"),
    ],
)
def test_what_has_no_kernel(function, words):
    with pytest.raises(TranslationError, match=words) as caught:
        iruka.vectorize(target="cpu")(function)(FLOATS)
    assert "line " in str(caught.value)


@jit.rawkernel(device=True)
def shares(s):
    s = jit.shared_memory(np.float64, 8)
    s[0] = 1.0


@jit.rawkernel()
def gives_shared_memory(y):
    s = jit.shared_memory(np.float64, 8)
    shares(s)
    y[0] = s[0]


def test_shared_memory_in_a_parameter():
    with pytest.raises(TranslationError, match="is a parameter"):
        gives_shared_memory((1,), (1,), (iruka.zeros(1),))
