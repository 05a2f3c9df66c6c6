"""Desugars calls of library callables: a table by object, one topic per file.

    dict(a=x), d.get(k, 0.0)                    dicts         {'a': x}, d[k] if k in d else 0.0
    map(f, xs), itertools.islice(xs, 3)         iterators     (f(v) for v in xs), islice(xs, 0, 3, 1)
    max(rows, key=f), next(v for v in xs)       reductions    largest(rows, f)
    np.clip(x, min=0.0), np.vectorize(f)(x)     arrays        np.clip(x, 0.0, None), vectorized(f, None, x)
    operator.add(x, y)                          operators     x + y

To add one: what can be written as a Python function goes to `s2sgrad/standard/`, under `@stands_for`, and is compiled like
the user's own.  What concerns syntax, or the form of the arguments, is a function in one of these files, under `@desugars`
(`@desugars_method` for a method).  It returns the expression for the call, or None to leave the call.
"""

from s2sgrad.normalize.library import arrays, dicts, iterators, operators, reductions  # noqa: F401
from s2sgrad.normalize.library.table import Scope as Scope
from s2sgrad.normalize.library.table import desugared as desugared
from s2sgrad.normalize.library.table import of_found as of_found
