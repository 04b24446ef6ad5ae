"""Judge: the people, who come, change and leave."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annot.cli.commands import command, group
from annot.cli.options import DryRunOption, argument, flag, option
from annot.cli.output import Output, rendered, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace

group("assessor", help="Add, list and change the people who judge; their accounts are kept in the database only.")

PersonArgument = Annotated[str, argument("The person's name in the study, such as a4.")]


@command("assessor add", server=True)
def assessor_add(
    ws: "Workspace",
    pseudonym: Annotated[str, argument("a1, a2, ...: the name used everywhere outside the database.")],
    account: Annotated[str, option("The e-mail address of the Label Studio account.")],
    adjudicator: Annotated[bool, flag("--adjudicator", "Settles disputes.")] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Add a person who judges, or bring back one who left.

    On a local Label Studio this also creates the account; the password is saved to .annot/studio/passwords.tsv,
    beside the person's name in the study.
    """
    from annot.steps import assessor as step

    text, notes = step.add(ws, pseudonym, account=account, adjudicator=adjudicator, dry_run=dry_run)
    return Output({"assessor": pseudonym, "adjudicator": adjudicator}, text, notes)


@command("assessor list", csv=True)
def assessor_list(
    ws: "Workspace",
    silent: Annotated[
        int | None,
        option(
            "Only those who have open pairs and have not answered for so many days, with the commands that hand their "
            "pairs on.",
            metavar="DAYS",
            shown="everyone",
            min=0,
        ),
    ] = None,
) -> Output:
    """Print everyone who judges or settles, with their accounts and what they have done; --csv leaves accounts out."""
    from annot.steps import assessor as step

    if silent is not None:
        found = step.silent(ws, days=silent, now=datetime.now(UTC))
        text = rendered("silent", found=found, silent=step.SILENT, days=silent)
        return Output(found, text, table="assessor list --silent")
    people = step.listing(ws)
    return Output(people, table(step.PEOPLE, people))


@command("assessor change", server=True)
def assessor_change(
    ws: "Workspace",
    assessor: PersonArgument,
    account: Annotated[str | None, option("The e-mail address of the new account.", shown="as it is")] = None,
    server: Annotated[
        str | None, option("The address of their own Label Studio, kept by somebody else.", shown="as it is")
    ] = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Change the account of a person, or the Label Studio that is theirs alone; without options, print that server.

    What they answered with an earlier account stays theirs. --server is for isolation = "server" in annot.toml, and
    goes with the token in --api-key; both are kept in .annot/studios, readable by you alone.
    """
    from annot.steps import assessor as step

    if account is not None and server is not None:
        raise typer.BadParameter("expected one of --account and --server")
    if account is not None:
        text, notes = step.change_account(ws, assessor, account=account, dry_run=dry_run)
        return Output({"assessor": assessor}, text, notes)
    found = step.own_server(ws, assessor, url=server, dry_run=dry_run)
    return Output({"assessor": assessor, "url": found.url}, found.text, found.notes)


@command("assessor leave", server=True)
def assessor_leave(
    ws: "Workspace",
    assessor: PersonArgument,
    to: Annotated[str | None, option("Who gets the open pairs, in their order.", shown="all others, evenly")] = None,
    to_adjudicator: Annotated[
        bool,
        flag(
            "--to-adjudicator",
            "Pairs that were returned to the person and are not answered go to an adjudicator. Without it, they have "
            "again the decision that they had.",
        ),
    ] = False,
    offline: Annotated[
        bool, flag("--offline", "Do not ask Label Studio whether the person has answered more than was pulled.")
    ] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Move the open pairs of a person who leaves to another, or to all others; answered ones stay with who answered.

    A pair that the person of --to has already goes to somebody else. A pair that no other can take has no final grade
    until you add a person and run `annot plan`. The next `annot push` changes the projects accordingly.
    """
    from annot.steps import assessor_leaving as step

    found = step.leave(ws, assessor, successor=to, contest=to_adjudicator, offline=offline, dry_run=dry_run)
    return Output(found, rendered("left", found=found, received=step.RECEIVED, dry_run=dry_run))


@command("invite", server=True, alone=True)
def invite(
    ws: "Workspace",
    assessors: Annotated[list[str] | None, argument("Whom to invite.", shown="everyone")] = None,
    contact: Annotated[str | None, option("Whom the person asks.", shown="collection.contact in annot.toml")] = None,
    until: Annotated[
        datetime | None, option("The day by which the pairs are wanted.", shown="none", formats=["%Y-%m-%d"])
    ] = None,
    out: Annotated[Path | None, option("A folder for one file a person.", "--out", "-o", shown="the terminal")] = None,
) -> Output:
    """Write a letter for each person, ready to send: how much there is to do, how to begin, what is published.

    A first letter says about how many pairs and hours; write again after `annot plan` and `annot push`, and it has the
    exact number and the link. For adjudicators that is after `annot push adjudication`.
    """
    from annot.steps import invite as step

    day = None if until is None else until.date()
    made = step.invite(ws, tuple(assessors or ()), contact=contact, until=day, out=out)
    return Output(made, step.describe(made), step.notes(made))
