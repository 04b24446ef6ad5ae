"""The states of a study in which something that it says is not true: one list, which binds everywhere.

`annot check` prints what is found, `next:` names it, every page says so where it rests on something untrue, and a
release is refused. To add one is to add an entry to `STATES`: a name, how it is found, what it makes untrue, and
the remedy. Finders are run by `findings_of`; what several of them read is read once, in `Examination`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from annot.base.errors import InputError, MissingInput
from annot.base.records import Advance
from annot.judging import guideline_faults, plan_on_record
from annot.measuring.results import read_audit
from annot.pools import chain, pool_facts
from annot.pools.ranked_corpus import RankedCorpus, ranked_corpus
from annot.ranking import index
from annot.study.workspace import Workspace

THINGS = {
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
}
"""What a page or a release can rest on, in words. A page names what it rests on by these."""


class Examination:
    """One look at a study, for all finders: what several of them need is read or computed once, when first asked for.

    advance: hears of work that takes long.
    """

    def __init__(self, ws: Workspace, *, advance: Advance = lambda _done, _total: None) -> None:
        self.ws, self._advance = ws, advance

    @cached_property
    def plan(self) -> plan_on_record.PlanCheck:
        """The plan against the pools, the people and its file."""
        return plan_on_record.check(self.ws)

    @cached_property
    def pools(self) -> pool_facts.Replayed:
        """The pools, drawn again."""
        return pool_facts.replay(self.ws, advance=self._advance)

    @cached_property
    def guidelines(self) -> guideline_faults.CheckedGuidelines:
        """The guidelines against the scale, the facets and the corpus."""
        return guideline_faults.check(self.ws)

    @cached_property
    def corpus(self) -> RankedCorpus:
        """The papers that were ranked, and those that were added later."""
        return ranked_corpus(self.ws)

    @cached_property
    def broken(self) -> dict[str, tuple[str, ...]]:
        """What has changed since it was written, by link of the chain of hashes."""
        with self.ws.reading() as session:
            return chain.broken_by_link(self.ws, session)

    @cached_property
    def index(self) -> tuple[str, ...]:
        """Files of the index that have changed."""
        return index.faults_of(self.ws)

    @cached_property
    def audit(self) -> dict[str, Any]:
        """What the last check of the server found in the judgements as they are now; nothing of earlier ones."""
        found = read_audit(self.ws)
        return found if found and found["current"] else {"findings": []}


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
    refused: bool = True
    """Whether there is no release until it is mended. A state that no command can mend is named instead."""


class Finding(NamedTuple):
    """A state that a study is in."""

    state: StudyState
    words: tuple[str, ...]
    """Everything that shows it."""


def _links(*names: str) -> Callable[[Examination], Iterable[str]]:
    return lambda study: [fault for name in names for fault in study.broken[name]]


def _added(study: Examination) -> Iterable[str]:
    added = study.corpus.added
    if added:
        papers = ", ".join(added)
        yield f"added after the pools were drawn: {papers}"


def _audited(study: Examination) -> Iterable[str]:
    return [f"{finding['what']}" for finding in study.audit["findings"]]


BACKUP = "restore it from a backup with `annot restore`"
STATES: tuple[StudyState, ...] = (
    StudyState(
        "faults in the plan",
        "plan",
        "the plan has faults",
        lambda study: study.plan.faults,
        frozenset({"plan"}),
        "`annot plan` writes the plan again; `annot check plan` says what is wrong with it",
    ),
    StudyState(
        "pools that differ from the record",
        "pools",
        "pools are not what is drawn from their rankings",
        lambda study: [f"{topic}: {difference}" for topic, difference in study.pools.differences.items()],
        frozenset({"pools"}),
        "`annot check files` shows whether the corpus or a file has changed since",
    ),
    StudyState(
        "guidelines that do not fit",
        "guidelines",
        "the guidelines do not fit the study",
        lambda study: study.guidelines.findings,
        frozenset({"guidelines"}),
        "correct the pages in guidelines/; `annot guidelines FACET` prints the page in use",
    ),
    StudyState(
        "a changed index",
        "index",
        "files of the index have changed since they were written",
        lambda study: study.index,
        frozenset({"index"}),
        "make them again with `annot index --repair`",
    ),
    StudyState(
        "changed files of the corpus",
        "files",
        "files of the corpus have changed since they were written",
        _links("corpus/manifest.json", "corpus/ids/manifest.json", "corpus/citations/manifest.json", chain.VECTORS),
        frozenset({"corpus"}),
        BACKUP,
    ),
    StudyState(
        "another corpus",
        "files",
        "the corpus does not begin with the papers that were ranked",
        _links(chain.CORPUS),
        frozenset({"corpus", "rankings", "pools"}),
        "restore the papers that were ranked from a backup with `annot restore`",
    ),
    StudyState(
        "papers added after the pools were drawn",
        "files",
        "papers were added after the pools were drawn",
        _added,
        frozenset({"corpus"}),
        "none yet: pools cannot hold them, so counts and releases leave them out",
        refused=False,
    ),
    StudyState(
        "changed rankings",
        "files",
        "a ranking behind the pools has changed since it was written",
        _links("pools/imported/manifest.json", chain.MANIFEST_OF_RANKINGS),
        frozenset({"rankings", "pools"}),
        BACKUP,
    ),
    StudyState(
        "changed pools",
        "files",
        "a pool differs from the one on record",
        _links("pools/manifest.json", chain.POOLS),
        frozenset({"pools"}),
        BACKUP,
    ),
    StudyState(
        "a changed plan",
        "files",
        "the file of the plan is not the plan on record",
        _links("pools/plan.manifest.json", chain.PLAN),
        frozenset({"plan"}),
        "write it again with `annot plan`",
    ),
    StudyState(
        "changed contents on record",
        "files",
        "what tasks showed has changed on record since it was sent",
        _links(chain.SHOWN),
        frozenset({"guidelines"}),
        BACKUP,
    ),
    StudyState(
        "changed judgements",
        "files",
        "judgements or adjudications on record have changed since they were recorded",
        _links(chain.REVISIONS),
        frozenset({"judgements", "qrels"}),
        "restore the database from a backup with `annot restore`",
    ),
    StudyState(
        "qrels that do not follow",
        "files",
        "the qrels do not follow from the judgements on record",
        _links("exports/qrels.manifest.json", chain.GRADES),
        frozenset({"qrels"}),
        "write them again with `annot qrels`",
    ),
    StudyState(
        "changed runs",
        "files",
        "a run has changed since it was recorded",
        _links(chain.RUNS),
        frozenset({"runs"}),
        "make it again with `annot run`, or import it again with `annot run import`",
    ),
    StudyState(
        "findings on the server",
        "server",
        "the last check of the server has findings",
        _audited,
        frozenset({"blindness"}),
        "see `annot check server`, which says what to do about each",
        refused=False,
    ),
)
"""Every state that is looked for, in the order of the work."""


def findings_of(
    study: Examination, *, parts: Collection[str] | None = None, on: Collection[str] | None = None
) -> tuple[Finding, ...]:
    """The states that the study is in. parts: of `annot check`, None for all. on: only states in which one of these
    things is untrue.

    What a study does not have yet is in no state; what cannot be read is found as what it would show.
    """
    found = []
    for state in STATES:
        if (parts is None or state.part in parts) and (on is None or state.untrue & {*on}):
            try:
                words = tuple(state.find(study))
            except MissingInput:
                continue
            except InputError as error:
                words = error.faults or (error.message,)
            if words:
                found.append(Finding(state, words))
    return tuple(found)
