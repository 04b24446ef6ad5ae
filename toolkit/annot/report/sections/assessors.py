"""The assessors: against each other, against the final grades, and why they disagree."""

from __future__ import annotations

from annot.diagnosis import Estimate, GuidelineGap, Interval, Share, Undefined, Value
from annot.report.diagnosed import Diagnosed
from annot.report.document import Section, Table, rows_of

COMMAND = "annot agreement assessors"
SHOWN_HARDEST = 20


def assessors(found: Diagnosed) -> Section:
    """How each assessor judges, and what their disagreement is made of."""
    blocks = [
        Table(
            "Every two assessors: the share of equal grades, Cohen's kappa with quadratic weights, and the mean "
            "difference in grades.",
            ("Assessor", "Against", "Pairs", "Same", "Kappa", "Difference"),
            rows_of(matrix_rows(found)),
            COMMAND,
            numeric_from=2,
        ),
        Table(
            "Each assessor against the final grades. Bias: mean grade above the final one. Severity: how much lower "
            "than the others on the same pairs, in grades. Upheld: of the adjudicated pairs, those settled as judged.",
            ("Assessor", "Pairs", "As the final grade", "Bias", "Severity", "Upheld"),
            rows_of(against_rows(found)),
            COMMAND,
        ),
    ]
    if found.self_consistency:
        blocks.append(
            Table(
                "Hidden repeats: pairs that came to the same assessor a second time, unannounced. Nobody agrees with "
                "another more than with themselves.",
                ("Assessor", "Repeats", "Same grade again", "Within one grade", "Later grade less the first"),
                rows_of(repeat_rows(found)),
                COMMAND,
            )
        )
    if not isinstance(found.diagnosis, Undefined):
        if found.diagnosis.pairs:
            blocks.append(_parts(found))
        if found.diagnosis.hardest:
            blocks.append(_hardest(found))
    same = found.dawid_skene.same
    return Section(
        "assessors",
        "Assessors, and why they disagree",
        (
            *(f"{line}." for line in finding_lines(found)),
            f"Dawid and Skene's model (1979), fitted to the grades alone, gives the final grade of {_share(same)} of "
            f"{same.of} pairs.",
        ),
        tuple(blocks),
    )


def finding_lines(found: Diagnosed) -> list[str]:
    """The findings in words; that there is none is said too."""
    diagnosis = found.diagnosis
    if isinstance(diagnosis, Undefined):
        return [f"no diagnosis: {diagnosis.reason}"]
    lines = [f"{one.text} (p = {one.p_value:.2g})" for one in diagnosis.findings]
    lines += [_gap(one) for one in diagnosis.gaps]
    if not lines:
        lines.append(
            f"no assessor differs from the others by more than chance: {diagnosis.tested} ways were tested at a "
            f"family-wise level of {diagnosis.alpha:g}"
        )
    return lines


def matrix_rows(found: Diagnosed) -> list[tuple[object, ...]]:
    """Every two assessors that have judged a pair in common."""
    return [
        (one.first, one.second, one.same.of, _share(one.same), _value(one.coefficient), _estimate(one.difference))
        for one in found.matrix
        if one.same.of
    ]


def against_rows(found: Diagnosed) -> list[tuple[object, ...]]:
    """Each assessor against the final grades and against the others."""
    severity = {one.assessor: one.severity for one in found.severities}
    return [
        (
            one.assessor,
            one.same.of,
            f"{_share(one.same)} {_interval(one.same.interval, 100)}".strip(),
            _estimate(one.bias),
            _estimate(severity[one.assessor]),
            f"{_share(one.upheld)} of {one.upheld.of}",
        )
        for one in found.against_final
    ]


def repeat_rows(found: Diagnosed) -> list[tuple[object, ...]]:
    """Each assessor against themselves, then all together."""
    return [
        (
            "together" if one.assessor is None else one.assessor,
            one.same.of,
            f"{_share(one.same)} {_interval(one.same.interval, 100)}".strip(),
            f"{_share(one.within_one)} {_interval(one.within_one.interval, 100)}".strip(),
            _estimate(one.change),
        )
        for one in found.self_consistency
    ]


def _parts(found: Diagnosed) -> Table:
    assert not isinstance(found.diagnosis, Undefined)
    rows = [
        (
            one.first,
            one.second,
            one.differ.of,
            _share(one.differ),
            *(_percent(part.value) for part in one.parts.values()),
            _percent(one.ordinary),
        )
        for one in found.diagnosis.pairs
    ]
    names = list(found.diagnosis.pairs[0].parts)
    return Table(
        "What the disagreement of every two assessors is made of, in percent of their common pairs, by an ordinal "
        "model; 0 where nothing was found beyond chance.",
        ("Assessor", "And", "Pairs", "Differ", *(name.capitalize() for name in names), "Ordinary"),
        rows_of(rows),
        COMMAND,
        numeric_from=2,
    )


def _hardest(found: Diagnosed) -> Table:
    assert not isinstance(found.diagnosis, Undefined)
    hardest = sorted(found.diagnosis.hardest, key=lambda one: (one.probability, one.query_id, one.doc_id))
    rows = [
        (
            one.query_id,
            one.doc_id,
            ", ".join(f"{name} {grade}" for name, grade in sorted(one.grades.items())),
            one.spread,
        )
        for one in hardest[:SHOWN_HARDEST]
    ]
    return Table(
        f"The {len(rows)} hardest candidates: the grades least expected of these assessors on this query.",
        ("Query", "Document", "Grades", "Apart"),
        rows_of(rows),
        COMMAND,
        numeric_from=3,
    )


def _gap(one: GuidelineGap) -> str:
    examples = ", ".join(f"{pair.query_id} {pair.doc_id}" for pair in one.examples)
    return (
        f"the guidelines of {one.facet} may leave grades {one.low} and {one.high} open: {one.observed} pairs have "
        f"both, {one.expected:.1f} expected (p = {one.p_value:.2g}); for example {examples}"
    )


def _share(one: Share) -> str:
    return "–" if isinstance(one.value, Undefined) else f"{100 * one.value:.1f}%"


def _percent(value: Value) -> str:
    return "–" if isinstance(value, Undefined) else f"{100 * value:.1f}"


def _value(value: Value) -> str:
    return "undefined" if isinstance(value, Undefined) else f"{value:.2f}"


def _estimate(one: Estimate) -> str:
    return "–" if isinstance(one.value, Undefined) else f"{one.value:+.2f} {_interval(one.interval, 1)}".strip()


def _interval(interval: Interval | Undefined, scale: float) -> str:
    if isinstance(interval, Undefined):
        return ""
    digits = 0 if scale == 100 else 2
    return f"[{scale * interval.low:.{digits}f}, {scale * interval.high:.{digits}f}]"
