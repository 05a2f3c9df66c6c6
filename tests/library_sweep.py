"""Every public callable of NumPy and SciPy, differentiated on arguments that a search finds: right or refused, never else.

    python tests/library_sweep.py                            everything; prints what is wrong or crashed, and counts
    python tests/library_sweep.py scipy.special numpy:take   these modules and callables
    python tests/library_sweep.py --seed 3                   other arguments, in other ways

Arguments are found by trial: values of `PALETTE` in every place, one optional keyword at a time, until a plain call
succeeds.  Each success is a `Call`; its text is a program like those of the random generators.  The trials run in child
processes, since some arguments end the interpreter inside of a library: the child is started anew behind such a callable.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import importlib
import inspect
import io
import itertools
import json
import math
import operator
import os
import random
import re
import signal
import subprocess
import sys
import types
import warnings
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from differences import leaves_sum, moved
from scipy import sparse

UFUNC_METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")
MODULES = (
    "numpy",
    "numpy.linalg",
    "numpy.fft",
    "scipy.special",
    "scipy.linalg",
    "scipy.spatial.distance",
    "scipy.sparse",
    "scipy.sparse.linalg",
    "scipy.sparse.csgraph",
    "scipy.signal",
    "scipy.ndimage",
    "scipy.interpolate",
    "scipy.integrate",
    "scipy.stats",
    "scipy.fft",
)
ARRAYS = "array"  # stands for a module in a name: methods and attributes of arrays
NUMBERS = "number"  # and of the numbers that reductions give
SPARSE_ARRAYS = "sparse"
OWNERS = {ARRAYS: np.ndarray, NUMBERS: np.float64, SPARSE_ARRAYS: sparse.csr_array}

FLOATS = {
    "v": "np.array([0.3, 0.71, 0.45, 0.92, 0.2])",
    "m": "np.array([[2.1, 0.3, 0.25], [0.3, 1.4, 0.4], [0.25, 0.4, 0.9]])",
    "s": "0.6",
    "w": "np.array([0.15, 0.38, 0.55, 0.8, 1.35])",
    "n": "np.array([[0.21, 0.83, 0.47], [0.65, 0.34, 0.12]])",
    "big": "2.4",
}
OTHERS = {
    "two": "2",
    "one": "1",
    "i": "np.array([0, 2, 1, 3, 1])",
    "k": "np.array([True, False, True, True, False])",
    "pair": "[0, 1]",
    "five": "(5,)",
    "f": "np.sinc",
    "zero": "0",
    "yes": "True",
    "half": "2.5",  # an order that SciPy cuts off to 2
}
LISTS = {  # made of floats, for NumPy and SciPy take them for arrays
    "l": "[s, big, 1.3]",
    "r": "[[big, s], [s, 1.3]]",
    "p": "([big, s, 0.2], [big, 0.1, s])",
}
SPARSE = {  # made of floats, for the modules that are about them
    "S": "sparse.csr_array(m)",
    "T": "sparse.csc_array(2.0 * m)",
    "D": "sparse.diags_array(v)",
    "C": "(v, (np.array([0, 2, 1, 3, 1]), np.array([1, 0, 2, 3, 3])))",
    "L": "[sparse.csr_array(m), sparse.csr_array(3.0 * m)]",
    "B": "[[sparse.csr_array(m), None], [None, sparse.csr_array(n)]]",
}
MADE = LISTS | SPARSE
CARRYING = {*FLOATS, *MADE}
PALETTE = FLOATS | OTHERS
VALUES = {name: eval(text, {"np": np}) for name, text in PALETTE.items()}

WAYS = ("constant", "global", "default", "found", "overwritten", "item", "listed")
"""The other arguments are constants of the text, globals, defaults, or found in a dict; or what is given is overwritten; or
of an array the last row is read alone; or arrays are given as lists of their elements."""

TRIALS = 300  # plain calls of one callable, in each of three ways
KEPT = 2  # calls that each way keeps
LEAVES = 3  # parts of one result that are differentiated
SECONDS = 20  # of the processor, for one callable
SKIPPED = re.compile(
    r"numpy:(test|show_.*|info|save.*|memmap|get_include|empty.*)"  # write files, print, or give what memory holds
    r"|scipy.linalg:qr_delete|scipy.signal:iircomb|scipy.interpolate:splprep"  # end the interpreter, sooner or later
    r"|scipy.sparse.linalg:funm_multiply_krylov"  # the same
    r"|(array|number):choose"  # takes one number for all its choices, which np.choose does not
)

SPECIAL = re.compile(
    r"scipy.signal:ellip(ap)?"  # of two equal ripples: an elliptic integral at its pole
    r"|scipy.sparse.linalg:(gcrotmk|bicg|bicgstab|cg|cgs)"  # to what their tolerance says, and symmetry
    r"|scipy.special:(ncfdtrinc|lambertw)"  # to what SciPy's inverse is accurate, and with a tolerance of 2
    r"|scipy.special:mathieu_mod[cs]em2"  # where `q` is 0 there is no such function
    r"|scipy.ndimage:extrema"  # of labels that move with the numbers
    r"|numpy:poly1d|array:put"  # of a number, and at a float: as `np.polyval` and `np.put`, which refuse these
)


@dataclass(frozen=True)
class Call:
    """One call of a library: its arguments, names of the palette or texts, and the part of its result that is read."""

    callee: str  # as "scipy.special:gamma"
    places: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...] = ()
    called: tuple[str, ...] | None = None  # the result is called with these
    part: tuple = ()  # the path to a number or an array in the result
    size: bool = False  # the size of it is taken, since it is complex
    written: str = ""  # the float argument of which a copy is passed, and read in place of the result
    out: tuple[int, ...] | None = None  # the shape of a buffer that is passed as `out=`, and read in place of the result
    way: str = "constant"  # how the other arguments are given, see WAYS

    @property
    def used(self) -> list[str]:
        """What is given, by name."""
        return [*self.places, *(value for _, value in self.keywords), *(self.called or ())]

    @property
    def others(self) -> list[str]:
        """The names that the other arguments have in the text; none where they are constants of it."""
        named = self.way in ("global", "default", "found")
        return [name for name in dict.fromkeys(self.used) if name in OTHERS and named]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the float arguments."""
        used = self.used
        used += [name for part in used for name in FLOATS if re.search(rf"\b{name}\b", MADE.get(part, ""))]
        return tuple(name for name in dict.fromkeys(used) if name in FLOATS)

    @property
    def expression(self) -> str:
        module, _, name = self.callee.partition(":")
        texts = {part: part for part in FLOATS} | OTHERS | MADE | ({self.written: "y"} if self.written else {})
        texts |= {name: name for name in self.others}
        if self.way == "listed" and module not in OWNERS:
            texts |= {part: _listed(part) for part in FLOATS if part != self.written}
        given = [texts.get(part, part) for part in self.places]
        given += [f"{key}={texts.get(value, value)}" for key, value in self.keywords]
        given += ["out=y"] if self.out is not None else []
        if module in OWNERS:
            head = f"np.sum({given.pop(0)})" if module == NUMBERS else given.pop(0)
            text = f"{head}.{name}" + (f"({', '.join(given)})" if callable(_attribute(module, name)) else "")
        else:
            text = f"lib.{name}({', '.join(given)})"
        if self.called is not None:
            text += f"({', '.join(self.called)})"
        return text + "".join(f".{key}" if isinstance(key, str) else f"[{key}]" for key in self.part)

    @property
    def source(self) -> str:
        """A module with a function `f` of the float arguments, whose result is a weighted sum of what the call gives."""
        module = self.callee.partition(":")[0]
        library = "" if module in OWNERS else f"import {module} as lib\n"
        library += "from scipy import sparse\n" if "sparse." in self.expression else ""
        weights = "np.cos(1.0 + np.arange(np.size(y))).reshape(np.shape(y))"
        lines = f"    y = {self.expression}\n"
        if self.written or self.out is not None:
            buffer = f"{self.written}.copy()" if self.written else f"np.zeros({self.out})"
            lines = f"    y = {buffer}\n    {self.expression}\n"
        given, head = {name: OTHERS[name] for name in self.others}, ", ".join(self.parameters)
        if self.way == "global":
            library += "".join(f"{name} = {text}\n" for name, text in given.items())
        elif self.way == "default":
            head += "".join(f", {name}={text}" for name, text in given.items())
        elif self.way == "found":
            library += f"given = dict({', '.join(f'{name}={text}' for name, text in given.items())})\n"
            lines = "".join(f"    {name} = given[{name!r}]\n" for name in given) + lines
        if self.way == "item" and not self.part:
            lines += "    y = y[-1] if np.ndim(y) and np.size(y) else y\n"
        if self.way == "overwritten":
            arrays = [name for name in self.parameters if np.ndim(VALUES[name])]
            lines = "".join(f"    {name} = {name} * 1.0\n" for name in arrays) + lines
            lines += "".join(f"    {name}[...] = 7.0\n" for name in arrays)
        return (
            f"import numpy as np\n{library}\n\ndef f({head}):\n{lines}"
            f"    return np.sum({weights} * {'np.abs(y)' if self.size else 'y'})\n"
        )


def _listed(name: str) -> str:
    """A float argument as a list of its elements, or of rows of them."""
    value = VALUES[name]
    if np.ndim(value) < 2:
        return f"[{', '.join(f'{name}[{k}]' for k in range(len(value)))}]" if np.ndim(value) else name
    rows, columns = np.shape(value)
    return f"[{', '.join('[' + ', '.join(f'{name}[{i}, {j}]' for j in range(columns)) + ']' for i in range(rows))}]"


def _attribute(module, name):
    return getattr(OWNERS[module], name)


def names(modules=(*MODULES, *OWNERS)) -> list[str]:
    """What is public and can be called, as "module:name", each object once."""
    found, seen = [], set()
    for module in modules:
        if module in OWNERS:
            found += [f"{module}:{name}" for name in dir(OWNERS[module]) if not name.startswith("_")]
            continue
        library = importlib.import_module(module)
        listed = getattr(library, "__all__", None) or dir(library)
        for name in sorted(listed):
            value = getattr(library, name, None)
            if name.startswith("_") or isinstance(value, types.ModuleType) or not callable(value) or id(value) in seen:
                continue
            if isinstance(value, type) and issubclass(value, (np.generic, BaseException)):
                continue
            seen.add(id(value))
            found.append(f"{module}:{name}")
            if module == "numpy" and isinstance(value, np.ufunc) and (value.nin, value.nout) == (2, 1):
                found += [f"{module}:{name}.{method}" for method in UFUNC_METHODS]
    return [name for name in found if not SKIPPED.fullmatch(name)]


# --- arguments ---------------------------------------------------------------------------------------------------------


USUAL = tuple(name for name in PALETTE | LISTS if name not in ("yes", "k"))
MASKED = (*USUAL, "k")  # where NumPy may take a mask
OPERANDS = tuple(name for name in USUAL if name != "f")


def parameters(callee: str) -> tuple[list[tuple[str, ...]], int, list[tuple[str, tuple[str, ...]]]]:
    """What each parameter by position may be given, how many of them are required, and the same for keywords."""
    module, _, name = callee.partition(":")
    if module in OWNERS:
        count = 3 if callable(_attribute(module, name)) else 1
        first = MASKED if module != SPARSE_ARRAYS else tuple(SPARSE)[:3]
        return [first] + [MASKED] * (count - 1), 1, [("axis", USUAL), ("keepdims", ("yes",)), ("where", ("k",))]
    value = operator.attrgetter(name)(importlib.import_module(module))
    if isinstance(getattr(value, "__self__", None), np.ufunc):
        optional = {"axis": ("zero", "one", "pair"), "keepdims": ("yes",), "where": ("k",), "initial": ("big",)}
        return [MASKED] * 3, 1, [*optional.items()]
    if isinstance(value, np.ufunc):
        masks = [("where", ("k",))] if module == "numpy" else []  # SciPy 1.17 computes other elements than its masks say
        return [OPERANDS] * value.nin, value.nin, [*masks, ("out", tuple(FLOATS))]
    try:
        listed = inspect.signature(value).parameters.values()
    except (ValueError, TypeError):
        return [MASKED] * 3, 1, []
    by_position = [p for p in listed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    places = [_given(p, value) for p in by_position] + [USUAL] * 2 * any(p.kind is p.VAR_POSITIONAL for p in listed)
    if module.startswith("scipy.sparse"):
        places = [(*SPARSE, *given) if given == USUAL else given for given in places]
    required = max(1, sum(p.default is p.empty for p in by_position))
    keywords = [(p.name, _given(p, value)) for p in listed if p.default is not p.empty and p.kind is not p.POSITIONAL_ONLY]
    return places[:4], required, keywords


def _given(parameter, value) -> tuple[str, ...]:
    """What a parameter may be given: of texts those that the documentation lists, of truth values both."""
    if isinstance(parameter.default, bool) or parameter.name == "keepdims":
        return "yes", "zero"
    if parameter.name == "out":
        return tuple(FLOATS)
    if isinstance(parameter.default, float):
        return *FLOATS, "one", "two"
    if parameter.name in ("ind", "indices", "condlist", "kth"):
        return tuple(OTHERS)
    if isinstance(parameter.default, int) or parameter.name in ("axis", "axes", "deg"):
        return "zero", "one", "two", "pair"
    if isinstance(parameter.default, str):
        listed = re.search(rf"^\s*{parameter.name}\b.*?:(.*?)$", inspect.getdoc(value) or "", re.M)
        texts = re.findall(r"'\w+'|\"\w+\"", listed[1]) if listed else []
        return tuple(dict.fromkeys([repr(parameter.default), *texts]))
    return USUAL


def candidates(callee: str, rng: random.Random):
    """Calls to try: the usual arguments first; then one keyword at a time; then more arguments by position."""
    places, required, keywords = parameters(callee)

    def filled(count):
        choices = places[:count]
        floats = [[name for name in choice if name in CARRYING] or choice for choice in choices]
        orders = (list(itertools.islice(_shuffled(options, rng), TRIALS // 2)) for options in (floats, choices))
        return [call for pair in itertools.zip_longest(*orders) for call in pair if call and CARRYING & {*call}]

    yield [Call(callee, call) for call in filled(required)]
    if keywords:
        keyed = [Call(callee, c, ((k, v),)) for c in filled(required)[:40] for k, values in keywords for v in values]
        yield rng.sample(keyed, min(TRIALS, len(keyed)))
    for count in range(required + 1, len(places) + 1):
        yield [Call(callee, call) for call in filled(count)]


def _shuffled(options, rng):
    """All combinations in a random order; where there are many, combinations drawn at random."""
    if math.prod(map(len, options)) <= 5000:
        every = list(itertools.product(*options))
        rng.shuffle(every)
        return iter(every)
    return (tuple(map(rng.choice, options)) for _ in itertools.count())


def plain(call: Call):
    """The arguments of a call, and a function of them that gives its result."""
    args = [_copied(VALUES[name]) for name in call.parameters]
    call = replace(call, way="constant")
    return args, eval(f"lambda {', '.join(call.parameters)}: {call.expression}", _library(call))


def _copied(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def parts(value, depth=3):
    """The paths to numbers and arrays of floats or complex numbers in a result, and which these are."""
    if sparse.issparse(value) and value.dtype.kind in "fc":
        for rest, is_complex in parts(value.toarray()):
            yield ("toarray()", *rest), is_complex
    elif isinstance(value, np.ndarray):
        if value.dtype.kind in "fc" and value.size and np.all(np.isfinite(value)) and np.all(np.abs(value) < 1e4):
            yield (), value.dtype.kind == "c"
    elif isinstance(value, (float, complex)):
        if abs(value) < 1e4:
            yield (), isinstance(value, complex)
    elif isinstance(value, (tuple, list)) and depth:
        fields = getattr(value, "_fields", None) or range(len(value))
        for key, item in zip(fields, value, strict=False):
            for rest, is_complex in parts(item, depth - 1):
                yield (key, *rest), is_complex


def found(callee: str, seed: int = 0) -> list[Call]:
    """Calls of this callable that succeed, each with a part of the result that may carry a derivative."""
    rng = random.Random(f"{callee}/{seed}" if seed else callee)
    result = []
    for group in candidates(callee, rng):
        kept, shapes = 0, set()
        for call in group:
            if kept == KEPT:
                break
            for done in _tried(call):
                floats = tuple(n if n in MADE else n in FLOATS for n in call.places)
                shape = (floats, call.keywords, done.part, done.written, done.out is None)
                if shape not in shapes:
                    shapes.add(shape)
                    result.append(replace(done, way=rng.choice(WAYS) if seed else "constant"))
                    kept += 1
    return result


def _tried(call: Call) -> list[Call]:
    try:
        args, expression = plain(call)
        value = expression(*args)
    except Exception:
        return []
    changed = [name for name, arg in zip(call.parameters, args, strict=True) if not np.array_equal(arg, VALUES[name])]
    return [*(replace(call, written=name) for name in changed), *_with_values(call, value)]


def _with_values(call: Call, value) -> list[Call]:
    """The parts of a result that are read, and the call with a buffer for the result."""
    if callable(value) and not isinstance(value, (type, np.ndarray, np.generic)):
        return [] if call.called else [done for n in ("s", "v") for done in _tried(replace(call, called=(n,)))]
    read = [replace(call, part=part, size=is_complex) for part, is_complex in itertools.islice(parts(value), LEAVES)]
    if isinstance(value, np.ndarray) and value.dtype == float and not any(key == "out" for key, _ in call.keywords):
        buffered = replace(call, out=np.shape(value))
        args, _ = plain(call)
        with contextlib.suppress(Exception):
            space = _library(call) | {"y": np.zeros(buffered.out)}
            eval(f"lambda {', '.join(call.parameters)}: {buffered.expression}", space)(*args)
            if np.any(space["y"]):
                read.append(buffered)
    return read


def _library(call: Call) -> dict:
    module = call.callee.partition(":")[0]
    return {"np": np, "sparse": sparse} | ({} if module in OWNERS else {"lib": importlib.import_module(module)})


# --- judgement ---------------------------------------------------------------------------------------------------------


def judged(call: Call) -> tuple[str, str]:
    """What became of a call: right, refused, rejected (differences cannot judge it), wrong or crashed; and why."""
    from judging import Rejected, expected, loaded

    from s2sgrad import S2SGradError, value_and_grad
    from s2sgrad.api.forward import jvp
    from s2sgrad.errors import Defect
    from s2sgrad.runtime.checks import Refusal

    args = [_copied(VALUES[name]) for name in call.parameters]
    argnums = tuple(range(len(args)))
    outcomes = []
    with loaded(call.source, "<sweep>") as f:
        try:
            value, directions, slopes = expected(f, args, argnums)
            if not np.array_equal(value, f(*map(_copied, args))):
                raise Rejected("another value each time")
            if any(_has_kink(f, args, n, direction, value) for n, direction in zip(argnums, directions, strict=True)):
                raise Rejected("a kink")
        except Rejected as error:
            return "rejected", str(error)
        for mode in ("grad", "jvp"):
            try:
                if mode == "grad":
                    own, gradients = value_and_grad(f, argnums)(*[_copied(a) for a in args])
                    got = [float(np.sum(np.multiply(g, d))) for g, d in zip(gradients, directions, strict=True)]
                    fits = all(np.shape(g) == np.shape(a) for g, a in zip(gradients, args, strict=True))
                else:
                    own, got, fits = None, [], True
                    for k, direction in enumerate(directions):
                        tangents = [direction if i == k else None for i in argnums]
                        own, tangent = jvp(f, tuple(_copied(a) for a in args), tuple(tangents))
                        got.append(float(tangent))
            except Defect as error:
                outcomes.append(("crashed", f"{mode}: {_line(error)}"))
                continue
            except (S2SGradError, Refusal) as error:
                outcomes.append(("refused", f"{mode}: {type(error).__name__}: {_line(error)}"))
                continue
            except Exception as error:
                outcomes.append(("crashed", f"{mode}: {type(error).__name__}: {error}"))
                continue
            if outcomes and outcomes[0][0] == "refused" and np.all(np.isnan(got)):
                outcomes.append(("refused", f"{mode}: nan says that a tangent is not known"))
                continue
            close = all(abs(g - s) <= 2e-5 * max(1.0, abs(s), abs(float(value))) for g, s in zip(got, slopes, strict=True))
            same = np.allclose(own, value, rtol=1e-12, atol=1e-12, equal_nan=True)
            if close and same and fits:
                outcomes.append(("right", mode))
            else:
                why = f"{got} for {slopes}" if not close else f"value {own} for {value}" if not same else "shape"
                outcomes.append(("wrong", f"{mode}: {why}"))
    for word in ("wrong", "crashed", "refused"):
        told = [why for kind, why in outcomes if kind == word]
        if told:
            return word, "; ".join(told)
    return "right", ""


def _has_kink(f, args, number, direction, value, step=1e-6):
    """Whether the slopes on both sides differ, as where two elements tie."""
    ahead, behind = (leaves_sum(f(*moved(args, (number,), (direction,), shift))) for shift in (step, -step))
    value = leaves_sum(value)
    return abs(ahead - 2.0 * value + behind) / step > 1e-4 * max(1.0, abs(ahead - behind) / step, abs(value))


def _line(error):
    return str(error).strip().split("\n")[0][:160]


def outcome(call: Call) -> dict:
    """A call judged, for JSON."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        word, why = judged(call)
    return {"callee": call.callee, "word": word, "why": why, "source": call.source}


def _child(seed):
    """Judge the callables that arrive on the standard input; a line of JSON for each call, and one behind each callable."""
    out = sys.stdout
    sys.stdout = io.StringIO()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGVTALRM, _late)
    for line in sys.stdin:
        callee = line.strip()
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            signal.setitimer(signal.ITIMER_PROF, 5 * SECONDS)  # for what never comes back from the library: this ends it
            faulthandler.dump_traceback_later(60 * SECONDS, exit=True)  # for what waits for ever
            with np.printoptions():  # which `set_printoptions` changes for all
                calls = found(callee, seed)
            print(json.dumps({"callee": callee, "word": "found"}), file=out, flush=True)
            for call in calls:
                print(json.dumps(outcome(call)), file=out, flush=True)
        except Late:
            pass
        except Exception as error:  # of ours: those of the library are caught where it is called
            told = {"callee": callee, "word": "crashed", "why": f"the search: {error!r}", "source": ""}
            print(json.dumps(told), file=out, flush=True)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.setitimer(signal.ITIMER_PROF, 0)
            faulthandler.cancel_dump_traceback_later()
        print(json.dumps({"callee": callee, "word": "done"}), file=out, flush=True)


class Late(BaseException):
    """One callable took longer than it may: nothing that a call can catch."""


def _late(*_):
    raise Late


def swept(callees, seed=0):
    """The outcomes of many callables, computed in a child process that is started anew where one ends it."""
    left, searching = list(callees), True
    while left:
        child = subprocess.Popen(
            [sys.executable, __file__, "--child", "--seed", str(seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        try:
            while left:
                child.stdin.write(left[0] + "\n")
                child.stdin.flush()
                searching = True
                while True:
                    line = child.stdout.readline()
                    if not line:
                        raise BrokenPipeError
                    if not line.startswith('{"'):  # what a library in C prints
                        continue
                    told = json.loads(line)
                    if told["word"] == "done":
                        break
                    if told["word"] == "found":
                        searching = False
                    else:
                        yield told
                left.pop(0)
        except BrokenPipeError:
            if not searching:
                yield {"callee": left[0], "word": "crashed", "why": "the interpreter", "source": ""}
            left.pop(0)
        finally:
            child.kill()
            child.communicate()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wanted", nargs="*", help="modules, or callables as module:name")
    parser.add_argument("--seed", type=int, default=0, help="draw other arguments")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return _child(options.seed)
    every = names((*MODULES, *OWNERS, *(w for w in options.wanted if ":" not in w and w not in (*MODULES, *OWNERS))))
    wanted = [n for n in every if not options.wanted or n in options.wanted or n.partition(":")[0] in options.wanted]
    counts = Counter()
    for told in swept(wanted, options.seed):
        counts[told["word"]] += 1
        if told["word"] in ("wrong", "crashed"):
            print(f"{told['word']}: {told['callee']}: {told['why']}\n{told['source']}", flush=True)
    print(*(f"{count} {word}" for word, count in counts.most_common()), sep=", ")


if __name__ == "__main__":
    main()
