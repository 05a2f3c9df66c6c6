"""Random programs that change lists and dicts of numbers in place, by every method and statement that does so.

    a[1:3] = [b[0], a[-1] * s]; heapq.heapify(b); del a[0]; a.sort(key=lambda v: -v)

`list_program(7)` is the same program on every machine.
"""

from __future__ import annotations

import random

from programs import Program, draw_arguments

VECTOR = (5,)
CHANGES = (
    "{l}[1:3] = [{n}, {n}]", "{l}[{i}:{i} + 2] = [{n}]", "{l}[:1] = ({n}, {n})", "{l}[len({l}) :] = [{n}]",
    "{l}[-2:] = {m}[:2]",
    "t = np.sort({l})\n{pad}{l}[:] = t\n{pad}s += (t * 2.0)[0]", "{l}[:] = sorted({l})",
    "{l}[{i}] = {n}", "{l}[-1] += {n}", "del {l}[0]", "del {l}[-1]", "del {l}[{i} % len({l})]",
    "del {l}[1:2]", "del {l}[{i}:]", "{l}.append({n})", "{l}.insert(0, {n})", "{l}.insert({i}, {n})", "{l}.extend({m}[:2])",
    "{l}.reverse()", "{l}.sort()", "{l}.sort(reverse=True)", "{l}.sort(key=lambda v: (v - 0.3) ** 2)",
    "{l}.sort(key=abs, reverse=True)", "{l} += [{n}]", "{l} = {l} + {m}[:1]", "{l} = {m}[:]",
    "{l}.insert(0, {l}.pop())", "{l}.insert(1, {l}.pop() * {n})", "{l} = [{l}.pop()] + {l}", "{l}.append({l}.pop(0) * {n})",
    "{l}.append({l}.pop(0) + {l}.pop(0) * 0.5)", "t = list({l})\n{pad}t[0] = {n}\n{pad}s += t[0] * t[-1]",
    "pair = {n}, {n}\n{pad}w = np.array(pair)\n{pad}s += np.sum(w[1:]) * pair[0]",
)  # fmt: skip
HEAPS = ("heapq.heapify({l})", "heapq.heappush({l}, {n})", "s += heapq.heappop({l})",
         "s = s * 0.5 + heapq.heappushpop({l}, {n})", "s += heapq.heapreplace({l}, {n})",
         "s += sum(heapq.nsmallest(2, {l}))",
         "s += sum(heapq.nlargest(2, {l}, key=lambda v: v * v))")  # fmt: skip
TAKES = ("s += {l}.pop() * 1.3", "s = s * 0.7 + {l}.pop(0)", "s += {l}.pop({i} % len({l})) * {l}[0]", "{l}[0] *= {l}.pop()")
DICTS = ("d[{i}] = {n}", "d['k'] = {n}", "d[{i}] = d.pop({j}, 0.4) * {n}", "if {i} in d:\n{pad}    del d[{i}]",
         "s += d.get({i}, 0.2) * {n}", "d.setdefault({i}, {n})", "d.update({{{i}: {n}}})", "s += sum(d.values())",
         "s += d[max(d, key=lambda v: d[v])] * {n}", "for j in sorted(d, key=str):\n{pad}    s = s * 0.7 + d[j]\n{pad}j = 1",
         "{l}.append(d.pop('k', {n}))", "s += sum([v * (k + 1) for k, v in enumerate(d.values())])")  # fmt: skip
QUEUES = ("q.append({n})", "q.appendleft({n})", "q.extend({l}[:2])", "q.extendleft({m}[:2])", "q.rotate({i})", "q.rotate()",
          "q.rotate(-1)", "if q:\n{pad}    s += q.popleft() * {n}", "if q:\n{pad}    s = s * 0.7 + q.pop()",
          "if len(q) == q.maxlen:\n{pad}    s += q[0] * q[-1]", "s += sum([v * (k + 1) for k, v in enumerate(q)]) * 0.3",
          "if q:\n{pad}    q[-1] *= {n}", "if q:\n{pad}    q.append(q.popleft())", "{l}.append(sum(q) / (1 + len(q)))",
          "note(q, {n})",
          "if len(q) > 2:\n{pad}    q[1] = {n}", "q.clear()")  # fmt: skip
PICKS = ("sorted(rows, key=lambda r: r[0])", "sorted(rows, key=lambda r: -r[1])", "sorted(rows)",
         "[rows[1], rows[0], rows[2]]")  # fmt: skip
ROWS = ("pick[0][0] = {n}", "rows[{i}][0] = {n}", "pick[{i}][1] *= {n}", "rows[0][1] += {n}", "pick[2][1] = {n}",
        "for r in pick:\n{pad}    r[0] = r[1] * {n}", "s += pick[1][0] * rows[0][1]", "s = s * 0.5 + rows[2][1]",
        "s += rows[2][0] * pick[0][1]", "s += max(rows, key=lambda r: r[1])[0]", "p[0] = {n}", "s += p[1] * p[0]",
        "p, q = made({n})\n{pad}p[0] = {n}\n{pad}s += q[0]",
        "w = np.outer(x[:3], x[1:3])\n{pad}s += np.sum(np.sin(np.array(rows) + w))")  # fmt: skip
CHOSEN = ("c = a if {t} else b", "c = b", "({l} if {t} else c).append({n})", "c.append({n})", "{l}.append({n})",
          "if {t}:\n{pad}    c = a\n{pad}else:\n{pad}    c = b", "c, {l} = {l}, c",
          "if len(c) > 1:\n{pad}    c[0] = c[-1] * {n}",
          "if c:\n{pad}    s += c.pop()", "if c:\n{pad}    c[-1] *= {n}", "for q in (a, b):\n{pad}    q.append({n})",
          "s += sum(c) * 0.3", "s = s * 0.5 + sum({l})", "(d if {t} else e)[{i}] = {n}", "g = d if {t} else e",
          "g['k'] = {n}", "g[{i}] = {n}", "if {i} in g:\n{pad}    s += g[{i}]", "if 'k' in d:\n{pad}    d['k'] *= {n}",
          "s += sum(e.values())", "if {t}:\n{pad}    g = e", "c.append(s) if {t} else {l}.append({n})",
          "{t} and c.append({n})", "r = rows[{i} % 2]\n{pad}r.append({n})", "s += sum(rows[{i} % 2]) * 0.2",
          "rows[{i} % 2].append({n})", "if {t}:\n{pad}    r = rows[0]", "r.append({n})")  # fmt: skip
NUMBERS = ("s * 0.5", "x[{i}]", "x[{i}] * x[1]", "{l}[0]", "{l}[-1] * 0.5", "len({l}) * x[2]", "0.3", "math.sin(s)")
HEADS = ("for i in range(3):", "for j in range(2):", "if s > 0.0:", "if x[0] > x[1]:", "if len({l}) > 4:",
         "while len({l}) > 3:")  # fmt: skip


def queue_program(seed: int) -> Program:
    """The program of this number, with a deque besides."""
    return list_program(seed, True)


def list_program(seed: int, queues: bool = False) -> Program:
    """The program of this number."""
    rng = random.Random(f"lists {seed}" if not queues else f"queues {seed}")
    writer = _Writer(rng, queues)
    for _ in range(rng.randint(3, 9)):
        writer.statement(1)
    heads = ["a = [x[0], x[1] * x[2], x[3], 0.8]", rng.choice(("b = list(x)", "b = [v * v for v in x]")),
             "d = {0: x[1], 'k': x[2] * 2.0, 2: x[4]}", "i = j = 1", "s = x[4]"]  # fmt: skip
    if queues:
        heads.append(rng.choice(("q = deque(x)", "q = deque(maxlen=3)", "q = deque([x[0] * x[1], 0.5])", "q = deque(x, 4)",
                                 "n = 2 + int(x[0] > 0.0)\n    q = deque(a, maxlen=n)")))  # fmt: skip
    lines = [*(f"    {head}" for head in heads), *writer.lines]
    end = "    return sum([(k + 1) * v for k, v in enumerate(a)]) + sum([v * v for v in b]) + sum(d.values()) + s"
    if queues:
        end += " + sum([(k - 2) * v for k, v in enumerate(q)])"
    imports = ["from collections import deque"] if queues else []
    imports += ["import heapq", "import math", "import numpy as np", "", ""]
    helper = ["def note(q, v):", "    q.append(v * v)", "    if len(q) > 3:", "        q.popleft()", "", ""]
    source = "\n".join([*imports, *(helper if queues else ()), "def f(x):", *lines, end, ""])
    args = draw_arguments(rng, (VECTOR,), digits=5)
    return Program(source, args, frozenset(writer.features), seed, (VECTOR,), "queue_program" if queues else "list_program")


def row_program(seed: int) -> Program:
    """A program of lists in a list that are found in another list again, or that a function returns twice."""
    rng = random.Random(f"rows {seed}")
    lines = ["    rows = [[x[0], x[1] * x[2]], [x[3], 0.8], [x[4] * x[0], x[1]]]", f"    pick = {rng.choice(PICKS)}",
             "    p, s = pick[1], x[4]"]  # fmt: skip
    for _ in range(rng.randint(2, 6)):
        head = rng.choice(("for k in range(2):", "if s > 0.3:", "if x[0] > x[1]:")) if rng.random() < 0.2 else ""
        form, pad = rng.choice(ROWS), "    " * (2 if head else 1)
        while "{n}" in form:
            form = form.replace("{n}", rng.choice(("s * 0.5", "x[1]", "x[2] * rows[1][0]", "p[1] * x[0]", "0.3")), 1)
        lines += [f"    {head}"] * bool(head) + [pad + form.format(i=rng.choice("012"), pad=pad)]
    end = "    return s + sum([(k + 1) * sum(r) for k, r in enumerate(rows)]) + pick[2][0] * p[0]"
    made = ["import numpy as np", "", "", "def made(v):", "    r = [v, v * v]", "    return r, r"]
    source = "\n".join([*made, "", "", "def f(x):", *lines, end, ""])
    return Program(source, draw_arguments(rng, (VECTOR,), digits=5), frozenset({"rows"}), seed, (VECTOR,), "row_program")


def chosen_program(seed: int) -> Program:
    """A program of lists and dicts, empty at first or not, that go by a name which a branch chooses, or trade theirs."""
    rng = random.Random(f"chosen {seed}")
    lines = [f"    a, b = {rng.choice(('[], []', '[], []', '[x[0]], [0.5]', '[x[0], x[1] * x[2]], []'))}",
             f"    d, e = {rng.choice(('{}, {}', '{}, {}', '{0: x[1]}, {}'))}", "    rows = [[], [x[2]]]",
             "    c, g, r, s, i = a, d, rows[0], x[4], 1"]  # fmt: skip
    features = set()
    for _ in range(rng.randint(3, 8)):
        head = rng.choice(("for i in range(3):", "for i in range(2):", "if s > 0.3:", "if x[0] > x[1]:"))
        head = head if rng.random() < 0.4 else ""
        pad = "    " * (2 if head else 1)
        lines += [f"    {head}"] * bool(head)
        for _ in range(rng.randint(1, 3) if head else 1):
            form = rng.choice(CHOSEN)
            features.add(form)
            while "{n}" in form:
                form = form.replace("{n}", rng.choice(("s * 0.5", "x[i]", "x[1] * x[i]", "len(c) * x[2]", "0.3")), 1)
            while "{t}" in form:
                form = form.replace("{t}", rng.choice(("x[i] > 0.2", "i % 2", "s > 0.4", "len(a) > len(b)")), 1)
            lines.append(pad + form.format(l=rng.choice("ab"), i=rng.choice(("i", "0", "1")), pad=pad))
    end = "    return s * s + sum([(k + 1) * v for k, v in enumerate(a)]) + sum([v * v for v in b]) + sum(d.values())"
    end += " + sum(e.values()) * s + sum(rows[0]) * sum(rows[1])"
    source = "\n".join(["def f(x):", *lines, end, ""])
    return Program(source, draw_arguments(rng, (VECTOR,), digits=5), frozenset(features), seed, (VECTOR,), "chosen_program")


class _Writer:
    def __init__(self, rng: random.Random, queues: bool) -> None:
        self.rng, self.queues = rng, queues
        self.lines: list[str] = []
        self.features: set[str] = set()

    def statement(self, depth: int) -> None:
        rng, forms = self.rng, {"change": CHANGES, "heap": HEAPS, "take": TAKES, "dict": DICTS, "queue": QUEUES}
        kinds = ("change", "heap", "take", "dict", "queue", "block")
        kind = rng.choices(kinds, (40, 15, 15, 15, 20 if self.queues else 0, 12 if depth < 3 else 0))[0]
        self.features.add(kind)
        names = {"l": rng.choice("ab"), "m": rng.choice("ab"), "pad": "    " * depth}
        names |= {"i": rng.choice(("i", "j", "0", "2")), "j": rng.choice("ij")}
        if kind == "block":
            head = rng.choice(HEADS).format(**names)
            self.emit(head, depth)
            if head.startswith("while"):
                self.emit(f"s += {names['l']}.pop() * 0.9", depth + 1)
                return
            for _ in range(rng.randint(1, 3)):
                self.statement(depth + 1)
            return
        form = rng.choice(forms[kind])
        while "{n}" in form:
            form = form.replace("{n}", rng.choice(NUMBERS), 1)
        self.emit(form.format(**names), depth)

    def emit(self, line: str, depth: int) -> None:
        self.lines.append("    " * depth + line)
