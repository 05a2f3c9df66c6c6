"""`match` becomes if/elif: the subject is evaluated once, and a pattern becomes a test and bindings.

    match way, n:                             if way == "up":
        case "up", k: return k * x     ->         k = n
        case _: return x                          return k * x
                                              else: return x

Patterns are values, classes, alternatives, and sequences of these against as many values that the subject shows.  What takes
a sequence, a mapping or an object apart that only the run knows is recorded.

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

from typing import NoReturn

import gast

from s2sgrad.ir.quote import assign, at, clone, constant, name, nodes, place_of, rewritten
from s2sgrad.ir.unit import Unit

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
        return self.instance(pattern, subject) if isinstance(pattern, gast.MatchClass) else self.refuse(pattern)

    def either(self, pattern: gast.MatchOr, subject: gast.AST) -> tuple[Test, Bound]:
        """An or-pattern."""
        tests = []
        for alternative in pattern.patterns:
            test, bound = self.of(alternative, subject)
            if bound:
                self.refuse(alternative)
            if not test:
                return [], []
            tests.append(_all(test))
        return [gast.BoolOp(gast.Or(), tests)], []

    def sequence(self, pattern: gast.MatchSequence, subject: gast.AST) -> tuple[Test, Bound]:
        """A sequence pattern, of as many items as a tuple that the subject shows."""
        parts = pattern.patterns
        shown = isinstance(subject, gast.Tuple) and len(subject.elts) == len(parts)
        if not shown or any(isinstance(p, gast.MatchStar) for p in parts):
            self.refuse(pattern)
        both = [self.of(part, item) for part, item in zip(parts, subject.elts, strict=True)]
        return [test for tests, _ in both for test in tests], [pair for _, bound in both for pair in bound]

    def instance(self, pattern: gast.MatchClass, subject: gast.AST) -> tuple[Test, Bound]:
        """A class pattern that reads no attribute."""
        cls = self.unit.resolve(pattern.cls)
        itself = cls in _ITSELF and len(pattern.patterns) == 1
        if not isinstance(cls, type) or pattern.kwd_attrs or (pattern.patterns and not itself):
            self.refuse(pattern)
        test = at(pattern, gast.Call(self.unit.builtin(isinstance), [clone(subject), clone(pattern.cls)], []))
        more, bound = self.of(pattern.patterns[0], subject) if itself else ([], [])
        return test + more, bound

    def refuse(self, pattern: gast.AST) -> NoReturn:
        """Refuse a pattern that takes a value apart."""
        self.unit.refuse(pattern, "what this pattern takes apart is known as the program runs alone: test and unpack it by "
                                  "statements")  # fmt: skip


def _compare(place: gast.AST, left: gast.AST, operator: gast.AST, right: gast.AST) -> gast.AST:
    return at(place, gast.Compare(clone(left), [operator], [clone(right)]))[0]
