"""A small study of topics that are texts, judged whole, written into the store as the steps would have.

`TOPICS` of ten documents each, judged by a1 and a2 and settled by j1, on `BINARY` or `GRADED`; `mixed` has a paper and
its facet in place of the last text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import tomlkit
from annot.base.records import WHOLE, Adjudication, Assignment, Judgement, Paper, Query, ScoredDoc, Topic
from annot.corpus.corpus_facts import write_corpus_manifest
from annot.formats.trec import write_run
from annot.steps.setup import init
from annot.store import facet_labels, people
from annot.store import pools as stored_queries
from annot.store.papers import PaperWriter
from annot.study.workspace import SETTINGS_FILE, Workspace, write_file
from small_study import DOCUMENTS, LABELS, Small, judgement, query_of
from study_answers import Answers, record
from study_stages import Recipe

BINARY = ("Not relevant", "Relevant")
GRADED = ("Not relevant", "Marginal", "Fair", "Perfect")
TOPICS = (
    Topic(
        "T1",
        "sleep and memory",
        "How does sleep affect the memory of what was learned the day before?",
        "A document is relevant if it measures memory after sleep. Reviews count. Studies of dreams alone do not.",
    ),
    Topic("T2", "tea and the heart", "Does green tea lower blood pressure?", "Trials and cohorts are relevant."),
    Topic("T3", "What keeps bees from finding their hive?", None, "Relevant: causes in the field."),
    Topic("T4", "salt in old masonry", "How is salt taken out of walls?", None, {"track": "buildings"}),
)
UNTITLED = DOCUMENTS[3]
"""The document without a title."""


@dataclass(frozen=True)
class Whole:
    """Every pair judged; a1 and a2 differ on the last two documents of each topic, and j1 gives the higher grade."""

    differ: bool = True

    def judged(self, ws: Workspace) -> None:
        with ws.reading() as session:
            plan = people.read_assignments(session)
        record(ws, [graded(one, grades=len(ws.settings.scale.names), differ=self.differ) for one in plan])

    def settled(self, ws: Workspace) -> None:
        if self.differ:
            with ws.reading() as session:
                asked = {one.query_id for one in people.read_assignments(session)}
            decided = [
                Adjudication(
                    query_id, doc_id, "j1", 1, "shown", ("a2", "a1"), reason="the narrative was misread",
                    judged_at="2031-03-14T12:00:00+00:00", lead_time=90.0,
                )
                for query_id in sorted(asked) for doc_id in DOCUMENTS[-2:]
            ]  # fmt: skip
            record(ws, decided=decided)


def graded(one: Assignment, *, grades: int, differ: bool) -> Judgement:
    """Document and topic give a grade; of the last two documents a1 gives 0 and 1, a2 the reverse."""
    at, number = int(one.doc_id[1:]), int(one.query_id.partition("-")[0][1:])
    grade = (at + number) % grades if at < 8 else (at + (one.assessor == "a2" and differ)) % 2
    named = replace(one, query_id=f"q{number}")
    return replace(judgement(named), query_id=one.query_id, grade=grade)


@dataclass(frozen=True)
class OfTopics(Small):
    """Four topics of ten documents for a1 and a2. The corpus has no paper but the documents, and no sentence labels."""

    scale: tuple[str, ...] = BINARY
    mixed: bool = False
    """The last of the topics is a paper, judged in one facet."""
    passages: bool = False
    """The document without a title is a passage of document d."""
    answers: Answers = Whole()

    USED_FROM: ClassVar[Mapping[str, str]] = Recipe.USED_FROM

    @property
    def texts(self) -> tuple[Topic, ...]:
        return TOPICS[:3] if self.mixed else TOPICS

    @property
    def asked(self) -> list[Query]:
        whole = [Query(topic.topic_id, topic.topic_id, WHOLE, ()) for topic in self.texts]
        return [*whole, query_of("p4")] if self.mixed else whole

    def made(self, folder: Path) -> None:
        settings = {
            "collection": {"name": "topics", "title": "A collection of topics"},
            "scale": {"names": list(self.scale)},
            "facets": {"method": ["method"], WHOLE: []} if self.mixed else {WHOLE: []},
            "evaluation": {"relevant_from": 1},
        }
        write_file(folder / SETTINGS_FILE, tomlkit.dumps(settings))
        init(folder, name=None, dry_run=False)
        criteria = "".join(f"\n## {grade} {name}\n\nIt is {name.lower()}.\n" for grade, name in enumerate(self.scale))
        rows = "".join(f"| {grade} | {name} | It is {name.lower()}. |\n" for grade, name in enumerate(self.scale))
        pages = {
            WHOLE: f"# Relevance\n\nWhether the document answers the topic.\n{criteria}",
            "general": f"# General\n\n| grade | name | meaning |\n| --- | --- | --- |\n{rows}",
        }
        if self.mixed:
            pages["method"] = f"# Method\n\nWhether the papers work in the same way.\n{criteria}"
            pages["general"] += "\nA paper is judged in its method.\n"
        for name, text in pages.items():
            write_file(folder / "guidelines" / f"{name}.md", text)

    def labelled(self, ws: Workspace) -> None:
        of_paper = ("p4", *DOCUMENTS) if self.mixed else ()
        with PaperWriter(ws.corpus) as writer:
            for name in (*DOCUMENTS, "d99", *of_paper[:1]):
                text = (f"Why {name}.", f"How {name}.", f"What {name}.")
                labels = LABELS if name in of_paper else None
                title, whole = ("", "d" if self.passages else None) if name == UNTITLED else (f"Title of {name}", None)
                writer.add(Paper(name, title, text, None, labels, part_of=whole))
        write_corpus_manifest(ws)
        with ws.writing() as session:
            facet_labels.replace_labels(session, [facet_labels.FacetLabels(one, LABELS, "carried") for one in of_paper])

    def queried(self, ws: Workspace) -> None:
        with ws.writing() as session:
            stored_queries.put_topics(session, self.texts)
            stored_queries.put_queries(session, self.asked)

    def measured(self, ws: Workspace) -> None:
        """Two runs in `exports/runs`, one with the documents in their order and one in the reverse; no qrels."""
        for tag, ids in (("forward", DOCUMENTS), ("backward", DOCUMENTS[::-1])):
            ranking = [ScoredDoc(doc_id, 1 - at / 10) for at, doc_id in enumerate(ids)]
            write_file(ws.runs / f"{tag}.run", write_run({one.query_id: ranking for one in self.asked}, tag=tag))
