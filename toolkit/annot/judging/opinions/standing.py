"""What is on record of one opinion, in figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annot.base.names import counted
from annot.judging.opinions.asking import served_models
from annot.judging.opinions.prompts import sha256_of
from annot.store import opinions
from annot.store.opinions import AskedModel, ModelCall


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


def standing_of(record: AskedModel, calls: Sequence[ModelCall]) -> Standing:
    """The figures of one opinion. calls: every request under its name."""
    found = list(opinions.opinions_from(calls))
    answered = [call for call in calls if call.state in ("read", "unreadable")]
    return Standing(
        record.name,
        record.model,
        record.url,
        len({one.pair for one in found if one.grade is not None}),
        max((one.repeat for one in found), default=0),
        sum(one.grade is None for one in found),
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
    )


def changes_of_model(calls: Sequence[ModelCall]) -> Iterator[str]:
    """A note for the lead if the server did not answer with one model throughout."""
    served = served_models(calls)
    if len(served) > 1:
        parts = [
            f"{' '.join(filter(None, key)) or 'without a name'} from {since} ({counted(count, 'answer')})"
            for key, (since, count) in served.items()
        ]
        yield f"the server changed its model half-way: {', then '.join(parts)}"
