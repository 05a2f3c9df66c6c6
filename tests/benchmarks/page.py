"""The tables and pictures of docs/benchmarks.md: `python tests/benchmarks/page.py --write [--kept] [PARTS]`.

Without `--write`, the targets are printed and the page stays.  PARTS are scripts that measure, `others`, `by_hand`, `peers`,
`texts`, `calls`, `compile_time`, `kernels`; figures.json has what others measured last.  Without any, all run: some
minutes.  `--kept` measures nothing.  Needs the extra `bench`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import by_hand
import numpy as np
import others
import peers

ROOT = Path(__file__).resolve().parents[2]
PAGE, README = ROOT / "docs" / "benchmarks.md", ROOT / "README.md"
FIGURES = Path(__file__).resolve().parent / "figures.json"
PARTS = "others", "by_hand", "peers", "texts", "calls", "compile_time", "kernels"


# --- targets ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """A figure, the most that it should be, where it is found in what was measured, and why it is more, if it is."""

    what: str
    most: float
    of: Callable[[dict[str, Any]], float | tuple[float, str]]
    why: str = ""


def of_hand(key: str, small: bool) -> Callable[[dict[str, Any]], list[tuple[float, str]]]:
    """A column of the table of adjoints by hand: values and names."""
    return lambda found: [(row[key], row["name"]) for row in found["by_hand"] if row["small"] is small]


def kernels(found: dict[str, Any]) -> list[tuple[float, str]]:
    """What the kernels' gradients take: ratios and names."""
    return [(v, name.replace("_", " ")) for name, v in found["kernels"].items() if isinstance(v, float)]


def mean(pairs: Callable[[dict[str, Any]], list[tuple[float, str]]]) -> Callable[[dict[str, Any]], float]:
    return lambda found: by_hand.mean(v for v, _ in pairs(found))


def worst(pairs: Callable[[dict[str, Any]], list[tuple[float, str]]]) -> Callable[[dict[str, Any]], tuple[float, str]]:
    return lambda found: max(pairs(found))


TARGETS = [
    Target("statements a statement, first order", 2.4, lambda f: f["texts"]["first"]["statements"],
           "helpers with branches or loops are written out; columns of objects; boundary stores take two statements each"),
    Target("statements a statement, second order", 5.2, lambda f: f["texts"]["second"]["statements"],
           "follows the first order"),
    Target("statements a statement, forward mode", 2.0, lambda f: f["texts"]["forward"]["statements"],
           "values that a tangent shares with the result are named"),
    Target("unnamed temporaries a statement, first order", 0.25, lambda f: f["texts"]["first"]["unnamed"]),
    Target("generated / by hand, geometric mean", 1.15, mean(of_hand("to hand", False)), "see below"),
    Target("generated / by hand, worst", 1.5, worst(of_hand("to hand", False)), "see below"),
    Target("generated / by hand, small functions", 1.3, mean(of_hand("to hand", True)),
           "the call alone takes half as long as the shortest of them"),
    Target("gradient / function, kernels, geometric mean", 2.0, mean(kernels),
           "two products, or two passes over memory, for each of the function's, besides the function"),
    Target("gradient / function, kernels, worst", 6.0, worst(kernels),
           "of a choice, two masks are recorded, and its adjoint is shared out by them: six passes for one"),
    Target("a call beyond the generated function, a number, µs", 0.25, lambda f: f["calls"]["a number"], "types are asked"),
    Target("a call beyond the generated function, an array, µs", 0.5, lambda f: f["calls"]["an array"], "types are asked"),
    Target("a call beyond the generated function, four arguments, µs", 0.7, lambda f: f["calls"]["four arguments"],
           "types are asked"),
    Target("network with its parameters in a dict / as arguments", 1.1, lambda f: f["calls"]["dict / flat"],
           "items are read by key, and what they are is asked at each call"),
    *(Target(f"first gradient of {n} lines, s", most, lambda f, n=n: f["compile_time"][str(n)],
             "a hundred stages, each of which walks the text")
      for n, most in ((10, 0.15), (50, 0.3), (200, 0.7), (800, 2.0))),
    Target("generated / by hand, peak memory, worst", 1.5, worst(of_hand("memory", False)),
           "names keep arrays that are not read again"),
]  # fmt: skip


def targets(found: dict[str, Any]) -> str:
    """The table of targets."""
    out = ["| | target | measured | missed by | why |", "|---|---|---|---|---|"]
    for target in TARGETS:
        value = target.of(found)
        value, whose = value if isinstance(value, tuple) else (value, "")
        short = value > target.most
        missed = f"{100 * (value / target.most - 1):.0f} %" if short else ""
        measured = f"{value:.2f} ({whose})" if whose else f"{value:.2f}"
        out.append(f"| {target.what} | {target.most:g} | {measured} | {missed} | {target.why if short else ''} |")
    return "\n".join(out)


# --- pictures ---------------------------------------------------------------------------------------------------------


def axes_for(width: float, height: float) -> tuple[Any, Any]:
    """A figure that is the same text at each run."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "benchmarks"}
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height))


def save(figure: Any, name: str) -> None:
    picture = PAGE.parent / "pictures" / name
    figure.savefig(picture, metadata={"Date": None, "Creator": None}, facecolor="white", bbox_inches="tight")


def draw_others(rows: list[Any]) -> None:
    """Times as multiples of that of the function."""
    figure, axes = axes_for(6.4, 2.6)
    times, places = np.array([times for _, times in rows]), np.arange(len(rows))
    axes.barh(places - 0.2, times[:, 1] / times[:, 0], 0.4, label="here")
    axes.barh(places + 0.2, times[:, 2] / times[:, 0], 0.4, label="autograd")
    axes.set_yticks(places, [title for title, _ in rows])
    axes.set(xscale="log", xlabel="gradient / function, time")
    axes.invert_yaxis()
    axes.legend()
    save(figure, "speed.svg")


def draw_peers(found: dict[str, Any]) -> None:
    """The time of each gradient over that of the generated one."""
    figure, axes = axes_for(6.4, 7.5)
    rows = {row["name"]: row | {"by hand": 1.0 / row["to hand"]} for row in found["by_hand"]}
    for row in found["peers"]:
        rows[row["name"]] |= row
    for who, mark, label in (("by hand", "|", "by hand"), ("autograd", "o", "autograd"), ("torch", "s", "PyTorch, eager"),
                             ("jax", "^", "JAX, `jit`")):  # fmt: skip
        points = [(row[who], place) for place, row in enumerate(rows.values()) if who in row]
        axes.plot(*zip(*points, strict=True), mark, label=label, markersize=9 if mark == "|" else 5)
    axes.axvline(1.0, color="0.6", zorder=0)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set(xscale="log", xlabel="time / time of the generated gradient")
    axes.invert_yaxis()
    axes.grid(axis="y", color="0.9")
    axes.legend()
    save(figure, "peers.svg")


# --- the page ---------------------------------------------------------------------------------------------------------


def between(file: Path, name: str, text: str) -> None:
    """Put a text between the marks of this name."""
    head, mark, rest = file.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, end, tail = rest.partition(f"<!-- end of {name} -->")
    assert mark and end, (file, name)
    file.write_text(f"{head}{mark}{text}\n{end}{tail}", encoding="utf-8")


def write(found: dict[str, Any]) -> None:
    """Write tables and pictures, and what the README quotes."""
    tables = {"others": others.table(found["others"]), "by hand": by_hand.table(found["by_hand"]),
              "peers": peers.table(found["peers"]), "targets": targets(found)}  # fmt: skip
    for name, text in tables.items():
        between(PAGE, name, text)
    between(README, "others", tables["others"])
    mean_of_all = re.search(r"geometric mean; sum\* \| (\S+)", tables["by hand"])
    assert mean_of_all
    said = f"take {mean_of_all[1]} times as long, over {len(found['by_hand'])} programs"
    readme = re.sub(r"take \S+ times as long, over \S+ programs", said, README.read_text(encoding="utf-8"))
    README.write_text(readme, encoding="utf-8")
    draw_others(found["others"])
    draw_peers(found)


def main() -> None:
    """Measure, and print the targets or write the page."""
    words = [a for a in sys.argv[1:] if a not in ("--write", "--kept")]
    if set(words) - set(PARTS):
        raise SystemExit(f"there is no {', '.join(sorted(set(words) - set(PARTS)))}")
    found = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    for part in () if "--kept" in sys.argv else words or PARTS:
        print(part, flush=True)
        found[part] = by_hand.alone(f"{part}.py")
        FIGURES.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if "--write" in sys.argv:
        write(found)
    print(targets(found))


if __name__ == "__main__":
    main()
