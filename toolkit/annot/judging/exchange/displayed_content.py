"""Displayed content compared with what was sent, and texts that were corrected since."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations, product
from typing import Any, NamedTuple

from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.names import counted, verb
from annot.base.records import Judgement, PairKey, PairReturn, Paper, Query, Topic
from annot.corpus.corpus_facts import papers_of
from annot.judging.exchange.outgoing import OutgoingProject, material_of, tasks_of
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import TEXT_FIELD, Payload, PulledTask, ReadAnnotation, StudioTask
from annot.labelstudio.tasks import (
    GAVE,
    PLACE,
    Layout,
    comment_text,
    facets_task,
    gave,
    judge_task,
    opinion_text,
    opinions_in,
    pair_key,
    reads,
    returned_task,
    same_texts,
)
from annot.store import people, projects, trials
from annot.store.judgements import (
    JUDGEMENTS,
    Ruling,
    TextRuling,
    add_returned,
    add_rulings,
    count_corrected_texts,
    read_judgements,
    read_returned,
)
from annot.store.pools import read_queries
from annot.store.projects import Project
from annot.store.shown import Display, ShownTasks, content, display_parts, read_shown, read_versions, texts_in
from annot.study.guidelines import definition_of
from annot.study.judged_texts import (
    JudgedTexts,
    Pair,
    corrected_versions,
    judged_texts,
    paper_topics,
    tasks_on_other_texts,
)
from annot.study.shown_versions import with_text
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# The lead's decisions on answered pairs of which a text was corrected, and what follows from them.
# ----------------------------------------------------------------------------------------------------------------------


WHY_AGAIN = "The text of this pair was corrected after you judged it."
"""What the assessor reads above a pair that goes back."""


class CorrectedText(NamedTuple):
    """One text that was corrected after the study had it."""

    text_id: str
    why: str
    since: str
    """ISO 8601, UTC."""
    sha256: str
    versions: int


def corrected_texts(session: Session) -> tuple[CorrectedText, ...]:
    """Every corrected text with its last correction, by id."""
    return tuple(
        CorrectedText(text_id, versions[-1].why or "", versions[-1].since, versions[-1].sha256, len(versions))
        for (_, text_id), versions in sorted(read_versions(session, "text").items())
        if len(versions) > 1
    )


def decide(
    session: Session, pairs: Collection[Pair], ruling: Ruling, *, why: str, now: str
) -> tuple[tuple[JudgedTexts, ...], tuple[PairReturn, ...]]:
    """Note down the decision on these pairs; those that were decided so before stay as they are.

    Returns the pairs that are new, and the answers that go back. Raises InputError, with every pair that cannot be
    decided so: one that does not wait, that was decided otherwise, or whose answers cannot be asked for again.
    """
    before = judged_texts(session)
    new, faults = [], []
    for pair in pairs:
        known = before.get(pair)
        if known is not None and known.state == "waits":
            new.append(known)
        elif known is None or known.state == "newest":
            faults.append(f"{' '.join(pair)}: does not wait for a decision")
        elif known.state != ruling:
            faults.append(f"{' '.join(pair)}: already decided, {known.state}")
    if ruling == "again":
        faults += _not_to_return(session, new)
    if faults:
        raise InputError(
            f"{counted(len(faults), 'pair')} cannot be decided so",
            faults=faults,
            hint="nothing was changed; `annot corpus corrected` lists the pairs",
        )
    newest = {one.text_id: one for one in corrected_texts(session)}
    add_rulings(
        session,
        (
            # Whatever the machine's clock says, the decision comes after the correction.
            TextRuling(*one.pair, text_id, text.sha256, ruling, why, max(now, text.since, key=datetime.fromisoformat))
            for one in new
            for text_id in one.to_decide
            for text in (newest[text_id],)
        ),
    )
    return tuple(new), send_back(session, now=now)


def _not_to_return(session: Session, pairs: Sequence[JudgedTexts]) -> Iterator[str]:
    """The pairs with answers that nobody can be asked for again."""
    left = people.who_left(session)
    for pair in pairs:
        for one in pair.answers:
            if not one.is_ours:
                yield f"{' '.join(pair.pair)}: was judged with another tool, so it can only stay"
            elif one.person in left:
                yield f"{' '.join(pair.pair)}: {one.person} has left the study, so it can only stay"


def send_back(session: Session, *, now: str) -> tuple[PairReturn, ...]:
    """Put every pair before its assessor again whose answer is on another version than was decided.

    Answers may come in after the decision, to tasks that were open when it was made.
    """
    left = people.who_left(session)
    returned = list(read_returned(session))
    taken = {(*one.pair, one.assessor, one.occasion) for one in returned}
    taken |= {(*one.pair, one.assessor, one.occasion) for one in read_judgements(session)}
    taken |= {(*one.pair, one.assessor, one.occasion) for one in people.read_assignments(session)}
    new = []
    for pair in judged_texts(session).values():
        for one in pair.to_return:
            mine = [back for back in returned if (back.pair, back.assessor) == (pair.pair, one.person)]
            waiting = any(back.withdrawn_at is None and back.occasion > one.asked.occasion for back in mine)
            if one.person in left or not one.is_ours or waiting:
                continue
            occasion = 1 + max(key[-1] for key in taken if key[:-1] == (*pair.pair, one.person))
            new.append(PairReturn(*pair.pair, one.person, occasion, WHY_AGAIN, now))
    for back in new:
        add_returned(session, back)
    return tuple(new)


def waiting_pairs(session: Session) -> frozenset[Pair]:
    """The pairs that wait for the lead's decision on a corrected text."""
    return frozenset(pair for pair, one in judged_texts(session).items() if one.state == "waits")


def waiting_in_words(session: Session) -> tuple[str, ...]:
    """How many wait, in a sentence; none if there are none."""
    if waiting := waiting_pairs(session):
        pairs = f"{counted(len(waiting), 'pair')} {verb(len(waiting), 'waits', 'wait')}"
        return (f"{pairs} for your decision: a text was corrected; see `annot corpus corrected`",)
    return ()


# ----------------------------------------------------------------------------------------------------------------------
# Open tasks with a text that was corrected since: taken back from everyone, before anyone gets the corrected text.
# ----------------------------------------------------------------------------------------------------------------------


def has_earlier_text(task: StudioTask, wanted: Payload) -> bool:
    """Whether a task on the server shows other texts than it is to show. wanted: the task as it is sent."""
    return not same_texts(str(task.data.get(TEXT_FIELD, "")), wanted["data"].get(TEXT_FIELD, ""))


def withdraw_earlier_texts(ws: Workspace, gateway: Gateway, outgoing: Sequence[OutgoingProject]) -> set[Pair]:
    """Delete, on this server, the unanswered tasks of the round whose texts are not those that are to be sent.

    Nobody is sent a corrected text while another can still answer the pair on the earlier one. Returns the pairs that
    were answered on it meanwhile: these answers are not on record yet.
    """
    if not outgoing:
        return set()
    server = gateway.identity()
    with ws.reading() as session:
        if not corrected_texts(session):
            return set()
        known = projects.read_projects(session, round=outgoing[0].part.stored)
        recorded = {(one.assessor, one.asked) for one in read_judgements(session) if one.counts}
    answered: set[Pair] = set()
    wanted = {one.assessor: {pair_key(*asked): (asked, task) for asked, task in one.tasks.items()} for one in outgoing}
    for project in known:
        own = wanted.get(project.assessor, {})
        if project.server != server or project.remote_id is None or not own:
            continue
        listed = [task for task in gateway.tasks_of(project.remote_id) if task.key in own]
        earlier = [task for task in listed if has_earlier_text(task, own[task.key or ""][1])]
        # The last stays until others are sent: a server on SQLite gives its number again.
        last = max((task.task_id for task in earlier), default=0)
        bare = [task.task_id for task in earlier if not task.annotations and task.task_id != last]
        gateway.delete_unanswered(project.remote_id, bare)
        there = {task.task_id: task for task in gateway.tasks_of(project.remote_id)} if earlier else {}
        for task in earlier:
            asked = own[task.key or ""][0]
            found = there.get(task.task_id)
            if found is not None and found.annotations and (project.assessor, asked) not in recorded:
                answered.add(asked.pair)
    return answered


def open_elsewhere(ws: Workspace, people: Collection[str]) -> set[Pair]:
    """The pairs that these people may still answer on a text before its correction: their server cannot be asked."""
    if not people:
        return set()
    with ws.reading() as session:
        tasks = tasks_on_other_texts(session, "judge", judged_texts(session))
        recorded = {(one.assessor, one.asked) for one in read_judgements(session) if one.counts}
    return {
        asked.pair for name, own in tasks.items() if name in people for asked in own if (name, asked) not in recorded
    }


UNKNOWN_TEXT = (
    "its task shows a text that is not on record; add this text with `annot corpus add --corrected`, or delete the "
    "task in Label Studio, and `annot push` sends it again"
)
TEXTS = ("topic", "document")
MARKS = ("topic_labels", "document_labels", "query_sentences")


def as_displayed(
    session: Session,
    project: int,
    displays: Mapping[PairKey, Display],
    tasks: Mapping[PairKey, Payload],
    untouched: Iterable[StudioTask],
) -> dict[PairKey, Display]:
    """The displays of tasks after a push, with the texts and marks that those have that a push left as they were.

    displays, tasks: as they are sent. untouched: tasks that were on the server before and stayed there.
    """
    found = dict(displays)
    keys = {pair_key(*asked): asked for asked in displays}
    noted = {asked: history[-1][1] for asked, history in read_shown(session, project).by_task.items() if history}
    earlier = display_parts(session, noted.values())
    for task in untouched:
        asked = keys.get(task.key or "")
        if asked is None or (before := earlier.get(noted.get(asked, ""))) is None:
            continue
        # Marks are predictions, which stay; a text stays on what was answered.
        parts = (*TEXTS, *MARKS) if has_earlier_text(task, tasks[asked]) else MARKS
        found[asked] = {**displays[asked], **{name: before[name] for name in parts if name in before}}
    return found


def with_texts_on_server(
    session: Session,
    shown: ShownTasks,
    readings: Sequence[ReadAnnotation],
    tasks: Mapping[PairKey, PulledTask],
    counting: Collection[tuple[PairKey, str]],
) -> list[ReadAnnotation]:
    """The readings with the versions of the texts that their tasks show on the server, as far as they are on record.

    An answered task is never changed, so this tells more than what was noted: a push may have been killed before it
    noted anything, a backup may be older than the push, and the clocks of two machines differ. An answer on a text that
    is not on record does not count. counting: the answers on record that count, by what was asked and the annotation.
    """
    corrected = corrected_versions(session) if count_corrected_texts(session) else {}
    looked_at = [one for one in readings if corrected or (one.asked, one.annotation) not in counting]
    if not looked_at:
        return list(readings)
    topics = paper_topics(session)
    displays = shown.displays(session, [one.shown_sha256 for one in looked_at])
    bodies = content(session, {sha256 for display in displays.values() for sha256 in texts_in(display) if sha256})

    def of_server(one: ReadAnnotation) -> ReadAnnotation:
        display = displays.get(one.shown_sha256 or "", {})
        pair_html = str(tasks[one.asked].data.get(TEXT_FIELD, ""))
        sides = (("topic", "query", topics.get(one.asked.query_id)), ("document", "cand", one.asked.doc_id))
        found, unknown = dict[str, str](), False
        for part, side, text_id in sides:
            versions = {version.sha256: version.body for version in corrected.get(text_id or "", ())}
            if text_id is not None and display.get(part) in bodies:
                versions[display[part]] = bodies[display[part]]
            matches = [sha256 for sha256, body in versions.items() if reads(pair_html, side, **json.loads(body))]
            if matches:
                found[part] = display[part] if display.get(part) in matches else matches[-1]
            elif versions:
                unknown = True
        changed = {part: sha256 for part, sha256 in found.items() if display.get(part) != sha256}
        if changed:
            one = replace(one, shown_sha256=shown.add({**display, **changed}))
        is_new = (one.asked, one.annotation) not in counting
        return replace(one, flags=(*one.flags, UNKNOWN_TEXT)) if unknown and is_new and not one.flags else one

    wanted = {(one.asked, one.annotation) for one in looked_at}
    return [of_server(one) if (one.asked, one.annotation) in wanted else one for one in readings]


def without_pairs(outgoing: OutgoingProject, pairs: Collection[Pair]) -> OutgoingProject:
    """The same without the tasks of these pairs."""
    return replace(outgoing, tasks={asked: task for asked, task in outgoing.tasks.items() if asked.pair not in pairs})


# ----------------------------------------------------------------------------------------------------------------------
# What the tasks of a project show, compared with what was sent: made again from what is on record.
# ----------------------------------------------------------------------------------------------------------------------


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

    displays: Mapping[PairKey, Sequence[Display]]
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


DISPLAYED_TEXTS = {"topic", "document"}


def changed_tasks(
    ws: Workspace, project: Project, tasks: Iterable[PulledTask], own: Mapping[str, PairKey]
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

    def expected(asked: PairKey) -> list[dict[str, Any]]:
        sent = [_as_recorded(record, asked, display) for display in record.displays[asked]] or [today[asked]]
        return [returned_task(task, why[asked]) for task in sent] if asked in why else sent

    def is_as_sent(task: PulledTask, asked: PairKey) -> bool:
        return any(_as_sent(project, task.data, asked, sent, record) for sent in expected(asked))

    return tuple(task.key for task in tasks if task.key in known and not is_as_sent(task, known[task.key]))


def _as_recorded(record: OnRecord, asked: PairKey, display: Display) -> dict[str, Any]:
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


def _changed_labels(ws: Workspace, tasks: Iterable[PulledTask], known: Mapping[str, PairKey]) -> tuple[str, ...]:
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


def _on_record(ws: Workspace, session: Session, project: Project, asked: Collection[PairKey]) -> OnRecord:
    shown = read_shown(session, project.project)
    histories = {one: shown.by_task.get(one) or shown.composed(one) for one in asked}
    keep = {sha256 for history in histories.values() for _, sha256 in history}
    bodies = shown.displays(session, keep)
    displays = {
        one: [bodies[sha256] for _, sha256 in history if bodies.get(sha256, {}).keys() >= DISPLAYED_TEXTS]
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


def _as_sent(project: Project, shown: Payload, asked: PairKey, expected: Payload, record: OnRecord) -> bool:
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


def _said(project: Project, shown: Mapping[str, Any], asked: PairKey, record: OnRecord) -> bool:
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
