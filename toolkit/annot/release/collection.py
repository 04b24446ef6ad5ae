"""What is true of a judged collection, in numbers and words: card, datasheet and Croissant are filled from it.

Every fact is read from records and manifests (what happened), never from settings (what was meant).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

TOGETHER = "together"
"""Stands for all facets in `AgreementFigure.facet`."""


@dataclass(frozen=True, slots=True)
class FacetFacts:
    """One facet's counts. `grades[g]` is how many pairs have the final grade g."""

    facet: str
    labels: tuple[str, ...]
    """The sentence labels that make it; none where no sentence of its queries is on record."""
    queries: int
    pairs: int
    judgements: int
    grades: tuple[int, ...]
    adjudicated: int
    over_ruled: int
    """Pairs whose final grade nobody had given."""


@dataclass(frozen=True, slots=True)
class AgreementFigure:
    """One coefficient with its interval; `undefined` is the reason where there is no value."""

    facet: str
    stage: Literal["before", "after"]
    coefficient: str
    """As it is printed, e.g. `Krippendorff's alpha (ordinal)`."""
    statistic: str
    """What it is over the queries, e.g. `median over queries`."""
    value: float | None
    low: float | None
    high: float | None
    n_queries: int
    n_pairs: int
    undefined: str | None = None
    without_interval: str | None = None
    """Why a value has no interval."""


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """How the pools were drawn, and their sizes in documents."""

    mode: str
    methods: tuple[str, ...]
    without: tuple[str, ...]
    per_method: int | None
    ranking_depth: int | None
    seed: int | None
    pools: int
    smallest: int
    mean: float
    largest: int
    judged: bool = True
    """Whether the judged pairs were found by these pools; not where judgements were imported without them."""


@dataclass(frozen=True, slots=True)
class JudgingFacts:
    """Who judged under which rules, and what came of it."""

    platform: str
    """E.g. `Label Studio Community 1.23.2`."""
    assessors: int
    adjudicators: int
    per_pair: int
    assignment: str
    isolation: str
    missing: str
    """The policy for missing judgements in the agreement figures: `drop` or `zero`."""
    ratings: str
    """What the adjudicator saw of the ratings: `shown` or `hidden`."""
    cannot_judge: int
    missing_judgements: int
    repeats: int
    """Answers to hidden repeats where both times a grade was given."""
    repeats_same: int
    """Those with the same grade again."""
    audit: tuple[str, ...]
    """The findings of the audit, in words; empty when it found nothing."""
    simulated: bool
    """Whether programs stood in for the assessors, as in the demonstration."""
    imported: Literal["release", "file"] | None = None
    """Where the judgements came from if they were not made here; no plan and no audit of ours stands behind them."""
    pairs_by_judgements: tuple[tuple[int, int], ...] = ()
    """(judgements a pair, pairs that have so many)."""
    unsettled: int = 0
    """Judged pairs without a final grade."""
    single: int = 0
    """Pairs whose final grade is the only judgement that they have."""


@dataclass(frozen=True, slots=True)
class CollectionFacts:
    """The whole collection."""

    name: str
    title: str
    version: str
    description: str
    language: str
    """BCP 47."""
    licence: str
    """Of the judgements: an SPDX identifier or a URL."""
    text_licence: str
    """Of titles and abstracts: an SPDX identifier, a URL, or words."""
    with_text: bool
    """Whether titles and abstracts are part of the release, or their ids only."""
    creators: tuple[str, ...]
    """Names of people or groups, as they want to be named in public."""
    url: str
    published: str
    """ISO 8601 date; empty where none is given: a release carries no other."""
    cite_as: str | None
    """As BibTeX; without it `citation` is made of the other facts."""
    keywords: tuple[str, ...]
    papers: int
    rejected: tuple[tuple[str, int], ...]
    """Papers left out by the corpus filters, by reason."""
    first_year: int | None
    last_year: int | None
    without_year: int
    sentence_labels: tuple[tuple[str, int], ...]
    """Papers by where their sentence labels come from, e.g. `carried by the corpus`."""
    grades: tuple[str, ...]
    """The names of the grades from 0 upward."""
    facets: tuple[FacetFacts, ...]
    pool: PoolFacts
    judging: JudgingFacts
    agreement: tuple[AgreementFigure, ...]
    interval_level: float
    """Of the intervals in `agreement`, e.g. 0.95."""
    splits: tuple[tuple[str, str, int], ...]
    """Facet (or `all`), fold, queries."""
    runs: tuple[str, ...]
    annot_version: str
    hashes: tuple[tuple[str, str], ...] = field(default=())
    """(file, SHA-256) of what the numbers were computed from, corpus first."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """The command behind each group of facts: corpus, facets, queries, pool, judgements, agreement, qrels, audit."""

    @property
    def queries(self) -> int:
        return sum(facet.queries for facet in self.facets)

    @property
    def pairs(self) -> int:
        return sum(facet.pairs for facet in self.facets)

    @property
    def judgements(self) -> int:
        return sum(facet.judgements for facet in self.facets)

    @property
    def adjudicated(self) -> int:
        return sum(facet.adjudicated for facet in self.facets)

    @property
    def scale(self) -> str:
        """`0 Irrelevant, 1 Related ...`."""
        return ", ".join(f"{grade} {name}" for grade, name in enumerate(self.grades))

    @property
    def years(self) -> str:
        """`1995 to 2024`, or `unknown`."""
        if self.first_year is None or self.last_year is None:
            return "unknown"
        return f"{self.first_year} to {self.last_year}"

    @property
    def citation(self) -> str:
        """How to cite it: `cite_as`, or authors, year, title, version and address."""
        if self.cite_as:
            return self.cite_as
        year = f" ({self.published[:4]})" if self.published else ""
        return f"{', '.join(self.creators)}{year}. {self.title}. Version {self.version}. {self.url}".rstrip()

    def command(self, group: str) -> str:
        """The command behind a group of facts as ` (`annot ...`)` in Markdown, or nothing where none is known."""
        return f" (`{self.commands[group]}`)" if group in self.commands else ""


def thousands(number: int) -> str:
    """`12,345`."""
    return f"{number:,}"


def counted(number: int, thing: str) -> str:
    """`1 pool`, `12 pools`."""
    return f"{thousands(number)} {thing}{'' if number == 1 else 's'}"


def figure_text(figure: AgreementFigure) -> str:
    """The value with its interval, or why there is none: `0.43 [0.38, 0.49]`."""
    if figure.value is None:
        return f"undefined: {figure.undefined or 'no reason given'}"
    if figure.low is None or figure.high is None:
        reason = f" (no interval: {figure.without_interval})" if figure.without_interval else ""
        return f"{figure.value:z.2f}{reason}"
    return f"{figure.value:z.2f} [{figure.low:z.2f}, {figure.high:z.2f}]"
