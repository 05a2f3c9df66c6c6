"""Imports point one way, classes stay small, every pass shows what it does, and nothing foreign is imported."""

from __future__ import annotations

import ast
import collections
import functools
import importlib
import itertools
import logging
import math
import operator
import pathlib
import random
import re
import subprocess
import sys
import types

import gast
import numpy as np
import pytest

import s2sgrad
from s2sgrad.ir import notes
from s2sgrad.runtime.traits import Traits

ROOT = pathlib.Path(s2sgrad.__file__).resolve().parent
FILES = sorted(ROOT.rglob("*.py"))
REWRITING = ("normalize", "specialize", "cleanup", "transform", "forward", "typed", "backends")
METHODS, ATTRIBUTES = 25, 15  # of a class, those of its bases counted
BRANCHIEST = 25  # the cyclomatic complexity of a function, boolean operators and comprehensions counted

# The classes that are larger yet: methods and attributes.  The list only shrinks.
LARGE = {
    "ir.unit.Unit": (25, 20),
    "rules.table.Rule": (23, 19),
    "primitives.record.Primitive": (11, 29),
    "driver.options.Options": (5, 16),
}

# What objects are asked for by a word, besides what Python's grammar has on a node and what is declared in `ir.notes` and
# `runtime.traits`: attributes of other libraries, of values that the compiler knows, and of our own classes by duck typing.
ASKED = {
    "Placeholder", "_fields", "_getlines_from_code", "_implementation", "array_utils", "base", "batched",
    "co_filename", "dtype", "fget", "format_code_name", "frozen", "get",
    "get_ipython", "kernel", "nin", "order", "ps1", "size", "to_numpy",
    "columns", "map_partitions", "to_delayed", "tocsr", "watch",  # of others
    "argument", "dims", "given", "line", "node", "options", "rank", "sweep",  # values and kinds
    "assigning", "compiled_for", "custom_gradient", "differentiated", "dots", "error", "of_copies",
    "followed", "gives_rule", "hidden", "holds", "lookups", "made", "primal", "taken_apart_for", "traits", "zero_cotangent",
}  # fmt: skip

# From the bottom up: a module imports from its own layer and from those above it in this list.  An import inside a function
# or under TYPE_CHECKING counts like any other: it may make `import s2sgrad` quick, but not make an arrow point up.
LAYERS = [
    ["runtime"],
    ["errors"],
    ["emit", "rules", "source"],
    ["primitives"],
    ["ir", "pullbacks", "standard"],
    ["analysis", "flow"],
    ["memory"],
    ["mirror", "regions"],
    ["normalize", "cleanup", "transform", "legality"],
    ["specialize"],
    ["forward", "inplace"],
    ["typed"],
    ["backends"],
    ["driver"],
    ["stored"],
    ["compiled"],
    ["recorded"],
    ["api"],
    ["solvers"],
    ["tape"],
    ["testing", "explanation", "parallel"],
    ["compat"],
    [""],
    ["cli"],
    ["__main__"],
]

# What a module, or every module of a room, may import at all; those that are not named here follow the layers alone.
ALLOWED = {
    "errors": {"sys"},
    "ir.names": {"keyword"},
    "ir.quote": {"gast", "functools", "copy", "s2sgrad.ir.notes"},
    "driver.options": {"dataclasses"},
    "runtime": {"copy", "numpy", "s2sgrad.runtime", "sys"},
    "runtime.results": {"numpy", "s2sgrad.runtime.asking", "s2sgrad.runtime.checks", "s2sgrad.runtime.guests",
                        "s2sgrad.runtime.structure"},
    "runtime.hooks": set(),
    "runtime.progress": {"contextlib", "sys", "threading", "time", "tqdm"},
    "runtime.outside": {"numpy", "types", "s2sgrad.runtime.checks"},
    "runtime.unseen_functions": {"numpy", "s2sgrad.runtime.checks", "s2sgrad.runtime.hooks"},
    "runtime.asking": {"types"},
    "runtime.structure": {"copy", "itertools", "numpy", "sys", "types", "s2sgrad.runtime.asking", "s2sgrad.runtime.guests"},
    "runtime.guests": {"numpy", "s2sgrad.runtime.checks", "s2sgrad.runtime.subclasses"},
    "runtime.checks": {"numpy", "s2sgrad.runtime.asking", "s2sgrad.runtime.subclasses"},
    "runtime.homes": {"sys"},
    "runtime.subclasses": {"numpy", "s2sgrad.runtime.asking", "s2sgrad.runtime.homes"},
    "runtime.records": {"copy", "numpy", "s2sgrad.runtime.checkpoints", "s2sgrad.runtime.traits"},
    "runtime.shadows": {"numpy", "s2sgrad.runtime.checks", "s2sgrad.runtime.records", "s2sgrad.runtime.structure"},
    "runtime.slopes": {"numpy", "s2sgrad.runtime.checks"},
    "rules.made": {"linecache", "sys", "types"},
    "rules.*": {"numpy", "scipy", "sys", "importlib", "contextlib", "bisect", "heapq", "cmath", "math", "random",
                "statistics", "operator", "builtins", "inspect", "types", "dataclasses", "copy", "string", "functools",
                "threading", "s2sgrad.runtime", "s2sgrad.rules"},
    "primitives.*": {"numpy", "ast", "bisect", "builtins", "copy", "dataclasses", "enum", "functools", "heapq", "itertools",
                     "json", "logging", "math", "operator", "pickle", "random", "sys", "types", "s2sgrad.runtime",
                     "s2sgrad.rules", "s2sgrad.primitives"},
    "primitives.record": {"numpy", "dataclasses", "enum", "types", "s2sgrad.runtime", "s2sgrad.rules", "s2sgrad.source"},
    "emit.*": {"gast", "astunparse", "sys", "s2sgrad.emit"},
    "source.refusing": {"types", "s2sgrad.runtime.asking"},
    "source.typed_in": {"contextlib", "os", "stat", "sys", "textwrap", "types", "s2sgrad.source"},
    "source.*": {"gast", "ast", "contextlib", "hashlib", "itertools", "weakref", "linecache", "threading", "types",
                 "warnings", "dataclasses", "functools", "s2sgrad.errors", "s2sgrad.source"},
}  # fmt: skip
ALWAYS = {"__future__", "typing", "collections"}

# What one module may import although its room may not.
EXCUSED = {
    "memory.mod_ref": {"source"},  # it reads the functions that are called, to see what they write and return
    "memory.behaviour": {"source"},  # and what they do besides
    "analysis.libraries": {"source"},  # and what it says of them itself
    "analysis.reached": {"source"},  # and what they have at hand
    "analysis.selected": {"source"},  # whether they are adjoints
    "analysis.primitive_calls": {"source"},  # whether they have gradients of their own
    "analysis.passing": {"source"},  # which cotangents the formulas of a rule leave out
}


def module_of(file: pathlib.Path) -> str:
    """`normalize.single_exit` for s2sgrad/normalize/single_exit.py; the empty name for the package itself."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


MODULES = {module_of(file): file for file in FILES}
PASSES = [module_of(file) for file in FILES if file.relative_to(ROOT).parts[0] in REWRITING and file.name[0] != "_"]


@functools.cache
def tree(module: str) -> ast.Module:
    """The tree of a module."""
    return ast.parse(MODULES[module].read_text())


@functools.cache
def imported(module: str) -> set[str]:
    """The full names of the modules that a module imports, anywhere in it."""
    found = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}".removeprefix("s2sgrad.")
                found.add(f"s2sgrad.{inner}" if node.module.startswith("s2sgrad") and inner in MODULES else node.module)
    return found


def own(module: str) -> set[str]:
    """The other modules of s2sgrad that a module imports, as `module_of` names them."""
    ours = {name for name in imported(module) if name.split(".")[0] == "s2sgrad"}
    return {name.removeprefix("s2sgrad").removeprefix(".") for name in ours} - {module}


def room_of(module: str) -> str:
    return module.split(".")[0]


@functools.cache
def graph() -> dict[str, set[str]]:
    """What each module imports; read by the tests alone, for every worker collects them."""
    return {module: own(module) for module in MODULES}


@pytest.fixture(scope="module", autouse=True)
def trees_are_dropped():
    """The garbage collector need not look at them in later tests."""
    yield
    tree.cache_clear()


def test_the_files_are_found():
    assert len(FILES) > 50 and len(PASSES) > 100
    assert {"api", "normalize.single_exit", "rules.table", ""} <= set(MODULES)
    assert {"ir.unit", "cleanup.forward_substitution"} <= graph()["driver.pipeline"]
    assert "driver.recipe" in graph()["api.derivative"]  # an import under TYPE_CHECKING
    assert "api.library" in graph()["api.request"]  # an import inside a function
    assert "api.dynamic" in graph()["api"]


def test_the_graph_of_imports_has_no_cycle():
    done, path = set(), []

    def visit(module):
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        if module in done:
            return
        path.append(module)
        for other in sorted(graph()[module]):
            visit(other)
        path.pop()
        done.add(module)

    for module in graph():
        visit(module)
    assert done == set(graph())


def test_every_module_has_its_layer():
    rooms = [room for layer in LAYERS for room in layer]
    assert sorted(rooms) == sorted({room_of(module) for module in MODULES})


def test_imports_point_down():
    height = {room: number for number, layer in enumerate(LAYERS) for room in layer}
    assert [(m, other) for m in MODULES for other in graph()[m] if height[room_of(other)] > height[room_of(m)]] == []


@pytest.mark.parametrize("room", ["emit", "source", "recorded", "tape"])
def test_a_room_is_built_in_the_order_that_it_says(room):
    docstring = ast.get_docstring(tree(room))
    said = re.search(r"Each room builds on the ones before it: ([^.]*\.(?:\nThen [^.]*\.)?)", docstring)
    order = [f"{room}.{name}" for name in re.findall(r"`(\w+)`", said[1])]
    assert sorted(order) == sorted(module for module in MODULES if module.startswith(f"{room}."))
    for place, module in enumerate(order):
        inside = {other for other in graph()[module] if room_of(other) == room}
        assert inside <= set(order[:place]), f"{module} imports from above"


def allowed_in(module):
    return ALLOWED.get(module, ALLOWED.get(f"{room_of(module)}.*"))


def test_low_rooms_import_only_what_they_may():
    found = [(module, name) for module in MODULES if allowed_in(module) is not None for name in imported(module)]
    assert len(found) > 300
    for module, name in found:
        prefixes = {".".join(name.split(".")[:k]) for k in range(1, name.count(".") + 2)}
        assert prefixes & (allowed_in(module) | ALWAYS), f"{module} imports {name}"


@pytest.mark.parametrize(
    ("room", "never"),
    [
        ("rules", {"analysis", "flow", "normalize", "transform", "cleanup", "driver", "source", "ir", "emit", "api",
                   "errors"}),
        ("runtime", {"rules", "analysis", "flow", "driver", "api", "source", "ir", "errors"}),
        ("normalize", {"analysis.inference", "analysis.kinds", "analysis.activity", "transform", "cleanup", "rules",
                       "driver"}),
        ("specialize", {"analysis.inference", "analysis.kinds", "analysis.activity", "transform", "cleanup", "rules",
                        "driver"}),
        ("cleanup", {"transform", "normalize", "specialize", "emit", "driver", "api"}),
        ("flow", {"memory", "transform", "normalize", "cleanup", "emit", "driver", "api", "source"}),
        ("analysis", {"memory", "transform", "normalize", "cleanup", "emit", "driver", "api", "source"}),
        ("memory", {"transform", "normalize", "cleanup", "inplace", "emit", "driver", "api", "source"}),
        ("legality", {"normalize", "cleanup", "driver", "api"}),
        ("transform", {"normalize", "cleanup", "driver", "api"}),
        ("typed", {"transform", "normalize", "emit", "driver", "api", "source"}),
        ("backends", {"typed", "transform", "normalize", "cleanup", "inplace", "emit", "driver", "api", "source"}),
        ("emit", {"analysis", "flow", "transform", "normalize", "cleanup", "ir", "driver", "rules"}),
    ],
)  # fmt: skip
def test_rooms_stay_apart(room, never):
    members = [module for module in MODULES if room_of(module) == room]
    assert members
    for module in members:
        others = graph()[module] - EXCUSED.get(module, set())
        wrong = {other for other in others if other in never or room_of(other) in never}
        assert wrong == set(), f"{module} imports {sorted(wrong)}"


def test_the_backends_are_named_in_one_place():
    users = {module for module in MODULES for other in graph()[module] if other.startswith("backends.")}
    assert {module for module in users if room_of(module) != "backends"} == {"driver.lowering"}


def test_what_is_excused_is_needed():
    assert all(excused <= graph()[module] for module, excused in EXCUSED.items())


def test_the_runtime_alone_can_be_imported_without_the_compiler():
    assert {room_of(other) for module in MODULES if room_of(module) == "runtime" for other in graph()[module]} == {"runtime"}


def test_the_package_is_imported_without_the_compiler():
    command = "import sys, s2sgrad; print(*sorted(m for m in sys.modules if m.startswith('s2sgrad')))"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True, cwd=ROOT.parent)
    loaded = {name.removeprefix("s2sgrad").removeprefix(".") for name in done.stdout.split()}
    assert {"", "api", "runtime"} <= loaded
    assert not set(map(room_of, loaded)) & {"source", "rules", "emit", "normalize", "transform", "cleanup", "tape", "cli"}
    assert not loaded & {"ir.unit", "api.library", "api.dynamic", "driver.pipeline", "driver.program", "driver.load",
                         "driver.guards", "driver.compiled", "driver.recipe"}  # fmt: skip


def test_only_numpy_gast_and_astunparse_are_foreign():
    known = set(sys.stdlib_module_names) | {"numpy", "gast", "astunparse", "s2sgrad"}
    for module, file in MODULES.items():
        optional = {"scipy"} if {"scipy", "solvers"} & {*file.parts} else set()
        optional |= {"llvmlite", "numba"} if "compiled" in file.parts else set()
        optional |= {"cloudpickle", "dask", "joblib"} if module == "parallel" else set()
        optional |= {"tqdm"} if module == "runtime.progress" else set()
        optional |= {"rich"} if module == "explanation.showing" else set()
        assert {name.split(".")[0] for name in imported(module)} <= known | optional, module


def test_files_say_what_they_are():
    assert [module for module in MODULES if not ast.get_docstring(tree(module))] == []


def test_the_whole_tree_is_checked_and_formatted():
    """By the version of ruff that pyproject.toml names; a wheel that was installed elsewhere has no tree."""
    top = ROOT.parent
    if not (top / "pyproject.toml").exists():
        pytest.skip("no checkout")
    for command in (["check", "-q"], ["format", "-q", "--check"]):
        said = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", str(top)], capture_output=True, text=True
        )
        assert said.returncode == 0, f"ruff {' '.join(command)}: {said.stdout}{said.stderr}"


@functools.cache
def classes() -> dict[tuple[str, str], ast.ClassDef]:
    """The classes of the package, by module and name."""
    return {(m, n.name): n for m in MODULES for n in ast.walk(tree(m)) if isinstance(n, ast.ClassDef)}


def bases(module: str, cls: ast.ClassDef) -> list[tuple[str, str]]:
    """The bases of a class that are of the package: of its module, or of one that this imports."""
    names = [ast.unparse(base).split("[")[0].split(".")[-1] for base in cls.bases]
    return [next(((m, n) for m in (module, *sorted(own(module))) if (m, n) in classes()), ("", n)) for n in names]


def state(module: str, name: str) -> tuple[set[str], set[str]]:
    """The methods and the attributes of a class, with what its bases have."""
    cls = classes()[module, name]
    methods = {n.name for n in cls.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
    stored = [n for n in ast.walk(cls) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
    attributes = {n.attr for n in stored if isinstance(n.value, ast.Name) and n.value.id == "self"}
    attributes |= {n.target.id for n in cls.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    for base in bases(module, cls):
        if base in classes() and base != (module, name):
            more = state(*base)
            methods, attributes = methods | more[0], attributes | more[1]
    return methods, attributes


def test_no_class_is_a_house():
    """The larger ones are listed with their methods and attributes; a number that shrinks is to be written down."""
    sizes = {".".join(key): tuple(map(len, state(*key))) for key in classes()}
    assert {name: size for name, size in sizes.items() if size[0] > METHODS or size[1] > ATTRIBUTES} == LARGE


def found_methods(cls: type) -> set[str]:
    """The names of the methods that Python finds in a class: defined or assigned there, or in a base of ours in any file."""
    ours = [vars(k) for k in cls.__mro__ if k.__module__.startswith("s2sgrad")]
    kinds = (types.FunctionType, staticmethod, classmethod, property, functools.cached_property)
    return {n for held in ours for n, v in held.items() if isinstance(v, kinds)} - {"_asdict", "_make", "_replace"}


def test_methods_are_counted_as_python_finds_them():
    """No class has more than 25, assigned ones (`visit_List = visit_Tuple`) and those of bases in other files included.

    Special methods are counted apart: what stands for a number or an array has those of numbers and arrays, which one
    table enters (`recorded.arithmetic`, `tape.array`), and what a class writes down by itself is in the count above."""
    named, special = {}, {}
    for module, name in classes():
        cls = getattr(importlib.import_module(f"s2sgrad.{module}" if module else "s2sgrad"), name, None)
        if isinstance(cls, type) and cls.__module__.startswith("s2sgrad"):
            methods = found_methods(cls)
            entered = {n for n in methods if n.startswith("__") and n.endswith("__")}
            named[f"{module}.{name}"], special[f"{module}.{name}"] = len(methods - entered), len(entered)
    assert len(named) > 300 and max(named.values()) <= METHODS
    assert {name for name, count in special.items() if count > METHODS} == STANDING_FOR_NUMBERS


def definitions(module: str, name: str) -> int:
    """How many methods a class and its bases write down: what is defined anew counts again, for both have to be read."""
    cls = classes()[module, name]
    own = sum(isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) for n in cls.body)
    return own + sum(definitions(*b) for b in bases(module, cls) if b in classes() and b != (module, name))


def test_few_classes_are_read_in_several_places():
    """No class has more than 34 definitions with its bases, and six have more than 25; these numbers only shrink."""
    counts = sorted(definitions(*key) for key in classes())
    assert counts[-1] <= 34 and sum(count > METHODS for count in counts) <= 6


STANDING_FOR_NUMBERS = {"recorded.values.Handle", "recorded.values.Number", "recorded.values.Array",
                        "tape.array.NumericOperand", "tape.array.Array", "tape.variable.Variable"}  # fmt: skip


def test_no_class_asks_itself_for_what_it_has_not():
    """Where a base calls a method that only a sibling defines, the two form a cycle that no import shows."""
    for module, name in classes():
        methods, attributes = state(module, name)
        whole = classes()[module, name]
        within = {n for c in ast.walk(whole) if isinstance(c, ast.ClassDef) and c is not whole for n in ast.walk(c)}
        parts = (n for n in ast.walk(whole) if isinstance(n, ast.Attribute) and n not in within)
        asked = {n.attr for n in parts if getattr(n.value, "id", "") == "self"} - methods - attributes
        if asked:  # of classes outside, and what is no method
            asked -= set(dir(getattr(importlib.import_module(f"s2sgrad.{module}"), name, object)))
        assert not asked, f"{module}.{name}: {sorted(asked)} is defined elsewhere"


def complexity(function: ast.FunctionDef) -> int:
    """How many ways lead through a function: its branches, loops, handlers, conditions and what joins these."""
    forks = (ast.If, ast.For, ast.While, ast.IfExp, ast.ExceptHandler, ast.comprehension, ast.Assert)
    inner = [n for s in function.body for n in ast.walk(s)]
    joined = sum(len(n.values) - 1 for n in inner if isinstance(n, ast.BoolOp))
    return 1 + joined + sum(isinstance(n, forks) + len(getattr(n, "ifs", ())) for n in inner)


def test_few_functions_branch_often():
    """Ten may go over 20, as one long table of cases would; a function that does is best cut where its idea changes."""
    found = sorted(complexity(n) for m in MODULES for n in ast.walk(tree(m)) if isinstance(n, ast.FunctionDef))
    assert found[-1] <= BRANCHIEST and sum(k > 20 for k in found) <= 10


_PLAIN = {*notes.PLACED[:-1], notes.SPELLED}


def test_what_objects_are_asked_for_is_declared():
    """A type system by `getattr` has no place where it can be read: notes on nodes and traits of functions have one."""
    classes_ = [c for c in vars(gast).values() if isinstance(c, type) and issubclass(c, gast.AST)]
    grammar = {f for c in classes_ for f in (*c._fields, *getattr(c, "_attributes", ()))}
    noted = {n.attribute for n in vars(notes).values() if isinstance(n, notes.Note)} | {*Traits._fields} - {*notes.PLACED}
    assert not grammar & noted
    for module in MODULES:
        if room_of(module) in ("rules", "tape", "recorded") or module in ("ir.notes", "runtime.traits"):
            continue
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "hasattr", "setattr"):
                word = getattr(node.args[1], "value", "__")
                known = not isinstance(word, str) or word in grammar or word.startswith("__") or word in _PLAIN
                assert known or word in ASKED, f"{module}, line {node.lineno}: {word} is declared nowhere"
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr in noted:
                owner = ast.unparse(node.value).rpartition(".")[2]
                assert owner in ("self", "walk", "unit", "names"), f"{module}, line {node.lineno}: `{node.attr}` is declared"


def test_tangents_have_what_the_text_of_a_pullback_asks_for():
    """Forward mode hands its tangents to what was written for adjoints: the protocol says what both have."""
    (protocol,) = (s for s in tree("transform.pullback_text").body if isinstance(s, ast.ClassDef))
    declared = {s.target.id for s in protocol.body if isinstance(s, ast.AnnAssign)}
    declared |= {s.name for s in protocol.body if isinstance(s, ast.FunctionDef)}  # what is only read
    attributes = [n for n in ast.walk(tree("transform.pullback_text")) if isinstance(n, ast.Attribute)]
    assert {n.attr for n in attributes if getattr(n.value, "id", "") == "adjoints"} <= declared
    (tangents,) = (s for s in tree("forward.tangents").body if isinstance(s, ast.ClassDef))
    stored = {n.attr for n in ast.walk(tangents) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    assert declared <= stored


def test_every_pass_shows_what_it_does():
    for module in PASSES:
        docstring = ast.get_docstring(tree(module))
        assert ">>> " in docstring or "->" in docstring or "Before:" in docstring, module


def test_every_pass_of_the_generated_text_is_shown_by_a_run():
    """What a pass of `cleanup` or `normalize` does is a doctest, which cannot become untrue."""
    rooms = [m for m in PASSES if m.split(".")[0] in ("cleanup", "normalize")]
    passes = [m for m in rooms if any(getattr(s, "name", None) == "run" for s in tree(m).body)]
    assert len(passes) > 40
    without = [m for m in {*passes, "cleanup.peephole"} if ">>> " not in ast.get_docstring(tree(m))]
    assert not without, without


def test_few_modules_stand_at_the_top():
    """What is run or imported by users, and what generated text imports besides the rules and the runtime."""
    found = sorted(file.name for file in ROOT.glob("*.py"))
    assert found == ["__init__.py", "__main__.py", "parallel.py", "pullbacks.py"]


def test_only_the_emitter_uses_astunparse():
    users = {room_of(module) for module in MODULES if "astunparse" in imported(module)}
    assert users == {"emit"}


def test_what_a_name_stands_for_is_not_told_by_its_spelling():
    """`node.func.id == "len"` is right until somebody calls a variable `len`, and wrong where we had to write `len_`."""
    for module in MODULES:
        words = {
            target.id
            for s in tree(module).body
            if isinstance(s, ast.Assign) and any(isinstance(n, ast.Constant) and n.value for n in ast.walk(s.value))
            and all(isinstance(n, (ast.Constant, ast.Tuple, ast.Set, ast.Load)) for n in ast.walk(s.value))
            for target in s.targets
            if isinstance(target, ast.Name)
        }  # fmt: skip
        for node in ast.walk(tree(module)):
            if not isinstance(node, ast.Compare):
                continue
            sides = [node.left, *node.comparators]
            named = any(isinstance(side, ast.Attribute) and side.attr == "id" for side in sides) or any(
                isinstance(side, ast.Call) and any(getattr(a, "value", None) == "id" for a in side.args) for side in sides
            )
            others = [n for s in sides if not isinstance(s, (ast.Call, ast.Attribute)) for n in ast.walk(s)]
            spelled = any(getattr(n, "id", "") in words or str(getattr(n, "value", "")).isidentifier() for n in others)
            assert not (named and spelled), f"{module}, line {node.lineno}: ask `unit.resolve`"


def test_only_primitives_know_functions_and_methods_by_name():
    """`node.attr in {"sort", "fill"}` is a second list of what writes; a record says it once, and of the object."""
    classes = (np.ndarray, list, dict, set, str, collections.deque, np.random.Generator, logging.Logger)
    spaces = (*classes, np, np.linalg, math, operator, random, itertools, functools)
    named = {n for s in spaces for n, f in vars(s).items() if n[0] != "_" and callable(f) and not isinstance(f, type)}
    for module in MODULES:
        if room_of(module) in ("primitives", "rules", "emit"):
            continue
        for node in ast.walk(tree(module)):
            listed = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
            words = [getattr(item, "value", None) for item in listed]
            keywords = words == ["min", "max"]  # of `np.clip`
            assert len(words) < 2 or keywords or not named.issuperset(words), f"{module}, line {node.lineno}: {words}"
