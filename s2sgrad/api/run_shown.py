"""The derivative of a recorded function for these arguments, as a text: that of its run, where it is short.

grad(f).source_for(x)     ->     def f_grad(x, seed=1.0): what `f` did, and what the sweep did with that
"""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np

from s2sgrad.api import whole_text
from s2sgrad.api.recording import places
from s2sgrad.api.run_arguments import leaves, named_arguments, structure, value_of
from s2sgrad.api.run_backward import Backward
from s2sgrad.api.run_folding import Statement, body, folded, living
from s2sgrad.api.run_forward import Forward
from s2sgrad.api.run_names import Names, NotShown
from s2sgrad.api.run_variables import Variables
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.signatures import signature
from s2sgrad.recorded.derivatives import Recorded
from s2sgrad.recorded.patterns import Kept
from s2sgrad.recorded.runs import Run
from s2sgrad.recorded.told import MOST, run_that_tells
from s2sgrad.recorded.values import bottom
from s2sgrad.runtime import like
from s2sgrad.runtime.asking import has

_SAID = ("# This is the run for these arguments: other values may take other branches.",)


def of(gradient: Any, args: tuple, keywords: dict[str, Any], error: S2SGradError) -> str | None:
    """The text of a run; None where there are too many entries, or what no text says."""
    request, options = gradient._request, gradient._request.options
    plain = options.outputs is None and request.inner is None
    if not plain or options.forward or options.listed or options.debug:
        return None
    args, keywords, wanted = places(gradient, args, keywords, gradient._request.wrt())
    run = run_that_tells()
    copied = _copied(args, run), _copied(keywords, run)
    recorded = Recorded(gradient._request.function, *copied, tuple(wanted), run=run)
    told = recorded.record.entries
    if len(told) > MOST or run.complex:  # a statement would have to say which cotangents are real
        return None
    try:
        return _checked(gradient, args, keywords, wanted, recorded, told, error)
    except Exception:  # what no text says: the two lines do
        return None


def _copied(value: Any, run: Run | None = None) -> Any:
    """A copy, so that the caller's stays as it is; itself where a part cannot be copied, such as a module.  In the run, if
    one is named, it stands for what was copied."""
    memo: dict[int, Any] = {}
    try:
        copied = copy.deepcopy(value, memo)
    except TypeError:
        return value
    if run is not None:
        for part in memo.get(id(memo), ()):
            run.stands_for(memo[id(part)], part)
    return copied


def _checked(
    gradient: Any, args: tuple, keywords: dict[str, Any], wanted: Any, recorded: Recorded, told: Any, error: S2SGradError
) -> str | None:
    parameters = list(signature(gradient._request.function).parameters.values())
    named = named_arguments(parameters, args, keywords)
    names = Names({p.name for p in parameters} | {f"{p.name}_bar" for p in parameters} | {gradient._request.word.name})
    names.space |= _copied({p.name: value_of(p, args, keywords, parameters) for p in parameters})
    names.space[gradient._request.word.name] = 1.0
    found = [leaves(named[k][1], named[k][0]) for k in wanted]
    given = [leaf for path, value in named.values() for leaf in leaves(value, path)]
    writer = Variables(recorded, told, [path for leaf in found for path, _ in leaf], given, names)
    forward, backward = Forward(writer), Backward(writer)
    for place, entry in enumerate(told):
        if entry is not None:
            forward.write(place, entry)
    writer.back = True
    value = _begin(gradient, backward, recorded.record.result)
    for place in range(len(told) - 1, -1, -1):
        if told[place] is not None:
            backward.write(place, told[place])
    returned = _returned(gradient, writer, recorded, [named[k] for k in wanted], value)
    last = Statement(f"returned = {returned}", "returned", -1)
    statements = folded(living(writer.statements, set(last.reads)), last)
    more = [inspect.Parameter(gradient._request.word.name, inspect.Parameter.KEYWORD_ONLY, default=1.0)]
    lines = [*sorted(names.imports), *names.definitions, "", "", *whole_text.reason(error), *_SAID]
    lines.append(whole_text.head(gradient, parameters, more))
    inner = [*body(statements, told.lines), f"return {last.text.removeprefix('returned = ')}"]
    lines += [f"    {line}".rstrip() for line in inner]
    text = "\n".join(lines) + "\n"
    return text if _agrees(text, gradient, args, keywords, recorded) else None


def _begin(gradient: Any, backward: Backward, result: Any) -> str:
    """Give the result its cotangent; the expression for the value."""
    backward.v.place = -1
    differentiated = result[0] if gradient._request.options.has_aux else result
    if type(differentiated) is not Kept or gradient._request.options.has_aux:
        raise NotShown("a result in parts")
    seed = gradient._request.word.name
    if differentiated.root is None:
        backward.give_number(differentiated.node, seed)
        return backward.v.nodes[differentiated.node]
    value = backward.v.view(differentiated)
    backward.give(differentiated, f"{seed} * np.ones_like({value})", False)
    return value


def _returned(gradient: Any, writer: Variables, recorded: Recorded, wanted: list[tuple[str, Any]], value: str) -> str:
    bars = []
    for leaf in recorded.record.leaves:
        key = leaf.node if leaf.root is None else leaf.root
        zero = "0.0" if leaf.root is None else f"np.zeros_like({writer.roots[leaf.root]})"
        bars.append(writer.bars.get(key, zero))
    ready, texts = iter(bars), []
    for path, argument in wanted:
        text = structure(argument, ready)
        if text.startswith("{") and not isinstance(argument, dict):
            text = f"{writer.names.of_object(like)}({path}, {text})"
        texts.append(text)
    options = gradient._request.options
    result = f"({', '.join(texts)}{',' if len(texts) == 1 else ''})" if options.several else texts[0]
    return f"{value}, {result}" if options.value else result


def _agrees(text: str, gradient: Any, args: tuple, keywords: dict[str, Any], recorded: Recorded) -> bool:
    """Whether the text gives what the sweep gives."""
    space: dict[str, Any] = {}
    exec(text, space)
    made = space[whole_text.name_of(gradient.__name__)](*_copied(args), **_copied(keywords))
    bars = recorded.pullback()
    if gradient._request.options.value:
        made = made[1]
    expected = tuple(bars) if gradient._request.options.several else bars[0]
    return _same(made, expected)


def _same(a: Any, b: Any) -> bool:
    a = a if isinstance(a, (list, tuple, dict, np.ndarray)) or not has(a, "__dict__") else vars(a)
    if isinstance(b, dict):
        return all(_same(a[k], b[k]) for k in b)
    if isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    b = bottom(b)
    return b is None or (np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True))
