"""Numbers among the arguments of a fused function: their values may differ from call to call."""

from __future__ import annotations

import operator
from typing import Any

import numpy


class NeedsValue(BaseException):
    """The function looked at a number; it is traced again with the values of these arguments."""

    def __init__(self, sources: frozenset):
        self.sources = sources


class FusedNumber:
    """A number of the call, and the Python text that computes it from the arguments `a`.

    Arithmetic is Python's (or NumPy's, of NumPy's scalars), done at each call. What needs the value itself (`if`,
    range, math.sin) makes it part of the call's signature.
    """

    __slots__ = ("graph", "recipe", "sources", "value")

    def __init__(self, graph: Any, value: Any, recipe: str, sources: frozenset):
        self.graph, self.value, self.recipe, self.sources = graph, value, recipe, sources

    def looked_at(self) -> Any:
        raise NeedsValue(self.sources)

    __bool__ = __int__ = __float__ = __complex__ = __index__ = __hash__ = __round__ = looked_at
    __trunc__ = __floor__ = __ceil__ = item = _iruka_function_ = looked_at

    def __format__(self, specification):
        return self.looked_at()

    def __repr__(self):
        return f"<number {self.value!r} of a fused function>"

    __str__ = looked_at

    def __array__(self, dtype=None, copy=None):
        return self.looked_at()

    @property
    def dtype(self):
        return self.value.dtype  # AttributeError of Python's numbers, as outside

    @property
    def real(self):
        return self._made(self.value.real, f"({self.recipe}).real")

    @property
    def imag(self):
        return self._made(self.value.imag, f"({self.recipe}).imag")

    ndim = 0
    shape = ()

    def conjugate(self):
        return self._made(self.value.conjugate(), f"({self.recipe}).conjugate()")

    conj = conjugate

    def _made(self, value: Any, recipe: str, sources: frozenset = frozenset()) -> FusedNumber:
        return FusedNumber(self.graph, value, recipe, self.sources | sources)

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return self.graph.call_ufunc(self.graph, ufunc, method, inputs, keywords)


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, numpy.generic, FusedNumber))


def _binary(sign: str, compute: Any, reflected: bool = False) -> Any:
    def method(self, other):
        if not is_number(other):
            return NotImplemented
        own, others = (self.value, self.recipe), _of(other)
        (left, left_text), (right, right_text) = (others, own) if reflected else (own, others)
        sources = other.sources if isinstance(other, FusedNumber) else frozenset()
        if sign == "**" and isinstance(right, int) and right_text is not None:
            raise NeedsValue(self.sources | sources)  # an int or a float: the sign decides
        left_text, right_text = left_text or self.graph.constant(left), right_text or self.graph.constant(right)
        return self._made(compute(left, right), f"({left_text} {sign} {right_text})", sources)

    return method


def _of(value: Any) -> tuple[Any, str | None]:
    return (value.value, value.recipe) if isinstance(value, FusedNumber) else (value, None)


def _unary(text: str, compute: Any) -> Any:
    return lambda self: self._made(compute(self.value), f"({text}({self.recipe}))")


for _name, _sign in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^",
}.items():  # fmt: skip
    _compute = getattr(operator, f"__{_name}__")
    setattr(FusedNumber, f"__{_name}__", _binary(_sign, _compute))
    setattr(FusedNumber, f"__r{_name}__", _binary(_sign, _compute, reflected=True))
for _name, _sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    setattr(FusedNumber, f"__{_name}__", _binary(_sign, getattr(operator, f"__{_name}__")))
for _name, _sign in {"neg": "-", "pos": "+", "invert": "~", "abs": "abs"}.items():
    setattr(FusedNumber, f"__{_name}__", _unary(_sign, getattr(operator, f"__{_name}__")))
