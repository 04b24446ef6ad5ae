"""Names that people type: found, or refused with the near one."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from annot.errors import InputError
from annot.records import Query


def check_name(name: str, known: Sequence[str], *, what: str) -> None:
    """Raise InputError when `name` is not among `known`, with the near name or all of them."""
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        expected = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
        raise InputError(f"{what} {name!r}: not known; {expected}")


def known_query(known: Mapping[str, Query], name: str) -> Query:
    """The query of that id. Raises InputError with the near id."""
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, list(known), 1)
    raise InputError(
        f"query {name!r}: not in this study" + (f"; did you mean {near[0]!r}?" if near else ""),
        hint="`annot query list` shows the queries",
    )
