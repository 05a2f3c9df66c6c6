"""Options of the tests."""


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write tests/golden/*.py anew from what is generated now")
