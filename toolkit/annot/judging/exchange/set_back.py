"""A server that was set back, and on which people judged again: seen by the numbers that it gives."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from annot.judging.exchange.collecting import ANNOTATION_GONE, FORGOTTEN, Found, Haul
from annot.judging.exchange.rounds import ANSWERS
from annot.store.database import Store
from annot.store.projects import Project


def with_set_back(store: Store, haul: Haul) -> Haul:
    """The haul, and where answers were given again on a server that was set back, a note that says so.

    What is gone went with the state of the server then, and was deleted by nobody.
    """
    if not (haul.again and _gave_numbers_again(store, haul.project, haul.found)):
        return haul
    gone = tuple(
        missing._replace(why=FORGOTTEN) if missing.why == ANNOTATION_GONE else missing for missing in haul.gone
    )
    told = (
        f"{haul.project.assessor}: the server was set back to an earlier state; {haul.again} answer(s) on record were "
        "given again since, and those given last count; both stay on record"
    )
    return haul._replace(gone=gone, notes=(*haul.notes, told))


def _gave_numbers_again(store: Store, project: Project, found: Sequence[Found]) -> bool:
    """Whether a new annotation has a number no higher than one on record has that was made before it.

    A server counts on for ever, whatever is deleted; only one that was set back counts some numbers twice.
    """
    with store.read() as session:
        lines = ANSWERS[project.round].lines(session, server=project.server)
    known = sorted(
        (line.stands.record.judged_at, int(line.stands.annotation))
        for line in lines
        if line.stands.record.judged_at is not None and line.stands.annotation.isdecimal()
    )
    moments = [moment for moment, _ in known]
    highest = list(accumulate((number for _, number in known), max))
    new = {(one.reading.created_at or "", int(one.annotation)) for one in found if one.annotation.isdecimal()}
    return any(
        number <= highest[before - 1] for moment, number in new - set(known) if (before := bisect_left(moments, moment))
    )
