"""Statements, and names that say nothing, in a text.

>>> statements("def f(x):\\n    t1 = x * x\\n    return t1 + 1.0\\n")
2
>>> unnamed("def f(x):\\n    t1 = x * x\\n    y2 = t1 + t1\\n    return y2\\n")
1
"""

from __future__ import annotations

import ast
import re
import textwrap


def statements(text: str) -> int:
    """The statements of a text, but for definitions, imports and docstrings."""
    left_out = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    tree = ast.walk(ast.parse(textwrap.dedent(text)))
    found = [n for n in tree if isinstance(n, ast.stmt) and not isinstance(n, left_out)]
    return sum(not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)) for n in found)


def unnamed(text: str) -> int:
    """How many names like `t12` a text assigns, each place counted."""
    names = (n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return sum(re.fullmatch(r"t\d*", name) is not None for name in names)
