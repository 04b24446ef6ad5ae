"""A model's opinion of many pairs: asked, listed, and compared with people."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import groupby, zip_longest
from operator import attrgetter
from pathlib import Path
from statistics import median_low
from typing import Any

import httpx
from annot.base.array_files import held_alone
from annot.base.errors import InputError, MissingInput, ModelError
from annot.base.names import StudyVocabulary, counted, moment_now, near, verb
from annot.base.records import Advance, Gold, Qrel
from annot.base.settings import OpinionSettings
from annot.formats.trec import MODEL_MARK, write_qrels
from annot.judging.exchange.displayed_content import waiting_pairs
from annot.judging.exchange.outgoing import refuse_uncorrected
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Column, Columns, Table
from annot.publishing.report.terminal import table_text, wrapped
from annot.store import pools, runs, trials
from annot.store.models import AskedModel, ModelCall, Session
from annot.store.shown import Display, as_json, content, display_parts, hash_of_text, keep_contents, texts_in
from annot.study.outcome import Pair
from annot.study.snapshot import read_snapshot
from annot.study.workspace import SETTINGS_FILE, Workspace, write_file

from annot_opinions import asking, on_record, stored
from annot_opinions import chapters as section
from annot_opinions.measured import MeasuredOpinion, measured_opinions, runs_of_family
from annot_opinions.on_record import Selection as Selection
from annot_opinions.prompts import Prompts
from annot_opinions.stored import READ

# ----------------------------------------------------------------------------------------------------------------------
# A model is asked for its opinion of many pairs. It is kept apart from people's grades.
# ----------------------------------------------------------------------------------------------------------------------


FIXED = ("template", "examples", "temperature", "seed", "longest_answer", "limit_called")
"""Settings that an answer depends on, besides the model."""


@dataclass(frozen=True, slots=True)
class Preview:
    """Requests and costs of asking."""

    name: str
    prompt: str
    """A complete one; empty if nothing is left to ask."""
    requests: int
    tokens_in: int
    """Estimated number of tokens in the prompts."""
    tokens_out: int
    """Largest number of tokens in the answers; the costs count it."""
    cost: float
    currency: str
    priced: bool


@dataclass(frozen=True, slots=True)
class AskedOpinion:
    """The result of asking."""

    standing: on_record.OpinionStatus
    asked: int
    """Opinions that were to be asked for."""
    settled: int
    """Requests that are on record now."""
    readable: int
    """Answers that came now and could be read."""
    refused: tuple[str, ...]
    """Pairs on which no opinion came, with the reasons."""
    stopped: str
    currency: str
    priced: bool
    notes: tuple[str, ...]


def preview(ws: Workspace, name: str, selection: Selection, *, before_judging: str | None) -> Preview:
    """Preview of `ask`: one whole prompt, the requests, tokens and costs. Nothing is sent or put on record."""
    ready = _Prepared(ws, name, selection, before_judging=before_judging)
    settings, prompts = ready.settings, [ready.prompts.of(question.pair) for question in ready.questions]
    tokens_in, tokens_out = sum(map(asking.about_tokens, prompts)), len(prompts) * ready.longest
    return Preview(
        name,
        prompts[0] if prompts else "",
        len(prompts),
        tokens_in,
        tokens_out,
        asking.cost_of(settings, tokens_in, tokens_out),
        ws.settings.forecast.currency,
        _priced(settings),
    )


def ask(
    ws: Workspace,
    name: str,
    selection: Selection,
    *,
    before_judging: str | None,
    may_leave: Callable[[str], bool] | None = None,
    watch: Callable[[], AbstractContextManager[Advance]] = lambda: nullcontext(lambda done, total: None),
    tell: Callable[[str], None] = lambda text: None,
    wait_long: bool = False,
    transport: httpx.AsyncBaseTransport | None = None,
    clock: asking.Clock | None = None,
) -> AskedOpinion:
    """Ask the model of `[opinions.NAME]` about all pairs of the selection that it has no opinion on yet.

    before_judging: the reason for asking before any pair was sent; it goes on record. may_leave: asks the lead whether
    texts may be sent to an address; None if the lead cannot be asked. watch: shows the progress. wait_long: True to
    wait if the server asks for more than a minute. transport, clock: replace the network and the time in tests.

    Raises InputError if texts may not leave this machine, and if settings or prompts are not those of the
    answers on record; ModelError if the server cannot be used. Answers until then are on record.
    """
    ready = _Prepared(ws, name, selection, before_judging=before_judging)
    if ready.questions:
        on_record.check_leaving(ws, name, ready.settings.url, may_leave)
    with _alone(ws, name), ws.opened() as study:
        with study.writing() as session:
            calls = stored.read_calls(session, name)  # Another program may have asked until now.
            questions = _open_questions(session, ready.pairs, ready.settings, calls, ready.prompts)
            stored.put_asked_model(session, ready.record)
            displays = {question.pair: as_json(ready.prompts.display_of(question.pair)) for question in questions}
            keep_contents(session, [*ready.prompts.contents.values(), *displays.values()])
            if ready.early is not None:
                on_record.note_early(session, name, "asked", ready.early)

        async def go(advance: Advance) -> asking.OpinionRequester:
            server = asking.ModelServer(ready.settings, os.environ.get(on_record.KEY_VARIABLE, ""), transport)
            requester = asking.OpinionRequester(
                *(study, name, ready.settings, server, ready.prompts.of),
                {pair: hash_of_text(display) for pair, display in displays.items()},
                *(sum(call.cost for call in calls),),
                asking.longest_answer(ready.settings, calls), advance=advance, tell=tell, clock=clock or asking.Clock(),
                longest_wait=asking.LONGEST_WAIT_IF_ASKED if wait_long else asking.LONGEST_WAIT,
            )  # fmt: skip
            await requester.all(questions)
            return requester

        with watch() as advance:
            requester = asyncio.run(go(advance))
        with study.reading() as session:
            opinion = on_record.OpinionOnRecord(ws, session, stored.read_asked_model(session, name))
            judged = pools.sample_judged_since(session) is not None
    open_pairs = {(*question.pair, question.repeat) for question in questions}
    settled = sum((*answer.pair, answer.repeat) in open_pairs for answer in opinion.settled)
    refused = tuple(f"{query_id} {doc_id}: {why}" for (query_id, doc_id), why in sorted(requester.refused.items()))
    return AskedOpinion(
        opinion.standing,
        len(questions),
        settled,
        requester.readable,
        refused,
        requester.stopped,
        ws.settings.forecast.currency,
        _priced(ready.settings),
        (
            *ready.notes,
            *([f"an answer that could not be read: {requester.unreadable}"] if requester.unreadable else []),
            *on_record.changes_of_model(opinion.calls),
            *_predicting(ws, name, selection, judged),
        ),
    )


def error_without_answers(done: AskedOpinion) -> ModelError | None:
    """The error if none of the questions got an answer that could be read."""
    if not done.asked or done.readable or done.stopped:
        return None
    name = done.standing.name
    return ModelError(
        f"opinion {name}: none of {counted(done.asked, 'question')} got an answer that could be read",
        hint=f"check url and model in [opinions.{name}] of {SETTINGS_FILE}, and the prompt with --dry-run",
    )


def _predicting(ws: Workspace, name: str, selection: Selection, judged: bool) -> Iterator[str]:
    """Notes on an opinion that is to predict grades. judged: True if a pair is judged that was drawn by chance."""
    if ws.settings.sample.cheap_label != name:
        return
    if judged:
        yield "judgements of drawn pairs were pulled before: what was asked now does not predict grades"
    elif selection.planned or selection.file is not None:
        yield (
            "to predict grades, it has to be asked about all pooled pairs of a query, drawn or not: ask again without "
            "--planned and --pairs"
        )


class _Prepared:
    """Facts known before the first request. questions: those without an answer. longest: tokens of an answer,
    at most. early: the reason for asking before people have judged, if it is to go on record."""

    def __init__(self, ws: Workspace, name: str, selection: Selection, *, before_judging: str | None) -> None:
        with ws.reading() as session:
            calls = stored.read_calls(session, name)
            shown = display_parts(session, (call.shown_sha256 for call in calls))
            waiting = waiting_pairs(session)
            before = next((model for model in stored.read_asked_models(session) if model.name == name), None)
            withdrawn = pools.withdrawn_ids(session)
            gold = _staying(trials.read_gold(session), withdrawn)
            facets = {query.query_id: query.facet for query in pools.read_queries(session)}
            self.settings = settings = _settings_of(ws, name)
            asked_early = before is not None and any(what == "asked" for _, what, _ in before.early)
            self.early = None if asked_early else on_record.check_early(ws, session, "asked", why=before_judging)
            around = {facets[call.query_id]: shown[call.shown_sha256] for call in calls if call.shown_sha256 in shown}
            recorded = content(session, {display["prompt"] for display in around.values()})
        pairs = _staying(on_record.selected_pairs(ws, selection), withdrawn)
        examples = _examples_of(name, settings, before, gold, facets, pairs)
        shown_as_examples = {example.pair for example in examples}
        put_off = {pair for pair in pairs if pair in waiting and pair not in shown_as_examples}
        pairs = [pair for pair in pairs if pair not in shown_as_examples | put_off]
        bodies = {facet: recorded[display["prompt"]] for facet, display in around.items()}
        self.prompts = prompts = Prompts(ws, pairs, template=settings.template, gold=examples, recorded=bodies)
        refuse_uncorrected(ws, prompts.material.papers.values())
        record = AskedModel(
            name,
            settings.url,
            settings.model,
            {setting: getattr(settings, setting) for setting in FIXED},
            prompts.frames,
            tuple(sorted(shown_as_examples)),
            moment_now(),
        )
        if before is not None:
            _check_prompts(name, before, around, prompts)
            frames = {**before.prompts, **prompts.frames}
            record = record._replace(prompts=frames, since=before.since, early=before.early)
        with ws.reading() as session:
            self.questions = _open_questions(session, pairs, settings, calls, prompts)
        self.record, self.pairs = record, pairs
        self.notes = [*_notes_on_texts(put_off, self.questions, calls)]
        self.longest = asking.longest_answer(settings, calls)


def _staying(rows: Iterable[Any], withdrawn: Collection[str]) -> list[Any]:
    """Rows that begin with query and document, without those of withdrawn documents."""
    return [row for row in rows if row[1] not in withdrawn]


def _examples_of(
    name: str,
    settings: OpinionSettings,
    before: AskedModel | None,
    gold: Sequence[Gold],
    facets: dict[str, str],
    pairs: Iterable[Pair],
) -> list[Gold]:
    """Gold pairs that prompts show: those on record, or new ones for the facets of the pairs."""
    if before is None:
        return _examples(gold, facets, {facets[query_id] for query_id, _ in pairs}, settings.examples)
    examples = [example for example in gold if example.pair in before.examples]
    _check_unchanged(name, before, settings, len(examples))
    return examples


def _open_questions(
    session: Session, pairs: Sequence[Pair], settings: OpinionSettings, calls: Sequence[ModelCall], prompts: Prompts
) -> list[asking.ToAsk]:
    """Questions that are not answered yet. Answers to a prompt with another version of a text do not count."""
    displays = display_parts(session, (call.shown_sha256 for call in calls))
    now = {pair: texts_in(prompts.display_of(pair)) for pair in pairs}

    def is_settling(call: ModelCall) -> bool:
        display = displays.get(call.shown_sha256 or "")
        return display is None or call.pair not in now or texts_in(display) == now[call.pair]

    return asking.open_questions(pairs, settings.repeats, calls, is_settling=is_settling)


def _notes_on_texts(
    put_off: Collection[Pair], questions: Iterable[asking.ToAsk], calls: Iterable[ModelCall]
) -> Iterator[str]:
    """Notes on corrected texts: pairs that are asked about again, and pairs that are left out for now."""
    answered = {(*call.pair, call.repeat) for call in calls if call.state in READ}
    if again := {question.pair for question in questions if (*question.pair, question.repeat) in answered}:
        yield f"{counted(len(again), 'pair')} {verb(len(again), 'is', 'are')} asked about again: a text was corrected"
    if put_off:
        waits = verb(len(put_off), "waits", "wait")
        yield (
            f"{counted(len(put_off), 'pair')} left out, which {waits} for your decision on a corrected text; see "
            "`annot corpus corrected`"
        )


def _settings_of(ws: Workspace, name: str) -> OpinionSettings:
    sections = ws.settings.opinions
    if name not in sections:
        raise InputError(
            f"opinion {name!r}: not in {SETTINGS_FILE}" + (f"; {near(name, sections)}" if sections else ""),
            hint=f"write a section [opinions.{name}] with url and model",
        )
    return sections[name]


def _examples(gold: Iterable[Gold], facets: dict[str, str], wanted: set[str], count: int) -> list[Gold]:
    """First gold pairs of each facet, taken from the grades in turn. Raises InputError if there are too few."""
    examples: list[Gold] = []
    for facet in sorted(wanted) if count else ():
        by_grade = groupby(
            sorted((pair for pair in gold if facets[pair.query_id] == facet), key=attrgetter("grade", "position")),
            key=attrgetter("grade"),
        )
        rows = zip_longest(*[list(pairs) for _, pairs in by_grade])
        spread = [example for row in rows for example in row if example is not None]
        if len(spread) < count:
            raise InputError(
                f"facet {facet}: {counted(len(spread), 'gold pair')}, but the prompt is to show {count} examples",
                hint="add gold pairs with `annot train gold`, or set a smaller number of examples in annot.toml",
            )
        examples += spread[:count]
    return examples


def _check_unchanged(name: str, before: AskedModel, settings: OpinionSettings, examples: int) -> None:
    now: dict[str, Any] = {"model": settings.model, **{setting: getattr(settings, setting) for setting in FIXED}}
    old = {"model": before.model, **before.settings}
    faults = [f"{key}: found {now[key]!r}, on record {old.get(key)!r}" for key in now if now[key] != old.get(key)]
    if examples < len(before.examples):
        faults.append(f"examples: {counted(len(before.examples) - examples, 'gold pair')} that it was shown are gone")
    if faults:
        raise InputError(
            f"opinion {name}: asked with other settings before",
            faults=faults,
            hint="set them back, or ask under another name: several opinions can be on record",
        )


def _check_prompts(name: str, before: AskedModel, around: Mapping[str, Display], prompts: Prompts) -> None:
    """Raise InputError if a prompt is another one than on record. around: by facet, the display of an earlier one."""
    changed = [facet for facet, text in prompts.frames.items() if before.prompts.get(facet, text) != text]
    marks = [
        facet
        for facet, shown in prompts.around.items()
        if facet not in changed and facet in around and around[facet]["facet"] != shown["facet"]
    ]
    if changed or marks:
        raise InputError(
            f"opinion {name}: asked with another prompt before ({', '.join((*changed, *marks))})",
            faults=[f"{facet}: the labels of the facet have changed, and with them the marks" for facet in marks],
            hint="set guidelines, grades, facets and template back, or ask under another name",
        )


def _alone(ws: Workspace, name: str) -> AbstractContextManager[None]:
    """Hold the opinion, so that only one program at a time asks under its name; other commands can still run."""
    lock, busy = ws.inside(ws.cache / "opinions", f"{name}.lock"), f"another `annot opinion ask {name}` is at work"
    return held_alone(lock, busy=busy, hint="wait until it ends; both would pay")


def _priced(settings: OpinionSettings) -> bool:
    return settings.price_in is not None or settings.price_out is not None


# ----------------------------------------------------------------------------------------------------------------------
# The opinions on record: listed, and each written as qrels of its own, which name the model.
# ----------------------------------------------------------------------------------------------------------------------


OPINIONS = Columns[on_record.OpinionStatus](
    [
        Column("opinion", lambda opinion: opinion.name, "name"),
        Column("model", lambda opinion: opinion.model),
        Column("pairs", lambda opinion: opinion.pairs),
        Column("planned", lambda opinion: f"{opinion.planned_answered} of {opinion.planned}"),
        Column("reported", lambda opinion: opinion.reported),
        Column("repeats", lambda opinion: opinion.repeats),
        Column("set aside", lambda opinion: opinion.set_aside, "set_aside"),
        Column("unreadable", lambda opinion: opinion.unreadable),
        Column("cannot judge", lambda opinion: opinion.cannot_judge, "cannot_judge"),
        Column("requests", lambda opinion: opinion.requests),
        Column("failed", lambda opinion: opinion.failed),
        Column("tokens in", lambda opinion: opinion.tokens_in, "tokens_in"),
        Column("tokens out", lambda opinion: opinion.tokens_out, "tokens_out"),
        Column("cost", lambda opinion: round(opinion.cost, 4)),
        Column("prompt", lambda opinion: opinion.prompt_sha256[:12], "prompt_sha256"),
        Column("since", lambda opinion: opinion.since[:10]),
    ]
)


def listing(ws: Workspace) -> tuple[on_record.OpinionStatus, ...]:
    """Rows for the opinions on record."""
    return tuple(opinion.standing for opinion in on_record.opinions_on_record(ws))


@dataclass(frozen=True, slots=True)
class WrittenOpinion:
    """The qrels of one opinion."""

    path: Path
    model: str
    pairs: int
    without_grade: int
    """Pairs on which it gave no grade: it cannot judge them, or its answers cannot be read."""
    set_aside: int
    """Pairs left out because the model read another version of a text than they are judged on."""


def write(ws: Workspace, name: str, *, before_judging: str | None) -> WrittenOpinion:
    """Write the opinion as qrels in `exports/opinions/`, with the model in the column where people's have 0.

    Of several opinions on a pair, the middle grade counts, and of two in the middle the lower. before_judging: why it
    is shown before all pairs are settled; it goes on record.
    """
    with ws.writing() as session:
        opinion = on_record.OpinionOnRecord(ws, session, stored.read_asked_model(session, name))
        if (reason := on_record.check_early(ws, session, "shown", why=before_judging)) is not None:
            on_record.note_early(session, name, "shown", reason)
    grades = {
        pair: [answer.grade for answer in several if answer.grade is not None]
        for pair, several in groupby(opinion.settled, key=attrgetter("pair"))
    }
    qrels = [
        Qrel(query_id, doc_id, median_low(grades_of_pair))
        for (query_id, doc_id), grades_of_pair in grades.items()
        if grades_of_pair
    ]
    model = re.sub(r"\s+", "_", opinion.asked.model)
    path = ws.inside(ws.exports / "opinions", f"{name}.qrels")
    write_file(path, write_qrels(qrels, source=f"{MODEL_MARK}{model}"))
    set_aside = {answer.pair for answer in opinion.set_aside} - grades.keys()
    return WrittenOpinion(path, opinion.asked.model, len(qrels), len(grades) - len(qrels), len(set_aside))


# ----------------------------------------------------------------------------------------------------------------------
# What models' opinions are worth: the first sentence of each, and all figures.
# ----------------------------------------------------------------------------------------------------------------------


def measure(ws: Workspace, name: str | None, *, before_judging: str | None) -> tuple[MeasuredOpinion, ...]:
    """The opinion of this name, or all. before_judging: why it is shown before all pairs are settled; goes on record.

    Raises MissingInput if no model was asked, or none has answered yet.
    """
    with ws.reading() as session:
        names = stored.opinion_names(session) if name is None else (stored.read_asked_model(session, name).name,)
        if not names:
            raise MissingInput("no model was asked for an opinion", hint="ask one with `annot opinion ask`")
        reason = on_record.check_early(ws, session, "shown", why=before_judging)
    if reason is not None:
        with ws.writing() as session:
            for opinion_name in names:
                on_record.note_early(session, opinion_name, "shown", reason)
    measured = tuple(opinion for opinion in measured_opinions(Study(read_snapshot(ws))) if opinion.worth.name in names)
    if not measured:
        raise MissingInput(
            f"opinion {names[0]}: no answer yet on the texts that are judged",
            hint=f"ask with `annot opinion ask {names[0]}`",
        )
    return measured


def notes(ws: Workspace, found: Iterable[MeasuredOpinion]) -> Iterator[str]:
    """Notes on opinions that are left out elsewhere, and on names in `family` that fit no run."""
    with ws.reading() as session:
        on_record = runs.read_runs(session)
    for standing in (opinion.standing for opinion in found):
        if not standing.reported:
            yield f"{standing.name} is not in report, datasheet and release: {standing.reason_not_reported}"
        if standing.set_aside:
            yield (
                f"{standing.name}: {counted(standing.set_aside, 'pair')} set aside, because the model read another "
                f"version of a text; `annot opinion ask {standing.name}` asks about them again"
            )
        settings = ws.settings.opinions.get(standing.name)
        tags = [path.stem for path in ws.runs.glob("*.run")]
        for pattern in settings.family if settings and tags else ():
            if not runs_of_family([pattern], tags, on_record):
                yield f"[opinions.{standing.name}] family: {pattern!r} fits no run and no system"


def tables(found: tuple[MeasuredOpinion, ...], words: StudyVocabulary) -> tuple[Table, ...]:
    """The table with a row for each opinion; of a single opinion, all tables."""
    return (section.overview(found, words),) if len(found) > 1 else tuple(section.tables(found, words))


def describe(found: tuple[MeasuredOpinion, ...], words: StudyVocabulary) -> str:
    """Text of the report: the sentences, the tables, and the method."""
    paragraphs, method = section.paragraphs_of(found), section.method(found, words)
    first, last = ("\n".join(map(wrapped, sentences)) for sentences in (paragraphs, method))
    return "\n\n".join([first, *map(table_text, tables(found, words)), last])
