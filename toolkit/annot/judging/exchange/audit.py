"""Whether the study on the server is what was planned and sent, and was judged blind, as far as that can be seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annot.base.errors import MissingInput
from annot.base.records import Advance
from annot.base.stats.values import to_json
from annot.base.templating import counted
from annot.judging.exchange import auditing
from annot.judging.exchange.audited_projects import Audited, fast_answers, of_fast, of_project
from annot.judging.exchange.auditing import Finding, of_accounts, of_markers
from annot.judging.exchange.collecting import lines_of
from annot.judging.exchange.connection import on_servers
from annot.judging.exchange.met_projects import accounts_at, lost_with, meet, whose_accounts
from annot.judging.exchange.rounds import ROUNDS
from annot.judging.exchange.sending import counting
from annot.judging.exchange.whose_server import isolated
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.tasks import pair_key
from annot.measuring.results import AUDIT_FILE, as_text, judgements_sha256
from annot.store import people, projects
from annot.store.database import Store, open_store
from annot.store.guidelines import read_guidelines, read_shown
from annot.store.hidden_gold import read_hidden
from annot.store.projects import Project
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace, write_file


@dataclass(frozen=True, slots=True)
class Audit:
    """What was looked at, and what was found."""

    judgements_sha256: str
    """Of `exports/judgements.jsonl`, so that what is said of other judgements is told as such."""
    projects: int
    tasks: int
    answers: int
    findings: tuple[Finding, ...]
    fast: dict[str, int]
    """By person, the answers that were given faster than anybody reads."""


def audit(ws: Workspace, *, advance: Advance) -> Audit:
    """Look at every project of people who judge, settle, train or take part in the sub-study, on every server.

    Writes `exports/audit.json`; nothing else is changed.
    """
    looked = tasks = answers = 0
    findings: list[Finding] = []
    fast: defaultdict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
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
                what = f"{here_is} server is Label Studio {version}; the screens were sent to {', '.join(others)}"
                findings.append(Finding("version", what, len(others), auditing.VERSION.do.format(push="annot push")))
            accounts = accounts_at(store, here)
            if isolated(ws):
                findings.extend(_of_own_server(store, gateway, names[0], accounts[names[0]]))
            whose = whose_accounts(store, gateway, accounts)
            for project in here:
                met = meet(ws, store, gateway, project, accounts=accounts[project.assessor], people=whose)
                looked += 1
                if met is None:
                    what = f"{project.assessor}: {auditing.PROJECT_GONE.what} ({ROUNDS[project.round].title})"
                    if lost := lost_with(store, project):
                        what += f"; {lost} answer(s) on record are no longer on the server"
                    do = auditing.PROJECT_GONE.do.format(push=ROUNDS[project.round].push)
                    findings.append(Finding("project gone", what, 1, do))
                    continue
                tasks += len(met.tasks)
                answers += sum(len(task.annotations) for task in met.tasks)
                findings.extend(of_project(met, _settled(ws, store, project)))
                fast[project.assessor] |= fast_answers(met)
                findings.extend(_of_guidelines(store, project, met))
                more(len(met.planned))

        everyone = sorted({project.assessor for project in sent})
        if not everyone and isolated(ws):
            raise MissingInput("nothing was sent", hint="send the tasks with `annot push`")
        away = on_servers(ws, store, everyone, look)
    findings += [finding for person, answers in sorted(fast.items()) for finding in of_fast(person, answers)]
    kind = auditing.NOT_LOOKED_AT
    findings += [Finding("not looked at", f"{one.assessor}: {kind.what}", 1, kind.do) for one in away]
    counted = {person: len(own) for person, own in sorted(fast.items()) if own}
    found = Audit(judgements_sha256(ws), looked, tasks, answers, tuple(findings), counted)
    write_file(ws.exports / AUDIT_FILE, as_text(to_json(found)))
    return found


def _of_own_server(store: Store, gateway: Gateway, person: str, accounts: Sequence[int]) -> Iterator[Finding]:
    """What a server of one person has that is another's."""
    with store.read() as session:
        known = {one.account.lower(): one.assessor for one in people.read_assessors(session) if one.account}
    there = gateway.user_ids()
    mine = {number for address, number in there.items() if known.get(address) == person}
    yield from of_accounts(person, there, own={*mine, *accounts, gateway.whoami()}, people=known)
    yield from of_markers(person, gateway.projects_by_marker(""))


def _of_guidelines(store: Store, project: Project, met: Audited) -> Iterator[Finding]:
    """Answers by guidelines that nobody sent, and open tasks beside which earlier ones stand than were sent last."""
    if project.round != "judge":
        return
    with store.read() as session:
        shown = read_shown(session, project.project)
        known = {sent.sha256 for versions in read_guidelines(session).values() for sent in versions}
    answered = {
        line.stands.record.asked: line.stands.guidelines_sha256
        for line in lines_of(store, project).values()
        if line.counts
    }
    unknown = [asked for asked, sha256 in answered.items() if shown.by_query[asked.query_id] and sha256 not in known]
    waiting = {task.key for task in met.tasks if not task.annotations}
    last = {query_id: history[-1][1] for query_id, history in shown.by_query.items() if history}
    earlier = [
        asked
        for asked, history in shown.by_task.items()
        if pair_key(*asked) in waiting and history and history[-1][1] != last.get(asked.query_id)
    ]
    for name, kind, found in (
        ("unknown guidelines", auditing.UNKNOWN_GUIDELINES, unknown),
        ("earlier guidelines", auditing.EARLIER_GUIDELINES, earlier),
    ):
        if found:
            pairs = tuple(sorted(" ".join(asked.pair) for asked in found))
            yield Finding(name, f"{met.person}: {len(pairs)} {kind.what}", len(pairs), kind.do, pairs)


def _settled(ws: Workspace, store: Store, project: Project) -> dict[tuple[str, str], str]:
    """When each adjudicated pair was settled, where the server says so; hidden gold is settled before it is asked."""
    if project.round != "judge":
        return {}
    with store.read() as session:
        settled = outcome_of(session, ws.settings).adjudications
        hidden = read_hidden(session).get(project.assessor, ())
    return {
        pair: found.judged_at for pair, found in settled.items() if found.judged_at is not None and pair not in hidden
    }


def described(found: Audit) -> str:
    """What was looked at and found, in words."""
    tasks, answers = counted(found.tasks, "task"), counted(found.answers, "answer")
    lines = [f"{counted(found.projects, 'project')}, {tasks} and {answers} looked at"]
    if found.fast:
        each = ", ".join(f"{person} {count}" for person, count in found.fast.items())
        kind, least = auditing.TOO_FAST, auditing.FAST_ANSWERS
        total = sum(found.fast.values())
        lines.append(f"{total} {kind.what} ({each}); from {least} of one person on that is a finding")
    for one in found.findings:
        lines += (str(one), f"    to do: {one.do}")
    return "\n".join(lines if found.findings else [*lines, "nothing found"])
