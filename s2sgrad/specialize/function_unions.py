"""Names that stand for one of several functions: a selector variable records which.

    if c: f = lambda t: t * w              if c: f_which = 0               if f_which == 0: y = x * w
    else: f = np.sin                ->     else: f_which = 1        ->     else: y = np.sin(x)
    y = f(x)

One option may be the value of an argument, as in `if act is None: act = np.tanh`.  A copy, as of `g = f`, has a selector
of its own.  A loop that binds `f` anew writes into what the options hold: a copy that was made before is not called.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, c):
...     if c:
...         g = lambda t: t * x
...     else:
...         g = np.sin
...     return g(2.0)
... ''', "flatten"))
def f(x, c):
    t1 = c
    if t1:
        g_which = 0
    else:
        g_which = 1
    g_which_ = g_which
    t3 = g_which_ == 0
    if t3:
        result_ = 2.0 * x
        value = result_
    else:
        t2 = np.sin(2.0)
        value = t2
    result = value
    return result
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad.ir.quote import assign, at, clone, constant, expression, name
from s2sgrad.ir.signatures import signature_of
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.static_values import Adapted, Choice, Derivative, Display, Function, Known, Partial, Value, chosen
from s2sgrad.specialize.texts import Texts

_FUNCTIONS = (Function, Partial, Adapted, Known, Derivative)


class Choices(Family):
    """Binds names to several functions, and calls them by cases."""

    def __init__(self, evaluator: Evaluator, texts: Texts) -> None:
        super().__init__(evaluator)
        self.texts = texts
        self.arguments: set[str] = set()  # variables for arguments of inlined calls
        self.heads: list[gast.AST] = []  # statements for the start of the function
        self.plain_names: dict[str, str] = {}  # new names for variables of data that also stand for static functions

    def choose(self, target: str, value: Any, statement: gast.AST) -> bool:
        """`target = value` for a name that also stands for other functions; returns whether it was handled."""
        choice_so_far = self.names.values.get(target)
        if not isinstance(value, (*_FUNCTIONS, Choice)) or not isinstance(choice_so_far, (Choice, type(None))):
            return False
        if isinstance(value, Choice) or target in self.arguments:
            return False
        if choice_so_far is None and target in self.names.data:
            self.require_straight(target, statement)
        if choice_so_far is None:
            choice_so_far = self.names.values[target] = Choice(self.unit.local(f"{target}_which"), [])
            if target in self.names.given and self.writer.loops:
                self.unit.refuse(statement, f"the argument `{target}` is bound to a function in a loop, which cannot be "
                                            "followed: bind it before the loop")  # fmt: skip
            if target in self.names.given:
                choice_so_far.argument = True
                initial = self.unit.local(f"{target}_given")
                choice_so_far.options.append(Known(None, name(initial)))
                self.heads += [assign(initial, name(target)), assign(choice_so_far.selector, constant(0))]
            elif target in self.names.data:  # a function known only at the call
                self.plain_names[target] = self.names.fresh(target)
                choice_so_far.options.append(Known(None, name(self.plain_names[target])))
                self.heads.append(assign(choice_so_far.selector, constant(0)))
        if choice_so_far.loops & set(self.writer.loops):
            self.unit.refuse(statement, f"`{target}` is called in this loop before it stands for this function, which "
                                        "cannot be followed: bind it at the head of the loop")  # fmt: skip
        if _is_made_of(value, choice_so_far):
            self.unit.refuse(statement, f"`{target}` is made of what it stood for in an earlier trip of this loop, which "
                                        "cannot be followed: keep the functions in a list")  # fmt: skip
        self.names.counts[choice_so_far.selector] += 2
        self.writer.out += at(statement, assign(choice_so_far.selector, constant(len(choice_so_far.options))))
        choice_so_far.options.append(value)
        if not isinstance(value, Known):
            choice_so_far.bound.append(frozenset(self.writer.loops))
        return True

    def require_straight(self, target: str, statement: gast.AST) -> None:
        """Refuse in a loop: in the next trip the name would no longer stand for the earlier value."""
        if self.writer.loops:
            self.unit.refuse(statement, f"`{target}` stands for another function in each trip of this loop, which cannot be "
                                        "followed: write the calls out, or keep the functions in a list")  # fmt: skip

    def chosen_now(self, choice: Choice) -> Choice:
        """A choice with the current value of the selector."""
        holder = self.unit.local(choice.selector)
        self.writer.out.append(assign(holder, name(choice.selector)))
        options = choice.options if self.writer.loops else list(choice.options)  # the options so far
        loops, before = frozenset(self.writer.loops), len(choice.bound)
        if choice.copied_in:  # a copy of a copy holds what the first one held
            loops, before = choice.copied_in | loops, choice.bound_before
        return Choice(holder, options, choice.argument, choice.loops, choice.bound, before, loops)

    def picked(self, display: Display, node: gast.Subscript) -> Choice:
        """`table[key]` for a table of functions and a key that is data."""
        functions = all(isinstance(option, _FUNCTIONS) for option in display.items.values())
        if not functions or len(display.items) < 2:  # a single option would ignore the key
            self.unit.refuse(node, "which function or object this is cannot be followed: use a constant index")
        numbers: list[gast.AST] = [constant(k) for k in range(len(display.items))]
        keys = [constant(key) for key in display.items]
        table = gast.List(numbers, gast.Load()) if not display.mapping else gast.Dict(keys, numbers)
        holder = self.unit.local("which")
        picked = gast.Subscript(self.writer.hold(table), self.evaluator.atom(node.slice), gast.Load())
        self.writer.out += at(node, assign(holder, picked))
        self.names.counts[holder] += 2
        return Choice(holder, list(display.items.values()))

    def apply_choice(self, choice: Choice, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> gast.AST:
        """A call of a chosen function: one branch for each option."""
        if choice.is_stale:
            self.unit.refuse(node, "the function that is called here was kept by a trip of a loop, which binds its name "
                                   "anew after that: keep the functions in a list")  # fmt: skip
        holder = self.unit.local("value")
        choice.loops.update(self.writer.loops)
        writer = self.writer
        arms: list[list[gast.AST]] = []
        for option in choice.options:
            before, writer.out = writer.out, []
            if len(choice.options) > 1 and not self.fits(option, arguments, keywords):
                text = constant("the arguments do not fit the parameters of the function that is called here")
                error = expression("E(why)", E=self.unit.builtin(TypeError), why=text)
                arms.append(at(node, gast.Raise(error, None)))
                writer.out = before
                continue
            value = self.evaluator.apply(
                option, [clone(v) if isinstance(v, gast.AST) else v for v in arguments], dict(keywords), node
            )
            if isinstance(value, Value):
                self.unit.refuse(node, "a function or an object that one of several functions returns cannot be followed: "
                                       "use two names")  # fmt: skip
            writer.out.append(assign(holder, value))
            at(node, *(s for s in writer.out if not hasattr(s, "lineno")))
            arms.append(writer.out)
            writer.out = before
        self.names.counts[holder] += len(arms)
        writer.out += chosen(self.unit, choice.selector, arms, node)
        return at(node, name(holder))[0]

    def fits(self, option: Any, arguments: list[Any], keywords: dict[str, Any]) -> bool:
        """Whether these arguments fit the parameters of a function, where they are known."""
        while isinstance(option, Partial):
            arguments, keywords = [*option.given, *arguments], {**option.keywords, **keywords}
            option = option.inner
        function = self.texts.text_called(option)
        if function is None:
            return True
        try:
            signature_of(function.node.args, function.defaults).bind(*arguments, **keywords)
        except TypeError:
            return False
        return True


def _is_made_of(value: Any, choice: Choice) -> bool:
    """Whether a function value binds arguments of one that the choice stands for."""
    if isinstance(value, Choice):
        return value.options is choice.options
    parts = [value.inner, *value.given, *value.keywords.values()] if isinstance(value, Partial) else []
    return any(_is_made_of(part, choice) for part in parts)
