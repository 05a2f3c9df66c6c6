"""Traits: what a function of ours says of itself to those who call it, or differentiate it in turn.

>>> def f(x):
...     return x
>>> traits(f).takes_record
False
>>> declare(f, takes_record=True)
>>> traits(f).takes_record
True
"""

from __future__ import annotations

from typing import Any, NamedTuple

from s2sgrad.runtime.asking import its


class Slots(NamedTuple):
    """The slots of a record with lists of unshared items (`stacks`), and pairs of slots that may share memory (`shared`)."""

    stacks: frozenset[int] = frozenset()
    shared: frozenset[tuple[int, int]] = frozenset()


class Traits(NamedTuple):
    """What is known of a function that we made; the defaults hold for any other.

    - `same_signature`: it takes what the function takes that it was made from. The backward function of a pair does not.
    - `takes_record`: it is such a backward function, or a derivative of one.
    - `slots`: what is known of the slots of this record.
    - `makes_record`: it returns its value and the record for its backward function.
    - `restores`: it writes arrays of its record.
    - `flat`: its result must be a float to be differentiated, for no argument reaches it.
    - `copies`: the arguments that it copies, which the function that it was made from writes.
    - `gradient_in`: the variables whose gradients it returns.
    - `own_rules`: it may follow a rule of the user's, which need not be the derivative.
    - `shadowed`: it has names with shadows.
    - `reaches`: the names of our helpers that it reaches through its closure.
    - `half_of`: it is half of the pair of this function with its own gradient.
    - `transposes`: it is half of the pair of this pullback.
    - `stands_for`: it calls this function with its own gradient.
    - `origin`: what it was made from, and how.
    """

    same_signature: bool = True
    takes_record: bool = False
    slots: Slots = Slots()
    makes_record: bool = False
    restores: bool = False
    flat: bool = False
    copies: tuple[str, ...] = ()
    gradient_in: tuple[str, ...] = ()
    own_rules: bool = False
    shadowed: bool = False
    reaches: tuple[str, ...] = ()
    half_of: Any = None
    transposes: Any = None
    stands_for: Any = None
    origin: tuple | None = None


PLAIN = Traits()


def traits(function: Any) -> Traits:
    """The traits of a function, or of one that is being written."""
    found = its(function, "traits", PLAIN)
    return found if isinstance(found, Traits) else PLAIN  # an attribute of the user's


def declare(function: Any, **facts: Any) -> None:
    """Let a function say more of itself."""
    function.traits = traits(function)._replace(**facts)
