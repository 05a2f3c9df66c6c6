"""Errors that leave a gradient, as the user sees them: with the user's statement, and without our frames.

    ValueError in line 6 of <s2sgrad loss_grad 93e7>   ->   the same error in line 12 of model.py, `h = x @ W`

`S2SGRAD_DEBUG=1` in the environment keeps all frames: for work on s2sgrad itself.
"""

from __future__ import annotations

import ast
import dis
import functools
import linecache
import os
import re
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from s2sgrad.errors import (
    GENERATED,
    MADE,
    Defect,
    Place,
    Refused,
    S2SGradError,
    Unsupported,
    foreign,
    is_written,
    named,
    operands,
)
from s2sgrad.errors.cycles import explained
from s2sgrad.errors.definitions import of_definition, of_instruction
from s2sgrad.errors.wording import Wording
from s2sgrad.runtime.asking import has, its
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.traits import traits

F = TypeVar("F", bound=Callable[..., Any])

_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_BENEATH = ("numpy", "scipy", "gast", "astunparse")  # our dependencies: an error in them belongs to their caller
_RAISE = dis.opmap["RAISE_VARARGS"]
_DELIBERATE = (TypeError, ValueError, RuntimeError, LookupError, AttributeError, AssertionError, OSError)
_generated: dict[int, tuple[Any, dict[int, Place], dict[int, bool], Wording | None]] = {}
_NOTHING: Any = (lambda: None, {}, {}, None)


def register(code: types.CodeType, places: dict[int, Place], derived: dict[int, bool], wording: Wording | None) -> None:
    """Register, for a generated text that was compiled to this code: the user's statement behind each line, which lines
    compute its derivative (and not the statement itself), and what its names mean.  `derived`: by line, whether the shapes
    of its operands fit wherever those of the function do.

    Keyed by the code and not by its file: one text may come from several functions.
    """
    waiting = [code]
    while waiting:
        part = waiting.pop()
        _generated[id(part)] = weakref.ref(part), places, derived, wording
        weakref.finalize(part, _generated.pop, id(part), None).atexit = False
        waiting += [c for c in part.co_consts if isinstance(c, types.CodeType)]


def registered(code: types.CodeType) -> tuple[dict[int, Place], dict[int, bool], Wording | None]:
    """What was registered for a code."""
    _, places, derived, wording = _generated.get(id(code), _NOTHING)
    return places, derived, wording


def behind(code: types.CodeType, line: int) -> Place | None:
    """The user's statement behind a line of a generated text, by the nearest statement that begins there or above."""
    statement = _statement(code, line)
    return None if statement is None else statement[0]


def is_derived(code: types.CodeType, line: int) -> bool:
    """Whether a line of a generated text computes a derivative of the statement behind it."""
    statement = _statement(code, line)
    return statement is not None and statement[1]


def fits(code: types.CodeType, line: int) -> bool:
    """Whether a line of a generated text computes a derivative, and can raise for no shapes if the function did not."""
    code_ref, _, derived, _ = _generated.get(id(code), _NOTHING)
    return code_ref() is code and derived.get(line, False)


def _statement(code: types.CodeType, line: int) -> tuple[Place, bool] | None:
    """The user's place behind a line of a generated text, and whether the line computes a derivative."""
    code_ref, places, derived, _ = _generated.get(id(code), _NOTHING)
    if code_ref() is not code or not places:
        return None
    above = [k for k in places if k <= line]
    first = max(above) if above else min(places)
    return places[first], first in derived


def statements_at(file: str, line: int) -> set[Place]:
    """The user's statements behind a line of the generated texts of this name."""
    codes = [(c, known) for ref, known, *_ in list(_generated.values()) if (c := ref()) is not None]
    found = {known[line] for code, known in codes if code.co_filename == file and line in known}
    return {place for place in found if not is_written(place.file)}


def places(code: types.CodeType) -> dict[int, Place]:
    """The user's statements behind the lines of a generated text, by the first line of each statement."""
    code_ref, located_lines, _, _ = _generated.get(id(code), _NOTHING)
    return located_lines if code_ref() is code else {}


def wording(code: types.CodeType) -> Wording | None:
    """How messages refer to the names of a generated text."""
    code_ref, _, _, words = _generated.get(id(code), _NOTHING)
    return words if code_ref() is code else None


def entry(function: F) -> F:
    """Decorate a public function, so that its errors are `located`; its first argument is the user's function, if any."""

    @functools.wraps(function)
    def called(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except Exception as error:
            __tracebackhide__ = True  # for pytest and IPython, which can hide this frame as well
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:  # the call does not fit
                error = foreign.answered(error, function, args, keywords).with_traceback(None)
                error.__suppress_context__ = True
            else:
                names = _parameters(args[0]) if args else ()
                error = explained(error, (*args[1:], *keywords.values(), *args[:1]), names)
                error = located(error, args[0] if args else None)
            behind = error.__traceback__
            try:
                raise error
            except Exception:
                leaving(error, error, behind)
                raise  # which adds no frame

    return called  # type: ignore[return-value]


def _parameters(function: Any) -> tuple[str, ...]:
    """The names of the parameters of a function, or of that which a derivative is of, without what is bound already."""
    function = its(function, "primal", function)
    code = its(behind_call(function), "__code__", None)
    bound = isinstance(function, types.MethodType) or behind_call(function) is not function
    return code.co_varnames[bound : code.co_argcount] if isinstance(code, types.CodeType) else ()


def leaving(last: Exception, error: Exception, behind: types.TracebackType | None) -> None:
    """Before a bare `raise` of a public function: where the user has called it, `error` shows the frames `behind` alone.

    Not even the frame of the public function is left: a user sees the statement that called it.  A function of ours that
    called it looks at where the error was raised.  `last` is this error, or a refusal of what was tried instead.
    """
    if is_ours(sys._getframe(2).f_code.co_filename):
        return
    if last is error:
        last.__traceback__ = behind
    elif isinstance(last, S2SGradError):
        last.__traceback__, last.__suppress_context__ = None, True


class Reported:
    """How many failed run-time checks users have seen; whoever sees one may do something about it, and try again."""

    count = 0


def located(error: Exception, function: Any = None) -> Exception:
    """The error to raise instead of this one: with the user's place, and without our frames.

    If no statement or frame of the user's is responsible, the place is the head of `function`.  A failed run-time check
    becomes a `Refused`, a failure of the compiler a `Defect`; all others keep their type.
    """
    frames = _frames(error)
    statements = [entry for t in reversed(frames) if (entry := _statement(t.tb_frame.f_code, t.tb_lineno)) is not None]
    statement = next((entry for entry in statements if not is_written(entry[0].file)), None)
    place = head(function) if statement is None else statement[0]
    if isinstance(error, Refusal):
        error = Refused(error.message, place).with_traceback(error.__traceback__)
        Reported.count += 1
    elif is_defect(error):
        error = defect(error, function)
    elif not isinstance(error, S2SGradError) and place is not None and not _is_noted(error):
        if statement is not None:
            if statement[1] or named(place.file) == place.file:  # a notebook shows the cell, and this would be one line more
                error.add_note(_note(*statement))
        elif not _shows(frames):
            error.add_note(place.shown(caret=False))
    if not isinstance(error, S2SGradError):
        _note_operands(error, frames)
    if isinstance(error, S2SGradError):
        error = _placed(error, place, function)
        error.__suppress_context__ = True
    trim(error)
    return error


def _note_operands(error: Exception, frames: list[types.TracebackType]) -> None:
    """Say of the innermost frame of the user's, or of a generated text, what the statement worked on."""
    for k, frame in reversed([*enumerate(frames)]):
        if is_ours(_file(frame)) and frame.tb_frame.f_code.co_code[frame.tb_lasti] == _RAISE:
            return  # a message of ours says it
        if not is_installed(_file(frame)):
            naming = wording(frame.tb_frame.f_code)
            if naming is not None or not is_written(_file(frame)):
                outer = [f.tb_frame for f in reversed(frames[:k])]
                operands.noted(error, frame, outer, lambda name: name if naming is None else naming.shown(name))
            return


def _placed(error: S2SGradError, place: Place | None, function: Any) -> S2SGradError:
    """A refusal whose place is in the user's source, if possible."""
    if error.place is not None and is_written(error.place.file) and (called := head(function)) is not None:
        error = _moved(error, error.message, called)
    if error.place is not None and is_hidden(error.place.file):
        user = _last_of_users(error) or head(_unwrapped(function), True)
        if user is not None and not is_hidden(user.file):  # the user's function, wrapped by a library's decorator
            error = _moved(error, in_library(error.message, *error.place[:2]), user)
    if error.place is None and place is not None:
        error = _moved(error, error.message, place)
    return error


def _last_of_users(error: S2SGradError) -> Place | None:
    """Where the user's program has called a library, if an error has left a run of it."""
    frames = [f for f in _frames(error) if not is_installed(_file(f)) and not is_written(_file(f))]
    return of_instruction(frames[-1].tb_frame.f_code, frames[-1].tb_lasti) if frames else None


def _moved(error: S2SGradError, message: str, place: Place) -> S2SGradError:
    """The same refusal at another place."""
    made = type(error)(message, place).with_traceback(error.__traceback__)
    for note in getattr(error, "__notes__", ()):
        made.add_note(note)
    return made


_FORWARD, _DERIVED = "in ", "in the derivative of "


def _note(place: Place, derived: bool) -> str:
    """The note about the statement that raised; unlike a traceback it survives pickling and logging.

    >>> print(_note(Place("model.py", 12, 4, 12, 17, "    y = np.log(x)"), derived=True))
    in the derivative of model.py, line 12: y = np.log(x)
    """
    return f"{_DERIVED if derived else _FORWARD}{named(place.file)}, line {place.line}: {place.text.strip()}"


def _is_noted(error: Exception) -> bool:
    return any(
        note.startswith(('  File "', "  Cell ", _FORWARD)) and ", line " in note for note in getattr(error, "__notes__", ())
    )


def defect(error: Exception, function: Any) -> Defect:
    """The error that reports a failure of s2sgrad on this function."""
    name = its(function, "__qualname__", "this function")
    said = str(error).partition("\n")[0]
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    wrapped_error = Defect(f"s2sgrad itself failed on `{name}` ({what}): please report it with the function", head(function))
    wrapped_error.__cause__ = error
    return wrapped_error


def is_too_deep(error: Exception) -> bool:
    """Whether compilation, or Python's parser on a generated text, exceeded the limit on nesting."""
    if isinstance(error, RecursionError):
        return all(map(is_hidden, map(_file, _frames(error))))
    ours = isinstance(error, SyntaxError) and (error.filename or "").startswith(GENERATED)
    return ours and "too many" in str(error)  # statically nested blocks, levels of indentation


def too_deep(function: Any) -> Unsupported:
    """The refusal of a function that nests too deeply."""
    name = its(function, "__qualname__", "this function")
    return Unsupported(
        f"`{name}`, or what it calls, nests too deeply to be compiled: split the longest chain of `elif`s or the deepest "
        f"blocks into functions, or raise sys.setrecursionlimit (it is {sys.getrecursionlimit()})", head(function)
    )  # fmt: skip


def head(function: Any, decorators: bool = False) -> Place | None:
    """The line of the `def` of a function, or of the function that it stands for; None for one of ours.  With `decorators`
    the line of the first of these."""
    sort, *of = traits(function).origin or ("",)
    function = of[0] if sort == "library" else function
    while type(function).__module__.partition(".")[0] == "s2sgrad" and has(function, "primal"):
        function = function.primal  # the function that a derivative was made from
    function = its(function, "custom_gradient", traits(function).stands_for or function)
    code = its(behind_call(function), "__code__", None)
    if code is not None and is_ours(code.co_filename):  # the wrapper of a user's primitive
        code = its(_unwrapped(function), "__code__", None)
    if code is None or is_written(code.co_filename) or is_ours(code.co_filename):
        return None
    number = code.co_firstlineno
    lines = linecache.getlines(code.co_filename)
    return of_definition(code, lines, decorators) or Place(code.co_filename, number, 0, number, 0, "")


def _unwrapped(function: Any) -> Any:
    """The function that `functools.wraps` says another one, or several in turn, to be made of."""
    met = {id(function)}
    while (inner := its(function, "__wrapped__")) is not None and id(inner) not in met:
        met.add(id(inner))
        function = inner
    return function


def behind_partial(function: Any) -> Any:
    """The callable under nested partials; the argument itself if it is none."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def behind_call(function: Any) -> Any:
    """The function that runs when a method, a partial or an object with `__call__` is called."""
    function = behind_partial(function)
    function = its(function, "differentiated", function)
    call = getattr(type(function), "__call__", None)  # noqa: B004
    plain = has(function, "__code__") or has(function, "__func__") or not hasattr(call, "__code__")
    return its(function, "__func__", function) if plain else call


def calls(error: BaseException) -> list[str]:
    """The user's lines that an error has left, outermost first.

    >>> try:
    ...     raise ValueError
    ... except ValueError as error:
    ...     print(*calls(error))
    <doctest s2sgrad.errors.raised.calls[0]>, line 2: raise ValueError
    """
    frames = ((_file(frame), frame.tb_lineno) for frame in _frames(error))
    users = [(file, line) for file, line in frames if not is_installed(file) and not is_written(file)]
    return [f"{named(file)}, line {line}: {linecache.getline(file, line).strip()}" for file, line in users]


def _in_a_cell(error: S2SGradError) -> list[str]:
    """What IPython shows in the place of a traceback, which repeats each cell: a line for each call, and the error."""
    return [*calls(error), *f"{type(error).__name__}: {error}".splitlines(), *getattr(error, "__notes__", ())]


S2SGradError._render_traceback_ = _in_a_cell  # type: ignore[attr-defined]


def is_ours(filename: str) -> bool:
    """Whether a file belongs to this package."""
    return filename.startswith(_HOME)


def is_hidden(filename: str) -> bool:
    """Whether a file is ours, a dependency's or the standard library's, and not the user's."""
    if is_ours(filename) or filename.startswith(("<frozen ", MADE)):
        return True
    if filename.startswith(_STANDARD) and "-packages" not in filename:
        return True
    loaded = (sys.modules[name].__file__ for name in _BENEATH if name in sys.modules)
    return filename.startswith(tuple(os.path.dirname(file) + os.sep for file in loaded if file))


def is_installed(filename: str) -> bool:
    """Whether a file is hidden, or belongs to any installed package."""
    return is_hidden(filename) or "-packages" in filename


_PACKAGE = re.compile(r"-packages[/\\](\w+)[/\\]")  # the one that a file belongs to


def in_library(message: str, file: str, line: int | None = None) -> str:
    """The message for an error in the source of a library, placed at the user's call.

    >>> print(in_library("`try` is not followed: write an `if`", "/lib/a.py", 4))
    this leads to line 4 of a.py, where `try` is not followed: give what you call a gradient with `custom_gradient`
    >>> in_library("`try` is not followed", "/lib/site-packages/sklearn/svm/base.py", 7).partition(",")[0]
    "this leads to line 7 of sklearn's base.py"
    """
    if is_ours(file):
        return message
    what, where = message.partition(": ")[0], os.path.basename(file)
    package = _PACKAGE.search(file)
    where = where if package is None else f"{package[1]}'s {where}"
    where = where if line is None else f"line {line} of {where}"
    return f"this leads to {where}, where {what}: give what you call a gradient with `custom_gradient`"


def _frames(error: BaseException) -> list[types.TracebackType]:
    frames, trace = [], error.__traceback__
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    return frames


def _file(trace: types.TracebackType) -> str:
    return trace.tb_frame.f_code.co_filename


def is_defect(error: Exception, *kinds: type[Exception]) -> bool:
    """Whether s2sgrad itself failed: no statement of a text and no code of the user's was reached, and the exception was
    not raised on purpose.

    `kinds` are exception types that are never raised on purpose."""
    frames = _frames(error)
    if isinstance(error, (S2SGradError, MemoryError, RecursionError)) or not all(map(is_hidden, map(_file, frames))):
        return False
    if isinstance(error, kinds) or not frames:
        return bool(frames)
    last = frames[-1]
    deliberate = not is_ours(_file(last)) or last.tb_frame.f_code.co_code[last.tb_lasti] == _RAISE
    return not (deliberate and isinstance(error, _DELIBERATE))


def trim(error: BaseException) -> None:
    """Remove our frames from an error and its causes; frames of a generated text are moved to the user's statements."""
    waiting, seen = [] if os.environ.get("S2SGRAD_DEBUG") else [error], set()
    while waiting:
        shown = waiting.pop()
        seen.add(id(shown))
        frames = _frames(shown)
        placed = shown is error and isinstance(error, S2SGradError) and error.place is not None  # in the message
        of_ours = isinstance(error, Defect) and shown is error.__cause__
        trace = None
        for part in reversed(frames[-1:] if of_ours else _user_frames(frames, placed)):
            trace = types.TracebackType(trace, part.tb_frame, part.tb_lasti, part.tb_lineno)
        shown.__traceback__ = trace
        if shown.__context__ is not None and not _user_frames(_frames(shown.__context__), False):
            shown.__suppress_context__ = True  # what we tried before tells a user nothing
        chained = (shown.__cause__, None if shown.__suppress_context__ else shown.__context__)
        waiting += [e for e in chained if e is not None and id(e) not in seen]


def _user_frames(frames: list[types.TracebackType], placed: bool) -> list[types.TracebackType]:
    """The user's frames, and those of generated texts at the user's places, unless the message shows them (`placed`)."""
    kept: list[types.TracebackType] = []
    before: Place | None = None
    for frame in frames:
        place = _behind_generated(frame)
        if place is not None:
            kept += [] if placed or place == before else [_in_place(frame, place)]
            before = place
        elif not (is_written(_file(frame)) or is_hidden(_file(frame))):
            kept.append(frame)
    return kept


def _behind_generated(frame: types.TracebackType) -> Place | None:
    """The user's statement behind a frame of a generated text; None for other frames."""
    place = behind(frame.tb_frame.f_code, frame.tb_lineno)
    return None if place is None or is_written(place.file) else place


def trim_ours(error: Exception) -> None:
    """Remove our frames from an error that passed through any."""
    if any(is_ours(_file(trace)) or _file(trace).startswith(GENERATED) for trace in _frames(error)):
        trim(error)


def trimmed(function: F) -> F:
    """Decorate a public method, so that its errors show none of our frames."""

    @functools.wraps(function)
    def called(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except Exception as error:
            __tracebackhide__ = True
            trim_ours(error)
            behind = error.__traceback__
            try:
                raise error
            except Exception:
                leaving(error, error, behind)
                raise

    return called  # type: ignore[return-value]


def innermost(error: BaseException) -> Place | None:
    """The innermost place in the user's source from which an error was raised."""
    for trace in reversed(_frames(error)):
        line = linecache.getline(_file(trace), trace.tb_lineno).rstrip()
        if not is_hidden(_file(trace)) and line:
            return Place(_file(trace), trace.tb_lineno, len(line) - len(line.lstrip()), trace.tb_lineno, len(line), line)
    return None


def _shows(frames: list[types.TracebackType]) -> bool:
    """Whether the trimmed traceback leads to a statement of the user's."""
    if os.environ.get("S2SGRAD_DEBUG"):
        return False
    return any(
        _behind_generated(t) is not None or not (_file(t).startswith(GENERATED) or is_hidden(_file(t))) for t in frames
    )


def _in_place(trace: types.TracebackType, place: Place) -> types.TracebackType:
    """A frame at a place of the user's, to replace one of a generated text, with the variables that the user knows.

    It is made by raising there, so that its positions are those of the place.
    """
    naming = wording(trace.tb_frame.f_code)
    first, end = (len(place.text[:k].encode()) for k in (place.column, place.end_column))
    where: Any = {"lineno": place.line, "col_offset": first, "end_lineno": place.line,
                  "end_col_offset": end if place.end_line == place.line else len(place.text.encode())}  # fmt: skip
    raising = ast.Raise(ast.Name("@error", ast.Load(), **where), **where)
    name = f"gradient of {naming.of}" if naming is not None and naming.of else "gradient"
    code = compile(ast.Module([raising], []), place.file, "exec").replace(co_name=name, co_qualname=name)
    variables = trace.tb_frame.f_locals
    seen = {k: v for k, v in variables.items() if naming is not None and k in naming.known}
    try:
        exec(code, {"@error": _Reached, "__name__": "__main__", "__file__": place.file}, seen)
    except _Reached as reached:
        outer_trace = reached.__traceback__
    assert outer_trace is not None and outer_trace.tb_next is not None  # raised in `code`, which this frame runs
    return outer_trace.tb_next


class _Reached(Exception):
    """Raised by the statement that makes a frame at the user's place."""


def in_a_text() -> bool:
    """Whether a generated text is running."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and not is_written(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None
