"""Saves a generated text as a module: `df.save("loss_grad.py")`.

    import numpy as np                          from libraries,
    from model import SCALE, helper             from the user's module,
    w = 2.0                                     and what the function closed over
    ...

With `standalone` our helpers are included, so that the module runs without s2sgrad.
"""

from __future__ import annotations

import ast
import contextlib
import os
import types
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from s2sgrad.api import whole_text
from s2sgrad.api.saved_module import Module
from s2sgrad.api.saved_source import Source
from s2sgrad.api.whole import Whole
from s2sgrad.errors import is_written, raised
from s2sgrad.runtime.asking import its
from s2sgrad.source import GENERATED

if TYPE_CHECKING:
    from s2sgrad.driver.recipe import Compiled


def module_text(compiled: Compiled, standalone: bool = False, lines: bool = False) -> str:
    """The text with all that it needs; raises ValueError for an object that a module cannot contain.

    With `lines` each statement ends in a comment with the user's line, which tracebacks show.
    """
    if isinstance(compiled, Whole):
        return _of_whole(compiled, standalone)
    text = _marked(compiled) if lines else compiled.text
    tree = ast.parse(text)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    aliases = dict(a for s in tree.body if (a := _alias(s, functions)) is not None)
    functions_by_name = _functions(compiled.function, functions, aliases)
    own = {*functions, *aliases}
    module, source = Module(standalone, own, text), Source(text, tree)
    for name, node in functions.items():
        module.settle(source, node, functions_by_name[name], own)
    for statement in tree.body:  # imports of the text are replaced by those of the module
        if not (_alias(statement, functions) is not None or isinstance(statement, ast.FunctionDef)):
            source.remove(statement)
    head, body = module.text(), source.text().lstrip("\n")
    return f'"""Written by s2sgrad from {_origin(compiled)}."""\n\n' + (f"{head}\n\n{body}" if head else f"\n{body}")


def _of_whole(whole: Whole, standalone: bool) -> str:
    """A module that imports the function and records it with s2sgrad; ValueError where none can."""
    gradient, name = whole.gradient, whole_text.name_of(whole.gradient.__name__)
    said = f"`{gradient.__name__}` is recorded as it runs, for it has no text ({whole_text.sentence(whole.error)})"
    if standalone:
        raise ValueError(f"{said}, and needs s2sgrad for that: save it without standalone=True")
    options, bound = (
        gradient._request.options,
        gradient._request.lead or gradient._request.keywords or gradient._seed is not None,
    )
    plain = not (options.forward or options.outputs is not None or options.listed or options.stops)
    if bound or not plain or gradient._request.inner is not None:
        way = "only `grad` and `value_and_grad` of a function can be saved then; make it where it is used"
        raise ValueError(f"{said}: {way}")
    module = Module(False, {name}, name)
    module.differentiate(name, gradient)
    reason = "\n".join(whole_text.reason(whole.error))
    return f'"""Made by s2sgrad, which it needs."""\n\n{reason}\n\n{module.text()}'


def _functions(
    entry: types.FunctionType, defined: dict[str, ast.FunctionDef], aliases: dict[str, str]
) -> dict[str, types.FunctionType]:
    """The functions of a text by name: those that the entry reaches, with functions of this text before those of earlier
    ones.  A nested function of the user has its name in the text."""
    out: dict[str, types.FunctionType] = {}
    waiting, seen = [entry], {id(entry)}
    for function in waiting:
        of_text = function.__code__.co_filename == entry.__code__.co_filename
        if function.__name__ in defined and (of_text or function.__name__ not in out):
            out[function.__name__] = function
        for name, function_value in _captured_functions(function):
            name = aliases.get(name, name)
            is_ours = function_value.__code__.co_filename.startswith(GENERATED)
            if not is_ours and name in defined:
                out.setdefault(name, function_value)
            if (is_ours or name in defined) and id(function_value) not in seen:
                seen.add(id(function_value))
                waiting.append(function_value)
    return out


def _captured_functions(function: types.FunctionType) -> Iterator[tuple[str, types.FunctionType]]:
    """The functions in the closure cells of a function, by name."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # an empty cell
            if isinstance(cell.cell_contents, types.FunctionType):
                yield name, cell.cell_contents


def _alias(statement: ast.stmt, functions: dict[str, ast.FunctionDef]) -> tuple[str, str] | None:
    """`("f", "g")` for `f = g`, another name of a function; None for any other statement."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Name):
        return None
    target, value = statement.targets[0], statement.value.id
    return (target.id, value) if isinstance(target, ast.Name) and value in functions else None


def _origin(compiled: Compiled) -> str:
    """The user's function that a text was made from, for the docstring."""
    while compiled.below is not None:
        compiled = compiled.below
    function = compiled.functions[0]
    place = raised.head(function)
    shown = f"`{its(function, '__qualname__', 'a function').rpartition('<locals>.')[2]}`"
    return shown if place is None else f"{shown}, line {place.line} of {os.path.basename(place.file)}"


def _marked(compiled: Compiled) -> str:
    """The text with the user's file and line at the end of each statement that comes from one."""
    lines = compiled.text.splitlines()
    for code in {f.__code__ for f in functions_of_file(compiled.function)}:
        for number, place in raised.places(code).items():
            if not is_written(place.file):
                lines[number - 1] += f"  # {os.path.basename(place.file)}:{place.line}"
    return "\n".join(lines) + "\n"


def functions_of_file(entry: types.FunctionType) -> list[types.FunctionType]:
    """The functions in the text of the entry."""
    out = [entry]
    for function in out:
        for _, function_value in _captured_functions(function):
            if function_value.__code__.co_filename == entry.__code__.co_filename and function_value not in out:
                out.append(function_value)
    return out


def save(path: Any, text: str) -> None:
    """Write a file atomically, replacing an existing one."""
    as_written, path = Path(path), Path(path).resolve()
    if as_written.exists() and not as_written.is_file() and not as_written.is_dir():  # `/dev/stdout`
        as_written.write_text(text, encoding="utf-8")
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r}: make it first")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder: name a file")
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError as error:
        raise type(error)(f"{str(path)!r} cannot be written: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)
