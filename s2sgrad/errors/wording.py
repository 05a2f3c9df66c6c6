"""Rewrites the names in a message for a reader who has not seen the generated text.

"this writes `m_bar`, and `t1` may share its memory"  ->  "this writes the gradient in `m`, and another value may .."
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_SPAN = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*(?!\w)")
ANOTHER = "another value"
Sentences = dict[str, tuple[str, str | None]]


class Wording(NamedTuple):
    """What messages need to know of a generated function.  `of`: the function that it is the derivative of, empty for what
    was taken out of a function.  Then the names of the user's text (`known`), and what the other names stand for
    (`words`)."""

    of: str
    known: frozenset[str]
    words: dict[str, str]

    def shown(self, name: str) -> str:
        """The user's name or expression that a name stands for; empty if it stands for none."""
        word = self.words.get(name, f"`{name}`" if name in self.known else "")
        return word.strip("`") if is_quoted(word) else ""


def names_in(text: str) -> frozenset[str]:
    """The names that occur in a text.

    >>> sorted(names_in("y = x.real * 2e3"))
    ['x', 'y']
    """
    return frozenset(_NAME.findall(text))


def in_words(message: str, ours: Callable[[str], bool], word: Callable[[str], str]) -> str:
    """The message with each quoted name of ours replaced by what `word` says of it.

    >>> in_words("copy `t1` or `x_2[0]`", {"t1", "x_2"}.__contains__, {"t1": "the gradient", "x_2": "`x`"}.get)
    'copy the gradient or `x[0]`'
    """

    def said(match: re.Match[str]) -> str:
        span = match[1]
        meant = {name: word(name) for name in _NAME.findall(span) if ours(name)}
        if span in meant:
            return meant[span]
        if any(not is_quoted(text) for text in meant.values()):
            return ANOTHER
        return "`" + _NAME.sub(lambda m: meant[m[0]].strip("`") if m[0] in meant else m[0], span) + "`"

    return _SPAN.sub(said, message)


def is_quoted(word: str) -> bool:
    """Whether a word is a name or an expression, which can be part of a larger one."""
    return _SPAN.fullmatch(word) is not None


def meaning(name: str, parameters: frozenset[str], words: Sentences, bases: dict[str, str]) -> str | None:
    """What a name stands for: itself, the name that it was renamed from, or a sentence about one of these.

    `words` are sentences about other names, or about none: ("the gradient in {}", "x").
    """
    seen: set[str] = set()
    while name not in seen:
        seen.add(name)
        if name in words:
            sentence, of = words[name]
            return sentence if of is None else sentence.format(meaning(of, parameters, words, bases) or ANOTHER)
        if name in parameters:
            return f"`{name}`"
        name = bases.get(name, name)
    return None
