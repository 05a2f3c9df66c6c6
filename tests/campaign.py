"""Judge many random programs, in several processes, and tell what is wrong, refused or crashed.

    python tests/campaign.py mutation_programs:mutation_program --count 2000 --order 1 --jobs 2

Every wrong number and every exception that is not a refusal is shown after reduction; refusals are counted by message.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import re
import signal
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from judging import JUDGES, Order, Rejected, check, check_second, explained

from s2sgrad import S2SGradError
from s2sgrad.errors import Defect
from s2sgrad.runtime.checks import Refusal

SECONDS = 60  # of the processor, that one program may take


def outcome(maker: str, seed: int, order: Order) -> tuple[str, str]:
    """What became of one program: a word, and what there is to tell."""
    module, name = maker.split(":")
    program = getattr(importlib.import_module(module), name)(seed)
    signal.signal(signal.SIGVTALRM, _late)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("error")
            check_second(program) if order == 2 else check(program, JUDGES[order])
        return "right", ""
    except Rejected as error:
        return "rejected", str(error)
    except Defect as error:  # the compiler itself failed
        return "crashed", f"{error}\n{program!r}\n{program.source}"
    except (S2SGradError, Refusal) as error:
        return "refused", str(error)
    except Exception as error:
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        word = "wrong" if isinstance(error, AssertionError) else "crashed"
        with contextlib.suppress(Exception):
            if not isinstance(error, (TimeoutError, MemoryError)):  # what is shorter may never end
                return word, explained(program, error, order)
        return word, f"{type(error).__name__}: {error}\n{program!r}\n{program.source}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _late(*_):
    raise TimeoutError(f"more than {SECONDS} s")


def _order(text: str) -> Order:
    return int(text) if text.lstrip("-").isdecimal() else text


def _outcome(job):
    return job[1], *outcome(*job)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("maker", help="module:function that writes a program of a seed")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--order", type=_order, default=1, choices=[*JUDGES, 2],
                        help="0: tangents in forward mode; -1: pullbacks, called twice; or a matrix")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--refusals", action="store_true", help="show the first refusal of each message")
    options = parser.parse_args()
    jobs = [(options.maker, seed, options.order) for seed in range(options.first, options.first + options.count)]
    counts, messages, examples = Counter(), Counter(), {}
    with ProcessPoolExecutor(options.jobs) as pool:
        for seed, word, text in pool.map(_outcome, jobs, chunksize=10):
            counts[word] += 1
            if word in ("wrong", "crashed"):
                print(f"==== {word}, seed {seed}\n{text}\n", flush=True)
            elif word == "refused":
                message = re.sub(r"`[^`]*`", "`..`", text.splitlines()[0])
                messages[message] += 1
                examples.setdefault(message, (seed, text))
    for message, count in messages.most_common(40):
        print(f"{count:6} {message}")
        if options.refusals:
            print(f"seed {examples[message][0]}:\n{examples[message][1]}\n")
    print(f"{options.maker}, order {options.order}: {sum(counts.values())} programs: {dict(counts)}")


if __name__ == "__main__":
    main()
