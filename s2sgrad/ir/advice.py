"""Advice for a function without derivative rule: lines to copy that give it a gradient.

zeta(x, 2.0)   ->   from s2sgrad import custom_gradient
                    my_zeta = custom_gradient(lambda a, b: (zeta(a, b), lambda g: (g * ..., None)))
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.ir.forms import arguments_of
from s2sgrad.ir.signatures import signature
from s2sgrad.runtime.asking import its

_LETTERS = "abcdehijklmnopqrstuvwxyz"


def for_call(text: str, function: types.FunctionType, makes: bool = False) -> str:
    """The lines for a call in a function's source; empty if the text is no call.  `makes`: an object, which is asked then.

    What is read of the result at once (`qz(a, b)[0]`) belongs to it.

    >>> print(for_call("np.sort(x * 2.0, axis=n, kind='stable')", lambda x, n: None))
    Outside of the function, with the derivative for `...` (and `my_sort` called in its place):
      from s2sgrad import custom_gradient
      my_sort = custom_gradient(lambda a, *, axis: (np.sort(a, axis=axis, kind='stable'), lambda g: g * ...))
      # or by differences, with `from s2sgrad.testing import by_differences`, to some eight digits:
      #     lambda *g: (by_differences(lambda a: np.sort(a, axis=axis, kind='stable'), a, g),)
    """
    try:
        whole_text = call = ast.parse(text, mode="eval").body
    except SyntaxError:
        return ""
    while isinstance(call, (ast.Attribute, ast.Subscript)):
        call = call.value
    if not isinstance(call, ast.Call):
        return ""
    part = ast.unparse(whole_text).removeprefix(ast.unparse(call))
    local = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
    whole = any(isinstance(part, (ast.Lambda, ast.Starred)) for a in arguments_of(call) for part in ast.walk(a))
    if whole or _names(call.func) & local or any(k.arg is None for k in call.keywords):
        return _of_names(call, text, local, part, makes)
    return _of_arguments(call, local, part, makes)


def _of_names(call: ast.Call, text: str, local: set[str], part: str, makes: bool) -> str:
    """The lines for a call as a function of the variables in it."""
    inside = {a.arg for a in ast.walk(call) if isinstance(a, ast.arg)}
    own = [n.id for n in ast.walk(call) if isinstance(n, ast.Name) and n.id in local - inside]
    names = list(dict.fromkeys(own))
    return _lines(call.func, ", ".join(names), " ".join(text.split()), ["g * ..."] * len(names), part, makes)


def _of_arguments(call: ast.Call, local: set[str], part: str, makes: bool) -> str:
    """The lines for a call as a function of its arguments."""
    taken = _names(call) | {k.arg for k in call.keywords}
    letters = iter([c for c in _LETTERS if c not in taken])
    names = [next(letters) for _ in call.args]
    slopes = ["None" if not _names(a) & local else "g * ..." for a in call.args]
    words = [str(k.arg) for k in call.keywords if _names(k.value) & local]
    parts = [f"{k.arg}={k.arg if k.arg in words else ast.unparse(k.value)}" for k in call.keywords]
    head = ", ".join([*names, *(["*", *words] if words else [])])
    return _lines(call.func, head, f"{ast.unparse(call.func)}({', '.join([*names, *parts])}){part}", slopes, part, makes)


def for_function(function: Any, full_name: str = "") -> str:
    """The lines for a function without source and rule: of this full name, or a method of any object.

    >>> print(for_function(np.random.default_rng(0).wald))  # doctest: +ELLIPSIS
    Outside of the function, with the derivative for `...` (and `my_wald` called in its place):
      from s2sgrad import custom_gradient
      my_wald = custom_gradient(lambda self, mean, scale: (self.wald(mean, scale), lambda g: (None, g * ..., g * ...)))
      # or by differences, ...
    """
    name = its(function, "__name__", "")
    if not callable(function) or not name.isidentifier():
        return ""
    names, slopes = required(function), ["g * ..."] * len(required(function))
    if inspect.ismethod(function) and (rest := inspect.getfullargspec(function).varargs):
        names, slopes = [*names, f"*{rest}"], [*slopes, f"*[g * ... for a in {rest}]"]
    owner = its(function, "__self__", None)
    given = owner is None or isinstance(owner, (type, types.ModuleType)) or bool(full_name)
    called, whole = full_name or (name if given else f"self.{name}"), names if given else ["self", *names]
    slopes = slopes if given else ["None", *slopes]
    return _lines(ast.Name(name), ", ".join(whole), f"{called}({', '.join(names)})", slopes)


def required(function: Callable[..., Any]) -> list[str]:
    """The names of a function's required arguments; `x` where its signature is unavailable."""
    if isinstance(function, np.ufunc):
        return ["x"] if function.nin == 1 else [f"x{k + 1}" for k in range(function.nin)]
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["x"]
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [p.name for p in parameters if p.kind in kinds and p.default is p.empty] or ["x"]


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _lines(
    callee: ast.expr, parameters: str, value: str, slopes: list[str], part: str = "", makes: bool = False
) -> str:  # fmt: skip
    last = callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "function")
    slope = slopes[0] if len(slopes) == 1 else f"({', '.join(slopes)})"
    result = f"ask({value})" if makes else value
    asked = "what is asked of the object for `ask`, and " if makes else ""
    place = "place of both" if makes else f"place of it and of `{part}`" if part else "its place"
    return (
        f"Outside of the function, with {asked}the derivative for `...` (and `my_{last}` called in {place}):\n"
        f"  from s2sgrad import custom_gradient\n"
        f"  my_{last} = custom_gradient(lambda {parameters}: ({result}, lambda g: {slope}))"
        f"{_differences(parameters, result, slopes)}"
    )


def _differences(parameters: str, result: str, slopes: list[str]) -> str:
    """The line that says how differences stand for the derivative; none where the number of arguments is not known.

    >>> print(_differences("a, b", "zeta(a, b)", ["g * ...", "None"]))
    <BLANKLINE>
      # or by differences, with `from s2sgrad.testing import by_differences`, to some eight digits:
      #     lambda *g: (by_differences(lambda a: zeta(a, b), a, g), None)
    """
    if "*" in parameters.replace("*, ", ""):
        return ""
    names = parameters.split(", ")
    each = [
        s if s == "None" else f"by_differences(lambda {n}: {result}, {n}, g)" for n, s in zip(names, slopes, strict=False)
    ]
    whole = f"({', '.join(each)}{',' if len(each) == 1 else ''})"
    return (
        "\n  # or by differences, with `from s2sgrad.testing import by_differences`, to some eight digits:"
        f"\n  #     lambda *g: {whole}"
    )
