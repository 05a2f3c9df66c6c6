"""`grad(f)` and `vjp(f, ..)` of function values, and recursive nested functions, as separate functions.

    grad(lambda t: w * t)(x)     ->     lambda__grad(x, w=w)       of   def lambda_(t, *, w): return w * t
    grad(model.loss)(x)          ->     loss_grad(x, model_w=model_w)

A lambda or a nested function is lifted unchanged (`lambda_lifting`); a method, a partial, or a function that uses one is
first flattened, over new parameters.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... from s2sgrad import grad
... def f(x, w):
...     return grad(lambda t: w * t * t)(x)
... ''', "flatten"))
def f(x, w):
    t1 = lambda__grad(x, w=w)
    result = t1
    return result
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from s2sgrad import emit, pullbacks, runtime, standard
from s2sgrad.analysis import effects
from s2sgrad.ir import notes
from s2sgrad.ir.quote import at, constant, expression, mentioned, name
from s2sgrad.ir.reach import call
from s2sgrad.ir.scoping import bindings
from s2sgrad.ir.signatures import Parameters, signature, signature_of
from s2sgrad.ir.underlying import underlying
from s2sgrad.ir.unit_records import Derived
from s2sgrad.runtime.checkpoints import checkpoint
from s2sgrad.runtime.copies import copied
from s2sgrad.specialize import lambda_lifting
from s2sgrad.specialize.static_values import Derivative, Function, Known, Object, Partial, Value


@dataclass
class Lifted:
    """A function value as a separate function: `captured` are the variables that it receives by keyword (`last`: after its
    arguments), `defaults` the values of missing parameters, `order` its positional parameters."""

    target: Any
    captured: list[str] = field(default_factory=list)
    defaults: dict[str, Any] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)


class Derivatives:
    """Makes separate functions of function values."""

    lifted: dict[Function, tuple[Known, list[str]]]
    method: Callable[[Object, str, gast.AST], Any]

    def call_derivative(self, callee: Derivative, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """A call of the gradient of a function value."""
        closed = {c: name(c) for c in callee.captured}
        defaults = {k: v for k, v in callee.defaults.items() if k not in callee.order[: len(arguments)]}
        return self.plain(callee.known, arguments, {**defaults, **keywords, **closed}, node)

    def derivative(self, node: gast.Call) -> Derivative:
        """`grad(f, ..)` of a function value; the gradient object is made at compile time."""
        options, words = self.constants(node.args[1:], node, "grad")
        make = self.unit.resolve(node.func)
        of = self.callee(node.args[0])
        f = self.as_function(of, node)
        gradient = make(f.target, *options, **words)
        self.unit.made.derived.append(Derived(gradient, f.target, lambda f: make(f, *options, **words)))
        target = Known(gradient, name(self.unit.helper(gradient.__name__, gradient)))
        return Derivative(target, f.captured, f.defaults, f.order, of)

    def checkpointed(self, node: gast.Call) -> Derivative | Known:
        """`checkpoint(f)` of a function value."""
        of = self.callee(node.args[0])
        f = self.as_function(of, node)
        recomputed = underlying(checkpoint(f.target))
        target = Known(recomputed, name(self.unit.helper(getattr(recomputed, "__name__", "f"), recomputed)))
        return target if isinstance(of, Known) else Derivative(target, f.captured, f.defaults, f.order, of)

    def called_again(self, callee: Function, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """A call under `checkpoint` with functions or objects among its arguments, which are bound first."""
        bound = [k for k, v in enumerate(arguments) if isinstance(v, Value)][-1:]
        arguments, data = (arguments[: bound[0] + 1], arguments[bound[0] + 1 :]) if bound else ([], arguments)
        positional = {p.id for p in [*callee.node.args.posonlyargs, *callee.node.args.args][: len(arguments) + len(data)]}
        words = {k: v for k, v in {**callee.defaults, **keywords}.items() if isinstance(v, Value) and k not in positional}
        f = self.as_function(Partial(replace(callee, run_again=False), arguments, words), node)
        recomputed = checkpoint(f.target)
        target = Known(recomputed, name(self.unit.helper(recomputed.__name__, recomputed)))
        rest = {k: v for k, v in keywords.items() if k not in words}
        return self.call_derivative(Derivative(target, f.captured, f.defaults, f.order), data, rest, node)

    def constants(self, arguments: list[gast.AST], node: gast.Call, called: str) -> tuple[list[Any], dict[str, Any]]:
        """The literal values of these arguments of a call, and of its keywords."""
        try:
            values = [ast.literal_eval(emit.expression(a)) for a in arguments]
            return values, {k.arg: ast.literal_eval(emit.expression(k.value)) for k in node.keywords}
        except ValueError:
            self.unit.refuse(node, f"the options of `{called}` inside of a differentiated function must be constants")

    def as_function(self, f: Any, node: gast.AST, last: bool = False, first: bool = False) -> Lifted:
        """A function value as a separate function; with `first`, captures and defaults come before its arguments."""
        if isinstance(f, Known):
            return Lifted(f.target)
        if isinstance(f, Derivative) and not first:
            return Lifted(f.known.target, f.captured, f.defaults, f.order)
        if isinstance(f, Object):
            f = self.method(f, "__call__", node)
        if not isinstance(f, (Function, Partial)) and not first:
            self.unit.refuse(node, "what is differentiated here cannot be followed: name the function")
        lifted = isinstance(f, Function) and (
            lambda_lifting.is_lifted(f.node, self.values) or lambda_lifting.calls_itself(f.node)
        )
        if not lifted or (first and lambda_lifting.calls_itself(f.node)):
            return self.written(f, node, last, first)
        lambda_lifting.require_no_writes(self.unit, f.node)
        words = f.node.args.kwonlyargs
        places = [*f.node.args.posonlyargs, *f.node.args.args]
        defaults = {_keyword(p): f.defaults[p.id] for p in (*words, *places) if p.id in f.defaults}
        target, captured = lambda_lifting.lifted(self.unit, f.node, self.values, last, first)
        order = [_keyword(p) for p in [*places, *(words if last else [])]]
        return Lifted(target, captured, defaults, order)

    def written(self, f: Any, node: gast.AST, last: bool, first: bool = False) -> Lifted:
        """A method, a partial, or a user of these, flattened over the parameters that are still free."""
        inner, bound, words = f, 0, set()
        while isinstance(inner, Partial):
            inner, bound, words = inner.inner, bound + len(inner.given), words | set(inner.keywords)
        base, order, keywords, defaults = self.open_parameters(inner, bound, words, node)
        mine = {p: self.unit.local(p) for p in (*order, *keywords)}
        before = self.unit.locals - set(mine.values())
        kept, self.flattener.out = self.flattener.out, []
        value = self.apply(f, [name(mine[p]) for p in order], {p: name(mine[p]) for p in keywords}, node)
        value = (self.converted(value, node, True) or value) if first else value
        body, self.flattener.out = self.flattener.out, kept
        before -= {n for n, times in bindings(body).items() if times} - self.visible()
        if isinstance(value, Value):
            self.unit.refuse(node, f"`{base}`, which is differentiated here, returns a function or an object, which cannot "
                                   "be followed: return numbers and arrays")  # fmt: skip
        for statement in effects.walk(body):
            for changed in effects.writes(statement) & before:
                self.unit.refuse(node, f"`{changed}` is changed by a function that is differentiated here, which cannot be "
                                       "followed: return the value from it")  # fmt: skip
        body.append(gast.Return(value))
        read = mentioned(*body) & before
        if last:
            order, keywords = [*order, *keywords], []
        ahead = tuple(defaults) if first else None
        target, captured = lambda_lifting.function(self.unit, base, body, mine, len(order), read, last, ahead)
        return Lifted(target, captured, defaults, order)

    def declared(self, f: Any, node: gast.AST) -> tuple[str, Iterable[inspect.Parameter]]:
        """The name and the declared parameters of a function."""
        if isinstance(f, Function):
            return f.name, signature_of(f.node.args, f.defaults).parameters.values()
        if isinstance(f, Known) and inspect.isfunction(f.target):
            return f.target.__name__, signature(f.target).parameters.values()
        self.unit.refuse(node, "what is differentiated here cannot be followed: name the function")

    def open_parameters(
        self, f: Any, bound: int, words: set[str], node: gast.AST
    ) -> tuple[str, list[str], list[str], dict[str, Any]]:
        """The name of a function, its free parameters (positional, keyword), and their defaults."""
        if isinstance(f, Derivative):
            return f.known.target.__name__, f.order, [], f.defaults
        base, known = self.declared(f, node)
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in known):
            self.unit.refuse(node, f"`{base}` is differentiated here and takes `*` or `**` arguments, which cannot be "
                                   "followed: name them")  # fmt: skip
        order = [p.name for p in known if p.kind is not p.KEYWORD_ONLY][bound:]
        keywords = [p.name for p in known if p.kind is p.KEYWORD_ONLY]
        defaults = {p.name: p.default for p in known if p.default is not p.empty}
        if isinstance(f, Known):
            defaults = {p: self.outside(p, value) for p, value in defaults.items()}
        first = next((k for k, p in enumerate(order) if p in words), len(order))  # the rest by keyword only
        keywords = [p for p in (*order[first:], *keywords) if p not in words]
        return base, order[:first], keywords, {p: defaults[p] for p in (*keywords, *order[:first]) if p in defaults}

    def kind_of(self, node: gast.Call) -> gast.AST:
        """The type in `np.vectorize(f, otypes=..)`; None if the first value determines it."""
        kinds = [k.value for k in node.keywords if k.arg == "otypes"]
        if not node.keywords:
            return constant(None)
        elements = kinds[0].elts if kinds and isinstance(kinds[0], gast.List) else kinds
        named = [self.unit.resolve(e) for e in elements] == [float] or [getattr(e, "value", 0) for e in elements] == ["d"]
        if len(node.keywords) > 1 or not named:
            self.unit.refuse(node, "the options of this `np.vectorize` are not differentiated: leave them out, or write a "
                                   "loop")  # fmt: skip
        return self.unit.builtin(float)

    def vectorized(self, kind: gast.AST, inner: Any, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """A call of `np.vectorize(f)`."""
        if keywords or len(arguments) not in (1, 2):
            self.unit.refuse(node, "a function of `np.vectorize` is differentiated with one or two arguments: write a loop")
        implementation = standard.vectorized if len(arguments) == 1 else standard.vectorized_of_two
        target = Known(implementation, name(self.unit.helper(implementation.__name__, implementation)))
        return self.apply(target, [inner, kind, *arguments], {}, node)

    def recursive(self, callee: Function, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> gast.AST:
        """A call of a recursive nested function."""
        callee, arguments, keywords = self.with_fixed_functions(callee, arguments, keywords, node)
        if callee not in self.lifted:
            self.lift(callee, node)
        known, captured = self.lifted[callee]
        bound = self.bind(callee, callee.node, arguments, keywords, node)
        return self.plain(known, [], {**bound, **{c: name(c) for c in captured}}, node)

    def lift(self, callee: Function, node: gast.AST) -> None:
        """Make a recursive function separate."""
        own = callee.unit is self.unit
        if any(callee.unit.primal.function is written for written in self.unit.made.lifted):
            self.unit.refuse(node, f"`{callee.name}` calls itself and changes how long a list is that it is given, "
                                   "or what lives outside, which cannot be followed: return it")  # fmt: skip
        target, captured = lambda_lifting.lifted(callee.unit, callee.node, self.values if own else {})
        needed = Parameters.of(target.__code__).names
        captured = [c for c in captured if c in needed]
        self.unit.made.lifted += [] if own else [target]
        self.lifted[callee] = Known(target, name(self.unit.helper(callee.name, target))), captured

    def pulled_back(self, node: gast.Call) -> gast.AST:
        """`vjp(f, ..)` of a function value: captures are passed after its arguments."""
        if any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self.unit.refuse(node, "`*` and `**` in a call of `vjp` cannot be followed here: write the arguments out")
        value = self.evaluate(node.args[0])
        f = self.as_function(value, node, last=True)
        primals = [self.flattener.atom(a) for a in node.args[1:]]
        words = {k.arg: self.flattener.atom(k.value) for k in node.keywords}
        target = name(self.unit.helper(getattr(f.target, "__name__", "f"), f.target))
        if isinstance(value, (Known, Derivative)):
            if f.captured:
                self.unit.refuse(node, "`vjp` of the gradient of a nested function cannot be followed: use `grad` twice")
            return self.plain(Known(pullbacks.vjp, node.func), [target, *primals], words, node)
        rest = [{**f.defaults, **words}.get(p) for p in f.order[len(primals) :]]
        if None in rest or len(primals) > len(f.order) or not words.keys() <= set(f.order[len(primals) :]):
            self.unit.refuse(node, f"this call does not fit the parameters of `{f.target.__name__}`")
        rest += [name(c) for c in f.captured]
        callee = Known(pullbacks.vjp_of_closure, name(self.unit.helper("vjp_of_closure", pullbacks.vjp_of_closure)))
        return self.plain(callee, [constant(len(rest)), target, *primals, *rest], {}, node)

    def along(self, node: gast.Call) -> gast.AST:
        """`jvp(f, (x, n), (x_dot, None))`: `f_jvp(x, n, x_dot=x_dot)`, which is made at compile time.

        Captures are further primals, with zero tangents.
        """
        pairs = node.args[1:]
        if len(pairs) != 2 or not all(map(_is_written_out, pairs)):
            self.unit.refuse(node, "`jvp` of a function made here is followed where its primals and its tangents are tuples "
                                   "that are written out: write `jvp(f, (x, y), (x_dot, y_dot))`")  # fmt: skip
        of = self.callee(node.args[0])
        f = self.as_function(of, node, last=True)
        primals, tangents = ([self.flattener.atom(e) for e in p.elts] for p in pairs)
        rest = [f.defaults.get(p) for p in f.order[len(primals) :]]
        if None in rest or (f.order and len(primals) > len(f.order)) or len(primals) != len(tangents):
            self.unit.refuse(node, f"this call does not fit the parameters of `{getattr(f.target, '__name__', 'f')}`")
        _, options = self.constants([], node, "jvp")
        make = self.unit.resolve(node.func)
        active = tuple(k for k, t in enumerate(tangents) if not (isinstance(t, gast.Constant) and t.value is None))
        gradient = make(f.target, **options).along(active)
        self.unit.made.derived.append(Derived(gradient, f.target, lambda f: make(f, **options).along(active)))
        target = Known(gradient, name(self.unit.helper(gradient.__name__, gradient)))
        for k in active:
            fits = gast.Call(name(self.unit.helper("tangent_fits", runtime.tangent_fits)), [], [])
            fits.args = [primals[k], tangents[k], constant(k)]
            self.flattener.out.append(gast.Expr(fits))
        words = {word: tangents[k] for k, word in zip(active, gradient.words, strict=True)}
        captured = [name(c) for c in f.captured]
        if isinstance(of, Derivative):  # a derivative receives them by keyword
            return self.plain(target, [*primals, *rest], {**words, **dict(zip(f.captured, captured, strict=True))}, node)
        return self.plain(target, [*primals, *rest, *captured], words, node)

    def along_gradient(self, node: gast.Call) -> Any:
        """`hvp(f, (x, n), (v, None))`: `jvp(grad(f, 0), (x, n), (v, None))[1]`."""
        if len(node.args) != 3 or node.keywords or not all(map(_is_written_out, node.args[1:])):
            self.unit.refuse(node, "`hvp` of a function made here is followed where its primals and its tangents are tuples "
                                   "that are written out: write `hvp(f, (x, y), (v, None))`")  # fmt: skip
        f, primals, tangents = node.args
        active = tuple(k for k, t in enumerate(tangents.elts) if not (isinstance(t, gast.Constant) and t.value is None))
        argnums = constant(active[0]) if len(active) == 1 else gast.Tuple([*map(constant, active)], gast.Load())
        gradient = gast.Call(name(self.unit.helper("grad", runtime.hook("grad"))), [f, argnums], [])
        product = gast.Call(name(self.unit.helper("jvp", pullbacks.jvp)), [gradient, primals, tangents], [])
        return self.evaluate(at(node, gast.Subscript(product, constant(1), gast.Load()))[0])

    def linearized(self, node: gast.Call) -> Any:
        """`linearize(f, x)`: `f(x)`, and `lambda dot: jvp(f, (x,), (dot,))[1]` at the current `x`."""
        if node.keywords or any(isinstance(a, gast.Starred) for a in node.args):
            self.unit.refuse(node, "`*` and keywords in a call of `linearize` inside of a differentiated function cannot be "
                                   "followed: write the arguments out, by position")  # fmt: skip
        primals = [self.unit.local("primal") for _ in node.args[1:]]
        dots = [self.unit.local("dot") for _ in primals]
        f = self.unit.local("linear")
        text = f"lambda {f}, {', '.join(primals)}: ({f}({', '.join(primals)}), lambda {', '.join(dots)}: "
        text += f"jvp({f}, ({''.join(f'{p}, ' for p in primals)}), ({''.join(f'{d}, ' for d in dots)}))[1])"
        pair = expression(text, jvp=self.unit.helper("jvp", pullbacks.jvp_again))
        kept = [call(self.unit, "copied", copied, a) for a in node.args[1:]]
        return self.evaluate(at(node, gast.Call(pair, [node.args[0], *kept], []))[0])


def _is_written_out(node: gast.AST) -> bool:
    """Whether an expression is a tuple or list display without stars."""
    return isinstance(node, (gast.Tuple, gast.List)) and not any(isinstance(e, gast.Starred) for e in node.elts)


def _keyword(parameter: gast.Name) -> str:
    """The keyword for a parameter."""
    return notes.KEYWORD.of(parameter) or parameter.id
