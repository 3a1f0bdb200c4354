"""Modules that hold others: what Sequential and ModuleList have of a list, and ModuleDict."""

from __future__ import annotations

import abc
import builtins
import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import IndexError, TypeError, ValueError
from .module import Module
from .network import note_new_structure


def _checked(owner: Module, name: str, module) -> Module:
    kind = f"nn.{type(owner).__name__}"
    if not isinstance(module, Module):
        given = f"{kind}: {name!r} is no module of iruka.nn, but {type(module).__name__};"
        if isinstance(module, type) and issubclass(module, Module):
            raise TypeError(f"{kind}: {name!r} is the class nn.{module.__name__}; write nn.{module.__name__}(...)")
        if isinstance(module, (list, tuple)):
            raise TypeError(f"{given} modules are arguments, as in {kind}(*layers)")
        raise TypeError(f"{given} nn.from_torch() takes modules of torch")
    if not isinstance(name, str):
        raise TypeError(f"{kind}: the name of a module must be a str, not {name!r}")
    if not name or "." in name:
        raise ValueError(f"{kind}: {name!r} cannot be the name of a module: it is empty or has a dot")
    return module


class ListOfModules(Module):
    """Modules in an order, under names that are their places unless a mapping gave others."""

    def _set_children(self, named: Iterable[tuple[str, Any]]) -> None:
        self._children = {name: _checked(self, name, module) for name, module in named}
        note_new_structure()

    def _set_list(self, modules: list) -> None:
        """Modules whose names are their places from now on."""
        self._set_children((str(k), module) for k, module in enumerate(modules))

    def _place(self, key, last: int) -> int:
        try:
            place = operator.index(key)
        except builtins.TypeError:
            raise TypeError(f"nn.{type(self).__name__}: an index must be an int or a slice, not {key!r}") from None
        if not -last <= place < last:
            raise IndexError(f"nn.{type(self).__name__}: index {key} is out of range for {len(self)} modules")
        return place % last

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._children.values())

    def __getitem__(self, key):
        """The module at a place, or those of a slice, which have their parameters in common with these."""
        names = list(self._children)
        if isinstance(key, slice):
            return self._part({name: self._children[name] for name in names[key]})
        return self._children[names[self._place(key, len(names))]]

    @abc.abstractmethod
    def _part(self, children: dict[str, Module]) -> ListOfModules:
        """A list like this one of those modules."""

    def __setitem__(self, key: int, module: Module) -> None:
        """Replaces the module at a place."""
        name = list(self._children)[self._place(key, len(self))]
        self._children[name] = _checked(self, name, module)
        note_new_structure()

    def __delitem__(self, key) -> None:
        """Takes out the module at a place, or those of a slice; the others are numbered anew unless they have names."""
        names = list(self._children)
        gone = names[key] if isinstance(key, slice) else [names[self._place(key, len(names))]]
        left = {name: module for name, module in self._children.items() if name not in gone}
        if all(name.isdigit() for name in names):
            return self._set_list(list(left.values()))
        self._set_children(left.items())

    def append(self, module: Module):
        """Adds a module behind the last one; returns this module."""
        return self.extend([module])

    def extend(self, modules: Iterable[Module]):
        """Adds modules behind the last one; returns this module."""
        added: dict[str, Module] = {}
        for module in modules:
            name = next(
                name
                for place in itertools.count(len(self) + len(added))
                if (name := str(place)) not in self._children and name not in added
            )
            added[name] = _checked(self, name, module)
        self._children |= added
        note_new_structure()
        return self

    def insert(self, index: int, module: Module):
        """Adds a module before the one at a place; returns this module. All are numbered anew."""
        modules = list(self)
        modules.insert(self._place(index, len(self)) if index != len(self) else len(self), module)
        self._set_list(modules)
        return self


class ModuleList(ListOfModules):
    """A list of modules whose parameters a module of one's own has, as torch.nn.ModuleList."""

    role = "container"

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        self._set_list(list(modules))

    def _part(self, children: dict[str, Module]) -> ModuleList:
        return ModuleList(children.values())

    def forward(self, *args, **kwargs):
        """Raises NotImplementedError: a forward() of one's own calls the modules."""
        raise NotImplementedError("nn.ModuleList has no forward(): call its modules, or make an nn.Sequential of them")


class ModuleDict(Module):
    """Modules by name whose parameters a module of one's own has, as torch.nn.ModuleDict."""

    role = "container"

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] = ()) -> None:
        super().__init__()
        self.update(modules)

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Adds modules, and replaces those of the same names."""
        for name, module in dict(modules).items():
            self[name] = module

    def __setitem__(self, name: str, module: Module) -> None:
        self._children[name] = _checked(self, name, module)
        note_new_structure()

    def __delitem__(self, name: str) -> None:
        del self._children[name]
        note_new_structure()

    def __getitem__(self, name: str) -> Module:
        return self._children[name]

    def __contains__(self, name) -> bool:
        return name in self._children

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[str]:
        return iter(self._children)

    def keys(self):
        """The names."""
        return self._children.keys()

    def values(self):
        """The modules."""
        return self._children.values()

    def items(self):
        """Names and modules."""
        return self._children.items()

    def forward(self, *args, **kwargs):
        """Raises NotImplementedError: a forward() of one's own calls the modules."""
        raise NotImplementedError("nn.ModuleDict has no forward(): call its modules")
