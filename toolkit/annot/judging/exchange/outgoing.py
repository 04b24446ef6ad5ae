"""Tasks, screen and instructions of each person, and the proof that they reveal nothing else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from annot import __version__
from annot.base.errors import FindingError, InputError, LeakError
from annot.base.names import counted, moment_now, verb
from annot.base.plugins import loaded
from annot.base.records import MANUAL, Judgement, PairKey, Paper, Query, Topic, grouped
from annot.base.words import Words
from annot.corpus.corpus_facts import UNCORRECTED, corrections, differing_texts, labels_of, papers_of
from annot.judging.exchange.servers import RoundPart, marker_of
from annot.judging.planning import follows
from annot.labelstudio.screens import check_predictions, instructions_html, lint_tasks, named_in, written_on
from annot.labelstudio.studio_records import ProjectSpec, Screen
from annot.labelstudio.tasks import cleaned, judge_task, place_of
from annot.store import people, pools, projects, trials
from annot.store import shown as stored
from annot.store.models import Session
from annot.study import guidelines, shown_versions
from annot.study.judged_texts import JudgedTexts, Pair, judged_texts
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# Pairs that stay with an earlier version of their topic or document.
# ----------------------------------------------------------------------------------------------------------------------


class ShownPair(NamedTuple):
    """Query, topic and document of a pair as a task shows them."""

    query: Query
    topic: Paper | Topic
    document: Paper


def earlier_texts(
    session: Session, newest: Mapping[Pair, ShownPair], *, labelled: Collection[Pair]
) -> dict[Pair, ShownPair]:
    """Pairs that people judge on an earlier version of a text, with that version.

    newest: the same with the newest texts. labelled: the pairs whose sentences have labels. Raises InputError if the
    labels of an earlier text are on record nowhere.
    """
    pairs = [judged for pair, judged in judged_texts(session).items() if judged.kept and pair in newest]
    bodies = stored.content(session, {judged.required[text_id] for judged in pairs for text_id in judged.kept})
    marks = _Marks(session)
    shown, faults = {}, []
    for judged in pairs:
        query, topic, document = newest[judged.pair]
        if isinstance(topic, Paper) and topic.paper_id in judged.kept:
            labels = marks.labels(topic.paper_id, judged, "topic")
            topic = shown_versions.with_text(topic, bodies[judged.required[topic.paper_id]], labels)
            query = replace(query, sentences=marks.sentences(query, judged))
        if document.paper_id in judged.kept:
            labels = marks.labels(document.paper_id, judged, "document")
            document = shown_versions.with_text(document, bodies[judged.required[document.paper_id]], labels)
        shown[judged.pair] = ShownPair(query, topic, document)
        if judged.pair in labelled:
            sides = (side for side in (topic, document) if isinstance(side, Paper))
            faults += [side.paper_id for side in sides if len(side.labels or ()) != len(side.sentences)]
    if faults:
        raise InputError(
            "earlier texts have no sentence labels on record",
            faults=[f"{paper_id}: the text before its correction has no labels" for paper_id in sorted({*faults})],
            hint='have these pairs judged again: `annot corpus corrected --of ID --again "WHY"`',
        )
    return shown


class _Marks:
    """The labels of earlier texts and the sentences of queries on them."""

    def __init__(self, session: Session) -> None:
        self._labels: dict[tuple[str, str], tuple[str, ...]] = {}
        self._sentences: dict[tuple[str, str], tuple[int, ...]] = {}
        for correction in corrections(session):
            for text_id, sha256 in correction.texts.items():
                if text_id in correction.labels:
                    self._labels[text_id, sha256] = correction.labels[text_id]
                self._sentences |= {(query_id, sha256): places for query_id, places in correction.sentences.items()}

    def labels(self, text_id: str, pair: JudgedTexts, part: str) -> Sequence[str] | None:
        """Labels on the task of an answer; else the labels when the text was corrected."""
        shown: stored.Display = pair.kept[text_id]
        return shown.get(f"{part}_labels") or self._labels.get((text_id, pair.required[text_id]))

    def sentences(self, query: Query, pair: JudgedTexts) -> tuple[int, ...]:
        """Sentences of the query in the same way."""
        shown = pair.kept[query.topic_id].get("query_sentences")
        recorded = self._sentences.get((query.query_id, pair.required[query.topic_id]), query.sentences)
        return recorded if shown is None else tuple(shown)


# ----------------------------------------------------------------------------------------------------------------------
# Contents that the tasks of a push show, the contents that are new since the last push, and each task's display.
# ----------------------------------------------------------------------------------------------------------------------


Contents = Mapping[tuple[stored.Part, str], str]
"""Contents that are shown, by part and subject."""
Hashes = Mapping[tuple[str, str], str]
"""The SHA-256 of each content, by part and subject."""


def contents_of(ws: Workspace, material: TaskMaterial, words: Words) -> Contents:
    """Contents that screens and prompts show of these pairs now. words: those of the person's language."""
    contents: dict[tuple[stored.Part, str], str] = {("scale", ""): shown_versions.scale_content(ws)}
    for facet in material.guidelines:
        contents["facet", facet] = shown_versions.facet_content(ws, facet)
        contents["guidelines", stored.in_language(facet, words.language)] = guidelines.shown(ws, facet, words=words)
    for query_id in material.asked:
        topic = material.topic_of(query_id)
        if isinstance(topic, Topic):
            contents["topic", topic.topic_id] = shown_versions.topic_content(topic)
    if not words.is_plain:
        contents["words", words.language] = stored.as_json(words.shown)
    return contents | {
        ("text", paper_id): shown_versions.text_content(paper) for paper_id, paper in material.papers.items()
    }


def with_sent_screens(
    ws: Workspace, outgoing: Sequence[OutgoingProject], versions: shown_versions.ShownChanges, *, new: bool
) -> list[OutgoingProject]:
    """The projects with the screen that was sent last, unless a setting or a template of the study has changed since.

    A new version of the program alone does not change the screen. new: take the new screens all the same.
    """
    if new:
        return list(outgoing)

    def form_with(form: TaskForm) -> TaskForm:
        sent = versions.get(("screen", form.screen))
        recorded: dict[str, Any] = json.loads(sent[-1].body) if sent else {"inputs": None}
        if sent is None or recorded["inputs"] != guidelines.screen_inputs(ws, form.part.screen, form.words):
            return form
        contents = {**form.contents, ("screen", form.screen): sent[-1].body}
        return form._replace(label_config=recorded["config"], contents=contents)

    forms = {id(project.form): form_with(project.form) for project in outgoing}
    return [replace(project, form=forms[id(project.form)]) for project in outgoing]


def next_versions(
    ws: Workspace, session: Session, outgoing: Sequence[OutgoingProject], *, why: str | None, new_screen: bool
) -> tuple[list[OutgoingProject], list[stored.ShownVersion], list[str]]:
    """Projects with the screens that a push keeps, the versions that it puts on record, and notes.

    A change is put on record completely, even if these tasks do not show it: the lead gives a reason once. Texts are
    compared elsewhere (`check_outgoing`). why: the reason for all changes.
    """
    why = (why or "").strip() or None
    versions, changes = stored.read_versions(session, *stored.OF_SETTINGS), shown_versions.changes_of(ws, session)
    kept = with_sent_screens(ws, outgoing, versions, new=new_screen)
    # A facet that was removed is on record as such, although the tasks that were planned go on.
    removed = {("facet", facet) for facet in ws.settings.facets.keys() - ws.in_file.facets.keys()}
    contents = {key: body for project in kept for key, body in project.form.contents.items() if key not in removed}
    contents |= {(change.part, change.subject): _content_now(ws, change) for change in changes}
    histories = stored.read_histories(session)
    new = {
        key: body
        for key, body in contents.items()
        if key not in histories or histories[key][-1][1] != stored.hash_of_text(body)
    }
    since = moment_now("milliseconds")
    notes = [f"put on record, with the reason: {change.name}" for change in changes]
    notes += [*_notes_on_screens(outgoing, kept), *_notes_on_languages(session, outgoing)]
    if why and not changes and why not in {sent.why for history in versions.values() for sent in history}:
        notes = ["nothing has changed since it was sent: the reason is not on record"]
    return kept, [_version(key, body, versions, since=since, why=why) for key, body in new.items()], notes


def _notes_on_screens(outgoing: Sequence[OutgoingProject], kept: Sequence[OutgoingProject]) -> list[str]:
    """Notes on screens that this version of the program would make otherwise. kept: with the screens that were sent."""
    differing = {
        current.part
        for current, sent in zip(outgoing, kept, strict=True)
        if current.form.label_config != sent.form.label_config
    }
    return [
        f"{shown_versions.SCREENS[part.screen]} stays as it was sent; `{part.push} --new-screen` sends that of annot "
        f"{__version__}"
        for part in sorted(differing)
    ]


def _notes_on_languages(session: Session, outgoing: Sequence[OutgoingProject]) -> Iterator[str]:
    """Notes on people whose words come in another language than at the last push."""
    languages = {(project.assessor, project.part.stored): project.form.words.language for project in outgoing}
    for project in projects.read_projects(session):
        language = languages.get((project.assessor, project.round), project.language)
        if project.language is not None and language != project.language:
            yield (
                f"{project.assessor}: the screen is in {language} now, was in {project.language}; answered pairs stay "
                "as they were shown, and the report tells the languages apart"
            )


def _content_now(ws: Workspace, change: shown_versions.ShownChange) -> str:
    """The content in force after a change; null for a facet that was removed."""
    if change.part == "scale":
        return shown_versions.scale_content(ws)
    subject, language = stored.subject_and_language(change.subject)
    if change.part == "words":
        return stored.as_json(guidelines.words_in(ws, change.subject).shown)
    if change.part == "guidelines":
        return guidelines.shown(ws, subject, words=guidelines.words_in(ws, language))
    if change.part == "facet":
        return (
            shown_versions.facet_content(ws, change.subject)
            if change.subject in ws.in_file.facets
            else stored.as_json(None)
        )
    return shown_versions.screen_content(ws, cast("Screen", subject), guidelines.words_in(ws, language))


def scale_version(ws: Workspace, session: Session) -> list[stored.ShownVersion]:
    """The version of the names of grades, if none is on record; for rounds that do not make the collection."""
    if ("scale", "") in stored.read_versions(session, "scale"):
        return []
    return [stored.version("scale", "", shown_versions.scale_content(ws), since=moment_now("milliseconds"))]


def _version(
    key: tuple[stored.Part, str], body: str, versions: shown_versions.ShownChanges, *, since: str, why: str | None
) -> stored.ShownVersion:
    part, subject = key
    if part != "screen":
        return stored.version(part, subject, body, since=since, why=why if key in versions else None)
    reason = None
    if key in versions:
        earlier, now = json.loads(versions[key][-1].body), json.loads(body)
        reason = f"the screen of annot {__version__}" if earlier["inputs"] == now["inputs"] else why
    return stored.version(part, subject, body, since=since, why=reason, program=__version__)


def displays_of(ws: Workspace, outgoing: OutgoingProject) -> dict[PairKey, stored.Display]:
    """The display of each task; empty if the tasks ask about no pair."""
    form, material = outgoing.form, outgoing.form.material
    if material is None:
        return {}
    sha256s = hashes_of(form.contents)
    return {
        question: {
            **shown_around(material.queries[question.query_id].facet, sha256s, form.screen),
            **shown_of_pair(ws, material, question.pair, sha256s),
        }
        for question in outgoing.tasks
    }


def hashes_of(contents: Mapping[Any, str]) -> Hashes:
    """The hash of each content."""
    return {key: stored.hash_of_text(body) for key, body in contents.items()}


def shown_around(facet: str, sha256s: Hashes, screen: str) -> dict[str, str]:
    """The parts of a display that all pairs of a facet share on a screen, of those with a hash."""
    return {part: sha256s[key] for part, key in stored.subjects_of(facet, screen).items() if key in sha256s}


def shown_of_pair(ws: Workspace, material: TaskMaterial, pair: tuple[str, str], sha256s: Hashes) -> dict[str, object]:
    """The parts of a display that belong to the pair: its two texts and their marks."""
    query, topic, document = material.shown(pair)

    def hash_of(text: Paper | Topic) -> str:
        if isinstance(text, Topic):
            return sha256s["topic", text.topic_id]
        return (
            stored.hash_of_text(shown_versions.text_content(text))
            if pair in material.earlier
            else sha256s["text", text.paper_id]
        )

    shown: dict[str, object] = {"topic": hash_of(topic), "document": hash_of(document)}
    if isinstance(topic, Paper) and shown_versions.labels_asked(ws, query.facet):
        shown["topic_labels"] = list(topic.labels or ())
        shown["document_labels"] = list(document.labels or ())
        shown["query_sentences"] = list(query.sentences)
    return shown


# ----------------------------------------------------------------------------------------------------------------------
# Each person's project, and the proof that it reveals nothing else, before anything is sent.
# ----------------------------------------------------------------------------------------------------------------------


TITLE_LONGEST = 50
FIRST: dict[Screen, str] = {
    "adjudicate": "adjudication",
    "feedback": "training",
    "full-text": "full-text",
    "facets": "labels",
}
"""The page that comes before the general one on these screens."""


class TaskForm(NamedTuple):
    """Screen and instructions of everyone in one part and of one language."""

    part: RoundPart
    label_config: str
    instructions: str
    """Instructions that they read first, as HTML."""
    words: Words
    """Words around the texts."""
    material: TaskMaterial | None = None
    """Material of the tasks; None if no pair is judged."""
    contents: Contents = MappingProxyType({})
    """Contents that the tasks show, by part and subject."""

    @property
    def screen(self) -> str:
        """Subject of the screen among the contents."""
        return stored.in_language(self.part.screen, self.words.language)


@dataclass(frozen=True, slots=True)
class OutgoingProject:
    """The project that one person is to have, with its tasks in their order."""

    form: TaskForm
    assessor: str
    tasks: Mapping[PairKey, dict[str, Any]]
    """Tasks by question."""
    whole: Sequence[PairKey] = ()
    """The complete order, if these tasks are only the first of it."""
    opinions: Mapping[PairKey, Sequence[Judgement]] = field(default_factory=dict)
    """Answers of assessors that an adjudicator's tasks show, in the order shown."""

    @property
    def part(self) -> RoundPart:
        """Part of the round."""
        return self.form.part


def spec_of(ws: Workspace, outgoing: OutgoingProject) -> ProjectSpec:
    """Specification of the project on the server."""
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


def check_outgoing(ws: Workspace, everything: Iterable[OutgoingProject]) -> None:
    """Check, before anything is sent, that no task shows anything it must not, and that predictions fit the screen."""
    everything = list(everything)
    papers: dict[str, Paper] = {}
    for material in (outgoing.form.material for outgoing in everything):
        papers |= {} if material is None else material.papers
    refuse_uncorrected(ws, papers.values())
    for part, projects_out in grouped((outgoing.part, outgoing) for outgoing in everything).items():
        with ws.reading() as session:
            private = private_words(ws, session)
            secrets, phrase = _hidden_values(ws, session, part)
            sent = set(projects.read_asked(session, round="judge"))
            hidden = [words.texts(session) for words in _hidden_words(ws)]
        for outgoing in projects_out:
            tasks = list(outgoing.tasks.values())
            form, labels = outgoing.form, ws.settings.labels.names
            lint_tasks(tasks, screen=part.screen, labels=labels, private=private, words=form.words)
            _refuse_texts(tasks, frozenset().union(*hidden))
            check_spec(spec_of(ws, outgoing), outgoing.assessor, private)
            # A plan that grew has deeper papers further back: only what is sent together is mixed.
            order = outgoing.whole or tuple(outgoing.tasks)
            new = [
                question for question in order if part.stored != "judge" or (outgoing.assessor, question) not in sent
            ]
            values = grouped(
                secrets[question.pair] for question in new if question.occasion == 1 and question.pair in secrets
            )
            if follows(values.values()):
                raise LeakError(
                    f"the order of the tasks of {outgoing.assessor} reveals {phrase}; nothing was sent",
                    hint="draw the plan with another seed: `annot plan --withdraw`, then `annot plan --seed NUMBER`"
                    if part.stored == "judge"
                    else "set another seed in annot.toml and draw again",
                )
            check_predictions(form.label_config, tasks)


def refuse_uncorrected(ws: Workspace, papers: Iterable[Paper]) -> None:
    """Raise FindingError if a text differs from the record without a correction."""
    faults = ws.read(differing_texts, papers)
    if faults:
        raise FindingError(
            f"{counted(len(faults), 'text')} changed since {verb(len(faults), 'it was', 'they were')} sent; nothing "
            "was sent",
            faults=[f"{paper_id}: the corpus has another text than the one on record" for paper_id in faults],
            hint=UNCORRECTED,
        )


@dataclass(frozen=True)
class HiddenWords:
    """Words and texts in the store that no task may show, and keys, of a wing or a plug-in."""

    names: Callable[[Session], Collection[str]]
    """Names; one that is a plain word is not looked for."""
    texts: Callable[[Session], Collection[str]]
    """Texts about pairs."""
    variables: Collection[str] = ()
    """Environment variables with keys, which no release may have."""


def variables_of_keys(ws: Workspace) -> list[str]:
    """Environment variables with keys of wings and plug-ins."""
    return [name for words in _hidden_words(ws) for name in words.variables]


def _hidden_words(ws: Workspace) -> Collection[HiddenWords]:
    return loaded("hidden_words", ws.settings.plugins.names).values()


def _refuse_texts(tasks: Iterable[Mapping[str, Any]], hidden: Collection[str]) -> None:
    """Raise LeakError if a text written for a task repeats a model's words about a pair."""
    written = {cleaned(text) for task in tasks for text in written_on(task)} if hidden else set()
    faults = [f"{text[:60]!r}: a model's words" for text in sorted(written) if any(words in text for words in hidden)]
    if faults:
        raise LeakError("tasks would show a model's opinion; nothing was sent", faults=faults)


def private_words(ws: Workspace, session: Session) -> set[str]:
    """Methods, pseudonyms, accounts and models, which no task may name.

    The word for documents added by hand is not among them, nor is a model whose name is a plain word.
    """
    everyone = people.read_assessors(session)
    drawn = {method for pool in pools.read_pools(session).values() for method in pool.methods} - {MANUAL}
    words = {*ws.settings.pool.methods, *drawn, *(person.assessor for person in everyone)}
    words |= {person.account for person in everyone if person.account is not None}
    hidden = frozenset[str]().union(*(hidden_words.names(session) for hidden_words in _hidden_words(ws)))
    return words | {name for name in hidden if not name.isalpha()}


def check_spec(spec: ProjectSpec, person: str, private: Collection[str]) -> None:
    """Raise LeakError if title or description of a person's project names another person, an account or a method.

    A method whose name is a plain word may be there: a collection may be called after it.
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


def _hidden_values(
    ws: Workspace, session: Session, part: RoundPart
) -> tuple[Mapping[tuple[str, str], tuple[str, float]], str]:
    """Group and value of each pair that the order of a round must not follow, and a phrase for the values.

    Disputes come query by query, and pairs that are shown again with their grade have nothing to hide.
    """
    if part.stored == "judge":
        drawn = pools.documents_by_query(session)
        return {
            (query_id, doc_id): (query_id, place)
            for query_id, docs in drawn.items()
            for place, doc_id in enumerate(docs)
        }, "the order in which the pool was drawn"
    if part.stored == "train":
        facets = {query.query_id: query.facet for query in pools.read_queries(session)}
        return {row.pair: (facets[row.query_id], row.grade) for row in trials.read_gold(session)}, "the gold grades"
    if part.round == "substudy":
        decisions = outcome_of(session, ws.settings).decisions
        return {row.pair: (row.query_id, row.grade) for row in decisions}, "the final grades"
    return {}, ""


class TaskMaterial:
    """Material of tasks: queries, texts, labels and papers of these pairs, and the guidelines of their facets.

    Raises MissingInput for papers that are not in the corpus, and InputError for labels that are not those of the
    study.
    """

    def __init__(self, ws: Workspace, pairs: set[tuple[str, str]]) -> None:
        with ws.reading() as session:
            self.queries = {query.query_id: query for query in pools.read_queries(session)}
            self.texts = pools.read_topics(session)
            """The topics that are texts."""
            of_papers = [pair for pair in pairs if self.queries[pair[0]].topic_id not in self.texts]
            labelled = [pair for pair in of_papers if shown_versions.labels_asked(ws, self.queries[pair[0]].facet)]
            papers = papers_of(ws, _ids(self.queries, of_papers) | {doc_id for _, doc_id in pairs})
            labels = labels_of(session, _ids(self.queries, labelled))
        check_labels(ws, labels)
        self.papers = {paper_id: replace(paper, labels=labels.get(paper_id)) for paper_id, paper in papers.items()}
        """Other topics and all documents, with the labels of their sentences if a facet is judged."""
        facets = sorted({self.queries[query_id].facet for query_id, _ in pairs})
        self.guidelines = {facet: guidelines.read(ws, facet) for facet in facets}
        self.asked = frozenset(query_id for query_id, _ in pairs)
        """The queries that are asked."""
        self.earlier: Mapping[Pair, ShownPair] = {}
        """The pairs that stay with an earlier version of a text."""
        with ws.reading() as session:
            newest = {pair: self.shown(pair) for pair in pairs}
            self.earlier = earlier_texts(session, newest, labelled=labelled)

    def shown(self, pair: tuple[str, str]) -> ShownPair:
        """Query, topic and document that the tasks of a pair show."""
        query_id, doc_id = pair
        newest = ShownPair(self.queries[query_id], self.topic_of(query_id), self.papers[doc_id])
        return self.earlier.get(pair, newest)

    def topic_of(self, query_id: str) -> Paper | Topic:
        """Topic of a query."""
        topic_id = self.queries[query_id].topic_id
        return self.texts[topic_id] if topic_id in self.texts else self.papers[topic_id]


def _ids(queries: Mapping[str, Query], pairs: Iterable[tuple[str, str]]) -> set[str]:
    """The topics and documents of these pairs."""
    return {name for query_id, doc_id in pairs for name in (queries[query_id].topic_id, doc_id)}


def check_labels(ws: Workspace, labels: Mapping[str, Sequence[str]]) -> None:
    """Raise InputError when sentences have labels that are not those of the study. labels: by paper."""
    if others := sorted({label for used in labels.values() for label in used}.difference(ws.settings.labels.names)):
        raise InputError(
            f"sentences are labelled {', '.join(others)}, but the labels of the study are "
            f"{', '.join(ws.settings.labels.names)}",
            hint="label the corpus again with `annot facets`, or change [labels] in annot.toml",
        )


def tasks_of(
    ws: Workspace, material: TaskMaterial, sequence: Sequence[PairKey], *, words: Words, more: bool = False
) -> dict[PairKey, dict[str, Any]]:
    """The judging tasks of a person's sequence, in its order; each shows its place, among all and in its query.

    words: those of the person's language.

    The last one shows that it is the last for now, unless others follow that are counted apart (`more`).
    """
    sizes = Counter(question.query_id for question in sequence)
    numbers = {query_id: number for number, query_id in enumerate(sizes, start=1)}
    seen: Counter[str] = Counter()
    tasks = {}
    facet_labels = {facet: shown_versions.labels_asked(ws, facet) for facet in material.guidelines}
    definitions = {
        facet: guidelines.definition_of(guidelines.read(ws, facet, words=words)) for facet in material.guidelines
    }
    for position, question in enumerate(sequence, start=1):
        query, topic, document = material.shown(question.pair)
        seen[query.query_id] += 1
        tasks[question] = judge_task(
            question=question,
            query=query,
            topic=topic,
            document=document,
            facet_help=definitions[query.facet],
            facet_labels=facet_labels[query.facet],
            progress=place_of(
                *(topic, words),
                position=position,
                count=len(sequence),
                topics=numbers[query.query_id],
                documents=seen[query.query_id],
                of_topic=sizes[query.query_id],
                last=position == len(sequence) and not more,
            ),
            # The narrative is open the first time.
            first=seen[query.query_id] == 1,
            fold_after=ws.settings.screen.fold_after,
            mark_terms=ws.settings.screen.mark_terms,
            words=words,
            collection=ws.settings.collection,
        )
    return tasks


def forms_of(ws: Workspace, part: RoundPart, material: TaskMaterial | None) -> dict[str, TaskForm]:
    """Screen and instructions of each person in a part, in their language."""
    languages = {person.assessor: person.language for person in ws.read(people.read_assessors)}
    forms = {
        language: form_of(ws, part, material, guidelines.words_in(ws, language)) for language in {*languages.values()}
    }
    return {person: forms[language] for person, language in languages.items()}


def form_of(ws: Workspace, part: RoundPart, material: TaskMaterial | None, words: Words) -> TaskForm:
    """Screen and instructions of a part; the instructions have the task, the guidelines of every facet, and the keys.

    material: None if no pair is judged, so that the screen's own page is all there is to read. words: those of the
    language.
    """
    names = [FIRST[part.screen]] if part.screen in FIRST else []
    names += [] if material is None else ["general"]
    pages = [guidelines.page(ws, name, words=words) for name in names]
    pages += [] if material is None else [guidelines.read(ws, facet, words=words) for facet in material.guidelines]
    unlabelled = material is not None and not all(
        shown_versions.labels_asked(ws, facet) for facet in material.guidelines
    )
    instructions = instructions_html(
        pages,
        scale_names=ws.settings.scale.names,
        labels=guidelines.labels_shown(ws),
        language=ws.settings.collection.language,
        screen=part.screen,
        fold_after=ws.settings.screen.fold_after if unlabelled else None,
        words=words,
    )
    screen = shown_versions.screen_content(ws, part.screen, words)
    form = TaskForm(part, json.loads(screen)["config"], instructions, words)
    if material is None:
        return form
    contents = {**contents_of(ws, material, words), ("screen", form.screen): screen}
    return form._replace(material=material, contents=contents)
