"""Indices that a translation knows to be inside are not checked; all others raise Python's IndexError."""

import itertools

import numpy as np
import pytest

import iruka

rng = np.random.default_rng(7)
LAYOUT = "void(int64[:], int64[:], int64, int64[:])", "(n),(m),()->(n)"


def upward(x, k, c, out):
    for i in range(len(x) + c):
        out[i] = x[i]


def shifted(x, k, c, out):
    for i in range(1, len(x) - 1):
        out[i] = x[i - 1] + x[i + 1]


def shifted_too_far(x, k, c, out):
    for i in range(len(x)):
        out[i] = x[i + 1]


def downward(x, k, c, out):
    for i in range(len(x) - 1, -1, -1):
        out[i] = x[i] - x[len(x) - 1 - i]


def from_the_end(x, k, c, out):
    for i in range(len(x)):
        out[i] = x[-1] + x[-i - 1] + x[~i]


def by_two(x, k, c, out):
    for i in range(0, len(x) - 1, 2):
        out[i] = x[i + 1]
        out[i + 1] = x[i]


def other_axis(x, k, c, out):
    for i in range(len(k)):
        out[i] = x[i]


def valid(x, k, c, out):
    for i in range(len(x) - len(k) + 1):
        total = 0
        for j in range(len(k)):
            total += x[i + j] * k[j]
        out[i] = total


def same(x, k, c, out):
    n, m = len(x), len(k)
    for i in range(n):
        total = 0
        for j in range(m):
            p = i + j - m // 2
            if 0 <= p < n:
                total += x[p] * k[j]
        out[i] = total


def clamped(x, k, c, out):
    n = len(x)
    for i in range(n):
        p = i + c
        if p < 0:
            p = 0
        elif p >= n:
            p = n - 1
        out[i] = x[p] + x[min(max(i - c, 0), n - 1)]


def clamped_wrongly(x, k, c, out):
    n = len(x)
    for i in range(n):
        p = i + c
        if p < 0:
            p = 0
        elif p > n:
            p = n
        out[i] = x[p]


def around(x, k, c, out):
    n = len(x)
    for i in range(n):
        out[i] = x[(i + c) % n] + x[i * 2 % n]


def while_up(x, k, c, out):
    i = 0
    while i < len(x):
        out[i] = x[i]
        i += 1


def while_up_by_two(x, k, c, out):
    i = c
    while i <= len(x) - 1:
        out[i] = x[i]
        i += 2


def while_down(x, k, c, out):
    i = len(x) - 1
    while i >= 0 and x[i] > 0:
        out[i] = 1
        i -= 1


def while_moved(x, k, c, out):
    i = 0
    while i < len(x):
        out[i] = x[i]
        i += 1
        if i == 2:
            i = i - c


def sorted_by_insertion(x, k, c, out):
    for i in range(len(x)):
        out[i] = x[i]
    for i in range(1, len(x)):
        value, j = out[i], i - 1
        while j >= 0 and out[j] > value:
            out[j + 1] = out[j]
            j -= 1
        out[j + 1] = value


def compacted(x, k, c, out):
    count = 0
    for value in x:
        if value > c:
            out[count] = value
            count += 1


def halves(x, k, c, out):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] < c:
            low = middle + 1
        else:
            high = middle
    out[low] = 1


def chosen(x, k, c, out):
    for i in range(len(x)):
        out[i] = (x[i - 1] if i > 0 else 0) + (x[i + 1] if i + 1 < len(x) else 0)
        if not (i < 1 or x[i - 1] < 0):
            out[i] += 1


def chosen_wrongly(x, k, c, out):
    for i in range(len(x)):
        out[i] = x[i + 1] if i + 1 <= len(x) else 0


def counter_is_changed(x, k, c, out):
    for i in range(len(x)):
        i += 1
        out[i] = x[i]


def left_early(x, k, c, out):
    for i in range(len(x)):
        if i + c >= len(x):
            break
        if i + c < 0:
            continue
        out[i] = x[i + c]


def enumerated(x, k, c, out):
    for i, value in enumerate(x):
        out[i] = value + x[i]
    for i, (a, b) in enumerate(zip(x, k)):
        out[i] += a * b + k[i]
    for i, value in enumerate(reversed(x)):
        out[i] += value


def behind_a_loop(x, k, c, out):
    i = 0
    for i in range(len(k)):
        out[0] = i
    out[i] = x[i]


def local(x, k, c, out):
    last = np.zeros(3, dtype=np.int64)
    for i in range(len(x)):
        last[i % 3] = x[i]
        out[i] = last[0] + last[1] - last[(i + 1) % 3] + last[c % 5]


def asserted(x, k, c, out):
    for i in range(len(x)):
        out[i] = x[0]
    j = len(k) - 2
    if j < 0 or j >= len(x):
        return
    out[j] = 5


def multiplied(x, k, c, out):
    for i in range(len(x) // 2):
        out[i * 2] = x[i << 1] + x[i & 1]


def wrapped(x, k, c, out):
    i = c * 4611686018427387904
    for step in range(5):
        i += 4611686018427387904
        if i < len(x):
            out[0] = i % 7 + step
            out[i] = 1


BODIES = [
    upward, shifted, shifted_too_far, downward, from_the_end, by_two, other_axis, valid, same, clamped, clamped_wrongly,
    around, while_up, while_up_by_two, while_down, while_moved, sorted_by_insertion, compacted, halves, chosen,
    chosen_wrongly, counter_is_changed, left_early, enumerated, behind_a_loop, local, asserted, multiplied,
]  # fmt: skip
UNCHECKED = [
    shifted, downward, by_two, same, around, while_up, enumerated, chosen,
]  # fmt: skip


def in_python(function, x, k, c):
    """The result, or None where Python raises IndexError."""
    out = np.zeros_like(x)
    try:
        function(x, k, np.int64(c), out)
    except IndexError:
        return None
    except ZeroDivisionError:
        return False
    return out


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_as_in_python(body):
    kernel = iruka.guvectorize([LAYOUT[0]], LAYOUT[1])(body)
    seen = set()
    for n, m, c in itertools.product((0, 1, 2, 3, 7), (0, 1, 2, 4), (-2, -1, 0, 1, 3)):
        if body is while_moved and c > 0:
            continue  # it does not end
        x, k = rng.integers(-3, 9, n), rng.integers(-3, 9, m)
        expected = in_python(body, x, k, c)
        if expected is False:
            continue
        out = np.zeros_like(x)
        seen.add(expected is None)
        if expected is None:
            with pytest.raises(IndexError):
                kernel(x, k, c, out)
        else:
            kernel(x, k, c, out)
            np.testing.assert_array_equal(out, expected, err_msg=f"n={n}, m={m}, c={c}")
    assert False in seen


@pytest.mark.parametrize("body", UNCHECKED, ids=lambda body: body.__name__)
def test_known_indices_are_not_checked(body):
    from iruka._translate import translate
    from iruka._translate.number_types import ArrayView, number

    dtype = np.dtype("int64")
    x, k, out = (ArrayView(dtype, 1, is_output, axes=axes, longest=2**48) for is_output, axes in
                 ((False, ("n",)), (False, ("m",)), (True, ("n",))))  # fmt: skip
    assert not translate(body, (x, k, number("int64"), out)).can_fail


def test_empty_rows_are_not_written():
    @iruka.guvectorize(["void(int64[:], int64[:])"], "(n)->(n)")
    def first(x, out):
        out[0] = 5

    memory = np.arange(6).reshape(2, 3)
    with pytest.raises(IndexError):
        first(memory[:, 1:1], memory[:, 1:1])
    np.testing.assert_array_equal(memory, np.arange(6).reshape(2, 3))


def test_integers_that_wrap():
    """Facts do not hold for values that leave 64 bits."""
    kernel = iruka.guvectorize([LAYOUT[0]], LAYOUT[1])(wrapped)
    x = np.arange(3)
    for c in (0, 1):
        with pytest.raises(IndexError):
            kernel(x, x, c, np.zeros_like(x))
