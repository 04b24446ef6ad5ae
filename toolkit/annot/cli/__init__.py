"""The command line: options declared, one step called, its result printed.

Uses every room. Begin with `main`; `commands` is what all commands share.

Modules of commands do without `from __future__ import annotations`: typer would evaluate the text of each annotation,
three times, at every start.
"""
