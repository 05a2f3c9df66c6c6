"""No fact is kept by the number of a node that is gone, which a new node may have: a text is the same if no node ever goes.

Found so: a record lost its push, because the pop that remained of a restore was looked up under a number of before.
"""

import ast
import contextlib
import io

import gast
import pytest
from corpus import CASES

from s2sgrad import S2SGradError, grad
from s2sgrad.driver import cache

ENTRIES = [entry for entry in CASES if entry.argnums]


@pytest.fixture
def staying(monkeypatch):
    """All nodes that are made from now on; they stay while the test runs."""
    made, plain = [], ast.AST.__new__

    def kept(cls, *args, **keywords):
        made.append(plain(cls))
        return made[-1]

    def begin():
        for cls in vars(gast).values():
            if isinstance(cls, type) and issubclass(cls, ast.AST) and cls.__module__ not in ("ast", "_ast"):
                monkeypatch.setattr(cls, "__new__", staticmethod(kept))
        return made

    return begin


def text(entry):
    """The gradient of a function of the corpus, compiled anew; or why there is none."""
    cache.forget()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return grad(entry.function, entry.argnums[0]).source_for(*entry.fresh_args())
    except S2SGradError as error:
        return str(error)


@pytest.mark.sampled(one_in=120)
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_text_does_not_depend_on_which_nodes_are_freed(entry, staying):
    expected = text(entry)
    made = staying()
    assert text(entry) == expected
    assert made
