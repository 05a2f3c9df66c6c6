"""Patterns of calls: what does not depend on values is worked out once, and found by what a rule may ask about.

    np.sum(x, 0), x followed     ->     the pullback of the sum, pruned to what counts; operands (x,), keywords {"axis": 0}

A rule without conditions is asked only which operands are followed.  One with conditions is told shapes and constants.
"""

from __future__ import annotations

import dis
import functools
import types
from typing import Any, Literal

import numpy as np

from s2sgrad.analysis.kinds import Array as ArrayKind
from s2sgrad.analysis.kinds import Container, Kind
from s2sgrad.analysis.kinds import Number as NumberKind
from s2sgrad.analysis.value_kinds import constant_kind
from s2sgrad.errors import NoRule
from s2sgrad.ir.signatures import by_position
from s2sgrad.primitives.spellings import overwrites
from s2sgrad.recorded.formulas import wanted_of
from s2sgrad.recorded.honest import bottoms, honest
from s2sgrad.recorded.places import Where
from s2sgrad.recorded.runs import Lasting, Root, Run
from s2sgrad.recorded.values import Array, Number, bottom
from s2sgrad.rules import binding, table
from s2sgrad.runtime.asking import its


class Kept(Lasting):
    """An operand or a result in a record.  `followed`: its cotangent is wanted. `node`: where that of a number stands.
    `root` and `where`: the memory of an array, and the array in it that tells the part. `borrowed`: its value is needed,
    and is copied before its memory is written."""

    __slots__ = ("borrowed", "followed", "node", "root", "value", "where")

    def __init__(self, value: Any, node: int, root: Root | None, followed: bool) -> None:
        self.value = value
        self.node = node
        self.root = root
        self.followed = followed
        self.where: Any = value if root is not None else None
        self.borrowed = False

    def borrow(self, run: Run) -> None:
        """Say that the value of an array is needed, and not only its shape."""
        if not self.borrowed and self.root is not None:
            self.borrowed = True
            run.borrowed.setdefault(self.root, []).append(self)


def kept_number(number: Number) -> Kept:
    """A number as operand; rules expect NumPy's scalars."""
    return Kept(as_scalar(number.value), number.node, None, True)


def as_scalar(value: Any) -> Any:
    """A number of Python's as one of NumPy's."""
    if type(value) is float:
        return np.float64(value)
    if type(value) is complex:
        return np.complex128(value)
    return Number(as_scalar(value.value), value.node, value.run) if type(value) is Number else value


def kept_array(array: Array, borrows: bool) -> Kept:
    """An array as operand.  What it holds is copied when the memory is written, if it `borrows`: else only its shape
    counts."""
    root = array.root
    kept: Kept
    known = array.kept
    if known is not None and known[0] == root.version and known[1].followed == root.active:
        kept = known[1]
    else:
        kept = Kept(array.value, -1, root, root.active)
        array.kept = root.version, kept
    if borrows:
        kept.borrow(array.run)
    return kept


def kept_plain(value: Any) -> Any:
    """A constant for the record: an array that others may write is copied."""
    if isinstance(value, np.ndarray):
        return value.copy() if value.flags.writeable or value.base is not None else value
    return value


class Prepared:
    """A call pattern of a primitive, bound to its rule.  `branches`: it may leave operands out, element by element;
    `formula`: the pullback of the rule; `reads`: whether it needs the values of the operands, and, last, of the result."""

    __slots__ = ("branches", "elementwise", "formula", "keyword_pullbacks", "name", "passes_over", "primitive", "pullback",
                 "reads", "refusal", "rule", "single", "wanted")  # fmt: skip

    def __init__(
        self, primitive: Any, rule: table.Rule | None, operands: Any, keywords: dict[str, Any], of_complex: bool = False
    ) -> None:  # fmt: skip
        self.primitive, self.rule, self.name = primitive, rule, binding.name_of(primitive)
        self.refusal = None
        self.reads = (True,) * (len(operands) + 1)
        self.elementwise = rule is not None and rule.tag == "elementwise"
        self.passes_over = bool(table.passes_over(primitive, keywords))
        self.branches = self.passes_over or primitive is np.where
        if rule is None:
            self.refusal = (f"`{self.name}` has no derivative rule: write the value with functions that have one, give it "
                            "one with `defvjp`, or use `stop_gradient`")  # fmt: skip
            return
        kinds = _fitting_kinds(rule, operands, keywords, of_complex)
        self.wanted = tuple(k for k, o in enumerate(operands) if carries(o))
        self.single = len(rule.differentiable) == 1 and not rule.variadic
        self.refusal = _refusal(rule, kinds, of_complex) or self._constants()
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
        if not (self.branches or rule.variadic or self.keyword_pullbacks):
            self.reads = _read_by(self.pullback, len(operands))
        self.formula, self.pullback = self.pullback, honest(self.pullback, rule.tag, self.single)

    def _constants(self) -> str | None:
        if self.rule is None or self.rule.variadic:
            return None
        names = (self.rule.differentiable[k] for k in self.wanted)
        return next((self.rule.constants[n] for n in names if n in self.rule.constants), None)

    def refuse(self, where: Where) -> None:
        """NoRule, at the place of the call: there is no derivative."""
        raise NoRule(self.refusal or self.name, where.place())


def _fitting_kinds(rule: table.Rule, operands: Any, keywords: dict[str, Any], of_complex: bool) -> dict[str, Any]:
    """The kinds of the arguments; of lists that the rule refuses those of the arrays that NumPy makes of them."""
    kinds = _kinds(rule, operands, keywords, of_complex)
    if _refusal(rule, kinds, of_complex) and any(isinstance(o, (list, tuple)) for o in operands):
        arrays = [np.empty(np.shape(bottoms(o))) if isinstance(o, (list, tuple)) else o for o in operands]
        return _kinds(rule, arrays, keywords, of_complex)
    return kinds


def _refusal(rule: table.Rule, kinds: dict[str, Any], of_complex: bool) -> str | None:
    """Why a rule has no derivative for arguments of these kinds."""
    if of_complex and not rule.complex and rule.given is None:
        return rule.refusal({"complex": True})
    return rule.refusal(kinds) if kinds else None


@functools.lru_cache(maxsize=4096)
def _read_by(pullback: Any, count: int) -> tuple[bool, ...]:
    """Whether a pullback mentions the operands, and, last, the result.

    >>> _read_by(lambda g, y, a, b: g * y - b, 2)
    (False, True, True)
    """
    code = its(pullback, "__code__", None)
    if code is None or code.co_cellvars or code.co_argcount < count + 2:
        return (True,) * (count + 1)
    read: set[Any] = set()
    for instruction in dis.get_instructions(code):
        names = instruction.argval
        read.update(names if isinstance(names, tuple) else (names,))
    return tuple([name in read for name in (*code.co_varnames[2 : count + 2], code.co_varnames[1])])


def _kinds(rule: table.Rule, operands: Any, keywords: dict[str, Any], of_complex: bool) -> dict[str, Any]:
    """The kinds that the conditions of the rule ask about; empty if it has none."""
    if rule.variadic or not (rule.refinements or rule.refusals or rule.keyword_rules):
        return {}
    kinds: dict[str, Kind] = {n: constant_kind(v) for n, v in rule.keywords.items()}
    names = (*rule.differentiable, *keywords)
    found: dict[str, Any] = kinds | dict(zip(names, map(_kind, (*operands, *keywords.values())), strict=False))
    return found | {"complex": True} if of_complex else found


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


class Primitive:
    """What is known of a primitive, whatever it is called with.  `borrows`: its rule needs values, not only shapes;
    `told`: its rule has no conditions; `lead`: so many arguments by position are neither `out` nor `dtype`, nor let it
    write into its arguments."""

    __slots__ = ("arrangements", "borrows", "changes", "count", "flat", "lead", "of_complex", "of_numbers", "patterns",
                 "primitive", "rule", "told")  # fmt: skip

    def __init__(self, primitive: Any, of_complex: bool = False) -> None:
        self.primitive, self.changes, self.of_complex = primitive, table.changes, of_complex
        alone = table.of_complex_alone(primitive) if of_complex else None
        self.rule = rule = alone or table.lookup(primitive)
        self.flat = table.is_flat(primitive) and alone is None
        self.borrows = rule is None or rule.tag != "linear"
        self.told = rule is not None and not rule.variadic and not (rule.refinements or rule.refusals or rule.keyword_rules)
        # so many operands are in the rule's order as they are
        self.count = -1 if rule is None or rule.variadic else len(rule.differentiable)
        names = by_position(primitive) or ()
        ends = [k for k, name in enumerate(names) if name in ("out", "dtype") or overwrites(name)]
        self.lead = primitive.nin if isinstance(primitive, np.ufunc) else min(ends, default=len(names))
        self.arrangements: dict[Any, tuple[tuple, dict[str, Any], str]] = {}
        self.patterns: dict[Any, Prepared] = {}
        self.of_numbers: dict[Any, Prepared | Literal[False]] = {}

    def arranged(self, operands: tuple, keywords: dict[str, Any]) -> tuple[tuple, dict[str, Any], str]:
        """(operands in the rule's order, keywords by the rule's names, why the rule does not treat the call or "")."""
        form = len(operands), *keywords
        found = self.arrangements.get(form)
        if found is None:
            places = list(range(len(operands)))
            assert self.rule is not None
            order, named, why = binding.bound(self.rule, self.primitive, places, {k: k for k in keywords})
            found = self.arrangements[form] = tuple(order), named, why
        ordered, named, why = found
        given: Any = {**keywords, **dict(enumerate(operands))}
        return tuple([given[k] for k in ordered]), {name: given[k] for name, k in named.items()}, why

    def prepared(self, operands: tuple, keywords: dict[str, Any]) -> tuple[Prepared, tuple, dict[str, Any]]:
        """(the call pattern, its operands in the rule's order, its keywords by the rule's names)."""
        rule, why = self.rule, ""
        if rule is not None and (keywords or len(operands) != self.count):
            operands, keywords, why = self.arranged(operands, keywords)
        if rule is None or why:
            made = Prepared(self.primitive, None, operands, keywords)
            made.refusal = why or made.refusal
            return made, operands, keywords
        key = self.pattern(operands, keywords)
        try:
            found = self.patterns.get(key)
        except TypeError:  # of what has no hash
            key = found = None
        if found is None:
            found = Prepared(self.primitive, rule, operands, keywords, self.of_complex)
            if key is not None:
                if len(self.patterns) >= _MOST:
                    self.patterns.clear()
                self.patterns[key] = found
        return found, operands, keywords

    def pattern(self, operands: tuple, keywords: dict[str, Any]) -> Any:
        """What a prepared call depends on; None where that is not told quickly."""
        if self.told and not keywords:
            return tuple([v.followed if type(v) is Kept else type(v) not in _CONSTANTS and carries(v) for v in operands])
        try:
            told = tuple([_told(v) for v in operands])
            return (told, *[(name, _told(v)) for name, v in keywords.items()]) if keywords else told
        except TypeError:
            return None


def _told(v: Any) -> Any:
    """What a condition may ask about an operand; TypeError where that is not told quickly."""
    kind = type(v)
    if kind is Kept:
        value = v.value if type(v.value) is np.ndarray else bottom(v.value)
        return v.followed, value.shape if v.root is not None else type(value)
    if kind is np.ndarray:
        return v.shape
    if kind in _CONSTANTS:
        return kind, v
    if (kind is list or kind is tuple) and len(v) < _LONG:
        return kind, *map(_told, v)
    if kind is slice:
        return kind, v.start, v.stop, v.step
    raise TypeError(kind)


_MOST = 4096
_LONG = 64
_CONSTANTS = frozenset({int, float, bool, str, type(None), np.float64, np.int64, np.bool_, type(...), type})
_KNOWN: dict[int, Primitive] = {}
_LASTING = frozenset({np.ufunc, type(np.sum), types.FunctionType, types.BuiltinFunctionType, type,
                      types.MethodDescriptorType})  # fmt: skip


def known(primitive: Any, of_complex: bool = False) -> Primitive:
    """What is known of a primitive, remembered where that lasts as long as the program; `of_complex`: of complex numbers."""
    key = -id(primitive) if of_complex else id(primitive)
    found = _KNOWN.get(key)
    if found is not None and found.primitive is primitive and found.changes == table.changes:
        return found
    found = Primitive(primitive, of_complex)
    owner = its(primitive, "__self__", None)
    lasts = type(primitive) in _LASTING and (owner is None or type(owner) is types.ModuleType)
    if lasts and (found.rule is not None or found.flat) and its(primitive, "__closure__", None) is None:
        if len(_KNOWN) >= _MOST:
            _KNOWN.clear()
        _KNOWN[key] = found
    return found
