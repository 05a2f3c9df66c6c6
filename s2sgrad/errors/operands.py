"""What the values were that a statement of the user's failed on, in a note on the error: whose shapes, which keys.

ValueError: operands .. with shapes (3,) (4,)      ->      here `r` has shape (3,), `y` has shape (4,): ..
"""

from __future__ import annotations

import ast
import dis
import itertools
import linecache
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from s2sgrad.runtime.results import described

_RAISE = dis.opmap["RAISE_VARARGS"]
_HERE = "here "
_FEW = 6
_MISSING = object()


def noted(
    error: Exception, frame: types.TracebackType, outer: Iterable[types.FrameType], word: Callable[[str], str]
) -> None:
    """Add the note to an error that Python or a library raised in this frame.  `outer` are the frames around it, and `word`
    says what a name of the frame's text stands for: a name in backquotes, or nothing that can be shown.

    Nothing is evaluated that could run code of the user's.
    """
    code = frame.tb_frame.f_code
    if code.co_code[frame.tb_lasti] == _RAISE or any(n.startswith(_HERE) for n in getattr(error, "__notes__", ())):
        return
    if isinstance(error, NameError):
        said = _of_name(error, frame, outer)
    else:
        expression = _expression(frame)
        values = dict(_values(expression, frame.tb_frame, word)) or dict(_values(_line(frame), frame.tb_frame, word))
        said = _of_key(error, values) if isinstance(error, KeyError) else _of_values(error, expression, values)
    if said:
        error.add_note(_HERE + said)


def _of_name(error: NameError, frame: types.TracebackType, outer: Iterable[types.FrameType]) -> str:
    """For a name of which another is a misspelling, and for text that `exec` or `eval` runs, which sees a dictionary."""
    if error.name is None:
        return ""
    if linecache.getline(frame.tb_frame.f_code.co_filename, frame.tb_lineno):
        import difflib

        close = difflib.get_close_matches(error.name, [*frame.tb_frame.f_locals, *frame.tb_frame.f_globals], 1, 0.75)
        return f"`{close[0]}` is defined: did you mean it?" if close else ""
    owner = next((f.f_code.co_name for f in outer if f is not frame.tb_frame and error.name in f.f_locals), "")
    whose = f"`{error.name}` is a name of `{owner}`, and " if owner and owner != "<module>" else ""
    return f"{whose}text that `exec` or `eval` runs sees the names that it is given: give it {{{error.name!r}: ..}}"


def _of_key(error: KeyError, values: dict[str, Any]) -> str:
    key = error.args[0] if len(error.args) == 1 else None
    for path, v in values.items():
        if type(v) is dict and type(key) in (str, int, float) and key not in v:
            keys = [k for k in itertools.islice(v, 100) if type(k) in (str, int, float)]
            return f"`{path}` has {_listed([*map(repr, keys)], 'key')}: read {_close(key, keys)}, or pass {key!r} in it"
    return ""


def _of_values(error: Exception, expression: ast.AST, values: dict[str, Any]) -> str:
    if isinstance(error, AttributeError):
        return _of_attribute(error, values)
    if not isinstance(error, (ValueError, TypeError, IndexError, ArithmeticError)):
        return ""
    shapes = [f"`{path}` has shape {v.shape}" for path, v in values.items() if isinstance(v, np.ndarray) and v.ndim]
    if isinstance(error, (ValueError, ArithmeticError)):
        kinds = (int,) if shapes else (int, float)  # beside arrays, the lengths
        said = [*shapes, *(f"`{path}` is {v!r}" for path, v in values.items() if type(v) in kinds)]
        return ", ".join(said) + _way_of_shapes(str(error), len(shapes)) if said else ""
    others = {path: v for path, v in values.items() if not isinstance(v, np.ndarray)}
    said = [*shapes, *(f"`{path}` {_is(v, isinstance(error, IndexError))}" for path, v in others.items())]
    if isinstance(error, TypeError) and "Python scalars" in str(error):
        return f"{', '.join(shapes)}: it takes one number; functions of NumPy take arrays" if shapes else ""
    return ", ".join(said) + _way(error, expression, others) if others else ""


# What to do about what NumPy says of an array.
_OF_ARRAYS = {
    "not positive definite": "add a multiple of the unit matrix to it, or ask `np.linalg.eigvalsh` how far it is from that",
    "Singular matrix": "add a multiple of the unit matrix to it, or use `np.linalg.lstsq` or `np.linalg.pinv`",
    "did not converge": "see whether it holds a nan or an infinity, `np.isfinite(..).all()`",
    "must be square": "pass a square matrix",
    "read-only": "write into a copy",
}


def _way_of_shapes(said: str, count: int) -> str:
    if count > 1 and "broadcast" in said:
        return ": give them shapes that fit, whose axes, from the last, are equal or 1"
    return next((f": {way}" for words, way in _OF_ARRAYS.items() if words in said), "")


def _is(v: Any, indexed: bool) -> str:
    if indexed and type(v) is int:
        return f"is {v}"
    return f"has {len(v)} items" if indexed and type(v) in (list, tuple) else f"is {described(v)}"


def _way(error: Exception, expression: ast.AST, others: dict[str, Any]) -> str:
    if isinstance(error, IndexError):
        if any(isinstance(v, (float, np.floating)) for v in others.values()):
            return ": an index is an int"
        beyond = re.match(r"index -?\d+ is out of bounds for axis (\d+) with size ([1-9]\d*)", str(error))
        return f": the last index along axis {beyond[1]} is {int(beyond[2]) - 1}" if beyond else ""
    if isinstance(expression, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign)):
        kinds = {type(v).__name__ for v in others.values() if not isinstance(v, _PLAIN)}
        more = f", or give {min(kinds)} the operator" if kinds else ""
        return f": pass a number or an array{more}"
    return ""


_PLAIN = (float, int, complex, str, bytes, list, tuple, dict, set, np.generic, type(None))


def _of_attribute(error: AttributeError, values: dict[str, Any]) -> str:
    for path, v in values.items():
        if v is error.obj and isinstance(error.name, str):
            named = {**_held(v), **{n: m for k in type(v).__mro__[:-1] for n, m in vars(k).items()}}
            own = [n for n in named if not n.startswith("_")]
            way = f": read {_close(error.name, own)}, or set `{path}.{error.name}` before"
            return f"`{path}` has {_listed(own, 'attribute')}{way}" if own else ""
    missing = re.fullmatch(r"module '([\w.]+)' has no attribute '(\w+)'", str(error))  # as NumPy says, without `obj`
    if missing and missing[1] in sys.modules:
        import difflib

        close = difflib.get_close_matches(missing[2], vars(sys.modules[missing[1]]), 1, 0.75)
        return f"`{missing[1]}.{close[0]}` is defined: did you mean it?" if close else ""
    return ""


def _listed(names: list[str], what: str) -> str:
    more = ", .." if len(names) > _FEW else ""
    return f"the {what}{'s' if len(names) > 1 else ''} {', '.join(names[:_FEW])}{more}" if names else f"no {what}"


def _close(name: Any, names: list[Any]) -> str:
    """The name to read instead."""
    import difflib

    close = difflib.get_close_matches(name, [n for n in names if type(n) is str], 1) if type(name) is str else []
    return f"{close[0]!r}" if close else "one that it has"


def _held(v: Any) -> dict[str, Any]:
    try:
        held = object.__getattribute__(v, "__dict__")
    except AttributeError:
        return {}
    return held if type(held) is dict else {}


def _values(expression: ast.AST, frame: types.FrameType, word: Callable[[str], str]) -> Iterator[tuple[str, Any]]:
    """The values that an expression reads, by their paths in the user's words: names, their attributes and items.

    Objects whose methods it calls are no operands.
    """
    spaces = frame.f_locals, frame.f_globals
    called = {id(n) for call in ast.walk(expression) if isinstance(call, ast.Call) for n in ast.walk(call.func)}
    for node in ast.walk(expression):
        path, value = _reached(node, spaces, word)
        if path and not isinstance(value, (types.ModuleType, type)) and not callable(value):
            if id(node) not in called or isinstance(value, np.ndarray):
                yield path, value


def _expression(frame: types.TracebackType) -> ast.AST:
    """The expression or simple statement that raised, by its place in the text."""
    code = frame.tb_frame.f_code
    first, last, start, end = [*code.co_positions()][frame.tb_lasti // 2]
    if first is None or last is None or start is None or end is None:
        return ast.Pass()
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    text = b"".join(lines)
    for whole in (b"(" + text + b")", text):
        try:
            (found,) = ast.parse(whole).body
        except (SyntaxError, ValueError):
            continue
        return found.value if isinstance(found, ast.Expr) else found
    return ast.Pass()


def _line(frame: types.TracebackType) -> ast.AST:
    """The line that raised, where the place in it has no operand: names that a value is unpacked into."""
    line = linecache.getline(frame.tb_frame.f_code.co_filename, frame.tb_lineno).strip()
    try:
        return ast.Module(ast.parse(line).body, [])
    except (SyntaxError, ValueError):
        return ast.Pass()


def _reached(node: ast.AST, spaces: tuple[Any, ...], word: Callable[[str], str]) -> tuple[str, Any]:
    """The path and the value of a name, an attribute or an item; an empty path for anything else."""
    if isinstance(node, ast.Name):
        found = next((s[node.id] for s in spaces if node.id in s), _MISSING)
        return (word(node.id) if found is not _MISSING else ""), found
    if isinstance(node, ast.Attribute):
        path, value = _reached(node.value, spaces, word)
        held = {} if isinstance(value, (types.ModuleType, type)) else _held(value)
        found = held.get(node.attr, _MISSING) if path else _MISSING
        return (f"{path}.{node.attr}" if found is not _MISSING else ""), found
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        path, value = _reached(node.value, spaces, word)
        key = node.slice.value
        if path and type(value) in (dict, list, tuple):
            try:
                return f"{path}[{key!r}]", value[key]
            except (LookupError, TypeError):
                pass
    return "", _MISSING
