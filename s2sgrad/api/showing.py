"""Derivatives show themselves: in colour in a terminal, beside the function in a notebook or on a page of its own.

df.show(W, x, html="loss.html")      ->      the page; without `html`, the text
"""

from __future__ import annotations

import os
from typing import Any

from s2sgrad import runtime


def show(derivative: Any, /, *args: Any, html: str | os.PathLike[str] | None = None, **keywords: Any) -> None:
    """Show the gradient for arguments like these; without any, for those of the latest call.

    A terminal has the text, in colour; a notebook the function beside it.  With `html` a file is written: one page with the
    function, its gradient, its tangent and its second derivative.
    """
    runtime.hook("shown")(derivative, args if args or keywords else None, keywords, html)


def framed(derivative: Any) -> str | None:
    """What a notebook shows of a derivative that is the value of a cell."""
    return runtime.hook("framed")(derivative)
