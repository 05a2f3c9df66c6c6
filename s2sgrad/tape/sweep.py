"""The reverse sweep of a tape: that of a run, where each Array is a memory of its own and is never written.

entries [y = x * x, z = y * y], seed z_bar = 1     ->     y_bar = 2 y z_bar; x_bar = 2 x y_bar

Where a tape is recording, the sweep computes with Arrays, and is itself recorded like any other operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.errors import S2SGradError
from s2sgrad.recorded.careful import Exact, Marks, is_basic
from s2sgrad.recorded.operations import Kept, Prepared
from s2sgrad.recorded.places import Where
from s2sgrad.recorded.runs import Root
from s2sgrad.recorded.sweep import Forms, Sweep
from s2sgrad.recorded.values import is_complex
from s2sgrad.rules.selections import picked
from s2sgrad.runtime.structure import leaves
from s2sgrad.tape.array import Array, apply
from s2sgrad.tape.dispatch import on_arrays
from s2sgrad.tape.recording import STATE
from s2sgrad.tape.values import unwrapped

_LARGE = 1 << 15  # items


class _Nodes(dict):
    """Cotangents of numbers, by uid."""

    def __missing__(self, uid: int) -> None:
        return None


class ArrayForms(Forms):
    """Those of a tape: where the sweep is recorded, rules are called with Arrays."""

    __slots__ = ()

    def value(self, operand: Any) -> Any:
        if self.nested and type(operand) is Kept:
            return Array.again(operand)
        return super().value(operand)

    def formula(self, pullback: Any) -> Any:
        return on_arrays(pullback) if self.nested else pullback

    def fitted(self, bar: Any, x: Any, elementwise: bool) -> Any:
        if type(bar) is not Array:
            return super().fitted(bar, x, elementwise)
        if bar._value.shape == np.shape(x):
            return bar
        if not elementwise:
            return apply(np.broadcast_to, (bar,), {"shape": np.shape(x)})
        return apply(runtime.unbroadcast, (bar, x))

    def zeros(self, value: Any) -> Any:
        return runtime.zeros(value)


class OnTape(Sweep):
    """One pass backwards over the entries of a tape: it takes them away, so that each is freed once it was used."""

    __slots__ = ()

    def __init__(self, marks: Any = None) -> None:
        super().__init__(0, marks, ArrayForms(bool(STATE.tapes)))
        self.nodes = _Nodes()

    def over(self, entries: list[Any], start: int, stop: int) -> None:
        """Pull the entries, the latest first, and drop them; an error gets the place of the operation."""
        where = Where(None, 0)
        try:
            for place in range(stop - 1, start - 1, -1):
                entry = entries.pop()
                where = entry[-1]
                entry[0](self, place, entry)
        except S2SGradError as error:
            if error.place is not None or where.place() is None:
                raise
            raise type(error)(error.message, where.place()) from None
        except Exception as error:
            if (place_ := where.place()) is not None:
                error.add_note(f"in the gradient of what was computed here:\n{place_.shown()}")
            raise

    def arrived(self, kept: Kept) -> Any:
        """The cotangent of a value; None if there is none."""
        return self.nodes[kept.node] if kept.root is None else self.whole.get(kept.root)

    def stop(self, kept: Kept) -> None:
        """Let nothing flow through a value."""
        self.nodes.pop(kept.node, None)
        self.whole.pop(kept.root, None)  # type: ignore[arg-type]

    def put(self, kept: Kept, bar: Any) -> None:
        if is_complex(unwrapped(bar)) and not is_complex(kept.value):
            bar = apply(np.real, (bar,))
        super().put(kept, bar)

    def flat(self, root: Root) -> Any:
        if root not in self.whole:
            if self.marks is not None:
                self.marks.begin(root)
            self.whole[root] = np.zeros(root.owner.shape, root.owner.dtype)
        return self.whole[root]

    def view(self, kept: Kept) -> Any:
        return self.flat(kept.root)  # type: ignore[arg-type]

    def _give_array(self, root: Root, where: np.ndarray, kept: Kept, bar: Any) -> None:
        self._join(root, bar)

    def _join(self, root: Root, bar: Any, alone: bool = False) -> None:
        self.whole[root] = self.whole[root] + bar if root in self.whole else bar


class ArrayMarks(Marks):
    """Where the cotangents of a tape count.  Where the sweep is recorded, what counts nowhere is handed on as a zero, for it
    is connected.

    `nowhere`: the uids of such numbers."""

    __slots__ = ("nowhere",)

    def __init__(self) -> None:
        super().__init__()
        self.nowhere: set[int] = set()

    def take(self, sweep: Sweep, kept: Kept) -> tuple[Any, Any]:
        if not sweep.nested:
            return super().take(sweep, kept)
        if kept.root is None:
            return sweep.nodes.pop(kept.node, None), np.False_ if kept.node in self.nowhere else None
        marks = self.of.pop(kept.root, None)
        mask = None if marks is None or marks.all() else marks.reshape(np.shape(kept.value))
        return sweep.whole.pop(kept.root, None), mask

    def give(self, sweep: Sweep, kept: Kept, bar: Any, mask: Any) -> None:
        if not sweep.nested or mask is None or type(mask) is Exact or np.any(mask):
            self.nowhere.discard(kept.node)
            return super().give(sweep, kept, bar, mask)
        if kept.root is not None:
            sweep.flat(kept.root)
        elif sweep.nodes[kept.node] is None:
            self.nowhere.add(kept.node)
        return sweep.put(kept, apply(np.where, (False, bar, 0.0)))

    def branch(self, call: Any, k: int, args: tuple, mask: Any) -> Any:
        nowhere = mask is not None and not np.any(mask) and not isinstance(args[2][k], (list, tuple, dict))
        return mask if nowhere else super().branch(call, k, unwrapped(args), mask)


def may_mask(entry: tuple) -> bool:
    """Whether a call may leave operands out, element by element."""
    call = entry[1]
    if type(call) is not Prepared or call.primitive is not picked:
        return type(call) is Prepared and call.branches
    return np.size(entry[4].value) != np.size(entry[2][0].value) or not is_basic(entry[3]["index"])


def is_large(entry: tuple) -> bool:
    """Whether a result takes so much memory that a sweep had better free it on its way than be begun again."""
    return type(entry[4]) is Kept and np.size(entry[4].value) > _LARGE


def connected(entries: list[Any], uids: set[int], constant: set[int]) -> set[int]:
    """The uids of values that these were computed from, and theirs."""
    uids = set(uids)
    for entry in reversed(entries):
        if any(uid in uids and uid not in constant for uid in _uids(entry[4], True)):
            uids.update(_uids([*entry[2], *entry[3].values()], False))
    return uids


def _uids(value: Any, made: bool) -> list[int]:
    return [k.node for k in leaves(value) if type(k) is Kept and (made or k.followed)]
