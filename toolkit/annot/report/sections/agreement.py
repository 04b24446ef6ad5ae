"""Agreement between the assessors, before and after adjudication."""

from __future__ import annotations

from collections.abc import Mapping

from annot.agreement import HEADLINE, AgreementTable
from annot.agreement.missing import IN_WORDS
from annot.report import figures
from annot.report.agreed import (
    EVERY_HEADINGS,
    KEY,
    every_rows,
    headline_rows,
    intervals_in_words,
    query_rows,
)
from annot.report.document import Figure, Section, Table, rows_of
from annot.report.reasons import HEADINGS, reasons
from annot.report.study import Study, plain


def agreement(study: Study) -> Section:
    """Every coefficient per facet and together, before and after adjudication, with intervals over whole queries."""
    table = study.agreement
    dots = {
        one.query_id: (plain(one.before["spearman_rho"]), plain(one.after["spearman_rho"])) for one in table.queries
    }
    command = f"annot agreement --missing {table.missing}"
    blocks: list[Table | Figure] = [
        Table(
            f"Median over queries. {intervals_in_words(table)} {KEY}",
            ("Facet", "Adjudication", *(table.titles[name] for name in HEADLINE)),
            rows_of(headline_rows(table)),
            command,
            numeric_from=2,
        ),
        Figure(
            "Spearman's rho on each query, before and after adjudication.",
            figures.paired_dots(dots, names=("before adjudication", "after adjudication"), unit="Spearman's rho"),
            f"Dots for {_with_a_dot(dots)} queries; the tables have the medians.",
        ),
        Table(
            "Every coefficient: median, mean and quartiles over the queries in which it has a value, of all queries; "
            f"pooled is of all pairs together. {intervals_in_words(table)}",
            EVERY_HEADINGS,
            rows_of(every_rows(table)),
            f"annot agreement --all --missing {table.missing}",
            numeric_from=3,
        ),
    ]
    if study.binarised:
        blocks.append(_binarised(study.binarised, table.missing))
    blocks += _reasons(study)
    return Section(
        "agreement",
        "Agreement",
        (
            "Per query, then summarised over queries. Before adjudication between the assessors; after it the mean "
            "of each assessor with the final grade, on the same pairs: those with two or more grades. While disputes "
            "of a facet are open, nothing is summarised after adjudication: what is settled first is the easy part.",
            f"Missing judgements: {table.missing}. {IN_WORDS[table.missing]}",
        ),
        tuple(blocks),
    )


def _with_a_dot(dots: Mapping[str, tuple[float | None, float | None]]) -> str:
    """How many queries have a value to draw."""
    drawn = sum(pair != (None, None) for pair in dots.values())
    return str(drawn) if drawn == len(dots) else f"{drawn} of {len(dots)}"


def each_query(study: Study) -> Section:
    """The headline coefficients of every query."""
    table = study.agreement
    return Section(
        "agreement-queries",
        "Appendix: agreement on each query",
        (),
        (
            Table(
                "The headline coefficients on each query, before and after adjudication. Pairs: with two or more "
                "grades. Why one is undefined stands in the section on agreement.",
                ("Query", "Adjudication", *(table.titles[name] for name in HEADLINE), "Pairs"),
                rows_of(query_rows(table)),
                f"annot agreement --per-query --missing {table.missing}",
                numeric_from=2,
            ),
        ),
    )


def _binarised(tables: tuple[AgreementTable, ...], missing: str) -> Table:
    rows = [row for table in tables for row in headline_rows(table, first=[f"{table.binarised_at} or higher"])]
    return Table(
        "Binarised: a grade or higher against lower, at each grade. Median over queries. "
        f"{intervals_in_words(tables[0])} {KEY}",
        ("Grades", "Facet", "Adjudication", *(tables[0].titles[name] for name in HEADLINE)),
        rows_of(rows),
        f"annot agreement --binarised-at {tables[0].binarised_at} --missing {missing}",
        numeric_from=3,
    )


def _reasons(study: Study) -> list[Table | Figure]:
    found = [*reasons(study.agreement, names=tuple(study.agreement.titles))]
    command = f"annot agreement --all --missing {study.agreement.missing}"
    blocks: list[Table | Figure] = []
    if found:
        caption = "Why figures have no value or no interval, and which to take with care."
        blocks.append(Table(caption, HEADINGS, rows_of(found), command, numeric_from=len(HEADINGS)))
    rows = [
        (f"{table.binarised_at} or higher", *one)
        for table in study.binarised
        for one in reasons(table, names=HEADLINE, statistics=("median",))
    ]
    if rows:
        headings = ("Grades", *HEADINGS)
        caption = "The same of the binarised grades."
        command = f"annot agreement --all --binarised-at {study.binarised[0].binarised_at}"
        blocks.append(Table(caption, headings, rows_of(rows), command, numeric_from=len(headings)))
    return blocks
