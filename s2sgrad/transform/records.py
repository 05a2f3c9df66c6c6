"""What the reverse sweep restores, what it recomputes, and where.

    x = x * r    ->    x_stack.append(x); x = x * r    ...    x = x_stack.pop(); r_bar += x_bar * x        (in a loop)

Cheap values are recomputed just before their last reader is treated (the first that the reverse sweep meets), if nothing
they are made of has been overwritten in between; every other value is restored:

- a variable bound over an older value: recorded before the statement, restored at the head of the statement's adjoint;
- what a store overwrites: a copy is recorded, and restored into the same array, for other names may share its memory;
- a variable whose life lies within one trip of a loop: recorded at the end of its block, restored at the block's head;
- where code runs once a call, a plain variable holds the old value; in loops, a stack.

Everything is restored here; dead-code removal then drops each restore that nobody reads, and its record with it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import gast

from s2sgrad import runtime
from s2sgrad.analysis import contexts, effects
from s2sgrad.analysis.activity import Operations
from s2sgrad.analysis.apart import Indices, parts_of
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Number, Unknown
from s2sgrad.analysis.lifetimes import Block, Lifetimes, binds
from s2sgrad.analysis.memory import Memory, in_place, sources
from s2sgrad.quote import assign, clone, constant, expression, nodes, place_of, statements
from s2sgrad.quote import name as name_
from s2sgrad.reach import call
from s2sgrad.rules import spellings
from s2sgrad.transform.tails import breaks
from s2sgrad.unit import Unit

_CHEAP_CALLS = {"len", "range", "float", "int", "min", "max", "shape", "size", "ndim", "reshape", "transpose", "zeros_like",
                "zeros", "ones", "expand_dims", "sequence", "square", "negative", "abs", "absolute", "add", "subtract",
                "multiply", "divide", "outer"}  # fmt: skip
_CHEAP_METHODS = {"reshape", "transpose", "ravel", "swapaxes"}


@dataclass
class Recomputed:
    """The plan of one block: before which statement's adjoint (by position) which assignments are run again."""

    at: dict[int, list[gast.Assign]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)


class Records:
    """Records and restores for one function; `stacks` are the stacks it made."""

    def __init__(self, unit: Unit, lifetimes: Lifetimes, inference: Inference, found: Operations, memory: Memory) -> None:
        self.unit, self.lifetimes, self.inference, self.found = unit, lifetimes, inference, found
        self.kinds = inference.env
        self.memory = memory
        self.stacks: list[str] = []
        self.grown: set[str] = set()  # lists that change and are read: not to be recorded before they have changed
        self.unbound: dict[int, list[str]] = {}
        root = lifetimes.blocks[lifetimes.root]
        self.indices = Indices(unit, root, self.kinds)
        self.loops = {id(s.body): s for s in effects.walk(root) if isinstance(s, gast.For)}
        stores = [s for s in effects.walk(root) if effects.stored(s) is not None]
        self.updated = {effects.base(effects.stored(s)) for s in stores if place_of(s) in unit.updates}

    # --- recomputation ---

    def plan(self, body: Block) -> Recomputed:
        """What to recompute in a block; positions are indices of its statements."""
        return self.plans[id(body)]

    @functools.cached_property
    def plans(self) -> dict[int, Recomputed]:
        """The plan of every block."""
        return {block: self._planned(body) for block, body in self.lifetimes.blocks.items()}

    def is_alone(self, name: str) -> bool:
        """Whether nothing that the reverse sweep reads holds the memory of `name`: a subexpression that is recomputed is
        made of `name` as it is restored, and one that is recorded early of a copy.

            t = np.squeeze(w[::2]) * x; w[::2] = 0.0; w = w * w      ->      False: `w[::2]` is to be restored in `t` too
        """
        return self.memory.with_memory_of(name) - self._remade == {name}

    @functools.cached_property
    def _remade(self) -> set[str]:
        blocks = self.lifetimes.blocks
        early = (names for block, plan in self.plans.items() for names in self.early(blocks[block], plan).values())
        return set().union(*early, *(plan.names for plan in self.plans.values())) & self.unit.temps

    def _planned(self, body: Block) -> Recomputed:
        plan = Recomputed()
        block = id(body)
        repeated = block in self.lifetimes.repeated
        last: dict[str, int] = {}
        changed: list[set[str]] = []
        for k, statement in enumerate(body):
            inside = effects.walk([statement])
            changed.append(set())
            for part in inside:
                for read in effects.reads(part):
                    last[read] = k
                changed[k] |= self.memory.changed(part)
        here = self.lifetimes.locals_of.get(block, ())
        home = {n for n in here if repeated or n in self.unit.temps or n in self.memory.written}
        single = _bound_once(body)
        for k in range(len(body) - 1, -1, -1):
            statement = body[k]
            if not isinstance(statement, gast.Assign) or not isinstance(statement.targets[0], gast.Name):
                continue
            target = statement.targets[0].id
            if target not in home or target not in single or not self.is_cheap(statement):
                continue
            if target in self.memory.written and not sources(self.unit, statement.value, self.kinds):
                continue  # a buffer: made again, it would be without what was stored in it
            if target not in self.unit.temps and not repeated and not sources(self.unit, statement.value, self.kinds):
                continue
            reader = max(last.get(target, k), k)
            if any(contexts.end(s) for s in body[k:reader]):
                continue
            operands = effects.reads(statement)
            section = effects.stored(body[reader])
            where = section is not None and target in {n.id for n in effects.loads(section.slice)}
            compound = isinstance(body[reader], (gast.If, gast.For, gast.While))
            between = set().union(*changed[k + 1 : reader + (compound or where)])
            if operands & self.memory.lost:
                continue
            end = reader + (compound or where)
            asks_shape = self.asks_shape(statement.value, body[k + 1 : end])
            if operands & between and not asks_shape and not self.lies_apart(statement, body, k, end, between):
                continue
            plan.at.setdefault(reader, []).insert(0, statement)
            plan.names.add(target)
            for operand in operands:
                last[operand] = max(last.get(operand, 0), reader)
        return plan

    def asks_shape(self, value: gast.AST, between: Block) -> bool:
        """Whether a value is the shape of an array, which stays what it is whatever is stored in the array."""
        owner = value.value if isinstance(value, gast.Attribute) and value.attr in spellings.FLAT_ATTRIBUTES else None
        if isinstance(value, gast.Call) and self.unit.resolve(value.func) is len and len(value.args) == 1:
            owner = value.args[0]
        if not isinstance(owner, gast.Name) or not isinstance(self.kinds.get(owner.id), Array):
            return False
        return not any(owner.id in binds(s) for s in effects.walk(between))

    def lies_apart(self, statement: gast.Assign, body: Block, k: int, end: int, changed: set[str]) -> bool:
        """Whether a section is taken from an array of which, up to the `end`, only sections apart from it are written."""
        value = statement.value
        if not isinstance(value, gast.Subscript) or not isinstance(value.value, gast.Name):
            return False
        base = value.value.id
        if effects.reads(statement) & changed != {base} or not isinstance(self.kinds.get(base), Array):
            return False
        loops = self.loops_around(body)
        for part in effects.walk(body[k + 1 : end]):
            if isinstance(part, gast.For) and any(part.target.id == loop.target.id for loop in loops):
                return False  # in there it means another number
            if base in self.memory.changed(part):
                section = effects.stored(part)
                if section is None or not isinstance(section.value, gast.Name):
                    return False
                one, other = parts_of(value.slice), parts_of(section.slice)
                if section.value.id != base or not self.indices.apart(one, other, loops):
                    return False
        return True

    def loops_around(self, body: Block) -> list[gast.For]:
        """The loops that a block is in."""
        out, block = [], id(body)
        while block in self.lifetimes.parent:
            loop = self.loops.get(block)
            out += [] if loop is None else [loop]
            block = self.lifetimes.parent[block]
        return out

    def is_cheap(self, statement: gast.Assign) -> bool:
        """Whether running the assignment again costs no more than recording its value."""
        node = statement.value
        if isinstance(node, (gast.Name, gast.Constant)):
            return True
        if not effects.is_pure(self.unit, node):
            return False
        if isinstance(node, (gast.Subscript, gast.Attribute)):
            return True
        if isinstance(node, (gast.BinOp, gast.UnaryOp)):
            power = isinstance(node.op, gast.Pow) if isinstance(node, gast.BinOp) else False
            if power:
                return isinstance(node.right, gast.Constant) and node.right.value in (2, -1, 2.0)
            return not isinstance(getattr(node, "op", None), gast.MatMult)
        if isinstance(node, gast.Compare) and any(isinstance(op, (gast.In, gast.NotIn)) for op in node.ops):
            owner = node.comparators[-1]  # an iterator is used up by the question
            if isinstance(owner, gast.Name) and isinstance(self.kinds.get(owner.id, UNKNOWN), Unknown):
                return False
        if isinstance(node, (gast.Compare, gast.BoolOp)):
            return not any(isinstance(n, gast.Call) for n in nodes(node))
        if isinstance(node, (gast.Tuple, gast.List, gast.Dict, gast.JoinedStr)):
            return True
        if isinstance(node, gast.Call):
            target = self.unit.resolve(node.func)
            if isinstance(node.func, gast.Attribute) and node.func.attr in _CHEAP_METHODS:
                return True
            return effects.is_pure_function(target) and getattr(target, "__name__", "") in _CHEAP_CALLS
        return False

    # --- records ---

    def early(self, body: Block, plan: Recomputed) -> dict[int, list[str]]:
        """Names to be recorded where they are bound, by the statement: views of what is written when they are dead."""
        out: dict[int, list[str]] = {}
        if breaks(body):
            return out
        once = id(body) not in self.lifetimes.repeated
        counts: dict[str, int] = {}
        for statement in effects.walk(body):
            for bound in binds(statement):
                counts[bound] = counts.get(bound, 0) + 1
        for statement in body:
            moved = not isinstance(statement, gast.Assign) or effects.permutes(statement)
            for bound in () if moved else binds(statement):
                mine = bound in self.memory.written and not {bound} & (self.memory.bases | self.grown)
                mine = mine and bound not in plan.names
                if once and not (bound in self.unit.temps and self.memory.with_memory_of(bound) & self.rebound):
                    continue  # what is written is restored in the memory that it is a view of
                if mine and counts[bound] == 1 and self.lifetimes.home.get(bound) == id(body):
                    out.setdefault(id(statement), []).append(bound)
        return out

    @functools.cached_property
    def rebound(self) -> set[str]:
        """The names that a record of their own brings back: what they stood for is then in other memory."""
        root = self.lifetimes.blocks[self.lifetimes.root]
        bound = ((s, n) for s in effects.walk(root) if in_place(self.unit, s, self.kinds) is None for n in binds(s))
        return {n for s, n in bound if (id(s), n) in self.lifetimes.rebinds}

    def early_pair(self, name: str, body: Block) -> tuple[list[gast.AST], list[gast.AST]]:
        """Record a copy of `name` and take it back; the stack is its own, for it is not used in the order of the others."""
        copies = isinstance(self.kinds.get(name), Array)
        value = expression("x.copy()", x=name) if copies else call(self.unit, "own", runtime.own, name_(name))
        if id(body) not in self.lifetimes.repeated:
            old = self._old(name, self.kinds.get(name))
            return [assign(old, value)], [assign(name, name_(old))]
        stack = self._stack(name)
        del self.unit.stack_bases[stack]
        return statements("stack.append(x)", stack=stack, x=value), statements("x = stack.pop()", stack=stack, x=name)

    def before(self, statement: gast.AST, name: str, body: Block) -> tuple[list[gast.AST], list[gast.AST]]:
        """(record, restore) of the value of `name` that the statement overwrites; empty where there is none."""
        key = (id(statement), name)
        if key not in self.lifetimes.rebinds:
            return [], []
        unsure = key in self.lifetimes.unsure
        if unsure:
            self.needs_binding(name)
        once = id(body) not in self.lifetimes.repeated
        if in_place(self.unit, statement, self.kinds) is not None:
            return self.content(name, once)
        return self.pair(name, once, unsure)

    def at_end(self, name: str, body: Block) -> tuple[list[gast.AST], list[gast.AST]]:
        """(record, restore) of a variable whose life ends with the block."""
        unsure = name in self.lifetimes.unsure_end.get(id(body), ())
        if unsure:
            self.needs_binding(name)
        return self.pair(name, False, unsure)

    def pair(self, name: str, once: bool, unsure: bool = False) -> tuple[list[gast.AST], list[gast.AST]]:
        """Record and restore the binding of `name`: a saved variable, or a stack where the code may run again."""
        value: gast.AST = name_(name)
        if name in self.memory.written and self.is_alone(name):
            copies = isinstance(self.kinds.get(name), Array) and not unsure  # so the restored array is nobody else's either
            value = expression("x.copy()", x=name) if copies else call(self.unit, "own", runtime.own, value)
        if once:
            old = self._old(name, self.kinds.get(name))
            return [assign(old, value)], [assign(name, name_(old))]
        references = name in self.memory.written and isinstance(value, gast.Name)
        stack = self._stack(name, "references" if references else "stack")
        push = statements("stack.append(x)", stack=stack, x=value)
        return push, statements("x = stack.pop()", stack=stack, x=name)

    def content(self, name: str, once: bool) -> tuple[list[gast.AST], list[gast.AST]]:
        """Record and restore what an array holds, where `x += e` changes it."""
        kind = self.kinds.get(name)
        if not isinstance(kind, Array):
            stack = self._stack(name)
            kept: gast.AST = name_(name)
            if isinstance(kind, Container):
                kept = call(self.unit, "own", runtime.own, kept)
            push = gast.Expr(call(self.unit, "push", runtime.push, name_(stack), kept))
            value = expression(
                "restored(x, s.pop())", restored=self.unit.helper("restored", runtime.restored), x=name, s=stack
            )
            return [push], [assign(name, value)]
        alone = len(self.memory.with_memory_of(name)) == 1
        target: gast.AST = name_(name, store=True) if alone else expression("x[...]", x=name)
        target.ctx = gast.Store()
        return self._copied(name, target, name_(name), kind, once)

    def kept(self, statement: gast.AST, name: str) -> gast.AST:
        """The value of `name` after the statement, which will stay when the one before it is restored."""
        in_place_ = in_place(self.unit, statement, self.kinds) is not None
        if not in_place_ or (len(self.memory.with_memory_of(name)) == 1 and isinstance(self.kinds.get(name), Array)):
            return name_(name)
        return call(self.unit, "own", runtime.own, name_(name))

    def section(self, statement: gast.Assign, body: Block) -> tuple[list[gast.AST], list[gast.AST]]:
        """(record, restore) of the section that a store overwrites."""
        target = effects.stored(statement)
        base = effects.base(target)
        owner = self.inference.kind(loaded(target.value))
        if isinstance(owner, Container) and place_of(statement) in self.unit.updates and not self.unit.primal.is_generated:
            item = self.inference.kind(loaded(target))
            if isinstance(item, Array):  # `xs[0] += e` changes the array itself, which may have other names
                content = gast.Subscript(loaded(target), constant(Ellipsis), gast.Store())
                once = id(body) not in self.lifetimes.repeated
                return self._copied(base, content, loaded(target), item, once)
            if isinstance(item, Unknown):
                once = id(body) not in self.lifetimes.repeated
                record, (back,) = self._copied(base, clone(target), loaded(target), item, once)
                back.value = call(self.unit, "restored", runtime.restored, loaded(target), back.value)
                return record, [back]
        replaces = isinstance(owner, Container) and owner.type is list and base in self.updated
        if replaces and not self.unit.primal.is_generated:
            if isinstance(self.inference.kind(loaded(target)), Array):  # the array itself, whose content is given back
                return self._referred(base, target, id(body) not in self.lifetimes.repeated)
        text = isinstance(target.slice, gast.Constant) and isinstance(target.slice.value, str)
        if (isinstance(owner, Container) and owner.type is dict) or text:
            return self._entry(base, target, id(body) not in self.lifetimes.repeated)
        value = clone(target)
        value.ctx = gast.Load()
        return self._copied(base, clone(target), value, self.inference.kind(value), id(body) not in self.lifetimes.repeated)

    def _referred(self, base: str, target: gast.Subscript, once: bool) -> tuple[list[gast.AST], list[gast.AST]]:
        """(record, restore) of the item of a list that a store replaces, by reference."""
        if once:
            old = self._old(base, UNKNOWN)
            return [assign(old, loaded(target))], [gast.Assign([clone(target)], name_(old), None)]
        stack = self._stack(base)
        taken = expression("stack.pop()", stack=stack)
        return statements("stack.append(x)", stack=stack, x=loaded(target)), [gast.Assign([clone(target)], taken, None)]

    def _entry(self, base: str, target: gast.Subscript, once: bool) -> tuple[list[gast.AST], list[gast.AST]]:
        """(record, restore) of the entry of a dict that a store makes or overwrites."""
        owner, key = target.value, target.slice
        value = call(self.unit, "held", runtime.held, loaded(owner), clone(key))
        array = isinstance(self.inference.kind(loaded(target)), Array)
        if array and base in self.updated and not self.unit.primal.is_generated:  # itself: its content is given back
            value.args.append(constant(False))
        stack = self._old(base, None) if once else self._stack(base)
        taken: gast.AST = name_(stack) if once else expression("stack.pop()", stack=stack)
        place = clone(owner)
        place.ctx = gast.Store()
        back = gast.Assign([place], call(self.unit, "put_back", runtime.put_back, loaded(owner), clone(key), taken), None)
        return [assign(stack, value)] if once else statements("stack.append(x)", stack=stack, x=value), [back]

    def _copied(
        self, base: str, target: gast.AST, value: gast.AST, kind: Kind | None, once: bool
    ) -> tuple[list[gast.AST], list[gast.AST]]:
        if isinstance(kind, Array):
            value = expression("x.copy()", x=value)
        elif not isinstance(kind, Number):
            value = call(self.unit, "own", runtime.own, value)
        if once:
            old = self._old(base, kind)
            return [assign(old, value)], [gast.Assign([target], name_(old), None)]
        stack = self._stack(base)
        return statements("stack.append(x)", stack=stack, x=value), [
            gast.Assign([target], expression("stack.pop()", stack=stack), None)
        ]

    def _old(self, name: str, kind: Kind | None) -> str:
        old = self.unit.local(f"{name}_old")
        self.kinds[old] = kind
        self.unit.bases[old] = f"{self.unit.bases.get(name, name)}_old"
        self.unit.words[old] = "what was in {} before", name
        return old

    def _stack(self, name: str, of: str = "stack") -> str:
        stack = self.unit.local(f"{name}_{of}")
        self.stacks.append(stack)
        self.unit.words[stack] = "what is kept of {}", name
        if of == "stack":
            self.unit.stack_bases[stack] = self.unit.bases.get(name, name)
        self.kinds[stack] = Container(list, None)
        return stack

    def needs_binding(self, name: str) -> None:
        """`name` may be unbound where it is recorded: bind it to None at the head of its block."""
        names = self.unbound.setdefault(self.lifetimes.home[name], [])
        if name not in names:
            names.append(name)

    def head(self, body: Block) -> list[gast.AST]:
        """The bindings to None that the block needs at its head."""
        return [statements("x = None", x=name)[0] for name in self.unbound.get(id(body), ())]


def loaded(node: gast.AST) -> gast.AST:
    """A copy of an expression, to be read."""
    out = clone(node)
    out.ctx = gast.Load()
    return out


def _bound_once(body: Block) -> set[str]:
    counts: dict[str, int] = {}
    for statement in effects.walk(body):
        for name in [*binds(statement), *(effects.writes(statement) - set(binds(statement)))]:
            counts[name] = counts.get(name, 0) + 1
    return {name for name, n in counts.items() if n == 1}
