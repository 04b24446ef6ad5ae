"""Answers of a model that predict grades in a sampled study, next to the rankings.

Predictions must not follow from the draw that they correct, nor from the answers of people. So an answer counts only if
its question was sent before the first judgement of a drawn pair was put on record, and if the model was asked about all
documents that came under the sample together: to ask about the drawn pairs alone would bias every estimate. A topic
whose own gold pairs are examples in the prompt is left to the rankings.

If a text is corrected, the first answer still counts: drawn pairs may stay with the earlier version and others not, so
choosing answers by their texts would bias estimates.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from statistics import mean
from typing import NamedTuple

from annot.base.errors import InputError
from annot.base.records import grouped
from annot.store import opinions
from annot.store.judging_models import PoolSample
from annot.store.pools import sample_judged_since
from annot.study.adjudication import Pair
from annot.study.judged_texts import on_judged_texts
from annot.study.snapshot import Snapshot
from annot.study.workspace import SETTINGS_FILE

Said = Mapping[str, Mapping[str, tuple[float, ...]]]
"""Share of the answers with each grade from 1 up, or a higher one, by query, then document."""


class CheapLabel(NamedTuple):
    """Opinion that predicts."""

    name: str
    model: str
    """Name of the model; empty if no model was asked under this name."""
    said: Said
    """Answers on the pairs whose answers count."""
    other_texts: frozenset[Pair]
    """Pairs of these that are judged on another version of a text than the model read. Their answers predict too: if an
    answer counted depending on how its pair is judged, predictions would follow from the draw.
    """


def cheap_label_of(snapshot: Snapshot) -> CheapLabel | None:
    """Opinion on record with the sample, and its answers; None if the rankings alone predict.

    Raises InputError if annot.toml names another one.
    """
    assert snapshot.sample is not None
    if faults := snapshot.sample.design.faults_of_label(snapshot.ws.settings.sample.cheap_label):
        raise InputError(
            "the opinion that predicts is not the one that the sample was planned with",
            faults=faults,
            hint=f"restore it in {SETTINGS_FILE}; before judgements are pulled, `annot plan` takes the new one",
        )
    name = snapshot.sample.design.cheap_label
    if name is None:
        return None
    with snapshot.ws.reading() as session:
        asked = next((model for model in opinions.read_asked_models(session) if model.name == name), None)
        calls = opinions.calls_until(session, name, sample_judged_since(session))
        _, on_others = on_judged_texts(session, calls)
    if asked is None:
        return CheapLabel(name, "", {}, frozenset())
    shown = {snapshot.topics[query_id] for query_id, _ in asked.examples if query_id in snapshot.topics}
    apart = {query_id for query_id, topic_id in snapshot.topics.items() if topic_id in shown}
    highest = snapshot.ws.settings.scale.grades[-1]
    said = counting(snapshot.sample, opinions.grades_of(calls), apart, highest=highest)
    other_texts = frozenset(call.pair for call in on_others if call.doc_id in said.get(call.query_id, ()))
    return CheapLabel(name, asked.model, said, other_texts)


def counting(
    sample: PoolSample, grades: Mapping[tuple[str, str, int], int | None], apart: Collection[str], *, highest: int
) -> Said:
    """Answers on the pairs whose answers count.

    grades: by query, document and repeat. apart: queries that are left to the rankings. A repeat counts if the model
    was asked for it about all documents of a query that came under the sample together.
    """
    repeats = sorted({repeat for *_, repeat in grades})
    together = grouped(((pair.query_id, pair.batch), pair.doc_id) for pair in sample.pairs.values())
    said: dict[str, dict[str, tuple[float, ...]]] = {}
    for (query_id, _), doc_ids in together.items():
        complete = [number for number in repeats if all((query_id, doc_id, number) in grades for doc_id in doc_ids)]
        for doc_id in doc_ids if query_id not in apart else ():
            answers = [grade for number in complete if (grade := grades[query_id, doc_id, number]) is not None]
            if answers:
                shares = tuple(mean(float(pair >= grade) for pair in answers) for grade in range(1, highest + 1))
                said.setdefault(query_id, {})[doc_id] = shares
    return said
