"""`explain` says of each line what the compiler decided: against the text over the corpus, and by listings to be read."""

import ast
import inspect
import re

import numpy as np
import pytest
from corpus import CASES

from s2sgrad import NoRule, checkpoint, checkpointed, explain, grad, stop_gradient, value_and_grad
from s2sgrad.cli import main
from s2sgrad.explanation.listing import LABELS

STACK = re.compile(r"\w+_(stack|references)(_\d*)?|tape\d*")


def helper(a, k, *, unit=None):
    b = np.sin(a)
    return b * k


def trained(W, x, n, k):
    h = np.tanh(W @ x)
    total = 0.0
    for i in range(n):
        h = h * k
        v = h[1:]
        v *= 2.0
        total += np.sum(helper(h, k) * h)
        m = i + 1
    spare = np.floor(h) + stop_gradient(h)
    return total / m, spare


def refused(x):
    y = x * 2.0
    z = np.sort_complex(y)
    return np.sum(z * x)


def loop(x):
    for _ in range(3):
        x = np.sin(x)
    return x


loop_gradient = grad(loop)


class Scaled:
    def __init__(self, k):
        self.k = k

    def by(self, x):
        return self.k * x


def rows(found):
    """The rows of a listing in short: lines count from that of the function, and nothing is aligned."""
    start = found.lines[0].number
    out = []
    for line in found.lines:
        beside = [f"{LABELS[note.kind]} {note}" for note in line.notes]
        out += [" | ".join([f"@{line.number - start} {line.text.strip()}", *beside[:1]])]
        out += [f"| {note}" for note in beside[1:]]
    return re.sub(r"(?<=derivative of )lines? [\d, ]+", lambda m: re.sub(
        r"\d+", lambda n: f"@{int(n[0]) - start}", m[0]), "\n".join(out))  # fmt: skip


def first(function):
    return function.__code__.co_firstlineno


def sweeps(source):
    """(names bound in front of the reverse sweep, names bound in it, lists emptied in its loops, names read in it)."""
    tree, lines = ast.parse(source), source.splitlines()
    begin = next(k for k, line in enumerate(lines, 1) if line.strip() == "# reverse sweep")
    nodes = [node for node in ast.walk(tree) if hasattr(node, "lineno")]
    forward, reverse = [n for n in nodes if n.lineno < begin], [n for n in nodes if n.lineno > begin]
    loops = [n for n in reverse if isinstance(n, (ast.For, ast.While, ast.ListComp))]
    again = [n for loop in loops for n in ast.walk(loop)]
    emptied = {getattr(n.value, "id", "") for n in again if isinstance(n, ast.Attribute) and n.attr == "pop"}
    emptied |= {n.args[0].id for n in again if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "pop"}
    return bound(forward), bound(reverse), emptied, {n.id for n in reverse if isinstance(getattr(n, "ctx", None), ast.Load)
                                                     and isinstance(n, ast.Name)}  # fmt: skip


def bound(nodes):
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


@pytest.mark.sampled(one_in=100, turn=2)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_record_of_the_text_has_a_note_and_each_note_a_record(case):
    gradient = grad(case.function, case.argnums)
    found = explain(gradient, *case.fresh_args())
    assert found.refusal is None
    assert found.source == gradient.source_for(*case.fresh_args())
    assert str(found).count("\n") > len(found.lines)
    notes = [note for part in (found, *found.calls) for kind in ("recorded", "kept") for _, note in part.notes(kind)]
    if "# reverse sweep" not in found.source:
        assert not notes or "_bwd" in found.source
    elif "_bwd" not in found.source:
        made, made_again, emptied, read = sweeps(found.source)
        given = {*inspect.signature(case.function).parameters}
        words = {name for kind in ("active", "constant") for _, note in found.notes(kind) for name in note.names}
        assert any("in each pass" in note.why for note in notes) == any(map(STACK.fullmatch, emptied))
        assert (made & read) - made_again - given & words <= {name for note in notes for name in note.names}
        assert not notes or made & read


def test_a_listing():
    found = explain(trained, np.ones((3, 3)), np.ones(3), 3, 0.5, argnums=("W", "k"))
    assert str(found).splitlines()[0] == f"trained (test_explain.py, line {first(trained)}), gradient in W, k"
    assert (
        rows(found)
        == """\
@0 def trained(W, x, n, k): | derivative W, k
| no derivative x, n: not asked for
@1 h = np.tanh(W @ x) | derivative h
| kept h: for the derivative of lines @1, @3, @7
@2 total = 0.0 | derivative total
@3 for i in range(n):
@4 h = h * k | derivative h
| recorded h: its old value, in each pass, for the derivative of lines @1, @4, @7
| kept h: for the derivative of lines @1, @3, @7
@5 v = h[1:] | shares v: with h
@6 v *= 2.0 | derivative h
| overwritten h: in place
| shares v: with h
@7 total += np.sum(helper(h, k) * h) | derivative total
| recorded a value, what `helper` records: in each pass, for the derivative of line @7
| calls helper: line LINE of test_explain.py, differentiated
@8 m = i + 1 | no derivative m: an int
| kept m: for the derivative of line @10
@9 spare = np.floor(h) + stop_gradient(h) | no derivative spare: no derivative leads here from W, k
@10 return total / m, spare | derivative the result
| kept the result: for the derivative of line @10""".replace("LINE", str(first(helper)))
    )
    (inside,) = found.calls
    assert inside is found["helper"]
    assert (
        rows(inside)
        == """\
@0 def helper(a, k, *, unit=None): | derivative a, k
| no derivative unit: not asked for
@1 b = np.sin(a) | derivative b
| kept b: for the derivative of line @2
@2 return b * k | derivative the result"""
    )


def test_columns_stand_under_each_other():
    found = str(explain(trained, np.ones((3, 3)), np.ones(3), 3, 0.5)).splitlines()
    labels = [row.index(word) for row in found[2:] for word in ("derivative  ", "kept  ", "shares  ") if f" {word}" in row]
    assert len(labels) > 8 and len({k for k in labels if k > 20}) <= 2


def test_refusals_stand_at_their_line():
    found = explain(refused, np.ones(3))
    assert found.notes("refused") == [(first(refused) + 2, found.lines[2].of("refused")[0])]
    assert "`np.sort_complex` has no derivative rule" in found.lines[2].of("refused")[0].why
    assert isinstance(found.refusal, NoRule) and "REFUSED" in str(found) and found.source == ""
    assert found.lines[1].of("active")[0].names == ("y",)


def test_other_derivatives():
    forward = explain(loop, 2.0, mode="fwd")
    assert "tangent along x" in str(forward) and "x_dot" in forward.source and not forward.notes("recorded")
    both = explain(trained, np.ones((3, 3)), np.ones(3), 3, 0.5, argnums=("k", 0), mode="fwd")
    assert both.purpose == "tangent along k, W"
    assert explain(Scaled(2.0).by, 3.0, argnums="x", mode="fwd").purpose == "tangent along x"
    assert "seed" in explain(loop_gradient, 2.0, mode="fwd").lines[0].text
    second = explain(grad(loop_gradient, mode="rev"), 2.0)
    assert second.lines[0].text.startswith("def loop_grad(") and second.notes("recorded")
    assert explain(value_and_grad(loop), 2.0).purpose == "value and gradient in x"
    assert explain(loop).notes("active")
    with pytest.raises(ValueError, match="there is no mode"):
        explain(loop, 2.0, mode="both")
    with pytest.raises(TypeError, match="needs a function"):
        explain(2.0)
    with pytest.raises(TypeError, match="int"):
        explain(loop, 2)


def test_checkpoints():
    def called(x, k):
        for _ in range(5):
            x = checkpoint(helper)(x, k)
        return np.sum(x)

    def looped(x, k):
        for _ in checkpointed(range(5), slots=2):
            x = helper(x, k)
        return np.sum(x)

    again = explain(called, np.ones(3), 0.5, argnums=(0, 1))
    (note,) = [note for _, note in again.notes("calls")]
    assert note.names == ("helper",) and note.why.endswith("differentiated, and for that computed again")
    assert again["helper"].notes("recomputed") and not again["helper"].notes("kept")
    states = explain(looped, np.ones(3), 0.5, argnums=(0, 1))
    assert any("before a few passes" in note.why and note.names == ("x",) for _, note in states.notes("recorded"))


def test_complex_numbers():
    def squared(z):
        y = z * 2.0
        return np.abs(y) ** 2

    def inside(x):
        z = np.exp(1j * x)
        return np.sum(z.real)

    assert explain(squared, 1.0 + 2.0j).notes("kept")[0][1].names == ("y",)
    assert explain(inside, np.ones(3)).notes("kept")[0][1].names == ("z",)


def test_nothing_runs():
    ran = []

    def noisy(x):
        ran.append(x)
        return x * x

    explain(noisy, 2.0)
    assert ran == []


def test_command(tmp_path, capsys):
    file = tmp_path / "two_calls.py"
    file.write_text("def g(x):\n    return x * x\n\n\ndef f(x, y):\n    return g(x) * y\n")
    assert main(["explain", f"{file}:f", "--wrt", "x,y", "--args", "2.0, 3.0"]) == 0
    shown = capsys.readouterr().out
    assert "f (two_calls.py, line 5), gradient in x, y" in shown and "calls" in shown and "return x * x" not in shown
    assert main(["explain", f"{file}:f", "--args", "2.0, 3.0", "--calls"]) == 0
    assert "return x * x" in capsys.readouterr().out
    file.write_text("import numpy as np\n\n\ndef f(x):\n    return np.sum(np.sort_complex(x))\n")
    assert main(["explain", f"{file}:f", "--args", "np.ones(3)"]) == 2
    assert "REFUSED" in capsys.readouterr().out


def test_arguments_that_are_written():
    def front(u, k):
        low = k * 2.0
        part = u[:2]
        part *= low
        u = u * u
        return np.sum(u)

    found = explain(front, np.ones(4), 0.5)
    assert [str(note) for note in found.lines[0].of("written")] == ["u: in a copy, the caller's stays as it is"]
    assert found.lines[1].of("active") == [] and found.lines[1].of("kept")[0].names == ("low",)
    assert [str(note) for note in found.lines[2].of("shares")] == ["part: with u"]
    assert found.lines[4].of("active")[0].names == ("u",)
