"""Whether a text is right for the arguments of a call, as one function that is written for it.

    grad(loss)(x)      ->      def front(args):
                                   try:
                                       (_x0,) = args
                                       return _run if type(_x0) is _v1 and .. and np is _v3 and .. else None
                                   except Exception:
                                       return None

The conditions are those that `Compiled.holds` checks.  The types and shapes of the arguments, and of what is in lists,
tuples and dicts, are those of the quick key.  What is not text here is called.  The function lives among the globals of the
user's, and so reads names as theirs does.  Where it returns None, the text is looked up.
"""

from __future__ import annotations

import functools
import keyword
import re
import types
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from s2sgrad.analysis.call_keys import NUMBERS, shapes_of

if TYPE_CHECKING:
    from s2sgrad.driver.recipe import Compiled

Front = Callable[[tuple], Any]
Pairs = list[tuple[int, int]]  # of arguments, by their places
_MOST = 64  # of one request
_OWN = re.compile(r"args|_run|_v\d+|_x\d+(_\d+)*")
_PARTS = 64  # conditions on what is in one container, as text


def of_key(
    fronts: dict[Hashable, tuple[Compiled, Front]],
    key: Hashable,
    compiled: Compiled,
    args: tuple,
    function: types.FunctionType,
    way: tuple[Callable[..., Any], Callable[[tuple], bool] | Pairs | None],
) -> Front:
    """The function for arguments with this quick key, written once."""
    found = fronts.get(key)
    if found is None or found[0] is not compiled:
        if len(fronts) >= _MOST:
            fronts.clear()
        found = fronts[key] = compiled, written(compiled, args, function, *way)
    return found[1]


def written(
    compiled: Compiled,
    args: tuple,
    function: types.FunctionType,
    run: Callable[..., Any],
    allows: Callable[[tuple], bool] | Pairs | None = None,
) -> Front:
    """The function for arguments of the types and shapes of these: `run`, if the conditions hold, and if `allows` does.

    `function` is the user's, which was differentiated.  `allows` may be pairs of arguments that must not share memory.
    """
    bound = Bound(function)
    tests = [test for k, a in enumerate(args) for test in _of_argument(f"_x{k}", a, bound)] + compiled.tests(bound)
    if callable(allows):
        tests.append(f"{bound(allows)}(args)")
    else:
        tests += [f"not {bound(np.may_share_memory)}(_x{k}, _x{m})" for k, m in allows or ()]
    return bound.function(len(args), " and ".join(tests), run)


def _builtins_of(function: Any) -> dict[str, Any]:
    found: dict[str, Any] = function.__builtins__
    return found


class Bound:
    """The values that a front refers to, by their names in its text."""

    def __init__(self, function: types.FunctionType) -> None:
        self._space, self._builtins = function.__globals__, _builtins_of(function)
        self._values: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._lives_there = _placed(_code("def front():\n    return None"), self._space, ()).__builtins__ is self._builtins

    def __call__(self, value: Any) -> str:
        """The name of a value."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"_v{len(self._values)}"
            self._values[name] = value
        return name

    def read(self, function: types.FunctionType, name: str) -> str:
        """What a free name of a function stands for, as an expression that raises where it stands for nothing."""
        plain = name.isidentifier() and not keyword.iskeyword(name) and not _OWN.fullmatch(name)
        if function.__globals__ is self._space and plain and self._lives_there:
            return name
        space, builtins = self(function.__globals__), self(_builtins_of(function))
        return f"({space}[{name!r}] if {name!r} in {space} else {builtins}[{name!r}])"

    def function(self, arguments: int, test: str, run: Callable[..., Any]) -> Front:
        """The function with this test."""
        names = "".join(f"_x{k}, " for k in range(arguments))
        text = f"""
def front(args):
    try:
        [{names}] = args
        return _run if {test} else None
    except Exception:
        return None
"""
        return self.written(text, _run=run)

    def written(self, text: str, **named: Any) -> Front:
        """The function `front` of a text that refers to values by their names, and by these."""
        values = {**self._values, **named}
        space = self._space if self._lives_there else {}
        front: Front = _placed(_code(text, tuple(values)), space, tuple(values.values()))
        return front


def _placed(code: types.CodeType, space: dict[str, Any], values: tuple) -> Any:
    """The function `front` of a text, among these globals, with its free names standing for values."""
    made = types.FunctionType(code, space)
    return made(*values)


@functools.lru_cache(maxsize=256)
def _code(text: str, names: tuple[str, ...] = ()) -> types.CodeType:
    """The code of a function that returns the `front` of a text, of what these names stand for."""
    inside = text.strip().replace("\n", "\n    ")
    module = compile(f"def made({', '.join(names)}):\n    {inside}\n    return front", __file__, "exec")
    return next(code for code in module.co_consts if isinstance(code, types.CodeType))


def _of_argument(name: str, value: Any, bound: Bound, read: str = "") -> list[str]:
    """What holds of arguments with the same quick key.  `read`: an expression for the value, to which the name is given."""
    kind = type(value)
    named = f"({name} := {read})" if read else name
    of_kind = f"{bound(type)}({named}) is {bound(kind)}"
    if kind is np.ndarray:
        return [of_kind, f"{name}.shape == {bound(value.shape)}", f"{name}.dtype is {bound(value.dtype)}"]
    if kind in NUMBERS or value is None or kind is str:
        return [of_kind]
    inside = _of_container(name, value, bound)
    if inside and len(inside) <= _PARTS:
        return [of_kind, *inside]
    return [f"{bound(shapes_of)}(({named},)) == {bound(shapes_of((value,)))}"]


def _of_container(name: str, value: Any, bound: Bound) -> list[str]:
    """What holds of the keys and parts of such a list, tuple or dict; nothing for anything else."""
    if type(value) is dict and all(type(key) is str for key in value):
        of_types = f"{bound(set)}({bound(map)}({bound(type)}, {name})) == {bound(set(map(type, value)))}"
        tests, keys = [f"[*{name}] == {bound([*value])}", of_types], [*value]
    elif type(value) in (list, tuple):
        tests, keys = [f"{bound(len)}({name}) == {len(value)}"], [*range(len(value))]
    else:
        return []
    parts = (_of_argument(f"{name}_{k}", value[key], bound, f"{name}[{key!r}]") for k, key in enumerate(keys))
    return [*tests, *(test for part in parts for test in part)]
