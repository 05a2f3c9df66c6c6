"""The process-wide cache: recipes by the code object of the function that they differentiate.

    for batch in batches:
        w -= grad(lambda w: loss(w, batch))(w)      every lambda is a new function of one code: one recipe

A code object is identified by `id` (codes of equal text on equal lines of two files compare equal) and held weakly: its
recipes are dropped with it.  The guards of a recipe decide whether it fits a given function.
"""

from __future__ import annotations

import threading
import types
import weakref
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from s2sgrad.analysis.kinds_key import Kinds
from s2sgrad.ir.signatures import Parameters

if TYPE_CHECKING:
    from s2sgrad.driver.recipe import Compiled, Recipe
    from s2sgrad.errors import S2SGradError

_MOST = 64  # recipes per code and kind of request
_MOST_KEYS = 512  # exact shapes remembered; there are few recipes, one per pattern of shapes


class Family:
    """The recipes of one code object for one kind of request: by the kinds of the arguments, and by quick keys to these.

    `wrt` are the names of the differentiated parameters, `refused` the kinds for which the requested sort of text does not
    exist, so that another one serves.  `unwritten`: by keys of calls, how often the user had changed rules, why there is no
    text, and of which function that was said, if it is not told by what was looked up.
    """

    def __init__(self, wrt: tuple[str, ...]) -> None:
        self.wrt = wrt
        self.quick: dict[Hashable, Kinds] = {}
        self.refused: set[Kinds] = set()
        self.unwritten: dict[Hashable, tuple[int, S2SGradError, Any]] = {}
        self._recipes: dict[Kinds, tuple[Recipe, ...]] = {}
        self._lock = threading.Lock()

    def find(self, key: Kinds, function: types.FunctionType) -> Compiled | None:
        """The compiled gradient of a function of this code, from a recipe whose guards hold; None if there is none."""
        for recipe in self._recipes.get(key, ()):
            compiled = recipe.fitted(function)
            if compiled is not None:
                return compiled
        return None

    def add(self, key: Kinds, recipe: Recipe) -> None:
        """Cache a recipe, the latest first."""
        if not recipe.shareable or recipe in self._recipes.get(key, ()):
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
        """Let arguments that look the same find `key` without computing their kinds."""
        if len(self.quick) >= _MOST_KEYS:
            self.quick.clear()
        self.quick[quick] = key.kept()


class Code:
    """The cache entry of one code object: its parameters, and a family for each kind of request."""

    def __init__(self, code: types.CodeType) -> None:
        self.ref = weakref.ref(code)
        self.parameters = Parameters.of(code)
        self.families: dict[Hashable, Family] = {}

    def family(self, asked: Hashable, wrt: tuple[str, ...] = ()) -> Family:
        """The recipes for one kind of request."""
        family = self.families.get(asked)
        if family is None:
            if len(self.families) >= _MOST:
                self.families.clear()
            family = self.families.setdefault(asked, Family(wrt))
        return family


_codes: dict[int, Code] = {}
LOCK = threading.RLock()  # one compilation at a time; running compiled functions takes no lock


def of(code: types.CodeType) -> Code:
    """The cache entry of a code object, made if it is new."""
    entry = _codes.get(id(code))
    if entry is not None and entry.ref() is code:
        return entry
    entry = _codes[id(code)] = Code(code)
    weakref.finalize(code, _forget, id(code), entry).atexit = False
    return entry


def _forget(number: int, entry: Code) -> None:
    if _codes.get(number) is entry:
        del _codes[number]


def forget() -> None:
    """Clear the cache."""
    _codes.clear()


def compiled(family: Family, key: Kinds, function: types.FunctionType, compile_: Callable[[], Compiled]) -> Compiled:
    """The compiled gradient from a cached recipe, or else a newly compiled one."""
    recipe = family.find(key, function)
    if recipe is None:
        with LOCK:
            recipe = family.find(key, function)
            if recipe is None:
                recipe = compile_()
                family.add(key, recipe.recipe)
    recipe.key = key
    return recipe
