"""The sample of the pools: its rule, and the probability of every pair under it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.sampled import Sample, SampleDesign, SampledPair
from annot.store.judging_models import JUDGEMENT_TABLE, SAMPLE_TABLE, SAMPLED_TABLE, TASK_TABLE
from annot.store.models import QUERY_TABLE, check_known, insert_records, read_records, refuse_in_use


def read_sample(session: Session) -> Sample | None:
    """The sample on record; None where the pools are judged whole."""
    design = next(read_records(session, SAMPLE_TABLE, SampleDesign), None)
    if design is None:
        return None
    pairs = sorted(read_records(session, SAMPLED_TABLE, SampledPair), key=lambda one: one.pair)
    return Sample(design, {one.pair: one for one in pairs})


def to_judge(pooled: Mapping[str, Sequence[str]], sample: Sample | None) -> dict[str, tuple[str, ...]]:
    """The documents of each query that are to be judged: those of its pool, or of these the ones that were drawn."""
    return {
        query_id: tuple(doc_id for doc_id in own if sample is None or sample.drawn(query_id, doc_id))
        for query_id, own in pooled.items()
    }


def replace_sample(session: Session, sample: Sample | None) -> None:
    """Make this the sample of the study; None removes it.

    Raises InputError where a pair that was sent or judged would no longer be drawn, or a share above 1 or of nothing.
    """
    before = read_sample(session)
    if before == sample:
        return
    if sample is not None:
        check_known(session, QUERY_TABLE, {query_id for query_id, _ in sample.pairs}, what="sample")
        faults = [f"{' '.join(pair)}: found {one.probability}" for pair, one in sample.pairs.items() if not _fits(one)]
        if faults:
            raise InputError("probabilities are above 0 and at most 1", faults=faults)
    if before is not None:
        refuse_in_use(
            session,
            {JUDGEMENT_TABLE: "judgement", TASK_TABLE: "pushed task"},
            ["query_id", "doc_id"],
            {pair for pair, one in before.pairs.items() if one.drawn and not (sample and sample.drawn(*pair))},
            noun="pair",
            what="leave the sample",
            hint="a sample grows only: give a larger share",
        )
    for table in (SAMPLED_TABLE, SAMPLE_TABLE):
        session.connection().execute(table.delete())
    if sample is not None:
        insert_records(session, SAMPLE_TABLE, [sample.design], id=1)
        insert_records(session, SAMPLED_TABLE, sample.pairs.values())


def _fits(one: SampledPair) -> bool:
    return 0 < one.probability <= 1
