"""An entry that is dropped from a record on purpose is found by the judge: what the tests of this folder compare would be
seen, if a handle were lost."""

from __future__ import annotations

import contextlib
import io
import random

import numpy as np
import pytest
from corpus import CASES
from differences import central_difference, copied, leaves

from recorded.judged import TOLERANCES
from recorded.test_corpus import REFUSED
from recorded.test_ways import POINT
from recorded.ways import RIGHT
from s2sgrad.recorded.derivatives import Recorded

SAMPLE = [e for e in CASES if e.name not in REFUSED][::60]
PROGRAMS = [(e.function, e.args, e.argnums) for e in SAMPLE] + [(f, (POINT,), (0,)) for f in [*RIGHT.values()][::8]]


def agree(bars, slopes):
    pairs = zip(leaves(list(bars)), leaves(list(slopes)), strict=True)
    return all(np.allclose(a, b, **TOLERANCES) for a, b in pairs)


@pytest.mark.parametrize("part", range(4))
def test_what_is_dropped_is_found(part):
    tried = found = 0
    for f, args, argnums in PROGRAMS[part::4]:
        with contextlib.redirect_stdout(io.StringIO()):
            recorded = Recorded(f, copied(args), {}, argnums)
            slopes = central_difference(f, args, argnums)
        assert agree(recorded.pullback(), slopes)
        entries = recorded.record.entries
        places = [k for k, entry in enumerate(entries) if entry is not None]
        for k in random.Random(part).sample(places, min(6, len(places))):
            entry, entries[k] = entries[k], None
            tried, found = tried + 1, found + (not agree(recorded.pullback(), slopes))
            entries[k] = entry
    assert tried > 40
    assert found > 0.7 * tried  # the others are dead, or have slopes of 0
