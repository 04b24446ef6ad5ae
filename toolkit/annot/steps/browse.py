"""The page on which the collection is read: queries, ranked abstracts, grades, two systems side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sqlmodel import Session

from annot.base.errors import InputError, MissingInput
from annot.base.names import calling, counted
from annot.base.records import Assignment, Judgement, Paper, Ranking
from annot.formats.matches import Match
from annot.measuring.evaluation.analyses import FAR_DOWN, NEAR_TOP, error_cases
from annot.measuring.evaluation.averages import mean_of_all
from annot.measuring.evaluation.computed import MeasuresAsked
from annot.measuring.evaluation.graded_pools import GradedPools
from annot.measuring.evaluation.measures import TIES
from annot.measuring.measured import graded_pools, primary_of, read_run_files
from annot.measuring.results import matches_file, matches_of
from annot.publishing.browse_page import BrowsedRun, Errors, page, page_data
from annot.publishing.judged_papers import judged_versions, with_judged_sentences, with_judged_texts
from annot.publishing.neighbours import write_pages
from annot.publishing.report.notices import RESTS_ON, notices
from annot.publishing.report.study import Study
from annot.store import facet_labels, papers, trials
from annot.store.projects import StoredRound, read_hidden
from annot.study.adjudication import Pair
from annot.study.exports import read_kinds, unfinished
from annot.study.made import note
from annot.study.snapshot import Snapshot, snapshot_of
from annot.study.workspace import Workspace

BROWSE_FILE = "browse.html"


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """Where the page is, and what is on it."""

    path: Path
    queries: int
    systems: int
    size: int
    """Bytes."""
    graded: bool
    """Whether final grades are shown."""
    notes: tuple[str, ...]


def write(ws: Workspace, *, partial: bool, out: Path | None = None) -> WrittenPage:
    """Write `browse.html` with the runs of `exports/runs/`, but those that were trained on what they are tested on.

    No grade is on it while anything is still being judged, unless `partial`: then those are that are settled. With
    grades, the best run comes first.
    out: the folder to write into instead of `exports/`.
    """
    if not ws.has_corpus:
        raise MissingInput("no corpus yet, so there is nothing to browse", hint="add papers with `annot corpus add`")
    with ws.reading() as session:
        snapshot = snapshot_of(session, ws)
        waiting = tuple(_waiting(session, snapshot))
        named = snapshot.pooled | {doc_id for _, doc_id in snapshot.outcome.planned}
        labels = {paper.paper_id: paper.labels for paper in facet_labels.read_labels(session, named)}
    judged = judged_versions(snapshot)
    snapshot = replace(snapshot, queries=with_judged_sentences(snapshot.queries, judged))
    labels |= {text_id: one.labels for text_id, one in judged.items() if one.labels}
    texts = {one.paper_id: one for one in with_judged_texts(papers.find_papers(ws.corpus, named).values(), judged)}
    runs = read_run_files(snapshot.ws)
    graded = bool(snapshot.outcome.decisions) and (partial or not waiting)
    qrels = snapshot.outcome.qrels if graded else ()
    relevant_from = ws.settings.evaluation.relevant_from
    query_papers = {query: topic for query, topic in snapshot.topics.items() if topic not in snapshot.texts}
    compared = primary_of(ws.settings)
    pools = graded_pools(snapshot, qrels, unfinished=True) if qrels else None
    measured = {tag: _measured(of, pools, *compared, relevant_from=relevant_from) for tag, of in runs.items()}
    order = sorted(runs, key=lambda tag: -mean_of_all(measured[tag], snapshot.splits)) if graded else list(runs)
    systems = [
        BrowsedRun(
            tag,
            runs[tag],
            _matches(ws, tag, query_papers, texts),
            {query_id: value for query_id, value in measured[tag].items() if runs[tag].get(query_id)},
        )
        for tag in order
    ]
    data = page_data(
        snapshot,
        systems,
        papers=texts,
        labels=labels,
        measure=compared[1],
        errors=Errors(error_cases(runs, qrels, relevant_from=relevant_from), read_kinds(ws)) if graded else None,
    )
    study = Study(snapshot)
    with calling(lambda: snapshot.called):
        text = page(
            data,
            collection=ws.settings.collection,
            notice=study.notice,
            untrue=notices(study.findings, RESTS_ON["browse"]),
            waiting=waiting,
            graded=graded,
            measure=compared[1],
            sampled=snapshot.sample is not None,
            errors=(NEAR_TOP, FAR_DOWN),
            relevant_from=relevant_from,
            overrides=ws.root / "templates",
        )
    path = (ws.exports if out is None else out) / BROWSE_FILE
    write_pages(path.parent, {BROWSE_FILE: text})
    if out is None:
        note(ws, "browse", snapshot.states)
    return WrittenPage(
        path, len(snapshot.queries), len(systems), path.stat().st_size, graded, tuple(_notes(ws, waiting, graded))
    )


def _notes(ws: Workspace, waiting: tuple[str, ...], graded: bool) -> Iterator[str]:
    if waiting:
        shown = "the page shows the settled grades" if graded else "the page shows no grades"
        yield f"judging is in progress ({', '.join(waiting)}): {shown}; do not show it to assessors"
    if not ws.settings.collection.text_licence:
        yield "the page contains the texts, and collection.text_licence is empty: do not publish it"


def _measured(
    rankings: Mapping[str, Ranking], pools: GradedPools | None, convention: str, measure: str, *, relevant_from: int
) -> dict[str, float]:
    """The measure of the report on each query; none without grades, or if an estimate cannot be its value."""
    if pools is None:
        return {}
    measured = pools.measured(rankings, pools.query_ids, MeasuresAsked(convention, (), relevant_from), ties=TIES[0])
    shown = ((query.query_id, query.shown(measure)) for query in measured.queries)
    return {query_id: value for query_id, value in shown if value is not None}


def _matches(
    ws: Workspace, tag: str, query_papers: Mapping[str, str], texts: Mapping[str, Paper]
) -> Mapping[Pair, tuple[Match, ...]]:
    """The sentences that the run matched, if it says so. Raises InputError if a text has no such sentence."""
    found, path = matches_of(ws, tag), matches_file(ws, tag)
    faults = [
        f"{path}: query {query_id!r}, document {doc_id!r}: sentence {at}, expected 0 to {len(paper.sentences) - 1}"
        for (query_id, doc_id), matches in found.items()
        for match in matches
        for at, paper_id in zip(match[:2], (query_papers.get(query_id), doc_id), strict=True)
        if (paper := texts.get(paper_id or "")) is not None and at >= len(paper.sentences)
    ]
    if faults:
        raise InputError(
            f"{path}: found {counted(len(faults), 'sentence')} that papers do not have",
            faults=faults,
            hint="make the run again",
        )
    return found


TRIALS: tuple[StoredRound, ...] = ("train", "substudy-abstract", "substudy-full")


def _waiting(session: Session, snapshot: Snapshot) -> Iterator[str]:
    """What is still to be answered, in words; nothing once everything has ended.

    Pairs without a final grade, and what is asked of people who are to answer without knowing that grade: hidden
    repeats, hidden gold, training, the sub-study. Nobody waits for people who have left.
    """
    open_pairs = len(unfinished(snapshot.outcome))
    if open_pairs:
        yield f"{counted(open_pairs, 'pair')} without a final grade"
    gone = {person.assessor for person in snapshot.people if person.left_on is not None}

    def unanswered(asked: Iterator[tuple[str, str, str]], answers: tuple[Judgement, ...]) -> int:
        given = {(one.assessor, one.query_id, one.doc_id) for one in answers if one.counts}
        return sum(one not in given and one[0] not in gone for one in asked)

    repeats = unanswered(
        (_who(one) for one in snapshot.assignments if one.occasion > 1),
        tuple(one for one in snapshot.outcome.everything if one.occasion > 1),
    )
    if repeats:
        yield f"{counted(repeats, 'pair')} to judge again"
    hidden = unanswered(
        ((name, *pair) for name, pairs in read_hidden(session).items() for pair in pairs),
        _answers(session, "hidden-gold"),
    )
    in_trials = hidden + sum(
        unanswered(map(_who, trials.read_assignments(session, round)), _answers(session, round)) for round in TRIALS
    )
    if in_trials:
        yield f"{counted(in_trials, 'answer')} of training or the sub-study"


def _who(one: Assignment) -> tuple[str, str, str]:
    return one.assessor, one.query_id, one.doc_id


def _answers(session: Session, round: StoredRound) -> tuple[Judgement, ...]:
    return tuple(answer.record for answer in trials.read_answers(session, round))
