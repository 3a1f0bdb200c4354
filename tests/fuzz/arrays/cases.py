"""Cases: a call as plain data, which runs with NumPy or with Iruka, prints as a program, and is made simpler."""

import dataclasses
import functools
import math

import numpy as np

import values

NAMES = {"np": np, "nan": math.nan, "inf": math.inf, "dtype": np.dtype, "array": np.array, "values": values}


@dataclasses.dataclass(eq=False)
class Base:
    """Memory of so many elements; `given` says whether Iruka's array owns it or shares it with NumPy."""

    shape: tuple
    dtype: str
    kind: str
    seed: int
    given: str = "own"

    def make(self):
        return values.make(self.dtype, self.kind, self.seed, self.shape)

    def source(self):
        made = self.make()
        if (
            made.size > 48
            or made.dtype.kind == "c"
            and not (np.isfinite(made).all() and np.all((made.real != 0) & (made.imag != 0)))
        ):
            return f"values.make({self.dtype!r}, {self.kind!r}, {self.seed}, {self.shape})"
        return f"np.array({made.tolist()!r}, {self.dtype!r})" + (f".reshape({self.shape})" if 0 in self.shape else "")


@dataclasses.dataclass(eq=False)
class Array:
    """A view of a base: an expression in x (the base) and xp (the module)."""

    base: Base
    view: str
    shape: tuple
    dtype: str

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)


@dataclasses.dataclass(eq=False)
class OfNumPy:
    """An array that is NumPy's in both calls."""

    array: Array


@dataclasses.dataclass(eq=False)
class Code:
    """An expression in xp and np: functions, scalars with a dtype, classes."""

    text: str


@dataclasses.dataclass
class Case:
    name: str
    target: str  # an expression in xp: "xp.add", "lambda x, key: x[key]"
    args: list
    kwargs: dict
    rule: object
    undefined: object = None  # the `where` of a call without `out`: what it leaves out is undefined
    identity: str = ""  # what --case takes


def walk(node):
    """Every node of arguments, leaves last."""
    yield node
    if isinstance(node, (list, tuple)):
        for child in node:
            yield from walk(child)
    elif isinstance(node, dict):
        for child in node.values():
            yield from walk(child)
    elif isinstance(node, OfNumPy):
        yield from walk(node.array)
    elif isinstance(node, slice):
        yield from walk([node.start, node.stop, node.step])


def arrays_of(case):
    return [node for node in walk([case.args, case.kwargs]) if isinstance(node, Array)]


def replaced(node, old, new):
    """The arguments with one node exchanged for another."""
    if node is old:
        return new
    if isinstance(node, tuple):
        children = [replaced(child, old, new) for child in node]
        return type(node)(*children) if hasattr(node, "_fields") else tuple(children)
    if isinstance(node, list):
        return [replaced(child, old, new) for child in node]
    if isinstance(node, dict):
        return {key: replaced(child, old, new) for key, child in node.items()}
    if isinstance(node, OfNumPy):
        inner = replaced(node.array, old, new)
        return node if inner is node.array else OfNumPy(inner)
    return node


@functools.cache
def on_gpu():
    import iruka

    return iruka.empty(0).device.name != "cpu"


class Run:
    """One evaluation: the arrays that it made, so that what it wrote can be read afterwards."""

    def __init__(self, xp, convert=None):
        self.xp, self.convert = xp, convert
        self.names = dict(NAMES, xp=xp, readonly=values.readonly)
        self.memory, self.made = {}, {}

    def base(self, base):
        if id(base) not in self.memory:
            made = base.make()
            if self.convert:
                made = self.convert(made)
            is_shared = base.given == "shared" and not on_gpu()  # a GPU's arrays share no memory with NumPy's
            self.memory[id(base)] = made if self.xp is np or is_shared else self.xp.array(made)
        return self.memory[id(base)]

    def value(self, node):
        if isinstance(node, Array):
            if id(node) not in self.made:
                if (
                    self.convert and ":" in node.base.kind and self.convert(np.empty(0, node.dtype)).dtype != node.dtype
                ):  # bytes stay bytes
                    x = self.convert(eval(node.view, self.names, {"x": node.base.make()}))
                else:
                    x = eval(node.view, self.names, {"x": self.base(node.base)})
                self.made[id(node)] = self.xp.asarray(x) if self.xp is not np else x
            return self.made[id(node)]
        if isinstance(node, OfNumPy):
            x = eval(node.array.view, dict(NAMES, xp=np, readonly=values.readonly), {"x": node.array.base.make()})
            return self.convert(x) if self.convert else x
        if isinstance(node, Code):
            return eval(node.text, self.names)
        if isinstance(node, tuple):
            children = [self.value(child) for child in node]
            return type(node)(*children) if hasattr(node, "_fields") else tuple(children)
        if isinstance(node, list):
            return [self.value(child) for child in node]
        if isinstance(node, dict):
            return {key: self.value(child) for key, child in node.items()}
        if isinstance(node, slice):
            return slice(self.value(node.start), self.value(node.stop), self.value(node.step))
        return node

    def call(self, case):
        args, kwargs = self.value(case.args), self.value(case.kwargs)
        result = eval(case.target, self.names)(*args, **kwargs)
        if self.xp is not np and on_gpu():
            self.xp.cuda.Device().synchronize()  # an error that a GPU reports late belongs to this call
        return result


def source(case, title="", folder="tests/fuzz/arrays"):
    """A program that prints what both modules answer."""
    bases, arrays, lines = {}, {}, []

    def text(node):
        if isinstance(node, Array):
            if id(node) not in arrays:
                arrays[id(node)] = f"x{len(arrays)}"
                if id(node.base) not in bases:
                    bases[id(node.base)] = f"b{len(bases)}"
                    given = "{}" if node.base.given == "shared" else "xp.array({})"
                    lines.append(f"    b{len(bases) - 1} = " + given.format(node.base.source()))
                view = f"(lambda x: {node.view})({bases[id(node.base)]})" if node.view != "x" else bases[id(node.base)]
                lines.append(f"    {arrays[id(node)]} = xp.asarray({view})")
            return arrays[id(node)]
        if isinstance(node, OfNumPy):
            return f"(lambda x: {node.array.view})({node.array.base.source()})"
        if isinstance(node, Code):
            return node.text
        if isinstance(node, slice):
            return f"slice({text(node.start)}, {text(node.stop)}, {text(node.step)})"
        if isinstance(node, tuple):
            return "(" + "".join(text(child) + ", " for child in node).rstrip(" ") + ")"
        if isinstance(node, list):
            return "[" + ", ".join(text(child) for child in node) + "]"
        if isinstance(node, dict):
            return "{" + ", ".join(f"{key!r}: {text(child)}" for key, child in node.items()) + "}"
        return repr(node)

    words = [text(node) for node in case.args] + [f"{key}={text(node)}" for key, node in case.kwargs.items()]
    target = f"({case.target})" if case.target.startswith("lambda") else case.target
    lines.append(f"    print(repr({target}({', '.join(words)})))")
    lines += (
        [f"    print({name})" for name in bases.values()]
        if WRITERS & set(case.name.split(".")) or "out" in case.kwargs
        else []
    )
    body = "\n".join(lines)
    head = ["import numpy as np, iruka", "from numpy import nan, inf"]
    if "values." in body or "readonly" in body:
        head += [f"import sys; sys.path.insert(0, {folder!r}); import values; from values import readonly"]
    return "\n".join(([f"# {title}"] if title else []) + head + ["for xp in (np, iruka):", body])


WRITERS = {
    "setitem", "put", "putmask", "place", "copyto", "fill_diagonal", "put_along_axis", "inplace", "at", "fill", "sort",
    "partition", "resize", "setfield", "byteswap", "flat",
}  # fmt: skip


def simpler(case):
    """Cases that differ from this one in a single, simpler respect."""

    def with_array(old, new):
        args, kwargs = replaced(case.args, old, new), replaced(case.kwargs, old, new)
        undefined = new if case.undefined is old else case.undefined
        return dataclasses.replace(case, args=args, kwargs=kwargs, undefined=undefined)

    for key in case.kwargs:
        yield dataclasses.replace(case, kwargs={k: v for k, v in case.kwargs.items() if k != key},
                                  undefined=case.kwargs.get("where") if key == "out" else case.undefined)  # fmt: skip
    seen = []
    for array in arrays_of(case):
        if any(array is other for other in seen):
            continue
        seen.append(array)
        if array.view != "x":
            yield with_array(array, plain(array.shape, array.dtype, kind_of(array), array.base.seed, array.base.given))
    for factor in (64, 4, 2):
        largest = max([n for array in seen for n in array.shape], default=0)
        if largest // factor >= 1:
            new, memo = case, {}
            for array in seen:
                shape = tuple(n // factor if n == largest else n for n in array.shape)
                memo[id(array)] = plain(shape, array.dtype, kind_of(array), array.base.seed, array.base.given)
                new = dataclasses.replace(new, args=replaced(new.args, array, memo[id(array)]),
                                          kwargs=replaced(new.kwargs, array, memo[id(array)]))  # fmt: skip
                if new.undefined is array:
                    new.undefined = memo[id(array)]
            yield new
    for array in seen:
        if kind_of(array) != "small":
            yield with_array(array, plain(array.shape, array.dtype, "small", array.base.seed, array.base.given))


def kind_of(array):
    return array.base.kind.split(":")[-1]


def plain(shape, dtype, kind, seed, given="own"):
    return Array(Base(tuple(shape), dtype, kind, seed, given), "x", tuple(shape), dtype)
