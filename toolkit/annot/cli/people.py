"""People: add, list and change assessors, and invite them."""

from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.cli import options
from annot.cli.commands import command, group
from annot.cli.options import argument, flag, one_of, option
from annot.cli.output import Output, listing, rendered

if TYPE_CHECKING:
    from annot.study.workspace import Workspace

group("assessor", help="Add, list and change the people who judge. Their accounts are stored only in the database.")

PersonArgument = Annotated[str, argument("The person's name in the study, such as a4.")]


@command("assessor add", server=True)
def assessor_add(
    ws: "Workspace",
    pseudonym: Annotated[str, argument("Name in the study, such as a1; it is used everywhere outside the database.")],
    account: Annotated[str, option("E-mail address of the Label Studio account.")],
    adjudicator: Annotated[bool, flag("--adjudicator", "The person settles disputes.")] = False,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Add an assessor or adjudicator, or bring back one who left.

    On a local Label Studio this also creates the account and saves its password, with the person's name in the study,
    to .annot/studio/passwords.tsv.
    """
    from annot.steps import people as step

    text, notes = step.add(ws, pseudonym, account=account, adjudicator=adjudicator, dry_run=dry_run)
    return Output({"assessor": pseudonym, "adjudicator": adjudicator}, text, notes)


@command("assessor list", csv=True)
def assessor_list(ws: "Workspace") -> Output:
    """List assessors and adjudicators with their accounts and progress. --csv leaves out the accounts."""
    from annot.steps import people as step

    return listing(step.PEOPLE, step.listing(ws), empty="no people yet; add one with `annot assessor add`")


@command("assessor change", server=True)
def assessor_change(
    ws: "Workspace",
    assessor: PersonArgument,
    account: Annotated[str | None, option("E-mail address of the new account.", shown="unchanged")] = None,
    server: Annotated[
        str | None, option("Address of the person's own Label Studio, if it runs elsewhere.", shown="unchanged")
    ] = None,
    language: Annotated[
        str | None, option("Language of their screens, instructions and letters, such as de.", shown="unchanged")
    ] = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Change a person's account, language or own Label Studio. Without options, show their Label Studio.

    Answers from an earlier account are kept. --server is for isolation = "server" in annot.toml and needs the API token
    in --api-key. Both are stored in .annot/studios, where only you can read them. A new language applies to open
    pairs from the next push; the report says in which language each person judged.
    """
    from annot.steps import people as step

    one_of(account=account, server=server, language=language)
    if language is not None:
        text, notes = step.change_language(ws, assessor, language=language, dry_run=dry_run)
        return Output({"assessor": assessor, "language": language}, text, notes)
    if account is not None:
        text, notes = step.change_account(ws, assessor, account=account, dry_run=dry_run)
        return Output({"assessor": assessor}, text, notes)
    url, notes = step.own_server(ws, assessor, url=server, dry_run=dry_run)
    return Output({"assessor": assessor, "url": url}, f"{assessor}: {url}", notes)


@command("assessor leave", server=True)
def assessor_leave(
    ws: "Workspace",
    assessor: PersonArgument,
    to: Annotated[str | None, option("The person who gets the open pairs.", shown="all others, evenly")] = None,
    to_adjudicator: Annotated[
        bool,
        flag(
            "--to-adjudicator",
            "Send unanswered returned pairs of the person to an adjudicator. Without this, their earlier grades count "
            "again.",
        ),
    ] = False,
    offline: Annotated[bool, flag("--offline", "Do not look for answers that are not pulled yet.")] = False,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Give the open pairs of a person who leaves to another person or to all others. Their answers are kept.

    If the person in --to already has a pair, someone else gets it. A pair that no one else can take has no final grade
    until you add a person and run `annot plan`. The next `annot push` updates the projects.
    """
    from annot.steps import changes as step

    left = step.leave(ws, assessor, successor=to, contest=to_adjudicator, offline=offline, dry_run=dry_run)
    return Output(left, rendered("left", found=left, received=step.RECEIVED, dry_run=dry_run))


@command("invite", server=True, alone=True)
def invite(
    ws: "Workspace",
    assessors: Annotated[list[str] | None, argument("People to invite.", shown="everyone")] = None,
    contact: Annotated[str | None, option("Who answers questions.", shown="collection.contact in annot.toml")] = None,
    until: Annotated[datetime | None, option("Day to finish judging by.", shown="none", formats=["%Y-%m-%d"])] = None,
    settle_by: Annotated[
        datetime | None, option("For adjudicators: day to finish by.", shown="none", formats=["%Y-%m-%d"])
    ] = None,
    out: Annotated[Path | None, option("Folder for one file per person.", "--out", "-o", shown="the terminal")] = None,
) -> Output:
    """Write a letter to each person, ready to send: how much work there is, how to start, and what is published.

    The first letter estimates the number of pairs and hours. Run the command again after `annot plan` and `annot push`
    for a letter with the exact number and the link. For adjudicators, do this after `annot push adjudication`.
    """
    from annot.publishing.report.tables import sentences
    from annot.steps import people as step

    days: dict[step.Role, date | None] = {"judge": until and until.date(), "adjudicate": settle_by and settle_by.date()}
    letters = step.invite(ws, tuple(assessors or ()), contact=contact, days=days, out=out)
    return Output(letters, step.describe(letters), sentences("commands.letters", letters=letters))
