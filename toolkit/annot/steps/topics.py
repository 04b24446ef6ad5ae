"""Topics that are texts: added by hand, or from files in the formats of other collections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlmodel import Session

from annot.base.errors import Faults, InputError
from annot.base.names import counted
from annot.base.records import WHOLE, Query, Topic, grouped
from annot.formats import topics
from annot.formats.same_work import folded_id
from annot.store.queries import judged_queries, put_queries, put_topics, read_queries, read_topics
from annot.study.workspace import Workspace

SHOWN = 10
"""Groups of ids that a note names."""
ANOTHER = "another text has this id"


@dataclass(frozen=True, slots=True)
class AddedTopics:
    """What a file of topics held."""

    form: str
    """The format, in words."""
    fields: Mapping[str, str]
    """The name in the file of each field of a topic that it has."""
    topics: tuple[str, ...]
    """Their ids, in the order of the file."""
    with_description: int
    with_narrative: int
    new: int
    """How many the study did not have; it has the others word for word."""
    notes: tuple[str, ...]
    """Ids that differ only in case, Unicode form or ligatures."""


def is_of_papers(file: str) -> bool:
    """Whether a file is a table of queries that are papers, with a column paper_id or facet, and not one of topics."""
    return topics.names_papers(Path(file))


def add_file(ws: Workspace, source: str, *, dry_run: bool) -> AddedTopics:
    """Add the topics of a file, or of a dataset of `ir_datasets` given as `irds:NAME`, each with a query that asks it
    whole; all, or none. A topic that the study has word for word stays.

    Raises InputError with the line of every fault: of the file, and of every topic whose id something else has.
    """
    read = topics.read_topics(source)
    found = [topic for _, topic in read.topics]
    faults = Faults(source)
    with ws.writing() as session:
        taken = _taken(session, found)
        for line, topic in read.topics:
            if topic.topic_id in taken:
                faults.add(f"topic {topic.topic_id}: {taken[topic.topic_id]}", line=line)
        faults.raise_if_any(hint=f"nothing was added; {_remedy(taken)}")
        notes = tuple(_alike_ids(session, [topic.topic_id for topic in found]))
        new = _put(session, found, dry_run=dry_run)
    return AddedTopics(
        read.form,
        read.fields,
        tuple(topic.topic_id for topic in found),
        sum(topic.description is not None for topic in found),
        sum(topic.narrative is not None for topic in found),
        new,
        notes,
    )


def add_text(ws: Workspace, topic: Topic, *, dry_run: bool) -> tuple[Query, tuple[str, ...]]:
    """Add a topic that is a text, and the query that asks it whole; the query, and notes on its id.

    Raises InputError for an id that cannot be one or that something else has, and for texts without a word.
    """
    faults = []
    if problem := topics.id_fault(topic.topic_id):
        faults.append(f"--id {problem}")
    texts = {"--text": topic.title, "--description": topic.description, "--narrative": topic.narrative}
    tidied = {name: None if text is None else topics.tidy(text) for name, text in texts.items()}
    faults += [f"{name}: found no words" for name, text in tidied.items() if text == ""]
    if faults:
        raise InputError("the topic cannot be added", faults=faults)
    title, description, narrative = tidied.values()
    topic = replace(topic, title=" ".join((title or "").split()), description=description, narrative=narrative)
    with ws.writing() as session:
        taken = _taken(session, [topic])
        for problem in taken.values():
            raise InputError(f"--id {topic.topic_id}: {problem}", hint=_remedy(taken))
        notes = tuple(_alike_ids(session, [topic.topic_id]))
        _put(session, [topic], dry_run=dry_run)
    return _query_of(topic), notes


def _alike_ids(session: Session, new: Sequence[str]) -> Iterator[str]:
    """A note on ids that differ from others only in case, Unicode form or ligatures."""
    known = {name for query in read_queries(session) for name in (query.query_id, query.topic_id)}
    by_spelling = grouped((folded_id(name), name) for name in dict.fromkeys((*sorted(known), *new)))
    alike = [names for names in by_spelling.values() if len(names) > 1 and not {*new}.isdisjoint(names)]
    if alike:
        some = "; ".join(" and ".join(names) for names in alike[:SHOWN]) + ("; ..." if len(alike) > SHOWN else "")
        yield f"{counted(len(alike), 'group')} of ids that differ only in case, Unicode form or ligatures: {some}"


def _query_of(topic: Topic) -> Query:
    return Query(topic.topic_id, topic.topic_id, WHOLE, ())


def _remedy(taken: Mapping[str, str]) -> str:
    there = next((name for name, problem in taken.items() if problem == ANOTHER), None)
    return f"give the text another id{f', or run `annot query remove {there}` first' if there else ''}"


def _taken(session: Session, given: Sequence[Topic]) -> dict[str, str]:
    """What else has the id of each of these topics, for those of which something has."""
    known, judged = read_topics(session), judged_queries(session)
    asked = {name: one.topic_id for one in read_queries(session) for name in (one.query_id, one.topic_id)}
    taken = {}
    for topic in given:
        name = topic.topic_id
        if name in known and known[name] != topic:
            # Its pool, drawn for the text that is there, would stay.
            taken[name] = f"{ANOTHER}, and pairs of it were judged or sent" if name in judged else ANOTHER
        elif name not in known and name in asked:
            taken[name] = f"a query of {asked[name]} has this id"
    return taken


def _put(session: Session, given: Sequence[Topic], *, dry_run: bool) -> int:
    """Add the topics and their queries, and count those that are new."""
    known = read_topics(session)
    new = [topic for topic in given if topic.topic_id not in known]
    put_topics(session, new)
    put_queries(session, map(_query_of, given))
    if dry_run:
        session.rollback()
    return len(new)
