"""The grades: final ones by facet, those of each assessor, what two facets and citations have to do with them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from annot.base.names import called
from annot.base.records import CITED, nested
from annot.base.stats.arrays import Array
from annot.base.stats.clustered import mean_interval, share_of_counts
from annot.labelstudio.tasks import grade_text
from annot.measuring.agreement.tables import TOGETHER
from annot.measuring.sampled.counts import GradeCounts, by_grade, share_of
from annot.measuring.sampled_study import grade_counts
from annot.publishing.report import figures
from annot.publishing.report.cells import MEAN, SHARE, Number, measured
from annot.publishing.report.document import Chapter, Figure, Table
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Column, each, of_facet, table
from annot.publishing.report.words import sentence, sentences

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


def body(study: Study) -> Chapter:
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


def appendix(study: Study) -> Iterator[Chapter]:
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
