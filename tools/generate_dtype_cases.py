"""Writes tests/cpp/dtype_cases.inc: NumPy's answers about dtypes (ml_dtypes' for bfloat16), one line of text a case.

    python tools/generate_dtype_cases.py > tests/cpp/dtype_cases.inc

Lines: `promote A B RESULT`, `weak DTYPE KIND RESULT`, `same_kind A B 0|1`, `name SPELLING DTYPE`,
`fits VALUE DTYPE 0|1`, `text DTYPE BITS TEXT`.
"""

import itertools
import struct
import warnings

import ml_dtypes
import numpy as np

warnings.simplefilter("ignore")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128"
).split()
SPELLINGS = (
    NAMES
    + "bool_ byte short intc int int_ intp long longlong ubyte ushort uintc uint uintp ulong "
    "ulonglong half single float double csingle complex cdouble".split()
    + list("?bhilqpnBHILQPNefdFD")
    + "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 <f4 |u1 =i8 |b1 >u1 >b1 <c16 <? =f2".split()
)
REJECTED = "float_ complex_ cfloat longdouble g object O S U str f1 f3 i3 int128 >f4 >i2 >c8 < > <> float32x".split()


def dtype(name):
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def one(name):
    return np.ones(1, dtype(name))


def main():
    print("// Made by tools/generate_dtype_cases.py with NumPy", np.__version__, "and ml_dtypes", ml_dtypes.__version__)
    lines = []
    for a, b in itertools.product(NAMES, NAMES):
        # By arithmetic: promote_types refuses some pairs with bfloat16 that arithmetic answers.
        lines.append(f"promote {a} {b} {np.multiply(one(a), one(b)).dtype}")
        if "bfloat16" not in (a, b):
            lines.append(f"same_kind {a} {b} {int(np.can_cast(dtype(a), dtype(b), 'same_kind'))}")
    for name in NAMES:
        for kind, value in (("bool", True), ("int", 1), ("float", 1.0), ("complex", 1j)):
            if (name, kind) != ("bfloat16", "float"):  # ml_dtypes goes to float32, against NEP 50
                lines.append(f"weak {name} {kind} {(one(name) * value).dtype}")
    for spelling in SPELLINGS:
        lines.append(f"name {spelling} {dtype(spelling).name}")
    lines += [f"name {spelling} TypeError" for spelling in REJECTED]
    for name in NAMES[1:9]:
        limits = np.iinfo(name)
        for value in (limits.min - 1, limits.min, limits.max, limits.max + 1, 0, -1, 300, 2**63 - 1, 2**63, 2**64 - 1):
            if -(2**63) <= value < 2**64:
                lines.append(f"fits {value} {name} {int(limits.min <= value <= limits.max)}")
    for value in (
        0.0,
        -0.0,
        1.0,
        0.1,
        1 / 3,
        1e5,
        1e15,
        123456789.125,
        1e16,
        1e22,
        1e-4,
        1e-5,
        5e-324,
        1.7976931348623157e308,
        float("inf"),
        float("-inf"),
        float("nan"),
        -2.5,
        100.0,
        2.0**70,
    ):
        lines.append(f"text float64 {struct.unpack('<Q', struct.pack('<d', value))[0]} {value!r}")
    for value in (0.0, 1.0, 0.1, 1 / 3, 1e5, 65504.0, 1e-3, -2.5, 16777.0):
        # NumPy's digits; the place of the exponent is Python's for every float.
        digits = np.format_float_positional(np.float32(value), unique=True, trim="0")
        lines.append(f"text float32 {struct.unpack('<I', struct.pack('<f', value))[0]} {digits}")
        if value < 65520:
            half = np.float16(value)
            digits = np.format_float_positional(half, unique=True, trim="0")
            lines.append(f"text float16 {half.view(np.uint16)} {digits}")
    for value in (1 + 2j, 0.5 - 1j, complex(-0.0, 1), 1j, complex(0, -1.5), complex(float("nan"), 1), 1e20 + 1e-7j):
        bits = " ".join(str(struct.unpack("<Q", struct.pack("<d", part))[0]) for part in (value.real, value.imag))
        lines.append(f"text complex128 {bits} {value!r}")
    print('R"cases(' + "\n".join(lines) + '\n)cases"')


if __name__ == "__main__":
    main()
