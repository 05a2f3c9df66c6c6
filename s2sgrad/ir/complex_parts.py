"""The real and the imaginary part of an array of complex numbers, which are views of it.

z.real[:] = e      ->      e_bar = z_bar.real[:]; z_bar.real[:] = 0.0
z.imag[:] = e      ->      e_bar = -z_bar.imag[:]; z_bar.imag[:] = 0.0       for `dL = Re(z_bar * dz)`
"""

from __future__ import annotations

import gast

from s2sgrad.ir.forms import minus
from s2sgrad.ir.quote import nodes
from s2sgrad.primitives import spellings


def is_part(node: gast.AST) -> bool:
    """Whether an expression is the real or the imaginary part of something."""
    return isinstance(node, gast.Attribute) and node.attr in spellings.PARTS


def is_real(value: gast.AST) -> bool:
    """Whether an expression is such a part, or a section of one, or its opposite."""
    while isinstance(value, gast.Subscript) or isinstance(getattr(value, "op", None), gast.USub):
        value = value.value if isinstance(value, gast.Subscript) else value.operand
    return is_part(value)


def transferred(target: gast.AST, value: gast.AST) -> gast.AST:
    """The adjoint of what is stored into a section, given that of the section: of an imaginary part its opposite."""
    turned = [n for n in nodes(target) if isinstance(n, gast.Attribute) and n.attr == spellings.IMAG]
    return minus(value) if len(turned) % 2 else value
