"""The list of what of NumPy has a derivative is up to date, and hardly anything is missing."""

from __future__ import annotations

import coverage_of_numpy as coverage
import pytest


def test_the_list_is_up_to_date():
    written = coverage.FILE.read_text()
    if written.split("\n")[0].partition(",")[0] != coverage.text().split("\n")[0].partition(",")[0]:
        pytest.skip("it was written with another NumPy")
    assert written == coverage.text(), "run python tests/coverage_of_numpy.py"


def test_hardly_anything_is_missing():
    found = coverage.marks()
    assert coverage.share(found) >= 0.97
    assert not [row for row in found if row[2] == "unknown"]
