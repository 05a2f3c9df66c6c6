"""What is compiled once for the whole process: recipes by the code of the function that they are for.

    for batch in batches:
        w -= grad(lambda w: loss(w, batch))(w)      every lambda is a new function of one code: one recipe

A code object is known by its identity (codes of equal text on equal lines of two files are equal) and not kept alive: its
recipes go with it.  Which of them is right for a function, their guards say.
"""

from __future__ import annotations

import threading
import types
import weakref
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from s2sgrad.analysis.kinds_key import Kinds
from s2sgrad.ir.signatures import Parameters

if TYPE_CHECKING:
    from s2sgrad.driver.compiled import Compiled, Recipe

_MOST = 64  # recipes of one code in one way of asking
_MOST_KEYS = 512  # exact shapes remembered; the recipes are few, one a pattern of shapes


class Family:
    """The recipes of one code in one way of asking: by the kinds of the arguments, and by quick keys to these.

    `wrt` are the names of the differentiated parameters, `refused` the kinds for which there is no text of the sort that is
    asked for, and another one serves.
    """

    def __init__(self, wrt: tuple[str, ...]) -> None:
        self.wrt = wrt
        self.quick: dict[Hashable, Kinds] = {}
        self.refused: set[Kinds] = set()
        self._recipes: dict[Kinds, tuple[Recipe, ...]] = {}
        self._lock = threading.Lock()

    def find(self, key: Kinds, function: types.FunctionType) -> Compiled | None:
        """What a known recipe makes for a function of this code."""
        for recipe in self._recipes.get(key, ()):
            compiled = recipe.fitted(function)
            if compiled is not None:
                return compiled
        return None

    def add(self, key: Kinds, recipe: Recipe) -> None:
        """Keep a recipe, the latest first."""
        if not recipe.shareable:
            return
        key = key.kept()
        with self._lock:
            self._recipes[key] = (recipe, *self._recipes.get(key, ()))
            while sum(map(len, self._recipes.values())) > _MOST:
                oldest = next(iter(self._recipes))
                kept = self._recipes.pop(oldest)[:-1]
                if kept:
                    self._recipes[oldest] = kept

    def remember(self, quick: Hashable, key: Kinds) -> None:
        """Find `key` at once for arguments that look the same."""
        if len(self.quick) >= _MOST_KEYS:
            self.quick.clear()
        self.quick[quick] = key.kept()


class Code:
    """What is known of one code object: its parameters, and a family for every way of asking."""

    def __init__(self, code: types.CodeType) -> None:
        self.ref = weakref.ref(code)
        self.parameters = Parameters.of(code)
        self.families: dict[Hashable, Family] = {}

    def family(self, asked: Hashable, wrt: tuple[str, ...] = ()) -> Family:
        """The recipes for one way of asking."""
        family = self.families.get(asked)
        if family is None:
            if len(self.families) >= _MOST:
                self.families.clear()
            family = self.families.setdefault(asked, Family(wrt))
        return family


_codes: dict[int, Code] = {}


def of(code: types.CodeType) -> Code:
    """What is known of a code object."""
    known = _codes.get(id(code))
    if known is not None and known.ref() is code:
        return known
    known = _codes[id(code)] = Code(code)
    weakref.finalize(code, _forget, id(code), known).atexit = False
    return known


def _forget(number: int, known: Code) -> None:
    if _codes.get(number) is known:
        del _codes[number]


def forget() -> None:
    """Compile everything anew."""
    _codes.clear()


def compiled(
    family: Family, key: Kinds, function: types.FunctionType, compile_: Callable[[], Compiled]
) -> Compiled:
    """What a known recipe makes for the function, or else a new one."""
    found = family.find(key, function)
    if found is None:
        from s2sgrad.driver.compiled import LOCK

        with LOCK:
            found = family.find(key, function)
            if found is None:
                found = compile_()
                family.add(key, found.recipe)
    found.key = key
    return found
