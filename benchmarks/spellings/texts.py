"""Reads the ways of a computation from its file of kernel texts, kernels/NAME.cpp.

A line `//: KEY REST` begins a section. `inputs` and `outputs` are parameter lists, `way` names a way, `preamble` and
`body` begin its texts, `size` names the number of elements where all arrays are raw, and `note` says what a way
computes more than the others. What stands before the first way holds for all ways that say nothing else.
"""

import dataclasses
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent / "kernels"


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One name of a parameter list."""

    name: str
    is_raw: bool
    by_value: bool


@dataclasses.dataclass(frozen=True)
class Way:
    """The texts of one kernel."""

    name: str
    inputs: str
    outputs: str
    size: str
    note: str
    preamble: str
    body: str

    def input_parameters(self):
        return parameters(self.inputs)

    def output_parameters(self):
        return parameters(self.outputs)


def parameters(text):
    """The parameters of a list such as "raw float32 x, float32 taps[9], int32 width"."""
    found = []
    for each in filter(None, (part.strip() for part in text.split(","))):
        name, by_value = re.search(r"(\w+)(\[\w+\])?$", each).groups()
        found.append(Parameter(name, each.startswith("raw "), by_value is not None))
    return found


def read_ways(name):
    """The ways of the computation `name`, in the order of its file."""
    path = FOLDER / f"{name}.cpp"
    common = {"inputs": "", "outputs": "", "size": "", "note": "", "preamble": "", "body": ""}
    ways, current, section = [], common, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.startswith("//:"):
            if section is not None:
                current[section] += line + "\n"
            continue
        key, _, rest = line.removeprefix("//:").strip().partition(" ")
        section = None
        if key == "way":
            current = {**common, "name": rest.strip()}
            ways.append(current)
        elif key in ("inputs", "outputs", "size", "note"):
            current[key] = rest.strip()
        elif key in ("preamble", "body"):
            section = key
            current[key] = ""
        else:
            raise ValueError(
                f"{path}:{number}: a section is inputs, outputs, size, note, way, preamble or body, not '{key}'"
            )
    if len({way["name"] for way in ways}) < len(ways):
        raise ValueError(f"{path}: two ways have one name")
    return [Way(**{key: text.rstrip("\n") for key, text in way.items()}) for way in ways]
