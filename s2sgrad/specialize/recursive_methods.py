"""Methods that call themselves, by way of other objects or methods: each becomes a recursive function of the object.

    self.left.total() + self.right.total()      ->      total(left[self]) + total(right[self])

The function has the text of the method of each class, under a test of the class.  So do class methods, and functions that
call one another, where they make objects or read them.  Partial evaluation meets the recursion when it writes out a text
within itself; it starts over with what it has met (`ways.Unsettled`).

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Leaf:
...     def __init__(self, v): self.v = v
...     def total(self): return self.v
... class Pair:
...     def __init__(self, a, b): self.a, self.b = a, b
...     def total(self): return self.a.total() + self.b.total()
... def f(x):
...     parts = Leaf(x)
...     for k in range(3):
...         parts = Pair(parts, Leaf(x))
...     return parts.total()
... ''', "flatten").partition("parts = t9")[2])
<BLANKLINE>
    t10 = parts
    t11 = total(self=t10, a=a, b=b, v_=v_)
    result = t11
    no_object(result, 12)
    return result
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sgrad.ir.quote import at, clone, name
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.specialize.static_values import Adapted, Function, Known, Record
from s2sgrad.specialize.ways import Unsettled, Ways


class Recursion:
    """`ways.recursive`: the functions known to call themselves; `opening_key`: which of them this lifted function opens."""

    unit: Unit
    flattener: Any
    in_columns: bool
    ways: Ways
    opening_key: str
    by_key: dict[str, Function]
    passed: dict[str, dict[str, set[type]]]  # by recursive function: the classes of the objects in its arguments

    def open_recursion(self) -> None:
        """Begin with the recursive functions that are known."""
        inherited = self.inherited()
        self.opening_key = "" if inherited is None else inherited.opened
        self.by_key, self.passed = {}, {}

    def met_again(self, text: types.FunctionType, word: str) -> None:
        """A text, or that of a function `word` in it, is to be written out within itself: start over, with a function for
        it."""
        if self.in_columns and text not in self.ways.recursive and text.__name__ == word:
            raise Unsettled(recursive=[text])

    def as_recursive(self, members: list[Any], owner: Any, node: gast.AST) -> Adapted | None:
        """The recursive function for these methods, by class, of an object `owner`, for a class method or for a function
        (None); None where none of them calls itself, or where its text is to be written."""
        texts = [getattr(m, "fget", getattr(m, "__func__", m)) for m in members] if self.ways.recursive else []
        if not all(isinstance(t, types.FunctionType) for t in texts) or self.ways.recursive.isdisjoint(texts):
            return None
        word = texts[0].__name__
        key = f".{word}" if isinstance(owner, Record) else word if owner is None else f"{owner.__qualname__}.{word}"
        if self.opening_key == key and not self.running:
            return None
        if key not in self.by_key:
            self.by_key[key] = self.opening(texts, owner, word, node)
        given = [owner] if isinstance(owner, Record) else []

        def called(_: Any, arguments: list[Any], keywords: dict[str, Any], call: gast.AST) -> Any:
            return self.call_lifted(self.by_key[key], key, [*given, *arguments], keywords, call)

        return Adapted(None, called)

    def opening(self, texts: list[Any], owner: Any, word: str, node: gast.AST) -> Function:
        """`def word(self, ..): return self.word(..)`; it is the text of `self.word(..)` for an object of any class."""
        homes = owner.classes if isinstance(owner, Record) else [owner] * len(texts)
        first, *others = (self.read(t, h) for t, h in zip(texts, homes, strict=True))
        for other in others:
            same = [p.id for p in parameters(other.node)][1:] == [p.id for p in parameters(first.node)][1:]
            if not same or other.defaults.keys() != first.defaults.keys():
                self.unit.refuse(node, f"`{word}` calls itself, and has other parameters in another class, which cannot be "
                                       "followed: give them the same names and defaults")  # fmt: skip
        args = clone(first.node.args)
        args.defaults, args.kw_defaults = [], [None] * len(args.kwonlyargs)
        places, path = [*args.posonlyargs, *args.args], name(first.unit.helper(f"{word}_", texts[0]))
        if owner is not None:
            receiver, *places = places
            path = name(receiver.id if isinstance(owner, Record) else first.unit.helper(owner.__name__, owner))
            path = gast.Attribute(path, word, gast.Load())
        if owner is not None and not isinstance(owner, Record):
            args.posonlyargs, args.args = [], places
        body: gast.AST = path
        if not isinstance(owner, Record) or not any(isinstance(self.looked_up(c, word), property) for c in owner.classes):
            words = [gast.keyword(p.id, name(p.id)) for p in args.kwonlyargs]
            body = gast.Call(path, [name(p.id) for p in places], words)
        tree = gast.FunctionDef(word, args, [gast.Return(body)], [], None, None, [])
        return Function(at(first.node, tree)[0], first.unit, first.defaults)

    def call_lifted(
        self, callee: Function, key: str, arguments: list[Any], keywords: dict[str, Any], node: gast.AST
    ) -> gast.AST:  # fmt: skip
        """A call of the recursive function, in its own text or elsewhere."""
        own = self.unit.primal.function
        arguments = [v.node if isinstance(v, Record) else v for v in arguments]
        bound = self.bind(callee, callee.node, arguments, keywords, node)
        known = self.passed.setdefault(key, {}) if self.opening_key != key else self.inherited().found
        more = {f"({p})": c for p, v in bound.items() if isinstance(v, gast.Name) and (c := self.flow().classes(v.id))}
        grown = any(not classes <= known.get(p, set()) for p, classes in more.items())
        known.update({p: classes | known.get(p, set()) for p, classes in more.items()})
        if callee not in self.lifted and self.opening_key == key:
            self.lifted[callee] = Known(own, name(self.unit.helper(own.__name__, own))), sorted(self.every_column())
        elif self.opening_key != key and (grown or callee not in self.lifted):
            if (inherited := self.inherited()) is not None and key in inherited.around:
                other = self.opening_key.rpartition(".")[2]
                self.unit.refuse(node, f"`{callee.name}` and `{other}` call each other and themselves, which cannot be "
                                       "followed: make one of them")  # fmt: skip
            self.lift(callee, node, key)
        known, captured = self.lifted[callee]
        return self.plain(known, [], {**bound, **{c: name(c) for c in captured}}, node)
