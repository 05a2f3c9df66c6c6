"""A function whose derivative is recorded as a whole: it stands where the compiled text would.

    grad(f)(x): Unsupported, line 7 keeps iterators in a list      ->      f is recorded at each call; `.source` says why

Which errors are none of the text's: a missing rule, complex numbers; those the recording raises as well, and then the error
of the compiler is shown.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import types
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from s2sgrad import runtime
from s2sgrad.api import whole_text
from s2sgrad.driver.options import Recording
from s2sgrad.errors import Captured, Defect, NoRule, NoSource, Refused, S2SGradError, Unsupported
from s2sgrad.errors.raised import Reported, in_a_text, is_installed, is_ours, located
from s2sgrad.runtime.checks import ComplexValue, Refusal
from s2sgrad.runtime.results import ComplexResult, NoResult
from s2sgrad.runtime.structure import holds_iterator

if TYPE_CHECKING:
    from s2sgrad.driver.conditions import Bind

_D = TypeVar("_D")
REFUSALS = (Unsupported, NoSource, NoRule)
_MOST = 64  # reasons for which functions of one code have no text


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """Refuse what has no text, instead of recording it."""
    before, Recording.allowed = Recording.allowed, False
    try:
        yield
    finally:
        Recording.allowed = before


def is_recorded(error: Exception) -> bool:
    """Whether a function may be recorded where the compiler raised this."""
    return Recording.allowed and isinstance(error, REFUSALS) and not isinstance(error, Defect)


class Whole:
    """What is used of a compiled text, for a function that is recorded."""

    scalar, unsure, written, gives_up_on, key = False, False, (), (), None
    backend = types.SimpleNamespace(gives_up_on=())

    def __init__(self, function: Callable[..., Any], gradient: Any, error: S2SGradError, asked: Any) -> None:
        self.function, self._asked = run(function, error), asked  # for arguments of which kinds
        self.seed, self.error = gradient._request.word.name, error
        self.below: Any = self
        self.gradient, self._changes = gradient, _changes()

    def holds(self) -> bool:
        """Whether the compiler would say the same: of the same rules, and of the functions and classes that it looked up."""
        if self._changes != _changes() or not Recording.allowed:
            return False
        return self.error.guards is None or _still_refused(self.error, self.gradient, self._asked)

    def tests(self, bind: Bind) -> list[str]:
        """The same, as an expression."""
        return [f"{bind(self.holds)}()"]

    def outside(self) -> dict[str, Any]:
        """No array that the text reads by name."""
        return {}

    def naming(self, error: Exception) -> Exception:
        """The error as it is."""
        return error

    def seed_again(self, seed: Any) -> Any:
        """The seed."""
        return seed

    @property
    def text(self) -> str:
        """Two lines, under the reason."""
        return whole_text.of(self.gradient, self.error)

    def shown(self) -> types.FunctionType:
        """There is no function with this text."""
        raise renewed(self.error)  # its traceback would keep the frames that asked


def _changes() -> int:
    """How often the user has changed rules; the table is imported with the compiler."""
    from s2sgrad.rules import table

    return table.changes


def run(function: Callable[..., Any], error: S2SGradError) -> Callable[..., Any]:
    """The recorded function; where the recording is refused, the error of the compiler, unless a rule alone is missing."""

    def recorded(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except Exception as found:
            if (chosen := chosen_of(error, found)) is found:
                raise
            raise chosen from None

    return recorded


def chosen_of(error: S2SGradError, found: Exception) -> Exception:
    """Of the error of the compiler and what the recording raised, the one to show: of two at one line that of the compiler,
    which knows the kinds."""
    if isinstance(found, NoRule) and not isinstance(error, NoRule) and _line(found) != _line(error):
        return found
    if isinstance(found, Captured):
        return found
    met = is_lost(found) or _is_of_library(found) or _is_beneath(error, found)
    return renewed(error) if met else found


def _line(error: S2SGradError) -> tuple[str, int] | None:
    return None if error.place is None else (error.place.file, error.place.line)


def _is_beneath(error: S2SGradError, found: Exception) -> bool:
    """Whether installed code raised that a refused line calls: it may have met a handle."""
    trace, beneath = found.__traceback__, None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if (file, trace.tb_lineno) == _line(error):
            beneath = False
        elif beneath is not None and not is_ours(file):
            beneath = is_installed(file)
        trace = trace.tb_next
    return bool(beneath)


def _is_of_library(error: Exception) -> bool:
    """Whether a library that met a handle may have raised an error: what is of the wrong type or value, in its own code."""
    from s2sgrad.recorded.values import is_handle

    trace, homes = error.__traceback__, []
    while trace is not None:
        homes.append(trace.tb_frame.f_globals.get("__name__", "").partition(".")[0])
        trace = trace.tb_next
    home = next((h for h in reversed(homes) if h != "s2sgrad"), "")
    if isinstance(error, AttributeError) and is_handle(error.obj):
        return True
    return isinstance(error, (TypeError, ValueError, IndexError)) and home in ("numpy", "scipy")


def is_lost(error: BaseException | None) -> bool:
    """Whether a recording was refused, and not the user's program that raised."""
    while error is not None and not isinstance(error, (NoResult, ComplexResult, MemoryError)):
        if isinstance(error, (S2SGradError, Refusal)):
            return True
        error = error.__cause__ or error.__context__
    return False


def renewed(error: S2SGradError) -> S2SGradError:
    """The error of the compiler; a new object, for it may be raised often."""
    made = type(error)(error.message, error.place)
    made.origins, made.reason, made.guards = error.origins, error.reason, error.guards
    made.args = error.args
    for note in getattr(error, "__notes__", ()):
        made.add_note(note)
    return made.with_traceback(None)


def text_for(made: Any, args: tuple, keywords: dict[str, Any]) -> str:
    """The text of what was compiled; of what is recorded, that of the run for these arguments, where it is short."""
    if not isinstance(made, Whole):
        text: str = made.text
        return text
    return runtime.hook("text_of_run")(made.gradient, args, keywords, made.error) or made.text


def written(made: Any) -> Any:
    """What was compiled; the error of the compiler where there is no text."""
    if isinstance(made, Whole):
        raise renewed(made.error)
    return made


def written_or_recorded(gradient: Any, key: Any) -> Any:
    """A gradient for arguments of these kinds: compiled, or recorded as it runs where no text can be written."""
    whole = gradient._texts.recorded.get(key)
    if whole is not None and whole.holds():
        return whole
    if (kept := _unwritten(gradient, key)) is None:
        try:
            return gradient._of_kinds(key)
        except REFUSALS as error:
            if gradient._request.options.needs_text or not is_recorded(error):
                raise
            kept = renewed(error)
        _note_unwritten(gradient, key, kept)
    function = functools.partial(runtime.hook(gradient.recorded_by), gradient)
    gradient._texts.recorded[key] = Whole(function, gradient, kept, key)
    return gradient._texts.recorded[key]


def _unwritten(gradient: Any, key: Any) -> S2SGradError | None:
    """Why there is no text, if another gradient of a function of this code was told that, and all that was looked up for it
    is as it was."""
    request = gradient._request
    family = request.family(request.function)
    if not family.unwritten or request.options.needs_text or not Recording.allowed:
        return None
    _, known, _ = family.unwritten.get((key, _requested(request)), (0, None, None))
    return None if known is None or not _still_refused(known, gradient, key) else renewed(known)


def _still_refused(error: S2SGradError, gradient: Any, key: Any) -> bool:
    """Whether all that was looked up for a refusal is as it was.

    Refused was the function, or the text of its gradient; that is another one where what it was written for has changed.
    """
    inner = gradient._request.inner
    if inner is None:
        return error.guards.fitting(gradient._request.function) is not None
    if _still_refused(error, inner, key):
        return True
    with contextlib.suppress(S2SGradError):
        text = inner._of_kinds(key).function
        return error.guards.code() is text.__code__ and error.guards.fitting(text) is not None
    return False


def _note_unwritten(gradient: Any, key: Any, error: S2SGradError) -> None:
    request = gradient._request
    family = request.family(request.function)
    if error.guards is None:
        return
    if len(family.unwritten) >= _MOST:
        family.unwritten.clear()
    family.unwritten[key.kept(), _requested(request)] = _changes(), error, None


def _requested(request: Any) -> tuple:
    """Of which gradient it is the derivative."""
    inner = request.inner and request.inner._request
    return (inner.argnums, inner.options, *_requested(inner)) if inner else ()


def may_run_again(gradient: Any, error: Exception, args: tuple, keywords: dict[str, Any]) -> bool:
    """Whether a text was refused as it ran, and a second run, which is recorded, does the same up to there.

    Not where another text calls this one: its derivatives count on what is raised.  The text wrote copies of arrays and
    of their containers, but the caller's own objects.
    """
    if gradient._request.options.needs_text or gradient._request.options.debug or isinstance(gradient._latest, Whole):
        return False
    if not isinstance(error, (Refused, Refusal)):
        return False
    return Recording.allowed and _repeats(gradient, error, args, keywords)


def _repeats(gradient: Any, error: Exception, args: tuple, keywords: dict[str, Any]) -> bool:
    """Whether a second run with these arguments does the same as the text of the latest call."""
    from s2sgrad.analysis.trust import Trust, trust_of_object

    keywords = dict(keywords)
    gradient._request.word.taken(keywords)
    arguments = gradient._request.arguments(args, keywords)
    copied = {name for name, value in arguments.items() if (trust_of_object(value) or Trust.ARRAY) <= Trust.DATA}
    latest = gradient._latest
    repeats = latest is not None and latest.facts.repeats and len(copied) == len(arguments)
    return _is_same_again(error, gradient._request.function, arguments, copied, repeats)


def begins_again(error: Exception, function: types.FunctionType, given: Any) -> bool:
    """The same, of a function whose text raised this error and was given these arguments."""
    if not isinstance(error, (Refused, Refusal)) or not Recording.allowed:
        return False
    return _is_same_again(error, function, given, (), False)


def _is_same_again(
    error: Exception, function: types.FunctionType, given: Any, copied: Collection[str], repeats: bool
) -> bool:
    """Whether a second run of a function does the same; not of an iterator, which the first run may have used up.

    `copied`: the arguments of which the text got copies; `repeats`: the text is known to repeat.
    """
    if isinstance(error.__context__, NoResult) or (isinstance(error, Refused) and not error.is_of_run) or in_a_text():
        return False
    if holds_iterator(given):
        return False
    if repeats:
        return True
    from s2sgrad.driver.attempts import runs_again

    return runs_again(function, copied)


def turns_complex(gradient: Any, error: Exception, args: tuple, keywords: dict[str, Any]) -> bool:
    """Whether a text for real numbers met a complex one, and a second run, by a text for complex ones, does the same."""
    if not isinstance(error, ComplexValue) or gradient._request.options.complex:
        return False
    return not isinstance(gradient._latest, Whole) and _repeats(gradient, error, args, keywords)


def of_complex_numbers(derivative: _D) -> _D:
    """The same derivative, of functions in which complex numbers carry derivatives."""
    given: Any = derivative
    of_complex: _D = given._with(dataclasses.replace(given._request.options, complex=True))
    return of_complex


def another_way(
    gradient: Any, found: Exception, error: Exception, args: tuple, keywords: dict[str, Any]
) -> Callable[..., Any] | None:
    """How to run a gradient again where its text raised `found`, shown as `error`; None where it is not."""
    if turns_complex(gradient, found, args, keywords):
        return _of_complex_numbers
    return _by_a_recording if may_run_again(gradient, error, args, keywords) else None


def _of_complex_numbers(gradient: Any, error: Exception, asked: tuple, seed: Any, args: tuple, keywords: dict) -> Any:
    given = asked[1] if seed is None else {**asked[1], gradient._request.word.name: seed}
    return of_complex_numbers(gradient)(*asked[0], **given)


def _by_a_recording(gradient: Any, error: Exception, asked: tuple, seed: Any, args: tuple, keywords: dict) -> Any:
    return recorded_instead(gradient, error, *args, **keywords)


def recorded_instead(gradient: Any, error: Exception, *args: Any, **keywords: Any) -> Any:
    """What a gradient gives by a recording, where its text was refused as it ran; the error if that is refused, too."""
    try:
        given = runtime.hook(gradient.recorded_by)(gradient, *args, **keywords)
    except Exception as found:
        if is_lost(found) or isinstance(found, NoResult) or _is_of_library(found):
            raise error from None
        raise (error if str(found) in str(error) else located(found, gradient._request.function)) from None
    if isinstance(error, Refused):  # which nobody sees: the text is kept
        Reported.count -= 1
    return given
