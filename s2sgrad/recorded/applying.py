"""Primitives applied to handles: the innermost run records the call, and what it calls is the business of the outer ones.

y = apply(np.sin, (x,))      x of the inner run, over a handle of the outer one
  ->  y = apply(np.sin, (x.value,)), recorded by the outer run; the inner run records the call, too
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterable
from sys import getrefcount
from typing import Any

import numpy as np

from s2sgrad.errors import Unsupported
from s2sgrad.recorded import operations
from s2sgrad.recorded.operations import Kept, as_scalar, kept_array, kept_number, kept_plain
from s2sgrad.recorded.places import user_place
from s2sgrad.recorded.runs import OPEN, Root, Run, below, refuse
from s2sgrad.recorded.values import (
    COMPLEX,
    FLOATS,
    KEPT,
    PLAIN,
    REALS,
    Array,
    Number,
    bottom,
    handles_in,
    is_complex,
    is_handle,
    lost,
    mapped,
    settled,
)
from s2sgrad.rules import binding, table
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.records import root_of
from s2sgrad.runtime.structure import rebuilt, renewed
from s2sgrad.runtime.subclasses import NUMBERS, is_otherwise, refused_subclass

_NESTED = frozenset({list, tuple})
_TEXTS = (str, bytes, type(None))  # what is given by functions that write digits somewhere
_NONE: dict[str, Any] = {}
_SINGLE = PLAIN - {np.ndarray}
_MOST = 4096  # patterns of calls with numbers, before they are forgotten
_FLAT_TYPES = (bool, int, np.generic, str, bytes, type(None), np.dtype, type, slice, range)


METHODS = {np.ndarray.astype: lambda x, *args, **keywords: x.astype(*args, **keywords),
            np.ndarray.view: lambda x, *args, **keywords: x.view(*args, **keywords)}  # fmt: skip
"""Methods that numbers of NumPy's have, too."""


def innermost(handles: list[Any]) -> Run | None:
    """The run that records a call with these handles; None where all are values again, of runs that are over."""
    run = None
    for h in handles:
        if not h.run.open:
            if OPEN.runs:
                refuse(Refusal(None, KEPT))
        elif run is None or h.run.level > run.level:
            run = h.run
    return run


def apply(primitive: Any, args: tuple, keywords: dict[str, Any] = _NONE, run_by: Any = None) -> Any:
    """`primitive(*args, **keywords)` where there may be handles among the arguments; `run_by`: what computes the value in
    its place."""
    found = _below(args, None)
    if found is None or found[0] is None or (keywords and not PLAIN.issuperset(map(type, keywords.values()))):
        return _apply_among(primitive, args, keywords, run_by)
    run, below, active = found
    if run.level or keywords or run_by is not None:
        y = _called(run, primitive, tuple(below), keywords, run_by)
    elif type(primitive) is np.ufunc:
        y = primitive(*below)
        if active and type(y) is np.ndarray and y.base is None and y.dtype.kind == "f":
            return _fresh(run, primitive, args, _NONE, y)
    else:
        y = METHODS.get(primitive, primitive)(*below)
    if type(y) in FLOATS or (type(y) is Number and y.run.level < run.level):
        if not keywords and all(type(a) is Number or type(a) in _SINGLE for a in args):
            return of_numbers(run, primitive, args, y)
    return recorded(run, primitive, args, keywords, y, active)


def _below(items: Any, run: Any) -> tuple[Any, list[Any], bool] | None:
    """(their run, the values below it, whether one is active) of handles of one run and plain values; None of others."""
    active = False
    below: list[Any] = []
    for a in items:
        kind = type(a)
        if kind is Array or kind is Number:
            if a.run is not run:
                if run is not None or not a.run.open:
                    return None
                run = a.run
            active = active or kind is Number or a.root.active
            below.append(a.value)
        elif kind in PLAIN:
            below.append(a)
        elif kind is list or kind is tuple:
            found = _below(a, run)
            if found is None:
                return None
            run, values, is_active = found
            below.append(kind(values))
            active = active or is_active
        else:
            return None
    return run, below, active


def _called(run: Run, primitive: Any, args: tuple, keywords: dict[str, Any], run_by: Any) -> Any:
    """The call, one level below a run."""
    if run.level:
        if table.given(primitive) is not None:  # code of the user's, which makes arrays
            with below(run):
                return apply(primitive, args, keywords, run_by)
        return apply(primitive, args, keywords, run_by)
    return (run_by or METHODS.get(primitive, primitive))(*args, **keywords)


def _apply_among(primitive: Any, args: tuple, keywords: dict[str, Any], run_by: Any) -> Any:
    """The same, with handles in containers, of several runs, or of none."""
    handles: list[Any] = []
    for a in args:
        handles_in(a, handles)
    for a in keywords.values():
        handles_in(a, handles)
    if not handles:
        return (run_by or METHODS.get(primitive, primitive))(*args, **keywords)
    for a in (*args, *keywords.values()):
        _require_plain(a, _method_of(primitive))
    run = innermost(handles)
    if run is None:
        named = {k: mapped(v, settled) for k, v in keywords.items()}
        return apply(primitive, tuple([mapped(a, settled) for a in args]), named, run_by)

    def lower(h: Any) -> Any:
        return h.value if h.run is run else h

    named = {k: mapped(v, lower) for k, v in keywords.items()}
    y = _called(run, primitive, tuple([mapped(a, lower) for a in args]), named, run_by)
    active = any(h.run is run and (type(h) is Number or h.root.active) for h in handles)
    return recorded(run, primitive, args, keywords, y, active)


def _require_plain(value: Any, methods: frozenset[str]) -> None:
    """Refuse a sequence of the user's own class, at any depth, of which NumPy asks more than its items: `methods`, where it
    is an argument itself, and how it becomes an array.  And a number or array of such a class, with methods of its own."""
    if isinstance(value, (*NUMBERS, np.ndarray)) and not is_handle(value) and is_otherwise(type(value)):
        refuse(Refusal(None, f"an argument is {refused_subclass(type(value))}"))
    if not isinstance(value, (list, tuple)):
        return
    if type(value) not in (list, tuple):
        own = {n for c in type(value).__mro__ if c not in (list, tuple, object) for n in vars(c)}
        if found := sorted(own & (_ASKED | methods)):
            what = (
                f"NumPy asks a `{type(value).__name__}` for `{found[0]}`, which cannot be followed: call it, or give a list"
            )
            refuse(Refusal(None, what))
    for item in value:
        _require_plain(item, frozenset())


@functools.lru_cache(maxsize=1024)
def _method_of(primitive: Any) -> frozenset[str]:
    """The method that a function of NumPy calls of what is no array, as `np.sum` and `np.mean` do, and `np.dot` does not."""
    code = getattr(its(primitive, "__wrapped__", primitive), "__code__", None)
    name = its(primitive, "__name__", "")
    asks = code is not None and not {"_wrapfunc", "_wrapreduction", "_wrapreduction_any_all", name}.isdisjoint(code.co_names)
    return frozenset({name}) if asks else frozenset()


_ASKED = frozenset({"__array__", "__array_function__", "__array_ufunc__", "__array_interface__", "__iter__", "__getitem__",
                    "__len__"})  # fmt: skip


def of_number(primitive: Any, x: Number, run_by: Any = None) -> Any:
    """`primitive(x)` of a number that is a handle."""
    run = x.run
    if not run.open:
        return apply(primitive, (x,), _NONE, run_by)
    y = apply(primitive, (x.value,), _NONE, run_by) if run.level else (run_by or primitive)(x.value)
    kind = type(bottom(y))
    if kind not in REALS or run.complex or (type(y) is Number and y.run.level >= run.level):
        return recorded(run, primitive, (x,), _NONE, y, True)
    known = operations.known(primitive)
    call = known.of_numbers.get(kind)
    if call is None:
        if known.flat:
            return y
        call = known.of_numbers[kind] = _of_numbers(run, known, (x,)) or False
    if call is False or not call.single:
        return recorded(run, primitive, (x,), _NONE, y, True)
    entries = run.entries
    made = Number(y, len(entries), run)
    entries.append((operations.pull_number, call, x.node, as_scalar(x.value), as_scalar(y)))
    return made


def of_numbers(run: Run, primitive: Any, args: tuple, y: Any) -> Any:
    """A number that was made of numbers, as a handle: a short entry, where the rule says no more than slopes."""
    if run.complex or type(bottom(y)) in COMPLEX:
        return recorded(run, primitive, args, _NONE, y, True)
    known = operations.known(primitive)
    if known.flat:
        return y
    entries = run.entries
    told = map(type, args) if known.told else [Number if type(a) is Number else (type(a), a) for a in args]
    form = type(bottom(y)), *told
    call = known.of_numbers.get(form)
    if call is None:
        if len(known.of_numbers) >= _MOST:
            known.of_numbers.clear()
        call = known.of_numbers[form] = _of_numbers(run, known, args) or False
    if call is False:
        return recorded(run, primitive, args, _NONE, y, True)
    made = Number(y, len(entries), run)
    places, values = [], []
    for a in args:
        if type(a) is Number:
            places.append(a.node)
            values.append(as_scalar(a.value))
        else:
            places.append(-1)
            values.append(a)
    entries.append((operations.pull_numbers, call, places, values, as_scalar(y)))
    return made


def _of_numbers(run: Run, known: operations.Primitive, args: tuple) -> operations.Prepared | None:
    """The pattern of a call with numbers; None where it needs more than slopes."""
    call, operands, _ = known.prepared(tuple([kept(run, a) for a in args]), _NONE)
    return None if call.refusal is not None or call.branches or len(operands) != len(args) else call


def _fresh(run: Run, primitive: Any, args: tuple, keywords: dict[str, Any], y: np.ndarray) -> Array:
    """An array in memory of its own, as a handle; it carries a derivative unless the primitive has none."""
    plain = not run.complex and y.dtype.kind == "f"  # the usual case
    known = operations.known(primitive) if plain else _known(run, primitive, args, keywords, y)
    root = run.enter(y, not known.flat)
    result = Array(y, root, run)
    if not known.flat:
        call, operands, named, where = _bound(run, known, args, keywords)
        outcome = Kept(y, -1, root, True)
        result.kept = 0, outcome
        if known.borrows and call.reads[-1]:
            outcome.borrow(run)
        run.entries.append((operations.pull_fresh, call, operands, named, outcome, where))
    return result


def recorded(run: Run, primitive: Any, args: tuple, keywords: dict[str, Any], y: Any, active: bool) -> Any:
    """A result as handles of the run, with an entry where it carries a derivative."""
    if active and type(y) is np.ndarray and y.base is None and y.dtype.kind in "fc" and id(y) not in run.roots:
        return _fresh(run, primitive, args, keywords, y)  # the usual case
    known = _known(run, primitive, args, keywords, y) if active else None
    if known is not None and known.flat:
        active = False
    made: list[Any] = []
    result = lifted(run, y, active, made, primitive)
    run.printed = run.printed or isinstance(y, _TEXTS)
    if made and active and known is not None and not _is_cast_to_int(primitive, y):
        record(run, known, args, keywords, result, made)
    return result


def _known(run: Run, primitive: Any, args: tuple, keywords: dict[str, Any], y: Any) -> operations.Primitive:
    """What is known of a primitive, for real numbers or for complex ones: an operand or the result."""
    if not run.complex:
        found = handles_in(y, []) if isinstance(y, (list, tuple)) else ()
        run.complex = is_complex(y) or any(map(is_complex, found or (y if isinstance(y, (list, tuple)) else ())))
    if not run.complex:
        return operations.known(primitive)
    given = [*args, *keywords.values(), y]
    return operations.known(primitive, any(map(_holds_complex, given)))


def _holds_complex(value: Any) -> bool:
    if isinstance(value, (list, tuple)) and not is_handle(value):
        return any(map(_holds_complex, value))
    return is_complex(value)


def record(
    run: Run, known: operations.Primitive, args: tuple, keywords: dict[str, Any], result: Any, made: list[Any]
) -> None:
    """Append the entry of a call; results that are numbers have their places behind it."""
    place = placed(run, made)
    call, operands, named, where = _bound(run, known, args, keywords)
    outcome = kept(run, result, known.borrows and call.reads[-1])
    if type(outcome) is not Kept:
        outcome = _of_its_own(run, outcome, {h.root for h in made if type(h) is Array})
    run.entries[place] = operations.pull, call, operands, named, outcome, where


def _of_its_own(run: Run, outcome: Any, roots: set[Root]) -> Any:
    """Several results, of which views of other memory than this take no cotangent: it is in that memory already."""
    if type(outcome) is not Kept:
        held = isinstance(outcome, (list, tuple, dict))
        return rebuilt(outcome, lambda item: _of_its_own(run, item, roots)) if held else outcome
    if outcome.root is None or outcome.root in roots:
        return outcome
    view = Kept(outcome.value, -1, outcome.root, False)
    if outcome.borrowed:
        view.borrow(run)
    return view


def placed(run: Run, made: list[Any]) -> int:
    """The place of a new entry, whose results are these handles: numbers have their places there and behind it."""
    entries = run.entries
    place = len(entries)
    entries.append(None)
    count = 0
    for h in made:
        if type(h) is Number:
            h.node = place + count
            if count:
                entries.append(None)
            count += 1
    return place


def _bound(run: Run, known: operations.Primitive, args: tuple, keywords: dict[str, Any]) -> tuple[Any, tuple, dict, Any]:
    """(the pattern of a call, its operands and keywords for the record, where it stands: of one without a derivative)."""
    borrows, told, usual = known.borrows, known.told, not keywords and len(args) == known.count
    found: list[Any] = []
    pattern: list[Any] = []  # as `Primitive.pattern` has it
    for a in args:
        kind = type(a)
        if kind is Array and a.run is run:
            k = a.kept
            fresh = k is None or k[0] != a.root.version or k[1].followed != a.root.active
            found.append(operand := kept_array(a, False) if fresh else k[1])
            pattern.append(operand.followed if told else (operand.followed, bottom(a.value).shape))
        elif kind in _SINGLE:
            found.append(a)
            pattern.append(not told and (kind, a))
        else:
            usual = False
            found.append(kept(run, a, borrows))
    call = known.patterns.get(tuple(pattern)) if usual else None
    if call is not None and call.refusal is None:
        if borrows:
            _borrow_read(run, call, found)
        return call, tuple(found), keywords, None
    return _prepared(run, known, tuple(found), keywords)


def _prepared(
    run: Run, known: operations.Primitive, operands: tuple, keywords: dict[str, Any]
) -> tuple[Any, tuple, dict, Any]:
    """The same, where the pattern is new, or not told quickly."""
    named = {k: kept(run, v) for k, v in keywords.items()} if keywords else keywords
    call, operands, named = known.prepared(operands, named)
    if known.borrows:
        _borrow_read(run, call, operands)
    if named:
        _borrow(run, named.values())  # of a linear rule these are the coefficients
    shown = call.refusal is not None or not _NESTED.isdisjoint(map(type, (*operands, *named.values())))
    return call, operands, named, user_place() if shown else None


def _borrow_read(run: Run, call: operations.Prepared, operands: Iterable[Any]) -> None:
    """Say that the values of the operands are needed that the pullback reads."""
    for operand, is_read in zip(operands, call.reads, strict=False):
        if is_read and type(operand) is Kept and not operand.borrowed:
            operand.borrow(run)


def _borrow(run: Run, values: Iterable[Any]) -> None:
    """Say that the values of what is kept are needed."""
    for value in values:
        if type(value) is Kept and not value.borrowed:
            value.borrow(run)


def kept(run: Run, value: Any, borrows: bool = True) -> Any:
    """An argument or a result for the record: handles of the run as snapshots, arrays that others may write as copies."""
    kind = type(value)
    if kind is Number:
        return kept_number(value) if value.run is run else value
    if kind is Array:
        return kept_array(value, borrows) if value.run is run else value
    if kind is np.ndarray:
        return kept_plain(value)
    if kind is list or kind is tuple:
        return kind([kept(run, item, borrows) for item in value])
    if kind not in PLAIN and isinstance(value, (list, tuple, dict)):
        return rebuilt(value, lambda item: kept(run, item, borrows))
    return value


def _is_cast_to_int(primitive: Any, y: Any) -> bool:
    return primitive is np.ndarray.astype and bottom(y).dtype.kind not in "fc"


# --- results -----------------------------------------------------------------------------------------------------------


def lifted(run: Run, y: Any, active: bool, made: list[Any], primitive: Any = None) -> Any:
    """A result as handles of the run; those that are new, and no views, are appended to `made`."""
    kind = type(y)
    if (kind is Number or kind is Array) and y.run.level >= run.level:
        lost(f"`{binding.name_of(primitive)}`, which reaches what is no argument of it,", "pass it as an array or a number")
    if kind is Number or kind in FLOATS:
        if not active:
            return y
        made.append(number := Number(y, -1, run))
        run.complex = run.complex or is_complex(y)
        return number
    if kind is Array or kind is np.ndarray:
        return _lifted_array(run, y, active, made, primitive)
    if isinstance(y, np.ndarray):
        refuse(Unsupported(f"operators of a {kind.__name__} mean something else than an ndarray's: pass an ndarray"))
    if isinstance(y, (list, tuple, dict)):
        own = isinstance(y, dict) and kind is not dict  # whose items are attributes, too, as those of an OptimizeResult
        each = renewed if own else rebuilt
        return each(copy.copy(y) if own else y, lambda item: lifted(run, _apart(run, item), active, made, primitive))
    if active and not isinstance(y, _FLAT_TYPES) and not table.is_flat(primitive):
        lost(f"`{binding.name_of(primitive)}`, which makes a {kind.__name__},")
    return y


def _lifted_array(run: Run, y: Any, active: bool, made: list[Any], primitive: Any) -> Any:
    b = bottom(y)
    if b.dtype.kind not in "fc":
        if active:
            _require_flat(run, b, primitive)
        return y
    owner = b if b.base is None else owner_of(b)
    run.complex = run.complex or b.dtype.kind == "c"
    root = run.roots.get(id(owner))
    if root is not None and (owner.dtype == b.dtype or is_part(owner, b)):
        return Array(y, root, run)  # a view
    if b.base is None:
        made.append(array := Array(y, run.enter(owner, active), run))
        return array
    if root is not None:
        refuse(Refusal(None, f"a view of the bits of an array as {b.dtype}, through which it may be written unseen: use "
                             "`astype`, or compute `x[::2] + 1j * x[1::2]`"))  # fmt: skip
    if owner.dtype != b.dtype or repeats(b) or owner.base is not None:
        y = apply(np.copy, (y,))
        owner = owner_of(bottom(y))
    made.append(array := Array(y, run.enter(owner, active), run))
    return array


def _apart(run: Run, item: Any) -> Any:
    """One of several results; a part of new memory is copied, of which another result may be the rest."""
    b = bottom(item)
    if type(b) is not np.ndarray or b.base is None or b.dtype.kind not in "fc":
        return item
    owner = owner_of(b)
    return item if id(owner) in run.roots or owner.size == b.size else apply(np.copy, (item,))


def _require_flat(run: Run, b: np.ndarray, primitive: Any) -> None:
    """Refuse an array of no floats that holds what is followed: its parts, its bits, its digits."""
    name, kind = binding.name_of(primitive), b.dtype.kind
    if b.dtype.hasobject or kind == "V":
        lost(f"`{name}`, which makes an array of {'objects' if b.dtype.hasobject else 'records'},")
    if primitive is np.ndarray.view:
        lost("a view of the bits")
    if kind in "US":
        run.printed = True


def _overlaps(b: np.ndarray) -> bool:
    """Whether broadcasting gave one item several places."""
    return 0 in b.strides and any(s == 0 and n > 1 for s, n in zip(b.strides, b.shape, strict=True))


def is_part(owner: np.ndarray, b: np.ndarray) -> bool:
    """Whether a view is of the real or the imaginary parts of complex numbers."""
    return owner.dtype.kind == "c" and b.dtype.kind == "f" and owner.itemsize == 2 * b.itemsize


def repeats(b: np.ndarray) -> bool:
    """Whether a view has several places for one item: by broadcasting, or as sliding windows have."""
    reach = 0
    for stride, n in sorted((abs(s), n) for s, n in zip(b.strides, b.shape, strict=True) if n > 1):
        if stride <= reach:
            return True
        reach += (n - 1) * stride
    return False


def owner_of(b: np.ndarray) -> np.ndarray:
    """The array that owns the memory of a view: the last ndarray behind it, whatever stands in between (`as_strided`)."""
    return b if b.base is None else root_of(b)


def _references(y: np.ndarray) -> int:
    owner = owner_of(y)
    return getrefcount(owner)


def _lone() -> tuple[int, int]:
    """References to a whole array, and to that behind a view, which only a local variable of the caller and the argument
    here hold; those of the question are among them.  Python 3.14 counts fewer."""
    whole, part = np.empty(1), np.empty(2)[:1]
    return _references(whole), _references(part)


_WHOLE, _PART = _lone()


def born(y: Any, more: int = 0) -> Any:
    """A float array that recorded code made, as a handle of every open run: so its stores are seen.  Where others hold its
    memory, no derivative may be stored there: they would read it unseen.  `more`: how many containers hold it."""
    kind = type(y)
    if kind is np.ndarray:
        if y.dtype.kind not in "fc" or not OPEN.runs:
            return y
        owner = owner_of(y)
        foreign = getrefcount(owner) > (_WHOLE + more if owner is y else _PART)
        for run in OPEN.runs:
            y = _of_run(run, y, foreign)
        return y
    if kind is Array and len(OPEN.runs) > 1:
        for run in OPEN.runs:
            if y.run.level < run.level and y.run.open:
                y = _of_run(run, y, False)
        return y
    if (kind is tuple or kind is list) and y and any(type(i) is np.ndarray for i in y):
        return kind(born(i, more + 1) for i in y) if kind in (tuple, list) else y
    return y


def _of_run(run: Run, y: Any, foreign: bool) -> Any:
    owner = owner_of(bottom(y))
    root = run.root_of(owner)
    if root is None:
        b = bottom(y)
        if owner is not b and (owner.dtype != b.dtype or _overlaps(b)):
            return y
        root = run.enter(owner, False, foreign)
        run.complex = run.complex or owner.dtype.kind == "c"
    return Array(y, root, run)


def call_below(run: Run, value: Any) -> Any:
    """The value of a handle of this run, one level below; anything else as it is."""
    return value.value if is_handle(value) and value.run is run else value


__all__ = ["Kept", "Root", "apply", "as_scalar", "born", "call_below", "innermost", "kept", "lifted", "owner_of", "placed",
           "record"]  # fmt: skip
