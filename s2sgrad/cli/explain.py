"""`s2sgrad explain`: what is known of each line of a function, and what the gradient does with it."""

from __future__ import annotations

import argparse

from s2sgrad.cli.targets import asking, derivative_of, evaluated, function_named
from s2sgrad.explanation import explained


def run(options: argparse.Namespace) -> int:
    """Print what s2sgrad knows of each line of a function, for arguments of any kind or for arguments like those of --args.

    It says what has a derivative, what is recorded and why, what shares memory, what is refused.  Nothing is run but
    --args.
    """
    target, space = function_named(options.target)
    derivative = derivative_of(target, options)
    arguments = None if options.args is None else evaluated(options.args, space)
    with asking():
        explanation = explained(derivative, arguments)
    print("\n\n".join(map(str, [explanation, *(explanation.calls if options.calls else ())])))
    return 0 if explanation.refusal is None else 2
