"""The notebooks of examples/ run from the first cell to the last, and end in a plot."""

from __future__ import annotations

import importlib.util
import json
import linecache
from pathlib import Path

import pytest

import s2sgrad

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "examples").glob("*.ipynb"))


def there(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


def cells(path):
    """The text of each code cell, and whether it is meant to raise."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            yield "".join(cell["source"]), "raises-exception" in cell["metadata"].get("tags", ())


def test_there_are_four_and_three_end_in_a_plot():
    last = {path.stem: list(cells(path))[-1][0] for path in NOTEBOOKS}
    assert last.keys() == {"digits", "first_gradient", "mixture", "robust_regression"}
    assert {name for name, text in last.items() if "plt.subplots" in text} == last.keys() - {"first_gradient"}


@pytest.mark.dear
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.skipif(not there("sklearn"), reason="needs scikit-learn")
def test_the_cells_of_a_notebook_run(path, capsys):
    """As the cells of one program; what draws runs where matplotlib is installed."""
    space = {"__name__": "__main__"}
    for number, (text, raises) in enumerate(cells(path)):
        if "matplotlib" in text and not there("matplotlib"):
            continue
        name = f"<{path.stem} {number}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        code = compile(text, name, "exec")
        if raises:
            with pytest.raises(s2sgrad.S2SGradError):
                exec(code, space)
        else:
            exec(code, space)


@pytest.mark.dear
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.skipif(not there("nbclient", "ipykernel", "matplotlib", "sklearn"), reason="needs the extra `notebooks`")
@pytest.mark.filterwarnings("ignore")  # of the kernel's own sockets
def test_a_kernel_runs_a_notebook(path):
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    NotebookClient(book, timeout=120, kernel_name="python3").execute()
    raised = [out for cell in book.cells for out in cell.get("outputs", ()) if out["output_type"] == "error"]
    assert all(len("\n".join(out["traceback"]).splitlines()) <= 15 for out in raised)


REFUSED = [
    "def loss(x):\n    y = np.exp(x)\n    return np.sum(special.itstruve0(y))\n\n\nx = np.ones(3)\ngrad(loss)(x)",
    "TABLE = np.ones(3)\ndef loss(x):\n    TABLE[0] = x[0]\n    return np.sum(TABLE * x)\n\ngrad(loss)(np.ones(3))",
    "@grad\ndef area(r):\n    return np.pi * r ** 2\n\n\narea(3)",
    "def text(x):\n    return f'{x}'\n\ngrad(text)(2.0)",
    "def root(x):\n    return np.sqrt(np.sum(x) - 2.0)\n\n\ngrad(root, debug=True)(np.ones(2))",
    "def f(x):\n    return x * x\n\njvp(f, (2.0, 3.0), (1.0,))",
    "grad(f, wrt=0)(2.0)",
]


@pytest.mark.dear
@pytest.mark.skipif(not there("nbclient", "ipykernel", "scipy"), reason="needs the extra `notebooks`")
@pytest.mark.filterwarnings("ignore")  # of the kernel's own sockets
def test_an_error_in_a_cell_is_short_and_shows_nothing_of_ours():
    import nbformat
    from nbclient import NotebookClient

    first = "import numpy as np\nfrom scipy import special\nfrom s2sgrad import grad, jvp"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in [first, *REFUSED]])
    NotebookClient(book, timeout=120, kernel_name="python3", allow_errors=True).execute()
    for cell in book.cells[1:]:
        (raised,) = [out for out in cell.outputs if out["output_type"] == "error"]
        shown = "\n".join(raised["traceback"])
        assert len(shown.splitlines()) <= 15 and "s2sgrad/" not in shown, shown
