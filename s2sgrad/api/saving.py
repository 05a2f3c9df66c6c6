"""A generated text as a module of its own: `df.save("loss_grad.py")`.

    import numpy as np                          what the text takes from libraries,
    from model import SCALE, helper             from the user's module,
    w = 2.0                                     and what the function closed over
    ...

With `standalone` the helpers of ours are written out as well, so that the module runs where s2sgrad is not.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import os
import symtable
import sys
import tempfile
import textwrap
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.source import look_up

if TYPE_CHECKING:
    from s2sgrad.driver.compiled import Compiled

_LARGEST = 1000  # elements of an array that is written out
_OURS = "s2sgrad"


def module_text(compiled: Compiled, standalone: bool = False) -> str:
    """The text with all that it needs; ValueError that names what cannot be found again."""
    text = compiled.text
    lines = _Lines()
    for name in sorted(free_names(text)):
        found = next((b for f in compiled.functions if (b := look_up(f, name)) is not None), None)
        if found is None and not hasattr(builtins, name):
            raise ValueError(f"the text reads `{name}`, which stands for nothing that a module could import")
        if found is not None and found.value is not getattr(builtins, name, lines):
            lines.bring(name, found.value, compiled.functions[0])
    if standalone:
        text = _Helpers(lines).without_imports(text)
        return "from __future__ import annotations\n\n" + lines.text() + text
    return lines.text() + text


def free_names(text: str) -> set[str]:
    """The names that a text reads and does not bind itself, those of Python's builtins among them.

    >>> sorted(free_names("def f(x): return np.sin(x) * abs(k)"))
    ['abs', 'k', 'np']
    """
    top = symtable.symtable(text, "<text>", "exec")
    bound = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}
    read: set[str] = set()
    waiting = [top]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        read |= {s.get_name() for s in table.get_symbols() if s.is_referenced() and (s.is_global() or table is top)}
    return read - bound


class _Lines:
    """What stands above a text, each kind in the order of the alphabet."""

    def __init__(self) -> None:
        self.imports: set[str] = set()
        self.values: list[str] = []
        self.written: list[str] = []

    def bring(self, name: str, value: Any, function: types.FunctionType) -> None:
        """Let the text find a value under a name, as the function found it."""
        if isinstance(value, types.ModuleType):
            self.imports.add(f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}"))
        elif function.__globals__.get(name) is value:
            self.imports.add(f"from {_module_of(function)} import {name}")
        elif isinstance(value, (types.FunctionType, type, np.ufunc)) and _is_found(value):
            own = value.__name__
            self.imports.add(f"from {_home(value)} import {own}" + ("" if own == name else f" as {name}"))
        else:
            self.values.append(f"{name} = {_literal(name, value, self.imports)}  # what the function closed over\n")

    def text(self) -> str:
        """The lines, and the space below them."""
        groups = [sorted(f"{line}\n" for line in self.imports), self.values]
        head = "\n".join("".join(group) for group in groups if group)
        written = "".join(f"\n\n{part}" for part in self.written)
        return head + written + ("\n\n" if head or written else "")


def _home(value: Any) -> str:
    return getattr(value, "__module__", None) or "numpy"


def _is_found(value: Any) -> bool:
    return getattr(sys.modules.get(_home(value)), value.__name__, None) is value


def _module_of(function: types.FunctionType) -> str:
    """The module from which the names of a function are imported; of a file that was not imported, by the file's name."""
    name, file = (function.__globals__.get(n, "") for n in ("__name__", "__file__"))
    stem = Path(file or function.__code__.co_filename).stem
    return name if stem in (name.rpartition(".")[2], "__init__") else stem


def _literal(name: str, value: Any, imports: set[str]) -> str:
    """A value as Python writes it; ValueError for what cannot be written."""
    if value is None or (isinstance(value, (bool, int, float, str)) and type(value) in (bool, int, float, str)):
        if isinstance(value, float) and not np.isfinite(value):
            return f'float("{value}")'
        return repr(value)
    if isinstance(value, np.generic):
        return _literal(name, value.item(), imports)
    if type(value) in (list, tuple):
        inner = ", ".join(_literal(name, item, imports) for item in value)
        return f"[{inner}]" if type(value) is list else f"({inner}{',' if len(value) == 1 else ''})"
    if type(value) is dict:
        return "{" + ", ".join(f"{k!r}: {_literal(name, item, imports)}" for k, item in value.items()) + "}"
    if type(value) is np.ndarray and value.dtype.kind in "fiub" and value.size <= _LARGEST:
        imports.add("import numpy as np")
        return f"np.array({_literal(name, value.tolist(), imports)}, dtype={value.dtype.name!r})"
    raise ValueError(f"`{name}`, which the function closed over, cannot be written into a module: pass it as an argument")


class _Helpers:
    """Writes out the helpers of ours that a text imports, each behind those that it calls; of two of one name, the second
    gets another."""

    def __init__(self, lines: _Lines) -> None:
        self.lines = lines
        self.names: dict[str, str] = {}  # by module and name in there: the name in the text

    def without_imports(self, text: str) -> str:
        """The text without its imports of ours; what these brought is written above it."""
        tree = ast.parse(text)
        kept = text.splitlines(keepends=True)
        for statement in tree.body:
            if isinstance(statement, ast.ImportFrom) and (statement.module or "").partition(".")[0] == _OURS:
                home = sys.modules[statement.module]
                for alias in statement.names:
                    self._import(alias.asname or alias.name, vars(home)[alias.name], alias.name, home)
                for k in range(statement.lineno - 1, statement.end_lineno):
                    kept[k] = ""
            elif _OURS in {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}:
                raise ValueError("a rule that this text calls has no name of its own: save it without standalone=True")
        return "".join(kept).lstrip("\n")

    def _import(self, name: str, value: Any, own: str, home: types.ModuleType) -> None:
        """Bring what the text imports itself."""
        if value in (runtime.vjp, runtime.jvp, runtime.call):
            raise ValueError("the text differentiates functions when it runs, for which it needs s2sgrad: save it without "
                             "standalone=True")  # fmt: skip
        written = self._bring(own, value, home)
        if written != name:
            self.lines.written.append(f"{name} = {written}\n")

    def _bring(self, name: str, value: Any, home: types.ModuleType) -> str:
        """Write out what a module of ours calls by a name; the name that it has in the text."""
        if isinstance(value, types.ModuleType):
            self.lines.imports.add(f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}"))
            return name
        defined = isinstance(value, (types.FunctionType, type))
        if defined and not _home(value).startswith(_OURS) and _is_found(value):
            self.lines.imports.add(f"from {_home(value)} import {value.__name__}"
                                   + ("" if value.__name__ == name else f" as {name}"))  # fmt: skip
            return name
        home, statement = (sys.modules[_home(value)], None) if defined else _bound(name, value, home)
        key = f"{home.__name__}.{value.__name__ if defined else name}"
        if key not in self.names:
            taken = set(self.names.values())
            self.names[key] = name
            while self.names[key] in taken:
                self.names[key] += "_"
            source = self._source(value, home) if statement is None else self._renamed(statement, home, name)
            self.lines.written.append(source)
        return self.names[key]

    def _source(self, value: Any, home: types.ModuleType) -> str:
        source = textwrap.dedent(inspect.getsource(value))
        return self._renamed(_bare(source) + "\n" if source.startswith("@") else source, home, value.__name__)

    def _renamed(self, source: str, home: types.ModuleType, own: str) -> str:
        """A source with the names that what it reads has in the text; what it reads is written before."""
        others = sorted((free_names(_bare(source)) | {own}) & vars(home).keys())
        names = {n: self._bring(n, vars(home)[n], home) for n in others}
        changed = {n: new for n, new in names.items() if n != new}
        if not changed:
            return source
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in changed:
                node.id = changed[node.id]
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in changed:
                node.name = changed[node.name]
        return ast.unparse(tree) + "\n"


def _bound(name: str, value: Any, home: types.ModuleType) -> tuple[types.ModuleType, str]:
    """The module of ours that binds a name, this one or where it has it from, and the statement by which it does."""
    others = (m for m in list(sys.modules.values()) if getattr(m, "__name__", "").startswith(_OURS))
    for module in (home, *(m for m in others if m is not home and vars(m).get(name) is value)):
        for statement in ast.parse(inspect.getsource(module)).body:
            targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            if any(isinstance(t, ast.Name) and t.id == name for t in targets):
                return module, ast.unparse(ast.Assign([ast.Name(name)], statement.value, lineno=0)) + "\n"
    raise ValueError(f"the helper `{name}` cannot be written out: save it without standalone=True")


def _bare(source: str) -> str:
    """A function or class without its decorators and annotations, which nothing reads when it runs."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            node.decorator_list = []
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(tree)


def save(path: Any, text: str) -> None:
    """Write a text, all of it or nothing."""
    path = Path(path)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".py", delete=False) as file:
        file.write(text)
    try:
        os.replace(file.name, path)
    except OSError:
        os.unlink(file.name)
        raise
