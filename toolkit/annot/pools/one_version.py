"""The study as one version of its corpus has it: its queries, pools, answers and runs."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from annot.base.records import Pool
from annot.pools.pooling import pool_in_version
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, read_accepted, read_returned
from annot.store.models import CorpusVersion, Session, StoredRun
from annot.store.papers import ids_after
from annot.store.pools import is_after, read_corpus_versions, read_withdrawn
from annot.study.outcome import outcome_from, rushed_pairs
from annot.study.snapshot import OneVersion, Snapshot, came_with, documents_in, has_pair, snapshot_of
from annot.study.workspace import Workspace


def read_version(ws: Workspace, corpus: str) -> Snapshot:
    """Read the study as one version of the corpus has it, in one transaction.

    Raises InputError for a version that is not on record.
    """
    with ws.reading() as session:
        return limited(session, snapshot_of(session, ws), corpus)


def limited(session: Session, whole: Snapshot, corpus: str) -> Snapshot:
    """Limit the study to one version of the corpus. Raises InputError for one that is not on record.

    Queries without documents in an earlier version are not among its queries, and leave its folds.
    """
    versions, documents = read_corpus_versions(session), documents_in(session, corpus)
    later = tuple(islice(versions, whole.corpora.index(corpus) + 1, None))
    has = partial(has_pair, versions, came_with(session), read_withdrawn(session), corpus)
    queries = tuple(query for query in whole.queries if query.query_id in documents or not later)
    topics, names = {query.topic_id for query in queries}, {query.query_id for query in queries}
    gone = (row.doc_id for row in read_withdrawn(session).values() if not is_after(versions, row.version, corpus))
    outside = frozenset((*gone, *(ids_after(whole.ws.corpus, later[0].after) if later else ()))) - topics
    judged_texts = {pair: texts for pair, texts in whole.judged_texts.items() if has(pair)}
    plan, sample = whole.plan, whole.sample
    plan = plan and plan._replace(vacant=tuple(filter(has, plan.vacant)))
    outcome = outcome_from(
        tuple(row for row in whole.outcome.assignments if has(row.pair)),
        (row for row in JUDGEMENTS.records(session) if has(row.pair)),
        (row for row in ADJUDICATIONS.current(session) if has(row.record.pair)),
        (row for row in read_returned(session) if has(row.pair)),
        asked=whole.ws.settings.adjudication.asked,
        drawn=plan,
        accepted=read_accepted(session),
        texts=judged_texts.values(),
    )
    runs, files = _runs(whole, corpus, earlier=bool(later))
    pools = (pool for name, pool in whole.pools.items() if name in topics)
    return replace(
        whole,
        queries=queries,
        pools={pool.topic_id: _pool_in(pool, versions, corpus, outside) for pool in pools},
        rankings_sha256={name: sha256 for name, sha256 in whole.rankings_sha256.items() if name in topics},
        plan=plan,
        assignments=outcome.assignments,
        outcome=outcome,
        rushed=rushed_pairs(session, outcome),
        judged_texts=judged_texts,
        splits={
            facet: {fold: tuple(name for name in of_fold if name in names) for fold, of_fold in folds.items()}
            for facet, folds in whole.splits.items()
        },
        runs=runs,
        texts={name: topic for name, topic in whole.texts.items() if name in topics},
        sample=sample and sample._replace(pairs={pair: row for pair, row in sample.pairs.items() if has(pair)}),
        displays={answer: display for answer, display in whole.displays.items() if has(answer.pair)},
        corpora=whole.corpora[: whole.corpora.index(corpus) + 1],
        version=OneVersion(whole.ws.qrels_of(corpus) if later else whole.ws.qrels, files, outside),
    )


def _runs(whole: Snapshot, corpus: str, *, earlier: bool) -> tuple[tuple[StoredRun, ...], tuple[Path, ...]]:
    """The runs that rank this version, and their files: of an earlier one those kept in a folder of its name, and those
    of its time that no later run has replaced."""
    known = {run.tag: run for run in whole.runs}
    runs = {tag: run for tag, run in known.items() if run.facts.get("corpus", whole.corpora[0]) == corpus}
    files = {path.stem: path for path in whole.run_files if path.stem in runs or path.stem not in known}
    if earlier:
        kept = sorted(whole.ws.inside(whole.ws.runs, corpus).glob("*.run"))
        files = {tag: path for tag, path in files.items() if tag in known} | {path.stem: path for path in kept}
        # A file that was put there by hand may have no metadata.
        for path in (path for path in kept if path.with_suffix(".json").is_file()):
            record = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            runs[path.stem] = StoredRun(record["tag"], record["kind"], record["settings"], record["sha256"])
    return tuple(run for _, run in sorted(runs.items())), tuple(path for _, path in sorted(files.items()))


def _pool_in(pool: Pool, versions: tuple[CorpusVersion, ...], corpus: str, outside: Collection[str]) -> Pool:
    """The pool as it was drawn from a version of the corpus and those before, without documents outside of it."""
    numbers = (addition.version for addition in pool.additions if not is_after(versions, addition.corpus, corpus))
    then = pool_in_version(pool, max(numbers, default=1))
    return replace(
        then,
        entries=tuple(entry for entry in then.entries if entry.doc_id not in outside),
        additions=tuple(
            replace(addition, documents=tuple(doc_id for doc_id in addition.documents if doc_id not in outside))
            for addition in then.additions
        ),
    )
