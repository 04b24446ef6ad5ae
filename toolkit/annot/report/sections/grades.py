"""The final grades: relevant documents per query, what two facets have in common, what citations are worth."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

from annot.agreement import TOGETHER
from annot.pooling import CITED
from annot.report.document import Section, Table, rows_of
from annot.report.intervals import Part, how_drawn, ratio_text, share_text
from annot.report.study import Study

COMMAND = "annot qrels"


def grades(study: Study) -> Section:
    """Relevant documents per query, grades under two facets of one paper, and grades of cited papers."""
    blocks = [_per_query(study), *_across_facets(study), *_cited(study)]
    pools = {query.query_id: query.paper_id for query in study.queries}
    sizes = Counter(one.query_id for one in study.decisions)
    mean = sum(sizes.values()) / len(sizes) if sizes else 0.0
    paragraph = (
        f"{len(study.decisions)} pairs have a final grade: {len(sizes)} queries of "
        f"{len({pools[name] for name in sizes})} papers, {mean:.2f} pairs each on average."
    )
    return Section("grades", "Final grades", (paragraph, how_drawn(study.bootstrap, over="queries")), tuple(blocks))


def _per_query(study: Study) -> Table:
    facet_of = {query.query_id: query.facet for query in study.queries}
    by_query: dict[str, list[int]] = {}
    for one in study.decisions:
        by_query.setdefault(one.query_id, []).append(one.grade)
    rows = []
    for facet in [*sorted({facet_of[name] for name in by_query}), TOGETHER]:
        members = {name: found for name, found in by_query.items() if facet in (facet_of[name], TOGETHER)}
        pairs = sum(map(len, members.values()))
        for least in study.settings.scale.grades[1:]:
            counts = {name: sum(grade >= least for grade in found) for name, found in members.items()}
            plan, key = study.bootstrap, f"per query {facet}"
            mean = ratio_text({name: Part(count, 1) for name, count in counts.items()}, plan=plan, key=key)
            parts = {name: Part(count, len(members[name])) for name, count in counts.items()}
            share = share_text(parts, plan=plan, key=key)
            fewest, most = min(counts.values()), max(counts.values())
            rows.append([facet, f"{least} or higher", fewest, most, mean, share, len(members), pairs])
    return Table(
        "Documents of each grade per query.",
        ("Facet", "Grade", "Fewest", "Most", "Mean", "Of all pairs", "Queries", "Pairs"),
        rows_of(rows),
        COMMAND,
        numeric_from=2,
    )


def _across_facets(study: Study) -> list[Table]:
    """For two facets of one paper: how often a candidate has each two grades."""
    paper_of = {query.query_id: (query.paper_id, query.facet) for query in study.queries}
    graded: dict[str, dict[tuple[str, str], int]] = {}
    for one in study.decisions:
        paper_id, facet = paper_of[one.query_id]
        graded.setdefault(facet, {})[paper_id, one.doc_id] = one.grade
    scale = study.settings.scale
    tables = []
    for first, second in itertools.combinations([name for name in study.settings.facets if name in graded], 2):
        shared = sorted(graded[first].keys() & graded[second].keys())
        if not shared:
            continue
        counts = Counter((graded[first][pair], graded[second][pair]) for pair in shared)
        rows = [
            [f"{first} {grade} {name}", *(counts[grade, other] for other in scale.grades)]
            for grade, name in enumerate(scale.names)
        ]
        papers = len({paper_id for paper_id, _ in shared})
        of = f"{len(shared)} candidate{'' if len(shared) == 1 else 's'} of {papers} paper{'' if papers == 1 else 's'}"
        tables.append(
            Table(
                f"Candidates judged under two facets of one paper: {of}.",
                (f"{first} \\ {second}", *(f"{second} {grade}" for grade in scale.grades)),
                rows_of(rows),
                COMMAND,
            )
        )
    return tables


def _cited(study: Study) -> list[Table]:
    """What grades the papers get that the query paper cites."""
    cited = {
        (paper_id, entry.doc_id)
        for paper_id, pool in study.pools.items()
        for entry in pool.entries
        if entry.drawn.method == CITED
    }
    paper_of = {query.query_id: (query.paper_id, query.facet) for query in study.queries}
    counts: dict[str, dict[str, Counter[int]]] = {}
    for one in study.decisions:
        paper_id, facet = paper_of[one.query_id]
        if (paper_id, one.doc_id) in cited:
            counts.setdefault(facet, {}).setdefault(one.query_id, Counter())[one.grade] += 1
    if not counts:
        return []
    scale = study.settings.scale
    ways = [*((grade,) for grade in scale.grades), scale.grades[:2]]
    rows = [
        [
            facet,
            len(by_query),
            sum(found.total() for found in by_query.values()),
            *(_share_of(by_query, way, study, key=f"cited {facet}") for way in ways),
        ]
        for facet, by_query in sorted(counts.items())
    ]
    return [
        Table(
            "Grades of papers that the query paper cites.",
            ("Facet", "Queries", "Pairs", *(f"{grade} {name}" for grade, name in enumerate(scale.names)), "0 or 1"),
            rows_of(rows),
            COMMAND,
        )
    ]


def _share_of(by_query: Mapping[str, Counter[int]], grades: Sequence[int], study: Study, *, key: str) -> str:
    """The share of pairs that have one of `grades`."""
    parts = {name: Part(sum(found[grade] for grade in grades), found.total()) for name, found in by_query.items()}
    return share_text(parts, plan=study.bootstrap, key=key)
