"""Pages for each person with their own decisions so far: an assessor's grades, and an adjudicator's page for each
query.

They are in the folder of what can be made again, so they are in no backup and no release, and git ignores them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import quote

import numpy as np
from markupsafe import Markup, escape

from annot.base.errors import LeakError
from annot.base.names import StudyVocabulary, moment_of
from annot.base.records import WHOLE, Adjudication, Assessor, Judgement, PairKey, grouped
from annot.base.stats.inference import winsorised
from annot.base.templating import render
from annot.base.words import Words, is_english
from annot.labelstudio.studio_records import project_url
from annot.labelstudio.tasks import opinion_text, spoken
from annot.measuring.forecast.hours import HOUR
from annot.publishing.release.leaks import Secret, leaks
from annot.store import people, projects, trials
from annot.store.models import Session
from annot.store.papers import find_papers
from annot.store.pools import read_queries, read_topics
from annot.study import guidelines
from annot.study.outcome import TRIAL_ROUNDS, Outcome, answers_of, outcome_of, texts_of
from annot.study.workspace import Workspace, write_file

FOLDER = "people"
"""Folder of the pages, below `.annot/`, with a folder for each person."""
TEMPLATE = "so-far.html.j2"
Task = tuple[str, PairKey]
"""Round of a task, and the key of its pair."""
Decided = Mapping[str, Sequence[Judgement | Adjudication]]
"""The answers or decisions on a page, by query."""


def write_pages(ws: Workspace, *, now: datetime) -> None:
    """Write everyone's pages, and remove those that have nothing to show any more. now: in the lead's time zone.

    Raises LeakError, and writes nothing, if a page would name another person or an account.
    """
    folder = ws.cache / FOLDER
    with ws.reading() as session:
        pages = {folder / quote(person, safe="") / file: text for person, file, text in _pages(ws, session, now)}
    for path, text in pages.items():
        write_file(path, text, private=True)
    for path in {*folder.glob("*/*.html")} - pages.keys():
        path.unlink()


def _pages(ws: Workspace, session: Session, now: datetime) -> Iterator[tuple[str, str, str]]:
    """Person, file and content of each page."""
    outcome, everyone = outcome_of(session, ws.settings), people.read_assessors(session)
    all_answers, repeats = answers_of(session, outcome), set(outcome.repeats)
    settings = ws.settings.collection
    common = {
        **_texts(ws, session, outcome),
        "whole": WHOLE,
        "languages": {"topics": settings.language_of_topics, "documents": settings.language},
        "texts": read_topics(session),
        "now": now,
        "words": ws.vocabulary,
    }
    # People whose answers were imported have no tasks on Label Studio.
    present = {person.assessor: _links(session, person.assessor) for person in everyone if person.left_on is None}
    language_of = {person.assessor: person.language for person in everyone}
    for name, links in ((name, links) for name, links in present.items() if links):
        words = _words_with_nouns(guidelines.words_in(ws, language_of[name]), common["words"])
        answers = [(round, answer) for round, answer in all_answers if answer.assessor == name]
        rulings = [ruling for ruling in outcome.rulings if ruling.adjudicator == name]
        values = {**common, "person": name, **_shown(ws, outcome, words)}
        values |= _work(ws, [*rulings, *(answer for _, answer in answers)], now, words)
        if answers:
            answered = {(round, answer.pair_key) for round, answer in answers}
            unfinished = _unfinished(session, name, outcome, sent=links.keys(), answered=answered)
            judged = [answer for round, answer in answers if round == "judge" and answer.query_id not in unfinished]
            values |= {"judge": True, "link": lambda answer, links=links: links.get(("judge", answer.pair_key))}
            yield name, "grades.html", _page(ws, values, _each_once(judged, repeats), everyone)

        def link(ruling: Adjudication, links: Mapping[Any, str] = links) -> str | None:
            return links.get(("adjudicate", PairKey(*ruling.pair, 1 + outcome.reopened.get(ruling.pair, 0))))

        for query_id, of_query in grouped((ruling.query_id, ruling) for ruling in rulings).items():
            text = _page(ws, {**values, "judge": False, "link": link}, {query_id: of_query}, everyone)
            yield name, f"decisions-{quote(query_id, safe='')[:150]}.html", text


def _words_with_nouns(words: Words, vocabulary: StudyVocabulary) -> Words:
    """The words of the page, with the study's noun for a query in English."""
    if not is_english(words.language):
        return words
    page = {
        key: vocabulary.said(entry) if isinstance(entry, str) else tuple(map(vocabulary.said, entry))
        for key, entry in words.entries["page"].items()
    }
    return replace(words, entries={**words.entries, "page": page})


def _shown(ws: Workspace, outcome: Outcome, words: Words) -> dict[str, Any]:
    """Functions of the template: words, the words of an answer, and the answers that an adjudicator saw."""
    current = {(answer.pair, answer.assessor): answer for answer in outcome.current}

    def answers_shown(ruling: Adjudication) -> list[Judgement]:
        return [current[key] for assessor in ruling.shown if (key := (ruling.pair, assessor)) in current]

    def bold(key: str, **values: str) -> Markup:
        marked = words(key, **{name: f"\1{value}\2" for name, value in values.items()})
        return Markup(str(escape(marked)).replace("\1", "<b>").replace("\2", "</b>"))

    grade = partial(opinion_text, scale_names=ws.settings.scale.names, words=words)
    return {"say": words, "bold": bold, "grade": grade, "seen": answers_shown}


def _work(ws: Workspace, answers: Sequence[Judgement | Adjudication], now: datetime, words: Words) -> dict[str, Any]:
    """The number of a person's answers and rulings, those of today, and the hours that they took if that is known."""
    times = np.array([answer.lead_time for answer in answers if answer.lead_time])
    hours = winsorised(times, fence=ws.settings.forecast.fence).sum() / HOUR if len(times) else 0.0
    moments = [moment.astimezone(now.tzinfo) for answer in answers if (moment := moment_of(answer.judged_at))]
    return {
        "answers": len(answers),
        "today": sum(moment.date() == now.date() for moment in moments),
        "hours": words.marked(f"{hours:.1f}") if hours >= 0.05 else None,
    }


def _texts(ws: Workspace, session: Session, outcome: Outcome) -> dict[str, Any]:
    """The queries, the titles of topics and documents with the languages of papers, and the study's own title."""
    queries = {query.query_id: query for query in read_queries(session)}
    titles = {name: topic.title for name, topic in read_topics(session).items()}
    ids = {doc_id for _, doc_id in outcome.planned} | {query.topic_id for query in queries.values()}
    ids |= {doc_id for pairs in projects.read_hidden(session).values() for _, doc_id in pairs}
    found = find_papers(ws.corpus, ids) if ws.has_corpus else {}
    titles |= {paper_id: paper.title for paper_id, paper in found.items()}
    languages = {paper_id: spoken(paper, ws.settings.collection) for paper_id, paper in found.items()}
    return {"queries": queries, "titles": titles, "language_by_id": languages, "title": ws.settings.collection.title}


def _links(session: Session, name: str) -> dict[Task, str]:
    """The address of each of a person's tasks on Label Studio."""
    return {
        (project.round, pair_key): f"{project_url(project.url, project.remote_id)}?task={task}"
        for project in projects.read_projects(session)
        if project.assessor == name and project.remote_id is not None and project.url.startswith(("http:", "https:"))
        for pair_key, task in projects.read_tasks(session, project.project).items()
    }


def _unfinished(session: Session, name: str, outcome: Outcome, *, sent: Set[Task], answered: Set[Task]) -> set[str]:
    """Queries of which a person still has something to answer, or may be asked something again.

    Hidden repeats and hidden gold are among it: whoever looks an earlier grade up does not judge a second time.
    sent: what the person was sent.
    """
    pending = (*outcome.progress.pending, *outcome.progress.pending_repeats)
    tasks = {("judge", pair_key) for assessor, pair_key in pending if assessor == name}
    tasks |= {task for task in sent if task[0] == "judge"}
    tasks |= {("judge", PairKey(*pair)) for pair in projects.read_hidden(session).get(name, ())}
    tasks |= {
        (round, trial.pair_key) for round in TRIAL_ROUNDS for trial in trials.read_assignments(session, round, name)
    }
    waiting = {query_id for (query_id, _), text in texts_of(session).items() if text.state == "waits"}
    return waiting | {pair_key.query_id for _, pair_key in tasks - answered}


def _each_once(judged: Sequence[Judgement], repeats: Set[Judgement]) -> Decided:
    """A person's answers by query, the highest grade first.

    A pair that was judged twice is among them once: with the first answer if the second was to a hidden repeat, with
    the last if the pair came back with a note. repeats: the answers to hidden repeats.
    """
    in_turn = sorted(judged, key=lambda answer: (answer not in repeats, answer.occasion))
    last = {answer.pair: answer for answer in in_turn}.values()
    ordered = sorted(last, key=lambda answer: (answer.query_id, -1 if answer.grade is None else answer.grade))
    return grouped((answer.query_id, answer) for answer in reversed(ordered))


def _page(ws: Workspace, values: Mapping[str, object], decided: Decided, everyone: Sequence[Assessor]) -> str:
    """The page, if it names no other person except in the texts of papers and people."""
    # The columns of a decision are A and B, whatever people are called.
    others = [person.assessor for person in everyone if person.assessor != values["person"] and person.assessor[1:]]
    secrets: list[Secret] = [("name", name) for name in others]
    secrets += [("e-mail", person.account) for person in everyone if person.account is not None]
    bare, full = (
        render(TEMPLATE, {**values, "decided": decided, "bare": bare}, overrides=ws.root / "templates")
        for bare in (True, False)
    )
    # Neither the style nor the names of tags: a pseudonym may be `h2`.
    searched = re.sub(r"(?s)<style>.*?</style>|</?\w+", lambda found: "\n" * found[0].count("\n"), bare)
    all_leaks = leaks({"": searched.encode()}, secrets, allowed=())
    if names_found := [leak for leak in all_leaks if "a known" in leak.what]:
        faults = [f"{values['person']}: line {leak.line} has {leak.what}, {leak.shown}" for leak in names_found]
        raise LeakError("a page of grades so far would name others; no page was written", faults=faults)
    return full
