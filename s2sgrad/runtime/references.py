"""Objects that a function makes, where its text holds their attributes: a reference says which object, and of which class.

    p = Particle(2.0)      ->      p = reference(Particle, len(particle_v)); particle_v.append(2.0)

A reference is the place of its object in the lists of the attributes, and no number: it is true, equal to itself alone, and
nothing can be added to it.

>>> class Particle: pass
>>> p, q = reference(Particle, 0), reference(Particle, 1)
>>> [2.0, 3.0][q], bool(p), p == q, number_of(q, (list, Particle))
(3.0, True, False, 1)
"""

from __future__ import annotations

from typing import Any

from s2sgrad.runtime.checks import Refusal


class Reference:
    """An object of the class `cls`, whose attributes stand at `place` in their lists."""

    __slots__ = ("cls", "place")

    def __init__(self, cls: type, place: int) -> None:
        self.cls = cls
        self.place = place

    def __index__(self) -> int:
        return self.place

    def __eq__(self, other: object) -> bool:
        others = self is not other and isinstance(other, Reference) and other.cls is self.cls
        if others and self.cls.__eq__ is not object.__eq__:
            raise Refusal(None, f"`==` of two objects of `{self.cls.__name__}` that are made here compares their fields, "
                                "which cannot be followed: compare the fields")  # fmt: skip
        return self is other

    __hash__ = object.__hash__

    def __lt__(self, other: object) -> bool:
        """An order, asked by what the text does not show, such as `sorted`: only the methods of the class would know."""
        called = self.cls.__name__
        if not hasattr(self.cls, "__lt__") or self.cls.__lt__ is object.__lt__:
            raise TypeError(f"'<' not supported between instances of '{called}' and '{class_of(other).__name__}'")
        raise Refusal(None, f"objects of `{called}` that are made here are put in order, which cannot be followed: give "
                            "what orders them a `key`, or keep `(key, number, object)`")  # fmt: skip

    __gt__ = __le__ = __ge__ = __lt__

    def __getattr__(self, attribute: str) -> Any:
        """What is asked without the text showing of what: `hasattr(p, name)`, `copy.copy(p)`.  A protocol that the class
        has not, the object has not."""
        called = self.cls.__name__
        if attribute.startswith("__") and not hasattr(self.cls, attribute):
            raise AttributeError(f"'{called}' object has no attribute '{attribute}'")
        raise Refusal(None, f"`{attribute}` is asked of an object of `{called}` made here, by a function that cannot "
                            "be followed: use its attributes")  # fmt: skip

    def __copy__(self) -> Any:
        return self.copied

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.copied

    def __repr__(self) -> str:
        return f"<{self.cls.__name__}, number {self.place}>"


def reference(cls: type, place: int) -> Reference:
    """A new object."""
    return Reference(cls, place)


def place(x: Any, attribute: str) -> int:
    """Where the attributes of an object stand in their lists; AttributeError for what has none there."""
    if isinstance(x, Reference):
        return x.place
    if hasattr(x, attribute):
        raise Refusal(None, f"`{attribute}` is asked of what may be an object that is made here, and is that of one which "
                            "is not: use two names")  # fmt: skip
    raise AttributeError(f"'{type(x).__name__}' object has no attribute '{attribute}'")


def place_among(x: Any, attribute: str, classes: tuple[type, ...]) -> int:
    """As `place`, of an attribute that the objects of these classes have alone."""
    if isinstance(x, Reference) and x.cls not in classes:
        raise AttributeError(f"'{x.cls.__name__}' object has no attribute '{attribute}'")
    return place(x, attribute)


def class_of(x: Any) -> type:
    """`type(x)`, of what may be an object that the function makes."""
    return x.cls if isinstance(x, Reference) else type(x)


def number_of(x: Any, classes: tuple[type, ...]) -> int:
    """Which of these is the class of an object; how many they are, for what is no object of them."""
    return classes.index(x.cls) if isinstance(x, Reference) and x.cls in classes else len(classes)


def number_among(x: Any, classes: tuple[type, ...], called: str, line: int) -> int:
    """Which of these is the class of an object; TypeError for another one, whose method would call itself."""
    if isinstance(x, Reference) and x.cls in classes:
        return classes.index(x.cls)
    found = getattr(x, "cls", type(x)).__name__
    raise Refusal(line, f"`{called}` calls itself through an object of `{found}`, which cannot be followed: use a loop")


def is_instance(x: Any, cls: Any) -> bool:
    """`isinstance(x, cls)`, of what may be an object that the function makes."""
    return issubclass(x.cls, cls) if isinstance(x, Reference) else isinstance(x, cls)


def no_object(x: Any, line: int) -> None:
    """Check that an object which a function makes does not leave it; TypeError if it does."""
    waiting = [x]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Reference):
            raise Refusal(line, f"an object of `{item.cls.__name__}` that is made here is returned, which is not supported: "
                                "return numbers, arrays, lists or dicts")  # fmt: skip
        waiting += item if isinstance(item, (list, tuple)) else item.values() if isinstance(item, dict) else ()
