"""Random programs as users of a tape write them: without in-place writes, so that they run operation by operation too.

text(7)     ->     def program(x, m, s): ..., of a vector, a matrix and a number, ends in a number
"""

import random

ELEMENTWISE = ["np.sin({a})", "np.tanh({a})", "np.exp(0.3 * np.tanh({a}))", "np.log(1.5 + {a} ** 2)",
               "np.sqrt(1.0 + {a} * {a})", "np.where({a} > 0.1, {a}, 0.5 * {b})", "np.maximum({a}, {b})",
               "np.clip({a}, -0.9, 1.1)", "{a} / (2.0 + {b} ** 2)", "{a} * {b}", "{a} - {b}", "{a} + {b}",
               "np.abs({a})", "{a} ** 2", "-{a}", "np.arctan2({a}, 2.0 + {b} * {b})", "np.hypot({a}, {b})",
               "np.logaddexp({a}, {b})", "stop_gradient({a}) * {b}", "np.sign({a}) * {b}",
               "np.where({a} > 0.0, np.sqrt({a}), {b})", "np.where({a} > 0.0, np.log({a}), 0.0)",
               "np.copysign({a}, {b})", "np.minimum({a}, 0.7) + {b}", "2.0 ** np.tanh({a})", "{s} * {a}"]  # fmt: skip
VECTORS = ["{m} @ {v}", "{v} @ {m}", "np.cumsum({v})", "{v}[::-1]", "{m}[1]", "{m}[:, 0]",
           "np.concatenate([{v}[1:], {w}[:1]])", "np.stack([{s}, {v}[0], {w}[2]])", "np.roll({v}, 1)",
           "{m}.sum(axis=0)", "np.max({m}, axis=1)", "np.sort({v})", "np.diag({m})",
           "np.linalg.solve({m} @ {m}.T + 3.0 * np.eye(3), {v})", "np.cross({v}, {w})", "{v}[[2, 0, 0]]",
           "np.einsum('ij,j->i', {m}, {v})", "np.mean({m}, 0)",
           "np.interp([0.5, 1.2, 1.7], np.arange(3.0), {v})", "np.take({v}, [1, 1, 2])",
           "np.array_split({v}, 2)[0][0] * {w}"]  # fmt: skip
MATRICES = ["{m} @ {n}", "{m}.T", "np.outer({v}, {w})", "{v}[:, None] * {w}", "np.diag({v})", "np.tril({m})",
            "{m} + {v}", "np.linalg.inv({m} @ {m}.T + 3.0 * np.eye(3))", "np.vstack([{v}, {w}, {m}[0]])",
            "{m}[[0, 2, 2]]", "np.tile({v}, (3, 1))", "np.kron({v}[:, None], {w}[None])",
            "np.cumsum({m}, axis=1)", "np.broadcast_to({v}, (3, 3)) * {m}", "np.swapaxes({m}, 0, 1) * {n}"]  # fmt: skip
NUMBERS = ["np.sum({v})", "{v} @ {w}", "np.mean({m})", "{v}[0]", "{m}[1, 2]", "np.linalg.norm({v} + 3.0)",
           "np.trace({m})", "np.max({v})", "np.std({v})", "np.prod({v})", "np.var({m})",
           "sum(t * t for t in {v})", "np.dot({v}, {w})", "max({v}[0], {s})", "np.median({v})",
           "{v}[np.argmax({v})]"]  # fmt: skip


class _Writer:
    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.kinds = {"v": ["x"], "m": ["m"], "s": ["s"]}
        self.count = 0

    def operand(self, kind):
        known = self.kinds[kind]
        return known[-1] if self.pick.random() < 0.5 else self.pick.choice(known)

    def value(self, kind):
        if kind == "s":
            template = self.pick.choice(NUMBERS)
        elif self.pick.random() < 0.45:
            template = self.pick.choice(ELEMENTWISE)
        else:
            template = self.pick.choice(VECTORS if kind == "v" else MATRICES)
        named = {"v": self.operand("v"), "w": self.operand("v"), "m": self.operand("m"), "n": self.operand("m")}
        return template.format(a=self.operand(kind), b=self.operand(kind), s=self.operand("s"), **named)

    def block(self, lines, indent, length, new=True):
        for _ in range(length):
            kind = self.pick.choice("vvms")
            if new and self.pick.random() < 0.6:
                self.count += 1
                target = f"{kind}{self.count}"
                lines.append(f"{indent}{target} = {self.value(kind)}")
                self.kinds[kind].append(target)
            else:
                lines.append(f"{indent}{self.pick.choice(self.kinds[kind])} = {self.value(kind)}")

    def text(self):
        lines = ["def program(x, m, s):"]
        self.block(lines, "    ", self.pick.randint(1, 4))
        for _ in range(self.pick.randint(0, 2)):
            form = self.pick.choice(["for", "if", "while", "call"])
            if form == "for":
                lines.append(f"    for k in range({self.pick.randint(1, 3)}):")
                self.block(lines, "        ", self.pick.randint(1, 2), new=False)
            elif form == "if":
                lines.append(f"    if {self.operand('s')} > {self.operand('v')}[0]:")
                self.block(lines, "        ", self.pick.randint(1, 2), new=False)
                lines.append("    else:")
                self.block(lines, "        ", self.pick.randint(1, 2), new=False)
            elif form == "while":
                self.count += 1
                lines.append(f"    left{self.count} = {self.pick.randint(1, 3)}")
                lines.append(f"    while left{self.count} > 0:")
                self.block(lines, "        ", 1, new=False)
                lines.append(f"        left{self.count} -= 1")
            else:
                vector = self.pick.choice(self.kinds["v"])
                lines.append(f"    {vector} = helper({vector}, {self.operand('s')})")
        self.block(lines, "    ", self.pick.randint(1, 3))
        v, m, s = (self.operand(kind) for kind in "vms")
        lines.append(f"    return np.sum(np.tanh({v})) + np.mean(np.sin({m})) + np.tanh({s})")
        return "\n".join(lines) + "\n"


HEAD = """import numpy as np

from s2sgrad import differentiable, stop_gradient


@differentiable
def helper(v, s):
    out = np.zeros(3)
    for k in range(3):
        out[k] = v[k] * s + (out[k - 1] if k > 0 else 0.0)
    return out


"""


def text(seed):
    """The text of a module with the function `program` of (x, m, s)."""
    return HEAD + _Writer(seed).text()
