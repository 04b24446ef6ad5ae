"""The states of a study in which something that it says is not true: one list, which binds everywhere.

`annot check` prints what is found, `next:` names it, every page says so where it rests on something untrue, and a
release is refused. To add one is to add an entry to `STATES`: a name, how it is found, what it makes untrue, and
the remedy. Finders are run by `findings_of`; what several of them read is read once, in `Examination`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from annot.base.errors import InputError, MissingInput
from annot.corpus.uncorrected import UNCORRECTED
from annot.judging import text_states
from annot.judging.examination import Examination
from annot.measuring.results import read_audit
from annot.pools import chain
from annot.store.shown import Part
from annot.study.shown_changes import BACK
from annot.study.workspace import SETTINGS_FILE

SHOWN = 10
"""Of what shows a state, how many lines or names a list has; a datasheet names all papers."""
DATABASE = "database"
"""What a finder reads that is no file below the study."""


@dataclass(frozen=True, slots=True)
class StudyState:
    """A state in which a study says something that is not true."""

    name: str
    """A noun phrase that names it wherever it is spoken of."""
    part: str
    """The part of the study by which `annot check PART` finds it."""
    says: str
    """The same as a clause: what is the matter."""
    find: Callable[[Examination], Iterable[str]]
    """Everything that shows it, in words; nothing if the study is not in this state."""
    untrue: frozenset[str]
    """What of `THINGS` is not true then."""
    remedy: str
    """How it is mended, in words."""
    reads: tuple[str, ...]
    """Files and folders below the study that the finder reads, and `DATABASE`: while they stay, so do its findings."""
    refused: bool = True
    """Whether there is no release until it is mended. A state that no command can mend is named instead."""
    lasting: bool = False
    """Whether nothing mends it, and nothing needs to: `annot check` lists it, and it is no problem."""
    product: str = ""
    """The product that is simply made again, named by its command: `next:` says so in its place on the way."""
    names: bool = False
    """Whether the finder gives names alone, which are told in one line."""
    notice: str = "untrue"
    """The sentence that a page says of it: a block of `templates/report/states.j2`."""


class Finding(NamedTuple):
    """A state that a study is in."""

    state: StudyState
    words: tuple[str, ...]
    """Everything that shows it."""

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each of the first few, with the state before it and the remedy after it."""
        more = len(self.words) - SHOWN
        rest = (f"{more} more; `annot check {self.state.part}` lists all",) if more > 0 else ()
        shown = (*self.words[:SHOWN], *rest)
        shown = (", ".join(shown),) if self.state.names else shown
        return tuple(f"{self.state.says}: {words}; {self.state.remedy}" for words in shown)


def told(state: StudyState, study: Examination) -> tuple[str, ...]:
    """The lines of `annot check`. Raises MissingInput if the study does not have what is looked at, InputError if that
    cannot be read."""
    words = tuple(state.find(study))
    if words and state.lasting:
        return (f"{state.says}: {', '.join(words)}; {state.remedy}",)
    return (f"{state.says}: {', '.join(words)}",) if words and state.names else words


def _links(*names: str) -> Callable[[Examination], Iterable[str]]:
    return lambda study: study.broken(*names)


def _differences(study: Examination) -> Iterator[str]:
    # From changed rankings no pool can be drawn again: that is a state of its own.
    if not any(study.broken(chain.MANIFEST_OF_RANKINGS)):
        yield from (f"{topic}: {difference}" for topic, difference in study.pools.differences.items())


def _audited(study: Examination) -> Iterator[str]:
    audit = read_audit(study.ws)
    yield from (str(finding["what"]) for finding in (audit or {"findings": ()})["findings"])


SEND = 'send what is new with `annot push --changed "WHY"`, or change it back; until then, what was sent counts'
BACKUP = "restore it from a backup with `annot restore`"


def _of_sent(
    name: str, says: str, part: Part, *, untrue: str = "sent", remedy: str = SEND, fixed: bool = False
) -> StudyState:
    """A state in which something is not as people were sent it; pages have what was sent, so only what counts in
    annot.toml refuses a release. fixed: of those changes that no reason can send."""

    def find(study: Examination) -> Iterator[str]:
        for change in study.changes:
            if change.part == part and bool(change.refused) is fixed:
                yield f"{change.name}: {change.detail}" if change.detail else change.name

    reads = ("guidelines", "templates", SETTINGS_FILE, DATABASE)
    refused = untrue != "sent"
    return StudyState(name, "sent", says, find, frozenset({untrue}), remedy, reads, refused, notice="recorded")


STATES: tuple[StudyState, ...] = (
    StudyState(
        "faults in the plan",
        "plan",
        "the plan has faults",
        lambda study: study.plan.faults,
        frozenset({"plan"}),
        "`annot plan` writes the plan again; `annot check plan` says what is wrong with it",
        ("pools", SETTINGS_FILE, DATABASE),
    ),
    StudyState(
        "pools that differ from the record",
        "pools",
        "pools are not what is drawn from their rankings",
        _differences,
        frozenset({"pools"}),
        "`annot check files` shows whether the corpus or a file has changed since",
        ("pools", "corpus", SETTINGS_FILE, DATABASE),
    ),
    StudyState(
        "guidelines that do not fit",
        "guidelines",
        "the guidelines do not fit the study",
        lambda study: study.guidelines.findings,
        frozenset({"guidelines"}),
        "correct the pages in guidelines/; `annot guidelines FACET` prints the page in use",
        ("guidelines", "corpus", SETTINGS_FILE, DATABASE),
    ),
    StudyState(
        "a changed index",
        "index",
        "files of the index have changed since they were written",
        lambda study: study.index,
        frozenset({"index"}),
        "make them again with `annot index --repair`",
        (".annot/index",),
    ),
    StudyState(
        "changed files of the corpus",
        "files",
        "files of the corpus have changed since they were written",
        _links("corpus/manifest.json", "corpus/ids/manifest.json", "corpus/citations/manifest.json", chain.VECTORS),
        frozenset({"corpus"}),
        BACKUP,
        ("corpus",),
    ),
    StudyState(
        "another corpus",
        "files",
        "the corpus does not begin with the papers that were ranked",
        _links(chain.CORPUS),
        frozenset({"corpus", "rankings", "pools"}),
        "restore the papers that were ranked from a backup with `annot restore`",
        ("corpus", "pools/rankings"),
    ),
    StudyState(
        "papers added after the pools were drawn",
        "files",
        "papers were added after the pools were drawn",
        lambda study: study.added,
        frozenset({"count"}),
        "counts and releases leave them out",
        ("corpus", "pools/rankings", DATABASE),
        refused=False,
        lasting=True,
        names=True,
        notice="added",
    ),
    StudyState(
        "citations added after the pools were drawn",
        "files",
        "citations were added after the pools were drawn",
        _links(chain.CITATIONS),
        frozenset({"index"}),
        "pools and releases keep the citations that the pools were drawn from; new pools have all",
        ("pools", "corpus"),
        refused=False,
        lasting=True,
        notice="cited",
    ),
    StudyState(
        "changed rankings",
        "files",
        "a ranking behind the pools has changed since it was written",
        _links("pools/imported/manifest.json", chain.MANIFEST_OF_RANKINGS),
        frozenset({"rankings", "pools"}),
        BACKUP,
        ("pools", "corpus"),
    ),
    StudyState(
        "changed pools",
        "files",
        "a pool differs from the one on record",
        _links("pools/manifest.json", chain.POOLS),
        frozenset({"pools"}),
        BACKUP,
        ("pools", "corpus", DATABASE),
    ),
    StudyState(
        "a changed plan",
        "files",
        "the file of the plan is not the plan on record",
        _links("pools/plan.manifest.json", chain.PLAN),
        frozenset({"plan"}),
        "write it again with `annot plan`",
        ("pools", DATABASE),
    ),
    StudyState(
        "changed contents on record",
        "files",
        "what tasks showed has changed on record since it was sent",
        _links(chain.SHOWN),
        frozenset({"guidelines"}),
        BACKUP,
        (DATABASE,),
    ),
    StudyState(
        "changed judgements",
        "files",
        "judgements or adjudications on record have changed since they were recorded",
        _links(chain.REVISIONS),
        frozenset({"judgements", "qrels"}),
        "restore the database from a backup with `annot restore`",
        (DATABASE,),
    ),
    StudyState(
        "qrels that do not follow",
        "files",
        "the qrels do not follow from the judgements on record",
        _links("exports/qrels.manifest.json", chain.GRADES),
        frozenset({"qrels"}),
        "write them again with `annot qrels`",
        (
            "exports/qrels.manifest.json",
            "exports/qrels.txt",
            "exports/decisions.jsonl",
            "exports/query_papers.tsv",
            "exports/query_topics.tsv",
            "pools/plan.manifest.json",
            SETTINGS_FILE,
            DATABASE,
        ),
        product="qrels",
    ),
    StudyState(
        "changed runs",
        "files",
        "a run has changed since it was recorded",
        _links(chain.RUNS),
        frozenset({"runs"}),
        "make it again with `annot run`, or import it again with `annot run import`",
        ("exports/runs", DATABASE),
    ),
    _of_sent(
        "another number or order of grades",
        "the number or the order of the grades has changed since they were put on record",
        "scale",
        untrue="names",
        remedy=BACK,
        fixed=True,
    ),
    _of_sent("renamed grades", "the names of the grades have changed since they were sent", "scale", untrue="names"),
    _of_sent("changed facets", "facets have changed since they were sent", "facet", untrue="facets"),
    _of_sent("guidelines that were not sent", "guidelines have changed since they were sent", "guidelines"),
    _of_sent("a screen that was not sent", "templates or [screen] have changed since they were sent", "screen"),
    StudyState(
        "texts that changed without a reason",
        "sent",
        "texts have changed since they were sent, without a reason",
        text_states.uncorrected_texts,
        frozenset({"corpus", "sent"}),
        UNCORRECTED,
        ("corpus", DATABASE),
        names=True,
    ),
    StudyState(
        "pairs that wait for a decision",
        "sent",
        "pairs wait for your decision, because a text was corrected after they were judged",
        text_states.waiting,
        frozenset({"judgements", "qrels"}),
        "decide with `annot corpus corrected`",
        (DATABASE,),
        notice="waiting",
    ),
    StudyState(
        "texts corrected after the pools were drawn",
        "files",
        "pools were drawn from texts before their correction",
        lambda study: study.ranked.corrected,
        frozenset({"rankings"}),
        "pools stay as they were drawn, and what is ranked from now on has the corrected texts",
        ("corpus", "pools/rankings/manifest.json", DATABASE),
        refused=False,
        lasting=True,
        names=True,
        notice="corrected",
    ),
    StudyState(
        "findings on the server",
        "server",
        "the last check of the server has findings",
        _audited,
        frozenset({"blindness"}),
        "see `annot check server`, which says what to do about each",
        ("exports/audit.json",),
        refused=False,
        notice="audited",
    ),
)
"""Every state that is looked for, in the order of the work."""


def findings_of(study: Examination, *, on: Collection[str] | None = None) -> tuple[Finding, ...]:
    """The states that the study is in. on: only those in which one of these things is untrue; None for all."""
    found = ((state, words_of(state, study)) for state in STATES if on is None or state.untrue & {*on})
    return tuple(Finding(state, words) for state, words in found if words)


def words_of(state: StudyState, study: Examination) -> tuple[str, ...]:
    """Everything that shows that the study is in this state; nothing if it is not, or says nothing that is untrue then.

    What a study does not have yet is in no state. If something cannot be read, that is what is found.
    """
    if not state.untrue & study.things:
        return ()
    try:
        return tuple(state.find(study))
    except MissingInput:
        return ()
    except InputError as error:
        return error.faults or (error.message,)
