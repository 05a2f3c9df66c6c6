"""What is wrong with the message of an error, as a stranger reads it.

    complaints(error, source)   ->   ["`t13` is no word of the user's"]

`vocabulary` is what a user knows: the words of their own text, Python's, NumPy's and ours.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import functools
import inspect
import itertools
import keyword
import math
import re
import sys
import textwrap
import traceback
import types
from pathlib import Path

import numpy as np

import s2sgrad
from s2sgrad import S2SGradError

HOME = str(Path(s2sgrad.__file__).resolve().parent)
LINES, PROSE = 15, 3
_WORD = re.compile(r"[^\W\d]\w*")
_TYPES = (str, bytes, int, float, complex, list, tuple, dict, set, frozenset, collections.deque, types.FunctionType,
          types.GeneratorType, np.ndarray, np.random.Generator, np.ufunc)  # fmt: skip


@functools.cache
def vocabulary() -> frozenset[str]:
    """Words that a user of Python and NumPy may be told."""
    modules = (builtins, math, np, np.linalg, np.random, np.fft, collections, functools, itertools, s2sgrad)
    words = {name for thing in (*modules, *_TYPES) for name in dir(thing)} | set(keyword.kwlist) | set(keyword.softkwlist)
    words |= {word for public in (s2sgrad.grad, s2sgrad.vjp) for word in inspect.signature(public).parameters}
    return frozenset(words | set(re.findall(r"\w+", _OTHERS)))


_OTHERS = """np scipy numpy functools itertools collections linalg random __exit__ __wrapped__
    args seed argnums axis order dtype out name f x y e k i a b v key rows columns values"""


def unknown_words(message: str, source: str) -> list[str]:
    """The identifiers in a message that its reader has not written and cannot know."""
    known = vocabulary() | set(_WORD.findall(source)) | parameters(source)
    spans = [re.sub(r"'[^']*'|\"[^\"]*\"", "", span) for span in re.findall(r"`([^`]+)`", message)]
    odd = [word for word in _WORD.findall(re.sub(r"`[^`]+`", "", message)) if "_" in word or re.search(r"\d$", word)]
    return [word for word in (*(w for span in spans for w in _WORD.findall(span)), *odd) if word not in known]


def parameters(source: str) -> set[str]:
    """The parameters of the library's functions that a source names: their documentation has these words."""
    found = set()
    for word in set(_WORD.findall(source)):
        for module in _LIBRARIES:
            function = getattr(sys.modules.get(module), word, None)
            with contextlib.suppress(TypeError, ValueError):
                found |= inspect.signature(function).parameters.keys()
    return found


_LIBRARIES = [
    "numpy", "numpy.linalg", "scipy.integrate", "scipy.interpolate", "scipy.linalg", "scipy.ndimage", "scipy.optimize",
    "scipy.signal", "scipy.sparse", "scipy.sparse.linalg", "scipy.special", "scipy.stats",
]  # fmt: skip


def complaints(error: BaseException, source: str, file: str) -> list[str]:
    """What is wrong with an error that left a gradient of a function of this source."""
    out = []
    shown = "".join(traceback.format_exception(error))
    if len(shown.rstrip().splitlines()) > LINES:
        out.append(f"{len(shown.rstrip().splitlines())} lines")
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(HOME)]
    if frames:
        out.append(f"{len(frames)} frames of ours")
    if isinstance(error, S2SGradError):
        if error.place is None:
            out.append("no place")
        elif error.place.file != file:
            out.append(f"blames {error.place.file}")
        elif source.splitlines()[error.place.line - 1 : error.place.line] != [error.place.text]:
            out.append("shows another text than stands there")
        if "\n" in error.message or len(textwrap.wrap(error.message, 110)) > PROSE:
            out.append("long prose")
        out += [f"`{word}` is no word of the user's" for word in unknown_words(error.message, source)]
    elif f'File "{file}", line ' not in shown:
        out.append("the user's line is nowhere")
    return out
