"""The exceptions that the handlers of a `try` catch: what cannot raise any of these needs no guard.

>>> from s2sgrad.ir.unit import Unit
>>> from s2sgrad.source import read
>>> def f(x): return x
>>> unit, _ = Unit.of(read(f))
>>> kinds = Kinds(unit, [gast.parse(text).body[0].value for text in ("KeyError", "(ValueError, IndexError)")])
>>> kinds.risk(gast.parse("a > b").body[0].value), kinds.catch(TypeError)
(True, False)
>>> kinds.due(gast.parse("IndexError('far')").body[0].value)
2
"""

from __future__ import annotations

import builtins

import gast

from s2sgrad.ir.forms import arguments_of
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize.trials import may_raise


class Kinds:
    """The classes after `except`, in order: those of the `try` itself first, then those of enclosing ones."""

    def __init__(self, unit: Unit, texts: list[gast.AST]) -> None:
        self.unit, self.texts = unit, texts

    @property
    def are_known(self) -> bool:
        """Whether all handlers name classes."""
        return all(self._classes(kind) is not None for kind in self.texts)

    def risk(self, *values: gast.AST) -> bool:
        """Whether evaluating expressions may raise what a handler catches."""
        raises = {kind for value in values for kind in may_raise(value)}
        return any(self._may_catch(kind, one) for kind in raises for one in self.texts)

    def _may_catch(self, raised: type, kind: gast.AST) -> bool:
        kinds = self._classes(kind)
        return raised is BaseException or kinds is None or any(issubclass(raised, t) or issubclass(t, raised) for t in kinds)

    def _classes(self, kind: gast.AST) -> list[type] | None:
        """The classes that a handler catches; None if unknown."""
        if isinstance(kind, gast.Tuple):
            parts = [self._classes(e) for e in kind.elts]
            return None if None in parts else [k for p in parts for k in p]
        cls = self.unit.resolve(kind)
        return [cls] if isinstance(cls, type) else None

    def catch(self, *raised: type) -> bool:
        """Whether a handler may catch an exception of one of these classes."""
        return any(self._may_catch(one, kind) for one in raised for kind in self.texts)

    def due(self, error: gast.AST) -> int | None:
        """The number of the handler that catches an exception, if its class and theirs are known."""
        error_class = error.func if isinstance(error, gast.Call) else error
        arguments = arguments_of(error) if isinstance(error, gast.Call) else []
        cls = self.unit.resolve(error_class)
        if not isinstance(cls, type) or not issubclass(cls, BaseException) or any(map(may_raise, arguments)):
            return None
        if cls.__module__ != builtins.__name__ and cls.__init__ is not cls.__base__.__init__:
            return None  # its constructor may raise
        for k, kind in enumerate(self.texts, 1):
            handled = self._classes(kind)
            if handled is None:
                return None
            if any(issubclass(cls, one) for one in handled):
                return k
        return None
