"""Writes tests/cpp/layout_cases.inc: what NumPy makes of chains of views, as one line of text a case.

    python tools/generate_layout_cases.py > tests/cpp/layout_cases.inc

A line is `BASE ; STEP ; STEP -> OUTCOME`. BASE is the shape of a C-ordered int32 array. OUTCOME is
`view SHAPE STRIDES OFFSET FLAGS` (bytes; FLAGS of C, F, W; strides and offset are `?` where there is no element),
`copy` for a reshape that strides do not allow, or the error of the last step.
"""

import random

import numpy as np

RANDOM = random.Random(20240229)
DTYPES = ["int8", "int16", "int64", "complex128"]
EXTREMES = [2**63 - 1, -(2**63), 2**62]


def dims_text(values):
    return ",".join(map(str, values)) if len(values) else "-"


def random_bound(extent):
    if RANDOM.random() < 0.3:
        return None
    return RANDOM.choice(EXTREMES) if RANDOM.random() < 0.05 else RANDOM.randint(-extent - 2, extent + 2)


def random_entry(extent):
    kind = RANDOM.random()
    if kind < 0.3:
        return RANDOM.randint(-extent - (RANDOM.random() < 0.1), max(extent - (RANDOM.random() < 0.9), 0))
    step = RANDOM.choice([None, 1, 2, 3, -1, -2, -3, 7, -9])
    if RANDOM.random() < 0.03:
        step = RANDOM.choice(EXTREMES + [0])
    return slice(random_bound(extent), random_bound(extent), step)


def entry_text(entry):
    if entry is None:
        return "n"
    if entry is Ellipsis:
        return "..."
    if isinstance(entry, slice):
        parts = [entry.start, entry.stop, entry.step]
        return ":".join("" if part is None else str(part) for part in parts)
    return str(entry)


def index_step(x):
    entries = [random_entry(extent) for extent in x.shape[: RANDOM.randint(0, x.ndim)]]
    if RANDOM.random() < 0.05:
        entries += [0] * (x.ndim + 1 - len(entries))
    for extra, chance in ((None, 0.3), (Ellipsis, 0.3), (None, 0.1), (Ellipsis, 0.03)):
        if RANDOM.random() < chance:
            entries.insert(RANDOM.randint(0, len(entries)), extra)
    if RANDOM.random() < 0.3 and not any(entry is Ellipsis for entry in entries):
        missing = x.ndim - sum(entry is not None for entry in entries)
        if missing > 0:  # index the last axes rather than the first
            entries = [Ellipsis] + [random_entry(extent) for extent in x.shape[missing:]]

    def apply():
        result = x[tuple(entries)]
        # An index of integers alone gives a scalar; with an ellipsis it is the view of that element.
        return result if isinstance(result, np.ndarray) else x[(*entries, ...)]

    return " ".join(["index", *map(entry_text, entries)]), apply


def factors_of(size):
    shape: list[int] = []
    while size > 1 and len(shape) < 5:
        divisor = RANDOM.choice([d for d in range(1, size + 1) if size % d == 0])
        shape.append(divisor)
        size //= divisor
    shape.append(size)
    for _ in range(RANDOM.randint(0, 2)):
        shape.insert(RANDOM.randint(0, len(shape)), 1)
    return shape


def reshape_step(x):
    shape = factors_of(x.size) if x.size else RANDOM.choice([[0], [0, 3], [2, 0, 1], [-1], [-1, 2], [-1, 0]])
    if x.size == 1 and RANDOM.random() < 0.5:
        shape = []
    if shape and RANDOM.random() < 0.3:
        shape[RANDOM.randrange(len(shape))] = -1
    if shape and RANDOM.random() < 0.05:
        shape[RANDOM.randrange(len(shape))] += 1

    def apply():
        x.reshape(shape)
        try:
            return x.reshape(shape, copy=False)
        except ValueError:
            return None

    return f"reshape {dims_text(shape)}", apply


def transpose_step(x):
    axes = list(range(x.ndim))
    RANDOM.shuffle(axes)
    axes = [axis - x.ndim if RANDOM.random() < 0.3 else axis for axis in axes]
    if RANDOM.random() < 0.05:
        axes = RANDOM.choice([axes + [0], [0] * max(x.ndim, 1), [axis + 2 for axis in axes]])
    return f"transpose {dims_text(axes)}", lambda: np.transpose(x, axes)


def random_axis(rank):
    return RANDOM.randint(-rank, max(rank - (RANDOM.random() < 0.9), 0))


def swapaxes_step(x):
    a, b = random_axis(x.ndim), random_axis(x.ndim)
    return f"swapaxes {a},{b}", lambda: np.swapaxes(x, a, b)


def squeeze_step(x):
    ones = [axis for axis in range(x.ndim) if x.shape[axis] == 1]
    if RANDOM.random() < 0.5:
        return "squeeze -", lambda: np.squeeze(x)
    axis = RANDOM.choice(ones) if ones and RANDOM.random() < 0.7 else random_axis(x.ndim)
    return f"squeeze {axis}", lambda: np.squeeze(x, axis)


def broadcast_step(x):
    shape = [RANDOM.randint(0, 4) if extent == 1 and RANDOM.random() < 0.6 else extent for extent in x.shape]
    shape = [RANDOM.randint(0, 3) for _ in range(RANDOM.randint(0, 2))] + shape
    if shape and RANDOM.random() < 0.1:
        shape[RANDOM.randrange(len(shape))] += 1
    return f"broadcast_to {dims_text(shape)}", lambda: np.broadcast_to(x, shape)


def dtype_step(x):
    dtype = RANDOM.choice(DTYPES)
    return f"view {dtype}", lambda: x.view(dtype)


STEPS = (
    [index_step] * 6
    + [reshape_step] * 4
    + [transpose_step] * 3
    + [swapaxes_step, squeeze_step, broadcast_step, dtype_step]
)


def error_text(error):
    if isinstance(error, IndexError):  # AxisError too
        return "IndexError"
    if isinstance(error, ValueError):
        return "ValueError"
    raise error


def outcome(base, x):
    if x is None:
        return "copy"
    on = x.flags.c_contiguous, x.flags.f_contiguous, x.flags.writeable
    flags = "".join(flag for flag, is_on in zip("CFW", on) if is_on)
    if x.size == 0:
        return f"view {dims_text(x.shape)} ? ? {flags or '-'}"
    offset = x.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return f"view {dims_text(x.shape)} {dims_text(x.strides)} {offset} {flags or '-'}"


def make_case():
    shape = [RANDOM.choice([1, 1, 2, 3, 4, 5, 6] + [0] * (RANDOM.random() < 0.1)) for _ in range(RANDOM.randint(0, 5))]
    base = np.zeros(shape, np.int32)
    texts, x = [dims_text(shape)], base
    for _ in range(RANDOM.randint(1, 4)):
        text, apply = RANDOM.choice(STEPS)(x)
        texts.append(text)
        try:
            x = apply()
        except (ValueError, IndexError) as error:
            return " ; ".join(texts) + " -> " + error_text(error)
        if x is None or x.ndim > 6:
            break
    return " ; ".join(texts) + " -> " + outcome(base, x)


def main():
    cases = sorted({make_case() for _ in range(1500)})
    print("// Made by tools/generate_layout_cases.py with NumPy", np.__version__)
    # A compiler must accept string literals of 64 KiB only, so the lines go in several.
    for start in range(0, len(cases), 300):
        print('R"cases(' + "\n".join(cases[start : start + 300]) + '\n)cases"')


if __name__ == "__main__":
    main()
