"""The rule table: one derivative rule per primitive, an ordinary Python function.

A rule maps the cotangent `g`, the result and the primal arguments to one cotangent per differentiable argument:

    @elementwise(np.sin)
    def sin(g, y, x):
        return g * np.cos(x)

    sum(a * b)  ->  a_bar = g * b; b_bar = g * a

Arguments without a default are differentiable and stand in NumPy's order; arguments with a default are NumPy's keywords,
under NumPy's names, and constants to the derivative.  Those before a `*` stand in NumPy's order, too: what may be given by
position is told by the rule, for not every version of NumPy tells it.  A rule returns None for an argument that is flat (a
mask, indices).  A function that not every version has is named by `existing`.

The decorator is a tag.  It says what kind of map the primitive is, and the compiler takes broadcasting from it:

- `elementwise`: broadcasts its arguments. The rule never sums over broadcast axes, the compiler does.
- `linear`: linear in all its arguments together. `bilinear`: in each of them alone (the tangent is the map itself).
- `general`: none of these. The cotangent that the rule returns has the shape of its argument (or broadcasts to it).
- `flat`: the derivative is zero everywhere it exists (sign, argmax, shape).

A keyword that can carry a derivative has a rule of its own, `@rule.keyword("weights")`; calls without a derivative
are named by `rule.refuse`, arguments without one by `rule.constant`.  The compiler inlines a rule whose body is one
`return` (plain assignments may precede it) and calls any other.

A rule is for real numbers, unless its primitive is listed by `of_complex_numbers`.

A rule that the user gives (`give`) says nothing of its primitive but the derivative: that may have effects, and return what
it likes.  It lives with the function where that is one of Python's, so that a closure's rule goes with the closure.

>>> import numpy as np
>>> rule = lookup(np.multiply)
>>> rule.tag, rule.differentiable, rule.pullback(1.0, 6.0, 2.0, 3.0)
('elementwise', ('x', 'y'), (3.0, 2.0))
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field
from typing import Any

from s2sgrad.rules import arriving

SLOPES, VALUES = 1, 2  # what may be infinite or nan where a cotangent is 0: slopes; values as well


@dataclass(frozen=True)
class Tangents:
    """The tangents that a user gave for the arguments of a call: functions `each(tangent, result, *arguments)` of some of
    them, whose results are summed, or `whole(result, *arguments, *tangents)`."""

    each: dict[str, Callable[..., Any] | None]
    whole: Callable[..., Any] | None


@dataclass(eq=False)
class Rule:
    """How one primitive is differentiated.  `pullback(g, result, *arguments, **keywords)` gives the cotangents."""

    primitive: Any
    pullback: Callable[..., Any]
    tag: str
    refinements: list[tuple[Callable[..., bool], Callable[..., Any]]] = field(default_factory=list)
    exceptions: list[Callable[..., bool]] = field(default_factory=list)
    keyword_rules: dict[str, Rule] = field(default_factory=dict)
    refusals: list[tuple[Callable[..., bool], str]] = field(default_factory=list)
    exact: set[Callable[..., Any]] = field(default_factory=set)
    added: set[str] = field(default_factory=set)
    mask: str = ""  # the keyword that says which elements take part: the others get exactly 0
    linear: set[str] = field(default_factory=set)
    constants: dict[str, str] = field(default_factory=dict)
    tangents: Tangents | None = None
    joint: Callable[..., Any] | None = None
    terms: list[tuple[Callable[..., bool], Callable[..., Any]]] = field(default_factory=list)  # of the tangent, by condition
    joint_terms: list[tuple[Callable[..., bool], Callable[..., Any]]] = field(default_factory=list)
    given: Any = None  # what the user said, of a rule of theirs
    complex: bool = False  # right for complex operands and results, too
    may_turn_complex: bool = False  # the values of real operands tell whether the result is complex

    def __post_init__(self) -> None:
        self.exact.add(self.pullback)

    @functools.cached_property
    def _parameters(self) -> list[inspect.Parameter]:
        """Those of the pullback behind the cotangent and the result, asked for when a call is met."""
        return list(inspect.signature(self.pullback).parameters.values())[2:]

    @functools.cached_property
    def differentiable(self) -> tuple[str, ...]:
        """The names of the differentiable arguments."""
        return tuple(p.name for p in self._parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD)

    @functools.cached_property
    def keywords(self) -> dict[str, Any]:
        """The others, which have defaults."""
        return {p.name: p.default for p in self._parameters if p.default is not p.empty}

    @functools.cached_property
    def positional(self) -> tuple[str, ...]:
        """The names of all that may be given by position."""
        return tuple(p.name for p in self._parameters if p.kind is p.POSITIONAL_OR_KEYWORD)

    @functools.cached_property
    def variadic(self) -> bool:
        """Whether there are arguments without names."""
        return any(p.kind is p.VAR_POSITIONAL for p in self._parameters)

    def refined(self, when: Callable[..., bool], exact: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a shorter pullback, taken where `when` holds.

        `when` names the arguments it asks about (`operand`: the first, whatever its name) and receives their kinds. A kind
        has `.rank` (None: unknown, 0 for a number), `.known` and `.value` (a constant of the text), `.may_be_python`, that
        of a list or a tuple has `.items`. `complex`: whether an argument or the result may be complex.  The last refinement
        that holds is taken.  `exact`: its cotangents have the shapes of the arguments, and none is left to broadcast.
        """

        def register(pullback: Callable[..., Any]) -> Callable[..., Any]:
            if exact:
                self.exact.add(pullback)
            if pullback.__name__ == "_":
                pullback.__name__ = self.pullback.__name__  # in texts it is called by it
            self.refinements.append((when, pullback))
            return pullback

        return register

    def forward(self, when: Callable[..., bool] = lambda: True) -> Callable[..., Callable[..., Any]]:
        """Register the tangent of the result, where neither the tag nor the transpose of the pullback gives a good one.

        `terms(result, *operands, *tangents, **keywords)` returns one term for each operand, of which those are summed whose
        operands have tangents:

            @inv.forward()
            def _(y, a, a_dot): return -(y @ a_dot @ y)

        `when`, asked like that of `refined`, tells the calls that it is for.  Of a keyword's rule it returns one term, of
        (result, *operands, tangent, **keywords).
        """

        def register(terms: Callable[..., Any]) -> Callable[..., Any]:
            self.terms.append((when, terms))
            return terms

        return register

    def forward_jointly(self, when: Callable[..., bool] = lambda: True) -> Callable[..., Callable[..., Any]]:
        """Register the one expression that gives the tangent where all operands have tangents: `(x_dot - z * y_dot) / y`."""

        def register(terms: Callable[..., Any]) -> Callable[..., Any]:
            self.joint_terms.append((when, terms))
            return terms

        return register

    def linear_in(self, *arguments: str) -> None:
        """Name arguments in which the result is linear, whatever it is in the others: the tangent takes their place."""
        assert {*arguments} <= {*self.differentiable}
        self.linear |= {*arguments}

    def is_linear_in(self, place: int) -> bool:
        """Whether the result is linear in the operand at this place alone."""
        return self.tag == "bilinear" or (place < len(self.differentiable) and self.differentiable[place] in self.linear)

    def jointly(self, pullback: Callable[..., Any]) -> Callable[..., Any]:
        """Register the one call that gives all cotangents at once, cheaper than each alone: taken where all are wanted."""
        self.joint = pullback
        return pullback

    def instead(self, when: Callable[..., bool]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register the pullback of calls that those before do not treat: those where `when` holds."""
        self.exceptions.append(when)
        return self.refined(when)

    def keyword(self, name: str, tag: str = "") -> Callable[[Callable[..., Any]], Rule]:
        """Register the rule of an argument with a default: it has the signature of this one and returns one cotangent.

        `tag`: how the result depends on this argument alone, where it is not as on the others.  If it is "linear", of a
        linear rule, that is linear in all of them together, as a sum is in what it starts from.
        """

        def register(pullback: Callable[..., Any]) -> Rule:
            self.keyword_rules[name] = Rule(self.primitive, pullback, tag or self.tag)
            return self.keyword_rules[name]

        return register

    def adds(self, *names: str) -> None:
        """Name keywords of a linear rule whose constant values are part of the result: in its tangent they are 0."""
        assert self.tag == "linear" and self.keywords.keys() >= {*names}
        self.added |= {*names}

    def refuse(self, when: Callable[..., bool], why: str) -> None:
        """Name calls without a derivative: those where `when`, which is asked like that of `refined`, holds."""
        self.refusals.append((when, why))

    def constant(self, name: str, why: str = "") -> None:
        """Say that no derivative is known in an argument without a default: a call where it carries one is refused."""
        assert name in self.differentiable
        self.constants[name] = why or f"`{_name(self.primitive)}` has no derivative rule in `{name}`: pass a constant"

    def also(self, *primitives: Any) -> None:
        """Give further primitives, which compute the same, this rule."""
        for primitive in primitives:
            _enter(primitive, self)

    def choose(self, kinds: dict[str, Any]) -> Callable[..., Any]:
        """The pullback for arguments of these kinds."""
        return next((pullback for when, pullback in reversed(self.refinements) if self.holds(when, kinds)), self.pullback)

    def chosen_terms(self, kinds: dict[str, Any], jointly: bool = False) -> Callable[..., Any] | None:
        """The terms of the tangent for arguments of these kinds, or the one for all; None where the rule registers none."""
        known = self.joint_terms if jointly else self.terms
        return next((terms for when, terms in reversed(known) if self.holds(when, kinds)), None)

    def refusal(self, kinds: dict[str, Any]) -> str | None:
        """Why a call with arguments of these kinds has no derivative; None where it has one."""
        if kinds.get("complex", False) and not self.complex and self.given is None:
            return (
                f"`{_name(self.primitive)}` of complex numbers has no derivative rule: compute with real and imaginary parts"
            )
        return next((why for when, why in self.refusals if self.holds(when, kinds)), None)

    def has_derivative_in(self, keyword: str, forward: bool = False) -> bool:
        """Whether a keyword may carry a derivative, in reverse mode or in forward mode."""
        own = self.tangents if forward else None
        return keyword in self.keyword_rules or (own is not None and (own.whole is not None or keyword in own.each))

    def holds(self, when: Callable[..., bool], kinds: dict[str, Any]) -> bool:
        """Whether a condition holds for arguments of these kinds."""
        kinds = {"complex": False} | kinds | {"operand": kinds.get(next(iter(self.differentiable), ""))}
        return when(**{name: kinds[name] for name in inspect.signature(when).parameters})


_RULES: dict[Any, Rule] = {}
_FLAT: set[Any] = set()
_OF_COMPLEX_ALONE: dict[Any, Rule] = {}
_PASSING_OVER: dict[Any, int] = {}
_WITH_OPERATORS: set[Any] = set()
_SHARING: set[Any] = set()
_OPERATORS: dict[Any, Any] = {}
_ATTRIBUTES: dict[str, Any] = {}
_GIVING_MATRICES: set[Rule] = set()
_TAKING_LISTS: set[Rule] = set()
_STRUCTURED: set[tuple[Rule, str]] = set()
_PAIRED: set[tuple[Rule, str]] = set()
_OF_OWN_SIZES: set[Any] = set()
_BOUND: dict[tuple[type, str], Rule] = {}  # of methods in C that are called as objects, by class and name
_MAKING_COMPLEX: set[Rule] = set()
_OWNERS: dict[int, Any] = {}
_OWNERLESS: dict[int, Any] = {}
_HANDING_ON: dict[type, Callable[[Any, str], tuple[Any, dict[Any, Any]] | None]] = {}
_TYPES: set[type] = set()  # of what has been entered: an object of another type only says that it is equal
GIVEN: dict[Any, Rule] = {}  # by the user, to callables that are no functions of Python's, by their identity
_HOME = "s2sgrad rule"  # where a function keeps what the user gave it
changes = 0  # how often the user has changed rules: a text is right while this has not changed
own = 0  # how many of these changes came with our own rules of a library


def _name(primitive: Any) -> str:
    return getattr(primitive, "__name__", str(primitive))


def _enter(primitive: Any, rule: Rule) -> None:
    _RULES[primitive] = rule
    _TYPES.add(type(primitive))
    if isinstance(primitive, types.MethodType):  # a new object at every access; equal if owner and function are
        _OWNERS[id(primitive.__self__)] = primitive.__self__


def existing(module: types.ModuleType, *names: str) -> tuple[Any, ...]:
    """The functions of these names that this version of a library has: a rule of a younger one is entered where it is.

    >>> import numpy as np
    >>> existing(np, "sin", "sine") == (np.sin,)
    True
    """
    return tuple(getattr(module, name) for name in names if hasattr(module, name))


def _tagged(tag: str) -> Callable[..., Callable[[Callable[..., Any]], Rule]]:
    def decorator(*primitives: Any) -> Callable[[Callable[..., Any]], Rule]:
        def register(pullback: Callable[..., Any]) -> Rule:
            rule = Rule(primitives[0] if primitives else None, pullback, tag)
            for primitive in primitives:
                _enter(primitive, rule)
            return rule

        return register

    return decorator


elementwise = _tagged("elementwise")
linear = _tagged("linear")
bilinear = _tagged("bilinear")
general = _tagged("general")


def flat(*primitives: Any) -> None:
    """List primitives whose results never carry a derivative."""
    _FLAT.update(primitives)
    _TYPES.update(map(type, primitives))


def flat_of_real_numbers(primitive: Any, rule: Rule) -> None:
    """Give a flat primitive its rule for complex numbers."""
    rule.primitive, rule.complex = primitive, True
    _OF_COMPLEX_ALONE[primitive] = rule


def of_complex_alone(primitive: Any) -> Rule | None:
    """The rule for complex numbers of what is flat of real ones."""
    known = isinstance(primitive, Hashable) and given(primitive) is None
    return _OF_COMPLEX_ALONE.get(primitive) if known else None


def without_owner(*methods: Any) -> None:
    """List methods that change their owner, which is none of their rules' arguments: a bound one has the rule, too."""
    _OWNERLESS.update({id(method): method for method in methods})


def changes_owner(primitive: Any) -> bool:
    """Whether a callable is such a method, bound or not."""
    arriving.read_for(primitive)
    if isinstance(primitive, (types.BuiltinMethodType, types.MethodType)):
        primitive = getattr(type(primitive.__self__), primitive.__name__, None)
    return id(primitive) in _OWNERLESS


def of_complex_numbers(*primitives: Any) -> None:
    """List primitives whose rules are right for complex numbers, too; a call of any other with such numbers is refused.

    The cotangent of `z` is the number for which `dL = Re(z_bar * dz)`, so that a pullback multiplies with the complex slope.
    What it gives for a real operand may be complex: its real part is taken."""
    for primitive in primitives:
        for rule in (_RULES[primitive], *_RULES[primitive].keyword_rules.values()):
            rule.complex = True


def may_turn_complex(*primitives: Any) -> None:
    """List primitives that are right for complex numbers, and give them of some real ones, as `np.linalg.eigvals`."""
    of_complex_numbers(*primitives)
    for primitive in primitives:
        _RULES[primitive].may_turn_complex = True


def structured(argument: str, *primitives: Any) -> None:
    """List primitives of which an argument is a tuple, and its cotangent one: `lu_solve` of a factorization."""
    _STRUCTURED.update((_RULES[primitive], argument) for primitive in primitives)


def is_structured(rule: Rule, place: int) -> bool:
    """Whether the operand at this place is a tuple, also where its kind is not known."""
    return place < len(rule.differentiable) and (rule, rule.differentiable[place]) in _STRUCTURED


def paired(argument: str, *primitives: Any) -> None:
    """List primitives of which an argument is an array, or a tuple of arrays that are none together: a column and a row."""
    _PAIRED.update((_RULES[primitive], argument) for primitive in primitives)


def is_paired(rule: Rule, place: int) -> bool:
    """Whether a tuple at this place is no array of rows."""
    return place < len(rule.differentiable) and (rule, rule.differentiable[place]) in _PAIRED


def complex_of_real_numbers(*primitives: Any) -> None:
    """List primitives whose results are complex where all their operands are real, whatever the values are."""
    _MAKING_COMPLEX.update(_RULES[primitive] for primitive in primitives)


def makes_complex(rule: Rule) -> bool:
    """Whether the result is complex where all operands are real."""
    return rule in _MAKING_COMPLEX


def bound_method(owner: type, name: str) -> Callable[[Callable[..., Any]], Rule]:
    """Register the rule of a method in C, called as an object that knows its owner: `solve` of a factorization."""

    def register(pullback: Callable[..., Any]) -> Rule:
        _BOUND[owner, name] = Rule(getattr(owner, name), pullback, "general")
        return _BOUND[owner, name]

    return register


def with_own_operators(*primitives: Any) -> None:
    """List primitives whose results have operators of their own and are no arrays: sparse ones."""
    _WITH_OPERATORS.update(primitives)


def has_own_operators(primitive: Any) -> bool:
    """Whether the result of a primitive is such an object."""
    arriving.read_for(primitive)
    return any(primitive is known for known in _WITH_OPERATORS)


def sharing(*primitives: Any) -> None:
    """List primitives whose results may have the memory of an argument: a sparse array has that of its data."""
    _SHARING.update(primitives)


def may_share(primitive: Any) -> bool:
    """Whether the result of a primitive may have the memory of an argument."""
    arriving.read_for(primitive)
    return any(primitive is known for known in _SHARING)


def taking_lists(*rules: Rule) -> None:
    """List rules whose tangents are those of a text, and so have the structure of the operands, lists included."""
    _TAKING_LISTS.update(rules)


def takes_lists(rule: Rule) -> bool:
    """Whether a rule is one of these."""
    return rule in _TAKING_LISTS


def operates(primitive: Any, own: Any) -> None:
    """Say that the operator that is NumPy's `primitive` has the rule of `own` where such an object is an operand."""
    _OPERATORS[primitive] = own


def own_operator(primitive: Any) -> Any:
    """What has the rule of an operator of such objects; None where there is none."""
    arriving.read()
    return _OPERATORS.get(primitive) if isinstance(primitive, Hashable) else None


def is_own_operator(function: Any) -> bool:
    """Whether an operation has such a rule."""
    return any(function is own for own in _OPERATORS.values())


def giving_matrices(*rules: Rule) -> None:
    """List rules of sums along an axis, which are of the class np.matrix where what is summed is a sparse matrix."""
    _GIVING_MATRICES.update(rules)


def gives_matrices(rule: Rule) -> bool:
    """Whether the result of a call with this rule may be such a matrix."""
    return rule in _GIVING_MATRICES


def attribute_of_operators(name: str, own: Any = None) -> None:
    """Say what an attribute of such objects has the rule of; None: it never carries a derivative."""
    _ATTRIBUTES[name] = own


def attributes_of_operators() -> dict[str, Any]:
    """What the attributes of such objects have the rules of."""
    arriving.read()
    return _ATTRIBUTES


def method_of_operators(name: str) -> Any:
    """The method of this name of the classes whose instances have operators of their own, where all that have one have one
    rule for it; None otherwise."""
    arriving.read()
    found = [getattr(cls, name) for cls in _WITH_OPERATORS if isinstance(cls, type) and hasattr(cls, name)]
    known = {id(_RULES.get(method)) for method in found}
    return found[0] if len(known) == 1 and _RULES.get(found[0]) is not None else None


def with_sizes_of_their_own(*primitives: Any) -> None:
    """List primitives of whose results no example tells the shape: values decide, or which of two sizes is the larger."""
    _OF_OWN_SIZES.update(primitives)


def has_sizes_of_its_own(primitive: Any) -> bool:
    """Whether no example tells the shape of a primitive's result."""
    arriving.read_for(primitive)
    return isinstance(primitive, Hashable) and primitive in _OF_OWN_SIZES


def passing_over(level: int, *primitives: Any) -> None:
    """List primitives that leave elements out: where they do, the cotangent is exactly 0, and the slopes of what gives the
    element (`SLOPES`), or the element itself (`VALUES`), may be infinite or nan."""
    _PASSING_OVER.update(dict.fromkeys(primitives, level))


def passes_over(primitive: Any, keywords: Collection[str] = ()) -> int:
    """What may be infinite or nan where a call of a primitive leaves elements out; 0 for one that leaves none out."""
    if given(primitive) is not None:
        return 0
    rule = lookup(primitive)
    return VALUES if rule is not None and rule.mask in keywords else _PASSING_OVER.get(primitive, 0)


def give(primitive: Any, rule: Rule, new: bool = False) -> None:
    """Enter what the user says of a callable, in the place of what was known; tag `flat`: its result is a constant.

    Texts that were written before are written anew, but for a callable that is `new`.
    """
    global changes, own
    changes += not new
    own += not new and arriving.is_reading()
    if isinstance(primitive, types.FunctionType):
        vars(primitive)[_HOME] = rule
    else:
        GIVEN[_identity(primitive)] = rule
        if isinstance(primitive, types.MethodType):
            _OWNERS[id(primitive.__self__)] = primitive.__self__


def _identity(primitive: Any) -> Any:
    """What tells one callable from all others; a method is a new object at every access."""
    method = isinstance(primitive, types.MethodType)
    return (id(primitive.__self__), id(primitive.__func__)) if method else id(primitive)


def given(primitive: Any) -> Rule | None:
    """What the user says of this very callable; of a method, whose object is an argument, only that it is flat."""
    arriving.read_for(primitive)
    return given_before(primitive)


def given_before(primitive: Any) -> Rule | None:
    """The same, without our own rules that nobody has asked for yet."""
    if isinstance(primitive, types.FunctionType):
        rule = vars(primitive).get(_HOME)
        return rule if rule is not None and rule.primitive is primitive else None  # `functools.wraps` hands it on
    rule = GIVEN.get(_identity(primitive)) if GIVEN else None
    if rule is None and isinstance(primitive, types.MethodType):
        rule = given_before(primitive.__func__)
        return rule if rule is not None and rule.tag == "flat" else None
    return rule


def lookup(primitive: Any) -> Rule | None:
    """The rule of a callable, found by the object itself and never by its name; None where there is none."""
    own = given(primitive)
    if own is not None:
        return None if own.tag == "flat" else own
    try:
        rule = _RULES.get(primitive)
    except TypeError:  # unhashable callables have no rule
        return None
    if rule is None and arriving.read_for(primitive):
        return lookup(primitive)
    if rule is None and changes_owner(primitive):
        return _RULES.get(getattr(type(primitive.__self__), primitive.__name__))
    return rule if type(primitive) in _TYPES else None


def rule_of(primitive: Any) -> Rule:
    """The rule of a callable that has one."""
    rule = lookup(primitive)
    assert rule is not None, primitive
    return rule


def of_calls(value: Any) -> Rule | None:
    """The rule of calls of an object of a library, such as a spline: that of its class's `__call__`, of which the object is
    the first argument. That of a `bound_method`, which is itself the first argument.  None where there is none, or the
    user gave it (such an object is read, with its class).

    >>> import numpy as np
    >>> float(of_calls(np.poly1d([1.0, 0.0])).pullback(1.0, 9.0, np.poly1d([1.0, 0.0, 0.0]), 3.0)[1])
    6.0
    """
    if isinstance(value, types.BuiltinMethodType):
        arriving.read()
        return _BOUND.get((type(value.__self__), value.__name__))
    call = getattr(type(value), "__call__", None)  # noqa: B004  (the method itself is wanted)
    return lookup(call) if isinstance(call, types.FunctionType) and given(call) is None else None


def hands_on(cls: type, told: Callable[[Any, str], tuple[Any, dict[Any, Any]] | None]) -> None:
    """Say that methods of a class's instances call primitives with arguments that the instance holds: `told(owner, name)`
    gives the primitive and the arguments behind those of the call, by place or name. None for other methods."""
    _HANDING_ON[cls] = told


def handed_on(method: types.MethodType) -> tuple[Any, dict[Any, Any]] | None:
    """What a bound method calls, and with which further arguments; None where that is not known.

    >>> from scipy import stats
    >>> handed_on(stats.norm(0.3, scale=2.0).logpdf)[1]
    {0: 0.3, 'scale': 2.0}
    """
    arriving.read()
    owner = method.__self__
    told = next((_HANDING_ON[cls] for cls in type(owner).__mro__ if cls in _HANDING_ON), None)
    if told is None or getattr(type(owner), method.__name__, None) is not method.__func__ or given(method) is not None:
        return None
    return told(owner, method.__name__)


def owns(value: Any) -> bool:
    """Whether methods of this very object have rules: `norm` of `norm.logpdf`."""
    arriving.read()
    return id(value) in _OWNERS


def is_flat(primitive: Any) -> bool:
    """Whether a callable is listed as having a zero derivative."""
    own = given(primitive)
    if own is not None:
        return own.tag == "flat"
    try:
        known = primitive in _FLAT or (arriving.read_for(primitive) and primitive in _FLAT)
        return known and type(primitive) in _TYPES
    except TypeError:
        return False


def rules() -> types.MappingProxyType[Any, Rule]:
    """The whole table, primitive by primitive."""
    arriving.read()
    return types.MappingProxyType(_RULES)


def flats() -> frozenset[Any]:
    """The primitives listed as flat."""
    arriving.read()
    return frozenset(_FLAT)
