"""The lists of what has a derivative are up to date, and hardly anything of NumPy is missing."""

from __future__ import annotations

import importlib

import coverage_of_numpy as coverage
import coverage_of_scipy
import list_functions
import numpy as np
import pytest
import scipy

from s2sgrad.ir import relatives
from s2sgrad.rules.table import is_flat, lookup


def test_the_list_is_up_to_date():
    written = coverage.FILE.read_text()
    if written.split("\n")[0].partition(",")[0] != coverage.text().split("\n")[0].partition(",")[0]:
        pytest.skip("it was written with another NumPy")
    assert written == coverage.text(), "run python tests/coverage_of_numpy.py"


def test_hardly_anything_is_missing():
    found = coverage.marks()
    assert coverage.share(found) >= 0.97
    assert not [row for row in found if row[2] == "unknown"]


def test_the_list_of_scipy_is_up_to_date():
    written = coverage_of_scipy.FILE.read_text()
    if not written.startswith("# SciPy " + ".".join(scipy.__version__.split(".")[:2]) + ","):
        pytest.skip("it was written with another SciPy")
    assert written == coverage_of_scipy.text(), "run python tests/coverage_of_scipy.py"


def test_of_each_part_of_scipy_little_is_missing():
    shares = coverage_of_scipy.counts(coverage_of_scipy.marks())
    assert {part: (good, every) for part, (good, every) in shares.items() if good < 0.8 * every} == {}


def test_the_list_of_functions_is_up_to_date():
    versions = [".".join(library.__version__.split(".")[:2]) for library in (np, scipy)]
    if versions != ["2.4", "1.17"]:
        pytest.skip("it was written with other versions of NumPy and SciPy")
    assert list_functions.FILE.read_text() == list_functions.text(), "run python tests/list_functions.py"


def test_relatives_are_there_and_have_rules():
    for module in relatives.MODULES:
        importlib.import_module(module)
    for name, near in relatives.NEAREST.items():
        one, other = relatives.found(name), relatives.found(near)
        assert one is None or (lookup(one) is None and not is_flat(one)), f"{name} has a rule of its own"
        assert lookup(other) is not None, near
        assert one is None or relatives.told(one).startswith("The nearest")
