"""The entries of a tape: those of a run, over the values of Arrays.

y = np.multiply(x, w)     ->     (pull, the rule of the product, bound; kept x and w; kept y; the line)

A tape that follows `x` alone keeps `w` as a constant.  Another that records the sweep computes with the same two again.
"""

from __future__ import annotations

from typing import Any

from s2sgrad.primitives import spellings
from s2sgrad.recorded import operations
from s2sgrad.recorded.operations import Kept, Primitive, kept_plain, user_place
from s2sgrad.runtime.structure import rebuilt
from s2sgrad.tape.values import Operand


def entry(about: Primitive, args: list[Any], keywords: dict[str, Any], result: Any, followed: Any) -> tuple:
    """The entry of a call, whose arguments hold Arrays and constants; `followed`: the uids of what the tape follows."""
    operands = tuple([kept(a, followed) for a in args])
    named = {k: kept(v, followed) for k, v in keywords.items()} if keywords else keywords
    outcome = kept(result, None)
    call, operands, named = about.prepared(operands, named)
    fresh = type(outcome) is Kept and outcome.root is not None
    return operations.pull_fresh if fresh else operations.pull, call, operands, named, outcome, user_place()


def entry_of(record: Any, operands: list[Any], result: Any, followed: Any) -> tuple:
    """The entry of a call that `record.pull(sweep, operands, cotangent of the result)` takes back."""
    return _pull_record, record, tuple([kept(a, followed) for a in operands]), {}, kept(result, None), user_place()


def _pull_record(sweep: Any, place: int, entry: tuple) -> None:
    arrived, _ = operations.taken(sweep, entry[4])
    if arrived is not None:
        entry[1].pull(sweep, entry[2], arrived)


def kept(v: Any, followed: Any) -> Any:
    """An argument or a result for an entry: Arrays by their values, ndarrays copied, because they may be written later.
    `followed`: the uids of the Arrays whose cotangents are wanted, None for all."""
    if isinstance(v, Operand):
        mine = v.keep()  # type: ignore[attr-defined]
        return mine if followed is None or v.uid in followed else Kept(mine.value, mine.node, mine.root, False)
    if isinstance(v, (list, tuple, dict)):
        return rebuilt(v, lambda item: kept(item, followed))
    return kept_plain(v)


def meant(primitive: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    """The primitive that is meant: `max(xs)` and `max(a, b, c)` have other rules than `max(a, b)`."""
    try:
        if len(args) == 1 and not keywords:
            return spellings.OF_ONE.get(primitive, primitive)
        return spellings.OF_MANY.get(primitive, primitive) if len(args) > 2 and not keywords else primitive
    except TypeError:
        return primitive
