"""Figures that a paper printed, and our own beside them, in the paper's convention, differences marked."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Protocol

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from annot.base.errors import InputError
from annot.base.names import near
from annot.base.records import Query, grouped
from annot.formats.json_lines import in_words
from annot.measuring.evaluation.averages import TOGETHER
from annot.measuring.evaluation.computed import knows
from annot.measuring.evaluation.evaluated import RunMeasures
from annot.measuring.evaluation.measures import CONVENTIONS

DECIMALS = 2
"""Of what the papers print, in percent."""
_ROUNDING = 1e-7


class _OfQuery(Protocol):
    @property
    def query_id(self) -> str: ...


class Published(BaseModel):
    """A table of a paper: percentages by facet and system, in the order of `measures`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    source: str
    convention: str
    """By which the paper computed its figures."""
    facets: tuple[str, ...]
    """Those that `together` is over; empty if the queries have none."""
    measures: tuple[str, ...]
    note: str = ""
    misprints: tuple[str, ...] = ()
    """`facet system measure` of figures that cannot be right."""
    queries: dict[str, tuple[str, ...]] = {}
    """The query papers of each facet, by which the collection is known; empty if the table does not name them."""
    pairs: dict[str, int] = {}
    """The judged pairs of each facet."""
    figures: dict[str, dict[str, tuple[float, ...]]]

    @model_validator(mode="after")
    def _hold(self) -> Published:
        if self.convention not in CONVENTIONS:
            raise ValueError(f"convention {self.convention!r}: {near(self.convention, CONVENTIONS)}")
        for measure in self.measures:
            if not knows(self.convention, measure):
                raise ValueError(f"measure {measure!r}: not known in convention {self.convention}")
        for facet, rows in self.figures.items():
            for system, row in rows.items():
                if len(row) != len(self.measures):
                    expected = f"{len(row)} figures, expected {len(self.measures)}, one for each measure"
                    raise ValueError(f"figures.{facet}.{system}: {expected}")
        return self

    @property
    def systems(self) -> tuple[str, ...]:
        """Of all facets."""
        return tuple(dict.fromkeys(system for rows in self.figures.values() for system in rows))


@dataclass(frozen=True, slots=True)
class Beside:
    """One figure of ours beside one of the paper; percentages."""

    facet: str
    run: str
    measure: str
    ours: float
    theirs: float
    same: bool
    """Whether ours rounds to theirs."""
    misprint: bool


def shipped() -> tuple[str, ...]:
    """The names of the tables that come with annot."""
    names = (path.name for path in files("annot.measuring.evaluation.published").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def shipped_text(name: str) -> str:
    """The table of this name."""
    return (files("annot.measuring.evaluation.published") / f"{name}.toml").read_text(encoding="utf-8")


def read_published(text: str, *, name: str) -> Published:
    """The table in `text`. Raises InputError with every fault."""
    try:
        return Published.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name}: not valid TOML: {error}") from None
    except ValidationError as error:
        raise InputError(f"{name}: not a published table", faults=in_words(error)) from None


def beside(published: Published, lines: Iterable[RunMeasures]) -> tuple[Beside, ...]:
    """Every figure that both have, of systems whose names are alike but for case and signs; `together` only where the
    facets are the paper's.

    lines: in the paper's convention. Raises InputError if no run is a system of the paper.
    """
    of_convention = [line for line in lines if line.convention == published.convention]
    found = tuple(_beside(published, of_convention))
    if not found:
        runs = dict.fromkeys(line.run for line in of_convention)
        raise InputError(
            f"{published.title}: no run has the name of one of its systems on one of its facets",
            faults=[f"found {', '.join(runs)}", f"expected {', '.join(published.systems)}"],
            hint="name the system of a run with `annot run import --system NAME`",
        )
    return found


def same_collection(published: Published, queries: Sequence[Query], pairs_of: Iterable[_OfQuery]) -> bool | None:
    """Whether the queries, and how many pairs of them are judged, are the paper's on every facet that both have.

    pairs_of: the judged pairs, or those of which a sample was judged.

    None if the table names no queries.
    """
    if not published.queries:
        return None
    facets = {query.query_id: query.facet for query in queries}
    pairs = Counter(facets[one.query_id] for one in pairs_of)
    topics = grouped((query.facet, query.topic_id) for query in queries)
    both = topics.keys() & published.queries.keys()
    return bool(both) and all(
        set(topics[facet]) == set(published.queries[facet]) and pairs[facet] == published.pairs.get(facet, pairs[facet])
        for facet in both
    )


def comparable(published: Published, lines: Iterable[RunMeasures]) -> bool:
    """Whether `together` is over the same facets here as there."""
    facets = {line.facet for line in lines} - {TOGETHER}
    return facets == set(published.facets) or (not published.facets and len(facets) == 1)


def _beside(published: Published, lines: list[RunMeasures]) -> Iterator[Beside]:
    whole = comparable(published, lines)
    for line in lines:
        facet = TOGETHER if whole and not published.facets else line.facet
        if facet == TOGETHER and not whole:
            continue
        rows = {_plain(system): (system, row) for system, row in published.figures.get(facet, {}).items()}
        if _plain(line.run) not in rows:
            continue
        system, row = rows[_plain(line.run)]
        for measure, theirs in zip(published.measures, row, strict=True):
            if measure not in line.values:
                continue
            ours = 100 * line.values[measure]
            yield Beside(
                facet=line.facet,
                run=line.run,
                measure=measure,
                ours=ours,
                theirs=theirs,
                same=abs(ours - theirs) <= 0.5 * 10**-DECIMALS + _ROUNDING,
                misprint=f"{facet} {system} {measure}" in published.misprints,
            )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
