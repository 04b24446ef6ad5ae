"""Runs: pools ranked by systems, and runs imported from elsewhere."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annot.base.errors import InputError, MissingInput
from annot.base.libraries import evaluator_of
from annot.base.names import check_name, sha256_of
from annot.base.plugins import versions_of
from annot.base.records import CHANCE, Advance, Paper, Query, Ranking, ScoredDoc, Source, Topic, grouped
from annot.corpus.query_sentences import check_facet
from annot.formats.trec import facet_in_name, write_run
from annot.publishing.report.tables import Column, Columns, sentences
from annot.ranking import submission
from annot.store import people, pools, runs
from annot.store.models import Session, StoredRun
from annot.store.papers import find_papers
from annot.study.provenance import note, states_of
from annot.study.workspace import Workspace, write_file

if TYPE_CHECKING:
    from annot.measuring.study_analyses import StudyInputs
    from annot.ranking.systems.system import PooledQuery

# What ranks and measures is imported where it is used: an imported run needs none of it.

TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+@-]{0,99}")
"""A tag is a column of run files and the name of one."""
CHOICES = {"foreign": ("drop", "keep"), "duplicates": ("best",), "missing": ("out", "last")}
REMEDIES = {
    "duplicates": "--duplicates best (the better score counts)",
    "foreign queries": "--foreign drop (leave them out)",
    "foreign candidates": "--foreign drop (leave them out) or --foreign keep (unjudged: not relevant)",
}


@dataclass(frozen=True, slots=True)
class MadeRun:
    """A run that was made."""

    tag: str
    queries: int
    documents: int
    path: Path
    given_up: int
    """Documents whose transport was given up before it was exact."""
    left_out: list[str]
    """Topics that are texts, for which the system cannot rank."""
    needed: str
    """Part of a topic that the system would need."""


RUNS = Columns[MadeRun](
    [Column("run", lambda run: run.tag)],
    [
        Column("queries", lambda run: run.queries),
        Column("documents", lambda run: run.documents),
        Column("file", lambda run: run.path),
    ],
)


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """Result of an import."""

    tag: str
    system: str
    seed: int | None
    queries: int
    of_queries: int
    documents: int
    of_documents: int
    """Candidates of the queries that the run covers."""
    findings: tuple[submission.SubmissionFinding, ...]
    rules: dict[str, str | None]
    replaced: bool
    """True if it replaced another run of this tag."""
    path: Path
    metadata: dict[str, Any]


def make(
    ws: Workspace,
    *,
    systems: tuple[str, ...],
    replace: bool = False,
    corpus: str | None = None,
    advance: Advance,
) -> tuple[MadeRun, ...]:
    """Rank the pool of every query by each system; by the usual ones when none is named.

    corpus: rank the pools of this version of the corpus; runs of an earlier one are kept apart, as files. A system
    that cannot rank for topics that are texts leaves these out, on record. Raises InputError if no topic is left for
    it, and if a run of a system's name was imported, unless it is to be replaced.
    """
    from annot.measuring.measured import write_matches
    from annot.ranking.methods import LSA
    from annot.ranking.systems import USUAL_OF_TEXTS

    states = states_of(ws)
    with ws.reading() as session:
        newest = pools.newest_version(session)
    earlier = corpus is not None and corpus != newest
    inputs = _inputs(ws, systems, replace=replace or earlier, corpus=corpus, advance=advance)
    if idle := [f"{system.name} needs {system.of_texts}" for system in inputs.systems if not system.topics(inputs)]:
        raise InputError(
            "all topics are texts, which not every system can rank for",
            faults=idle,
            hint=f"name others: {', '.join((*USUAL_OF_TEXTS, LSA))}",
        )
    made = []
    for done, system in enumerate(inputs.systems, start=1):
        ranked = system.rank(inputs)
        left_out = sorted(
            {topic.topic_id for topic in inputs.topics} - {topic.topic_id for topic in system.topics(inputs)}
        )
        facts = {"corpus_sha256": inputs.corpus_sha256, **ranked.facts}
        if plugins := ws.settings.plugins.names:
            facts["plugins"] = versions_of(plugins)
        facts |= {"topics_left_out": left_out} if left_out else {}
        facts |= {"corpus": corpus or newest} if newest else {}
        stored = _stored(system.name, Source.BASELINE, facts, ranked.rankings)
        if earlier:
            path = ws.run_file(f"{corpus}/{system.name}")
            _write(ws, path, *stored)
        else:
            path = ws.run_file(system.name)
            write_matches(ws, system.name, ranked.matches)
            _keep(ws, *stored)
            note(ws, f"run/{system.name}", states)
        size = sum(map(len, ranked.rankings.values()))
        made.append(MadeRun(system.name, len(ranked.rankings), size, path, ranked.given_up, left_out, system.of_texts))
        advance(done, len(inputs.systems))
    return tuple(made)


def _inputs(
    ws: Workspace, names: tuple[str, ...], *, replace: bool, corpus: str | None = None, advance: Advance
) -> StudyInputs:
    """Systems of these names, with what they rank. Raises InputError if a run of such a name was imported."""
    from annot.measuring.study_analyses import StudyInputs
    from annot.ranking.encoding import weights_folder
    from annot.ranking.systems import USUAL, USUAL_OF_TEXTS, systems_of
    from annot.study.snapshot import documents_in, version_of

    with ws.reading() as session:
        if corpus is None:
            documents = pools.documents_by_query(session)
        else:
            documents = documents_in(session, version_of(session, ws, corpus))
        queries = [query for query in pools.read_queries(session) if query.query_id in documents]
        texts = pools.read_topics(session)
        imported = {run.tag for run in runs.read_runs(session) if run.kind == Source.IMPORTED}
    usual = USUAL_OF_TEXTS if queries and all(query.topic_id in texts for query in queries) else USUAL
    chosen = systems_of(
        names or usual, vectors=ws.vectors, weights=weights_folder(ws), plugins=ws.settings.plugins.names
    )
    imported_names = [system.name for system in chosen if system.name in imported]
    if imported_names and not replace:
        raise InputError(
            f"imported runs have these names: {', '.join(imported_names)}",
            hint="to overwrite them, use --replace; to keep both, first import the files again under another --tag",
        )
    if not documents:
        raise MissingInput("no pools to rank", hint="draw them with `annot pool`")
    doc_ids_to_rank = {doc_id for doc_ids in documents.values() for doc_id in doc_ids}
    papers = find_papers(ws.corpus, doc_ids_to_rank | {query.topic_id for query in queries} - texts.keys())
    topics = tuple(_pooled(query, documents[query.query_id], papers, texts.get(query.topic_id)) for query in queries)
    return StudyInputs(ws, chosen, topics, papers, advance, corpus)


def warnings(ws: Workspace, new_runs: Sequence[MadeRun]) -> tuple[str, ...]:
    """Notes for readers of these runs."""
    from annot.ranking import word_vectors

    with ws.reading() as session:
        facts = {run.tag: run.facts for run in runs.read_runs(session)}
    few = word_vectors.trained_on_few({run.tag: facts[run.tag] for run in new_runs if run.tag in facts})
    left_out = grouped((tuple(run.left_out), run) for run in new_runs if run.left_out)
    caveats = sentences("commands.approximate", made=new_runs), sentences("commands.texts_left_out", left_out=left_out)
    return (*chain(*caveats), *sentences("commands.few_abstracts", words=ws.vocabulary, few=few))


def _pooled(query: Query, documents: Iterable[str], papers: Mapping[str, Paper], text: Topic | None) -> PooledQuery:
    """The query with those of its documents that are in the corpus. text: its topic, if that is a text."""
    from annot.pools.pool_design import text_by_field
    from annot.ranking.systems.system import PooledQuery

    return PooledQuery(
        query.query_id,
        query.topic_id,
        query.facet,
        query.sentences,
        whole=text is not None or set(query.sentences) == set(range(len(papers[query.topic_id].sentences))),
        doc_ids=tuple(doc_id for doc_id in documents if doc_id in papers),
        text=None if text is None else text_by_field(text)["abstract"],
    )


def adopt(ws: Workspace, tag: str, rankings: Mapping[str, Ranking], *, facts: Mapping[str, Any]) -> None:
    """Write a run that was made before, and remember it."""
    _keep(ws, *_stored(tag, Source.BASELINE, facts, rankings))
    note(ws, f"run/{tag}", states_of(ws))


def import_files(
    ws: Workspace,
    files: Sequence[Path],
    *,
    tag: str,
    meta: Path | None,
    facet: str | None,
    system: str | None,
    seed: int | None,
    rules: submission.SubmissionRules,
    distances: bool,
    replace: bool,
    dry_run: bool,
) -> ImportedRun:
    """Import the run that `files` hold together, as `tag`; the same files again change nothing.

    meta: its metadata; without it, those at the head of the file. facet: of a ranked pool whose file name does not end
    in `-<facet>-ranked.json`. system, seed: the system that the run is one of several runs of; without them the
    metadata's, and without these the tag. distances: scores are distances, smaller is better. replace: write over a run
    of this name that was made here.

    Raises FindingError if the run has candidates twice, or documents outside the pools, and `rules` do not cover
    them; InputError if the scores rise from rank to rank.
    """
    for name, value in rules._asdict().items():
        if value is not None:
            check_name(value, CHOICES[name], what=f"--{name}")
    if facet is not None:
        check_facet(facet, facets=ws.settings.facets)
    with ws.reading() as session:
        queries = pools.queries_by_id(session)
        candidates = _candidates(session)
        known = {run.tag: run for run in runs.read_runs(session)}
        corpus = pools.newest_version(session)
    _check_tag(ws, tag, known, files, replace=replace)
    if not candidates:
        raise MissingInput(
            "no pools or judgements to rank",
            hint="draw pools with `annot pool`, or import a collection with `annot import`",
        )
    metadata = submission.read_metadata_file(meta)
    documents: dict[str, tuple[ScoredDoc, ...]] = {}
    hashes = {}
    for path in files:
        submitted, hashes[path.name] = submission.read_run_file(path, distances=distances)
        for name, docs in submitted.documents.items():
            query_id = _query_id(name, facet or facet_in_name(path.name), queries)
            documents[query_id] = (*documents.get(query_id, ()), *docs)
        metadata = metadata or submitted.metadata
    if not documents.keys() & candidates.keys():
        raise InputError(
            f"{files[0]}: none of its queries is in this study",
            faults=[f"found {', '.join(sorted(documents)[:3])}", f"expected {', '.join(sorted(candidates)[:3])}"],
            hint="`annot query list` prints the ids; for ranked pools by paper, name the facet with --facet",
        )
    findings = submission.find_findings(documents, candidates)
    submission.refuse_findings(findings, rules, files[0], REMEDIES)
    rankings = submission.settle(documents, candidates, rules)
    if not any(rankings.values()):
        raise InputError(
            f"{files[0]}: none of its documents is a candidate of its query",
            hint="check the ids of its documents; to keep them as unjudged, use --foreign keep",
        )
    facts: dict[str, Any] = {
        "system": system or str(metadata.get("system", tag)),
        "seed": _seed(metadata.get("seed") if seed is None else seed),
        "files": hashes,
        "rules": rules._asdict(),
        "found": {finding.what: finding.count for finding in findings},
        "metadata": metadata,
        **({"corpus": corpus} if corpus else {}),
    }
    stored, text = _stored(tag, Source.IMPORTED, facts, rankings)
    _check_seeds(stored, known.values())
    if not dry_run:
        _keep(ws, stored, text)
    return ImportedRun(
        tag=tag,
        system=facts["system"],
        seed=facts["seed"],
        queries=len(rankings),
        of_queries=len(candidates),
        documents=sum(map(len, rankings.values())),
        of_documents=sum(len(candidates[query_id]) for query_id in rankings),
        findings=findings,
        rules=facts["rules"],
        replaced=tag in known and known[tag].sha256 != stored.sha256,
        path=ws.run_file(tag),
        metadata=metadata,
    )


def _stored(tag: str, kind: Source, facts: Mapping[str, Any], rankings: Mapping[str, Ranking]) -> tuple[StoredRun, str]:
    """The run as it goes on record, and the text of its file."""
    text = write_run(rankings, tag=tag)
    return StoredRun(tag, kind, dict(facts), hashlib.sha256(text.encode()).hexdigest()), text


def _keep(ws: Workspace, stored: StoredRun, text: str) -> None:
    """Write the run and its metadata, then put it on record. A run of this tag that ranks an earlier version of the
    corpus goes into a folder of its name first, unless one is there."""
    path = ws.run_file(stored.tag)
    with ws.reading() as session:
        versions = pools.read_corpus_versions(session)
        before = [run for run in runs.read_runs(session) if run.tag == stored.tag and path.is_file()]
    for run in before if versions else ():
        corpus = str(run.facts.get("corpus", versions[0].version))
        kept = ws.run_file(f"{corpus}/{stored.tag}")
        if corpus != versions[-1].version and not kept.is_file() and sha256_of(path) == run.sha256:
            _write(ws, kept, run._replace(facts={**run.facts, "corpus": corpus}), path.read_text(encoding="utf-8"))
    _write(ws, path, stored, text)
    with ws.writing() as session:
        runs.put_runs(session, [stored])


def _write(ws: Workspace, path: Path, stored: StoredRun, text: str) -> None:
    """Write the run and its metadata; with versions of the corpus, the one that it ranks, and who measures it."""
    record = {"tag": stored.tag, "kind": stored.kind, "sha256": stored.sha256, "settings": stored.facts}
    if corpus := stored.facts.get("corpus"):
        from annot.measuring.measured import primary_of

        convention, _ = primary_of(ws.settings)
        record |= {"corpus": corpus, "convention": convention, "evaluator": evaluator_of(convention)}
    lines = json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False)
    write_file(path.with_suffix(".json"), f"{lines}\n")
    write_file(path, text)


def _candidates(session: Session) -> dict[str, set[str]]:
    """Documents to rank for each query: its pool, and judged documents without a pool."""
    candidates = {
        query_id: set(doc_ids) for query_id, doc_ids in pools.documents_by_query(session, withdrawn=True).items()
    }
    for query_id, doc_id in people.planned_pairs(session):
        candidates.setdefault(query_id, set()).add(doc_id)
    return candidates


def _check_tag(
    ws: Workspace, tag: str, known: Mapping[str, StoredRun], files: Sequence[Path], *, replace: bool
) -> None:
    from annot.ranking.methods import BASELINES

    if not TAG.fullmatch(tag) or tag == CHANCE:
        raise InputError(f"--tag {tag!r}: expected letters, digits and . _ + @ -, and a letter or digit first")
    if not replace and (tag in BASELINES or (tag in known and known[tag].kind != Source.IMPORTED)):
        raise InputError(
            f"--tag {tag!r}: the name of a run made here", hint="use another tag, or --replace to overwrite it"
        )
    path = ws.run_file(tag)
    if tag not in known and path.is_file() and path.resolve() not in [file.resolve() for file in files]:
        raise InputError(
            f"{path}: this file is not on record and would be lost", hint="import it, or use another --tag"
        )


def _seed(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise InputError(f"seed {value!r} in the metadata: expected a whole number")


def _check_seeds(new: StoredRun, known: Iterable[StoredRun]) -> None:
    """Raise InputError if two runs of a system have one seed: a run imported twice would make the spread too small."""
    for run in known:
        if run.tag == new.tag or run.system != new.system:
            continue
        if run.seed == new.seed or run.facts.get("files") == new.facts["files"]:
            raise InputError(
                f"system {new.system!r} already has this run, or one with the same seed: {run.tag}",
                hint="give each run a different --seed",
            )


def _query_id(name: str, facet: str | None, queries: Collection[str]) -> str:
    """Query of a ranked pool that is named after the query's paper; its facet is in the file's name, or `facet`."""
    return name if facet is None or name in queries else f"{name}-{facet}"
