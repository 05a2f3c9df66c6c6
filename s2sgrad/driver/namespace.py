"""One name stands for one object in a whole text, and in the user's module: it can be saved, imported, or pasted there.

    def like(x): ..                        `like` of the user's is called in `loss_fwd`:
    def loss(x): return g(like(x))   ->    from s2sgrad.runtime import like as like_

Each function of a program has names of its own for what it reaches of ours.  It runs over the globals of the function that
it was made from; where that stands in another module, the text says from where it has what it finds there.
"""

from __future__ import annotations

import sys
import types
from typing import Any

import gast

from s2sgrad.driver.emitted import Emitted
from s2sgrad.ir.quote import name, nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.source import GENERATED, look_up

_NOTHING = object()


def settle(functions: list[Emitted]) -> tuple[dict[str, set[str]], dict[str, types.FunctionType]]:
    """Give what clashes another name.  The modules from which the text imports names, beside what `helpers` say; and the
    functions of earlier texts that it calls, by their names, each behind those that it calls itself."""
    home = functions[-1].primal.__globals__
    stands: dict[str, Any] = {emitted.name: emitted for emitted in functions}
    earlier: dict[str, types.FunctionType] = {}
    for emitted in functions:
        _earlier(emitted.primal, {n.id for n in nodes(emitted.tree) if isinstance(n, gast.Name)}, earlier)
    for function in earlier.values():
        stands.update(reached(function))
    stands.update(earlier)
    trees: dict[int, tuple[Unit, types.FunctionType, list[gast.FunctionDef]]] = {}
    for emitted in functions:
        trees.setdefault(id(emitted.unit), (emitted.unit, emitted.primal, []))[2].append(emitted.tree)
    free = {key: _free(unit, made) for key, (unit, _, made) in trees.items()}
    for key, (unit, primal, _) in trees.items():
        if primal.__globals__ is home:
            for n in free[key] - unit.helpers.keys():
                found = look_up(primal, n)
                stands[n] = _NOTHING if found is None else found.value
    imports: dict[str, set[str]] = {}
    for key, (unit, primal, made) in trees.items():
        renamed: dict[str, gast.AST] = {}
        for n in sorted(free[key]):
            if n in unit.helpers:
                if _is_free(n, value := unit.helpers[n], stands, home):
                    stands[n] = value
                else:
                    renamed[n] = name(_helper(unit, n, unit.helpers.pop(n), stands, home))
            elif primal.__globals__ is not home:
                _from_elsewhere(unit, primal, n, stands, home, renamed, imports)
        for node in (part for tree in made for part in nodes(tree)) if renamed else ():
            _replace(node, renamed)
    return imports, earlier


def reached(function: types.FunctionType) -> dict[str, Any]:
    """What a function that we wrote reaches of ours, by its names."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return {n: cells[n].cell_contents for n in getattr(function, "reaches", ())}


def _earlier(function: types.FunctionType, mentioned: set[str], out: dict[str, types.FunctionType]) -> None:
    if not function.__code__.co_filename.startswith(GENERATED):
        return
    for n, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        value = _content(cell) if n in mentioned and n not in out else None
        if isinstance(value, types.FunctionType) and value.__code__.co_filename.startswith(GENERATED):
            out[n] = value  # it may call itself
            _earlier(value, set(value.__code__.co_freevars), out)
            out[n] = out.pop(n)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing is bound to the user's variable yet
        return None


def _free(unit: Unit, trees: list[gast.FunctionDef]) -> set[str]:
    return {n.id for tree in trees for n in nodes(tree) if isinstance(n, gast.Name)} - unit.locals


def _is_free(n: str, value: Any, stands: dict[str, Any], home: dict[str, Any]) -> bool:
    return stands.get(n, value) is value and (n in stands or home.get(n, value) is value)


def _helper(unit: Unit, base: str, value: Any, stands: dict[str, Any], home: dict[str, Any]) -> str:
    """A name for an object that nothing else has, in the function or in the text."""
    fresh = unit.names.fresh(base)
    while not _is_free(fresh, value, stands, home):
        fresh = unit.names.fresh(base)
    unit.helpers[fresh] = stands[fresh] = value
    return fresh


def _from_elsewhere(
    unit: Unit, primal: types.FunctionType, n: str, stands: dict[str, Any], home: dict[str, Any],
    renamed: dict[str, gast.AST], imports: dict[str, set[str]],
) -> None:  # fmt: skip
    """A global name of a function that stands in another module."""
    found = look_up(primal, n)
    if found is None or found.where == "cell":
        return
    module = sys.modules.get(primal.__globals__.get("__name__", ""))
    known = module is not None and vars(module) is primal.__globals__
    if _is_free(n, found.value, stands, home):
        if found.where == "global" and known and home.get(n, _NOTHING) is not found.value:
            imports.setdefault(module.__name__, set()).add(n)
        stands[n] = found.value
    elif callable(found.value) or isinstance(found.value, types.ModuleType):
        renamed[n] = name(_helper(unit, n, found.value, stands, home))
    elif known:  # data, which may be another object when the text runs
        base = module.__name__.rpartition(".")[2]
        held = next((k for k, v in unit.helpers.items() if v is module), None) or _helper(unit, base, module, stands, home)
        renamed[n] = gast.Attribute(name(held), n, gast.Load())


def _replace(node: gast.AST, renamed: dict[str, gast.AST]) -> None:
    if isinstance(node, gast.Name) and isinstance(renamed.get(node.id), gast.Name):
        node.id = renamed[node.id].id
        return
    for field, value in node.__dict__.items():
        if isinstance(value, gast.Name) and isinstance(renamed.get(value.id), gast.Attribute):
            node.__dict__[field] = renamed[value.id]
        elif isinstance(value, list):
            value[:] = [
                renamed[v.id] if isinstance(v, gast.Name) and isinstance(renamed.get(v.id), gast.Attribute) else v
                for v in value
            ]
