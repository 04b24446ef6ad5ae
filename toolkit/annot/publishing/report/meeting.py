"""The page for the talk between two batches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from annot.base.records import Paper
from annot.judging.meeting import COEFFICIENTS, DifferingPair, Meeting
from annot.measuring.agreement.summaries import AgreementTable
from annot.publishing.report.cells import coefficient, number
from annot.publishing.report.document import Abstract, Document, Section, SideBySide
from annot.publishing.report.words import listed, sentence, sentences, table

HEADINGS = {
    "widest": "Widest gaps",
    "recurring": "Grades that meet again and again",
    "remarks": "Comments on other pairs",
    "agreement": "Agreement in this period and before it",
}


@dataclass(frozen=True, slots=True)
class Titled:
    """A query and a document as people know them."""

    query: str
    document: str


@dataclass(frozen=True, slots=True)
class Said:
    """What the screens and the guidelines have of the pairs."""

    query_marks: Mapping[str, Collection[int]]
    """The sentences of each query, from 0."""
    labels: Mapping[str, tuple[str, ...]]
    """Of the sentences of each paper."""
    facets: Mapping[str, tuple[str, ...]]
    """The labels that make each facet."""
    scale: tuple[str, ...]
    criteria: Mapping[str, Mapping[int, str]]
    """By facet, what its page says of each grade."""


def meeting_page(
    meeting: Meeting, *, title: str, titles: Mapping[str, Paper], query_papers: Mapping[str, str], said: Said
) -> Document:
    """titles: the papers that are in the corpus, by id. query_papers: the paper of each query."""

    def named(query_id: str, doc_id: str) -> Titled:
        return Titled(_title(titles, query_papers[query_id], query_id), _title(titles, doc_id, doc_id))

    widest = [{"pair": pair, "of": named(pair.query_id, pair.doc_id)} for pair in meeting.widest]
    remarks = [{"remark": remark, "of": named(remark.query_id, remark.doc_id)} for remark in meeting.remarks]
    rows = {"widest": widest, "recurring": meeting.recurring, "remarks": remarks, "agreement": list(_figures(meeting))}
    values = {"meeting": meeting, "level": meeting.agreement.level}
    again = tuple(
        _side_by_side(at, pair, titles.get(query_papers[pair.query_id]), titles.get(pair.doc_id), said)
        for at, pair in enumerate(meeting.widest, start=1)
    )
    return Document(
        title=sentence("meeting.title", title=title),
        subtitle=sentence("meeting.subtitle", meeting=meeting),
        notice=sentence("meeting.notice"),
        body=tuple(
            Section(
                *(name, heading, sentences(f"meeting.{name}", **values)),
                (
                    *((table(f"meeting.{name}", rows[name]),) if rows[name] else ()),
                    *(again if name == "widest" else ()),
                ),
            )
            for name, heading in HEADINGS.items()
        ),
    )


def _side_by_side(at: int, pair: DifferingPair, query: Paper | None, candidate: Paper | None, said: Said) -> SideBySide:
    of_facet = said.facets.get(pair.facet, ())
    by_label = [i for i, label in enumerate(said.labels.get(pair.doc_id, ())) if label in of_facet]
    sides = (("Query", query, said.query_marks.get(pair.query_id, ())), ("Candidate", candidate, by_label))
    grades = list(dict.fromkeys(pair.grades))
    of_grade = said.criteria.get(pair.facet, {})
    return SideBySide(
        f"{at}. {pair.facet}, {listed(grades)}: {candidate.title if candidate else pair.doc_id}",
        tuple(Abstract(name, paper.title, paper.sentences, frozenset(marks)) for name, paper, marks in sides if paper),
        tuple((f"{grade} {said.scale[grade]}", of_grade[grade]) for grade in grades if of_grade.get(grade)),
    )


def _title(titles: Mapping[str, Paper], paper_id: str, name: str) -> str:
    return f"{titles[paper_id].title} ({name})" if paper_id in titles else name


def _figures(meeting: Meeting) -> Iterator[dict[str, object]]:
    for name in dict.fromkeys(group.name for found in (meeting.before, meeting.agreement) for group in found.groups):
        for when, found in (("before", meeting.before), ("this period", meeting.agreement)):
            yield {"facet": name, "when": when, **_of_group(found, name)}


def _of_group(found: AgreementTable, facet: str) -> dict[str, object]:
    group = next((group for group in found.groups if group.name == facet), None)
    if group is None:
        return {"queries": 0, "pairs": 0} | dict.fromkeys(COEFFICIENTS, None)
    figures: dict[str, object] = {}
    for name in COEFFICIENTS:
        summary = group.before[name]
        figures[name] = number(summary.pooled, coefficient(name), (summary.intervals or {}).get("pooled"))
    return {"queries": group.n_queries, "pairs": group.n_pairs, **figures}
