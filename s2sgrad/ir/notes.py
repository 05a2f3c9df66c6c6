"""Notes: what passes write on nodes of a tree for later passes, besides what Python's grammar has there.

Each is declared here, with what it says.  `clone` keeps all of them, for a copy is the same text; `quote.at` hands on those
that belong to a source position, `PLACED`, with which they are read as plain attributes.

>>> import gast
>>> call = gast.parse("f(x)").body[0].value
>>> CHANGES_FIRST.of(call.func)
False
>>> CHANGES_FIRST.put(call.func)
>>> CHANGES_FIRST.of(call.func)
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast


@dataclass(frozen=True, slots=True)
class Note:
    """A note: the attribute that it is stored in, what it says of a node, and what holds of a node without it."""

    attribute: str
    says: str
    default: Any = False

    def of(self, node: gast.AST | None) -> Any:
        """What a node has noted."""
        return getattr(node, self.attribute, self.default)

    def put(self, node: gast.AST, value: Any = True) -> None:
        """Note it on a node."""
        setattr(node, self.attribute, value)

    def drop(self, node: gast.AST) -> None:
        """Take it from a node that may have it."""
        node.__dict__.pop(self.attribute, None)


BODY_OF = Note("body_of", "a statement of these calls that were written out, by number", ())
CASTS = Note("casts", "a store as `out=` does it: the array keeps its type, whatever is computed")
CHANGES_FIRST = Note("changes_first", "the name of a helper that changes its first argument")
CLEANS_UP = Note("cleans_up", "a `yield` after which `finally`, or the end of a `with`, runs whether more is drawn or not")
EACH = Note("reads_each", "the one read of a list, which a loop makes once for each item")
IS_INNER = Note("inner", "a store of a list back into the list that it was taken out of")
KEYWORD = Note("keyword", "the name of a parameter before it was renamed", None)
KIND_OF = Note("kind_of", "a call whose result is of the kind of this variable", None)
LEAVES_EARLY = Note("returns_early", "a conditional return behind a `yield`, whose flag is filled in where it is consumed")
METHOD = Note("method", "what stands for this method of a container, if its owner is one", None)
OF_FIRST = Note("of_first", "a call whose result is a view of its first argument, not of the owner of the method")
PARTS = Note("unpacks", "a statement that unpacks items of a container into variables: their keys", None)
READ_AT = Note("read_at", "where the text of a library was read that has the position of the user's call", None)
REBINDS = Note("rebinds", "an update of what is no array, as a check before it ensures: it binds the name anew")
RENEWED = Note("renewed", "a statement before which a copy of what it writes was made")
RESTORES = Note("restore", "a change of length that is undone")
STATES = Note("states", "a statement that keeps, or takes, the states of a checkpointed loop under this name", None)
UNCERTAIN = Note("uncertain", "a statement that may raise because of the shapes of its operands")
PLACED = ("origin", "primal", "written_out", UNCERTAIN.attribute)
"""What `quote.at` hands on with a position: the origin of generated text, the source that it was read in if that is not the
function's own, the number of the inlined call, and whether the user expects an error there."""

SPELLED = "written"
"""What `source` writes on a number, and `emit` reads: how the user wrote it, and which number that is."""
