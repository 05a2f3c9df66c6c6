"""One recorded operation of the rule table, and its pullback: the same rule that the compiler writes out.

    y = np.multiply(x, w); w is followed     ->      rule.pullback(y_bar, y, x, w), of which only w_bar is computed
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.kinds import Array as ArrayKind
from s2sgrad.analysis.kinds import Container, Kind, Number
from s2sgrad.analysis.value_kinds import constant_kind
from s2sgrad.errors import NoRule, Unsupported
from s2sgrad.primitives import spellings
from s2sgrad.rules import binding, table
from s2sgrad.runtime.structure import rebuilt
from s2sgrad.tape.algebra import Algebra, Masked, settled
from s2sgrad.tape.formulas import wanted_of
from s2sgrad.tape.places import caller
from s2sgrad.tape.values import Operand, leaves, unwrapped


class Operation:
    """A call of a primitive; `args` and `keywords` hold Arrays and constants, `result` the Arrays that it gave."""

    __slots__ = ("args", "keywords", "outputs", "primitive", "result", "where")

    def __init__(self, primitive: Any, args: tuple, keywords: dict[str, Any], result: Any, outputs: tuple[int, ...]) -> None:
        self.primitive = _meant(primitive, args, keywords)
        self.args, self.keywords, self.result, self.outputs = args, keywords, result, outputs
        self.where = caller()

    def pull(self, bars: dict[int, Any], live: frozenset[int], on: Algebra) -> list[tuple[int, Any]]:
        """(number of an operand, its cotangent) for the operands in `live`."""
        rule = table.lookup(self.primitive)
        name = binding.name_of(self.primitive)
        if rule is None:
            raise NoRule(
                f"`{name}` has no derivative rule: write the value with functions that have one, give it one with `defvjp`, "
                "or use `stop_gradient`"
            )
        if rule.variadic or self.keywords or len(self.args) != len(rule.differentiable):
            operands, keywords, why = binding.bound(rule, self.primitive, list(self.args), self.keywords)
            if why:
                raise NoRule(why)
        else:
            operands, keywords = self.args, self.keywords
        if _is_complex(self.result) or any(map(_is_complex, operands)):
            raise Unsupported(
                f"complex numbers in `{name}` cannot be differentiated yet: compute with real and imaginary parts"
            )
        y = on.value(self.result)
        g = cotangent(self.result, bars, on)
        given = [on.value(o) for o in operands]
        named = {k: on.value(v) for k, v in keywords.items()}
        kinds: dict[str, Kind] = {}
        if not rule.variadic and (rule.refinements or rule.refusals or rule.keyword_rules):
            names = (*rule.differentiable, *keywords)
            kinds = {n: constant_kind(v) for n, v in rule.keywords.items()}
            kinds |= dict(zip(names, map(_kind, (*operands, *keywords.values())), strict=False))
            refusal = rule.refusal(kinds)
            if refusal is not None:
                raise NoRule(refusal)
        out: list[tuple[int, Any]] = []
        for keyword, value in keywords.items():
            if not _carries(value, live):
                continue
            if keyword not in rule.keyword_rules:
                raise NoRule(
                    f"the keyword `{keyword}` of `{name}` depends on a value that a tape follows, for which there is no "
                    "rule: pass a constant"
                )
            pullback = on.formula(rule.keyword_rules[keyword].choose(kinds))
            _shared(value, pullback(g, y, *given, **named), out, live, on, rule.tag)
        wanted = tuple(k for k, o in enumerate(operands) if _carries(o, live))
        if not wanted:
            return out
        for k in wanted:
            if not rule.variadic and rule.differentiable[k] in rule.constants:
                raise NoRule(rule.constants[rule.differentiable[k]])
        chosen = rule.choose(kinds) if kinds else rule.pullback
        single = len(rule.differentiable) == 1 and not rule.variadic
        if not single and not rule.variadic:
            chosen = wanted_of(chosen, wanted, len(rule.differentiable))
        mask = self._mask(bars) if rule.tag == "elementwise" else None
        if mask is None:
            parts = on.formula(chosen)(g, y, *given, **named)
        else:
            with np.errstate(all="ignore"):  # of places that do not count
                parts = on.formula(chosen)(g, y, *given, **named)
        for k in wanted:
            part = parts if single else parts[k]
            if mask is not None and part is not None:
                part = on.selected(mask, part)
            before = len(out)
            _shared(operands[k], part, out, live, on, rule.tag)
            branch = mask if self.primitive is not np.where else self._branch(k, mask)
            if branch is not None and isinstance(operands[k], Operand):
                narrow = _narrowed(branch, operands[k]._value.shape)
                out[before:] = [(uid, Masked(bar, narrow)) for uid, bar in out[before:]]
        return out

    def _mask(self, bars: dict[int, Any]) -> Any:
        """Where the one result counts, if it is part of a branch of `np.where`."""
        bar = bars.get(self.outputs[0]) if len(self.outputs) == 1 else None
        return bar.mask if isinstance(bar, Masked) else None

    def _branch(self, k: int, mask: Any) -> Any:
        """Where the k-th argument of `np.where` was chosen, and the result counts."""
        chosen = np.broadcast_to(np.asarray(unwrapped(self.args[0]), bool), self.result._value.shape)
        chosen = chosen if k == 1 else ~chosen
        return chosen if mask is None else chosen & mask


def _narrowed(mask: Any, shape: tuple[int, ...]) -> Any:
    """Where an operand of this shape counts, that was broadcast to the mask's shape."""
    if mask.shape == shape:
        return mask
    mask = np.any(mask, axis=tuple(range(mask.ndim - len(shape))))
    stretched = tuple(k for k, n in enumerate(shape) if n == 1 and mask.shape[k] != 1)
    return np.any(mask, axis=stretched, keepdims=True) if stretched else mask


def _meant(primitive: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """`max(xs)` and `max(a, b, c)` have other rules than `max(a, b)`."""
    try:
        if len(args) == 1 and not keywords:
            return spellings.OF_ONE.get(primitive, primitive)
        return spellings.OF_MANY.get(primitive, primitive) if len(args) > 2 and not keywords else primitive
    except TypeError:
        return primitive


def cotangent(result: Any, bars: dict[int, Any], on: Algebra) -> Any:
    """The cotangent of a result, of its structure: zeros where none arrived."""
    if isinstance(result, Operand):
        bar = settled(bars.get(result.uid))
        return runtime.zeros(result._value) if bar is None else bar
    if isinstance(result, (list, tuple, dict)):
        return rebuilt(result, lambda item: cotangent(item, bars, on))
    return runtime.zeros(result)


def _carries(value: Any, live: frozenset[int]) -> bool:
    if isinstance(value, Operand):
        return value.uid in live
    return isinstance(value, (list, tuple, dict)) and any(_carries(leaf, live) for leaf in leaves(value))


def _shared(value: Any, bar: Any, out: list, live: frozenset[int], on: Algebra, tag: str) -> None:
    """The cotangent of an operand as those of the Arrays in it."""
    if bar is None:
        return
    if isinstance(value, Operand):
        if value.uid in live:
            out.append((value.uid, on.fitted(bar, value, tag == "elementwise")))
    elif isinstance(value, (list, tuple, dict)):
        if tag == "elementwise" and not isinstance(value, dict):  # a list that NumPy took for an array
            bar = on.fitted(bar, np.asarray(rebuilt(value, lambda v: v._value if isinstance(v, Operand) else v)), True)
        for place in value if isinstance(value, dict) else range(len(value)):
            _shared(value[place], bar[place], out, live, on, "")


def _kind(v: Any) -> Kind:
    """What the conditions of refinements ask about: a constant number is known, one that a tape follows is not."""
    if isinstance(v, Operand):
        v = v._value
        if not isinstance(v, np.ndarray):
            return Number(type(v))
    elif not isinstance(v, (np.ndarray, list, tuple, dict)):
        return constant_kind(v)
    if isinstance(v, np.ndarray):
        return ArrayKind(None, v.shape)  # of the type of its numbers nobody asks
    items = tuple(_kind(item) for item in (v.values() if isinstance(v, dict) else v))
    return Container(type(v) if type(v) in (list, dict) else tuple, items)


def _is_complex(v: Any) -> bool:
    if isinstance(v, Operand):
        return v._value.dtype.kind == "c"
    if isinstance(v, (list, tuple, dict)):
        return any(map(_is_complex, leaves(v)))
    return v.dtype.kind == "c" if isinstance(v, (np.ndarray, np.generic)) else isinstance(v, complex)
