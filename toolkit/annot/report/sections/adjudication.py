"""What adjudication had to do."""

from __future__ import annotations

from collections import Counter

from annot.agreement import TOGETHER, GroupAgreement
from annot.report.agreed import intervals_in_words, policy_in_words, share
from annot.report.document import Figure, Section, Table, rows_of
from annot.report.study import Study, group_named


def adjudication(study: Study) -> Section:
    """How many pairs needed it, how often the final grade is nobody's, and on what grounds."""
    groups = study.agreement.groups
    blocks: list[Table | Figure] = [
        Table(
            "Pairs that needed adjudication, of those given to two or more assessors; and pairs whose final grade is "
            "none of the assessors', of those with two or more grades. The last column is the mean of the queries' "
            f"shares. {intervals_in_words(study.agreement)}",
            ("Facet", "Two or more grades", "Needed it", "Share", "Over-ruled", "Share", "Mean per query"),
            rows_of([_row(group) for group in groups]),
            f"annot agreement --missing {study.agreement.missing}",
        )
    ]
    reasons = Counter(one.reason for one in study.decisions if one.origin == "adjudicated" and one.reason)
    if reasons:
        blocks.append(
            Table(
                "Grounds that the adjudicator gave.",
                ("Ground", "Pairs"),
                rows_of([[reason, count] for reason, count in sorted(reasons.items(), key=lambda o: (-o[1], o[0]))]),
                "annot adjudicate status",
            )
        )
    return Section("adjudication", "Adjudication", tuple(_sentences(study)), tuple(blocks))


def _row(group: GroupAgreement) -> list[object]:
    disputed, over_ruled = group.disputed.pooled, group.overruled.pooled
    mean = share(group.overruled, "mean", digits=2)
    return [
        group.name,
        group.n_pairs,
        f"{disputed.count} of {disputed.of}",
        share(group.disputed, "pooled", digits=1),
        "undefined" if group.not_settled else over_ruled.count,
        share(group.overruled, "pooled", digits=1),
        mean if mean == "undefined" else f"{mean} ({group.overruled.n_queries} queries)",
    ]


def _sentences(study: Study) -> list[str]:
    together = group_named(study.agreement, TOGETHER)
    found = [
        f"{study.agreed} pairs were agreed and settled without a person, {study.adjudicated} by an adjudicator; "
        f"{study.open} are open."
    ]
    if study.single:
        found.append(f"Of the agreed, {study.single} had one assessor only: that grade is final.")
    if together.not_settled is not None:
        found.append(f"While disputes are open no share over-ruled is told: {together.not_settled.reason}.")
    # A person has or had these, and they are not among `disputed`.
    others = study.adjudicated + study.open - together.disputed.pooled.count - together.agreed_by_policy
    if together.agreed_by_policy:
        found.append(
            f"A person has or had {study.adjudicated + study.open} pairs, and {together.disputed.pooled.count} are "
            f"counted as in need of adjudication. {policy_in_words(study.agreement)}"
        )
    if others > 0:
        found.append(
            f"{others} pairs settled by an adjudicator, or open, are not counted as in need of it: fewer than two "
            "assessors were asked or have answered, or their grades have become equal since."
        )
    return found
