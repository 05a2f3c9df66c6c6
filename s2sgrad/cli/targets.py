"""From words on the command line to a function and its arguments."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from s2sgrad.api import Gradient, grad, value_and_grad
from s2sgrad.api.forward import Along, Jvp
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.signatures import signature


class Mistake(Exception):
    """A mistake in the command line; its message is shown without traceback."""


def function_named(target: str) -> tuple[Any, dict[str, Any]]:
    """The function that `path.py:function` or `package.module:function` names, and the namespace of its module."""
    place, colon, path = target.rpartition(":")
    if not colon or not place or not path:
        raise Mistake(f"{target!r} does not name a function: write path.py:function or package.module:function")
    module = _module(place)
    found: Any = module
    for part in path.split("."):
        if not hasattr(found, part):
            raise Mistake(f"{place} has no {path!r}{_suggestion(vars(module))}")
        found = getattr(found, part)
    if not callable(found):
        raise Mistake(f"{path!r} in {place} is no function but {type(found).__name__}")
    return found, vars(module)


def _module(place: str) -> Any:
    is_path = place.endswith(".py") or os.sep in place
    if not place.endswith(".py") and Path(place).is_file():
        raise Mistake(f"{place} is no Python file: write path.py:function")
    if is_path and not Path(place).is_file():
        raise Mistake(f"there is no file {place!r}")
    folders = [str(Path(place).resolve().parent) if is_path else os.getcwd()]
    packaged = _in_package(Path(place).resolve()) if is_path else None
    if packaged is not None:
        folders.append(packaged[0])
    sys.path[:0] = folders
    try:
        if packaged is not None or not is_path:
            return importlib.import_module(place if packaged is None else packaged[1])
        return _loaded(place)
    except (Mistake, S2SGradError):
        raise
    except ModuleNotFoundError as error:
        if not is_path and error.name and (place == error.name or place.startswith(error.name + ".")):
            raise Mistake(f"there is no module {place!r} here or on the path; of a file, write path.py:function") from None
        raise Mistake(f"{place} cannot be imported: {error}") from None
    except (Exception, SystemExit) as error:
        raise Mistake(f"{place} cannot be imported: {type(error).__name__}: {error}") from None
    finally:
        del sys.path[: len(folders)]


def _loaded(place: str) -> Any:
    """The module of a single file."""
    name = Path(place).stem
    if name in sys.modules:  # do not replace an imported module of this name
        name = f"{name}_shown"
    spec = importlib.util.spec_from_file_location(name, place)
    if spec is None or spec.loader is None:
        raise Mistake(f"{place} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _in_package(file: Path) -> tuple[str, str] | None:
    """The folder that a file of a package is imported from, and its module name; None for a file outside packages, or if
    another module of this name is imported already."""
    parts, folder = [file.stem], file.parent
    while (folder / "__init__.py").is_file():
        parts, folder = [folder.name, *parts], folder.parent
    name = ".".join(parts)
    module_file = getattr(sys.modules.get(name), "__file__", None)
    return None if len(parts) == 1 or (module_file is not None and Path(module_file) != file) else (str(folder), name)


def _suggestion(space: dict[str, Any]) -> str:
    here = [n for n, v in space.items() if callable(v) and not n.startswith("_") and _is_own(v, space)]
    return f"; it has {', '.join(here[:8])}{', ..' if len(here) > 8 else ''}" if here else ""


def _is_own(value: Any, space: dict[str, Any]) -> bool:
    return isinstance(value, Gradient) or getattr(value, "__module__", None) == space.get("__name__")


@contextlib.contextmanager
def asking() -> Iterator[None]:
    """Report a TypeError as a mistake in the command; refusals are shown unchanged."""
    try:
        yield
    except S2SGradError:
        raise
    except TypeError as error:
        raise Mistake(str(error)) from None


def evaluated(expressions: str, space: dict[str, Any]) -> tuple:
    """The arguments in `--args`: `"np.ones(3), 2.0"`, evaluated with the names of the function's module.

    >>> evaluated("n * 1.0, [1.0]", {"n": 3})
    (3.0, [1.0])
    """
    try:
        return tuple(eval(f"({expressions.strip().rstrip(',')},)", {"np": np, **space}))
    except (Exception, SystemExit) as error:
        raise Mistake(f"--args {expressions!r} cannot be evaluated: {type(error).__name__}: {error}") from None


def parameters_named(wrt: str | None) -> tuple[str, ...] | None:
    """The names in `--wrt x,y`.

    >>> parameters_named("x, y")
    ('x', 'y')
    """
    names = None if wrt is None else tuple(n.strip() for n in wrt.split(",") if n.strip())
    if names == ():
        raise Mistake("--wrt names no parameter: write --wrt x or --wrt x,y")
    return names


def primal_of(target: Any) -> Callable[..., Any]:
    """The user's function, also behind `@grad`."""
    while isinstance(target, Gradient):
        target = target.primal
    function: Callable[..., Any] = target
    return function


def derivative_of(target: Any, options: argparse.Namespace) -> Gradient | Along:
    """The derivative that the options ask for."""
    names = parameters_named(options.wrt)
    as_it_is = isinstance(target, Gradient) and names is None and not (options.value or options.forward)
    function = primal_of(target)
    parameters = list(signature(function).parameters)
    for name in names or ():
        if name not in parameters:
            raise Mistake(f"{options.target} has no parameter {name!r}; it has {', '.join(parameters)}")
    argnums: Any = 0 if names is None else names[0] if len(names) == 1 else names
    derivative: Any = target if as_it_is else function
    count = options.order - options.forward
    for k in range(1 if as_it_is else 0, count):
        with_value = options.value and k == count - 1
        derivative = (value_and_grad if with_value else grad)(derivative, derivative._request.argnums if k else argnums)
    if options.forward:
        return Jvp(derivative).along(tuple(map(parameters.index, names or parameters[:1])))
    gradient: Gradient = derivative
    return gradient
