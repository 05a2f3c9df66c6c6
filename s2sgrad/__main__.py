"""The command line: `s2sgrad demo`, `s2sgrad show`, `s2sgrad check`."""

from s2sgrad.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
