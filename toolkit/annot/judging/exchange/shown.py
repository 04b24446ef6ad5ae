"""What the tasks of a project show, compared with what was sent: made again from what is on record."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any, NamedTuple

from sqlmodel import Session

from annot.base.records import Asked, Judgement, Paper, Query, Topic
from annot.corpus.corpus_facts import papers_of
from annot.judging.exchange.outgoing import material_of, tasks_of
from annot.labelstudio.columns import GAVE, Layout, gave, same_texts
from annot.labelstudio.studio_records import TEXT_FIELD, Payload, PulledTask
from annot.labelstudio.tasks import (
    PLACE,
    comment_text,
    facets_task,
    judge_task,
    opinion_text,
    opinions_in,
    returned_task,
)
from annot.store import trials
from annot.store.judgements import JUDGEMENTS, read_returned
from annot.store.projects import Project
from annot.store.queries import read_queries
from annot.store.shown import Display, content, read_shown, read_versions
from annot.study.guidelines import definition_of
from annot.study.judged_texts import corrected_versions
from annot.study.shown_contents import with_text
from annot.study.workspace import Workspace

PROGRESS = re.compile(PLACE)
_TAG = re.compile(r"<[^<>]*>")
_KNOWN_TAG = re.compile(
    r'</(?:div|p|h2|span|a|details|summary|mark)>|<span>|<h2>|<p>|<mark>|<details class="a-[\w-]*"(?: open)?>'
    r'|<summary accesskey="[a-z]">|<(?:div|p)(?: class="a-[\w .+-]*"| tabindex="0"| accesskey="[a-z]")*>'
    r'|<a href="https?://[^<>"\s]+" target="_blank" rel="noopener noreferrer"(?: accesskey="[a-z]")?>'
)
_HEADING = re.compile(r"<h2>.*?</h2>", re.DOTALL)

FOLD_AFTER = 1_000_000
"""Words: nothing is folded; what the settings fold is compared without the fold."""

Shown = tuple[str, str]
"""A grade in words, and the comment with it."""


class OnRecord(NamedTuple):
    """What a project's tasks may show, each thing in every version that was ever on record."""

    displays: Mapping[Asked, Sequence[Display]]
    """What each task showed, by its parts; nothing if its texts are not on record."""
    contents: Mapping[str, str]
    """The parts, by hash."""
    queries: Mapping[str, Query]
    help: Mapping[str, Collection[str]] | None
    """The line above the pair, by facet; None if any may have been sent."""
    opinions: Mapping[tuple[str, str], Mapping[str, Sequence[Shown]]]
    """What each assessor said, by pair."""
    gold: Mapping[tuple[str, str], Collection[str]]
    """The gold grade in words, by pair."""
    per_pair: int
    """How many opinions an adjudicator sees, where they see any."""

    def part(self, display: Display, name: str) -> Any:
        """The content of a part of a display, read from JSON; None if it is not on record."""
        body = self.contents.get(display.get(name, ""))
        return None if body is None else json.loads(body)


TEXTS = {"topic", "document"}


def changed_tasks(
    ws: Workspace, project: Project, tasks: Iterable[PulledTask], own: Mapping[str, Asked]
) -> tuple[str, ...]:
    """The keys of the tasks that show something that was never sent with them.

    Tasks are compared with the record, whatever corpus, guidelines and annot.toml say by now. Anything that a task ever
    showed may still be there, and so may another place in the order and other marks, as labels may have been corrected.
    """
    known = {task.key: own[task.key] for task in tasks if task.key is not None and task.key in own}
    if not known:
        return ()
    if project.round == "labels":
        return _changed_labels(ws, tasks, known)
    with ws.reading() as session:
        why = {
            back.asked: back.why
            for back in read_returned(session)
            if project.round == "judge" and back.assessor == project.assessor
        }
        record = _on_record(ws, session, project, {*known.values()})
    # Training may come before the first push that puts texts on record.
    unrecorded = [asked for asked, displays in record.displays.items() if not displays]
    today = tasks_of(ws, material_of(ws, {asked.pair for asked in unrecorded}), unrecorded)

    def expected(asked: Asked) -> list[dict[str, Any]]:
        sent = [_as_recorded(record, asked, display) for display in record.displays[asked]] or [today[asked]]
        return [returned_task(task, why[asked]) for task in sent] if asked in why else sent

    def is_as_sent(task: PulledTask, asked: Asked) -> bool:
        return any(_as_sent(project, task.data, asked, sent, record) for sent in expected(asked))

    return tuple(task.key for task in tasks if task.key in known and not is_as_sent(task, known[task.key]))


def _as_recorded(record: OnRecord, asked: Asked, display: Display) -> dict[str, Any]:
    """The task of judging made of what is on record of its display."""
    query, topic = record.queries[asked.query_id], record.contents[display["topic"]]

    def paper(paper_id: str, side: str) -> Paper:
        text = with_text(Paper(paper_id, "", ()), record.contents[display[side]])
        return replace(text, labels=tuple(display.get(f"{side}_labels", ())) or ("",) * len(text.sentences))

    fields = json.loads(topic)
    return judge_task(
        asked=asked,
        query=query,
        topic=paper(query.topic_id, "topic") if "sentences" in fields else Topic(query.topic_id, **fields),
        document=paper(asked.doc_id, "document"),
        facet_help=definition_of(record.contents.get(display.get("guidelines", ""), "")),
        facet_labels=record.part(display, "facet") or (),
        progress="",
        layout=Layout(True, FOLD_AFTER, False),
    )


def _changed_labels(ws: Workspace, tasks: Iterable[PulledTask], known: Mapping[str, Asked]) -> tuple[str, ...]:
    """As `changed_tasks`, where people correct labels: of a corrected paper any version may have been sent."""
    papers = papers_of(ws, {asked.query_id for asked in known.values()})
    with ws.reading() as session:
        versions = corrected_versions(session)

    def is_as_sent(task: PulledTask, paper: Paper) -> bool:
        texts = [paper, *(with_text(paper, version.body) for version in versions.get(paper.paper_id, ()))]
        # No text of the task depends on the labels, which may have been corrected since.
        unlabelled = (replace(text, labels=("",) * len(text.sentences)) for text in texts)
        shown, progress = {**task.data, "pair_id": task.key}, str(task.data.get("progress"))
        return any(facets_task(task.key or "", text, progress=progress)["data"] == shown for text in unlabelled)

    ours = ((task, task.key) for task in tasks if task.key in known)
    return tuple(key for task, key in ours if key is not None and not is_as_sent(task, papers[known[key].query_id]))


def _on_record(ws: Workspace, session: Session, project: Project, asked: Collection[Asked]) -> OnRecord:
    shown = read_shown(session, project.project)
    histories = {one: shown.by_task.get(one) or shown.composed(one) for one in asked}
    keep = {sha256 for history in histories.values() for _, sha256 in history}
    bodies = shown.displays(session, keep)
    displays = {
        one: [bodies[sha256] for _, sha256 in history if bodies.get(sha256, {}).keys() >= TEXTS]
        for one, history in histories.items()
    }
    every = (part for several in displays.values() for display in several for part in display.values())
    parts = {part for part in every if isinstance(part, str)}
    versions = read_versions(session, "scale", "guidelines")
    scales = [json.loads(one.body) for one in versions.get(("scale", ""), ())] or [list(ws.settings.scale.names)]
    opinions: dict[tuple[str, str], dict[str, list[Shown]]] = {}
    gold: dict[tuple[str, str], set[str]] = {}
    answers: Iterable[Judgement] = ()
    if project.round == "adjudicate":
        answers = (revision.record for revision in JUDGEMENTS.answers(session))
    elif project.round == "train-feedback":
        answers = (revision.record for revision in trials.read_given(session, project.assessor))
        gold = {one.pair: {f"{one.grade} {names[one.grade]}" for names in scales} for one in trials.read_gold(session)}
    for one in answers:
        said = opinions.setdefault(one.pair, {}).setdefault(one.assessor, [])
        said += dict.fromkeys((opinion_text(one, names), comment_text(one.comment)) for names in scales)
    help = {
        facet: {definition_of(one.body) for one in several}
        for (part, facet), several in versions.items()
        if part == "guidelines"
    }
    # Training may come before the first push that puts the guidelines on record.
    known = help if project.round in ("judge", "adjudicate") else None
    queries = {query.query_id: query for query in read_queries(session)}
    per_pair = ws.settings.judging.per_pair
    return OnRecord(displays, content(session, parts), queries, known, opinions, gold, per_pair)


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
        and {*re.findall(GAVE, plain[TEXT_FIELD])} <= {gave(_grades_in(extra))}
        and _said(project, extra, asked, record)
    )


def _grades_in(opinions: Mapping[str, str]) -> dict[str, int]:
    """The grades that an adjudicator is shown, by letter: the marks on the buttons have to be those."""
    texts = {name.removeprefix("rating_"): text for name, text in opinions.items() if name.startswith("rating_")}
    return {letter: int(text[0]) for letter, text in sorted(texts.items()) if text[:1].isdecimal()}


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
        return shown.keys() == fields and own in known and shown["rating_gold"] in record.gold.get(asked.pair, ())
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
