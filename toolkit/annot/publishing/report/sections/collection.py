"""Queries, pools and grades, with a judged pair for each grade."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from annot.base.names import called
from annot.base.records import CITED, WHOLE, Paper, Pool, Topic, grouped, nested
from annot.base.stats.arrays import Array
from annot.base.stats.inference import mean_interval, share_of_counts
from annot.base.stats.values import Estimate, Undefined
from annot.judging.comments import asked_again
from annot.labelstudio.tasks import grade_text
from annot.measuring.agreement.tables import TOGETHER
from annot.measuring.sampled.grades import GradeCounts, by_grade, share_of
from annot.measuring.sampled_study import grade_counts
from annot.pools.drawn_pools import facts_of
from annot.publishing.report import figures
from annot.publishing.report.cells import ESTIMATED, MEAN, SHARE, Number, measured
from annot.publishing.report.side_by_side import judged_versions, screens_of, side_by_side, with_judged_texts
from annot.publishing.report.study import Study
from annot.publishing.report.tables import (
    Chapter,
    Column,
    Figure,
    SideBySide,
    Table,
    each,
    listed,
    of_facet,
    sentence,
    sentences,
    table,
)
from annot.store import papers
from annot.study.outcome import Pair
from annot.study.shown_versions import NumberedVersion, by_part, changed_versions

# ----------------------------------------------------------------------------------------------------------------------
# The queries and the pools.
# ----------------------------------------------------------------------------------------------------------------------


NOT_JUDGED = Undefined("no pair is judged")


class _Topic(NamedTuple):
    query_id: str
    topic_id: str
    title: str


def appendix(study: Study) -> Iterator[Chapter]:
    """What was judged; a study that was judged in another tool may have no corpus and no pools here."""
    blocks = (_queries(study),) if study.snapshot.faceted else ()
    yield Chapter("queries", "Queries", sentences("collection.queries", study=study), (*_topics(study), *blocks))
    if study.pools:
        yield _pools(study)
    if changed := changed_versions({**study.snapshot.shown, **by_part(study.snapshot.text_versions)}):
        yield Chapter("versions", "What assessors were shown", sentences("collection.shown"), (_versions(changed),))


def _versions(changed: Sequence[NumberedVersion]) -> Table:
    """What was sent in several versions, each with its day and the reason."""
    return table(
        "versions",
        changed,
        [
            Column("What", lambda one: one.name.removeprefix("the ")),
            Column("Version", lambda one: one.number),
            Column("Sent from", lambda one: one.since),
            Column("Why it was changed", lambda one: one.why or ""),
        ],
        caption="collection.versions",
    )


def _topics(study: Study) -> Iterator[Table]:
    """The topics that are texts, with their pairs, and those of them that are relevant."""
    relevant_from = study.settings.evaluation.relevant_from
    graded = Counter(decision.query_id for decision in study.decisions)
    relevant = Counter(decision.query_id for decision in study.decisions if decision.grade >= relevant_from)
    numbers = [
        Column[_Topic]("Pairs", lambda topic: graded[topic.query_id]),
        Column[_Topic]("Relevant", lambda topic: relevant[topic.query_id]),
    ]
    if (pools := study.grade_counts) is not None:
        estimates = {query_id: pool.number(relevant_from, level=study.level) for query_id, pool in pools.items()}
        none = Estimate(NOT_JUDGED, NOT_JUDGED)
        numbers = [
            Column("Pairs", lambda topic: len(study.pools[topic.topic_id].entries)),
            Column("Judged pairs", lambda topic: graded[topic.query_id]),
            Column("Relevant", lambda topic: measured(estimates.get(topic.query_id, none), ESTIMATED)),
        ]
    asked = [
        _Topic(query.query_id, query.topic_id, study.snapshot.texts[query.topic_id].title)
        for query in study.queries
        if query.topic_id in study.snapshot.texts
    ]
    if asked:
        yield table(
            "topics",
            asked,
            [Column("Topic", lambda topic: topic.query_id, "query_id"), Column("Title", lambda topic: topic.title)],
            numbers,
            caption="collection.topics",
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
    methods = sorted(facts.methods, key=lambda one: _cited_first(one.method))
    drawn = sum(one.drawn for one in methods)
    by_method = table(
        "pools",
        methods,
        [Column("Method", lambda one: one.method)],
        [
            Column("Documents", lambda one: one.drawn),
            Column("Share", lambda one: Number(one.drawn / drawn if drawn else None, SHARE)),
            Column("Deepest rank", lambda one: one.deepest),
        ],
        caption="collection.drawn",
    )
    quotas: dict[str, set[int]] = {}
    for pool in study.pools.values():
        quotas.setdefault(pool.mode, set()).update(() if pool.per_method is None else (pool.per_method,))
    by_mode = {mode: sorted(of) for mode, of in sorted(quotas.items())}
    # The table first: a tall figure that does not fit on the sheet would leave it half empty.
    told = (
        *sentences("collection.pools", study=study, sizes=facts.sizes, quotas=by_mode, versions=facts.versions),
        *sentences("collection.origins", origins=study.origins),
        *sentences("runs.few_abstracts", few=study.origins.few_abstracts),
    )
    of_several = [drawing(study.pools)] if len(study.pools) > 1 else []
    return Chapter("pools", "Pools", told, (by_method, *of_several))


def drawing(pools: Mapping[str, Pool]) -> Figure:
    """Each pool by the method that added its documents."""
    bars = _by_method(pools)
    return Figure(
        sentence("collection.pools_figure"),
        figures.stacked_bars(bars, order=_methods(pools), unit="documents"),
        sentence("collection.pools_drawn", bars=bars),
    )


def sizes(pools: Mapping[str, Pool]) -> Table:
    """The same as a table: a row a pool, below all together, with a column for each method."""
    bars = _by_method(pools)
    return table(
        "pool-sizes",
        [("together", sum(bars.values(), Counter())), *bars.items()],
        [Column("Query", lambda one: one[0], "query_id")],
        [
            Column("Documents", lambda one: one[1].total()),
            *each(_methods(pools), lambda one, method: one[1][method]),
        ],
        caption="collection.sizes",
        command="annot pool show",
    )


def _by_method(pools: Mapping[str, Pool]) -> dict[str, Counter[str]]:
    return {name: Counter(entry.drawn.method for entry in pool.entries) for name, pool in pools.items()}


def _methods(pools: Mapping[str, Pool]) -> list[str]:
    """Those that took part, also those that added nothing."""
    return sorted({method for pool in pools.values() for method in pool.methods}, key=_cited_first)


def _cited_first(method: str) -> tuple[bool, str]:
    return method != CITED, method


# ----------------------------------------------------------------------------------------------------------------------
# The grades: final ones by facet, those of each assessor, what two facets and citations have to do with them.
# ----------------------------------------------------------------------------------------------------------------------


ByQuery = Mapping[str, Counter[int | None] | GradeCounts]
"""By query, how often each grade was given, where None counts answers without one; if a sample was judged, the
estimated documents of its pool by grade."""
_Graded = tuple[str, ByQuery]
"""A facet or an assessor, with its grades."""


class _Relevant(NamedTuple):
    """A facet's pairs that have a grade or a higher one."""

    facet: str
    least: int
    graded: ByQuery


def grades_body(study: Study) -> Chapter:
    """The final grades of each facet."""
    final = _final(study)
    if not final:
        return Chapter("grades", "Grades", sentences("grades.none"))
    names = study.settings.scale.names
    grades = study.settings.scale.grades
    shares = {facet: [_share_of(of, (grade,), study) for grade in grades] for facet, of in final.items()}
    bracketed = any(one.ends for found in shares.values() for one in found)
    caption = sentence("grades.figure", bracketed=bracketed, sampled=study.grade_counts is not None)
    drawing = Figure(
        caption,
        figures.grouped_bars(
            {_group(facet): found for facet, found in shares.items() if facet != TOGETHER or len(shares) == 1},
            names=[f"{grade} {name}" for grade, name in enumerate(names)],
            unit="% of pairs",
        ),
        sentence("grades.drawn", shares={facet: [*zip(names, found, strict=True)] for facet, found in shares.items()}),
    )
    lowest, *_, highest = shares[TOGETHER] if TOGETHER in shares else next(iter(shares.values()))
    told = sentences("grades.body", study=study, lowest=lowest, highest=highest, sampled=study.grade_counts is not None)
    drawn = [drawing] if len({query_id for of in final.values() for query_id in of}) > 1 else []
    return Chapter("grades", "Grades", told, (*drawn, final_grades(study)))


def grades_appendix(study: Study) -> Iterator[Chapter]:
    """What the assessors gave, and the final grades from three sides."""
    given = _counted(
        (judgement.query_id, judgement.assessor, judgement.grade)
        for judgement in study.judgements
        if not judgement.flags
    )
    told = sentences("grades.judging", study=study)
    of_all = {name: sum(by_query.values(), Counter[int | None]()) for name, by_query in given.items()}
    more: list[Column[_Graded]] = [
        Column("No grade", lambda one: of_all[one[0]][None]),
        Column("Mean grade", lambda one: _mean_grade(of_all[one[0]])),
    ]
    of_assessor = Column[_Graded]("Assessor", lambda one: one[0])
    table_of_given = _graded("given-grades", given, study, of=of_assessor, more=more, caption="grades.given")
    yield Chapter("judgements", "Judgements of each assessor", told, (table_of_given,))
    if study.decisions:
        sizes = Counter(decision.query_id for decision in study.decisions)
        papers = study.snapshot.topics
        told = sentences(
            "grades.settled",
            sampled=study.grade_counts is not None,
            pairs=len(study.decisions),
            queries=len(sizes),
            papers=len({papers[name] for name in sizes}),
        )
        blocks = (_per_query(study), *_across_facets(study), *_cited(study))
        yield Chapter("final-grades", "Final grades", told, blocks)


def final_grades(study: Study) -> Table:
    """The final grades of each facet and of all."""
    return _graded("grades", _final(study), study, caption="grades.final")


def _final(study: Study) -> dict[str, ByQuery]:
    """By facet, the final grades."""
    facet_of = {query.query_id: query.facet for query in study.queries}
    final: dict[str, ByQuery] = {}
    if study.grade_counts is None:
        graded = ((decision.query_id, facet_of[decision.query_id], decision.grade) for decision in study.decisions)
        final |= _counted(graded)
    else:
        final |= _by_facet(study.grade_counts, facet_of)
    if len(final) > 1:
        final[TOGETHER] = {query_id: counts for of in final.values() for query_id, counts in of.items()}
    return final


def _by_facet(counts: Mapping[str, GradeCounts], facet_of: Mapping[str, str]) -> dict[str, dict[str, GradeCounts]]:
    return nested((facet_of[query_id], query_id, pool) for query_id, pool in sorted(counts.items()))


def _counted(grades: Iterable[tuple[str, str, int | None]]) -> dict[str, dict[str, Counter[int | None]]]:
    """Grades by whom or what they are of, then by query, from (query, of whom, grade)."""
    found: dict[str, dict[str, Counter[int | None]]] = {}
    for query_id, of, grade in grades:
        found.setdefault(of, {}).setdefault(query_id, Counter())[grade] += 1
    return dict(sorted(found.items()))


def _graded(
    name: str,
    graded: Mapping[str, ByQuery],
    study: Study,
    *,
    of: Column[_Graded] | None = None,
    more: Sequence[Column[_Graded]] = (),
    caption: str,
) -> Table:
    """Of each facet or assessor the queries, the pairs, and the share of each grade."""
    grades = study.settings.scale.grades
    sampled = any(isinstance(counts, GradeCounts) for by_query in graded.values() for counts in by_query.values())
    return table(
        name,
        graded.items(),
        [of or of_facet(lambda one: one[0])],
        [
            Column("Queries", lambda one: len(one[1])),
            Column("Pairs", lambda one: sum(map(_size, one[1].values()))),
            *([Column[_Graded]("Judged pairs", lambda one: sum(map(_judged, one[1].values())))] if sampled else []),
            *each(grades, lambda one, grade: _share_of(one[1], (grade,), study), lambda grade: _named(study, grade)),
            *more,
        ],
        caption=caption,
        sampled=sampled,
    )


def _per_query(study: Study) -> Table:
    """The documents of a query that have at least a grade."""
    rows = [
        _Relevant(facet, least, graded)
        for facet, graded in _final(study).items()
        for least in study.settings.scale.grades[1:]
    ]
    counts = {row[:2]: _at_least(row.graded, row.least) for row in rows}

    def at_least(one: _Relevant) -> str:
        return _named(study, one.least) if called().binary else f"{one.least} or higher"

    # The extremes of estimates are those of their errors.
    ends: list[Column[_Relevant]] = [
        Column("Fewest", lambda one: int(counts[one[:2]].min())),
        Column("Most", lambda one: int(counts[one[:2]].max())),
    ]
    return table(
        "relevant",
        rows,
        [of_facet(lambda one: one.facet), Column("Grade", at_least)],
        [
            *(ends if study.grade_counts is None else ()),
            Column("Mean", lambda one: _mean(counts[one[:2]], one.graded, study)),
            Column("Share of pairs", lambda one: _share_of(one.graded, range(one.least, _n_grades(study)), study)),
            Column("Queries", lambda one: len(one.graded)),
            Column("Pairs", lambda one: sum(map(_size, one.graded.values()))),
        ],
        caption="grades.per_query",
        sampled=study.grade_counts is not None,
    )


def _across_facets(study: Study) -> Iterator[Table]:
    """For two facets of one paper: how often a candidate has each two grades."""
    paper_of = {query.query_id: (query.topic_id, query.facet) for query in study.queries}
    graded: dict[str, dict[tuple[str, str], int]] = {}
    for decision in study.decisions:
        paper_id, facet = paper_of[decision.query_id]
        graded.setdefault(facet, {})[paper_id, decision.doc_id] = decision.grade
    for first, second in itertools.combinations([name for name in study.settings.facets if name in graded], 2):
        shared = sorted(graded[first].keys() & graded[second].keys())
        if shared:
            counts = Counter((graded[first][pair], graded[second][pair]) for pair in shared)
            yield _across(first, second, counts, study, papers=len({paper for paper, _ in shared}))


def _across(first: str, second: str, counts: Counter[tuple[int, int]], study: Study, *, papers: int) -> Table:
    grades = study.settings.scale.grades
    return table(
        f"{first}-and-{second}",
        grades,
        [Column(f"{first} \\ {second}", lambda grade: f"{first} {_named(study, grade)}", first)],
        each(grades, lambda grade, other: counts[grade, other], lambda other: f"{second} {other}"),
        caption="grades.across",
        candidates=counts.total(),
        papers=papers,
        sampled=study.grade_counts is not None,
    )


def _cited(study: Study) -> Iterator[Table]:
    """What grades the papers get that the query paper cites."""
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
            (query_id, doc_id) for query_id, (paper_id, _) in paper_of.items() for of, doc_id in cited if of == paper_id
        }
        facet_of = {query_id: facet for query_id, (_, facet) in paper_of.items()}
        counts = _by_facet(grade_counts(study.snapshot, pairs), facet_of)
    if counts:
        lowest, second, *_ = study.settings.scale.grades
        together = [Column[_Graded](f"{lowest} or {second}", lambda one: _share_of(one[1], (lowest, second), study))]
        yield _graded("cited", counts, study, more=() if called().binary else together, caption="grades.cited")


def _group(facet: str) -> str:
    """What a group of bars is called: nothing if there is one for all."""
    return facet if called().faceted else ""


def _named(study: Study, grade: int) -> str:
    return grade_text(grade, study.settings.scale.names)


def _n_grades(study: Study) -> int:
    return len(study.settings.scale.grades)


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


def _at_least(by_query: ByQuery, least: int) -> Array:
    """Of each query, the documents with a grade or a higher one."""
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


class GradeExample(NamedTuple):
    """A settled pair."""

    pair: Pair
    facet: str
    given: tuple[int | None, ...]
    """What its assessors answered, from the lowest grade up: no place is a person. None: they could not judge it."""
    final: int
    adjudicated: bool

    @property
    def in_words(self) -> str:
        """`2 and 3`; "" where only the final grade is on record."""
        return listed(["cannot judge" if grade is None else grade for grade in self.given]) if self.given else ""


def examples_body(study: Study) -> Iterator[Chapter]:
    """A pair for each grade: both abstracts, folded; where the texts may not go out, a table."""
    found = chosen(study)
    if found:
        finals = {one.final for one in found}
        missing = [name for grade, name in enumerate(study.settings.scale.names) if grade not in finals]
        texts = study.terms.with_text
        told = sentences("examples.body", texts=texts, missing=missing)
        yield Chapter("examples", TITLE, told, tuple(_abstracts(study, found)) if texts else (_table(study, found),))


def examples_appendix(study: Study) -> Iterator[Chapter]:
    """The same pairs as a table, where they are not one already."""
    found = chosen(study) if study.terms.with_text else []
    if found:
        yield Chapter("examples-by-id", f"{TITLE}, by id", (), (_table(study, found),))


def chosen(study: Study, facet: str | None = None) -> list[GradeExample]:
    """From the highest grade down, of all facets or one. Pairs on which assessors agreed come before others, then
    facets that were not shown yet, then ids; no pair whose grade somebody is to find alone: for a second time, in
    training or as hidden gold."""
    snapshot, facets = study.snapshot, study.snapshot.facets
    withheld = asked_again(snapshot) | snapshot.trial_pairs
    answers = grouped((one.pair, one.grade) for one in study.outcome.current if one.counts)
    settled = [
        GradeExample(
            one.pair,
            facets[one.query_id],
            tuple(sorted(answers.get(one.pair, ()), key=lambda grade: (grade is None, grade or 0))),
            one.grade,
            one.origin == "adjudicated",
        )
        for one in study.decisions
        if one.pair not in withheld and facet in (None, facets[one.query_id])
    ]
    of_facet: Counter[str] = Counter()
    found = []
    for grade in reversed(study.settings.scale.grades):
        candidates = [one for one in settled if one.final == grade]
        if candidates:
            best = min(
                candidates,
                key=lambda one: (one.adjudicated or len(one.given) < 2, of_facet[one.facet], one.pair),
            )
            of_facet[best.facet] += 1
            found.append(best)
    return found


def _table(study: Study, found: list[GradeExample]) -> Table:
    names = study.settings.scale.names
    return table(
        "examples",
        found,
        [
            Column("Final grade", lambda one: f"{one.final} {names[one.final]}", "final"),
            of_facet(lambda one: one.facet),
            Column("Query", lambda one: one.pair[0]),
            Column("Candidate" if called().unit == "paper" else "Document", lambda one: one.pair[1], "candidate"),
            Column("Assessors gave", lambda one: one.in_words),
            Column("Settled by", lambda one: "an adjudicator" if one.adjudicated else "agreement"),
        ],
        caption="examples.table",
    )


def _abstracts(study: Study, found: list[GradeExample]) -> Iterator[SideBySide]:
    """The pairs, folded: both abstracts with the sentences of the facet marked."""
    ws, query_papers = study.snapshot.ws, study.snapshot.topics
    ids = sorted({paper for one in found for paper in (query_papers[one.pair[0]], one.pair[1])})
    corpus = papers.find_papers(ws.corpus, ids) if ws.has_corpus else {}
    judged = with_judged_texts(corpus.values(), judged_versions(study.snapshot))
    there = {paper.paper_id: paper for paper in judged}
    topics: dict[str, Paper | Topic] = {**there, **study.snapshot.texts}
    # What is on the pages here is not what people elsewhere judged by.
    said = screens_of(study.snapshot, ids, {one.facet for one in found} if study.made_elsewhere is None else ())
    for one in found:
        query, candidate = topics.get(query_papers[one.pair[0]]), there.get(one.pair[1])
        if query and candidate:
            words = {
                "one": one,
                "grade": f"{one.final} {said.scale[one.final]}",
                "title": candidate.title or one.pair[1],
            }
            yield side_by_side(
                one.pair,
                one.facet,
                (one.final,),
                query,
                candidate,
                said,
                summary=sentence("examples.summary", **words),
                told=sentence("examples.told", **words),
            )
