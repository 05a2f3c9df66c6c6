"""Makes each name stand for one object in a whole text, and in the user's module: the text can be saved, imported or pasted.

    def like(x): ..                        `like` of the user's is called in `loss_fwd`:
    def loss(x): return g(like(x))   ->    from s2sgrad.runtime import like as like_

Each function of a program has its own names for our helpers.  It runs over the globals of the function that it was made
from; if that function is defined in another module, the text imports from there what it needs.
"""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sgrad.analysis.reached_classes import content
from s2sgrad.driver.emitted import Emitted
from s2sgrad.ir.quote import mentioned, name, nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime.traits import traits
from s2sgrad.source import GENERATED, look_up

_NOTHING = object()


def settle(functions: list[Emitted]) -> tuple[dict[str, set[str]], dict[str, types.FunctionType]]:
    """Rename what clashes.  Returns the modules from which the text imports names, besides the helpers; and the functions of
    earlier texts that it calls, by name, callees first."""
    earlier: dict[str, types.FunctionType] = {}
    for emitted in functions:
        _earlier(emitted.primal, mentioned(emitted.tree), earlier)
    text = _Text(functions, earlier)
    sources: dict[int, _Source] = {}
    for emitted in functions:
        source = sources.setdefault(id(emitted.unit), _Source(emitted.unit, emitted.primal))
        source.trees.append(emitted.tree)
    for source in sources.values():
        source.free = _free(source.unit, source.trees)
        text.read_globals(source)
    for source in sources.values():
        text.settle(source)
    return text.imports, earlier


@dataclass
class _Source:
    """A function of the user, and the functions of the text made from it; `free` are the names that these read."""

    unit: Unit
    primal: types.FunctionType
    trees: list[gast.FunctionDef] = field(default_factory=list)
    free: set[str] = field(default_factory=set)


class _Text:
    """What each name stands for, in the text and in the user's module (`home`)."""

    def __init__(self, functions: list[Emitted], earlier: dict[str, types.FunctionType]) -> None:
        self.home = functions[-1].primal.__globals__
        self.stands: dict[str, Any] = {emitted.name: emitted for emitted in functions}
        for function in earlier.values():
            self.stands.update(reached(function))
        self.stands.update(earlier)
        self.imports: dict[str, set[str]] = {}

    def read_globals(self, source: _Source) -> None:
        """Enter the names that a function of this module reads, with what they stand for there."""
        if source.primal.__globals__ is self.home:
            for n in source.free - source.unit.helpers.keys():
                binding = look_up(source.primal, n)
                self.stands[n] = _NOTHING if binding is None else binding.value

    def settle(self, source: _Source) -> None:
        """Rename what clashes in the functions made from this source."""
        unit = source.unit
        renamed: dict[str, gast.AST] = {}
        for n in sorted(source.free):
            if n not in unit.helpers:
                if source.primal.__globals__ is not self.home:
                    self.from_elsewhere(source, n, renamed)
            elif self.is_free(n, value := unit.helpers[n]):
                self.stands[n] = value
            else:
                renamed[n] = name(self.helper(unit, n, unit.helpers.pop(n)))
        for node in nodes(*source.trees) if renamed else ():
            _replace(node, renamed)

    def is_free(self, n: str, value: Any) -> bool:
        """Whether a name stands for this object, or for nothing yet."""
        return self.stands.get(n, value) is value and (n in self.stands or self.home.get(n, value) is value)

    def helper(self, unit: Unit, base: str, value: Any) -> str:
        """An unused name for a helper of ours, in the function and in the text."""
        fresh = unit.names.fresh(base)
        while not self.is_free(fresh, value):
            fresh = unit.names.fresh(base)
        unit.helpers[fresh] = self.stands[fresh] = value
        return fresh

    def from_elsewhere(self, source: _Source, n: str, renamed: dict[str, gast.AST]) -> None:
        """Import or rename a global name of a function from another module."""
        unit, space = source.unit, source.primal.__globals__
        binding = look_up(source.primal, n)
        if binding is None or binding.where == "cell":
            return
        module = sys.modules.get(space.get("__name__", ""))
        module = module if module is not None and vars(module) is space else None
        if self.is_free(n, binding.value):
            if binding.where == "global" and module is not None and self.home.get(n, _NOTHING) is not binding.value:
                self.imports.setdefault(module.__name__, set()).add(n)
            self.stands[n] = binding.value
        elif callable(binding.value) or isinstance(binding.value, types.ModuleType):
            renamed[n] = name(self.helper(unit, n, binding.value))
        elif module is not None:  # data, which may be another object when the text runs
            base = module.__name__.rpartition(".")[2]
            base_name = next((k for k, v in unit.helpers.items() if v is module), None) or self.helper(unit, base, module)
            renamed[n] = gast.Attribute(name(base_name), n, gast.Load())


def reached(function: types.FunctionType) -> dict[str, Any]:
    """Our helpers that a generated function reaches, by name."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return {n: cells[n].cell_contents for n in traits(function).reaches}


def _earlier(function: types.FunctionType, mentioned: set[str], out: dict[str, types.FunctionType]) -> None:
    """Collect the earlier generated functions that this one calls, callees first."""
    if not function.__code__.co_filename.startswith(GENERATED):
        return
    for n, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        value = content(cell) if n in mentioned and n not in out else None
        if isinstance(value, types.FunctionType) and value.__code__.co_filename.startswith(GENERATED):
            out[n] = value  # it may call itself
            _earlier(value, set(value.__code__.co_freevars), out)
            out[n] = out.pop(n)


def _free(unit: Unit, trees: list[gast.FunctionDef]) -> set[str]:
    return mentioned(*trees) - unit.locals


def _replace(node: gast.AST, renamed: dict[str, gast.AST]) -> None:
    if isinstance(node, gast.Name) and isinstance(renamed.get(node.id), gast.Name):
        node.id = renamed[node.id].id
        return
    for key, value in node.__dict__.items():
        if isinstance(value, gast.Name) and isinstance(renamed.get(value.id), gast.Attribute):
            node.__dict__[key] = renamed[value.id]
        elif isinstance(value, list):
            value[:] = [
                renamed[v.id] if isinstance(v, gast.Name) and isinstance(renamed.get(v.id), gast.Attribute) else v
                for v in value
            ]
