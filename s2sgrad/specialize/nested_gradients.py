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
from dataclasses import replace
from typing import Any

import gast

from s2sgrad import emit, pullbacks, runtime, standard
from s2sgrad.ir.quote import at, constant, expression, name
from s2sgrad.ir.reach import call
from s2sgrad.ir.signatures import Parameters
from s2sgrad.ir.underlying import underlying
from s2sgrad.ir.unit import Unit
from s2sgrad.ir.unit_records import Derived
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checkpoints import checkpoint
from s2sgrad.runtime.copies import copied
from s2sgrad.specialize import lambda_lifting
from s2sgrad.specialize.closures import Closures
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.fixed_functions import FixedFunctions
from s2sgrad.specialize.inlining import Inliner
from s2sgrad.specialize.static_values import Derivative, Function, Known, Partial, Value


class Derivatives(Family):
    """Evaluates gradients and tangents of function values, and calls of functions that stay functions."""

    def __init__(self, evaluator: Evaluator, inliner: Inliner, closures: Closures, fixed_functions: FixedFunctions) -> None:
        super().__init__(evaluator)
        self.inliner, self.closures, self.fixed_functions = inliner, closures, fixed_functions
        self.lifted: dict[Function, tuple[Known, list[str]]] = {}

    def call_derivative(self, callee: Derivative, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """A call of the gradient of a function value."""
        closed = {c: name(c) for c in callee.captured}
        defaults = {k: v for k, v in callee.defaults.items() if k not in callee.order[: len(arguments)]}
        return self.closures.plain(callee.known, arguments, {**defaults, **keywords, **closed}, node)

    def derivative(self, node: gast.Call) -> Derivative:
        """`grad(f, ..)` of a function value; the gradient object is made at compile time."""
        options, words = constants(self.unit, node.args[1:], node, "grad")
        make = self.unit.resolve(node.func)
        of = self.evaluator.callee(node.args[0])
        f = self.closures.as_function(of, node)
        gradient = make(f.target, *options, **words)
        self.unit.made.derived.append(Derived(gradient, f.target, lambda f: make(f, *options, **words)))
        target = Known(gradient, name(self.unit.helper(gradient.__name__, gradient)))
        return Derivative(target, f.captured, f.defaults, f.order, of)

    def checkpointed(self, node: gast.Call) -> Derivative | Known:
        """`checkpoint(f)` of a function value."""
        of = self.evaluator.callee(node.args[0])
        f = self.closures.as_function(of, node)
        recomputed = underlying(checkpoint(f.target))
        target = Known(recomputed, name(self.unit.helper(its(recomputed, "__name__", "f"), recomputed)))
        return target if isinstance(of, Known) else Derivative(target, f.captured, f.defaults, f.order, of)

    def called_again(self, callee: Function, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """A call under `checkpoint` with functions or objects among its arguments, which are bound first."""
        bound = [k for k, v in enumerate(arguments) if isinstance(v, Value)][-1:]
        arguments, data = (arguments[: bound[0] + 1], arguments[bound[0] + 1 :]) if bound else ([], arguments)
        positional = {p.id for p in [*callee.node.args.posonlyargs, *callee.node.args.args][: len(arguments) + len(data)]}
        words = {k: v for k, v in {**callee.defaults, **keywords}.items() if isinstance(v, Value) and k not in positional}
        f = self.closures.as_function(Partial(replace(callee, run_again=False), arguments, words), node)
        recomputed = checkpoint(f.target)
        target = Known(recomputed, name(self.unit.helper(recomputed.__name__, recomputed)))
        rest = {k: v for k, v in keywords.items() if k not in words}
        return self.call_derivative(Derivative(target, f.captured, f.defaults, f.order), data, rest, node)

    def vectorized(self, kind: gast.AST, inner: Any, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """A call of `np.vectorize(f)`."""
        if keywords or len(arguments) not in (1, 2):
            self.unit.refuse(node, "a function of `np.vectorize` is differentiated with one or two arguments: write a loop")
        implementation = standard.vectorized if len(arguments) == 1 else standard.vectorized_of_two
        target = Known(implementation, name(self.unit.helper(implementation.__name__, implementation)))
        return self.evaluator.apply(target, [inner, kind, *arguments], {}, node)

    def recursive(self, callee: Function, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> gast.AST:
        """A call of a recursive nested function."""
        callee, arguments, keywords = self.fixed_functions.with_fixed_functions(callee, arguments, keywords, node)
        if callee not in self.lifted:
            self.lift(callee, node)
        known, captured = self.lifted[callee]
        bound = self.inliner.bind(callee, callee.node, arguments, keywords, node)
        return self.closures.plain(known, [], {**bound, **{c: name(c) for c in captured}}, node)

    def lift(self, callee: Function, node: gast.AST) -> None:
        """Make a recursive function separate."""
        own = callee.unit is self.unit
        if any(callee.unit.primal.function is written for written in self.unit.made.lifted):
            self.unit.refuse(node, f"`{callee.name}` calls itself and changes how long a list is that it is given, "
                                   "or what lives outside, which cannot be followed: return it")  # fmt: skip
        target, captured = lambda_lifting.lifted(callee.unit, callee.node, self.names.values if own else {})
        needed = Parameters.of(target.__code__).names
        captured = [c for c in captured if c in needed]
        self.unit.made.lifted += [] if own else [target]
        self.lifted[callee] = Known(target, name(self.unit.helper(callee.name, target))), captured

    def pulled_back(self, node: gast.Call) -> gast.AST:
        """`vjp(f, ..)` of a function value: captures are passed after its arguments."""
        if any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self.unit.refuse(node, "`*` and `**` in a call of `vjp` cannot be followed here: write the arguments out")
        value = self.evaluator.evaluate(node.args[0])
        f = self.closures.as_function(value, node, last=True)
        primals = [self.evaluator.atom(a) for a in node.args[1:]]
        words = {k.arg: self.evaluator.atom(k.value) for k in node.keywords}
        target = name(self.unit.helper(its(f.target, "__name__", "f"), f.target))
        if isinstance(value, (Known, Derivative)):
            if f.captured:
                self.unit.refuse(node, "`vjp` of the gradient of a nested function cannot be followed: use `grad` twice")
            return self.closures.plain(Known(pullbacks.vjp, node.func), [target, *primals], words, node)
        rest = [{**f.defaults, **words}.get(p) for p in f.order[len(primals) :]]
        if None in rest or len(primals) > len(f.order) or not words.keys() <= set(f.order[len(primals) :]):
            self.unit.refuse(node, f"this call does not fit the parameters of `{f.target.__name__}`")
        rest += [name(c) for c in f.captured]
        callee = Known(pullbacks.vjp_of_closure, name(self.unit.helper("vjp_of_closure", pullbacks.vjp_of_closure)))
        return self.closures.plain(callee, [constant(len(rest)), target, *primals, *rest], {}, node)

    def along(self, node: gast.Call) -> gast.AST:
        """`jvp(f, (x, n), (x_dot, None))`: `f_jvp(x, n, x_dot=x_dot)`, which is made at compile time.

        Captures are further primals, with zero tangents.
        """
        pairs = node.args[1:]
        if len(pairs) != 2 or not all(map(_is_written_out, pairs)):
            self.unit.refuse(node, "`jvp` of a function made here is followed where its primals and its tangents are tuples "
                                   "that are written out: write `jvp(f, (x, y), (x_dot, y_dot))`")  # fmt: skip
        of = self.evaluator.callee(node.args[0])
        f = self.closures.as_function(of, node, last=True)
        primals, tangents = ([self.evaluator.atom(e) for e in p.elts] for p in pairs)
        rest = [f.defaults.get(p) for p in f.order[len(primals) :]]
        if None in rest or (f.order and len(primals) > len(f.order)) or len(primals) != len(tangents):
            self.unit.refuse(node, f"this call does not fit the parameters of `{its(f.target, '__name__', 'f')}`")
        _, options = constants(self.unit, [], node, "jvp")
        make = self.unit.resolve(node.func)
        active = tuple(k for k, t in enumerate(tangents) if not (isinstance(t, gast.Constant) and t.value is None))
        gradient = make(f.target, **options).along(active)
        self.unit.made.derived.append(Derived(gradient, f.target, lambda f: make(f, **options).along(active)))
        target = Known(gradient, name(self.unit.helper(gradient.__name__, gradient)))
        for k in active:
            fits = gast.Call(name(self.unit.helper("tangent_fits", runtime.tangent_fits)), [], [])
            fits.args = [primals[k], tangents[k], constant(k)]
            self.writer.out.append(gast.Expr(fits))
        words = {word: tangents[k] for k, word in zip(active, gradient.words, strict=True)}
        captured = [name(c) for c in f.captured]
        if isinstance(of, Derivative):  # a derivative receives them by keyword
            return self.closures.plain(
                target, [*primals, *rest], {**words, **dict(zip(f.captured, captured, strict=True))}, node
            )
        return self.closures.plain(target, [*primals, *rest, *captured], words, node)

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
        return self.evaluator.evaluate(at(node, gast.Subscript(product, constant(1), gast.Load()))[0])

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
        return self.evaluator.evaluate(at(node, gast.Call(pair, [node.args[0], *kept], []))[0])


def _is_written_out(node: gast.AST) -> bool:
    """Whether an expression is a tuple or list display without stars."""
    return isinstance(node, (gast.Tuple, gast.List)) and not any(isinstance(e, gast.Starred) for e in node.elts)


def constants(unit: Unit, arguments: list[gast.AST], node: gast.Call, called: str) -> tuple[list[Any], dict[str, Any]]:
    """The literal values of these arguments of a call, and of its keywords."""
    try:
        values = [ast.literal_eval(emit.expression(a)) for a in arguments]
        return values, {k.arg: ast.literal_eval(emit.expression(k.value)) for k in node.keywords}
    except ValueError:
        unit.refuse(node, f"the options of `{called}` inside of a differentiated function must be constants")


def kind_of(unit: Unit, node: gast.Call) -> gast.AST:
    """The type in `np.vectorize(f, otypes=..)`; None if the first value determines it."""
    kinds = [k.value for k in node.keywords if k.arg == "otypes"]
    if not node.keywords:
        return constant(None)
    elements = kinds[0].elts if kinds and isinstance(kinds[0], gast.List) else kinds
    named = [unit.resolve(e) for e in elements] == [float] or [getattr(e, "value", 0) for e in elements] == ["d"]
    if len(node.keywords) > 1 or not named:
        unit.refuse(node, "the options of this `np.vectorize` are not differentiated: leave them out, or write a "
                               "loop")  # fmt: skip
    return unit.builtin(float)
