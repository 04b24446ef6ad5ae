"""The files of a release, in memory, each format from the same records."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annot.base.errors import InputError
from annot.base.names import counted, file_name
from annot.base.plugins import loaded
from annot.base.records import Paper, Source
from annot.base.templating import render
from annot.formats.beir import beir_paths, fields_of, module_name, write_beir, write_irds
from annot.formats.input_files import json_lines
from annot.formats.judgements_file import pool_lines, write_decisions, write_judgements
from annot.formats.trec import TOPICS_FILE, topics_file, write_qrels, write_query_topics, write_topics
from annot.judging.comments import PublishedWords
from annot.publishing.browse_page import CARD_FILE, linked
from annot.publishing.release.citing import files_for_citing
from annot.publishing.release.collection_facts import CollectionFacts
from annot.publishing.release.parts import VERSIONS_FILE, sample_files
from annot.publishing.release.prose import (
    Answers,
    croissant,
    dataset_card,
    datasheet_html,
    datasheet_markdown,
    example_pairs,
    release_tables,
)
from annot.publishing.report.study import Study
from annot.store.models import StoredRun
from annot.study.shown_versions import numbers_of_answers
from annot.study.snapshot import Snapshot
from annot.study.workspace import replacement, write_file

BEIR = "beir/"
CITATIONS_FILE = "citations.tsv"
MISSING_FILE = "MISSING.md"
"""File with the list of parts that a draft lacks."""


METADATA_FILE = "croissant.json"
SUMS_FILE = "SHA256SUMS"
PASSED_OVER = "__pycache__"
"""Folder that Python leaves behind after an import of the release's module."""


@dataclass(frozen=True)
class ReleasedStudy:
    """A study that is released, for formats that show it once more."""

    study: Snapshot
    corpus: tuple[Paper, ...]
    citations: Mapping[str, tuple[str, ...]]
    """Ids that the papers in queries and pools cite."""
    labels: Mapping[str, tuple[str, ...]]
    """Labels of the sentences of those papers."""
    report: Study
    """Source of the report, with the terms of the release."""


@dataclass(frozen=True, slots=True)
class ReleasedPart:
    """Files that a wing or a plug-in adds to a release."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    """Contents by path."""
    notes: tuple[str, ...] = ()
    """Sentences on what is left out."""
    told: tuple[str, ...] = ()
    """Sentences for the lead alone, which no file has."""
    texts: tuple[tuple[str, str], ...] = ()
    """Texts of people that it makes public, each after the words that say which text it is."""
    versions: frozenset[str] = frozenset()
    """SHA-256 of the versions of papers that it speaks of."""


MakeFiles = Callable[[ReleasedStudy], ReleasedPart]
"""Function that makes further files of a release."""


def part_added(released: ReleasedStudy) -> ReleasedPart:
    """Everything that wings and plug-ins add to a release, together."""
    makers: Mapping[str, MakeFiles] = loaded("release_files", released.report.settings.plugins.names)
    parts = [make_files(released) for make_files in makers.values()]
    return ReleasedPart(
        {path: content for part in parts for path, content in part.files.items()},
        tuple(note for part in parts for note in part.notes),
        tuple(note for part in parts for note in part.told),
        tuple(text for part in parts for text in part.texts),
        frozenset[str]().union(*(part.versions for part in parts)),
    )


def release_files(
    released: ReleasedStudy,
    report: Mapping[str, str],
    facts: CollectionFacts,
    answers: Answers,
    *,
    words: PublishedWords,
    runs: Mapping[str, bytes],
    added: ReleasedPart,
    notes: tuple[str, ...],
    versions: Sequence[Mapping[str, Any]] = (),
    missing: Sequence[str] | None,
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """All files but the checksums, by path, and `notes` with what is left out.

    report: its files by name. words: what people wrote that goes out. runs, notes: see `run_files`. added: see
    `part_added`. versions: of texts that were corrected, for the file of versions.
    missing: what a draft lists as missing; None if it is no draft.
    """
    study, corpus = released.study, released.corpus
    with_text = facts.terms.with_text
    qrels = study.outcome.qrels
    fields = fields_of(corpus, study.queries, study.texts, with_text=with_text)
    beir = beir_paths(BEIR, with_text=with_text, worded=fields.worded)
    files = write_beir(
        papers=corpus,
        queries=study.queries,
        texts=study.texts,
        qrels=qrels,
        pools=study.pools.values(),
        judged=_judged(study, pooled=facts.pool["judged"]),
        folder=BEIR,
        with_text=with_text,
    )
    files |= {f"pools/{file_name(pool.topic_id, '.jsonl')}": _utf8(pool_lines(pool)) for pool in study.pools.values()}
    files |= runs
    files |= added.files
    given_up = {pair: rulings[-1] for pair, rulings in study.outcome.unjudgeable.items()}
    overrides = study.ws.root / "templates"
    datasheet = datasheet_markdown(facts, answers, overrides=overrides)
    texts = {
        "qrels.txt": write_qrels(qrels),
        **_topics(study),
        "judgements.jsonl": write_judgements(
            study.outcome.everything,
            again=study.outcome.repeated_answers,
            comments=words.comments,
            versions=numbers_of_answers(study.displays, study.version_numbers, study.queries),
            set_aside=set(study.outcome.set_aside),
        ),
        **_edges(study, released.citations),
        "decisions.jsonl": write_decisions(study.outcome.decisions, given_up.values(), comments=words.reasons),
        **report,
        **facts.protocol,
        f"{module_name(facts.collection.name)}.py": write_irds(
            facts.collection,
            files=beir,
            docs_sha256=hashlib.sha256(files[beir.corpus]).hexdigest(),
            with_text=with_text,
            fields=fields,
            facets=[facet["facet"] for facet in facts.facets] if "facet" in fields.query else [],
            grades=facts.grades,
            warning=facts.sampled.warning if facts.sampled else "",
        ),
        **sample_files(study),
        **files_for_citing(facts),
        "DATASHEET.md": datasheet,
        "datasheet.html": datasheet_html(facts, datasheet, overrides=overrides),
    }
    if versions:
        texts[VERSIONS_FILE] = texts.get(VERSIONS_FILE, "") + json_lines(versions)
    holds = {path.partition("/")[0] for path in (*files, *texts)}
    titles = {paper.paper_id: paper.title for paper in corpus} if with_text else {}
    examples = example_pairs(qrels, study.queries, titles, study.texts)
    texts[CARD_FILE] = dataset_card(
        facts, beir=beir, fields=fields, examples=examples, holds=holds, overrides=overrides
    )
    notes = (*notes, *_notes_on_topics(study), *added.notes)
    if missing is not None:
        values = {"title": facts.collection.title, "missing": missing, "notes": notes}
        texts[MISSING_FILE] = render("missing.md.j2", values, overrides=None)
    files = linked(files | {path: _utf8(text) for path, text in texts.items()})
    tables = release_tables(beir, with_text=with_text, fields=fields, sampled=facts.sampled)
    files[METADATA_FILE] = _utf8(croissant(facts, files=files, tables=tables, answers=answers))
    return files, notes


def run_files(study: Snapshot) -> tuple[dict[str, bytes], tuple[str, ...], tuple[str, ...]]:
    """Every run with its facts; recorded runs whose file is missing or has changed; and notes.

    Of a run that was not made here only the hash is known.
    """
    paths, run_of = study.run_files, {run.tag: run for run in study.runs}
    run_by_path = {path: run_of[path.stem] for path in paths if path.stem in run_of}
    run_by_path |= {study.ws.run_file(tag): run for tag, run in run_of.items() if run not in run_by_path.values()}
    missing = [
        f"{path}: missing, although run {run.tag!r} is on record; {_again(run)}"
        for path, run in run_by_path.items()
        if path not in paths
    ]
    files, notes = {}, []
    for path in paths:
        content = path.read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        run = run_by_path.get(path) or StoredRun(path.stem, Source.IMPORTED, {}, sha256)
        if run.sha256 != sha256:
            missing.append(f"{path}: SHA-256 {sha256[:12]}…, expected {run.sha256[:12]}… as on record; {_again(run)}")
            continue
        if path not in run_by_path:
            notes.append(
                f"{path}: not on record; import it with `annot run import`, and describe how it was made with --meta"
            )
        record = {"tag": run.tag, "kind": run.kind, "sha256": sha256, "settings": dict(run.facts)}
        files[f"runs/{path.name}"] = content
        files[f"runs/{path.stem}.json"] = _utf8(json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    return files, tuple(missing), tuple(notes)


def _again(run: StoredRun) -> str:
    if run.kind == Source.IMPORTED:
        return "import it again with `annot run import`"
    return "make it again with `annot run`"


def _judged(study: Snapshot, *, pooled: bool) -> dict[str, list[str]]:
    """Judged documents by query; if pools led to them, only for the queries that have no pool."""
    doc_ids: dict[str, list[str]] = {
        query.query_id: [] for query in study.queries if not pooled or query.topic_id not in study.pools
    }
    for query_id, doc_id in study.outcome.planned:
        if query_id in doc_ids:
            doc_ids[query_id].append(doc_id)
    return doc_ids


def _topics(study: Snapshot) -> dict[str, str]:
    """The topic of each query, and the topics that are texts as TREC has them; no file of those where none is."""
    file = topics_file(study.texts)
    topics = {TOPICS_FILE: write_topics(study.texts.values())} if study.texts else {}
    return {file: write_query_topics(study.queries, file=file), **topics}


def _notes_on_topics(study: Snapshot) -> Iterator[str]:
    """Notes on papers without a type, and on fields of topics that are left out: they may not be public."""
    untyped = {query.topic_id for query in study.queries if query.paper_type is None} - study.texts.keys()
    if untyped:
        yield f"{counted(len(untyped), 'query paper')} without a type: only `annot query choose` gives one"
    if fields := sorted({name for topic in study.texts.values() for name in topic.fields}):
        yield f"other fields of topics are not released: {', '.join(fields)}"


def _edges(study: Snapshot, citations: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Citations of the papers with a pool, in the format of `annot import --as citations`; no file without any."""
    lines = [f"{paper_id}\t{doc_id}\n" for paper_id in study.pools for doc_id in citations.get(paper_id, ())]
    return {CITATIONS_FILE: "".join(("citing\tcited\n", *lines))} if lines else {}


def _utf8(text: str) -> bytes:
    return text.encode("utf-8")


def bundle(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files with `SHA256SUMS` (as `sha256sum -c` reads it) added, by path in order. The same files, the same bytes.

    Raises InputError with the paths that differ in case only: many file systems take them for one.
    """
    by_folded: dict[str, list[str]] = {}
    for path in files:
        by_folded.setdefault(path.casefold(), []).append(path)
    faults = [
        f"{', '.join(names)}: expected names that differ in more than upper and lower case"
        for names in by_folded.values()
        if names[1:]
    ]
    if faults:
        raise InputError(f"the release: {counted(len(faults), 'file name')} differ only in case", faults=faults)
    sums = "".join(f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n" for path in sorted(files))
    return dict(sorted({**files, SUMS_FILE: sums.encode("utf-8")}.items()))


def is_final(folder: Path) -> bool:
    """True if the folder holds a release that is no draft."""
    return (folder / SUMS_FILE).is_file() and not (folder / MISSING_FILE).is_file()


def check_folder(folder: Path, *names: str) -> None:
    """Raise InputError unless `folder` is not there, empty, or holds an untouched release of the collection that has
    one of these names."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: a file, expected a folder or nothing")
    files = _files(folder)
    if not files:
        return
    hint = "name an empty folder, or one that does not exist yet"
    if SUMS_FILE not in files or METADATA_FILE not in files:
        raise InputError(f"{folder}: not empty, and not a release made with this program", hint=hint)
    if (name_in_file := _name(files[METADATA_FILE])) not in names:
        raise InputError(
            f"{folder}: a release of {name_in_file!r}, expected {names[-1]!r} or an empty folder", hint=hint
        )
    lines = files[SUMS_FILE].read_text(encoding="utf-8", errors="replace").splitlines()
    sums = {path: sha256 for sha256, _, path in (line.partition("  ") for line in lines)}
    faults = [
        f"{path}: changed since the release was written" if path in sums else f"{path}: not part of the release"
        for path, file in files.items()
        if path != SUMS_FILE and (file.is_dir() or sums.get(path) != hashlib.sha256(file.read_bytes()).hexdigest())
    ]
    if faults:
        raise InputError(
            f"{folder}: {counted(len(faults), 'file')} would be lost", faults=faults, hint="name another folder"
        )


def write_folder(root: Path, folder: Path, files: Mapping[str, bytes]) -> None:
    """Make `folder` hold these files and nothing else. Killed at any moment, it is the old release or the new one.

    root: the study's folder. What is in `folder` is not looked at: see `check_folder`.
    """
    with replacement(root, folder) as new_folder:
        for path, content in files.items():
            write_file(new_folder / path, content)


def _files(folder: Path) -> dict[str, Path]:
    """Files in the folder by relative path; an empty folder in it counts as a file of someone else."""
    if not folder.is_dir():
        return {}
    contents = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if PASSED_OVER in relative.parts or (path.is_dir() and any(path.iterdir())):
            continue
        contents[relative.as_posix()] = path
    return contents


def _name(metadata: Path) -> str | None:
    try:
        document = json.loads(metadata.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return str(document.get("name")) if isinstance(document, dict) else None
