"""Which C++ function does what a NumPy name does: read from the headers in include/iruka, beside a table of the names
that are spelled otherwise and of those that are Python's alone.
"""

import pathlib
import re

HEADERS = pathlib.Path(__file__).resolve().parents[1] / "include" / "iruka"

# NumPy's name in a section of the page, and the declaration in C++ that does the same.
SPELLED = {
    "Array functions": {
        "amax": "max",
        "amin": "min",
        "argwhere": "nonzero",
        "around": "ElementwiseFunction",
        "array": "Array::from",
        "asanyarray": "Array::from",
        "asarray": "Array::from",
        "ascontiguousarray": "Array::contiguous",
        "broadcast": "broadcast_shapes",
        "compress": "take",
        "copyto": "Array::assign",
        "cumprod": "scan",
        "cumsum": "scan",
        "cumulative_prod": "scan",
        "cumulative_sum": "scan",
        "concat": "concatenate",
        "delete": "delete_elements",
        "finfo": "info",
        "iinfo": "info",
        "diag_indices_from": "diag_indices",
        "isdtype": "kind",
        "isfortran": "Array::is_f_contiguous",
        "issubdtype": "kind",
        "nancumprod": "scan",
        "nancumsum": "scan",
        "nanstd": "nanvariance",
        "nanvar": "nanvariance",
        "may_share_memory": "Array::may_overlap",
        "ndim": "Array::ndim",
        "permute_dims": "Array::transpose",
        "row_stack": "vstack",
        "promote_types": "promote",
        "shape": "Array::shape",
        "size": "Array::size",
        "sort_complex": "sort",
        "std": "variance",
        "tril_indices_from": "tril_indices",
        "triu_indices_from": "triu_indices",
        **dict.fromkeys("unique_all unique_counts unique_inverse unique_values".split(), "unique"),
        "var": "variance",
    },
    "linalg": {
        "diagonal": "diagonal",
        "matmul": "matmul",
    },
    "fft": {
        **dict.fromkeys(
            "fft fft2 fftn hfft ifft ifft2 ifftn ihfft irfft irfft2 irfftn rfft rfft2 rfftn".split(), "fft::transform"
        ),
    },
    "random": {
        **dict.fromkeys(
            """beta binomial chisquare dirichlet exponential f gamma geometric gumbel hypergeometric laplace logistic
            lognormal logseries negative_binomial noncentral_chisquare noncentral_f pareto poisson power rayleigh
            standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular vonmises wald
            weibull zipf""".split(),
            "random::Generator::draw",
        ),
        **dict.fromkeys("rand randn random_sample ranf sample".split(), "random::Generator::draw"),
        **dict.fromkeys("random_integers randint".split(), "random::randint"),
        **dict.fromkeys("permutation shuffle choice".split(), "random::Generator::permutation"),
        "default_rng": "random::default_generator",
        "get_state": "random::Generator::state",
        "set_state": "random::Generator::set_state",
        **dict.fromkeys("BitGenerator Philox RandomState".split(), "random::Generator"),
    },
    "Methods of ndarray": {
        "T": "Array::transpose",
        "mT": "Array::swapaxes",
        "base": "Array::buffer",
        "cumprod": "scan",
        "cumsum": "scan",
        "flags": "Array::is_c_contiguous",
        "flatten": "Array::copy",
        "std": "variance",
        "var": "variance",
        "tolist": "Array::to_vector",
        "conj": "ElementwiseFunction",
        "compress": "take",
    },
    "Methods of ufuncs": {
        "accumulate": "accumulate",
        "at": "scatter_at",
        "outer": "ElementwiseFunction",
        "reduce": "fold",
        "reduceat": "fold_segments",
    },
}

# Names that C++ does not need, by reason.
PYTHONS = {
    "Python's functions as arguments": "apply_along_axis apply_over_axes fromfunction frompyfunc piecewise vectorize "
    "mask_indices",
    "files and texts": "array2string array_repr array_str base_repr binary_repr format_float_positional "
    "format_float_scientific fromfile fromstring genfromtxt get_printoptions load loadtxt printoptions save savetxt "
    "savez savez_compressed set_printoptions dump dumps tofile",
    "Python's objects": "asarray_chkfinite from_dlpack frombuffer fromiter isscalar iterable min_scalar_type "
    "ndenumerate ndindex poly1d require common_type ctypes data byteswap getfield setfield setflags to_device "
    "tobytes flat SeedSequence get_bit_generator set_bit_generator bytes iscomplexobj isrealobj",
    "floating-point errors as Python's": "errstate geterr geterrcall seterr seterrcall",
}


# Where the headers declare the names of a section.
INNER = {
    "Array functions": "Array::",
    "linalg": "linalg::",
    "fft": "fft::",
    "random": "random::Generator::",
    "Methods of ndarray": "Array::",
    "Methods of ufuncs": "ElementwiseFunction::",
}
# Names of rows that have another name in the elementwise table.
ALIASES = {"around": "round", "conj": "conjugate"}


def declarations():
    """Every function, object and class that the headers declare: {"quantile", "linalg::norm", "Array::reshape"...}."""
    found = set()
    for header in sorted(HEADERS.glob("*.h")):
        text = re.sub(r"//[^\n]*|^\s*#[^\n]*", "", header.read_text(), flags=re.MULTILINE)
        scopes: list[str | None] = []
        statement = ""
        for character in text:
            if character == "{":
                opened = _opened(statement)
                if opened is None:
                    found |= _declared(scopes, statement + character)
                elif "namespace" not in statement:
                    found.add("".join(f"{scope}::" for scope in (*scopes, opened) if scope).removesuffix("::"))
                scopes.append(opened)
                statement = "" if opened is not None else statement
            elif character == "}":
                inner = scopes.pop()
                statement = statement if inner is None and re.search(r"\binline const\b", statement) else ""
            elif character == ";":
                found |= _declared(scopes, statement)
                statement = ""
            else:
                statement += character
    return found


def _opened(statement):
    """The name of the namespace or class that a brace opens; None for a function's body and the like."""
    if match := re.search(r"\bnamespace\s+([\w:]+)\s*$", statement):
        return match.group(1).removeprefix("iruka").removeprefix("::")
    match = re.search(r"^\s*(?:template\s*<[^>]*>\s*)?(?:class|struct)\s+(?:IRUKA_API\s+)?(\w+)[^()]*$", statement)
    return match.group(1) if match else None


def _declared(scopes, statement):
    if None in scopes:
        return set()
    prefix = "".join(f"{scope}::" for scope in scopes if scope)
    statement = re.sub(r"\b(public|private|protected)\s*:", "", statement)
    if match := re.match(r"\s*inline const \w+ (.*)", statement, re.DOTALL):
        return {prefix + name for name in re.findall(r"(\w+)\s*(?=[{,]|$)", re.sub(r'"\w*"', "", match.group(1)))}
    match = re.match(r"[^()=]*?[\w>&*\]]\s+[&*]?(\w+)\s*\(", statement)
    return {prefix + match.group(1)} if match else set()


def column(section, names, rows, reductions):
    """{NumPy's name: what the page says of it in C++}. `rows` and `reductions` are the tables' names.

    Raises ValueError where a table here names what the headers do not declare, or a function that they do.
    """
    declared = declarations()
    spelled = SPELLED.get(section, {})
    affairs = {name: reason for reason, group in PYTHONS.items() for name in group.split()}
    inner = INNER.get(section, "")
    if unknown := set(spelled.values()) - declared - {"ElementwiseFunction"}:
        raise ValueError(f"cpp_names.py: no header declares {sorted(unknown)}")
    if stale := {name for name in spelled if inner + name in declared and spelled[name] != inner + name}:
        raise ValueError(f"cpp_names.py: the headers declare {sorted(stale)}")
    said = {}
    for name in names:
        places = {"Array functions": [name, inner + name], "random": [inner + name, f"random::{name}"]}
        found = [place for place in places.get(section, [inner + name, name]) if place in declared]
        if name in spelled and spelled[name] != "ElementwiseFunction":
            said[name] = f"`{spelled[name]}`"
        elif found:
            said[name] = f"`{found[0]}`"
        elif name in rows or name in spelled:
            said[name] = f'`ElementwiseFunction("{ALIASES.get(name, name)}")`'
        elif name in reductions:
            said[name] = f'`ReductionFunction("{name}")`'
        else:
            said[name] = f"Python's own: {affairs[name]}" if name in affairs else "-"
    return said
