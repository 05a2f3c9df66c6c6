"""Functions of the compiler that generated code needs when it runs: they are registered here, for the run-time library
imports nothing of the compiler.

    provide(derivative=pair_for)      ->      hook("derivative")(f, primals, keywords)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_hooks: dict[str, Callable[..., Any]] = {}


def provide(**hooks: Callable[..., Any]) -> None:
    """Register functions of the compiler, such as `derivative`, which compiles pairs, or `way` and `found` for pickling."""
    _hooks.update(hooks)


def hook(name: str) -> Callable[..., Any]:
    """The function that is registered under this name; most are, by `load`, when the first is asked for."""
    if name not in _hooks:
        if "load" not in _hooks:
            raise RuntimeError("import s2sgrad before calling vjp, or a pullback that was pickled")
        _hooks["load"]()
    return _hooks[name]
