"""Objects of libraries of which only methods are called: what they were made of goes to each call.

    rv = norm(m, s); y = rv.logpdf(x)     ->     rv_held, rv_held_ = m, s; y = norm.logpdf(x, rv_held, rv_held_)
    y = norm(m, scale=s).cdf(x)                  y = norm.cdf(x, m, scale=s)
    y = gamma(a, scale=s).expect(f)              y = gamma.expect(f, args=(a,), scale=s)
    y = splu(A).solve(b)                         y = solved(made(splu, (a := A)), a, b)

>>> import scipy.stats
>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... import scipy.stats
... def f(x, m, s):
...     rv = scipy.stats.norm(m, scale=s)
...     return rv.logpdf(x) + scipy.stats.gamma(m).mean()
... ''', "library_desugaring"))
def f(x, m, s):
    rv_held = m
    rv_held_ = s
    return scipy.stats.norm.logpdf(x, rv_held, scale=rv_held_) + scipy.stats.gamma.mean(m)
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad.ir import quote
from s2sgrad.ir.quote import Transformer, assign, clone, name, nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.normalize.made_arguments import MadeArguments
from s2sgrad.normalize.name_uses import NameUses
from s2sgrad.primitives import catalogue

_DOING = (gast.Call, gast.NamedExpr, gast.Await, gast.Yield, gast.YieldFrom)  # what may have effects


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with calls of functions in place of those of methods of such objects."""
    rewriter = _Rewriter(unit)
    calls = [node for node in nodes(tree) if isinstance(node, gast.Call)]
    if not any(rewriter.makes(node) for node in nodes(tree)):
        return tree
    rewriter.find(NameUses(tree), calls)
    tree = rewriter.visit(tree)
    rewriter.arguments.require_unwritten(tree)
    return tree


def _called(call: gast.Call) -> tuple[gast.AST, str]:
    """The object of which a call calls a method, and the name of the method."""
    function = call.func
    return (function.value, function.attr) if isinstance(function, gast.Attribute) else (function, "__call__")


class _Rewriter(Transformer):
    """`made`: the names of such objects, with the calls that make them; `held`: what these calls are given, by name."""

    def __init__(self, unit: Unit) -> None:
        self.unit, self.made, self.arguments = unit, dict[str, gast.Call](), MadeArguments(unit)
        self.held: dict[str, tuple[list[gast.AST], list[Any]]] = {}

    def makes(self, node: gast.AST) -> bool:
        """Whether an expression makes such an object, of arguments that are written out."""
        if not isinstance(node, gast.Call) or any(isinstance(a, gast.Starred) for a in node.args):
            return False
        if not isinstance(node.func, (gast.Name, gast.Attribute)) or any(k.arg is None for k in node.keywords):
            return False
        maker = self.unit.resolve(node.func)
        return maker is not MISSING and bool(catalogue.methods_of_made(maker))

    def find(self, uses: NameUses, calls: list[gast.Call]) -> None:
        """Find the variables that are bound once, to such an object, and of which only known methods are called."""
        alone = {n for n in uses.always(also=self.makes) if uses.bound[n] == 1}
        for n in alone:
            made = uses.assigned[n][0]
            read = {id(_called(c)[0]) for c in calls if self.method(c, made) is not None}
            if uses.only_read_in(n, read):
                self.made[n] = made

    def method(self, call: gast.Call, made: gast.Call) -> Any:
        """What stands for a call of a method of such an object."""
        known = catalogue.methods_of_made(self.unit.resolve(made.func)).get(_called(call)[1])
        words = {k.arg for k in call.keywords}
        plain = not any(isinstance(a, gast.Starred) for a in call.args)
        if known is not None and known.arranged is not None:
            plain = plain and None not in words and self.arranged(known, made, made.args, made.keywords) is not None
        else:
            plain = plain and not words
        fits = known is not None and plain and 0 <= len(call.args) - known.takes <= known.options
        return known if fits else None

    def arranged(self, known: Any, made: gast.Call, args: list[gast.AST], keywords: list[Any]) -> list[gast.keyword] | None:
        """What is held as keywords, where a method takes it so."""
        words = known.arranged(self.unit.resolve(made.func), args, {k.arg: k.value for k in keywords})
        if words is None:
            return None
        parts = {n: gast.Tuple([*map(clone, v)], gast.Load()) if isinstance(v, list) else clone(v) for n, v in words.items()}
        return [gast.keyword(n, part) for n, part in parts.items()]

    def visit_Assign(self, statement: gast.Assign) -> Any:
        target = getattr(statement.targets[0], "id", None)
        self.generic_visit(statement)
        if target not in self.made:
            return statement
        call, out = statement.value, []
        known = [*catalogue.methods_of_made(self.unit.resolve(call.func)).values()]

        def hold(value: gast.AST) -> gast.AST:
            if isinstance(value, gast.Constant):
                return value
            local = self.unit.local(f"{target}_held")
            out.append(assign(local, value))
            return name(local)

        args = [hold(a) for a in call.args]
        keywords = [gast.keyword(k.arg, hold(k.value)) for k in call.keywords]
        self.held[target] = args, keywords
        make = known[0].make
        if make is not None:
            out.append(assign(target, self.making(make, call, args, keywords)))
        made_here = quote.at(statement, *(out or [assign(self.unit.local("unused"), quote.constant(None))]))
        held = {n.id for part in (*args, *(k.value for k in keywords)) for n in nodes(part) if isinstance(n, gast.Name)}
        self.arguments.note(call, made_here, {target, *held})
        return made_here

    def making(self, make: Any, call: gast.Call, args: list[gast.AST], keywords: list[Any]) -> gast.AST:
        """The call that makes the object, as a constant."""
        arguments = [call.func, *map(clone, args)]
        return gast.Call(name(self.unit.helper("made", make)), arguments, list(map(clone, keywords)))

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        owner = _called(node)[0]
        if isinstance(owner, gast.Name) and owner.id in self.held:
            return self.called(node, self.made[owner.id], owner, *self.held[owner.id])
        if not self.makes(owner) or (known := self.method(node, owner)) is None:
            return node
        if known.make is None:
            early = any(isinstance(n, _DOING) for part in (*owner.args, *owner.keywords) for n in nodes(part))
            late = any(isinstance(n, _DOING) for part in (*node.args, *node.keywords) for n in nodes(part))
            return node if early and late else self.called(node, owner, owner, owner.args, owner.keywords)
        kept = [gast.NamedExpr(name(self.unit.temp(), store=True), a) for a in owner.args]
        found = [name(part.target.id) for part in kept]
        return self.called(node, owner, self.making(known.make, owner, kept, owner.keywords), found, owner.keywords)

    def called(
        self, node: gast.Call, made: gast.Call, owner: gast.AST, args: list[gast.AST], keywords: list[Any]
    ) -> gast.AST:
        """The call that stands for one of a method."""
        known, held = self.method(node, made), list(map(clone, args))
        if known.function is None:
            function = gast.Attribute(clone(made.func), _called(node)[1], gast.Load())
        else:
            function = name(self.unit.helper(known.function.__name__, known.function))
        if known.arranged is not None:
            words = self.arranged(known, made, args, keywords)
            return quote.at(node, gast.Call(function, node.args, [*node.keywords, *(words or [])]))[0]
        arguments = [*node.args, *held] if known.make is None else [owner, *held, *node.args]
        return quote.at(node, gast.Call(function, arguments, list(map(clone, keywords))))[0]
