"""Options of the tests, which of them are left out by default, and what is printed at the end.

    @pytest.mark.sampled(one_in=2)           of the cases of this test one in two is run; `--all` runs them all
    @pytest.mark.sampled(one_in=2, turn=1)   the others of the same cases: each gets one of the two tests

Only the dear checks are sampled, for the tests are to end within ten minutes on two cores.  Which cases are taken is told
by their names: the same ones on every run.  Whoever names a test on the command line gets all its cases.
"""

import gc
import hashlib
from collections import Counter

import pytest
import shares

from s2sgrad import cache, compiled

LEFT_OUT = pytest.StashKey[int]()


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write tests/golden/*.py anew from what is generated now")
    parser.addoption("--all", action="store_true", help="run every dear check on every case, not on a sample of them")


def pytest_configure(config):
    config.stash[LEFT_OUT] = 0
    config.addinivalue_line("markers", "sampled(one_in, turn=0): without --all, run only one in so many of the cases")


def is_left_out(item):
    """Whether the case of a sampled test is not one of those that are taken."""
    marker = item.get_closest_marker("sampled")
    if marker is None:
        return False
    name = item.callspec.id
    case = int(name) if name.isdecimal() else int.from_bytes(hashlib.sha256(name.encode()).digest())
    return (case + marker.kwargs.get("turn", 0)) % marker.kwargs["one_in"] != 0


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """The long tests first, which then nobody waits for at the end."""
    named = config.option.keyword or any("::" in argument for argument in config.args)
    if not (config.option.all or named):
        left_out = [item for item in items if is_left_out(item)]
        config.hook.pytest_deselected(items=left_out)
        config.stash[LEFT_OUT] = len(left_out)
        items[:] = [item for item in items if not is_left_out(item)]
    items.sort(key=lambda item: not item.name.startswith("test_gradients_of_random_programs"))


def pytest_collection_finish():
    """The garbage collector need not look at thousands of tests again and again."""
    gc.collect()
    gc.freeze()


# --- fixtures --------------------------------------------------------------------------------------------------------


@pytest.fixture
def compilations(monkeypatch):
    """A list that grows by one name for each gradient that is compiled."""
    cache.forget()
    made = []
    original = compiled.compile_gradient

    def counted(function, *rest):
        made.append(function.__name__)
        return original(function, *rest)

    monkeypatch.setattr("s2sgrad.compiled.compile_gradient", counted)
    return made


# --- at the end ------------------------------------------------------------------------------------------------------


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # of pytest-xdist; every worker collects the same tests
        session.config.workeroutput["left out"] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left out", 0)


def pytest_terminal_summary(terminalreporter, config):
    counts = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            for name, value in report.user_properties:
                if name == shares.PROPERTY:
                    counts.update(value)
    if counts:
        terminalreporter.write_line(shares.report(counts))
    if config.stash[LEFT_OUT]:
        terminalreporter.write_line(f"{config.stash[LEFT_OUT]:,} dear checks left out; --all runs them")
