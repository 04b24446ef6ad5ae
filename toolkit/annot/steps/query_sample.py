"""Queries from a sample: papers drawn from each period, a sheet to rate them in, an even choice of those rated.

Or of all that were drawn, unrated, which goes on record.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from annot.base.errors import InputError, MissingInput
from annot.base.records import Query, Source
from annot.base.stats.medians import fewest_for_median
from annot.base.templating import render
from annot.corpus.corpus_facts import labels_where_asked, papers_of
from annot.corpus.facets.query_sentences import make_query, offered_facets
from annot.measuring.evaluation.comparisons import FEWEST_PAPERS
from annot.pools.selection.choosing import Distribution, papers_enough
from annot.pools.selection.choosing import choose as choose_evenly
from annot.pools.selection.sampling import Sample, periods_of
from annot.pools.selection.sampling import sample as draw_sample
from annot.pools.selection.sheet import SheetRow, read_sheet, write_sheet
from annot.publishing.report.words import sentences
from annot.store import facet_labels, papers
from annot.store.papers import known_ids
from annot.store.queries import put_queries, read_queries
from annot.store.runs import Imported, put_import
from annot.study.workspace import Workspace, given_bytes, write_file


@dataclass(frozen=True, slots=True)
class Sampled:
    """The sheet that was written, and how it is filled in."""

    path: Path
    papers: int
    explanation: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChosenQuery:
    """One query of a choice."""

    query_id: str
    paper_id: str
    facet: str
    title: str
    new: bool
    """Whether the study did not have it yet."""


@dataclass(frozen=True, slots=True)
class ChosenQueries:
    """The queries of a choice, how they are spread, and what they make of the study's queries."""

    chosen: tuple[ChosenQuery, ...]
    distribution: Distribution
    added: int
    queries_before: int
    """How many queries the study had."""
    notes: tuple[str, ...] = ()


def sample(ws: Workspace, *, out: Path, dry_run: bool) -> Sampled:
    """Draw papers at random from each period and write the sheet; an existing sheet is never overwritten.

    Raises InputError if no paper can be drawn: a sheet without papers is none.
    """
    path = ws.root / out
    if path.exists():
        raise InputError(f"{path}: exists already and may be filled in", hint="name another file with --out")
    drawn, notes = _drawn(ws)
    rows = _rows(ws, drawn)
    settings = ws.settings.queries
    values = {"min_rating": settings.min_rating, "types": settings.types}
    explanation = tuple(render("rating.txt.j2", values, overrides=ws.root / "templates").splitlines())
    if not dry_run:
        write_file(path, write_sheet(rows, explanation=explanation))
    return Sampled(path, len(rows), explanation, notes)


def choose_unrated(ws: Workspace, number: int, *, dry_run: bool) -> ChosenQueries:
    """Choose `number` queries from the papers that `sample` draws, unrated, and note on record that they are.

    The same seed draws the same papers, and chooses the same queries.
    """
    drawn, notes = _drawn(ws)
    chosen = _choose(ws, _rows(ws, drawn), number, min_rating=None, dry_run=dry_run)
    if not dry_run:
        names = [query.query_id for query in chosen.chosen]
        facts = {
            "queries": names,
            "per_period": ws.settings.queries.per_period,
            "periods": [[period.start, period.end] for period in drawn.periods],
            "seed": ws.settings.seed,
        }
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()
        with ws.writing() as session:
            put_import(session, Imported(Source.UNRATED, digest, facts))
    unrated = sentences("commands.unrated", queries=len(chosen.chosen), dry_run=dry_run)
    return replace(chosen, notes=(*notes, *chosen.notes, *unrated))


def choose(ws: Workspace, number: int, *, sheet: Path, dry_run: bool) -> ChosenQueries:
    """Choose `number` queries from the filled sheet and add them to the study's queries."""
    path = sheet if sheet.is_file() and not (ws.root / sheet).is_file() else ws.root / sheet
    if not path.is_file():
        raise MissingInput(f"{path}: no such sheet", hint="write one with `annot query sample` and fill it in")
    known = set(papers.paper_ids(ws.corpus))
    rows = read_sheet(
        given_bytes(path, expected="a rating sheet"),
        name=str(path),
        facets=tuple(ws.settings.facets),
        types=ws.settings.queries.types,
        known=known,
    )
    return _choose(ws, rows, number, min_rating=ws.settings.queries.min_rating, dry_run=dry_run)


def _choose(
    ws: Workspace, rows: Sequence[SheetRow], number: int, *, min_rating: int | None, dry_run: bool
) -> ChosenQueries:
    ids = [row.paper_id for row in rows]
    type_of = {row.paper_id: row.type for row in rows}
    found = papers.find_papers(ws.corpus, ids)
    with ws.reading() as session:
        labels = labels_where_asked(ws, session, found)
        known_queries = {query.query_id: query for query in read_queries(session)}
    choice = choose_evenly(
        rows,
        count=number,
        min_rating=min_rating,
        two_facet_share=ws.settings.queries.two_facet_share,
        offered={name: offered_facets(own, facets=ws.settings.facets) for name, own in labels.items()},
        facets=tuple(ws.settings.facets),
        seed=ws.settings.seed,
    )
    made = [
        replace(
            make_query(
                found[query.paper_id], labels[query.paper_id], query.facet, facets=ws.settings.facets, sentences=None
            ),
            paper_type=type_of[query.paper_id],
        )
        for query in choice.chosen
    ]
    if not dry_run:
        with ws.writing() as session:
            put_queries(session, made)
    chosen = tuple(
        ChosenQuery(
            query.query_id,
            query.topic_id,
            query.facet,
            found[query.topic_id].title,
            query.query_id not in known_queries,
        )
        for query in made
    )
    notes = _too_few_papers(ws, {**known_queries, **{query.query_id: query for query in made}}.values())
    return ChosenQueries(chosen, choice.distribution, sum(query.new for query in chosen), len(known_queries), notes)


def _too_few_papers(ws: Workspace, queries: Collection[Query]) -> tuple[str, ...]:
    """How many query papers intervals and tests need, and how many queries would do, if the study has fewer."""
    fewest = max(FEWEST_PAPERS, fewest_for_median(ws.settings.agreement.level))
    facets = tuple(ws.settings.facets)
    papers = len({query.topic_id for query in queries})
    few = [(name, n) for name in facets if (n := sum(query.facet == name for query in queries)) < fewest]
    enough = papers_enough(fewest, two_facet_share=ws.settings.queries.two_facet_share)
    each = max(enough, fewest * len(facets))
    words = {"papers": papers, "few": few, "fewest": fewest, "enough": enough, "each": each}
    return sentences("commands.few_queries", **words) if few or papers < fewest else ()


def _drawn(ws: Workspace) -> tuple[Sample, tuple[str, ...]]:
    """The papers drawn from each period, and notes on them; papers without labels take no part."""
    settings = ws.settings.queries
    unlabelled = _unlabelled(ws)
    years = Counter(paper.year for paper in papers.read_papers(ws.corpus, columns=("year",)))
    known = {year: n for year, n in years.items() if year is not None}
    periods = settings.periods or periods_of(known)
    drawn = draw_sample(
        (
            (paper.paper_id, paper.year)
            for paper in papers.read_papers(ws.corpus, columns=("year",))
            if paper.paper_id not in unlabelled
        ),
        periods=periods,
        per_period=settings.per_period,
        seed=ws.settings.seed,
    )
    if not any(period.paper_ids for period in drawn.periods):
        raise _nothing_drawn(periods, known)
    told = {"followed": not settings.periods, "unlabelled": len(unlabelled)}
    return drawn, sentences("commands.sample", drawn=drawn, **told)


def _unlabelled(ws: Workspace) -> frozenset[str]:
    """The papers without sentence labels, where only some have none."""
    with ws.reading() as session:
        labelled = sum(facet_labels.count_by_origin(session).values())
        if labelled in (0, papers.count_papers(ws.corpus)):
            return frozenset()
        known = facet_labels.labelled_ids(session)
    return frozenset(paper_id for paper_id in papers.paper_ids(ws.corpus) if paper_id not in known)


def _nothing_drawn(periods: Iterable[tuple[int, int]], years: Mapping[int, int]) -> InputError:
    named = "name query papers with `annot query add`"
    if not years:
        return InputError(
            "no paper in the corpus has a year, but the sample is drawn from periods of years", hint=named
        )
    return InputError(
        f"queries.periods in annot.toml: found no paper of {', '.join(f'{start}-{end}' for start, end in periods)}; "
        f"the papers in the corpus are from {min(years)} to {max(years)}",
        hint=f"set periods = [] to derive them from the corpus, or name periods within these years; or {named}",
    )


def _rows(ws: Workspace, drawn: Sample) -> list[SheetRow]:
    """The rows of the sheet, not rated yet."""
    ids = [paper_id for period in drawn.periods for paper_id in period.paper_ids]
    found = papers_of(ws, ids)
    there = known_ids(ws.corpus, {doc_id for paper in found.values() for doc_id in paper.citations})
    with ws.reading() as session:
        labels = labels_where_asked(ws, session, found)
    return [
        SheetRow(
            paper_id,
            found[paper_id].title,
            found[paper_id].year,
            period.period,
            None,
            None,
            offered_facets(labels[paper_id], facets=ws.settings.facets),
            abstract=" ".join(found[paper_id].sentences),
            cited=len(there & set(found[paper_id].citations)),
        )
        for period in drawn.periods
        for paper_id in period.paper_ids
    ]
