"""Training of assessors, examples for their guidelines, and the sub-study."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from annot.base.errors import InputError, MissingInput
from annot.base.names import check_name, moment_now
from annot.base.records import Gold, Paper, Query
from annot.corpus.corpus_facts import labels_where_asked, papers_of
from annot.formats.input_files import content_of, read_full_texts, read_gold, write_full_texts, write_gold
from annot.judging import plan_on_record, trial_answers
from annot.judging.exchange.outgoing import TaskMaterial
from annot.judging.trial_draws import assigned, draw_gold, draw_hidden, draw_substudy, plan_lines, query_by_query
from annot.measuring.agreement.coefficients import TITLES
from annot.publishing.report import study, tables
from annot.publishing.report.sections.collection import grade_examples
from annot.store import people, pools, projects, trials
from annot.store.models import Session
from annot.study import guidelines
from annot.study.outcome import Outcome, Pair, answered_of, outcome_of
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace, write_file, write_manifest

# ----------------------------------------------------------------------------------------------------------------------
# Examples for a page of guidelines from the study's own pairs, in place of those that come with annot.
# ----------------------------------------------------------------------------------------------------------------------


REASON_TO_FILL_IN = "WHY: one sentence on why this pair has this grade."
"""A line in place of the lead's reason if none is on record; `annot check guidelines` finds it."""


def page_with_examples(ws: Workspace, facet: str) -> tuple[str, tuple[Pair, ...]]:
    """The page of a facet with one pair of the study below each grade, and which of the pairs are gold.

    A gold pair that was never sent comes first, with its reason; then a pair that is settled and no longer in anybody's
    work. Nothing is written. Raises MissingInput if there is neither.
    """
    text, snapshot = guidelines.without_examples(guidelines.read(ws, facet, examples=False)), read_snapshot(ws)
    with ws.reading() as session:
        sent, queries = trials.read_pairs(session), {query.query_id: query for query in snapshot.queries}
        withdrawn = snapshot.outcome.withdrawn
        gold = [row for row in trials.read_gold(session) if row.pair not in sent and row.doc_id not in withdrawn]
        pairs = {example.grade: (example.pair, "") for example in grade_examples(study.Study(snapshot), facet)}
        pairs |= {row.grade: (row.pair, row.why) for row in reversed(gold) if queries[row.query_id].facet == facet}
        if not pairs:
            raise MissingInput(
                f"no pair of {facet} is settled, and none is gold",
                hint="grade some pairs yourself (`annot train gold FILE`), or wait until people have judged some",
            )
        names = {name for pair, _ in pairs.values() for name in (queries[pair[0]].topic_id, pair[1])}
        papers = papers_of(ws, names - snapshot.texts.keys())
        labels = labels_where_asked(ws, session, papers)
    for grade, (pair, why) in pairs.items():
        query, document = queries[pair[0]], papers[pair[1]]
        marked = [place for place, label in enumerate(labels[pair[1]]) if label in ws.settings.facets.get(facet, ())]
        topic = snapshot.texts.get(query.topic_id)
        question = f"Asked: {topic.title}" if topic else _quoted("Query", papers[query.topic_id], query.sentences)
        lines = ("### For example", question, _quoted("Candidate", document, marked), why or REASON_TO_FILL_IN)
        text = re.sub(rf"(?ms)^##+ {grade}\b.*?(?=^##+ |\Z)", partial(_with_lines, lines=lines), text)
    return text.rstrip() + "\n", tuple(row.pair for row in gold if (row.pair, row.why) in pairs.values())


def _with_lines(section: re.Match[str], lines: Sequence[str]) -> str:
    return "\n\n".join((section[0].rstrip(), *lines)) + "\n\n"


def _quoted(name: str, paper: Paper, marked: Sequence[int]) -> str:
    """The first marked sentences that follow each other, or all if none is marked, as a quotation with its paper."""
    run = [place for turn, place in enumerate(marked) if place == marked[0] + turn] or range(len(paper.sentences))
    return f"> **{name}** ({paper.paper_id}): {' '.join(paper.sentences[place] for place in run)}"


# ----------------------------------------------------------------------------------------------------------------------
# Training: the gold pairs, those hidden among the pairs of assessors, and how everyone agrees with them.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GoldSet:
    """The gold pairs on record."""

    pairs: int
    by_facet: dict[str, int]
    by_grade: dict[int, int]
    without_reason: int
    added: int
    path: Path


@dataclass(frozen=True, slots=True)
class HiddenGoldCount:
    """Number of settled pairs that are hidden in an assessor's work."""

    assessor: str
    pairs: int
    hidden: int
    added: int


HIDDEN_GOLD = tables.Columns[HiddenGoldCount](
    [tables.Column("assessor", lambda count: count.assessor)],
    [
        tables.Column("pairs", lambda count: count.pairs),
        tables.Column("hidden gold", lambda count: count.hidden),
        tables.Column("added now", lambda count: count.added),
    ],
)


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """Assessors in training."""

    level: float
    titles: dict[str, str]
    assessors: tuple[trial_answers.TrainedAssessor, ...]
    hidden: tuple[trial_answers.HiddenGoldResult, ...]
    """Assessors with hidden gold pairs."""


def make(ws: Workspace, file: Path | None, *, dry_run: bool) -> GoldSet:
    """Make the gold pairs: those of `file`, or settled pairs drawn up to as many a facet as annot.toml says.

    They are also written to `training/gold.tsv`. A pair that was sent keeps its grade. Raises InputError if that
    file was edited and not read in, which a draw would write over.
    """
    path = ws.training / "gold.tsv"
    with ws.reading() as session:
        queries_by_id = pools.queries_by_id(session)
        standing = trials.read_gold(session)
        outcome = outcome_of(session, ws.settings)
    if file is None:
        lines = _drawn_gold(ws, path, standing, outcome, queries_by_id.values())
    elif not file.is_file():
        raise MissingInput(f"{file}: no such file", hint="without a file, `annot train gold` draws settled pairs")
    else:
        data = content_of(file, expected="a table of gold pairs")
        lines = [*read_gold(data, name=str(file), grades=ws.settings.scale.grades, queries=list(queries_by_id))]
    new_gold = tuple(lines)
    # Every text must be there before anyone is sent anything.
    TaskMaterial(ws, {gold.pair for gold in new_gold})
    if new_gold != standing and not dry_run:
        ws.write(trials.replace_gold, new_gold)
    if not dry_run:
        write_file(path, write_gold(new_gold))
    return GoldSet(
        pairs=len(new_gold),
        by_facet=dict(sorted(Counter(queries_by_id[gold.query_id].facet for gold in new_gold).items())),
        by_grade=dict(sorted(Counter(gold.grade for gold in new_gold).items())),
        without_reason=sum(gold.why.strip() in trial_answers.NO_REASONS for gold in new_gold),
        added=len({gold.pair for gold in new_gold} - {gold.pair for gold in standing}),
        path=path,
    )


def _drawn_gold(
    ws: Workspace, path: Path, standing: Sequence[Gold], outcome: Outcome, queries: Collection[Query]
) -> list[Gold]:
    """The gold pairs on record, and settled pairs drawn in addition to them."""
    if path.is_file() and path.read_text(encoding="utf-8") != write_gold(standing):
        raise InputError(
            f"{path}: changed since it was last read",
            hint="read it with `annot train gold training/gold.tsv`, or delete it",
        )
    if not outcome.decisions and not standing:
        raise MissingInput(
            "no pair is settled yet",
            hint="name a file of gold pairs, or wait until pairs are settled (`annot status`)",
        )
    drawn = draw_gold(
        queries,
        outcome.to_show,
        {gold.pair for gold in standing},
        per_facet=ws.settings.training.per_facet,
        seed=ws.settings.seed,
    )
    return [
        *(gold._replace(position=position) for position, gold in enumerate(standing, start=1)),
        *(
            Gold(*decision.pair, decision.grade, _settlement_comment(outcome, *decision.pair), position)
            for position, decision in enumerate(drawn, start=len(standing) + 1)
        ),
    ]


def hide(ws: Workspace, *, share: float, dry_run: bool) -> tuple[HiddenGoldCount, ...]:
    """Hide settled pairs in everyone's work, up to that share of their pairs; pairs that are hidden already stay.

    A person never gets a pair that the plan or the training gives them. `annot push` sends them with the others.
    """
    with ws.writing() as session:
        decisions = outcome_of(session, ws.settings).to_show
        left = people.people_who_left(session)
        planned = trial_answers.by_person(
            assignment for assignment in people.read_assignments(session) if assignment.assessor not in left
        )
        in_training = trial_answers.by_person(trials.read_assignments(session, trial_answers.TRAIN))
        # Whoever has judged or settled a pair knows it, whatever the plan says by now.
        known = {(name, question.pair) for name, question in answered_of(session)}
        known |= {(name, pair) for pair, names in plan_on_record.adjudicators_of(session).items() for name in names}
        if not planned:
            raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
        if not decisions:
            raise MissingInput("no pair is settled yet", hint="`annot status --adjudication` shows the progress")
        assignments = []
        for name, pairs_of_person in sorted(planned.items()):
            standing = trials.read_assignments(session, trial_answers.HIDDEN, name)
            hidden = {assignment.pair for assignment in standing}
            drawn = draw_hidden(
                name,
                decisions,
                hidden
                | pairs_of_person.keys()
                | in_training.get(name, {}).keys()
                | {pair for person, pair in known if person == name},
                {query_id for query_id, _ in pairs_of_person},
                count=round(share * len(pairs_of_person)) - len(hidden),
                seed=ws.settings.seed,
            )
            trials.add_assignments(session, trial_answers.HIDDEN, assigned(name, drawn, behind=len(standing)))
            assignments.append(HiddenGoldCount(name, len(pairs_of_person), len(hidden) + len(drawn), len(drawn)))
        if dry_run:
            session.rollback()
    return tuple(assignments)


def report(ws: Workspace) -> TrainingReport:
    """Answers of each assessor in training against the gold grades, from the last pull."""
    with ws.reading() as session:
        found, hidden = trial_answers.training_of(ws, session), trial_answers.hidden_gold_of(ws, session)
    if not found and not hidden:
        raise MissingInput("no one is in training", hint="send the first batch with `annot push training`")
    return TrainingReport(
        ws.settings.agreement.level, {name: TITLES[name] for name in trial_answers.FIGURES}, found, hidden
    )


def _settlement_comment(outcome: Outcome, query_id: str, doc_id: str) -> str:
    """Comment of the adjudicator, or a sentence that the assessors agreed, with their comments."""
    settled = outcome.adjudications.get((query_id, doc_id))
    if settled is not None:
        words = [settled.reason, settled.comment]
    else:
        words = [
            trial_answers.AGREED,
            *(judgement.comment for judgement in outcome.judgements if judgement.pair == (query_id, doc_id)),
        ]
    return ": ".join(filter(None, words))


# ----------------------------------------------------------------------------------------------------------------------
# The sub-study: pairs judged on the abstracts and then on the full texts, apart from the collection.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlannedSubstudy:
    """The sub-study as it is planned."""

    assessor: str
    pairs: int
    by_facet: dict[str, int]
    by_grade: dict[int, int]
    """Pairs by the final grade they had when they were drawn."""
    seed: int
    sha256: str
    texts: Path
    """Table for the links or files of the full texts."""
    new: bool


def draw(ws: Workspace, *, assessor: str, queries: int, candidates: int, dry_run: bool) -> PlannedSubstudy:
    """Draw the pairs for one assessor, `queries` a facet and `candidates` a query. The same options again draw nothing.

    Raises InputError once something of another draw was sent, and if too little is settled.
    """
    texts = ws.substudy / "full-texts.tsv"
    options = {"assessor": assessor, "per_facet": queries, "per_query": candidates, "seed": ws.settings.seed}
    with ws.reading() as session:
        present = [person.assessor for person in people.read_assessors(session) if person.left_on is None]
        check_name(assessor, present, what="assessor")
        standing = trials.read_trials(session).get(trial_answers.TRIAL)
        known, without = pools.read_queries(session), pools.read_topics(session).keys()
        final = trial_answers.grades_of(outcome_of(session, ws.settings).to_show)
    if standing is not None and all(standing[name] == value for name, value in options.items()):
        return _planned(standing, texts, new=False)
    if not final:
        raise MissingInput("no pair is settled yet", hint="`annot status --adjudication` shows the progress")
    drawn = draw_substudy(known, final, per_facet=queries, per_query=candidates, seed=ws.settings.seed)
    sequences = {
        view: query_by_query(drawn, trial_answers.TRIAL, view, seed=ws.settings.seed) for view in trial_answers.ROUNDS
    }
    lines = plan_lines(sequences)
    facts: dict[str, Any] = {
        **options,
        "by_facet": dict.fromkeys(sorted({query.facet for query in known}), queries),
        "by_grade": {str(grade): count for grade, count in sorted(Counter(map(final.get, drawn)).items())},
        "pairs": len(drawn),
        "sha256": hashlib.sha256(lines.encode()).hexdigest(),
        "created": moment_now(),
    }
    topic_of = {query.query_id: query.topic_id for query in known}
    # A topic that is a text has no other one.
    papers = papers_of(ws, {name for pair in drawn for name in (topic_of[pair[0]], pair[1])} - without)
    if not dry_run:
        with ws.writing() as session:
            _refuse_sent(session)
            trials.put_trial(session, trial_answers.TRIAL, facts)
            for view, sequence in sequences.items():
                trials.replace_assignments(session, trial_answers.ROUNDS[view], assigned(assessor, sequence))
        write_file(ws.substudy / "plan.jsonl", lines)
        write_file(texts, write_full_texts({name: paper.title for name, paper in papers.items()}, _places(texts)))
        write_manifest(ws.substudy / "manifest.json", files=[ws.substudy / "plan.jsonl"], inputs={}, facts=options)
    return _planned(facts, texts, new=True)


def substudy_report(ws: Workspace) -> trial_answers.SubstudyReport:
    """Agreement of the views with each other and with the final grades, and the time a pair takes in each."""
    with ws.reading() as session:
        return trial_answers.substudy_of(ws, session)


def _planned(facts: Mapping[str, Any], texts: Path, *, new: bool) -> PlannedSubstudy:
    by_grade = {int(grade): count for grade, count in facts["by_grade"].items()}
    names = ("assessor", "pairs", "by_facet", "seed", "sha256")
    return PlannedSubstudy(**{name: facts[name] for name in names}, by_grade=by_grade, texts=texts, new=new)


def _refuse_sent(session: Session) -> None:
    sent = [
        project
        for round in trial_answers.ROUNDS.values()
        for project in projects.read_projects(session, round=round)
        if projects.read_tasks(session, project.project)
    ]
    if sent:
        raise InputError(
            f"the sub-study was already sent to {sent[0].assessor}",
            hint="a study has only one; see `annot substudy report`",
        )


def _places(texts: Path) -> dict[str, str]:
    """Links or files of full texts in the existing table; a table that cannot be read is not overwritten."""
    if not texts.is_file():
        return {}
    return read_full_texts(content_of(texts, expected="a table of full texts"), name=str(texts), ids=None)
