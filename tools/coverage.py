#!/usr/bin/env python3
"""Writes docs/coverage.md: which of NumPy's public functions Iruka has. coverage.py [--check]: only says whether it is current."""

import inspect
import pathlib
import sys

import numpy

import iruka

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "coverage.md"
# Not functions on numeric arrays: dates, texts, objects, records, matrices, and NumPy's own affairs.
LEFT_OUT = {
    "array functions": """busday_count busday_offset busdaycalendar is_busday datetime64 datetime_as_string datetime_data timedelta64
        bmat matrix asmatrix mask_indices record recarray rec char strings character chararray str_ bytes_ object_ void
        flexible generic memmap nditer nested_iters flatiter broadcast get_include info show_config show_runtime test
        setbufsize getbufsize seterrcall geterrcall errstate isnat fromregex typename mintypecode typecodes sctypeDict
        ScalarType typing ctypeslib core lib ma matlib emath exceptions polynomial f2py dtypes rec testing
        longdouble clongdouble float128 complex256 dtype ndarray ufunc vectorize frompyfunc bool True_ False_
        poly1d asanyarray""".split(),
}


def functions_of(module, skip=()):
    """The names of a module that can be called and are no scalar types, modules or errors."""
    for name in sorted(dir(module)):
        thing = getattr(module, name)
        if name.startswith("_") or name in skip or not callable(thing) or inspect.ismodule(thing):
            continue
        if inspect.isclass(thing) and issubclass(thing, (numpy.generic, Exception, Warning)):
            continue
        yield name


def sections():
    yield "Array functions", list(functions_of(numpy, LEFT_OUT["array functions"])), iruka
    for part in ("linalg", "fft", "random"):
        yield f"{part}", list(functions_of(getattr(numpy, part), ("test", "MT19937", "PCG64", "PCG64DXSM", "SFC64"))), getattr(iruka, part, None)
    yield "Methods of ndarray", [n for n in dir(numpy.ndarray) if not n.startswith("_")], iruka.ndarray
    yield "Methods of ufuncs", ["accumulate", "at", "outer", "reduce", "reduceat"], getattr(iruka, "ufunc", type(iruka.add))


def page():
    lines = ["# NumPy's functions in Iruka", "",
             f"Made by `tools/coverage.py` from NumPy {'.'.join(numpy.__version__.split('.')[:2])}. What is about dates, texts, objects, records",
             "and NumPy's own affairs is left out. A name that is missing raises an AttributeError that says how to go through NumPy.", ""]
    for title, names, owner in sections():
        have = [n for n in names if owner is not None and hasattr(owner, n)]
        missing = [n for n in names if n not in have]
        lines += [f"## {title}: {len(have)} of {len(names)}", ""]
        lines += ["Yes: " + ", ".join(f"`{n}`" for n in have) + ".", ""] if have else []
        lines += ["No: " + ", ".join(f"`{n}`" for n in missing) + ".", ""] if missing else []
    return "\n".join(lines)


def main():
    made = page()
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.exists() and PAGE.read_text() == made else 1
    PAGE.write_text(made)
    print("\n".join(line for line in made.splitlines() if line.startswith("## ")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
