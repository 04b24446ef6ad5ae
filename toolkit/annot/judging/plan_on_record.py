"""The plan on record, and judgements made elsewhere that come with a plan."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from operator import and_
from typing import Any

from sqlalchemy import func, select

from annot.base.errors import InputError, MissingInput, gathered, raise_together
from annot.base.names import counted, moment_now, sha256_of, verb
from annot.base.records import Assessor, Assignment, PairKey, Query, Source, grouped
from annot.base.settings import Settings
from annot.corpus import query_sentences
from annot.corpus.paper_ids import RowsByFile, rows_in_corpus
from annot.formats.input_files import ByColumn, chosen_rows
from annot.judging.planning import PlannedTogether, faults_of, overlaps, plan_lines
from annot.judging.pool_samples import FrozenHashes, faults_of_sample
from annot.judging.withdrawn import tasks_to_withdraw
from annot.pools.drawn_pools import put_judged_pools
from annot.store import facet_labels, people, pools, projects, runs
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, RecordedCount, is_judged, read_accepted
from annot.store.models import JUDGEMENT_TABLE, ImportedSource, Plan, PoolSample, Session
from annot.store.papers import find_papers
from annot.store.shown import keep_imported_scale
from annot.study.outcome import Pair, last_outcome, outcome_of
from annot.study.snapshot import export_imported
from annot.study.workspace import Workspace, read_manifest, write_file, write_manifest

# ----------------------------------------------------------------------------------------------------------------------
# The plan on record, in the database and as a hashed file, and its faults.
# ----------------------------------------------------------------------------------------------------------------------


PLAN_FILE = "plan.jsonl"
MANIFEST_FILE = "plan.manifest.json"


def plan_sha256(assignments: Iterable[Assignment]) -> str:
    """Hash of a plan, which is that of its file."""
    return hashlib.sha256(plan_lines(assignments)).hexdigest()


def record_plan(
    ws: Workspace,
    session: Session,
    assignments: Iterable[Assignment],
    *,
    handed_on: Iterable[Assignment] = (),
    dropped: Collection[tuple[str, str]] = (),
    per_pair: int | None = None,
) -> str:
    """Make these assignments the plan in the database; returns its hash.

    handed_on: as for `people.replace_plan`; their pairs that no person has now are still to be judged, except those
    `dropped`. per_pair: number of judgements for each pair; None takes the number on record.
    """
    assignments, handed_on = tuple(assignments), tuple(handed_on)
    digest = plan_sha256(assignments)
    created = moment_now()
    earlier = people.read_plan(session)
    if earlier is not None and per_pair is None:
        per_pair = earlier.per_pair
    vacant = {*(earlier.vacant if earlier else ()), *(assignment.pair for assignment in handed_on)}
    vacant -= {*dropped, *(assignment.pair for assignment in assignments)}
    plan = Plan(digest, ws.settings.seed, created, per_pair, tuple(sorted(vacant)))
    people.replace_plan(session, assignments, plan=plan, handed_on=handed_on)
    return digest


def take_from_plan(
    ws: Workspace,
    session: Session,
    remaining: Collection[Assignment],
    leaving: Collection[Assignment],
    *,
    queries: Collection[str],
) -> None:
    """Make the `remaining` assignments the plan in the database; the pairs of those `leaving` are in no plan any more.

    queries: queries that are taken back; if they have no remaining assignment, their pairs that lack an assessor go,
    too.
    """
    plan = people.read_plan(session)
    removed = {*queries} - {assignment.query_id for assignment in remaining}
    vacant = {pair for pair in (plan.vacant if plan else ()) if pair[0] in removed}
    if remaining:
        record_plan(
            ws, session, remaining, handed_on=leaving, dropped={*vacant, *(assignment.pair for assignment in leaving)}
        )
    else:
        people.withdraw_plan(session)


def frozen_hashes(ws: Workspace) -> FrozenHashes:
    """The hashes of a sample's frozen ranks in the manifest of the plan; none if there is no manifest."""
    manifest = ws.pools / MANIFEST_FILE
    facts = read_manifest(manifest, hint="write it with `annot plan`") if manifest.is_file() else {}
    hashes: FrozenHashes = facts.get("frozen_ranks", {})
    return hashes


def write_plan(ws: Workspace, assignments: Iterable[Assignment], *, frozen: FrozenHashes | None = None) -> None:
    """Write the plan's file and its manifest; without assignments, remove them.

    frozen: the hashes of the ranks that a sample was drawn by; None keeps those of the manifest.
    """
    path, manifest = ws.pools / PLAN_FILE, ws.pools / MANIFEST_FILE
    assignments = tuple(assignments)
    if not assignments:
        for stale in (path, manifest):
            stale.unlink(missing_ok=True)
        return
    frozen = frozen_hashes(ws) if frozen is None else frozen
    write_file(path, plan_lines(assignments))
    judging = ws.settings.judging
    facts = {name: getattr(judging, name) for name in ("per_pair", "assignment", "repeats")}
    facts |= {"seed": ws.settings.seed} | ({"frozen_ranks": frozen} if frozen else {})
    write_manifest(manifest, files=[path], inputs=inputs_of(ws), facts=facts)


def inputs_of(ws: Workspace) -> dict[str, str]:
    """Hashes of the files that the plan rests on, for its manifest."""
    drawn = ws.pools / "manifest.json"
    return {"pools/manifest.json": sha256_of(drawn)} if drawn.is_file() else {}


def adjudicators_of(session: Session) -> dict[Pair, set[str]]:
    """Adjudicators who settled a pair or have it as a task, by pair: a plan keeps them apart from its assessors."""
    settled = [(ruling.pair, ruling.adjudicator) for ruling in ADJUDICATIONS.records(session) if not ruling.flags]
    sent = [(question.pair, name) for name, question in projects.read_asked(session, round="adjudicate")]
    return {pair: set(names) for pair, names in grouped([*settled, *sent]).items()}


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """Figures and faults of the plan."""

    pairs: int
    assignments: int
    sha256: str
    overlaps: tuple[PlannedTogether, ...]
    unplanned: int
    """Pairs of the pools that are not assigned."""
    not_drawn: int
    """Pairs of the pools that the sample leaves out."""
    to_withdraw: int
    """Unanswered tasks on the server for people who no longer have the pairs."""
    faults: tuple[str, ...]


def check(ws: Workspace) -> PlanCheck:
    """Check the plan against the pools, the people, the answers and its file. Raises MissingInput without a plan."""
    with ws.reading() as session:
        recorded, left = people.read_plan(session), people.people_who_left(session)
        plan, answered, to_withdraw = _plan_and_answered(session, ws.settings, left)
        if not plan or recorded is None:
            raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
        accepted, withdrawn = {*read_accepted(session)}, pools.withdrawn_ids(session)
        settling = adjudicators_of(session)
        imported = runs.judgements_imported(session)
        sample = pools.read_sample(session)
        of_sample = _of_sample(ws, session, sample) if sample else ()
        pooled = pools.documents_by_query(session, withdrawn=True)
    documents = pools.to_judge(pooled, sample)
    faults = faults_of(
        plan,
        documents=documents,
        per_pair=recorded.per_pair,
        left=left,
        answered=answered,
        settling=settling,
        may_assess=ws.settings.adjudication.adjudicator_may_assess,
        accepted={*accepted, *(row.pair for row in plan if row.doc_id in withdrawn)},
    )
    # An imported plan is what a file of judgements had; it has no file of its own.
    in_file = () if imported else _of_file(ws, recorded.sha256, plan_sha256(plan))
    planned = {assignment.pair for assignment in plan}
    return PlanCheck(
        pairs=len(planned),
        assignments=len(plan),
        sha256=recorded.sha256,
        overlaps=overlaps(plan, sorted({assignment.assessor for assignment in plan})),
        unplanned=sum(
            (query_id, doc_id) not in planned and doc_id not in withdrawn
            for query_id, docs in documents.items()
            for doc_id in docs
        ),
        not_drawn=sum(map(len, pooled.values())) - sum(map(len, documents.values())),
        to_withdraw=to_withdraw,
        faults=(*faults, *of_sample, *in_file),
    )


def _plan_and_answered(
    session: Session, settings: Settings, left: Collection[str]
) -> tuple[tuple[Assignment, ...], Collection[tuple[str, PairKey]], int]:
    """The plan, the answers that count if its faults depend on them, and the number of tasks to withdraw. left: the
    people who left."""
    outcome, sent = last_outcome(session, settings), projects.read_sent(session)
    plan = outcome.assignments if outcome else people.read_assignments(session)
    by_answers = bool(left) or any(row.occasion > 1 for row in plan)
    if by_answers or any(sent.values()):
        outcome = outcome_of(session, settings)
    answered = outcome.answered if outcome and by_answers else ()
    return plan, answered, tasks_to_withdraw(sent, outcome) if outcome else 0


def _of_sample(ws: Workspace, session: Session, sample: PoolSample) -> tuple[str, ...]:
    drawn, queries = pools.read_pools(session), pools.read_queries(session)
    faults = faults_of_sample(sample, drawn, queries, hashes=frozen_hashes(ws))
    return (*faults, *sample.design.faults_of_label(ws.settings.sample.cheap_label))


def _of_file(ws: Workspace, recorded: str, computed: str) -> tuple[str, ...]:
    path = ws.pools / PLAN_FILE
    again = "write it again with `annot plan`"
    if recorded != computed:
        return (f"the plan in the database has the hash {computed[:12]}, expected {recorded[:12]}; {again}",)
    if not path.is_file() or sha256_of(path) != recorded:
        return (f"{path}: missing, or without the hash {recorded[:12]} of the plan on record; {again}",)
    return ()


# ----------------------------------------------------------------------------------------------------------------------
# Judgements made elsewhere, brought into the store with their queries, people, plan and pools, all or nothing.
# ----------------------------------------------------------------------------------------------------------------------


NO_GRADE = "no grade in the file"
"""Reason of a row without a grade: its assessor had the pair and did not grade it."""
UNKNOWN = "unknown"
"""Word for adjudications of which nothing says if the adjudicator saw the grades."""


@dataclass(frozen=True, slots=True)
class ImportedJudgements:
    """Figures of an imported file, and the number of new judgements."""

    judgements: int
    adjudications: int
    without_grade: int
    queries: int
    new_queries: int
    pairs_by_assessors: dict[int, int]
    """Number of pairs of the file by their number of assessors."""
    rows_by_person: dict[str, int]
    """Number of rows by pseudonym, adjudicators included."""
    grades: dict[int, int]
    """Number of rows by grade, without skipped annotations."""
    added: int
    revised: int
    unchanged: int
    notes: tuple[str, ...]


def import_judgements(
    ws: Workspace,
    rows: ByColumn,
    data: bytes,
    *,
    name: str,
    facet: str | None,
    adjudicators: tuple[str, ...],
    foreign: str | None,
    same_person: bool | None,
    dry_run: bool,
) -> ImportedJudgements:
    """Import these judgements. rows: columns of `FileJudgement`. name: name of the file in messages."""
    errors: list[InputError] = []
    queries: dict[str, Query] = {}
    persons: dict[str, Assessor] = {}
    checked_rows: RowsByFile = {}
    notes: tuple[str, ...] = ()
    corpus = ws.corpus if ws.has_corpus else None
    with ws.reading() as session:
        refuse_other_work(ws, session)
        topics = pools.read_topics(session)
        with gathered(errors):
            queries = query_sentences.queries_of(
                rows, ws.settings, facet, topics=topics, name=name, drop=foreign == "drop"
            )
        query_ids = {query.query_id for query in pools.read_queries(session)}
        everyone = people.read_assessors(session)
        planned = people.read_assignments(session)
        paper_ids = [query.topic_id for query in queries.values() if query.topic_id not in topics]
        labels = {labelled.paper_id: labelled.labels for labelled in facet_labels.read_labels(session, paper_ids)}
    with gathered(errors):
        checked_rows, notes = rows_in_corpus({name: rows}, queries, corpus, topics=topics, foreign=foreign)
    with gathered(errors):
        persons = query_sentences.persons_of(rows, set(adjudicators), everyone, name=name, same_person=same_person)
    raise_together(errors, name=name)
    with ws.reading() as session:
        _refuse_unnamed(session, rows, persons, name=name)
    earlier = 0
    if checked_rows[name] is not rows:
        left_out = _pairs(rows, queries) - _pairs(checked_rows[name], queries)
        earlier = len(left_out & {assignment.pair for assignment in planned})
    rows = checked_rows[name]
    queries = {query: queries[query] for query in dict.fromkeys(rows["query"])}
    persons = {alias: persons[alias] for alias in dict.fromkeys(rows["assessor"])}
    papers = find_papers(ws.corpus, paper_ids) if corpus and paper_ids else {}
    named_rows = query_sentences.under_names(rows, queries, persons)
    new = [
        query_sentences.with_sentences(query, labels, papers, ws.settings)
        for query in queries.values()
        if query.query_id not in query_ids
    ]
    plan = query_sentences.plan_of(named_rows, planned)
    query_sentences.check_once(named_rows, name=name)
    query_sentences.check_adjudicated(named_rows, plan, name=name)
    recorded, outside = RecordedCount(0, 0, 0), 0
    if not dry_run:
        judged, settled = _answers_of(named_rows)
        with ws.writing() as session:
            is_first = not is_judged(session)
            present = {person.assessor for person in everyone}
            named = {person.assessor: person for person in persons.values()}
            people.put_assessors(session, [person for pseudonym, person in named.items() if pseudonym not in present])
            pools.put_queries(session, new)
            recorded = _record(session, judged, settled, plan, ws)
            del plan
            outside = put_judged_pools(session, rows, queries, with_text={*papers, *topics})
            facts = {"rows": len(rows["line"]), "queries": len(queries)}
            runs.put_import(session, ImportedSource(Source.FILE, hashlib.sha256(data).hexdigest(), facts))
        export_imported(ws, judged if is_first else None)
    notes = (*notes, *_notes(named_rows, queries, persons, outside, earlier))
    return _in_figures(named_rows, len(new), recorded, notes)


def _pairs(rows: ByColumn, queries: Mapping[str, Query]) -> set[Pair]:
    """The pairs of the rows whose query is known."""
    pairs = {*zip(rows["query"], rows["document"], strict=True)}
    return {(queries[query].query_id, document) for query, document in pairs if query in queries}


def refuse_other_work(ws: Workspace, session: Session) -> None:
    """Raise InputError if the study has judgements or a plan of its own: its people would be asked for these, too.

    Imported judgements stay, and further files add to them.
    """
    sourced = JUDGEMENTS.current(session)
    imported = {(answer.record.pair_key, answer.record.assessor) for answer in sourced}
    plan = {(assignment.pair_key, assignment.assessor) for assignment in people.read_assignments(session)}
    if plan - imported or any(judgement.source != Source.FILE for judgement in sourced):
        raise InputError(f"{ws.root}: has its own plan or judgements", hint="make another study with `annot init`")


def _refuse_unnamed(session: Session, rows: ByColumn, persons: Mapping[str, Assessor], *, name: str) -> None:
    """Raise InputError if rows without the name of an assessor, such as lines of qrels, would count as answers of a
    person whom an earlier file names, or the other way round: they would replace these answers."""
    judgement = JUDGEMENT_TABLE
    first = select(func.min(judgement.c.id)).group_by(judgement.c.assessor)
    recorded = session.connection().execute(
        select(judgement.c.assessor, judgement.c.payload).where(judgement.c.id.in_(first))
    )
    named = {person: not _is_unnamed(payload or {}) for person, payload in recorded}
    for alias, row in zip(rows["assessor"], rows["row"], strict=True) if named else ():
        person = persons[alias].assessor
        if person in named and named[person] == _is_unnamed(row):
            problem = (
                f"it names no assessor, and the study has judgements of {person}"
                if named[person]
                else f"it names {person}, and the grades without a name that the study has count as those of {person}"
            )
            raise InputError(
                f"{name}: {problem}: these would be replaced",
                hint="import it into a study of its own (`annot init FOLDER`)",
            )


def _is_unnamed(row: Mapping[str, Any]) -> bool:
    """True for a line of qrels, which has nothing but a grade."""
    return row.keys() == {"grade"}


def _record(
    session: Session, judged: ByColumn, settled: ByColumn, plan: tuple[Assignment, ...], ws: Workspace
) -> RecordedCount:
    recorded_at = moment_now()
    keep_imported_scale(session, ws.settings.scale.names, since=recorded_at)
    people.replace_plan(session, plan, plan=Plan(plan_sha256(plan), ws.settings.seed, recorded_at))
    both = (
        JUDGEMENTS.record_columns(session, judged, recorded_at=recorded_at),
        ADJUDICATIONS.record_columns(session, settled, recorded_at=recorded_at),
    )
    return RecordedCount(*map(sum, zip(*both, strict=True)))


def _answers_of(named: ByColumn) -> tuple[ByColumn, ByColumn]:
    """Columns of the judgements and of the adjudications in the rows under the names of this study."""
    adjudicates = named["adjudicates"]
    answers = zip(named["cannot_judge"], named["grade"], named["flags"], strict=True)
    why = [reason or (NO_GRADE if grade is None and not flags else None) for reason, grade, flags in answers]
    judged = chosen_rows({**named, "cannot_judge": why}, [not settles for settles in adjudicates])
    settled = chosen_rows(named, adjudicates)
    n_settled = len(settled["line"])
    graded = zip(settled["grade"], settled["row"], strict=True)
    reasons = [None if grade is None else str(row.get("reason") or "") or None for grade, row in graded]
    shared: dict[str, Sequence[Any]] = {"ratings": [UNKNOWN] * n_settled, "shown": [()] * n_settled, "reason": reasons}
    of_judgements = (*OF_ANSWER, "cannot_judge", "flags", "occasion")
    return _sourced(judged, "assessor", of_judgements), _sourced(
        settled, "adjudicator", (*OF_ANSWER, "cannot_judge")
    ) | shared


OF_ANSWER = ("query_id", "grade", "comment", "judged_at", "annotation", "changed_at")
"""Columns of a file that answers have under the same names."""


def _sourced(named: ByColumn, person: str, same: Iterable[str]) -> dict[str, Sequence[Any]]:
    """Columns of answers. person: name of the column of the person. same: the columns that keep their names."""
    names = {person: "person", "doc_id": "document", "lead_time": "seconds", "payload": "row"}
    columns = {new: named[old] for new, old in {**names, **{name: name for name in same}}.items()}
    return columns | {"source": [Source.FILE.value] * len(named["line"])}


def _notes(
    named: ByColumn, queries: Mapping[str, Query], persons: Mapping[str, Assessor], outside: int, earlier: int
) -> Iterator[str]:
    """Notes on the import. outside: documents outside drawn pools. earlier: pairs on record that are left out now."""
    if earlier:
        pairs = counted(earlier, "pair")
        yield f"{pairs} left out now {'was' if earlier == 1 else 'were'} imported earlier and still on record"
    renamed = {name: query.query_id for name, query in queries.items() if name != query.query_id}
    if renamed:
        old, new = min(renamed.items())
        yield f"{counted(len(renamed), 'query')} renamed to paper and facet, such as {old} to {new}"
    if outside:
        yield f"documents of the file outside the drawn pools: {outside}; systems do not rank them"
    if len(persons) > (people_named := len({person.assessor for person in persons.values()})):
        yield f"{len(persons)} names in the file were taken as {counted(people_named, 'person', 'people')}"
    if flagged := list(filter(None, named["flags"])):
        reasons = ", ".join(sorted({*chain.from_iterable(flagged)}))
        yield f"{counted(len(flagged), 'answer')} kept that {verb(len(flagged), 'does', 'do')} not count: {reasons}"
    questions = query_sentences.questions_of(named)
    if len({*questions}) == len(questions):
        return
    does_not_count = zip(named["adjudicates"], named["flags"], strict=True)
    answers = Counter(compress(questions, [not any(reasons) for reasons in does_not_count]))
    if several := [question for question, count in answers.items() if count > 1]:
        example = " ".join(several[0][:2])
        yield (
            f"{counted(len(several), 'pair')} with several answers by one person, such as {example}: the answer that "
            "was changed last counts"
        )


def _in_figures(
    named: ByColumn, new_queries: int, recorded: RecordedCount, notes: tuple[str, ...]
) -> ImportedJudgements:
    counts = [not flags for flags in named["flags"]]
    judged = [not adjudicates for adjudicates in named["adjudicates"]]
    questions = compress(query_sentences.questions_of(named), map(and_, counts, judged))
    first = {(query_id, document, person) for query_id, document, occasion, person in questions if occasion == 1}
    assessors = Counter(question[:2] for question in first)
    grades = Counter(compress(named["grade"], counts))
    return ImportedJudgements(
        judgements=sum(judged),
        adjudications=len(judged) - sum(judged),
        without_grade=[*compress(named["grade"], judged)].count(None),
        queries=len({*named["query_id"]}),
        new_queries=new_queries,
        pairs_by_assessors=dict(sorted(Counter(assessors.values()).items())),
        rows_by_person=dict(sorted(Counter(named["person"]).items())),
        grades={grade: grades[grade] for grade in sorted(grades.keys() - {None})},
        **recorded._asdict(),
        notes=notes,
    )
