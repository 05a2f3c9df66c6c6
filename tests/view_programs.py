"""Random programs that write a matrix through views of it: by name, or where the view stands.

`view_program(seed)` writes the same program again.  A view is made by indices, attributes, methods and functions, one of
another, of an array, or of one in a list or dict; what is stored may be read from the same memory.  A result is a matrix, a
list or a number, so that Jacobians have several rows and Hessians are those of numbers.
"""

from __future__ import annotations

import random

from programs import NUMBER, Program, draw_arguments

MATRIX = (2, 3)
MADE = """
    q * 1.5|q.T * c|np.outer(q[0], q[1])|q[::-1] + 0.0|np.asfortranarray(q * c)|np.where(q > 0.4, q, q * c)|q + c
    q @ q.T
"""

# Views of {v} that are two-dimensional if {v} is; what comes out may be any of (2, 3), (3, 2), (2, 2), (3, 3).
VIEWS = """
    {v}.T|{v}[:]|{v}[::-1]|{v}[:, ::-1]|{v}[:2, :2]|np.transpose({v})|{v}.transpose()|{v}.transpose(1, 0)
    np.swapaxes({v}, 0, 1)|{v}.swapaxes(0, -1)|np.moveaxis({v}, 0, 1)|np.moveaxis({v}, 1, 0)|np.flip({v})
    np.flip({v}, 0)|np.fliplr({v})|np.flipud({v})|{v}[...]|{v}.view()|np.asarray({v})|np.atleast_2d({v})|{v}.squeeze()
    np.squeeze({v})|np.rot90({v})|{v}[None][0]|np.expand_dims({v}, 0)[0]|{v}[:, None][:, 0]|np.split({v}, 2)[1]
    np.reshape({v}, np.shape({v}))|{v}[1:]|{v}[-2:, 1:]|np.transpose({v}, (1, 0))|np.rollaxis({v}, 1)
    np.vsplit({v}, 2)[0]|np.array_split({v}, 2, axis=1)[0]|{v}[np.newaxis, :, :][0]
"""
ROWS = """
    {v}[0]|{v}[-1]|{v}[:, 0]|{v}[:, -1]|{v}.T[1]|np.diagonal({v}).copy()|{v}.ravel()|{v}.reshape(-1)|np.ravel({v})
    {v}.flatten()|np.reshape({v}, -1)|{v}.T[0][::-1]|list({v})[0]|[r for r in {v}][1]|tuple({v})[0]|next(iter({v}))
    {v}[[0, 1]][0]|{v}[0, :2]
"""
WRITES = """
    {z}[0] *= {k}|{z}[0] = {k}|{z}[-1] += {k} * {z}[0]|{z} *= {k}|{z}[...] = {k} * {z}|{z}[:] += {k}
    {z}[0] = {z}[-1] * {k}|{z}[0], {z}[-1] = {z}[-1] * 1.0, {z}[0] * {k}|np.multiply({z}, {k}, out={z})
    np.add({z}[0], {k}, out={z}[0])|{z}.fill({k})|{z}[1:] = {z}[:-1] * {k}|{z}[0] -= np.sum({z}) * {k}
    {z} += {z}[::-1]|np.copyto({z}, {k} * {z})|{z}[{z} > 0.5] *= {k}|{z}[0] = np.sin({z}[1])|{z} /= 1.0 + {k} * {k}
"""
TAKEN = """
    y[0, 0]|min(y[0], key=abs)|max(y[:, 0])|picked(y[0], 2)|picked(y, 1)[0]|float(y[1, 0])|y[1].max()|y[0, :1].item()
    np.squeeze(y[0, 1])
"""
HELD = """
    [{v}]#{w}[0]|{{'a': {v}}}#{w}['a']|({v}, 1.0)#{w}[0]|[{v}, {v} * 2.0]#{w}[-1]|[0.0, [{v}]]#{w}[1][0]
    list({v})#np.stack({w})
"""
RETURNS = """
    y|y * x|[y, np.sum(y)]|np.sum(y * y)|np.sum(y * y) * x|np.sum(np.sin(y) * y)|y.T @ y|{{'a': y, 'b': x}}|(x, y[0])
    np.sum(y * y) + np.sum(v * v)|[v, y]|np.prod(y + 2.0) + np.sum(v)
"""


def _parts(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split("|") if part.strip()]


MADE, VIEWS, ROWS, WRITES, TAKEN, HELD, RETURNS = map(_parts, (MADE, VIEWS, ROWS, WRITES, TAKEN, HELD, RETURNS))


FIXED = """import numpy as np


def picked(v, n):
    return picked(v, n - 1) if n else v[0]


"""


def view_program(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(f"view {seed}")
    features: set[str] = set()

    def chosen(texts: list[str]) -> str:
        features.add(text := rng.choice(texts))
        return text

    lines = ["def f(q, c):", f"    y = {chosen(MADE)}", "    v = y", "    x = c * 1.0"]
    for number in range(rng.randint(1, 3)):
        if taken := rng.random() < 0.4:
            lines.append(f"    t = {chosen(TAKEN)}")
        whole = rng.choice(["y", "y", "v"])
        if rng.random() < 0.2:
            made, way = chosen(HELD).split("#")
            lines.append(f"    w{number} = {made.format(v=whole)}")
            whole = way.format(w=f"w{number}")
        view = whole
        for _ in range(rng.randint(1, 2)):
            view = chosen(VIEWS).format(v=view)
        if rng.random() < 0.3:
            view = chosen(ROWS).format(v=view)
        elif rng.random() < 0.6:
            lines.append(f"    v = {view}")
            view = "v"
        place = "z"
        write = chosen(WRITES)
        if view != "v" and write.startswith("{z}[") and rng.random() < 0.6:
            place = view
        else:
            lines.append(f"    z = {view}")
        step = "    " + write.format(z=place, k=rng.choice(["c", "0.7", "q[0, 0]", "y[1, 1]", "x"]))
        if rng.random() < 0.25:
            features.add(way := rng.choice(["if", "for"]))
            lines += [f"    {'if q[0, 1] > 0.3' if way == 'if' else 'for _ in range(2)'}:", "    " + step]
        else:
            lines.append(step)
        if taken:
            lines.append("    x += 0.5 * t")
        if rng.random() < 0.3:
            lines.append(f"    x += {rng.choice(['y[0, 0]', 'np.sum(v)', 'y[1][0] * c'])}")
    lines.append("    return " + chosen(RETURNS).replace("{{", "{").replace("}}", "}"))
    source = FIXED + "\n".join(lines) + "\n"
    kinds = (MATRIX, NUMBER)
    return Program(source, draw_arguments(rng, kinds, digits=5), frozenset(features), seed, kinds, "view_program")
