"""`s2sgrad show`: prints the generated text, or writes a page with the function beside it."""

from __future__ import annotations

import argparse

from s2sgrad.cli.facts import facts
from s2sgrad.cli.stages import stages
from s2sgrad.cli.targets import Mistake, asking, derivative_of, evaluated, function_named
from s2sgrad.explanation.showing import in_colour


def run(options: argparse.Namespace) -> int:
    """Print the gradient that s2sgrad writes for a function: for arguments of any kind or, which reads better, for
    arguments like those of --args.  By default it is the gradient in the first parameter."""
    if options.output is None and (options.standalone or options.lines):
        raise Mistake(f"{'--standalone' if options.standalone else '--lines'} says what -o FILE writes: give it, too")
    target, space = function_named(options.target)
    derivative = derivative_of(target, options)
    arguments = None if options.args is None else evaluated(options.args, space)
    if options.html is not None:
        try:
            with asking():
                derivative.show(*arguments or (), html=options.html)
        except OSError as error:
            raise Mistake(str(error)) from None
        return 0
    with asking():
        text = derivative.source if arguments is None else derivative.source_for(*arguments)
    if options.facts:
        print(f"# ---- what is known ----\n{facts(derivative, arguments).rstrip()}\n")
    if options.stages:
        for name, stage in stages(derivative, arguments):
            print(f"# ---- after {name} ----\n{stage.rstrip()}\n")
    if options.facts or options.stages:
        print("# ---- the generated text ----")
    if options.output is None:
        print(in_colour(text.strip()))
        return 0
    if arguments is not None:
        derivative.prepare(*arguments)
    try:
        derivative.save(options.output, options.standalone, options.lines)
    except (ValueError, OSError) as error:
        raise Mistake(str(error)) from None
    return 0
