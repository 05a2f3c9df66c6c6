"""What one room calls of another says what it does: functions, classes and their methods have docstrings.

Read from the trees alone.  A function or class counts as used where another room imports it, also through a package that
hands it on, or names it as an attribute of its module.  A method of a public class counts as used where a module of another
room that imports the class, if only by way of others, has an attribute of its name, on whatever object; one that overrides a
documented method needs no text of its own.
"""

from __future__ import annotations

import ast
import collections
import functools

from test_layers import MODULES, graph, room_of, tree

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@functools.cache
def definitions(module):
    """The functions and classes of a module, by name; those that only say types are left out."""
    found = (n for n in tree(module).body if isinstance(n, (*FUNCTIONS, ast.ClassDef)) and not is_overload(n))
    return {node.name: node for node in found}


def is_overload(node):
    return any(getattr(d, "id", getattr(d, "attr", "")) == "overload" for d in node.decorator_list)


@functools.cache
def imports(module):
    """By local name: the module that it comes from, and its name there; None where it is that module."""
    out = {}
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "s2sgrad":
            base = node.module.removeprefix("s2sgrad").removeprefix(".")
            for alias in node.names:
                inner = f"{base}.{alias.name}".removeprefix(".")
                out[alias.asname or alias.name] = (inner, None) if inner in MODULES else (base, alias.name)
    return out


def origin(module, name):
    """Where what a module has under a name is defined, and under which name."""
    while name not in definitions(module):
        further = imports(module).get(name)
        if further is None or further[1] is None or further == (module, name):
            break
        module, name = further
    return module, name


@functools.cache
def used():
    """The modules that use a function or class, by where it is defined; those with an attribute, by `None` and its name."""
    users = collections.defaultdict(set)
    for module in MODULES:
        for home, name in imports(module).values():
            if name is not None:
                users[origin(home, name)].add(module)
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.Attribute):
                users[None, node.attr].add(module)
                home, name = imports(module).get(getattr(node.value, "id", None), (None, None))
                if home is not None and name is None:
                    users[origin(home, node.attr)].add(module)
    return users


@functools.cache
def reach(module):
    """All modules that a module imports, if only by way of others."""
    return graph()[module].union(*map(reach, graph()[module]))


def in_another_room(module, users):
    return any(room_of(user) != room_of(module) and module in reach(user) for user in users)


def documents(cls, method):
    return any(f.name == method and ast.get_docstring(f) for f in cls.body if isinstance(f, FUNCTIONS))


def inherits(module, cls, method):
    """Whether a base class documents a method, or a protocol of the same module that its class follows, or whether it is a
    visitor's, named for what it visits."""
    classes = (c for c in definitions(module).values() if isinstance(c, ast.ClassDef))
    if any(getattr(b, "id", "") == "Protocol" for c in classes if documents(c, method) for b in c.bases):
        return True
    for base in cls.bases:
        name = getattr(base, "id", getattr(base, "attr", ""))
        home, name = origin(module, name)
        known = definitions(home).get(name)
        if known is None:
            if method.startswith("visit"):  # of `ast` or `gast`
                return True
            continue
        if documents(known, method) or inherits(home, known, method):
            return True
    return False


def undocumented(module):
    """What other rooms use of a module, and what has no docstring."""
    for name, node in definitions(module).items():
        if in_another_room(module, used()[module, name]) and ast.get_docstring(node) is None:
            yield name
        if not isinstance(node, ast.ClassDef) or name.startswith("_"):
            continue
        for method in node.body:
            if isinstance(method, FUNCTIONS) and not method.name.startswith("_") and not is_overload(method):
                elsewhere = in_another_room(module, used()[None, method.name])
                if elsewhere and ast.get_docstring(method) is None and not inherits(module, node, method.name):
                    yield f"{name}.{method.name}"


def test_the_uses_are_found():
    assert {"cleanup.cse", "transform.reverse"} <= used()["flow.counts", "bound_once"]
    assert origin("runtime", "Global") == ("runtime.outside", "Global")  # which the shim hands on
    assert "transform.sums" in used()[origin("runtime", "own")]
    assert "driver.pipeline" in used()["cleanup.cse", "run"]  # an attribute of its module
    assert "errors" in reach("cleanup.cse") and "cleanup.cse" not in reach("ir.quote")
    assert not in_another_room("cleanup.cse", used()["cleanup.cse", "_same"])


def test_what_another_room_uses_has_a_docstring():
    assert [f"{module}: {name}" for module in MODULES for name in undocumented(module)] == []
