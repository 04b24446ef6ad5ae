"""Opinions of models on pairs, in tables of their own, which no reader of judgements reads.

Only modules that ask models, report or publish their opinions, or estimate figures of a sampled study may use this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from annot.base.errors import MissingInput
from annot.base.names import near
from annot.formats.paper_text import count_words
from annot.store import models
from annot.store.models import AskedModel, ModelCall, Session
from annot.store.shown import Texts, display_parts, texts_in
from sqlalchemy import select

READ = frozenset(("read", "cannot_judge"))
"""States of a request whose answer was read: a grade, or "cannot judge"."""
ANSWERED = READ | {"unreadable"}
"""States of a request that the model answered."""
UNREADABLE_AFTER = 2
"""An answer that cannot be read is asked for once more, and then kept as unreadable."""
REFUSED = (400, 413, 422)
"""Status codes with which a server refuses a question because of its content."""
SECOND = len("2026-01-01T00:00:00")
"""Letters of a moment to the second."""
FEWEST_WORDS = 4
"""A shorter reason does not show that a model wrote it."""
_KEY = (*models.PAIR, "repeat")


def opinion_names(session: Session) -> tuple[str, ...]:
    """The names under which models were asked, in order."""
    return tuple(sorted(session.connection().execute(select(models.OPINION_TABLE.c.name)).scalars()))


def opinions_from(calls: Iterable[ModelCall]) -> Iterator[ModelCall]:
    """The request of each pair and repeat whose answer is the opinion; none while it is still to be asked for.

    Without a grade, its answers could not be read, or the model cannot judge the pair.
    """
    for _, several in groupby(calls, key=attrgetter(*_KEY)):
        answers = [call for call in several if call.state in ANSWERED]
        readable = next((call for call in answers if call.state in READ), None)
        if readable is not None:
            yield readable
        elif len(answers) >= UNREADABLE_AFTER:
            yield answers[-1]


def calls_until(session: Session, name: str, moment: str | None) -> list[ModelCall]:
    """The requests that were sent until this second, if given, without the answers as they came.

    For each opinion they are those with the texts that were asked first: no later text changes it.
    """
    rows = models.OPINION_CALL_TABLE.c
    columns = [rows[column] for column in (*_KEY, "attempt", "state", "sent_at", "grade", "status", "shown_sha256")]
    calls = [
        ModelCall(**row, name=name, prompt_sha256="", cost=0.0)
        for row in session.connection().execute(select(*columns).where(rows.name == name)).mappings()
        if moment is None or row["sent_at"][:SECOND] <= moment[:SECOND]
    ]
    calls.sort(key=attrgetter(*_KEY, "attempt"))
    return _calls_on_first_texts(session, calls)


def grades_of(calls: Iterable[ModelCall]) -> dict[tuple[str, str, int], int | None]:
    """Grades that requests settled, by query, document and repeat.

    The grade is None if the answers cannot be read, if the model cannot judge the pair, or if the server refuses the
    question.
    """
    calls = list(calls)
    refused = {(*call.pair, call.repeat): None for call in calls if call.status in REFUSED}
    return refused | {(*opinion.pair, opinion.repeat): opinion.grade for opinion in opinions_from(calls)}


def _calls_on_first_texts(session: Session, calls: Sequence[ModelCall]) -> list[ModelCall]:
    """The requests that showed the same texts as the first answered one for their opinion; calls: in order."""
    displays = display_parts(session, (call.shown_sha256 for call in calls))
    texts = [texts_in(displays.get(call.shown_sha256 or "")) for call in calls]
    first_texts: dict[tuple[str, str, int], Texts] = {}
    for call, shown in zip(calls, texts, strict=True):
        if call.state in ANSWERED or call.status in REFUSED:
            first_texts.setdefault((*call.pair, call.repeat), shown)
    keys = [(*call.pair, call.repeat) for call in calls]
    return [call for call, key, shown in zip(calls, keys, texts, strict=True) if first_texts.get(key, shown) == shown]


def read_asked_models(session: Session) -> tuple[AskedModel, ...]:
    """Models that were asked, by the name of the opinion."""
    return models.read_in_order(session, models.OPINION_TABLE, AskedModel, ["name"])


def read_asked_model(session: Session, name: str) -> AskedModel:
    """Model that was asked under this name. Raises MissingInput if there is none."""
    models = {model.name: model for model in read_asked_models(session)}
    if name not in models:
        raise MissingInput(
            f"opinion {name}: no model was asked under this name" + (f"; {near(name, models)}" if models else ""),
            hint=f"ask it with `annot opinion ask {name}`",
        )
    return models[name]


def put_asked_model(session: Session, model: AskedModel) -> None:
    """Record a model under its name, or change that record."""
    if model.name in opinion_names(session):
        models.change_where(session, models.OPINION_TABLE, model._asdict(), name=model.name)
    else:
        models.insert_records(session, models.OPINION_TABLE, [model])


def read_calls(session: Session, name: str) -> tuple[ModelCall, ...]:
    """Every request under this name, by pair, repeat and attempt."""
    rows = models.OPINION_CALL_TABLE
    return models.read_in_order(session, rows, ModelCall, [*_KEY, "attempt"], rows.c.name == name)


def note_sent(session: Session, call: ModelCall) -> None:
    """Record a request that is about to be sent, with the most that it can cost."""
    models.insert_records(session, models.OPINION_CALL_TABLE, [call])


def note_answer(session: Session, call: ModelCall) -> None:
    """Add the answer to the record of a request."""
    key = {name: getattr(call, name) for name in ("name", *_KEY, "attempt")}
    models.change_where(session, models.OPINION_CALL_TABLE, call._asdict(), **key)


def read_model_names(session: Session) -> set[str]:
    """Names of models and of their opinions: those of the lead and those of the servers."""
    served = select(models.OPINION_CALL_TABLE.c.served).distinct()
    names = {name for model in read_asked_models(session) for name in (model.name, model.model)}
    return {*names, *session.connection().execute(served).scalars()} - {None, ""}


def read_reasons(session: Session) -> frozenset[str]:
    """Every reason that a model gave, except those so short that a person might write them too."""
    reasons = select(models.OPINION_CALL_TABLE.c.reason).where(models.OPINION_CALL_TABLE.c.state.in_(READ)).distinct()
    texts = session.connection().execute(reasons).scalars()
    return frozenset(text for text in texts if text and count_words(text) >= FEWEST_WORDS)
