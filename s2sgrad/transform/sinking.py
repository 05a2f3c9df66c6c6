"""A value whose derivative only one arm of an `if` wants is computed in that arm: elsewhere it gets no adjoint.

    d = np.log(x)                          if x > 0.0:
    if x > 0.0:              ->                d = np.log(x)
        y = y + d                              y = y + d

    r = a * x                              r = a * x; t = np.isnan(r)
    t = np.isnan(r)                        if t:
    if t:                    ->                pass
        pass                               else:
    else:                                      r_ = a * x
        y = y + r                              y = y + r_

An adjoint of 0 would meet a slope that may be infinite or nan there, and `0.0 * inf` is nan.
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad.analysis import contexts, effects, fits
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array, Number
from s2sgrad.analysis.lifetimes import Block
from s2sgrad.analysis.memory import Memory
from s2sgrad.analysis.operations import classify
from s2sgrad.quote import clone, nodes
from s2sgrad.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef, inference: Inference, fixed: set[str]) -> None:
    """Move assignments down into the arms that alone use them; those of `fixed` variables stay."""
    if any(isinstance(s, gast.If) for s in effects.walk(tree.body)):
        _Sinking(unit, tree, inference, fixed).block(tree.body)


class _Sinking:
    def __init__(self, unit: Unit, tree: gast.FunctionDef, inference: Inference, fixed: set[str]) -> None:
        self.unit, self.inference, self.fixed = unit, inference, fixed
        self.memory = Memory(unit, tree, inference.env)
        self.mentions = Counter(n.id for n in nodes(tree) if isinstance(n, gast.Name))
        self.asked: set[str] = set()  # variables of which no derivative is wanted any more

    def block(self, body: Block) -> None:
        for k in range(len(body) - 1, -1, -1):
            arm = self.only_user(body, k)
            if arm is None:
                continue
            target = body[k].targets[0].id
            if sum(_mentions(s, target) for s in arm) + 1 == self.mentions[target]:
                arm.insert(0, body.pop(k))
            else:
                self.again(body[k], arm)
        for statement in body:
            if isinstance(statement, (gast.If, gast.For, gast.While)):
                self.block(statement.body)
                self.block(statement.orelse)

    def again(self, statement: gast.Assign, arm: Block) -> None:
        """Compute a value once more in an arm, for those who want its derivative."""
        target = statement.targets[0].id
        self.asked.add(target)
        made = self.unit.local(target)
        self.unit.bases[made] = self.unit.bases.get(target, target)
        self.inference.env[made] = self.inference.env[target]
        if target in self.unit.temps:
            self.unit.temps.add(made)
        arm.insert(0, clone(statement))
        for node in (n for s in arm for n in nodes(s)):
            if isinstance(node, gast.Name) and node.id == target:
                node.id = made
        moved = sum(_mentions(s, made) for s in arm)
        self.mentions[made], self.mentions[target] = moved, self.mentions[target] - moved + 1
        for read in effects.reads(statement):
            self.mentions[read] += 1

    def only_user(self, body: Block, k: int) -> Block | None:
        """The arm of a later `if` in which alone the statement's derivative is wanted, and its value could be computed."""
        statement = body[k]
        if not isinstance(statement, gast.Assign) or not isinstance(statement.targets[0], gast.Name):
            return None
        target = statement.targets[0].id
        if target in self.fixed or not isinstance(self.inference.env.get(target), (Number, Array)):
            return None
        place = next((m for m in range(k + 1, len(body)) if self.wants(body[m], target)), None)
        user = body[place] if place is not None else None
        if not isinstance(user, gast.If):
            return None
        counts = [sum(_mentions(s, target) for s in arm) for arm in (user.body, user.orelse)]
        before = sum(_mentions(s, target) for s in body[k:place]) + _mentions(user.test, target)
        if 0 not in counts or sum(counts) + before != self.mentions[target]:
            return None
        if not self.may_move(statement, body[k + 1 : place]):
            return None
        return user.body if counts[0] else user.orelse

    def wants(self, statement: gast.AST, target: str) -> bool:
        """Whether a statement uses a value, and does more than to ask a question about it."""
        if not _mentions(statement, target):
            return False
        if not isinstance(statement, gast.Assign) or effects.stored(statement) is not None:
            return True
        if isinstance(statement.targets[0], gast.Name) and statement.targets[0].id in self.asked:
            return False
        return classify(self.unit, statement.value, self.inference.env).form != "flat"

    def may_move(self, statement: gast.Assign, over: Block) -> bool:
        """Whether the statement computes the same behind the others, and nothing misses it where it is not run."""
        operation = classify(self.unit, statement.value, self.inference.env)
        if operation.form not in ("rule", "call", "item") or not effects.is_pure(self.unit, statement.value):
            return False
        if not fits.is_certain(statement, self.inference, {id(statement): operation}):
            return False
        used = {n for read in effects.reads(statement) for n in self.memory.with_memory_of(read)}
        if used & self.memory.lost or statement.targets[0].id in self.memory.written:
            return False
        parts = list(effects.walk(over))
        return not any(contexts.end(part) or used & self.memory.changed(part) for part in parts)


def _mentions(node: gast.AST, target: str) -> int:
    return sum(isinstance(n, gast.Name) and n.id == target for n in nodes(node))
