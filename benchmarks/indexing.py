"""Indexing beside NumPy: medians of interleaved calls, as ratios (over 1: Iruka is faster).

python benchmarks/indexing.py [--only NAME] [--largest 100000000]
"""
import argparse

import numpy as np

import iruka as cp
from measure import interleaved, markdown, per_call

SMALL = 10_000  # below this many elements a call is timed in a loop


def cases(size, rng):
    """(name, call of Iruka, the same of NumPy) for arrays of `size` elements."""
    x, index = rng.random(size).astype("float32"), rng.integers(0, size, size)
    near = np.minimum(np.arange(size) + rng.integers(0, 64, size), size - 1)
    mask = rng.random(size) < 0.5
    rare = rng.random(size) < 0.01
    rows = max(size // 64, 1)
    table, row_index = x[: rows * 64].reshape(-1, min(size, 64)), rng.integers(0, rows, rows)
    index32, values = index.astype("int32"), rng.random(size).astype("float32")
    columns = rng.integers(0, table.shape[1], table.shape)
    a, i, i32, j, m, r, t, ri, v, c = map(
        cp.array, (x, index, index32, near, mask, rare, table, row_index, values, columns))
    y, b = x.copy(), a.copy()
    add = cp._core.ufunc("add")
    yield "x[random]", lambda: a[i], lambda: x[index]
    yield "x[random int32]", lambda: a[i32], lambda: x[index32]
    yield "x[near]", lambda: a[j], lambda: x[near]
    yield "take(random)", lambda: cp.take(a, i), lambda: np.take(x, index)
    yield "table[rows]", lambda: t[ri], lambda: table[row_index]
    yield "table[:, 8 columns]", lambda: t[:, c[0, :8]], lambda: table[:, columns[0, :8]]
    yield "take_along_axis", lambda: cp.take_along_axis(t, c, 1), lambda: np.take_along_axis(table, columns, 1)
    yield "x[mask half]", lambda: a[m], lambda: x[mask]
    yield "x[mask 1 %]", lambda: a[r], lambda: x[rare]
    yield "nonzero half", lambda: cp.nonzero(m), lambda: np.nonzero(mask)
    yield "nonzero 1 %", lambda: cp.nonzero(r), lambda: np.nonzero(rare)
    yield "argwhere of rows", lambda: cp.argwhere(t > 0.5), lambda: np.argwhere(table > 0.5)
    yield "x[random] = values", lambda: b.__setitem__(i, v), lambda: y.__setitem__(index, values)
    yield "x[near] = values", lambda: b.__setitem__(j, v), lambda: y.__setitem__(near, values)
    yield "x[mask] = 0", lambda: b.__setitem__(m, 0), lambda: y.__setitem__(mask, 0)
    chosen, chosen_values = values[: mask.sum()], v[: int(mask.sum())]
    yield "x[mask] = values", lambda: b.__setitem__(m, chosen_values), lambda: y.__setitem__(mask, chosen)
    yield "add.at", lambda: cp._core.scatter_at(b, j, add, v), lambda: np.add.at(y, near, values)
    counts = rng.integers(0, 4, size)
    n = cp.array(counts)
    yield "repeat 3", lambda: cp.repeat(a, 3), lambda: np.repeat(x, 3)
    yield "repeat 0 to 3", lambda: cp.repeat(a, n), lambda: np.repeat(x, counts)
    yield "repeat rows", lambda: cp.repeat(t, 2, axis=0), lambda: np.repeat(table, 2, axis=0)
    yield "tril", lambda: cp.tril(t), lambda: np.tril(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only")
    parser.add_argument("--largest", type=int, default=10**8)
    arguments = parser.parse_args()
    for size in (10**3, 10**6, 10**8):
        if size > arguments.largest:
            break
        rows = []
        for name, ours, theirs in cases(size, np.random.default_rng(0)):
            if arguments.only and arguments.only not in name:
                continue
            if size < SMALL:
                times = {"iruka": per_call(ours, 300, 9), "numpy": per_call(theirs, 300, 9)}
            else:
                times = interleaved({"iruka": ours, "numpy": theirs}, 3 if size > 10**7 else 9, 1)
            rows.append([name, f"{times['iruka'] * 1e6:.1f}", f"{times['numpy'] * 1e6:.1f}",
                         f"{times['numpy'] / times['iruka']:.2f}"])
        print(f"\n{size} elements\n\n" + markdown(rows, ["case", "Iruka µs", "NumPy µs", "ratio"]), flush=True)


if __name__ == "__main__":
    main()
