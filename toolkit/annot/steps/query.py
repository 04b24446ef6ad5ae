"""Queries by hand, from a sample of papers, and from files of topics."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from annot.base.errors import Faults, InputError, MissingInput
from annot.base.names import OF_PAPERS, OF_TEXTS, check_name, counted, known_query
from annot.base.records import WHOLE, Assignment, Paper, Query, Source, Topic, grouped
from annot.base.stats.inference import fewest_for_median
from annot.base.templating import render
from annot.corpus import corpus_facts, paper_ids
from annot.corpus.query_sentences import check_facet, make_query, offered_facets, sentence_numbers
from annot.formats import cleaning, input_files, topics
from annot.judging import plan_on_record, planning
from annot.judging.rounds.judging import take_back_tasks
from annot.measuring.evaluation.comparisons import FEWEST_PAPERS
from annot.measuring.folds import as_splits, find_leaks, grouped_folds, near_copies
from annot.pools import selection
from annot.publishing.report import study_tables, tables
from annot.store import facet_labels, papers, people, pools, projects, runs
from annot.store.models import ImportedSource, Session
from annot.study.backups import keep_backup
from annot.study.workspace import Workspace, write_file

# ----------------------------------------------------------------------------------------------------------------------
# The queries by hand: adding those of papers, removing, listing, and test folds of them.
# ----------------------------------------------------------------------------------------------------------------------


QUERY_COLUMNS = ("paper_id", "facet")
SENTENCES = "sentences"


@dataclass(frozen=True, slots=True)
class RemovedQuery:
    """A query that is gone."""

    query_id: str
    topic_id: str
    with_pool: bool
    """True if the pool of its topic went, too: no other query needs it."""
    queries: int
    """Number of queries that the study has now."""
    tasks: int
    """Tasks that were taken back from Label Studio."""


def add(ws: Workspace, paper_id: str, *, facet: str, sentences: str | None, dry_run: bool) -> Query:
    """Add one query: the facet's sentences of the paper, or the chosen ones (`2,3`, counted from 1)."""
    check_facet(facet, facets=ws.settings.facets)
    paper = _paper(ws, paper_id)
    paper_id = paper.paper_id
    chosen = None if sentences is None else sentence_numbers(sentences)
    with ws.reading() as session:
        labels = corpus_facts.labels_where_asked(ws, session, {paper_id: paper})[paper_id]
    query = make_query(paper, labels, facet, sentences=chosen, facets=ws.settings.facets)
    if not dry_run:
        ws.write(pools.put_queries, [query])
    return query


def add_file(ws: Workspace, file: Path, *, dry_run: bool) -> tuple[Query, ...]:
    """Add the queries of a CSV file with the columns paper_id and facet; all, or none.

    A column `sentences` may name those of a query; where it is empty or not there, they are all of the facet.

    Raises InputError with the line of every fault.
    """
    faults = Faults(str(file))
    data = input_files.content_of(file, expected=f"CSV with the columns {', '.join(QUERY_COLUMNS)}")
    rows = input_files.read_columns(data, faults, columns=QUERY_COLUMNS, optional=(SENTENCES,))
    ids = sorted({row["paper_id"] for _, row in rows})
    in_corpus = papers.find_papers(ws.corpus, ids)
    new_queries: dict[str, Query] = {}
    with ws.reading() as session:
        labels = corpus_facts.labels_where_asked(ws, session, in_corpus)
    for line, row in rows:
        paper_id, facet = row["paper_id"], row["facet"]
        try:
            check_facet(facet, facets=ws.settings.facets)
            if paper_id not in in_corpus:
                raise InputError(f"paper {paper_id!r}: not in the corpus")
            chosen = sentence_numbers(row[SENTENCES]) if row[SENTENCES] else None
            query = make_query(
                in_corpus[paper_id], labels[paper_id], facet, facets=ws.settings.facets, sentences=chosen
            )
        except InputError as error:
            for fault in error.faults or (error.message,):
                faults.add(fault, line=line)
            continue
        if query.query_id in new_queries:
            faults.add(f"query {query.query_id} is listed twice", line=line)
        new_queries[query.query_id] = query
    if not rows and not faults.found:
        faults.add("found no query")
    faults.raise_if_any(hint="nothing was added")
    if not dry_run:
        ws.write(pools.put_queries, new_queries.values())
    return tuple(new_queries.values())


def remove(ws: Workspace, name: str, *, sent: bool, dry_run: bool) -> RemovedQuery:
    """Take a query out of the study, and the pool of its topic with the topic's last query; a text goes, too.

    sent: also if its pairs were planned or sent, as long as there is no answer; its tasks are deleted from every
    server first, so that a kill leaves a query that can be removed by the same command, or sent again by a push.
    Raises InputError, with the remedy, if pairs of it were judged, and without `sent` if they were sent or planned.
    """
    tasks = 0
    remaining: tuple[Assignment, ...] = ()
    leaving: set[Assignment] = set()
    if sent:
        with ws.reading() as session:
            query = known_query(pools.queries_by_id(session), name)
            pools.check_unanswered(session, query.query_id)
        if not dry_run:
            keep_backup(ws, "before query remove")
        tasks = take_back_tasks(ws, query.query_id, dry_run=dry_run)
    with ws.writing() as session:
        queries_by_id = pools.queries_by_id(session)
        query = known_query(queries_by_id, name)
        if sent:
            plan = people.read_assignments(session)
            leaving = {assignment for assignment in plan if assignment.query_id == query.query_id}
            remaining = planning.renumbered(assignment for assignment in plan if assignment not in leaving)
            projects.forget_query(session, query.query_id)
            plan_on_record.take_from_plan(ws, session, remaining, leaving, queries=[query.query_id])
        pools.remove_query(session, query.query_id)
        last = not any(other.topic_id == query.topic_id for other in queries_by_id.values() if other != query)
        pooled = last and bool(pools.read_pools(session, query.topic_id))
        if pooled:
            pools.remove_pool(session, query.topic_id)
        if last:
            pools.remove_topic(session, query.topic_id)
        if dry_run:
            session.rollback()
        elif not sent:
            keep_backup(ws, "before query remove")
    if leaving and not dry_run:
        plan_on_record.write_plan(ws, remaining)
    return RemovedQuery(query.query_id, query.topic_id, pooled, len(queries_by_id) - 1, tasks)


def listing(ws: Workspace) -> tuple[study_tables.ListedQuery, ...]:
    """Queries with the titles of their topics."""
    with ws.reading() as session:
        queries, texts = pools.read_queries(session), pools.read_topics(session)
    return study_tables.listed_queries(ws, queries, texts)


def _paper(ws: Workspace, paper_id: str) -> Paper:
    """The paper of this id, or the one that has it as a DOI, PMID or OpenAlex id. Raises InputError without one."""
    own_id = paper_ids.PapersById(ws.corpus).paper_of(paper_id)
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
    """Queries that were drawn."""

    seed: int
    facets: tuple[str, ...]
    rows: tuple[Fold, ...]
    notes: tuple[str, ...]
    """Notes on overlaps of two folds, which matter if a system learns from one and is tested on the other."""


def columns(facets: Sequence[str]) -> tables.Columns[Fold]:
    """Number of topics of a fold, and of queries of each facet; without facets, the topics alone."""
    shown = () if facets == (WHOLE,) else facets
    return tables.Columns(
        [tables.Column("fold", lambda fold: fold.fold)],
        [
            tables.Column("topics", lambda fold: fold.topics),
            *tables.columns_for(shown, lambda fold, facet: fold.queries[facets.index(facet)]),
        ],
    )


def draw(ws: Workspace, *, n: int, redraw: bool, dry_run: bool) -> Folds:
    """Draw `n` folds and put them on record; the same draw again changes nothing.

    redraw: replace other folds on record, whose figures become outdated.
    """
    with ws.reading() as session:
        queries = pools.read_queries(session)
        known, texts = runs.read_splits(session), pools.read_topics(session)
        documents = pools.documents_by_query(session, withdrawn=True)
    if not queries:
        raise MissingInput("no queries", hint="add them with `annot query add`")
    topic_ids = {query.topic_id for query in queries}
    topics: dict[str, Paper | Topic] = {topic_id: text for topic_id, text in texts.items() if topic_id in topic_ids}
    topics |= papers.find_papers(ws.corpus, topic_ids - texts.keys()) if ws.has_corpus else {}
    words = OF_TEXTS if texts else OF_PAPERS
    folds_drawn = grouped_folds(queries, copies=near_copies(topics), count=n, seed=ws.settings.seed, words=words)
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
    for number in range(1, n + 1):
        tests = [splits[facet][f"fold{number}_test"] for facet in facets]
        rows.append(Fold(number, len({*map(topic_of.get, chain(*tests))}), tuple(map(len, tests))))
    notes = _shared(topics, queries, folds_drawn, documents)
    return Folds(ws.settings.seed, facets, tuple(rows), tuple(notes))


def _shared(
    topics: Mapping[str, Paper | Topic],
    queries: Sequence[Query],
    folds: Sequence[Sequence[str]],
    documents: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    in_both: set[tuple[str, str]] = set()
    for number, fold in enumerate(folds, start=1):
        sides = [[query for query in queries if (query.query_id in fold) is within] for within in (False, True)]
        leaks = find_leaks(*sides, pools=documents, topics=topics)
        in_both |= {(min(pair), max(pair)) for pair in leaks.other_way_round}
        if leaks.candidates:
            yield f"fold {number}: {len(leaks.candidates)} of its candidates also belong to queries of other folds"
    for first, second in sorted(in_both):
        yield f"{first} and {second} are in different folds, although each is a candidate of the other"
    for first, second in near_copies(topics):
        yield f"{first} and {second} are in one fold: their texts are nearly the same"


# ----------------------------------------------------------------------------------------------------------------------
# Queries from a sample: papers drawn from each period, a sheet to rate them in, an even choice of those rated.
#
# Or of all that were drawn, unrated, which goes on record.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuerySheet:
    """The sheet that was written, and how it is filled in."""

    path: Path
    papers: int
    explanation: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChosenQuery:
    """A query of a choice."""

    query_id: str
    paper_id: str
    facet: str
    title: str
    new: bool
    """True if the study did not have it yet."""


@dataclass(frozen=True, slots=True)
class ChosenQueries:
    """The queries of a choice, their spread, and their effect on the study's queries."""

    chosen: tuple[ChosenQuery, ...]
    distribution: selection.Distribution
    added: int
    queries_before: int
    """Number of queries that the study had."""
    notes: tuple[str, ...] = ()


def sample(ws: Workspace, *, out: Path, dry_run: bool) -> QuerySheet:
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
        write_file(path, selection.write_sheet(rows, explanation=explanation))
    return QuerySheet(path, len(rows), explanation, notes)


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
        ws.write(runs.put_import, ImportedSource(Source.UNRATED, digest, facts))
    unrated = tables.sentences("commands.unrated", queries=len(chosen.chosen), dry_run=dry_run)
    return replace(chosen, notes=(*notes, *chosen.notes, *unrated))


def choose(ws: Workspace, number: int, *, sheet: Path, dry_run: bool) -> ChosenQueries:
    """Choose `number` queries from the filled sheet and add them to the study's queries."""
    path = sheet if sheet.is_file() and not (ws.root / sheet).is_file() else ws.root / sheet
    if not path.is_file():
        raise MissingInput(f"{path}: no such sheet", hint="write one with `annot query sample` and fill it in")
    corpus_ids = set(papers.paper_ids(ws.corpus))
    rows = selection.read_sheet(
        input_files.content_of(path, expected="a rating sheet"),
        name=str(path),
        facets=tuple(ws.settings.facets),
        types=ws.settings.queries.types,
        known=corpus_ids,
    )
    return _choose(ws, rows, number, min_rating=ws.settings.queries.min_rating, dry_run=dry_run)


def _choose(
    ws: Workspace, rows: Sequence[selection.SheetRow], number: int, *, min_rating: int | None, dry_run: bool
) -> ChosenQueries:
    ids = [row.paper_id for row in rows]
    type_of = {row.paper_id: row.type for row in rows}
    papers_by_id = papers.find_papers(ws.corpus, ids)
    with ws.reading() as session:
        labels = corpus_facts.labels_where_asked(ws, session, papers_by_id)
        known_queries = pools.queries_by_id(session)
    pairs, distribution = selection.choose(
        rows,
        count=number,
        min_rating=min_rating,
        two_facet_share=ws.settings.queries.two_facet_share,
        offered={name: offered_facets(of_paper, facets=ws.settings.facets) for name, of_paper in labels.items()},
        facets=tuple(ws.settings.facets),
        seed=ws.settings.seed,
    )
    made = [
        replace(
            make_query(papers_by_id[name], labels[name], facet, facets=ws.settings.facets, sentences=None),
            paper_type=type_of[name],
        )
        for name, facet in pairs
    ]
    if not dry_run:
        ws.write(pools.put_queries, made)
    chosen = tuple(
        ChosenQuery(
            query.query_id,
            query.topic_id,
            query.facet,
            papers_by_id[query.topic_id].title,
            query.query_id not in known_queries,
        )
        for query in made
    )
    notes = _too_few_papers(ws, {**known_queries, **{query.query_id: query for query in made}}.values())
    return ChosenQueries(chosen, distribution, sum(query.new for query in chosen), len(known_queries), notes)


def _too_few_papers(ws: Workspace, queries: Collection[Query]) -> tuple[str, ...]:
    """Number of query papers that intervals and tests need, and of queries that would do, if the study has fewer."""
    fewest = max(FEWEST_PAPERS, fewest_for_median(ws.settings.agreement.level))
    facets = tuple(ws.settings.facets)
    papers = len({query.topic_id for query in queries})
    few = [(name, n) for name in facets if (n := sum(query.facet == name for query in queries)) < fewest]
    enough = selection.papers_enough(fewest, two_facet_share=ws.settings.queries.two_facet_share)
    enough_in_all = max(enough, fewest * len(facets))
    words = {"papers": papers, "few": few, "fewest": fewest, "enough": enough, "each": enough_in_all}
    return tables.sentences("commands.few_queries", **words) if few or papers < fewest else ()


def _drawn(ws: Workspace) -> tuple[selection.Sample, tuple[str, ...]]:
    """The papers drawn from each period, and notes on them; papers without labels take no part."""
    settings = ws.settings.queries
    unlabelled = _unlabelled(ws)
    years = Counter(paper.year for paper in papers.read_papers(ws.corpus, columns=("year",)))
    dated = {year: n for year, n in years.items() if year is not None}
    periods = settings.periods or selection.periods_of(dated)
    drawn = selection.sample(
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
        raise _nothing_drawn(periods, dated)
    conditions = {"followed": not settings.periods, "unlabelled": len(unlabelled)}
    return drawn, tables.sentences("commands.sample", drawn=drawn, **conditions)


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


def _rows(ws: Workspace, drawn: selection.Sample) -> list[selection.SheetRow]:
    """The rows of the sheet, not rated yet."""
    ids = [paper_id for period in drawn.periods for paper_id in period.paper_ids]
    query_papers = corpus_facts.papers_of(ws, ids)
    in_corpus = papers.known_ids(ws.corpus, {doc_id for paper in query_papers.values() for doc_id in paper.citations})
    with ws.reading() as session:
        labels = corpus_facts.labels_where_asked(ws, session, query_papers)
    return [
        selection.SheetRow(
            paper_id,
            query_papers[paper_id].title,
            query_papers[paper_id].year,
            period.period,
            None,
            None,
            offered_facets(labels[paper_id], facets=ws.settings.facets),
            abstract=" ".join(query_papers[paper_id].sentences),
            cited=len(in_corpus & set(query_papers[paper_id].citations)),
        )
        for period in drawn.periods
        for paper_id in period.paper_ids
    ]


# ----------------------------------------------------------------------------------------------------------------------
# Topics that are texts: added by hand, or from files in the formats of other collections.
# ----------------------------------------------------------------------------------------------------------------------


SHOWN = 10
"""Groups of ids that a note names."""
ANOTHER = "another text has this id"


@dataclass(frozen=True, slots=True)
class AddedTopics:
    """Contents of a file of topics."""

    form: str
    """The format, in words."""
    fields: Mapping[str, str]
    """The name in the file of each field of a topic that it has."""
    topics: tuple[str, ...]
    """Ids of the topics, in the order of the file."""
    with_description: int
    with_narrative: int
    new: int
    """Number of topics that are new to the study; it has the others word for word."""
    notes: tuple[str, ...]
    """Ids that differ only in case, Unicode form or ligatures."""


def is_of_papers(file: str) -> bool:
    """True if a file is a table of queries that are papers, with a column paper_id or facet, and not one of topics."""
    return topics.names_papers(Path(file))


def add_topic_file(ws: Workspace, source: str, *, dry_run: bool) -> AddedTopics:
    """Add the topics of a file, or of a dataset of `ir_datasets` given as `irds:NAME`, each with a query that asks it
    whole; all, or none. A topic that the study has word for word stays.

    Raises InputError with the line of every fault: of the file, and of every topic whose id something else has.
    """
    read = topics.read_topics(source, ws.settings.plugins.names)
    found = [topic for _, topic in read.topics]
    faults = Faults(source)
    with ws.writing() as session:
        uses = _uses_of_ids(session, found)
        for line, topic in read.topics:
            if topic.topic_id in uses:
                faults.add(f"topic {topic.topic_id}: {uses[topic.topic_id]}", line=line)
        faults.raise_if_any(hint=f"nothing was added; {_remedy(uses)}")
        notes = tuple(_alike_ids(session, [topic.topic_id for topic in found]))
        new = _add_topics(session, found, dry_run=dry_run)
    return AddedTopics(
        read.form,
        read.fields,
        tuple(topic.topic_id for topic in found),
        sum(topic.description is not None for topic in found),
        sum(topic.narrative is not None for topic in found),
        new,
        notes,
    )


def add_text(ws: Workspace, topic: Topic, *, dry_run: bool) -> tuple[Query, tuple[str, ...]]:
    """Add a topic that is a text, and the query that asks it whole; returns the query, and notes on its id.

    Raises InputError for an id that is not valid or already used, and for texts without a word.
    """
    faults = []
    if problem := topics.id_fault(topic.topic_id):
        faults.append(f"--id {problem}")
    texts = {"--text": topic.title, "--description": topic.description, "--narrative": topic.narrative}
    tidied = {name: None if text is None else topics.tidy(text) for name, text in texts.items()}
    faults += [f"{name}: found no words" for name, text in tidied.items() if text == ""]
    if faults:
        raise InputError("the topic cannot be added", faults=faults)
    title, description, narrative = tidied.values()
    topic = replace(topic, title=" ".join((title or "").split()), description=description, narrative=narrative)
    with ws.writing() as session:
        uses = _uses_of_ids(session, [topic])
        for problem in uses.values():
            raise InputError(f"--id {topic.topic_id}: {problem}", hint=_remedy(uses))
        notes = tuple(_alike_ids(session, [topic.topic_id]))
        _add_topics(session, [topic], dry_run=dry_run)
    return _query_of(topic), notes


def _alike_ids(session: Session, new: Sequence[str]) -> Iterator[str]:
    """A note on ids that differ from others only in case, Unicode form or ligatures."""
    known = {name for query in pools.read_queries(session) for name in (query.query_id, query.topic_id)}
    by_spelling = grouped((cleaning.folded_id(name), name) for name in dict.fromkeys((*sorted(known), *new)))
    alike = [names for names in by_spelling.values() if len(names) > 1 and not {*new}.isdisjoint(names)]
    if alike:
        some = "; ".join(" and ".join(names) for names in alike[:SHOWN]) + ("; ..." if len(alike) > SHOWN else "")
        yield f"{counted(len(alike), 'group')} of ids that differ only in case, Unicode form or ligatures: {some}"


def _query_of(topic: Topic) -> Query:
    return Query(topic.topic_id, topic.topic_id, WHOLE, ())


def _remedy(uses: Mapping[str, str]) -> str:
    other_text = next((name for name, problem in uses.items() if problem == ANOTHER), None)
    return f"give the text another id{f', or run `annot query remove {other_text}` first' if other_text else ''}"


def _uses_of_ids(session: Session, topics: Sequence[Topic]) -> dict[str, str]:
    """Other uses of the ids of these topics, by id."""
    known, judged = pools.read_topics(session), pools.judged_queries(session)
    used = {name: query.topic_id for query in pools.read_queries(session) for name in (query.query_id, query.topic_id)}
    uses = {}
    for topic in topics:
        name = topic.topic_id
        if name in known and known[name] != topic:
            # Its pool, drawn for the text that is there, would stay.
            uses[name] = f"{ANOTHER}, and pairs of it were judged or sent" if name in judged else ANOTHER
        elif name not in known and name in used:
            uses[name] = f"a query of {used[name]} has this id"
    return uses


def _add_topics(session: Session, topics: Sequence[Topic], *, dry_run: bool) -> int:
    """Add the topics and their queries, and count those that are new."""
    known = pools.read_topics(session)
    new = [topic for topic in topics if topic.topic_id not in known]
    pools.put_topics(session, new)
    pools.put_queries(session, map(_query_of, topics))
    if dry_run:
        session.rollback()
    return len(new)
