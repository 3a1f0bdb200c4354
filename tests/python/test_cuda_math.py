"""The functions of CUDA's math API by their names, in RawKernel and ElementwiseKernel."""

import math
from fractions import Fraction

import numpy as np
import pytest

import iruka

C_TYPES = {"i4": "int", "u4": "unsigned", "i8": "long long", "u8": "unsigned long long", "f4": "float", "f8": "double"}
MASK = 0xFFFFFFFF


def on_device(values):
    return iruka.array(np.asarray(values))


def run(names, result, columns):
    """The functions of these names on the rows of `columns`, by one kernel."""
    arguments = [np.ascontiguousarray(column) for column in columns]
    n = len(arguments[0])
    parameters = "".join(f"const {C_TYPES[a.dtype.str[1:]]}* x{k}, " for k, a in enumerate(arguments))
    values = ", ".join(f"x{k}[i]" for k in range(len(arguments)))
    lines = "\n".join(f"out[{k}ll * n + i] = {name}({values});" for k, name in enumerate(names))
    code = f"""extern "C" __global__ void f({parameters}{C_TYPES[result]}* out, int n) {{
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      {lines}
    }}"""
    out = iruka.zeros((len(names), n), result)
    iruka.RawKernel(code, "f")(((n + 127) // 128,), (128,), (*map(on_device, arguments), out, n))
    return dict(zip(names, iruka.asnumpy(out)))


def signed(x, bits=32):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def words(count=300, seed=1):
    """Words with all bits, and the limits of their halves and bytes."""
    choice = np.random.default_rng(seed)
    special = np.array(
        [0, 1, 0x7FFFFFFF, 0x80000000, MASK, 0x80808080, 0x7F7F7F7F, 0x80008000, 0x7FFF7FFF, 0xFF00FF], "u4"
    )
    return np.concatenate([special, choice.permutation(special), choice.integers(0, 1 << 32, count, dtype="u4")])


# Integers

UNSIGNED_1 = {
    "__brev": lambda x: int(f"{x:032b}"[::-1], 2),
    "__popc": lambda x: bin(x).count("1"),
    "__clz": lambda x: 32 - x.bit_length(),
    "__ffs": lambda x: (x & -x).bit_length(),
}
UNSIGNED_2 = {
    "umin": min,
    "umax": max,
    "__umulhi": lambda x, y: x * y >> 32,
    "__umul24": lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF) & MASK,
    "__uhadd": lambda x, y: (x + y) >> 1,
    "__urhadd": lambda x, y: (x + y + 1) >> 1,
}
UNSIGNED_3 = {
    "__usad": lambda x, y, z: abs(x - y) + z & MASK,
    "__funnelshift_l": lambda x, y, z: (y << 32 | x) << (z & 31) >> 32 & MASK,
    "__funnelshift_r": lambda x, y, z: (y << 32 | x) >> (z & 31) & MASK,
    "__funnelshift_lc": lambda x, y, z: (y << 32 | x) << min(z, 32) >> 32 & MASK,
    "__funnelshift_rc": lambda x, y, z: (y << 32 | x) >> min(z, 32) & MASK,
    "__byte_perm": lambda x, y, z: int.from_bytes(
        bytes((x | y << 32).to_bytes(8, "little")[z >> 4 * k & 7] for k in range(4)), "little"),
    "__dp4a": lambda x, y, z: sum((x >> 8 * k & 255) * (y >> 8 * k & 255) for k in range(4)) + z & MASK,
    "__dp2a_lo": lambda x, y, z: sum((x >> 16 * k & 65535) * (y >> 8 * k & 255) for k in range(2)) + z & MASK,
    "__dp2a_hi": lambda x, y, z: sum((x >> 16 * k & 65535) * (y >> 16 + 8 * k & 255) for k in range(2)) + z & MASK,
}  # fmt: skip
SIGNED_2 = {
    "__mulhi": lambda x, y: x * y >> 32,
    "__mul24": lambda x, y: signed(signed(x, 24) * signed(y, 24)),
    "__hadd": lambda x, y: (x + y) >> 1,
    "__rhadd": lambda x, y: (x + y + 1) >> 1,
}
SIGNED_3 = {
    "__dp4a": lambda x, y, z: signed(sum(signed(x >> 8 * k, 8) * signed(y >> 8 * k, 8) for k in range(4)) + z),
    "__dp2a_lo": lambda x, y, z: signed(sum(signed(x >> 16 * k, 16) * signed(y >> 8 * k, 8) for k in range(2)) + z),
    "__dp2a_hi": lambda x, y, z: signed(
        sum(signed(x >> 16 * k, 16) * signed(y >> 16 + 8 * k, 8) for k in range(2)) + z
    ),
}
LONG_2 = {
    "__mul64hi": lambda x, y: x * y >> 64,
    "llmin": min,
    "llmax": max,
}
UNSIGNED_LONG_2 = {"__umul64hi": lambda x, y: x * y >> 64, "ullmin": min, "ullmax": max}
LONG_1 = {"llabs": lambda x: signed(abs(x), 64), "labs": lambda x: signed(abs(x), 64)}
UNSIGNED_LONG_1 = {
    "__brevll": lambda x: int(f"{x:064b}"[::-1], 2),
    "__popcll": lambda x: bin(x).count("1"),
    "__clzll": lambda x: 64 - x.bit_length(),
    "__ffsll": lambda x: (x & -x).bit_length(),
}


def saturated(x, low, high):
    return min(max(x, low), high)


def by_parts(bits, is_signed, compute):
    def function(*given):
        result = 0
        for shift in range(0, 32, bits):
            parts = [signed(x >> shift, bits) if is_signed else x >> shift & ((1 << bits) - 1) for x in given]
            result |= (int(compute(*parts)) & ((1 << bits) - 1)) << shift
        return result

    return function


def part_functions():
    """Names with the word of each, for one and two operands."""
    one, two = {}, {}
    for count, bits in ((2, 16), (4, 8)):
        low, high, most = -(1 << bits - 1), (1 << bits - 1) - 1, (1 << bits) - 1
        for name, compute in {
            "abs": abs, "neg": lambda x: -x,
            "absss": lambda x, h=high: min(abs(x), h), "negss": lambda x, h=high: min(-x, h),
        }.items():  # fmt: skip
            one[f"__v{name}{count}"] = by_parts(bits, True, compute)
        for name, (is_signed, compute) in {
            "add": (True, lambda x, y: x + y), "sub": (True, lambda x, y: x - y),
            "addss": (True, lambda x, y, a=low, b=high: saturated(x + y, a, b)),
            "subss": (True, lambda x, y, a=low, b=high: saturated(x - y, a, b)),
            "addus": (False, lambda x, y, b=most: saturated(x + y, 0, b)),
            "subus": (False, lambda x, y, b=most: saturated(x - y, 0, b)),
            "avgs": (True, lambda x, y: (x + y + (x + y >= 0)) >> 1), "avgu": (False, lambda x, y: (x + y + 1) >> 1),
            "haddu": (False, lambda x, y: (x + y) >> 1),
            "absdiffs": (True, lambda x, y: abs(x - y)), "absdiffu": (False, lambda x, y: abs(x - y)),
            "maxs": (True, max), "maxu": (False, max), "mins": (True, min), "minu": (False, min),
        }.items():  # fmt: skip
            two[f"__v{name}{count}"] = by_parts(bits, is_signed, compute)
        for name, compare in {
            "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "ge": lambda x, y: x >= y,
            "gt": lambda x, y: x > y, "le": lambda x, y: x <= y, "lt": lambda x, y: x < y,
        }.items():  # fmt: skip
            for sign in ("",) if name in ("eq", "ne") else ("s", "u"):
                two[f"__vset{name}{sign}{count}"] = by_parts(bits, sign != "u", compare)
                two[f"__vcmp{name}{sign}{count}"] = by_parts(bits, sign != "u", lambda x, y, c=compare: -c(x, y))
        for sign in "su":
            two[f"__vsad{sign}{count}"] = lambda x, y, b=bits, s=sign: sum(
                abs(signed(x >> k, b) - signed(y >> k, b)) if s == "s" else
                abs((x >> k & (1 << b) - 1) - (y >> k & (1 << b) - 1)) for k in range(0, 32, b))  # fmt: skip
    return one, two


PARTS_1, PARTS_2 = part_functions()


def long_words(dtype, seed):
    return (words(seed=seed).astype("u8") << np.uint64(32) | words(seed=seed + 1)).view(dtype)


@pytest.mark.parametrize("table, dtype, operands", [
    (UNSIGNED_1, "u4", 1), (UNSIGNED_2, "u4", 2), (UNSIGNED_3, "u4", 3), (SIGNED_2, "i4", 2), (SIGNED_3, "i4", 3),
    (LONG_1, "i8", 1), (LONG_2, "i8", 2), (UNSIGNED_LONG_1, "u8", 1), (UNSIGNED_LONG_2, "u8", 2),
    (PARTS_1, "u4", 1), (PARTS_2, "u4", 2),
])  # fmt: skip
def test_integers(table, dtype, operands):
    make = long_words if dtype[1] == "8" else lambda d, seed: words(seed=seed).view(d)
    columns = [make(dtype, 5 * k + 1) for k in range(operands)]
    found = run(table, dtype, columns)
    for name, reference in table.items():
        expected = [reference(*map(int, row)) for row in zip(*columns)]
        np.testing.assert_array_equal(found[name], np.array(expected, dtype), err_msg=name)


def test_differences_of_integers():
    x, y, z = words(seed=1).view("i4"), words(seed=2).view("i4"), words(seed=3)
    expected = np.array([abs(int(a) - int(b)) + int(c) & MASK for a, b, c in zip(x, y, z)], "u4")
    np.testing.assert_array_equal(run(["__sad"], "u4", [x, y, z])["__sad"], expected)


def test_places_of_bits():
    masks = words()
    base = (np.arange(len(masks)) * 7 % 32).astype("u4")
    offset = (np.arange(len(masks)) % 13 - 6).astype("i4")

    def place(mask, base, offset):
        if offset == 0:
            return base if mask >> base & 1 else MASK
        order = range(base, 32) if offset > 0 else range(base, -1, -1)
        found = [k for k in order if mask >> k & 1]
        return found[abs(offset) - 1] if len(found) >= abs(offset) else MASK

    expected = np.array([place(*map(int, row)) for row in zip(masks, base, offset)], "u4")
    np.testing.assert_array_equal(run(["__fns"], "u4", [masks, base, offset])["__fns"], expected)


def test_vectors_of_bytes():
    code = """extern "C" __global__ void f(const int* a, const int* b, int* out) {
      int i = threadIdx.x;
      out[3 * i] = __dp4a(*(const char4*)(a + i), *(const char4*)(b + i), 5);
      out[3 * i + 1] = __dp2a_lo(*(const short2*)(a + i), *(const char4*)(b + i), 6);
      out[3 * i + 2] = (int)__dp4a(*(const uchar4*)(a + i), *(const uchar4*)(b + i), 7u);
    }"""
    a, b = words(seed=8)[:64].view("i4"), words(seed=9)[:64].view("i4")
    out = iruka.zeros((64, 3), "i4")
    iruka.RawKernel(code, "f")((1,), (64,), (on_device(a), on_device(b), out))
    pairs = [(int(x), int(y)) for x, y in zip(a, b)]
    expected = [[SIGNED_3["__dp4a"](x, y, 5), SIGNED_3["__dp2a_lo"](x, y, 6),
                 signed(UNSIGNED_3["__dp4a"](x & MASK, y & MASK, 7))] for x, y in pairs]  # fmt: skip
    np.testing.assert_array_equal(iruka.asnumpy(out), np.array(expected, "i4"))


# Directed rounding


def neighbours(value, dtype):
    """The numbers of `dtype` below and above an exact value, which are equal where it is a number itself."""
    inf = dtype(np.inf)
    with np.errstate(over="ignore", under="ignore"):
        try:
            near = dtype(float(value))
        except OverflowError:
            near = inf if value > 0 else -inf
        most = np.finfo(dtype).max
        below = min(max(near, -most), most)
        while Fraction(float(below)) > value and below > -most:
            below = np.nextafter(below, -inf)
        while below < most and Fraction(float(np.nextafter(below, inf))) <= value:
            below = np.nextafter(below, inf)
        if Fraction(float(below)) > value:
            return -inf, below
        above = below if Fraction(float(below)) == value else np.nextafter(below, inf)
    return below, above


def rounded(value, dtype, mode, zero=0.0):
    """`zero` is the result where the value is 0."""
    if value == 0:
        return dtype(zero)
    below, above = neighbours(value, dtype)
    if mode == "rn":
        if below == above:
            return below
        top = Fraction(2) ** (128 if dtype is np.float32 else 1024)
        low = Fraction(float(below)) if np.isfinite(below) else -top
        high = Fraction(float(above)) if np.isfinite(above) else top
        middle = (low + high) / 2
        is_even = int(below.view(f"u{below.itemsize}")) % 2 == 0
        result = below if value < middle or (value == middle and is_even) else above
    else:
        result = {"rd": below, "ru": above, "rz": below if value > 0 else above}[mode]
    return dtype(math.copysign(float(result), 1 if value > 0 else -1))


def numbers(dtype, seed, count=150):
    """Numbers of all exponents, few digits and many, and the limits."""
    choice = np.random.default_rng(seed)
    info = np.finfo(dtype)
    special = [0.0, -0.0, 1, -1, 1 + info.eps, info.max, -info.max, info.tiny, -info.tiny, info.smallest_subnormal,
               -info.smallest_subnormal, 3 * info.smallest_subnormal, 0.1, 1 / 3]  # fmt: skip
    exponents = choice.integers(info.minexp - info.nmant, info.maxexp, count)
    with np.errstate(under="ignore"):
        wide = np.ldexp(choice.uniform(-1, 1, count).astype(dtype), exponents)
    near = choice.uniform(-4, 4, count).astype(dtype)
    special = np.array(special, dtype)
    return np.concatenate([special, choice.permutation(special), wide.astype(dtype), near])


def opposite(x, y):
    return math.copysign(1, x) != math.copysign(1, y)


def exact_root(x, dtype, mode):
    """The root by its square, because it has no exact value."""
    near = dtype(math.sqrt(x))
    square = Fraction(float(near)) ** 2
    below = near if square <= x else np.nextafter(near, dtype(0))
    if mode == "rn":
        above = np.nextafter(below, dtype(np.inf))
        return below if Fraction(x) <= ((Fraction(float(below)) + Fraction(float(above))) / 2) ** 2 else above
    return below if mode in ("rd", "rz") or Fraction(float(below)) ** 2 == x else np.nextafter(below, dtype(np.inf))


@pytest.mark.parametrize("mode", ["rn", "rz", "ru", "rd"])
@pytest.mark.parametrize("dtype, prefix", [(np.float32, "f"), (np.float64, "d")])
def test_directed_rounding(dtype, prefix, mode):
    x, y, z = (numbers(dtype, seed) for seed in (1, 2, 3))
    fused = "__fmaf_" if prefix == "f" else "__fma_"
    code = np.dtype(dtype).str[1:]
    with np.errstate(all="ignore"):
        # A third operand that nearly cancels the product.
        z[::3] = -(x * y)[::3] * dtype(1 + 4 * np.finfo(dtype).eps)
    z[~np.isfinite(z)] = 1
    pairs = [(float(a), float(b), Fraction(float(a)), Fraction(float(b))) for a, b in zip(x, y)]
    binary = {
        "add": [rounded(p + q, dtype, mode, a if p == q == 0 and not opposite(a, b) else -0.0 if mode == "rd" else 0.0)
                for a, b, p, q in pairs],
        "sub": [rounded(p - q, dtype, mode, a if p == q == 0 and opposite(a, b) else -0.0 if mode == "rd" else 0.0)
                for a, b, p, q in pairs],
        "mul": [rounded(p * q, dtype, mode, -0.0 if opposite(a, b) else 0.0) for a, b, p, q in pairs],
    }  # fmt: skip
    found = run([f"__{prefix}{name}_{mode}" for name in binary], code, [x, y])
    for name, expected in binary.items():
        check_bits(found[f"__{prefix}{name}_{mode}"], np.array(expected), f"{name}_{mode}")
    d = np.where(y == 0, dtype(3), y)
    expected = [rounded(Fraction(float(a)) / Fraction(float(b)), dtype, mode, -0.0 if opposite(a, b) else 0.0)
                for a, b in zip(x, d)]  # fmt: skip
    check_bits(run([f"__{prefix}div_{mode}"], code, [x, d])[f"__{prefix}div_{mode}"], np.array(expected), "div")
    expected = [rounded(1 / Fraction(float(b)), dtype, mode) for b in d]
    check_bits(run([f"__{prefix}rcp_{mode}"], code, [d])[f"__{prefix}rcp_{mode}"], np.array(expected), "rcp")
    r = np.abs(x)
    expected = [exact_root(float(a), dtype, mode) if a else dtype(0) for a in r]
    check_bits(run([f"__{prefix}sqrt_{mode}"], code, [r])[f"__{prefix}sqrt_{mode}"], np.array(expected), "sqrt")
    expected = []
    for (a, b, p, q), c in zip(pairs, z):
        value, s = p * q + Fraction(float(c)), -0.0 if opposite(a, b) else 0.0
        zero = s if p * q == 0 and c == 0 and not opposite(s, c) else -0.0 if mode == "rd" else 0.0
        expected.append(rounded(value, dtype, mode, zero))
    check_bits(run([fused + mode], code, [x, y, z])[fused + mode], np.array(expected), "fma")


def check_bits(found, expected, name):
    same = (found == expected) & (np.signbit(found) == np.signbit(expected))
    assert same.all(), (name, np.flatnonzero(~same)[:5], found[~same][:5], expected[~same][:5])


def test_directed_conversions():
    x = numbers(np.float64, 4) * np.float64(1)
    modes = ["rn", "rz", "ru", "rd"]
    found = run([f"__double2float_{mode}" for mode in modes], "f4", [x])
    for mode in modes:
        expected = [rounded(Fraction(float(a)), np.float32, mode, a) for a in x]
        check_bits(found[f"__double2float_{mode}"], np.array(expected), mode)


@pytest.mark.parametrize("integer, dtype", [("int", "i4"), ("uint", "u4"), ("ll", "i8"), ("ull", "u8")])
def test_integers_become_floats_and_back(integer, dtype):
    x = words().view(dtype) if dtype[1] == "4" else long_words(dtype, 1)
    x = np.concatenate([x, x >> 5, x >> 20])
    modes = ["rn", "rz", "ru", "rd"]
    for floating, number in (("float", np.float32), ("double", np.float64)):
        names = [f"__{integer}2{floating}_{m}" for m in (modes if dtype[1] == "8" or floating == "float" else ["rn"])]
        found = run(names, np.dtype(number).str[1:], [x])
        for name in names:
            expected = [rounded(Fraction(int(a)), number, name[-2:]) for a in x]
            check_bits(found[name], np.array(expected), name)
        limit = float(np.iinfo(dtype).max) / 4
        f = np.concatenate([np.arange(-40, 40) / 4, np.linspace(-limit, limit, 99)]).astype(number)
        f = np.abs(f) if dtype[0] == "u" else f
        names = [f"__{floating}2{integer}_{mode}" for mode in modes]
        found = run(names, dtype, [f])
        for name, whole in zip(names, (np.rint, np.trunc, np.ceil, np.floor)):
            np.testing.assert_array_equal(found[name], whole(f).astype(dtype), err_msg=name)


def test_bits_of_floats():
    x = words()
    found = run(["__uint_as_float"], "f4", [x])["__uint_as_float"]
    back = run(["__float_as_uint"], "u4", [np.where(np.isnan(x.view("f4")), 0, x.view("f4"))])["__float_as_uint"]
    is_number = ~np.isnan(x.view("f4"))
    np.testing.assert_array_equal(found[is_number].view("u4"), x[is_number])
    np.testing.assert_array_equal(back[is_number], x[is_number])
    high, low = words(seed=3).view("i4"), words(seed=4).view("i4")
    expected = (high.astype("i8") << 32 | low.view("u4").astype("i8")).view("f8")
    found = run(["__hiloint2double"], "f8", [high, low])["__hiloint2double"]
    np.testing.assert_array_equal(found, expected)
    is_number = ~np.isnan(expected)
    parts = run(["__double2hiint", "__double2loint"], "i4", [expected])
    np.testing.assert_array_equal(parts["__double2hiint"][is_number], high[is_number])
    np.testing.assert_array_equal(parts["__double2loint"][is_number], low[is_number])


# Functions that are rounded a little differently


@pytest.mark.parametrize("dtype, suffix", [("f4", "f"), ("f8", "")])
def test_norms(dtype, suffix):
    choice = np.random.default_rng(5)
    info = np.finfo(dtype)
    scales = np.ldexp(1.0, np.resize([0, 5, -3, info.maxexp - 3, info.minexp + 2], 100))
    x, y, z, w = ((choice.uniform(-1, 1, 100) * scales).astype(dtype) for _ in range(4))
    for count in (3, 4):
        rows = [x, y, z, w][:count]
        names = [f"norm{count}d{suffix}", f"rnorm{count}d{suffix}"]
        found = run(names, dtype, rows)
        length = [Fraction(math.isqrt(int(sum(Fraction(float(v)) ** 2 for v in row) * 4 ** 1200))) / 2 ** 1200
                  for row in zip(*rows)]  # fmt: skip
        expected = np.array([float(v) for v in length])
        np.testing.assert_allclose(found[names[0]], expected.astype(dtype), rtol=4 * info.eps, err_msg=names[0])
        np.testing.assert_allclose(found[names[1]], (1 / expected).astype(dtype), rtol=4 * info.eps, err_msg=names[1])
    special = np.array([np.inf, 0, np.inf], dtype), np.array([np.nan, 0, 1], dtype)
    found = run([f"norm3d{suffix}"], dtype, [special[0], special[1], special[1]])[f"norm3d{suffix}"]
    np.testing.assert_array_equal(found, [np.inf, 0, np.inf])


@pytest.mark.parametrize("dtype, suffix", [("f4", "f"), ("f8", "")])
def test_norms_of_arrays(dtype, suffix):
    x = np.random.default_rng(2).uniform(-3, 3, (20, 7)).astype(dtype)
    code = f"""extern "C" __global__ void f(const {C_TYPES[dtype]}* x, {C_TYPES[dtype]}* out) {{
      out[threadIdx.x] = norm{suffix}(7, x + 7 * threadIdx.x);
      out[20 + threadIdx.x] = rnorm{suffix}(7, x + 7 * threadIdx.x);
    }}"""
    out = iruka.zeros((2, 20), dtype)
    iruka.RawKernel(code, "f")((1,), (20,), (on_device(x), out))
    length = np.sqrt((x.astype("f8") ** 2).sum(1))
    np.testing.assert_allclose(iruka.asnumpy(out), np.stack([length, 1 / length]), rtol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype, suffix", [("f4", "f"), ("f8", "")])
def test_scaled_erfc(dtype, suffix):
    x = np.concatenate([np.linspace(-5, 5, 201), [0.0, 2.0, 1.9999999]]).astype(dtype)
    expected = [math.exp(float(v) ** 2) * math.erfc(float(v)) for v in x]
    tolerance = 2e-6 if dtype == "f4" else 1e-13
    np.testing.assert_allclose(run(["erfcx" + suffix], dtype, [x])["erfcx" + suffix], expected, rtol=tolerance)
    far = np.array([30.0, 100.0, 1e4, 1e15], dtype)
    f = far.astype("f8")
    expected = (1 - 1 / (2 * f**2) + 3 / (4 * f**4) - 15 / (8 * f**6) + 105 / (16 * f**8)) / (f * math.sqrt(math.pi))
    np.testing.assert_allclose(run(["erfcx" + suffix], dtype, [far])["erfcx" + suffix], expected, rtol=tolerance)


FAST = {
    "__sinf": np.sin, "__cosf": np.cos, "__tanf": np.tan, "__expf": np.exp, "__exp10f": lambda x: 10**x,
    "__logf": np.log, "__log2f": np.log2, "__log10f": np.log10, "__frsqrt_rn": lambda x: 1 / np.sqrt(x),
    "__saturatef": lambda x: np.clip(x, 0, 1), "sinpif": lambda x: np.sin(np.pi * x), "cospif": lambda x: np.cos(np.pi * x),
    "rsqrtf": lambda x: 1 / np.sqrt(x), "rcbrtf": lambda x: 1 / np.cbrt(x),
}  # fmt: skip
FAST_2 = {
    "__fdividef": np.divide, "fdividef": np.divide, "__powf": np.power, "rhypotf": lambda x, y: 1 / np.hypot(x, y),
    "hypotf": np.hypot,
}  # fmt: skip


def test_fast_functions():
    x, y = np.linspace(0.05, 1.4, 100).astype("f4"), np.linspace(3, 0.1, 100).astype("f4")
    for table, columns in ((FAST, [x]), (FAST_2, [x, y])):
        found = run(table, "f4", columns)
        for name, reference in table.items():
            expected = reference(*(column.astype("f8") for column in columns))
            np.testing.assert_allclose(found[name], expected, rtol=2e-5, atol=2e-6, err_msg=name)


def test_the_same_names_serve_elementwise_kernels():
    x, y = words(seed=1), words(seed=2)
    f = iruka.ElementwiseKernel("uint32 x, uint32 y", "uint32 a, uint32 b, float32 c",
                                "a = __vadd4(x, y); b = umin(__brev(x), __dp4a(x, y, 3u)); c = __uint2float_rz(x);"
                                "long long t = clock64(); __nanosleep(1); (void)t;", "names")  # fmt: skip
    a, b, c = map(iruka.asnumpy, f(on_device(x), on_device(y)))
    rows = [(int(p), int(q)) for p, q in zip(x, y)]
    np.testing.assert_array_equal(a, [PARTS_2["__vadd4"](p, q) for p, q in rows])
    np.testing.assert_array_equal(b, [min(UNSIGNED_1["__brev"](p), UNSIGNED_3["__dp4a"](p, q, 3)) for p, q in rows])
    np.testing.assert_array_equal(c, [rounded(Fraction(p), np.float32, "rz") for p, _ in rows])


def test_clocks_advance():
    code = """extern "C" __global__ void f(long long* out) {
      long long before = clock64();
      __nanosleep(100);
      __threadfence();
      out[0] = clock64() - before;
    }"""
    out = iruka.full(1, -1, "i8")
    iruka.RawKernel(code, "f")((1,), (1,), (out,))
    assert int(out[0]) >= 0
