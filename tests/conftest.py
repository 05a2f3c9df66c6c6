"""Options of the tests, which of them are left out, on how many cores they run, and what is printed at the end.

    @pytest.mark.sampled(one_in=2)           one in two of the cases of this test is drawn; `--all` runs them all
    @pytest.mark.sampled(one_in=2)           a test without cases is drawn in one sample in two
    @pytest.mark.sampled(one_in=2, turn=1)   others of the same cases: none gets both tests
    @pytest.mark.sampled(one_in=2, by="k")   of the values of the parameter `k`, which are numbers, one in two
    pytest.param(e, marks=pytest.mark.sampled(one_in=8))   a dear case among others: eight times as rarely as these
    @pytest.mark.dear                        takes a second or more: left out by `--quick`

Only the dear checks are sampled, and a third of what is drawn is run: the tests end within eight minutes on two cores.
`--quick` takes a few cases of every test.  Which cases are taken is told by their names: the same
ones on every run.  `--sample 1`, `--sample 2`, .. take others, so that a run a day sees them all.  Whoever
names a test on the command line gets all its cases.
"""

import contextlib
import gc
import hashlib
import math
import os
import pathlib
from collections import Counter, defaultdict

# One thread for each process: beside other processes, the threads of a matrix library wait for one another.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import pytest  # noqa: E402
import shares  # noqa: E402

from s2sgrad.api import whole  # noqa: E402
from s2sgrad.driver import cache, compiled  # noqa: E402
from s2sgrad.errors import raised  # noqa: E402

collect_ignore = ["typed_wrong.py"]  # is read by type checkers alone: its lines are wrong
LEFT_OUT = pytest.StashKey[int]()
QUICK = 8  # so many cases of a test
SHARED = 3  # one in so many is run of what the marks draw


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write tests/golden/*.py anew from what is generated now")
    parser.addoption("--quick", action="store_true", help=f"run {QUICK} cases of every test at most, and no dear ones")
    parser.addoption("--all", action="store_true", help="run every dear check on every case, not on a sample of them")
    parser.addoption("--sample", type=int, default=0, metavar="N", help="take the N-th other sample, such as the day's")


def pytest_configure(config):
    config.stash[LEFT_OUT] = 0
    config.addinivalue_line("markers", "dear: takes a second or more; --quick leaves it out")
    config.addinivalue_line("markers", "records: what has no text is recorded, as for users; other tests ask for texts")
    config.addinivalue_line("markers", "provokes_defects: makes the compiler fail, to see what the user is told")
    config.addinivalue_line("markers", "sampled(one_in, turn=0, by=None): without --all, run one in so many of the cases")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """What `-n auto` means: a process for each core, up to four; on one core none but the own."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 0 if cores == 1 else min(cores, 4)


def lot(text):
    """A number that tells names apart, the same on every run."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest())


def few(items):
    """The items that `--quick` takes."""
    tests = defaultdict(list)
    for item in items:
        if item.get_closest_marker("dear") is None:
            tests[item.nodeid.split("[")[0]].append(item)
    taken = {item for cases in tests.values() for item in sorted(cases, key=lambda item: lot(item.nodeid))[:QUICK]}
    return [item for item in items if item in taken]


def place(marker, call, sample):
    """The place of a case in the samples of a test that is marked so, or of its own mark: those at 0 are taken."""
    marks = [mark for mark in (marker, *call.marks) if mark is not None and mark.name == "sampled"]
    if not marks:
        return 0
    if "by" in marks[0].kwargs:
        number = call.params[marks[0].kwargs["by"]]
    else:
        number = int(call.id) if call.id.isdecimal() else lot(call.id)
    one_in = SHARED * math.prod(mark.kwargs["one_in"] for mark in marks)
    return (number + marks[0].kwargs.get("turn", 0) + sample) % one_in


def sample_of(marker, calls, sample):
    """The cases of a test that are run; one at least."""
    places = [place(marker, call, sample) for call in calls]
    first = min(places)
    return [call for call, at in zip(calls, places, strict=True) if at == first]


def takes_all(config):
    """Whether all cases are run, or those that the command line names."""
    return config.option.all or config.option.keyword or any("::" in argument for argument in config.args)


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc):
    """Leave cases out before pytest makes items of them: they are three in four, and every worker would make them."""
    marker, calls = metafunc.definition.get_closest_marker("sampled"), metafunc._calls  # no public hook gets at them
    if calls and not takes_all(metafunc.config):
        kept = sample_of(marker, calls, metafunc.config.option.sample)
        metafunc.config.stash[LEFT_OUT] += len(calls) - len(kept)
        calls[:] = kept


def is_taken(item, sample):
    """Whether a test is run that has no cases; of the others cases are left out already."""
    marker = None if hasattr(item, "callspec") else item.get_closest_marker("sampled")
    if marker is None:
        return True
    return (lot(item.name) + marker.kwargs.get("turn", 0) + sample) % (SHARED * marker.kwargs["one_in"]) == 0


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """The long tests first, which then nobody waits for at the end."""
    if not takes_all(config):
        kept = [item for item in items if is_taken(item, config.option.sample)]
        kept = few(kept) if config.option.quick else kept
        left_out = [*set(items).difference(kept)]
        config.hook.pytest_deselected(items=left_out)
        config.stash[LEFT_OUT] += len(left_out)
        items[:] = kept
    items.sort(key=lambda item: not item.name.startswith("test_gradients_of_random_programs"))


def pytest_collection_finish():
    """The garbage collector need not look at thousands of tests again and again, nor at every tree while it grows."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


# --- fixtures --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def settled():
    """What the files before left, such as compiled gradients, need not be looked at when a test collects its garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_defects(request, monkeypatch):
    """Fail a test in which the compiler itself failed: many tests take any refusal, and a `Defect` is one by type."""
    made = []
    original = raised.defect

    def noted(error, function):
        made.append(f"{type(error).__name__}: {error}")
        return original(error, function)

    monkeypatch.setattr(raised, "defect", noted)
    yield
    assert not made or request.node.get_closest_marker("provokes_defects"), made


@pytest.fixture
def compilations(monkeypatch):
    """A list that grows by one name for each gradient that is compiled."""
    cache.forget()
    made = []
    original = compiled.compile_gradient

    def counted(function, *rest):
        made.append(function.__name__)
        return original(function, *rest)

    monkeypatch.setattr("s2sgrad.driver.compiled.compile_gradient", counted)
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
        terminalreporter.write_line(f"{config.stash[LEFT_OUT]:,} checks left out; --all runs them")


@pytest.fixture(autouse=True)
def texts_alone(request):
    """Tests of texts see what the compiler refuses, as with `strict=True`; what is recorded instead has tests of its own."""
    room = pathlib.Path(__file__).parent / "recorded"
    records = request.node.get_closest_marker("records") or room in request.node.path.parents
    with contextlib.nullcontext() if records else whole.strict():
        yield
