"""Notices on a page or below a command's output if something in the study that it depends on is not true."""

from __future__ import annotations

from collections.abc import Callable, Collection

from annot.base.names import StudyVocabulary
from annot.base.templating import packaged_table
from annot.judging.states import SHOWN, STUDY_PARTS, StateFindings, remembered_findings
from annot.publishing.report.tables import sentence
from annot.study.snapshot import Snapshot

_TABLE = packaged_table("places.toml")
RESTS_ON: dict[str, frozenset[str]] = {
    place: frozenset(thing for name in names.split() for thing in _TABLE["groups"].get(name, name).split())
    for place, names in _TABLE["places"].items()
}
"""Parts of `annot.judging.states.STUDY_PARTS` that each place of a page depends on."""


def notices(
    findings: StateFindings, rests_on: Collection[str], words: StudyVocabulary, *, shown: int | None = SHOWN
) -> tuple[str, ...]:
    """A sentence for each state in which something that the place rests on is untrue.

    rests_on: of `annot.judging.states.STUDY_PARTS`. shown: how many papers a sentence names; None for all.
    """
    return tuple(
        sentence(
            f"states.{state.notice}",
            state=state,
            shown_by=shown_by,
            things=[name for thing, name in STUDY_PARTS.items() if thing in state.untrue & {*rests_on}],
            shown=shown,
            words=words,
        )
        for state, shown_by in findings.items()
        if state.untrue & {*rests_on}
    )


def notices_by_place(findings: StateFindings, words: StudyVocabulary) -> dict[str, tuple[str, ...]]:
    """The sentences of every place that has any; the datasheet's count of papers names all that are left out."""
    sentences_at = {
        place: notices(findings, rests_on, words, shown=None if place == "composition.count" else SHOWN)
        for place, rests_on in RESTS_ON.items()
    }
    return {place: sentences for place, sentences in sentences_at.items() if sentences}


def report_untrue(snapshot: Snapshot, place: str, *, tell: Callable[[str], None]) -> None:
    """Report the untrue parts of a command's output on the study that it read."""
    rests_on = RESTS_ON[place]
    for notice in notices(remembered_findings(snapshot.ws, snapshot.states, on=rests_on), rests_on, snapshot.words):
        tell(notice)


def verdict_if_untrue(findings: StateFindings, rests_on: Collection[str]) -> str:
    """Sentence in place of a verdict that rests on something untrue; empty if nothing is."""
    says = [state.says for state in findings if state.refused and state.untrue & {*rests_on}]
    return sentence("states.verdict", says=says) if says else ""
