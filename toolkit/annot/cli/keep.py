"""Keep: check the study, back it up and restore it."""

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
    file: Annotated[Path, argument("The file to write, such as ../study-2026-03-01.tar.gz.")],
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
    file: Annotated[Path, argument("The backup.")],
    folder: Annotated[Path, argument("Folder of the study; created if it does not exist.")] = Path(),
    replace: Annotated[bool, flag("--replace", "Move existing files of the folder to backups/ in it first.")] = False,
    wait: WaitOption = 0.0,
    dry_run: DryRunOption = False,
) -> Output:
    """Restore a study from a backup, after checking every file and row of it. Restores everything or nothing.

    An automatic backup restores the database, the plan and the settings, and leaves other files as they are. Nothing is
    written outside the folder. To restore into a database elsewhere, set ANNOT_DATABASE to a SQLite file or a
    PostgreSQL URL; annot.toml in the backup cannot do that. Backups with another database version are refused. A dry
    run only checks the backup. If Label Studio is lost as well, `annot push` sends the open pairs to an empty one,
    without those that were answered.
    """
    from annot.steps import restore as step

    restored = step.restore(file, folder, replace=replace, wait_seconds=wait, dry_run=dry_run)
    return Output(restored, rendered("restored", restored=restored, dry_run=dry_run), restored.notes)


class PartName(StrEnum):
    """A part of the study that `annot check` can check alone."""

    PLAN = "plan"
    POOLS = "pools"
    GUIDELINES = "guidelines"
    SENT = "sent"
    INDEX = "index"
    FILES = "files"
    SERVER = "server"


@command("check", server=True)
def check(
    ws: "Workspace",
    part: Annotated[PartName | None, argument("Check this part only.")] = None,
    release: Annotated[Path | None, option("Also check the files of this release.", metavar="FOLDER")] = None,
) -> Output:
    """Check the study and list all problems. Exits with 1 if there are any.

    plan: each pair has its assessors, and people who left have no open pairs. pools: drawing the pools again gives the
    same pools. guidelines: every grade is defined for every facet, and every quoted example is in the corpus. sent:
    annot.toml, guidelines and templates are as people were sent them. index and files: no file has changed since it was
    written, from the corpus to the release. server: the projects match the plan and what was sent, and no answer came
    from another account, changed after adjudication, or was given too fast; this also writes exports/audit.json for the
    datasheet.
    """
    from annot.steps import check as step

    with progress("checking") as advance:
        checked = step.check(ws, part and part.value, release=release, advance=advance)
    return Output({name: one.record for name, one in checked.parts.items()}, checked.text, finding=checked.finding)
