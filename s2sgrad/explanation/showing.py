"""`df.show()`: a page, a frame in a notebook, or text in a terminal, with colours unless it goes into a pipe.

df.show(x)      ->      def loss_grad(x, *, seed=1.0): ..
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from s2sgrad.api.saving import save
from s2sgrad.errors import S2SGradError
from s2sgrad.explanation.page import frame, page


def show(derivative: Any, args: tuple | None, keywords: dict[str, Any], html: str | os.PathLike[str] | None) -> None:
    """Show a derivative where the user looks."""
    display = _notebook()
    if html is not None:
        save(html, page(derivative, args, keywords))
    elif display is not None:
        display({"text/html": frame(derivative, args, keywords), "text/plain": repr(derivative)}, raw=True)
    else:
        print(in_colour(derivative.source if args is None else derivative.source_for(*args, **keywords)).strip())


def framed(derivative: Any) -> str | None:
    """What a notebook shows of a derivative that is the value of a cell; None, its `repr`, where it has no source."""
    try:
        return frame(derivative, alone=True)
    except (S2SGradError, TypeError, ValueError):
        return None


def in_colour(text: str) -> str:
    """The text with the colours of rich, if it goes to a terminal that has any; plain where rich is not installed."""
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb":
        return text
    try:
        from rich.console import Console
        from rich.syntax import Syntax
    except ImportError:
        return text
    console = Console()
    with console.capture() as coloured:
        console.print(Syntax("", "python", theme="ansi_dark").highlight(text), soft_wrap=True, end="")
    shown: str = coloured.get()
    return shown


def _notebook() -> Callable[..., None] | None:
    """What displays in a notebook; None anywhere else."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return sys.modules["IPython"].display.display if hasattr(shell, "kernel") else None
