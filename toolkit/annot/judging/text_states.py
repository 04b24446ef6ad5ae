"""The states of a study whose texts were corrected, or changed without a word (`annot.judging.states` lists them)."""

from __future__ import annotations

from collections.abc import Iterator

from annot.base.names import counted
from annot.corpus.uncorrected import uncorrected
from annot.judging.examination import Examination
from annot.study.made import states_of
from annot.study.outcome import texts_of


def uncorrected_texts(study: Examination) -> tuple[str, ...]:
    """The papers whose text is not the one on record, although no correction says so."""
    with study.ws.reading() as session:
        return uncorrected(study.ws, session, states_of(study.ws, session))


def waiting(study: Examination) -> Iterator[str]:
    """The corrected texts, each with how many pairs wait because of it."""
    with study.ws.reading() as session:
        pairs = [one for one in texts_of(session).values() if one.state == "waits"]
    for text_id in sorted({text_id for one in pairs for text_id in one.to_decide}):
        yield f"{text_id}: {counted(sum(text_id in one.to_decide for one in pairs), 'pair')}"
