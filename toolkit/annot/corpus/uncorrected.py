"""Texts of the corpus that are not those on record, although no correction says so: a corpus that was filled again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress

from sqlmodel import Session

from annot.base.records import Paper
from annot.store.shown import hash_of_text, read_histories
from annot.study.shown_contents import text_content
from annot.study.workspace import Workspace, write_file

UNCORRECTED = (
    'if they were corrected, add them with `annot corpus add --corrected "WHY" FILE`; otherwise restore the corpus '
    "from a backup"
)
"""What to do about them."""
TEXTS_FILE = "texts.json"
"""Below `.annot/`: what was found in the corpus the last time."""


def uncorrected(ws: Workspace, session: Session, states: Mapping[str, str]) -> tuple[str, ...]:
    """The papers whose text is not the one on record, by id. states: of `annot.study.made`.

    The corpus is read once for each state that it and its corrections are in.
    """
    if not ws.has_corpus:
        return ()
    key, remembered = [states["corpus"], states["texts"]], ws.cache / TEXTS_FILE
    try:
        known = json.loads(remembered.read_text("utf-8"))
        if known["of"] == key and all(key):
            return tuple(known["differing"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    if not (last := _last_hashes(session)):
        return ()
    # Only here: it imports what `annot status` does without.
    from annot.store.papers import find_papers

    differing = _differing(find_papers(ws.corpus, last).values(), last)
    # A study that is only read is compared each time.
    with suppress(OSError):
        write_file(remembered, json.dumps({"of": key, "differing": differing}))
    return differing


def differing_texts(session: Session, corpus: Iterable[Paper]) -> tuple[str, ...]:
    """Papers among these whose text is not the one on record, although no correction says so, by id."""
    return _differing(corpus, _last_hashes(session))


def _last_hashes(session: Session) -> dict[str, str]:
    """The hash of the last text on record, by paper."""
    return {text_id: history[-1][1] for (part, text_id), history in read_histories(session).items() if part == "text"}


def _differing(corpus: Iterable[Paper], last: Mapping[str, str]) -> tuple[str, ...]:
    on_record = (paper for paper in corpus if paper.paper_id in last)
    changed = (paper.paper_id for paper in on_record if hash_of_text(text_content(paper)) != last[paper.paper_id])
    return tuple(sorted(changed))
