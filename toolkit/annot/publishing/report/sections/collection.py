"""Queries, pools and grades, with a judged pair for each grade."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from annot.base.names import moment_of
from annot.base.records import CITED, WHOLE, Decision, Paper, Pool, Query, Topic, grouped, nested
from annot.base.stats.arrays import Array
from annot.base.stats.inference import mean_interval, share_of_counts
from annot.base.stats.values import Estimate, Undefined
from annot.base.words import ENGLISH_CODE
from annot.judging.comments import asked_again
from annot.labelstudio.tasks import grade_text
from annot.measuring.agreement.estimates import TOGETHER
from annot.measuring.sampled.grades import GradeCounts, by_grade, share_of
from annot.measuring.sampled_study import grade_counts
from annot.pools.drawn_pools import facts_of, methods_by_document
from annot.publishing.report import figures
from annot.publishing.report.cells import ESTIMATED, MEAN, SHARE, Number, measured
from annot.publishing.report.side_by_side import judged_versions, screens_of, side_by_side, text_cell, with_judged_texts
from annot.publishing.report.study import Study
from annot.publishing.report.tables import (
    Chapter,
    Column,
    Figure,
    SideBySide,
    Table,
    columns_for,
    facet_column,
    listed,
    picture,
    sentence,
    sentences,
    table,
)
from annot.store import papers
from annot.store.shown import language_of
from annot.study.outcome import Pair
from annot.study.shown_versions import NumberedVersion, by_part, changed_versions

# ----------------------------------------------------------------------------------------------------------------------
# The queries and the pools.
# ----------------------------------------------------------------------------------------------------------------------


NOT_JUDGED = Undefined("no pair is judged")
MOST_OVERLAPS = 12
"""Combinations of pool methods that are drawn, as many as one column of a paper holds."""


def appendix(study: Study) -> Iterator[Chapter]:
    """Chapter on the judged pairs; a study that was judged in another tool may have no corpus and no pools here."""
    by_facet = (_queries(study),) if study.snapshot.faceted else ()
    text = sentences("collection.queries", study=study, words=study.words)
    yield Chapter("queries", "Queries", text, (*_topics(study), *by_facet))
    if study.pools:
        yield _pools(study)
    changed = changed_versions({**study.snapshot.shown, **by_part(study.snapshot.text_versions)})
    tables = [*([_versions(changed)] if changed else []), *_languages(study)]
    if tables:
        paragraphs = sentences("collection.shown") if changed else ()
        yield Chapter("versions", "What assessors were shown", paragraphs, tuple(tables))


def _languages(study: Study) -> Iterator[Table]:
    """The language of the screens on which each person judged, if any was not English."""
    shown = study.snapshot.shown
    judged = Counter(
        (judgement.assessor, language_of(display, shown)) for judgement, display in study.snapshot.displays.items()
    )
    if {language for _, language in judged} - {ENGLISH_CODE}:
        yield table(
            "languages",
            sorted(judged),
            [Column("Assessor", lambda row: row[0]), Column("Language of the screen", lambda row: row[1])],
            [Column("Judgements", lambda row: judged[row])],
            caption="collection.languages",
        )


def _versions(changed: Sequence[NumberedVersion]) -> Table:
    """Versions of everything that was sent in several, each with its day and the reason."""
    return table(
        "versions",
        changed,
        [
            Column("What", lambda row: row.name.removeprefix("the ")),
            Column("Version", lambda row: row.number),
            Column("Sent from", lambda row: row.since),
            Column("Why it was changed", lambda row: row.why or ""),
        ],
        caption="collection.versions",
    )


def _topics(study: Study) -> Iterator[Table]:
    """Topics that are texts, with their pairs and the relevant ones among these."""
    relevant_from = study.settings.evaluation.relevant_from
    graded = Counter(decision.query_id for decision in study.decisions)
    relevant = Counter(decision.query_id for decision in study.decisions if decision.grade >= relevant_from)
    numbers = [
        Column[Query]("Pairs", lambda query: graded[query.query_id]),
        Column[Query]("Relevant", lambda query: relevant[query.query_id]),
    ]
    if (pools := study.grade_counts) is not None:
        estimates = {query_id: pool.number(relevant_from, level=study.level) for query_id, pool in pools.items()}
        none = Estimate(NOT_JUDGED, NOT_JUDGED)
        numbers = [
            Column("Pairs", lambda query: len(study.pools[query.topic_id].entries)),
            Column("Judged pairs", lambda query: graded[query.query_id]),
            Column("Relevant", lambda query: measured(estimates.get(query.query_id, none), ESTIMATED)),
        ]
    texts, collection = study.snapshot.texts, study.settings.collection
    if queries := [query for query in study.queries if query.topic_id in texts]:
        yield table(
            "topics",
            queries,
            [
                Column("Topic", lambda row: row.query_id, "query_id"),
                Column("Title", lambda row: text_cell(texts[row.topic_id].title, texts[row.topic_id], collection)),
            ],
            numbers,
            caption="collection.topics",
            words=study.words,
            relevant_from=relevant_from,
            sampled=pools is not None,
            level=study.level,
        )


def _queries(study: Study) -> Table:
    per_facet = Counter(query.facet for query in study.queries)
    # Queries of imported judgements have no sentences where their papers are not here.
    labelled = any(query.sentences for query in study.queries)
    labels = study.settings.facets
    facets = [Column[str]("Facet", str)]
    if labelled:
        facets.append(Column("Sentence labels", lambda facet: ", ".join(labels.get(facet, ()))))
    return table(
        "queries",
        [facet for facet in dict.fromkeys((*labels, WHOLE)) if per_facet[facet]],
        facets,
        [Column("Queries", lambda facet: per_facet[facet])],
        caption="collection.by_facet",
        labelled=labelled,
    )


def _pools(study: Study) -> Chapter:
    facts = facts_of(study.pools)
    methods = sorted(facts.methods, key=lambda method: _cited_first(method.method))
    drawn = sum(method.drawn for method in methods)
    by_method = table(
        "pools",
        methods,
        [Column("Method", lambda row: row.method)],
        [
            Column("Documents", lambda row: row.drawn),
            Column("Share", lambda row: Number(row.drawn / drawn if drawn else None, SHARE)),
            Column("Deepest rank", lambda row: row.deepest),
        ],
        caption="collection.drawn",
    )
    quotas: dict[str, set[int]] = {}
    for pool in study.pools.values():
        quotas.setdefault(pool.mode, set()).update(() if pool.per_method is None else (pool.per_method,))
    by_mode = {mode: sorted(quotas_of_mode) for mode, quotas_of_mode in sorted(quotas.items())}
    # The table first: a tall figure that does not fit on the sheet would leave it half empty.
    text = (
        *sentences("collection.pools", study=study, sizes=facts.sizes, quotas=by_mode, versions=facts.versions),
        *sentences("collection.origins", origins=study.origins, words=study.words),
        *sentences("runs.few_abstracts", few=study.origins.few_abstracts, words=study.words),
    )
    of_several = (drawing(study.pools), *shared(study.pools)) if len(study.pools) > 1 else ()
    return Chapter("pools", "Pools", text, (by_method, *of_several))


def shared(pools: Mapping[str, Pool]) -> Iterator[Figure]:
    """Documents that several methods came to, if there are several methods."""
    counts = Counter(methods for pool in pools.values() for methods in methods_by_document(pool))
    order = [method for method in _methods(pools) if any(method in methods for methods in counts)]
    if len(order) > 1:
        bars = figures.overlap(counts, order=order, most=MOST_OVERLAPS, unit="documents")
        alone = {method: counts[frozenset({method})] for method in order}
        yield picture("overlap", bars, "collection.overlap_", most=MOST_OVERLAPS, whole=len(counts), alone=alone)


def drawing(pools: Mapping[str, Pool]) -> Figure:
    """Each pool by the method that added its documents."""
    bars = _sources_by_method(pools)
    drawn = figures.stacked_bars(bars, order=_methods(pools), unit="documents")
    return picture("pools", drawn, "collection.pools_", bars=bars)


def sizes(pools: Mapping[str, Pool]) -> Table:
    """Table of the pools: a row for each pool, the total below, and a column for each method."""
    bars = _sources_by_method(pools)
    return table(
        "pool-sizes",
        [("together", sum(bars.values(), Counter())), *bars.items()],
        [Column("Query", lambda row: row[0], "query_id")],
        [
            Column("Documents", lambda row: row[1].total()),
            *columns_for(_methods(pools), lambda row, method: row[1][method]),
        ],
        caption="collection.sizes",
        command="annot pool show",
    )


def _sources_by_method(pools: Mapping[str, Pool]) -> dict[str, Counter[str]]:
    return {name: Counter(entry.drawn.method for entry in pool.entries) for name, pool in pools.items()}


def _methods(pools: Mapping[str, Pool]) -> list[str]:
    """Methods that took part, also those that added nothing."""
    return sorted({method for pool in pools.values() for method in pool.methods}, key=_cited_first)


def _cited_first(method: str) -> tuple[bool, str]:
    return method != CITED, method


# ----------------------------------------------------------------------------------------------------------------------
# The grades: final ones by facet, those of each assessor, what two facets and citations have to do with them.
# ----------------------------------------------------------------------------------------------------------------------


ByQuery = Mapping[str, Counter[int | None] | GradeCounts]
"""Counts of each grade by query, where None counts answers without one; if a sample was judged, the estimated documents
of its pool by grade."""
_Graded = tuple[str, ByQuery]
"""A facet or an assessor, with its grades."""


def grades_body(study: Study) -> Chapter:
    """The final grades of each facet."""
    final = _final(study)
    if not final:
        return Chapter("grades", "Grades", sentences("grades.none"))
    names = study.settings.scale.names
    grades = study.settings.scale.grades
    shares = {facet: [_share_of(counts, (grade,), study) for grade in grades] for facet, counts in final.items()}
    bracketed = any(share.ends for facet_shares in shares.values() for share in facet_shares)
    bars = figures.grouped_bars(
        {
            facet if study.words.faceted else "": row
            for facet, row in shares.items()
            if facet != TOGETHER or len(shares) == 1
        },
        names=[f"{grade} {name}" for grade, name in enumerate(names)],
        unit="% of pairs",
    )
    sampled = study.grade_counts is not None
    rows = {facet: [*zip(names, row, strict=True)] for facet, row in shares.items()}
    drawing = picture("grades", bars, "grades.", words=study.words, bracketed=bracketed, sampled=sampled, shares=rows)
    lowest, *_, highest = shares[TOGETHER] if TOGETHER in shares else next(iter(shares.values()))
    values = {"study": study, "words": study.words, "lowest": lowest, "highest": highest, "sampled": sampled}
    drawn: list[Table | Figure] = (
        [drawing] if len({query_id for queries in final.values() for query_id in queries}) > 1 else []
    )
    return Chapter("grades", "Grades", sentences("grades.body", **values), (*drawn, final_grades(study)))


def grades_appendix(study: Study) -> Iterator[Chapter]:
    """Grades of the assessors, and final grades in three views."""
    counting = (answer for answer in study.judgements if not answer.flags)
    answers = _counted((answer.query_id, answer.assessor, answer.grade) for answer in counting)
    of_all = {name: sum(by_query.values(), Counter[int | None]()) for name, by_query in answers.items()}
    columns: list[Column[_Graded]] = [
        Column("No grade", lambda row: of_all[row[0]][None]),
        Column("Mean grade", lambda row: _mean_grade(of_all[row[0]])),
    ]
    of_assessor = Column[_Graded]("Assessor", lambda row: row[0])
    given_grades = _graded(
        "given-grades", answers, study, first_column=of_assessor, more_columns=columns, caption="grades.given"
    )
    text = sentences("grades.judging", study=study)
    yield Chapter("judgements", "Judgements of each assessor", text, (*over_time(study), given_grades))
    if study.decisions:
        queries = {decision.query_id for decision in study.decisions}
        counts = {"pairs": len(study.decisions), "queries": len(queries)}
        counts["papers"] = len({study.snapshot.topics[name] for name in queries})
        text = sentences("grades.settled", words=study.words, sampled=study.grade_counts is not None, **counts)
        tables = (_per_query(study), *_tables_across_facets(study), *_cited(study))
        yield Chapter("final-grades", "Final grades", text, tables)


def over_time(study: Study) -> Iterator[Figure]:
    """Answers that count, day by day from the first one; none of one day, without moments, or of simulated people."""
    judged = [moment_of(answer.judged_at) for answer in study.judgements if answer.counts]
    days = {"judgements": sorted(at.date() for at in judged if at)}
    if len({*days["judgements"]}) > 1 and study.notice is None:
        settled = [moment_of(ruling.judged_at) for ruling in study.outcome.adjudications.values()]
        days["adjudications"] = sorted(at.date() for at in settled if at)
        # An axis of dates would publish them.
        first = min(days["judgements"])
        series = {
            name: [(0, 0), *((day + 1, n) for day, n in accumulated.items())]
            for name, of_kind in days.items()
            if (accumulated := {(day - first).days: n for n, day in enumerate(of_kind, start=1)})
        }
        drawn = figures.lines(series, across="day", up="answers", steps=True)
        yield picture("time", drawn, "grades.time_", series=series, planned=len(study.outcome.planned))


def final_grades(study: Study) -> Table:
    """The final grades of each facet and of all."""
    return _graded("grades", _final(study), study, caption="grades.final")


def _final(study: Study) -> dict[str, ByQuery]:
    """Final grades by facet."""
    facet_of = {query.query_id: query.facet for query in study.queries}
    final: dict[str, ByQuery] = {}
    if study.grade_counts is None:
        graded = ((decision.query_id, facet_of[decision.query_id], decision.grade) for decision in study.decisions)
        final |= _counted(graded)
    else:
        final |= _counts_by_facet(study.grade_counts, facet_of)
    if len(final) > 1:
        final[TOGETHER] = {query_id: counts for by_query in final.values() for query_id, counts in by_query.items()}
    return final


def _counts_by_facet(
    counts: Mapping[str, GradeCounts], facet_of: Mapping[str, str]
) -> dict[str, dict[str, GradeCounts]]:
    return nested((facet_of[query_id], query_id, pool) for query_id, pool in sorted(counts.items()))


def _counted(grades: Iterable[tuple[str, str, int | None]]) -> dict[str, dict[str, Counter[int | None]]]:
    """Grades by group, then by query, from (query, group, grade)."""
    by_group: dict[str, dict[str, Counter[int | None]]] = {}
    for query_id, group, grade in grades:
        by_group.setdefault(group, {}).setdefault(query_id, Counter())[grade] += 1
    return dict(sorted(by_group.items()))


def _graded(
    name: str,
    graded: Mapping[str, ByQuery],
    study: Study,
    *,
    first_column: Column[_Graded] | None = None,
    more_columns: Sequence[Column[_Graded]] = (),
    caption: str,
) -> Table:
    """Queries, pairs, and the share of each grade, for each facet or assessor."""
    grades = study.settings.scale.grades
    sampled = any(isinstance(counts, GradeCounts) for by_query in graded.values() for counts in by_query.values())
    return table(
        name,
        graded.items(),
        [first_column or facet_column(lambda row: row[0], study.words)],
        [
            Column("Queries", lambda row: len(row[1])),
            Column("Pairs", lambda row: sum(map(_size, row[1].values()))),
            *([Column[_Graded]("Judged pairs", lambda row: sum(map(_judged, row[1].values())))] if sampled else []),
            *columns_for(
                grades, lambda row, grade: _share_of(row[1], (grade,), study), lambda grade: _named(study, grade)
            ),
            *more_columns,
        ],
        caption=caption,
        words=study.words,
        sampled=sampled,
    )


def _per_query(study: Study) -> Table:
    """The documents of a query that have at least a grade."""
    final, grades = _final(study), study.settings.scale.grades
    counts = {
        (facet, least): _documents_at_least(graded, least) for facet, graded in final.items() for least in grades[1:]
    }

    def at_least(row: tuple[str, int]) -> str:
        return _named(study, row[1]) if study.words.binary else f"{row[1]} or higher"

    # The extremes of estimates are those of their errors.
    ends: list[Column[tuple[str, int]]] = [
        Column("Fewest", lambda row: int(counts[row].min())),
        Column("Most", lambda row: int(counts[row].max())),
    ]
    return table(
        "relevant",
        counts,
        [facet_column(lambda row: row[0], study.words), Column("Grade", at_least)],
        [
            *(ends if study.grade_counts is None else ()),
            Column("Mean", lambda row: _mean(counts[row], final[row[0]], study)),
            Column("Share of pairs", lambda row: _share_of(final[row[0]], grades[row[1] :], study)),
            Column("Queries", lambda row: len(final[row[0]])),
            Column("Pairs", lambda row: sum(map(_size, final[row[0]].values()))),
        ],
        caption="grades.per_query",
        words=study.words,
        sampled=study.grade_counts is not None,
    )


def _tables_across_facets(study: Study) -> Iterator[Table]:
    """Number of candidates with each two grades, for two facets of one paper."""
    paper_of = {query.query_id: (query.topic_id, query.facet) for query in study.queries}
    graded: dict[str, dict[tuple[str, str], int]] = {}
    for decision in study.decisions:
        paper_id, facet = paper_of[decision.query_id]
        graded.setdefault(facet, {})[paper_id, decision.doc_id] = decision.grade
    for first, second in itertools.combinations([name for name in study.settings.facets if name in graded], 2):
        shared = sorted(graded[first].keys() & graded[second].keys())
        if shared:
            counts = Counter((graded[first][pair], graded[second][pair]) for pair in shared)
            yield _table_across(first, second, counts, study, papers=len({paper for paper, _ in shared}))


def _table_across(first: str, second: str, counts: Counter[tuple[int, int]], study: Study, *, papers: int) -> Table:
    grades = study.settings.scale.grades
    return table(
        f"{first}-and-{second}",
        grades,
        [Column(f"{first} \\ {second}", lambda grade: f"{first} {_named(study, grade)}", first)],
        columns_for(grades, lambda grade, other: counts[grade, other], lambda other: f"{second} {other}"),
        caption="grades.across",
        candidates=counts.total(),
        papers=papers,
        sampled=study.grade_counts is not None,
    )


def _cited(study: Study) -> Iterator[Table]:
    """Grades of the papers that the query paper cites."""
    cited = {
        (paper_id, entry.doc_id)
        for paper_id, pool in study.pools.items()
        for entry in pool.entries
        if entry.drawn.method == CITED
    }
    paper_of = {query.query_id: (query.topic_id, query.facet) for query in study.queries}
    counts: Mapping[str, ByQuery]
    if study.grade_counts is None:
        counts = _counted(
            (decision.query_id, paper_of[decision.query_id][1], decision.grade)
            for decision in study.decisions
            if (paper_of[decision.query_id][0], decision.doc_id) in cited
        )
    else:
        pairs = {
            (query_id, doc_id)
            for query_id, (paper_id, _) in paper_of.items()
            for citing, doc_id in cited
            if citing == paper_id
        }
        facet_of = {query_id: facet for query_id, (_, facet) in paper_of.items()}
        counts = _counts_by_facet(grade_counts(study.snapshot, pairs), facet_of)
    if counts:
        lowest, second, *_ = study.settings.scale.grades
        together = [Column[_Graded](f"{lowest} or {second}", lambda row: _share_of(row[1], (lowest, second), study))]
        yield _graded(
            "cited", counts, study, more_columns=() if study.words.binary else together, caption="grades.cited"
        )


def _named(study: Study, grade: int) -> str:
    return grade_text(grade, study.settings.scale.names)


def _size(counts: Counter[int | None] | GradeCounts) -> int:
    """The pairs behind the figures."""
    return counts.documents if isinstance(counts, GradeCounts) else counts.total()


def _judged(counts: Counter[int | None] | GradeCounts) -> int:
    return counts.documents - counts.unknown if isinstance(counts, GradeCounts) else counts.total()


def _estimated(by_query: ByQuery) -> list[GradeCounts]:
    return [counts for counts in by_query.values() if isinstance(counts, GradeCounts)]


def _share_of(by_query: ByQuery, grades: Sequence[int], study: Study) -> Number:
    """The share of all pairs that have one of `grades`, with whole query papers as the sampling units."""
    papers = [study.snapshot.topics[name] for name in by_query]
    if pools := _estimated(by_query):
        return measured(share_of(pools, grades, level=study.level, topics=papers), SHARE)
    hits = [sum(counts[grade] for grade in grades) for counts in by_query.values() if isinstance(counts, Counter)]
    sizes = [_size(counts) for counts in by_query.values()]
    return measured(share_of_counts(hits, sizes, level=study.level, topics=papers), SHARE)


def _documents_at_least(by_query: ByQuery, least: int) -> Array:
    """Documents with a grade or a higher one, for each query."""
    if pools := _estimated(by_query):
        return np.asarray(by_grade(pools)[:, least:].sum(axis=1))
    return np.array(
        [
            sum(n for grade, n in counts.items() if grade is not None and grade >= least)
            for counts in by_query.values()
            if isinstance(counts, Counter)
        ],
        dtype=np.float64,
    )


def _mean_grade(counts: Counter[int | None]) -> Number:
    grades = [grade for grade in counts.elements() if grade is not None]
    return Number(sum(grades) / len(grades) if grades else None, MEAN)


def _mean(values: Array, by_query: ByQuery, study: Study) -> Number:
    """The mean over queries of some of their documents, with its interval."""
    most = max(map(_size, by_query.values()))
    papers = [study.snapshot.topics[query_id] for query_id in by_query]
    interval = mean_interval(values, level=study.level, least=0, most=most, topics=papers)
    return Number(float(values.mean()), MEAN, interval)


# ----------------------------------------------------------------------------------------------------------------------
# One judged pair for each grade, so that a reader sees what the grades mean.
# ----------------------------------------------------------------------------------------------------------------------


TITLE = "Examples of the grades"


def _given_grades(study: Study, example: Decision) -> str:
    """Answers of the assessors of a pair, from the lowest grade up, without names: `2 and 3`; "" if only the final
    grade is on record."""
    grades = [answer.grade for answer in study.outcome.current if answer.counts and answer.pair == example.pair]
    grades.sort(key=lambda grade: (grade is None, grade or 0))
    return listed(["cannot judge" if grade is None else grade for grade in grades]) if grades else ""


def examples_body(study: Study) -> Iterator[Chapter]:
    """A pair for each grade: both abstracts, folded; where the texts may not go out, a table."""
    examples = grade_examples(study)
    if examples:
        finals = {example.grade for example in examples}
        missing = [name for grade, name in enumerate(study.settings.scale.names) if grade not in finals]
        texts = study.terms.with_text
        text = sentences("examples.body", words=study.words, texts=texts, missing=missing)
        yield Chapter(
            "examples", TITLE, text, tuple(_abstracts(study, examples)) if texts else (_table(study, examples),)
        )


def examples_appendix(study: Study) -> Iterator[Chapter]:
    """Table of the pairs that are shown as examples, unless the body of the report has it."""
    examples = grade_examples(study) if study.terms.with_text else []
    if examples:
        yield Chapter("examples-by-id", f"{TITLE}, by id", (), (_table(study, examples),))


def grade_examples(study: Study, facet: str | None = None) -> list[Decision]:
    """One settled pair for each grade, from the highest down, of all facets or one.

    Pairs on which assessors agreed come before others, then facets that were not shown yet, then ids. A pair whose
    grade a person has yet to find alone is left out: for a second time, in training or as hidden gold."""
    snapshot, facets = study.snapshot, study.snapshot.facets
    withheld = asked_again(snapshot) | snapshot.trial_pairs
    answers = Counter(answer.pair for answer in study.outcome.current if answer.counts)
    shown_of_facet: Counter[str] = Counter()

    def order(decision: Decision) -> tuple[bool, int, Pair]:
        doubtful = decision.origin == "adjudicated" or answers[decision.pair] < 2
        return doubtful, shown_of_facet[facets[decision.query_id]], decision.pair

    settled = grouped((decision.grade, decision) for decision in study.outcome.to_show if decision.pair not in withheld)
    examples = []
    for grade in reversed(study.settings.scale.grades):
        of_facet = [decision for decision in settled.get(grade, ()) if facet in (None, facets[decision.query_id])]
        if of_facet:
            examples.append(min(of_facet, key=order))
            shown_of_facet[facets[examples[-1].query_id]] += 1
    return examples


def _table(study: Study, examples: list[Decision]) -> Table:
    names = study.settings.scale.names
    return table(
        "examples",
        examples,
        [
            Column("Final grade", lambda row: f"{row.grade} {names[row.grade]}", "final"),
            facet_column(lambda row: study.snapshot.facets[row.query_id], study.words),
            Column("Query", lambda row: row.query_id),
            Column("Candidate" if study.words.document == "paper" else "Document", lambda row: row.doc_id, "candidate"),
            Column("Assessors gave", lambda row: _given_grades(study, row)),
            Column("Settled by", lambda row: "agreement" if row.origin == "agreed" else "an adjudicator"),
        ],
        caption="examples.table",
    )


def _abstracts(study: Study, examples: list[Decision]) -> Iterator[SideBySide]:
    """The pairs, folded: both abstracts with the sentences of the facet marked."""
    ws, query_papers, facets = study.snapshot.ws, study.snapshot.topics, study.snapshot.facets
    ids = sorted({paper for example in examples for paper in (query_papers[example.query_id], example.doc_id)})
    corpus = papers.find_papers(ws.corpus, ids) if ws.has_corpus else {}
    judged = with_judged_texts(corpus.values(), judged_versions(study.snapshot))
    judged_by_id = {paper.paper_id: paper for paper in judged}
    topics: dict[str, Paper | Topic] = {**judged_by_id, **study.snapshot.texts}
    # What is on the pages here is not what people elsewhere judged by.
    pages_of = {facets[example.query_id] for example in examples} if study.made_elsewhere is None else ()
    screens = screens_of(study.snapshot, ids, pages_of)
    for example in examples:
        query, candidate = topics.get(query_papers[example.query_id]), judged_by_id.get(example.doc_id)
        if query and candidate:
            facet, grade = facets[example.query_id], f"{example.grade} {screens.scale[example.grade]}"
            values = {"words": study.words, "one": example, "facet": facet, "grade": grade}
            values |= {"title": candidate.title or example.doc_id, "given": _given_grades(study, example)}
            yield side_by_side(
                *(example.pair, facet, (example.grade,), query, candidate, screens, study.words),
                summary=sentence("examples.summary", **values),
                introduction=sentence("examples.told", **values),
            )
