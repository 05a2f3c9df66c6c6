"""The command line, one module per command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from s2sgrad import __version__
from s2sgrad.cli import check, explain, show
from s2sgrad.cli.targets import Mistake
from s2sgrad.errors import S2SGradError

_TARGET = "path.py:function or package.module:function"
_EXPRESSIONS = ("--args", "--at")
_EXAMPLES = """examples:
  s2sgrad demo
  s2sgrad show model.py:loss
  s2sgrad show model.py:loss --wrt w,b --value --args "np.ones(3), 2.0, np.ones((5, 3))"
  s2sgrad explain model.py:loss --args "np.ones(3), 2.0, np.ones((5, 3))"
  s2sgrad check model.py:loss --args "np.ones(3), 2.0, np.ones((5, 3))"
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit status: 0 good, 1 a gradient is wrong, 2 the command cannot be carried out."""
    options = _parser().parse_args(_joined(sys.argv[1:] if arguments is None else arguments))
    try:
        if getattr(options, "order", 1) < 1:
            raise Mistake(f"--order must be 1 or more, not {options.order}")
        status: int = options.run(options)
        return status
    except (Mistake, S2SGradError) as error:
        print(f"s2sgrad: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _joined(arguments: Sequence[str]) -> list[str]:
    """The words, with the value of `--args` joined to it, which may begin with a minus.

    >>> _joined(["check", "m.py:f", "--args", "-1.0, 2.0"])
    ['check', 'm.py:f', '--args=-1.0, 2.0']
    """
    out: list[str] = []
    for word in arguments:
        if out and out[-1] in _EXPRESSIONS:
            out[-1] += f"={word}"
        else:
            out.append(word)
    return out


def _demo(options: argparse.Namespace) -> int:
    from s2sgrad.cli import demo

    demo.main()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="s2sgrad",
        description="Gradients of NumPy functions, written as readable Python.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"s2sgrad {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    demo = commands.add_parser("demo", help="fit a model to bundled measurements, and show how", description=_demo.__doc__)
    demo.set_defaults(run=_demo)

    shower = commands.add_parser("show", help="print the generated gradient of a function", description=show.run.__doc__)
    shower.add_argument("--order", type=int, default=1, metavar="N", help="the gradient of the gradient: 2, 3, ..")
    shower.add_argument("--stages", action="store_true", help="print the function after every pass, too")
    shower.add_argument("--facts", action="store_true", help="print what is known of each line of its normal form, too")
    shower.add_argument("--value", action="store_true", help="return the value beside the gradient")
    shower.add_argument("-o", "--output", metavar="FILE", help="write a module that runs, instead of printing the text")
    shower.add_argument("--html", metavar="FILE", help="write a page: the function beside its derivatives")
    shower.add_argument("--standalone", action="store_true", help="with -o: write out the helpers of s2sgrad, too")
    shower.add_argument("--lines", action="store_true", help="with -o: say at each statement which line it came of")
    shower.add_argument("--forward", action="store_true", help="the value and its tangent, in forward mode: of the gradient "
                        "with --order 2")  # fmt: skip
    shower.set_defaults(run=show.run)

    explainer = commands.add_parser(
        "explain", help="print what is known of each line of a function", description=explain.run.__doc__
    )
    explainer.add_argument("--calls", action="store_true", help="the functions that are called, too")
    explainer.add_argument("--order", type=int, default=1, metavar="N", help="of the gradient of the gradient: 2, 3, ..")
    explainer.add_argument("--forward", action="store_true", help="of the tangent")
    explainer.set_defaults(run=explain.run, value=False)

    checker = commands.add_parser(
        "check", help="compare the gradient with central differences", description=check.run.__doc__
    )
    checker.add_argument("--order", type=int, default=1, metavar="N", help="check the derivatives up to this order")
    checker.set_defaults(run=check.run)

    for command in (shower, explainer, checker):
        command.add_argument("target", metavar="TARGET", help=_TARGET)
        command.add_argument("--wrt", metavar="X,Y", help="the parameters to differentiate in (default: see above)")
        command.add_argument(
            *_EXPRESSIONS, metavar="EXPRESSIONS", help='the arguments, as Python: "np.ones(3), 2.0"; names of the '
            "function's module may be used"
        )  # fmt: skip
    return parser
