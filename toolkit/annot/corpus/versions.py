"""Versions of the corpus: begun by documents that come, or that are withdrawn, after pools were drawn."""

from __future__ import annotations

import getpass
import re
from dataclasses import dataclass
from typing import NamedTuple

from annot.base.errors import InputError
from annot.base.names import moment_now
from annot.store import papers, pools, projects
from annot.store.answers import is_judged
from annot.store.models import CorpusVersion, Session
from annot.store.pools import add_version, read_corpus_versions
from annot.study.workspace import Workspace

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
"""A version is part of the names of files and folders."""
FIRST = "1"
"""Name of the first version if it was given none."""
ASK = 'annot corpus add FILE --version NAME --reason "WHY"'


class VersionWanted(NamedTuple):
    """Words of the lead on a version of the corpus."""

    version: str | None = None
    first: str | None = None
    """Name of the version before, if it has none yet."""
    reason: str | None = None


NO_VERSION = VersionWanted()


@dataclass(frozen=True, slots=True)
class BegunVersion:
    """Version that documents were added to."""

    version: str
    before: str
    """Name of the version before."""
    is_new: bool
    """False if it was begun before, and is continued."""


def begin_version(ws: Workspace, wanted: VersionWanted, *, changed: int, dry_run: bool) -> BegunVersion | None:
    """Put the version on record that changes of the corpus belong to; None if these need none.

    changed: number of documents that come or are withdrawn. Call it before the corpus changes: the same command
    finishes what one that was killed has left. Raises InputError if the study needs a version and none is named, if its
    name cannot be used, and if pools were drawn from it.
    """
    faults = [
        f"--{option} {name!r}: expected letters, digits and . _ -, and a letter or digit first"
        for option, name in (("version", wanted.version), ("first", wanted.first))
        if name is not None and not NAME.fullmatch(name)
    ]
    if wanted.version is None and (wanted.first, wanted.reason) != (None, None):
        faults.append("found --first or --reason without --version")
    if wanted.version is not None and not (wanted.reason or "").strip():
        faults.append("--reason: found no words, expected why the corpus changes")
    if faults:
        raise InputError("the version of the corpus cannot be used", faults=faults, hint=ASK)
    with ws.reading() if dry_run or wanted.version is None else ws.writing() as session:
        begun, new = _begun(ws, session, wanted, changed)
        if not dry_run:
            for version in new:
                add_version(session, version)
        return begun


def _begun(
    ws: Workspace, session: Session, wanted: VersionWanted, changed: int
) -> tuple[BegunVersion | None, list[CorpusVersion]]:
    """The version as `begin_version` returns it, and those that go on record."""
    versions, drawn = read_corpus_versions(session), pools.read_pools(session).values()
    name, names = wanted.version, [version.version for version in versions]
    if name is None:
        is_used = any(pool.per_method for pool in drawn) and (projects.was_sent(session) or is_judged(session))
        # An emptied corpus is filled again.
        if changed and ws.has_corpus and is_used:
            goes_on = f"--version {names[-1]} continues that version, " if names else ""
            raise InputError(
                "pools were drawn from this corpus and pairs were sent or judged, so that other documents make a new "
                "version of it",
                hint=f"{goes_on}{ASK} begins one",
            )
        return None, []
    before = names or [wanted.first or FIRST]
    is_drawn = any(pool.of_corpus == name for pool in drawn)
    if problem := _problem(name, wanted.first or before[0], before, drawn=bool(drawn), closed=changed > 0 and is_drawn):
        raise InputError(f"--version {name}: {problem}", hint=ASK)
    if name in names:
        return BegunVersion(name, before[-2], is_new=False), []
    begun = BegunVersion(name, before[-1], is_new=True)
    if not changed:
        return begun, []
    now, reason = moment_now(), " ".join((wanted.reason or "").split())
    last = papers.files_of(ws.corpus)[-1].name
    first = [] if names else [CorpusVersion(before[0], 1, "", None, None, now)]
    return begun, [*first, CorpusVersion(name, len(before) + 1, last, reason, getpass.getuser(), now)]


def _problem(name: str, first: str, before: list[str], *, drawn: bool, closed: bool) -> str | None:
    """Reason why documents cannot be added to the version of this name; None if they can.

    before: the versions on record, or the first. drawn: there are pools; closed: some were drawn from this version.
    """
    if not drawn:
        return "there are no pools yet, so that all documents belong to the first version; add them without --version"
    if first != before[0]:
        return f"found --first {first}, but the first version is called {before[0]}"
    if name in before[:-1] or [name] == before:
        return "an earlier version of the corpus, which does not change any more"
    if closed:
        return "pools were drawn from it, so that no document is added to it; give the new ones a version of their own"
    others = [other for other in before if other != name]
    return "differs from another version only in case" if name.casefold() in map(str.casefold, others) else None
