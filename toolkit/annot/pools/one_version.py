"""The study as one version of its corpus has it: its queries, pools, answers and runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from annot.base.errors import InputError
from annot.base.records import Pool
from annot.pools.pooling import pool_in_version
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, read_accepted, read_returned
from annot.store.models import CorpusVersion, Session, StoredRun
from annot.store.papers import count_papers, ids_after
from annot.store.pools import is_after, read_corpus_versions, read_withdrawn
from annot.study.outcome import Pair, outcome_from, rushed_pairs
from annot.study.snapshot import OneVersion, Snapshot, documents_in, pairs_in, snapshot_of
from annot.study.workspace import Workspace

Key = TypeVar("Key")
Value = TypeVar("Value")


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
    versions, has = read_corpus_versions(session), pairs_in(session, whole.ws, corpus)
    later, documents = versions[whole.corpora.index(corpus) + 1 :], documents_in(session, has)
    queries = tuple(query for query in whole.queries if query.query_id in documents or not later)
    topics, names = {query.topic_id for query in queries}, {query.query_id for query in queries}
    gone = (row.doc_id for row in read_withdrawn(session).values() if not is_after(versions, row.version, corpus))
    came = tuple(ids_after(whole.ws.corpus, later[0].after)) if later else ()
    outside = frozenset((*gone, *came)) - topics
    size = count_papers(whole.ws.corpus) - len(came)
    runs, files = _runs(whole, corpus, earlier=bool(later))
    pools = {name: _pool_in(pool, versions, corpus, outside) for name, pool in _among(whole.pools, topics).items()}
    sample = whole.sample
    splits = {
        facet: {fold: tuple(filter(names.__contains__, of_fold)) for fold, of_fold in folds.items()}
        for facet, folds in whole.splits.items()
    }
    return replace(
        _answered(session, whole, has),
        queries=queries,
        pools=pools,
        rankings_sha256=_among(whole.rankings_sha256, topics),
        splits=splits,
        runs=runs,
        texts=_among(whole.texts, topics),
        sample=sample and sample._replace(pairs=_among(sample.pairs, set(filter(has, sample.pairs)))),
        corpora=whole.corpora[: whole.corpora.index(corpus) + 1],
        version=OneVersion(whole.ws.qrels_of(corpus) if later else whole.ws.qrels, files, size, outside),
    )


def _answered(session: Session, whole: Snapshot, has: Callable[[Pair], bool]) -> Snapshot:
    """The study with plan and answers of these pairs alone."""
    texts = _among(whole.judged_texts, set(filter(has, whole.judged_texts)))
    plan = whole.plan and whole.plan._replace(vacant=tuple(filter(has, whole.plan.vacant)))
    outcome = outcome_from(
        tuple(row for row in whole.outcome.assignments if has(row.pair)),
        (row for row in JUDGEMENTS.records(session) if has(row.pair)),
        (row for row in ADJUDICATIONS.current(session) if has(row.record.pair)),
        (row for row in read_returned(session) if has(row.pair)),
        asked=whole.ws.settings.adjudication.asked,
        drawn=plan,
        accepted=read_accepted(session),
        texts=texts.values(),
    )
    return replace(
        whole,
        plan=plan,
        assignments=outcome.assignments,
        outcome=outcome,
        rushed=rushed_pairs(session, outcome),
        judged_texts=texts,
        displays={answer: display for answer, display in whole.displays.items() if has(answer.pair)},
    )


def _among(values: Mapping[Key, Value], keys: Collection[Key]) -> dict[Key, Value]:
    """The values of these keys."""
    return {key: value for key, value in values.items() if key in keys}


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
            about = path.with_suffix(".json")
            try:
                record = json.loads(about.read_text(encoding="utf-8"))
                runs[path.stem] = StoredRun(record["tag"], record["kind"], record["settings"], record["sha256"])
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(
                    f"{about}: not the record of a run: {error!r}", hint=f"`annot run --corpus {corpus}` makes it again"
                ) from None
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
