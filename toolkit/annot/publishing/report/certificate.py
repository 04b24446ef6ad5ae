"""The certificate as one page: its first sentence is the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from annot.measuring.reusability.certificate import JUDGED, Certificate
from annot.measuring.reusability.own_finds import MOST_PAPERS
from annot.measuring.reusability.reductions import Reduction
from annot.publishing.report.document import Answer, Document, Section, Table
from annot.publishing.report.words import sentence, sentences, table


def certificate_page(found: Certificate, *, title: str, notice: str | None) -> Document:
    """The verdict with its reasons, then what it rests on. notice: of the collection, as in its report."""
    values = _values(found)
    verdict = sentence("reusability.verdict", **values)
    return Document(
        title=sentence("reusability.title", title=title),
        subtitle="",
        notice=notice,
        answers=(Answer("Reusability", verdict, sentences("reusability.reasons", **values)),),
        body=tuple(_sections(found)),
    )


def terminal(found: Certificate) -> tuple[str, list[Table]]:
    """The verdict with its reasons, and the tables."""
    told = [
        sentence("reusability.verdict", **_values(found)) + ".",
        *sentences("reusability.reasons", **_values(found)),
    ]
    return "\n".join(told), [one for section in _sections(found) for one in section.blocks if isinstance(one, Table)]


def _sections(found: Certificate) -> Iterator[Section]:
    values = _values(found)
    yield Section(
        "losses",
        "What each method alone found",
        sentences("reusability.losses", **values),
        (table("reusability.losses", found.losses, found=found),),
    )
    if found.methods:
        yield _reduced("methods", "The runs without one method", found.methods, values)
    if found.depths:
        yield _reduced("depths", "At a lesser depth", found.depths, values)
    runs = (table("reusability.runs", found.runs),)
    yield Section("unjudged", "What is not judged", sentences("reusability.unjudged", **values), runs)
    halves = (table("reusability.halves", found.halves.swaps),) if found.halves else ()
    yield Section("halves", "Half of the queries", sentences("reusability.halves", **values), halves)


def _reduced(name: str, heading: str, rows: tuple[Reduction, ...], values: dict[str, object]) -> Section:
    changed = [
        {"name": row.name, "change": change}
        for row in rows
        for change in row.changes
        if change.rank_before != change.rank_after or abs(change.before - change.after) >= NOTABLE
    ]
    blocks = [table(f"reusability.{name}", rows)]
    if changed:
        blocks.append(table(f"reusability.{name}_runs", changed))
    return Section(name, heading, sentences(f"reusability.{name}", **values), tuple(blocks))


NOTABLE = 0.005
"""Half a point: changes below, without another rank, are in the JSON only."""


def _values(found: Certificate) -> dict[str, object]:
    return {
        "found": found,
        "judged": JUDGED,
        "most_papers": MOST_PAPERS,
        "above": [one for one in found.losses if one.place == "above"],
        "open": [one for one in found.losses if one.place == "open"],
        "unjudged": [run.run for run in found.runs if run.judged_at_20 < JUDGED],
    }
