"""What models' opinions are worth: the first sentence of each, and all figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from annot.base.errors import MissingInput
from annot.base.names import counted
from annot.judging.opinions.early import check_early, note_early
from annot.measuring.opinions_of_study import runs_of_family
from annot.publishing.report.document import Table
from annot.publishing.report.sections import opinions as section
from annot.publishing.report.study import MeasuredOpinion, Study
from annot.publishing.report.terminal import table_text, wrapped
from annot.store import opinions
from annot.store.runs import read_runs
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace


def measure(ws: Workspace, name: str | None, *, before_judging: str | None) -> tuple[MeasuredOpinion, ...]:
    """The opinion of this name, or all. before_judging: why it is shown before all pairs are settled; goes on record.

    Raises MissingInput if no model was asked, or none has answered yet.
    """
    with ws.reading() as session:
        names = opinions.opinion_names(session) if name is None else (opinions.read_asked_model(session, name).name,)
        if not names:
            raise MissingInput("no model was asked for an opinion", hint="ask one with `annot opinion ask`")
        reason = check_early(ws, session, "shown", why=before_judging)
    if reason is not None:
        with ws.writing() as session:
            for one in names:
                note_early(session, one, "shown", reason)
    found = tuple(one for one in Study(read_snapshot(ws)).opinions if one.worth.name in names)
    if not found:
        raise MissingInput(
            f"opinion {names[0]}: no answer yet on the texts that are judged",
            hint=f"ask with `annot opinion ask {names[0]}`",
        )
    return found


def notes(ws: Workspace, found: Iterable[MeasuredOpinion]) -> Iterator[str]:
    """What to know of these opinions besides: which are left out elsewhere, and what in `family` fits no run."""
    with ws.reading() as session:
        on_record = read_runs(session)
    for standing in (one.standing for one in found):
        if not standing.reported:
            yield f"{standing.name} is not in report, datasheet and release: {standing.why_not_reported}"
        if standing.set_aside:
            yield (
                f"{standing.name}: {counted(standing.set_aside, 'pair')} set aside, because the model read another "
                f"version of a text; `annot opinion ask {standing.name}` asks about them again"
            )
        settings = ws.settings.opinions.get(standing.name)
        tags = [path.stem for path in ws.runs.glob("*.run")]
        for pattern in settings.family if settings and tags else ():
            if not runs_of_family([pattern], tags, on_record):
                yield f"[opinions.{standing.name}] family: {pattern!r} fits no run and no system"


def tables(found: tuple[MeasuredOpinion, ...]) -> tuple[Table, ...]:
    """Of several opinions, the table with a row for each; of one opinion, all tables."""
    return (section.overview(found),) if len(found) > 1 else tuple(section.tables(found))


def describe(found: tuple[MeasuredOpinion, ...]) -> str:
    """The sentences, then the tables, then how they were made."""
    first, last = ("\n".join(map(wrapped, of)) for of in (section.told(found), section.method(found)))
    return "\n\n".join([first, *map(table_text, tables(found)), last])
