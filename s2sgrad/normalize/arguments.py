"""What `*` and `**` stand for in a call, where the text says it, or the callee's parameters do.

    args = (x, 2.0); f(*args)   ->   f(args[0], args[1])        f(w, *data), f of three   ->   f(w, data[0], data[1])
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad import checks
from s2sgrad.normalize.inlining import Inliner
from s2sgrad.normalize.values import Display, Function, Known, is_plain
from s2sgrad.quote import at, clone, constant, expression, name


class Arguments(Inliner):
    """Writes the arguments of calls one by one."""

    def held(self, node: gast.AST) -> Any: ...

    def missing(self, callee: Any, node: gast.Call) -> int | None:
        """How many arguments a star stands for, if it is the only one and the callee takes a fixed number."""
        function = callee.node if isinstance(callee, Function) else None
        if isinstance(callee, Known) and is_plain(callee.target):
            function = self.read(callee.target).node
        stars = [a for a in node.args if isinstance(a, gast.Starred)]
        if function is None or len(stars) != 1 or node.keywords or function.args.vararg or function.args.defaults:
            return None
        return len([*function.args.posonlyargs, *function.args.args]) - len(node.args) + 1

    def counted(self, argument: gast.Starred, count: int) -> list[Any]:
        """The items of a tuple that must have this length, which is checked when the text runs."""
        if isinstance(self.held(argument.value), Display) or isinstance(argument.value, (gast.Tuple, gast.List)):
            return self.spread(argument)
        data = self.flattener.atom(argument.value)
        if not isinstance(data, gast.Name):
            return self.spread(argument)
        check = self.unit.helper("unpackable", checks.unpackable)
        self.flattener.out += at(argument, gast.Expr(expression("f(v, n)", f=check, v=data, n=count)))
        items = [gast.Subscript(clone(data), constant(k), gast.Load()) for k in range(count)]
        return [self.evaluate(at(argument, item)[0]) for item in items]

    def spread(self, argument: gast.Starred) -> list[Any]:
        value = argument.value
        if isinstance(value, (gast.Tuple, gast.List)):
            return [self.evaluate(e) for e in value.elts]
        held = self.held(value)
        if isinstance(held, Display):
            return list(held.items.values())
        display = self.display(value)
        if isinstance(display, (gast.Tuple, gast.List)):
            places = [constant(k) for k in range(len(display.elts))]
            items = [gast.Subscript(name(value.id), k, gast.Load()) for k in places]
            return [self.evaluate(at(argument, item)[0]) for item in items]
        self.unit.refuse(argument, "`*` before a value whose length is not in the text cannot be followed: name the "
                                   "arguments")  # fmt: skip

    def spread_keywords(self, value: gast.AST) -> dict[str, Any]:
        if isinstance(value, gast.Dict) and all(isinstance(k, gast.Constant) for k in value.keys):
            return {k.value: self.evaluate(v) for k, v in zip(value.keys, value.values, strict=True)}
        display = self.display(value)
        if isinstance(display, gast.Dict) and all(isinstance(k, gast.Constant) for k in display.keys):
            items = {k.value: gast.Subscript(name(value.id), clone(k), gast.Load()) for k in display.keys}
            return {k: self.evaluate(at(value, item)[0]) for k, item in items.items()}
        self.unit.refuse(value, "`**` before a value whose keys are not in the text cannot be followed: name the keywords")

    def starred(self, node: gast.Call) -> None:
        """Name the arguments of a call that `*` and `**` stand for, where the text says what they are."""
        args: list[gast.AST] = []
        for argument in node.args:
            known = isinstance(argument, gast.Starred) and self.display(argument.value) is not None
            args += self.spread(argument) if known else [argument]
        words: list[gast.keyword] = []
        for keyword in node.keywords:
            known = keyword.arg is None and self.display(keyword.value) is not None
            spread = self.spread_keywords(keyword.value) if known else {}
            words += [gast.keyword(k, v) for k, v in spread.items()] if known else [keyword]
        node.args, node.keywords = args, words

    def display(self, node: gast.AST) -> gast.AST | None:
        """The tuple, list or dict that a name stands for and keeps standing for."""
        return self.unit.displays.get(node.id) if isinstance(node, gast.Name) else None
