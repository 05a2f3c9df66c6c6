"""The records of primitives: what they say is tried on examples, and nobody else decides by a list of names."""

from __future__ import annotations

import collections
import inspect
import itertools
import types

import numpy as np
import pytest

from s2sgrad.memory.behaviour import of_callable
from s2sgrad.primitives import catalogue, libraries, methods
from s2sgrad.primitives.catalogue import Gives, of, of_bound
from s2sgrad.rules import table
from s2sgrad.runtime import checks

ARGUMENTS = [(), (0,), (1,), (2,), (0, 1), ((2, 2),), (float,), (np.ones(4),), (0, 2), ([1, 0],), ([0, 1], [1.0, 2.0]),
             ([np.arange(4.0), np.arange(4.0)],), (np.float64, 0)]  # fmt: skip


def outcomes(function, make):
    """What a function, or a method as a function of its object, returns and leaves behind, for arguments that it takes."""
    for rest in ARGUMENTS:
        x = make()
        try:
            yield x, function(x, *rest), rest
        except Exception:
            continue


def arrays():
    return [lambda: np.arange(1.0, 5.0).reshape(2, 2), lambda: np.arange(1.0, 5.0), lambda: np.array([2, 0, 1])]


def shares(a, b):
    parts = b if isinstance(b, (list, tuple)) else [b]
    return any(isinstance(part, np.ndarray) and np.shares_memory(a, part) for part in parts)


OF_ARRAYS = [m for name in dir(np.ndarray) for m in [of(getattr(np.ndarray, name))] if m.sharing is not None or m.writes]
OF_NUMPY = [r for r in catalogue.records() if (getattr(r.function, "__module__", "") or "").split(".")[0] == "numpy"]


@pytest.mark.parametrize("record", OF_ARRAYS + OF_NUMPY, ids=lambda r: r.function.__name__)
def test_what_is_new_shares_nothing(record):
    if record.gives is not Gives.NEW:
        return
    for make in arrays():
        for x, result, rest in outcomes(record.function, make):
            assert not shares(x, result), rest


VIEWS = [r for r in OF_ARRAYS + OF_NUMPY if r.gives is Gives.VIEW]


@pytest.mark.parametrize("record", VIEWS, ids=lambda r: r.function.__name__)
def test_what_is_a_view_shares_memory(record):
    seen = [(shares(x, y), rest) for make in arrays()[:2] for x, y, rest in outcomes(record.function, make)]
    assert seen and all(shared for shared, _ in seen), seen


@pytest.mark.parametrize("record", OF_ARRAYS, ids=lambda r: r.function.__name__)
def test_only_what_writes_changes_its_array(record):
    changed = False
    for make in arrays():
        for x, _, rest in outcomes(record.function, make):
            changed |= not np.array_equal(x, make())
            assert record.writes or np.array_equal(x, make()), rest
    silent = {np.ndarray.byteswap, np.ndarray.resize, np.ndarray.setflags, np.ndarray.setfield, np.ndarray.__delitem__}
    assert changed or not record.writes or record.function in silent or record.gives is Gives.OPERATOR


CONTAINERS = [lambda: [3.0, 1.0, 2.0], lambda: {"a": 1.0, 0: 2.0}, lambda: {1, 2}, lambda: collections.deque([1, 0, 2]),
              lambda: (0, 1), lambda: frozenset([0, 1]), lambda: "a b"]  # fmt: skip


@pytest.mark.parametrize("make", CONTAINERS, ids=lambda make: type(make()).__name__)
def test_methods_of_containers_write_what_they_say(make):
    cls = type(make())
    for name in dir(cls):
        record = of(getattr(cls, name))
        for x, _, rest in outcomes(record.function, make) if isinstance(record.function, types.MethodDescriptorType) else ():
            assert record.writes or x == make(), (name, rest)


@pytest.mark.parametrize("make", CONTAINERS[:4], ids=lambda make: type(make()).__name__)
def test_methods_that_change_the_length_say_so(make):
    cls = type(make())
    for name in dir(cls):
        record = of(getattr(cls, name))
        for x, _, rest in outcomes(record.function, make) if record.writes and name[0] != "_" else ():
            assert record.resizes or len(x) == len(make()) or cls is set, (name, rest)


def test_every_method_that_changes_a_container_has_a_record():
    """None is left out: whatever a method without a record does, it does not write."""
    for make in [*CONTAINERS, *arrays()]:
        cls = type(make())
        for name in dir(cls):
            function = getattr(cls, name)
            if name in ("__setstate__", "__init__", "__setattr__", "__delattr__") or not callable(function):
                continue
            if name.startswith("_") and not name.startswith(("__set", "__del", "__i")):
                continue
            for x, _, rest in outcomes(function, make):
                same = np.array_equal(x, make()) if isinstance(x, np.ndarray) else x == make()
                assert same or of(function).writes, (cls, name, rest)


def test_what_iterates_uses_an_iterator_up():
    for record in catalogue.records():
        if record.iterates and record.function is not np.fromiter:
            given = iter([(1, 2), (3, 4)] if record.function is dict else [1, 2])
            if record.function is any:
                given = iter([0, 0])
            record.function(given)
            assert next(given, None) is None, record.function


def test_what_is_equal_is_not_the_same():
    class Same:
        def __init__(self, like):
            self.like = like

        def __eq__(self, other):
            return other is self.like

        def __hash__(self):
            return hash(self.like)

    assert of(np.ravel).gives is Gives.CONTIGUOUS
    assert of(Same(np.ravel)).gives is Gives.UNKNOWN
    assert not of(Same(len)).pure and not of([]).pure and not of(None).pure


def test_bound_methods_are_not_pure_but_known_to_write():
    """What `xs.index` returns depends on `xs` besides its arguments."""
    assert of_bound([1.0].append).writes == (0,) and of_bound(np.add.at).writes == (1,)
    assert not of([1.0].index).pure and not of(np.ones(3).sum).pure


def test_facts_of_one_callable_agree():
    with pytest.raises(AssertionError, match="sharing"):
        catalogue.know(np.ravel, gives=Gives.NEW)


def test_every_rule_is_pure():
    effects = {f for f, r in table.rules().items() if not of(f).pure}
    assert effects <= {f for f in effects if of(f).effect or of(f).writes or table.changes_owner(f)}


def test_a_check_has_no_effect_but_that_it_raises():
    """What returns nothing is called for that: it is not left out, and its source is not asked what it does."""
    for name, check in vars(checks).items():
        if inspect.isfunction(check) and inspect.signature(check).return_annotation in (None, "None"):
            assert of(check).effect and of_callable(check).is_repeatable, name


def test_of_a_name_the_worst_is_assumed():
    assert methods.may_be("copy") is Gives.SHELL and methods.may_be("copy", np.ndarray) is Gives.NEW
    assert methods.may_be("reshape") is Gives.CONTIGUOUS and methods.may_be("feed") is Gives.UNKNOWN
    assert catalogue.may_write("sort") and not catalogue.may_write("sum")
    assert methods.only_compute("sum") and not methods.only_compute("pop") and not methods.only_compute("feed")


def test_packages():
    assert libraries.is_installed(itertools.chain) and libraries.is_installed(np)
    assert not libraries.is_installed(test_packages)
    assert libraries.library("numpy").by_record and not libraries.library("statistics").by_record


def test_operands_that_may_be_none():
    places = [(r.function, k) for r in catalogue.records() for k in r.optional]
    assert places == [(np.clip, 1), (np.clip, 2)]
    for function, k in places:
        given = [np.array([0.3, 2.0]), 0.5, 1.0]
        given[k] = None
        assert np.isfinite(function(*given)).all()
