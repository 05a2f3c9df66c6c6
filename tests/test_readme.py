"""What the documents show is what the tool does."""

import importlib.util
import json
import linecache
import re
import subprocess
import sys
import tomllib

import documents
import numpy as np
import pytest
import sentences
from scipy import stats

import s2sgrad
import s2sgrad.testing
from s2sgrad import grad

READY = np.array([1.5, 2.5, 3.5])


@pytest.mark.records
@pytest.mark.parametrize("document", documents.DOCUMENTS)
def test_printed_as_shown(document, tmp_path):
    """If this fails because the text got better: python tests/documents.py."""
    assert documents.refreshed(document, tmp_path) == (documents.ROOT / document).read_text(encoding="utf-8")


def test_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name, text in documents.files("README.md").items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    shown = [text for language, text in documents.blocks("README.md") if language == "python"]
    assert len(shown) >= 2
    space = {}
    for number, text in enumerate(shown[1:]):
        file = tmp_path / f"block{number}.py"
        file.write_text(text, encoding="utf-8")
        try:
            exec(compile(text, str(file), "exec"), space)
        finally:
            sys.modules.pop("model", None)


# The blocks of each are one program.
PAGES = [
    "start",
    "tutorial",
    "tutorial-equation",
    "tutorial-network",
    "recipes",
    "writing",
    "speed",
    "scipy",
    "parallel",
    "shipping",
    "compiled",
]

NEEDED = {"matplotlib": "matplotlib", "joblib": "joblib", "dask": "dask", "compile=True": "numba"}


@pytest.mark.records
@pytest.mark.parametrize("page", PAGES)
def test_python_of_a_page_runs(page, tmp_path, monkeypatch):
    page = f"docs/{page}.md"
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    files = documents.files(page)
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    space = {"__name__": "page"}
    shown = [text for language, text in documents.blocks(page) if language == "python" and text not in files.values()]
    assert shown
    try:
        for number, text in enumerate(shown):
            if any(word in text and importlib.util.find_spec(m) is None for word, m in NEEDED.items()):
                continue
            file = tmp_path / f"block{number}.py"
            file.write_text(text, encoding="utf-8")
            exec(compile(text, str(file), "exec"), space)
    finally:
        for name in files:
            sys.modules.pop(name.removesuffix(".py"), None)


def test_the_figures_of_the_readme_are_those_of_the_page_about_speed():
    rows = re.search(
        r"<!-- others -->\n(.*?)<!--", (documents.ROOT / "docs/benchmarks.md").read_text(encoding="utf-8"), re.S
    )
    assert rows[1] in (documents.ROOT / "README.md").read_text(encoding="utf-8")


def test_the_numbers_of_the_readme_are_those_of_other_pages():
    """Of functions, a round number below; against adjoints by hand, the mean of the table."""
    readme = (documents.ROOT / "README.md").read_text(encoding="utf-8")
    listed = (documents.ROOT / "docs/functions.md").read_text(encoding="utf-8")
    found = {"numpy": set(), "scipy": set(), "distribution": set()}
    for title, section in re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", listed, re.M | re.S):
        for name in re.findall(r"^\| `([\w.]+)`", section, re.M):
            kind = "numpy" if title.partition(".")[0] in ("numpy", "math", "cmath") else title.partition(".")[0]
            law, dot, _ = name.partition(".")
            of_law = dot and title == "scipy.stats"
            found.get("distribution" if of_law else kind, set()).add((title, law if of_law else name))
    said = re.search(r"more than (\d+) functions of NumPy and `math`, (\d+) of SciPy, (\d+) distributions", readme)
    for number, names in zip(map(int, said.groups()), found.values(), strict=True):
        assert number <= len(names) < 1.2 * number, (number, len(names))
    limits = (documents.ROOT / "docs/limits.md").read_text(encoding="utf-8")
    assert f"text, for {said[2]} functions" in limits
    laws = [
        name
        for name in re.findall(r"^\| `(\w+)\.logpdf`", listed, re.M)
        if isinstance(getattr(stats, name), stats.rv_continuous)
    ]
    assert f"{len(laws)} continuous distributions" in limits
    table = (documents.ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    mean = re.search(r"geometric mean; sum\* \| (\S+)", table)[1]
    assert f"take {mean} times as long" in readme


@pytest.mark.parametrize("document", sentences.DOCUMENTS, ids=lambda document: document.name)
def test_sentences_are_short(document):
    lengths = [len(words) for words in sentences.sentences(document.read_text(encoding="utf-8"))]
    assert max(lengths) <= 35 and sum(lengths) <= 18 * len(lengths), "python tests/sentences.py says where"


PUBLIC = sorted({name for name in dir(s2sgrad) if name[0] != "_"} - {"compat", "testing"})
FURTHER = ["api.gradient.Gradient", "explanation.Explanation", "parallel.PartFailed", "parallel.partition_sum"]


@pytest.mark.parametrize("name", [*PUBLIC, "testing.check_grads", *FURTHER])
def test_sentences_of_docstrings_are_short(name):
    home, _, last = f"s2sgrad.{name}".rpartition(".")
    found = getattr(importlib.import_module(home), last)
    members = vars(found).items() if isinstance(found, type) else ()
    for thing in (found, *(member for key, member in members if key[0] != "_")):
        text = re.sub(r"^ *>>>.*?(?:\n *\n|\Z)", "\n\n", thing.__doc__ or "", flags=re.M | re.S)
        assert all(len(words) <= 35 for words in sentences.sentences(text)), thing


def test_sentences_of_all_docstrings_are_short():
    for module in sorted((documents.ROOT / "s2sgrad").rglob("*.py")):
        for words in sentences.of_docstrings(module.read_text(encoding="utf-8")):
            assert len(words) <= 35, f"{module}: {' '.join(words)}"


def test_sentences_of_notebooks_are_short():
    for notebook in (documents.ROOT / "examples").glob("*.ipynb"):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        assert all(len(words) <= 35 for words in sentences.sentences(text)), notebook.name


def test_workflows_run_the_tests_as_the_readme_says():
    readme, workflow = (documents.ROOT / "README.md").read_text("utf-8"), documents.ROOT / ".github/workflows/tests.yml"
    commands = [text.strip() for language, text in documents.blocks("README.md") if language == "sh"]
    found = workflow.read_text(encoding="utf-8")
    assert commands[1] in found
    versions = re.findall(r"^\| (3\.\d+) \| (\S+) \| (\S+) \|", readme, re.M)
    assert versions and all(f'python: "{python}"' in found for python, *_ in versions)


def test_every_page_is_on_the_site():
    shown = "".join(text for language, text in documents.blocks("docs/index.md") if language == "{toctree}")
    pages = {path.stem for path in (documents.ROOT / "docs").glob("*.md")} - {"index"}
    assert pages == set(re.findall(r"^[\w-]+$", shown, re.M))


def test_the_site_is_built_without_warnings(tmp_path):
    pytest.importorskip("myst_parser")
    pytest.importorskip("furo")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", str(documents.ROOT / "docs"), str(tmp_path / "site")]
    built = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert built.returncode == 0, built.stderr


def slugs(document):
    """The anchors of the headings of a document."""
    plain = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
    words = (re.sub(r"[^\w\s-]", "", heading.lower()) for heading in re.findall(r"^#+ (.*)$", plain, re.M))
    return {word.strip().replace(" ", "-") for word in words}


def test_links_lead_somewhere():
    for document in (*sentences.DOCUMENTS, documents.ROOT / "docs" / "functions.md"):
        text = document.read_text(encoding="utf-8")
        for link, anchor in re.findall(r"\]\(([^)#:]+\.(?:md|png|svg))?(?:#([^)]*))?\)", text):
            file = document.parent / link if link else document
            assert file.is_file(), f"{document.name}: {link}"
            assert not anchor or anchor in slugs(file), f"{document.name}: {link}#{anchor}"


@pytest.mark.records
@pytest.mark.parametrize("page", ["docs/seeing.md", "docs/errors.md"])
def test_python_of_a_page_prints_what_it_says(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for language, text in documents.blocks(page):
        if (
            language == "python"
            and "print(" in text
            and not ("pandas" in text and importlib.util.find_spec("pandas") is None)
        ):
            (tmp_path / "model.py").write_text(text, encoding="utf-8")
            linecache.checkcache()
            with np.errstate(all="ignore"):
                exec(compile(text, "model.py", "exec"), {"__name__": "model"})
            said = [row.removeprefix("    # ") for row in text.splitlines() if row.startswith("    # ")]
            assert said and capsys.readouterr().out.splitlines()[: len(said)] == said


def test_python_of_the_page_about_the_tape_runs(tmp_path):
    space = {"__name__": "page"}
    shown = [text for language, text in documents.blocks("docs/tape.md") if language == "python"]
    assert len(shown) == 4
    for number, text in enumerate(shown):
        file = tmp_path / f"page{number}.py"
        file.write_text(text, encoding="utf-8")
        exec(compile(text, str(file), "exec"), space)
    assert np.abs(space["x"] @ space["w"].numpy() - space["y"]).max() < 0.5
    assert space["u_bar"].shape == (5,) and space["rate_bar"].numpy() < 0.0


def test_python_of_the_page_about_own_rules_runs(tmp_path):
    file = tmp_path / "page.py"
    file.write_text("\n".join(text for language, text in documents.blocks("docs/your-own-rules.md") if language == "python"))
    exec(compile(file.read_text(), str(file), "exec"), {"__name__": "page"})


def test_python_of_the_page_for_comers_runs(tmp_path):
    shown = [text for language, text in documents.blocks("docs/coming-from.md") if language == "python"]
    for number, text in enumerate(shown):
        file = tmp_path / f"page{number}.py"
        file.write_text(text, encoding="utf-8")
        exec(compile(text, str(file), "exec"), {"__name__": "page"})


def test_python_of_the_page_about_forward_mode_runs(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for name, text in documents.files("docs/forward-mode.md").items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    shown = [text for language, text in documents.blocks("docs/forward-mode.md") if language == "python"]
    text = "\n".join(text for text in shown if not text.startswith("# heat.py"))
    file = tmp_path / "page.py"
    file.write_text(text, encoding="utf-8")
    try:
        exec(compile(text, str(file), "exec"), {"__name__": "page"})
    finally:
        sys.modules.pop("heat", None)


def test_the_test_command_is_what_ci_runs():
    commands = [t for language, t in documents.blocks("README.md") if language == "sh"]
    assert len(commands) == 2
    demo, tests = (t.strip() for t in commands)
    assert demo.endswith("s2sgrad demo")
    assert tests in (documents.ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_version_and_dependencies():
    project = tomllib.loads((documents.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == s2sgrad.__version__
    assert [re.match("[a-z]+", needed)[0] for needed in project["dependencies"]] == ["numpy", "gast", "astunparse"]


def _limits():
    yield from _named(documents.limits())


@pytest.mark.parametrize("text", [t for _, t in documents.limits() if t.startswith("# works\n")])
def test_what_the_page_about_limits_says_works(text, tmp_path):
    file = tmp_path / "works.py"
    file.write_text(text, encoding="utf-8")
    exec(compile(text, str(file), "exec"), {"np": np, "__name__": "works"})


def _named(shown):
    for language, text in shown:
        match = re.match(r"# (Unsupported|NoRule|NoSource|Refused)\n", text)
        if language == "python" and match:
            name = re.findall(r"def (\w+)", text)[0]
            yield pytest.param(match[1], name, text, id=f"{match[1]}-{name}")


@pytest.mark.records
@pytest.mark.parametrize(("error", "name", "text"), list(_limits()))
def test_limits_are_refused(error, name, text, tmp_path, monkeypatch):
    """A block of docs/limits.md that does not raise any more describes a limit that is gone: take it out."""
    monkeypatch.chdir(tmp_path)  # one writes a file
    refused(_function(name, text, tmp_path), error)


def _function(name, text, tmp_path):
    file = tmp_path / "limit.py"
    file.write_text(text, encoding="utf-8")
    space = {"np": np, "__name__": "limit"}
    exec(compile(text, str(file), "exec"), space)
    return space[name]


def refused(f, error, **options):
    with pytest.raises(getattr(s2sgrad.errors, error)) as raised:
        grad(f, **options)(READY)
    assert "limit.py" in str(raised.value)
    assert "^" in str(raised.value)


# Their value differs from call to call, is no number, or overflows; `argument_replaced` is given no object.
UNJUDGED = {"noisy_loss", "noisy_steps", "counts_its_calls", "object_returned", "argument_replaced"}


@pytest.mark.records
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("error", "name", "text"), list(_named(documents.refused_texts())))
def test_what_has_no_text_is_recorded(error, name, text, tmp_path):
    """A block that `strict=True` does not refuse any more has a text: take it out."""
    f = _function(name, text, tmp_path)
    refused(f, error, strict=True)
    if name not in UNJUDGED:
        numeric = [(np.sum(f(READY + d)) - np.sum(f(READY - d))) / 2e-6 for d in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(grad(f)(READY.copy()), numeric, rtol=1e-5, atol=1e-6)
