"""Measure: runs of systems, made or imported, and their evaluation."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.cli import options
from annot.cli.commands import command
from annot.cli.options import argument, flag, one_of, option
from annot.cli.output import Output, listing, needs_a_person, progress, rendered, say

if TYPE_CHECKING:
    from pandas import DataFrame

    from annot.study.workspace import Workspace


# ----------------------------------------------------------------------------------------------------------------------
# Measure: evaluate runs with the qrels.
# ----------------------------------------------------------------------------------------------------------------------


@command("evaluate", csv=True)
def evaluate(
    ws: "Workspace",
    runs: Annotated[list[str] | None, argument("Run tags, systems, or TREC run files.", shown="exports/runs/")] = None,
    convention: Annotated[str | None, option("Evaluation convention: csfcube or trec.", shown="both")] = None,
    measure: Annotated[
        list[str] | None,
        option(
            "A measure to show, by its name in ir_measures (nDCG@10). May be repeated; the first compares the runs.",
            shown="NDCG%20; nDCG in trec",
        ),
    ] = None,
    ties: options.TiesOption = "order",
    average: Annotated[
        str,
        option(
            "Which queries to average over. test: mean of the test folds' means, if there are folds; dev: the first "
            "development fold; plain: all queries."
        ),
    ] = "test",
    per_query: options.PerQueryOption = False,
    every: Annotated[bool, flag("--all", "Also print all pairs of runs, and every measure on every facet.")] = False,
    against: Annotated[
        str | None,
        option("Instead, compare your figures with a paper's: csfcube, aspire, scisearch, ..., or a TOML file."),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "Write the comparison into this folder: tables (LaTeX, Markdown, CSV, JSON) and a drawing (SVG).",
            "--out",
            "-o",
        ),
    ] = None,
    so_far: Annotated[
        bool, flag("--so-far", "With a sample: measure what is judged so far. This assumes that chance chose it.")
    ] = False,
    corpus: options.CorpusOption = None,
    qrels: Annotated[
        Path | None,
        option(
            "Qrels to measure with. Warns of documents that are not in their version of the corpus.",
            metavar="FILE",
            shown="exports/qrels.txt",
        ),
    ] = None,
) -> Output:
    """Print which run is best, whether that is certain, and which differences are significant:
    a row per run, a column per facet.

    Measures are computed as in CSFCube's release and as in trec_eval; runs are compared as in CSFCube's release.
    Without runs, --convention or --measure, the figures are also written to exports/evaluation.json.
    """
    from annot.measuring.measured import evaluation_data
    from annot.steps import evaluate as step

    one_of(corpus=corpus, qrels=qrels)
    if against is not None:
        one_of(against=against, out=out, qrels=qrels)
        compared = step.against(ws, against, runs=tuple(runs or ()))
        differing = range(compared.differing if compared.same_collection else 0)
        finding = needs_a_person(differing, "figure", "other than the paper's")
        table = step.beside_paper(compared, ws.vocabulary)
        return Output(compared, step.describe_against(compared, table), tables=[table], finding=finding)
    evaluated = step.evaluate(
        ws,
        runs=tuple(runs or ()),
        convention=convention,
        measures=tuple(measure or ()),
        ties=ties,
        average=average,
        at_least_two=out is not None,
        tell=say,
        so_far=so_far,
        corpus=corpus,
        qrels_file=qrels,
    )
    text = step.describe(evaluated, per_query=per_query, measured=every or len(measure or ()) > 1, paired=every)
    written = [] if out is None else [str(path) for path in step.write(evaluated, out)]

    def frame() -> "DataFrame":
        from annot.publishing.report import tidy

        return tidy.evaluation_by_query(evaluated) if per_query else tidy.evaluation_and_comparisons(evaluated)

    return Output(evaluation_data(evaluated), text, [*step.notes(evaluated), *written], frame=frame)


@command("assessor-effect", csv=True)
def assessor_effect(
    ws: "Workspace",
    convention: options.ConventionOption = None,
    measure: Annotated[
        str | None, option("A measure of the convention, as `annot evaluate` names it.", shown="NDCG%20; nDCG in trec")
    ] = None,
) -> Output:
    """Print whether it matters who judged: the runs ranked by each assessor's, the final and randomly chosen grades."""
    from annot.publishing.report.sections.assessors import terminal
    from annot.steps import agreement as step

    effect = step.measure_assessor_effect(ws, convention=convention, measure_name=measure, tell=say)
    words = ws.vocabulary
    tables = terminal(effect, words)
    return Output(effect, step.describe_assessor_effect(effect, tables, words), tables=tables)


@command("reusability")
def reusability(ws: "Workspace") -> Output:
    """Test whether new systems can be scored fairly on this collection.

    Each pool method is scored as if it were a new system, without the papers that it alone found. The page
    exports/certificate.html also shows how much of each run is judged.
    """
    from annot.steps import evaluate as step

    certificate, path = step.certificate(ws, tell=say)
    return Output(certificate, f"{step.describe_reusability(certificate, ws.vocabulary)}\n\n{path}")


@command("errors")
def errors(ws: "Workspace") -> Output:
    """Write errors.csv, a list of what systems get wrong, in which you enter the kind of each error.

    It has one row per pair: irrelevant papers in the first fifth of a ranking, and relevant papers in its lower half
    or missing from it.
    Run it again at any time: your entries in the columns kind and note stay. `annot report` counts the kinds, `annot
    browse` shows them.
    """
    from annot.base.names import counted
    from annot.steps import evaluate as step

    written = step.write_error_sheet(ws)
    line = f"{written.path}: {counted(written.pairs, 'pair')}, {written.with_kind} with a kind"
    return Output(written, line, notes=tuple(step.error_sheet_notes(ws)))


# ----------------------------------------------------------------------------------------------------------------------
# Measure: make and import runs of systems, and train encoders as their papers did.
# ----------------------------------------------------------------------------------------------------------------------


@command("run", alone=True)
def run(
    ws: "Workspace",
    systems: Annotated[
        list[str] | None,
        argument(
            "Systems to run; `annot run list` shows their names.",
            shown="the four term baselines of CSFCube",
            metavar="SYSTEM",
        ),
    ] = None,
    replace: Annotated[bool, flag("--replace", "Overwrite an imported run of the same name.")] = False,
    corpus: options.CorpusOption = None,
) -> Output:
    """Rank the pools with systems and write the runs. Systems compare the query's sentences, or a topic's text, with
    whole documents."""
    from annot.steps import run as step

    with progress("ranking pools") as advance:
        runs = step.make(ws, systems=tuple(systems or ()), replace=replace, corpus=corpus, advance=advance)
    return listing(step.RUNS, runs, notes=step.warnings(ws, runs))


@command("run list", needs_study=False)
def run_list(ws: "Workspace | None") -> Output:
    """List all systems, with their source, what they see of a query and a candidate, and what they need."""
    from annot.publishing.report import commands
    from annot.ranking.systems import known_systems

    return listing(commands.SYSTEMS, tuple(known_systems(ws.settings.plugins.names if ws else ()).values()))


@command("run import")
def run_import(
    ws: "Workspace",
    files: Annotated[list[Path], argument("A TREC run, or ranked pools in CSFCube's JSON format, one file per facet.")],
    tag: Annotated[str, option("Name of the run in this study.")],
    meta: options.MetaOption = None,
    facet: Annotated[
        str | None, option("Facet of the ranked pools.", "--facet", "-f", shown="in the file name")
    ] = None,
    system: Annotated[str | None, option("System, if this is one of several runs of it.", shown="the tag")] = None,
    seed: Annotated[int | None, option("Seed that distinguishes this run from the others.")] = None,
    foreign: Annotated[str | None, option("Documents in no pool: drop, or keep as unjudged.", shown="refuse")] = None,
    duplicates: options.DuplicatesOption = None,
    missing: Annotated[str, option("Candidates that the run lacks: out (left out) or last (ranked last).")] = "out",
    distances: options.DistancesOption = False,
    replace: Annotated[bool, flag("--replace", "Overwrite a run of this name that `annot run` made.")] = False,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Import a run made elsewhere. It is evaluated, reported and released like the runs made here.

    Lists missing, unknown, repeated and tied documents, with examples.
    """
    from annot.ranking.submission import SubmissionRules
    from annot.steps import run as step

    imported = step.import_files(
        ws,
        files,
        tag=tag,
        meta=meta,
        facet=facet,
        system=system,
        seed=seed,
        rules=SubmissionRules(foreign, duplicates, missing),
        distances=distances,
        replace=replace,
        dry_run=dry_run,
    )
    return Output(imported, rendered("run-imported", imported=imported))
