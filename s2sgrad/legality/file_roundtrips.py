"""Numbers written to a file and read again: their derivative would be lost silently.

    np.save(path, x * x); return np.sum(np.load(path))      ->      Unsupported: this may read a file that was written before

A file that is only written is allowed, and so is one of another name, where both names are constants.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sgrad.analysis import effects, reached_codes
from s2sgrad.analysis.kinds import Array, Container, Kind, Number, Text
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.ir.forms import arguments_of
from s2sgrad.ir.quote import calls_in
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.legality.string_roundtrips import callee
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import methods_named

_FOR_WRITING = ("w", "wb", "a", "ab", "x", "xb", "wt")
_WHY = (
    "this may read a file into which a differentiated value was written, and a file keeps no derivative: "
    "hand the value on, or write `stop_gradient(..)` of it"
)


def check(unit: Unit, tree: gast.FunctionDef, varied: set[str], kinds: dict[str, Kind]) -> None:
    """Raise Unsupported where a file may be read into which a value in `varied` is written."""
    calls = [call for statement in effects.walk(tree.body) for call in calls_in(effects.header(statement))]
    stored = {effects.base(s) for s in map(effects.stored, effects.walk(tree.body)) if s is not None} & varied
    writers = [call for call in calls if _uses(unit, call, "w") and _given(unit, call, varied)]
    writers += [call for call in calls if stored and callee(unit, call) is np.memmap]  # into which it may store
    for reader in calls if writers else ():
        reads = _uses(unit, reader, "r") or _is_opaque(unit, reader, kinds)
        if reads and any(_may_meet(writer, reader) for writer in writers):
            unit.refuse(reader, _WHY)


def _given(unit: Unit, call: gast.Call, varied: set[str]) -> bool:
    owner = [call.func.value] if isinstance(call.func, gast.Attribute) else []
    return any(_depends(unit, part, varied) for part in [*arguments_of(call), *owner])


def _depends(unit: Unit, node: gast.AST, varied: set[str]) -> bool:
    """Whether an expression reads a name in `varied`, but for what has no derivative, as `stop_gradient(x)`."""
    if isinstance(node, gast.Call) and catalogue.of(callee(unit, node)).is_flat:
        return False
    if isinstance(node, gast.Name):
        return node.id in varied
    return any(_depends(unit, part, varied) for part in gast.iter_child_nodes(node))


def _uses(unit: Unit, call: gast.Call, way: str) -> bool:
    """Whether a call reads or writes files, as its record says, or that of what a function of the user's refers to."""
    target = callee(unit, call)
    if is_user_function(target):
        return _function_uses(target, way)
    if target is print:
        return way == "w" and any(k.arg == "file" for k in call.keywords)
    if target is open:
        return way == "r" and _mode(call) not in _FOR_WRITING
    if target is MISSING and isinstance(call.func, gast.Attribute):
        return any(way in m.files for m in methods_named(call.func.attr))
    return way in catalogue.of(target).files


def _function_uses(function: Any, way: str) -> bool:
    """Whether a function may read or write files, by what it and those that it calls refer to."""
    used = list(reached_codes.of_libraries([function]))
    if way == "w" and not any(f is print for f in used):  # the other ways to write to what was opened have records
        used = [f for f in used if f is not open]
    return any(f is reached_codes.TOO_MUCH or way in catalogue.of(f).files for f in used)


def _is_opaque(unit: Unit, call: gast.Call, kinds: dict[str, Kind]) -> bool:
    """Whether a call is of a method of an object of which nothing is known, as `f.readline()`."""
    if not isinstance(call.func, gast.Attribute) or unit.resolve(call.func) is not MISSING:
        return False
    owner = call.func.value
    known = isinstance(owner, gast.Name) and isinstance(kinds.get(owner.id), (Array, Number, Container, Text))
    return not known and not call.func.attr.startswith("__") and not methods_named(call.func.attr)


def _mode(call: gast.Call) -> Any:
    """The mode of a file that is opened; None where it is no constant."""
    given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
    return given[0].value if given and isinstance(given[0], gast.Constant) else None if given else "r"


def _may_meet(writer: gast.Call, reader: gast.Call) -> bool:
    """Whether two calls may use the same file: not where both name one by a constant, and another."""
    if writer is reader:
        return False
    names = [call.args[0].value for call in (writer, reader) if call.args and isinstance(call.args[0], gast.Constant)]
    return len(names) < 2 or names[0] == names[1] or not all(isinstance(n, str) for n in names)
