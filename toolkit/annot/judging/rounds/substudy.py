"""The sub-study: its pairs in one view to the one assessor, and the answers back; none is one of the collection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlmodel import Session

from annot.base.errors import InputError, MissingInput
from annot.base.names import check_name, counted
from annot.base.records import Asked
from annot.formats.spreadsheet import read_full_texts
from annot.judging.exchange.collecting import Collected
from annot.judging.exchange.displays import scale_version
from annot.judging.exchange.outgoing import Outgoing, TaskMaterial, form_of, material_of, tasks_of
from annot.judging.exchange.recording import RecordedProject, record_beside
from annot.judging.exchange.rounds import PARTS, Afterwards, Prepared, Round, Wishes
from annot.judging.substudy import HINT, ON_RECORD, ROUNDS, on_record, plan_of, substudy_of
from annot.judging.trial_answers import current_answers
from annot.labelstudio.tasks import full_text_task
from annot.store import trials
from annot.study.workspace import Workspace, given_bytes


class SubstudyRound(Round):
    """The same pairs on abstracts and then on full texts, in a project for each view."""

    name = "substudy"
    parts = tuple(PARTS[stored] for stored in ROUNDS.values())
    wishes = frozenset({"view", "texts"})
    hint = "send the pairs with `annot push substudy --view abstract`"

    def prepare(self, ws: Workspace, wishes: Wishes, *, dry_run: bool) -> Prepared:
        """All pairs, in one view.

        Raises InputError without a view, for the full texts while pairs are not judged on the abstracts, and for papers
        without a place.
        """
        view = wishes.view
        if view is None:
            raise InputError(
                "a push of the sub-study needs its view", hint=" or ".join(f"`{part.push}`" for part in self.parts)
            )
        check_name(view, list(ROUNDS), what="view")
        part = PARTS[ROUNDS[view]]
        with ws.reading() as session:
            assessor = plan_of(session)["assessor"]
            sequence = [one.asked for one in trials.read_assignments(session, part.stored)]
            if view == "full":
                _refuse_before_abstracts(session, assessor)
        material = material_of(ws, {one.pair for one in sequence})
        tasks = tasks_of(ws, material, sequence)
        if view == "full":
            path = wishes.texts or ws.substudy / "full-texts.tsv"
            if not path.is_file():
                raise MissingInput(
                    f"{path}: no such file", hint="this table lists the full text of each paper; " + HINT
                )
            data = given_bytes(path, expected="a table of full texts")
            where = read_full_texts(data, name=str(path), wanted=sorted(material.papers))
            tasks = {asked: _with_full_texts(task, asked, material, where) for asked, task in tasks.items()}
        with ws.reading() as session:
            new = scale_version(ws, session)
        return Prepared([Outgoing(form_of(ws, part, material), assessor, tasks)], new_versions=new)

    def record(self, ws: Workspace, collected: Collected, wishes: Wishes) -> RecordedProject:
        """Every annotation an answer beside the collection."""
        return record_beside(ws, collected)

    def after_pull(self, ws: Workspace) -> Afterwards:
        """Note down what the answers show."""
        with ws.writing() as session:
            if any(one.counts for stored in ROUNDS.values() for one in current_answers(session, stored)):
                trials.put_trial(session, ON_RECORD, on_record(substudy_of(ws, session)))
        return Afterwards()


def _refuse_before_abstracts(session: Session, assessor: str) -> None:
    """Raise InputError while a pair is not judged on the abstracts: the full texts come second."""
    asked = {one.pair for one in trials.read_assignments(session, ROUNDS["abstract"])}
    done = {one.pair for one in current_answers(session, ROUNDS["abstract"]) if one.counts}
    if still_open := asked - done:
        raise InputError(
            f"{counted(len(still_open), 'pair')} not judged on the abstracts yet",
            hint=f"let {assessor} finish, then pull",
        )


def _with_full_texts(
    task: dict[str, Any], asked: Asked, material: TaskMaterial, where: Mapping[str, str]
) -> dict[str, Any]:
    topic = material.topic_of(asked.query_id)
    return full_text_task(task, topic, material.papers[asked.doc_id], where)
