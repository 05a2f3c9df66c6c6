"""Converts a function with its own gradient to functions of data alone, so that the gradient can be differentiated.

    @custom_gradient                                      def log1pexp(x):
    def log1pexp(x):                                          e = np.exp(x)
        e = np.exp(x)                               ->        return log1pexp_value(np.log(1 + e), x, e)
        return np.log(1 + e), lambda g: g * e / (1 + e)
                                                          def log1pexp_pullback(g, e):
                                                              return g * e / (1 + e)

`log1pexp_value` returns its first argument; its rule calls `log1pexp_pullback` with the captures of the pullback.
"""

from __future__ import annotations

import ast
import dis
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gast

from s2sgrad.errors import NoSource, Unsupported
from s2sgrad.ir.quote import assign, mentioned, nodes
from s2sgrad.ir.quote import name as name_of
from s2sgrad.rules import table
from s2sgrad.runtime.given import fitted, new, require_real
from s2sgrad.source import Primal, brings_gradient, is_method_of, read
from s2sgrad.source.making import made

_MOST = 64  # converted methods kept per function
_HEADS = (gast.FunctionDef, gast.Lambda)


def again(f: Any, args: tuple) -> tuple[Any, int]:
    """A callable that computes `f` and can be differentiated twice, or along a tangent: `f` itself, unless it has its own
    gradient; and the number of arguments bound to it: 1 for a method."""
    receiver: tuple = ()
    if isinstance(f, types.MethodType) and brings_gradient(f.__func__):
        f, receiver = f.__func__, (f.__self__,)
    if not brings_gradient(f):
        return f, 0
    arguments = (*receiver, *args)
    owner = arguments[:1] if arguments and is_method_of(f, arguments[0]) else ()
    conversions = vars(f).setdefault("again", {})
    key = (len(arguments), *map(id, owner))
    if key not in conversions:
        if len(conversions) >= _MOST:
            conversions.clear()
        conversions[key] = _converted(f, len(arguments), owner)
    function = conversions[key]
    bound = types.MethodType(function, arguments[0]) if owner or receiver else function
    return bound, 0 if receiver else len(owner)


@dataclass
class _Own:
    """The parsed text of a function with its own gradient: its tree, its last statement, and the pullback returned there."""

    function: types.FunctionType
    primal: Primal
    tree: gast.FunctionDef
    end: gast.Return
    pullback: Any
    nested: dict[str, gast.FunctionDef]

    @property
    def value(self) -> gast.AST:
        """The value that the function returns with its pullback."""
        return self.end.value.elts[0]

    @property
    def parameters(self) -> list[gast.Name]:
        """The positional parameters of the function."""
        return [*self.tree.args.posonlyargs, *self.tree.args.args]


def _own(f: types.FunctionType, count: int) -> _Own:
    """The text for this number of arguments; raises Unsupported if it does not have the required form."""
    function = vars(f)["custom_gradient"]
    if not isinstance(function, types.FunctionType):
        _refuse(f, "a function of Python's is needed")
    try:
        primal = read(function)
    except NoSource as error:
        _refuse(f, str(error.message))
    tree = primal.fresh_tree()
    returns = [n for n in _own_nodes(tree.body) if isinstance(n, gast.Return)]
    end = tree.body[-1]
    pair: gast.AST = end.value if isinstance(end, gast.Return) else None
    if len(returns) != 1 or not isinstance(pair, gast.Tuple) or len(pair.elts) != 2:
        _refuse(f, "it must end in its only `return value, pullback`", primal.place(returns[0] if returns else tree))
    if tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs or len(tree.args.args) < count:
        _refuse(f, "it must take its arguments by position", primal.place(tree))
    nested = {s.name: s for s in tree.body if isinstance(s, gast.FunctionDef)}
    pullback = nested.get(getattr(pair.elts[1], "id", ""), pair.elts[1])
    if not isinstance(pullback, _HEADS) or pullback.args.vararg or pullback.args.defaults or pullback.args.kwonlyargs:
        _refuse(f, "its pullback must be a lambda or a nested function that is returned by its name", primal.place(end))
    tree.decorator_list = []
    return _Own(function, primal, tree, end, pullback, nested)


def _converted(f: types.FunctionType, count: int, owner: tuple) -> types.FunctionType:
    """The converted function for this number of arguments; a method's `owner` becomes a free name of the text."""
    own = _own(f, count)
    function, tree, code = own.function, own.tree, own.function.__code__
    names = [p.id for p in own.parameters]
    local = {*names, *code.co_varnames, *code.co_cellvars}
    captured, helpers = _captured(own.pullback, own.nested, local - {*code.co_freevars, *names[: len(owner)]})
    receiver = dict(zip(names, owner, strict=False))
    used = mentioned(tree) | local
    name = function.__name__ if function.__name__.isidentifier() else "function"
    base = next(b for b in _bases(name) if f"{b}_value" not in used and f"{b}_pullback" not in used)
    cells = set(code.co_freevars)
    pulled = _pullback_alone(own.pullback, helpers, f"{base}_pullback", captured)
    pull = made(_text(pulled), pulled.name, function, receiver, cells, pulled, own.primal.place)
    bound = {n.id for n in _own_names(tree.body) if isinstance(n.ctx, (gast.Store, gast.Del))}
    asked = {n: _unused(f"{n}_", used) if n in bound else n for n in names[len(owner) : count]}
    tree.body[:0] = [assign(first, name_of(n)) for n, first in asked.items() if first != n]
    valued = _valued(f, base, pull, own.pullback, asked, captured)
    value_arguments = [*asked.values(), *(c for c in captured if c not in asked.values())]
    own.end.value = gast.Call(name_of(f"{base}_value"), [own.value, *map(name_of, value_arguments)], [])
    tree.name, tree.returns = name, None
    tree.args.defaults = []
    for p in own.parameters[: len(owner)]:
        p.id = _unused(f"{p.id}_", used)
    out = made(_text(tree), name, function, {f"{base}_value": valued, **receiver}, cells, tree, own.primal.place)
    out.__defaults__ = function.__defaults__
    return out


def _unused(name: str, used: set[str]) -> str:
    return next(b for b in _bases(name) if b not in used)


def _bases(name: str) -> Iterator[str]:
    while True:
        yield name
        name += "_"


def _refuse(f: types.FunctionType, why: str, place: Any = None) -> None:
    raise Unsupported(f"`{f.__name__}` brings its own gradient, and the gradient of that is made of its text: "
                      f"{why}; or nest two GradientTapes", place)  # fmt: skip


def _own_nodes(body: list[Any]) -> Iterator[Any]:
    """The nodes of statements, without those of nested functions and classes."""
    for statement in body:
        if isinstance(statement, (gast.FunctionDef, gast.ClassDef)):
            continue
        yield statement
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _own_nodes(getattr(statement, part, []))


def _own_names(body: list[Any]) -> Iterator[Any]:
    return (n for n in nodes(*_own_nodes(body)) if isinstance(n, gast.Name))


def _captured(pullback: Any, nested: dict[str, Any], local: set[str]) -> tuple[list[str], list[Any]]:
    """The variables that a pullback reads, and the nested functions that it calls."""
    waiting, helpers, captured = [pullback], [], set()
    while waiting:
        for free in _free(waiting.pop()) & local:
            helper = nested.get(free)
            if helper is None:
                captured.add(free)
            elif helper is not pullback and helper not in helpers:
                helpers.append(helper)
                waiting.append(helper)
    order = [h for h in nested.values() if h in helpers]
    return sorted(captured), order


def _free(function: Any) -> set[str]:
    """The free names of a function."""
    code = compile(_text(function) if isinstance(function, gast.FunctionDef) else f"({_text(function)})", "<text>", "exec")
    waiting, global_names = [c for c in code.co_consts if isinstance(c, types.CodeType)], set()
    while waiting:
        code = waiting.pop()
        global_names |= {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
        waiting += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return global_names


def _text(tree: Any) -> str:
    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(tree)))


def _pullback_alone(pullback: Any, helpers: list[Any], name: str, captured: list[str]) -> gast.FunctionDef:
    """The pullback with its captures as parameters."""
    args = pullback.args
    args.args = [*args.posonlyargs, *args.args, *(gast.Name(c, gast.Param(), None, None) for c in captured)]
    args.posonlyargs, args.defaults = [], []
    body = pullback.body if isinstance(pullback, gast.FunctionDef) else [gast.Return(pullback.body)]
    return gast.FunctionDef(name, args, [*helpers, *body], [], None, None, [])


def _valued(
    f: types.FunctionType, base: str, pull: types.FunctionType, pullback: Any, asked: dict[str, str], captured: list[str]
) -> Callable[..., Any]:
    """The function that returns its first argument, and whose rule calls the pullback: `asked` are the arguments that get
    cotangents (with the names of their initial values), then come the other captures."""
    used = {*asked.values(), *captured}
    bars_name, g, y, value = (_unused(n, used) for n in ("bars", "g", "y", "value"))
    count = len(pullback.args.args) - len(captured)
    bars = [g] if count == 1 else [f"{g}[{k}]" for k in range(count)]
    listed = isinstance(_returned(pullback), (gast.Tuple, gast.List)) or len(asked) != 1
    said = f"the pullback of `{f.__name__}`"
    parts = [f"fitted({bars_name}{f'[{k}]' if listed else ''}, {first}, {said!r}, {n!r})"
             for k, (n, first) in enumerate(asked.items())]  # fmt: skip
    others = [c for c in captured if c not in asked.values()]
    text = (
        f"def {base}_rule({', '.join([g, y, value, *asked.values(), *others])}):\n"
        f"    {bars_name} = {base}_pullback({', '.join([*bars, *captured])})\n"
        f"    return {', '.join(['None', *parts, *['None'] * len(others)])}\n"
    )

    def valued(value: Any, *_: Any) -> Any:
        require_real(value, f"`{f.__name__}`")
        return new(value)

    valued.__name__ = f"{base}_value"
    rule = made(text, f"{base}_rule", vars(f)["custom_gradient"], {f"{base}_pullback": pull, "fitted": fitted}, set())
    table.give(valued, table.Rule(valued, rule, "general"), new=True)
    return valued


def _returned(pullback: Any) -> Any:
    if isinstance(pullback, gast.Lambda):
        return pullback.body
    return next((n.value for n in _own_nodes(pullback.body) if isinstance(n, gast.Return)), None)
