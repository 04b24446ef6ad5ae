"""Folds of the queries: drawn once, kept, and taken by every evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from annot.errors import InputError, MissingInput
from annot.evaluation.folds import draw_folds
from annot.store import runs
from annot.store.database import open_store
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


def draw(ws: Workspace, *, n: int, seed: int | None, redraw: bool, dry_run: bool) -> Folds:
    """Draw `n` folds and put them on record; the same draw again changes nothing.

    seed: None takes annot.toml's. redraw: also where other folds are on record, whose figures then hold no more.
    """
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            queries = read_queries(session)
            known = runs.read_splits(session)
        if not queries:
            raise MissingInput("no queries", hint="add them with `annot query add`")
        chosen = ws.settings.seed if seed is None else seed
        splits = draw_folds(queries, n=n, seed=chosen)
        wanted = {name: {fold: ids for fold, ids in folds.items() if ids} for name, folds in splits.items()}
        if known and known != wanted and not redraw:
            raise InputError(
                "other folds are on record; figures measured by them would hold no more",
                hint="draw anew with --redraw, and measure everything again",
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
    return Folds(chosen, facets, tuple(rows))
