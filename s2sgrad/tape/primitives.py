"""A recorded operation of the rule table, and its pullback: by the same rule that the compiler inlines.

y = np.multiply(x, w); w is followed     ->      rule.pullback(y_bar, y, x, w), pruned to w_bar
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.kinds import Array as ArrayKind
from s2sgrad.analysis.kinds import Container, Kind, Number
from s2sgrad.analysis.value_kinds import constant_kind
from s2sgrad.errors import NoRule, Unsupported
from s2sgrad.primitives import spellings
from s2sgrad.recorded.formulas import wanted_of
from s2sgrad.rules import binding, table
from s2sgrad.runtime.structure import rebuilt
from s2sgrad.tape.algebra import Algebra, Masked, settled
from s2sgrad.tape.places import caller
from s2sgrad.tape.values import Operand, leaves, unwrapped


class Operation:
    """A call of a primitive; `args` and `keywords` hold Arrays and constants, `result` the Arrays that it returned."""

    __slots__ = ("args", "keywords", "outputs", "primitive", "result", "where")

    def __init__(self, primitive: Any, args: tuple, keywords: dict[str, Any], result: Any, outputs: tuple[int, ...]) -> None:
        self.primitive = _primitive_for(primitive, args, keywords)
        self.args, self.keywords, self.result, self.outputs = args, keywords, result, outputs
        self.where = caller()

    def pull(self, bars: dict[int, Any], live: frozenset[int], on: Algebra) -> list[tuple[int, Any]]:
        """Pairs (uid of an operand, its cotangent) for the operands in `live`."""
        call = _Call.of(self)
        followed = [k for k, v in call.keywords.items() if _carries(v, live)]
        wanted = tuple(k for k, o in enumerate(call.operands) if _carries(o, live))
        call.require_rules(followed, wanted)
        values = [cotangent(self.result, bars, on), *(on.value(v) for v in (self.result, *call.operands))]
        named = {k: on.value(v) for k, v in call.keywords.items()}
        out: list[tuple[int, Any]] = []
        for keyword in followed:
            pullback = on.formula(call.rule.keyword_rules[keyword].choose(call.kinds))
            _shared(call.keywords[keyword], pullback(*values, **named), out, live, on, call.rule.tag)
        if not wanted:
            return out
        mask = self._mask(bars) if call.rule.tag == "elementwise" else None
        with contextlib.nullcontext() if mask is None else np.errstate(all="ignore"):  # for masked elements
            parts = on.formula(call.pullback(wanted))(*values, **named)
        for k in wanted:
            part = parts if call.is_single else parts[k]
            if mask is not None and part is not None:
                part = on.selected(mask, part)
            before = len(out)
            _shared(call.operands[k], part, out, live, on, call.rule.tag)
            branch = mask if self.primitive is not np.where else self._branch(k, mask)
            if branch is not None and isinstance(call.operands[k], Operand):
                narrow = _narrowed(branch, call.operands[k]._value.shape)
                out[before:] = [(uid, Masked(bar, narrow)) for uid, bar in out[before:]]
        return out

    def _mask(self, bars: dict[int, Any]) -> Any:
        """Where the result counts, if it is part of a branch of `np.where`; else None."""
        bar = bars.get(self.outputs[0]) if len(self.outputs) == 1 else None
        return bar.mask if isinstance(bar, Masked) else None

    def _branch(self, k: int, mask: Any) -> Any:
        """Where the k-th argument of `np.where` was selected and the result counts."""
        chosen = np.broadcast_to(np.asarray(unwrapped(self.args[0]), bool), self.result._value.shape)
        chosen = chosen if k == 1 else ~chosen
        return chosen if mask is None else chosen & mask


@dataclass
class _Call:
    """An operation bound to its rule; `kinds`: the types that the conditions of the rule ask for, empty if it has none."""

    name: str
    rule: table.Rule
    operands: Sequence[Any]
    keywords: dict[str, Any]
    kinds: dict[str, Kind]

    @classmethod
    def of(cls, operation: Operation) -> _Call:
        """Bind the arguments to the parameters of the rule; NoRule or Unsupported where there is no derivative."""
        rule, name = table.lookup(operation.primitive), binding.name_of(operation.primitive)
        if rule is None:
            raise NoRule(
                f"`{name}` has no derivative rule: write the value with functions that have one, give it one with "
                "`defvjp`, or use `stop_gradient`"
            )
        operands, keywords = operation.args, operation.keywords
        if rule.variadic or keywords or len(operands) != len(rule.differentiable):
            operands, keywords, why = binding.bound(rule, operation.primitive, list(operands), keywords)
            if why:
                raise NoRule(why)
        if _is_complex(operation.result) or any(map(_is_complex, operands)):
            raise Unsupported(
                f"complex numbers in `{name}` cannot be differentiated yet: compute with real and imaginary parts"
            )
        kinds: dict[str, Kind] = {}
        if not rule.variadic and (rule.refinements or rule.refusals or rule.keyword_rules):
            names = (*rule.differentiable, *keywords)
            kinds = {n: constant_kind(v) for n, v in rule.keywords.items()}
            kinds |= dict(zip(names, map(_kind, (*operands, *keywords.values())), strict=False))
        return cls(name, rule, operands, keywords, kinds)

    @property
    def is_single(self) -> bool:
        """Whether the pullback returns a single cotangent, not a tuple."""
        return len(self.rule.differentiable) == 1 and not self.rule.variadic

    def require_rules(self, keywords: list[str], wanted: tuple[int, ...]) -> None:
        """NoRule for followed keywords, and for wanted operands, without a cotangent in the rule."""
        refusal = self.rule.refusal(self.kinds) if self.kinds else None
        if refusal is not None:
            raise NoRule(refusal)
        for keyword in keywords:
            if keyword not in self.rule.keyword_rules:
                raise NoRule(
                    f"the keyword `{keyword}` of `{self.name}` depends on a value that a tape follows, for which there is "
                    "no rule: pass a constant"
                )
        for k in wanted if not self.rule.variadic else ():
            if self.rule.differentiable[k] in self.rule.constants:
                raise NoRule(self.rule.constants[self.rule.differentiable[k]])

    def pullback(self, wanted: tuple[int, ...]) -> Any:
        """The pullback for the cotangents of these operands."""
        chosen = self.rule.choose(self.kinds) if self.kinds else self.rule.pullback
        if self.is_single or self.rule.variadic:
            return chosen
        return wanted_of(chosen, wanted, len(self.rule.differentiable))


def _narrowed(mask: Any, shape: tuple[int, ...]) -> Any:
    """The mask, reduced to the shape of an operand that was broadcast to the mask's shape."""
    if mask.shape == shape:
        return mask
    mask = np.any(mask, axis=tuple(range(mask.ndim - len(shape))))
    stretched = tuple(k for k, n in enumerate(shape) if n == 1 and mask.shape[k] != 1)
    return np.any(mask, axis=stretched, keepdims=True) if stretched else mask


def _primitive_for(primitive: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """The primitive that is meant: `max(xs)` and `max(a, b, c)` have other rules than `max(a, b)`."""
    try:
        if len(args) == 1 and not keywords:
            return spellings.OF_ONE.get(primitive, primitive)
        return spellings.OF_MANY.get(primitive, primitive) if len(args) > 2 and not keywords else primitive
    except TypeError:
        return primitive


def cotangent(result: Any, bars: dict[int, Any], on: Algebra) -> Any:
    """The cotangent of a result, with its structure: zeros where none has arrived."""
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
    """Split the cotangent of an operand into those of the Arrays in it, and append them to `out`."""
    if bar is None:
        return
    if isinstance(value, Operand):
        if value.uid in live:
            out.append((value.uid, on.fitted(bar, value, tag == "elementwise")))
    elif isinstance(value, (list, tuple, dict)):
        if tag == "elementwise" and not isinstance(value, dict):  # a list that NumPy converted to an array
            bar = on.fitted(bar, np.asarray(rebuilt(value, lambda v: v._value if isinstance(v, Operand) else v)), True)
        for place in value if isinstance(value, dict) else range(len(value)):
            _shared(value[place], bar[place], out, live, on, "")


def _kind(v: Any) -> Kind:
    """The type of an argument for the conditions of refinements: a constant's value is known, a followed number's is not."""
    if isinstance(v, Operand):
        v = v._value
        if not isinstance(v, np.ndarray):
            return Number(type(v))
    elif not isinstance(v, (np.ndarray, list, tuple, dict)):
        return constant_kind(v)
    if isinstance(v, np.ndarray):
        return ArrayKind(None, v.shape)  # no condition asks for the dtype
    items = tuple(_kind(item) for item in (v.values() if isinstance(v, dict) else v))
    return Container(type(v) if type(v) in (list, dict) else tuple, items)


def _is_complex(v: Any) -> bool:
    if isinstance(v, Operand):
        return v._value.dtype.kind == "c"
    if isinstance(v, (list, tuple, dict)):
        return any(map(_is_complex, leaves(v)))
    return v.dtype.kind == "c" if isinstance(v, (np.ndarray, np.generic)) else isinstance(v, complex)
