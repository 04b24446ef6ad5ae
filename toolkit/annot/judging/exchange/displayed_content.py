"""Displayed content compared with what was sent, and texts that were corrected since."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations, product
from typing import Any

from annot.base.errors import InputError
from annot.base.names import counted, verb
from annot.base.records import Assignment, Judgement, PairKey, PairReturn, Paper, Topic
from annot.base.words import ENGLISH, Words, recorded_words
from annot.corpus.corpus_facts import papers_of
from annot.judging.exchange.outgoing import OutgoingProject, TaskMaterial, tasks_of
from annot.labelstudio import tasks as studio_tasks
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import TEXT_FIELD, Payload, PulledTask, ReadAnnotation, StudioTask
from annot.store import answers as store_answers
from annot.store import people, projects, trials
from annot.store import shown as stored
from annot.store.models import Project, Session
from annot.store.pools import documents_by_query, read_queries, withdrawn_ids
from annot.study import guidelines, judged_texts
from annot.study.outcome import answered_of
from annot.study.shown_versions import with_text
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# The lead's decisions on answered pairs of which a text was corrected, and the pairs that go back to assessors.
# ----------------------------------------------------------------------------------------------------------------------


WHY_AGAIN = ENGLISH("task.corrected")
"""Sentence that the assessor reads above a pair that goes back, in English as it is stored."""


def decide(
    session: Session, pairs: Collection[judged_texts.Pair], ruling: store_answers.Ruling, *, why: str, now: str
) -> tuple[tuple[judged_texts.JudgedTexts, ...], tuple[PairReturn, ...]]:
    """Put the decision on these pairs on record; pairs with the same decision already stay as they are.

    Returns the newly decided pairs, and the answers that go back. Raises InputError with every pair that cannot be
    decided so: one that does not wait, that was decided otherwise, or whose answers cannot be asked for again.
    """
    texts_of = judged_texts.judged_texts(session)
    new, faults = [], []
    for pair in pairs:
        judged = texts_of.get(pair)
        if judged is not None and judged.state == "waits":
            new.append(judged)
        elif judged is None or judged.state == "newest":
            faults.append(f"{' '.join(pair)}: does not wait for a decision")
        elif judged.state != ruling:
            faults.append(f"{' '.join(pair)}: already decided, {judged.state}")
    if ruling == "again":
        faults += _unreturnable_pairs(session, new)
    if faults:
        raise InputError(
            f"{counted(len(faults), 'pair')} cannot be decided so",
            faults=faults,
            hint="nothing was changed; `annot corpus corrected` lists the pairs",
        )
    newest = {text_id: versions[-1] for text_id, versions in judged_texts.corrected_versions(session).items()}
    store_answers.add_rulings(
        session,
        (
            # Whatever the machine's clock says, the decision comes after the correction.
            store_answers.TextRuling(
                *judged_pair.pair, text_id, text.sha256, ruling, why, max(now, text.since, key=datetime.fromisoformat)
            )
            for judged_pair in new
            for text_id in judged_pair.to_decide
            for text in (newest[text_id],)
        ),
    )
    return tuple(new), send_back(session, now=now)


def _unreturnable_pairs(session: Session, pairs: Sequence[judged_texts.JudgedTexts]) -> Iterator[str]:
    """Faults of pairs with answers that no person can be asked for again."""
    left = people.people_who_left(session)
    for pair in pairs:
        for answer in pair.answers:
            if not answer.is_ours:
                yield f"{' '.join(pair.pair)}: was judged with another tool, so it can only stay"
            elif answer.person in left:
                yield f"{' '.join(pair.pair)}: {answer.person} has left the study, so it can only stay"


def send_back(session: Session, *, now: str) -> tuple[PairReturn, ...]:
    """Return each pair to its assessor whose answer is on another version than was decided.

    Answers may come in after the decision, to tasks that were open when it was made.
    """
    left = people.people_who_left(session)
    returned = list(store_answers.read_returned(session))
    known: list[PairReturn | Judgement | Assignment] = [*returned, *store_answers.JUDGEMENTS.records(session)]
    known += people.read_assignments(session)
    taken = {(*answer.pair, answer.assessor, answer.occasion) for answer in known}
    new = []
    for pair in judged_texts.judged_texts(session).values():
        for answer in pair.to_return:
            earlier_returns = [back for back in returned if (back.pair, back.assessor) == (pair.pair, answer.person)]
            waiting = any(
                back.withdrawn_at is None and back.occasion > answer.pair_key.occasion for back in earlier_returns
            )
            if answer.person in left or not answer.is_ours or waiting:
                continue
            occasion = 1 + max(key[-1] for key in taken if key[:-1] == (*pair.pair, answer.person))
            new.append(PairReturn(*pair.pair, answer.person, occasion, WHY_AGAIN, now))
    for back in new:
        store_answers.add_returned(session, back)
    return tuple(new)


def waiting_pairs(session: Session) -> frozenset[judged_texts.Pair]:
    """The pairs that wait for the lead's decision on a corrected text."""
    return frozenset(pair for pair, texts in judged_texts.judged_texts(session).items() if texts.state == "waits")


def not_shown(session: Session) -> frozenset[judged_texts.Pair]:
    """The pairs that no person is shown: those that wait for a decision, and those of withdrawn documents."""
    gone = withdrawn_ids(session)
    pooled = documents_by_query(session, withdrawn=True) if gone else {}
    withdrawn = ((query_id, doc_id) for query_id, docs in pooled.items() for doc_id in gone.intersection(docs))
    return waiting_pairs(session).union(withdrawn)


def waiting_in_words(session: Session) -> tuple[str, ...]:
    """A sentence with the number of pairs that wait; none if no pair waits."""
    if waiting := waiting_pairs(session):
        pairs = f"{counted(len(waiting), 'pair')} {verb(len(waiting), 'waits', 'wait')}"
        return (f"{pairs} for your decision: a text was corrected; see `annot corpus corrected`",)
    return ()


# ----------------------------------------------------------------------------------------------------------------------
# Open tasks with an earlier text: withdrawn from everyone before any person gets the corrected text.
# ----------------------------------------------------------------------------------------------------------------------


def has_earlier_text(task: StudioTask, expected: Payload) -> bool:
    """True if a task on the server shows other texts than it should. expected: the task as it is sent now."""
    return not studio_tasks.same_texts(str(task.data.get(TEXT_FIELD, "")), expected["data"].get(TEXT_FIELD, ""))


def withdraw_earlier_texts(
    ws: Workspace, gateway: Gateway, outgoing: Sequence[OutgoingProject]
) -> set[judged_texts.Pair]:
    """Delete, on this server, the unanswered tasks of the round whose texts are not those that are to be sent.

    No person is sent a corrected text while another can still answer the pair on the earlier one. Returns the pairs
    that were answered on it meanwhile: these answers are not on record yet.
    """
    if not outgoing:
        return set()
    server = gateway.identity()
    with ws.reading() as session:
        if not store_answers.count_corrected_texts(session):
            return set()
        rows = projects.sent_projects(session, round=outgoing[0].part.stored)
        recorded = answered_of(session)
    answered: set[judged_texts.Pair] = set()
    by_person = {project.assessor: project.tasks for project in outgoing if project.tasks}
    for project in rows:
        if project.server == server and project.assessor in by_person:
            late = _withdraw_earlier(gateway, project.number, by_person[project.assessor])
            answered |= {question.pair for question in late if (project.assessor, question) not in recorded}
    return answered


def _withdraw_earlier(gateway: Gateway, project_id: int, tasks: Mapping[PairKey, Payload]) -> list[PairKey]:
    """Delete a project's unanswered tasks with other texts than these; returns the questions of answered ones."""
    questions = {studio_tasks.pair_key(*question): question for question in tasks}
    listed = [task for task in gateway.tasks_of(project_id) if task.key in questions]
    earlier = {
        task.task_id: question
        for task in listed
        if has_earlier_text(task, tasks[question := questions[task.key or ""]])
    }
    if not earlier:
        return []
    # The last stays until others are sent: a server on SQLite gives its number again.
    last = max(earlier)
    bare = [task.task_id for task in listed if task.task_id in earlier and not task.annotations]
    gateway.delete_unanswered(project_id, [task_id for task_id in bare if task_id != last])
    current = gateway.tasks_of(project_id)
    return [earlier[task.task_id] for task in current if task.task_id in earlier and task.annotations]


def open_elsewhere(ws: Workspace, people: Collection[str]) -> set[judged_texts.Pair]:
    """Pairs that these people, whose server cannot be reached, may still answer on a text before its correction."""
    if not people:
        return set()
    with ws.reading() as session:
        tasks = judged_texts.tasks_on_other_texts(session, "judge", judged_texts.judged_texts(session))
        recorded = answered_of(session)
    return {
        question.pair
        for name, questions in tasks.items()
        if name in people
        for question in questions
        if (name, question) not in recorded
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
    displays: Mapping[PairKey, stored.Display],
    tasks: Mapping[PairKey, Payload],
    untouched: Iterable[StudioTask],
) -> dict[PairKey, stored.Display]:
    """The displays of tasks after a push; tasks that the push left as they were keep their texts and marks.

    displays, tasks: as they are sent. untouched: tasks that were on the server before and stayed there.
    """
    displayed = dict(displays)
    keys = {studio_tasks.pair_key(*question): question for question in displays}
    noted = {
        question: history[-1][1] for question, history in stored.read_shown(session, project).by_task.items() if history
    }
    earlier = stored.display_parts(session, noted.values())
    for task in untouched:
        question = keys.get(task.key or "")
        if question is None or (noted_parts := earlier.get(noted.get(question, ""))) is None:
            continue
        # Marks are predictions, which stay; so does the text of an answered task.
        parts = (*TEXTS, *MARKS) if has_earlier_text(task, tasks[question]) else MARKS
        displayed[question] = {
            **displays[question],
            **{name: noted_parts[name] for name in parts if name in noted_parts},
        }
    return displayed


def with_texts_on_server(
    session: Session,
    shown: stored.ShownTasks,
    readings: Sequence[ReadAnnotation],
    tasks: Mapping[PairKey, PulledTask],
    counting: Collection[tuple[PairKey, str]],
) -> list[ReadAnnotation]:
    """The readings with the versions of the texts that their tasks show on the server, if these are on record.

    An answered task is never changed, so it is surer than the notes of a push: a push may have been killed before it
    noted anything, a backup may be older than the push, and the clocks of two machines differ. An answer on a text that
    is not on record does not count. counting: question and annotation of the answers on record that count.
    """
    corrected = judged_texts.corrected_versions(session) if store_answers.count_corrected_texts(session) else {}
    looked_at = [reading for reading in readings if corrected or (reading.pair_key, reading.annotation) not in counting]
    if not looked_at:
        return list(readings)
    topics = judged_texts.paper_topics(session)
    displays = shown.displays(session, [reading.shown_sha256 for reading in looked_at])
    bodies = stored.content(
        session, {sha256 for display in displays.values() for sha256 in stored.texts_in(display) if sha256}
    )

    def of_server(reading: ReadAnnotation) -> ReadAnnotation:
        display = displays.get(reading.shown_sha256 or "", {})
        pair_html = str(tasks[reading.pair_key].data.get(TEXT_FIELD, ""))
        sides = (
            ("topic", "query", topics.get(reading.pair_key.query_id)),
            ("document", "cand", reading.pair_key.doc_id),
        )
        matched, unknown = dict[str, str](), False
        for part, side, text_id in sides:
            versions = {version.sha256: version.body for version in corrected.get(text_id or "", ())}
            if text_id is not None and display.get(part) in bodies:
                versions[display[part]] = bodies[display[part]]
            matches = [
                sha256 for sha256, body in versions.items() if studio_tasks.reads(pair_html, side, **json.loads(body))
            ]
            if matches:
                matched[part] = display[part] if display.get(part) in matches else matches[-1]
            elif versions:
                unknown = True
        changed = {part: sha256 for part, sha256 in matched.items() if display.get(part) != sha256}
        if changed:
            reading = replace(reading, shown_sha256=shown.add({**display, **changed}))
        is_new = (reading.pair_key, reading.annotation) not in counting
        return (
            replace(reading, flags=(*reading.flags, UNKNOWN_TEXT))
            if unknown and is_new and not reading.flags
            else reading
        )

    to_read = {(reading.pair_key, reading.annotation) for reading in looked_at}
    return [
        of_server(reading) if (reading.pair_key, reading.annotation) in to_read else reading for reading in readings
    ]


# ----------------------------------------------------------------------------------------------------------------------
# Tasks on the server compared with the tasks that were sent, which are made again from the record.
# ----------------------------------------------------------------------------------------------------------------------


_TAG = re.compile(r"<[^<>]*>")
_KNOWN_TAG = re.compile(
    r'</(?:div|p|h2|span|a|details|summary|mark)>|<span>|<h2>|<p>|<mark>|<details class="a-[\w-]*"(?: open)?>'
    r'|<summary accesskey="[a-z]">|<(?:div|p)(?: class="a-[\w .+-]*"| tabindex="0"| accesskey="[a-z]")*>'
    r'|<a href="https?://[^<>"\s]+" target="_blank" rel="noopener noreferrer"(?: accesskey="[a-z]")?>'
)
_HEADING = re.compile(r"<h2>.*?</h2>", re.DOTALL)


def words_on_record(session: Session) -> tuple[Words, ...]:
    """The words that tasks may have been sent with: the program's English ones, and every version on record."""
    versions = stored.read_versions(session, "words").values()
    return (ENGLISH, *(recorded_words(json.loads(version.body)) for history in versions for version in history))


FOLD_AFTER = 1_000_000
"""Words of a narrative that is folded: none is, so that texts are compared without folds."""


class RecordedDisplays:
    """Everything that a project's tasks may show, in every version that was ever on record."""

    def __init__(self, ws: Workspace, session: Session, project: Project, questions: Collection[PairKey]) -> None:
        shown = stored.read_shown(session, project.project)
        histories = {question: shown.by_task.get(question) or shown.composed(question) for question in questions}
        bodies = shown.displays(session, {sha256 for history in histories.values() for _, sha256 in history})
        self.project, self.per_pair = project, ws.settings.judging.per_pair
        self.assessors_shown = store_answers.assessors_shown(session, project.assessor)
        self.displays = {
            question: [bodies[sha256] for _, sha256 in history if bodies.get(sha256, {}).keys() >= {*TEXTS}]
            for question, history in histories.items()
        }
        """Displays of each task, by part; none if its texts are not on record."""
        values = (value for several in self.displays.values() for display in several for value in display.values())
        self.contents = stored.content(session, {value for value in values if isinstance(value, str)})
        """Contents of the parts, by hash."""
        self.queries = {query.query_id: query for query in read_queries(session)}
        versions = stored.read_versions(session, "scale", "guidelines")
        self.definitions: dict[str, set[str]] = {}
        """Definitions of each facet in every version of its guidelines, in every language."""
        for (part, subject), history in versions.items():
            if part == "guidelines":
                known = self.definitions.setdefault(stored.subject_and_language(subject)[0], set())
                known.update(guidelines.definition_of(version.body) for version in history)
        self.words = words_on_record(session)
        recorded = [json.loads(scale.body) for scale in versions.get(("scale", ""), ())]
        self._read_grades(session, recorded or [list(ws.settings.scale.names)])

    def _read_grades(self, session: Session, scales: Sequence[Sequence[str]]) -> None:
        """Read the grades that tasks may show. scales: all versions of the names of grades."""
        project = self.project
        answers: Iterable[store_answers.SourcedAnswer[Judgement]] = ()
        self.gold: dict[judged_texts.Pair, set[str]] = {}
        """Gold grades in words, by pair."""
        if project.round == "adjudicate":
            answers = store_answers.JUDGEMENTS.answers(session)
        elif project.round == "train-feedback":
            answers = trials.read_every_answer(session, project.assessor)
            for row in trials.read_gold(session):
                self.gold[row.pair] = {
                    studio_tasks.grade_text(row.grade, names, words) for names in scales for words in self.words
                }
        self.opinions: dict[judged_texts.Pair, dict[str, list[tuple[str, str]]]] = {}
        """Grades in words of each assessor, each with its comment, by pair."""
        for answer in (revision.record for revision in answers):
            opinions = self.opinions.setdefault(answer.pair, {}).setdefault(answer.assessor, [])
            opinions += dict.fromkeys(
                (studio_tasks.opinion_text(answer, names, words), studio_tasks.comment_text(answer.comment, words))
                for names in scales
                for words in self.words
            )

    def task(self, question: PairKey, display: stored.Display) -> dict[str, Any]:
        """The task of judging, made from a display on record."""
        query, topic = self.queries[question.query_id], self.contents[display["topic"]]
        facet = self.contents.get(display.get("facet", ""), "null")

        def paper(paper_id: str, side: str) -> Paper:
            text = with_text(Paper(paper_id, "", ()), self.contents[display[side]])
            return replace(text, labels=tuple(display.get(f"{side}_labels", ())) or ("",) * len(text.sentences))

        fields = json.loads(topic)
        return studio_tasks.judge_task(
            question=question,
            query=query,
            topic=paper(query.topic_id, "topic") if "sentences" in fields else Topic(query.topic_id, **fields),
            document=paper(question.doc_id, "document"),
            facet_help=guidelines.definition_of(self.contents.get(display.get("guidelines", ""), "")),
            facet_labels=json.loads(facet) or (),
            progress="",
            first=True,
            fold_after=FOLD_AFTER,
            mark_terms=False,
            words=self.words_of(display),
        )

    def words_of(self, display: stored.Display) -> Words:
        """The words of a display."""
        body = self.contents.get(display.get("words", ""))
        return ENGLISH if body is None else recorded_words(json.loads(body))

    def is_as_sent(self, shown: Payload, question: PairKey, expected: Payload, words: Words) -> bool:
        """True if a task on the server shows what was sent with it, at one time or another. words: around the texts."""
        data, extra = expected["data"], studio_tasks.opinions_in(shown)
        # Keys are sealed on the server, and were opened on the way here.
        plain = {name: value for name, value in shown.items() if name not in extra}
        if plain.keys() != data.keys() or not all(isinstance(value, str) for value in shown.values()):
            return False
        # Training may come before the first push that puts the guidelines on record: any may have been sent.
        definitions = {data["facet_help"], *self.definitions.get(self.queries[question.query_id].facet, ())}
        return (
            plain["facet"] == data["facet"]
            and (self.project.round not in ("judge", "adjudicate") or plain["facet_help"] in definitions)
            and re.fullmatch(studio_tasks.place_pattern(words), plain["progress"]) is not None
            and _same_text(plain[TEXT_FIELD], data[TEXT_FIELD], words, headings=self.project.round == "substudy-full")
            and {*re.findall(studio_tasks.GIVEN_GRADE, plain[TEXT_FIELD])} <= {studio_tasks.gave(_grades_in(extra))}
            and self._opinions_match(extra, question)
        )

    def _opinions_match(self, shown: Mapping[str, Any], question: PairKey) -> bool:
        """True if the grades and comments in a task are on record, now or earlier."""
        by_person = self.opinions.get(question.pair, {})
        if self.project.round == "train-feedback":
            return (
                shown.keys() == {"rating_own", "comment_own", "rating_gold", "comment_gold"}
                and (shown["rating_own"], shown["comment_own"]) in by_person.get(self.project.assessor, ())
                and shown["rating_gold"] in self.gold.get(question.pair, ())
            )
        if self.project.round != "adjudicate":
            return not shown
        letters = sorted(name.removeprefix("rating_") for name in shown if name.startswith("rating_"))
        if shown.keys() != {f"{kind}_{letter}" for letter in letters for kind in ("rating", "comment")}:
            return False
        # A push that was killed has not noted down whose grades it sent.
        noted = {len(shown) for _, shown in self.assessors_shown.get(question.pair, ())}
        if letters and len(letters) not in (noted or {min(self.per_pair, len(by_person))}):
            return False
        opinions = sorted((shown[f"rating_{letter}"], shown[f"comment_{letter}"]) for letter in letters)
        return any(
            opinions == sorted(answers_then)
            for people in combinations(sorted(by_person), len(letters))
            for answers_then in product(*(by_person[name] for name in people))
        )


def changed_tasks(
    ws: Workspace, project: Project, tasks: Iterable[PulledTask], questions_by_key: Mapping[str, PairKey]
) -> tuple[str, ...]:
    """Keys of the tasks that show something that was never sent with them.

    Tasks are compared with the record, whatever corpus, guidelines and annot.toml say by now. A task may still show
    any of its earlier displays, another place in the order, and other marks, as labels may have been corrected.
    """
    questions = {
        task.key: questions_by_key[task.key] for task in tasks if task.key is not None and task.key in questions_by_key
    }
    if not questions:
        return ()
    if project.round == "labels":
        return _changed_labels(ws, project, tasks, questions)
    with ws.reading() as session:
        why = {
            back.pair_key: back.why
            for back in store_answers.read_returned(session)
            if project.round == "judge" and back.assessor == project.assessor
        }
        record = RecordedDisplays(ws, session, project, {*questions.values()})
    # Training may come before the first push that puts texts on record.
    unrecorded = [question for question, displays in record.displays.items() if not displays]
    material = TaskMaterial(ws, {question.pair for question in unrecorded})
    word_sets = [*record.words, guidelines.words_in(ws, project.language)]

    def expected(question: PairKey) -> list[tuple[dict[str, Any], Words]]:
        sent = [(record.task(question, display), record.words_of(display)) for display in record.displays[question]]
        sent = sent or [(tasks_of(ws, material, [question], words=words)[question], words) for words in word_sets]
        return (
            [(studio_tasks.returned_task(task, why[question], words), words) for task, words in sent]
            if question in why
            else sent
        )

    def is_as_sent(task: PulledTask, question: PairKey) -> bool:
        return any(record.is_as_sent(task.data, question, sent, words) for sent, words in expected(question))

    return tuple(task.key for task in tasks if task.key in questions and not is_as_sent(task, questions[task.key]))


def _changed_labels(
    ws: Workspace, project: Project, tasks: Iterable[PulledTask], questions: Mapping[str, PairKey]
) -> tuple[str, ...]:
    """Keys of the changed tasks of labels; any version of a corrected paper may have been sent."""
    papers = papers_of(ws, {question.query_id for question in questions.values()})
    with ws.reading() as session:
        versions = judged_texts.corrected_versions(session)
        word_sets = [*words_on_record(session), guidelines.words_in(ws, project.language)]

    def is_as_sent(task: PulledTask, paper: Paper) -> bool:
        texts = [paper, *(with_text(paper, version.body) for version in versions.get(paper.paper_id, ()))]
        # No text of the task depends on the labels, which may have been corrected since.
        unlabelled = (replace(text, labels=("",) * len(text.sentences)) for text in texts)
        shown, progress = {**task.data, "pair_id": task.key}, str(task.data.get("progress"))
        shown[TEXT_FIELD] = studio_tasks.without_languages(str(shown.get(TEXT_FIELD)))
        return any(
            studio_tasks.facets_task(task.key or "", text, progress=progress, words=words)["data"] == shown
            for text in unlabelled
            for words in word_sets
        )

    keyed = ((task, task.key) for task in tasks if task.key in questions)
    return tuple(
        key for task, key in keyed if key is not None and not is_as_sent(task, papers[questions[key].query_id])
    )


def _grades_in(opinions: Mapping[str, str]) -> dict[str, int]:
    """Grades that an adjudicator is shown, by letter; the marks on the buttons have to be the same."""
    texts = {name.removeprefix("rating_"): text for name, text in opinions.items() if name.startswith("rating_")}
    return {letter: int(text[0]) for letter, text in sorted(texts.items()) if text[:1].isdecimal()}


def _same_text(shown: str, expected: str, words: Words, *, headings: bool) -> bool:
    """True if topic and document read the same. headings: compare only titles, since full texts are linked."""
    shown, expected = studio_tasks.without_languages(shown), studio_tasks.without_languages(expected)
    if shown == expected:
        return True
    if not all(_KNOWN_TAG.fullmatch(tag) for tag in _TAG.findall(shown)):
        return False
    if headings:
        return _HEADING.findall(shown) == _HEADING.findall(expected)
    return studio_tasks.same_words(shown, expected, words)
