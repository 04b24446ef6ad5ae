"""People of the study, and a letter for each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal, NamedTuple

from annot.base.errors import InputError, MissingInput
from annot.base.names import check_name, counted, moment_now
from annot.base.records import Assessor, PairKey, grouped
from annot.base.templating import render
from annot.base.words import ENGLISH_CODE, Words
from annot.judging import progress, trial_answers
from annot.judging.exchange import servers
from annot.labelstudio import accounts, front, server, tasks
from annot.labelstudio.studio_records import labelling_url
from annot.measuring.forecast.hours import DECIDERS, HOUR, Speed, settling_of, speed_of
from annot.publishing.report.tables import Column, Columns
from annot.store import people, pools, projects, trials
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, progress_by_assessor
from annot.store.models import Kind, Notice, Project, Session
from annot.study import guidelines, outcome, provenance
from annot.study.snapshot import Snapshot, snapshot_of
from annot.study.workspace import Workspace, write_file

# ----------------------------------------------------------------------------------------------------------------------
# The people of the study: pseudonyms everywhere, accounts in the database alone.
# ----------------------------------------------------------------------------------------------------------------------


PSEUDONYM = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,19}")
ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")


@dataclass(frozen=True, slots=True)
class ListedAssessor:
    """A person as the lead sees them: the account is for the terminal and never for a file."""

    assessor: str
    adjudicator: bool
    assigned: int
    answered: int
    share: float
    """The hours they have, relative to others."""
    left_on: str | None
    account: str | None
    language: str
    """Language of their screens and letters."""


PEOPLE = Columns[ListedAssessor](
    [
        Column("name", lambda person: person.assessor),
        Column("role", lambda person: "adjudicator" if person.adjudicator else "assessor"),
        Column("language", lambda person: person.language),
        Column("account", lambda person: person.account or "none", ""),
        Column("left on", lambda person: (person.left_on or "")[:10]),
    ],
    [
        Column("pairs assigned", lambda person: person.assigned),
        Column("answered", lambda person: person.answered),
        Column("share of hours", lambda person: f"{person.share:g}", ""),
        Column("", lambda person: person.share, "share"),
    ],
)


Notes = tuple[str, ...]


def add(ws: Workspace, pseudonym: str, *, account: str, adjudicator: bool, dry_run: bool) -> tuple[str, Notes]:
    """Remember a person. On the local server the account is made; on another one the person signs up.

    Returns the change in a sentence, and notes on it. The password of a local account goes once to a file that only its
    owner can read.
    """
    person = Assessor(pseudonym, account, adjudicator)
    with ws.reading() as session:
        everyone = people.read_assessors(session)
        has_answered = _has_answered(session, pseudonym)
    known = next((other for other in everyone if other.assessor == pseudonym), None)
    _check(person, everyone)
    for other in everyone:
        if other.assessor != pseudonym and other.assessor.lower() == pseudonym.lower():
            raise InputError(
                f"{pseudonym}: differs from {other.assessor} only in case",
                hint=f"if this is the same person, use {other.assessor}; if not, choose another name",
            )
    if known is not None and known.account and has_answered and not _same_account(known.account, account):
        raise InputError(
            f"{pseudonym} has another account, and answers from it are on record",
            hint=f"to change the account, use `annot assessor change {pseudonym} --account NEW`; to add another "
            "person, choose another name",
        )
    if dry_run:
        return f"{pseudonym}: would be added", ()
    notes = _note_on_account(ws, person)
    with ws.writing() as session:
        people.put_assessors(session, [person])
        people.set_left(session, pseudonym, None)
    verb = "added"
    if known is not None:
        unchanged = (known.account, known.adjudicator) == (account, adjudicator)
        verb = "already in the study" if unchanged else "changed"
        if known.adjudicator and not adjudicator:
            command = f"annot assessor add {pseudonym} --account {account} --adjudicator"
            notes = (*notes, f"{pseudonym} was an adjudicator until now; `{command}` makes them one again")
    if known is not None and known.left_on is not None:
        verb = "is back"
        command = "annot push adjudication" if adjudicator else "annot plan"
        notes = (*notes, f"{pseudonym} gets new pairs with the next `{command}`")
    role = "adjudicator" if adjudicator else "assessor"
    return f"{pseudonym}: {role}, {verb}", notes


def change_account(ws: Workspace, pseudonym: str, *, account: str, dry_run: bool) -> tuple[str, Notes]:
    """Give a person another account; the answers of the earlier one stay theirs.

    On the local server the account is made; on another one the person signs up.
    """
    everyone = _people_with(ws, pseudonym)
    person = replace(everyone[pseudonym], account=account)
    _check(person, everyone.values())
    if _same_account(everyone[pseudonym].account, account):
        return f"{pseudonym}: already has this account", ()
    if dry_run:
        return f"{pseudonym}: would change the account", ()
    notes = _note_on_account(ws, person)
    ws.write(people.put_assessors, [person])
    return f"{pseudonym}: account changed", (*notes, "`annot push` checks that it exists")


def change_language(ws: Workspace, pseudonym: str, *, language: str, dry_run: bool) -> tuple[str, Notes]:
    """Give a person screens, instructions and letters in another language. Returns the change in words, and notes."""
    person = _people_with(ws, pseudonym)[pseudonym]
    guidelines.words_in(ws, language)
    before = person.language or ws.settings.judging.language
    if person.language == language:
        return f"{pseudonym}: already has the language {language}", ()
    if dry_run:
        return f"{pseudonym}: would change the language from {before} to {language}", ()
    ws.write(people.set_language, pseudonym, language)
    note = "`annot push` sends it; answered pairs stay as they were shown, and the report tells the languages apart"
    return f"{pseudonym}: language {language}, was {before}", (note,)


def own_server(ws: Workspace, pseudonym: str, *, url: str | None, dry_run: bool) -> tuple[str, Notes]:
    """Address of a person's own server, and notes; with `url` it is that one, once it is known to be theirs alone.

    Address and token, which is that of `ws`, go to a file that only its owner can read. Without a token the one of the
    person's local server is taken, for one that is reached by another address. Raises InputError if all share one
    server.
    """
    ws, api_key = replace(ws, studio_url=None, studio_token=None), ws.studio_token
    if not servers.isolated(ws):
        raise InputError(
            '--server needs isolation = "server" in annot.toml, found "project": everyone shares one server',
            hint="set it under [judging]; to change the account, use --account",
        )
    everyone = _people_with(ws, pseudonym)
    if url is None:
        return servers.place_of(ws, pseudonym).url, ()
    address = url.rstrip("/")
    if not tasks.is_link(address):
        raise InputError(f"--server {address}: expected an address such as https://a1.studio.example.org")
    if others := [name for name in servers.owners_of(ws, address, everyone) if name != pseudonym]:
        raise InputError(f"{address} is the server of {others[0]}, expected one that only {pseudonym} uses")
    if dry_run:
        return address, ()
    from annot.labelstudio.gateway import Gateway

    local = servers.studio_folder(ws, pseudonym)
    token = api_key or (server.credentials(local).token if (local / "admin.json").is_file() else "")
    with Gateway(address, token) as gateway:
        gateway.whoami()
        servers.refuse_shared(ws, gateway, pseudonym, {})
    servers.keep_address(ws, pseudonym, url=address, token=token)
    return address, _note_on_account(ws, everyone[pseudonym])


def _people_with(ws: Workspace, name: str) -> dict[str, Assessor]:
    """Everyone by name. Raises InputError, with the near name, if this person is not among them."""
    everyone = {person.assessor: person for person in ws.read(people.read_assessors)}
    check_name(name, tuple(everyone), what="assessor")
    return everyone


def listing(ws: Workspace) -> tuple[ListedAssessor, ...]:
    """Everyone, those who left among them, with how much they were given and have answered."""
    with ws.reading() as session:
        everyone, progress = people.read_assessors(session), progress_by_assessor(session)
    return tuple(
        ListedAssessor(
            person.assessor,
            person.adjudicator,
            *progress.get(person.assessor, (0, 0)),
            1.0 if person.share is None else person.share,
            person.left_on,
            person.account,
            person.language or ws.settings.judging.language,
        )
        for person in everyone
    )


def _check(person: Assessor, everyone: Iterable[Assessor]) -> None:
    faults = []
    if not PSEUDONYM.fullmatch(person.assessor):
        faults.append(
            f"name: found {person.assessor!r}, expected one such as a1 (a letter, then letters, digits, - or _)"
        )
    if person.account is None or not ADDRESS.fullmatch(person.account):
        # The text may be an identity: it is not repeated.
        faults.append("--account: expected an e-mail address")
    if faults:
        raise InputError("the person cannot be added", faults=faults)
    for other in everyone:
        if other.assessor != person.assessor and _same_account(other.account, person.account):
            raise InputError(f"the account already belongs to {other.assessor}", hint="each person needs one")


def _same_account(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one.lower() == other.lower()


def _has_answered(session: Session, pseudonym: str) -> bool:
    judged = (judgement.assessor for judgement in JUDGEMENTS.records(session))
    settled = (adjudication.adjudicator for adjudication in ADJUDICATIONS.records(session))
    return pseudonym in {*judged, *settled}


def _own_server(ws: Workspace, name: str) -> str | None:
    """The person whose server has the person's project; None if one server is for all."""
    return name if servers.isolated(ws) else None


def _is_elsewhere(ws: Workspace, owner: str | None) -> bool:
    """True if this study does not start the server of this person, or the one for all."""
    return ws.studio_url is not None if owner is None else servers.is_elsewhere(ws, owner)


def _note_on_account(ws: Workspace, person: Assessor) -> tuple[str, ...]:
    """Make the account on the local server; on another one look whether it is there. Nothing if there is none."""
    name, account = person.assessor, person.account or ""
    owner = _own_server(ws, name)
    elsewhere = _is_elsewhere(ws, owner)
    if not elsewhere and server.status(servers.studio_folder(ws, owner)) is None:
        has_front = front.kept(servers.front_folder(ws)) is not None
        return (f"`annot studio up` starts the server of {name}",) if has_front else ()
    with servers.connect(ws, person=owner) as gateway:
        if not elsewhere:
            servers.open_accounts(ws, gateway, {name: account}, person=owner)
            place = servers.passwords_file(ws, owner)
            return (f"{name}: the password is in {place}; `annot invite {name}` writes the letter",)
        if account.lower() in gateway.user_ids():
            return ()
        return (
            "the server does not have this account yet; the person signs up at "
            f"{gateway.address}{gateway.invitation()}; `annot invite {name}` writes a letter with the link",
        )


# ----------------------------------------------------------------------------------------------------------------------
# A letter for each person: how much there is to do, where to sign in, what is published, whom to ask.
# ----------------------------------------------------------------------------------------------------------------------


TEMPLATES = {"judge": "letter.txt.j2", "adjudicate": "letter-adjudicator.txt.j2"}
THEIR_WORDS: dict[Role, str] = {"judge": "letter.comments", "adjudicate": "letter.reasons"}


@dataclass(frozen=True, slots=True)
class Letter:
    """A person's letter in one role. It names the account: it is for the lead and the person alone."""

    assessor: str
    role: Role
    link: str | None
    """Address of their project, once something was sent."""
    contact: str
    """Person who answers questions; empty if the letter names no one."""
    text: str
    path: Path | None
    """The file that it was written to."""
    password: Path | None
    """The file that holds the password, where the account is on a server of the study's own and the letter has none."""
    counted: bool
    """True if the letter gives the amount of work."""
    language: str = ENGLISH_CODE
    has_password: bool = False
    """True if the password is in the letter, because people elsewhere sign in by https."""


@dataclass(frozen=True, slots=True)
class _Server:
    """State of a server, as the letters need it."""

    url: str
    accounts: frozenset[str]
    sign_up: str | None
    """Page to make an account on; None on the local server, where the lead makes it."""


def invite(
    ws: Workspace, names: tuple[str, ...], *, contact: str | None, days: Mapping[Role, date | None], out: Path | None
) -> tuple[Letter, ...]:
    """Write the letters of these people, or of everyone who has not left and has an account.

    days: by role, the day by which the work is wanted. Raises InputError for people who have left or have no account,
    MissingInput when there is no one.
    """
    with ws.reading() as session:
        everyone = {person.assessor: person for person in people.read_assessors(session)}
        found = _chosen(everyone, names, addressees(session, ws))
        judged_by = "both" if ws.settings.faceted and pools.read_topics(session) else ws.settings.kind
    server_name = {addressee.person.assessor: _own_server(ws, addressee.person.assessor) for addressee in found}
    lacking = {server_name[addressee.person.assessor] for addressee in found if addressee.project is None}
    server_of = _servers(ws, dict.fromkeys(server_name.values()), lacking)
    by_https = front.kept(servers.front_folder(ws)) is not None
    whom = contact if contact is not None else ws.settings.collection.contact
    letters, notices = [], []
    for addressee in found:
        name = addressee.person.assessor
        words = guidelines.words_in(ws, addressee.person.language)
        passwords_path = servers.passwords_file(ws, server_name[name])
        password = accounts.read_passwords(passwords_path).get(addressee.person.account or "")
        values = _values(
            *(ws, addressee, server_of.get(server_name[name]), words),
            whom=whom,
            day=days[addressee.role],
            asked=judged_by,
            password=password if by_https else None,
        )
        text = render(TEMPLATES[addressee.role], values, overrides=ws.root / "templates")
        twice = sum(other.person == addressee.person for other in found) > 1
        file = f"{name}-{servers.PARTS[addressee.role].title}.txt" if twice else f"{name}.txt"
        path = None if out is None else ws.root / out / file
        if path is not None:
            write_file(path, text, private=True)
        letters.append(
            Letter(
                *(name, addressee.role, values["link"], whom, text, path),
                password=passwords_path if password and not by_https else None,
                has_password=values["password"] is not None,
                counted=addressee.work is not None,
                language=words.language,
            )
        )
        notices.append(_notice(ws, letters[-1], words))
    ws.write(people.record_notices, notices)
    provenance.note_letters(ws, {(addressee.role, addressee.person.assessor): addressee.project for addressee in found})
    return tuple(letters)


def describe(made: tuple[Letter, ...]) -> str:
    """The letters, or the files they were written to."""
    if all(letter.path is not None for letter in made):
        return "\n".join(str(letter.path) for letter in made)
    rule = "-" * 72
    return f"\n{rule}\n".join(letter.text.rstrip("\n") for letter in made)


def _chosen(everyone: dict[str, Assessor], names: tuple[str, ...], possible: list[Addressee]) -> list[Addressee]:
    for name in names:
        check_name(name, tuple(everyone), what="assessor")
    chosen = [addressee for addressee in possible if not names or addressee.person.assessor in names]
    faults = [f"{name}: has left" for name in names if everyone[name].left_on is not None]
    faults += [
        f"{name}: has no account; add one with `annot assessor add {name} --account EMAIL`"
        for name in dict.fromkeys(addressee.person.assessor for addressee in chosen if addressee.person.account is None)
    ]
    if faults:
        raise InputError(f"{counted(len(faults), 'person', 'people')} cannot be invited", faults=faults)
    if not chosen:
        imported = ": the others have left, or their answers were imported" if everyone else ""
        raise MissingInput(f"no one to invite{imported}", hint="add people with `annot assessor add`")
    return chosen


def _notice(ws: Workspace, letter: Letter, words: Words) -> Notice:
    """Notice on publication in the text of the letter: a study may have a letter of its own."""
    kind, decided = _words(ws, letter.role)
    publishes = decided != "left out" and words(THEIR_WORDS[letter.role]) in letter.text
    return Notice(letter.assessor, kind, "letter", moment_now("milliseconds"), publishes)


def _words(ws: Workspace, role: Role) -> tuple[Kind, str | None]:
    """Kind of text that a person in this role writes, and the decision on its publication."""
    release = ws.settings.release
    return ("comments", release.comments) if role == "judge" else ("reasons", release.reasons)


def _servers(ws: Workspace, names: Iterable[str | None], lacking: Collection[str | None]) -> dict[str | None, _Server]:
    """Servers of these people that can be asked. lacking: those that must be, as nothing was sent to them yet."""
    server_of = {}
    for name in names:
        if name in lacking or ws.studio_url is not None or server.status(servers.studio_folder(ws, name)) is not None:
            with servers.connect(ws, person=name) as gateway:
                sign_up = f"{gateway.address}{gateway.invitation()}" if _is_elsewhere(ws, name) else None
                server_of[name] = _Server(gateway.address, frozenset(gateway.user_ids()), sign_up)
    return server_of


def _values(
    ws: Workspace,
    addressee: Addressee,
    known: _Server | None,
    words: Words,
    *,
    whom: str,
    day: date | None,
    asked: str,
    password: str | None = None,
) -> dict[str, Any]:
    account, settings = addressee.person.account or "", ws.settings
    has_account = known is None or account.lower() in known.accounts
    address = known.url if known is not None else addressee.project.url if addressee.project is not None else ""

    def link_to(project: Project | None) -> str | None:
        return None if project is None or project.remote_id is None else labelling_url(address, project.remote_id)

    return {
        "title": settings.collection.title,
        "assessor": addressee.person.assessor,
        "account": account,
        "password": password,
        "server": address,
        "sign_up": None if has_account or known is None else known.sign_up,
        "link": link_to(addressee.project),
        "say": words,
        "work": addressee.work,
        "time": "" if addressee.work is None else addressee.work.time(words),
        "last": "N" if addressee.work is None else addressee.work.pairs,
        "training": addressee.training,
        "training_sent": addressee.training_sent or addressee.training,
        "training_link": link_to(addressee.training_project),
        "published": _words(ws, addressee.role)[1] != "left out",
        "their_words": words(THEIR_WORDS[addressee.role]),
        "shown": settings.adjudication.ratings == "shown",
        "shared": not servers.isolated(ws),
        "whom": whom or words("letter.sender"),
        "until": day and words.date(day),
        "asked": asked,
        "read": "abstracts" if asked == "facets" else "texts",
    }


UNTIMED_SECONDS = 60.0
"""Seconds that a pair is assumed to take if no time is known."""
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Workload:
    """Work of one person in one role."""

    pairs: int
    """Number of all pairs, including those that are done."""
    done: int
    seconds: float | None
    """Seconds that a pair takes; None if that is not known."""
    timed: bool
    """True if `seconds` is measured or set; else it is assumed."""

    @property
    def left(self) -> int:
        """Number of pairs still to do."""
        return self.pairs - self.done

    def time(self, words: Words) -> str:
        """Time for the pairs still to do: `40 minutes`, `1 hour`, `2.5 hours`; empty if it is not known."""
        return "" if self.seconds is None else spoken_time(self.left * self.seconds / HOUR, words)


def spoken_time(hours: float, words: Words) -> str:
    """Hours as people say them: to five minutes, from three quarters of an hour on to half an hour.

    >>> from annot.base.words import ENGLISH
    >>> [spoken_time(hours, ENGLISH) for hours in (0.03, 0.6, 1.1, 2.6)]
    ['5 minutes', '35 minutes', '1 hour', '2.5 hours']
    """
    if hours < HALF + HALF / 2:
        return words("letter.minutes", count=max(5, 5 * round(12 * hours)))
    return words("letter.hours", count=round(hours / HALF) * HALF)


Role = Literal["judge", "adjudicate"]


class Addressee(NamedTuple):
    """A person in one role, who gets a letter."""

    person: Assessor
    role: Role
    work: Workload | None
    """Work of the person; None before the plan is drawn, and of an adjudicator before disputes are sent."""
    project: Project | None
    """Theirs on the server, once something was sent."""
    training: int
    """Gold pairs that come first, while they are not passed."""
    training_project: Project | None
    training_sent: int = 0
    """Number of pairs on the server: they are sent batch by batch."""


def addressees(session: Session, ws: Workspace) -> list[Addressee]:
    """Everyone who has not left, once for each role that they have, without those whose answers were imported."""
    snapshot = snapshot_of(session, ws)
    imported = snapshot.outcome.people if snapshot.judged_elsewhere else set()
    imported -= {project.assessor for project in snapshot.projects}
    everyone = [person for person in snapshot.people if person.left_on is None and person.assessor not in imported]
    planned = {assignment.assessor for assignment in snapshot.assignments}
    project_of = {(project.assessor, project.round): project for project in projects.sent_projects(session)}
    addressees = []
    for person in everyone:
        name = person.assessor
        if not person.adjudicator or name in planned:
            passed = snapshot.trials.get(f"{trial_answers.TRAIN}/{name}", {}).get("verdict") == "passed"
            training = 0 if passed else len(trials.read_assignments(session, trial_answers.TRAIN, name))
            work = _judging(session, snapshot, name)
            project = project_of.get((name, "judge"))
            first = project_of.get((name, trial_answers.TRAIN)) if training else None
            batch = len(projects.read_tasks(session, first.project)) if first else 0
            addressees.append(Addressee(person, "judge", work, project, training, first, batch))
        if person.adjudicator:
            project = project_of.get((name, "adjudicate"))
            work = project and _settling(session, snapshot, project)
            addressees.append(Addressee(person, "adjudicate", work, project, 0, None))
    return addressees


def _judging(session: Session, snapshot: Snapshot, name: str) -> Workload | None:
    """The pairs that are this person's."""
    pair_keys = {assignment.pair_key for assignment in snapshot.assignments if assignment.assessor == name}
    if not pair_keys:
        return None
    pair_keys |= {PairKey(*pair) for pair in projects.read_hidden(session).get(name, ())}
    pair_keys |= {pair_return.pair_key for pair_return in snapshot.outcome.returned if pair_return.assessor == name}
    probed = {
        (answer.record.assessor, answer.record.pair_key) for answer in trials.read_answers(session, "hidden-gold")
    }
    answered = {question for assessor, question in outcome.answered_of(session) | probed if assessor == name}
    by_assessor = grouped((answer.assessor, answer) for answer in snapshot.outcome.everything if answer.counts)
    speed = speed_of(by_assessor, fence=snapshot.ws.settings.forecast.fence, topics=snapshot.topics)
    seconds = speed.mean_of(name) if isinstance(speed, Speed) else UNTIMED_SECONDS
    return Workload(len(pair_keys), len(pair_keys & answered), seconds=seconds, timed=isinstance(speed, Speed))


def _settling(session: Session, snapshot: Snapshot, project: Project) -> Workload:
    """The disputes that were sent to this person."""
    outcome, forecast = snapshot.outcome, snapshot.ws.settings.forecast
    rate = settling_of(
        progress.settled_of(outcome), seconds=forecast.dispute_seconds, fence=forecast.fence, topics=snapshot.topics
    )
    pairs = {question.pair for question in projects.read_tasks(session, project.project)}
    return Workload(
        len(pairs),
        len(pairs - set(outcome.open)),
        seconds=rate.mean_of(DECIDERS) if isinstance(rate, Speed) else None,
        timed=True,
    )
