"""Autograd's own tests, with the names of `s2sgrad.compat.autograd` in place of its own.

    python tests/autograd_suite.py FOLDER [ARGUMENTS]     FOLDER: `tests` of a source distribution of autograd

A copy is made in which the imports say NumPy, SciPy and `compat.autograd`; what has no counterpart fails in the tests that
use it, and in no others.  Further arguments are pytest's.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
NAMES = re.compile(
    r"(?<!\.)\bautograd(\.scipy\.integrate|\.numpy|\.scipy|(?=\.\w+ import)|(?= import)|(?=\.(?:util|core)\b))"
)
OURS = "s2sgrad.compat.autograd"
PLACES = {".numpy": "numpy", ".scipy": "scipy"}
CLASS = re.compile(r"import ([\w.]+)\.(multivariate_normal) as")  # a module there, an object in SciPy
MISSING = """
import importlib as _importlib


class _Missing:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, key):
        raise AttributeError(f"there is no {self.name}.{key}")

    def __call__(self, *args, **kwargs):
        raise AttributeError(f"there is no {self.name}")


def _named(module, name):
    try:
        return getattr(_importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return _Missing(f"{module}.{name}")


"""


def rewritten(text: str) -> str:
    """A file of tests with its imports replaced: those of names one by one, so that a missing one is missed alone.

    >>> print(rewritten("import autograd.numpy as np\\nfrom autograd import grad, deriv as d")[len(MISSING):])
    import numpy as np
    grad = _named('s2sgrad.compat.autograd', 'grad')
    d = _named('s2sgrad.compat.autograd', 'deriv')
    """
    text = CLASS.sub(r"from \1 import \2 as", NAMES.sub(lambda m: PLACES.get(m[1], OURS + m[1]), text))
    imports = r"^( *)from (s2sgrad\.compat[\w.]*) import (\([^)]*\)|[^\n#]*)"
    text = re.sub(imports, _one_by_one, text, flags=re.M)
    future = re.match(r"(from __future__ import [^\n]*\n)*", text)
    assert future is not None
    return future[0] + MISSING + text[future.end() :]


def _one_by_one(found: re.Match[str]) -> str:
    indent, module, names = found.groups()
    lines = []
    for name in re.sub(r"#[^\n]*", "", names.strip("()")).split(","):
        if name.strip():
            one, _, other = name.strip().partition(" as ")
            lines.append(f"{indent}{other or one} = _named({module!r}, {one!r})")
    return "\n".join(lines)


def main() -> int:
    source, *arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for file in pathlib.Path(source).glob("*.py"):
            (pathlib.Path(folder) / file.name).write_text(rewritten(file.read_text()))
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}", folder, *arguments]
        return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
