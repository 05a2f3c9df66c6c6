"""`@case(...)` registers a function of the corpus together with the point at which it is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from differences import copied, is_float


@dataclass(frozen=True)
class Case:
    """A function, the arguments to try, the differentiable ones among them, and whether second order exists there;
    "recorded": it does, but of an argument at least it has no text."""

    name: str
    function: Callable
    args: tuple
    argnums: tuple[int, ...]
    second: bool | str

    def fresh_args(self) -> tuple:
        """Copies of the arguments."""
        return copied(self.args)


REGISTERED: list[Case] = []


def case(*args, argnums: tuple[int, ...] | None = None, second: bool | str = True):
    """Register the decorated function at `args`; `argnums` None means all float arguments."""

    def register(function):
        numbers = tuple(i for i, arg in enumerate(args) if is_float(arg)) if argnums is None else argnums
        REGISTERED.append(Case(function.__name__, function, args, numbers, second))
        return function

    return register
