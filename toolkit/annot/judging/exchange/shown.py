"""What the tasks of a project show, held against what they were sent with: recomputed from what is on record."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any, NamedTuple

from sqlmodel import Session

from annot.base.records import Asked, Judgement
from annot.corpus.corpus_facts import papers_of
from annot.judging.exchange.outgoing import material_of, tasks_of
from annot.labelstudio.columns import same_texts
from annot.labelstudio.studio_records import TEXT_FIELD, Payload, PulledTask
from annot.labelstudio.tasks import PLACE, comment_text, facets_task, opinion_text, opinions_in, returned_task
from annot.store import trials
from annot.store.judgements import JUDGEMENTS, read_returned
from annot.store.projects import Project
from annot.store.shown import read_guidelines
from annot.study.guidelines import definition_of
from annot.study.workspace import Workspace

PROGRESS = re.compile(PLACE)
_TAG = re.compile(r"<[^<>]*>")
_KNOWN_TAG = re.compile(
    r'</(?:div|p|h2|span|a|details|summary|mark)>|<span>|<h2>|<p>|<mark>|<details class="a-[\w-]*"(?: open)?>'
    r'|<summary accesskey="[a-z]">|<(?:div|p)(?: class="a-[\w -]*"| tabindex="0"| accesskey="[a-z]")*>'
    r'|<a href="https?://[^<>"\s]+" target="_blank" rel="noopener noreferrer"(?: accesskey="[a-z]")?>'
)
_HEADING = re.compile(r"<h2>.*?</h2>", re.DOTALL)

Shown = tuple[str, str]
"""A grade in words, and the comment with it."""


class OnRecord(NamedTuple):
    """What a project's tasks may show beside the pair, each thing in every version that was ever on record."""

    help: Mapping[str, Collection[str]] | None
    """The line above the pair, by facet; None if it is not on record."""
    opinions: Mapping[tuple[str, str], Mapping[str, Sequence[Shown]]]
    """What each assessor said, by pair."""
    gold: Mapping[tuple[str, str], str]
    """The gold grade in words, by pair."""
    per_pair: int
    """How many opinions an adjudicator sees, where they see any."""


def changed_tasks(
    ws: Workspace, project: Project, tasks: Iterable[PulledTask], own: Mapping[str, Asked]
) -> tuple[str, ...]:
    """The keys of the tasks that show something that was never to be shown.

    What changes with time is no finding: the place in the order, guidelines and grades of an earlier day, and which
    sentences are marked, since labels may have been corrected.
    """
    known = {task.key: own[task.key] for task in tasks if task.key is not None and task.key in own}
    if not known:
        return ()
    if project.round == "labels":
        return _changed_labels(ws, tasks, known)
    asked = list(dict.fromkeys(known.values()))
    expected = tasks_of(ws, material_of(ws, {one.pair for one in asked}), asked)
    with ws.reading() as session:
        why = {
            back.asked: back.why
            for back in read_returned(session)
            if project.round == "judge" and back.assessor == project.assessor
        }
        record = _on_record(ws, session, project)
    expected = {one: returned_task(task, why[one]) if one in why else task for one, task in expected.items()}
    return tuple(
        task.key
        for task in tasks
        if task.key in known and not _as_sent(project, task.data, known[task.key], expected[known[task.key]], record)
    )


def _changed_labels(ws: Workspace, tasks: Iterable[PulledTask], known: Mapping[str, Asked]) -> tuple[str, ...]:
    """As `changed_tasks`, where people correct labels."""
    papers = papers_of(ws, {asked.query_id for asked in known.values()})
    changed = []
    for task in tasks:
        if task.key is not None and task.key in known:
            paper = papers[known[task.key].query_id]
            # No text of the task depends on the labels, which may have been corrected since.
            unlabelled = replace(paper, labels=("",) * len(paper.sentences))
            wanted = facets_task(task.key, unlabelled, progress=str(task.data.get("progress")))["data"]
            if {**task.data, "pair_id": task.key} != wanted:
                changed.append(task.key)
    return tuple(changed)


def _on_record(ws: Workspace, session: Session, project: Project) -> OnRecord:
    names = ws.settings.scale.names
    opinions: dict[tuple[str, str], dict[str, list[Shown]]] = {}
    gold: dict[tuple[str, str], str] = {}
    answers: Iterable[Judgement] = ()
    if project.round == "adjudicate":
        answers = (revision.record for revision in JUDGEMENTS.answers(session))
    elif project.round == "train-feedback":
        answers = (revision.record for revision in trials.read_given(session, project.assessor))
        gold = {one.pair: f"{one.grade} {names[one.grade]}" for one in trials.read_gold(session)}
    for one in answers:
        said = opinions.setdefault(one.pair, {}).setdefault(one.assessor, [])
        said.append((opinion_text(one, names), comment_text(one.comment)))
    versions = {
        facet: {definition_of(sent.text) for sent in every} for facet, every in read_guidelines(session).items()
    }
    # Training may come before the first push that puts the guidelines on record.
    known = versions if project.round in ("judge", "adjudicate") else None
    return OnRecord(known, opinions, gold, ws.settings.judging.per_pair)


def _as_sent(project: Project, shown: Payload, asked: Asked, expected: Payload, record: OnRecord) -> bool:
    wanted = expected["data"]
    extra = opinions_in(shown)
    # Keys are sealed on the server, and were opened on the way here.
    plain = {name: value for name, value in shown.items() if name not in extra}
    if plain.keys() != wanted.keys() or not all(isinstance(value, str) for value in shown.values()):
        return False
    helps = None if record.help is None else {wanted["facet_help"], *record.help.get(wanted["facet"], ())}
    return (
        plain["facet"] == wanted["facet"]
        and (helps is None or plain["facet_help"] in helps)
        and PROGRESS.fullmatch(plain["progress"]) is not None
        and _same_text(plain[TEXT_FIELD], wanted[TEXT_FIELD], headings=project.round == "substudy-full")
        and _said(project, extra, asked, record)
    )


def _same_text(shown: str, wanted: str, *, headings: bool) -> bool:
    """Whether topic and document read the same; where full texts are linked, only their titles are compared."""
    if shown == wanted:
        return True
    if not all(_KNOWN_TAG.fullmatch(tag) for tag in _TAG.findall(shown)):
        return False
    if headings:
        return _HEADING.findall(shown) == _HEADING.findall(wanted)
    return same_texts(shown, wanted)


def _said(project: Project, shown: Mapping[str, Any], asked: Asked, record: OnRecord) -> bool:
    """Whether the grades and comments in a task are those that people gave, at one time or another."""
    by_person = record.opinions.get(asked.pair, {})
    if project.round == "train-feedback":
        own = (shown.get("rating_own"), shown.get("comment_own"))
        fields = {"rating_own", "comment_own", "rating_gold", "comment_gold"}
        known = by_person.get(project.assessor, ())
        return shown.keys() == fields and own in known and shown["rating_gold"] == record.gold.get(asked.pair)
    if project.round != "adjudicate":
        return not shown
    letters = sorted(name.removeprefix("rating_") for name in shown if name.startswith("rating_"))
    if shown.keys() != {f"{kind}_{letter}" for letter in letters for kind in ("rating", "comment")}:
        return False
    if len(letters) not in (0, min(record.per_pair, len(by_person))):
        return False
    found = sorted((shown[f"rating_{letter}"], shown[f"comment_{letter}"]) for letter in letters)
    return any(
        found == sorted(said)
        for people in combinations(sorted(by_person), len(letters))
        for said in product(*(by_person[name] for name in people))
    )
