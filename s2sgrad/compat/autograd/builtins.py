"""Autograd's `builtins`: the containers and checks that it replaces are Python's own here."""

import builtins

dict, isinstance, list, tuple, type = builtins.dict, builtins.isinstance, builtins.list, builtins.tuple, builtins.type

__all__ = ["dict", "isinstance", "list", "tuple", "type"]
