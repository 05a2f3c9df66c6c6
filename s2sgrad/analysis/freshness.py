"""Which functions of the user surely return new memory: then the caller may write what they returned.

    def kernel(a): out = np.zeros(3); out[1] = a[0]; return out * 2.0      ->      new: nothing else refers to it
    def row(a): return a[0]                                                ->      not new: it is memory of its argument

Looked at is the text alone, of functions whose result is known to be an array; what is not plainly new counts as old.
"""

from __future__ import annotations

import functools
import types

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.errors import S2SGradError
from s2sgrad.quote import nodes
from s2sgrad.rules import memory
from s2sgrad.source import read
from s2sgrad.unit import MISSING, Unit, parameters

_INNER = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef, gast.Yield, gast.YieldFrom, gast.Await,
          gast.Global, gast.Nonlocal, gast.NamedExpr, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp,
          gast.Try, gast.With, gast.Match)  # fmt: skip
_OPERATIONS = (gast.BinOp, gast.UnaryOp, gast.Compare)


_CODE = (types.FunctionType, types.ModuleType)


def _is_data(value: object) -> bool:
    """Whether an object is a number, a text, an array or nothing at all."""
    return value is None or type(value) in (np.ndarray, int, float, bool, complex, str) or isinstance(value, np.generic)


@functools.lru_cache(maxsize=1024)
def returns_new(function: types.FunctionType) -> bool:
    """Whether the arrays that a user function returns are new memory, to which nothing else refers.

    It is given numbers and arrays: an object of the user's may return what it holds from any method.
    """
    return _returns_new(function, frozenset())


def forget() -> None:
    """Look at user functions anew: what their names stand for may have changed."""
    returns_new.cache_clear()


def _returns_new(function: types.FunctionType, above: frozenset[int]) -> bool:
    if id(function) in above or effects.is_library(function):
        return False
    try:
        unit, tree = Unit.of(read(function))
    except S2SGradError:
        return False
    inner = [n for s in tree.body for n in nodes(s)]
    if any(isinstance(n, _INNER) for n in inner):
        return False
    if not all(map(_is_data, (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()))):
        return False
    values = [n.value for n in inner if isinstance(n, gast.Return)]
    text = _Text(unit, tree, above | {id(function)})
    return bool(values) and all(v is not None and text.is_new(v) for v in values)


class _Text:
    """What the names of one function are bound to, and where they are mentioned."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, above: frozenset[int]) -> None:
        self.unit, self.tree, self.above = unit, tree, above
        self.given = {p.id for p in parameters(tree)}
        self.bound: dict[str, list[gast.AST | None]] = {}
        self.asked: set[str] = set()
        self.origins: dict[str, list[gast.AST]] = {}  # what each name is taken from, in loops and unpackings too
        for node in (n for s in tree.body for n in nodes(s)):
            if isinstance(node, gast.Assign):
                for target in node.targets:
                    for part in nodes(target):
                        if isinstance(part, gast.Name) and isinstance(part.ctx, gast.Store):
                            self.origins.setdefault(part.id, []).append(node.value)
                            alone = part is target and len(node.targets) == 1
                            self.bound.setdefault(part.id, []).append(node.value if alone else None)
            elif isinstance(node, (gast.For, gast.AnnAssign)):
                for part in nodes(node.target):
                    if isinstance(part, gast.Name):
                        self.origins.setdefault(part.id, []).append(node.iter if isinstance(node, gast.For) else node)
                        self.bound.setdefault(part.id, []).append(None)

    def is_new(self, value: gast.AST) -> bool:
        """Whether an expression, of which an array comes out, is new memory."""
        if not self._is_plain(value, frozenset()):
            return False
        if isinstance(value, _OPERATIONS):
            return not isinstance(getattr(value, "op", None), gast.Not)
        if isinstance(value, gast.IfExp):
            return self.is_new(value.body) and self.is_new(value.orelse)
        if isinstance(value, gast.Name):
            return self._only_here(value.id)
        return isinstance(value, gast.Call) and self._of_call(value)

    def _is_plain(self, value: gast.AST, seen: frozenset[str]) -> bool:
        """Whether no object of the user's is in an expression: its methods and operators may return what it holds."""
        for node in nodes(value):
            if isinstance(node, gast.Call):
                target = self.unit.resolve(node.func)
                ours = isinstance(target, types.FunctionType) and not effects.is_library(target)
                if ours and not _returns_new(target, self.above):
                    return False
            if isinstance(node, gast.Name) and node.id in self.unit.locals:
                known = node.id in self.given or node.id in seen
                origins = self.origins.get(node.id, [])
                if not known and not (origins and all(self._is_plain(o, seen | {node.id}) for o in origins)):
                    return False
            elif isinstance(node, (gast.Name, gast.Attribute)):
                found = self.unit.resolve(node)
                if found is not MISSING and not (_is_data(found) or isinstance(found, _CODE) or effects.is_library(found)):
                    return False
                if isinstance(found, type) and not effects.is_pure_function(found):
                    return False
        return True

    def _of_call(self, call: gast.Call) -> bool:
        target = self.unit.resolve(call.func)
        if any(k.arg in ("out", "copy", None) for k in call.keywords) or any(isinstance(a, gast.Starred) for a in call.args):
            return False
        if target is MISSING:
            return isinstance(call.func, gast.Attribute) and call.func.attr in memory.COPYING_METHODS
        if isinstance(target, np.ufunc):
            return len(call.args) <= target.nin
        if isinstance(target, types.FunctionType) and not effects.is_library(target):
            return _returns_new(target, self.above)
        return effects.is_pure_function(target) and not memory.may_view(target)

    def _only_here(self, name: str) -> bool:
        """Whether a local name is only ever bound to new memory, and what it is bound to is not kept anywhere else."""
        if name in self.asked:
            return True
        self.asked.add(name)
        values = self.bound.get(name, [])
        if name in self.given or not values or not all(v is not None and self.is_new(v) for v in values):
            return False
        return not self._is_kept(name, set())

    def _is_kept(self, name: str, seen: set[str]) -> bool:
        """Whether some statement may keep what a name is bound to: in a container, an object, by a call, another name."""
        if name in seen:
            return False
        seen.add(name)
        for statement in (s for s in _simple(self.tree.body)):
            if isinstance(statement, gast.Return):
                continue
            if isinstance(statement, gast.Assign) and self._refers(statement.value, name):
                targets = statement.targets
                if not all(isinstance(t, gast.Name) and not self._is_kept(t.id, seen) for t in targets):
                    return True
            elif self._refers(statement.value if isinstance(statement, (gast.AugAssign, gast.Assign)) else statement, name):
                return True
        return False

    def _refers(self, node: gast.AST, name: str) -> bool:
        """Whether a value (or a call that is made on the way to it) may hold the memory of a name."""
        if isinstance(node, gast.Name):
            return node.id == name
        if isinstance(node, (*_OPERATIONS, gast.BoolOp)) or (isinstance(node, gast.Call) and self._only_computes(node)):
            calls = [n for n in nodes(node) if isinstance(n, gast.Call) and n is not node]
            return any(self._refers(c, name) for c in calls if not self._only_computes(c))
        if isinstance(node, gast.Attribute) and node.attr in ("shape", "size", "ndim", "dtype"):
            return False
        return any(self._refers(child, name) for child in node.__dict__.values() if isinstance(child, gast.AST)) or any(
            self._refers(item, name)
            for items in node.__dict__.values() if isinstance(items, list)
            for item in items if isinstance(item, gast.AST)
        )  # fmt: skip

    def _only_computes(self, call: gast.Call) -> bool:
        """Whether a call neither keeps its arguments nor returns memory of them."""
        target = self.unit.resolve(call.func)
        if target is MISSING:
            return isinstance(call.func, gast.Attribute) and call.func.attr in memory.COPYING_METHODS
        return effects.is_pure_function(target) and not memory.may_view(target)


def _simple(body: list[gast.AST]) -> list[gast.AST]:
    """The simple statements of a body and the headers of the compound ones."""
    out: list[gast.AST] = []
    for statement in body:
        if isinstance(statement, (gast.If, gast.While)):
            out += [gast.Expr(statement.test), *_simple(statement.body), *_simple(statement.orelse)]
        elif isinstance(statement, gast.For):
            out += [gast.Expr(statement.iter), *_simple(statement.body), *_simple(statement.orelse)]
        else:
            out.append(statement)
    return out
