"""Derivatives show themselves: in colour in a terminal, beside the function in a notebook or on a page of its own.

df.show(W, x, html="loss.html")      ->      the page; without `html`, the text
"""

from __future__ import annotations

import inspect
import linecache
import os
import types
from typing import Any

from s2sgrad import runtime
from s2sgrad.errors import foreign
from s2sgrad.runtime.asking import its


def show(derivative: Any, /, *args: Any, html: str | os.PathLike[str] | None = None, **keywords: Any) -> None:
    """Show the gradient for arguments like these; without any, for those of the latest call.

    A terminal has the text, in colour where rich is installed, a notebook has it beside the function.  With `html` a file is
    written: one page with the function, its gradient, its tangent and its second derivative.
    """
    runtime.hook("shown")(derivative, args if args or keywords else None, keywords, html)


# What users ask a derivative for; its other methods are for the compiler.
_PUBLIC = {"compiled_source", "explain_compile", "prepare", "primal", "save", "show", "source", "source_for"}


def names(derivative: Any) -> list[str]:
    """What `dir` lists of a derivative."""
    return sorted(n for n in object.__dir__(derivative) if n in _PUBLIC or (n[:2] == n[-2:] == "__"))


def unknown(derivative: Any, name: str) -> Any:
    """Raise the error for an attribute that a derivative does not have, with what it is here."""
    try:
        return object.__getattribute__(derivative, name)
    except AttributeError as error:
        way = "" if name.startswith("_") else foreign.member_instead_of(name, names(derivative))
        raise AttributeError(f"{error}{way}", name=name, obj=derivative) from error.__cause__


def described(what: str, function: Any) -> str:
    """The docstring of a derivative of a function: what it is, and what the function says of itself.

    >>> def energy(x):
    ...     '''Of a spring.'''
    >>> print(described("Gradient of `energy`", energy))
    Gradient of `energy`.  The generated function is in `.source`.
    <BLANKLINE>
    Of a spring.
    """
    own = function.__doc__ if isinstance(function, types.FunctionType | types.MethodType) else None
    return f"{what}.  The generated function is in `.source`." + (f"\n\n{inspect.cleandoc(own)}" if own else "")


class Rows:
    """The text of a pullback, which computes the rows of a matrix, without what it has saved."""

    def __init__(self, back: Any) -> None:
        self.back = back

    @property
    def source(self) -> str:
        """The module of a generated pullback, the text of a rule, or a comment where the function is recorded."""
        code = its(self.back, "__code__", None)
        if code is None:
            return f"# `{its(self.back, '__name__', 'f')}` is recorded as it runs, and its record is swept for each row\n"
        generated = code.co_filename.startswith("<s2sgrad")
        return "".join(linecache.getlines(code.co_filename)) if generated else inspect.getsource(self.back)


def framed(derivative: Any) -> str | None:
    """What a notebook shows of a derivative that is the value of a cell."""
    shown: str | None = runtime.hook("framed")(derivative)
    return shown
