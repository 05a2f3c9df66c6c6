"""How a saved module gets each object that its text reads: imported, written as a literal, or copied as source.

    np.sin(x) * helper(x) * k      ->      import numpy as np
                                           from model import helper
                                           k = 2.0  # what the function closed over

The function that was compiled from the text determines the object behind each name, by its cells and globals.  If two
functions of the text use one name for two objects, the second object gets another name in the module.

A standalone module imports what is a library's from there, and writes out what is of the user's modules: constants as they
are, and functions.  It imports from these modules what it cannot write out: classes, and what they make.
"""

from __future__ import annotations

import ast
import builtins
import copy
import re
import sys
import types
from collections.abc import Callable, Set
from typing import Any, NamedTuple

import numpy as np

from s2sgrad import runtime
from s2sgrad.api import saved_source
from s2sgrad.api.saved_source import Source, free_names
from s2sgrad.api.saved_values import literal
from s2sgrad.driver.inner import is_gradient
from s2sgrad.driver.options import Options
from s2sgrad.driver.text import whereabouts
from s2sgrad.errors import S2SGradError
from s2sgrad.runtime.asking import its
from s2sgrad.source import look_up

_OURS = "s2sgrad"
_LONGEST = 200  # characters of a value of ours, whose statement is written otherwise
_BENEATH = ("runtime", "rules", "standard")  # our modules that generated text may call


class Found(NamedTuple):
    """The value of a name; `space` are the globals that contain it, None for a cell or an argument."""

    name: str
    value: Any
    space: dict[str, Any] | None

    def is_ours(self) -> bool:
        """Whether one of our modules defines it under this name."""
        return self.space is not None and _is_ours(self.space.get("__name__"))


Look = Callable[[str], Found | None]


def names_of(function: types.FunctionType) -> Look:
    """Lookup of the free names of a function."""

    def look(name: str) -> Found | None:
        binding = look_up(function, name)
        return None if binding is None else Found(name, binding.value, binding.home if binding.where == "global" else None)

    return look


def names_at(module: types.ModuleType) -> Look:
    """Lookup of the names of a module."""
    space = {**vars(builtins), **vars(module)}
    return lambda name: Found(name, space[name], vars(module) if hasattr(module, name) else None) if name in space else None


class Module:
    """The top of a saved module: imports, literals, and definitions in order of dependence."""

    def __init__(self, standalone: bool, own: set[str], text: str) -> None:
        self.standalone = standalone
        self.own = own  # names bound by the text itself
        self.used = set(re.findall(r"\w+", text))
        self.stands: dict[str, Any] = {}
        self.modules: set[str] = set()
        self.imported: dict[str, set[str]] = {}
        self.values: list[str] = []
        self.written: list[str] = []

    def text(self) -> str:
        """The lines of the top."""
        lines = [f"import {name}\n" for name in sorted(self.modules)]
        lines += [f"from {module} import {', '.join(sorted(names))}\n" for module, names in sorted(self.imported.items())]
        groups = [[line for line in lines if _origin(line.split()[1]) == origin] for origin in range(3)] + [self.values]
        head = "\n".join("".join(group) for group in groups if group)
        return "\n\n".join(part for part in (head, *self.written) if part)

    def settle(self, source: Source, node: ast.FunctionDef, function: types.FunctionType, own: set[str]) -> None:
        """Make available what the function with this node reads, except the names in `own`."""
        look, defaults = names_of(function), []
        for argument, default, value in saved_source.defaults(node, function):
            path = ast.unparse(default)
            base = look(path.partition(".")[0]) if re.fullmatch(r"[\w.]+", path) else None
            if base is not None and base.space is not None and _at(base.value, path) is value:
                defaults.append(default)
            elif (written := literal(value)) is None or len(written) > 20:
                name = path if path.isidentifier() else f"{argument}_default"
                source.replace(default, self.found(name, Found(name, value, None)))
            elif written != path:
                self._uses(written)
                source.replace(default, written)
        self._settle(source, [node, *defaults], look, own)

    def _settle(self, source: Source, parts: list[ast.AST], look: Look, own: set[str]) -> None:
        """Rename the names in parts of a source to those of their objects in the module."""
        names: dict[str, Found] = {}
        for name in sorted(set().union(*map(free_names, parts)) - own):
            binding = look(name)
            if binding is None:
                raise ValueError(f"the text reads `{name}`, which stands for nothing that a module could import")
            names[name] = binding
        apart = {n for n, f in names.items() if isinstance(f.value, types.ModuleType) and self._is_left(n, f.value, parts)}
        bound = set().union(*map(saved_source.bound_names, parts)) - names.keys()
        new = {n: self.found(n, binding, bound) for n, binding in names.items() if n not in apart}
        for node in (n for part in parts for n in saved_source.kept(part)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in apart:
                attribute = names_at(names[node.value.id].value)(node.attr)
                assert attribute is not None  # the module has it, as the text reads it
                source.replace(node, self.found(node.attr, attribute, bound))
            elif isinstance(node, ast.Name) and new.get(node.id, node.id) != node.id:
                source.replace(node, new[node.id])

    def _is_left(self, name: str, module: types.ModuleType, parts: list[ast.AST]) -> bool:
        """Whether what the parts read of a module is brought without it: it is ours, or of the user's."""
        if self._is_apart(module) or not self._is_of_user(module.__name__):
            return self._is_apart(module)
        nodes = [n for part in parts for n in saved_source.kept(part)]
        read = [n for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == name]
        alone = sum(isinstance(n, ast.Name) and n.id == name for n in nodes) > len(read)
        return not alone and all(n.attr in vars(module) for n in read)

    def found(self, name: str, binding: Found, bound: Set[str] = frozenset()) -> str:
        """Make an object available; returns its name, this one or a similar one, which is none of those that are `bound`."""
        similar = (n for n, v in self.stands.items() if v is binding.value and n.rstrip("_") == name.rstrip("_"))
        old = next((n for n in similar if n not in bound), None)
        if old is not None:
            return old
        here = name
        while here in self.own or here in bound or not _same(self.stands.get(here, binding.value), binding.value) or (
            here != name and (here in self.used or hasattr(builtins, here))
        ):  # fmt: skip
            here += "_"
        if here not in self.stands:
            self.stands[here] = binding.value
            self._bring(here, binding)
        return here

    # --- ways to bring an object into the module ---

    def _bring(self, name: str, binding: Found) -> None:
        value = binding.value
        if getattr(builtins, binding.name, self) is value:
            if name != binding.name:
                self._from("builtins", binding.name, name)
        elif self._write_out(name, binding) or self._import(name, binding):
            pass
        elif self.standalone and not _is_library(value):
            raise ValueError("the text differentiates functions when it runs, for which it needs s2sgrad: save it without "
                             "standalone=True")  # fmt: skip
        elif isinstance(value, type) and not self._is_apart(value):
            raise ValueError(f"the text reads the class `{binding.name}`, which no file has at its top level: move it there")
        elif isinstance(value, (types.FunctionType, type)):
            self._write(name, value)
        elif is_gradient(value):
            self.differentiate(name, value)
        elif self._write_value(name, binding):
            pass
        elif binding.is_ours():
            self._write_statement(name, binding)
        else:
            what = f"`{binding.name}` (of type {type(value).__name__}), which the function reads,"
            raise ValueError(f"{what} cannot be written into a module: pass it as an argument")

    def _write_out(self, name: str, binding: Found) -> bool:
        """Write out what a standalone module would import from one of the user's, if possible; returns whether it was."""
        value, space = binding.value, binding.space or {}
        if isinstance(value, types.FunctionType) and self._is_of_user(_home(value)) and not is_gradient(value):
            before = (
                copy.deepcopy((self.imported, self.modules, self.used)),
                [*self.values],
                [*self.written],
                {**self.stands},
            )
            try:
                self._write(name, value)
            except ValueError:
                (self.imported, self.modules, self.used), self.values, self.written, self.stands = before
                return False
            return True
        of_user = self._is_of_user(space.get("__name__"))
        return of_user and _of_library(binding) is None and self._write_value(name, binding)

    def _write_value(self, name: str, binding: Found) -> bool:
        """Write an object as a literal if it has one; returns whether it has."""
        written = literal(binding.value)
        if written is None or (binding.is_ours() and len(written) > _LONGEST):
            return False
        self._uses(written)
        said = "what the function closed over" if binding.space is None else "as it was when this was saved"
        self.values.append(f"{name} = {written}" + ("\n" if binding.is_ours() else f"  # {said}\n"))
        return True

    def _is_of_user(self, module: Any) -> bool:
        """Whether a standalone module has to do without this module."""
        return self.standalone and isinstance(module, str) and _origin(module) == 2

    def _import(self, name: str, binding: Found) -> bool:
        """Import an object if possible; returns whether it was."""
        value, own = binding.value, its(binding.value, "__name__", "")
        if self.standalone and binding.is_ours():  # our module may import it from elsewhere
            binding = binding._replace(space=None)
        if self._is_apart(value):
            return False
        module = None if binding.space is None else saved_source.module_of(binding.space)
        if isinstance(value, types.ModuleType) and sys.modules.get(own) is value:
            self._import_module(name, value)
        elif _is_public(value) or (module is None and _is_found(value)):
            self._from(_home(value), own, name)
        elif (module is None or self._is_of_user(module)) and (found := _of_library(binding)) is not None:
            self._from(*found, name)
        elif module is not None:
            self._from(module, binding.name, name)
        elif isinstance(value, types.FunctionType) and (path := whereabouts(value))[2]:
            self.modules.add(path[0])
            self.values.append(f"{name} = {path[0]}.{path[2]}\n")
        else:
            return False
        return True

    def _import_module(self, name: str, module: types.ModuleType) -> None:
        own = module.__name__
        package, _, last = own.rpartition(".")
        if package and last == name and getattr(sys.modules.get(package), last, None) is module:
            self._from(package, last, last)
        else:
            self.modules.add(own if own == name else f"{own} as {name}")

    def _from(self, module: str, original: str, name: str) -> None:
        self.imported.setdefault(module, set()).add(original if original == name else f"{original} as {name}")

    def _is_apart(self, value: Any) -> bool:
        """Whether an object belongs to s2sgrad and the module must not import it."""
        return self.standalone and isinstance(value, (types.ModuleType, *_NAMED)) and _is_ours(_home(value))

    def _uses(self, written: str) -> None:
        if "np." in written:
            self.found("np", Found("np", np, None))

    def _write(self, name: str, value: Any) -> None:
        """Copy the source of a function or class, after what it reads."""
        try:
            source, node = saved_source.of(value)
        except (OSError, TypeError, S2SGradError):
            raise ValueError(f"the text reads `{name}`, whose source is not to be had: put it in a file") from None
        self.used |= set(re.findall(r"\w+", "".join(source.lines)))
        source.rename(node, name)
        if isinstance(node, ast.FunctionDef):
            self.settle(source, node, value, set())
        else:
            self._settle(source, [node], names_at(sys.modules[value.__module__]), set())
            if _is_ours(_home(value)):
                source.insert(node.body[0], f'__module__ = "{_OURS}"  # its objects are none of the user\'s')
        text = source.text()
        try:
            compile(text, "<saved>", "exec")
        except SyntaxError:
            raise ValueError(f"the text reads `{name}`, which binds a variable of the function around it: pass that as an "
                             "argument") from None  # fmt: skip
        self.written.append(text)

    def _write_statement(self, name: str, binding: Found) -> None:
        """Copy the statement by which one of our modules binds a name."""
        home = sys.modules[(binding.space or {})["__name__"]]
        module, value = saved_source.statement(binding.name, binding.value, home)
        source = Source(f"{name} = {value}\n")
        self._settle(source, [s.value for s in source.tree.body if isinstance(s, ast.Assign)], names_at(module), set())
        self.written.append(source.text())

    def differentiate(self, name: str, gradient: Any) -> None:
        """Write a call of `grad` for a gradient that the text calls."""
        options, function = gradient._request.options, gradient._request.function
        plain = Options(options.value, options.several, backend=options.backend, has_aux=options.has_aux)
        if gradient._request.lead or gradient._request.keywords or gradient._seed is not None or options != plain:
            what = f"the text calls `{name}`, a derivative of a function that stands in no file"
            raise ValueError(f"{what}: pass it as an argument")
        way = "value_and_grad" if options.value else "grad"
        self._from("s2sgrad", way, way)
        primal = self.found(function.__name__, Found(function.__name__, function, None))
        aux = ", has_aux=True" if options.has_aux else ""
        self.written.append(f"{name} = {way}({primal}, {gradient._request.argnums!r}{aux})\n")


_NAMED = (types.FunctionType, types.BuiltinFunctionType, type, np.ufunc, type(np.sum))


def _is_ours(home: Any) -> bool:
    return isinstance(home, str) and home.partition(".")[0] == _OURS


def _is_library(value: Any) -> bool:
    """Whether an object does not belong to the compiler: it is not ours, or in a module that generated text may call."""
    if value is runtime.hook or is_gradient(value):
        return False
    home = _home(value) if isinstance(value, _NAMED) else ""
    return not _is_ours(home) or home.split(".")[1:2][0] in _BENEATH or home.startswith(f"{_OURS}.api.library.")


def _home(value: Any) -> str:
    """The name of an object's module; missing from ufuncs in some versions of NumPy."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    return its(value, "__module__", None) or "numpy"


def _is_found(value: Any) -> bool:
    """Whether a function or class can be found in its module under its name."""
    return isinstance(value, _NAMED) and getattr(sys.modules.get(_home(value)), value.__name__, None) is value


def _is_public(value: Any) -> bool:
    return _is_found(value) and _home(value) != "__main__" and not any(p.startswith("_") for p in _home(value).split("."))


def _of_library(binding: Found) -> tuple[str, str] | None:
    """A public module of NumPy, SciPy or Python's `math` that has an object, and its name there; None for others.

    >>> from scipy.special import erf
    >>> _of_library(Found("error", erf, {})), _of_library(Found("pi", np.pi, {})), _of_library(Found("erf", 1.0, {}))
    (('scipy.special', 'erf'), ('numpy', 'pi'), None)
    """
    if isinstance(binding.value, (str, bytes, bool, int, type(None), types.ModuleType)):
        return None  # many names stand for the same one
    names = dict.fromkeys((its(binding.value, "__name__", ""), binding.name))
    homes = sorted((m for m in sys.modules if _LIBRARY.fullmatch(m)), key=lambda m: (m.count("."), m))
    found = ((m, n) for m in homes for n in names if isinstance(n, str) and n)
    return next(((m, n) for m, n in found if vars(sys.modules[m]).get(n, _of_library) is binding.value), None)


_LIBRARY = re.compile(r"math|(numpy|scipy)(\.[a-z]\w*)*")


def _at(value: Any, path: str) -> Any:
    """The value of a dotted path whose first part is `value`."""
    for part in path.split(".")[1:]:
        value = getattr(value, part, None)
    return value


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and type(a) in (bool, int, float, str) and repr(a) == repr(b))


def _origin(module: str) -> int:
    """Sort key for imports: Python's library, installed libraries, the user's modules."""
    root = module.partition(".")[0]
    if root in sys.stdlib_module_names:
        return 0
    file = getattr(sys.modules.get(root), "__file__", None) or ""
    return 1 if "-packages" in file or root == _OURS else 2
