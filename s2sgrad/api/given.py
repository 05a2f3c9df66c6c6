"""Derivative rules from the user: turns a function per argument into a rule of the table.

    defvjp(power, power_x, power_n)     ->     def power_rule(g, y, x, n):
                                                   return power_x(g, y, x, n), power_n(g, y, x, n)

The functions are called through guards: they cannot write their arguments, and their results are checked and copied.  The
compiler looks through a guard, so that second derivatives differentiate the user's function itself.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.contents import holds_no_function
from s2sgrad.errors.raised import trimmed
from s2sgrad.ir.signatures import signature
from s2sgrad.rules import table
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checks import holds_complex
from s2sgrad.runtime.given import called, fitted, new, require_real
from s2sgrad.runtime.handed import require_still, ungiven
from s2sgrad.runtime.results import described as shown
from s2sgrad.source import stands_for
from s2sgrad.source.making import defined, made

_NONE = inspect.Parameter.empty
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass
class Given:
    """What the user has specified for one callable so far: its arguments with defaults, and functions by argument."""

    primitive: Any
    name: str
    defaults: dict[str, Any]  # of positional arguments, then of keyword-only ones
    positional: int
    elementwise: bool = False
    named: bool | frozenset[str] = False  # returns a dict whose items are attributes, too: all numbers, or but for these
    made: bool = False  # made by `primitive`, so that no text calls it yet
    vjps: dict[str, Callable[..., Any] | None] = field(default_factory=dict)
    jvps: dict[str, Callable[..., Any] | None] = field(default_factory=dict)
    jvp: Callable[..., Any] | None = None  # for all arguments together
    in_complex: dict[Any, Callable[..., Any]] = field(default_factory=dict)  # instead of each

    def free(self, name: str) -> str:
        """A name like this one that is not the name of an argument."""
        while name in self.defaults:
            name += "_"
        return name

    def unsaid(self, argument: str, forward: bool = False) -> str:
        """The message for an argument without derivative, in reverse or forward mode."""
        if forward:
            return (f"{self.said} has no tangent in `{argument}`: give it one with `defjvp(.., argnums=\"{argument}\")`, "
                    "None for an argument that the result does not change with, or pass a constant")  # fmt: skip
        if argument in self.jvps or self.jvp is not None:
            return (f"{self.said} has no derivative in `{argument}` for reverse mode, only a tangent: give it one with "
                    f"`defvjp(.., argnums=\"{argument}\")`, or use `jvp`")  # fmt: skip
        return (f"{self.said} has no derivative in `{argument}`: give it one with `defvjp(.., argnums=\"{argument}\")`, "
                "None for an argument that the result does not change with, or pass a constant")  # fmt: skip

    @property
    def said(self) -> str:
        """The name of the callable in messages."""
        return f"`{self.name}`"


@trimmed
def defvjp(f: Callable[..., Any], *vjps: Callable[..., Any] | None, argnums: Any = None, replace: bool = False) -> Any:
    """Give a callable its derivative for reverse mode: one function per argument, None for an argument without derivative.

    `vjp(g, y, *arguments)` is called with the cotangent of the result, the result, and the arguments in the order of the
    definition of `f`.  It returns the cotangent of its argument, with that argument's structure and shape.  None means that
    the result does not depend on an argument; an argument for which nothing is given is refused where it carries a
    derivative.  `argnums` selects the arguments by position or name, by default the first ones.

    `f` is identified by the object: a function, ufunc, C function or other callable that somebody else wrote, or a result
    of `primitive`.  From then on it is called and never read, in the whole process; `f` is returned.  A callable with a
    built-in rule keeps it unless `replace` is True; your own rules are replaced, and gradients that used them are compiled
    again.

    Raises TypeError if `f` or a vjp is not callable or does not take these arguments, ValueError for a built-in rule.

    >>> import numpy as np
    >>> from s2sgrad import grad
    >>> square = defvjp(np.frompyfunc(lambda x: x * x, 1, 1), lambda g, y, x: g * 2.0 * x)
    >>> grad(lambda x: 3.0 * square(x))(0.5)
    3.0
    """
    spec = _rules_of(f, vjps, replace, "defvjp")
    new = spec.made and not spec.vjps
    for argument, vjp in _by_argument(spec, vjps, argnums, "defvjp"):
        spec.vjps[argument] = None if vjp is None else _guard(spec, vjp, argument, _VJP)
    return enter(spec, new)


@trimmed
def defjvp(f: Callable[..., Any], *jvps: Callable[..., Any] | None, argnums: Any = None, replace: bool = False) -> Any:
    """Give a callable its derivative for forward mode: one function per argument, None for an argument without derivative.

    `jvp(t, y, *arguments)` is called with the tangent of its argument, the result and the arguments, and returns the
    contribution of this tangent to that of the result.  Otherwise as `defvjp`.

    >>> import numpy as np
    >>> square = defjvp(np.frompyfunc(lambda x: x * x, 1, 1), lambda t, y, x: t * 2.0 * x)
    """
    spec = _rules_of(f, jvps, replace, "defjvp")
    new = spec.made and not spec.jvps
    for argument, jvp in _by_argument(spec, jvps, argnums, "defjvp"):
        spec.jvps[argument] = None if jvp is None else _guard(spec, jvp, argument, _JVP)
    return enter(spec, new)


for _function in (defvjp, defjvp):
    _function.gives_rule = True  # type: ignore[attr-defined]

# --- what is known of a callable ---------------------------------------------------------------------------------------


def _rules_of(f: Any, functions: Sequence[Any], replace: bool, what: str) -> Given:
    if not callable(f):
        raise TypeError(f"{what} needs a function, not {f!r}")
    rule = table.given(f)
    first = next((g for g in functions if callable(g)), None)
    if rule is not None and rule.tag != "flat":
        spec: Given = rule.given
        if not spec.defaults:  # a C function without signature
            named = described(f, first)
            spec.defaults, spec.positional = named.defaults, named.positional
        return spec
    name = its(f, "__name__", type(f).__name__)
    if rule is None and not replace and (table.lookup(f) is not None or table.is_flat(f)):
        raise ValueError(f"`{name}` has a derivative rule of s2sgrad's: pass replace=True to {what} to use yours instead")
    return described(f, first)


def described(f: Any, rule: Callable[..., Any] | None = None, elementwise: bool = False) -> Given:
    """The record for a callable; if it has no signature, its arguments are named as in `rule`."""
    name = its(f, "__name__", type(f).__name__)
    said = f"`{name}`"
    parameters = _parameters(f)
    if parameters is None and rule is not None:
        parameters = (_parameters(rule) or [])[2:]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters or ()):
        raise TypeError(f"{said} takes any number of arguments, so that none has a rule of its own: give it a gradient with "
                        "`custom_gradient`")  # fmt: skip
    named = [p for p in parameters or () if p.kind is not p.VAR_KEYWORD]
    positional = [p for p in named if p.kind in _POSITIONAL]
    return Given(f, name, {p.name: p.default for p in (*positional, *(p for p in named if p.kind is p.KEYWORD_ONLY))},
                 len(positional), elementwise)  # fmt: skip


def _parameters(f: Any) -> list[inspect.Parameter] | None:
    if isinstance(f, np.ufunc):
        names = [f"x{k + 1}" if f.nin > 1 else "x" for k in range(f.nin)]
        return [inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in names]
    try:
        out = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return None
    if out and all(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in out) and not _is_written(inspect.unwrap(f)):
        return None  # Python 3.13 describes C functions so
    return out


def _is_written(f: Any) -> bool:
    """Whether a callable is implemented in Python."""
    return isinstance(f, (types.FunctionType, types.MethodType, type)) or isinstance(
        vars(type(f)).get("__call__"), types.FunctionType)  # fmt: skip


def _by_argument(
    spec: Given, functions: Sequence[Any], argnums: Any, what: str
) -> list[tuple[str, Callable[..., Any] | None]]:
    """The functions by argument name."""
    names = list(spec.defaults)
    if argnums is None:
        argnums = range(len(functions))
    places = [argnums] if isinstance(argnums, (int, str)) else list(argnums)
    if not functions or len(places) != len(functions):
        raise TypeError(f"{what} of {spec.said} needs a function for each argument: {len(places)} arguments are named, and "
                        f"{len(functions)} functions given")  # fmt: skip
    out = []
    for place, function in zip(places, functions, strict=True):
        is_parameter = place in names if isinstance(place, str) else -len(names) <= place < len(names)
        if not is_parameter:
            shown = f"`{place}`" if isinstance(place, str) else f"number {place}"
            raise TypeError(f"{spec.said} has no argument {shown}: it takes {', '.join(names) or 'none'}")
        argument = place if isinstance(place, str) else names[place]
        if function is not None and not callable(function):
            raise TypeError(f"{what} of {spec.said} needs a function for `{argument}`, not {function!r}")
        out.append((argument, function))
    return out


def _require_takes(rule: Callable[..., Any], spec: Given, said: str, first: str) -> None:
    """Raise TypeError if a rule cannot be called with the cotangent, the result and the arguments.

    The first rule may omit trailing arguments with defaults: then no call may pass them.
    """
    names = list(spec.defaults)
    if _takes(rule, names[: spec.positional], names[spec.positional :]):
        return
    required = sum(default is _NONE for default in spec.defaults.values())
    if not spec.vjps and not spec.jvps:
        for count in range(spec.positional, required - 1, -1):
            if _NONE not in list(spec.defaults.values())[count:] and _takes(rule, names[:count], []):
                spec.defaults, spec.positional = {n: spec.defaults[n] for n in names[:count]}, count
                return
    raise TypeError(f"{said} must take ({', '.join([first, 'y', *names])}); it takes {signature(rule)}")


def _takes(rule: Callable[..., Any], positional: list[str], named: list[str]) -> bool:
    try:
        signature(rule).bind(None, None, *positional, **dict.fromkeys(named))
    except TypeError:
        return False
    except ValueError:  # no signature available
        pass
    return True


# --- guards ------------------------------------------------------------------------------------------------------------


_VJP, _JVP = ("vjp", "g", "gradient"), ("jvp", "t", "tangent")


def _guard(
    spec: Given, rule: Callable[..., Any], argument: str, what: tuple[str, str, str], of_complex: bool = False
) -> types.FunctionType:
    """A user's rule as generated text calls it: it cannot write its arguments, and its result is checked.

    The guard has a text of its own, in which the compiler sees the user's function.  `of_complex`: in a text for complex
    numbers, where the result may be complex, and a real argument takes the real part.
    """
    kind, first, noun = what
    said = f"the {kind} of {spec.said}"
    _require_takes(rule, spec, f"{said} in `{argument}`", first)
    names = list(spec.defaults)

    def guard(*arguments: Any, **keywords: Any) -> Any:
        bar = called(f"{said} in `{argument}`", rule, *arguments, **keywords)
        if bar is None:
            raise TypeError(f"{said} in `{argument}` returned None: `return` the {noun} in `{argument}`, or give None in "
                            "the place of this function where there is none")  # fmt: skip
        if of_complex and kind == "vjp" and holds_complex(arguments[1]):
            bar = runtime.projected(
                bar, keywords[argument] if argument in keywords else arguments[2 + names.index(argument)]
            )
        return new(bar)

    stands_for(guard, "differentiated", rule)
    own = its(rule, "__name__", "<lambda>")
    called_, fitted_ = spec.free(kind), spec.free("fitted")
    real, y = spec.free("require_real"), spec.free("y")
    used = (*names, spec.free("g"), y, called_, fitted_, real)
    name = own if own.isidentifier() and own not in used else f"{_identifier(spec.name)}_{kind}_{argument}"
    like = y if spec.elementwise or kind == "jvp" else argument
    fit = f"{said + f' in `{argument}`'!r}, tangent=True" if kind == "jvp" else f"{said!r}, {argument!r}"
    checked = "" if of_complex else f"    {real}({y}, {spec.said!r})\n"  # in the text: derivatives of the rule check it, too
    text = f"def {name}({_head(spec, False)}):\n{checked}    return {fitted_}({called_}({_passed(spec)}), {like}, {fit})\n"
    out = made(text, name, _home(rule), {called_: guard, fitted_: fitted, real: require_real}, set())
    if not of_complex:
        spec.in_complex[out] = _guard(spec, rule, argument, what, True)
    return out


def guard_of_all(spec: Given, rule: Callable[..., Any], of_complex: bool = False) -> types.FunctionType:
    """A user's rule for all primals and tangents together, which returns the value and its tangent, as text calls it."""
    said, names = f"the jvp of {spec.said}", list(spec.defaults)
    if not _takes(rule, [], []):
        raise TypeError(f"{said} must take (primals, tangents); it takes {signature(rule)}")

    def guard(primals: tuple, tangents: tuple) -> Any:
        pair = called(said, rule, primals, tangents)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"{said} must return the value and its tangent, `return y, y_dot`; it returned {shown(pair)}")
        if pair[1] is None:
            raise TypeError(f"{said} returned None for the tangent: `return y, y_dot`")
        if not of_complex:
            require_real(pair[0], spec.said)
        return new(tuple(pair))

    stands_for(guard, "differentiated", rule)
    dots = [spec.free(f"{n}_dot") for n in names]
    called_, fitted_, still, y = (spec.free(n) for n in ("jvp", "fitted", "require_still", "y"))
    name = f"{_identifier(spec.name)}_tangent"
    given = (f"{still}({dot}, {n}, {spec.said!r}, {n!r})" for n, dot in zip(names, dots, strict=True))
    text = (
        f"def {name}({', '.join([y, *names, *dots])}):\n"
        f"    return {fitted_}({called_}(({', '.join(names)},), ({', '.join(given)},))[1], {y}, {said!r}, tangent=True)\n"
    )
    out = made(text, name, _home(rule), {called_: guard, fitted_: fitted, still: require_still}, set())
    if not of_complex:
        spec.in_complex[out] = guard_of_all(spec, rule, True)
    return out


def _home(rule: Callable[..., Any]) -> Callable[..., Any]:
    return rule if isinstance(rule, types.FunctionType) else _guard


def _head(spec: Given, defaults: bool) -> str:
    """The parameter list of a rule: the cotangent, the result and the arguments."""
    head = [spec.free("g"), spec.free("y")]
    for k, (argument, default) in enumerate(spec.defaults.items()):
        head += ["*"] * (k == spec.positional)
        usual = "None" if default is _NONE else f"default_{k}"  # one for keywords only is given by each call
        head.append(f"{argument}={usual}" if defaults and (default is not _NONE or k >= spec.positional) else argument)
    return ", ".join(head)


def _passed(spec: Given) -> str:
    """The argument list for a call of a rule."""
    names = list(spec.defaults)
    named = [f"{n}={n}" for n in names[spec.positional :]]
    return ", ".join([spec.free("g"), spec.free("y"), *names[: spec.positional], *named])


def _identifier(name: str) -> str:
    return name if name.isidentifier() else "function"


# --- rules -------------------------------------------------------------------------------------------------------------


def enter(spec: Given, new: bool) -> Any:
    """Make a rule of the record, and enter it; `new`: no text can have used an earlier rule."""
    table.give(spec.primitive, rule_of(spec), new)
    return spec.primitive


def rule_of(spec: Given) -> table.Rule:
    """The rule: the text of its pullback calls the user's functions, one per argument."""
    base = _identifier(spec.name)
    space: dict[str, Any] = {"__name__": __name__, spec.free("ungiven"): ungiven}
    calls: dict[str, str] = {}
    names = list(spec.defaults)
    for argument, vjp in spec.vjps.items():
        if vjp is None:
            calls[argument] = f"{spec.free('ungiven')}({argument}, {spec.said!r}, {argument!r})"
            continue
        free = vjp.__name__
        while free in (*names, spec.free("g"), spec.free("y")) or (free in space and space[free] is not vjp):
            free += "_"
        space[free] = vjp
        calls[argument] = f"{free}({_passed(spec)})"
    required = [n for n in names[: spec.positional] if spec.defaults[n] is _NONE]
    rule = table.Rule(spec.primitive, _written(spec, f"{base}_rule", [calls.get(n, "None") for n in required], space),
                      "elementwise" if spec.elementwise else "general", given=spec)  # fmt: skip
    unmoved = {n for n, vjp in spec.vjps.items() if vjp is None}
    _where_of_numbers(rule, spec, f"{base}_rule", required, unmoved, calls, space)
    for name in names:
        if name in required and name not in calls:
            rule.constant(name, spec.unsaid(name))
        elif name in calls and name not in required:
            pullback = _written(spec, f"{base}_rule_{name}", [calls[name]], space)
            rule.keyword_rules[name] = table.Rule(spec.primitive, pullback, rule.tag, given=spec)
            _where_of_numbers(rule.keyword_rules[name], spec, f"{base}_rule_{name}", [name], unmoved, calls, space)
    _write_for_complex_numbers(rule, spec, required, calls, space)
    rule.tangents = _tangents(spec)
    return rule


def _write_for_complex_numbers(
    rule: table.Rule, spec: Given, required: list[str], calls: dict[str, str], space: dict[str, Any]
) -> None:
    """The rule in texts for complex numbers, whose guards let them pass."""
    guards = {k: spec.in_complex.get(v, v) if isinstance(v, types.FunctionType) else v for k, v in space.items()}
    for known, wanted in ((rule, required), *((of_keyword, [n]) for n, of_keyword in rule.keyword_rules.items())):
        texts = [calls.get(n, "None") for n in wanted]
        known.refined(_is_complex, exact=True)(_written(spec, f"{known.pullback.__name__}_of_complex", texts, guards))


def _is_complex(complex: bool) -> bool:
    return complex


def _where_of_numbers(
    rule: table.Rule, spec: Given, name: str, given: list[str], unmoved: set[str], calls: dict[str, str],
    space: dict[str, Any],
) -> None:  # fmt: skip
    """The rule for calls where the arguments for which it gives None are numbers or arrays, and no functions."""
    asked = sorted(unmoved.intersection(given))
    if asked:
        parameters = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in asked]
        texts = ["None" if n in asked else calls.get(n, "None") for n in given]

        def are_numbers(**kinds: Any) -> bool:
            return all(holds_no_function(kind) for kind in kinds.values())

        are_numbers.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        rule.refined(are_numbers, exact=True)(_written(spec, f"{name}_of_numbers", texts, space))


def _written(spec: Given, name: str, cotangents: list[str], space: dict[str, Any]) -> types.FunctionType:
    """A pullback, compiled from its text."""
    space = {**space, **{f"default_{k}": default for k, default in enumerate(spec.defaults.values())}}
    text = f"def {name}({_head(spec, True)}):\n    return {', '.join(cotangents) or 'None'}\n"
    return defined(text, name, f"<s2sgrad rule {name} {id(space)}>", space)


def _tangents(spec: Given) -> table.Tangents | None:
    """The forward-mode rule; None if the user gave none."""
    if not spec.jvps and spec.jvp is None:
        return None
    return table.Tangents(spec.jvps, spec.jvp)
