"""Whether the study on the server is what was planned and sent, and was judged blind, as far as that can be seen."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from annot.base.errors import MissingInput
from annot.base.names import counted
from annot.base.records import Advance, Asked
from annot.judging.exchange.collecting import accounts_of, lines_of
from annot.judging.exchange.findings import (
    EARLIER_GUIDELINES,
    FAST_ANSWERS,
    NOT_LOOKED_AT,
    PROJECT_GONE,
    UNKNOWN_GUIDELINES,
    VERSION,
    Audited,
    AuditFinding,
    of_accounts,
    of_markers,
    of_project,
    rushed_of,
)
from annot.judging.exchange.rounds import ANSWERS, PARTS, own_tasks
from annot.judging.exchange.sending import counting
from annot.judging.exchange.server_projects import changed_by_hand
from annot.judging.exchange.servers import isolated, on_servers
from annot.judging.exchange.shown import changed_tasks
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import IN_WORDS
from annot.labelstudio.task_lint import is_prediction_of_ours
from annot.labelstudio.tasks import pair_key
from annot.measuring.results import AUDIT_FILE, as_text, judgements_sha256
from annot.store import people, projects, trials
from annot.store.projects import Project, read_hidden
from annot.store.revisions import Line
from annot.store.shown import display_parts, read_shown, read_sources
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace, write_file


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


def _of_guidelines(ws: Workspace, project: Project, audited: Audited) -> Iterator[AuditFinding]:
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

    def guidelines_key(asked: Asked) -> tuple[str, str]:
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


Lines = Mapping[tuple[Asked, str], Line[Any]]
"""What is on record, by what was asked and the annotation's id."""


def accounts_at(ws: Workspace, here: Sequence[Project]) -> dict[str, list[int]]:
    """The accounts that are each person's on one server: the present one, and those they had when they answered.

    here: every project there. The rounds are taken together, since not each of them has answers that count.
    """
    present = {(project.assessor, project.account_id) for project in here}
    lines: defaultdict[str, dict[Any, Line[Any]]] = defaultdict(dict)
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
) -> Audited | None:
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
    beside = "" if project.round in ANSWERS else f" ({PARTS[project.round].title})"
    return Audited(
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
