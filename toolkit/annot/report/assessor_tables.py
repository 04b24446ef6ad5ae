"""The tables of how assessors grade: two by two, against the final grades, against themselves, and by a model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from annot.diagnosis import AgainstFinal, HardPair, PairDiagnosis, Undefined, order_of_hard
from annot.report.assessor_cells import NONE, estimate, figure, fixed, number, percent, share
from annot.report.diagnosed import MAX_STEPS, Diagnosed
from annot.report.document import Table, rows_of

COMMAND = "annot agreement assessors"
MOST_PAIRS, MOST_HARD, MOST_DEPARTURES = 10, 20, 10
"""So many pairs of assessors with their matrices, candidates, and departures are shown; JSON has all."""


def between(found: Diagnosed) -> Iterator[Table]:
    """Every two assessors: the figures, and who gave which grade where the other gave which."""
    met = [one for one in found.matrix if one.same.of]
    if not met:
        return
    yield Table(
        "Every two assessors: the share of equal grades, Cohen's kappa with quadratic weights, and the mean "
        "difference in grades.",
        ("Assessor", "Against", "Pairs", "Same", "Kappa", "Difference"),
        rows_of(
            (
                one.first,
                one.second,
                one.same.of,
                share(one.same),
                figure(one.coefficient, one.coefficient_interval),
                estimate(one.difference),
            )
            for one in met
        ),
        COMMAND,
        notes=_reasons((f"{one.first} and {one.second}", one.coefficient) for one in met),
        numeric_from=2,
    )
    yield Table(
        "Every two assessors, grade by grade: how often the first gave the row's grade and the second the column's.",
        ("Assessor", "Against", "Grade", *map(str, found.scale)),
        rows_of(
            (one.first, one.second, grade, *row)
            for one in met[:MOST_PAIRS]
            for grade, row in zip(found.scale, one.table, strict=True)
        ),
        COMMAND,
        notes=_cut(min(MOST_PAIRS, len(met)), len(met), "pairs of assessors", ""),
        numeric_from=2,
    )


def against_final(found: Diagnosed) -> Iterator[Table]:
    """Each assessor against the final grades, as a whole and grade by grade."""
    severity = {one.assessor: one.severity for one in found.severities}
    yield Table(
        "Each assessor against the final grades, on pairs that someone else judged or settled too. Bias: mean grade "
        "above the final one, which is partly the assessor's own. Severity: how much lower than the others on the "
        "same pairs, in grades. Upheld: of the adjudicated pairs, those settled as judged.",
        ("Assessor", "Pairs", "As the final grade", "Bias", "Severity", "Adjudicated", "Upheld"),
        rows_of(
            (
                one.assessor,
                one.same.of,
                share(one.same),
                estimate(one.bias),
                estimate(severity[one.assessor]),
                one.upheld.of,
                share(one.upheld),
            )
            for one in found.against_final
        ),
        COMMAND,
        notes=_reasons((None, one.same.value) for one in found.against_final),
    )
    known = [one for one in found.against_final if not isinstance(one.table, Undefined)]
    if known:
        yield Table(
            "Each assessor against the final grades, grade by grade: how often the assessor gave the column's grade "
            "where the final one is the row's, and the share that is the same.",
            ("Assessor", "Final grade", "Pairs", *(f"Gave {grade}" for grade in found.scale), "Same"),
            rows_of(row for one in known for row in _by_grade(one, found.scale)),
            COMMAND,
        )


def _by_grade(one: AgainstFinal, scale: Sequence[int]) -> Iterator[tuple[object, ...]]:
    assert not isinstance(one.table, Undefined)
    for grade, row in zip(scale, one.table, strict=True):
        yield one.assessor, grade, sum(row), *row, share(one.by_grade[grade])


def repeats(found: Diagnosed) -> Iterator[Table]:
    """Each assessor against themselves, then all together; nothing where nothing was asked twice."""
    if found.self_consistency:
        yield Table(
            "Hidden repeats: pairs that came to the same assessor a second time, unannounced. Nobody agrees with "
            "another more than with themselves.",
            ("Assessor", "Repeats", "Same grade again", "Within one grade", "Later grade less the first"),
            rows_of(
                (
                    "together" if one.assessor is None else one.assessor,
                    one.same.of,
                    share(one.same),
                    share(one.within_one),
                    estimate(one.change),
                )
                for one in found.self_consistency
            ),
            COMMAND,
        )


def parts(found: Diagnosed) -> Iterator[Table]:
    """What the disagreement of every two assessors is made of."""
    if isinstance(found.diagnosis, Undefined) or not found.diagnosis.pairs:
        return
    shown = found.diagnosis.pairs[:MOST_PAIRS]
    rows = [_parts(one) for one in shown]
    notes = _cut(len(shown), len(found.diagnosis.pairs), "pairs of assessors", "")
    if any(cell.startswith("-") for row in rows for cell in row[5:]):
        notes += (
            "A part below 0 brings the two closer together than they would be without it, as where both are strict.",
        )
    yield Table(
        "What every two assessors differ in, in percent of their common pairs. Differ: as observed. Expected: by an "
        "ordinal model, the sum of the columns after it. Ordinary: what two assessors differ in of whom nothing was "
        "found, on candidates that lie near the border of two grades. Severity, threshold, noise: what the findings "
        "add; 0.0 where nothing was found beyond chance.",
        ("Assessor", "And", "Pairs", "Differ", "Expected", "Ordinary", "Severity", "Threshold", "Noise"),
        rows_of(rows),
        COMMAND,
        notes=notes,
        numeric_from=2,
    )


def _parts(one: PairDiagnosis) -> tuple[str, ...]:
    names = ("severity", "threshold", "noise")
    told = [percent(one.parts[name].value) for name in names]
    expected = percent(one.expected)
    ordinary = NONE
    if NONE not in (expected, *told):
        # Rounded so that the row adds up.
        ordinary = fixed(float(expected) - sum(map(float, told)), 1)
    return one.first, one.second, str(one.differ.of), share(one.differ), expected, ordinary, *told


def hardest(found: Diagnosed, queries: Collection[str]) -> Iterator[Table]:
    """The hardest candidates of all, or all that are told of some queries."""
    if isinstance(found.diagnosis, Undefined):
        return
    told = [one for one in found.diagnosis.hardest if not queries or one.query_id in queries]
    told.sort(key=order_of_hard)
    shown = told if queries else told[:MOST_HARD]
    if not shown:
        return
    yield Table(
        f"The {len(shown)} hardest candidates: the grades least expected of these assessors on this query. Chance: "
        "of grades so far apart or farther.",
        ("Query", "Facet", "Document", "Grades", "Apart", "Chance"),
        rows_of(map(_hard, shown)),
        COMMAND,
        notes=_cut(len(shown), len(told), "candidates (the hardest of each query)", "--query QUERY, or "),
        numeric_from=4,
    )


def _hard(one: HardPair) -> tuple[object, ...]:
    grades = ", ".join(f"{name} {grade}" for name, grade in sorted(one.grades.items()))
    return one.query_id, one.facet, one.doc_id, grades, one.spread, f"{one.probability:.2g}"


def model(found: Diagnosed) -> Iterator[Table]:
    """What Dawid and Skene's model says of each assessor, and where it departs from the final grades."""
    fitted = found.dawid_skene
    doubt = "" if fitted.converged else f" It has not converged after {MAX_STEPS:,} steps: read it as provisional."
    yield Table(
        "Dawid and Skene's model: how often, in percent, the assessor gives the column's grade where the model has the "
        f"row's.{doubt}",
        ("Assessor", "Model's grade", *map(str, found.scale)),
        rows_of(
            (name, grade, *map(percent, row))
            for name, rates in list(fitted.errors.items())[:MOST_PAIRS]
            for grade, row in zip(found.scale, rates, strict=True)
        ),
        COMMAND,
        notes=_cut(min(MOST_PAIRS, len(fitted.errors)), len(fitted.errors), "assessors", ""),
    )
    if fitted.departures and not isinstance(fitted.same.value, Undefined):
        shown = fitted.departures[:MOST_DEPARTURES]
        yield Table(
            f"Where Dawid and Skene's model departs from the final grade, most certain first.{doubt}",
            ("Query", "Document", "Final grade", "Model's grade", "Probability"),
            rows_of((one.query_id, one.doc_id, one.final, one.model, number(one.probability)) for one in shown),
            COMMAND,
            notes=_cut(len(shown), len(fitted.departures), "pairs", ""),
            numeric_from=2,
        )


def _cut(shown: int, of: int, what: str, before: str) -> tuple[str, ...]:
    return (f"Shown: {shown} of {of} {what}; all: {COMMAND} {before}--json.",) if shown < of else ()


def _reasons(values: Iterable[tuple[str | None, object]]) -> tuple[str, ...]:
    """Why figures have no value, one sentence each."""
    return tuple(
        f"Undefined{'' if who is None else f' for {who}'}: {value.reason}."
        for who, value in values
        if isinstance(value, Undefined)
    )
