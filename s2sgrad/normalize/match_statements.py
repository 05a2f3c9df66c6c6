"""`match` becomes if/elif: the subject is evaluated once, and a pattern becomes a test and bindings.

    match p:                                  if is_sequence(p) and len(p) == 2 and p[0] == 0:
        case (0, y): return y          ->         y = p[1]
        case _: return 1.0                        return y
                                              else: return 1.0

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, k, way):
...     match k + 1, way:
...         case 0 | 1, _:
...             return x
...         case n, "up" if n > 5:
...             return n * x
...     match way:
...         case None:
...             x = -x
...         case str() as word if len(word) > 2:
...             x = 2.0 * x
...     return x
... ''', "match_statements"))
def f(x, k, way):
    t1 = k + 1
    if t1 == 0 or t1 == 1:
        return x
    elif way == 'up':
        n = t1
        if n > 5:
            return n * x
    if way is None:
        x = -x
    elif isinstance(way, str):
        word = way
        if len(word) > 2:
            x = 2.0 * x
    return x
"""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import types
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.forms import minus
from s2sgrad.ir.quote import assign, at, clone, constant, expression, name, nodes, place_of, rewritten
from s2sgrad.ir.unit import Unit
from s2sgrad.source import read

_PLAIN_LOOKUPS = (object.__getattribute__, tuple.__getattribute__)
_ITSELF = {bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple}
"""Classes whose single positional pattern matches the subject itself."""

Test = list[gast.AST]  # conditions that must all hold, in order; empty: the pattern always matches
Bound = list[tuple[str, gast.AST]]


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without `match`, nested functions included."""
    for function in [n for n in nodes(tree) if isinstance(n, gast.FunctionDef)]:
        function.body = rewritten(function.body, lambda s: _matched(unit, s) if isinstance(s, gast.Match) else [s])
    return tree


def _matched(unit: Unit, statement: gast.Match) -> list[gast.AST]:
    unit.syntax.compound.add(place_of(statement))
    parts = [statement.subject, *(p for case in statement.cases for p in (case.pattern, case.guard) if p is not None)]
    rebound = {n for part in parts for n in binds(part)}
    out: list[gast.AST] = []
    if isinstance(statement.subject, gast.Tuple) and not any(isinstance(e, gast.Starred) for e in statement.subject.elts):
        subject: gast.AST = gast.Tuple([_stable(unit, e, rebound, out) for e in statement.subject.elts], gast.Load())
    else:
        subject = _stable(unit, statement.subject, rebound, out)
    rest: list[gast.AST] = []
    for case in reversed(statement.cases):
        rest = _case(unit, case, subject, case.body, rest)
    return at(statement, *out) + rest


def binds(node: gast.AST) -> set[str]:
    """The names that a pattern or an expression binds."""
    out = set()
    for part in nodes(node):
        bound = part.rest if isinstance(part, gast.MatchMapping) else getattr(part, "name", None)
        if isinstance(part, gast.NamedExpr):
            bound = part.target.id
        out |= {bound} if isinstance(bound, str) else set()
    return out


def _stable(unit: Unit, value: gast.AST, rebound: set[str], out: list[gast.AST]) -> gast.AST:
    """A value that does not change while the patterns are tested."""
    if isinstance(value, gast.Constant):
        return value
    if isinstance(value, gast.Name) and value.id in unit.locals and value.id not in rebound:
        return value
    holder = unit.temp()
    out.append(assign(holder, value))
    return name(holder)


def _case(
    unit: Unit, case: gast.match_case, subject: gast.AST, body: list[gast.AST], rest: list[gast.AST]
) -> list[gast.AST]:
    """The statements of one case; `rest` are those of the later cases."""
    header = _header(unit, case)
    if isinstance(case.pattern, gast.MatchOr) and binds(case.pattern):
        return _alternatives(unit, case, subject, body, rest)
    test, bound = _Pattern(unit).of(case.pattern, subject)
    bindings = at(header, *(assign(n, value) for n, value in bound))
    if case.guard is None:
        return at(header, gast.If(_all(test), bindings + body, rest)) if test else bindings + body
    if not test:
        return bindings + at(header, gast.If(case.guard, body, rest))
    if not bindings:
        return at(header, gast.If(_all([*test, case.guard]), body, rest))
    if not rest:
        inner = at(header, gast.If(case.guard, body, []))
        return at(header, gast.If(_all(test), bindings + inner, []))
    matched = unit.temp()  # if the guard fails, the names stay bound and the next cases are tested
    on_match = bindings + at(header, assign(matched, case.guard))
    tried = gast.If(_all(test), on_match, at(header, assign(matched, constant(False))))
    return at(header, tried, gast.If(name(matched), body, rest))


def _alternatives(
    unit: Unit, case: gast.match_case, subject: gast.AST, body: list[gast.AST], rest: list[gast.AST]
) -> list[gast.AST]:
    """The statements of a case with alternatives that bind names: the first that matches binds, then the guard is tested."""
    header, matched = _header(unit, case), unit.temp()
    on_match = at(header, assign(matched, constant(True) if case.guard is None else case.guard))
    tried = at(header, assign(matched, constant(False)))
    for alternative in reversed(case.pattern.patterns):
        test, bound = _Pattern(unit).of(alternative, subject)
        chosen = [*at(header, *(assign(n, value) for n, value in bound)), *clone(on_match)]
        tried = at(header, gast.If(_all(test), chosen, tried)) if test else chosen
    return [*tried, *at(header, gast.If(name(matched), body, rest))]


def _header(unit: Unit, case: gast.match_case) -> gast.AST:
    """A node at the place of the line `case ..:`, which becomes the comment above the statements."""
    header, last = at(case.pattern, gast.Pass())[0], case.guard or case.pattern
    header.end_lineno, header.end_col_offset = last.end_lineno, last.end_col_offset
    if unit.primal.lines[last.end_lineno - 1].encode()[last.end_col_offset :][:1] == b":":
        header.end_col_offset += 1
    line = unit.primal.lines[header.lineno - 1]
    if line.lstrip().startswith("case"):
        header.col_offset = len(line) - len(line.lstrip())
        unit.syntax.compound.add(place_of(header))
    return header


def _all(tests: Test) -> gast.AST:
    return tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)


class _Pattern:
    """Splits patterns; subjects are names, their items and attributes, constants, and tuples of these."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def of(self, pattern: gast.AST, subject: gast.AST) -> tuple[Test, Bound]:
        """The tests of a pattern on a subject, and the names that it then binds."""
        if isinstance(pattern, gast.MatchValue):
            return [_compare(pattern, subject, gast.Eq(), pattern.value)], []
        if isinstance(pattern, gast.MatchSingleton):
            return [_compare(pattern, subject, gast.Is(), constant(pattern.value))], []
        if isinstance(pattern, gast.MatchAs):
            tests, bound = ([], []) if pattern.pattern is None else self.of(pattern.pattern, subject)
            return tests, bound + ([] if pattern.name is None else [(pattern.name, clone(subject))])
        if isinstance(pattern, gast.MatchOr):
            return self.either(pattern, subject)
        if isinstance(pattern, gast.MatchSequence):
            return self.sequence(pattern, subject)
        if isinstance(pattern, gast.MatchMapping):
            return self.mapping(pattern, subject)
        assert isinstance(pattern, gast.MatchClass)
        return self.instance(pattern, subject)

    def either(self, pattern: gast.MatchOr, subject: gast.AST) -> tuple[Test, Bound]:
        """An or-pattern."""
        tests = []
        for alternative in pattern.patterns:
            test, bound = self.of(alternative, subject)
            if bound:
                self.unit.refuse(alternative, "alternatives within a pattern that bind names are not differentiated yet: "
                                              "write a case for each")  # fmt: skip
            if not test:
                return [], []
            tests.append(_all(test))
        return [gast.BoolOp(gast.Or(), tests)], []

    def sequence(self, pattern: gast.MatchSequence, subject: gast.AST) -> tuple[Test, Bound]:
        """A sequence pattern."""
        inner = pattern.patterns
        star = next((k for k, p in enumerate(inner) if isinstance(p, gast.MatchStar)), None)
        least = len(inner) - (star is not None)
        tests: Test = []
        if isinstance(subject, (gast.Tuple, gast.List)):
            size = len(subject.elts)
            if size < least or (star is None and size > least):
                self.unit.refuse(pattern, f"{size} values never match a pattern of {len(inner)}: leave the case out")
        else:
            if isinstance(subject, gast.Constant):
                self.unit.refuse(pattern, "a constant is no sequence: leave the case out")
            relation = "==" if star is None else ">="
            is_sequence = name(self.unit.helper("is_sequence", runtime.is_sequence))
            length = self.unit.builtin(len)
            text = f"is_sequence(s) and len(s) {relation} n"
            both = expression(text, is_sequence=is_sequence, len=length, s=subject, n=least)
            tests += at(pattern, *both.values)
        bound: Bound = []
        for k, part in enumerate(inner):
            if isinstance(part, gast.MatchStar):
                if part.name is not None:
                    bound.append((part.name, self.middle(subject, k, len(inner) - k - 1)))
                continue
            place = k if star is None or k < star else k - len(inner)
            more, names = self.of(part, _item(subject, place))
            tests += more
            bound += names
        return tests, bound

    def middle(self, subject: gast.AST, before: int, after: int) -> gast.AST:
        """The list that `*name` binds."""
        if isinstance(subject, (gast.Tuple, gast.List)):
            return gast.List(clone(subject.elts[before : len(subject.elts) - after]), gast.Load())
        cut = expression(f"s[{before}:{-after}]" if after else f"s[{before}:]", s=subject)
        return gast.Call(self.unit.builtin(list), [cut], [])

    def mapping(self, pattern: gast.MatchMapping, subject: gast.AST) -> tuple[Test, Bound]:
        """A mapping pattern."""
        mapping = name(self.unit.helper("Mapping", collections.abc.Mapping))
        tests, bound = [_is_instance(self.unit, subject, mapping)], []
        for key in pattern.keys:
            tests.append(_compare(key, key, gast.In(), subject))
        for key, part in zip(pattern.keys, pattern.patterns, strict=True):
            more, names = self.of(part, gast.Subscript(clone(subject), clone(key), gast.Load()))
            tests += more
            bound += names
        if pattern.rest is not None:
            bound.append((pattern.rest, self.others(pattern, subject)))
        return at(pattern, *tests[:1]) + tests[1:], bound

    def others(self, pattern: gast.MatchMapping, subject: gast.AST) -> gast.AST:
        """The dict that `**rest` binds."""
        key = self.unit.local("key")
        if not pattern.keys:
            return expression("{k: d[k] for k in d}", k=key, d=clone(subject))
        named = gast.Tuple(clone(pattern.keys), gast.Load())
        return expression("{k: d[k] for k in d if k not in named}", k=key, d=clone(subject), named=named)

    def instance(self, pattern: gast.MatchClass, subject: gast.AST) -> tuple[Test, Bound]:
        cls = self.unit.resolve(pattern.cls)
        if not isinstance(cls, type):
            self.unit.refuse(pattern.cls, "the class of this pattern is not known when the gradient is compiled: test with "
                                          "isinstance and `if`")  # fmt: skip
        tests = at(pattern, _is_instance(self.unit, subject, pattern.cls))
        parts = list(zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True))
        bound: Bound = []
        if pattern.patterns and any(issubclass(cls, builtin) for builtin in _ITSELF) and "__match_args__" not in dir(cls):
            more, bound = self.of(pattern.patterns[0], subject)
            tests += more
        elif pattern.patterns:
            attributes = getattr(cls, "__match_args__", ())
            if len(attributes) < len(pattern.patterns):
                self.unit.refuse(pattern, f"`{cls.__name__}` has no so many positional patterns: name the attributes")
            parts = list(zip(attributes, pattern.patterns, strict=False)) + parts
        for attribute, part in parts:
            tests += at(part, *self.has(pattern, cls, attribute, subject))
            more, names = self.of(part, gast.Attribute(clone(subject), attribute, gast.Load()))
            tests += more
            bound += names
        return tests, bound

    def has(self, pattern: gast.MatchClass, cls: type, attribute: str, subject: gast.AST) -> Test:
        """Tests that an instance has an attribute; refused if reading the attribute twice might have an effect."""
        plain = types.MemberDescriptorType, types.GetSetDescriptorType
        member = inspect.getattr_static(cls, attribute, None)
        field = attribute in getattr(cls, "_fields", ()) and issubclass(cls, tuple)
        computed = hasattr(type(member), "__get__") and not isinstance(member, plain) and not field
        lookup: Any = cls.__getattribute__
        if computed or hasattr(cls, "__getattr__") or lookup not in _PLAIN_LOOKUPS:
            self.unit.refuse(pattern, f"the attribute `{attribute}` of `{cls.__name__}` is computed, and a pattern would do "
                                      "that more than once: read it before `match`")  # fmt: skip
        if isinstance(member, types.GetSetDescriptorType) or _has_always(cls, attribute):
            return []
        return [gast.Call(self.unit.builtin(hasattr), [clone(subject), constant(attribute)], [])]


def _has_always(cls: type, attribute: str) -> bool:
    """Whether every instance has an attribute: a dataclass field, or one that `__init__` always sets."""
    start = inspect.getattr_static(cls, "__init__")
    if dataclasses.is_dataclass(cls) and start.__code__.co_filename == "<string>":
        return attribute in {field.name for field in dataclasses.fields(cls) if field.init}
    if not isinstance(start, types.FunctionType):
        return False
    try:
        tree = read(start).tree
    except S2SGradError:
        return False
    if any(isinstance(n, gast.Return) for n in nodes(tree)):
        return False
    stores = [t for s in tree.body if isinstance(s, gast.Assign) for t in nodes(*s.targets)]
    targets = [t for t in stores if isinstance(t, gast.Attribute)]
    own = tree.args.args[0].id if tree.args.args else ""
    return any(t.attr == attribute and getattr(t.value, "id", "") == own and isinstance(t.ctx, gast.Store) for t in targets)


def _item(subject: gast.AST, place: int) -> gast.AST:
    if isinstance(subject, (gast.Tuple, gast.List)):
        return subject.elts[place]
    index: Any = constant(place) if place >= 0 else minus(constant(-place))
    return gast.Subscript(clone(subject), index, gast.Load())


def _compare(place: gast.AST, left: gast.AST, operator: gast.AST, right: gast.AST) -> gast.AST:
    return at(place, gast.Compare(clone(left), [operator], [clone(right)]))[0]


def _is_instance(unit: Unit, subject: gast.AST, cls: gast.AST) -> gast.AST:
    return gast.Call(unit.builtin(isinstance), [clone(subject), clone(cls)], [])
