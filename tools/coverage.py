#!/usr/bin/env python3
"""Writes docs/coverage.md: which of NumPy's and CuPy's public functions Iruka has.

coverage.py [--check]: only says whether it is current. CuPy's names are listed in cupy_names.txt beside this file.
"""

import functools
import inspect
import pathlib
import re
import sys

import numpy

import iruka

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cpp_names  # beside this file, wherever Python was started

CUPY_NAMES = pathlib.Path(__file__).with_name("cupy_names.txt")
PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "coverage.md"
# Names that are not functions on numeric arrays: dates, strings, objects, records, matrices, NumPy's internals.
LEFT_OUT = {
    "array functions": """
        busday_count busday_offset busdaycalendar is_busday datetime64 datetime_as_string datetime_data timedelta64
        bmat matrix asmatrix record recarray rec char strings character chararray str_ bytes_ object_ void flexible
        generic memmap nditer nested_iters flatiter get_include info show_config show_runtime test setbufsize
        getbufsize isnat fromregex typename mintypecode typecodes sctypeDict ScalarType typing ctypeslib core lib ma
        matlib emath exceptions polynomial f2py dtypes rec testing longdouble clongdouble float128 complex256 dtype
        ndarray ufunc bool True_ False_""".split(),
}


OTHER_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "SFC64")


def functions_of(module, skip=()):
    """The callable names of a module, without scalar types, modules and errors."""
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
        yield (
            f"{part}",
            list(functions_of(getattr(numpy, part), ("test", *OTHER_GENERATORS))),
            getattr(iruka, part, None),
        )
    yield "Methods of ndarray", [n for n in dir(numpy.ndarray) if not n.startswith("_")], iruka.ndarray
    yield (
        "Methods of ufuncs",
        ["accumulate", "at", "outer", "reduce", "reduceat"],
        getattr(iruka, "ufunc", type(iruka.add)),
    )


def cupy_sections():
    """(title, names, owners) of each section of cupy_names.txt."""
    text = re.sub(r"^#.*$", "", CUPY_NAMES.read_text(), flags=re.MULTILINE)
    for title, owners, names in re.findall(r"^\[(\S+) : ([^\]]+)\]$([^\[]*)", text, flags=re.MULTILINE):
        yield (
            title,
            sorted(names.split()),
            [functools.reduce(getattr, path.split(".")[1:], iruka) for path in owners.split()],
        )


def listed(title, names, owners):
    """A section of the page: the names that exist and those that are missing."""
    have = [n for n in names if any(hasattr(owner, n) for owner in owners)]
    missing = [n for n in names if n not in have]
    lines = [f"## {title}: {len(have)} of {len(names)}", ""]
    lines += ["Yes: " + ", ".join(f"`{n}`" for n in have) + ".", ""] if have else []
    return lines + (["No: " + ", ".join(f"`{n}`" for n in missing) + ".", ""] if missing else [])


def table(section, names, owner):
    """A section of the page as a table: whether Python has the name, and what C++ calls it."""
    have = [n for n in names if hasattr(owner, n)]
    cpp = cpp_names.column(section, names, iruka._core.elementwise_names(), iruka._core.reduction_names())
    wanted = [said for said in cpp.values() if not said.startswith("Python")]
    lines = [
        f"## NumPy: {section}: {len(have)} of {len(names)}, in C++ {len(wanted) - wanted.count('-')} of {len(wanted)}"
    ]
    lines += ["", "| NumPy | Python | C++ |", "|---|---|---|"]
    return lines + [f"| `{n}` | {'yes' if n in have else '-'} | {cpp[n]} |" for n in names] + [""]


def page():
    lines = [
        "# NumPy's and CuPy's functions in Iruka",
        "",
        f"Made by `tools/coverage.py` from NumPy {'.'.join(numpy.__version__.split('.')[:2])} and, for CuPy, from",
        "`tools/cupy_names.txt`. Names for dates, strings, objects, records, masked arrays and NumPy's internals",
        'are listed separately, under "left out". Using a missing name raises an AttributeError that says what to',
        "use instead, or how to use NumPy's function.",
        "",
        "The column C++ names the declaration in `include/iruka`, in the namespace `iruka`: a function, a method,",
        "or a row of the elementwise or the reduction table, which is called by its name. For a name that only",
        "makes sense in Python, it gives the reason.",
        "",
    ]
    for title, names, owner in sections():
        lines += table(title, names, owner)
    absent = [n for n in {*LEFT_OUT["array functions"]}.intersection(dir(numpy)) if not hasattr(iruka, n)]
    absent += [f"random.{n}" for n in OTHER_GENERATORS]
    lines += ["## NumPy: left out", "", ", ".join(f"`{n}`" for n in sorted(absent)) + ".", ""]
    for title, names, owners in cupy_sections():
        lines += listed(f"CuPy: {title}", names, owners)
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
