"""A model's opinion that predicts the grades of pairs that were not drawn."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from statistics import mean

from annot.base.records import grouped
from annot.measuring.sampled.estimates import CheapLabel, Shares
from annot.store.models import PoolSample
from annot.store.pools import sample_judged_since
from annot.study.snapshot import Snapshot

from annot_opinions import stored
from annot_opinions.on_record import on_judged_texts


def predict(snapshot: Snapshot, name: str) -> CheapLabel | None:
    """The opinion of this name and its answers; None if no model was asked under it."""
    assert snapshot.sample is not None
    with snapshot.ws.reading() as session:
        asked = next((model for model in stored.read_asked_models(session) if model.name == name), None)
        calls = stored.calls_until(session, name, sample_judged_since(session))
        _, on_others = on_judged_texts(session, calls)
    if asked is None:
        return None
    shown = {snapshot.topics[query_id] for query_id, _ in asked.examples if query_id in snapshot.topics}
    apart = {query_id for query_id, topic_id in snapshot.topics.items() if topic_id in shown}
    highest = snapshot.ws.settings.scale.grades[-1]
    shares = counting(snapshot.sample, stored.grades_of(calls), apart, highest=highest)
    other_texts = frozenset(call.pair for call in on_others if call.doc_id in shares.get(call.query_id, ()))
    return CheapLabel(name, asked.model, shares, other_texts)


def counting(
    sample: PoolSample, grades: Mapping[tuple[str, str, int], int | None], apart: Collection[str], *, highest: int
) -> Shares:
    """Answers on the pairs whose answers count.

    grades: by query, document and repeat. apart: queries that are left to the rankings. A repeat counts if the model
    was asked for it about all documents of a query that came under the sample together.
    """
    repeats = sorted({repeat for *_, repeat in grades})
    together = grouped(((pair.query_id, pair.batch), pair.doc_id) for pair in sample.pairs.values())
    shares: dict[str, dict[str, tuple[float, ...]]] = {}
    for (query_id, _), doc_ids in together.items():
        complete = [number for number in repeats if all((query_id, doc_id, number) in grades for doc_id in doc_ids)]
        for doc_id in doc_ids if query_id not in apart else ():
            answers = [grade for number in complete if (grade := grades[query_id, doc_id, number]) is not None]
            if answers:
                shares.setdefault(query_id, {})[doc_id] = tuple(
                    mean(float(answer >= grade) for answer in answers) for grade in range(1, highest + 1)
                )
    return shares
