"""What type checkers see of the public functions: `typed_right.py` passes, and each wrong line of `typed_wrong.py` fails.

With pyright only where it is installed: it brings a runtime of its own.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import runpy
import subprocess
import sys

import pytest

import s2sgrad

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = pathlib.Path(s2sgrad.__file__).resolve().parent
OPTIONS = {"mypy": ["--follow-imports=silent", "--no-error-summary", "--cache-dir"], "pyright": []}


@pytest.mark.parametrize("checker", sorted(OPTIONS))
def test_right_and_wrong_uses(checker, tmp_path):
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    options = OPTIONS[checker] + ([str(tmp_path)] if checker == "mypy" else ["--pythonpath", sys.executable])
    files = [HERE / "typed_right.py", HERE / "typed_wrong.py"]
    paths = {"MYPYPATH": str(PACKAGE.parent), "PYTHONPATH": str(PACKAGE.parent)}
    run = subprocess.run(
        [sys.executable, "-m", checker, *options, *map(str, files)],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **paths},
    )  # fmt: skip
    said = re.findall(r"(typed_\w+)\.py:(\d+)(?::\d+)?(?:: | - )error", run.stdout)
    wrong = files[1].read_text().splitlines()
    expected = {("typed_wrong", str(k)) for k, line in enumerate(wrong, 1) if line.endswith("# wrong")}
    assert len(expected) > 12 and set(said) == expected, run.stdout + run.stderr


@pytest.mark.records
def test_the_right_uses_run_and_are_what_they_are_said_to_be():
    found = runpy.run_path(str(HERE / "typed_right.py"))
    assert all(isinstance(number, float) for number in found["numbers"]) and isinstance(found["cotangents"], tuple)


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()


def test_one_version_is_named_everywhere():
    top = PACKAGE.parent
    if not (top / "pyproject.toml").exists():
        pytest.skip("no checkout")
    assert f'\nversion = "{s2sgrad.__version__}"\n' in (top / "pyproject.toml").read_text()
    assert f"\nversion: {s2sgrad.__version__}\n" in (top / "CITATION.cff").read_text()
