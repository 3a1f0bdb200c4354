"""Writes tests/cpp/ops_cases.inc: the result dtypes NumPy gives for every function of the elementwise table.

Run with NumPy 2:  python tools/generate_ops_cases.py > tests/cpp/ops_cases.inc
"""

import itertools
import warnings

import numpy as np

DTYPES = "? b h i l B H I L e f d F D".split()
UNARY = """
negative positive isposinf isneginf isreal iscomplex absolute fabs sign rint floor ceil trunc conjugate
square sqrt cbrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh
tanh arcsinh arccosh arctanh degrees radians invert logical_not isfinite isinf isnan signbit spacing modf
frexp bitwise_count""".split()
BINARY = """
add subtract multiply divide floor_divide remainder fmod divmod power float_power logaddexp logaddexp2
arctan2 hypot bitwise_and bitwise_or bitwise_xor left_shift right_shift greater greater_equal less
less_equal equal not_equal logical_and logical_or logical_xor maximum minimum fmax fmin copysign nextafter
ldexp heaviside gcd lcm""".split()


def result(name, dtypes):
    """One character for each output, "x" where NumPy raises TypeError."""
    try:
        values = getattr(np, name)(*(np.ones(1, dtype) for dtype in dtypes))
    except TypeError:
        return "x"
    values = values if isinstance(values, tuple) else (values,)
    return "".join(value.dtype.char.replace("q", "l").replace("Q", "L") for value in values)


def main():
    warnings.simplefilter("ignore")
    print(
        f"// Made by tools/generate_ops_cases.py with NumPy {np.__version__}. "
        f"Inputs: {' '.join(DTYPES)}, the last fastest."
    )
    for names, arity in ((UNARY, 1), (BINARY, 2)):
        for name in names:
            results = [result(name, dtypes) for dtypes in itertools.product(DTYPES, repeat=arity)]
            rows = [results[k : k + len(DTYPES)] for k in range(0, len(results), len(DTYPES))]
            print(f'{{"{name}", {arity},')
            print("\n".join(f'  "{" ".join(row)} "' for row in rows) + "},")


main()
