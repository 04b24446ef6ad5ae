"""What a person is to find in their project, and the proof that it tells nothing else, before anything is sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlmodel import Session

from annot.base.errors import LeakError
from annot.base.records import Asked, Judgement
from annot.judging.exchange.locating import marker_of
from annot.judging.exchange.rounds import ROUNDS
from annot.judging.planning.telling_order import follows
from annot.labelstudio.screens import check_predictions
from annot.labelstudio.studio_records import ProjectSpec
from annot.labelstudio.task_lint import lint_tasks, named_in
from annot.pools.pooling import MANUAL
from annot.store import people, pools, projects, trials
from annot.store.database import Store
from annot.store.projects import Round
from annot.store.queries import read_queries
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace

TITLE_LONGEST = 50


@dataclass(frozen=True, slots=True)
class Parcel:
    """What one person is to find in their project, in their order."""

    assessor: str
    label_config: str
    instructions: str
    tasks: Mapping[Asked, dict[str, Any]]
    """By what each task asks."""
    whole: Sequence[Asked] = ()
    """The whole order, where these tasks are only the first of it."""
    opinions: Mapping[Asked, Sequence[Judgement]] = field(default_factory=dict)
    """What an adjudicator's tasks show of the assessors' answers, in the order shown."""


def spec_of(ws: Workspace, parcel: Parcel, round: Round) -> ProjectSpec:
    """The project that a parcel goes to."""
    name = ws.settings.collection.name
    title = f"{name} · {ROUNDS[round].title} · {parcel.assessor}"
    if len(title) > TITLE_LONGEST:
        title = f"{ROUNDS[round].title} · {parcel.assessor}"
    return ProjectSpec(
        marker=marker_of(name, round, parcel.assessor),
        title=title,
        description=f"{ws.settings.collection.title}. For {parcel.assessor} alone.",
        label_config=parcel.label_config,
        instructions=parcel.instructions,
        color=ROUNDS[round].color,
    )


def check_parcels(ws: Workspace, store: Store, parcels: Iterable[Parcel], *, round: Round) -> None:
    """Prove, before anything is sent, that no task carries what it must not and that predictions fit the screen."""
    with store.read() as session:
        private = private_words(ws, session)
        told, what = _not_to_be_known(ws, session, round)
        sent = {
            (project.assessor, asked)
            for project in projects.read_projects(session, round="judge")
            for asked in projects.read_tasks(session, project.project)
        }
    for parcel in parcels:
        tasks = list(parcel.tasks.values())
        lint_tasks(tasks, screen=ROUNDS[round].screen, labels=ws.settings.labels.names, private=private)
        check_spec(spec_of(ws, parcel, round), parcel.assessor, private)
        # A plan that grew has deeper papers further back: only what is sent together is mixed.
        order = parcel.whole or tuple(parcel.tasks)
        new = [asked for asked in order if round != "judge" or (parcel.assessor, asked) not in sent]
        groups = defaultdict(list)
        for asked in new:
            if asked.occasion == 1 and asked.pair in told:
                group, value = told[asked.pair]
                groups[group].append(value)
        if follows(groups.values()):
            raise LeakError(
                f"the order of the tasks of {parcel.assessor} tells {what}; nothing was sent",
                hint="draw the plan with another seed: `annot plan --withdraw`, then `annot plan --seed NUMBER`"
                if round == "judge"
                else "set another seed in annot.toml, and draw again",
            )
        check_predictions(parcel.label_config, tasks)


def private_words(ws: Workspace, session: Session) -> set[str]:
    """Methods, pseudonyms and accounts: what no person may read of; but not the plain word for what a hand found."""
    everyone = people.read_assessors(session)
    drawn = {method for pool in pools.read_pools(session).values() for method in pool.methods} - {MANUAL}
    words = {*ws.settings.pool.methods, *drawn, *(person.assessor for person in everyone)}
    return words | {person.account for person in everyone if person.account is not None}


def check_spec(spec: ProjectSpec, person: str, private: Collection[str]) -> None:
    """Raise LeakError where title or description of a person's project names somebody else, an account or a method.

    A method whose name is a plain word may stand there: a collection may be called after it.
    """
    words = [word for word in private if word != person and ("@" in word or not word.isalpha())]
    shown = {"title": spec.title, "description": spec.description}
    faults = [
        f"{person}: the project's {name} names {word!r}"
        for name, text in shown.items()
        for word in named_in(text, words)
    ]
    if faults:
        raise LeakError("the project would tell; nothing was sent", faults=faults, hint="change [collection]")


def _not_to_be_known(
    ws: Workspace, session: Session, round: Round
) -> tuple[Mapping[tuple[str, str], tuple[str, float]], str]:
    """What the order of a round must not follow: of each pair its group and its value, and what that is in words.

    Disputes stand by their gap, and pairs that are looked at again with their grade have nothing to hide.
    """
    if round == "judge":
        drawn = pools.documents_by_query(session)
        return {
            (query_id, doc_id): (query_id, place)
            for query_id, docs in drawn.items()
            for place, doc_id in enumerate(docs)
        }, "in which order the pool was drawn"
    if round == "train":
        facets = {query.query_id: query.facet for query in read_queries(session)}
        return {one.pair: (facets[one.query_id], one.grade) for one in trials.read_gold(session)}, "the gold grades"
    if round in ("substudy-abstract", "substudy-full"):
        decisions = outcome_of(session, ws.settings).decisions
        return {one.pair: (one.query_id, one.grade) for one in decisions}, "the final grades"
    return {}, ""
