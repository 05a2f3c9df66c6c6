"""Objects that a function constructs, after scalar replacement: lists hold their attributes, and a reference is an index
into these with the class of the object.

    p = Particle(2.0)      ->      p = reference(Particle, len(particle_v)); particle_v.append(2.0)

A reference is not a number: it is always true, equal only to itself, and has no arithmetic.

>>> class Particle: pass
>>> p, q = reference(Particle, 0), reference(Particle, 1)
>>> [2.0, 3.0][q], bool(p), p == q, number_of(q, (list, Particle))
(3.0, True, False, 1)
"""

from __future__ import annotations

from typing import Any

from s2sgrad.runtime.checks import Refusal


class Reference:
    """An object of the class `cls`, whose attributes are at index `place` of their lists."""

    __slots__ = ("cls", "place")

    def __init__(self, cls: type, place: int) -> None:
        self.cls = cls
        self.place = place

    @property
    def __class__(self) -> type:  # type: ignore[override]
        """The class of the object, for code outside of the text that asks by `isinstance`; a reference is no list or dict,
        whose items it has none of."""
        return Reference if issubclass(self.cls, (list, tuple, dict, set, frozenset)) else self.cls

    def __index__(self) -> int:
        return self.place

    def __eq__(self, other: object) -> bool:
        if self.cls.__eq__ is not object.__eq__:
            raise Refusal(None, f"`==` of an object of `{self.cls.__name__}` that is made here compares its fields, which "
                                "cannot be followed: compare the fields")  # fmt: skip
        return self is other

    def __hash__(self) -> int:
        if self.cls.__hash__ is not object.__hash__:
            raise Refusal(None, f"an object of `{self.cls.__name__}` that is made here, and has an `==` of its own, is "
                                "kept in a set or as a key, which cannot be followed: use a list")  # fmt: skip
        return object.__hash__(self)

    def __bool__(self) -> bool:
        if hasattr(self.cls, "__bool__") or hasattr(self.cls, "__len__"):
            raise Refusal(None, f"whether an object of `{self.cls.__name__}` that is made here is true cannot be followed: "
                                "ask for its length")  # fmt: skip
        return True

    def _refused(self, *_: Any) -> Any:
        """An operator, index or loop that the text does not know to be one of an object."""
        raise Refusal(None, f"an object of `{self.cls.__name__}` that is made here is an operand, or looped over, where "
                            "that cannot be followed: call a method, and make the object before the loop")  # fmt: skip

    __array_ufunc__ = None
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refused
    __matmul__ = __rmatmul__ = __pow__ = __rpow__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = _refused
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __or__ = __ror__ = _refused
    __and__ = __rand__ = __xor__ = __rxor__ = _refused
    __neg__ = __pos__ = __invert__ = __abs__ = __len__ = __getitem__ = __setitem__ = __iter__ = __contains__ = _refused

    def __lt__(self, other: object) -> bool:
        """An ordering that is asked for by code outside of the text, such as `sorted`: only the class's methods define
        it."""
        called = self.cls.__name__
        if not hasattr(self.cls, "__lt__") or self.cls.__lt__ is object.__lt__:
            raise TypeError(f"'<' not supported between instances of '{called}' and '{class_of(other).__name__}'")
        raise Refusal(None, f"objects of `{called}` that are made here are put in order, which cannot be followed: give "
                            "what orders them a `key`, or keep `(key, number, object)`")  # fmt: skip

    __gt__ = __le__ = __ge__ = __lt__

    def __getattr__(self, attribute: str) -> Any:
        """An attribute that is read by code outside of the text: `hasattr(p, name)`, `copy.copy(p)`.  A special method that
        the class lacks is reported as missing."""
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


class CallableReference(Reference):
    """An object of a class whose objects can be called; the text writes its calls out."""

    __slots__ = ()

    def __call__(self, /, *_: Any, **__: Any) -> Any:
        raise Refusal(None, f"an object of `{self.cls.__name__}` that is made here is called by a function that cannot be "
                            "followed: hand it a function of what the object holds, `lambda t, w=o.w: ..`")  # fmt: skip


ABSENT = float("0")
"""Stands in the list of an attribute at the places of objects without it; nobody reads it, and no other 0.0 is this one."""


def reference(cls: type, place: int) -> Reference:
    """A new object."""
    return CallableReference(cls, place) if hasattr(cls, "__call__") else Reference(cls, place)  # noqa: B004


def place(x: Any, attribute: str) -> int:
    """The index of an object's attributes in their lists; AttributeError for a value without such attributes."""
    if isinstance(x, Reference):
        return x.place
    if hasattr(x, attribute):
        raise Refusal(None, f"`{attribute}` is asked of what may be an object that is made here, and is that of one which "
                            "is not: use two names")  # fmt: skip
    raise AttributeError(f"'{type(x).__name__}' object has no attribute '{attribute}'")


def place_among(x: Any, attribute: str, classes: tuple[type, ...]) -> int:
    """As `place`, for an attribute that only objects of these classes have."""
    if isinstance(x, Reference) and x.cls not in classes:
        raise AttributeError(f"'{x.cls.__name__}' object has no attribute '{attribute}'")
    return place(x, attribute)


def class_of(x: Any) -> type:
    """`type(x)`, where `x` may be a reference."""
    return x.cls if isinstance(x, Reference) else type(x)


def number_of(x: Any, classes: tuple[type, ...]) -> int:
    """The index of the object's class in `classes`; `len(classes)` if it is none of them."""
    return classes.index(x.cls) if isinstance(x, Reference) and x.cls in classes else len(classes)


def has_member(x: Any, attribute: str) -> bool:
    """`hasattr(x, attribute)`, where `x` may be a reference, for an attribute that is no field of one."""
    return hasattr(class_of(x) if isinstance(x, Reference) else x, attribute)


def number_named(word: str, names: tuple[str, ...], cls: str | None) -> int:
    """The index in `names` of the attribute that is asked for of a `cls`, else AttributeError; of one that is set, where
    `cls` is empty, else Refusal; the one behind them for any other, where `cls` is None.

    >>> number_named("act", ("act", "rest"), "Agent"), number_named("sleep", ("act", "rest"), None)
    (0, 2)
    """
    if word not in names and cls == "":
        raise Refusal(None, f"the attribute `{word}` is set here by a name that the program computes, and not before, which "
                            "cannot be followed: set it in `__init__`")  # fmt: skip
    if word not in names and cls is not None:
        raise AttributeError(f"{cls!r} object has no attribute {word!r}")
    return names.index(word) if word in names else len(names)


def number_among(x: Any, classes: tuple[type, ...], called: str, line: int) -> int:
    """The index of the object's class in `classes`; TypeError for another class, whose method would be recursive."""
    if isinstance(x, Reference) and x.cls in classes:
        return classes.index(x.cls)
    found = getattr(x, "cls", type(x)).__name__
    raise Refusal(line, f"`{called}` calls itself through an object of `{found}`, which cannot be followed: use a loop")


def operand_number(x: Any, classes: tuple[type, ...], called: str, line: int) -> int:
    """The index of the operand's class in `classes`; TypeError for anything else."""
    if isinstance(x, Reference) and x.cls in classes:
        return classes.index(x.cls)
    found = getattr(x, "cls", type(x)).__name__
    raise Refusal(line, f"`{called}` is asked of an object here, and in another trip of a {found}, which cannot be "
                        "followed: begin with an object of the class")  # fmt: skip


def no_operand(x: Any, line: int) -> None:
    """Check that the operand on the left of an object is none itself; TypeError where it is."""
    if isinstance(x, Reference):
        raise Refusal(line, f"the operand on the left is a number here, and in another trip an object of "
                            f"`{x.cls.__name__}`, which cannot be followed: begin with an object of the class")  # fmt: skip


def is_instance(x: Any, cls: Any) -> bool:
    """`isinstance(x, cls)`, where `x` may be a reference."""
    return issubclass(x.cls, cls) if isinstance(x, Reference) else isinstance(x, cls)


def require_instance(x: Any, classes: tuple[type, ...], attribute: str, line: int) -> None:
    """Check that a value of which a method is asked is of one of these classes, whose method the text has.

    >>> require_instance((1, 2), (tuple,), "norm", 7)
    """
    if not isinstance(x, classes):
        called = class_of(x).__name__
        if not hasattr(class_of(x), attribute):
            raise AttributeError(f"{called!r} object has no attribute {attribute!r}")
        raise Refusal(line, f"`{attribute}` is asked of a {called} here, and that of `{classes[0].__name__}` is followed: "
                            "use two names")  # fmt: skip


def no_object(x: Any, line: int) -> None:
    """Check that no object that the function constructs is in its result; TypeError if one is."""
    waiting = [x]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Reference):
            raise Refusal(line, f"an object of `{item.cls.__name__}` that is made here is returned, which is not supported: "
                                "return numbers, arrays, lists or dicts")  # fmt: skip
        waiting += item if isinstance(item, (list, tuple)) else item.values() if isinstance(item, dict) else ()
