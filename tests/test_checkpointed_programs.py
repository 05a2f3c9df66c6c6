"""Random programs whose loops keep states: the gradient is the one that records every trip gives, or the program is refused.

S2SGRAD_PROGRAMS=2000 takes so many programs of each kind in the place of the default.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import warnings
from collections import Counter

import numpy as np
import pytest
from alias_programs import alias_program
from differences import copied
from judging import loaded
from mutation_programs import mutation_program
from programs import program_from_seed
from stack_programs import program as stack_program

from s2sgrad import S2SGradError, value_and_grad

OF_A_PART = 4
PARTS = -(-int(os.environ.get("S2SGRAD_PROGRAMS", "16")) // OF_A_PART)


class _Kept(ast.NodeTransformer):
    """Every loop keeps so many states."""

    def __init__(self, slots: int) -> None:
        self.slots, self.loops = slots, 0

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        self.loops += 1
        over = ast.parse(f"checkpointed(_, slots={self.slots})", mode="eval").body
        over.args = [node.iter]
        node.iter = over
        return node


def kept(source: str, slots: int) -> tuple[str, int]:
    """A program whose loops keep states, and how many loops there are."""
    keeping = _Kept(slots)
    tree = keeping.visit(ast.parse(source))
    return "from s2sgrad import checkpointed\n" + ast.unparse(ast.fix_missing_locations(tree)) + "\n", keeping.loops


def stacks(seed: int):
    """What the programs with stacks are given."""
    x, c = np.array([0.7, 1.3, -0.4, 0.9]), 0.6
    rng, it = np.random.default_rng(3), iter(np.linspace(0.1, 0.9, 400).tolist())
    return stack_program(seed), (x, c, rng, it, np.linspace(0.9, 0.1, 400).tolist())


def of(writer):
    """Text and arguments of a program that a writer gives."""

    def written(seed: int):
        program = writer(seed)
        return program.source, copied(program.args)

    return written


KINDS = {"all": of(program_from_seed), "aliases": of(alias_program), "mutation": of(mutation_program), "stacks": stacks}


def outcome(source: str, name: str, args: tuple) -> tuple[str, str]:
    """Whether a program has a gradient, is refused or fails, and what comes out."""
    floats = tuple(k for k, a in enumerate(args) if isinstance(a, (float, np.ndarray)) and np.asarray(a).dtype.kind == "f")
    if not floats:
        return "rejected", ""
    with loaded(source, name) as f, contextlib.redirect_stdout(io.StringIO()) as shown, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value, gradients = value_and_grad(f, floats)(*args)
        except S2SGradError as error:
            return "refused", str(error)
        except Exception as error:
            return "raised", type(error).__name__
        return "right", repr([value, [np.round(g, 9).tolist() for g in gradients], shown.getvalue()])


@pytest.mark.sampled(one_in=4, by="part")
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", KINDS)
def test_right_or_refused(kind, part):
    told: Counter[str] = Counter()
    for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART):
        plain, _ = KINDS[kind](seed)
        text, loops = kept(plain, 1 + seed % 4)
        if not loops:
            continue
        wanted = outcome(plain, f"<plain {kind} {seed}>", KINDS[kind](seed)[1])
        if wanted[0] in ("refused", "rejected"):
            continue
        got = outcome(text, f"<kept {kind} {seed}>", KINDS[kind](seed)[1])
        told[got[0]] += 1
        assert got[0] == "refused" or got == wanted, f"{kind} {seed}\n{text}\n{wanted}\n{got}"
    assert told["refused"] <= 0.6 * told.total() + 1, told
    print(kind, dict(told))
