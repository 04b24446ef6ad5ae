"""What the assessors gave, and what became of it."""

from __future__ import annotations

from collections import Counter

from annot.report import figures
from annot.report.document import Figure, Section, Table, number, rows_of, share
from annot.report.study import Study


def judgements(study: Study) -> Section:
    scale = study.settings.scale
    facet_of = {query.query_id: query.facet for query in study.queries}
    grades: dict[str, Counter[int]] = {}
    for one in study.decisions:
        grades.setdefault(facet_of[one.query_id], Counter())[one.grade] += 1
    names = [f"{grade} {name}" for grade, name in enumerate(scale.names)]
    percent = {
        facet: {names[grade]: 100 * counts[grade] / counts.total() for grade in scale.grades}
        for facet, counts in sorted(grades.items())
    }
    by_assessor: dict[str, Counter[int | None]] = {}
    for one_judgement in study.judgements:
        if not one_judgement.flags:
            by_assessor.setdefault(one_judgement.assessor, Counter())[one_judgement.grade] += 1
    rows = [
        [
            assessor,
            counts.total(),
            *(share(counts[grade], counts.total()) for grade in scale.grades),
            counts[None],
            number(sum(g * n for g, n in counts.items() if g is not None) / max(1, counts.total() - counts[None])),
        ]
        for assessor, counts in sorted(by_assessor.items())
    ]
    blocks: list[Table | Figure] = []
    if percent:
        blocks.append(
            Figure(
                "Final grades, in percent of the pairs of each facet.",
                figures.grouped_bars(percent, unit="% of pairs"),
                "; ".join(
                    f"{facet}: " + ", ".join(f"{name} {value:.1f}%" for name, value in parts.items())
                    for facet, parts in percent.items()
                ),
            )
        )
    blocks.append(
        Table(
            "What each assessor gave.",
            ("Assessor", "Pairs", *names, "No grade", "Mean"),
            rows_of(rows),
            "annot status",
        )
    )
    return Section(
        "judgements",
        "Judgements",
        (study.made_elsewhere or _how_judged(study),),
        tuple(blocks),
    )


def _how_judged(study: Study) -> str:
    return (
        f"Every pair was given to {study.settings.judging.per_pair} assessors, each in a Label Studio project "
        "and an order of their own. Blind by layout: nobody was shown another's project; the free edition does "
        "not enforce it."
    )
