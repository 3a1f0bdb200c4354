"""Random choices of arguments: dtypes, shapes, layouts, axes, scalars; now and then what is not valid."""

import math
import random

from cases import Array, Base, Code, OfNumPy

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
CLASSES = {"b": ["bool"], "i": INTEGERS[:4], "u": INTEGERS[4:], "f": FLOATS, "c": COMPLEX}
USUAL = {"bool", "uint8", "int64", "float32", "float64"}  # compiled with the library
LARGE = [4099, 65_537, 100_003, 263_425]
INTEGER_KINDS = ["small", "small", "full", "edge", "ties", "positive"]
FLOAT_KINDS = ["small", "small", "unit", "wide", "edge", "mixed", "bits", "ties", "positive", "zeros"]
TAME = ["small", "unit", "ties", "positive"]


class Draw(random.Random):
    """Random choices for one case, all from one seed."""

    def __init__(self, seed):
        super().__init__(seed)
        self.large = False  # whether shapes of this case may be large
        self.kinds = None

    def chance(self, probability):
        return self.random() < probability

    def one(self, *things):
        return self.choice(things)

    def dtype(self, classes="biufc"):
        names = [name for letter in classes for name in CLASSES[letter]]
        usual = [name for name in names if name in USUAL]
        return self.choice(usual if usual and self.chance(0.5) else names)

    def kind(self, dtype, tame=False):
        if self.kinds:
            return self.choice(self.kinds)
        if tame:
            return self.choice(TAME)
        return self.choice(FLOAT_KINDS if dtype[0] in "fc" else INTEGER_KINDS)

    def size(self):
        return self.choice([0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33])

    def shape(self, least=0, most=4):
        if self.large and self.chance(0.03) and most >= 1:
            size = self.choice(LARGE)
            ndim = self.randint(max(least, 1), max(least, 1, min(most, 3)))
            return {1: (size,), 2: self.one((size // 257 + 1, 257), (3, size // 3), (size // 3, 3))}.get(
                ndim, (7, size // 77, 11)[:ndim]
            )
        ndim = self.choices(
            range(least, most + 1), [(10, 40, 30, 14, 5, 2, 1)[min(n, 6)] for n in range(least, most + 1)]
        )[0]
        shape = [self.size() for _ in range(ndim)]
        while math.prod(shape) > 5000:
            shape[shape.index(max(shape))] //= 4
        return tuple(shape)

    def fellow(self, shape):
        """A shape that is broadcast with this one; rarely one that is not."""
        if self.chance(0.02):
            return self.shape()
        other = [1 if self.chance(0.2) else n for n in shape]
        if self.chance(0.2):
            other = other[self.randint(0, len(other)) :]
        if self.chance(0.06) and math.prod(shape) < 1000:
            other = [self.one(1, 2, 3), *([1] * (len(shape) - len(other))), *other]
        return tuple(other)

    def array(self, shape=None, dtype=None, kind=None, layout=None, classes="biufc", tame=False, least=0, most=4):
        shape = self.shape(least, most) if shape is None else tuple(shape)
        dtype = dtype or self.dtype(classes)
        kind = kind or self.kind(dtype, tame)
        layout = layout or self.choices(
            ["c", "f", "stepped", "reversed", "permuted", "offset", "broadcast", "unaligned", "readonly"],
            [50, 8, 9, 7, 6, 6, 3, 2, 2])[0]  # fmt: skip
        memory, view = self.layout(layout, shape, dtype)
        of_bytes = (f"{dtype}:{kind}",) if ".view(" in view else ()
        base = Base(
            memory,
            "uint8" if of_bytes else dtype,
            *of_bytes or (kind,),
            self.getrandbits(32),
            "shared" if self.chance(0.2) and not of_bytes else "own",
        )
        return Array(base, view, shape, dtype)

    def layout(self, layout, shape, dtype):
        """The shape of the memory and the expression that makes the view of it."""
        ndim, size = len(shape), math.prod(shape)
        if layout == "readonly":
            return shape, "readonly(x)"
        if not ndim or not size:
            return shape, "x"
        if layout == "f":
            return shape[::-1], "x.T"
        if layout == "permuted" and ndim > 1:
            order = self.sample(range(ndim), ndim)
            return tuple(shape[order.index(i)] for i in range(ndim)), f"x.transpose({order})"
        if layout in ("stepped", "reversed"):
            steps = [self.one(1, 2, 3) if layout == "stepped" else self.one(1, -1, -2) for _ in shape]
            if all(step == 1 for step in steps):
                steps[-1] = 2 if layout == "stepped" else -1
            return tuple(n * abs(s) for n, s in zip(shape, steps)), "x[" + ", ".join(f"::{s}" for s in steps) + "]"
        if layout == "offset":
            first = self.one(1, 3, 5)
            return (size + first + 2,), f"x[{first}:{first + size}].reshape({shape})"
        if layout == "unaligned" and dtype not in ("bool", "int8", "uint8"):
            item = int("".join(c for c in dtype if c.isdigit())) // 8
            return (size * item + 1,), f"x[1:].view('{dtype}').reshape({shape})"
        if layout == "broadcast":
            kept = tuple(1 if self.chance(0.5) else n for n in shape)
            return kept, f"xp.broadcast_to(x, {shape})"
        return shape, "x"

    def overlapping(self, array):
        """Another view of the same memory with the same shape: the array itself, reversed, or one element further."""
        if array.view == "x" and array.size:
            how = self.one("same", "reversed", "shifted") if array.ndim else "same"
            if how == "same":
                return array, array
            if how == "reversed":
                return array, Array(array.base, f"x[{', '.join(['::-1'] * array.ndim)}]", array.shape, array.dtype)
            base = Base((array.size + 3,), array.dtype, array.base.kind, array.base.seed)
            first = Array(base, f"x[:{array.size}].reshape({array.shape})", array.shape, array.dtype)
            return first, Array(base, f"x[1:{array.size + 1}].reshape({array.shape})", array.shape, array.dtype)
        return array, array

    def writable(self, shape, dtype):
        """An array to write into."""
        return self.array(shape, dtype, layout=self.choices(["c", "f", "stepped", "reversed", "offset", "unaligned",
            "readonly"],
                                                            [60, 10, 10, 10, 6, 2, 1])[0])  # fmt: skip

    def number(self, classes="bifc"):
        letter = self.choice(classes)
        if letter == "b":
            return self.chance(0.5)
        if letter == "f":
            return self.one(0.0, -0.0, 0.5, 1.5, -2.25, 3.0, 1e10, math.inf, -math.inf, math.nan, 1e-320, 1e300, 127.5)
        if letter == "c":
            return self.one(1j, 1 + 2j, -0.5j, complex(math.inf, 0), 3 + 0j)
        return self.one(0, 1, 2, 3, -1, -3, 7, 127, 128, 255, 256, -129, 2**31, 2**63 - 1, -(2**63),
            2**64 - 1) if self.chance(0.5) \
            else self.randint(-5, 9)  # fmt: skip

    def scalar(self, dtype=None):
        """A number of Python, or a scalar of NumPy."""
        if self.chance(0.6):
            return self.number()
        dtype = dtype or self.dtype()
        value = {"b": "True", "u": "3", "i": "-2", "f": "0.75", "c": "1.5-2j"}[dtype[0]]
        return Code(f"np.{dtype}({value})")

    def operand(self, shape, dtype=None, classes="biufc"):
        """An array broadcast with the shape, a scalar, a list, or NumPy's own array."""
        how = self.random()
        if how < 0.75:
            return self.array(self.fellow(shape), dtype, classes=classes)
        if how < 0.93:
            return self.scalar(dtype)
        if how < 0.97 and math.prod(shape) < 100:
            return OfNumPy(self.array(shape, dtype, classes=classes))
        return [self.number("if") for _ in range(shape[-1])] if shape and shape[-1] < 40 else self.number("i")

    def axis(self, ndim, none=0.25, several=0.25):
        if self.chance(0.02):
            return self.one(ndim, -ndim - 1, 1.0, "0", (0, 0))
        if self.chance(none):
            return None
        if ndim and self.chance(several):
            axes = self.sample(range(ndim), self.randint(0, ndim))
            return tuple(a - ndim if self.chance(0.3) else a for a in axes)
        return self.randint(-ndim, ndim - 1) if ndim else self.one(0, -1)

    def one_axis(self, ndim, none=0.0):
        return self.axis(ndim, none, 0)

    def mask(self, shape):
        return self.array(self.fellow(shape), "bool")

    def reduced(self, shape, axis, keepdims=False):
        """The shape after a reduction; the shape itself where the axis is not valid."""
        try:
            axes = (
                range(len(shape))
                if axis is None
                else [a % len(shape) for a in (axis if isinstance(axis, tuple) else (axis,))]
            )
        except (TypeError, ZeroDivisionError):
            return shape
        return tuple(1 if i in axes else n for i, n in enumerate(shape) if keepdims or i not in axes)

    def indices(self, size, shape=None, invalid=0.02):
        """An array of indices into so many elements: as Python's list, or an array."""
        shape = (self.one(0, 1, 3, 8, 20),) if shape is None else shape
        dtype = self.one("int64", "int64", "int64", "int32", "uint8", "int8", "uint64")
        count = math.prod(shape)
        low = 0 if dtype[0] == "u" or self.chance(0.5) else -size
        picked = [self.randint(low, size - 1) if size else 0 for _ in range(count)]
        if count and self.chance(invalid):
            picked[0] = self.one(size, -size - 1)
        if dtype in ("uint8", "int8"):
            picked = [max(-128 if dtype == "int8" else 0, min(127, i)) for i in picked]
        return Code(f"xp.asarray(np.array({picked}, 'int64').astype('{dtype}').reshape({tuple(shape)}))")
