"""What of NumPy has a derivative: every public callable, marked covered, flat or refused with the reason.

    python tests/coverage_of_numpy.py        writes tests/coverage.txt anew

What is covered or flat is asked of the compiler itself: its table of rules, the calls that it rewrites, the spellings of
methods and attributes, and the functions that recorded runs know.  Only the reasons of refusals stand here, by group.
"""

from __future__ import annotations

import pathlib
import types
from collections import Counter
from typing import Any

import numpy as np

from s2sgrad.api import whole
from s2sgrad.normalize import mutators
from s2sgrad.normalize.library import table as rewritten
from s2sgrad.primitives import spellings
from s2sgrad.recorded import library as recorded
from s2sgrad.recorded import storing
from s2sgrad.rules.table import is_flat, lookup

assert whole
FILE = pathlib.Path(__file__).with_name("coverage.txt")
SECTIONS = ("numpy", "numpy.linalg", "numpy.fft", "numpy.random", "Generator", "array")

# Functions that have no derivative at all: they count neither for nor against.
NONE = {
    "reads or writes files": (
        "fromfile fromregex genfromtxt load loadtxt memmap save savetxt savez savez_compressed dump tofile"
    ),
    "makes or reads text": (
        "array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific fromstring "
        "mintypecode typename"
    ),
    "asks or sets options": (
        "errstate get_include get_printoptions getbufsize geterr geterrcall info printoptions set_printoptions setbufsize "
        "seterr seterrcall show_config show_runtime test"
    ),
    "is of dates": "busday_count busday_offset busdaycalendar datetime_as_string datetime_data is_busday",
    "is of types, not of numbers": "dtype isdtype ufunc recarray",
    "is of bits of whole numbers": "packbits unpackbits",
    "is of memory, or of the class np.matrix": (
        "from_dlpack base byteswap ctypes data device getfield setfield setflags to_device tobytes dumps asmatrix bmat "
        "matrix"
    ),
    "makes a function or an iterator": "frompyfunc nditer nested_iters broadcast ndindex flatiter",
    "is planning, not computing": "einsum_path",
    "is a generator, or the state of one": (
        "bit_generator bytes spawn get_state set_state seed BitGenerator Generator MT19937 PCG64 PCG64DXSM Philox "
        "RandomState SFC64 SeedSequence default_rng"
    ),
    "takes no number that may be differentiated": (
        "integers random ranf sample randint randn rand random_integers random_sample tomaxint standard_cauchy "
        "standard_exponential standard_normal bartlett blackman hamming hanning fromfunction"
    ),
    "draws whole numbers": (
        "binomial geometric hypergeometric logseries multinomial multivariate_hypergeometric negative_binomial poisson zipf"
    ),
    "draws by rejection, and so jumps where its parameters move": (
        "beta chisquare dirichlet f gamma noncentral_chisquare noncentral_f standard_gamma standard_t"
    ),
    "makes indices": "ix_",
    "has the attributes of a namespace": "__array_namespace_info__",
}
# Functions that could have one.
MISSING = {
    "add the mean and a scaled standard draw yourself": "vonmises wald multivariate_normal",
    "takes a function of arrays: call it for each axis": "apply_over_axes",
    "use np.histogram": "histogram2d histogramdd",
    "add 0j to the sorted array": "sort_complex",
    "use np.polyval, which takes the coefficients": "poly1d",
    "use np.vstack": "row_stack",
    "use np.resize, np.pad or a slice": "resize",
}
_REASONS = {name: (kind, why) for kind, groups in (("none", NONE), ("missing", MISSING)) for why, names in groups.items()
            for name in names.split()}  # fmt: skip


def entries(section: str) -> dict[str, Any]:
    """The public callables of a section by their names; of an array, its attributes too."""
    classes = {"array": np.ndarray, "Generator": np.random.Generator}
    if section in classes:
        return {name: getattr(classes[section], name) for name in dir(classes[section]) if not name.startswith("_")}
    module = {"numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft, "numpy.random": np.random}[section]
    found = {name: getattr(module, name, None) for name in module.__all__}
    return {name: value for name, value in found.items() if callable(value) and not _is_apart(value)}


def _is_apart(value: Any) -> bool:
    """A module, a type of numbers, an exception."""
    return isinstance(value, types.ModuleType) or (
        isinstance(value, type) and issubclass(value, (np.generic, BaseException))
    )


def mark(section: str, name: str, value: Any) -> tuple[str, str]:
    """(covered, flat, refused or unknown; how or why)."""
    if section == "array":
        if name in spellings.FLAT_ATTRIBUTES | spellings.COUNTS:
            return "flat", ""
        spelled = spellings.METHODS.get(name, spellings.ATTRIBUTES.get(name))
        value = spelled if spelled is not None else value
        if name == "flat" or (spelled is None and getattr(rewritten._METHODS.get(name), "cls", None) is np.ndarray):
            return "covered", "rewritten"
    if isinstance(value, type) and value in rewritten._INSTANCES:
        return "covered", "rewritten"
    if lookup(value) is not None:
        return "covered", ""
    if is_flat(value):
        return "flat", ""
    if section == "numpy.random":  # methods of one generator
        value = getattr(np.random.RandomState, name, value)
    if _among(value, rewritten._FUNCTIONS) or _among(value, mutators._FUNCTIONS):
        return "covered", "rewritten"
    if _among(value, recorded.SPECIAL) or _among(value, storing._PERMUTING):
        return "covered", "recorded"
    kind, why = _REASONS.get(name, ("unknown", ""))
    return ("refused" if kind != "unknown" else kind), (f"no derivative: it {why}" if kind == "none" else why)


def _among(value: Any, found: dict[Any, Any]) -> bool:
    try:
        return value in found
    except TypeError:
        return False


def marks() -> list[tuple[str, str, str, str]]:
    """(section, name, mark, how or why) of all."""
    return [(s, name, *mark(s, name, value)) for s in SECTIONS for name, value in sorted(entries(s).items())]


def share(found: list[tuple[str, str, str, str]]) -> float:
    """How much of what could have a derivative is covered or flat."""
    counts = Counter(m if not why.startswith("no derivative") else "none" for _, _, m, why in found)
    return (counts["covered"] + counts["flat"]) / (sum(counts.values()) - counts["none"])


def text() -> str:
    """The file."""
    found = marks()
    version = ".".join(np.__version__.split(".")[:2])
    lines = [f"# NumPy {version}, of what could have a derivative {share(found):.1%} are covered or flat."]
    for section in SECTIONS:
        own = [row for row in found if row[0] == section]
        counts = Counter(m for _, _, m, _ in own)
        head = ", ".join(f"{n} {m}" for m, n in sorted(counts.items()))
        lines += ["", f"## {section}: {head}; {share(own):.1%} of what could have a derivative"]
        lines += [f"{name:28} {m}{': ' + why if why else ''}" for _, name, m, why in own]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(text())
    print(text().split("\n")[0])
