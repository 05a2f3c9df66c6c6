"""How a compilation runs: one at a time, without warnings; and again, without the branches in which something is refused.

if verbose: plot(x)      ->      if verbose: raise Refusal(2, "`plot` has no derivative rule: ..")
"""

from __future__ import annotations

import contextlib
import inspect
import types
import warnings
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, TypeVar

from s2sgrad.analysis import reached_codes
from s2sgrad.driver.cache import LOCK
from s2sgrad.driver.guards import Guards
from s2sgrad.driver.options import Recording
from s2sgrad.driver.pauses import without_collection
from s2sgrad.errors import NoRule, NoSource, S2SGradError, Unsupported, raised
from s2sgrad.ir.lookups import Lookups, noted
from s2sgrad.ir.one_compilation import forget
from s2sgrad.memory import behaviour, mod_ref
from s2sgrad.memory.places import Summary, lasts
from s2sgrad.runtime import progress
from s2sgrad.runtime.asking import its
from s2sgrad.source import branches, recording
from s2sgrad.source.branches import Branch
from s2sgrad.specialize.callable_texts import gives_function, gives_iterator

T = TypeVar("T")
_MOST = 12  # branches that are refused in one compilation


def with_branches(
    function: types.FunctionType, compiled: Callable[[Lookups], T], functions_of: Callable[[T], Iterable[Any]],
    strict: bool = False,
) -> T:  # fmt: skip
    """What `compiled` returns: where it refuses something in a branch, that branch raises the refusal when it is taken.

    The text must not call the functions with these branches as they stand, for it is compiled without them: `functions_of`
    a result are those of the text. Where it would, for it needs no adjoint of them, their calls are written out.

    A callee for which no text can be written is recorded when the text runs, unless that is to be `strict`."""
    recorded = frozenset[types.CodeType]()
    refused: list[Branch] = []
    errors: list[S2SGradError] = []
    inlined, whole = False, frozenset[types.CodeType]()
    first: S2SGradError | None = None
    every = Lookups()
    while True:
        code = callee = None
        with branches.without(refused, inlined, whole), recording(recorded):
            try:
                with compiling(function) as lookups:
                    out = compiled(lookups)
                if not refused or not reached_codes.may_run(functions_of(out), branches.codes()):
                    return out
                error, branch = errors[-1], None
            except (Unsupported, NoRule, NoSource) as found:
                error, branch = found, _branch_around(found, function, strict)
                code = branches.callee(found, function.__code__) if isinstance(found, NoRule) else None
                callee = None if strict else _recordable(branches.called(found, function.__code__), recorded)
        every.add(lookups)
        if branch is not None and branch not in refused and error not in errors and len(refused) < _MOST:
            refused.append(branch)
            errors.append(error)
        elif refused and not inlined:
            inlined = True
        elif code is not None and code not in whole and len(whole) < _MOST:  # maybe nobody reads what has no rule
            whole |= {code}
            first = first or error
        elif callee is not None:
            recorded |= {callee}
            first = first or error
        else:
            error = first or error
            error.guards = _guards(function, every)
            raise error


def _guards(function: types.FunctionType, lookups: Lookups) -> Guards | None:
    """The conditions under which a function is refused again; None where they would keep the user's objects alive."""
    guards = Guards(function, lookups, set(), [], [])
    guards.code = weakref.ref(function.__code__)
    guards.sealed()
    return guards if guards.shareable else None


def _branch_around(error: S2SGradError, function: types.FunctionType, strict: bool) -> Branch | None:
    """The branch that is refused for an error. None where the function is rather recorded from the beginning, as no
    recording could follow when its text refuses this: it is the straight way, or more than a rule is missing."""
    branch = branches.around(error)
    if branch is None or not Recording.allowed or strict:
        return branch
    straight = branch.is_rest or isinstance(error, Unsupported)
    return None if branches.leaves_none(branch) or (straight and not runs_again(function)) else branch


def runs_again(function: types.FunctionType, copied: Collection[str] = ()) -> bool:
    """Whether a second run of a function does the same, and leaves nothing behind; `copied`: arguments of which it gets
    copies."""
    try:
        with LOCK:  # a recording asks, too
            writes = mod_ref.of(function)
            return writes.arguments.issubset(copied) and not writes.outside and behaviour.of_function(function).is_repeatable
    except (S2SGradError, RecursionError):
        return False


def _recordable(callees: list[types.FunctionType], recorded: frozenset[types.CodeType]) -> types.CodeType | None:
    """The code of the innermost of these functions that its caller may leave to a recording.  It writes no memory that the
    caller holds, and returns none of it, and no function or object, which the caller would have to follow."""
    for callee in callees if Recording.allowed and len(recorded) < _MOST else ():
        if callee.__code__ not in recorded and not callee.__code__.co_flags & GENERATING:
            with contextlib.suppress(S2SGradError, RecursionError):
                summary = mod_ref.summary_of(callee, {})
                if not any(map(lasts, summary.written | summary.returns)) and not _gives_object(callee, summary):
                    return callee.__code__
    return None


def _gives_object(callee: types.FunctionType, summary: Summary) -> bool:
    """Whether a function returns an object of a class, an iterator, or a container that does more than a list or a dict."""
    return "object" in summary.makes or gives_function(callee) or gives_iterator(callee)


GENERATING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@contextlib.contextmanager
def compiling(function: types.FunctionType | None = None) -> Iterator[Lookups]:
    """Compile without warnings and garbage collection, under the lock, and record what is looked up.

    Too deep nesting is refused; an exception that is no refusal becomes a `Defect` of ours."""
    with LOCK:
        forget()
        try:
            with warnings.catch_warnings(), without_collection(), noted() as lookups, progress.told(_said(function)):
                warnings.simplefilter("ignore")
                yield lookups
        except Exception as error:
            if raised.is_too_deep(error):
                raise raised.too_deep(function) from None
            if raised.is_defect(error, AssertionError):
                raise raised.defect(error, function) from error
            raise
        finally:
            forget()


def _said(function: types.FunctionType | None) -> str:
    return f"compiling {its(function, '__name__', 'a function')}"
