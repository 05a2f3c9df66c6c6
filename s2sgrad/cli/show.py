"""`s2sgrad show`: the generated text."""

from __future__ import annotations

import argparse
from typing import Any

from s2sgrad.api import Gradient, grad, value_and_grad
from s2sgrad.api.forward import Jvp
from s2sgrad.cli.facts import facts
from s2sgrad.cli.stages import stages
from s2sgrad.cli.targets import Mistake, evaluated, function_named, parameters_named, primal_of
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.signatures import signature


def run(options: argparse.Namespace) -> int:
    """Print the gradient that s2sgrad writes for a function: for arguments of any kind or, which reads better, for
    arguments like those of --args.  By default it is the gradient in the first parameter."""
    found, space = function_named(options.target)
    derivative = _derivative(found, options)
    arguments = None if options.args is None else evaluated(options.args, space)
    try:
        text = derivative.source if arguments is None else derivative.source_for(*arguments)
    except S2SGradError:
        raise
    except TypeError as error:
        raise Mistake(str(error)) from None
    if options.facts:
        print(f"# ---- what is known ----\n{facts(derivative, arguments).rstrip()}\n")
    if options.stages:
        for name, stage in stages(derivative, arguments):
            print(f"# ---- after {name} ----\n{stage.rstrip()}\n")
    if options.facts or options.stages:
        print("# ---- the generated text ----")
    if options.output is None:
        print(text.strip())
        return 0
    if arguments is not None:
        derivative.prepare(*arguments)
    try:
        derivative.save(options.output, options.standalone)
    except (ValueError, OSError) as error:
        raise Mistake(str(error)) from None
    return 0


def _derivative(found: Any, options: argparse.Namespace) -> Gradient:
    names = parameters_named(options.wrt)
    as_it_is = isinstance(found, Gradient) and names is None and not (options.value or options.forward)
    function = primal_of(found)
    known = list(signature(function).parameters)
    for name in names or ():
        if name not in known:
            raise Mistake(f"{options.target} has no parameter {name!r}; it has {', '.join(known)}")
    argnums: Any = 0 if names is None else names[0] if len(names) == 1 else names
    derivative = found if as_it_is else function
    count = options.order - options.forward
    for k in range(1 if as_it_is else 0, count):
        with_value = options.value and k == count - 1
        derivative = (value_and_grad if with_value else grad)(derivative, derivative._argnums if k else argnums)
    if options.forward:
        return Jvp(derivative).along(tuple(map(known.index, names or known[:1])))
    return derivative
