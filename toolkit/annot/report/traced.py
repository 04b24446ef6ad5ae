"""What is known of one pair, as a record and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from annot.records import Draw
from annot.report.text import text_table

Standing = Literal["agreed", "adjudicated", "in dispute", "incomplete", "not planned"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an abstract; `position` counts from 1."""

    position: int
    text: str
    label: str | None
    facet: str | None


@dataclass(frozen=True, slots=True)
class PaperTold:
    """A paper as the corpus has it."""

    paper_id: str
    title: str
    year: int | None
    sentences: tuple[Sentence, ...]
    labels_origin: str | None
    """`carried` by the corpus, `corrected` by a person, or `predicted:<model>`; None where there are no labels."""
    sha256: str
    """Of the record as JSON, its keys sorted."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """How the document came into the pool, and what the pool was drawn by."""

    position: int
    size: int
    drawn: Draw
    also: tuple[Draw, ...]
    mode: str
    per_method: int | None
    ranking_depth: int | None
    seed: int | None
    rankings_sha256: str


@dataclass(frozen=True, slots=True)
class Said:
    """One revision of what one person said, judging or settling."""

    person: str
    role: Literal["assessor", "adjudicator"]
    occasion: int
    """2 for the answer to a hidden repeat."""
    revision: int
    grade: int | None
    cannot_judge: str | None
    reason: str | None
    comment: str | None
    judged_at: str | None
    recorded_at: str | None
    lead_time: float | None
    flags: tuple[str, ...]
    source: str
    annotation: str
    counts: bool
    """It is the one that stands and carries no flag."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What one adjudicator saw beside the two texts: the policy, and the grades in the order shown."""

    adjudicator: str
    ratings: str
    grades: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class InRun:
    """What one run did with the document for this query; rank None where it left it out."""

    tag: str
    rank: int | None
    score: float | None
    of: int
    """Documents it ranked for the query."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that is known of one pair."""

    query_id: str
    doc_id: str
    facet: str
    query_sentences: tuple[int, ...]
    """The query's sentences, from 1: those that assessors saw emphasised."""
    query_paper: PaperTold | None
    document: PaperTold | None
    corpus_sha256: str | None
    pool: Pooled | None
    had_by: tuple[Draw, ...]
    """Of a document that is not in the pool: the rankings that have it, with its rank."""
    given_to: tuple[tuple[str, int, int], ...]
    """(assessor, place in their sequence, occasion: 2 for a hidden repeat); of judgements that were imported nobody was
    given anything here, and the place is that in the imported records."""
    imported: bool
    """The judgements were made elsewhere."""
    sent_to: tuple[tuple[str, str], ...]
    """(person, round) of the Label Studio projects that have the pair; round is `judge` or `adjudicate`."""
    said: tuple[Said, ...]
    """Every revision of every judgement and adjudication, in the order recorded."""
    shown: tuple[Shown, ...]
    standing: Standing
    grade: int | None
    """The final grade in the store."""
    adjudicator: str | None
    reason: str | None
    qrel: int | None
    """In exports/qrels.txt; None where the file or the line is not there: unjudged, which is not 0."""
    runs: tuple[InRun, ...]


def describe(found: Trace) -> str:
    """The story as text, in the order of the work."""
    return "\n\n".join(f"{heading}\n{_indented(text)}" for heading, text in _parts(found) if text)


def _parts(found: Trace) -> Iterator[tuple[str, str]]:
    sentences = ", ".join(map(str, found.query_sentences)) or "none"
    yield f"query {found.query_id}: facet {found.facet}, sentences {sentences}", _paper(found.query_paper)
    yield f"document {found.doc_id}", _paper(found.document)
    if found.corpus_sha256 is not None:
        yield "corpus", f"content {found.corpus_sha256}"
    yield "pool", _pool(found)
    yield "judging", _judging(found)
    yield f"decision: {found.standing}", _decision(found)
    yield (
        "runs",
        text_table(
            ["run", "rank", "score", "of"],
            [[one.tag, "left out" if one.rank is None else one.rank, _score(one.score), one.of] for one in found.runs],
        ),
    )


def _paper(paper: PaperTold | None) -> str:
    if paper is None:
        return "not in the corpus of this workspace"
    labels = "none" if paper.labels_origin is None else paper.labels_origin
    year = "" if paper.year is None else f" ({paper.year})"
    head = [f"{paper.title}{year}", f"record {paper.sha256}", f"sentence labels: {labels}"]
    lines = [
        f"{one.position:>3}  {one.label or '-':<10}  {one.facet or '-':<10}  {one.text}" for one in paper.sentences
    ]
    return "\n".join([*head, *lines])


def _pool(found: Trace) -> str:
    if found.pool is None:
        if not found.had_by:
            return "not in a pool of this query paper, nor in a ranking behind it"
        return "not in the pool, though ranked by " + "; ".join(map(_draw, found.had_by))
    pool = found.pool
    quota = "" if pool.per_method is None else f", {pool.per_method} per method"
    depth = "" if pool.ranking_depth is None else f", rankings to {pool.ranking_depth}"
    seed = "" if pool.seed is None else f", seed {pool.seed}"
    turn = "" if pool.drawn.turn is None else f" in turn {pool.drawn.turn}"
    lines = [
        f"document {pool.position} of {pool.size}, drawn by {_draw(pool.drawn)}{turn}",
        f"also had by: {'; '.join(map(_draw, pool.also)) or 'nobody else'}",
        f"{pool.mode}{quota}{depth}{seed}; rankings {pool.rankings_sha256}",
    ]
    return "\n".join(lines)


def _draw(one: Draw) -> str:
    rank = "" if one.rank is None else f" at rank {one.rank}"
    return f"{one.method}{rank}" + ("" if one.score is None else f" (score {_score(one.score)})")


def _judging(found: Trace) -> str:
    lines = [_given(*one, imported=found.imported) for one in found.given_to]
    sent = [person for person, round in found.sent_to if round == "judge"]
    if sent:
        lines.append(
            f"shown to {', '.join(sent)}: both titles and abstracts, sentences of facet {found.facet} emphasised; no "
            "method, rank, score or other's grade"
        )
    for one in found.shown:
        grades = ", ".join(f"{name}: {'none' if grade is None else grade}" for name, grade in one.grades)
        lines.append(
            f"shown to {one.adjudicator}: ratings {one.ratings}" + (f", unnamed, in the order {grades}" * bool(grades))
        )
    rows = [
        [
            one.judged_at or "-",
            one.person,
            one.role,
            one.revision,
            "none" if one.grade is None else one.grade,
            "-" if one.lead_time is None else f"{one.lead_time:.1f}",
            ("yes" if one.occasion == 1 else "as a repeat") if one.counts else "; ".join(one.flags) or "superseded",
            one.source + (f" {one.annotation}" if one.annotation else ""),
            "; ".join(part for part in (one.cannot_judge, one.reason, one.comment) if part),
        ]
        for one in found.said
    ]
    headings = ["when", "who", "as", "revision", "grade", "seconds", "counts", "from", "said"]
    return "\n".join([*lines, text_table(headings, rows) or "judged by nobody"])


def _given(name: str, position: int, occasion: int, *, imported: bool) -> str:
    repeat = ", a hidden repeat" if occasion > 1 else ""
    if imported:
        return f"judged elsewhere by {name}, as number {position} of theirs in the imported records{repeat}"
    return f"given to {name} as pair {position} of theirs{repeat}"


def _decision(found: Trace) -> str:
    qrel = "no line in exports/qrels.txt: unjudged" if found.qrel is None else f"exports/qrels.txt: {found.qrel}"
    if found.grade is None:
        return qrel
    by = "" if found.adjudicator is None else f" by {found.adjudicator}"
    why = "" if found.reason is None else f": {found.reason}"
    return f"grade {found.grade}{by}{why}\n{qrel}"


def _score(score: float | None) -> str:
    return "" if score is None else f"{score:.6g}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
