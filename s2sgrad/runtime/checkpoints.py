"""Trade memory for time: recompute calls in the reverse sweep, and keep only a few states of a loop.

    y = checkpoint(f)(x)                              only the arguments of the call are recorded
    for k in checkpointed(range(n), slots=30): ..     at most 30 states are kept; each trip is rerun from the nearest

The states are placed by the binomial schedule (Griewank and Walther, "Algorithm 799: revolve", ACM Transactions on
Mathematical Software 26, 2000).  With `slots` states, and each trip rerun at most `r` times, a loop of
`binomial(slots + r, slots)` steps can be reversed, and no schedule reruns fewer trips.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from s2sgrad.runtime.asking import has
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.progress import Line
from s2sgrad.runtime.structure import rebuilt

F = TypeVar("F", bound=Callable[..., Any])
Items = TypeVar("Items", bound=Iterable[Any])


def checkpoint(f: F) -> F:
    """The same function, but a gradient records nothing inside its calls: the reverse sweep runs them again.

    Only the arguments of a call are kept, and what `f` computes is computed twice.  `f` must do the same both times: a
    function that draws random numbers, prints, or changes its arguments or anything outside is refused.  It may be a
    function, a lambda, a closure or a method, and `checkpoint` may be used as a decorator.  Outside of reverse mode, that is
    without a gradient, in forward mode and on a tape (see `recompute_grad`), the result behaves as `f`.

    Raises TypeError for an argument that is not a function, and for a generator function.

    >>> import numpy as np
    >>> from s2sgrad import checkpoint, grad
    >>> def layer(w, h):
    ...     return np.tanh(w @ np.sin(h))
    >>> def loss(w, h):
    ...     for _ in range(3):
    ...         h = checkpoint(layer)(w, h)
    ...     return np.sum(h)
    >>> df = grad(loss)
    >>> df(np.eye(2), np.ones(2)).shape
    (2, 2)
    """
    if isinstance(f, (staticmethod, classmethod)):
        return type(f)(checkpoint(f.__func__))
    if isinstance(f, types.MethodType):
        return types.MethodType(checkpoint(f.__func__), f.__self__)  # type: ignore[return-value]
    if isinstance(f, functools.partial):
        return functools.partial(checkpoint(f.func), *f.args, **f.keywords)  # type: ignore[return-value]
    if not callable(f):
        raise TypeError(f"checkpoint needs a function, not {f!r}")
    if not isinstance(f, types.FunctionType) or "made" in vars(f):  # nothing to record, or a derivative
        call = next((vars(cls)["__call__"] for cls in type(f).__mro__ if "__call__" in vars(cls)), None)
        if not isinstance(call, types.FunctionType) or has(f, "compiled_for"):
            return f
        return types.MethodType(checkpoint(call), f)  # type: ignore[return-value]
    if f.__code__.co_flags & _SUSPENDS:
        raise TypeError(f"checkpoint needs a function that returns its value; `{f.__name__}` is a generator or a coroutine")
    same = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    same.__kwdefaults__ = f.__kwdefaults__
    functools.update_wrapper(same, f, updated=())
    vars(same).pop("__wrapped__")
    vars(same).update(vars(f), checkpointed=f)
    return same  # type: ignore[return-value]


_SUSPENDS = 0x20 | 0x80 | 0x200  # flags of generators and coroutines in `co_flags`


def behind_checkpoint(f: Any) -> types.FunctionType | None:
    """The function that `checkpoint` wrapped in this one; None for any other function."""
    found = vars(f).get("checkpointed") if isinstance(f, types.FunctionType) else None
    same = isinstance(found, types.FunctionType) and found.__code__ is f.__code__  # `functools.wraps` copies it too
    return found if same else None


def checkpointed(iterable: Items, *, slots: int) -> Items:
    """The iterable of a loop of which a gradient keeps at most `slots` states instead of records of every trip.

    A state is the loop-carried variables between two trips.  The reverse sweep goes back to the last kept state, reruns the
    trips from there, and differentiates one trip at a time; only that trip has records.  With `slots` states and fewer than
    `binomial(slots + r, slots)` trips each trip is rerun at most `r` times: 30 states cover 5,455 trips with three reruns
    each.

    The body must do the same each time: a loop that draws random numbers, prints, or changes anything but its own variables
    is refused.  Without a gradient, and in forward mode, this returns the iterable.

    Raises TypeError if `slots` is not an integer, ValueError if it is less than 1.

    >>> from s2sgrad import checkpointed, grad
    >>> def logistic(x, n):
    ...     for _ in checkpointed(range(n), slots=3):
    ...         x = 3.1 * x * (1.0 - x)
    ...     return x
    >>> df = grad(logistic)
    >>> df(0.3, 20) == grad(lambda x: logistic(x, 20))(0.3)
    True
    """
    require_slots(slots)
    return iterable


def require_slots(slots: Any) -> None:
    """Raise TypeError or ValueError unless this is a valid number of states: an integer of at least 1."""
    if isinstance(slots, (bool, np.bool_)) or not isinstance(slots, (int, np.integer)):
        raise TypeError(f"checkpointed(.., slots=..) takes a whole number, not {slots!r}")
    if slots < 1:
        raise ValueError(f"checkpointed(.., slots={slots}) needs at least 1: a loop is run again from a state that was kept")


class Checkpoints:
    """At most `slots` states of a loop of `trips` trips.  `keep` is called before every trip and keeps the state where the
    schedule wants one; `latest` gives back the last state at or before a trip.  Kept states share no memory with others.

    >>> states, x = Checkpoints(5, slots=2), 1.0
    >>> for k in range(5):
    ...     states.keep(k, x)
    ...     x = 2.0 * x
    >>> for k in reversed(range(5)):
    ...     first, x = states.latest(k)
    ...     for j in range(first, k):
    ...         states.keep(j, x)
    ...         x = 2.0 * x
    ...     print((first, k, x))
    (3, 4, 16.0)
    (3, 3, 8.0)
    (0, 2, 4.0)
    (1, 1, 2.0)
    (0, 0, 1.0)
    """

    def __init__(self, trips: int, slots: int) -> None:
        require_slots(slots)
        self.slots = slots
        self.held: list[tuple[int, tuple]] = []
        self.line: Line | None = None  # of the reverse sweep
        self.end = trips + 1  # the code behind the loop counts as one more step
        self.next = 0

    def keep(self, trip: int, *state: Any) -> None:
        """Keep the state before this trip if the schedule wants one there."""
        if trip == self.next:
            self.held.append((trip, own(state)))
            self._place()

    def latest(self, trip: int) -> tuple:
        """The last trip at or before this one whose state was kept, and that state; later states are dropped."""
        while self.held[-1][0] > trip:
            self.held.pop()
        first, state = self.held[-1]
        self.line = self.line or Line("reverse sweep", trip + 1)
        self.line.step()
        if not trip:
            self.line.close()
        self.end = trip + 1
        self._place()
        return (first, *own(state))

    def copied(self) -> Checkpoints:
        """A copy with the same states, for another reverse sweep."""
        same = Checkpoints(0, self.slots)
        same.held, same.end, same.next = list(self.held), self.end, self.next
        return same

    def _place(self) -> None:
        """Choose where the next state is kept, between the last one and the end."""
        last, free = self.held[-1][0], self.slots - len(self.held)
        self.next = last + ahead(self.end - last, free + 1) if free else -1


def ahead(steps: int, slots: int) -> int:
    """The distance from the first of `slots` states to the second with which reversing `steps` steps reruns the fewest of
    them; the largest of the optimal distances.

    >>> [ahead(steps, 2) for steps in range(2, 12)]
    [1, 1, 2, 3, 3, 4, 5, 6, 6, 7]
    """
    again = 1
    while math.comb(slots + again, slots) < steps:
        again += 1
    return max(1, min(math.comb(slots + again - 1, slots), steps - math.comb(slots - 2 + again, slots - 1)))


def own(state: Any) -> Any:
    """A deep copy of a state; Refusal (TypeError) for a value that cannot be copied."""
    if isinstance(state, (list, tuple, dict)):
        return rebuilt(state, own)
    if isinstance(state, np.ndarray):
        return state.copy()
    if state is None or isinstance(state, _UNCHANGING):
        return state
    raise Refusal(None, f"a {type(state).__name__}, which a loop over `checkpointed` hands from trip to trip, cannot be "
                        "kept: numbers, arrays, and lists, tuples and dicts of them can")  # fmt: skip


_UNCHANGING = (int, float, complex, str, bytes, np.generic, range)


def keep(states: Checkpoints, trip: int, *state: Any) -> None:
    """`states.keep(trip, *state)`."""
    states.keep(trip, *state)


def latest(states: Checkpoints, trip: int) -> tuple:
    """`states.latest(trip)`."""
    return states.latest(trip)
