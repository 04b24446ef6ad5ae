"""Publish and keep: the report, the release, backups, checks, the local Label Studio and the doctor."""

from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from annot.base.errors import MissingInput
from annot.cli import options, output
from annot.cli.commands import command, group, held
from annot.cli.options import argument, flag, option
from annot.cli.output import Output, confirmed, is_attended, needs_a_person, progress, rendered, say

if TYPE_CHECKING:
    from annot.base.errors import AnnotError
    from annot.steps.setup import State
    from annot.study.workspace import Workspace


# ----------------------------------------------------------------------------------------------------------------------
# Publish: the report, the browsing page, the datasheet, the release and the trace of a pair.
# ----------------------------------------------------------------------------------------------------------------------


@command("browse")
def browse(
    ws: "Workspace",
    partial: Annotated[
        bool, flag("--partial", "Show settled grades while judging is in progress. Do not show this page to assessors.")
    ] = False,
    out: options.OutOption = None,
) -> Output:
    """Write a web page for browsing the collection: queries, ranked abstracts, grades, two systems side by side.

    It is one HTML file and works offline. It shows no grades until all pairs are judged, unless you use --partial.
    """
    from annot.steps import publish as step

    written = step.write_browse_page(ws, partial=partial, out=out)
    return Output(written, str(written.path), written.notes)


@command("report")
def report(
    ws: "Workspace",
    table: Annotated[str | None, option("Print this table of the report instead of writing files.")] = None,
    out: options.OutOption = None,
) -> Output:
    """Write the report of the study as a web page and in Markdown, with its tables in LaTeX."""
    from annot.base.names import sha256_of
    from annot.publishing.report.tables import data_of
    from annot.publishing.report.terminal import table_text
    from annot.steps import publish as step

    if table is not None:
        table_of_report = step.table(ws, table)
        return Output(data_of(table_of_report), table_text(table_of_report), name="report --table")
    path = step.write_report(ws, out=out)
    return Output({"path": path, "sha256": sha256_of(path)}, str(path))


@command("figures")
def figures(
    ws: "Workspace",
    purpose: Annotated[
        Literal["screen", "paper"],
        option("screen: in colour; paper: one column and two columns, in greys, with the fonts in each file.", "--for"),
    ] = "screen",
    out: options.OutOption = None,
) -> Output:
    """Write every drawing of the report as SVG, PDF and PNG, each with its data as CSV and its caption in LaTeX.

    They also show every two runs query by query, of which the report may have some only.
    """
    from annot.steps import publish as step

    paths = step.write_figures(ws, purpose=purpose, out=out)
    return Output({"files": paths}, "\n".join(map(str, paths)))


@command("paper")
def paper(ws: "Workspace", out: options.OutOption = None) -> Output:
    """Write a folder for a paper: scores, LaTeX tables, figures, the methods paragraph, and a draft that includes them.

    The draft paper.tex is written once and then yours; all that it includes is renewed each time. It compiles with
    pdfLaTeX and LuaLaTeX.
    """
    from annot.steps import publish as step

    path = step.write_paper(ws, out=out)
    return Output({"path": path}, str(path))


@command("datasheet")
def datasheet(ws: "Workspace") -> Output:
    """Write the datasheet of the collection, with figures from the study and your answers from datasheet.toml."""
    from annot.publishing.release.prose import describe_open
    from annot.steps import publish as step

    written = step.write_datasheet(ws)
    return Output(written, f"{written.markdown}\n{written.page}", describe_open(written.unanswered))


@command("release", alone=False)
def release(
    ws: "Workspace",
    folder: Annotated[Path, argument("A new or empty folder, or that of an earlier release of this collection.")],
    with_text: Annotated[
        bool | None,
        option(
            "Include titles and abstracts, or only the ids of papers.",
            "--with-text/--ids-only",
            shown="texts if annot.toml has text_licence",
        ),
    ] = None,
    licence: Annotated[
        str | None, option("Licence of the judgements: SPDX identifier or URL.", shown="annot.toml")
    ] = None,
    date: Annotated[
        datetime | None,
        option(
            "Date of the release. It has others only if what people were shown changed: days of these changes.",
            shown="annot.toml, or none",
            formats=["%Y-%m-%d"],
        ),
    ] = None,
    allow: Annotated[
        list[str] | None,
        option("Allow this text, although it looks like a name, a path or an address; may be repeated."),
    ] = None,
    consented: Annotated[
        str | None,
        option(
            "Record how people agreed to publish what they wrote before they knew it would be published.", metavar="HOW"
        ),
    ] = None,
    consented_by: Annotated[
        list[str] | None, option("Who agreed; may be repeated.", shown="everyone whose consent is missing")
    ] = None,
    draft: Annotated[
        bool, flag("--draft", "Write an incomplete release, marked as a draft, with a list of what is missing.")
    ] = False,
    corpus: options.CorpusOption = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Write the release: data in five formats, judgements under pseudonyms, dataset card, datasheet and checksums.

    If the corpus has versions, each has a complete release in a folder of its name; what was released of an earlier one
    stays as it is, unless --corpus names it.
    """
    from annot.steps import publish as step

    # The study changes only if consent is put on record.
    recorded = consented is not None and not dry_run
    with held(ws, "release", wait_seconds=0.0) if recorded else nullcontext():
        done = step.release(
            ws,
            folder,
            with_text=with_text,
            licence=licence,
            published=None if date is None else date.date(),
            allowed=tuple(allow or ()),
            consented=consented,
            consenting=tuple(consented_by or ()),
            draft=draft,
            dry_run=dry_run,
            may_publish=_may_publish if is_attended() else None,
            corpus=corpus,
        )
    notes = [*done.notes, *(f"missing: {part}" for part in done.missing)]
    notes += [] if draft or dry_run else step.upload_instructions(ws, done.folder)
    return Output(done, output.table(step.FILES, done.files.items()), notes)


def _may_publish(names: Sequence[str]) -> bool:
    """Show names in people's texts, and ask."""
    output.say("Texts of people that go out with the release have:")
    for line in names:
        output.say(f"  {line}")
    return confirmed("May they be published as they are?")


@command("trace")
def trace(
    ws: "Workspace", query: Annotated[str, argument("Query id.")], document: Annotated[str, argument("Document id.")]
) -> Output:
    """Show the history of a pair: its texts, its place in the pool, every answer, the final grade and its ranks."""
    from annot.steps import trace as step

    story = step.trace(ws, query, document)
    return Output(story, step.describe(story))


# ----------------------------------------------------------------------------------------------------------------------
# Keep: check the study, back it up and restore it.
# ----------------------------------------------------------------------------------------------------------------------


@command("backup", server=True)
def backup(
    ws: "Workspace",
    file: Annotated[Path, argument("The file to write, such as ../study-2026-03-01.tar.gz.")],
    dry_run: options.DryRunOption = False,
) -> Output:
    """Write the whole study to one file: the database, the files, a copy of every project on Label Studio.

    It leaves out .annot (what can be made again, and the local server), backups and .git. It warns if a server cannot
    be reached, so that copies of projects are missing, and if answers were not pulled. The program also backs up the
    database, the plan and the settings by itself, in backups/: after each push and pull and before it deletes anything.
    """
    from annot.steps import backup as step

    with progress("copying projects") as advance:
        written = step.backup(ws, file, dry_run=dry_run, advance=advance)
    return Output(written, rendered("backup", found=written), written.notes)


@command("restore")
def restore(
    file: Annotated[Path, argument("The backup.")],
    folder: Annotated[Path, argument("Folder of the study; created if it does not exist.")] = Path(),
    replace: Annotated[bool, flag("--replace", "Move existing files of the folder to backups/ in it first.")] = False,
    wait: options.WaitOption = 0.0,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Restore a study from a backup, after checking every file and row of it. Restores everything or nothing.

    An automatic backup restores the database, the plan and the settings, and leaves other files as they are. Nothing is
    written outside the folder. To restore into a database elsewhere, set ANNOT_DATABASE to a SQLite file or a
    PostgreSQL URL; annot.toml in the backup cannot do that. A backup of an earlier version is brought to this one, and
    one of a later version is refused. A dry run only checks the backup. If Label Studio is lost as well, `annot push`
    sends the open pairs to an empty one, without those that were answered.
    """
    from annot.steps import backup as step

    restored = step.restore(file, folder, replace=replace, wait_seconds=wait, dry_run=dry_run)
    return Output(restored, rendered("restored", restored=restored, dry_run=dry_run), restored.notes)


@command("check", server=True)
def check(
    ws: "Workspace",
    part: Annotated[
        Literal["plan", "pools", "guidelines", "sent", "index", "files", "server"] | None,
        argument("Check this part only."),
    ] = None,
    release: Annotated[Path | None, option("Also check the files of this release.", metavar="FOLDER")] = None,
) -> Output:
    """Check the study and list all problems. Exits with 1 if there are any.

    plan: each pair has its assessors, and people who left have no open pairs. pools: drawing the pools again gives the
    same pools. guidelines: every facet has a page that defines every grade, and no page gives away a grade. sent:
    annot.toml, guidelines and templates are as people were sent them. index and files: no file has changed since it was
    written, from the corpus to the release. server: the projects match the plan and what was sent, and no answer came
    from another account, changed after adjudication, or was given too fast; this also writes exports/audit.json for the
    datasheet.
    """
    from annot.steps import check as step

    with progress("checking") as advance:
        checked = step.check(ws, part, release=release, advance=advance)
    return Output({name: part.record for name, part in checked.parts.items()}, checked.text, finding=checked.finding)


# ----------------------------------------------------------------------------------------------------------------------
# Keep: a local Label Studio and the doctor.
# ----------------------------------------------------------------------------------------------------------------------


group("studio", help="Start and stop a local Label Studio.")


def _states(states: "tuple[State, ...]", *, stopped: bool = False) -> Output:
    """The server of the study; in mode `server` a list of everyone's."""
    many = not states or states[0].assessor is not None
    return Output(states if many else states[0], rendered("studio", states=states, own=many, stopped=stopped))


@command("studio up")
def studio_up(
    ws: "Workspace",
    port: Annotated[
        int | None,
        option(
            "Port on 127.0.0.1, or of https with --domain.", shown="a free one, or 443", min=1, max=65535, metavar="N"
        ),
    ] = None,
    domain: Annotated[
        str | None,
        option("Give each person a server with https and a name below this domain.", shown="as the last time"),
    ] = None,
    internal_certificates: Annotated[
        bool, flag("--internal-certificates", "With --domain: let Caddy sign the certificates, in a closed network.")
    ] = False,
    shared: Annotated[
        bool, flag("--shared", "With --domain: start one server for all, who can then see each other's work.")
    ] = False,
    database: Annotated[
        str | None,
        option(
            "With --shared: PostgreSQL database of the server. Its password is read from PGPASSWORD.",
            metavar="URL",
            shown="SQLite",
        ),
    ] = None,
    stay: Annotated[bool, flag("--stay", "Go on, and start again what dies, as the unit of the system does.")] = False,
) -> Output:
    """Start a local Label Studio and print its address. Installs it into its own environment the first time.

    With isolation = "server" in annot.toml, starts a server for each person. A server takes 0.2 to 0.4 GB of memory.
    With --domain, people elsewhere can use their servers: Caddy gives each https and a name, such as
    a1.study.example.org. Run the command again after people have joined or left.
    """
    from annot.labelstudio.front import HTTPS, Front
    from annot.steps import setup as step

    if not shared:
        options.refuse_without_condition("--shared", database=database)
    if domain is None:
        options.refuse_without_condition("--domain", internal_certificates=internal_certificates, shared=shared)
        named, at = None, port
    else:
        named, at = Front(domain.lower(), internal_certificates, port or HTTPS), None
    states = step.up(ws, port=at, tell=say, domain=named, shared=shared, database=database)
    if stay:
        from annot.steps import service

        service.stay(ws.root, start=lambda study: step.up(study, port=None, tell=say), tell=say)
    return _states(states)


@command("studio down")
def studio_down(ws: "Workspace") -> Output:
    """Stop the local Label Studio, or every person's server. The data are kept."""
    from annot.steps import setup as step

    running = any(state.running for state in step.status(ws))
    return _states(step.down(ws), stopped=running)


@command("studio status")
def studio_status(ws: "Workspace") -> Output:
    """Show whether the local Label Studio, or every person's server, is running, and its address."""
    from annot.steps import setup as step

    return _states(step.status(ws))


@command("studio service", alone=False)
def studio_service(ws: "Workspace") -> Output:
    """Write a systemd unit that starts the servers with the machine, and print how to switch it on.

    It starts again what dies, and may use the port of https, which your account may not.
    """
    from annot.steps import service as step

    files, lines = step.write_service(ws)
    return Output({"files": files, "lines": lines}, "\n".join(lines))


@command("studio nightly", alone=True, free_with="time", server=True)
def studio_nightly(
    ws: "Workspace",
    time: Annotated[
        str | None, argument("Write a systemd timer for this time of day, such as 03:15.", shown="do it now")
    ] = None,
) -> Output:
    """Fetch the answers, back up and check the study, as a timer does every night.

    The last fourteen of these backups are kept, in backups/nightly. If a part fails, the command exits with 1, and
    `annot status` and its page say so.
    """
    from annot.cli.judge import status_page
    from annot.steps import backup as backing_up
    from annot.steps import check as checking
    from annot.steps import exchange
    from annot.steps import service as step

    if time is not None:
        files, lines = step.write_nightly(ws, time)
        return Output({"files": files, "lines": lines}, "\n".join(lines))
    with progress("pulling, backing up and checking") as advance:

        def pull(_: Path) -> "Sequence[AnnotError | None]":
            try:
                pulled, refused = exchange.pull_sent(ws, advance=advance)
            except MissingInput:
                return ()  # Before the first push there is nothing to fetch.
            return *refused, pulled.finding("annot pull")

        def back_up(path: Path) -> "Sequence[AnnotError | None]":
            backing_up.backup(ws, path, dry_run=False, advance=advance)
            return ()

        def look(_: Path) -> "Sequence[AnnotError | None]":
            return (checking.check(ws, None, release=None, advance=advance).finding,)

        parts: dict[str, step.Part] = {"pull": pull, "backup": back_up, "check": look}
        night = step.nightly(ws, parts, now=datetime.now().astimezone())
        status_page(ws).write()
    return Output(night, str(night.backup or "no backup was made"), finding=night.finding)


@command("doctor", needs_study=False, server=True)
def doctor(ws: "Workspace | None") -> Output:
    """Find safety and setup problems of this machine, the study and its server, and explain how to fix them.

    Checks the server's version and https, who can read the database, disk space and the Python version. Servers with a
    domain are looked at from outside, too: certificates, cookies, sign-up, the clock, and whether anyone's account
    opens another person's server. Exits with 1 if there is a problem.
    """
    from annot.steps import check as step

    examined = step.examine(ws)
    return Output(
        examined,
        rendered("doctor", examined=examined),
        examined.notes,
        finding=needs_a_person(examined.findings, "problem", "to fix"),
    )
