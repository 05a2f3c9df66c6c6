"""The examples whose rules are texts of ours (`restates`): each check of one compiles its text, for up to six seconds.

The laws of the first order look at one example of each text; all other checks look at these as rarely as at the others, and
eight times as rarely as that.
"""

from __future__ import annotations

from typing import Any

import pytest

from s2sgrad.rules.table import lookup

from .examples import Example

RARELY = pytest.mark.sampled(one_in=8)


def is_restated(e: Example) -> bool:
    return lookup(e.primitive).pullback.__module__.rpartition(".")[2].startswith("of_")


def case(e: Example, name: str, *others: Any) -> Any:
    """The parameters of a case; it is taken rarely where it is dear."""
    return pytest.param(e, *others, id=name, marks=[RARELY] if is_restated(e) else [])
