"""The programs of the corpus written another way: the same gradient, or for detours a refusal (`metamorphic.py`)."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import sys

import kernels
import numpy as np
import pytest
from corpus import ALL, CASES
from corpus.case import REGISTERED
from differences import copied, leaves
from metamorphic import (
    called_as_methods,
    called_by_helpers,
    called_from_lists,
    loaded,
    renamed,
    through_identity,
    through_unknown_axes,
)

from s2sgrad import S2SGradError, grad


class Entry:
    """A program of the corpus or a kernel: a function, how to make its arguments, and what `grad` is told."""

    def __init__(self, found) -> None:
        self.found, self.name, self.function = found, found.name, found.function
        self.args = found.fresh_args if hasattr(found, "fresh_args") else found.args
        self.options = {"argnums": found.argnums} if hasattr(found, "fresh_args") else found.options
        self.again = getattr(found, "second", False) and len(found.argnums) > 0

    @property
    def home(self) -> str:
        return self.function.__module__


ENTRIES = [Entry(found) for found in (*CASES, *kernels.KERNELS)]
HOMES = sorted({entry.home for entry in ENTRIES})
every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)


@functools.cache
def entries_of(home: str, transformer) -> dict[str, Entry]:
    """The programs of a module after a transformation, by their names before it."""
    text = inspect.getsource(sys.modules[home])
    package, _, topic = home.rpartition(".")
    cases, found = len(REGISTERED), len(kernels.KERNELS)
    module = contextlib.ExitStack()
    module.enter_context(loaded(transformer(text), f"{topic}_{transformer.__name__}", package))
    made = [*map(Entry, REGISTERED[cases:]), *map(Entry, kernels.KERNELS[found:])]
    del REGISTERED[cases:], kernels.KERNELS[found:]
    for entry in made:
        entry.module = module  # it stays as long as its programs do
    before = [entry.name for entry in map(Entry, (*ALL, *kernels.KERNELS)) if entry.home == home]
    return dict(zip(before, made, strict=True))


def outcome(entry: Entry, order: int = 1):
    """The gradient at the program's point, or the class of the error that is raised for it."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            if order == 1:
                return grad(entry.function, **entry.options)(*entry.args())
            (number, *_) = entry.options["argnums"]
            return grad(grad(entry.function, number), number)(*entry.args())
        except Exception as error:
            return error


def same(left, right) -> None:
    """Equal in structure, and to the last digits."""
    left, right = list(leaves(left)), list(leaves(right))
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)


def means_the_same(one: Entry, other: Entry) -> None:
    """Whether the program itself is what it was."""
    with contextlib.redirect_stdout(io.StringIO()):
        same(other.function(*copied(other.args())), one.function(*copied(one.args())))


# --- other names -----------------------------------------------------------------------------------------------------


def outcome_is_kept(entry: Entry, order: int) -> None:
    other = entries_of(entry.home, renamed)[entry.name]
    means_the_same(entry, other)
    expected, found = outcome(entry, order), outcome(other, order)
    if isinstance(found, Exception) and type(found) is not type(expected):
        raise found
    assert type(found) is type(expected), f"{expected!r} without the hostile names"
    if not isinstance(found, Exception):
        same(found, expected)


@pytest.mark.sampled(one_in=500)
@every_entry
def test_other_names_change_no_gradient(entry):
    outcome_is_kept(entry, 1)


@pytest.mark.dear
@pytest.mark.sampled(one_in=400)
@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.again], ids=lambda entry: entry.name)
def test_other_names_change_no_second_derivative(entry):
    outcome_is_kept(entry, 2)


# --- detours ---------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(one_in=1000)
@pytest.mark.parametrize(
    "transformer", [through_identity, called_from_lists, called_by_helpers, called_as_methods], ids=lambda t: t.__name__
)
@every_entry
def test_a_detour_changes_no_gradient_or_is_refused(entry, transformer):
    other = entries_of(entry.home, transformer)[entry.name]
    found = outcome(other)
    if isinstance(found, S2SGradError):
        return
    if isinstance(found, Exception):
        raise found
    same(found, outcome(entry))


@pytest.mark.sampled(one_in=400)
@every_entry
def test_unknown_axes_change_no_gradient_or_are_refused(entry):
    other = entries_of(entry.home, through_unknown_axes)[entry.name]
    try:
        means_the_same(entry, other)
    except Exception:
        pytest.skip("an axis of one element is lost")
    found = outcome(other)
    if isinstance(found, S2SGradError):
        return
    if isinstance(found, Exception):
        raise found
    same(found, outcome(entry))
