"""What a person is to find in their project, and the proof that it tells nothing else, before anything is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlmodel import Session

from annot.base.errors import FindingError, InputError, LeakError
from annot.base.names import counted, verb
from annot.base.records import MANUAL, Asked, Judgement, Paper, Query, Topic, grouped
from annot.corpus.corpus_facts import labels_of, papers_of
from annot.corpus.uncorrected import UNCORRECTED, differing_texts
from annot.judging.exchange.displays import Contents, contents_of
from annot.judging.exchange.earlier_texts import ShownPair, earlier_texts
from annot.judging.exchange.rounds import RoundPart
from annot.judging.exchange.server_projects import marker_of
from annot.judging.planning.checking import follows
from annot.labelstudio.columns import Layout, cleaned, words_of
from annot.labelstudio.controls import Screen
from annot.labelstudio.screens import check_predictions, instructions_html
from annot.labelstudio.studio_records import ProjectSpec
from annot.labelstudio.task_lint import lint_tasks, named_in, written_on
from annot.labelstudio.tasks import LAST_FOR_NOW, judge_task
from annot.store import people, pools, projects, trials
from annot.store.opinions import read_model_names, read_reasons
from annot.store.queries import read_queries, read_topics
from annot.study import guidelines
from annot.study.outcome import outcome_of
from annot.study.shown_contents import labels_asked, screen_content
from annot.study.workspace import Workspace

TITLE_LONGEST = 50
FIRST: dict[Screen, str] = {
    "adjudicate": "adjudication",
    "feedback": "training",
    "full-text": "full-text",
    "facets": "labels",
}
"""The page that comes before the general one on these screens."""


class TaskForm(NamedTuple):
    """What everyone of one part finds around their tasks."""

    part: RoundPart
    label_config: str
    instructions: str
    """What they read first, as HTML."""
    material: TaskMaterial | None = None
    """What the tasks are made of; None if no pair is judged."""
    contents: Contents = MappingProxyType({})
    """All that the tasks show, by part and subject."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What one person is to find in their project, in their order."""

    form: TaskForm
    assessor: str
    tasks: Mapping[Asked, dict[str, Any]]
    """By what each task asks."""
    whole: Sequence[Asked] = ()
    """The whole order, where these tasks are only the first of it."""
    opinions: Mapping[Asked, Sequence[Judgement]] = field(default_factory=dict)
    """What an adjudicator's tasks show of the assessors' answers, in the order shown."""
    ended: Mapping[Asked, str] = field(default_factory=dict)
    """Why tasks that the person was sent before are none of theirs any more."""

    @property
    def part(self) -> RoundPart:
        """The part that it is of."""
        return self.form.part


def spec_of(ws: Workspace, outgoing: Outgoing) -> ProjectSpec:
    """The project that it goes to."""
    name, part, person = ws.settings.collection.name, outgoing.part, outgoing.assessor
    title = f"{name} · {part.title} · {person}"
    if len(title) > TITLE_LONGEST:
        title = f"{part.title} · {person}"
    return ProjectSpec(
        marker=marker_of(name, part.stored, person),
        title=title,
        description=f"{ws.settings.collection.title}. For {person} alone.",
        label_config=outgoing.form.label_config,
        instructions=outgoing.form.instructions,
        color=part.color,
        # Gold grades are looked at, and where sentences have no labels nothing else is on the task.
        may_be_empty=part.screen == "feedback",
    )


def check_outgoing(ws: Workspace, everything: Iterable[Outgoing]) -> None:
    """Prove, before anything is sent, that no task carries what it must not and that predictions fit the screen."""
    everything = list(everything)
    papers: dict[str, Paper] = {}
    for material in (outgoing.form.material for outgoing in everything):
        papers |= {} if material is None else material.papers
    refuse_uncorrected(ws, papers.values())
    for part, several in grouped((outgoing.part, outgoing) for outgoing in everything).items():
        with ws.reading() as session:
            private = private_words(ws, session)
            told, what = _not_to_be_known(ws, session, part)
            sent = set(projects.read_asked(session, round="judge"))
            reasons = read_reasons(session)
        for outgoing in several:
            tasks = list(outgoing.tasks.values())
            lint_tasks(tasks, screen=part.screen, labels=ws.settings.labels.names, private=private)
            _refuse_reasons(tasks, reasons)
            check_spec(spec_of(ws, outgoing), outgoing.assessor, private)
            # A plan that grew has deeper papers further back: only what is sent together is mixed.
            order = outgoing.whole or tuple(outgoing.tasks)
            new = [asked for asked in order if part.stored != "judge" or (outgoing.assessor, asked) not in sent]
            values = grouped(told[asked.pair] for asked in new if asked.occasion == 1 and asked.pair in told)
            if follows(values.values()):
                raise LeakError(
                    f"the order of the tasks of {outgoing.assessor} reveals {what}; nothing was sent",
                    hint="draw the plan with another seed: `annot plan --withdraw`, then `annot plan --seed NUMBER`"
                    if part.stored == "judge"
                    else "set another seed in annot.toml and draw again",
                )
            check_predictions(outgoing.form.label_config, tasks)


def refuse_uncorrected(ws: Workspace, papers: Iterable[Paper]) -> None:
    """Raise FindingError if a text is another one than on record, and no correction says so."""
    with ws.reading() as session:
        faults = differing_texts(session, papers)
    if faults:
        raise FindingError(
            f"{counted(len(faults), 'text')} changed since {verb(len(faults), 'it was', 'they were')} sent; nothing "
            "was sent",
            faults=[f"{paper_id}: the corpus has another text than the one on record" for paper_id in faults],
            hint=UNCORRECTED,
        )


def _refuse_reasons(tasks: Iterable[Mapping[str, Any]], reasons: Collection[str]) -> None:
    """Raise LeakError if what was written for a task repeats what a model said of a pair."""
    written = {cleaned(text) for task in tasks for text in written_on(task)} if reasons else set()
    faults = [f"{text[:60]!r}: a model's words" for text in sorted(written) if any(one in text for one in reasons)]
    if faults:
        raise LeakError("tasks would show a model's opinion; nothing was sent", faults=faults)


def private_words(ws: Workspace, session: Session) -> set[str]:
    """Methods, pseudonyms, accounts and models: what no person may read of.

    Not among them are the plain word for what a hand found, and a model whose name is a plain word.
    """
    everyone = people.read_assessors(session)
    drawn = {method for pool in pools.read_pools(session).values() for method in pool.methods} - {MANUAL}
    words = {*ws.settings.pool.methods, *drawn, *(person.assessor for person in everyone)}
    words |= {person.account for person in everyone if person.account is not None}
    return words | {name for name in read_model_names(session) if not name.isalpha()}


def check_spec(spec: ProjectSpec, person: str, private: Collection[str]) -> None:
    """Raise LeakError if title or description of a person's project names somebody else, an account or a method.

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
        raise LeakError(
            "a project would show private words; nothing was sent",
            faults=faults,
            hint="change [collection] in annot.toml",
        )


def _not_to_be_known(
    ws: Workspace, session: Session, part: RoundPart
) -> tuple[Mapping[tuple[str, str], tuple[str, float]], str]:
    """What the order of a round must not follow: of each pair its group and its value, and what that is in words.

    Disputes come query by query, and pairs that are looked at again with their grade have nothing to hide.
    """
    if part.stored == "judge":
        drawn = pools.documents_by_query(session)
        return {
            (query_id, doc_id): (query_id, place)
            for query_id, docs in drawn.items()
            for place, doc_id in enumerate(docs)
        }, "the order in which the pool was drawn"
    if part.stored == "train":
        facets = {query.query_id: query.facet for query in read_queries(session)}
        return {one.pair: (facets[one.query_id], one.grade) for one in trials.read_gold(session)}, "the gold grades"
    if part.round == "substudy":
        decisions = outcome_of(session, ws.settings).decisions
        return {one.pair: (one.query_id, one.grade) for one in decisions}, "the final grades"
    return {}, ""


@dataclass(frozen=True, slots=True)
class TaskMaterial:
    """What tasks are made of: queries, texts and papers of the planned pairs, and the guidelines of their facets."""

    queries: Mapping[str, Query]
    texts: Mapping[str, Topic]
    """The topics that are texts."""
    papers: Mapping[str, Paper]
    """All others and the documents, with the labels of their sentences where a facet is judged."""
    guidelines: Mapping[str, guidelines.Guidelines]
    asked: frozenset[str]
    """The queries that are asked."""
    earlier: Mapping[tuple[str, str], ShownPair] = field(default_factory=dict)
    """The pairs that stay with an earlier version of a text."""

    def shown(self, pair: tuple[str, str]) -> ShownPair:
        """What the tasks of a pair show."""
        query_id, doc_id = pair
        newest = ShownPair(self.queries[query_id], self.topic_of(query_id), self.papers[doc_id])
        return self.earlier.get(pair, newest)

    def topic_of(self, query_id: str) -> Paper | Topic:
        """What the query asks."""
        topic_id = self.queries[query_id].topic_id
        return self.texts[topic_id] if topic_id in self.texts else self.papers[topic_id]


def material_of(ws: Workspace, pairs: set[tuple[str, str]]) -> TaskMaterial:
    """The texts, labels and guidelines for these pairs. Raises MissingInput for papers that are not in the corpus,
    and InputError for labels that are not those of the study."""
    with ws.reading() as session:
        queries = {query.query_id: query for query in read_queries(session)}
        texts = read_topics(session)
        of_papers = [pair for pair in pairs if queries[pair[0]].topic_id not in texts]
        labelled = [pair for pair in of_papers if labels_asked(ws, queries[pair[0]].facet)]
        found = papers_of(ws, _ids(queries, of_papers) | {doc_id for _, doc_id in pairs})
        labels = labels_of(session, _ids(queries, labelled))
    check_labels(ws, labels)
    papers = {paper_id: replace(paper, labels=labels.get(paper_id)) for paper_id, paper in found.items()}
    facets = sorted({queries[query_id].facet for query_id, _ in pairs})
    by_facet = {facet: guidelines.read(ws, facet) for facet in facets}
    material = TaskMaterial(queries, texts, papers, by_facet, frozenset(query_id for query_id, _ in pairs))
    with ws.reading() as session:
        earlier = earlier_texts(session, {pair: material.shown(pair) for pair in pairs}, labelled=labelled)
    return replace(material, earlier=earlier)


def _ids(queries: Mapping[str, Query], pairs: Iterable[tuple[str, str]]) -> set[str]:
    """The topics and documents of these pairs."""
    return {name for query_id, doc_id in pairs for name in (queries[query_id].topic_id, doc_id)}


def check_labels(ws: Workspace, labels: Mapping[str, Sequence[str]]) -> None:
    """Raise InputError when sentences have labels that are not those of the study. labels: by paper."""
    if others := sorted({label for own in labels.values() for label in own}.difference(ws.settings.labels.names)):
        raise InputError(
            f"sentences are labelled {', '.join(others)}, but the labels of the study are "
            f"{', '.join(ws.settings.labels.names)}",
            hint="label the corpus again with `annot facets`, or change [labels] in annot.toml",
        )


def tasks_of(
    ws: Workspace, material: TaskMaterial, sequence: Sequence[Asked], *, more: bool = False
) -> dict[Asked, dict[str, Any]]:
    """The judging tasks of a person's sequence, in its order; each tells where it stands, in all and in its query.

    The last says that it is the last for now, unless others follow that are counted apart (`more`).
    """
    sizes = Counter(asked.query_id for asked in sequence)
    numbers = {query_id: number for number, query_id in enumerate(sizes, start=1)}
    seen: Counter[str] = Counter()
    tasks = {}
    facet_labels = {facet: labels_asked(ws, facet) for facet in material.guidelines}
    for position, asked in enumerate(sequence, start=1):
        query, topic, document = material.shown(asked.pair)
        seen[query.query_id] += 1
        words = words_of(topic)
        at = f"{words.topic} {numbers[query.query_id]}, {words.document} {seen[query.query_id]}".lower()
        place = f"{position} of {len(sequence)}" + (LAST_FOR_NOW if position == len(sequence) and not more else "")
        tasks[asked] = judge_task(
            asked=asked,
            query=query,
            topic=topic,
            document=document,
            facet_help=material.guidelines[query.facet].definition,
            facet_labels=facet_labels[query.facet],
            progress=f"{place} · {at} of {sizes[query.query_id]}",
            # The narrative is open the first time.
            layout=Layout(seen[query.query_id] == 1, ws.settings.screen.fold_after, ws.settings.screen.mark_terms),
        )
    return tasks


def form_of(ws: Workspace, part: RoundPart, material: TaskMaterial | None) -> TaskForm:
    """The screen of a part; and the task, the guidelines of every facet there is and the keys as its instructions.

    material: None if no pair is judged, so that the screen's own page is all there is to read.
    """
    names = [FIRST[part.screen]] if part.screen in FIRST else []
    pages = [guidelines.page(ws, name) for name in (names if material is None else [*names, "general"])]
    pages += [] if material is None else [one.text for one in material.guidelines.values()]
    whole = material is not None and not all(labels_asked(ws, facet) for facet in material.guidelines)
    instructions = instructions_html(
        pages,
        scale_names=ws.settings.scale.names,
        labels=guidelines.labels_shown(ws),
        language=ws.settings.collection.language,
        screen=part.screen,
        fold_after=ws.settings.screen.fold_after if whole else None,
    )
    label_config = guidelines.screen(ws, part.screen)
    if material is None:
        return TaskForm(part, label_config, instructions)
    screen = screen_content(part.screen, label_config, guidelines.screen_inputs(ws, part.screen))
    contents = {**contents_of(ws, material), ("screen", part.screen): screen}
    return TaskForm(part, label_config, instructions, material, contents)
