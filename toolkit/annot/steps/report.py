"""The report: everything that was measured, on one page, from the records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from annot.agreement import TOGETHER, AgreementTable, Undefined
from annot.measures import MEASURES
from annot.pooling import CITED, shares
from annot.records import Pool, Query
from annot.report import figures
from annot.report.document import Document, Fact, Figure, Section, Table, number, rows_of, share
from annot.report.html import page
from annot.report.latex import latex
from annot.report.markdown import markdown
from annot.steps import agreement as agreement_step
from annot.steps import evaluate as evaluate_step
from annot.steps import import_judgements
from annot.steps import imports as csfcube
from annot.steps.outcome import Outcome, outcome_of
from annot.store import facet_labels, papers, pools
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.store.runs import Imported, read_imports, read_runs
from annot.workspace import Workspace, sha256_of, write_file

REPORT_FILE = "report.html"
SIMULATION = "simulation"
"""The kind of import that says that the judgements are simulated."""
MADE_ELSEWHERE = {
    csfcube.SOURCE: "The judgements were imported from a published release.",
    import_judgements.SOURCE: "The judgements were made with another tool and imported from a file. Who had which pair "
    "is what the file says; whether people worked blind to each other is not known here.",
}

CHAIN = (
    "corpus/manifest.json",
    "pools/rankings/manifest.json",
    "pools/manifest.json",
    "pools/plan.jsonl",
    "exports/decisions.jsonl",
    "exports/qrels.txt",
    "exports/agreement.json",
    "exports/evaluation.json",
)


@dataclass(frozen=True, slots=True)
class Written:
    """Where the report lies."""

    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class _Study:
    """Everything the page is made from."""

    ws: Workspace
    papers: int
    origins: dict[str, int]
    queries: tuple[Query, ...]
    pools: dict[str, Pool]
    outcome: Outcome
    agreement: AgreementTable
    evaluated: evaluate_step.Evaluated | None
    run_settings: tuple[tuple[str, str], ...]
    imports: tuple[Imported, ...]


def write(ws: Workspace) -> Written:
    """Write `exports/report.html`, the same as Markdown, and its tables as LaTeX.

    Evaluation is in it when there are qrels and runs.
    """
    document = _document(_read(ws))
    path = ws.exports / REPORT_FILE
    write_file(path, page(document, overrides=ws.root / "templates"))
    write_file(ws.exports / "report.md", markdown(document))
    write_file(ws.exports / "report.tex", latex(document))
    return Written(path, sha256_of(path))


def _read(ws: Workspace) -> _Study:
    agreement = agreement_step.measure(ws, missing=None, binarised_at=None)
    has_runs = (ws.exports / "qrels.txt").is_file() and any(ws.runs.glob("*.run"))
    evaluated = evaluate_step.evaluate(ws, files=(), dialect=None) if has_runs else None
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        return _Study(
            ws=ws,
            papers=papers.count_papers(ws.corpus) if any(ws.corpus.glob("*.parquet")) else 0,
            origins=facet_labels.count_by_origin(session),
            queries=read_queries(session),
            pools=pools.read_pools(session),
            outcome=outcome_of(session),
            agreement=agreement,
            evaluated=evaluated,
            run_settings=tuple(
                (run.tag, ", ".join(f"{name} {_told(value)}" for name, value in sorted(run.facts.items())))
                for run in read_runs(session)
            ),
            imports=read_imports(session),
        )


def _document(study: _Study) -> Document:
    settings = study.ws.settings
    # A study that was judged in another tool may have no corpus and no pools here.
    sections = [_corpus(study), *([_pools(study)] if study.pools else [])]
    sections += [_judgements(study), _agreement(study), _adjudication(study)]
    if study.evaluated is not None:
        sections.append(_evaluation(study, study.evaluated))
    chain = [(name, sha256_of(study.ws.root / name)) for name in CHAIN if (study.ws.root / name).is_file()]
    return Document(
        title=f"{settings.collection.title}: how it was judged, and what it measures",
        subtitle=f"Collection {settings.collection.name}, version {settings.collection.version}",
        notice=_notice(study.imports),
        facts=tuple(_facts(study)),
        sections=tuple(sections),
        chain=tuple(chain),
    )


def _notice(imports: Iterable[Imported]) -> str | None:
    for one in imports:
        if one.what == SIMULATION:
            return str(one.facts["notice"])
    return None


def _facts(study: _Study) -> Iterable[Fact]:
    outcome = study.outcome
    together = agreement_step.group_named(study.agreement, TOGETHER)
    alpha, rho = together.before["alpha_ordinal"], together.before["spearman_rho"]
    counted = sum(not one.flags and one.grade is not None for one in outcome.judgements)
    if study.papers:
        yield Fact("Papers in the corpus", f"{study.papers:,}")
    yield Fact("Queries", str(len(study.queries)), f"{len({one.paper_id for one in study.queries})} query papers")
    yield Fact("Pairs judged", f"{len(outcome.planned):,}", f"{counted:,} grades")
    yield Fact("Spearman's rho", _value(rho.median), f"before adjudication; median of {rho.n_queries} queries")
    yield Fact("Krippendorff's alpha", _value(alpha.median), f"ordinal; median of {alpha.n_queries} queries")
    disputed = together.disputed.pooled
    yield Fact("Needed adjudication", share(disputed.count, disputed.of), f"{disputed.count} of {disputed.of} pairs")


def _corpus(study: _Study) -> Section:
    origin = ", ".join(f"{count:,} {name}" for name, count in study.origins.items())
    settings = study.ws.settings
    per_facet = Counter(query.facet for query in study.queries)
    rows = [
        [facet, ", ".join(labels), per_facet[facet]] for facet, labels in settings.facets.items() if per_facet[facet]
    ]
    corpus = f"{study.papers:,} papers. Sentence labels by origin: {origin or 'none'}. " if study.papers else ""
    emphasis = "; the facet's sentences are emphasised to the assessors" if not _made_elsewhere(study) else ""
    return Section(
        "corpus",
        "Corpus and queries" if study.papers else "Queries",
        (f"{corpus}A query is a paper and one facet of it{emphasis}.",),
        (
            Table(
                "Queries by facet, and the sentence labels that make each facet.",
                ("Facet", "Sentence labels", "Queries"),
                rows_of(rows),
                "annot query list",
                numeric_from=2,
            ),
        ),
    )


def _pools(study: _Study) -> Section:
    names = list(dict.fromkeys(method for pool in study.pools.values() for method in pool.methods))
    order = sorted(names, key=lambda name: (name != CITED, name))
    drawn = {
        paper_id: dict(Counter(entry.drawn.method for entry in pool.entries)) for paper_id, pool in study.pools.items()
    }
    totals = Counter[str]()
    deepest: dict[str, int] = {}
    for pool in study.pools.values():
        for one in shares(pool):
            totals[one.method] += one.drawn
            if one.deepest is not None:
                deepest[one.method] = max(deepest.get(one.method, 0), one.deepest)
    size = sum(totals.values())
    rows = [[name, totals[name], share(totals[name], size), deepest.get(name)] for name in order]
    sizes = sorted(len(pool.entries) for pool in study.pools.values())
    modes = ", ".join(sorted({_how(pool) for pool in study.pools.values()}))
    figure = Figure(
        "Documents of each pool by the method that drew them.",
        figures.stacked_bars(
            {name: {k: float(v) for k, v in parts.items()} for name, parts in drawn.items()},
            order=order,
            unit="documents",
        ),
        f"Stacked bars for {len(drawn)} pools of {sizes[0]} to {sizes[-1]} documents.",
    )
    table = Table(
        "What each method drew, and how deep it had to go.",
        ("Method", "Drawn", "Share", "Deepest rank"),
        rows_of(rows),
        "annot pool show QUERY",
    )
    mean = sum(sizes) / len(sizes)
    return Section(
        "pools",
        "Pools",
        (
            f"{len(sizes)} pools of {sizes[0]} to {sizes[-1]} documents, {mean:.2f} on average, drawn {modes}. "
            "A document already in the pool is passed over and the method draws further down.",
        ),
        (figure, table),
    )


def _how(pool: Pool) -> str:
    quota = "" if pool.per_method is None else f" with {pool.per_method} per method"
    return f"{pool.mode}{quota}"


def _judgements(study: _Study) -> Section:
    scale = study.ws.settings.scale
    facet_of = {query.query_id: query.facet for query in study.queries}
    grades: dict[str, Counter[int]] = {}
    for one in study.outcome.decisions:
        grades.setdefault(facet_of[one.query_id], Counter())[one.grade] += 1
    names = [f"{grade} {name}" for grade, name in enumerate(scale.names)]
    percent = {
        facet: {names[grade]: 100 * counts[grade] / counts.total() for grade in scale.grades}
        for facet, counts in sorted(grades.items())
    }
    by_assessor: dict[str, Counter[int | None]] = {}
    for one_judgement in study.outcome.judgements:
        if not one_judgement.flags:
            by_assessor.setdefault(one_judgement.assessor, Counter())[one_judgement.grade] += 1
    rows = [
        [
            assessor,
            counts.total(),
            *(share(counts[grade], counts.total()) for grade in scale.grades),
            counts[None],
            number(sum(g * n for g, n in counts.items() if g is not None) / max(1, counts.total() - counts[None])),
        ]
        for assessor, counts in sorted(by_assessor.items())
    ]
    blocks: list[Table | Figure] = []
    if percent:
        blocks.append(
            Figure(
                "Final grades, in percent of the pairs of each facet.",
                figures.grouped_bars(percent, unit="% of pairs"),
                "; ".join(
                    f"{facet}: " + ", ".join(f"{name} {value:.1f}%" for name, value in parts.items())
                    for facet, parts in percent.items()
                ),
            )
        )
    blocks.append(
        Table(
            "What each assessor gave.",
            ("Assessor", "Pairs", *names, "No grade", "Mean"),
            rows_of(rows),
            "annot status",
        )
    )
    return Section(
        "judgements",
        "Judgements",
        (_how_judged(study),),
        tuple(blocks),
    )


def _made_elsewhere(study: _Study) -> bool:
    return any(one.what in MADE_ELSEWHERE for one in study.imports)


def _how_judged(study: _Study) -> str:
    for one in study.imports:
        if one.what in MADE_ELSEWHERE:
            return MADE_ELSEWHERE[one.what]
    return (
        f"Every pair was given to {study.ws.settings.judging.per_pair} assessors, each in a Label Studio project "
        "and an order of their own. Blind by layout: nobody was shown another's project; the free edition does "
        "not enforce it."
    )


def _agreement(study: _Study) -> Section:
    table = study.agreement
    policy = {
        "drop": "A pair with a missing judgement is left out.",
        "zero": "A missing judgement counts as grade 0.",
    }[table.missing]
    rows = []
    for group in table.groups:
        for when in ("before", "after"):
            for name, summary in getattr(group, when).items():
                rows.append(
                    [
                        group.name,
                        when,
                        table.titles[name],
                        _value(summary.median),
                        agreement_step.interval(summary, "median"),
                        _value(summary.mean),
                        agreement_step.interval(summary, "mean"),
                        _value(summary.q1),
                        _value(summary.q3),
                        summary.n_queries,
                        summary.n_pairs,
                    ]
                )
    undefined = sorted(
        {
            f"{table.titles[name]} {when} adjudication has no value on {query_id}: {reason}."
            for group in table.groups
            if group.name == TOGETHER
            for when in ("before", "after")
            for name, summary in getattr(group, when).items()
            for query_id, reason in summary.undefined.items()
        }
    )
    dots = {
        one.query_id: (_plain(one.before["spearman_rho"]), _plain(one.after["spearman_rho"])) for one in table.queries
    }
    return Section(
        "agreement",
        "Agreement",
        (
            f"Per query, then summarised over queries. Before adjudication between the assessors; after it the mean "
            f"of each assessor with the final grade. Missing judgements: {table.missing}. {policy}",
        ),
        (
            Figure(
                "Spearman's rho on each query, before and after adjudication.",
                figures.paired_dots(dots, names=("before adjudication", "after adjudication"), unit="Spearman's rho"),
                f"Dots for {len(dots)} queries; the table below has the medians.",
            ),
            Table(
                "Agreement by facet.",
                (
                    *("Facet", "Adjudication", "Coefficient", "Median", "Interval", "Mean", "Interval"),
                    *("Q1", "Q3", "Queries", "Pairs"),
                ),
                rows_of(rows),
                f"annot agreement --missing {table.missing}",
                tuple(undefined),
                numeric_from=3,
            ),
        ),
    )


def _adjudication(study: _Study) -> Section:
    outcome = study.outcome
    rows = []
    for group in study.agreement.groups:
        disputed, over_ruled = group.disputed.pooled, group.overruled.pooled
        rows.append(
            [
                group.name,
                group.n_pairs,
                disputed.count,
                share(disputed.count, disputed.of),
                over_ruled.count,
                share(over_ruled.count, over_ruled.of),
                "–" if isinstance(group.overruled.mean, Undefined) else f"{100 * group.overruled.mean:.2f}%",
            ]
        )
    reasons = Counter(one.reason for one in outcome.decisions if one.origin == "adjudicated" and one.reason)
    blocks: list[Table | Figure] = [
        Table(
            "Pairs that needed adjudication, and pairs whose final grade is none of the assessors'.",
            ("Facet", "Pairs", "Needed it", "Share", "Over-ruled", "Share", "Mean per query"),
            rows_of(rows),
            "annot adjudicate status",
        )
    ]
    if reasons:
        blocks.append(
            Table(
                "Grounds that the adjudicator gave.",
                ("Ground", "Pairs"),
                rows_of([[reason, count] for reason, count in sorted(reasons.items(), key=lambda o: (-o[1], o[0]))]),
                "annot adjudicate status",
            )
        )
    return Section(
        "adjudication",
        "Adjudication",
        (
            f"{len(outcome.settlement.agreed)} pairs were agreed and settled without a person, "
            f"{len(outcome.adjudications)} by an adjudicator; {len(outcome.open)} are open.",
        ),
        tuple(blocks),
    )


def _evaluation(study: _Study, evaluated: evaluate_step.Evaluated) -> Section:
    blocks: list[Table | Figure] = []
    for dialect, names in MEASURES.items():
        rows = [
            [line.facet, line.run, *(f"{100 * line.values[name]:.2f}" for name in names), line.queries, line.average]
            for line in evaluated.lines
            if line.dialect == dialect
        ]
        blocks.append(
            Table(
                f"Dialect {dialect}, in percent.",
                ("Facet", "Run", *names, "Queries", "Average"),
                rows_of(rows),
                f"annot evaluate --dialect {dialect}",
                numeric_from=2,
            )
        )
    blocks.append(Table("Settings of the runs.", ("Run", "Settings"), study.run_settings, "annot run", numeric_from=2))
    return Section(
        "evaluation",
        "Evaluation",
        (
            f"Relevant from grade {evaluated.relevant_from} in the binary measures. The dialect csfcube computes as "
            "that release's script does, trec as trec_eval does. The line chance is the expected value of a random "
            "order of the pool.",
            *evaluated.notes,
        ),
        tuple(blocks),
    )


def _value(value: float | Undefined) -> str:
    return "undefined" if isinstance(value, Undefined) else f"{value:.4f}"


def _plain(value: float | Undefined) -> float | None:
    return None if isinstance(value, Undefined) else value


def _told(value: object) -> str:
    if isinstance(value, dict):
        return "(" + ", ".join(f"{key} {_told(item)}" for key, item in sorted(value.items())) + ")"
    return str(value)
