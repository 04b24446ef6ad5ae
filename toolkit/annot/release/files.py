"""The files of a release, in memory: each format from the records, each file with a word on what it holds."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace

from annot.agreement import AgreementTable, to_json
from annot.errors import InputError, MissingInput
from annot.formats.beir import BeirFiles, beir_paths, write_beir
from annot.formats.csfcube import Material, misfits, write_csfcube
from annot.formats.irds import module_name, write_irds
from annot.formats.judgement_lines import write_decisions, write_judgements
from annot.formats.pool_lines import pool_lines
from annot.formats.trec import write_qrels
from annot.names import file_name
from annot.records import Paper, Qrel
from annot.release.bundle import SUMS_FILE
from annot.release.card import dataset_card
from annot.release.collection import CollectionFacts
from annot.release.croissant import INTEGER, TEXT, Column, TableOf, beir_tables, croissant
from annot.release.datasheet import datasheet_html, datasheet_markdown
from annot.release.folder import METADATA_FILE
from annot.release.questions import Answers
from annot.store import facet_labels, papers
from annot.store.database import open_store
from annot.study.snapshot import Snapshot

BEIR, CSFCUBE = "beir/", "csfcube/"
CARD_FILE = "README.md"
DATASHEET_FILE = "DATASHEET.md"
PAGE_FILE = "datasheet.html"
QRELS_FILE = "qrels.txt"
JUDGEMENTS_FILE = "judgements.jsonl"
DECISIONS_FILE = "decisions.jsonl"
AGREEMENT_FILE = "agreement.json"


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is told about the collection."""

    facts: CollectionFacts
    answers: Answers


def release_files(
    study: Snapshot, agreement: AgreementTable, sheet: Sheet, *, with_text: bool
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """All files but the checksums, by path, and notes on what is left out."""
    facts = sheet.facts
    corpus = tuple(papers.read_papers(study.ws.corpus))
    qrels = [Qrel(one.query_id, one.doc_id, one.grade) for one in study.outcome.decisions]
    beir = beir_paths(BEIR, with_text=with_text)
    files = write_beir(
        papers=corpus,
        queries=study.queries,
        qrels=qrels,
        pools=study.pools.values(),
        judged={} if facts.pool.judged else _judged(study),
        folder=BEIR,
        with_text=with_text,
    )
    files |= {f"pools/{file_name(pool.paper_id, '.jsonl')}": _utf8(pool_lines(pool)) for pool in study.pools.values()}
    files |= _runs(study)
    csfcube, notes = _csfcube(study, corpus, with_text=with_text)
    notes = (*notes, *_runs_left_out(study))
    files |= csfcube
    module = f"{module_name(facts.name)}.py"
    comments = {pair: one.comment for pair, one in study.outcome.adjudications.items() if one.comment}
    overrides = study.ws.root / "templates"
    datasheet = datasheet_markdown(facts, sheet.answers, overrides=overrides)
    texts = {
        QRELS_FILE: write_qrels(qrels),
        JUDGEMENTS_FILE: write_judgements(study.outcome.everything),
        DECISIONS_FILE: write_decisions(study.outcome.decisions, comments=comments),
        AGREEMENT_FILE: json.dumps(to_json(agreement), indent=2, ensure_ascii=False) + "\n",
        module: write_irds(
            name=facts.name,
            title=facts.title,
            language=facts.language,
            files=beir,
            docs_sha256=hashlib.sha256(files[beir.corpus]).hexdigest(),
            with_text=with_text,
            facets=[facet.facet for facet in facts.facets],
            grades=facts.grades,
        ),
        DATASHEET_FILE: datasheet,
        PAGE_FILE: datasheet_html(facts, datasheet, overrides=overrides),
        CARD_FILE: dataset_card(
            facts,
            beir=beir,
            files=_holdings(study, beir, module, csfcube=bool(csfcube), pooled=facts.pool.judged, with_text=with_text),
            csfcube=CSFCUBE if csfcube else None,
            overrides=overrides,
        ),
    }
    files |= {path: _utf8(text) for path, text in texts.items()}
    tables = (*beir_tables(beir, with_text=with_text), *_tables())
    files[METADATA_FILE] = _utf8(croissant(facts, files=files, tables=tables, answers=sheet.answers))
    return files, notes


def _runs(study: Snapshot) -> dict[str, bytes]:
    """Each run on record with what is known of it. Raises InputError where a file is not the one on record."""
    files = {}
    faults = []
    for run in study.runs:
        path = study.ws.run_file(run.tag)
        if not path.is_file():
            raise MissingInput(f"{path}: not there, and run {run.tag!r} is on record", hint="make it with `annot run`")
        content = path.read_bytes()
        if (found := hashlib.sha256(content).hexdigest()) != run.sha256:
            faults.append(f"{path}: SHA-256 {found[:12]}…, expected {run.sha256[:12]}… as on record")
        record = {"tag": run.tag, "kind": run.kind, "sha256": run.sha256, "settings": dict(run.facts)}
        files[f"runs/{run.tag}.run"] = content
        files[f"runs/{run.tag}.json"] = _utf8(json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    if faults:
        raise InputError(f"{len(faults)} run(s) changed since", faults=faults, hint="make them anew with `annot run`")
    return files


def _judged(study: Snapshot) -> dict[str, list[str]]:
    """The documents that somebody judged, by query."""
    found: dict[str, list[str]] = {}
    for query_id, doc_id in study.outcome.planned:
        found.setdefault(query_id, []).append(doc_id)
    return found


def _runs_left_out(study: Snapshot) -> tuple[str, ...]:
    """Run files that lie with the others and were not made here: nothing is known of how."""
    known = {study.ws.run_file(run.tag) for run in study.runs}
    return tuple(
        f"{path}: not made with `annot run`; nothing is on record of how it was made, and it is not in the release"
        for path in sorted(study.ws.runs.glob("*.run"))
        if path not in known
    )


def _csfcube(
    study: Snapshot, corpus: tuple[Paper, ...], *, with_text: bool
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The release as CSFCube's programs read it, of the pooled papers; where the format has no place for it, why."""
    wanted = {query.paper_id for query in study.queries}
    wanted |= {entry.doc_id for pool in study.pools.values() for entry in pool.entries}
    with open_store(study.ws.database_url, create=False) as store, store.read() as session:
        labels = {one.paper_id: one.labels for one in facet_labels.read_labels(session, sorted(wanted))}
    material = Material(
        papers=tuple(replace(paper, labels=labels.get(paper.paper_id)) for paper in corpus if paper.paper_id in wanted),
        queries=study.queries,
        paper_types={},
        pools=tuple(study.pools.values()),
        judgements=tuple(one for one in study.outcome.judgements if not one.flags),
        decisions=study.outcome.decisions,
        splits=study.splits,
        facet_labels=study.ws.settings.facets,
    )
    found = misfits(material)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return {}, (f"without CSFCube's format, which has no place for this: {found[0]}{more}",)
    return write_csfcube(material, folder=CSFCUBE, with_text=with_text), ()


def _holdings(
    study: Snapshot, beir: BeirFiles, module: str, *, csfcube: bool, pooled: bool, with_text: bool
) -> dict[str, str]:
    """What each file or folder holds, for the card."""
    texts = "title and abstract" if with_text else "ids only"
    held = {
        beir.corpus: f"the papers: {texts}",
        beir.queries: "the queries" + ("" if with_text else ": paper, facet, positions of the sentences"),
        QRELS_FILE: "the final grades, for trec_eval",
        beir.qrels: "the same, for BEIR",
        beir.hub_qrels: "the same, for MTEB",
        beir.top_ranked: "the pool of each query" if pooled else "the papers judged for each query",
        "pools/": _pools_told(study),
        JUDGEMENTS_FILE: "every assessor's judgement that counts",
        DECISIONS_FILE: "every final grade, agreed or adjudicated, with the reason if one was given",
        AGREEMENT_FILE: "all agreement figures, per query, per facet and together, with intervals",
        "runs/": "rankings of the pools, and what is known of how each was made" if study.runs else "",
        CSFCUBE: "the collection in the layout of CSFCube's release" if csfcube else "",
        module: "the collection for ir_datasets",
        DATASHEET_FILE: "the datasheet and data statement; `datasheet.html` is the same as a page",
        METADATA_FILE: "Croissant metadata: every file, every column",
        SUMS_FILE: "the checksums",
    }
    return {path: what for path, what in held.items() if what}


def _pools_told(study: Snapshot) -> str:
    if not study.pools:
        return ""
    ranked = any(entry.drawn.rank is not None for pool in study.pools.values() for entry in pool.entries)
    rank = ", at which rank" if ranked else ""
    return f"for each query paper how its pool was drawn, and for each paper by which methods{rank}"


def _tables() -> tuple[TableOf, ...]:
    query = Column("query_id", TEXT, "Query.", refers_to="queries/_id")
    document = Column("doc_id", TEXT, "Paper.", refers_to="corpus/_id")
    return (
        TableOf(
            "judgements",
            JUDGEMENTS_FILE,
            "What each assessor said of each pair.",
            ("query_id", "doc_id", "assessor", "occasion"),
            (
                query,
                document,
                Column("assessor", TEXT, "Pseudonym."),
                Column("occasion", INTEGER, "1, or 2 where the same assessor got the pair again, unannounced."),
                Column("grade", INTEGER, "Grade; null where the assessor gave none."),
                Column("cannot_judge", TEXT, "Why the assessor could not judge."),
                Column("comment", TEXT, "What the assessor added."),
            ),
        ),
        TableOf(
            "decisions",
            DECISIONS_FILE,
            "The final grade of each pair and where it comes from.",
            ("query_id", "doc_id"),
            (
                query,
                document,
                Column("grade", INTEGER, "Final grade."),
                Column("origin", TEXT, "`agreed` between the assessors, or `adjudicated`."),
                Column("adjudicator", TEXT, "Pseudonym of who settled it."),
                Column("reason", TEXT, "The ground that the adjudicator gave."),
                Column("comment", TEXT, "What the adjudicator added."),
            ),
        ),
    )


def _utf8(text: str) -> bytes:
    return text.encode("utf-8")
