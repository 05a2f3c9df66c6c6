"""The real and the imaginary part of an array of complex numbers, which are views of it.

z.real[:] = e      ->      e_bar = z_bar.real[:]; z_bar.real[:] = 0.0
z.imag[:] = e      ->      e_bar = -z_bar.imag[:]; z_bar.imag[:] = 0.0       for `dL = Re(z_bar * dz)`
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from s2sgrad.ir.forms import minus
from s2sgrad.ir.quote import nodes
from s2sgrad.primitives import spellings


def is_part(node: gast.AST) -> bool:
    """Whether an expression is the real or the imaginary part of something."""
    return isinstance(node, gast.Attribute) and node.attr in spellings.PARTS


def is_real(value: gast.AST, known: Callable[[gast.AST], bool]) -> bool:
    """Whether an expression is such a part, a section of one, or made of those and of what is known to be real."""
    if is_part(value) or known(value):
        return True
    if isinstance(value, (gast.Subscript, gast.UnaryOp)):
        return is_real(value.value if isinstance(value, gast.Subscript) else value.operand, known)
    plain = isinstance(value, gast.BinOp) and isinstance(value.op, (gast.Add, gast.Sub, gast.Mult, gast.Div))
    return plain and is_real(value.left, known) and is_real(value.right, known)


def transferred(target: gast.AST, value: gast.AST) -> gast.AST:
    """The adjoint of what is stored into a section, given that of the section: of an imaginary part its opposite."""
    turned = [n for n in nodes(target) if isinstance(n, gast.Attribute) and n.attr == spellings.IMAG]
    return minus(value) if len(turned) % 2 else value
