"""States of a study in which something that it says is not true."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from annot import __version__
from annot.base.errors import InputError, MissingInput
from annot.base.names import counted, verb
from annot.base.records import Advance, Source
from annot.base.templating import packaged_table
from annot.corpus.corpus_facts import UNCORRECTED, uncorrected
from annot.judging import guideline_faults, plan_on_record
from annot.pools import chain, drawn_pools
from annot.pools.frozen_rankings import RankedCorpus, ranked_corpus
from annot.ranking import index
from annot.store import people, pools
from annot.store.answers import JUDGEMENTS, sources_of_judgements
from annot.store.shown import Part
from annot.study.outcome import texts_of
from annot.study.provenance import States, states_of, written_mark
from annot.study.shown_versions import BACK, ShownChange, changes_of
from annot.study.workspace import Workspace, write_file

# ----------------------------------------------------------------------------------------------------------------------
# One look at a study for all finders of its states; values that several of them need are read once.
# ----------------------------------------------------------------------------------------------------------------------


STUDY_PARTS = {
    "count": "how many papers there are",
    "corpus": "the papers of the corpus",
    "rankings": "the rankings behind the pools",
    "pools": "the pools",
    "plan": "the plan",
    "guidelines": "the guidelines",
    "blindness": "that everyone judged alone",
    "judgements": "the judgements",
    "qrels": "the final grades",
    "runs": "the runs",
    "index": "what is ranked again",
    "names": "the names of the grades",
    "facets": "the facets",
    "sent": "what a push would send",
}
"""Things that a page or a release can rest on, in words. A page names them by these keys."""


class Examination:
    """One look at a study for all finders: values that several of them need are read or computed once, when needed.

    advance: called with the progress of long work.
    """

    def __init__(self, ws: Workspace, *, advance: Advance = lambda _done, _total: None) -> None:
        self.ws, self._advance = ws, advance

    @cached_property
    def plan(self) -> plan_on_record.PlanCheck:
        """The plan against the pools, the people and its file."""
        return plan_on_record.check(self.ws)

    @cached_property
    def pools(self) -> drawn_pools.PoolReplay:
        """The pools, drawn again."""
        return drawn_pools.replay(self.ws, advance=self._advance)

    @cached_property
    def guidelines(self) -> guideline_faults.CheckedGuidelines:
        """The guidelines against the scale, the facets and the corpus."""
        return guideline_faults.check(self.ws)

    @cached_property
    def ranked(self) -> RankedCorpus:
        """The papers that the rankings could hold."""
        return ranked_corpus(self.ws)

    @cached_property
    def added(self) -> tuple[str, ...]:
        """The papers that were added after the pools were drawn, and that no query, pool, plan or judgement has."""
        later = self.ranked.added
        if not later:
            return ()
        with self.ws.reading() as session:
            used = {query.topic_id for query in pools.read_queries(session)}
            used |= {
                doc_id
                for documents in pools.documents_by_query(session, withdrawn=True).values()
                for doc_id in documents
            }
            used |= {planned.doc_id for planned in people.read_assignments(session)}
            used |= {judgement.doc_id for judgement in JUDGEMENTS.records(session)}
        return tuple(paper_id for paper_id in later if paper_id not in used)

    def broken(self, *links: str) -> Iterator[str]:
        """Changes of these links of the chain of hashes since they were written."""
        with self.ws.reading() as session:
            for link in links:
                yield from chain.link_faults(self.ws, session, link)

    @cached_property
    def index(self) -> tuple[str, ...]:
        """Files of the index that have changed."""
        return index.faults_of(self.ws)

    @cached_property
    def changes(self) -> tuple[ShownChange, ...]:
        """Changes since the last push."""
        with self.ws.reading() as session:
            return changes_of(self.ws, session)

    @cached_property
    def things(self) -> frozenset[str]:
        """Members of `STUDY_PARTS` that the study has; guidelines and a server only if people judged here."""
        judged_here = Source.LABEL_STUDIO in self.ws.read(sources_of_judgements)
        return frozenset(STUDY_PARTS if judged_here else STUDY_PARTS.keys() - {"guidelines", "blindness"})


# ----------------------------------------------------------------------------------------------------------------------
# The states of a study whose texts were corrected, or changed without a word (`annot.judging.states` lists them).
# ----------------------------------------------------------------------------------------------------------------------


def uncorrected_texts(study: Examination) -> tuple[str, ...]:
    """Papers whose text differs from the record without a correction."""
    with study.ws.reading() as session:
        return uncorrected(study.ws, session, states_of(study.ws, session))


def waiting(study: Examination) -> Iterator[str]:
    """Corrected texts, each with the number of pairs that wait because of it."""
    pairs = [texts for texts in study.ws.read(texts_of).values() if texts.state == "waits"]
    for text_id in sorted({text_id for texts in pairs for text_id in texts.to_decide}):
        count = sum(text_id in texts.to_decide for texts in pairs)
        yield f"{text_id}: {counted(count, 'pair')} {verb(count, 'waits', 'wait')} for a decision"


# ----------------------------------------------------------------------------------------------------------------------
# The states of a study in which something that it says is not true: one list, which binds everywhere.
#
# `annot check` prints the findings, `next:` names them, every page that rests on something untrue says so, and a
# release is refused. To add a state, add it to `templates/states.toml`: its words, the statements that it makes
# untrue, the remedy, and what shows it, or else a finder in `FINDERS`. `findings_of` runs the finders, which share the
# values of `Examination`.
# ----------------------------------------------------------------------------------------------------------------------


SHOWN = 10
"""Number of lines or names that a list shows; a datasheet names all papers."""
DATABASE = "database"
"""Name for the database among the files that a finder reads."""


class StudyState(NamedTuple):
    """A state in which a study says something that is not true."""

    name: str
    part: str
    """The part of the study by which `annot check PART` finds it."""
    says: str
    """The state as a clause."""
    untrue: frozenset[str]
    """Members of `STUDY_PARTS` that are not true in this state."""
    remedy: str
    """Remedy, in words."""
    reads: tuple[str, ...]
    """Files and folders below the study that the finder reads, and `DATABASE`: while they stay, so do its findings."""
    links: tuple[str, ...] = ()
    """Links of the chain of hashes that show it."""
    changed: Part | None = None
    """Kind of the content that differs from the last push."""
    fixed: bool = False
    """True if no reason can send the change."""
    refused: bool = True
    """True if there is no release until it is mended. A state that no command can mend is named in the release."""
    lasting: bool = False
    """True if it needs no remedy: `annot check` lists it, and it is no problem."""
    product: str = ""
    """The product that is simply made again, named by its command: `next:` says so in its place on the way."""
    names: bool = False
    """True if the finder gives names alone, which are listed in one line."""
    notice: str = "untrue"
    """Sentence on pages: a block of `templates/report/states.j2`."""

    def find(self, study: Examination) -> Iterable[str]:
        """Everything that shows it, in words; nothing if the study is not in this state."""
        if self.links:
            return study.broken(*self.links)
        return FINDERS[self.name](study) if self.changed is None else self._differing(study.changes)

    def _differing(self, changes: Iterable[ShownChange]) -> Iterator[str]:
        for change in changes:
            if change.part == self.changed and bool(change.refused) is self.fixed:
                yield f"{change.name}: {change.detail}" if change.detail else change.name

    def lines(self, shown_by: Sequence[str]) -> tuple[str, ...]:
        """A line for each of the first few of `shown_by`, with the state before it and the remedy after it."""
        rest_count = len(shown_by) - SHOWN
        rest = (f"{rest_count} more; `annot check {self.part}` lists all",) if rest_count > 0 else ()
        shown = (*shown_by[:SHOWN], *rest)
        shown = (", ".join(shown),) if self.names else shown
        return tuple(f"{self.says}: {words}; {self.remedy}" for words in shown)


StateFindings = Mapping[StudyState, tuple[str, ...]]
"""The states that a study is in, and everything that shows each."""


def lines_of_state(state: StudyState, study: Examination) -> tuple[str, ...]:
    """The lines of `annot check`. Raises MissingInput if the study lacks the thing to check, InputError if it cannot be
    read."""
    words = tuple(state.find(study))
    if words and state.lasting:
        return (f"{state.says}: {', '.join(words)}; {state.remedy}",)
    return (f"{state.says}: {', '.join(words)}",) if words and state.names else words


def _differences(study: Examination) -> Iterator[str]:
    # From changed rankings no pool can be drawn again: that is a state of its own. Imported pools were not drawn.
    if study.ws.read(pools.any_drawn) and not any(study.broken(chain.MANIFEST_OF_RANKINGS)):
        yield from (f"{topic}: {difference}" for topic, difference in study.pools.differences.items())


def _audited(study: Examination) -> Iterator[str]:
    if not (study.ws.exports / "audit.json").exists():
        return
    # The rooms of measuring load slowly, and `annot status` looks at every state.
    from annot.measuring.measured import read_audit

    audit = read_audit(study.ws)
    yield from (str(finding["what"]) for finding in (audit or {"findings": ()})["findings"])


SEND = 'send what is new with `annot push --changed "WHY"`, or change it back; until then, what was sent counts'
FINDERS: dict[str, Callable[[Examination], Iterable[str]]] = {
    "plan": lambda study: study.plan.faults,
    "pools": _differences,
    "guidelines": lambda study: study.guidelines.findings,
    "index": lambda study: study.index,
    "added papers": lambda study: study.added,
    "corrected papers": lambda study: study.ranked.corrected,
    "uncorrected texts": uncorrected_texts,
    "waiting pairs": waiting,
    "blindness": _audited,
}
"""Finder of each state that is neither a broken link nor a change since the last push, by its name."""


def _read_states() -> Iterator[StudyState]:
    """The states of `templates/states.toml`, which explains its keys."""
    remedies = {"push": SEND, "texts": UNCORRECTED, "scale": BACK}
    for name, entry in packaged_table("states.toml").items():
        values = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
        remedy = remedies.get(entry["remedy"], entry["remedy"])
        yield StudyState(name, **{**values, "untrue": frozenset(entry["untrue"]), "remedy": remedy})


STATES = tuple(_read_states())
"""Every state that is looked for, in the order of the work."""


def findings_of(study: Examination) -> StateFindings:
    """The states that the study is in."""
    findings = ((state, words_of(state, study)) for state in STATES)
    return {state: words for state, words in findings if words}


def words_of(state: StudyState, study: Examination) -> tuple[str, ...]:
    """Everything that shows that the study is in this state; nothing if it is not, or says nothing that is untrue then.

    A thing that the study does not have yet is in no state. If something cannot be read, the faults are returned.
    """
    if not state.untrue & study.things:
        return ()
    try:
        return tuple(state.find(study))
    except MissingInput:
        return ()
    except InputError as error:
        return error.faults or (error.message,)


# ----------------------------------------------------------------------------------------------------------------------
# What the finders of states found, remembered: `next:` ends every command, and must not read the corpus each time.
# ----------------------------------------------------------------------------------------------------------------------


MEMORY_FILE = "states.json"
"""Below `.annot/`."""


def remembered_findings(ws: Workspace, states: States, *, on: Collection[str] | None = None) -> StateFindings:
    """The findings of `findings_of`, remembered. A finder runs again only if a file that it reads has another size or
    date, or a row of a database on a server was written.

    on: only states in which one of these things is untrue. states: of the database as it is
    (`annot.study.provenance.states_of`).
    """
    path = ws.cache / MEMORY_FILE
    recorded, study = _read(ws), Examination(ws)
    database = [json.dumps(states, sort_keys=True), *_marks_of_database(ws)]
    looked_at = [state for state in STATES if on is None or state.untrue & {*on}]
    memory = dict(recorded)
    for state in looked_at:
        mark = _mark(ws, state, database)
        if recorded.get(state.says, {}).get("of") != mark:
            memory[state.says] = {"of": mark, "words": list(words_of(state, study))}
    if memory != recorded:
        with contextlib.suppress(OSError):
            # A study that can only be read is looked at again each time.
            write_file(path, json.dumps(memory, sort_keys=True))
    findings = ((state, tuple(memory[state.says]["words"])) for state in looked_at)
    return {state: words for state, words in findings if words}


def _read(ws: Workspace) -> dict[str, dict[str, list[str]]]:
    try:
        recorded = json.loads((ws.cache / MEMORY_FILE).read_text(encoding="utf-8"))
        return {name: {"of": list(entry["of"]), "words": list(entry["words"])} for name, entry in recorded.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _mark(ws: Workspace, state: StudyState, database: Sequence[str]) -> list[str]:
    """Marks that change whenever anything that the finder reads has changed. database: the marks of the database."""
    marks = (database if name == DATABASE else _marks_of_files(_files(ws.root / name)) for name in state.reads)
    return [__version__, *(mark for of_file in marks for mark in of_file)]


def _marks_of_database(ws: Workspace) -> Iterator[str]:
    if ws.database_file is None:
        yield ws.read(written_mark)
    else:
        # While another program has the database open, its changes are in the log next to it.
        log = ws.database_file.with_name(f"{ws.database_file.name}-wal")
        yield from _marks_of_files([ws.database_file, *([log] if log.is_file() and log.stat().st_size else [])])


def _files(top: Path) -> list[Path]:
    return sorted(path for path in top.rglob("*") if path.is_file()) if top.is_dir() else [top]


def _marks_of_files(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        if path.is_file():
            facts = path.stat()
            yield f"{path.name} {facts.st_size} {facts.st_mtime_ns}"
