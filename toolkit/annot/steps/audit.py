"""Whether the study on the server is what was planned and sent, and was judged blind, as far as that can be seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from annot.errors import FindingError, MissingInput
from annot.exchange.auditing import Audited, Finding, of_project
from annot.exchange.collecting import accounts_of, lines_of
from annot.exchange.connection import connect
from annot.exchange.rounds import ANSWERS, own_tasks
from annot.exchange.sending import Advance, counting
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.project_verbs import PROJECT_SETTINGS
from annot.labelstudio.screens import adjudicate_screen
from annot.labelstudio.tasks import pair_key
from annot.stats.values import to_json
from annot.store import projects
from annot.store.database import Store, open_store
from annot.store.hidden_gold import read_hidden
from annot.store.projects import Project
from annot.study import guidelines
from annot.study.outcome import outcome_of
from annot.study.results import AUDIT_FILE, as_text, judgements_sha256
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


def audit(ws: Workspace, *, url: str | None, api_key: str | None, advance: Advance) -> Audit:
    """Look at every project where pairs are judged or adjudicated, and write `exports/audit.json`.

    Nothing else is changed. Training and sub-study make no judgements of the collection and are left out.
    """
    with open_store(ws.database_url, create=False) as store, connect(ws, url=url, api_key=api_key) as gateway:
        server = gateway.identity()
        with store.read() as session:
            sent = [
                project
                for project in projects.read_projects(session)
                if project.round in ANSWERS and project.server == server and project.remote_id is not None
            ]
            total = sum(len(projects.read_tasks(session, project.project)) for project in sent)
        if not sent:
            raise MissingInput(f"nothing was sent to {gateway.url}", hint="send the tasks with `annot push`")
        findings: list[Finding] = []
        more, tasks, answers = counting(advance, total=total), 0, 0
        version = gateway.version()
        if others := sorted({project.version for project in sent} - {version}):
            findings.append(
                Finding(
                    "version",
                    f"the server is Label Studio {version}; the screens were sent to {', '.join(others)}: look at a "
                    "task of each screen, then run `annot push`",
                    len(others),
                )
            )
        for project in sent:
            colleagues = {other.account_id for other in sent if other.assessor != project.assessor}
            met = _met(ws, store, gateway, project, colleagues)
            if met is None:
                what = f"{project.assessor}: their project ({project.round}) is gone from the server"
                findings.append(Finding("project gone", what, 1))
                continue
            tasks += len(met.tasks)
            answers += sum(len(task.annotations) for task in met.tasks)
            findings += of_project(met, _settled(ws, store, project))
            more(len(met.planned))
    found = Audit(judgements_sha256(ws), len(sent), tasks, answers, tuple(findings))
    write_file(ws.exports / AUDIT_FILE, as_text(to_json(found)))
    return found


def _met(ws: Workspace, store: Store, gateway: Gateway, project: Project, others: set[int | None]) -> Audited | None:
    """The project as it is on the server; None where it is gone. others: the accounts of other people."""
    assert project.remote_id is not None
    there = gateway.project(project.remote_id)
    if there is None:
        return None
    with store.read() as session:
        own = own_tasks(session, project.round, project.assessor)
        known = {pair_key(*asked): asked for asked in projects.read_tasks(session, project.project)}
    lines = lines_of(store, project)
    return Audited(
        project.assessor,
        accounts_of(lines, project.account_id, others),
        {annotation for (_, annotation), line in lines.items() if line.counts},
        gateway.pull(project.remote_id),
        {**own, **known},
        frozenset(known),
        there.settings,
        {**PROJECT_SETTINGS, "label_config": _screen(ws, project).strip()},
    )


def _screen(ws: Workspace, project: Project) -> str:
    if project.round == "judge":
        return guidelines.screen(ws)
    hidden = ws.settings.adjudication.ratings == "hidden"
    return adjudicate_screen(
        scale_names=ws.settings.scale.names,
        labels=ws.settings.labels.names,
        language=ws.settings.collection.language,
        opinions=0 if hidden else ws.settings.judging.per_pair,
        overrides=ws.root / "templates",
    )


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


def finding(found: Audit) -> FindingError | None:
    """What ends the command where something was found."""
    if not found.findings:
        return None
    return FindingError(
        f"the audit found {len(found.findings)} thing(s) that need a person",
        hint="talk to the people named; `annot push` brings screens, settings and missing tasks back",
    )


def lines(found: Audit) -> Iterator[str]:
    """What was looked at and found, in words."""
    yield f"{found.projects} projects, {found.tasks} tasks and {found.answers} answers looked at"
    yield from map(str, found.findings)
    yield "" if found.findings else "nothing found"
