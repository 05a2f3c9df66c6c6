"""A recorded call of a primitive, and its pullback by the rule that the compiler inlines.

    y = np.multiply(x, w)     ->     entry (pull, prepared, (x, w), {}, y); the sweep: x_bar += rule(y_bar, y, x, w)[0]

What does not depend on values is prepared once for calls of one pattern: shapes, constants, which operands are followed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.analysis.kinds import Array as ArrayKind
from s2sgrad.analysis.kinds import Container, Kind
from s2sgrad.analysis.kinds import Number as NumberKind
from s2sgrad.analysis.value_kinds import constant_kind
from s2sgrad.errors import NoRule, Unsupported
from s2sgrad.recorded.formulas import wanted_of
from s2sgrad.recorded.places import Where, user_place
from s2sgrad.recorded.runs import Root, Run
from s2sgrad.recorded.values import Array, Number, bottom, is_handle
from s2sgrad.rules import binding, table
from s2sgrad.runtime.structure import rebuilt


class Kept:
    """An operand or a result in a record.  `followed`: its cotangent is wanted; `node`: where that of a number stands;
    `root` and `where`: the memory of an array, and the array in it that tells the part."""

    __slots__ = ("followed", "node", "root", "value", "where")

    def __init__(self, value: Any, node: int, root: Root | None, followed: bool) -> None:
        self.value = value
        self.node = node
        self.root = root
        self.followed = followed
        self.where = value if root is not None else None


def kept_number(number: Number) -> Kept:
    """A number as operand; rules expect NumPy's scalars."""
    return Kept(as_scalar(number.value), number.node, None, True)


def as_scalar(value: Any) -> Any:
    """A number of Python's as one of NumPy's."""
    if type(value) is float:
        return np.float64(value)
    return Number(as_scalar(value.value), value.node, value.run) if type(value) is Number else value


def kept_array(array: Array, borrows: bool) -> Kept:
    """An array as operand.  What it holds is copied when the memory is written, if it `borrows`: else only its shape
    counts."""
    root = array.root
    if array.kept is not None and array.kept[0] == root.version and array.kept[1].followed == root.active:
        return array.kept[1]
    kept = Kept(array.value, -1, root, root.active)
    if borrows:
        root.borrowed.append(kept)
        array.kept = root.version, kept
    return kept


class Prepared:
    """A call pattern of a primitive, bound to its rule."""

    __slots__ = ("elementwise", "keyword_pullbacks", "linear", "name", "passes_over", "primitive", "pullback", "refusal",
                 "rule", "single", "wanted", "where")  # fmt: skip

    def __init__(
        self, primitive: Any, rule: table.Rule | None, operands: Any, keywords: dict[str, Any], where: Where
    ) -> None:
        self.primitive, self.rule, self.name = primitive, rule, binding.name_of(primitive)
        self.refusal = None
        self.where = where
        self.linear = rule is not None and rule.tag == "linear"
        self.elementwise = rule is not None and rule.tag == "elementwise"
        self.passes_over = bool(table.passes_over(primitive, keywords))
        if rule is None:
            self.refusal = (f"`{self.name}` has no derivative rule: write the value with functions that have one, give it "
                            "one with `defvjp`, or use `stop_gradient`")  # fmt: skip
            return
        kinds = _kinds(rule, operands, keywords)
        self.wanted = tuple(k for k, o in enumerate(operands) if carries(o))
        self.single = len(rule.differentiable) == 1 and not rule.variadic
        self.refusal = (rule.refusal(kinds) if kinds else None) or self._constants()
        chosen = rule.choose(kinds) if kinds else rule.pullback
        whole = self.single or rule.variadic
        self.pullback = chosen if whole else wanted_of(chosen, self.wanted, len(rule.differentiable))
        self.keyword_pullbacks = {}
        for name in (k for k, v in keywords.items() if carries(v)):
            if name in rule.keyword_rules:
                self.keyword_pullbacks[name] = rule.keyword_rules[name].choose(kinds)
            else:
                self.refusal = (f"the keyword `{name}` of `{self.name}` depends on a value that carries a derivative, for "
                                "which there is no rule: pass a constant")  # fmt: skip

    def _constants(self) -> str | None:
        if self.rule is None or self.rule.variadic:
            return None
        names = (self.rule.differentiable[k] for k in self.wanted)
        return next((self.rule.constants[n] for n in names if n in self.rule.constants), None)

    def require(self, where: Where) -> None:
        """NoRule, at the place of the call, where there is no derivative."""
        if self.refusal is not None:
            raise NoRule(self.refusal, where.place())


def _kinds(rule: table.Rule, operands: Any, keywords: dict[str, Any]) -> dict[str, Kind]:
    """The kinds that the conditions of the rule ask about; empty if it has none."""
    if rule.variadic or not (rule.refinements or rule.refusals or rule.keyword_rules):
        return {}
    kinds: dict[str, Kind] = {n: constant_kind(v) for n, v in rule.keywords.items()}
    names = (*rule.differentiable, *keywords)
    return kinds | dict(zip(names, map(_kind, (*operands, *keywords.values())), strict=False))


def _kind(v: Any) -> Kind:
    if type(v) is Kept:
        value = bottom(v.value)
        return ArrayKind(None, value.shape) if isinstance(value, np.ndarray) else NumberKind(type(value))
    if isinstance(v, np.ndarray):
        return ArrayKind(None, v.shape)
    if not isinstance(v, (list, tuple, dict)):
        return constant_kind(v)
    items = tuple(_kind(item) for item in (v.values() if isinstance(v, dict) else v))
    return Container(type(v) if type(v) in (list, dict) else tuple, items)


def carries(value: Any) -> bool:
    """Whether a recorded operand holds what is followed."""
    if type(value) is Kept:
        return value.followed
    if isinstance(value, (list, tuple)):
        return any(map(carries, value))
    return isinstance(value, dict) and any(map(carries, value.values()))


_PATTERNS: dict[Any, tuple[int, Prepared]] = {}
_MOST = 4096
_CONSTANTS = frozenset({int, float, bool, str, type(None), np.float64, np.int64, np.bool_})


def prepared(
    primitive: Any, operands: tuple, keywords: dict[str, Any], where: Where
) -> tuple[Prepared, Any, dict[str, Any]]:
    """(the call pattern, its operands in the rule's order, its keywords by the rule's names)."""
    key = _pattern(primitive, operands) if not keywords else None
    if key is not None:
        found = _PATTERNS.get(key)
        if found is not None and found[0] == table.changes:
            return found[1], operands, keywords
    rule = table.lookup(primitive)
    why, ordered = "", operands
    if rule is not None and (rule.variadic or keywords or len(operands) != len(rule.differentiable)):
        arguments, keywords, why = binding.bound(rule, primitive, list(operands), keywords)
        ordered, key = tuple(arguments), None
    made = Prepared(primitive, rule if not why else None, ordered, keywords, where)
    if why:
        made.refusal = why
    elif key is not None:
        if len(_PATTERNS) >= _MOST:
            _PATTERNS.clear()
        _PATTERNS[key] = table.changes, made
    return made, ordered, keywords


def _pattern(primitive: Any, operands: tuple) -> Any:
    """What a prepared call depends on; None where that is not told quickly."""
    key: list[Any] = [primitive]
    for v in operands:
        kind = type(v)
        if kind is Kept:
            value = bottom(v.value)
            key.append((v.followed, value.shape if v.root is not None else type(value)))
        elif kind is np.ndarray:
            key.append(v.shape)
        elif kind in _CONSTANTS:
            key.append((kind, v))
        else:
            return None
    try:
        pattern = tuple(key)
        hash(pattern)
    except TypeError:
        return None
    return pattern


# --- in the sweep ------------------------------------------------------------------------------------------------------


def pull(sweep: Any, place: int, entry: tuple) -> None:
    """The adjoint of a recorded call: give each followed operand its cotangent."""
    _, call, operands, keywords, result, where = entry
    arrived, mask = taken(sweep, result)
    if arrived is None:
        return
    call.require(where)
    values = sweep.value(operands)
    named = sweep.value(keywords)
    y = sweep.value(result)
    for name, pullback in call.keyword_pullbacks.items():
        share(sweep, keywords[name], sweep.formula(pullback)(arrived, y, *values, **named), call.rule.tag, None)
    if not call.wanted:
        return
    with contextlib.nullcontext() if mask is None else np.errstate(all="ignore"):
        parts = sweep.formula(call.pullback)(arrived, y, *values, **named)
    probe = parts
    if call.passes_over and sweep.nested:  # where its slopes are 0, whatever the cotangent
        probe = call.pullback(_ones(arrived), bottom_of(result), *bottom_of(operands), **bottom_of(keywords))
    for k in call.wanted:
        part = parts if call.single else parts[k]
        if part is None:
            continue
        share(
            sweep,
            operands[k],
            part,
            call.rule.tag,
            branch_of(call, k, operands, probe if call.single else probe[k], mask, y),
        )


def branch_of(call: Prepared, k: int, operands: Any, part: Any, mask: Any, y: Any) -> Any:
    """Where an operand counts: None for everywhere."""
    if call.primitive is np.where and k:
        chosen = np.broadcast_to(np.asarray(bottom(_value(operands[0])), bool), np.shape(bottom(y)))
        chosen = chosen if k == 1 else ~chosen
        return chosen if mask is None else chosen & mask
    if call.passes_over and not isinstance(part, (tuple, list)):
        return np.asarray(bottom(part)) != 0
    return mask if call.elementwise else None


def _ones(bar: Any) -> Any:
    return rebuilt(bar, _ones) if isinstance(bar, (list, tuple, dict)) else np.ones(np.shape(bottom(bar)))[()]


def _value(v: Any) -> Any:
    return v.value if type(v) is Kept else v


def taken(sweep: Any, result: Any) -> tuple[Any, Any]:
    """(the cotangent of a result with its structure, where it counts); None where none has arrived."""
    if type(result) is Kept:
        return sweep.take(result)
    bars = [sweep.take(r)[0] if type(r) is Kept else None for r in leaves_of(result, [])]
    if all(bar is None for bar in bars):
        return None, None
    ready = iter(bars)
    return _filled(sweep, result, ready), None


def leaves_of(value: Any, out: list[Any]) -> list[Any]:
    """The leaves of nested lists, tuples and dicts."""
    if isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            leaves_of(item, out)
    else:
        out.append(value)
    return out


def _filled(sweep: Any, value: Any, ready: Any) -> Any:
    if isinstance(value, (list, tuple, dict)):
        return rebuilt(value, lambda item: _filled(sweep, item, ready))
    bar = next(ready)
    return sweep.zeros(value.value if type(value) is Kept else value) if bar is None else bar


def share(sweep: Any, operand: Any, bar: Any, tag: str, mask: Any) -> None:
    """Give the handles in an operand their parts of its cotangent."""
    if bar is None:
        return
    if type(operand) is Kept:
        if operand.followed:
            sweep.give(operand, sweep.fitted(bar, operand.value, tag == "elementwise"), mask)
    elif isinstance(operand, (list, tuple, dict)) and carries(operand):
        if tag == "elementwise" and not isinstance(operand, dict):  # a list that NumPy made an array of
            bar = sweep.fitted(bar, np.asarray(bottom_of(operand)), True)
        for key in operand if isinstance(operand, dict) else range(len(operand)):
            share(sweep, operand[key], bar[key], "", None)


def bottom_of(operand: Any) -> Any:
    """A recorded operand with plain values."""
    if type(operand) is Kept:
        return bottom(operand.value)
    if is_handle(operand):
        return bottom(operand)
    return rebuilt(operand, bottom_of) if isinstance(operand, (list, tuple, dict)) else operand


def require_real(name: str, *values: Any) -> None:
    """Unsupported for complex numbers."""
    if any(getattr(getattr(bottom(v), "dtype", None), "kind", "") == "c" or isinstance(bottom(v), complex) for v in values):
        raise Unsupported(f"complex numbers in `{name}` cannot be differentiated yet: compute with real and imaginary parts")


Pull = Callable[[Any, int, tuple], None]
__all__ = ["Kept", "Prepared", "Run", "as_scalar", "carries", "kept_array", "kept_number", "prepared", "pull", "user_place"]
