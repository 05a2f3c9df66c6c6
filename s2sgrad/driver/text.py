"""The text of a program: one file with its imports, which can be pasted beside the user's function.

loss_grad, which calls `like`      ->      import numpy as np
                                           from s2sgrad.runtime import like
                                           def loss_grad(w, *, seed=1.0): ...
"""

from __future__ import annotations

import sys
import types
from typing import Any

from s2sgrad import emit
from s2sgrad.cleanup import item_loops, peephole
from s2sgrad.driver import namespace, remarks
from s2sgrad.driver.emitted import Emitted
from s2sgrad.driver.program import Program
from s2sgrad.ir.quote import mentioned
from s2sgrad.rules import table
from s2sgrad.rules.table import Rule
from s2sgrad.runtime.asking import its
from s2sgrad.source import read


def text_of(program: Program) -> str:
    """The text of all functions of a program, the entry last."""
    imported, earlier = namespace.settle(program.functions)
    values = _function_values(program)
    head = _Head(imported)
    head.aliases |= {f"{n} = {f.__name__}\n" for n, f in earlier.items() if n != f.__name__}
    for function in earlier.values():
        head.reach(namespace.reached(function))
    for emitted in program.functions:
        names = mentioned(emitted.tree)
        head.reach({n: v for n, v in emitted.unit.helpers.items() if n in names})
        head.reach(_imported(emitted, names))
    definitions = [f"{(primal := read(f)).text(primal.tree)}\n" for f in {id(f): f for f in earlier.values()}.values()]
    definitions += [_named(n, f) for n, f in values.items() if n not in earlier]
    for emitted in program.functions:
        peephole.openings(emitted.unit, emitted.tree)
        if not emitted.unit.primal.is_generated:  # whose names say which derivative is which
            peephole.returns(emitted.unit, emitted.tree)
        remarks.keep(emitted)
    trees = [item_loops.restore(e.unit, e.tree) for e in program.functions]
    *parts, last = [emit.function(tree, e.header) for tree, e in zip(trees, program.functions, strict=True)]
    return "\n\n".join(part for part in [head.text(), *definitions, *parts, "".join(sorted(head.aliases)), last] if part)


def _imported(emitted: Emitted, names: set[str]) -> dict[str, types.ModuleType]:
    """The modules that the user's function reads under names of its own module."""
    unit = emitted.unit
    found = ((n, unit.primal.lookup(n)) for n in names - unit.locals - unit.helpers.keys())
    return {n: binding.value for n, binding in found if binding is not None and type(binding.value) is types.ModuleType}


def _function_values(program: Program) -> dict[str, types.FunctionType]:
    """The user's nested functions that the text passes on as values, by the names that it has for them."""
    ours = {id(f) for unit in program.units for f in unit.made.lifted}
    by_name: dict[str, types.FunctionType] = {}
    for emitted in program.functions:
        names = mentioned(emitted.tree)
        waiting = [(n, v) for n, v in emitted.unit.helpers.items() if n in names]
        while waiting:
            n, value = waiting.pop()
            if id(value) in ours and n not in by_name:
                by_name = {n: value, **by_name}  # callees come first
                waiting += namespace.reached(value).items()
    return by_name


def _named(shown_name: str, function: types.FunctionType) -> str:
    """The text of a function under another name."""
    primal = read(function)
    tree = primal.fresh_tree()
    if function.__name__ not in mentioned(tree):  # a recursive one keeps its own
        tree.name = shown_name
    alias = "" if tree.name == shown_name else f"\n\n{shown_name} = {tree.name}\n"
    return emit.function(tree) + alias


class _Head:
    """The lines above the functions: modules, names `imported` from them, other `values`; and second names (`aliases`) of
    functions of the text, which come below them."""

    def __init__(self, imported: dict[str, set[str]]) -> None:
        self.imported = imported
        self.modules: set[str] = set()
        self.values: set[str] = set()
        self.aliases: set[str] = set()

    def reach(self, helpers: dict[str, Any]) -> None:
        """Make these objects available under these names."""
        for name, value in helpers.items():
            if isinstance(value, Emitted):
                self.aliases |= {f"{name} = {value.name}\n"} - {f"{name} = {name}\n"}
                continue
            module, attribute, path = whereabouts(value)
            if attribute:
                self.imported.setdefault(module, set()).add(attribute if attribute == name else f"{attribute} as {name}")
            elif path:
                self.modules.add(f"import {module}\n")
                self.values.add(f"{name} = {module}.{path}\n")
            elif module.endswith(f".{name}"):
                self.imported.setdefault(module.removesuffix(f".{name}"), set()).add(name)
            elif module:
                self.modules.add(f"import {module}\n" if module == name else f"import {module} as {name}\n")

    def text(self) -> str:
        """The lines, each group in alphabetical order."""
        imports = [f"from {module} import {', '.join(sorted(names))}\n" for module, names in sorted(self.imported.items())]
        return "".join([*sorted(self.modules), *imports, *(["\n"] if self.values else []), *sorted(self.values)])


def whereabouts(value: Any) -> tuple[str, str, str]:
    """Where a pasted text finds one of our helpers: its module, and the attribute there, or else a path from the module.

    >>> from s2sgrad.rules.scans import cumsum
    >>> from s2sgrad.runtime import unbroadcast
    >>> whereabouts(unbroadcast), whereabouts(cumsum.pullback)
    (('s2sgrad.runtime', 'unbroadcast', ''), ('s2sgrad.rules.scans', '', 'cumsum.pullback'))
    """
    if isinstance(value, types.ModuleType):
        return value.__name__, "", ""
    name = its(value, "__name__", "_")
    module = its(value, "__module__", None) or "numpy"  # missing from ufuncs in some versions of NumPy
    is_importable = module in sys.modules and all(map(str.isidentifier, module.split(".")))  # not `<run_path>`
    space = {k: v for k, v in vars(sys.modules[module]).items() if k != "_"} if is_importable else {}
    if space.get(name) is value:
        return module, name, ""
    for global_name, rule in space.items():  # pullbacks are reached through the rule
        if isinstance(rule, Rule):
            if rule.pullback is value:
                return module, "", f"{global_name}.pullback"
            for k, (_, pullback) in enumerate(rule.refinements):
                if pullback is value:
                    return module, "", f"{global_name}.refinements[{k}][1]"
    for rule in set(table.rules().values()):  # a rule called `_` is looked up by its primitive
        if rule.pullback is value:
            home, attribute, _ = whereabouts(rule.primitive)
            return (table.__name__, "", f"lookup({home}.{attribute}).pullback") if attribute else ("", "", "")
    return "", "", ""
