"""Folds of the queries: drawn once, kept, and taken by every evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from annot.base.errors import InputError, MissingInput
from annot.base.records import Paper, Query
from annot.measuring.folds import as_splits, find_leaks, grouped_folds, near_copies
from annot.store import papers, runs
from annot.store.database import open_store
from annot.store.pools import documents_by_query
from annot.store.queries import read_queries
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Fold:
    """A test fold: how many papers, and how many queries of each facet."""

    fold: int
    papers: int
    queries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Folds:
    """What was drawn."""

    seed: int
    facets: tuple[str, ...]
    rows: tuple[Fold, ...]
    notes: tuple[str, ...]
    """What two folds share, where somebody learns from one and is tested on the other."""


def draw(ws: Workspace, *, n: int, seed: int | None, redraw: bool, dry_run: bool) -> Folds:
    """Draw `n` folds and put them on record; the same draw again changes nothing.

    seed: None takes annot.toml's. redraw: also where other folds are on record, whose figures then hold no more.
    """
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            queries = read_queries(session)
            known = runs.read_splits(session)
            pools = documents_by_query(session)
        if not queries:
            raise MissingInput("no queries", hint="add them with `annot query add`")
        chosen = ws.settings.seed if seed is None else seed
        texts = papers.find_papers(ws.corpus, {query.paper_id for query in queries}) if ws.has_corpus else {}
        folds_drawn = grouped_folds(queries, copies=near_copies(texts.values()), count=n, seed=chosen)
        splits = as_splits(queries, folds_drawn)
        wanted = {name: {fold: ids for fold, ids in folds.items() if ids} for name, folds in splits.items()}
        if known and known != wanted and not redraw:
            raise InputError(
                "other folds are on record, drawn before or imported, and `annot evaluate` takes the mean over them",
                hint="to draw others, say --redraw, and measure everything again",
            )
        if not dry_run and known != wanted:
            with store.begin() as session:
                for name, folds in splits.items():
                    runs.put_split(session, name, folds)
    facets = tuple(sorted({query.facet for query in queries}))
    paper_of = {query.query_id: query.paper_id for query in queries}
    rows = []
    for at in range(1, n + 1):
        tests = [splits[facet][f"fold{at}_test"] for facet in facets]
        rows.append(Fold(at, len({paper_of[one] for test in tests for one in test}), tuple(map(len, tests))))
    notes = _shared(texts, queries, folds_drawn, pools)
    return Folds(chosen, facets, tuple(rows), tuple(notes))


def _shared(
    texts: Mapping[str, Paper],
    queries: Sequence[Query],
    folds: Sequence[Sequence[str]],
    pools: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    each_other: set[tuple[str, str]] = set()
    for number, fold in enumerate(folds, start=1):
        sides = [[query for query in queries if (query.query_id in fold) is within] for within in (False, True)]
        leaks = find_leaks(*sides, pools=pools, papers=texts)
        each_other |= {(min(pair), max(pair)) for pair in leaks.other_way_round}
        if leaks.candidates:
            yield f"fold {number}: {len(leaks.candidates)} candidates are also candidates of queries outside it"
    for one, two in sorted(each_other):
        yield f"{one} and {two} are in different folds, and each is judged for the other"
    for one, two in near_copies(texts.values()):
        yield f"{one} and {two} are in one fold: their texts are nearly the same"
