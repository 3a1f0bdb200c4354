"""The rows of the elementwise and reduction tables as callables, by name."""

from . import _core


def _callable(kind, name):
    function = kind(name)
    function.__name__ = name
    function.__doc__ = function._documentation
    return function


elementwise = {name: _callable(_core.ElementwiseFunction, name) for name in _core.elementwise_names()}
reductions = {name: _callable(_core.ReductionFunction, name) for name in _core.reduction_names()}

for _alias, _name in {
    "true_divide": "divide",
    "mod": "remainder",
    "abs": "absolute",
    "conj": "conjugate",
    "pow": "power",
    "bitwise_not": "invert",
    "bitwise_invert": "invert",
}.items():
    if _name in elementwise:
        elementwise.setdefault(_alias, elementwise[_name])
for _alias, _name in {"amin": "min", "amax": "max"}.items():
    if _name in reductions:
        reductions.setdefault(_alias, reductions[_name])
