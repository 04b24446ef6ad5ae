"""Data made elsewhere, imported: judgements, grades, CSFCube's release."""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import tomlkit
from sqlmodel import Session

from annot.base.errors import Faults, InputError, numbered
from annot.base.names import check_name, counted, moment_now
from annot.base.records import Adjudication, Assessor, Assignment, Query, Source, grouped
from annot.base.settings import Settings
from annot.corpus import adding, corpus_facts, paper_ids, query_sentences
from annot.formats import input_files, judgements_file, trec
from annot.formats.cleaning import kinds
from annot.formats.csfcube import ADJUDICATOR, CsfcubeFacts, Release, is_release_file, read_release
from annot.formats.input_files import content_of
from annot.judging.plan_on_record import ImportedJudgements, import_judgements, plan_sha256, refuse_other_work
from annot.measuring.folds import as_splits
from annot.pools.selection import topics_as_papers
from annot.publishing.report.tables import sentences
from annot.store import facet_labels, papers, people, pools, runs, shown
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, SourcedJudgement
from annot.store.models import ImportedSource, Plan, StoredRun
from annot.study.outcome import outcome_of
from annot.study.snapshot import export_qrels
from annot.study.workspace import Workspace, check_files, given_text, write_file

# ----------------------------------------------------------------------------------------------------------------------
# What was made elsewhere, imported: judgements of other tools, and grades of a collection of papers or topics.
# ----------------------------------------------------------------------------------------------------------------------


KINDS = ("csfcube", "judgements", "grades", "labelstudio", "citations")
FORMS = ("qrels", "relish", "treccovid-rf")
"""Formats of files of grades."""
BEGINNING = 1 << 16
"""Bytes of a file that tell its kind."""
WHO = "a1"
"""The assessor of grades from qrels, which do not say who gave them."""
TESTED = "test"
"""Word in the name of a file of test queries; the queries of other files are for development."""


@dataclass(frozen=True, slots=True)
class ImportedGrades:
    """Contents of the files."""

    queries: int
    pairs: int
    grades: dict[int, int]
    """Number of pairs with each grade."""
    folds: dict[str, int]
    """Queries of each fold; none if there is one file."""
    notes: tuple[str, ...]


def kind_of(files: Sequence[Path]) -> str:
    """Kind of the files, one of `KINDS`. Raises InputError if their content leaves it in doubt."""
    first = files[0]
    if first.is_dir():
        if any(is_release_file(path.relative_to(first).as_posix()) for path in first.rglob("*")):
            return "csfcube"
    else:
        check_files(files)
        with input_files.opened(first) as file:
            text = input_files.decoded(file.read(BEGINNING)).strip()
        kinds = [kind for kind, is_one in BEGINS.items() if is_one(text)]
        if len(kinds) == 1:
            return kinds[0]
    hint = f"name it with --as {'|'.join(KINDS)}; papers are added with `annot corpus add`"
    raise InputError(f"{first}: unknown kind of file", hint=hint)


def _is_judgements(text: str) -> bool:
    if text.startswith("{"):
        record = next(input_files.read_objects(io.StringIO(text), Faults("")), (0, {}))[1]
        return judgements_file.has_columns(list(record))
    return judgements_file.has_columns(re.split("[,;\t]", text.partition("\n")[0].replace('"', "")))


_GRADES = re.compile(
    r"\S+[ \t]+(0|Q0|\d\.\d)[ \t]+\S+[ \t]+-?\d+\s*(\n|$)|query-id\tcorpus-id\tscore\s*\n" r'|\{\s*"query-id"\s*:'
)
"""TREC's qrels (TREC-COVID's name half rounds), BEIR's, or MTEB's."""
_CITATIONS = re.compile(r'"?citing"?[,;\t ]+"?cited|\{.*"citingcorpusid"', re.IGNORECASE)
BEGINS: dict[str, Callable[[str], bool]] = {
    "judgements": _is_judgements,
    "grades": lambda text: bool(_GRADES.match(text)),
    "labelstudio": lambda text: text.startswith("[") and '"annotations"' in text,
    "citations": lambda text: bool(_CITATIONS.match(text)),
}
"""Tests for the beginning of a text of each kind."""


def judgements_from(
    ws: Workspace,
    file: Path,
    *,
    columns: Mapping[str, str],
    export: Mapping[str, str] | None,
    grades: Sequence[str],
    facet: str | None,
    adjudicators: tuple[str, ...],
    foreign: str | None,
    same_person: bool | None,
    dry_run: bool,
) -> ImportedJudgements:
    """Import the judgements of a table, or of an export (JSON) of any Label Studio project.

    The same file again changes nothing; further files add to it. columns: of a table, the column of each field that is
    named; others are found. export: the `places` in an export, as `read_export` has them; None for a
    table. grades: of an export, `VALUE=GRADE` for each value of the control that is neither a number nor a name of the
    scale. facet: of the queries whose id does not
    end in `-<facet>`. adjudicators: names in the file of those who settled disputes; their rows are final grades.
    foreign: treatment of rows of documents and query papers that are not in the corpus, one of `FOREIGN`; None
    refuses them. same_person: True if names that differ only in case or blanks are one person; None refuses them.

    New queries are added, and the plan follows from the file: an assessor who has a row for a
    pair was assigned it. People become a1, a2, ... (adjudicators j1, ...) in the order of their names, unless they are
    called so in the file; the names stay in the database. Every annotation of an export is kept: of one person's
    several on a pair the one that was changed last counts, and one that was skipped does not. Raises InputError with
    every fault, and when the study has judgements or a plan of its own.
    """
    if facet is not None:
        query_sentences.check_facet(facet, facets=ws.settings.facets)
    _check_foreign(foreign)
    name, scale = str(file), ws.settings.scale.names
    if export is None:
        data = content_of(file, expected="CSV or JSON Lines")
        rows = judgements_file.read_judgements(data, name=name, columns=columns, scale=scale)
    else:
        data = content_of(file, expected="an export of Label Studio in JSON")
        rows = judgements_file.read_export(
            data, name=name, places=export, grades=judgements_file.grades_named(grades, scale), scale=scale
        )
        name = f"{file} task"
    imported = import_judgements(
        *(ws, rows, data),
        name=name,
        facet=facet,
        adjudicators=adjudicators,
        foreign=foreign,
        same_person=same_person,
        dry_run=dry_run,
    )
    return replace(imported, notes=(*imported.notes, *_unused_grades(ws, imported.grades)))


def grades_from(
    ws: Workspace,
    files: Sequence[Path],
    *,
    form: str,
    facet: str | None,
    per_topic: int,
    foreign: str | None,
    dry_run: bool,
) -> ImportedGrades:
    """Import the grades of `files`: a query id is a topic that is a text, as it is, or else a paper of the corpus
    with its facet behind it, or with `facet`.

    form: one of `FORMS`. Several files are the folds: a file whose name says `test` is tested on, and the rest is for
    development; without such a name, each is tested on in turn. per_topic: papers that a topic gives, for
    `treccovid-rf`. foreign: as in `judgements_from`.

    The documents that have a grade become the pools, so that systems can rank them. Raises InputError with every fault,
    when no query's paper is in the corpus, and when the study has judgements of its own.
    """
    with ws.reading() as session:
        refuse_other_work(ws, session)
        topics = pools.read_topics(session)
    _check_foreign(foreign)
    rows_of = _read(ws, files, form, per_topic)
    rows = [row for judged in rows_of.values() for row in judged]
    name = ", ".join(map(str, files))
    _check_grades(rows, len(ws.settings.scale.names), name=name)
    queries = query_sentences.queries_of(rows, ws.settings, facet, topics=topics, name=name, drop=foreign == "drop")
    in_corpus = papers.known_ids(ws.corpus, {query.topic_id for query in queries.values()})
    if not any(query.topic_id in in_corpus or query.topic_id in topics for query in queries.values()):
        raise InputError(
            f"{name}: no query is a paper of the corpus, expected ids such as {rows[0].query}",
            hint="first add the papers with `annot corpus add`, or topics that are texts with `annot query add --file`",
        )
    checked_rows, notes = paper_ids.rows_in_corpus(rows_of, queries, ws.corpus, topics=topics, foreign=foreign)
    rows = [row for judged in checked_rows.values() for row in judged]
    data = b"".join(content_of(file, expected="grades") for file in files)
    imported = import_judgements(
        *(ws, rows, data),
        name=name,
        facet=facet,
        adjudicators=(),
        foreign="keep",
        same_person=None,
        dry_run=dry_run,
    )
    folds = {Path(file).stem: {queries[row.query].query_id for row in judged} for file, judged in checked_rows.items()}
    if len(folds) > 1 and not dry_run:
        with ws.writing() as session:
            for split, parts in _splits(folds, (queries[name] for name in {row.query for row in rows})).items():
                runs.put_split(session, split, parts)
    return ImportedGrades(
        queries=imported.queries,
        pairs=len(rows),
        grades=imported.grades,
        folds={fold: len(members) for fold, members in folds.items()} if len(folds) > 1 else {},
        notes=tuple(dict.fromkeys((*notes, *imported.notes, *_unused_grades(ws, imported.grades)))),
    )


def _check_foreign(foreign: str | None) -> None:
    if foreign is not None:
        check_name(foreign, paper_ids.FOREIGN, what="--foreign")


def _unused_grades(ws: Workspace, grades: Mapping[int, int]) -> tuple[str, ...]:
    """Notes on the grades of the scale that nothing imported has, and on the setting to change if none is relevant."""
    return sentences(
        "commands.unused_grades",
        unused=[f"{grade} ({text})" for grade, text in enumerate(ws.settings.scale.names) if grade not in grades],
        highest=max(grades, default=0),
        needed=ws.settings.evaluation.relevant_from,
    )


def _splits(folds: Mapping[str, Collection[str]], queries: Iterable[Query]) -> dict[str, dict[str, tuple[str, ...]]]:
    tested = [sorted(of) for name, of in folds.items() if TESTED in name.lower()] or [*map(sorted, folds.values())]
    splits = as_splits([*queries], tested)
    return {name: {part: ids for part, ids in parts.items() if ids} for name, parts in splits.items()}


def _read(
    ws: Workspace, files: Sequence[Path], form: str, per_topic: int
) -> dict[str, Sequence[judgements_file.FileJudgement]]:
    """Grades of each file, by its name in messages."""
    check_name(form, FORMS, what="form of grades")
    check_files(files)
    stems = [file.stem for file in files]
    if len({*stems}) < len(stems):
        raise InputError(
            f"found files with the same name ({', '.join(stems)}), expected a different name for each fold"
        )
    entries = " entry" if form == "relish" else ""
    return {f"{file}{entries}": _rows(ws, file, form, per_topic) for file in files}


def _check_grades(rows: Iterable[judgements_file.FileJudgement], grades: int, *, name: str) -> None:
    faults = Faults(name)
    for grade, of_grade in grouped((row.grade, row) for row in rows).items():
        if grade is None or not 0 <= grade < grades:
            first = of_grade[0]
            others = f" (and {counted(len(of_grade) - 1, 'other line')})" if len(of_grade) > 1 else ""
            problem = f"{first.query} {first.document}: grade {grade}, expected 0 to {grades - 1}{others}"
            faults.add(problem, line=first.line)
    faults.raise_if_any(hint="name the grades under [scale] in annot.toml, and remove pairs that were not judged")


def _rows(ws: Workspace, file: Path, form: str, per_topic: int) -> Sequence[judgements_file.FileJudgement]:
    """The grades of one file. per_topic: how many papers a topic gives, for `treccovid-rf`."""
    if form == "relish":
        return judgements_file.read_relish(content_of(file, expected="RELISH's grades in JSON"), name=str(file))
    lines = given_text(file, expected="TREC qrels").splitlines()
    qrels = trec.read_qrels(lines, name=str(file))
    trec.refuse_grades_of_models(lines, name=str(file))
    # Each line but BEIR's heading is one of the qrels.
    numbers = [number for number, _ in numbered(lines, Faults(str(file)))][-len(qrels) :]
    line_of = {qrel.doc_id: number for number, qrel in zip(numbers, qrels, strict=True)}
    if form == "treccovid-rf":
        qrels = topics_as_papers(qrels, per_topic=per_topic, seed=ws.settings.seed)
        numbers = [line_of[qrel.doc_id] for qrel in qrels]
    return [
        judgements_file.FileJudgement(line, query_id, doc_id, WHO, grade, None, None, None, 1, {"grade": grade})
        for line, (query_id, doc_id, grade) in zip(numbers, qrels, strict=True)
    ]


# ----------------------------------------------------------------------------------------------------------------------
# A collection made elsewhere, imported as a whole: CSFCube's release.
# ----------------------------------------------------------------------------------------------------------------------


UNKNOWN = "unknown"
"""Ratings that the adjudicator saw: the release does not say."""
CORPUS_FILE = "csfcube.parquet"


@dataclass(frozen=True, slots=True)
class ImportedRelease:
    """Contents of the import: counts by kind, and notes on irregularities."""

    counts: dict[str, int]
    notes: tuple[str, ...]
    facts: CsfcubeFacts
    cleaned: adding.Cleanings
    """Number of papers that have another text than in the release."""


def csfcube(ws: Workspace, folder: Path, *, dry_run: bool) -> ImportedRelease:
    """Bring the release in `folder` into an empty study; the same folder again changes nothing.

    Sets `judging.missing = "zero"`: the release's published figures count a rating that is missing as grade 0.
    """
    if not folder.is_dir():
        problem = "a file" if folder.exists() else "no such folder"
        raise InputError(f"{folder}: {problem}, expected the folder of a CSFCube release")
    files = {
        path.relative_to(folder).as_posix(): content_of(path, expected="a CSFCube release")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and is_release_file(path.relative_to(folder).as_posix())
    }
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    release = read_release(
        files, name=str(folder), known_labels=ws.settings.labels.names, facet_labels=ws.settings.facets
    )
    _refuse_other_work(ws, digest.hexdigest())
    cleaning = adding.CleaningCount()
    cleaning.take((kinds(paper), paper) for paper in release.changed)
    cleaned = cleaning.written(None if dry_run else ws.corpus, digest.hexdigest())
    notes = sentences("commands.csfcube", facts=release.facts)
    notes += sentences("cleaned.cleaned", cleanings=cleaned, noun="paper")
    imported = ImportedRelease(_counts(release), notes, release.facts, cleaned)
    if not dry_run:
        with papers.PaperWriter(ws.corpus, name=CORPUS_FILE) as writer:
            for paper in release.papers:
                writer.add(paper)
        corpus_facts.write_corpus_manifest(ws)
        run_files = {run.tag: trec.write_run(run.rankings, tag=run.tag) for run in release.runs}
        with ws.writing() as session:
            _store(session, release, run_files, digest.hexdigest(), settings=ws.settings)
            facts = {**imported.counts, "cleaned": cleaning.facts}
            runs.put_import(session, ImportedSource(Source.CSFCUBE, digest.hexdigest(), facts))
        for tag, text in run_files.items():
            write_file(ws.run_file(tag), text)
        if release.decisions:
            # Final grades and runs come together, so that the import can be evaluated as it is.
            with ws.reading() as session:
                outcome = outcome_of(session, ws.settings)
            export_qrels(ws, outcome, release.queries, ())
        _set_missing_policy(ws.settings_file)
    return imported


def _refuse_other_work(ws: Workspace, digest: str) -> None:
    """An import fills an empty study, or finds its own work there; it never mixes with another study."""
    with ws.reading() as session:
        earlier = runs.read_imports(session)
        if any((other.what, other.source_sha256) == (Source.CSFCUBE, digest) for other in earlier):
            return
        other = bool(pools.read_queries(session) or earlier)
    if other or any(path.name != CORPUS_FILE for path in ws.corpus.glob("*.parquet")):
        raise InputError(f"{ws.root}: found another study, expected an empty one", hint="create one with `annot init`")


def _store(session: Session, release: Release, run_files: dict[str, str], digest: str, *, settings: Settings) -> None:
    recorded_at = moment_now()
    shown.keep_imported_scale(session, settings.scale.names, since=recorded_at)
    corrected = set(release.facts.corrected_queries)
    facet_labels.replace_labels(
        session,
        (
            facet_labels.FacetLabels(
                paper.paper_id, paper.labels, Source.CORRECTED if paper.paper_id in corrected else Source.CARRIED
            )
            for paper in release.papers
            if paper.labels is not None
        ),
    )
    pools.replace_queries(session, release.queries)
    pools.replace_pools(session, release.pools, rankings_sha256={pool.topic_id: digest for pool in release.pools})
    names = sorted({judgement.assessor for judgement in release.judgements})
    people.put_assessors(session, [*(Assessor(name, None, False) for name in names), Assessor(ADJUDICATOR, None, True)])
    plan = _plan_of(release)
    people.replace_plan(session, plan, plan=Plan(plan_sha256(plan), settings.seed, recorded_at))
    JUDGEMENTS.record(
        session,
        (SourcedJudgement(judgement, Source.CSFCUBE, "", None) for judgement in release.judgements),
        recorded_at=recorded_at,
    )
    ADJUDICATIONS.record(
        session,
        (
            SourcedAdjudication(
                Adjudication(decision.query_id, decision.doc_id, ADJUDICATOR, decision.grade, UNKNOWN, ()),
                Source.CSFCUBE,
                "",
                None,
            )
            for decision in release.decisions
            if decision.origin == "adjudicated"
        ),
        recorded_at=recorded_at,
    )
    for name, folds in release.splits.items():
        runs.put_split(session, name, folds)
    runs.put_runs(
        session,
        (
            StoredRun(tag, Source.CSFCUBE, {"imported": True}, hashlib.sha256(text.encode()).hexdigest())
            for tag, text in run_files.items()
        ),
    )


def _plan_of(release: Release) -> list[Assignment]:
    """Assignments in the order of the release, which has no other."""
    counts = Counter[str]()
    plan = []
    for judgement in release.judgements:
        counts[judgement.assessor] += 1
        plan.append(Assignment(judgement.query_id, judgement.doc_id, judgement.assessor, counts[judgement.assessor]))
    return plan


def _set_missing_policy(path: Path) -> None:
    document = tomlkit.parse(path.read_text(encoding="utf-8-sig"))
    judging = document.setdefault("judging", tomlkit.table())
    if judging.get("missing") != "zero":
        judging["missing"] = "zero"
        write_file(path, tomlkit.dumps(document))


def _counts(release: Release) -> dict[str, int]:
    return {
        "papers": len(release.papers),
        "query papers": len({query.topic_id for query in release.queries}),
        "queries": len(release.queries),
        "pools": len(release.pools),
        "pairs": len(release.decisions),
        "judgements": len(release.judgements),
        "missing judgements": release.facts.missing_ratings,
        "adjudicated pairs": sum(decision.origin == "adjudicated" for decision in release.decisions),
        "splits": len(release.splits),
        "runs": len(release.runs),
    }
