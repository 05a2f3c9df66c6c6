"""Random programs over lists, tuples and dicts of objects: loops over them, by items, by indices, beside others, left early;
functions that keep the name of an item, which they read when they are called.

    for a, b in zip(ps, qs): a.push(b.v * s)
    for i in range(len(ps)):
        for j in range(i): ps[i].v += ps[j].w

`object_program(7)` is the same program on every machine.  `graph_program` has objects of several classes that refer to each
other, under names that are bound anew.
"""

from __future__ import annotations

import random
import re

from programs import Program, draw_arguments

VECTOR = (5,)
CLASS = """
class Part:
    def __init__(self, v, w=0.5):
        self.v, self.w, self.log = v, w, []

    def push(self, f):
        self.w += f * 0.3
        self.v = self.v * 0.9 + self.w * 0.1
        return self

    def note(self):
        self.log.append(self.v * self.w)

    @property
    def energy(self):
        return self.v * self.v + 0.5 * self.w * self.w + sum(self.log)

    def __call__(self, t):
        return math.sin(self.v * t) + self.w
"""
GROUP = """
class Group:
    def __init__(self, parts, scale):
        self.parts, self.scale = parts, scale

    def __iter__(self):
        return iter(self.parts)

    def __len__(self):
        return len(self.parts) - 1

    def __contains__(self, v):
        return any(abs(v - p.v) < 0.2 for p in self)

    def each(self):
        for p in self:
            yield p.v * self.scale
            self.scale *= 0.9


class Ramp(Group):
    def __iter__(self):
        for p in self.parts:
            yield p
            if p.v > 1.0:
                return


class Countdown:
    def __init__(self, v, n):
        self.v, self.n = v, n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        self.v *= 0.7
        return self.v
"""
GROUP_HEADS = ("for p in {g}:", "for k, p in enumerate({g}):", "for g in gs:", "if {g}:", "if x[1] not in {g}:",
               "for y in {g}.each():", "for y in Countdown(x[2], 3):", "if not {g} or s > 0.5:")  # fmt: skip
GROUP_STATEMENTS = ("s += sum({g}.each()) * 0.1", "s += sum([p.energy for p in {g}]) * 0.1", "{g}.scale = {n}",
                    "s += len({g}) * {g}.scale", "a, *_ = {g}\n{pad}s += a.w * 0.2",
                    "s += max([t * 0.5 for t in Countdown({n}, 2)])", "gs.append(Ramp(ps, {n}))",
                    "s += max({g}.parts, key={o}).w * 0.1")  # fmt: skip
HEADS = ("for p in {l}:", "for q in {l}:", "for k, p in enumerate({l}):", "for p, q in zip({l}, {m}):",
         "for p, y in zip({l}, x):", "for p in reversed({l}):", "for p in {l}[1:]:", "for name, p in d.items():",
         "for p in d.values():", "for i in range(len({l})):", "for i in range(n):", "for i in range(1, len({l})):",
         "for i in reversed(range(len({l}))):", "for i in range({i} + 1, n):")  # fmt: skip
INNER = {"p": "r", "q": "u", "i": "j", "k": "m", "y": "z"}  # in an inner loop
STATEMENTS = ("s += {o}.energy * 0.1", "{o}.push({n})", "{o}.v = {o}.v * 0.8 + {n}", "{o}.w *= {n}", "{o}.note()",
              "s = {o}(s)", "fs.append(lambda t: {o}(t) * 0.5)", "fs.append(lambda t, r={o}.v: r * t)", "h = {o}.v * 2.0",
              "if {o}.v > 0.4:\n{pad}    {o}.w = {n}", "if {o}.w > 0.9:\n{pad}    break",
              "if {o}.v < 0.0:\n{pad}    continue", "s += sum([u.v * {o}.w for u in {l}]) * 0.2",
              "one = copy.copy({o})\n{pad}one.push({n})",
              "one = copy.deepcopy({o})\n{pad}one.note()")  # fmt: skip
FIRST = ("ps[0]", "qs[-1]", "d['a']", "one", "ps[1]", "ps[n - 1]")
NUMBERS = ("s * 0.3", "x[1]", "{o}.w", "0.4", "x[2] * 0.5", "h", "one.v", "ps[0].v * 0.2")


def object_program(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(f"objects {seed}")
    writer = _Writer(rng, rng.random() < 0.3)
    for _ in range(rng.randint(2, 5)):
        writer.statement(1, [])
    heads = ["one = Part(x[0] * x[1])",
             rng.choice(("ps = [Part(x[k]) for k in range(3)]", "ps = [Part(x[0]), one, Part(x[2], x[3])]",
                         "ps = []\n    for k in range(3):\n        ps.append(Part(x[k] * 0.7, x[k + 1]))")),
             rng.choice(("qs = (Part(0.3, x[4]), ps[0], Part(x[3]))", "qs = [Part(v) for v in (x[1], 0.5, x[4])]")),
             "d = {'a': ps[1], 'b': Part(x[4])}", "n, fs, s, h = len(ps), [], x[4], 0.2", "i = j = k = 0"]  # fmt: skip
    if writer.grouped:
        heads += [rng.choice(("ga = Group(ps, x[1])", "ga = Ramp(ps, 0.5)")), "gs = [ga, Ramp(qs, x[0]), Group([one], 0.4)]"]
    end = [
        "    for f in fs:",
        "        s += f(x[3]) * 0.1",
        "    return s + h + sum([p.energy for p in ps]) + sum([q.v * q.w for q in qs]) + d['b'].energy + one.w",
    ]
    slots = random.Random(f"slots {seed}").random() < 0.3
    part = CLASS.replace("Part:", 'Part:\n    __slots__ = ("v", "w", "log")') if slots else CLASS
    classes = part + GROUP * writer.grouped
    lines = ["import copy, math", "import numpy as np", "", classes, "", "def f(x):", *(f"    {head}" for head in heads)]
    source = "\n".join([*lines, *writer.lines, *end, ""])
    return Program(source, draw_arguments(rng, (VECTOR,), digits=5), frozenset(writer.features), seed, (VECTOR,),
                   "object_program")  # fmt: skip


class _Writer:
    def __init__(self, rng: random.Random, grouped: bool) -> None:
        self.rng, self.grouped = rng, grouped
        self.lines: list[str] = []
        self.features: set[str] = set()

    def statement(self, depth: int, objects: list[str]) -> None:
        rng = self.rng
        lists = {"l": rng.choice(("ps", "qs", "ps")), "m": rng.choice(("ps", "qs"))}
        if depth < 3 and rng.random() < 0.55:
            kind = "again" if rng.random() < 0.2 else "loop"
            self.features.add(kind)
            if kind == "again":
                self.emit("for _ in range(2):", depth)
                for _ in range(rng.randint(1, 3)):
                    self.statement(depth + 1, objects)
                return
            head = rng.choice(HEADS + GROUP_HEADS * self.grouped)
            lists["g"] = rng.choice(("ga", "gs[0]", "gs[1]", "gs[-1]"))
            while head.startswith("if") and not objects:  # what may stand in it is chosen as for a loop
                head = rng.choice(HEADS)
            index = "i"
            if objects and rng.random() < 0.95:
                head = re.sub(r"\b([pqiky])\b(?!\})", lambda found: INNER[found[1]], head)
                index = "j"
            made = [n for n in "pqru" if f" {n} " in head.replace(",", " ")] or [f"{lists['l']}[{index}]"]
            self.emit(head.format(i="i" if index == "j" else "0", **lists), depth)
            for _ in range(rng.randint(1, 3)):
                self.statement(depth + 1, [*objects, *made])
            return
        lists["g"] = rng.choice(("ga", "gs[0]", "gs[1]", "gs[-1]"))
        of_groups = [f for f in GROUP_STATEMENTS * self.grouped if not (objects and "gs.append" in f)]
        forms = [f for f in [*STATEMENTS, *of_groups] if objects or ("break" not in f and "continue" not in f)]
        form = rng.choice(forms)
        while "fs." in form and rng.random() < 0.7:  # which trips make functions must be known
            form = rng.choice(forms)
        self.features.add("leave" if "break" in form or "continue" in form else "kept" if "lambda" in form else "plain")
        owner = rng.choice([*objects, *objects, rng.choice(FIRST)]) if objects else rng.choice(FIRST)
        while "{n}" in form:
            form = form.replace("{n}", rng.choice(NUMBERS), 1)
        self.emit(form.format(o=owner, pad="    " * depth, **lists), depth)

    def emit(self, line: str, depth: int) -> None:
        self.lines.append("    " * depth + line)


GRAPH = """
class Node:
    def __init__(self, v, w=0.5, nxt=None):
        self.v, self.w, self.nxt, self.kids = v, w, nxt, []

    def push(self, f):
        self.v = self.v * 0.9 + f * 0.1
        return self

    def energy(self):
        return self.v * self.w + sum([k.v for k in self.kids]) * 0.3

    @property
    def scaled(self):
        return self.v * 0.5

    @functools.cached_property
    def first(self):
        return self.v * self.w

    def last(self):
        p = self
        while p.nxt is not None and p.nxt is not self:
            p = p.nxt
        return p


class Source(Node):
    def __init__(self, v, rate):
        super().__init__(v, rate * 2.0)
        self.rate = rate

    def push(self, f):
        super().push(f * self.rate)
        self.rate *= 0.9
        return self

    def energy(self):
        return self.rate * self.v + math.sin(self.w)


class Bag:
    def __init__(self, a):
        self.a, self.log = a * np.ones(2), [a]

    def add_in(self, p, s):
        self.a = self.a + p.v * s
        self.log.append(p.w)


def made(v, s):
    return Node(v * s) if v > 0.2 else Source(v, s)


def exchange(p, q):
    p.v, q.v = q.v, p.v * 0.8


def total(p, depth):
    if p is None or depth > 4:
        return 0.0
    return p.v * p.w + 0.5 * total(p.nxt, depth + 1)


def hung(p, q, depth):
    if p is None or depth > 3:
        return q
    p.nxt = hung(p.nxt, q, depth + 1)
    return p


class Fork:
    def __init__(self, p, left, right):
        self.p, self.left, self.right = p, left, right


def split(ps):
    if not ps:
        return None
    half = len(ps) // 2
    return Fork(ps[half], split(ps[:half]), split(ps[half + 1:]))


def weighed(fork):
    return 0.0 if fork is None else fork.p.v + 0.5 * weighed(fork.left) - 0.3 * weighed(fork.right) * fork.p.w
"""
LINKS = ("{o}.nxt = {q}", "{o}.kids.append({q})", "{o}.push({n})", "{o}.v = {n} + {q}.v * 0.1", "{o}.v += {n} * {q}.w",
         "{o}.w = {n}", "s += {o}.energy() * 0.2", "s = s * 0.9 + {o}.scaled", "exchange({o}, {q})", "best = {o}",
         "if {o}.v > best.v:\n{pad}    best = {o}", "if {o} is not {q}:\n{pad}    {o}.v *= 0.9", "d[{i}] = {o}",
         "bag.add_in({o}, {n})", "bags.append(Bag({n}))", "bags[-1].a *= {o}.v", "bags[0].a[1] += {n}", "cur = {o}",
         "if {o}.nxt is not None:\n{pad}    {o}.nxt.v += {n}", "ns.append(made({n}, s))", "ns.append({o})",
         "cur = cur.nxt if cur.nxt is not None else {o}", "s += {o}.last().v * 0.1", "s += total({o}, 0) * 0.1",
         "ns[0], ns[-1] = ns[-1], ns[0]", "ns.sort(key=lambda p: p.v)", "s += max(ns, key=lambda p: p.w).v * 0.3",
         "heapq.heappush(heap, (k, {o}))\n{pad}k += 1", "if heap:\n{pad}    s += heapq.heappop(heap)[1].v * 0.2",
         "if len(ns) > 4:\n{pad}    s += ns.pop().v", "s += sum([p.energy() for p in ns]) * 0.1",
         "s += made({n}, s).energy() * 0.1", "one = {q} if {n} > {o}.v else Source(s, 0.4)\n{pad}s += one.energy() * 0.1",
         "s += sum(bag.log) * 0.1", "s += weighed(split(ns)) * 0.1", "cur = hung({o}, Node({n}), 0)",
         "cur = copy.copy({o})\n{pad}cur.push({n})", "cur = copy.deepcopy({o})\n{pad}cur.push({n})",
         "bags.append(copy.copy(bag))", "bags.append(copy.deepcopy(bags[0]))",
         "s += {o}.first * 0.2",
         "{o}.rate = {n}", "if isinstance({o}, Source):\n{pad}    {o}.rate *= 0.5")  # fmt: skip
WALKS = ("for p in ns:", "for q in ns[1:]:", "for i, p in enumerate(ns):", "for p in list(d.values()):",
         "for _ in range(2):", "for p in best.kids:", "if best.v > s:", "if best is cur:",
         "for q in (best, cur, ns[0]):")  # fmt: skip
NAMES = ("ns[0]", "ns[-1]", "ns[i % len(ns)]", "best", "cur", "first", "d[0]", "d[1]")
VALUES = ("s * 0.3", "x[1]", "{q}.w", "0.4", "x[2] * 0.5", "x[i % 5] * {q}.v", "bag.a[0] * 0.1", "best.v * 0.3")


def graph_program(seed: int) -> Program:
    """The program of this number: objects that refer to objects, of several classes, under names that are bound anew."""
    rng = random.Random(f"graphs {seed}")
    lines: list[str] = []

    def block(depth: int, names: tuple[str, ...]) -> None:
        for _ in range(rng.randint(1, 3)):
            if depth < 3 and rng.random() < 0.4:
                head = rng.choice(WALKS)
                lines.append("    " * depth + head)
                bound = re.match(r"for (?:i, )?([pq])\b", head)
                block(depth + 1, (*names, *(bound.groups() if bound else ())) * (1 + bool(bound)))
                continue
            form = rng.choice([f for f in LINKS if not (names and ("ns.append" in f or "ns.pop" in f or "ns.sort" in f
                               or "ns[0], " in f or "kids.append" in f or "d[" in f))])  # fmt: skip
            if ".rate" in form and "isinstance" not in form:
                form = form.replace("{o}", "source")
            while "{n}" in form:
                form = form.replace("{n}", rng.choice(VALUES), 1)
            owner, other = rng.choice((*NAMES, *names)), rng.choice((*NAMES, *names))
            lines.append("    " * depth + form.format(o=owner, q=other, i=rng.choice("01"), pad="    " * depth))

    for _ in range(rng.randint(2, 4)):
        block(1, ())
    heads = [rng.choice(("ns = [Node(v) for v in x]", "ns = [made(v, 0.7) for v in x]",
                         "ns = []\n    for v in x:\n        ns.append(Node(v, v * 0.5, ns[-1] if ns else None))",
                         "ns = [Node(x[0]), Source(x[1], x[2]), Node(x[3], x[4])]")),
             "source = Source(x[2], 0.6)", "first, best, cur = ns[0], ns[1], source", "d = {0: first, 1: Node(x[3])}",
             "bag, bags, heap = Bag(x[0]), [Bag(x[4])], [(-1, first)]", "i, k, s = 1, 0, x[1]"]  # fmt: skip
    end = ("    return s + sum([p.v * p.w for p in ns]) + best.v + cur.w + d[1].v + source.rate + np.sum(bag.a)"
           " + bags[-1].a[1] + sum(bags[0].log)")  # fmt: skip
    body = [*(f"    {head}" for head in heads), *lines, end]
    source = "\n".join(["import copy, functools, heapq, math", "import numpy as np", "", GRAPH, "", "def f(x):", *body, ""])
    return Program(source, draw_arguments(rng, (VECTOR,), digits=5), frozenset({"graph"}), seed, (VECTOR,), "graph_program")
