"""A person's project read for an audit: what is there, and what should be."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annot.base.records import Asked
from annot.judging.exchange.audited_projects import Audited
from annot.judging.exchange.collecting import accounts_of, lines_of
from annot.judging.exchange.rounds import ANSWERS, PARTS, own_tasks
from annot.judging.exchange.server_projects import changed_by_hand
from annot.judging.exchange.shown import changed_tasks
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import IN_WORDS
from annot.labelstudio.task_lint import is_prediction_of_ours
from annot.labelstudio.tasks import pair_key
from annot.store import people, projects, trials
from annot.store.database import Store
from annot.store.projects import Project
from annot.store.revisions import Line
from annot.study.workspace import Workspace

Lines = Mapping[tuple[Asked, str], Line[Any]]
"""What is on record, by what was asked and the annotation's id."""


def accounts_at(store: Store, here: Sequence[Project]) -> dict[str, list[int]]:
    """The accounts that are each person's on one server: the present one, and those they had when they answered.

    here: every project there. The rounds are taken together, since not each of them has answers that count.
    """
    present = {(project.assessor, project.account_id) for project in here}
    lines: defaultdict[str, dict[Any, Line[Any]]] = defaultdict(dict)
    for project in here:
        lines[project.assessor] |= {(project.round, *key): line for key, line in _lines(store, project).items()}
    found = {}
    for name in lines:
        others = {account for other, account in present if other != name}
        mine = [accounts_of(lines[name], account, others) for other, account in present if other == name]
        found[name] = sorted({account for accounts in mine for account in accounts})
    return found


def whose_accounts(store: Store, gateway: Gateway, accounts: Mapping[str, Sequence[int]]) -> dict[int, str]:
    """Whose the accounts on a server are, in words: a person's pseudonym, or the lead's own. accounts: by person."""
    with store.read() as session:
        known = {one.account.lower(): one.assessor for one in people.read_assessors(session) if one.account}
    found = {number: known[address] for address, number in gateway.user_ids().items() if address in known}
    found |= {number: name for name, numbers in accounts.items() for number in numbers}
    return {gateway.whoami(): "the lead's account"} | found


def lost_with(store: Store, project: Project) -> int:
    """How many answers on record that count went with a project that is gone."""
    lines = _lines(store, project)
    return len({asked for (asked, _), line in lines.items() if line.counts and not line.kept})


def meet(
    ws: Workspace,
    store: Store,
    gateway: Gateway,
    project: Project,
    *,
    accounts: Sequence[int],
    people: Mapping[int, str],
) -> Audited | None:
    """The project as it is on the server; None where it is gone, or another one has its number now."""
    assert project.remote_id is not None
    there = gateway.project(project.remote_id)
    if there is None or (None not in (there.created, project.created) and there.created != project.created):
        return None
    with store.read() as session:
        own = own_tasks(session, project.round, project.assessor)
        known = {pair_key(*asked): asked for asked in projects.read_tasks(session, project.project)}
    counted: defaultdict[str, set[str]] = defaultdict(set)
    kept = set()
    for (asked, annotation), line in _lines(store, project).items():
        if line.counts:
            counted[pair_key(*asked)].add(annotation)
            if line.kept:
                kept.add(pair_key(*asked))
    tasks, may_stand = gateway.pull(project.remote_id), {**own, **known}
    filled_in = _filled_in(ws, gateway, project.remote_id)
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
            *changed_tasks(ws, store, project, tasks, may_stand),
            *(task.key for task in tasks if task.key in may_stand and task.task_id in filled_in),
        },
        graded=PARTS[project.round].graded,
        settings=_in_words(changed_by_hand(there, project)),
        people=people,
        set_back={name: at[:10] for at, found in project.set_back for name in _in_words(found)},
    )


def _in_words(names: Iterable[str]) -> list[str]:
    return sorted(IN_WORDS.get(name, name) for name in names)


def _filled_in(ws: Workspace, gateway: Gateway, remote_id: int) -> set[int]:
    """The tasks on which something is filled in that was never sent: a grade, say, or labels of two authors."""
    found = gateway.predictions(remote_id)
    often = Counter(one.task_id for one in found)
    labels = ws.settings.labels.names
    return {one.task_id for one in found if often[one.task_id] > 1 or not is_prediction_of_ours(one, labels=labels)}


def _lines(store: Store, project: Project) -> Lines:
    """What is on record of the answers in this project."""
    found = dict(lines_of(store, project))
    source = "hidden-gold" if project.round == "judge" else project.round
    with store.read() as session:
        for line in trials.read_lines(session, source, project.assessor):
            if line.stands.server == project.server:
                found[line.stands.record.asked, line.stands.annotation] = line
    return found
