"""What stores and sums need of the adjoint environment, which is built on them.

x_bar = x_bar + y_bar * z     ->     present["x"] = Bar("x_bar"), held by statements in `out`
"""

from __future__ import annotations

from typing import Any, Protocol

import gast

from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Kind
from s2sgrad.ir.unit import Unit
from s2sgrad.transform.cotangents import Bar, Consumed, Cotangent, HeldKinds
from s2sgrad.transform.exclusions import Exclusions
from s2sgrad.transform.settling import Settling


class Environment(Protocol):
    """The adjoint variables during the backward walk."""

    unit: Unit
    inference: Inference
    out: list[gast.AST]
    pending: dict[str, list[Cotangent]]
    present: dict[str, Bar]
    storing: Any
    held: HeldKinds
    consumed: Consumed
    mirrored: set[str]
    settling: Settling
    exclusions: Exclusions

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of variables."""

    @property
    def active(self) -> set[str]:
        """The variables with adjoints."""

    @property
    def stacks(self) -> set[str]:
        """The lists whose adjoints exist from the start."""

    def bar(self, x: str) -> str:
        """The name of the adjoint of `x`."""

    def start(self, x: str) -> None:
        """Initialize the missing adjoint of `x` to zero."""

    def make_own(self, x: str) -> None:
        """Copy the adjoint of `x` unless it was allocated here."""

    def contribute(self, x: gast.AST, cotangent: Cotangent) -> None:
        """Collect a contribution to the adjoint of an operand."""

    def write(self, x: str, given: list[Cotangent]) -> None:
        """Add contributions to the adjoint of `x`."""

    def is_borrowed(self, value: gast.AST) -> bool:
        """Whether a value may alias memory that is updated in place as the adjoint of another name."""

    def named(self, g: Cotangent, anew: bool = False, of: str | None = None) -> Cotangent:
        """The cotangent bound to a name, so that it can be read twice."""

    def isolated(self, g: Cotangent) -> Cotangent:
        """The contribution in a form that the store in progress does not change."""
