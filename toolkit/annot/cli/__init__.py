"""The command line: options declared, one step called, its result printed.

Modules of commands do without `from __future__ import annotations`: typer would evaluate the text of each annotation,
three times, at every start.
"""
