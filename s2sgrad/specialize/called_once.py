"""Which functions from outside are written out because that is shorter than a pair: those that are called once.

    def sigmoid(t): return 1.0 / (1.0 + np.exp(-t))
    def loss(x, w): return np.sum(sigmoid(x * w))      ->      t1 = x * w; t2 = np.exp(-t1); ..

A function is called once where one name in the text of the program, its written out functions included, means it.  What it
consists of is assignments, loops and branches, with one `return` at the end, and it names no object from outside.  Its
variables are the caller's then, so that no record is packed, handed over and taken apart.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def rows(x, w):
...     total = 0.0
...     for row in x:
...         total += np.sin(row @ w)
...     return total
... def f(x, w):
...     return rows(x, w) ** 2
... ''', "flatten"))
def f(x, w):
    total = 0.0
    t1_ = sequence(x)
    t3 = len(t1_)
    for t1 in range(t3):
        row = t1_[t1]
        t4 = row @ w
        t5 = np.sin(t4)
        total += t5
    t2 = total
    result = t2 ** 2
    return result
"""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Iterator

import gast

from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.one_compilation import forgotten_after
from s2sgrad.ir.quote import nodes, statements_in
from s2sgrad.runtime.checkpoints import behind_checkpoint
from s2sgrad.source import look_up, read
from s2sgrad.specialize.callable_texts import objects_named

_PLAIN = (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.For, gast.If, gast.Expr)
_SCOPES = (gast.FunctionDef, gast.Lambda, gast.ClassDef, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_ROUNDS = 8

_known: dict[types.FunctionType, frozenset[types.FunctionType]] = {}
forgotten_after(_known.clear)


def written_out(target: types.FunctionType, caller: types.FunctionType) -> bool:
    """Whether a call of a user's function, in the program that begins with `caller`, is written out for its length."""
    if caller not in _known:
        _known[caller] = _found(caller)
    return target in _known[caller]


def _found(caller: types.FunctionType) -> frozenset[types.FunctionType]:
    """The functions that are written out in a program."""
    found: frozenset[types.FunctionType] = frozenset()
    for _ in range(_ROUNDS):
        counts = Counter(target for f in (caller, *found) for target in _called(f))
        single = {f for f, count in counts.items() if count == 1 and f is not caller and _is_plain(f)}
        new = frozenset(single)
        if new == found:
            return found
        found = new
    return frozenset()


def _called(function: types.FunctionType) -> Iterator[types.FunctionType]:
    """The user's functions that a function names, once for each time; twice where it may be called at several places."""
    try:
        tree = read(function).tree
    except S2SGradError:
        return
    inner = {id(n) for part in nodes(tree) if isinstance(part, _SCOPES) and part is not tree for n in nodes(part)}
    called = {id(n.func) for n in nodes(tree) if isinstance(n, gast.Call)}
    for node in nodes(tree):
        binding = look_up(function, node.id) if isinstance(node, gast.Name) else None
        if binding is not None and is_plain(binding.value):
            yield binding.value
            if id(node) in inner or id(node) not in called:
                yield binding.value


def _is_plain(function: types.FunctionType) -> bool:
    """Whether a function is assignments, loops and branches, with one `return` at the end."""
    if function.__closure__ or hasattr(function, "__wrapped__") or behind_checkpoint(function) is not None:
        return False
    try:
        if objects_named(function):  # whose methods are known in the functions that name them
            return False
        primal = read(function)
    except S2SGradError:
        return False
    tree = primal.tree
    if primal.is_generated or tree.args.vararg or tree.args.kwarg or not isinstance(tree.body[-1], gast.Return):
        return False
    body = [s for s in statements_in(tree.body) if s is not tree.body[-1]]
    return all(isinstance(s, _PLAIN) for s in body) and not any(isinstance(n, _SCOPES) for s in tree.body for n in nodes(s))
