"""Keep: whether the study is sound, and backups of it."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.cli.commands import command
from annot.cli.options import DryRunOption, WaitOption, argument, flag, option
from annot.cli.output import Output, progress, rendered

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("backup", server=True)
def backup(
    ws: "Workspace",
    file: Annotated[Path, argument("The new file, as in ../study-2026-03-01.tar.gz.")],
    dry_run: DryRunOption = False,
) -> Output:
    """Write the whole study to one file: the database, the files, a copy of every project on Label Studio.

    It leaves out .annot (what can be made again, and the local server), backups and .git. It warns if a server cannot
    be reached, so that copies of projects are missing, and if answers were not pulled. The program also backs up the
    database, the plan and the settings by itself, in backups/: after each push and pull and before it deletes anything.
    """
    from annot.steps import backup as step

    with progress("copying projects") as advance:
        found = step.backup(ws, file, dry_run=dry_run, advance=advance)
    return Output(found, rendered("backup", found=found), found.notes)


@command("restore")
def restore(
    file: Annotated[Path, argument("A backup.")],
    folder: Annotated[Path, argument("The folder of the study; made if it is not there.")] = Path(),
    replace: Annotated[bool, flag("--replace", "If something is there, move it to backups/ in that folder.")] = False,
    wait: WaitOption = 0.0,
    dry_run: DryRunOption = False,
) -> Output:
    """Bring a study back from a backup, checked hash by hash and row by row; all of it, or nothing.

    A backup that the program took by itself brings back the database, the plan and the settings, and leaves the other
    files as they are. Nothing comes back outside the folder. ANNOT_DATABASE names a database elsewhere, a SQLite file
    or a PostgreSQL URL; annot.toml in the backup cannot. A backup with a database of another version is refused. A dry
    run checks a backup and changes nothing. If Label Studio is lost as well, `annot push` sends what is open to an
    empty one, and nothing that was answered.
    """
    from annot.steps import restore as step

    restored = step.restore(file, folder, replace=replace, wait_seconds=wait, dry_run=dry_run)
    return Output(restored, rendered("restored", restored=restored, dry_run=dry_run), restored.notes)


class PartName(StrEnum):
    """What `annot check` can look at by itself."""

    PLAN = "plan"
    POOLS = "pools"
    GUIDELINES = "guidelines"
    INDEX = "index"
    FILES = "files"
    SERVER = "server"


@command("check", server=True)
def check(
    ws: "Workspace",
    part: Annotated[PartName | None, argument("Only this; without a word, all that the study has.")] = None,
    release: Annotated[Path | None, option("Check the files of this release as well.", metavar="FOLDER")] = None,
) -> Output:
    """Check that the study is sound, and list what is not. Exits with 1 if something was found.

    plan: each pair has its assessors, and nobody who left has any. pools: drawn again from pools/, they are the same.
    guidelines: each grade is defined for each facet, and each quoted example is in the corpus. index and files: nothing
    has changed since it was written, from the corpus to the release. server: the projects are as planned and sent, with
    no answer by another account, changed after adjudication, or too fast; also writes exports/audit.json, which the
    datasheet reports.
    """
    from annot.steps import check as step

    with progress("checking") as advance:
        checked = step.check(ws, part and part.value, release=release, advance=advance)
    return Output({name: one.record for name, one in checked.parts.items()}, checked.text, finding=checked.finding)
