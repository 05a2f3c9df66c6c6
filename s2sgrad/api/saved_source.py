"""The sources of functions that a saved module contains, without annotations, decorators and doctests.

@linear(np.cumsum)                                    def cumsum_pullback(g, y, x, axis=None):
def cumsum(g: Any, y: Any, x: Any, axis=None):   ->       ...
    ...
"""

from __future__ import annotations

import ast
import copy
import inspect
import keyword
import symtable
import sys
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from s2sgrad import emit
from s2sgrad.source import read

Placed = ast.stmt | ast.expr | ast.arg


def end_of(node: Placed) -> tuple[int, int]:
    """The line and the column behind a node that was parsed."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


class Source:
    """A text with pending edits; its tree is not changed.  Columns count bytes, as in trees."""

    def __init__(self, text: str, tree: ast.Module | None = None) -> None:
        self.tree = ast.parse(text) if tree is None else tree
        self.lines = text.splitlines(keepends=True)
        self.changes: list[tuple[tuple[int, int], tuple[int, int], str]] = []

    def replace(self, node: Placed, new: str) -> None:
        """Replace the text of a node."""
        self.changes.append(((node.lineno, node.col_offset), end_of(node), new))

    def insert(self, statement: ast.stmt, line: str) -> None:
        """Insert a line after a statement."""
        behind = end_of(statement)
        self.changes.append((behind, behind, f"\n{' ' * statement.col_offset}{line}"))

    def remove(self, statement: ast.stmt) -> None:
        """Delete the lines of a statement."""
        self.changes.append(((statement.lineno, 0), (end_of(statement)[0] + 1, 0), ""))

    def rename(self, node: ast.FunctionDef | ast.ClassDef, name: str) -> None:
        """Rename the function or class that a node defines."""
        start = node.col_offset + (6 if isinstance(node, ast.ClassDef) else 4)
        end = start + len(node.name.encode())
        self.changes.append(((node.lineno, start), (node.lineno, end), name))

    def text(self) -> str:
        """The edited text.

        >>> source = Source("def f(x: int):\\n    return x\\n")
        >>> source.rename(source.tree.body[0], "g")
        >>> source.text()
        'def g(x: int):\\n    return x\\n'
        """
        lines = [line.encode() for line in self.lines]
        for (first, column), (last, end), new in sorted(self.changes, reverse=True):
            rest = lines[last - 1][end:] if last <= len(lines) else b""
            lines[first - 1 : last] = [lines[first - 1][:column] + new.encode() + rest]
        return b"".join(lines).decode()


def of(value: Any) -> tuple[Source, ast.FunctionDef | ast.ClassDef]:
    """The source of a function or class without decorators, annotations and doctests, and its node."""
    if isinstance(value, type):
        text = textwrap.dedent(inspect.getsource(value))
    else:
        primal = read(value)
        is_lambda = value.__name__ == "<lambda>"
        text = emit.function(primal.fresh_tree()) if is_lambda else primal.text(primal.tree) + "\n"
    source = Source(text)
    (node,) = source.tree.body
    assert isinstance(node, (ast.FunctionDef, ast.ClassDef))
    for part in ast.walk(node):
        _bare(source, part)
    return source, node


def _bare(source: Source, node: ast.AST) -> None:
    """Remove the annotations and the doctests of a node."""
    if isinstance(node, ast.arg) and node.annotation is not None:
        end = end_of(node.annotation)
        spaced = source.lines[end[0] - 1].encode()[end[1] : end[1] + 3] == b" = "
        start = node.lineno, node.col_offset + len(node.arg.encode())
        source.changes.append((start, (end[0], end[1] + 3) if spaced else end, "=" if spaced else ""))
    if isinstance(node, ast.FunctionDef) and node.returns is not None:
        arrow = source.lines[node.returns.lineno - 1].encode().rindex(b" ->", 0, node.returns.col_offset)
        end = end_of(node.returns)
        source.changes.append(((node.returns.lineno, arrow), end, ""))
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        source.changes.append((end_of(node.target), end_of(node.annotation), ""))
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ">>>" in (doc := ast.get_docstring(node) or ""):
        said = doc.partition(">>>")[0].rstrip()
        indent = " " * (node.body[0].col_offset)
        close = f"\n{indent}" if "\n" in said else ""
        source.replace(node.body[0], f'"""{textwrap.indent(said, indent).lstrip()}{close}"""')


def kept(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a source, except those of annotations, which are removed from it.

    >>> sorted(n.id for n in kept(ast.parse("def f(x: T) -> T:\\n    y: T = x\\n    return y")) if isinstance(n, ast.Name))
    ['x', 'y', 'y']
    """
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        said = [getattr(found, word, None) for word in ("annotation", "returns")]
        waiting += [child for child in ast.iter_child_nodes(found) if not any(child is part for part in said)]


def free_names(node: ast.AST) -> set[str]:
    """The free names of a function, class or expression, builtins included; not those of defaults, annotations and
    decorators, which are evaluated at the definition.

    >>> sorted(free_names(ast.parse("def f(x: T, n=k): return np.sin(x) * abs(f(n)) * [x for x in x][0]").body[0]))
    ['abs', 'f', 'np']
    """
    if isinstance(node, ast.expr):
        text = f"def _():\n    return ({ast.unparse(node)})\n"
    else:
        bare = _Bare().visit(copy.deepcopy(node))
        bare.name = _UNUSED
        text = ast.unparse(bare)
    out: set[str] = set()
    top = symtable.symtable(text, "<text>", "exec")
    waiting = [top] if isinstance(node, ast.ClassDef) else top.get_children()  # bases are evaluated outside
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        out |= {s.get_name() for s in table.get_symbols() if s.is_referenced() and s.is_global()}
    return out


def bound_names(node: ast.AST) -> set[str]:
    """The names that a function or an expression binds, those of its parameters too.

    >>> sorted(bound_names(ast.parse("def f(x, *, n=k): y = x; return [z for z in y]").body[0]))
    ['n', 'x', 'y', 'z']
    """
    inside = list(ast.walk(node))
    stored = {n.id for n in inside if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return stored | {n.arg for n in inside if isinstance(n, ast.arg)}


_UNUSED = "_what_is_defined"


class _Bare(ast.NodeTransformer):
    """Removes annotations, and the defaults and decorators of the outermost function."""

    def __init__(self) -> None:
        self.inside = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        if not self.inside:
            node.decorator_list = []
            node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
            node.args.kw_defaults = [d and ast.Constant(None) for d in node.args.kw_defaults]
        self.inside = True
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.inside = True
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)


def defaults(node: ast.FunctionDef, function: types.FunctionType) -> Iterator[tuple[str, ast.expr, Any]]:
    """The parameters with defaults: name, expression, and value."""
    args = node.args
    positional = [*args.posonlyargs, *args.args][len(args.posonlyargs) + len(args.args) - len(args.defaults) :]
    values = function.__defaults__ or ()
    if len(values) == len(args.defaults):
        yield from zip([a.arg for a in positional], args.defaults, values, strict=True)
    for argument, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        named = function.__kwdefaults__ or {}
        if default is not None and argument.arg in named:
            yield argument.arg, default, named[argument.arg]


def module_of(space: dict[str, Any]) -> str | None:
    """The module for imports from these globals; None if no file defines them, as in a notebook.

    A script is imported by its file name, and so is a file that was loaded under another name.
    """
    name, file = str(space.get("__name__")), space.get("__file__")
    stem = Path(file).stem if file else None
    own: str | None = getattr(space.get("__spec__"), "name", None)
    if name == "__main__" and own:  # python -m package.module
        return own
    if name in sys.modules and name != "__main__" and vars(sys.modules[name]) is space:
        if stem is None or stem in (name.rpartition(".")[2], "__init__"):
            return name
    if not file or stem is None or not Path(file).is_file():
        return None
    return stem if stem.isidentifier() and not keyword.iskeyword(stem) else None


def statement(name: str, value: Any, home: types.ModuleType) -> tuple[types.ModuleType, str]:
    """The module of ours that binds a name to a value, directly or by import, and the expression."""
    others = (m for m in list(sys.modules.values()) if getattr(m, "__name__", "").startswith("s2sgrad."))
    for module in (home, *(m for m in others if m is not home and vars(m).get(name) is value)):
        for bound in ast.parse(inspect.getsource(module)).body:
            if not isinstance(bound, (ast.Assign, ast.AnnAssign)) or bound.value is None:
                continue
            targets = bound.targets if isinstance(bound, ast.Assign) else [bound.target]
            if any(isinstance(t, ast.Name) and t.id == name for t in targets):
                return module, ast.unparse(bound.value)
    raise ValueError(f"the helper `{name}` cannot be written out: save it without standalone=True")
