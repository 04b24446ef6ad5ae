"""Data made elsewhere, imported: judgements of other tools, grades, and the kinds that wings and plug-ins add."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Protocol

from annot.base.errors import Faults, InputError, numbered
from annot.base.names import check_name, counted
from annot.base.plugins import PluginNames, loaded
from annot.base.records import Query
from annot.corpus import paper_ids, query_sentences
from annot.formats import input_files, judgements_file, trec
from annot.formats.input_files import ByColumn, content_of, first_places
from annot.judging.plan_on_record import ImportedJudgements, import_judgements, refuse_other_work
from annot.judging.states import remembered_findings
from annot.measuring.folds import as_splits
from annot.pools.selection import topics_as_papers
from annot.publishing.report.tables import sentences
from annot.store import papers, pools, runs
from annot.store.answers import count_judgements
from annot.study.provenance import states_of
from annot.study.workspace import Workspace, check_files, given_text

# ----------------------------------------------------------------------------------------------------------------------
# What was made elsewhere, imported: judgements of other tools, and grades of a collection of papers or topics.
# ----------------------------------------------------------------------------------------------------------------------


KINDS = ("judgements", "grades", "labelstudio", "citations")
"""Kinds of files that have options of their own; wings and plug-ins add others."""
FORMS = ("qrels", "relish", "treccovid-rf")
"""Formats of files of grades."""
BEGINNING = 1 << 16
"""Bytes of a file that tell its kind."""
SOLE_ASSESSOR = "a1"
"""The assessor of grades from qrels, which do not say who gave them."""
TESTED = "test"
"""Word in the name of a file of test queries; the queries of other files are for development."""


@dataclass(frozen=True, slots=True)
class ImportedGrades:
    """Grades that the files contain."""

    queries: int
    pairs: int
    grades: dict[int, int]
    """Number of pairs with each grade."""
    folds: dict[str, int]
    """Queries of each fold; none if there is one file."""
    notes: tuple[str, ...]


class ImportedCounts(Protocol):
    """Result of an import: numbers of what was imported by its name, and notes."""

    @property
    def counts(self) -> dict[str, int]: ...

    @property
    def notes(self) -> tuple[str, ...]: ...


class ReadImport(Protocol):
    """Function that imports a file or folder into a study; a dry run changes nothing."""

    def __call__(self, ws: Workspace, path: Path, /, *, dry_run: bool) -> ImportedCounts: ...


@dataclass(frozen=True, kw_only=True)
class ImportKind:
    """A kind of import of a wing or a plug-in: the function that does it, and how its files are known without --as."""

    read: ReadImport
    is_text: Callable[[str], bool] = lambda _beginning: False
    """Test for the beginning of a file's text."""
    is_folder: Callable[[Path], bool] = lambda _folder: False
    """Test for a folder."""


def added_kinds(plugins: PluginNames) -> Mapping[str, ImportKind]:
    """Kinds of import of the wings and of these plug-ins, by name."""
    return loaded("import_kinds", plugins)


def kind_of(files: Sequence[Path], plugins: PluginNames = ()) -> str:
    """Name of the kind of the files. Raises InputError if their content leaves it in doubt."""
    first, added = files[0], added_kinds(plugins)
    if first.is_dir():
        kinds = [name for name, kind in added.items() if kind.is_folder(first)]
    else:
        check_files(files)
        with input_files.opened(first) as file:
            text = input_files.decoded(file.read(BEGINNING)).strip()
        tests = BEGINS | {name: kind.is_text for name, kind in added.items()}
        kinds = [name for name, begins in tests.items() if begins(text)]
    if len(kinds) == 1:
        return kinds[0]
    hint = f"name it with --as {'|'.join((*added, *KINDS))}; papers are added with `annot corpus add`"
    if (first / "judgements.jsonl").is_file():
        hint = f"of a release, import {first}/judgements.jsonl and then {first}/decisions.jsonl, with --as judgements"
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
    scale. facet: of the queries whose id does not end in `-<facet>`. adjudicators: names in the file of those who
    settled disputes; their rows are final grades. Without any, a table whose only people are in a column `adjudicator`
    has them alone.
    foreign: treatment of rows of documents and query papers that are not in the corpus, one of `FOREIGN`; None
    refuses them. same_person: True if names that differ only in case or spaces are one person; None refuses them.

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
        adjudicators=adjudicators or judgements_file.adjudicators_in(rows),
        foreign=foreign,
        same_person=same_person,
        dry_run=dry_run,
    )
    if not dry_run and ws.read(count_judgements) <= imported.added:
        # All answers on record are those that were just written: the next command need not check them.
        with ws.store() as store:
            store.settle()
            remembered_findings(ws, states_of(ws), on=("judgements",))
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
    rows = _together(rows_of)
    name = ", ".join(map(str, files))
    _check_grades(rows, len(ws.settings.scale.names), name=name)
    queries = query_sentences.queries_of(rows, ws.settings, facet, topics=topics, name=name, drop=foreign == "drop")
    in_corpus = papers.known_ids(ws.corpus, {query.topic_id for query in queries.values()})
    if not any(query.topic_id in in_corpus or query.topic_id in topics for query in queries.values()):
        raise InputError(
            f"{name}: no query is a paper of the corpus, expected ids such as {rows['query'][0]}",
            hint="first add the papers with `annot corpus add`, or topics that are texts with `annot query add --file`",
        )
    checked_rows, notes = paper_ids.rows_in_corpus(rows_of, queries, ws.corpus, topics=topics, foreign=foreign)
    rows = _together(checked_rows)
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
    names_of = {Path(file).stem: {*judged["query"]} for file, judged in checked_rows.items()}
    folds = {fold: {queries[query].query_id for query in names} for fold, names in names_of.items()}
    if len(folds) > 1 and not dry_run:
        with ws.writing() as session:
            for split, parts in _splits(folds, (queries[query] for query in {*rows["query"]})).items():
                runs.put_split(session, split, parts)
    return ImportedGrades(
        queries=imported.queries,
        pairs=len(rows["line"]),
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


def _together(rows_of: paper_ids.RowsByFile) -> ByColumn:
    """Rows of all files, one after another."""
    tables = list(rows_of.values())
    if len(tables) == 1:
        return tables[0]
    return {name: [*chain.from_iterable(table[name] for table in tables)] for name in tables[0]}


def _read(ws: Workspace, files: Sequence[Path], form: str, per_topic: int) -> dict[str, ByColumn]:
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


def _check_grades(rows: ByColumn, grades: int, *, name: str) -> None:
    faults = Faults(name)
    for place in first_places(rows["grade"]):
        grade, number = rows["grade"][place], rows["grade"].count(rows["grade"][place])
        if grade is None or not 0 <= grade < grades:
            others = f" (and {counted(number - 1, 'other line')})" if number > 1 else ""
            pair = f"{rows['query'][place]} {rows['document'][place]}"
            faults.add(f"{pair}: grade {grade}, expected 0 to {grades - 1}{others}", line=rows["line"][place])
    faults.raise_if_any(hint="name the grades under [scale] in annot.toml, and remove pairs that were not judged")


def _rows(ws: Workspace, file: Path, form: str, per_topic: int) -> ByColumn:
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
    queries, documents, grades = zip(*qrels, strict=True)
    columns = {"line": numbers, "query": queries, "document": documents, "grade": grades}
    same = {"assessor": SOLE_ASSESSOR, "judged_at": None, "seconds": None, "comment": None, "occasion": 1}
    columns |= {name: [value] * len(qrels) for name, value in same.items()}
    return judgements_file.judgement_columns(**columns, row=input_files.ObjectColumn({"grade": grades}))
