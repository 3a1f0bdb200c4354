"""Ufuncs: calls, their methods, and operators."""

import dataclasses

import numpy as np

from cases import Array, Code
from compare import EXACT, FORMULA, Rule, near, sums
from draw import COMPLEX, TAME
from table import row

FREE = Rule(signed=False)
MATH = Rule(32, True, complex_ulps=2048)
POWER = Rule(32, True, "moved", complex_ulps=64)
MODULUS = near(2)
CLASSES = {
    "add": "biufc", "subtract": "iufc", "multiply": "biufc", "divide": "biufc", "true_divide": "biufc",
    "floor_divide": "iuf",
    "remainder": "iuf", "mod": "iuf", "fmod": "iuf", "divmod": "iuf", "power": "iufc", "pow": "iufc",
    "float_power": "iufc",
    "maximum": "biufc", "minimum": "biufc", "fmax": "biufc", "fmin": "biufc", "arctan2": "biuf", "atan2": "biuf",
    "hypot": "biuf",
    "copysign": "iuf", "nextafter": "f", "ldexp": "f", "heaviside": "iuf", "logaddexp": "f", "logaddexp2": "f",
    "gcd": "iu", "lcm": "iu", "bitwise_and": "biu", "bitwise_or": "biu", "bitwise_xor": "biu", "left_shift": "iu",
    "right_shift": "iu", "bitwise_left_shift": "iu", "bitwise_right_shift": "iu",
}  # fmt: skip
EXACT_BINARY = """add subtract multiply divide true_divide floor_divide remainder mod fmod copysign nextafter ldexp heaviside gcd lcm
    bitwise_and bitwise_or bitwise_xor left_shift right_shift bitwise_left_shift bitwise_right_shift""".split()
COMPARISONS = "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor".split()
UNSIGNED_BINARY = "maximum minimum fmax fmin".split()
MATH_BINARY = "power pow float_power arctan2 atan2 hypot logaddexp logaddexp2".split()
EXACT_UNARY = """negative positive fabs sign conjugate conj square reciprocal sqrt rint floor ceil trunc
    isfinite isinf isnan signbit logical_not spacing""".split()
INTEGER_UNARY = "invert bitwise_invert bitwise_not bitwise_count".split()
MATH_UNARY = """exp exp2 expm1 log log2 log10 log1p cbrt sin cos tan arcsin asin arccos acos arctan atan sinh cosh tanh arcsinh asinh
    arccosh acosh arctanh atanh deg2rad rad2deg degrees radians""".split()
UFUNCS = EXACT_BINARY + COMPARISONS + UNSIGNED_BINARY + MATH_BINARY
OPERATORS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide", "%": "remainder",
    "**": "power",
             "<<": "left_shift", ">>": "right_shift", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor",
             "==": "equal",
             "!=": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}  # fmt: skip


def result_dtypes(name, args, outputs):
    """The dtypes of the results by NumPy's own rules, or None."""
    kinds = []
    for arg in args:
        if isinstance(arg, Array):
            kinds.append(np.dtype(arg.dtype))
        elif type(arg) in (int, float, complex):
            kinds.append(type(arg))
        else:
            kinds.append(np.asarray(eval(arg.text, {"np": np}) if isinstance(arg, Code) else 1).dtype)
    try:
        found = getattr(np, name).resolve_dtypes((*kinds, *[None] * outputs))
        return [dtype.name for dtype in found[len(args) :]]
    except Exception:
        return None


def options(d, name, args, shape, outputs=1):
    """out, where, dtype, casting, order: (kwargs, what is undefined)."""
    kwargs, undefined = {}, None
    if d.chance(0.12):
        kwargs["dtype"] = d.dtype()
    if d.chance(0.12):
        kwargs["casting"] = d.one("no", "equiv", "safe", "same_kind", "unsafe", "unsafe", "same_kind", "wrong")
    if d.chance(0.06):
        kwargs["order"] = d.one("C", "F", "A", "K", "c", "f", "wrong")
    try:
        full = np.broadcast_shapes(shape, *[a.shape for a in args if isinstance(a, Array)])
    except ValueError:
        full = shape
    if d.chance(0.3):
        dtypes = result_dtypes(name, args, outputs) or [d.dtype()] * outputs
        outs = []
        for i, dtype in enumerate(dtypes):
            own = [a for a in args if isinstance(a, Array) and a.shape == full and a.dtype == dtype and a.view == "x"]
            own = [
                a for a in own if all(out.base is not a.base for out in outs)
            ]  # which of two outputs stays is not defined
            if own and d.chance(0.4):
                position = next(j for j, a in enumerate(args) if a is own[0])
                args[position], out = d.overlapping(own[0])
                own[0] = None
            else:
                out = d.writable(full if not d.chance(0.02) else d.shape(), dtype if d.chance(0.85) else d.dtype())
            outs.append(out)
            if i == 0 and outputs > 1 and d.chance(0.1):
                outs.append(None)
                break
        kwargs["out"] = outs[0] if len(outs) == 1 and d.chance(0.8) and outputs == 1 else tuple(outs)
    if d.chance(0.15):
        kwargs["where"] = d.mask(full) if not d.chance(0.1) else d.one(True, False, d.array(full, d.dtype()))
        if "out" not in kwargs or isinstance(kwargs["out"], tuple) and None in kwargs["out"]:
            undefined = kwargs["where"]
    return kwargs, undefined


def operands(d, name, classes):
    shape = d.shape()
    if d.chance(0.03):
        classes = "biufc"
    dtype = d.dtype(classes)
    first = d.array(shape, dtype)
    second = d.operand(shape, dtype if d.chance(0.65) else None, classes=classes)
    if name in ("ldexp",) or "shift" in name and d.chance(0.7):
        second = d.array(d.fellow(shape), d.dtype("iu"), "small" if d.chance(0.8) else None)
    if name in ("power", "pow", "float_power") and dtype[0] in "iu" and d.chance(0.7):
        second = d.array(d.fellow(shape), d.dtype("iu"), d.one("ties", "positive"))
    args = [first, second]
    if d.chance(0.15):
        args.reverse()
    return args, shape


def binary(d, name):
    args, shape = operands(d, name, CLASSES.get(name, "biufc"))
    kwargs, undefined = options(d, name, args, shape, 2 if name == "divmod" else 1)
    return args, kwargs, undefined


def unary(d, name, classes="biufc"):
    dtype = d.dtype(classes)
    args = [d.array(None, dtype) if d.chance(0.94) else d.scalar(dtype)]
    shape = args[0].shape if isinstance(args[0], Array) else ()
    kwargs, undefined = options(d, name, args, shape, 2 if name in ("frexp", "modf") else 1)
    return args, kwargs, undefined


row(EXACT_BINARY, FORMULA, large=True)(binary)
row(COMPARISONS, EXACT, large=True)(binary)
row(UNSIGNED_BINARY, FREE, large=True)(binary)
row("divmod", EXACT)(binary)
row("arctan2 atan2 hypot", MATH)(binary)
row("power pow float_power", POWER)(binary)
row("logaddexp logaddexp2", sums(32))(binary)
row(EXACT_UNARY, FORMULA, large=True)(unary)
row("absolute abs", MODULUS, large=True)(unary)
row(INTEGER_UNARY, EXACT)(lambda d, name: unary(d, name, "biu"))
row(MATH_UNARY, MATH)(unary)
row("frexp modf", EXACT)(lambda d, name: unary(d, name, "iuf"))


def inner_name(name):
    return name.split(".")[0]


REDUCIBLE = [
    name
    for name in UFUNCS
    if name not in ("ldexp", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
]


def reduction(d, name):
    ufunc, method = name.split(".")
    classes = CLASSES.get(ufunc, "biufc")
    dtype = d.dtype(classes)
    # Which side of a branch cut a power of a power lies on is decided by rounding.
    kind = d.one("unit", "positive") if "pow" in ufunc and dtype in COMPLEX else None
    array = d.array(None, dtype, kind, tame=ufunc in ("multiply", *MATH_BINARY), least=0 if d.chance(0.1) else 1)
    kwargs = {}
    if method == "reduceat":
        axis = d.randint(-array.ndim, array.ndim - 1) if array.ndim else 0
        size = array.shape[axis] if array.ndim else 0
        args = [array, d.indices(size)]
        if d.chance(0.9):
            kwargs["axis"] = axis
    else:
        args = [array]
        if d.chance(0.8):
            kwargs["axis"] = d.axis(array.ndim, 0.2, 0.3 if method == "reduce" else 0.02)
        if method == "reduce":
            kwargs |= {k: v for k, v in {"keepdims": d.one(True, False)}.items() if d.chance(0.25)}
            if d.chance(0.15):
                kwargs["initial"] = d.number("if")
            if d.chance(0.15):
                kwargs["where"] = d.mask(array.shape)
    if d.chance(0.12):
        kwargs["dtype"] = d.dtype(classes)
    if d.chance(0.12):
        shape = array.shape
        if method == "reduce":
            shape = d.reduced(shape, kwargs.get("axis", 0), kwargs.get("keepdims", False))
        kwargs["out"] = d.writable(shape, array.dtype)
    return args, kwargs


def rule_of_reduction(ufunc):
    if ufunc in ("add", "subtract"):
        return sums(8, False)
    if "pow" in ufunc:
        return Rule(64, True, "moved")
    if ufunc in ("multiply", "divide", "true_divide", *MATH_BINARY):
        return near(512)
    return FREE


for _name in REDUCIBLE:
    row(
        [f"{_name}.{method}" for method in ("reduce", "accumulate", "reduceat")],
        rule_of_reduction(_name),
        large=_name
        in (
            # fmt: skip
            "add",
            "maximum",
            "logical_and",
            "bitwise_xor",
        ),
        kinds=TAME if _name in MATH_BINARY else None,
    )(reduction)


def outer(d, name):
    ufunc = inner_name(name)
    classes = CLASSES.get(ufunc, "biufc")
    first = d.array(d.shape(most=2), d.dtype(classes))
    second = d.array(d.shape(most=2), first.dtype if d.chance(0.7) else d.dtype(classes))
    kwargs = {"dtype": d.dtype(classes)} if d.chance(0.08) else {}
    return [first, second], kwargs


def at(d, name):
    ufunc = inner_name(name)
    classes = CLASSES.get(ufunc, "biufc")
    array = d.writable(d.shape(1, 3), d.dtype(classes))
    size = array.shape[0]
    index = d.indices(size, (d.randint(0, 9),))
    if d.chance(0.1):
        index = d.one(slice(None, None, 2), 0, Ellipsis)
    if ufunc in MATH_UNARY + EXACT_UNARY:
        return [array, index], {}
    values = (
        d.scalar(array.dtype) if d.chance(0.4) else d.array((1,), array.dtype if d.chance(0.8) else d.dtype(classes))
    )
    return [array, index, values], {}


for _name in UFUNCS:
    rule = (
        sums(32)
        if "log" in _name
        else POWER
        if "pow" in _name
        else MATH
        if _name in MATH_BINARY
        else FREE
        if _name in UNSIGNED_BINARY
        else FORMULA
    )
    row(f"{_name}.outer", rule)(outer)
    steps = (
        Rule(64, True, rule.scale, signed=False) if _name in MATH_BINARY else dataclasses.replace(rule, signed=False)
    )
    row(f"{_name}.at", dataclasses.replace(steps, complex_ulps=64 if rule.complex_ulps else 0))(at)
for _name in ("negative", "sqrt", "exp", "logical_not", "square"):
    row(f"{_name}.at", Rule(64, True, "moved") if _name == "exp" else FORMULA)(at)


def operator(d, name):
    ufunc = name.split(".")[1]
    args, _ = operands(d, ufunc, CLASSES.get(ufunc, "biufc"))
    if not any(isinstance(arg, Array) for arg in args):
        args[0] = d.array()
    return args, {}


def inplace(d, name):
    ufunc = name.split(".")[1]
    classes = CLASSES.get(ufunc, "biufc")
    first = d.writable(d.shape(1), d.dtype(classes))
    second = d.operand(first.shape, first.dtype if d.chance(0.7) else None, classes)
    if d.chance(0.1):
        first, second = d.overlapping(first)
    return [first, second], {}


for _sign, _name in OPERATORS.items():
    rule = POWER if _name == "power" else FORMULA
    row(f"operator.{_name}", rule, f"lambda x, y: x {_sign} y")(operator)
    if _name not in COMPARISONS:
        row(f"inplace.{_name}", rule,
            f"__import__('operator').i{ {'divide': 'truediv', 'floor_divide': 'floordiv', 'remainder': 'mod', 'subtract': 'sub', 'multiply': 'mul', 'power': 'pow', 'left_shift': 'lshift', 'right_shift': 'rshift', 'bitwise_and': 'and_', 'bitwise_or': 'or_', 'bitwise_xor': 'xor'}.get(_name, _name) }".replace(" ", ""))(inplace)  # fmt: skip
row("operator.divmod", EXACT, "lambda x, y: divmod(x, y)")(operator)
for _sign, _name in {"-": "negative", "+": "positive", "~": "invert", "abs": "absolute"}.items():
    row(f"operator.{_name}", MODULUS if _name == "absolute" else FORMULA, f"lambda x: {_sign}(x)")(
        lambda d, name: ([d.array()], {})
    )
for _name, _text in {"bool": "bool(x)", "int": "int(x)", "float": "float(x)", "complex": "complex(x)", "len": "len(x)",
    "list": "list(x)",
                     "in": "3 in x", "round": "round(x, 1)", "index": "[0, 1, 2, 3].__getitem__(x)", "repr": "repr(x)",
                     "str": "str(x)"}.items():  # fmt: skip
    row(f"operator.{_name}", EXACT, f"lambda x: {_text}")(lambda d, name: ([d.array(most=2)], {}))
