"""Every refusal that the tests and the documents know, read as a stranger reads it, at first and at second order."""

from __future__ import annotations

import copy
import re
import textwrap
from pathlib import Path

import documents
import doubtful
import messages
import numpy as np
import pytest
import test_errors
from corpus.refused import REFUSED as CORPUS_REFUSED

from s2sgrad import NoRule, grad

module = test_errors.module
X = np.array([0.3, 0.6, 0.9])


def _known():
    """(text of a module or None, function or its name, arguments, keywords), by a name."""
    for name, (_, text, args) in test_errors.REFUSED.items():
        *args, last = args
        keywords = last if isinstance(last, dict) else {}
        yield name, test_errors.HEAD + textwrap.dedent(text), "f", (*args,) if keywords else (*args, last), keywords
    for name, (_, text) in test_errors.WRITTEN_UNSEEN.items():
        yield name, test_errors.HEAD + textwrap.dedent(text), "f", (np.arange(12.0).reshape(3, 4),), {}
    for name, text in test_errors.RIGHT_OR_REFUSED.items():
        yield name, test_errors.HEAD + textwrap.dedent(text), "f", (test_errors.V,), {}
    for name in test_errors.NASTY:
        if not re.search(r"infinite|\d00|a decorated function", name):
            yield name, test_errors.text_of(name), "f", (test_errors.POINT,), {}
    for language, text in (*documents.limits(), *documents.refused_texts()):
        if language == "python" and re.match(r"# (Unsupported|NoRule|NoSource)\n", text):
            yield text.split("\n")[1], "import numpy as np\n" + text, re.findall(r"def (\w+)", text)[0], (X,), {}
    for function, args, _ in CORPUS_REFUSED:
        yield function.__name__, None, function, args, {}
    for program in doubtful.PROGRAMS:
        yield program.function.__name__, None, program.function, program.args, {}


KNOWN = list(_known())


@pytest.mark.sampled(one_in=24)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "text", "f", "args", "keywords"), KNOWN, ids=[entry[0] for entry in KNOWN])
def test_the_message_is_in_the_users_words_and_short(name, text, f, args, keywords, module, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)  # one writes a file
    if text is not None:
        f = getattr(module(text), f)
    file = f.__code__.co_filename
    source = Path(file).read_text(encoding="utf-8")
    for df in (grad(f), grad(grad(f))):
        try:
            df(*copy.deepcopy(args), **keywords)
        except Exception as error:
            assert messages.complaints(error, source, file) == [], error


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("this writes `x`: use `np.copyto(x, y)`", []),
        ("this writes `x_bar`", ["x_bar"]),
        ("t13 is read", ["t13"]),
        ("`refilled(x)` is called", ["refilled"]),
    ],
)
def test_the_checker_finds_words_of_ours(message, words):
    assert messages.unknown_words(message, "def f(x, y): return x * y") == words


def test_a_function_without_a_rule_is_called_by_its_name():
    special = pytest.importorskip("scipy.special")

    def vectorized(x):
        return np.sum(np.vectorize(special.itstruve0)(x))

    with pytest.raises(NoRule, match="`itstruve0` has no derivative rule"):
        grad(vectorized)(np.ones(3))
