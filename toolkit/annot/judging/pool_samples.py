"""Sample of the pools that follows from the record: pairs keep their ranks, and a share only rises."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping

from annot.base.errors import InputError, MissingInput
from annot.base.names import counted, known_query, near
from annot.base.plugins import parts
from annot.base.records import Assignment, Pool, Query, grouped, nested
from annot.base.settings import SampleSettings, Settings
from annot.pools import pooling
from annot.store.models import Plan, PoolSample, SampleDesign, SampledPair
from annot.study.outcome import Pair

Frozen = dict[str, dict[str, pooling.FrozenRank]]
FrozenHashes = Mapping[str, Mapping[str, str]]
"""Hash of the ranks that were frozen together, by query and batch."""


def documents_to_plan(
    known: Mapping[str, Query],
    documents: Mapping[str, tuple[str, ...]],
    queries: Iterable[str],
    current: Iterable[Assignment],
) -> dict[str, tuple[str, ...]]:
    """Documents in the pool of each query to plan: planned queries and those named, or all without names."""
    chosen = {known_query(known, name).query_id for name in queries} or set(known)
    chosen |= {assignment.query_id for assignment in current}
    without_pool = sorted(name for name in chosen if name not in documents)
    if not known:
        raise MissingInput("no queries", hint="add them with `annot query add` or `annot query choose`")
    if without_pool:
        hint = "draw the pools with `annot pool`; `annot query remove` takes out one for which no document is found"
        raise MissingInput(f"no pool for {', '.join(without_pool)}", hint=hint)
    return {name: documents[name] for name in sorted(chosen)}


def design_of(
    settings: SampleSettings, *, share: float | None, seed: int, created: str, before: SampleDesign | None, judged: bool
) -> SampleDesign:
    """The rule with this share; None takes the share on record.

    judged: True if any drawn pair is judged. Raises InputError if the share on record is larger, or the rule of
    annot.toml is no longer that on record: drawn pairs would no longer have one probability each. It also raises if
    pairs are judged and another opinion should predict: a predictor must not be chosen by its results.
    """
    label = settings.cheap_label
    if before is None:
        return SampleDesign(share or 1.0, settings.across, settings.floor, settings.unranked, seed, created, label)
    if share is not None and share < before.share:
        raise InputError(
            f"--sample {share:g}: {before.share:g} of the pools are drawn already, expected a larger share",
            hint="a sample grows only; `annot plan --withdraw` takes back what was not sent",
        )
    changed = [name for name in ("across", "floor", "unranked") if getattr(settings, name) != getattr(before, name)]
    if changed:
        raise InputError(
            "the rule of a sample cannot change once pairs are drawn",
            faults=[
                f"sample.{name}: found {getattr(settings, name)}, drawn with {getattr(before, name)}"
                for name in changed
            ],
            hint="restore [sample] in annot.toml; before the first push, `annot plan --withdraw` takes the plan back",
        )
    if judged and (faults := before.faults_of_label(label)):
        raise InputError(
            "the opinion that predicts cannot change once judgements of drawn pairs were pulled",
            faults=faults,
            hint="restore [sample] in annot.toml",
        )
    return before._replace(share=before.share if share is None else share, cheap_label=label)


def check_cheap_label(settings: Settings, before: SampleDesign | None, *, samples: bool, topics: int) -> None:
    """Raise InputError if the chosen opinion cannot predict. samples: True if a sample of `topics` topics is planned.

    An opinion on record with the sample is not checked again.
    """
    name = settings.sample.cheap_label
    if name is None:
        return
    if not samples:
        raise InputError(
            f"sample.cheap_label: {name} cannot predict without a sample",
            hint="plan with `annot plan --sample`, or delete the line in annot.toml until then",
        )
    predictors = (*settings.opinions, *parts("predictors", settings.plugins.names))
    if name not in predictors and (before is None or before.cheap_label != name):
        known = f"; {near(name, settings.opinions)}" if settings.opinions else ""
        raise InputError(
            f"sample.cheap_label: no opinion is called {name!r}{known}",
            hint=f"write a section [opinions.{name}] with url and model, or the name of another one",
        )
    if topics < 2:
        raise InputError(
            f"sample.cheap_label: {name} cannot predict with one topic, as it is calibrated on the others",
            hint="plan several topics, or delete the line in annot.toml",
        )


def planned_whole(
    documents: Mapping[str, tuple[str, ...]],
    current: Collection[Assignment],
    plan: Plan | None,
    *,
    sample: PoolSample | None,
    only_new: bool,
) -> frozenset[Pair]:
    """The pairs of whole pools that are planned already: none if there is a sample.

    documents: by query, those of its pool. plan: on record. only_new: these stay, and the sample is drawn from the
    others; InputError without it, and where there are no others.
    """
    if sample is not None:
        return frozenset()
    vacant = () if plan is None else plan.vacant
    whole = frozenset(assignment.pair for assignment in current).union(vacant)
    others = sum((query_id, doc_id) not in whole for query_id, doc_ids in documents.items() for doc_id in doc_ids)
    if whole and not only_new:
        raise InputError(
            f"{counted(len(whole), 'pair')} of whole pools are planned already, expected none",
            hint=f"keep them and draw only from the {counted(others, 'other pair')} with --only-new"
            if others
            else "take back what was not sent with `annot plan --withdraw`; what is judged whole stays so",
        )
    if whole and not others:
        raise InputError(
            "--only-new: all pairs of the pools are planned already",
            hint="add queries, or candidates with `annot pool add`, and plan again",
        )
    return whole


def sample_of(
    pools: Mapping[str, Pool],
    queries: Collection[Query],
    *,
    design: SampleDesign,
    before: PoolSample | None,
    whole: Collection[Pair] = (),
    withdrawn: Collection[str] = (),
) -> PoolSample:
    """The sample of the pools of these queries: ranks on record stay, and new pairs get their own.

    whole: pairs that were planned whole before there was a sample; they are judged for certain. withdrawn: as for
    `frozen_of`.
    """
    frozen = frozen_of(pools, queries, before=before, whole=whole, withdrawn=withdrawn)
    pi, chosen = _drawn(frozen, design)
    topics = {query.query_id: query.topic_id for query in queries}
    ranked_by = {
        topic_id: _ranks_by_document(pooling.ranks_on_record(pools[topic_id])) for topic_id in {*topics.values()}
    }
    recorded = {} if before is None else before.pairs
    pairs = [
        SampledPair(
            query_id,
            doc_id,
            place.rank,
            place.batch,
            pi[query_id][doc_id],
            doc_id in chosen[query_id],
            recorded[query_id, doc_id].ranks
            if (query_id, doc_id) in recorded
            else ranked_by[topics[query_id]].get(doc_id, {}),
        )
        for query_id, places in sorted(frozen.items())
        for doc_id, place in sorted(places.items())
    ]
    return PoolSample(design, {sampled.pair: sampled for sampled in pairs})


def _drawn(frozen: Frozen, design: SampleDesign) -> tuple[Mapping[str, Mapping[str, float]], dict[str, set[str]]]:
    """Inclusion probability of each document of each query, and the documents that are drawn."""
    pi = pooling.probabilities(frozen, share=design.share, rule=rule_of(design))
    return pi, {query_id: set(doc_ids) for query_id, doc_ids in pooling.drawn(pi, seed=design.seed).items()}


def share_of(sample: PoolSample | None) -> float:
    """The share on record; 0 without a sample."""
    return 0.0 if sample is None else sample.design.share


def rule_of(design: SampleDesign) -> pooling.SampleRule:
    """Part of the design that never changes."""
    return pooling.SampleRule(seed=design.seed, across=design.across, floor=design.floor, unranked=design.unranked)


def frozen_of(
    pools: Mapping[str, Pool],
    queries: Iterable[Query],
    *,
    before: PoolSample | None,
    whole: Collection[Pair] = (),
    withdrawn: Collection[str] = (),
) -> Frozen:
    """Place of each document in the fusion of its pool's rankings, by query: places on record, and new ones.

    Later documents are a batch of their own, even if they are a query's complete pool: the probabilities of the earlier
    ones stay. whole: as for `sample_of`. withdrawn: documents that the corpus no longer has, which do not come under
    the sample.
    """
    recorded = {} if before is None else _places(before)
    batch = 1 + max((place.batch for places in recorded.values() for place in places.values()), default=0)
    frozen: Frozen = {}
    for query in queries:
        pool = pools[query.topic_id]
        documents = [entry.doc_id for entry in pool.entries]
        places = {
            doc_id: recorded[query.query_id][doc_id]
            for doc_id in documents
            if doc_id in recorded.get(query.query_id, ())
        }
        new = grouped(
            (pooling.WHOLE if (query.query_id, doc_id) in whole else batch, doc_id)
            for doc_id in documents
            if doc_id not in places and doc_id not in withdrawn
        )
        ranks = pooling.ranks_on_record(pool) if new else {}
        for number, together in new.items():
            places |= pooling.frozen_ranks(ranks, together, batch=number)
        frozen[query.query_id] = places
    return frozen


def _ranks_by_document(ranks: pooling.Ranks) -> dict[str, dict[str, int]]:
    return nested((doc_id, method, rank) for method, docs in sorted(ranks.items()) for doc_id, rank in docs.items())


def frozen_sha256(sample: PoolSample | None) -> dict[str, dict[str, str]]:
    """The hash of the ranks that were frozen together, by query and batch. Without a sample there are none."""
    pairs = () if sample is None else sample.pairs.values()
    together = grouped(
        ((sampled.query_id, sampled.batch), (sampled.doc_id, sampled.rank, sorted(sampled.ranks.items())))
        for sampled in pairs
    )
    return nested(
        (query_id, str(batch), hashlib.sha256(json.dumps(sorted(ranks)).encode()).hexdigest())
        for (query_id, batch), ranks in sorted(together.items())
    )


def kept_hashes(
    known: FrozenHashes, *, before: PoolSample | None, after: PoolSample | None
) -> dict[str, dict[str, str]]:
    """The hashes to keep: those of ranks that are frozen now, and for earlier ranks those that are `known`.

    A hash is made once: if it were made again, a rank that was changed in the meantime would pass for a frozen one.
    """
    earlier = frozen_sha256(before)
    return {
        query_id: {
            batch: known.get(query_id, {}).get(batch, sha256) if batch in earlier.get(query_id, ()) else sha256
            for batch, sha256 in batches.items()
        }
        for query_id, batches in frozen_sha256(after).items()
    }


def faults_of_sample(
    sample: PoolSample, pools: Mapping[str, Pool], queries: Iterable[Query], *, hashes: FrozenHashes
) -> tuple[str, ...]:
    """Faults of the sample on record when it is drawn once more from the frozen ranks and the seed, in words.

    hashes: kept since the ranks were frozen. Ranks that have theirs are not compared with the pools, which may have
    been ranked again since. Ranks with another hash, or without one, are.
    """
    query_of = {query.query_id: query for query in queries}
    sha256s = frozen_sha256(sample)
    faults = []
    for query_id, places in _places(sample).items():
        pool = pools.get(query_of[query_id].topic_id)
        now = {} if pool is None else _ranks_by_document(pooling.ranks_on_record(pool))
        pooled = set() if pool is None else {entry.doc_id for entry in pool.entries}
        for batch in sorted({place.batch for place in places.values()}):
            ranks_of = {
                doc_id: sample.pairs[query_id, doc_id].ranks for doc_id in places if places[doc_id].batch == batch
            }
            expected, computed = hashes.get(query_id, {}).get(str(batch)), sha256s[query_id][str(batch)]
            if expected is not None and expected != computed:
                faults.append(f"{query_id}: the frozen ranks have the hash {computed[:12]}, expected {expected[:12]}")
            # Methods that came later have ranks of these documents, too: only those that were frozen count.
            ranks = nested(
                (method, doc_id, rank) for doc_id, methods in ranks_of.items() for method, rank in methods.items()
            )
            again = pooling.frozen_ranks(ranks, ranks_of, batch=batch)
            for doc_id, methods in ranks_of.items():
                by_pool = now.get(doc_id, {}) if expected != computed else {}
                if doc_id not in pooled:
                    faults.append(f"{query_id} {doc_id}: in the sample, but not in the pool")
                elif again[doc_id] != places[doc_id]:
                    on_record = f"rank {places[doc_id].rank} on record, {again[doc_id].rank} by its rankings"
                    faults.append(f"{query_id} {doc_id}: {on_record}")
                faults += [
                    f"{query_id} {doc_id}: rank {rank} by {method} on record, {by_pool[method]} by the pool"
                    for method, rank in methods.items()
                    if by_pool.get(method, rank) != rank
                ]
    return (*faults, *_faults_of_draw(sample))


def _places(sample: PoolSample) -> Frozen:
    return nested(
        (sampled.query_id, sampled.doc_id, pooling.FrozenRank(sampled.rank, sampled.batch))
        for sampled in sample.pairs.values()
    )


def _faults_of_draw(sample: PoolSample) -> Iterator[str]:
    pi, chosen = _drawn(_places(sample), sample.design)
    for pair, sampled in sample.pairs.items():
        expected = pi[sampled.query_id][sampled.doc_id]
        if sampled.probability != expected:
            yield f"{' '.join(pair)}: probability {sampled.probability}, expected {expected}"
        elif sampled.drawn != (sampled.doc_id in chosen[sampled.query_id]):
            yield f"{' '.join(pair)}: {'drawn' if sampled.drawn else 'not drawn'}, against its random number"
