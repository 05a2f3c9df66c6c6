"""What type checkers see: `mypy --strict` passes in the package, as `typed_right.py` does, and each wrong line of
`typed_wrong.py` fails.

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

import numpy as np
import pytest
from numpy.lib import NumpyVersion

import s2sgrad

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = pathlib.Path(s2sgrad.__file__).resolve().parent
TOP = PACKAGE.parent


def checked_by_mypy(files: list[str]) -> str:
    """The package too, as strictly as `pyproject.toml` asks; the checker's cache makes a second run one of seconds.

    With an older NumPy, whose stubs lack functions, the package is not asked for."""
    from mypy import api

    settings = ["--config-file", str(TOP / "pyproject.toml"), "--cache-dir", str(TOP / ".mypy_cache")]
    package = [str(PACKAGE)] if NumpyVersion(np.__version__) >= "2.4.0" else ["--follow-imports=silent"]
    return "".join(api.run([*settings, "--no-error-summary", *package, *files])[:2])


def checked_by_pyright(files: list[str]) -> str:
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, *files]
    environment = {**os.environ, "PYTHONPATH": str(TOP)}
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    return run.stdout + run.stderr


CHECKERS = {"mypy": checked_by_mypy, "pyright": checked_by_pyright}


@pytest.mark.parametrize("checker", sorted(CHECKERS))
def test_right_and_wrong_uses_and_nothing_in_the_package(checker):
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    if not (TOP / "pyproject.toml").exists():
        pytest.skip("no checkout")
    files = [HERE / "typed_right.py", HERE / "typed_wrong.py"]
    said = CHECKERS[checker]([*map(str, files)])
    found = re.findall(r"(\w+)\.py:(\d+)(?::\d+)?(?:: | - )error", said)
    wrong = files[1].read_text().splitlines()
    expected = {("typed_wrong", str(k)) for k, line in enumerate(wrong, 1) if line.endswith("# wrong")}
    assert len(expected) > 12 and set(found) == expected, said


@pytest.mark.records
def test_the_right_uses_run_and_are_what_they_are_said_to_be():
    found = runpy.run_path(str(HERE / "typed_right.py"))
    assert all(isinstance(number, float) for number in found["numbers"]) and isinstance(found["cotangents"], tuple)


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()


def test_one_version_is_named_everywhere():
    if not (TOP / "pyproject.toml").exists():
        pytest.skip("no checkout")
    assert f'\nversion = "{s2sgrad.__version__}"\n' in (TOP / "pyproject.toml").read_text()
    assert f"\nversion: {s2sgrad.__version__}\n" in (TOP / "CITATION.cff").read_text()
