"""Rounds that never count as the collection's: the sub-study and training."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from annot.base.errors import InputError, MissingInput
from annot.base.names import check_name, counted
from annot.base.records import WHOLE, Assessor, Gold, Judgement, PairKey
from annot.formats.input_files import content_of, read_full_texts
from annot.judging import trial_answers
from annot.judging.exchange import collecting
from annot.judging.exchange.outgoing import (
    OutgoingProject,
    TaskMaterial,
    forms_of,
    scale_version,
    tasks_of,
)
from annot.judging.exchange.servers import PARTS
from annot.judging.trial_draws import Pair, assigned, batches_of, sequence_of
from annot.labelstudio.studio_records import ReadAnnotation
from annot.labelstudio.tasks import feedback_task, full_text_task
from annot.store import people, trials
from annot.store.models import Session
from annot.store.pools import read_queries, withdrawn_ids
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# The sub-study: its pairs in one view to one assessor, and the answers back; they are no part of the collection.
# ----------------------------------------------------------------------------------------------------------------------


class SubstudyRound(collecting.Round):
    """Round of the sub-study: the same pairs on abstracts and then on full texts, one project per view."""

    name = "substudy"
    parts = tuple(PARTS[stored] for stored in trial_answers.ROUNDS.values())
    option_names = frozenset({"view", "texts"})
    hint = "send the pairs with `annot push substudy --view abstract`"

    def prepare(self, ws: Workspace, options: collecting.RoundOptions, *, dry_run: bool) -> collecting.PreparedPush:
        """Make the tasks of all pairs, in one view.

        Raises InputError without a view, for full texts while pairs are not judged on the abstracts, and for papers
        without an address.
        """
        view = options.view
        if view is None:
            raise InputError(
                "a push of the sub-study needs its view", hint=" or ".join(f"`{part.push}`" for part in self.parts)
            )
        check_name(view, list(trial_answers.ROUNDS), what="view")
        part = PARTS[trial_answers.ROUNDS[view]]
        with ws.reading() as session:
            assessor = trial_answers.plan_of(session)["assessor"]
            withdrawn = withdrawn_ids(session)
            planned = trials.read_assignments(session, part.stored)
            sequence = [row.pair_key for row in planned if row.doc_id not in withdrawn]
            if view == "full":
                _refuse_before_abstracts(session, assessor)
        material = TaskMaterial(ws, {row.pair for row in sequence})
        form = forms_of(ws, part, material)[assessor]
        tasks = tasks_of(ws, material, sequence, words=form.words)
        if view == "full":
            path = options.texts or ws.substudy / "full-texts.tsv"
            if not path.is_file():
                raise MissingInput(
                    f"{path}: no such file", hint="this table lists the full text of each paper; " + trial_answers.HINT
                )
            data = content_of(path, expected="a table of full texts")
            where = read_full_texts(data, name=str(path), ids=sorted(material.papers))
            for question, task in tasks.items():
                topic, document = material.topic_of(question.query_id), material.papers[question.doc_id]
                tasks[question] = full_text_task(
                    *(task, topic, document, where),
                    facet=material.queries[question.query_id].facet,
                    words=form.words,
                    collection=ws.settings.collection,
                )
        with ws.reading() as session:
            new = scale_version(ws, session)
        return collecting.PreparedPush([OutgoingProject(form, assessor, tasks)], new_versions=new)

    def record(
        self, ws: Workspace, collected: collecting.CollectedProject, options: collecting.RoundOptions
    ) -> collecting.PullResult:
        """Record every annotation as an answer that is no part of the collection."""
        return collecting.record_uncounted(ws, collected)

    def after_pull(self, ws: Workspace) -> tuple[list[str], None]:
        """Put the results of the sub-study on record."""
        with ws.writing() as session:
            if any(
                answer.counts
                for stored in trial_answers.ROUNDS.values()
                for answer in trial_answers.current_answers(session, stored)
            ):
                trials.put_trial(
                    session,
                    trial_answers.ON_RECORD,
                    trial_answers.substudy_on_record(trial_answers.substudy_of(ws, session)),
                )
        return [], None


def _refuse_before_abstracts(session: Session, assessor: str) -> None:
    """Raise InputError while a pair is not judged on the abstracts: the full texts come second."""
    withdrawn = withdrawn_ids(session)
    planned = trials.read_assignments(session, trial_answers.ROUNDS["abstract"])
    pairs = {assignment.pair for assignment in planned if assignment.doc_id not in withdrawn}
    done = {
        answer.pair
        for answer in trial_answers.current_answers(session, trial_answers.ROUNDS["abstract"])
        if answer.counts
    }
    if still_open := pairs - done:
        raise InputError(
            f"{counted(len(still_open), 'pair')} not judged on the abstracts yet",
            hint=f"let {assessor} finish, then pull",
        )


# ----------------------------------------------------------------------------------------------------------------------
# Training: gold pairs judged batch by batch, then shown with the gold grade and its reason, and who has passed.
# ----------------------------------------------------------------------------------------------------------------------


JUDGED, LOOKED_AT = PARTS[trial_answers.TRAIN], PARTS[trial_answers.FEEDBACK]


class TrainingRound(collecting.Round):
    """The next batch to all whose last one is answered, and the answered pairs again with the gold grade."""

    name = "training"
    parts = (JUDGED, LOOKED_AT)
    option_names = frozenset({"assessor"})
    hint = "send the first batch with `annot push training`"

    def prepare(self, ws: Workspace, options: collecting.RoundOptions, *, dry_run: bool) -> collecting.PreparedPush:
        """Make the tasks of the people named, or of all who assess.

        A gold pair that the plan gives to an assessor is not sent to them: they would know the gold grade before they
        judge the pair.
        """
        with ws.reading() as session:
            golden = {gold.pair: gold for gold in trials.read_gold(session)}
            withdrawn = withdrawn_ids(session)
            facet_of = {query.query_id: query.facet for query in read_queries(session)}
            everyone = [person for person in people.read_assessors(session) if person.left_on is None]
            answers = trial_answers.by_person(trial_answers.current_answers(session, trial_answers.TRAIN))
            hidden = trials.read_assignments(session, trial_answers.HIDDEN)
            planned = trial_answers.by_person([*people.read_assignments(session), *hidden])
            assigned_before = trial_answers.by_person(trials.read_assignments(session, trial_answers.TRAIN))
        if not golden:
            raise MissingInput("no gold pairs", hint="make the gold pairs with `annot train gold`")
        in_training = _people_in_training(options.assessor, everyone)
        notes: list[str] = []
        sequences: dict[str, tuple[Pair, ...]] = {}
        for name in sorted({*in_training, *assigned_before}):
            current = [pair for pair in assigned_before.get(name, {}) if pair in golden]
            present = trial_answers.staying(golden, withdrawn, current)
            free = [pair for pair in present if pair in current or pair not in planned.get(name, {})]
            if left_out := len(present) - len(free):
                notes.append(f"{name}: left out {counted(left_out, 'gold pair')} that the plan gives to {name}")
            facets = list(dict.fromkeys((*ws.settings.facets, WHOLE)))
            sequence = sequence_of(name, free, facet_of, current, facets=facets, seed=ws.settings.seed)
            if sequence:
                sequences[name] = sequence
        _refuse_placeholders(golden, set().union(*sequences.values()))
        if not dry_run:
            with ws.writing() as session:
                rows = [row for name, sequence in sequences.items() for row in assigned(name, sequence)]
                trials.replace_assignments(session, trial_answers.TRAIN, rows)
        names = {person.assessor for person in everyone}
        sequences = {name: sequence for name, sequence in sequences.items() if name in names}
        with ws.reading() as session:
            new = scale_version(ws, session)
        outgoing = _outgoing(ws, sequences, golden, facet_of, answers, withdrawn)
        return collecting.PreparedPush(outgoing, notes, new_versions=new)

    def before_sending(self, session: Session, outgoing: Sequence[OutgoingProject]) -> None:
        """Put on record which gold grades can be seen: an answer that changes from now on has come too late."""
        for project in outgoing:
            if project.part == LOOKED_AT:
                shown = sorted(question.pair for question in project.tasks)
                trials.put_trial(session, f"{trial_answers.FEEDBACK}/{project.assessor}", {"pairs": shown})

    def record(
        self, ws: Workspace, collected: collecting.CollectedProject, options: collecting.RoundOptions
    ) -> collecting.PullResult:
        """Record every annotation as an answer, apart from the others if it came too late."""
        if collected.project.round == trial_answers.FEEDBACK:
            return collecting.record_uncounted(ws, collected)
        return collecting.record_uncounted(ws, collected, partial(_timely_source, collected.project.assessor))

    def after_pull(self, ws: Workspace) -> tuple[list[str], None]:
        """Put on record who has passed."""
        notes = []
        with ws.writing() as session:
            for trained in trial_answers.training_of(ws, session):
                trials.put_trial(session, f"{trial_answers.TRAIN}/{trained.assessor}", trial_answers.on_record(trained))
                if trained.changed_too_late:
                    notes.append(
                        f"{trained.assessor}: {counted(trained.changed_too_late, 'answer')} changed after the gold "
                        "grade was shown; the earlier ones count"
                    )
        return notes, None


def _people_in_training(names: Sequence[str], everyone: Sequence[Assessor]) -> Sequence[str]:
    """The people named, or all who assess. Raises InputError for a name that is not known."""
    for name in names:
        check_name(name, [person.assessor for person in everyone], what="assessor")
    return names or [person.assessor for person in everyone if not person.adjudicator]


def _outgoing(
    ws: Workspace,
    sequences: Mapping[str, Sequence[Pair]],
    golden: Mapping[Pair, Gold],
    facet_of: Mapping[str, str],
    answers: Mapping[str, Mapping[Pair, Judgement]],
    gone: Collection[str],
) -> list[OutgoingProject]:
    """Tasks of everyone up to the first batch without answers, and the answered ones with gold grade and reason.

    gone: documents that were withdrawn: only tasks with an answer about them stay, and no gold grade is shown.
    """
    material = TaskMaterial(ws, set(golden))
    forms = {part: forms_of(ws, part, material) for part in (JUDGED, LOOKED_AT)}
    names = ws.settings.scale.names
    judging: list[OutgoingProject] = []
    again: list[OutgoingProject] = []
    for name, sequence in sequences.items():
        done = {PairKey(*pair): answer for pair, answer in answers.get(name, {}).items() if answer.counts}
        sent: list[PairKey] = []
        finished: list[PairKey] = []
        for batch in batches_of(sequence, facet_of):
            questions = [PairKey(*pair) for pair in batch]
            sent += [question for question in questions if question.doc_id not in gone or question in done]
            if not done.keys() >= set(sent):
                break
            finished = [question for question in sent if question.doc_id not in gone]
        # Each project counts what is in it: the next batch comes when this one is answered.
        order = tuple(PairKey(*pair) for pair in sequence)
        words = forms[JUDGED][name].words
        judging.append(
            OutgoingProject(forms[JUDGED][name], name, tasks_of(ws, material, sent, words=words), whole=order)
        )
        shown = {}
        for question, task in tasks_of(ws, material, finished, words=words).items():
            gold = golden[question.pair]
            shown[question] = feedback_task(
                *(task, done[question]), gold=gold.grade, why=gold.why, scale_names=names, words=words
            )
        if shown:
            again.append(OutgoingProject(forms[LOOKED_AT][name], name, shown))
    return [*judging, *again]


def _refuse_placeholders(golden: Mapping[Pair, Gold], pairs: Iterable[Pair]) -> None:
    """Raise InputError if a reason is still the placeholder that the draw has written."""
    faults = [
        f"training/gold.tsv: {gold.query_id} {gold.doc_id}: the reason is {gold.why!r}"
        for gold in (golden[pair] for pair in sorted(pairs))
        if gold.why.strip() in trial_answers.NO_REASONS
    ]
    if faults:
        raise InputError(
            f"{counted(len(faults), 'gold pair')} without a reason that explains the grade; nothing was sent",
            faults=faults,
            hint="write why the grade is right, then run `annot train gold training/gold.tsv`",
        )


def _timely_source(name: str, session: Session) -> Callable[[ReadAnnotation], str]:
    """The source of each answer: an answer that differs from the one before its gold grade was seen is too late."""
    facts = trials.read_trials(session).get(f"{trial_answers.FEEDBACK}/{name}") or {"pairs": []}
    shown = {tuple(pair) for pair in facts["pairs"]}
    earlier_answers = trial_answers.by_person(trial_answers.current_answers(session, trial_answers.TRAIN)).get(name, {})

    def source(reading: ReadAnnotation) -> str:
        earlier = earlier_answers.get(reading.pair_key.pair)
        if reading.pair_key.pair not in shown or earlier is None:
            return trial_answers.TRAIN
        same = (earlier.grade, earlier.cannot_judge, earlier.flags)
        return (
            trial_answers.TRAIN
            if same == (reading.grade, reading.cannot_judge, reading.flags)
            else trial_answers.TOO_LATE
        )

    return source
