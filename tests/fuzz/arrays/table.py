"""The functions under test: ROWS has one row for each, with its arguments and the rule for its answer."""

import dataclasses
import pathlib
import re

import cases
import compare
import draw

ROWS = {}
TREE = pathlib.Path(__file__).resolve().parents[3]


@dataclasses.dataclass
class Row:
    arguments: object  # arguments(draw, name): (args, kwargs) or (args, kwargs, undefined)
    rule: compare.Rule
    target: str
    large: bool
    kinds: list

    def make(self, chosen, name):
        chosen.large, chosen.kinds = self.large, self.kinds
        args, kwargs, *undefined = self.arguments(chosen, name)
        return cases.Case(name, self.target, list(args), kwargs, self.rule, *undefined)


def row(names, rule=compare.EXACT, target=None, large=False, kinds=None):
    """Makes rows of a function that draws arguments. `{}` in the target is the name."""

    def register(arguments):
        for name in names.split() if isinstance(names, str) else names:
            if name in ROWS:
                raise ValueError(f"{name} has two rows")
            text = (target or ("lambda x, *a, **k: x.{}(*a, **k)" if name.startswith("ndarray.") else "xp.{}")).replace(
                "{}", name.removeprefix("ndarray."))  # fmt: skip
            ROWS[name] = Row(arguments, rule, text, large, kinds)
        return arguments

    return register


def case_of(name, number):
    """The case of a function and a number: the same in every run."""
    case = ROWS[name].make(draw.Draw(f"{name}:{number}"), name)
    case.identity = f"{name}:{number}"
    return case


def without_rows():
    """Public names that have no row, each with the reason: not_compared.txt."""
    found = {}
    for line in (pathlib.Path(__file__).with_name("not_compared.txt")).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            names, reason = line.split(" | ")
            found.update(dict.fromkeys(names.split(), reason.strip()))
    return found


def public_names():
    """NumPy's names in docs/coverage.md, methods as 'ndarray.x', and those of public_names.txt."""
    names = set((TREE / "tests" / "python" / "public_names.txt").read_text().split())
    text = (TREE / "docs" / "coverage.md").read_text()
    for title, body in re.findall(r"^## NumPy: ([^\n:]+): [^\n]*\n\n((?:\|.*\n)+)", text, flags=re.MULTILINE):
        prefix = {"Array functions": "", "Methods of ndarray": "ndarray.", "Methods of ufuncs": "ufunc."}.get(
            title, f"{title}."
        )
        names |= {prefix + name for name in re.findall(r"^\| `(\w+)` \| yes", body, flags=re.MULTILINE)}
    return names


def missing_names():
    """Names with neither a row nor a reason, and reasons for names that have a row or do not exist."""
    names, reasons = public_names(), without_rows()
    covered = set(ROWS) | {"ufunc." + name.split(".")[1] for name in ROWS if name.count(".") == 1}
    missing = [name for name in sorted(names) if name not in covered and name not in reasons]
    return missing + [f"{name} (in not_compared.txt)" for name in reasons if name in ROWS or name not in names]


import rows_algebra  # noqa: E402, F401
import rows_arranging  # noqa: E402, F401
import rows_creation  # noqa: E402, F401
import rows_indexing  # noqa: E402, F401
import rows_misc  # noqa: E402, F401
import rows_numeric  # noqa: E402, F401
import rows_reductions  # noqa: E402, F401
import rows_sorting  # noqa: E402, F401
import rows_ufuncs  # noqa: E402, F401
