"""The documents are run: what they say a command prints is what it prints now.

In a Markdown file a Python block that opens with `# name.py` is a file, and a `console` block holds commands
(`$ s2sgrad ..`) with their output.  `python tests/documents.py` writes the present output into the documents.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from s2sgrad.__main__ import main

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("README.md", "docs/forward-mode.md", "docs/how-it-works.md", "docs/memory.md", "docs/seeing.md")
_BLOCK = re.compile(r"^```(\w+|\{[\w-]+\})\n(.*?)^```$", re.M | re.S)


def blocks(document: str) -> Iterator[tuple[str, str]]:
    """The language and the text of every fenced block of a document."""
    for match in _BLOCK.finditer((ROOT / document).read_text(encoding="utf-8")):
        yield match[1], match[2]


def limits() -> Iterator[tuple[str, str]]:
    """The blocks of what is refused: an example of each limit, and further ones of the same."""
    for document in ("docs/limits.md", "tests/further_limits.md"):
        yield from blocks(document)


def refused_texts() -> Iterator[tuple[str, str]]:
    """The blocks of what only `strict=True` refuses."""
    yield from blocks("tests/recorded/texts_refused.md")


def files(document: str) -> dict[str, str]:
    """The files that a document writes out."""
    named = ((re.match(r"# (\w+\.py)\n", text), text) for language, text in blocks(document) if language == "python")
    return {match[1]: text for match, text in named if match}


def rerun(block: str) -> str:
    """A console block with what its `s2sgrad` commands print in the present directory."""
    out = []
    for command in re.findall(r"^\$ (s2sgrad .*)$", block, re.M):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            main(shlex.split(command)[1:])
        out.append(f"$ {command}\n{printed.getvalue().rstrip()}\n")
    return "\n".join(out) if out else block


def refreshed(document: str, directory: Path) -> str:
    """The document with the present output of its commands."""
    for name, text in files(document).items():
        (directory / name).write_text(text, encoding="utf-8")
    before, modules = os.getcwd(), set(sys.modules)
    os.chdir(directory)
    try:
        text = (ROOT / document).read_text(encoding="utf-8")
        return _BLOCK.sub(lambda m: f"```console\n{rerun(m[2])}```" if m[1] == "console" else m[0], text)
    finally:
        os.chdir(before)
        for stem in {Path(name).stem for name in files(document)} - modules:
            sys.modules.pop(stem, None)


if __name__ == "__main__":
    import tempfile

    for document in DOCUMENTS:
        with tempfile.TemporaryDirectory() as directory:
            (ROOT / document).write_text(refreshed(document, Path(directory)), encoding="utf-8")
        print(f"wrote {document}", file=sys.stderr)
