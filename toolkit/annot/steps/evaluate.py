"""Evaluation of runs on the qrels, reusability, and the sheet of error cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any

from annot.base.errors import InputError, MissingInput
from annot.base.names import OF_PAPERS, StudyVocabulary, check_name, counted, near
from annot.base.plugins import PluginNames, check_named, parts
from annot.base.records import Qrel, Ranking, grouped
from annot.formats import input_files
from annot.judging.states import remembered_findings
from annot.measuring import measured, reusability, sampled_study
from annot.measuring.evaluation import other_figures
from annot.measuring.evaluation.comparisons import FAR_DOWN, NEAR_TOP, ErrorCase, error_cases
from annot.measuring.evaluation.evaluated import AVERAGES, PRIMARY, TEST, TEST_FOLD, TOGETHER, EvaluatedRuns
from annot.measuring.evaluation.measures import CONVENTIONS, TIES, MeasureSelection, conventions_for
from annot.measuring.sampled.estimates import GradedPools, SampledPools, has_estimator
from annot.pools.drawn_pools import drawn_rankings
from annot.pools.one_version import read_version, recorded_run
from annot.publishing.browse_page import write_pages
from annot.publishing.report import figures, pages, single_pages, study, tidy
from annot.publishing.report.notices import RESTS_ON, notices, report_untrue
from annot.publishing.report.sections.runs import best_line, compared, drawing, pairs, terminal
from annot.publishing.report.tables import Chapter, Column, Columns, Document, Table, facet_column, sentences, table
from annot.publishing.report.terminal import table_text
from annot.store import papers
from annot.store.pools import read_pools, read_sample
from annot.study.outcome import Pair
from annot.study.provenance import note
from annot.study.snapshot import Snapshot, exported_qrels, read_snapshot, refuse_unfinished
from annot.study.workspace import Workspace, given_text, read_entered, write_file

# ----------------------------------------------------------------------------------------------------------------------
# Evaluation of runs on the qrels: which is best, which differences hold, and what chance and one assessor reach.
# ----------------------------------------------------------------------------------------------------------------------


NAME = "comparison"
"""Stem of the names of files that `write` makes."""
LONGEST_NOTE = 320
"""Letters that are printed of a note."""
Tell = Callable[[str], None]
"""Function that a warning is passed to."""


def evaluate(
    ws: Workspace,
    *,
    runs: tuple[str, ...],
    convention: str | None,
    measures: tuple[str, ...],
    ties: str,
    average: str,
    at_least_two: bool,
    tell: Callable[[str], None],
    so_far: bool = False,
    corpus: str | None = None,
    qrels_file: Path | None = None,
) -> EvaluatedRuns:
    """Evaluate runs, in all conventions when none is named.

    runs: run files, tags or systems; all of `exports/runs/` when none is named. measures: shown next to the others; on
    the first of them runs are compared, in the first convention that knows it. at_least_two: raise InputError if no
    two runs can be compared. When none of this is named, the result is written to `exports/evaluation.json` too; `tell`
    reports if that fails, and untrue parts of the study. so_far: with a sample, evaluate also before all of it
    has grades. corpus: runs and qrels of this version of the corpus; None takes the newest. qrels_file: qrels to
    measure with; `tell` warns of documents of the runs that are not in their version of the corpus.
    """
    conventions = chosen(ws, convention, measures)
    check_name(ties, TIES, what="--ties")
    check_name(average, AVERAGES, what="--average")
    whole = read_snapshot(ws)
    if corpus is not None:
        check_name(corpus, whole.corpora, what="--corpus")
    corpus = corpus if qrels_file is None else _version_of(whole, qrels_file)
    snapshot = whole if corpus is None or corpus == whole.corpora[-1] else read_version(ws, corpus)
    earlier, qrels = snapshot is not whole, exported_qrels(snapshot, qrels_file)
    chosen_runs = _measured_runs(whole, snapshot, runs, qrels_file, corpus, tell)
    if at_least_two and len(chosen_runs) < 2:
        raise InputError(f"{', '.join(chosen_runs)}: expected at least 2 runs", hint="make more with `annot run`")
    how: Any = {"measures": measures, "ties": ties, "average": average}
    evaluated = measured.evaluation_of(snapshot, chosen_runs, qrels, conventions=conventions, unfinished=so_far, **how)
    if qrels_file is None:
        evaluated = measured.with_earlier(snapshot, chosen_runs, qrels, evaluated, named=bool(runs), **how)
    else:
        evaluated = replace(evaluated, corpus=corpus)
    if evaluated.corpus:
        tell(f"version {evaluated.corpus} of the corpus")
    if evaluated.warning:
        tell(f"warning: {evaluated.warning}")
    report_untrue(snapshot, "runs", tell=tell)
    whole_study = not (earlier or runs or measures) and convention is None and qrels_file is None
    if whole_study and (ties, average) == (TIES[0], AVERAGES[0]):
        measured.keep(ws, measured.EVALUATION_FILE, measured.as_text(measured.evaluation_data(evaluated)), tell=tell)
        note(ws, "evaluate", snapshot.states)
    return evaluated


def chosen(ws: Workspace, convention: str | None, measures: tuple[str, ...]) -> tuple[str, ...]:
    """The conventions to measure in: the one that is named, else those that know the first of the measures."""
    if convention is not None:
        check_name(convention, CONVENTIONS, what="convention")
    check_named(measures, ws.settings.plugins.names)
    return conventions_for(measures, measured.conventions_of(ws.settings) if convention is None else (convention,))


def describe(evaluated: EvaluatedRuns, *, per_query: bool, measured: bool, paired: bool) -> str:
    """The verdict in one line, and the runs by the measure that decides, in percent, as both source papers print.

    measured: all measures too, one table a convention. paired: every two runs too.
    """
    tables = terminal(evaluated, per_query=per_query, measured=measured, paired=paired)
    return "\n\n".join([best_line(evaluated), *map(table_text, tables)])


def notes(evaluated: EvaluatedRuns) -> list[str]:
    """Notes for the reader, without the ends of long lists of queries."""
    return [shorten(note, LONGEST_NOTE, placeholder=" ... (`--json` has all)") for note in evaluated.notes]


def write(evaluated: EvaluatedRuns, folder: Path) -> tuple[Path, ...]:
    """The runs compared: the tables as LaTeX, Markdown, CSV and JSON, and the drawing as SVG, for a paper or a page."""
    section = Chapter(NAME, "Figures", (), (*compared(evaluated), *pairs(evaluated)))
    document = Document("Runs compared", best_line(evaluated), body=(section,))
    drawn = drawing(evaluated)
    texts = {
        "tex": pages.latex(document),
        "md": pages.markdown(document),
        "csv": tidy.csv_text(tidy.evaluation_and_comparisons(evaluated)),
        "json": measured.as_text(measured.evaluation_data(evaluated)["comparison"]),
        "svg": figures.described(drawn.svg.on_page, NAME, drawn.title, drawn.description),
    }
    paths = tuple(folder / f"{NAME}.{ending}" for ending in texts)
    for path, text in zip(paths, texts.values(), strict=True):
        write_file(path, text)
    return paths


def _named(snapshot: Snapshot, names: Iterable[str]) -> dict[str, dict[str, Ranking]]:
    """Runs of these names, by tag: a name is a file, a tag, or a system with all its runs; without names, all."""
    files = tuple(Path(name) for name in names if Path(name).is_file())
    run_names = [name for name in names if not Path(name).is_file()]
    rankings = measured.read_run_files(snapshot.ws, files) if files else {}
    if files and not run_names:
        return rankings
    system_of = {run.tag: run.system for run in snapshot.runs}
    of_study = measured.runs_of(snapshot)
    tags = sorted({*of_study, *(system_of.get(tag, tag) for tag in of_study)})
    for name in run_names:
        if name not in tags:
            raise InputError(f"{name}: no such file, and no run has this tag or system; {near(name, tags)}")
    for tag, run in of_study.items():
        if not run_names or tag in run_names or system_of.get(tag, tag) in run_names:
            if tag in rankings:
                raise InputError(f"{tag}: a run of this study and a run in {', '.join(map(str, files))} have this tag")
            rankings[tag] = run
    return rankings


def _measured_runs(
    whole: Snapshot,
    snapshot: Snapshot,
    names: tuple[str, ...],
    qrels_file: Path | None,
    version: str | None,
    tell: Tell,
) -> dict[str, dict[str, Ranking]]:
    """The runs that are meant, of the version to which the snapshot is limited; those that are named with a file of
    qrels may be of any.

    version: of the corpus, which the qrels are of.
    """
    chosen_runs = _named(whole if qrels_file and names else snapshot, names)
    if whole.corpora and (qrels_file or snapshot is whole):
        expected, known = version or whole.corpora[-1], _versions_of_runs(whole, names)
        of_runs = {tag: known[tag] for tag in sorted(chosen_runs) if tag in known}
        others = [tag for tag, ranked in of_runs.items() if ranked != expected]
        if others and (qrels_file is None or len({*of_runs.values()}) > 1):
            earliest = next((name for name in whole.corpora if name in of_runs.values()), expected)
            raise InputError(
                f"runs of other versions of the corpus, expected version {expected} for all",
                faults=[f"{tag}: ranks version {ranked}" for tag, ranked in of_runs.items()],
                hint=f"`annot run {' '.join(others)} --corpus {expected}` ranks it (import runs of others again); to "
                f"compare all on one version: `annot evaluate --corpus {earliest}`",
            )
        if qrels_file is not None and whole.ws.has_corpus:
            of_qrels = "the newest" if version is None else f"which {qrels_file} is of"
            _warn_of_others(whole.ws, chosen_runs, of_runs, expected, of_qrels, tell)
    return chosen_runs


def _version_of(snapshot: Snapshot, qrels_file: Path) -> str | None:
    """Version of the corpus whose qrels the file has, by its place, its name or its content; None if it has those of
    none."""
    ws, versions = snapshot.ws, snapshot.corpora
    files = {name: ws.qrels_of(name) for name in versions[:-1]} | dict.fromkeys(versions[-1:], ws.qrels)
    text = given_text(qrels_file, expected="qrels")
    of_file = [name for name, file in files.items() if file.resolve() == qrels_file.resolve()]
    of_file += [name for name in versions if ws.qrels_of(name).name == qrels_file.name]
    of_file += [name for name, file in files.items() if file.is_file() and file.read_text(encoding="utf-8") == text]
    return of_file[0] if of_file else None


def _versions_of_runs(whole: Snapshot, names: Iterable[str]) -> dict[str, str]:
    """Version of the corpus that each run ranks, by tag. names: files of runs among them, with metadata next to
    them."""
    first = whole.corpora[0]
    of_runs = {run.tag: str(run.facts.get("corpus", first)) for run in whole.runs}
    for name in names:
        if run := recorded_run(Path(name), hint="take it from a backup, or make the run again"):
            of_runs[run.tag] = str(run.facts.get("corpus", first))
    return of_runs


def _warn_of_others(
    ws: Workspace, runs: measured.Runs, of_runs: Mapping[str, str], version: str, of_qrels: str, tell: Tell
) -> None:
    """Warn of documents of these runs that are not in the version of the corpus that the qrels are of."""
    outside = read_version(ws, version).outside
    for tag, run in runs.items():
        ids = {doc.doc_id for ranking in run.values() for doc in ranking}
        if others := sorted((ids & outside) | (ids - papers.known_ids(ws.corpus, ids))):
            some = ", ".join(others[:3]) + (", ..." if others[3:] else "")
            tell(
                f"warning: {tag}: {len(others)} of its {counted(len(ids), 'document')} are not in version {version} "
                f"of the corpus, {of_qrels}: {some}; the run ranks version "
                f"{of_runs.get(tag, 'unknown')}, `annot run SYSTEM --corpus {version}` ranks version {version}"
            )


@dataclass(frozen=True, slots=True)
class PublishedComparison:
    """Figures of the study next to those of a paper, and known reasons why they differ."""

    title: str
    source: str
    convention: str
    note: str
    figures: tuple[other_figures.ComparedFigure, ...]
    averages: tuple[str, ...]
    """Averages over our queries, by name."""
    left_out: bool
    """True if figures on all facets are left out, because the facets are others."""
    same_collection: bool | None
    """True if our queries are of the paper's collection; None if its table names no queries."""
    not_estimated: tuple[str, ...] | None = None
    """Measures of the paper that are left out, because a sample does not estimate them; None if whole pools were
    judged. Our figures are estimates then.
    """

    @property
    def by_run(self) -> dict[str, tuple[int, int]]:
        """Number of figures of each run that equal the paper's to the last printed digit, and of all that both have."""
        runs = dict.fromkeys(figure.run for figure in self.figures)
        same = {run: [figure.same for figure in self.figures if figure.run == run] for run in runs}
        return {run: (sum(figures), len(figures)) for run, figures in same.items()}

    @property
    def differing(self) -> int:
        """Figures that differ from the paper's, without its misprints."""
        return sum(not figure.same and not figure.misprint for figure in self.figures)

    @property
    def by_fold(self) -> bool:
        """True if ours are means of test folds, as the papers' are."""
        return {*self.averages} <= {TEST, TEST_FOLD}


def against(ws: Workspace, name: str, *, runs: tuple[str, ...]) -> PublishedComparison:
    """The runs, named as for `evaluate`, next to the table `name`: one that comes with annot, or a TOML file."""
    published = _published(name, ws.settings.plugins.names)
    snapshot = read_snapshot(ws)
    qrels = exported_qrels(snapshot)
    measures = published.measures
    if snapshot.sample is not None:
        measures = tuple(name for name in measures if has_estimator(published.convention, name))
    evaluated = measured.evaluation_of(
        snapshot,
        _named(snapshot, runs),
        qrels,
        conventions=(published.convention,),
        measures=(PRIMARY[published.convention], *measures),
    )
    found = other_figures.beside(published, evaluated.lines)
    shown = {(figure.run, figure.facet) for figure in found}
    left_out = tuple(name for name in published.measures if name not in measures)
    return PublishedComparison(
        title=published.title,
        source=published.source,
        convention=published.convention,
        note=published.note,
        figures=found,
        averages=tuple(sorted({line.average for line in evaluated.lines if (line.run, line.facet) in shown})),
        left_out=TOGETHER in published.figures and not other_figures.comparable(published, evaluated.lines),
        same_collection=other_figures.same_collection(
            published,
            snapshot.queries,
            (pair.query_id for pair in (qrels if snapshot.sample is None else snapshot.sample.pairs.values())),
        ),
        not_estimated=None if snapshot.sample is None else left_out,
    )


def beside_paper(found: PublishedComparison, words: StudyVocabulary = OF_PAPERS) -> Table:
    """Table of our figures next to the paper's."""
    return table(
        "beside",
        found.figures,
        [
            facet_column(lambda figure: figure.facet, words),
            Column("Run", lambda figure: figure.run),
            Column("Measure", lambda figure: figure.measure),
        ],
        [
            Column("Ours", lambda figure: f"{figure.ours:.2f}", ""),
            Column("", lambda figure: figure.ours, "ours"),
            Column("Paper", lambda figure: f"{figure.theirs:.2f}", "theirs"),
            Column("Difference", lambda figure: "" if figure.same else f"{figure.ours - figure.theirs:+.2f}", ""),
            Column(
                "Found",
                lambda figure: "misprint in the paper" if figure.misprint else "equal" if figure.same else "differs",
            ),
        ],
        notes=sentences("runs.against", found=found)[1:],
    )


def describe_against(found: PublishedComparison, beside: Table) -> str:
    """Text of the comparison: the number of equal figures, then each figure."""
    return "\n\n".join([sentences("runs.against", found=found)[0], table_text(beside)])


def _published(name: str, plugins: PluginNames) -> other_figures.PublishedTable:
    tables = parts("published_figures", plugins)
    if name in tables:
        return other_figures.read_published_named(name, plugins)
    if not Path(name).is_file():
        problem = "a folder" if Path(name).is_dir() else "no such file"
        raise InputError(f"--against {name!r}: {problem}, and no table has this name; {near(name, sorted(tables))}")
    return other_figures.read_published(given_text(Path(name), expected="TOML"), name=name)


# ----------------------------------------------------------------------------------------------------------------------
# The certificate: whether systems that did not help to build the pools can be measured on them.
# ----------------------------------------------------------------------------------------------------------------------


LOSS_CONVENTION = "trec"
LOSS_MEASURE = PRIMARY[LOSS_CONVENTION]
"""Rankings of the corpus hold much that is not judged: CSFCube's measures, whose ideal order is of the submitted list,
are made for rankings of a pool."""
PAGE, MARKDOWN, FIGURES = "certificate.html", "certificate.md", "certificate.json"


def certificate(ws: Workspace, *, tell: Callable[[str], None]) -> tuple[reusability.Certificate, Path]:
    """Write `exports/certificate.html`, the same as Markdown, and its figures. Raises MissingInput without pools."""
    snapshot = read_snapshot(ws)
    qrels, runs = exported_qrels(snapshot), measured.read_run_files(snapshot.ws)
    with ws.reading() as session:
        pools = read_pools(session)
    if not pools:
        raise MissingInput("no pools on record", hint="draw them with `annot pool`")
    compared = measured.primary_of(ws.settings)
    graded = measured.graded_pools(snapshot, qrels)
    certificate = reusability.certify(
        measured.of_all_topics(snapshot, runs),
        qrels,
        pools,
        drawn_rankings(ws, pools),
        snapshot.topics,
        _score(snapshot, graded, *compared, ties=TIES[0]),
        _score(snapshot, graded, LOSS_CONVENTION, LOSS_MEASURE, ties="expected"),
        measure=compared[1],
        loss_measure=LOSS_MEASURE,
        relevant_from=ws.settings.evaluation.relevant_from,
        tolerance=ws.settings.evaluation.tolerated_loss,
        level=ws.settings.agreement.level,
        sampled=graded if isinstance(graded, SampledPools) else None,
        score_without=partial(_score_without, snapshot, qrels) if isinstance(graded, SampledPools) else None,
    )
    rests_on = RESTS_ON["runs"]
    untrue = notices(remembered_findings(ws, snapshot.states, on=rests_on), rests_on, snapshot.words)
    notice = " ".join(filter(None, (study.Study(snapshot).notice, *untrue))) or None
    made = single_pages.certificate_page(certificate, snapshot.words, title=ws.settings.collection.title, notice=notice)
    measured.keep(ws, FIGURES, measured.as_text(certificate), tell=tell)
    text = pages.page(made, overrides=ws.root / "templates")
    write_pages(ws.exports, {MARKDOWN: pages.markdown(made), PAGE: text})
    return certificate, ws.exports / PAGE


def describe_reusability(found: reusability.Certificate, words: StudyVocabulary) -> str:
    """The verdict and the tables."""
    verdict, tables = single_pages.terminal(found, words)
    return "\n\n".join([verdict, *map(table_text, tables)])


def _score_without(snapshot: Snapshot, qrels: tuple[Qrel, ...], method: str) -> reusability.Score:
    """Measure of rankings, estimated with predictions that do not know this method."""
    graded = sampled_study.drawn_pairs(snapshot, qrels, without=method).pools
    return _score(snapshot, graded, LOSS_CONVENTION, LOSS_MEASURE, ties="expected")


def _score(snapshot: Snapshot, graded: GradedPools, convention: str, measure: str, *, ties: str) -> reusability.Score:
    selection = MeasureSelection(convention, (), snapshot.ws.settings.evaluation.relevant_from)

    def values(runs: reusability.Runs) -> Mapping[str, Mapping[str, float]]:
        measured = {tag: graded.measured(run, graded.query_ids, selection, ties=ties) for tag, run in runs.items()}
        return {
            tag: {query.query_id: query.values[measure] for query in run_measures.queries}
            for tag, run_measures in measured.items()
        }

    return values


# ----------------------------------------------------------------------------------------------------------------------
# The sheet of error cases: what systems get wrong, for the lead to say what kind of error it is.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WrittenSheet:
    """The path of the sheet, and how many rows have a kind."""

    path: Path
    pairs: int
    with_kind: int


def write_error_sheet(ws: Workspace) -> WrittenSheet:
    """Write `errors.csv`: the pairs that most systems get wrong first; entries of the lead stay.

    Raises InputError while a pair has no final grade.
    """
    snapshot = read_snapshot(ws)
    refuse_unfinished(snapshot.outcome, partial=False)
    entered = read_entered(ws)
    relevant_from = ws.settings.evaluation.relevant_from
    found = error_cases(measured.read_run_files(ws), snapshot.outcome.qrels, relevant_from=relevant_from)
    cases = grouped(((case.query_id, case.doc_id), case) for case in found)
    pairs = sorted(entered.keys() | cases.keys(), key=lambda pair: (-len(cases.get(pair, ())), pair))
    titles = papers.headings(ws.corpus, {doc_id for _, doc_id in pairs}) if ws.has_corpus else {}
    columns = Columns[Pair](
        [
            Column("query_id", lambda pair: pair[0]),
            Column("doc_id", lambda pair: pair[1]),
            Column("kind", lambda pair: entered.get(pair, ("", ""))[0]),
            Column("note", lambda pair: entered.get(pair, ("", ""))[1]),
            Column("facet", lambda pair: snapshot.facets.get(pair[0], ""), None if snapshot.faceted else ""),
            # None if no system gets the pair wrong any more; the lead's note on it stays.
            Column("grade", lambda pair: cases[pair][0].grade if pair in cases else None),
            Column("irrelevant_near_the_top", lambda pair: _systems(cases.get(pair, ()), NEAR_TOP)),
            Column("relevant_far_down", lambda pair: _systems(cases.get(pair, ()), FAR_DOWN)),
            Column("title", lambda pair: titles.get(pair[1], "")),
        ]
    )
    rows = [columns.fields, *(record.values() for record in columns.of(pairs).records)]
    path = ws.root / input_files.SHEET
    write_file(path, input_files.written_sheet(rows))
    return WrittenSheet(path, len(pairs), sum(bool(kind) for kind, _ in entered.values()))


def error_sheet_notes(ws: Workspace) -> Iterator[str]:
    """A note that the sheet knows drawn pairs only, if a sample of the pools is judged."""
    with ws.reading() as session:
        sample = read_sample(session)
    if sample is not None:
        drawn = sum(pair.drawn for pair in sample.pairs.values())
        yield (
            f"only the {drawn:,} drawn pairs of the {len(sample.pairs):,} in the pools can be in it: what systems get "
            "wrong on the others is not known"
        )


def _systems(cases: list[ErrorCase] | tuple[()], error: str) -> str:
    """`fabs_bm25 (3), specter (left out)`."""
    return ", ".join(f"{case.run} ({case.rank or 'left out'})" for case in cases if case.error == error)
