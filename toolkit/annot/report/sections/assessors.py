"""The assessors: against each other, against the final grades, how they work, and why they disagree."""

from __future__ import annotations

from collections.abc import Collection

from annot.diagnosis import GuidelineGap, Undefined
from annot.report import assessor_tables, assessor_times
from annot.report.assessor_cells import percent, share
from annot.report.diagnosed import MAX_STEPS, Diagnosed, Looked
from annot.report.document import Section
from annot.report.text import sentence

POLICY = {"drop": "as annot.toml has it", "zero": "though annot.toml counts them as grade 0 in the coefficients"}


def assessors(looked: Looked, queries: Collection[str] = ()) -> Section:
    """How each assessor judges, and what their disagreement is made of. queries: show hard candidates of these only."""
    found = looked.diagnosed
    return Section(
        "assessors",
        "Assessors, and why they disagree",
        tuple(
            sentence(line)
            for line in (
                *finding_lines(found),
                *assessor_times.change_lines(looked),
                _model(found),
                _missing(found),
                f"Intervals: {100 * found.level:g}%, with whole queries as the units of chance (shares: Wilson's, "
                "clustered; kappa: jackknife; means: clustered; all with Student's t); of a median time by order "
                "statistics",
            )
        ),
        (
            *assessor_tables.between(found),
            *assessor_tables.against_final(found),
            *assessor_tables.repeats(found),
            *assessor_tables.parts(found),
            *assessor_tables.hardest(found, queries),
            *assessor_tables.model(found),
            *assessor_times.pace(looked),
            *assessor_times.streaks(looked),
            *assessor_times.changes(looked),
        ),
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


def _model(found: Diagnosed) -> str:
    fitted = found.dawid_skene
    mix = ", ".join(f"{grade}: {percent(value)}%" for grade, value in fitted.prevalence.items())
    head = f"Dawid and Skene's model (1979), fitted to the grades alone, has the grades in these shares: {mix}; "
    if isinstance(fitted.same.value, Undefined):
        told = f"it cannot be set beside the final grades: {fitted.same.value.reason}"
    else:
        facets = ", ".join(f"{name} {share(one)}" for name, one in fitted.by_facet.items())
        told = f"it gives the final grade of {share(fitted.same)} of {fitted.same.of} pairs ({facets})"
    if not fitted.converged:
        told += f"; it has not converged after {MAX_STEPS:,} steps, so that all of this is provisional"
    return head + told


def _missing(found: Diagnosed) -> str:
    some = [f"{one.assessor} {one.asked - one.graded:,} of {one.asked:,}" for one in found.missing]
    some = [text for text, one in zip(some, found.missing, strict=True) if one.asked > one.graded]
    if not some:
        return "every judgement that was asked for has a grade"
    return (
        f"judgements without a grade are left out in all that is said of assessors, {POLICY[found.policy]}: "
        + ", ".join(some)
    )


def _gap(one: GuidelineGap) -> str:
    examples = ", ".join(f"{pair.query_id} {pair.doc_id}" for pair in one.examples)
    return (
        f"the guidelines of {one.facet} may leave grades {one.low} and {one.high} open: {one.observed} pairs have "
        f"both, {one.expected:.1f} expected (p = {one.p_value:.2g}); for example {examples}"
    )
