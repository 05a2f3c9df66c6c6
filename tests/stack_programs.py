"""Random programs whose stores may be dead, with stacks that are filled and emptied, and with effects inside of them.

What a generated reverse sweep does to lists and arrays, written as a user would: a section is saved, changed, looked at and
given back; a loop logs what it overwrites and another one undoes it.  Numbers come off a generator, an iterator and a list
of the caller's, and go through a function that prints them, wherever an expression may stand.  Much of it is never read.

`program(seed)` writes the same text again.  Every program runs: what is on a stack is known while it is written.
"""

from __future__ import annotations

import random
from collections.abc import Callable

SIZE = 4
EFFECTS = ("say({n})", "rng.random()", "next(it)", "given.pop()", "draw(rng)")
VIEWS = ("np.squeeze({})", "np.asarray({})", "np.ravel({})", "np.atleast_1d({})", "{}.reshape(-1)")  # in its memory
SECTIONS = (("[...]", 4), ("[:]", 4), ("[1:]", 3), ("[:-1]", 3), ("[1:3]", 2), ("[::2]", 2), ("[ia]", 4), ("[ia[1:]]", 3))
PRELUDE = """import numpy as np


def say(value):
    print("said", value)
    return 0.25 * value


def draw(rng):
    value = rng.random()
    print("drew", value)
    return value


def put(stack, value):
    stack.append(value)


def take(stack):
    return stack.pop()


"""


def program(seed: int) -> str:
    """The text of a module that defines `f(x, c, rng, it, given)`, of an array, a number and three sources of numbers."""
    return _Writer(random.Random(seed)).text()


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.depth = 1
        self.arrays = ["x"]
        self.numbers = ["c"]
        self.stacks: dict[str, list[int | None]] = {}  # what is on each: a length, None for a number
        self.effects = rng.choice((0.0, 0.1, 0.25))
        self.loop: str | None = None
        self.fresh = 0

    def text(self) -> str:
        rng = self.rng
        for stack in ("s", "log")[: rng.choice((1, 1, 2))]:
            self.line(f"{stack} = []")
            self.stacks[stack] = []
        self.line(rng.choice(("ia = np.arange(4)", "ia = np.array([2, 0, 3, 1])", "ia = 3 - np.arange(4)")))
        for array in ("w", "u")[: rng.choice((1, 2, 2))]:
            self.line(f"{array} = {rng.choice(('x * 1.5', 'x * x', 'np.sin(x)', 'x.copy()', 'c * x', 'np.ones(4)'))}")
            self.arrays.append(array)
        self.line(f"a = {self.number(1)}")
        self.numbers.append("a")
        for _ in range(rng.randint(3, 8)):
            self.statement()
        while any(self.stacks.values()) and rng.random() < 0.8:
            self.pop()
        self.line(f"return {self.result()}")
        return PRELUDE + "\n".join(["def f(x, c, rng, it, given):", *self.lines]) + "\n"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def pick(self, *choices: Callable[[], None]) -> None:
        self.rng.choice(choices)()

    # --- expressions ---

    def effect(self) -> str:
        return self.rng.choice(EFFECTS).format(n=self.rng.randint(1, 9))

    def number(self, deep: int = 2) -> str:
        rng = self.rng
        if rng.random() < self.effects:
            return self.effect()
        if deep == 0 or rng.random() < 0.3:
            own = [*self.numbers, f"{rng.choice(self.arrays)}[{self.index()}]"]
            return rng.choice((*own, *own, str(round(rng.uniform(0.3, 1.2), 2))))
        one, other = self.number(deep - 1), self.number(deep - 1)
        array = rng.choice(self.arrays)
        return rng.choice(
            (f"({one} * {other})", f"({one} + 0.5 * {other})", f"np.sin({one})", f"np.sum({array} * {one})",
             f"np.tanh({one} - {other})", f"({array} @ {array[:1]})", f"0.5 * {one}")
        )  # fmt: skip

    def index(self) -> str:
        if self.loop is not None and self.rng.random() < 0.6:
            return self.loop
        return str(self.rng.randrange(SIZE))

    def array(self, size: int, deep: int = 2) -> str:
        rng = self.rng
        part = rng.choice([s for s, n in SECTIONS if n == size])
        whole = rng.choice(self.arrays)
        leaf = whole if size == SIZE and rng.random() < 0.7 else whole + part
        leaf = rng.choice(VIEWS).format(leaf) if rng.random() < 0.4 else leaf
        if deep == 0 or rng.random() < 0.2:
            return leaf
        other = self.array(size, deep - 1)
        number = self.number(1)
        return rng.choice(
            (f"({leaf} * {number})", f"np.sin({other})", f"({leaf} + 0.5 * {other})", f"(0.7 * {leaf} * {other})",
             f"({number} - {other})", f"np.maximum({leaf}, {other})", f"{other} / 1.5")
        )  # fmt: skip

    def value(self, size: int | None) -> str:
        return self.number() if size is None or self.rng.random() < 0.15 else self.array(size)

    def result(self) -> str:
        rng = self.rng
        terms = [self.number(1), f"np.sum({rng.choice(self.arrays)} ** 2)", f"np.sum(x * {self.array(SIZE, 1)})"]
        return " + ".join(rng.sample(terms, rng.randint(1, 2)))

    # --- statements ---

    def statement(self) -> None:
        choices = [self.store, self.store, self.bind, self.dead, self.push, self.pop, self.save_and_restore, self.shown]
        if self.depth == 1:
            choices += [self.undone, self.repeated, self.branch, self.guarded, self.indices]
        self.pick(*choices)

    def section(self) -> tuple[str, int | None]:
        """A section of an array that may be written, and its length."""
        rng = self.rng
        array = rng.choice(self.arrays[1:])
        if rng.random() < 0.4:
            return f"{array}[{self.index()}]", None
        part, size = rng.choice(SECTIONS)
        return array + part, size

    def store(self) -> None:
        place, size = self.section()
        if self.rng.random() < 0.15:
            array = place.split("[")[0]
            self.line(f"{array}[{array} > {self.number(1)}] = {self.number(1)}")
        elif self.rng.random() < 0.25:
            self.line(f"{place.split('[')[0]} {self.operator()} {self.value(SIZE)}")
        else:
            self.line(f"{place} {self.rng.choice(('=', '=', self.operator()))} {self.value(size)}")

    def operator(self) -> str:
        return self.rng.choice(("+=", "-=", "*=", "*="))

    def bind(self) -> None:
        rng = self.rng
        if rng.random() < 0.5:
            self.line(f"a {rng.choice(('=', '=', '+=', '*='))} {self.number()}")
        else:
            self.line(f"{rng.choice(self.arrays[1:])} = {self.array(SIZE)} * 1.0")

    def dead(self) -> None:
        """What nobody reads."""
        rng = self.rng
        effect, array, number = self.effect() if self.effects else self.number(1), rng.choice(self.arrays), self.number(1)
        self.line(f"lost = {self.array(SIZE, 1)} * 1.0")
        changes = [f"lost += {effect}", f"lost[{self.index()}] = {effect}", f"lost[:] *= {effect} * {number}",
                   f"lost[int({effect}) % 4] = {number}"]  # fmt: skip
        others = [f"lost = ({effect}, {array})", f"lost = f'{{{effect}}}'", f"lost = [v * {effect} for v in {array}]",
                  f"lost = {effect} if {effect} > 0.5 else {array}", f"lost = {effect} > 0.1 and {effect} < 0.3",
                  f"lost = {array} * {effect} + {effect}"]  # fmt: skip
        for _ in range(rng.randint(0, 2)):
            self.line(rng.choice(changes))
        if rng.random() < 0.5:
            self.line(rng.choice(others))

    def push(self) -> None:
        stack = self.rng.choice(list(self.stacks))
        size = self.rng.choice((None, None, 4, 3, 2))
        value = self.number() if size is None else self.array(size) + " * 1.0"
        self.line(f"put({stack}, {value})" if self.rng.random() < 0.1 else f"{stack}.append({value})")
        self.stacks[stack].append(size)
        if size is None and self.rng.random() < 0.2:
            self.shown()

    def pop(self) -> None:
        filled = [s for s, held in self.stacks.items() if held]
        if not filled:
            return
        stack = self.rng.choice(filled)
        held = self.stacks[stack]
        if len(held) > 1 and held[-1] == held[-2] and self.rng.random() < 0.3:
            one, other = (f"{stack}.pop()" if held.pop() is None else f"np.sum({stack}.pop())" for _ in range(2))
            choices = (f"a = {one} - 0.3 * {other}", f"lost = ({one}, {other})", f"a = np.sin({one}) * {other}")
            self.line(self.rng.choice(choices))
        elif self.depth == 1 and all(size is None for size in held) and self.rng.random() < 0.2:
            self.drained(stack)
        else:
            self.line(self.taken(stack, held.pop()))

    def shown(self) -> None:
        """A stack stands in a tuple, and its last item is read from there."""
        numbered = [s for s, held in self.stacks.items() if held and held[-1] is None]
        if numbered:
            self.line(f"both = ({self.rng.choice(numbered)}, {self.rng.choice(list(self.stacks))})")
            self.line(f"a = 0.5 * a + {self.number(0)} * both[0][-1]")

    def drained(self, stack: str) -> None:
        """Take all that is on a stack of numbers; the list is read too."""
        rng = self.rng
        if rng.random() < 0.3:
            self.line(f"{rng.choice(('a', 'lost'))} = {self.number(0)} * {stack}[-1]")
        self.line(rng.choice((f"while {stack}:", f"while len({stack}) > 0:", f"for _ in range(len({stack})):")))
        self.depth += 1
        got = f"{stack}.pop()"
        self.line(rng.choice((f"a += {self.number(0)} * {got}", f"lost = {got}", f"a = np.sin(a) + {got}")))
        self.depth -= 1
        self.stacks[stack].clear()

    def taken(self, stack: str, size: int | None) -> str:
        """A statement that takes the last item off a stack."""
        rng = self.rng
        array, got = rng.choice(self.arrays[1:]), rng.choice([f"{stack}.pop()"] * 9 + [f"take({stack})"])
        choices = [f"lost = {got}", f"{got}", f"lost = {self.number(1)} * {got}"]
        if size is None:
            choices += [f"a = {got}", f"a += {got}", f"a = {self.number(1)} * {got}", f"{array} *= {got}"] * 2
            choices += [f"{array}[{self.index()}] {o} {got}" for o in ("=", "=", "+=")]
        else:
            part = rng.choice([s for s, n in SECTIONS if n == size])
            choices += [f"{array}{part} {rng.choice(('=', '=', '+=', '*='))} {got}" for _ in range(4)]
            choices += [f"a += np.sum({got})", f"{array}{part} = {self.array(size, 1)} * {got}"]
            choices += [f"{array} = {got}"] * 2 if size == SIZE else []
        return rng.choice(choices)

    def save_and_restore(self) -> None:
        """Save a section, change it, perhaps look at it, and give it back."""
        stack = self.rng.choice(list(self.stacks))
        place, size = self.section()
        whole = self.rng.random() < 0.3
        place, size = (place.split("[")[0], SIZE) if whole else (place, size)
        self.line(f"{stack}.append({place}{'' if size is None else '.copy()'})")
        self.stacks[stack].append(size)
        for _ in range(self.rng.randint(0, 2)):
            self.pick(self.store, self.store, self.bind, self.dead)
        self.stacks[stack].pop()
        target = place + "[...]" if whole and self.rng.random() < 0.5 else place
        self.line(f"{target} = {stack}.pop()")

    def undone(self) -> None:
        """A loop that logs what it overwrites, and one that takes it back."""
        rng = self.rng
        stack, array = rng.choice(list(self.stacks)), rng.choice(self.arrays[1:])
        k, count = rng.choice("kj"), rng.randint(1, 3)
        place, copied = rng.choice(((f"{array}[{k}]", ""), (f"{array}[{k}:]", ".copy()"), (array, ".copy()")))
        self.loop, self.depth = k, 2
        self.lines.append(f"    for {k} in range({count}):")
        twice = rng.random() < 0.3
        self.line(f"{stack}.append({place}{copied})")
        self.line(f"{place} {rng.choice(('=', '+=', '*='))} {self.number() if place != array else self.array(SIZE)}")
        if twice:
            self.line(f"{stack}.append(a)")
            self.line(f"a = {self.number()}")
        if rng.random() < 0.3:
            self.pick(self.bind, self.dead)
        self.loop = None
        self.depth = 1
        if rng.random() < 0.5:
            self.pick(self.bind, self.store, self.dead)
        self.loop, self.depth = k, 2
        self.lines.append(f"    for {k} in reversed(range({count})):")
        if rng.random() < 0.5:
            self.pick(self.bind, self.dead)
        if twice:
            self.line(rng.choice((f"a = {stack}.pop()", f"{stack}.pop()", f"a += {stack}.pop()")))
        target = f"{array}[...]" if place == array and rng.random() < 0.5 else place
        self.line(rng.choice((f"{target} = {stack}.pop()", f"{target} = {stack}.pop()", f"{stack}.pop()")))
        self.loop, self.depth = None, 1

    def repeated(self) -> None:
        """A loop in which the stacks have in the end what they had before."""
        rng = self.rng
        held = {stack: list(items) for stack, items in self.stacks.items()}
        self.loop, self.depth = rng.choice("kj"), 2
        over = f"range({rng.randint(1, 3)})"
        self.lines.append(f"    for {self.loop} in {over}:")
        self.stacks = {stack: [] for stack in held}
        self.line(f"a *= {self.number(0)}")
        for _ in range(rng.randint(1, 3)):
            self.pick(self.store, self.bind, self.dead, self.push, self.pop, self.save_and_restore, self.shown)
        while any(self.stacks.values()):
            self.pop()
        self.loop, self.depth, self.stacks = None, 1, held

    def branch(self) -> None:
        effect = f"{self.effect()} > 0.5" if self.effects else "c > 9.0"
        test = self.rng.choice((f"{self.number(1)} > 0.4", "c > 0.0", effect))
        held = {stack: list(items) for stack, items in self.stacks.items()}
        self.depth = 2
        self.lines.append(f"    if {test}:")
        for arm in range(self.rng.randint(1, 2)):
            self.lines += ["    else:"] if arm else []
            self.stacks = {stack: [] for stack in held}
            self.line(f"a += {self.number(0)}")
            for _ in range(self.rng.randint(1, 2)):
                self.pick(self.store, self.bind, self.dead, self.push, self.save_and_restore)
            while any(self.stacks.values()):
                self.pop()
        self.depth, self.stacks = 1, held

    def guarded(self) -> None:
        """Under a condition something is put on a stack, and later, under the same one, it is taken off."""
        test, stack = self.rng.choice(("c > 0.0", "c > 9.0", "np.sum(x) > 0.0")), self.rng.choice(list(self.stacks))
        size = self.rng.choice((None, 4, 3))
        self.lines.append(f"    if {test}:")
        self.depth = 2
        self.line(f"{stack}.append({self.number() if size is None else self.array(size) + ' * 1.0'})")
        if self.rng.random() < 0.5:
            self.pick(self.store, self.bind, self.dead)
        self.depth = 1
        self.pick(self.store, self.bind, self.dead, self.save_and_restore)
        self.lines.append(f"    if {test}:")
        self.depth = 2
        self.line(self.taken(stack, size))
        self.depth = 1

    def indices(self) -> None:
        self.line(self.rng.choice(("ia[1:] = ia[:-1]", "ia += 1", "ia[0] = 2", "ia = ia[::-1].copy()")))
        self.line("ia %= 4")
