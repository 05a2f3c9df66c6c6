"""Options of the tests, and what they print at the end."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write tests/golden/*.py anew from what is generated now")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """The longest test first: the other core takes the rest."""
    items.sort(key=lambda item: item.name != "test_gradients_of_random_programs")


def pytest_terminal_summary(terminalreporter):
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            for name, text in report.user_properties:
                if name == "shown at the end":
                    terminalreporter.write_line(text)
