"""Whether the study on the server was judged blind and as planned: signs, and the whole audit."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from sqlmodel import Session

from annot.base.errors import MissingInput
from annot.base.names import counted
from annot.base.records import Advance, PairKey, grouped
from annot.judging.exchange.collecting import accounts_of, lines_of
from annot.judging.exchange.displayed_content import changed_tasks
from annot.judging.exchange.round_parts import ANSWERS as ROUND_ANSWERS
from annot.judging.exchange.round_parts import PARTS, own_tasks
from annot.judging.exchange.sending import counting
from annot.judging.exchange.servers import changed_by_hand, isolated, on_servers
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.screens import is_prediction_of_ours
from annot.labelstudio.studio_records import IN_WORDS, Payload, PulledTask, id_of
from annot.labelstudio.tasks import pair_key
from annot.measuring.measured import AUDIT_FILE, as_text, judgements_sha256
from annot.store import people, projects, trials
from annot.store.projects import Project, read_hidden
from annot.store.revisions import AnnotationHistory
from annot.store.shown import display_parts, read_shown, read_sources
from annot.study.outcome import Outcome, outcome_of
from annot.study.rushed import rushed_pairs
from annot.study.workspace import Workspace, write_file

# ----------------------------------------------------------------------------------------------------------------------
# Signs on a server that a study was not judged blind: the kinds of problems, and those of one project.
#
# Pure functions over what was read from the server and what is on record. Each finding names a person by pseudonym,
# says how many and which, and what the lead can do; none accuses anyone of cheating.
# ----------------------------------------------------------------------------------------------------------------------


FAST_ANSWERS = 3
"""So many answers of one person that came too fast are no slip any more."""
SHOWN = 3
"""Pairs that a finding names."""


class Kind(NamedTuple):
    """A kind of finding."""

    what: str
    do: str
    """What the lead can do. `{push}` is the command that sends the tasks of the project."""
    noun: str = ""
    """What is counted, in the singular."""

    def of(self, person: str, count: int, more: str = "") -> str:
        """The problem in words. more: what follows."""
        return f"{person}: {counted(count, self.noun)} {self.what}{more}"


ANSWERS: dict[str, Kind] = {
    "other account": Kind(
        "by another account", "these answers do not count; ask, then delete them in Label Studio", "answer"
    ),
    "edited by another": Kind(
        "last changed by an account other than the author's", "the author's own answer counts; ask both", "answer"
    ),
    "answered twice": Kind("with more than one answer", "the person's latest counts; ask why there are more", "task"),
    "answer gone": Kind(
        "on record but missing from the server", "they still count; the next pull asks you to decide", "answer"
    ),
    "after adjudication": Kind(
        "given or changed after the pair was settled", "look at the pairs with `annot trace`", "answer"
    ),
}
"""What the answers to a task may show."""
BY_OTHERS = {"other account": "completed_by", "edited by another": "updated_by"}
"""The field of an annotation that holds the account; these findings name its owner."""
TASKS: dict[str, Kind] = {
    "task changed": Kind(
        "showing content that was never sent",
        "ask who changed them; delete those without an answer in Label Studio, and `{push}` sends them again",
        "task",
    ),
    "task twice": Kind("present twice", "in Label Studio, delete {which}", "task"),
    "task gone": Kind(
        "missing from the server",
        "`{push}` sends those without an answer again; Label Studio's free edition does not record who deleted them",
        "task",
    ),
}
STRANGE_TASKS = Kind("not sent by this study", "delete them in Label Studio", "task")
PROJECT_CHANGED = Kind("changed on the server by hand", "`{push}` changes it back")
SET_BACK = Kind(
    "was changed on the server by hand, and a push has changed it back",
    "ask who changed it; answers given before that day may follow the changed version",
)
PROJECT_GONE = Kind(
    "their project is missing from the server",
    "`{push}` creates it again with its open tasks; answers still count, and the next pull asks you to decide; "
    "Label Studio's free edition does not record who deleted it",
)
TOO_FAST = Kind("faster than anyone can read", "look at the pairs with the person", "answer")
VERSION = Kind("", "look at a task of each screen, then run `{push}`")
STRANGE_ACCOUNT = Kind("is on their server", "delete it there, and reset the invitation link under Organization")
STRANGE_PROJECT = Kind("on their server", "pull its answers, then delete it there", "project")
UNKNOWN_GUIDELINES = Kind(
    "by guidelines that are not on record", "look at the pairs with `annot trace`, and ask who changed them", "answer"
)
EARLIER_GUIDELINES = Kind(
    "with older guidelines than were sent last", "`annot push` shows the current ones next to them", "open task"
)
NOT_LOOKED_AT = Kind("their server could not be reached", "run `annot check server` again when it answers")


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """Something that needs a person. `what` begins with the pseudonym where it is about one."""

    kind: str
    what: str
    count: int
    do: str
    pairs: tuple[str, ...] = ()
    """All of them, as `query document`."""
    last: str | None = None
    """The day of the last answer that shows it; for the lead alone, since a release carries no dates."""

    def __str__(self) -> str:
        more = f", and {len(self.pairs) - SHOWN} more" if len(self.pairs) > SHOWN else ""
        shown = f": {'; '.join(self.pairs[:SHOWN])}{more}" if self.pairs else ""
        return f"{self.what}{shown}{f' (last on {self.last})' if self.last else ''}"


def rushed_of(session: Session, outcome: Outcome) -> tuple[AuditFinding, ...]:
    """Everyone's answers and decisions that came too fast, by pseudonym."""
    limit, projects = rushed_pairs(session, outcome)
    fast = grouped((name, " ".join(pair)) for (name, _), pairs in projects.items() for pair in pairs)
    more = f" (under {limit:.1f} s; they count)"
    return tuple(
        AuditFinding("too fast", TOO_FAST.of(name, len(pairs), more), len(pairs), TOO_FAST.do, tuple(pairs))
        for name, pairs in fast.items()
    )


def of_accounts(
    person: str, there: Mapping[str, int], *, own: Collection[int], people: Mapping[str, str]
) -> Iterator[AuditFinding]:
    """Who can sign in to a person's own server beside that person and the lead.

    there: the server's id of each account, by address. own: the ids that may be. people: whose an address is.
    """
    for address, number in sorted(there.items(), key=lambda one: one[1]):
        if number not in own:
            # An address is an identity: the finding goes into a file.
            whose = (
                f"an account of {people[address]}" if address in people else f"account {number} of an unknown person"
            )
            yield AuditFinding("strange account", f"{person}: {whose} {STRANGE_ACCOUNT.what}", 1, STRANGE_ACCOUNT.do)


def of_markers(person: str, markers: Iterable[str]) -> Iterator[AuditFinding]:
    """Projects of others on a person's own server. markers: those of all projects of this program there."""
    others = Counter(name for marker in markers if (name := marker.rpartition("/")[2]) != person)
    for name, count in sorted(others.items()):
        what = f"{person}: {counted(count, 'project')} of {name} {STRANGE_PROJECT.what}"
        yield AuditFinding("strange project", what, count, STRANGE_PROJECT.do)


class AuditedProject(NamedTuple):
    """One person's project as it was found."""

    person: str
    """With what the project is for, where that is neither judging nor adjudication: `a1 (training)`."""
    push: str
    """The command that sends its tasks."""
    accounts: Collection[int]
    """The server's ids of the accounts that are the person's, now or when they answered."""
    counted: Mapping[str, frozenset[str]]
    """By key, the ids of the annotations whose answers count: the server forgets whose they were when it removes an
    account."""
    kept: frozenset[str]
    """The keys whose answers the lead has kept although they are gone."""
    tasks: Sequence[PulledTask]
    own: Mapping[str, PairKey]
    """What may stand in the project, by key."""
    planned: frozenset[str]
    """The keys of what was sent."""
    changed: Collection[str | None]
    """The keys of the tasks that show something else than they were sent with."""
    settings: Collection[str] = ()
    """What was changed of the project itself, in words."""
    set_back: Mapping[str, str] = {}
    """By what was changed of it and set back by a push, in words, the day of the last time."""
    people: Mapping[int, str] = {}
    """Whose each account of the server is, in words, as far as it is known."""


def of_project(audited: AuditedProject, adjudicated: Mapping[tuple[str, str], str]) -> Iterator[AuditFinding]:
    """What is wrong with one project. adjudicated: the moment at which a pair was settled (ISO 8601, the server's)."""
    if audited.settings:
        what = f"{audited.person}: {PROJECT_CHANGED.what}: {', '.join(audited.settings)}"
        yield AuditFinding("project changed", what, len(audited.settings), PROJECT_CHANGED.do.format(push=audited.push))
    if audited.set_back:
        what = f"{audited.person}: {SET_BACK.what}: {', '.join(audited.set_back)}"
        yield AuditFinding(
            "project set back", what, len(audited.set_back), SET_BACK.do, last=max(audited.set_back.values())
        )
    copies = grouped((task.key, task) for task in audited.tasks)
    strangers = sum(len(of_key) for key, of_key in copies.items() if key not in audited.own)
    if strangers:
        yield AuditFinding("strange tasks", STRANGE_TASKS.of(audited.person, strangers), strangers, STRANGE_TASKS.do)
    yield from _findings("task changed", TASKS["task changed"], audited, dict.fromkeys(audited.changed, ""))
    twice = {key: of_key for key, of_key in copies.items() if key in audited.own and len(of_key) > 1}
    which = "; ".join(_which(of_key) for of_key in twice.values())
    yield from _findings("task twice", TASKS["task twice"], audited, dict.fromkeys(twice, ""), which=which)
    yield from _findings("task gone", TASKS["task gone"], audited, dict.fromkeys(audited.planned - copies.keys(), ""))
    answers: dict[str, dict[str | None, str]] = {}
    for key, of_key in copies.items():
        if key is not None and key in audited.own:
            asked = audited.own[key]
            # A hidden repeat settles nothing, and may come after its pair was settled.
            settled = adjudicated.get(asked.pair) if asked.occasion == 1 else None
            for kind, day in _of_copies(key, of_key, audited, settled).items():
                answers.setdefault(kind, {})[key] = day
    for kind, of_kind in ANSWERS.items():
        yield from _findings(kind, of_kind, audited, answers.get(kind, {}))


def _given(task: PulledTask) -> list[Payload]:
    return [annotation for annotation in task.annotations if not annotation.get("was_cancelled")]


def _which(copies: Sequence[PulledTask]) -> str:
    """Which of the tasks of one pair to delete: an answer stays, and where there is none, the task that was first."""
    in_order = sorted(copies, key=lambda task: task.task_id or 0)
    answered = [task for task in in_order if _given(task)]
    if len(answered) > 1:
        numbers = " and ".join(str(task.task_id) for task in answered)
        return f"one of {numbers}, once the person has said which answer is right (the latest counts)"
    stays = (answered or in_order)[0]
    others = ", ".join(str(task.task_id) for task in in_order if task is not stays)
    return f"task {others} (task {stays.task_id} has the answer)" if answered else f"task {others} (none has an answer)"


def _of_copies(key: str, copies: Sequence[PulledTask], audited: AuditedProject, settled: str | None) -> dict[str, str]:
    """Which of `ANSWERS` the tasks of one pair show, and the day of the last answer that shows it."""
    kinds: dict[str, str] = {}
    counted = audited.counted.get(key, frozenset())
    given = [_given(task) for task in copies]
    if counted and not any(given) and key not in audited.kept:
        kinds["answer gone"] = ""
    for of_task in given:
        if len(of_task) > 1:
            kinds["answered twice"] = max(map(_day, of_task))
    for annotation in (one for of_task in given for one in of_task):
        shows = []
        if kind := _by_another(annotation, audited, counted):
            shows.append(kind)
        if settled is not None and str(annotation.get("updated_at") or "") > settled:
            shows.append("after adjudication")
        for kind in shows:
            kinds[kind] = max(kinds.get(kind, ""), _day(annotation))
    return kinds


def _by_another(annotation: Payload, audited: AuditedProject, counted: Collection[str]) -> str | None:
    """Whether somebody else gave the answer, or changed it last."""
    author, editor = id_of(annotation.get("completed_by")), id_of(annotation.get("updated_by"))
    if author not in audited.accounts and not (author is None and str(annotation["id"]) in counted):
        return "other account"
    return "edited by another" if editor not in (None, author, *audited.accounts) else None


def _others(kind: str, audited: AuditedProject) -> str:
    """Who gave these answers, or changed them last, in words."""
    field = BY_OTHERS[kind]
    accounts = {
        id_of(annotation.get(field))
        for task in audited.tasks
        if task.key is not None and task.key in audited.own
        for annotation in _given(task)
        if _by_another(annotation, audited, audited.counted.get(task.key, frozenset())) == kind
    }
    whose = {audited.people.get(one or 0, f"account {one}" if one else "a deleted account") for one in accounts}
    return f" (by {', '.join(sorted(whose))})"


def _day(annotation: Payload) -> str:
    return str(annotation.get("updated_at") or "")[:10]


def _findings(
    kind: str, of_kind: Kind, audited: AuditedProject, days: Mapping[str | None, str], *, which: str = ""
) -> Iterator[AuditFinding]:
    """days: by key, the day of what shows it; empty if none is known."""
    known = {key: day for key, day in days.items() if key is not None and key in audited.own}
    pairs = tuple(sorted(" ".join(audited.own[key].pair) for key in known))
    if pairs:
        whose = _others(kind, audited) if kind in BY_OTHERS else ""
        what = of_kind.of(audited.person, len(pairs), whose)
        do = of_kind.do.format(push=audited.push, which=which)
        yield AuditFinding(kind, what, len(pairs), do, pairs, max(known.values()) or None)


# ----------------------------------------------------------------------------------------------------------------------
# Whether the study on the server is what was planned and sent, and was judged blind, as far as that can be seen.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Audit:
    """What was looked at, and what was found."""

    judgements_sha256: str
    """The hash of `exports/judgements.jsonl`, so that a check of other judgements is recognised."""
    projects: int
    tasks: int
    answers: int
    findings: tuple[AuditFinding, ...]
    fast: tuple[AuditFinding, ...]
    """By person, the answers that came faster than anyone can read, as far as they were pulled."""


def audit(ws: Workspace, *, advance: Advance) -> Audit:
    """Check every project of every round, on every server.

    Writes `exports/audit.json`; nothing else is changed.
    """
    with ws.opened() as held:
        return _audit(held, advance=advance)


def _audit(ws: Workspace, *, advance: Advance) -> Audit:
    looked = tasks = answers = 0
    findings: list[AuditFinding] = []
    with ws.reading() as session:
        fast = rushed_of(session, outcome_of(session, ws.settings))
        sent = [project for project in projects.read_projects(session) if project.remote_id is not None]
        total = sum(len(projects.read_tasks(session, project.project)) for project in sent)
    more = counting(advance, total=total)

    def look(gateway: Gateway, names: Sequence[str]) -> None:
        nonlocal looked, tasks, answers
        server, version = gateway.identity(), gateway.version()
        here = [project for project in sent if project.server == server]
        if not here:
            raise MissingInput(f"nothing was sent to {gateway.url}", hint="send the tasks with `annot push`")
        if others := sorted({project.version for project in here} - {version}):
            here_is = f"{names[0]}: their" if isolated(ws) else "the"
            what = f"{here_is} server runs Label Studio {version}; the screens were sent to {', '.join(others)}"
            findings.append(AuditFinding("version", what, len(others), VERSION.do.format(push="annot push")))
        accounts = accounts_at(ws, here)
        if isolated(ws):
            findings.extend(_of_own_server(ws, gateway, names[0], accounts[names[0]]))
        whose = whose_accounts(ws, gateway, accounts)
        for project in here:
            audited = audited_project(ws, gateway, project, accounts=accounts[project.assessor], people=whose)
            looked += 1
            if audited is None:
                what = f"{project.assessor}: {PROJECT_GONE.what} ({PARTS[project.round].title})"
                if lost := lost_with(ws, project):
                    what += f"; it contained {counted(lost, 'answer')} that {'is' if lost == 1 else 'are'} on record"
                do = PROJECT_GONE.do.format(push=PARTS[project.round].push)
                findings.append(AuditFinding("project gone", what, 1, do))
                continue
            tasks += len(audited.tasks)
            answers += sum(len(task.annotations) for task in audited.tasks)
            findings.extend(of_project(audited, _settled(ws, project)))
            findings.extend(_of_guidelines(ws, project, audited))
            more(len(audited.planned))

    everyone = sorted({project.assessor for project in sent})
    if not everyone and isolated(ws):
        raise MissingInput("nothing was sent", hint="send the tasks with `annot push`")
    away = on_servers(ws, everyone, look)
    findings += [finding for finding in fast if finding.count >= FAST_ANSWERS]
    kind = NOT_LOOKED_AT
    findings += [AuditFinding("not looked at", f"{one.assessor}: {kind.what}", 1, kind.do) for one in away]
    found = Audit(judgements_sha256(ws), looked, tasks, answers, tuple(findings), fast)
    write_file(ws.exports / AUDIT_FILE, as_text(found))
    return found


def _of_own_server(ws: Workspace, gateway: Gateway, person: str, accounts: Sequence[int]) -> Iterator[AuditFinding]:
    """What a server of one person has that is another's."""
    with ws.reading() as session:
        known = {one.account.lower(): one.assessor for one in people.read_assessors(session) if one.account}
    there = gateway.user_ids()
    mine = {number for address, number in there.items() if known.get(address) == person}
    yield from of_accounts(person, there, own={*mine, *accounts, gateway.whoami()}, people=known)
    yield from of_markers(person, gateway.projects_by_marker(""))


def _of_guidelines(ws: Workspace, project: Project, audited: AuditedProject) -> Iterator[AuditFinding]:
    """Answers by guidelines that nobody sent, and open tasks beside which earlier ones stand than were sent last."""
    if project.round != "judge":
        return
    lines = [line for line in lines_of(ws, project).values() if line.counts]
    waiting = {task.key for task in audited.tasks if not task.annotations}
    with ws.reading() as session:
        sources = read_sources(session)
        shown = read_shown(session, project.project, sources)
        now_shown = {asked: history[-1][1] for asked, history in shown.by_task.items() if history}
        displays = display_parts(session, {*now_shown.values(), *(line.current.shown_sha256 for line in lines)})
    known = {key: {sha256 for _, sha256 in history} for key, history in sources.histories.items()}
    last = {key: history[-1][1] for key, history in sources.histories.items()}

    def guidelines_key(asked: PairKey) -> tuple[str, str]:
        return "guidelines", sources.queries[asked.query_id][1]

    def guidelines_in(sha256: str | None) -> str | None:
        return displays.get(sha256 or "", {}).get("guidelines")

    unknown = [
        line.record.asked
        for line in lines
        if (key := guidelines_key(line.record.asked)) in known
        and guidelines_in(line.current.shown_sha256) not in known[key]
    ]
    earlier = [
        asked
        for asked, sha256 in now_shown.items()
        if pair_key(*asked) in waiting and guidelines_in(sha256) != last.get(guidelines_key(asked))
    ]
    for name, kind, found in (
        ("unknown guidelines", UNKNOWN_GUIDELINES, unknown),
        ("earlier guidelines", EARLIER_GUIDELINES, earlier),
    ):
        if found:
            pairs = tuple(sorted(" ".join(asked.pair) for asked in found))
            yield AuditFinding(name, kind.of(audited.person, len(pairs)), len(pairs), kind.do, pairs)


def _settled(ws: Workspace, project: Project) -> dict[tuple[str, str], str]:
    """When each adjudicated pair was settled, where the server says so; hidden gold is settled before it is asked."""
    if project.round != "judge":
        return {}
    with ws.reading() as session:
        settled = outcome_of(session, ws.settings).adjudications
        hidden = read_hidden(session).get(project.assessor, ())
    return {
        pair: found.judged_at for pair, found in settled.items() if found.judged_at is not None and pair not in hidden
    }


def described(found: Audit) -> str:
    """What was looked at and found, in words."""
    tasks, answers = counted(found.tasks, "task"), counted(found.answers, "answer")
    lines = [f"checked: {counted(found.projects, 'project')}, {tasks} and {answers}"]
    lines += [str(finding) for finding in found.fast if finding.count < FAST_ANSWERS]
    for one in found.findings:
        lines += (str(one), f"    to do: {one.do}")
    return "\n".join(lines if found.findings else [*lines, "no problems found"])


Lines = Mapping[tuple[PairKey, str], AnnotationHistory[Any]]
"""What is on record, by what was asked and the annotation's id."""


def accounts_at(ws: Workspace, here: Sequence[Project]) -> dict[str, list[int]]:
    """The accounts that are each person's on one server: the present one, and those they had when they answered.

    here: every project there. The rounds are taken together, since not each of them has answers that count.
    """
    present = {(project.assessor, project.account_id) for project in here}
    lines: defaultdict[str, dict[Any, AnnotationHistory[Any]]] = defaultdict(dict)
    for project in here:
        lines[project.assessor] |= {(project.round, *key): line for key, line in _lines(ws, project).items()}
    found = {}
    for name in lines:
        others = {account for other, account in present if other != name}
        mine = [accounts_of(lines[name], account, others) for other, account in present if other == name]
        found[name] = sorted({account for accounts in mine for account in accounts})
    return found


def whose_accounts(ws: Workspace, gateway: Gateway, accounts: Mapping[str, Sequence[int]]) -> dict[int, str]:
    """Whose the accounts on a server are, in words: a person's pseudonym, or the lead's own. accounts: by person."""
    with ws.reading() as session:
        known = {one.account.lower(): one.assessor for one in people.read_assessors(session) if one.account}
    found = {number: known[address] for address, number in gateway.user_ids().items() if address in known}
    found |= {number: name for name, numbers in accounts.items() for number in numbers}
    return {gateway.whoami(): "the lead's account"} | found


def lost_with(ws: Workspace, project: Project) -> int:
    """How many answers on record that count went with a project that is gone."""
    lines = _lines(ws, project)
    return len({asked for (asked, _), line in lines.items() if line.counts and not line.kept})


def audited_project(
    ws: Workspace,
    gateway: Gateway,
    project: Project,
    *,
    accounts: Sequence[int],
    people: Mapping[int, str],
) -> AuditedProject | None:
    """The project as it is on the server; None if it is gone, or another one has its number now."""
    assert project.remote_id is not None
    there = gateway.project(project.remote_id)
    if there is None or (None not in (there.created, project.created) and there.created != project.created):
        return None
    with ws.reading() as session:
        own = own_tasks(session, project.round, project.assessor)
        known = {pair_key(*asked): asked for asked in projects.read_tasks(session, project.project)}
    counted: defaultdict[str, set[str]] = defaultdict(set)
    kept = set()
    for (asked, annotation), line in _lines(ws, project).items():
        if line.counts:
            counted[pair_key(*asked)].add(annotation)
            if line.kept:
                kept.add(pair_key(*asked))
    tasks, may_stand = gateway.pull(project.remote_id), {**own, **known}
    filled_in = _filled_in(ws, gateway, project)
    beside = "" if project.round in ROUND_ANSWERS else f" ({PARTS[project.round].title})"
    return AuditedProject(
        person=f"{project.assessor}{beside}",
        push=PARTS[project.round].push,
        accounts=accounts,
        counted={key: frozenset(ids) for key, ids in counted.items()},
        kept=frozenset(kept),
        tasks=tasks,
        own=may_stand,
        planned=frozenset(known),
        changed={
            *changed_tasks(ws, project, tasks, may_stand),
            *(task.key for task in tasks if task.key in may_stand and task.task_id in filled_in),
        },
        settings=_in_words(changed_by_hand(there, project)),
        people=people,
        set_back={name: at[:10] for at, found in project.set_back for name in _in_words(found)},
    )


def _in_words(names: Iterable[str]) -> list[str]:
    return sorted(IN_WORDS.get(name, name) for name in names)


def _filled_in(ws: Workspace, gateway: Gateway, project: Project) -> set[int]:
    """The tasks on which something is filled in that was never sent: a grade, say, or labels of two authors."""
    assert project.remote_id is not None
    predictions = gateway.predictions(project.remote_id)
    often = Counter(prediction.task_id for prediction in predictions)
    is_ours = partial(is_prediction_of_ours, screen=PARTS[project.round].screen, labels=ws.settings.labels.names)
    return {
        prediction.task_id for prediction in predictions if often[prediction.task_id] > 1 or not is_ours(prediction)
    }


def _lines(ws: Workspace, project: Project) -> Lines:
    """What is on record of the answers in this project."""
    found = dict(lines_of(ws, project))
    source = "hidden-gold" if project.round == "judge" else project.round
    with ws.reading() as session:
        for line in trials.read_lines(session, source, project.assessor):
            if line.current.server == project.server:
                found[line.record.asked, line.current.annotation] = line
    return found
