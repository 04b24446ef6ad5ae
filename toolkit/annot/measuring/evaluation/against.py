"""Figures that a paper printed next to those of this study in the paper's convention, differences marked."""

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
"""Decimals of the percentages that the papers print."""
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
    """Convention in which the paper computed its figures."""
    facets: tuple[str, ...]
    """Facets that `together` averages over; empty if the queries have none."""
    measures: tuple[str, ...]
    note: str = ""
    misprints: tuple[str, ...] = ()
    """Figures that cannot be right, as `facet system measure`."""
    queries: dict[str, tuple[str, ...]] = {}
    """Query papers of each facet, which identify the collection; empty if the table does not name them."""
    pairs: dict[str, int] = {}
    """Number of judged pairs of each facet."""
    figures: dict[str, dict[str, tuple[float, ...]]]

    @model_validator(mode="after")
    def _check(self) -> Published:
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
        """Systems of all facets."""
        return tuple(dict.fromkeys(system for rows in self.figures.values() for system in rows))


@dataclass(frozen=True, slots=True)
class Beside:
    """One figure of this study next to the paper's; percentages."""

    facet: str
    run: str
    measure: str
    ours: float
    theirs: float
    same: bool
    """True if our figure rounds to the paper's."""
    misprint: bool


def shipped() -> tuple[str, ...]:
    """Names of the tables that come with annot."""
    names = (path.name for path in files("annot.measuring.evaluation.published").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def shipped_text(name: str) -> str:
    """Text of the table of this name."""
    return (files("annot.measuring.evaluation.published") / f"{name}.toml").read_text(encoding="utf-8")


def read_published(text: str, *, name: str) -> Published:
    """Parse the table in `text`. Raises InputError with every fault."""
    try:
        return Published.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name}: not valid TOML: {error}") from None
    except ValidationError as error:
        raise InputError(f"{name}: not a published table", faults=in_words(error)) from None


def beside(published: Published, lines: Iterable[RunMeasures]) -> tuple[Beside, ...]:
    """Compare every figure that both have, of systems whose names differ only in case and signs; `together` only if the
    facets are the paper's.

    lines: in the paper's convention. Raises InputError if no run is a system of the paper.
    """
    of_convention = [line for line in lines if line.convention == published.convention]
    comparisons = tuple(_beside(published, of_convention))
    if not comparisons:
        runs = dict.fromkeys(line.run for line in of_convention)
        raise InputError(
            f"{published.title}: no run has the name of one of its systems on one of its facets",
            faults=[f"found {', '.join(runs)}", f"expected {', '.join(published.systems)}"],
            hint="name the system of a run with `annot run import --system NAME`",
        )
    return comparisons


def same_collection(published: Published, queries: Sequence[Query], pairs_of: Iterable[_OfQuery]) -> bool | None:
    """Check that queries and numbers of judged pairs are the paper's on every facet that both have.

    pairs_of: the judged pairs, or those of which a sample was judged. Returns None if the table names no queries.
    """
    if not published.queries:
        return None
    facets = {query.query_id: query.facet for query in queries}
    pairs = Counter(facets[pair.query_id] for pair in pairs_of)
    topics = grouped((query.facet, query.topic_id) for query in queries)
    shared = topics.keys() & published.queries.keys()
    return bool(shared) and all(
        set(topics[facet]) == set(published.queries[facet]) and pairs[facet] == published.pairs.get(facet, pairs[facet])
        for facet in shared
    )


def comparable(published: Published, lines: Iterable[RunMeasures]) -> bool:
    """Check that `together` averages over the same facets here as in the paper."""
    facets = {line.facet for line in lines} - {TOGETHER}
    return facets == set(published.facets) or (not published.facets and len(facets) == 1)


def _beside(published: Published, lines: list[RunMeasures]) -> Iterator[Beside]:
    same_facets = comparable(published, lines)
    for line in lines:
        facet = TOGETHER if same_facets and not published.facets else line.facet
        if facet == TOGETHER and not same_facets:
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
