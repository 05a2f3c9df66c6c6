"""Programs written another way that mean the same: other names, values through an identity function, calls by detours.

Each transformer takes the text of a module and gives another one.

>>> print(renamed('''
... def scaled(x, k):
...     y = x * k
...     return np.sum(y, axis=0)
... def f(v, *, w=2.0):
...     return scaled(v, k=w) + f.__name__
... ''', ("zeros", "seed", "t1", "len")))
def seed(t1, zeros):
    len = t1 * zeros
    return np.sum(len, axis=0)
<BLANKLINE>
def zeros(t1, *, len=2.0):
    return seed(t1, zeros=len) + zeros.__name__
>>> print(through_identity('''
... def f(x):
...     y = x * 2.0
...     y += 1.0
...     return y
... '''))
def ident(v):
    return v
<BLANKLINE>
def f(x):
    y = ident(x * 2.0)
    y += 1.0
    return y
>>> text = '''
... def f(x):
...     return g(np.sin(x), n=len(x))
... '''
>>> print(called_from_lists(text))
def f(x):
    return [g][0]([np.sin][0](x), n=len(x))
>>> print(called_by_helpers(text))
def call(called, *args, **keywords):
    return called(*args, **keywords)
<BLANKLINE>
def f(x):
    return call(g, call(np.sin, x), n=len(x))
>>> print(called_as_methods(text))
class Holder:
<BLANKLINE>
    def __init__(self, held):
        self.held = held
<BLANKLINE>
    def run(self, *args, **keywords):
        return self.held(*args, **keywords)
<BLANKLINE>
def f(x):
    return Holder(g).run(Holder(np.sin).run(x), n=len(x))
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import linecache
import re
import sys
import types
from collections.abc import Callable, Iterator

import numpy as np

HOSTILE = (
    "array", "copy", "zeros", "pop", "take", "reversed", "seed", "result", "x_bar", "t1", "stack", "append", "len", "range",
    "sum", "np_", "like", "zip", "list", "min", "float", "enumerate", "x_stack", "trips", "push", "saved", "isinstance",
    "type", "slice", "tuple", "print", "t2", "max", "dict", "np", "sequence", "unbroadcast", "y_bar", "int", "bool", "math",
    "abs", "set", "map", "filter", "add_at", "keys_of", "t", "k", "self", "cls", "restored", "poison", "numpy", "sorted",
    "iter", "next", "round", "object", "super", "property", "any", "all", "divmod", "pow", "hash", "id", "item", "row",
    "seed_", "t1_", "x_new", "x_bar_bar", "seed_like", "copied", "scalar", "rebinds", "runtime", "grad", "_", "vjp", "call",
    "result_", "shape", "size", "dot", "mean", "log", "exp", "outer", "where", "zeros_like", "full_like", "contiguous",
)  # fmt: skip

_OF_LIBRARIES = {
    *dir(np), *dir(np.ndarray), *dir(np.linalg), *dir(np.random.Generator), *dir(list), *dir(dict), *dir(str), *dir(set),
    *dir(float), *dir(int), *dir(slice), *dir(type(lambda: 0)), *dir(type((lambda: (yield))())), *dir(BaseException),
    *dir(re.compile("")), *dir(contextlib.ExitStack),
}  # fmt: skip
"""Attributes of objects that are not the program's."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


# --- (1) other names -------------------------------------------------------------------------------------------------


def renamed(text: str, pool: tuple[str, ...] = HOSTILE, turn: int = 0) -> str:
    """The module with every variable, parameter, function, class, method and attribute under a name of the pool.

    One name of a top-level definition (of all that is nested in it) becomes one name; those of different definitions are
    given out anew.  These keep their names: what is imported from the module's own package, names that stand in strings
    (they may be read by reflection), names of the module that are names of variables as well, variables
    called like builtins already, keywords of calls of what is
    not a function of the module, fields of classes that are made by `dataclass` or have a base, special methods, and
    attributes that objects of libraries have as well.
    """
    tree = ast.parse(text)
    pool = pool[turn % len(pool) :] + pool[: turn % len(pool)]
    return ast.unparse(_Renamer(tree, pool).run())


class _Renamer:
    def __init__(self, tree: ast.Module, pool: tuple[str, ...]) -> None:
        self.tree, self.pool = tree, pool
        self.definitions = [s for s in tree.body if isinstance(s, (*_FUNCTIONS, ast.ClassDef))]
        self.functions = {d.name for d in self.definitions if isinstance(d, _FUNCTIONS)}
        self.kept = self._kept()
        outer = {n for s in tree.body for n in _bound_here(s)}
        self.kept |= outer & {n for d in self.definitions for part in _parts(d) for n in _bound_inside(part)}

    def run(self) -> ast.Module:
        bound = {n for s in self.tree.body for n in _bound_here(s)} - self.kept
        mentioned = set().union(*(_names(s) for s in self.tree.body)) - bound
        self.outer = self._given(sorted(bound), mentioned)
        attributes = self._attributes()
        self.attributes = self._given(sorted(attributes), set(_OF_LIBRARIES))
        self.inner = {id(d): self._inner(d) for d in self.definitions}
        self.parameters = {d.name: self.inner[id(d)] for d in self.definitions if isinstance(d, _FUNCTIONS)}
        for statement in self.tree.body:
            self._rename(statement, self.inner.get(id(statement), {}))
        return self.tree

    def _given(self, names: list[str], taken: set[str]) -> dict[str, str]:
        """A hostile name for each, as long as there are any."""
        free = [n for n in self.pool if n not in taken and n not in names and n not in self.kept]
        return dict(zip(names, free, strict=False))

    def _inner(self, definition: ast.AST) -> dict[str, str]:
        own = set().union(*(_bound_inside(part) for part in _parts(definition))) - self.kept - set(dir(builtins))
        if isinstance(definition, ast.ClassDef):  # what stands in its body is an attribute
            own -= {n for s in definition.body for n in _bound_here(s)}
        outer = {n for node in ast.walk(definition) if isinstance(node, ast.Global) for n in node.names}
        free = {self.outer.get(n, n) for n in _names(definition) - own} | outer
        return self._given(sorted(own - outer), free)

    def _kept(self) -> set[str]:
        out = {"annotations"}
        spec = {id(k.value) for d in self.definitions for k in _told(d)}
        told = {id(n) for k in (k for d in self.definitions for k in _told(d)) for n in ast.walk(k.value)} | spec
        texts = {id(d.body[0].value) for d in ast.walk(self.tree) if _has_docstring(d)}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts | told:
                out |= set(re.findall(r"\w+", node.value))
            elif isinstance(node, ast.ImportFrom) and node.level:
                out |= {alias.asname or alias.name for alias in node.names}
            elif isinstance(node, ast.Call):
                known = isinstance(node.func, ast.Name) and node.func.id in self.functions
                out |= set() if known else {k.arg for k in node.keywords if k.arg}
            elif isinstance(node, ast.MatchClass):
                out |= set(node.kwd_attrs)
            elif isinstance(node, ast.ClassDef):
                if node.decorator_list or node.bases:
                    out |= {n for s in node.body if isinstance(s, (ast.AnnAssign, ast.Assign)) for n in _bound_here(s)}
        return out | {n for n in set().union(*map(_names, self.tree.body)) if n.startswith("__")}

    def _attributes(self) -> set[str]:
        """Methods, and what is assigned to an object."""
        out = set()
        others = [s for s in self.tree.body if isinstance(s, ast.ImportFrom) and s.level and s.module != "case"]
        for node in ast.walk(self.tree) if not others else ():  # whose classes have attributes of their own
            if isinstance(node, ast.ClassDef):
                out |= {n for s in node.body for n in _bound_here(s)}
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                out.add(node.attr)
        return {n for n in out - self.kept - _OF_LIBRARIES if not n.startswith("__")}

    def _rename(self, node: ast.AST, names: dict[str, str], within: dict[str, str] | None = None) -> None:
        """`names` are those of the definition around a node; what is bound in a class body is an attribute."""
        told = {id(part) for k in _told(node) for part in ast.walk(k.value)} if node in self.definitions else set()
        called = {
            id(k): self.parameters[c.func.id]
            for c in ast.walk(node)
            if isinstance(c, ast.Call) and isinstance(c.func, ast.Name) and c.func.id in self.parameters
            for k in c.keywords
        }
        bodies = {id(s) for c in ast.walk(node) if isinstance(c, ast.ClassDef) for s in c.body}
        in_body = {
            id(n)
            for c in ast.walk(node)
            if id(c) in bodies
            for part in ([*c.decorator_list, *c.args.defaults, *c.args.kw_defaults] if isinstance(c, _FUNCTIONS) else [c])
            if part is not None
            for n in ast.walk(part)
        }
        outer = {n: new for n, new in self.outer.items() if n not in names}
        here = {**outer, **names}
        for part in list(ast.walk(node)):
            if isinstance(part, ast.Name):
                known = self.attributes.get(part.id) if id(part) in in_body and part.id not in here else None
                part.id = known or here.get(part.id, part.id)
            elif isinstance(part, ast.arg):
                part.arg = here.get(part.arg, part.arg)
            elif isinstance(part, (*_FUNCTIONS, ast.ClassDef)):
                part.name = (self.attributes if id(part) in bodies else here).get(part.name, part.name)
            elif isinstance(part, ast.Attribute):
                part.attr = self.attributes.get(part.attr, part.attr)
            elif isinstance(part, ast.keyword) and part.arg:
                part.arg = called.get(id(part), {}).get(part.arg, part.arg)
            elif isinstance(part, (ast.Global, ast.Nonlocal)):
                part.names = [here.get(n, n) for n in part.names]
            elif isinstance(part, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and part.name:
                part.name = here.get(part.name, part.name)
            elif isinstance(part, ast.MatchMapping) and part.rest:
                part.rest = here.get(part.rest, part.rest)
            elif isinstance(part, (ast.Import, ast.ImportFrom)) and not getattr(part, "level", 0):
                for alias in part.names:
                    self._alias(part, alias, here)
            elif isinstance(part, ast.Constant) and id(part) in told and isinstance(part.value, str):
                part.value = names.get(part.value, part.value)

    def _alias(self, statement: ast.AST, alias: ast.alias, names: dict[str, str]) -> None:
        bound = alias.asname or alias.name
        if "." not in bound and bound in names:
            alias.asname = names[bound]


def _told(definition: ast.AST) -> list[ast.keyword]:
    """What a decorator is told of the parameters."""
    calls = [d for d in getattr(definition, "decorator_list", []) if isinstance(d, ast.Call)]
    return [k for call in calls for k in call.keywords if k.arg in ("argnums", "outputs")]


def _has_docstring(node: ast.AST) -> bool:
    return isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Module)) and ast.get_docstring(node) is not None


def _parts(definition: ast.AST) -> list[ast.AST]:
    """What of a definition has its own names."""
    return [definition.args, *definition.body] if isinstance(definition, _FUNCTIONS) else definition.body


def _names(node: ast.AST) -> set[str]:
    """All names in the text of a node."""
    out = _bound_inside(node)
    return out | {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _bound_here(statement: ast.AST) -> set[str]:
    """The names that a statement binds where it stands."""
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        return {statement.name}
    return _bound_inside(statement)


def _bound_inside(node: ast.AST) -> set[str]:
    """The names that are bound anywhere in a node."""
    out: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            out.add(part.id)
        elif isinstance(part, ast.arg):
            out.add(part.arg)
        elif isinstance(part, (*_FUNCTIONS, ast.ClassDef)):
            out.add(part.name)
        elif isinstance(part, (ast.Import, ast.ImportFrom)):
            out |= {n for a in part.names if "." not in (n := a.asname or a.name)}
        elif isinstance(part, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and part.name:
            out.add(part.name)
        elif isinstance(part, ast.MatchMapping) and part.rest:
            out.add(part.rest)
    return out


# --- (2) and (3) detours ---------------------------------------------------------------------------------------------


def through_identity(text: str) -> str:
    """The module with every value that a function binds passed through `ident`."""

    class Through(ast.NodeTransformer):
        def visit_Assign(self, node: ast.Assign) -> ast.AST:
            node.value = ast.Call(ast.Name("ident", ast.Load()), [node.value], [])
            return node

    return _inside(text, Through(), "def ident(v):\n    return v\n\n")


def through_unknown_axes(text: str) -> str:
    """The module with every value of an operation or a call that a function binds passed through `np.squeeze`: the compiler
    does not know how many axes it has.  An array with an axis of one element becomes another one."""

    class Through(ast.NodeTransformer):
        def visit_Assign(self, node: ast.Assign) -> ast.AST:
            if isinstance(node.value, (ast.BinOp, ast.Call, ast.IfExp)) and isinstance(node.targets[0], ast.Name):
                node.value = ast.Call(ast.Name("squeezed", ast.Load()), [node.value], [])
            return node

    return _inside(text, Through(), "def squeezed(v):\n    return np.squeeze(v) if isinstance(v, np.ndarray) else v\n\n")


class _Detour(ast.NodeTransformer):
    """Calls of functions of the module, of those nested in the function, and of NumPy's and `math`'s."""

    def __init__(self, known: set[str], way: Callable[[ast.Call], ast.Call]) -> None:
        self.known, self.way = known, way

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        named = isinstance(node.func, ast.Name) and (node.func.id in self.known or not hasattr(builtins, node.func.id))
        library = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") in ("np", "math")
        return self.way(node) if named or library else node


def called_from_lists(text: str) -> str:
    """`f(x)` as `[f][0](x)`."""

    def way(node: ast.Call) -> ast.Call:
        node.func = ast.Subscript(ast.List([node.func], ast.Load()), ast.Constant(0), ast.Load())
        return node

    return _inside(text, _Detour(_defined(text), way), "")


def called_by_helpers(text: str) -> str:
    """`f(x)` as `call(f, x)`."""

    def way(node: ast.Call) -> ast.Call:
        return ast.Call(ast.Name("call", ast.Load()), [node.func, *node.args], node.keywords)

    helper = "def call(called, *args, **keywords):\n    return called(*args, **keywords)\n\n"
    return _inside(text, _Detour(_defined(text), way), helper)


def called_as_methods(text: str) -> str:
    """`f(x)` as `Holder(f).run(x)`."""

    def way(node: ast.Call) -> ast.Call:
        made = ast.Call(ast.Name("Holder", ast.Load()), [node.func], [])
        node.func = ast.Attribute(made, "run", ast.Load())
        return node

    holder = ("class Holder:\n\n    def __init__(self, held):\n        self.held = held\n\n"
              "    def run(self, *args, **keywords):\n        return self.held(*args, **keywords)\n\n")  # fmt: skip
    return _inside(text, _Detour(_defined(text), way), holder)


def _defined(text: str) -> set[str]:
    return {n.name for n in ast.walk(ast.parse(text)) if isinstance(n, _FUNCTIONS)}


def _inside(text: str, transformer: ast.NodeTransformer, helper: str) -> str:
    """The module with the bodies of its functions rewritten, behind the helper that they call."""
    tree = ast.parse(text)
    start = next((k for k, s in enumerate(tree.body) if not _is_head(s)), len(tree.body))
    for definition in (n for n in ast.walk(tree) if isinstance(n, (*_FUNCTIONS, ast.Lambda))):
        if isinstance(definition, ast.Lambda):
            continue
        nested = {id(n) for d in definition.body for n in ast.walk(d) if isinstance(n, _FUNCTIONS)}
        definition.body = [s if id(s) in nested else transformer.visit(s) for s in definition.body]
    head, rest = ast.Module(tree.body[:start], []), ast.Module(tree.body[start:], [])
    shown = ast.unparse(head)
    return (f"{shown}\n\n" if shown else "") + helper + ast.unparse(ast.fix_missing_locations(rest))


def _is_head(statement: ast.AST) -> bool:
    future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    return future or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))


# --- modules of such texts -------------------------------------------------------------------------------------------


@contextlib.contextmanager
def loaded(text: str, name: str, package: str) -> Iterator[types.ModuleType]:
    """The module of a text, as one of a package, with its lines where `inspect` finds them."""
    module = types.ModuleType(f"{package}.{name}" if package else name)
    module.__package__, file = package, f"<{name}>"
    module.__file__ = file
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    sys.modules[module.__name__] = module
    try:
        exec(compile(text, file, "exec", dont_inherit=True), vars(module))
        yield module
    finally:
        sys.modules.pop(module.__name__, None)
        linecache.cache.pop(file, None)
