"""What is on record of one opinion, in figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlmodel import Session

from annot.base.names import counted
from annot.judging.opinions.asking import served_models
from annot.judging.opinions.prompts import sha256_of
from annot.store import opinions, people
from annot.store.opinions import ANSWERED, READ, REFUSED, AskedModel, ModelCall, Opinion
from annot.store.shown import Display, display_parts
from annot.study.judged_texts import on_judged_texts
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Standing:
    """What is on record of one opinion."""

    name: str
    model: str
    url: str
    pairs: int
    """Pairs with an opinion that could be read."""
    repeats: int
    unreadable: int
    cannot_judge: int
    """Opinions that say that the pair cannot be judged."""
    requests: int
    failed: int
    """Requests without an answer, including those that were on their way when the program ended."""
    tokens_in: int
    tokens_out: int
    estimated: int
    """Answers whose tokens the server did not count."""
    cost: float
    served: tuple[str, ...]
    """The names and versions that the server gave, oldest first."""
    prompt_sha256: str
    since: str
    early: tuple[str, ...]
    """Why it was asked or shown before people had judged."""
    set_aside: int
    """Pairs whose answers are all on another version of a text than the pair is judged on: they are not compared."""
    planned: int
    """Planned pairs, without those that its prompt shows."""
    planned_answered: int
    """Those of them that it has answered, or that the server refuses."""
    named: bool
    """Whether it is reported in any case: `report` in its section says so, or it predicts grades."""

    @property
    def reported(self) -> bool:
        """Whether report, datasheet and release have it: all others are trials."""
        return self.named or 0 < self.planned == self.planned_answered

    @property
    def why_not_reported(self) -> str:
        """What a trial lacks, and how it is reported all the same."""
        return (
            f"it has answered {self.planned_answered} of {counted(self.planned, 'planned pair')}; to include it, set "
            f"report = true in [opinions.{self.name}]"
        )


def standing_of(ws: Workspace, session: Session, record: AskedModel, calls: Sequence[ModelCall]) -> Standing:
    """The figures of one opinion. calls: every request under its name."""
    settings = ws.settings.opinions.get(record.name)
    plan = people.read_plan(session)
    planned = {one.pair for one in people.read_assignments(session)} | {*(plan.vacant if plan else ())}
    planned -= {*record.examples}
    settled = {call.pair for call in calls if call.state in READ or call.status in REFUSED}
    current, others = (list(opinions.opinions_from(own)) for own in on_judged_texts(session, calls))
    current_pairs, other_pairs = ({one.pair for one in own} for own in (current, others))
    answered = [call for call in calls if call.state in ANSWERED]
    return Standing(
        record.name,
        record.model,
        record.url,
        len({one.pair for one in current if one.grade is not None}),
        max((one.repeat for one in current), default=0),
        sum(one.grade is None and not one.cannot_judge for one in current),
        sum(one.cannot_judge for one in current),
        len(calls),
        len(calls) - len(answered),
        sum(call.tokens_in or 0 for call in answered),
        sum(call.tokens_out or 0 for call in answered),
        sum(call.estimated for call in answered),
        sum(call.cost for call in calls),
        tuple(" ".join(filter(None, key)) for key in served_models(calls)),
        sha256_of("\n".join(text for _, text in sorted(record.prompts.items()))),
        record.since,
        tuple(f"{what}: {why}" for _, what, why in record.early),
        len(other_pairs - current_pairs),
        len(planned),
        len(planned & (settled | current_pairs | other_pairs)),
        (settings is not None and settings.report) or ws.settings.sample.cheap_label == record.name,
    )


@dataclass(frozen=True, slots=True)
class OpinionOnRecord:
    """One opinion with every request for it."""

    asked: AskedModel
    calls: Sequence[ModelCall]
    standing: Standing
    settled: tuple[Opinion, ...]
    """What the model finally said of each pair, on the texts on which it is judged."""
    set_aside: tuple[Opinion, ...]
    """What it said on other versions of them."""
    displays: Mapping[str, Display]
    """What its prompts showed, by hash."""

    def display_of(self, opinion: Opinion) -> Display:
        """What the prompt of an opinion showed; empty if that is not on record."""
        return self.displays.get(opinion.shown_sha256 or "", {})


def opinions_on_record(ws: Workspace) -> tuple[OpinionOnRecord, ...]:
    """All opinions of a study, by name."""
    records = []
    with ws.reading() as session:
        for asked in opinions.read_asked_models(session):
            calls = opinions.read_calls(session, asked.name)
            settled, set_aside = (tuple(opinions.opinions_from(own)) for own in on_judged_texts(session, calls))
            displays = display_parts(session, (call.shown_sha256 for call in calls))
            standing = standing_of(ws, session, asked, calls)
            records.append(OpinionOnRecord(asked, calls, standing, settled, set_aside, displays))
    return tuple(records)


def changes_of_model(calls: Sequence[ModelCall]) -> Iterator[str]:
    """A note for the lead if the server did not answer with one model throughout."""
    served = served_models(calls)
    if len(served) > 1:
        parts = [
            f"{' '.join(filter(None, key)) or 'without a name'} from {since} ({counted(count, 'answer')})"
            for key, (since, count) in served.items()
        ]
        yield f"the server changed its model half-way: {', then '.join(parts)}"
