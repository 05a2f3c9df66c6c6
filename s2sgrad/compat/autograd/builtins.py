"""Autograd's `builtins`: the containers and checks that it replaces are Python's own here."""

from builtins import dict, isinstance, list, tuple, type  # noqa: UP029

__all__ = ["dict", "isinstance", "list", "tuple", "type"]
