"""Constants as text: numbers that round-trip to the bit, strings, docstrings.

>>> literal(-0.0), literal(float("inf")), literal((1,))
('-0.0', '1e309', '(1,)')
>>> print(docstring("Compute ∂y/∂x."))
\"""Compute ∂y/∂x.\"""
"""

from __future__ import annotations

import sys
from typing import Any

_INFINITY = f"1e{sys.float_info.max_10_exp + 1}"


def literal(value: Any) -> str:
    """Text that evaluates to the constant, to the bit; a subclass such as NumPy's float64 becomes its Python value."""
    if value is Ellipsis:
        return "..."
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, int):
        return int.__repr__(value) if value.bit_length() < 10_000 else hex(value)  # the limit on decimal digits
    if isinstance(value, float):
        return f"({_INFINITY} - {_INFINITY})" if value != value else float.__repr__(value).replace("inf", _INFINITY)
    if isinstance(value, complex):
        text = complex.__repr__(value).replace("inf", _INFINITY)
        if "nan" in text or repr(eval(text, {})) != complex.__repr__(value):  # a zero lost its sign
            text = f"complex({literal(value.real)}, {literal(value.imag)})"
        return text
    if isinstance(value, str | bytes):
        return (str if isinstance(value, str) else bytes).__repr__(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    raise TypeError(f"a {type(value).__name__} has no literal in Python, so it cannot stand in a tree as a constant")


def is_plain(node: Any) -> bool:
    """Whether a string constant is written without Python 2's `u`."""
    return getattr(node, "kind", None) is None


def escaped(text: str, quote: str, keep: str = "") -> str:
    """The inside of a string literal: escapes backslashes, this kind of quote, and non-printable characters."""
    out = []
    for char in text:
        if char in ("\\", quote):
            out.append("\\" + char)
        elif char.isprintable() or char in keep:
            out.append(char)
        else:
            out.append(char.encode("unicode_escape").decode())
    return "".join(out)


def docstring(text: str) -> str:
    """A string in triple quotes, with its line breaks."""
    text = escaped(text, "", keep="\n\t").replace('"""', r"\"\"\"")
    return f'"""{text[:-1]}\\""""' if text.endswith('"') else f'"""{text}"""'
