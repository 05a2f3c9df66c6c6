"""Where a function of a library is found, and the nearest one with a rule for one without: for errors and for lists.

np.histogram2d   ->   numpy.histogram               scipy.signal.medfilt   ->   scipy.ndimage.median_filter
"""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

from s2sgrad.rules import instances, table
from s2sgrad.runtime.asking import its

MODULES = (
    "numpy", "numpy.linalg", "numpy.fft", "numpy.lib.scimath", "numpy.lib.stride_tricks", "numpy.random", "numpy.polynomial",
    "numpy.polynomial.polynomial", "numpy.polynomial.chebyshev", "numpy.polynomial.legendre", "numpy.polynomial.laguerre",
    "numpy.polynomial.hermite", "numpy.polynomial.hermite_e", "numpy.polynomial.polyutils",
    "math", "cmath", "builtins", "operator", "functools", "statistics", "copy", "scipy.fft", "scipy.integrate",
    "scipy.interpolate", "scipy.linalg", "scipy.ndimage", "scipy.optimize", "scipy.signal", "scipy.signal.windows",
    "scipy.sparse", "scipy.sparse.linalg", "scipy.sparse.csgraph", "scipy.spatial", "scipy.spatial.distance",
    "scipy.spatial.transform", "scipy.special", "scipy.stats",
)  # fmt: skip
"""Where users find functions."""

NEAREST = {
    "numpy.apply_over_axes": "numpy.sum",
    "numpy.histogram2d": "numpy.histogram",
    "numpy.histogramdd": "numpy.histogram",
    "numpy.sort_complex": "numpy.sort",
    "scipy.ndimage.generic_filter": "scipy.ndimage.correlate",
    "scipy.signal.ellipap": "scipy.signal.cheb1ap",
    "scipy.signal.iirdesign": "scipy.signal.iirfilter",
    "scipy.signal.place_poles": "scipy.linalg.solve_continuous_are",
    "scipy.signal.remez": "scipy.signal.firls",
    "scipy.stats.cramervonmises": "scipy.stats.ks_1samp",
}
"""What the names alone would not tell."""

_NEIGHBOURS = "It tells places, which have no derivative: call it of `stop_gradient(x)`, and compute from `x[indices]`."
_PATHS = "Ask it for predecessors, of `stop_gradient` of the graph, and sum the weights along the paths."
_FILLED = "Make the array at once: gather rows, columns and values, and call `csr_array((values, (rows, columns)))`."
_DRAWN = (
    "It rejects draws, so that results jump. Draw `u = rng.random(size)`, and take quantiles: `scipy.stats.{}.ppf(u, ..)`."
)
_FIT = "Fit by a function with a rule: `minimize(lambda p: -np.sum(law.logpdf(data, *p)), start).x` of scipy.optimize."
ADVICE = {
    "numpy.random.Generator.beta": _DRAWN.format("beta"),
    "numpy.random.Generator.chisquare": _DRAWN.format("chi2"),
    "numpy.random.Generator.f": _DRAWN.format("f"),
    "numpy.random.Generator.gamma": _DRAWN.format("gamma"),
    "numpy.random.Generator.standard_gamma": _DRAWN.format("gamma"),
    "numpy.random.Generator.standard_t": _DRAWN.format("t"),
    "numpy.random.beta": _DRAWN.format("beta"),
    "numpy.random.chisquare": _DRAWN.format("chi2"),
    "numpy.random.f": _DRAWN.format("f"),
    "numpy.random.gamma": _DRAWN.format("gamma"),
    "numpy.random.standard_gamma": _DRAWN.format("gamma"),
    "numpy.random.standard_t": _DRAWN.format("t"),
    "scipy.sparse.csgraph.dijkstra": _PATHS,
    "scipy.sparse.csgraph.laplacian": "Write it: `scipy.sparse.diags(A.sum(axis=0)) - A`.",
    "scipy.sparse.csgraph.shortest_path": _PATHS,
    "scipy.sparse.dok_array": _FILLED,
    "scipy.sparse.dok_matrix": _FILLED,
    "scipy.sparse.linalg.eigs": "Use `eigsh` of a symmetric matrix, or `np.linalg.eig(A.toarray())`.",
    "scipy.sparse.linalg.spilu": "Make it outside of the function, of a constant matrix, and pass it as `M`.",
    "scipy.stats.rv_continuous.fit": _FIT,
    "scipy.spatial.ConvexHull": _NEIGHBOURS,
    "scipy.spatial.Delaunay": _NEIGHBOURS,
    "scipy.spatial.KDTree": _NEIGHBOURS,
    "scipy.spatial.cKDTree": _NEIGHBOURS,
}
"""What to do instead of what has no rule."""

MAKING = {
    "scipy.interpolate.barycentric_interpolate": "scipy.interpolate.BarycentricInterpolator",
    "scipy.interpolate.lagrange": "scipy.interpolate.BarycentricInterpolator",
}
"""The same of what makes an object that is called."""


def found(name: str) -> Any:
    """The object of a full name in a module that is imported; None where there is none."""
    module, _, last = name.rpartition(".")
    return getattr(sys.modules.get(module), last, None)


def full_name(function: Any) -> str:
    """Where users find a function: its module and name; "" for one that is none of a public module.

    >>> import numpy as np
    >>> full_name(np.linalg.det), full_name(np.ndarray.astype), full_name(full_name)
    ('numpy.linalg.det', 'numpy.ndarray.astype', '')
    """
    name = its(function, "__name__", "")
    owner = its(function, "__self__", None) if isinstance(function, types.MethodType) else None
    for module in MODULES:
        if module not in sys.modules:
            continue
        public = vars(sys.modules[module])
        if public.get(name) is function and function is not None:
            return f"{module}.{name}"
        for known, value in public.items() if owner is not None else ():
            if value is owner:
                return f"{module}.{known}.{name}"
    return _of_method(function, name)


def _of_method(function: Any, name: str) -> str:
    """The same for a method of a public class, or of one that public ones inherit from; also where it is bound."""
    owner = type(its(function, "__self__", None))
    if owner.__module__.partition(".")[0] not in ("builtins", *(m.partition(".")[0] for m in MODULES)):
        return ""  # of a class of the user's
    function = its(function, "__func__", function)
    cls, _, method = its(function, "__qualname__", "").rpartition(".")
    homes = [m for m in MODULES if cls and method == name and getattr(found(f"{m}.{cls}"), name, None) is function]
    if homes or not cls:
        return f"{homes[0]}.{cls}.{name}" if homes else ""
    public = ((m, known, value) for m in MODULES if m in sys.modules for known, value in vars(sys.modules[m]).items())
    inherits = (f"{m}.{k}.{name}" for m, k, v in public if isinstance(v, type) and getattr(v, name, None) is function)
    return next(inherits, "")


def _advice(function: Any) -> str:
    """What to do instead of a function, or of a method, as a class says that its own inherits."""
    owner = its(function, "__self__", None) if isinstance(function, types.MethodType) else None
    names = [full_name(getattr(cls, function.__name__, None)) for cls in type(owner).__mro__] if owner is not None else []
    return next((ADVICE[name] for name in (full_name(function), *names) if name in ADVICE), "")


def _kin(method: Any) -> list[str]:
    """The methods of an object of a library that have rules, where this is one that has none.

    >>> import scipy.stats
    >>> _kin(scipy.stats.norm.moment)[:4]
    ['cdf', 'entropy', 'expect', 'fit']
    """
    owner = its(method, "__self__", None) if isinstance(method, types.MethodType) else None
    if owner is None or not full_name(method):
        return []
    return [name for name in dir(owner) if not name.startswith("_") and table.lookup(getattr(owner, name)) is not None]


@functools.lru_cache(maxsize=256)
def nearest(name: str) -> str:
    """The full name of the function with a rule that is nearest to that of this full name; "" where none is near.

    >>> nearest("numpy.histogram2d"), nearest("numpy.frobnicate")
    ('numpy.histogram', '')
    """
    module, _, last = name.rpartition(".")
    if name in NEAREST:
        return NEAREST[name]
    listed = [its(f, "__name__", "") for f in table.rules() if full_name(f).rpartition(".")[0] == module]
    import difflib

    close = difflib.get_close_matches(last, listed, 1, 0.75)
    return f"{module}.{close[0]}" if close else ""


def told(function: Any) -> str:
    """The line of an error for a function without a rule: the nearest one that has one, or what of the objects that it makes
    has one; "" where none is near."""
    if methods := [name for name in instances.methods_of(function) if name != "__call__"]:
        return f"What it makes has rules where only these are called of it, in this function: {', '.join(methods)}."
    if (maker := instances.of(function)) is not None:
        also = "".join(f", `{name}`" for name in (*maker.methods, *maker.orders))
        return f"What it makes has a rule where it is only called{also and f', or asked for {also[2:]}'}, in this function."
    name = full_name(function)
    if advice := _advice(function):
        return advice
    if kin := _kin(function):
        return f"Of {name.rpartition('.')[0]} these have rules: {', '.join(kin)}."
    if name in MAKING:
        return f"The nearest one: {MAKING[name]}, whose result has a rule where it is only called, in this function."
    near = nearest(name) if name else ""
    return f"The nearest function with a rule: {near}; docs/functions.md lists all." if near else ""
