"""Implicit differentiation of what a solver finds, in the function that it was handed.

    F(x, p) = 0      ->      w = -(dF/dx)^-T x_bar,  p_bar = (dF/dp)^T w         x_dot = -(dF/dx)^-1 dF/dp p_dot

`p` is what the function closes over, and `args`.  (Griewank and Walther, *Evaluating Derivatives*, 2008, chapter 15.)
A result that is no solution has no such derivative: where one step of Newton's method would still move it by more than a
thousandth, that is an error.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from s2sgrad import runtime
from s2sgrad.api import given, jvp, vjp
from s2sgrad.api.given import defjvp, defvjp, described
from s2sgrad.rules.table import flat, linear, of_complex_numbers
from s2sgrad.runtime import Refusal, is_sparse
from s2sgrad.runtime.given import new
from s2sgrad.runtime.handed import is_zero
from s2sgrad.runtime.structure import rebuilt
from s2sgrad.source.making import made

Function = Callable[..., Any]
_NOISE = 1e-8, 1e-14  # how far a result may differ from that of the same call: relative to a number, and to the largest
_STEP = 1e-3  # how far, relative to the solution, Newton's method may still move it


def require_solved(x: Any, slope: Any, rest: Any, said: str) -> None:
    """Raise Refusal unless `x` solves the equations whose value there is `rest`, with this derivative in `x`."""
    x, rest = np.atleast_1d(x), np.atleast_1d(rest)
    slopes = np.asarray(slope)
    singular = Refusal(None, f"{said}: the equations are singular at the result, so that it has no derivative")
    if slopes.ndim < 2:
        if np.any(slopes == 0.0) or not np.all(np.isfinite(slopes)):
            raise singular
        step = rest / slopes
    else:
        try:
            step = np.linalg.solve(slopes, rest)
        except np.linalg.LinAlgError:
            raise singular from None
    if not np.all(np.abs(step) <= _STEP * (1.0 + np.max(np.abs(x), initial=0.0))):
        raise Refusal(None, f"{said}: the result is no solution (it did not converge, or a bound or a constraint holds it), "
                            "so that it has no derivative")  # fmt: skip


def require_only(g: Any, known: tuple, said: str) -> None:
    """Raise Refusal where a part of the result carries a derivative that is not one of those with a known one."""
    parts = g.items() if isinstance(g, dict) else enumerate(g)
    for key, part in parts:
        if key not in known and not is_zero(part):
            raise Refusal(None, f"{said} has no derivative in the part `{key}` of its result: use `{known[0]}`")


def _same_result(solver: Function, further: tuple[str, ...]) -> Function:
    """A check that a solver still gives a result: a function that draws, or reads what has changed, is another one now.

    `further`: the keywords that are None where a call does not give them.
    """

    def require_same_result(y: Any, *arguments: Any, **words: Any) -> None:
        given = {name: word for name, word in words.items() if word is not None or name not in further}
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = solver(*map(new, arguments), **{name: new(word) for name, word in given.items()})
        if not _are_alike([*_numbers(again)], [*_numbers(y)]):
            what = "a function that it was handed draws random numbers, or what it reads was changed; pass this by `args=`"
            raise Refusal(None, f"{solver.__name__} gives another result when the derivative calls it again: {what}")

    flat(require_same_result)
    return require_same_result


def _are_alike(found: list[np.ndarray], before: list[np.ndarray]) -> bool:
    """Whether two results differ by rounding alone."""
    size = max((np.max(np.abs(v), initial=0.0, where=np.isfinite(v)) for v in before), default=0.0)
    return [v.shape for v in found] == [v.shape for v in before] and all(
        np.allclose(v, w, rtol=_NOISE[0], atol=_NOISE[1] * size, equal_nan=True) for v, w in zip(found, before, strict=True)
    )


def _numbers(y: Any) -> Iterator[np.ndarray]:
    """The arrays and numbers in a result, as arrays."""
    if isinstance(y, (list, tuple, dict)):
        for part in y.values() if isinstance(y, dict) else y:
            yield from _numbers(part)
    elif isinstance(y, (np.ndarray, np.generic, float, complex)) and np.asarray(y).dtype.kind in "fc":
        yield np.asarray(y)


def tupled(args):
    """`args` as SciPy takes them: one that is no tuple is the only one."""
    return args if isinstance(args, tuple) else (args,)


def unknown_tangent(y: Any) -> Any:
    """A tangent of the result `y` of which no part is known: nan wherever there are floats."""
    return rebuilt(y, unknown_tangent) if isinstance(y, (dict, list, tuple)) else _unknown(y)


def _unknown(y: Any) -> Any:
    if isinstance(y, np.ndarray):
        return np.full(y.shape, np.nan) if y.dtype.kind == "f" else np.zeros(y.shape)
    return np.nan if isinstance(y, (float, np.floating)) else runtime.zeros(y)


def require_holomorphic(x: Any, pull: Function, slopes: Any, said: str) -> None:
    """Refuse equations in complex numbers whose derivative along `1j` is not `1j` times that along 1: they are two each."""
    if not np.iscomplexobj(x):
        return
    units = np.reshape(np.eye(np.size(x)) * 1j, (-1, *np.shape(x)))
    turned = np.stack([np.ravel(pull(unit if np.ndim(x) else unit[()])[1]) for unit in units])
    slopes = np.reshape(slopes, np.shape(turned)) * 1j
    if not np.max(np.abs(turned - slopes)) <= 1e-6 * np.max(np.abs(slopes)):
        raise Refusal(None, f"{said}: the equations are not holomorphic (they conjugate, or take a part or a size): write "
                            "them for real and imaginary parts")  # fmt: skip


flat(require_solved, require_only, require_holomorphic, unknown_tangent)


# --- one vector of all cotangents ------------------------------------------------------------------------------------


def flattened(bars: Any, like: Any) -> np.ndarray:
    """The numbers of nested cotangents as a vector; those of `like`, which has zeros for the numbers, tell its length.

    >>> flattened((2.0, [None, np.ones(2)]), (0.0, [None, np.zeros(2)]))
    array([2., 1., 1.])
    """
    return np.concatenate(_vectors(bars, like) or [np.zeros(0)])


def _vectors(bars: Any, like: Any) -> list[np.ndarray]:
    if isinstance(like, (list, tuple, dict)):
        keys = like if isinstance(like, dict) else range(len(like))
        return [vector for key in keys for vector in _vectors(None if bars is None else bars[key], like[key])]
    if like is None:
        return []
    if is_sparse(like):
        return [np.zeros(np.prod(like.shape)) if bars is None else np.ravel(bars.toarray() if is_sparse(bars) else bars)]
    if bars is None:
        return [np.zeros(np.size(like))]
    return [np.ravel(np.broadcast_to(bars if np.iscomplexobj(like) else np.real(bars), np.shape(like)))]


def unflattened(vector: np.ndarray, like: Any) -> Any:
    """Nested cotangents with these numbers.

    >>> unflattened(np.array([2.0, 1.0, 3.0]), (0.0, [None, np.zeros(2)]))
    (2.0, [None, array([1., 3.])])
    """
    left = iter(np.split(vector, np.cumsum([np.size(part) for part in _vectors(like, like)])))

    def filled(part: Any) -> Any:
        if isinstance(part, (list, tuple, dict)):
            return rebuilt(part, filled)
        if part is None:
            return None
        if is_sparse(part):
            return _whole(np.reshape(next(left), part.shape))
        own = next(left) if np.iscomplexobj(part) else next(left).real  # a real number takes the real part
        return np.reshape(own, np.shape(part)).copy() if np.ndim(part) else own[0].item()

    return filled(like)


def _whole(a: np.ndarray) -> Any:
    """A matrix as a sparse array that stores all elements, zeros too.

    >>> _whole(np.zeros((2, 3))).nnz
    6
    """
    if a.ndim != 2:
        return sparse.coo_array(a)
    n, m = a.shape
    return sparse.csr_array((np.ravel(a), np.tile(np.arange(m), n), np.arange(0, n * m + 1, m)), shape=(n, m))


@linear(flattened)
def _(w, v, bars, like):
    return unflattened(w, like), None


@linear(unflattened)
def _(w, y, vector, like):
    return flattened(w, like), None


of_complex_numbers(flattened, unflattened)


# --- implicit functions ----------------------------------------------------------------------------------------------


def rows(pull: Function, x: Any) -> Any:
    """The derivative in `x` of equations with this pullback, in as many numbers as `x` has."""
    return np.stack([np.ravel(pull(np.reshape(e, np.shape(x)))[1]) for e in np.eye(np.size(x))])


def implicit(residual: Function, x_bar: Any, x: Any, f: Any, given: Any, said: str) -> tuple[Any, Any]:
    """The cotangents of what `f` closes over (several functions, perhaps), and of `given`, of the `x` with
    `residual(f, x, given) = 0`."""
    rest, pull = vjp(residual, f, x, given)
    if np.ndim(x) == 0:
        slope = pull(1.0)[1]
        require_solved(x, slope, rest, said)
        require_holomorphic(x, pull, slope, said)
        w = -x_bar / slope
    else:
        slopes = rows(pull, x)
        require_solved(x, slopes, rest, said)
        require_holomorphic(x, pull, slopes, said)
        w = np.reshape(np.linalg.solve(slopes.T, -np.ravel(x_bar)), np.shape(x))
    f_bar, _, given_bar = pull(w)
    return f_bar, given_bar


def implicit_dot(residual: Function, x: Any, change: Any, f: Any, given: Any, said: str) -> Any:
    """The tangent of the same `x`, where `change` is that of the residual at a fixed `x`."""
    rest, pull = vjp(residual, f, x, given)
    if np.ndim(x) == 0:
        slope = pull(1.0)[1]
        require_solved(x, slope, rest, said)
        require_holomorphic(x, pull, slope, said)
        return -change / slope
    slopes = rows(pull, x)
    require_solved(x, slopes, rest, said)
    require_holomorphic(x, pull, slopes, said)
    return np.reshape(np.linalg.solve(slopes, -np.ravel(change)), np.shape(x))


def in_f(residual: Function, f_dot: Any, x: Any, f: Any, given: Any) -> Any:
    """The change of the residual along the tangent of what `f` closes over."""
    return jvp(lambda f: residual(f, x, given), (f,), (f_dot,))[1]


def in_given(residual: Function, given_dot: Any, x: Any, f: Function, given: Any) -> Any:
    """The change of the residual along the tangent of `given`."""
    return jvp(lambda given: residual(f, x, given), (given,), (given_dot,))[1]


def without_vjp(solver: Function, argument: str) -> Function:
    """The pullback in an argument with which the result does not change: what it closes over, if anything, gets zeros."""
    place = list(inspect.signature(solver).parameters).index(argument)

    def unmoved_vjp(g: Any, y: Any, *arguments: Any, **words: Any) -> Any:
        return runtime.zeros(arguments[place])

    return unmoved_vjp


def without_jvp(t: Any, y: Any, *arguments: Any, **words: Any) -> Any:
    """The tangent along such an argument."""
    return runtime.zeros(y)


def enter(
    solver: Function, vjps: dict[str, Function], jvps: dict[str, Function], unmoved: tuple[str, ...],
    named: bool | frozenset[str] = False, words: tuple[str, ...] = (), once: bool = False,
) -> None:  # fmt: skip
    """Give a solver its derivatives, by argument; it does not change with those in `unmoved`.  `named`: the parts of its
    result have names, and these are objects; `words`: the keywords that it takes without naming them in its definition.
    `once`: the derivatives check that the result solves the equations, or the solver calls no function; others check that it
    still gives the result.

    Keywords of a later version, which no rule takes, are unknown.
    """
    spec = described(solver)
    spec.defaults |= dict.fromkeys(words)
    for name in list(spec.defaults)[spec.positional :]:
        if not any(_takes_keyword(rule, name) for rule in (*vjps.values(), *jvps.values())):
            del spec.defaults[name]
    spec.named = named
    given.enter(spec, True)
    if not once:
        check = _same_result(solver, words)
        vjps = {n: _checked(rule, f"{solver.__name__}_vjp_{n}", spec, check) for n, rule in vjps.items()}
        jvps = {n: _checked(rule, f"{solver.__name__}_jvp_{n}", spec, check) for n, rule in jvps.items()}
    defvjp(solver, *vjps.values(), *(without_vjp(solver, n) for n in unmoved), argnums=(*vjps, *unmoved))
    defjvp(solver, *jvps.values(), *[without_jvp] * len(unmoved), argnums=(*jvps, *unmoved))


def _checked(rule: Function, name: str, spec: given.Given, check: Function) -> Function:
    """A rule that checks the result before.  It has a text of its own, which is differentiated again."""
    names = [*spec.defaults]
    by_place, by_name = names[: spec.positional], names[spec.positional :]
    passed = ", ".join([*by_place, *(f"{n}={n}" for n in by_name)])
    along, y, check_, rule_ = (spec.free(n) for n in ("along", "y", "check", "rule"))
    name = name if rule.__name__ == "<lambda>" else rule.__name__
    text = (
        f"def {name}({', '.join([along, y, *by_place, *['*'] * bool(by_name), *by_name])}):\n"
        f"    {check_}({y}, {passed})\n"
        f"    return {rule_}({along}, {y}, {passed})\n"
    )
    return made(text, name, rule, {check_: check, rule_: rule}, set())


def _takes_keyword(rule: Function, name: str) -> bool:
    parameters = inspect.signature(rule).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def solves(
    solver: Function, name: str, residual: Function, told: Function, found: Function, unmoved: tuple[str, ...],
    named: bool = False,
) -> None:  # fmt: skip
    """Give a solver the derivatives of the solution of `residual(f, x, args) = 0`, where `f` is its argument `name`.

    `told(part, y, arguments)` takes the solution out of the result `y`, or its cotangent out of that of the result;
    `found(y, dot, arguments)` makes the tangent of the result of that of the solution.
    """
    names = list(inspect.signature(solver).parameters)
    place, at = names.index(name), names.index("args") if "args" in names else None
    said = solver.__name__

    def given_of(arguments: Any) -> Any:
        return () if at is None else arguments[at]

    def f_vjp(g: Any, y: Any, *arguments: Any) -> Any:
        x, x_bar = told(y, y, arguments), told(g, y, arguments)
        return implicit(residual, x_bar, x, arguments[place], given_of(arguments), said)[0]

    def args_vjp(g: Any, y: Any, *arguments: Any) -> Any:
        x, x_bar = told(y, y, arguments), told(g, y, arguments)
        return implicit(residual, x_bar, x, arguments[place], given_of(arguments), said)[1]

    def f_jvp(t: Any, y: Any, *arguments: Any) -> Any:
        x, f, args = told(y, y, arguments), arguments[place], given_of(arguments)
        dot = implicit_dot(residual, x, in_f(residual, t, x, f, args), f, args, said)
        return found(y, dot, arguments)

    def args_jvp(t: Any, y: Any, *arguments: Any) -> Any:
        x, f, args = told(y, y, arguments), arguments[place], given_of(arguments)
        dot = implicit_dot(residual, x, in_given(residual, t, x, f, args), f, args, said)
        return found(y, dot, arguments)

    vjps, jvps = {name: f_vjp}, {name: f_jvp}
    if at is not None:
        vjps["args"], jvps["args"] = args_vjp, args_jvp
    enter(solver, vjps, jvps, unmoved, named, once=True)
