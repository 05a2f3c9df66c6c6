"""Tables that live as long as one compilation.

    answers = {}; forgotten_after(answers.clear)      ->      `answers` is empty before and after each compilation

A summary of a user's function refers to functions and objects, which a table would keep alive, and holds only while the
text and the globals stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable

_CLEARING: list[Callable[[], object]] = []


def forgotten_after(clear: Callable[[], object]) -> None:
    """Have a table cleared before and after each compilation, by this function."""
    _CLEARING.append(clear)


def forget() -> None:
    """Clear all these tables."""
    for clear in _CLEARING:
        clear()
