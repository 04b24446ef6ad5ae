"""The files of a release, in memory, each format from the same records."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace

from annot.agreement import AgreementTable, to_json
from annot.errors import InputError, MissingInput
from annot.formats.beir import beir_paths, write_beir
from annot.formats.csfcube import Material, misfits, write_csfcube
from annot.formats.irds import module_name, write_irds
from annot.formats.judgement_lines import pool_lines, write_decisions, write_judgements
from annot.formats.trec import write_qrels
from annot.names import file_name
from annot.records import Paper
from annot.release.collection_facts import CollectionFacts
from annot.release.croissant import croissant, release_tables
from annot.release.prose import dataset_card, datasheet_html, datasheet_markdown
from annot.release.questions import Answers
from annot.release.release_folder import METADATA_FILE
from annot.store import papers
from annot.study.results import as_text
from annot.study.snapshot import Snapshot

BEIR, CSFCUBE = "beir/", "csfcube/"


def release_files(
    study: Snapshot,
    labels: Mapping[str, tuple[str, ...]],
    agreement: AgreementTable,
    facts: CollectionFacts,
    answers: Answers,
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """All files but the checksums, by path, and notes on what is left out.

    labels: of the sentences of the papers in queries and pools.
    """
    with_text, name = facts.terms.with_text, facts.collection.name
    corpus = tuple(papers.read_papers(study.ws.corpus))
    qrels = study.outcome.qrels
    beir = beir_paths(BEIR, with_text=with_text)
    files = write_beir(
        papers=corpus,
        queries=study.queries,
        qrels=qrels,
        pools=study.pools.values(),
        judged={} if facts.pool["judged"] else _judged(study),
        folder=BEIR,
        with_text=with_text,
    )
    files |= {f"pools/{file_name(pool.paper_id, '.jsonl')}": _utf8(pool_lines(pool)) for pool in study.pools.values()}
    files |= _runs(study)
    csfcube, notes = _csfcube(study, labels, corpus, with_text=with_text)
    files |= csfcube
    comments = {pair: settled.comment for pair, settled in study.outcome.adjudications.items() if settled.comment}
    overrides = study.ws.root / "templates"
    datasheet = datasheet_markdown(facts, answers, overrides=overrides)
    texts = {
        "qrels.txt": write_qrels(qrels),
        "judgements.jsonl": write_judgements(study.outcome.everything),
        "decisions.jsonl": write_decisions(study.outcome.decisions, comments=comments),
        "agreement.json": as_text(to_json(agreement)),
        f"{module_name(name)}.py": write_irds(
            name=name,
            title=facts.collection.title,
            language=facts.collection.language,
            files=beir,
            docs_sha256=hashlib.sha256(files[beir.corpus]).hexdigest(),
            with_text=with_text,
            facets=[facet["facet"] for facet in facts.facets],
            grades=facts.grades,
        ),
        "DATASHEET.md": datasheet,
        "datasheet.html": datasheet_html(facts, datasheet, overrides=overrides),
        "README.md": dataset_card(
            facts, beir=beir, runs=bool(study.runs), csfcube=CSFCUBE if csfcube else None, overrides=overrides
        ),
    }
    files |= {path: _utf8(text) for path, text in texts.items()}
    tables = release_tables(beir, with_text=with_text)
    files[METADATA_FILE] = _utf8(croissant(facts, files=files, tables=tables, answers=answers))
    return files, (*notes, *_runs_left_out(study))


def _runs(study: Snapshot) -> dict[str, bytes]:
    """Each run on record with what is known of it. Raises InputError where a file is not the one on record."""
    files = {}
    faults = []
    for run in study.runs:
        path = study.ws.run_file(run.tag)
        if not path.is_file():
            raise MissingInput(
                f"{path}: missing, although run {run.tag!r} is on record", hint="make it again with `annot run`"
            )
        content = path.read_bytes()
        if (found := hashlib.sha256(content).hexdigest()) != run.sha256:
            faults.append(f"{path}: SHA-256 {found[:12]}…, expected {run.sha256[:12]}… as on record")
        record = {"tag": run.tag, "kind": run.kind, "sha256": run.sha256, "settings": dict(run.facts)}
        files[f"runs/{run.tag}.run"] = content
        files[f"runs/{run.tag}.json"] = _utf8(json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    if faults:
        raise InputError(
            f"{len(faults)} run(s) changed since they were recorded",
            faults=faults,
            hint="make them again with `annot run`",
        )
    return files


def _judged(study: Snapshot) -> dict[str, list[str]]:
    """The documents that somebody judged, by query."""
    doc_ids: dict[str, list[str]] = {}
    for query_id, doc_id in study.outcome.planned:
        doc_ids.setdefault(query_id, []).append(doc_id)
    return doc_ids


def _runs_left_out(study: Snapshot) -> tuple[str, ...]:
    """Run files that lie with the others and were not made here: nothing is known of how."""
    known = {study.ws.run_file(run.tag) for run in study.runs}
    return tuple(
        f"{path}: left out of the release, because it was not made with `annot run` and nothing is on record of it"
        for path in sorted(study.ws.runs.glob("*.run"))
        if path not in known
    )


def _csfcube(
    study: Snapshot, labels: Mapping[str, tuple[str, ...]], corpus: tuple[Paper, ...], *, with_text: bool
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The release as CSFCube's programs read it, of the pooled papers; where the format has no place for it, why."""
    pooled = study.pooled
    material = Material(
        papers=tuple(replace(paper, labels=labels.get(paper.paper_id)) for paper in corpus if paper.paper_id in pooled),
        queries=study.queries,
        pools=tuple(study.pools.values()),
        judgements=tuple(judgement for judgement in study.outcome.judgements if not judgement.flags),
        decisions=study.outcome.decisions,
        splits=study.splits,
        facet_labels=study.ws.settings.facets,
    )
    faults = misfits(material)
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        return {}, (f"CSFCube's format is left out, because it has no place for this: {faults[0]}{more}",)
    return write_csfcube(material, folder=CSFCUBE, with_text=with_text), ()


def _utf8(text: str) -> bytes:
    return text.encode("utf-8")
