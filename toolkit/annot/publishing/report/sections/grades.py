"""The grades: final ones by facet, those of each assessor, what two facets and citations have to do with them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from annot.base.names import called
from annot.base.records import CITED
from annot.base.stats.clustered import mean_interval, share_of_counts
from annot.labelstudio.tasks import grade_text
from annot.measuring.agreement.tables import TOGETHER
from annot.publishing.report import figures
from annot.publishing.report.cells import MEAN, SHARE, Number, measured
from annot.publishing.report.document import Chapter, Figure, Table
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Column, each, of_facet, table
from annot.publishing.report.words import sentence, sentences

ByQuery = Mapping[str, Counter[int | None]]
"""How often each grade was given on each query; None counts answers without a grade."""
_Graded = tuple[str, ByQuery]
"""A facet or an assessor, with its grades."""


class _Relevant(NamedTuple):
    """The pairs of each query that have a grade or a higher one."""

    facet: str
    least: int
    counts: dict[str, int]
    sizes: dict[str, int]


def body(study: Study) -> Chapter:
    """The final grades of each facet."""
    final = _final(study)
    if not final:
        return Chapter("grades", "Grades", sentences("grades.none"))
    names = study.settings.scale.names
    grades = study.settings.scale.grades
    shares = {facet: [_share_of(of, (grade,), study) for grade in grades] for facet, of in final.items()}
    caption = sentence("grades.figure", bracketed=any(one.ends for found in shares.values() for one in found))
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
    told = sentences("grades.body", study=study, lowest=lowest, highest=highest)
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
    more: list[Column[_Graded]] = [
        Column("No grade", lambda one: _total(one[1])[None]),
        Column("Mean grade", lambda one: _mean_grade(_total(one[1]))),
    ]
    of_assessor = Column[_Graded]("Assessor", lambda one: one[0])
    table_of_given = _graded("given-grades", given, study, of=of_assessor, more=more, caption="grades.given")
    yield Chapter("judgements", "Judgements of each assessor", told, (table_of_given,))
    if study.decisions:
        sizes = Counter(decision.query_id for decision in study.decisions)
        papers = study.snapshot.topics
        told = sentences(
            "grades.settled",
            pairs=len(study.decisions),
            queries=len(sizes),
            papers=len({papers[name] for name in sizes}),
        )
        blocks = (_per_query(study), *_across_facets(study), *_cited(study))
        yield Chapter("final-grades", "Final grades", told, blocks)


def final_grades(study: Study) -> Table:
    """The final grades of each facet and of all."""
    return _graded("grades", _final(study), study, caption="grades.final")


def _final(study: Study) -> dict[str, dict[str, Counter[int | None]]]:
    facet_of = {query.query_id: query.facet for query in study.queries}
    final = _counted((decision.query_id, facet_of[decision.query_id], decision.grade) for decision in study.decisions)
    if len(final) > 1:
        final[TOGETHER] = {query_id: counts for of in final.values() for query_id, counts in of.items()}
    return final


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
    return table(
        name,
        graded.items(),
        [of or of_facet(lambda one: one[0])],
        [
            Column("Queries", lambda one: len(one[1])),
            Column("Pairs", lambda one: _total(one[1]).total()),
            *each(grades, lambda one, grade: _share_of(one[1], (grade,), study), lambda grade: _named(study, grade)),
            *more,
        ],
        caption=caption,
    )


def _per_query(study: Study) -> Table:
    rows = []
    for facet, members in _final(study).items():
        sizes = {name: of.total() for name, of in members.items()}
        for least in study.settings.scale.grades[1:]:
            counts = {
                name: sum(n for grade, n in of.items() if grade is not None and grade >= least)
                for name, of in members.items()
            }
            rows.append(_Relevant(facet, least, counts, sizes))

    def at_least(one: _Relevant) -> str:
        return _named(study, one.least) if called().binary else f"{one.least} or higher"

    return table(
        "relevant",
        rows,
        [of_facet(lambda one: one.facet), Column("Grade", at_least)],
        [
            Column("Fewest", lambda one: min(one.counts.values())),
            Column("Most", lambda one: max(one.counts.values())),
            Column("Mean", lambda one: _mean(one.counts, study, most=max(one.sizes.values()))),
            Column("Share of pairs", lambda one: _share(one.counts, one.sizes, study)),
            Column("Queries", lambda one: len(one.counts)),
            Column("Pairs", lambda one: sum(one.sizes.values())),
        ],
        caption="grades.per_query",
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
    counts = _counted(
        (decision.query_id, paper_of[decision.query_id][1], decision.grade)
        for decision in study.decisions
        if (paper_of[decision.query_id][0], decision.doc_id) in cited
    )
    if counts:
        lowest, second, *_ = study.settings.scale.grades
        together = [Column[_Graded](f"{lowest} or {second}", lambda one: _share_of(one[1], (lowest, second), study))]
        yield _graded("cited", counts, study, more=() if called().binary else together, caption="grades.cited")


def _group(facet: str) -> str:
    """What a group of bars is called: nothing if there is one for all."""
    return facet if called().faceted else ""


def _named(study: Study, grade: int) -> str:
    return grade_text(grade, study.settings.scale.names)


def _share_of(by_query: ByQuery, grades: Sequence[int], study: Study) -> Number:
    """The share of pairs that have one of `grades`."""
    hits = {name: sum(of[grade] for grade in grades) for name, of in by_query.items()}
    return _share(hits, {name: of.total() for name, of in by_query.items()}, study)


def _share(hits: Mapping[str, int], sizes: Mapping[str, int], study: Study) -> Number:
    """The share of all pairs, with whole query papers as the sampling units."""
    papers = [study.snapshot.topics[name] for name in hits]
    share = share_of_counts(list(hits.values()), [sizes[name] for name in hits], level=study.level, topics=papers)
    return measured(share, SHARE)


def _mean_grade(counts: Counter[int | None]) -> Number:
    grades = [grade for grade in counts.elements() if grade is not None]
    return Number(sum(grades) / len(grades) if grades else None, MEAN)


def _mean(counts: Mapping[str, int], study: Study, *, most: int) -> Number:
    """The mean over queries of what is `most` in one of them, with its interval."""
    values = np.array([counts[query_id] for query_id in sorted(counts)], dtype=np.float64)
    papers = [study.snapshot.topics[query_id] for query_id in sorted(counts)]
    interval = mean_interval(values, level=study.level, least=0, most=most, topics=papers)
    return Number(float(values.mean()), MEAN, interval)


def _total(by_query: ByQuery) -> Counter[int | None]:
    return sum(by_query.values(), Counter[int | None]())
