"""The queries by hand: adding those of papers, removing, listing, and test folds of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from annot.base.errors import Faults, InputError, MissingInput
from annot.base.names import check_name, known_query
from annot.base.records import WHOLE, Assignment, Paper, Query, Topic
from annot.corpus.corpus_facts import labels_where_asked
from annot.corpus.facets.query_sentences import check_facet, make_query, sentence_numbers
from annot.corpus.papers_by_id import PapersById
from annot.formats.spreadsheet import read_columns
from annot.judging.plan_on_record import take_from_plan, write_plan
from annot.judging.planning.handing_on import renumbered
from annot.judging.taking_back import take_back_tasks
from annot.measuring.folds import as_splits, find_leaks, grouped_folds, near_copies
from annot.publishing.report.study_tables import ListedQuery, listed_queries
from annot.publishing.report.tables import Column, Columns, each
from annot.store import papers, people, pools, projects, runs
from annot.store.pools import documents_by_query
from annot.store.queries import (
    check_unanswered,
    put_queries,
    read_queries,
    read_topics,
    remove_query,
    remove_topic,
)
from annot.study.backups import keep_backup
from annot.study.workspace import Workspace, given_bytes

QUERY_COLUMNS = ("paper_id", "facet")
SENTENCES = "sentences"


@dataclass(frozen=True, slots=True)
class RemovedQuery:
    """A query that is gone."""

    query_id: str
    topic_id: str
    with_pool: bool
    """Whether the pool of its topic went, too: no other query needs it."""
    queries: int
    """How many queries the study has now."""
    tasks: int
    """Tasks that were taken back from Label Studio."""


def add(ws: Workspace, paper_id: str, *, facet: str, sentences: str | None, dry_run: bool) -> Query:
    """Add one query: the facet's sentences of the paper, or the chosen ones (`2,3`, counted from 1)."""
    check_facet(facet, facets=ws.settings.facets)
    paper = _paper(ws, paper_id)
    paper_id = paper.paper_id
    chosen = None if sentences is None else sentence_numbers(sentences)
    with ws.reading() as session:
        labels = labels_where_asked(ws, session, {paper_id: paper})[paper_id]
    query = make_query(paper, labels, facet, sentences=chosen, facets=ws.settings.facets)
    if not dry_run:
        with ws.writing() as session:
            put_queries(session, [query])
    return query


def add_file(ws: Workspace, file: Path, *, dry_run: bool) -> tuple[Query, ...]:
    """Add the queries of a CSV file with the columns paper_id and facet; all, or none.

    A column `sentences` may name those of a query; where it is empty or not there, they are all of the facet.

    Raises InputError with the line of every fault.
    """
    faults = Faults(str(file))
    data = given_bytes(file, expected=f"CSV with the columns {', '.join(QUERY_COLUMNS)}")
    rows = read_columns(data, faults, columns=QUERY_COLUMNS, optional=(SENTENCES,))
    ids = sorted({row["paper_id"] for _, row in rows})
    there = papers.find_papers(ws.corpus, ids)
    made: dict[str, Query] = {}
    with ws.reading() as session:
        labels = labels_where_asked(ws, session, there)
    for line, row in rows:
        paper_id, facet = row["paper_id"], row["facet"]
        try:
            check_facet(facet, facets=ws.settings.facets)
            if paper_id not in there:
                raise InputError(f"paper {paper_id!r}: not in the corpus")
            chosen = sentence_numbers(row[SENTENCES]) if row[SENTENCES] else None
            query = make_query(there[paper_id], labels[paper_id], facet, facets=ws.settings.facets, sentences=chosen)
        except InputError as error:
            for fault in error.faults or (error.message,):
                faults.add(fault, line=line)
            continue
        if query.query_id in made:
            faults.add(f"query {query.query_id} is listed twice", line=line)
        made[query.query_id] = query
    if not rows and not faults.found:
        faults.add("found no query")
    faults.raise_if_any(hint="nothing was added")
    if not dry_run:
        with ws.writing() as session:
            put_queries(session, made.values())
    return tuple(made.values())


def remove(ws: Workspace, name: str, *, sent: bool, dry_run: bool) -> RemovedQuery:
    """Take a query out of the study, and the pool of its topic with the topic's last query; a text goes, too.

    sent: also if its pairs were planned or sent, as long as nobody has answered; its tasks are deleted from every
    server first, so that a kill leaves a query that can be removed by the same command, or sent again by a push.
    Raises InputError, with the remedy, if pairs of it were judged, and without `sent` if they were sent or planned.
    """
    tasks = 0
    remaining: tuple[Assignment, ...] = ()
    leaving: set[Assignment] = set()
    if sent:
        with ws.reading() as session:
            query = known_query({one.query_id: one for one in read_queries(session)}, name)
            check_unanswered(session, query.query_id)
        if not dry_run:
            keep_backup(ws, "before query remove")
        tasks = take_back_tasks(ws, query.query_id, dry_run=dry_run)
    with ws.writing() as session:
        known = {query.query_id: query for query in read_queries(session)}
        query = known_query(known, name)
        if sent:
            plan = people.read_assignments(session)
            leaving = {one for one in plan if one.query_id == query.query_id}
            remaining = renumbered(one for one in plan if one not in leaving)
            projects.forget_query(session, query.query_id)
            take_from_plan(ws, session, remaining, leaving, queries=[query.query_id])
        remove_query(session, query.query_id)
        last = not any(one.topic_id == query.topic_id for one in known.values() if one != query)
        pooled = last and bool(pools.read_pools(session, query.topic_id))
        if pooled:
            pools.remove_pool(session, query.topic_id)
        if last:
            remove_topic(session, query.topic_id)
        if dry_run:
            session.rollback()
        elif not sent:
            keep_backup(ws, "before query remove")
    if leaving and not dry_run:
        write_plan(ws, remaining)
    return RemovedQuery(query.query_id, query.topic_id, pooled, len(known) - 1, tasks)


def listing(ws: Workspace) -> tuple[ListedQuery, ...]:
    """All queries with the titles of their topics."""
    with ws.reading() as session:
        queries, texts = read_queries(session), read_topics(session)
    return listed_queries(ws, queries, texts)


def _paper(ws: Workspace, paper_id: str) -> Paper:
    """The paper of this id, or the one that has it as a DOI, PMID or OpenAlex id. Raises InputError without one."""
    own_id = PapersById(ws.corpus).paper_of(paper_id)
    if own_id is None:
        check_name(paper_id, papers.paper_ids(ws.corpus), what="paper")
    return papers.find_papers(ws.corpus, [own_id or paper_id])[own_id or paper_id]


@dataclass(frozen=True, slots=True)
class Fold:
    """A test fold: how many topics, and how many queries of each facet."""

    fold: int
    topics: int
    queries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Folds:
    """What was drawn."""

    seed: int
    facets: tuple[str, ...]
    rows: tuple[Fold, ...]
    notes: tuple[str, ...]
    """What two folds share, which matters if a system learns from one and is tested on the other."""


def columns(facets: Sequence[str]) -> Columns[Fold]:
    """How many topics a fold has, and how many queries of each facet; of one that has no facets, its topics alone."""
    shown = () if facets == (WHOLE,) else facets
    return Columns(
        [Column("fold", lambda one: one.fold)],
        [Column("topics", lambda one: one.topics), *each(shown, lambda one, facet: one.queries[facets.index(facet)])],
    )


def draw(ws: Workspace, *, n: int, seed: int | None, redraw: bool, dry_run: bool) -> Folds:
    """Draw `n` folds and put them on record; the same draw again changes nothing.

    seed: None takes annot.toml's. redraw: also where other folds are on record, whose figures then hold no more.
    """
    with ws.reading() as session:
        queries = read_queries(session)
        known, texts = runs.read_splits(session), read_topics(session)
        pools = documents_by_query(session)
    if not queries:
        raise MissingInput("no queries", hint="add them with `annot query add`")
    chosen = ws.settings.seed if seed is None else seed
    asked = {query.topic_id for query in queries}
    topics: dict[str, Paper | Topic] = {topic_id: text for topic_id, text in texts.items() if topic_id in asked}
    topics |= papers.find_papers(ws.corpus, asked - texts.keys()) if ws.has_corpus else {}
    folds_drawn = grouped_folds(queries, copies=near_copies(topics), count=n, seed=chosen)
    splits = as_splits(queries, folds_drawn)
    wanted = {name: {fold: ids for fold, ids in folds.items() if ids} for name, folds in splits.items()}
    if known and known != wanted and not redraw:
        raise InputError(
            "the study already has other folds, drawn or imported, and `annot evaluate` averages over them",
            hint="to draw new folds, use --redraw, then run `annot evaluate` again",
        )
    if not dry_run and known != wanted:
        with ws.writing() as session:
            for name, folds in splits.items():
                runs.put_split(session, name, folds)
    facets = tuple(sorted({query.facet for query in queries}))
    topic_of = {query.query_id: query.topic_id for query in queries}
    rows = []
    for at in range(1, n + 1):
        tests = [splits[facet][f"fold{at}_test"] for facet in facets]
        rows.append(Fold(at, len({topic_of[one] for test in tests for one in test}), tuple(map(len, tests))))
    notes = _shared(topics, queries, folds_drawn, pools)
    return Folds(chosen, facets, tuple(rows), tuple(notes))


def _shared(
    topics: Mapping[str, Paper | Topic],
    queries: Sequence[Query],
    folds: Sequence[Sequence[str]],
    pools: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    each_other: set[tuple[str, str]] = set()
    for number, fold in enumerate(folds, start=1):
        sides = [[query for query in queries if (query.query_id in fold) is within] for within in (False, True)]
        leaks = find_leaks(*sides, pools=pools, topics=topics)
        each_other |= {(min(pair), max(pair)) for pair in leaks.other_way_round}
        if leaks.candidates:
            yield f"fold {number}: {len(leaks.candidates)} of its candidates also belong to queries of other folds"
    for one, two in sorted(each_other):
        yield f"{one} and {two} are in different folds, although each is a candidate of the other"
    for one, two in near_copies(topics):
        yield f"{one} and {two} are in one fold: their texts are nearly the same"
