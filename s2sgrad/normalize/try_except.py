"""`try` with `except`: a trial of each piece of the body decides whether the piece runs, or the handler.

    try: y = np.log(f(x))             which = raised(lambda: np.log(f(x)), ValueError)
    except ValueError: y = 0.0   ->   if which == 0: y = np.log(f(x))
                                      else: y = 0.0

A run of pure assignments is one piece, if nobody can see which of them ran; a statement with an effect is a piece, and what
follows it is guarded by `if which == 0:`.  A loop is left when a piece of it fails.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(K, y):
...     try:
...         L = np.linalg.cholesky(K)
...         return np.sum(np.linalg.solve(L, y))
...     except np.linalg.LinAlgError:
...         return 0.0
... ''', "try_except"))
def f(K, y):
    which = raised(
        lambda: (lambda L: np.sum(np.linalg.solve(L, y)))(np.linalg.cholesky(K)),
        np.linalg.LinAlgError
    )
    if which == 0:
        L = np.linalg.cholesky(K)
        return np.sum(np.linalg.solve(L, y))
    else:
        return 0.0
>>> print(shown('''
... def f(x, k):
...     s = 0.0
...     try:
...         for v in x:
...             s += math.log(v)
...         x[k] = s
...     except ValueError:
...         s = 1.0
...     return s
... ''', "try_except"))
def f(x, k):
    s = 0.0
    which = 0
    for v in x:
        which = raised(lambda: s + math.log(v), ValueError)
        if which == 0:
            s += math.log(v)
        else:
            break
    if which == 0:
        which = raised(lambda: stored(s, x, k), ValueError)
        if which == 0:
            x[k] = s
    if which == 1:
        s = 1.0
    return s
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import gast

from s2sgrad import runtime
from s2sgrad.ir.exits import always_leaves, leaves
from s2sgrad.ir.forms import arguments_of, bound_name
from s2sgrad.ir.quote import assign, at, blocks, clone, constant, empty_arguments, name, nodes, rewritten, stored
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import context_managers
from s2sgrad.normalize.deferred import DeferredCalls
from s2sgrad.normalize.exception_kinds import Kinds
from s2sgrad.normalize.handlers import Handlers, is_told
from s2sgrad.normalize.trials import Trials, moved_out, used_up
from s2sgrad.normalize.unfinished import Unfinished
from s2sgrad.normalize.with_statements import SETTINGS, without_exits
from s2sgrad.runtime import trials

_WHOLE = (gast.Pass, gast.FunctionDef, gast.Global, gast.Nonlocal, gast.Break, gast.Continue)
Rest = Callable[[], list[gast.AST]]
"""Makes the statements after a piece."""



def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without `except`; raises Unsupported if the body does something that cannot be tried."""
    tree.body = rewritten(tree.body, lambda statement: context_managers.suppressed(unit, statement))
    moved_out(unit, tree)
    tree.body = block(unit, tree, tree.body)
    return tree


def block(unit: Unit, tree: gast.FunctionDef, body: list[gast.AST]) -> list[gast.AST]:
    out: list[gast.AST] = []
    for statement in body:
        if isinstance(statement, gast.FunctionDef):
            statement.body = block(unit, statement, statement.body)
        if isinstance(statement, gast.Try) and statement.handlers:
            made = Attempt(unit, tree, statement, None).statements()
            if statement.finalbody:
                statement.finalbody = block(unit, tree, statement.finalbody)
                made = at(statement, gast.Try(made, [], [], statement.finalbody))
            out += made
            continue
        for inner in blocks(statement):
            inner[:] = block(unit, tree, inner)
        out.append(statement)
    return out


class Attempt(Handlers, DeferredCalls):
    """One `try`: `which` is the variable with the number of the handler, `outer` the enclosing `try`."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, statement: gast.Try, outer: Attempt | None) -> None:
        self.unit, self.tree, self.statement, self.outer = unit, tree, statement, outer
        self.which = unit.local("which")
        self.trials = Trials(unit, tree)
        own = [h.type or name(unit.helper("Exception", Exception)) for h in statement.handlers]
        self.kinds = Kinds(unit, [*own, *(outer.kinds.texts if outer else [])])
        self.told = any(is_told(h) for h in statement.handlers) or (outer is not None and outer.told)
        self.unfinished = Unfinished(tree, statement, outer is not None)
        self.mark(statement.body)

    def mark(self, body: list[gast.AST]) -> None:
        """Mark what is tried: by a trial, or in a call that is followed (`specialize.guarded_calls`)."""
        for part in nodes(*body):
            part.tried = True

    # --- the whole statement ---

    def statements(self) -> list[gast.AST]:
        """The statements for the `try`, without its `finally`."""
        statement = self.statement
        self.require_followed()
        body = self.body(statement.body, self.plain(statement.orelse))
        handlers = [self.handler(h) for h in statement.handlers]
        only = self.only_trial(body)
        if only is None and not self.is_set(body):
            return body  # nothing in it raises
        rest = handlers[-1] if only is not None else []
        for k in range(len(handlers) - (only is not None), 0, -1):
            rest = at(statement, gast.If(self.equals(k), handlers[k - 1], rest))
        if only is not None:
            only.orelse = rest
            return body
        first = [] if self.is_first(body) else at(statement, assign(self.which, constant(0)))
        return [*first, *body, *rest]

    def only_trial(self, body: list[gast.AST]) -> gast.If | None:
        """The branch of success, if the body is a single trial at its end."""
        last = body[-1] if body else None
        set_ = [s for s in nodes(*body) if isinstance(s, gast.Assign) and self.which in stored(*s.targets)]
        alone = len(set_) == 1 and len(body) > 1 and body[-2] is set_[0] and self.tests(last)
        return last if alone and self.outer is None and not last.orelse else None

    def tests(self, statement: gast.AST | None) -> bool:
        test = statement.test if isinstance(statement, gast.If) else None
        return isinstance(test, gast.Compare) and isinstance(test.left, gast.Name) and test.left.id == self.which

    def is_set(self, body: list[gast.AST]) -> bool:
        return self.which in stored(*body)

    def is_first(self, body: list[gast.AST]) -> bool:
        """Whether a trial comes before every test of its outcome."""
        return isinstance(next(s for s in body if self.is_set([s])), gast.Assign)

    def equals(self, k: int) -> gast.Compare:
        return gast.Compare(name(self.which), [gast.Eq()], [constant(k)])

    def require_followed(self) -> None:
        """Refuse if running the body twice would exhaust an iterator."""
        gone = used_up(self.unit, self.tree, self.statement.body)
        if gone:
            self.unit.refuse(self.statement, f"`{min(gone)}` is used up by what `try` runs twice, which cannot be followed: "
                                             "make it a list")  # fmt: skip

    def plain(self, body: list[gast.AST]) -> list[gast.AST]:
        """Statements that this `try` does not guard, though an enclosing one may."""
        return block(self.unit, self.tree, body) if self.outer is None else self.outer.body(body, [])

    # --- the body, piece by piece ---

    def body(self, body: list[gast.AST], rest: list[gast.AST]) -> list[gast.AST]:
        """Statements with their trials, followed by `rest`."""
        if not body:
            return rest
        run = self.run_of(body)
        if run:
            done = [*run, *self.body(body[len(run) :], rest)]
            values = [s.value for s in run if s.value is not None]
            return self.tried(self.trials.bindings(run), done) if self.kinds.risk(*values) else done
        first, more = body[0], body[1:]
        if isinstance(first, _WHOLE):
            if isinstance(first, gast.FunctionDef):
                first.body = block(self.unit, first, first.body)
            return [first, *self.body(more, rest)] if not isinstance(first, gast.Pass) else self.body(more, rest)
        return self.piece(first, lambda: self.body(more, rest))

    def run_of(self, body: list[gast.AST]) -> list[gast.AST]:
        """The bindings at the start of a block that share one trial: nobody can see which of them ran."""
        run: list[gast.AST] = []
        for k, statement in enumerate(body):
            if not self.trials.is_binding(statement):
                break
            run.append(statement)
            if not isinstance(statement, gast.Assign) or self.unfinished.is_seen(statement, body[k + 1 :]):
                break
        return run

    def tried(self, value: gast.AST, done: list[gast.AST]) -> list[gast.AST]:
        """`done`, guarded by the trial of an expression."""
        tried = gast.Lambda(empty_arguments(), value)
        raised = gast.Call(name(self.unit.helper("raised", runtime.raised)), [tried, *clone(self.kinds.texts)], [])
        said = assign(self.which, at(self.statement, raised)[0])
        return at(self.statement, said, gast.If(self.equals(0), done, []))

    def guarded(self, before: list[gast.AST], rest: list[gast.AST]) -> list[gast.AST]:
        """Statements, and then others if no piece of the first failed."""
        if not rest or always_leaves(before):
            return before
        if not self.is_set(before):
            return [*before, *rest]
        return [*before, *at(self.statement, gast.If(self.equals(0), rest, []))]

    def piece(self, statement: gast.AST, rest: Rest) -> list[gast.AST]:
        """One statement that is compound or has an effect, and what follows it."""
        method = getattr(self, f"visit_{type(statement).__name__}", None)
        if method is None:
            self.unit.refuse(statement, "this statement in `try` with `except` cannot be differentiated yet: take it out")
        if (simpler := self.of_object(statement)) is not None:
            self.mark(simpler)
            return self.body(at(statement, *simpler), rest())
        value = getattr(statement, "value", None)
        updates = isinstance(statement, gast.AugAssign)
        if not updates and self.is_deferred(value):
            return self.deferred(statement, rest)
        within = value if not updates and isinstance(value, gast.Call) else statement
        if value is not None and (first := self.trials.apart(within)) is not None:
            return self.body([*at(statement, first), statement], rest())
        return method(statement, rest)

    def visit_Assign(self, statement: gast.Assign, rest: Rest) -> list[gast.AST]:
        value = statement.value
        if len(statement.targets) > 1:
            value_name = self.unit.temp()
            parts = [assign(value_name, value), *(gast.Assign([t], name(value_name), None) for t in statement.targets)]
            return self.body(at(statement, *parts), rest())
        alone = isinstance(value, gast.Call) and bound_name(statement) is not None and not self.trials.computes(value)
        tried = self.trials.call(value) if alone else self.trials.assignment(statement.targets[0], value)
        if isinstance(statement.targets[0], gast.Attribute) and not self.kinds.risk(tried):
            return [statement, *rest()]
        return self.tried(tried, [statement, *rest()])

    def visit_AnnAssign(self, statement: gast.AnnAssign, rest: Rest) -> list[gast.AST]:
        if statement.value is None:
            return [statement, *rest()]
        return self.body(at(statement, gast.Assign([statement.target], statement.value, None)), rest())

    def visit_AugAssign(self, statement: gast.AugAssign, rest: Rest) -> list[gast.AST]:
        return self.tried(self.trials.update(statement), [statement, *rest()])

    def visit_Expr(self, statement: gast.Expr, rest: Rest) -> list[gast.AST]:
        if not isinstance(statement.value, gast.Call):
            self.trials.require_computed(statement.value)
        tried = self.trials.call(statement.value)
        return self.tried(tried, [statement, *rest()]) if self.kinds.risk(tried) else [statement, *rest()]

    def visit_Return(self, statement: gast.Return, rest: Rest) -> list[gast.AST]:
        if not isinstance(statement.value, gast.Call):
            self.trials.require_computed(statement.value)
        return self.tried(self.trials.call(statement.value), [statement])

    def visit_Raise(self, statement: gast.Raise, rest: Rest) -> list[gast.AST]:
        if statement.exc is None:
            self.unit.refuse(statement, "`raise` of no exception cannot be followed in `try`: name it")
        self.trials.require_raised(statement.exc)
        handler = self.kinds.due(statement.exc)
        if handler is not None and not self.told:
            return at(statement, assign(self.which, constant(handler)))
        throw = gast.Call(name(self.unit.helper("throw", trials.throw)), [statement.exc], [])
        return self.tried(throw, [])[:1]

    def visit_Assert(self, statement: gast.Assert, rest: Rest) -> list[gast.AST]:
        message = [] if statement.msg is None else [statement.msg]
        error = gast.Raise(gast.Call(self.unit.builtin(AssertionError), message, []), None)
        failed = gast.If(gast.UnaryOp(gast.Not(), statement.test), at(statement, error), [])
        return self.visit_If(at(statement, failed)[0], rest)

    def visit_If(self, statement: gast.If, rest: Rest) -> list[gast.AST]:
        tried = self.test(statement.test)
        statement.body, statement.orelse = self.body(statement.body, []), self.body(statement.orelse, [])
        statement.body = statement.body or at(statement, gast.Pass())
        done = self.guarded([statement], rest())
        return done if tried is None else self.tried(tried, done)

    def test(self, node: gast.AST) -> gast.AST | None:
        """The trial of a truth test; None if it raises nothing that is caught."""
        self.trials.require_computed(node)
        if isinstance(node, gast.Constant) or not (self.kinds.risk(node) or self.kinds.catch(ValueError, TypeError)):
            return None
        return gast.Call(self.unit.builtin(bool), [clone(node)], [])

    def visit_For(self, loop: gast.For, rest: Rest) -> list[gast.AST]:
        self.trials.require_iterable(loop.iter)
        tried = gast.Call(self.unit.builtin(iter), [clone(loop.iter)], [])
        risks = self.kinds.risk(loop.iter) or self.kinds.catch(TypeError)
        self.looped(loop)
        done = self.guarded([loop], rest())
        return self.tried(tried, done) if risks else done

    def visit_While(self, loop: gast.While, rest: Rest) -> list[gast.AST]:
        tried, test = self.test(loop.test), loop.test
        if tried is not None and leaves(loop.orelse):
            self.unit.refuse(loop, "an exit from the `else` of `while` in `try` cannot be differentiated yet: use a flag")
        self.looped(loop)
        if tried is not None:
            stop = gast.If(gast.UnaryOp(gast.Not(), test), [*loop.orelse, *at(loop, gast.Break())], [])
            loop.orelse = []
            first, branch = self.tried(tried, at(loop, stop))
            branch.orelse = at(loop, gast.Break())
            loop.test, loop.body = constant(True), [first, branch, *loop.body]
        return self.guarded([loop], rest())

    def looped(self, loop: gast.For | gast.While) -> None:
        """The blocks of a loop, which is left when a piece fails."""
        body = self.body(loop.body, [])
        if self.is_set(body):
            last, leave = body[-1], at(loop, gast.Break())
            if self.only_trial(body) is not None and self.tests(last):
                last.orelse = leave
            else:
                body += at(loop, gast.If(gast.Compare(name(self.which), [gast.NotEq()], [constant(0)]), leave, []))
        loop.body, loop.orelse = body or at(loop, gast.Pass()), self.body(loop.orelse, [])

    def visit_With(self, statement: gast.With, rest: Rest) -> list[gast.AST]:
        for item in statement.items:
            if self.unit.called(item.context_expr) not in (*SETTINGS, contextlib.nullcontext):
                self.unit.refuse(statement, "this context in `try` with `except` cannot be followed: put `try` into it")
            for value in arguments_of(item.context_expr):
                self.trials.require_computed(value)
        statement.body = self.body(statement.body, [])
        return self.guarded([statement], rest())

    def visit_Try(self, statement: gast.Try, rest: Rest) -> list[gast.AST]:
        inner = Attempt(self.unit, self.tree, statement, self)
        body = inner.statements() if statement.handlers else self.body([*statement.body, *statement.orelse], [])
        if statement.handlers and inner.is_set(body):
            passed = gast.Call(name(self.unit.helper("passed_on", trials.passed_on)),
                               [name(inner.which), constant(len(statement.handlers))], [])  # fmt: skip
            failed = gast.Compare(name(inner.which), [gast.Gt()], [constant(len(statement.handlers))])
            body += at(statement, gast.If(failed, at(statement, assign(self.which, passed)), []))
        if not statement.finalbody:
            return self.guarded(body, rest())
        return self.finally_(statement, body, rest)

    def finally_(self, statement: gast.Try, made: list[gast.AST], rest: Rest) -> list[gast.AST]:
        """`finally` runs whether a piece failed or not; an exception of its own replaces the earlier one."""
        if leaves(statement.finalbody):
            self.unit.refuse(statement, "an exit from `finally` cannot be differentiated yet: put it behind the `try`")
        before, body, after = without_exits(self.unit, at(statement, gast.Try(made, [], [], []))[0])
        last = Attempt(self.unit, self.tree, statement, self)
        last.kinds = self.kinds
        final = last.body(statement.finalbody, [])
        if last.is_set(final):
            failed = gast.Compare(name(last.which), [gast.NotEq()], [constant(0)])
            final = [*at(statement, assign(last.which, constant(0))), *final,
                     *at(statement, gast.If(failed, at(statement, assign(self.which, name(last.which))), []))]  # fmt: skip
        return [*before, *self.guarded([*body, *final], [*after, *rest()])]
