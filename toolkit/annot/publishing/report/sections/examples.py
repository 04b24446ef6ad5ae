"""One judged pair for each grade, so that a reader sees what the grades mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from annot.base.names import called
from annot.base.records import Paper, Topic, grouped
from annot.judging.meeting import asked_again
from annot.publishing.judged_papers import judged_versions, with_judged_texts
from annot.publishing.report.document import Chapter, SideBySide, Table
from annot.publishing.report.side_by_side import screens_of, side_by_side
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Column, of_facet, table
from annot.publishing.report.words import listed, sentence, sentences
from annot.store import papers
from annot.study.adjudication import Pair

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


def body(study: Study) -> Iterator[Chapter]:
    """A pair for each grade: both abstracts, folded; where the texts may not go out, a table."""
    found = chosen(study)
    if found:
        finals = {one.final for one in found}
        missing = [name for grade, name in enumerate(study.settings.scale.names) if grade not in finals]
        texts = study.terms.with_text
        told = sentences("examples.body", texts=texts, missing=missing)
        yield Chapter("examples", TITLE, told, tuple(_abstracts(study, found)) if texts else (_table(study, found),))


def appendix(study: Study) -> Iterator[Chapter]:
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
