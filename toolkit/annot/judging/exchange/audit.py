"""Audit of the servers: signs that a study was not judged blind and as planned."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from annot.base.errors import MissingInput
from annot.base.names import counted
from annot.base.records import Advance, PairKey, grouped
from annot.base.templating import packaged_table
from annot.judging.exchange.collecting import accounts_of, lines_of
from annot.judging.exchange.displayed_content import changed_tasks
from annot.judging.exchange.sending import counting
from annot.judging.exchange.servers import ANSWERS as ROUND_ANSWERS
from annot.judging.exchange.servers import PARTS, changed_by_hand, isolated, on_servers, own_tasks
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.screens import is_prediction_of_ours
from annot.labelstudio.studio_records import IN_WORDS, Payload, PulledTask, id_of
from annot.labelstudio.tasks import pair_key
from annot.measuring.measured import AUDIT_FILE, as_text, judgements_sha256
from annot.store import people, projects, trials
from annot.store.answers import AnnotationHistory
from annot.store.models import Project
from annot.store.projects import read_hidden
from annot.store.shown import display_parts, in_language, read_histories, read_shown, read_sources
from annot.study.outcome import Rushed, outcome_of, rushed_pairs
from annot.study.workspace import Workspace, write_file

# ----------------------------------------------------------------------------------------------------------------------
# Signs on a server that a study was not judged blind: the kinds of problems, and those of one project.
#
# Pure functions of the server's tasks and the record. Each finding names a person by pseudonym, the pairs and their
# number, and the remedy; none accuses anyone of cheating.
# ----------------------------------------------------------------------------------------------------------------------


FAST_ANSWERS = 3
"""Answers of one person that came too fast from which they are more than a slip."""
SHOWN = 3
"""Pairs that a finding names."""


class FindingKind(NamedTuple):
    """A kind of finding."""

    what: str
    do: str
    """Advice for the lead. `{push}` is the command that sends the tasks of the project."""
    noun: str = ""
    """Noun of the counted things, in the singular."""


KINDS = {name: FindingKind(**entry) for name, entry in packaged_table("findings.toml").items()}
ANSWERS = ("other account", "edited by another", "answered twice", "answer gone", "after adjudication")
"""Findings about the answers to a task."""
BY_OTHERS = {"other account": "completed_by", "edited by another": "updated_by"}
"""The field of an annotation that holds the account; these findings name its owner."""


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """A finding that needs a person. `what` begins with the pseudonym if it is about one."""

    kind: str
    what: str
    count: int
    do: str
    pairs: tuple[str, ...] = ()
    """All pairs, as `query document`."""
    last: str | None = None
    """The day of the last answer that shows it; for the lead alone, since a release carries no dates."""

    def __str__(self) -> str:
        rest = f", and {len(self.pairs) - SHOWN} more" if len(self.pairs) > SHOWN else ""
        shown = f": {'; '.join(self.pairs[:SHOWN])}{rest}" if self.pairs else ""
        return f"{self.what}{shown}{f' (last on {self.last})' if self.last else ''}"


def finding_of(
    kind: str, person: str, says: str, count: int = 1, *, pairs: Iterable[str] = (), last: str | None = None, **do: str
) -> AuditFinding:
    """A finding about a person. do: words for the places in the advice."""
    return AuditFinding(kind, f"{person}: {says}", count, KINDS[kind].do.format(**do), tuple(pairs), last)


def _finding_about(kind: str, person: str, pairs: Sequence[str], suffix: str = "", **more: Any) -> AuditFinding:
    """A finding about these pairs of a person. more: as in `finding_of`."""
    finding = f"{counted(len(pairs), KINDS[kind].noun)} {KINDS[kind].what}{suffix}"
    return finding_of(kind, person, finding, len(pairs), pairs=pairs, **more)


def rushed_of(rushed: Rushed) -> tuple[AuditFinding, ...]:
    """Everyone's answers and decisions that came too fast, by pseudonym."""
    limit, projects = rushed
    fast = grouped((name, " ".join(pair)) for (name, _), pairs in projects.items() for pair in pairs)
    words = f"{KINDS['too fast'].what} (under {limit:.1f} s; they count)"
    return tuple(
        finding_of("too fast", name, f"{counted(len(pairs), 'answer')} {words}", len(pairs), pairs=pairs)
        for name, pairs in fast.items()
    )


def of_accounts(
    person: str, accounts: Mapping[str, int], *, allowed: Collection[int], people: Mapping[str, str]
) -> Iterator[AuditFinding]:
    """Accounts on a person's own server that belong to neither that person nor the lead.

    accounts: the server's id of each account, by address. allowed: ids that may be there. people: person of an address.
    """
    for address, number in sorted(accounts.items(), key=lambda item: item[1]):
        if number not in allowed:
            # An address is an identity: the finding goes into a file.
            owner = (
                f"an account of {people[address]}" if address in people else f"account {number} of an unknown person"
            )
            yield finding_of("strange account", person, f"{owner} {KINDS['strange account'].what}")


def of_markers(person: str, markers: Iterable[str]) -> Iterator[AuditFinding]:
    """Projects of others on a person's own server. markers: of all projects of this program on it."""
    others = Counter(name for marker in markers if (name := marker.rpartition("/")[2]) != person)
    for name, count in sorted(others.items()):
        finding = f"{counted(count, 'project')} of {name} {KINDS['strange project'].what}"
        yield finding_of("strange project", person, finding, count)


class AuditedProject(NamedTuple):
    """One person's project as it is on the server."""

    person: str
    """Pseudonym, with the purpose of a project that is neither judging nor adjudication: `a1 (training)`."""
    push: str
    """The command that sends its tasks."""
    accounts: Collection[int]
    """The server's ids of the accounts that are the person's, now or when they answered."""
    counted: Mapping[str, frozenset[str]]
    """Ids of the annotations whose answers count, by key: the server forgets the author when it removes an account."""
    kept: frozenset[str]
    """Keys of answers that are gone and that the lead has kept."""
    tasks: Sequence[PulledTask]
    questions: Mapping[str, PairKey]
    """Questions that may be in the project, by key."""
    planned: frozenset[str]
    """Keys of the tasks that were sent."""
    changed: Collection[str | None]
    """Keys of the tasks that show something else than they were sent with."""
    settings: Collection[str] = ()
    """Changed settings of the project, in words."""
    set_back: Mapping[str, str] = {}
    """Day of the last change of each setting that a push has set back, by its words."""
    people: Mapping[int, str] = {}
    """Owner of each account of the server, in words, if known."""


def of_project(audited: AuditedProject, adjudicated: Mapping[tuple[str, str], str]) -> Iterator[AuditFinding]:
    """Findings of one project. adjudicated: the moment at which a pair was settled (ISO 8601, the server's)."""
    changes = {"project changed": audited.settings, "project set back": audited.set_back}
    for kind, settings in changes.items():
        if settings:
            finding = f"{KINDS[kind].what}: {', '.join(settings)}"
            last = max(audited.set_back.values()) if kind == "project set back" else None
            yield finding_of(kind, audited.person, finding, len(settings), last=last, push=audited.push)
    copies = grouped((task.key, task) for task in audited.tasks)
    strangers = sum(len(of_key) for key, of_key in copies.items() if key not in audited.questions)
    if strangers:
        finding = f"{counted(strangers, 'task')} {KINDS['strange tasks'].what}"
        yield finding_of("strange tasks", audited.person, finding, strangers)
    yield from _findings("task changed", audited, dict.fromkeys(audited.changed, ""))
    twice = {key: of_key for key, of_key in copies.items() if key in audited.questions and len(of_key) > 1}
    advice = "; ".join(_advice_on_copies(of_key) for of_key in twice.values())
    yield from _findings("task twice", audited, dict.fromkeys(twice, ""), which=advice)
    yield from _findings("task gone", audited, dict.fromkeys(audited.planned - copies.keys(), ""))
    answers: dict[str, dict[str | None, str]] = {}
    for key, of_key in copies.items():
        if key is not None and key in audited.questions:
            question = audited.questions[key]
            # A hidden repeat settles nothing, and may come after its pair was settled.
            settled = adjudicated.get(question.pair) if question.occasion == 1 else None
            for kind, day in _copies_findings(key, of_key, audited, settled).items():
                answers.setdefault(kind, {})[key] = day
    for kind in ANSWERS:
        yield from _findings(kind, audited, answers.get(kind, {}))


def _uncancelled(task: PulledTask) -> list[Payload]:
    return [annotation for annotation in task.annotations if not annotation.get("was_cancelled")]


def _advice_on_copies(copies: Sequence[PulledTask]) -> str:
    """Advice on the tasks of one pair to delete: an answered task stays, and without any answer the first task."""
    in_order = sorted(copies, key=lambda task: task.task_id or 0)
    answered = [task for task in in_order if _uncancelled(task)]
    if len(answered) > 1:
        numbers = " and ".join(str(task.task_id) for task in answered)
        return f"one of {numbers}, once the person has said which answer is right (the latest counts)"
    stays = (answered or in_order)[0]
    others = ", ".join(str(task.task_id) for task in in_order if task is not stays)
    return f"task {others} (task {stays.task_id} has the answer)" if answered else f"task {others} (none has an answer)"


def _copies_findings(
    key: str, copies: Sequence[PulledTask], audited: AuditedProject, settled: str | None
) -> dict[str, str]:
    """Findings of `ANSWERS` that the tasks of one pair show, with the day of the last such answer."""
    kinds: dict[str, str] = {}
    counted = audited.counted.get(key, frozenset())
    answers = [_uncancelled(task) for task in copies]
    if counted and not any(answers) and key not in audited.kept:
        kinds["answer gone"] = ""
    for of_task in answers:
        if len(of_task) > 1:
            kinds["answered twice"] = max(map(_day, of_task))
    for annotation in (annotation for of_task in answers for annotation in of_task):
        shows = []
        if kind := _other_account_finding(annotation, audited, counted):
            shows.append(kind)
        if settled is not None and str(annotation.get("updated_at") or "") > settled:
            shows.append("after adjudication")
        for kind in shows:
            kinds[kind] = max(kinds.get(kind, ""), _day(annotation))
    return kinds


def _other_account_finding(annotation: Payload, audited: AuditedProject, counted: Collection[str]) -> str | None:
    """The finding if another account gave the answer, or changed it last."""
    author, editor = id_of(annotation.get("completed_by")), id_of(annotation.get("updated_by"))
    if author not in audited.accounts and not (author is None and str(annotation["id"]) in counted):
        return "other account"
    return "edited by another" if editor not in (None, author, *audited.accounts) else None


def _other_owners(kind: str, audited: AuditedProject) -> str:
    """Owners of the accounts that gave these answers, or changed them last, in words."""
    field = BY_OTHERS[kind]
    accounts = {
        id_of(annotation.get(field))
        for task in audited.tasks
        if task.key is not None and task.key in audited.questions
        for annotation in _uncancelled(task)
        if _other_account_finding(annotation, audited, audited.counted.get(task.key, frozenset())) == kind
    }
    whose = {
        audited.people.get(account or 0, f"account {account}" if account else "a deleted account")
        for account in accounts
    }
    return f" (by {', '.join(sorted(whose))})"


def _day(annotation: Payload) -> str:
    return str(annotation.get("updated_at") or "")[:10]


def _findings(
    kind: str, audited: AuditedProject, days: Mapping[str | None, str], *, which: str = ""
) -> Iterator[AuditFinding]:
    """Findings of one kind. days: day of the last answer that shows it, by key; empty if none is known."""
    days_of_questions = {key: day for key, day in days.items() if key is not None and key in audited.questions}
    pairs = sorted(" ".join(audited.questions[key].pair) for key in days_of_questions)
    if pairs:
        suffix = _other_owners(kind, audited) if kind in BY_OTHERS else ""
        last = max(days_of_questions.values()) or None
        yield _finding_about(kind, audited.person, pairs, suffix, last=last, push=audited.push, which=which)


# ----------------------------------------------------------------------------------------------------------------------
# The audit: is the study on the server as it was planned and sent, and was it judged blind, if that can be seen?
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Audit:
    """Numbers of the checked projects, tasks and answers, and the findings."""

    judgements_sha256: str
    """The hash of `exports/judgements.jsonl`, so that a check of other judgements is recognised."""
    projects: int
    tasks: int
    answers: int
    findings: tuple[AuditFinding, ...]
    fast: tuple[AuditFinding, ...]
    """Answers that came faster than anyone can read, by person, if they were pulled."""


def audit(ws: Workspace, *, advance: Advance) -> Audit:
    """Check every project of every round, on every server.

    Writes `exports/audit.json`; nothing else is changed.
    """
    with ws.opened() as held:
        return _audit(held, advance=advance)


def _audit(ws: Workspace, *, advance: Advance) -> Audit:
    checked = tasks = answers = 0
    findings: list[AuditFinding] = []
    with ws.reading() as session:
        fast = rushed_of(rushed_pairs(session, outcome_of(session, ws.settings)))
        sent = projects.sent_projects(session)
        total = sum(len(projects.read_tasks(session, project.project)) for project in sent)
    counter = counting(advance, total=total)

    def look(gateway: Gateway, names: Sequence[str]) -> None:
        nonlocal checked, tasks, answers
        server, version = gateway.identity(), gateway.version()
        projects_here = [project for project in sent if project.server == server]
        if not projects_here:
            raise MissingInput(f"nothing was sent to {gateway.url}", hint="send the tasks with `annot push`")
        if others := sorted({project.version for project in projects_here} - {version}):
            owner = f"{names[0]}: their" if isolated(ws) else "the"
            problem = f"{owner} server runs Label Studio {version}; the screens were sent to {', '.join(others)}"
            findings.append(AuditFinding("version", problem, len(others), KINDS["version"].do))
        accounts = accounts_at(ws, projects_here)
        if isolated(ws):
            findings.extend(_own_server_findings(ws, gateway, names[0], accounts[names[0]]))
        owners = whose_accounts(ws, gateway, accounts)
        for project in projects_here:
            audited = audited_project(ws, gateway, project, accounts=accounts[project.assessor], people=owners)
            checked += 1
            if audited is None:
                problem = f"{KINDS['project gone'].what} ({PARTS[project.round].title})"
                if lost := count_lost_answers(ws, project):
                    problem += f"; it contained {counted(lost, 'answer')} that {'is' if lost == 1 else 'are'} on record"
                push = PARTS[project.round].push
                findings.append(finding_of("project gone", project.assessor, problem, push=push))
                continue
            tasks += len(audited.tasks)
            answers += sum(len(task.annotations) for task in audited.tasks)
            findings.extend(of_project(audited, _settled(ws, project)))
            findings.extend(_guidelines_findings(ws, project, audited))
            counter(len(audited.planned))

    everyone = sorted({project.assessor for project in sent})
    if not everyone and isolated(ws):
        raise MissingInput("nothing was sent", hint="send the tasks with `annot push`")
    away = on_servers(ws, everyone, look)
    findings += [finding for finding in fast if finding.count >= FAST_ANSWERS]
    findings += [finding_of("not looked at", server.assessor, KINDS["not looked at"].what) for server in away]
    result = Audit(judgements_sha256(ws), checked, tasks, answers, tuple(findings), fast)
    write_file(ws.exports / AUDIT_FILE, as_text(result))
    return result


def _own_server_findings(
    ws: Workspace, gateway: Gateway, person: str, accounts: Sequence[int]
) -> Iterator[AuditFinding]:
    """Findings of one person's server that belong to another person."""
    person_of, ids = _person_of(ws), gateway.user_ids()
    person_ids = {number for address, number in ids.items() if person_of.get(address) == person}
    yield from of_accounts(person, ids, allowed={*person_ids, *accounts, gateway.whoami()}, people=person_of)
    yield from of_markers(person, gateway.markers())


def _guidelines_findings(ws: Workspace, project: Project, audited: AuditedProject) -> Iterator[AuditFinding]:
    """Answers by guidelines that were never sent, and open tasks with older guidelines than were sent last."""
    if project.round != "judge":
        return
    lines = [line for line in lines_of(ws, project).values() if line.counts]
    waiting = {task.key for task in audited.tasks if not task.annotations}
    with ws.reading() as session:
        sources = read_sources(session)
        histories = read_histories(session)
        shown = read_shown(session, project.project, sources)
        now_shown = {question: history[-1][1] for question, history in shown.by_task.items() if history}
        displays = display_parts(session, {*now_shown.values(), *(line.current.shown_sha256 for line in lines)})

    own_screen = in_language("judge", project.language)
    screens = {own_screen, *(subject for part, subject in histories if part == "screen")}

    def sent(question: PairKey, on: Iterable[str]) -> list[str]:
        """The guidelines on record, in the languages of these screens."""
        return [sha256 for screen in on for _, sha256 in sources(question, screen).get("guidelines", ())]

    unknown = [
        line.record.pair_key
        for line in lines
        if (versions := sent(line.record.pair_key, screens))
        and displays.get(line.current.shown_sha256 or "", {}).get("guidelines") not in versions
    ]
    earlier = [
        question
        for question, sha256 in now_shown.items()
        if pair_key(*question) in waiting
        and displays.get(sha256, {}).get("guidelines") != [None, *sent(question, [own_screen])][-1]
    ]
    yield from _findings_about("unknown guidelines", audited, unknown)
    yield from _findings_about("earlier guidelines", audited, earlier)


def _findings_about(kind: str, audited: AuditedProject, questions: Sequence[PairKey]) -> Iterator[AuditFinding]:
    """The finding about these questions; nothing without any."""
    if questions:
        yield _finding_about(kind, audited.person, sorted(" ".join(question.pair) for question in questions))


def _settled(ws: Workspace, project: Project) -> dict[tuple[str, str], str]:
    """Moments at which pairs were settled, if on record; hidden gold is settled before it is asked."""
    if project.round != "judge":
        return {}
    with ws.reading() as session:
        settled = outcome_of(session, ws.settings).adjudications
        hidden = read_hidden(session).get(project.assessor, ())
    return {
        pair: ruling.judged_at
        for pair, ruling in settled.items()
        if ruling.judged_at is not None and pair not in hidden
    }


def described(result: Audit) -> str:
    """The audit in words."""
    tasks, answers = counted(result.tasks, "task"), counted(result.answers, "answer")
    lines = [f"checked: {counted(result.projects, 'project')}, {tasks} and {answers}"]
    lines += [str(finding) for finding in result.fast if finding.count < FAST_ANSWERS]
    for finding in result.findings:
        lines += (str(finding), f"    to do: {finding.do}")
    return "\n".join(lines if result.findings else [*lines, "no problems found"])


Lines = Mapping[tuple[PairKey, str], AnnotationHistory[Any]]
"""Annotations on record, by question and the annotation's id."""


def accounts_at(ws: Workspace, projects_here: Sequence[Project]) -> dict[str, list[int]]:
    """The accounts that are each person's on one server: the present one, and those they had when they answered.

    projects_here: every project there. The rounds are taken together, since not each of them has answers that count.
    """
    present = {(project.assessor, project.account_id) for project in projects_here}
    lines: defaultdict[str, dict[Any, AnnotationHistory[Any]]] = defaultdict(dict)
    for project in projects_here:
        lines[project.assessor] |= {(project.round, *key): line for key, line in _lines(ws, project).items()}
    by_person = {}
    for name in lines:
        others = {account for other, account in present if other != name}
        own_accounts = [accounts_of(lines[name], account, others) for other, account in present if other == name]
        by_person[name] = sorted({account for ids in own_accounts for account in ids})
    return by_person


def whose_accounts(ws: Workspace, gateway: Gateway, accounts: Mapping[str, Sequence[int]]) -> dict[int, str]:
    """Whose the accounts on a server are, in words: a person's pseudonym, or the lead's own. accounts: by person."""
    person_of = _person_of(ws)
    owners = {number: person_of[address] for address, number in gateway.user_ids().items() if address in person_of}
    owners |= {number: name for name, numbers in accounts.items() for number in numbers}
    return {gateway.whoami(): "the lead's account"} | owners


def _person_of(ws: Workspace) -> dict[str, str]:
    """Person of each address with an account."""
    return {row.account.lower(): row.assessor for row in ws.read(people.read_assessors) if row.account}


def count_lost_answers(ws: Workspace, project: Project) -> int:
    """Number of counting answers on record that went with a project that is gone."""
    lines = _lines(ws, project)
    return len({question for (question, _), line in lines.items() if line.counts and not line.kept})


def audited_project(
    ws: Workspace, gateway: Gateway, project: Project, *, accounts: Sequence[int], people: Mapping[int, str]
) -> AuditedProject | None:
    """The project as it is on the server; None if it is gone, or another one has its number now."""
    current = gateway.project(project.number)
    if current is None or (None not in (current.created, project.created) and current.created != project.created):
        return None
    with ws.reading() as session:
        planned = own_tasks(session, project.round, project.assessor)
        sent = {pair_key(*question): question for question in projects.read_tasks(session, project.project)}
    counted: defaultdict[str, set[str]] = defaultdict(set)
    kept_keys = set()
    for (question, annotation), line in _lines(ws, project).items():
        if line.counts:
            counted[pair_key(*question)].add(annotation)
            if line.kept:
                kept_keys.add(pair_key(*question))
    tasks, possible = gateway.pull(project.number), {**planned, **sent}
    filled_in = _filled_in(ws, gateway, project)
    purpose = "" if project.round in ROUND_ANSWERS else f" ({PARTS[project.round].title})"
    return AuditedProject(
        person=f"{project.assessor}{purpose}",
        push=PARTS[project.round].push,
        accounts=accounts,
        counted={key: frozenset(ids) for key, ids in counted.items()},
        kept=frozenset(kept_keys),
        tasks=tasks,
        questions=possible,
        planned=frozenset(sent),
        changed={
            *changed_tasks(ws, project, tasks, possible),
            *(task.key for task in tasks if task.key in possible and task.task_id in filled_in),
        },
        settings=_in_words(changed_by_hand(current, project)),
        people=people,
        set_back={name: moment[:10] for moment, names in project.set_back for name in _in_words(names)},
    )


def _in_words(names: Iterable[str]) -> list[str]:
    return sorted(IN_WORDS.get(name, name) for name in names)


def _filled_in(ws: Workspace, gateway: Gateway, project: Project) -> set[int]:
    """The tasks on which something is filled in that was never sent: a grade, say, or labels of two authors."""
    predictions = gateway.predictions(project.number)
    often = Counter(prediction.task_id for prediction in predictions)
    is_ours = partial(is_prediction_of_ours, screen=PARTS[project.round].screen, labels=ws.settings.labels.names)
    return {
        prediction.task_id for prediction in predictions if often[prediction.task_id] > 1 or not is_ours(prediction)
    }


def _lines(ws: Workspace, project: Project) -> Lines:
    """Annotations of this project on record, those that never count included."""
    lines = dict(lines_of(ws, project))
    source = "hidden-gold" if project.round == "judge" else project.round
    with ws.reading() as session:
        for line in trials.read_lines(session, source, project.assessor):
            if line.current.server == project.server:
                lines[line.record.pair_key, line.current.annotation] = line
    return lines
