"""The laws of the table for the rules of a few functions, in seconds: while a rule is written.

    python tests/one_rule.py numpy.unique scipy.signal.welch

Of every example it checks what the whole suite checks: the pullback, keywords, float32, the tangent, two orders of some,
complex numbers where the rule says that it holds for them; and that the rule is plain, closed and exampled.
"""

from __future__ import annotations

import argparse
import importlib
import pathlib
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

import numpy as np

TWICE = 2  # so many examples are differentiated twice


def named(name: str) -> Any:
    """The callable of a dotted name.

    >>> named("numpy.linalg.det") is np.linalg.det and named("numpy.ndarray.astype") is np.ndarray.astype
    True
    """
    parts = name.split(".")
    for k in range(len(parts) - 1, 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:k]))
        except ImportError:
            continue
        for part in parts[k:]:
            value = getattr(value, part)
        return value
    raise SystemExit(f"{name} is no callable of a module")


def checks(primitive: Any) -> Iterator[tuple[str, Callable[[], None]]]:
    """What the laws say of one primitive: a title and a check that raises."""
    from s2sgrad.rules.table import lookup
    from tests.rules import test_complex, test_laws, test_second, test_tangents

    rule = lookup(primitive)
    if rule is None:
        raise SystemExit(f"{primitive} has no rule: enter it in s2sgrad/rules/, see docs/your-own-rules.md")
    real = [e for e in test_laws.EXAMPLES if e.primitive == primitive]
    of_complex = [e for e in test_complex.CALLS if e.primitive == primitive]
    if not real and not of_complex:
        raise SystemExit(f"{primitive} has no example: write some in tests/rules/examples/")
    yield "plain and closed", lambda: is_plain_and_closed(rule)
    for e in real:
        yield f"pullback and keywords of {e}", lambda e=e: test_laws.test_pullbacks(e)
        if test_tangents.active(e):
            yield f"tangent of {e}", lambda e=e: test_tangents.test_tangent(e)
            if primitive not in test_second.LEFT_OUT and any(e is first for first in real[:TWICE]):
                yield f"second order of {e}", lambda e=e: test_second.test_twice(e)
    for e in of_complex:
        yield f"complex pullback of {e}", lambda e=e: test_complex.test_pullbacks_of_complex_numbers(e)
    for e in test_complex.COMPLEX:
        if e.primitive == primitive:
            yield f"complex tangent of {e}", lambda e=e: test_complex.test_tangents_are_like_differences_or_refused(e)


def is_plain_and_closed(rule: Any) -> None:
    from tests.rules import test_laws

    for function in (*test_laws.all_pullbacks(rule), *test_laws.all_terms(rule)):
        test_laws.written(function, set())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="+", help="functions, as numpy.unique")
    options = parser.parse_args()
    from s2sgrad.api import whole

    failed = 0
    for name in options.names:
        start, count = time.perf_counter(), 0
        for title, check in checks(named(name)):
            count += 1
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"), whole.strict():
                    warnings.simplefilter("ignore")
                    check()
            except Exception as error:
                failed += 1
                where = traceback.extract_tb(error.__traceback__)[-1]
                print(f"{title}: {type(error).__name__}: {error}\n    {where.filename}:{where.lineno}")
        print(f"{name}: {count} checks in {time.perf_counter() - start:.1f} s")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
