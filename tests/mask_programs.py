"""Random programs with missing data and with slopes that are not finite, where a mask or a condition leaves them out.

    t = np.log(x * Z)           # nan or infinite in some places
    t = t * x - 0.5             # and so is what is made of it
    t[~(x * Z > 0)] = x[0]      # but nothing that is read at the end

Each unsafe value comes with the condition under which it and its slope are finite; how it is guarded is drawn: by
`np.where`, a masked store, a masked read, places, a loop, a comprehension, a function of NumPy's.  The gradient is a number.
"""

from __future__ import annotations

import random

from programs import Program, draw_arguments

SIZE = 5
PRELUDE = """import numpy as np

D = np.array([0.5, np.nan, -0.3, np.inf, 1.2])
M = np.array([[0.5, np.nan, -0.3, np.nan, 1.2], [np.nan, 0.4, 0.6, 1.1, -0.7]])
Z = np.array([1.0, 0.0, 2.0, -1.0, 0.0])
BIG = np.array([900.0, 1.0, -900.0, 1.5, 900.0])


def log_or_itself(v):
    r = np.log(v)
    if not v > 0.0:
        return v
    return r * v


def root(v):
    if v > 0.0:
        return np.sqrt(v)
    return 0.2 * v


def put_where(a, m, v):
    a[m] = v


def kept(a, m):
    return a[m]


def logarithm(a):
    return np.log(a)


"""
UNSAFE = (  # a value, and where it and its slope are finite; whether it is nan wherever it is not
    ("np.log({a} * {Z})", "{a} * {Z} > 0.0", False), ("np.sqrt({a})", "{a} > 0.0", True), ("{a} ** 1.5", "{a} > 0.0", True),
    ("{a} / {Z}", "{Z} != 0.0", False), ("np.arcsin(2.0 * {a})", "np.abs({a}) < 0.5", True),
    ("{D} * {a}", "np.isfinite({D})", False), ("({D} - {a}) ** 2", "np.isfinite({D})", False),
    ("0.3 + np.log1p(np.exp({BIG} * {a}))", "{BIG} * {a} < 30.0", False), ("logarithm({a})", "{a} > 0.0", True),
    ("1.0 / (1.0 + np.exp({BIG} * {a}))", "{BIG} * {a} < 30.0", False), ("{M} * {a}", "np.isfinite({M})", True),
    ("np.arccosh(2.0 * {a})", "{a} > 0.5", True), ("np.power({a}, {D})", "({a} > 0.0) & np.isfinite({D})", False),
)  # fmt: skip
ARRAYS = {"Z": "Z", "D": "D", "BIG": "BIG", "M": "M[0]"}
BETWEEN = ("{t} * {x}", "np.tanh({t})", "{t} + 0.37 * {x}", "{x} - {t}", "{t} ** 2", "{t} * {t}", "-{t}", "np.sin({t}) * c",
           "{t} / (1.5 + c)")  # fmt: skip


def mask_program(seed: int) -> Program:
    """Write the program of this number, of an array and a number."""
    rng = random.Random(seed)
    source, features = _Writer(rng).write()
    kinds = ((SIZE,), ())
    return Program(source, draw_arguments(rng, kinds), frozenset(features), seed, kinds, "mask_program")


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.features: set[str] = set()
        self.arrays, self.numbers = ["x"], ["c"]
        self.count = 0

    def write(self) -> tuple[str, set[str]]:
        for _ in range(self.rng.randint(1, 3)):
            self._guarded()
        terms = [f"np.sum({self.rng.choice(('0.3', 'x', 'x[::-1]'))} * {a})" for a in self.arrays] + self.numbers
        lines = ['    with np.errstate(all="ignore"):', *(f"        {line}" for line in self.lines)]
        text = "\n".join(["def f(x, c):", *lines, f"        return {' + '.join(terms)}"])
        return f"{PRELUDE}{text}\n", self.features

    def _new(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def _guarded(self) -> None:
        value, good, nan = self.rng.choice(UNSAFE)
        a, t = self.rng.choice(self.arrays), self._new("t")
        ways = [w for w in dir(self) if w.startswith("_by_") and (nan or w != "_by_nan_functions")]
        way = self.rng.choice(ways + ["_by_nan_functions"] * nan)
        names = {"a": a, "x": "x", **ARRAYS}
        if way == "_by_condition":
            i = self.rng.choice((0, 2, 4, "int(2.0 * c) % 5"))
            names = {name: f"{array}[{i}]" for name, array in names.items()}
        self.lines.append(f"{t} = {value.format(**names)}")
        good = good.format(**names)
        for _ in range(self.rng.randint(0, 2)):
            self.lines.append(f"{t} = {self.rng.choice(BETWEEN).format(t=t, **names)}")
        if nan and self.rng.random() < 0.3:
            good = f"~np.isnan({t})"
        if self.rng.random() < 0.5:
            self.lines.append(f"m = {good}")
            good = "m"
        self.features.add(way.removeprefix("_by_"))
        getattr(self, way)(t, good)

    def _safe(self) -> str:
        return self.rng.choice(("0.0", "0.5", "c", "x[1]", "c * x[0]"))

    def _array(self, value: str) -> None:
        r = self._new("r")
        self.lines.append(f"{r} = {value}")
        self.arrays.append(r)

    def _number(self, value: str) -> None:
        self.numbers.append(self._new("n"))
        self.lines.append(f"{self.numbers[-1]} = {value}")

    # --- whole arrays ---

    def _by_where(self, t: str, good: str) -> None:
        forms = (f"np.where({good}, {t}, {self._safe()})", f"np.where(~({good}), {self._safe()}, {t} * x)",
                 f"np.where({good}, x * {t}, x)", f"np.select([{good}, x > 0.0], [{t}, x], {self._safe()})")  # fmt: skip
        self._array(self.rng.choice(forms))

    def _by_store(self, t: str, good: str) -> None:
        forms = ("{t}[{bad}] = {safe}", "{t}[{bad}] = x[{bad}]", "put_where({t}, {bad}, {safe})",
                 "np.putmask({t}, {bad}, 0.5)", "np.copyto({t}, {safe}, where={bad})", "{t}[np.where({bad})] = {safe}",
                 "{t}[np.flatnonzero({bad})] = {safe}")  # fmt: skip
        self.lines.append(self.rng.choice(forms).format(t=t, bad=f"~({good})", safe=self._safe()))
        self.arrays.append(t)

    def _by_filling(self, t: str, good: str) -> None:
        r = self._new("r")
        start, op = self.rng.choice(("zeros", "ones")), self.rng.choice(("", "+", "*"))
        start = "ones" if op == "*" else start  # the slope of `sqrt(0 * x)` is nan for any way to differentiate it
        self.lines += [f"{r} = np.{start}({SIZE})", f"{r}[{good}] {op}= {t}[{good}]"]
        self.arrays.append(r)

    def _by_parts(self, t: str, good: str) -> None:
        forms = ("np.sum({t} * x, where={m})", "np.sum({t}, where={m}, initial=c)", "{t}.sum(where={m}) * c",
                 "np.var({t}, where={m})", "np.std({t} - x, where={m})", "np.max({t}, where={m}, initial=-3.0)",
                 "np.min({t} * x, where={m}, initial=c)", "np.prod({t}, where={m}, initial=c)", "{t}.mean(where={m})",
                 "np.nansum({t} * x, where={m})", "np.add.reduce({t}, axis=None, where={m})")  # fmt: skip
        form = self.rng.choice(forms)
        value = form.format(t=t, m="part")
        several = "mean" in form or "var" in form or "std" in form  # one number alone is where `std` has its kink
        self.lines.append(f"part = {good}")
        self._number(f"{value} if np.sum(part) > 1 else c" if several else value)

    def _by_nan_functions(self, t: str, good: str) -> None:
        forms = ("np.nansum({t} * x)", "np.nanmean({t})", "np.nansum({t} ** 2)", "np.nanvar({t})", "np.nanmax({t})",
                 "np.nanprod({t})", "np.sum(np.nan_to_num({t}))", "np.sum(np.nancumsum({t}))")  # fmt: skip
        self._number(self.rng.choice(forms).format(t=t))

    def _by_reading(self, t: str, good: str) -> None:
        forms = (f"{t}[{good}]", f"kept({t}, {good})", f"{t}[np.nonzero({good})]", f"np.take({t}, np.flatnonzero({good}))",
                 f"np.compress({good}, {t})", f"np.extract({good}, {t})", f"{t}[np.argwhere({good})[:, 0]]")  # fmt: skip
        self._number(f"{self.rng.choice(('np.sum', 'np.linalg.norm'))}({self.rng.choice(forms)} * c + 0.1)")

    def _by_positions(self, t: str, good: str) -> None:
        where = self.rng.choice(("np.where({m})[0]", "np.nonzero({m})[-1]", "np.argwhere({m})[:, 0]", "np.flatnonzero({m})"))
        each = self.rng.choice(("np.sum({t}[{m}])", "np.sum({t}[{m}]) * c", "{t}[{m}]"))  # for each of the positions
        self._number(f"np.sum(np.sin({where} + {each}))".format(m=good, t=t))

    # --- element by element ---

    def _by_loop(self, t: str, good: str) -> None:
        n, g = self._new("n"), self._new("g")
        self.lines += [f"{g} = {good}", f"{n} = c"]
        self.lines += self.rng.choice((
            [f"for i in range({SIZE}):", f"    if {g}[i]:", f"        {n} += {t}[i] * x[i]"],
            [f"for i in range({SIZE}):", f"    if not {g}[i]:", "        continue", f"    {n} = {n} * 0.5 + {t}[i]"],
            [f"for v, ok in zip({t}, {g}):", "    if ok:", f"        {n} += v * v"],
            [f"for i, v in enumerate({t}):", "    e = v * x[i]", f"    if not {g}[i]:", "        continue", f"    {n} += e"],
        ))  # fmt: skip
        self.numbers.append(n)

    def _by_loop_of_stores(self, t: str, good: str) -> None:
        g = self._new("g")
        self.lines += [f"{g} = {good}", f"for i in range({SIZE}):", f"    if not {g}[i]:"]
        self.lines.append(f"        {t}[i] = {self._safe()}")
        self.arrays.append(t)

    def _by_comprehension(self, t: str, good: str) -> None:
        g = self._new("g")
        self.lines.append(f"{g} = {good}")
        forms = (f"sum([{t}[i] * c if {g}[i] else 0.5 for i in range({SIZE})])",
                 f"sum(v * v for v, ok in zip({t}, {g}) if ok)",
                 f"c + sum([{t}[i] for i in range({SIZE}) if {g}[i]])")  # fmt: skip
        self._number(self.rng.choice(forms))

    def _by_function(self, t: str, good: str) -> None:
        self.lines.append(f"{t} = np.where({good}, {t}, x)")
        self._number(f"sum([{self.rng.choice(('log_or_itself', 'root'))}(v) for v in {self.rng.choice((t, 'x'))}])")

    def _by_condition(self, t: str, good: str) -> None:
        n = self._new("n")
        good = good.replace("~", "not ")
        self.lines.append(f"{n} = {t} * c")
        self.lines += self.rng.choice((
            [f"if not ({good}):", f"    {n} = {self._safe()}"], [f"{n} = {n} if {good} else {self._safe()}"],
            [f"if {good}:", f"    {n} = {n} * x[1]", "else:", f"    {n} = {self._safe()}"],
        ))  # fmt: skip
        self.numbers.append(n)
