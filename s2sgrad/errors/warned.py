"""Warnings of generated texts, as the user sees them: at the user's statement.

    <s2sgrad loss_grad 93e7>:6: RuntimeWarning   ->   model.py:12: RuntimeWarning: .. , `y = np.log(x)`

What is recorded, filtered or counted is not changed: only the text that is printed.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable

from s2sgrad.errors import GENERATED
from s2sgrad.errors.raised import statements_at


def _formatted(
    before: Callable[..., str], message: Warning | str, category: type[Warning], filename: str, lineno: int,
    line: str | None = None,
) -> str:  # fmt: skip
    """The text of a warning; of one in a generated text, at the statement of the user's that it was made from."""
    if filename.startswith(GENERATED):
        found = statements_at(filename, lineno)
        if len(found) == 1:  # one text may come from several functions
            (place,) = found
            return before(message, category, place.file, place.line, place.text)
    return before(message, category, filename, lineno, line)


def install() -> None:
    """Print the warnings of generated texts so, once."""
    before = warnings.formatwarning
    if getattr(before, "func", None) is not _formatted:
        warnings.formatwarning = functools.partial(_formatted, before)  # the way that `warnings` offers
