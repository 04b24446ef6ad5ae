"""A model is asked for its opinion of many pairs. It is kept apart from people's grades."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import groupby, zip_longest
from operator import attrgetter
from pathlib import Path
from typing import Any

import httpx

from annot.base.errors import BusyError, Faults, InputError, MissingInput, ModelError, numbered
from annot.base.names import counted, known_query, moment_now, near
from annot.base.records import Advance
from annot.base.settings import OpinionSettings
from annot.judging.opinions.answers import UnreadableAnswer
from annot.judging.opinions.asking import (
    LONGEST_WAIT,
    LONGEST_WAIT_IF_ASKED,
    Asking,
    ToAsk,
    about_tokens,
    cost_of,
    longest_answer,
    open_questions,
)
from annot.judging.opinions.early import check_early, note_early
from annot.judging.opinions.leaving import check_leaving
from annot.judging.opinions.model_server import KEY_VARIABLE, ModelServer
from annot.judging.opinions.pacing import Clock
from annot.judging.opinions.prompts import Prompts, prompts_of
from annot.judging.opinions.standing import Standing, changes_of_model, standing_of
from annot.store import opinions, people, pools, trials
from annot.store.judging_models import Gold
from annot.store.opinions import AskedModel, ModelCall
from annot.store.queries import read_queries
from annot.study.adjudication import Pair
from annot.study.workspace import SETTINGS_FILE, Workspace, given_text

FIXED = ("template", "examples", "temperature", "seed", "longest_answer", "limit_called")
"""Settings that an answer depends on, besides the model."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The pairs that a model is asked about: all pooled ones, the planned ones, or those that a file names."""

    planned: bool = False
    queries: tuple[str, ...] = ()
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What asking would do."""

    name: str
    prompt: str
    """A complete one; empty if nothing is left to ask."""
    requests: int
    tokens_in: int
    """About."""
    tokens_out: int
    """At most, as are the costs."""
    cost: float
    currency: str
    priced: bool


@dataclass(frozen=True, slots=True)
class AskedOpinion:
    """The result of asking."""

    standing: Standing
    asked: int
    """Opinions that were to be asked for."""
    settled: int
    """Those that are on record now."""
    readable: int
    """Answers that came now and could be read."""
    refused: tuple[str, ...]
    """Pairs on which no opinion came, with the reasons."""
    stopped: str
    currency: str
    priced: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Everything that is known before the first request."""

    settings: OpinionSettings
    record: AskedModel
    prompts: Prompts
    pairs: Sequence[Pair]
    questions: Sequence[ToAsk]
    """What is left to ask of them."""
    longest: int
    """Tokens of an answer, at most."""
    early: str | None
    """Why it is asked before people have judged, if that reason is to go on record."""


def preview(ws: Workspace, name: str, selection: Selection, *, before_judging: str | None) -> Preview:
    """What `ask` would do: one whole prompt, the requests, tokens and costs. Nothing is sent or put on record."""
    ready = _prepared(ws, name, selection, before_judging=before_judging)
    settings, prompts = ready.settings, [ready.prompts.of(one.pair) for one in ready.questions]
    tokens_in, tokens_out = sum(map(about_tokens, prompts)), len(prompts) * ready.longest
    return Preview(
        name,
        prompts[0] if prompts else "",
        len(prompts),
        tokens_in,
        tokens_out,
        cost_of(settings, tokens_in, tokens_out),
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
    clock: Clock | None = None,
) -> AskedOpinion:
    """Ask the model of `[opinions.NAME]` about all pairs of the selection that it has no opinion on yet.

    before_judging: why it is asked before any pair was sent; it goes on record. may_leave: asks the lead whether texts
    may be sent to an address; None if nobody can be asked. watch: shows how far it is. wait_long: whether to wait if
    the server asks for more than a minute. transport, clock: stand in for the network and the time.

    Raises InputError if texts may not leave this machine, and if settings or prompts are not those of the
    answers on record; ModelError if the server cannot be used. What was answered until then is on record.
    """
    ready = _prepared(ws, name, selection, before_judging=before_judging)
    if ready.questions:
        check_leaving(ws, name, ready.settings.url, may_leave)
    with _alone(ws, name), ws.opened() as study:
        with study.writing() as session:
            calls = opinions.read_calls(session, name)  # Another program may have asked until now.
            questions = open_questions(ready.pairs, ready.settings.repeats, calls)
            opinions.put_asked_model(session, ready.record)
            if ready.early is not None:
                note_early(session, name, "asked", ready.early)

        async def go(advance: Advance) -> Asking:
            server = ModelServer(ready.settings, os.environ.get(KEY_VARIABLE, ""), transport)
            asking = Asking(
                *(study, name, ready.settings, server, ready.prompts.of, sum(call.cost for call in calls)),
                longest_answer(ready.settings, calls), advance=advance, tell=tell, clock=clock or Clock(),
                longest_wait=LONGEST_WAIT_IF_ASKED if wait_long else LONGEST_WAIT,
            )  # fmt: skip
            await asking.all(questions)
            return asking

        with watch() as advance:
            asking = asyncio.run(go(advance))
        with study.reading() as session:
            calls = opinions.read_calls(session, name)
            standing = standing_of(ws, session, opinions.read_asked_model(session, name), calls)
            judged = pools.sample_judged_since(session) is not None
    wanted = {(*one.pair, one.repeat) for one in questions}
    settled = sum((one.query_id, one.doc_id, one.repeat) in wanted for one in opinions.opinions_from(calls))
    refused = tuple(f"{query_id} {doc_id}: {why}" for (query_id, doc_id), why in sorted(asking.refused.items()))
    return AskedOpinion(
        standing,
        len(questions),
        settled,
        asking.readable,
        refused,
        asking.stopped,
        ws.settings.forecast.currency,
        _priced(ready.settings),
        (
            *_unreadable(asking.unreadable),
            *changes_of_model(calls),
            *_longer_answers(ready.settings, calls),
            *_predicting(ws, name, selection, judged),
        ),
    )


def nothing_came(done: AskedOpinion) -> ModelError | None:
    """The error if none of the questions got an answer that could be read."""
    if not done.asked or done.readable or done.stopped:
        return None
    name = done.standing.name
    return ModelError(
        f"opinion {name}: none of {counted(done.asked, 'question')} got an answer that could be read",
        hint=f"check url and model in [opinions.{name}] of {SETTINGS_FILE}, and the prompt with --dry-run",
    )


def _unreadable(answer: UnreadableAnswer | None) -> Iterator[str]:
    if answer is not None:
        yield f"an answer that could not be read: {answer.text or 'no text'}; {answer.why}; {answer.remedy}"


def _predicting(ws: Workspace, name: str, selection: Selection, judged: bool) -> Iterator[str]:
    """What to know of an opinion that is to predict grades. judged: whether a pair is that was drawn by chance."""
    if ws.settings.sample.cheap_label != name:
        return
    if judged:
        yield "judgements of drawn pairs were pulled before: what was asked now does not predict grades"
    elif selection.planned or selection.file is not None:
        yield (
            "to predict grades, it has to be asked about all pooled pairs of a query, drawn or not: ask again without "
            "--planned and --pairs"
        )


def _longer_answers(settings: OpinionSettings, calls: Iterable[ModelCall]) -> Iterator[str]:
    longest, allowed = longest_answer(settings, calls), settings.longest_answer
    if longest > allowed:
        yield (
            f"the server counted {longest:,} tokens for its longest answer, although longest_answer is {allowed:,}: "
            "reasoning that is not shown counts, too. Later requests set aside as much"
        )


def _prepared(ws: Workspace, name: str, selection: Selection, *, before_judging: str | None) -> _Prepared:
    with ws.reading() as session:
        records = {one.name: one for one in opinions.read_asked_models(session)}
        calls = opinions.read_calls(session, name)
        before = records.get(name)
        gold = trials.read_gold(session)
        facets = {query.query_id: query.facet for query in read_queries(session)}
    settings = _settings_of(ws, name)
    with ws.reading() as session:
        asked_early = before is not None and any(what == "asked" for _, what, _ in before.early)
        early = None if asked_early else check_early(ws, session, "asked", why=before_judging)
    pairs = _selected(ws, selection)
    if before is None:
        examples = _examples(gold, facets, {facets[query_id] for query_id, _ in pairs}, settings.examples)
    else:
        examples = [one for one in gold if one.pair in before.examples]
        _check_unchanged(name, before, settings, len(examples))
    shown = {one.pair for one in examples}
    pairs = [pair for pair in pairs if pair not in shown]
    prompts = prompts_of(ws, pairs, template=settings.template, gold=examples)
    if before is not None:
        _check_prompts(name, before, prompts)
    record = AskedModel(
        name,
        settings.url,
        settings.model,
        {one: getattr(settings, one) for one in FIXED},
        {**(before.prompts if before else {}), **prompts.frames},
        tuple(sorted(shown)),
        before.since if before else moment_now(),
        before.early if before else (),
        {**(before.guidelines if before else {}), **prompts.guidelines},
    )
    questions = open_questions(pairs, settings.repeats, calls)
    return _Prepared(settings, record, prompts, pairs, questions, longest_answer(settings, calls), early)


def _settings_of(ws: Workspace, name: str) -> OpinionSettings:
    known = ws.settings.opinions
    if name not in known:
        raise InputError(
            f"opinion {name!r}: not in {SETTINGS_FILE}" + (f"; {near(name, known)}" if known else ""),
            hint=f"write a section [opinions.{name}] with url and model",
        )
    return known[name]


def _selected(ws: Workspace, selection: Selection) -> list[Pair]:
    """The pairs of a selection, in order."""
    with ws.reading() as session:
        known = {query.query_id: query for query in read_queries(session)}
        pooled = pools.documents_by_query(session)
        planned = {one.pair for one in people.read_assignments(session)} if selection.planned else set()
    if selection.file is not None:
        found = _named(selection.file, known)
    else:
        found = [(query_id, doc_id) for query_id, own in pooled.items() for doc_id in own]
        found = [pair for pair in found if not selection.planned or pair in planned]
    for query_id in selection.queries:
        known_query(known, query_id)
    chosen = [pair for pair in found if not selection.queries or pair[0] in selection.queries]
    if not chosen:
        raise MissingInput(
            f"no {'planned' if selection.planned else 'pooled'} pairs to ask about",
            hint="plan them with `annot plan`" if selection.planned else "draw pools with `annot pool`",
        )
    return chosen


def _named(path: Path, known: Iterable[str]) -> list[Pair]:
    """The pairs of a file: a query and a document in each line, or TREC qrels, whose grades are not read."""
    faults, found = Faults(str(path)), dict[Pair, None]()
    queries = set(known)
    for line, text in numbered(
        given_text(path, expected="a query id and a document id in each line").splitlines(), faults
    ):
        columns = text.split()
        if len(columns) not in (2, 4):
            faults.add(
                f"{counted(len(columns), 'column')}, expected a query id and a document id, or TREC qrels", line=line
            )
        elif columns[0] not in queries:
            faults.add(f"query {columns[0]!r}: not in this study", line=line)
        else:
            found[columns[0], columns[1 if len(columns) == 2 else 2]] = None
    faults.raise_if_any(hint="`annot query list` shows the queries", found=found, nothing="no pairs")
    return [*found]


def _examples(gold: Iterable[Gold], facets: dict[str, str], wanted: set[str], count: int) -> list[Gold]:
    """The first gold pairs of each facet, its grades in turn. Raises InputError if there are too few."""
    found: list[Gold] = []
    for facet in sorted(wanted) if count else ():
        by_grade = groupby(
            sorted((one for one in gold if facets[one.query_id] == facet), key=attrgetter("grade", "position")),
            key=attrgetter("grade"),
        )
        rows = zip_longest(*[list(own) for _, own in by_grade])
        own = [one for row in rows for one in row if one is not None]
        if len(own) < count:
            raise InputError(
                f"facet {facet}: {counted(len(own), 'gold pair')}, but the prompt is to show {count} examples",
                hint="add gold pairs with `annot train gold`, or set a smaller number of examples in annot.toml",
            )
        found += own[:count]
    return found


def _check_unchanged(name: str, before: AskedModel, settings: OpinionSettings, examples: int) -> None:
    now: dict[str, Any] = {"model": settings.model, **{one: getattr(settings, one) for one in FIXED}}
    then = {"model": before.model, **before.settings}
    faults = [f"{one}: found {now[one]!r}, on record {then.get(one)!r}" for one in now if now[one] != then.get(one)]
    if examples < len(before.examples):
        faults.append(f"examples: {counted(len(before.examples) - examples, 'gold pair')} that it was shown are gone")
    if faults:
        raise InputError(
            f"opinion {name}: asked with other settings before",
            faults=faults,
            hint="set them back, or ask under another name: several opinions can be on record",
        )


def _check_prompts(name: str, before: AskedModel, prompts: Prompts) -> None:
    changed = [facet for facet, text in prompts.frames.items() if before.prompts.get(facet, text) != text]
    if changed:
        raise InputError(
            f"opinion {name}: asked with another prompt before ({', '.join(changed)})",
            hint="set guidelines, grades and template back, or ask under another name",
        )


@contextmanager
def _alone(ws: Workspace, name: str) -> Iterator[None]:
    """Only one program at a time asks under one name. Other commands can still run, and people can judge."""
    path = ws.inside(ws.cache / "opinions", f"{name}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+") as file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(
                f"another `annot opinion ask {name}` is at work", hint="wait until it ends; both would pay"
            ) from None
        yield


def _priced(settings: OpinionSettings) -> bool:
    return settings.price_in is not None or settings.price_out is not None
