"""How long the sentences of the documents are: `python tests/sentences.py` prints the longest ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOP = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")]
DOCUMENTS = [*TOP, *(p for p in sorted((ROOT / "docs").glob("**/*.md")) if p.name not in ("functions.md", "changelog.md"))]


def sentences(text: str) -> Iterator[list[str]]:
    """The words of each sentence outside of blocks of code; cells of tables are paragraphs, and items that end in a stop.

    Numbers and the words and operators of code count.  Items that end in a semicolon belong to one sentence.

    >>> list(sentences("`a.b + c` is 2 more. See [the page](page.md).\\n- This\\n  and that;\\n- more."))
    [['`ab', '+', 'c`', 'is', '2', 'more'], ['See', '[the', 'page]'], ['This', 'and', 'that', 'more']]
    """
    text = re.sub(r"^( *)```.*?^\1```$|^---\n.*?^---$|</?\w[^>`]*>|<!--.*?-->", "\n\n", text, flags=re.M | re.S)
    text = re.sub(r"`[^`]*`", lambda code: re.sub(r"[.!?|]|\n(?=\n)", "", code[0]), text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    for part in re.split(r"\n\s*\n|\||\n(?=#)|(?<=[.!?:)`])\n(?=\s*(?:[-*]|\d+\.) )", text):
        for sentence in re.split(
            r"(?<=[.!?])[*_)]*\s+(?=[A-Z\[*_(\d`])", re.sub(r"^\s*(?:[-*]|\d+\.) ", "", part, flags=re.M)
        ):
            words = [word.rstrip(".,;:") for word in sentence.split()]
            if len(words) > 2:  # fewer are a label
                yield words


def of_docstrings(text: str) -> Iterator[list[str]]:
    """The words of each sentence in the docstrings of a module's text, but in examples, formulas and columns.

    >>> [*of_docstrings("'Sums things up.\\\\n\\\\n    y = x     ->     z'\\ndef f():\\n    'One two three.'")]
    [['Sums', 'things', 'up'], ['One', 'two', 'three']]
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (found := ast.get_docstring(node)):
            prose = re.sub(r"^ *>>>.*?(?:\n *\n|\Z)", "\n\n", found, flags=re.M | re.S)
            for part in re.split(r"\n\s*\n", prose):
                if not part.startswith(" ") and not re.search(r"\S {3,}\S| -> ", part):
                    yield from sentences(part)


if __name__ == "__main__":
    for document in DOCUMENTS:
        found = sorted(sentences(document.read_text(encoding="utf-8")), key=len)
        print(f"{document.name}: {sum(map(len, found)) / len(found):.1f} words, the longest {len(found[-1])}")
        for words in [w for w in found if len(w) > 35]:
            print(f"    {len(words)}: {' '.join(words[:14])}")
    for module in sorted((ROOT / "s2sgrad").rglob("*.py")):
        for words in [w for w in of_docstrings(module.read_text(encoding="utf-8")) if len(w) > 35]:
            print(f"{module.relative_to(ROOT)}: {len(words)}: {' '.join(words[:14])}")
