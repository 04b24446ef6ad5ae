"""Whether a study is sound: its plan, pools, guidelines, index and files, what was sent, and what is on the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from annot.base.errors import FindingError, InputError, MissingInput, StudioError
from annot.base.names import counted, verb
from annot.base.records import Advance
from annot.formats.beir import dataset_id
from annot.judging.examination import Examination
from annot.judging.exchange import audit
from annot.judging.guideline_faults import note_as_read
from annot.judging.states import STATES, told
from annot.pools.chain import LINKS
from annot.publishing.release.released_files import SUMS_FILE, check_folder
from annot.publishing.release.sampled import SAMPLE_FILE, sample_files
from annot.publishing.report.terminal import rendered
from annot.publishing.report.words import sentences
from annot.store.dump import row_counts
from annot.store.shown import read_histories
from annot.study.doors import is_named_inside
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace


class CheckedPart(NamedTuple):
    """What one part of a study was found to be."""

    record: object
    """What was looked at, for --json."""
    text: str
    """The same for people, each finding in it."""
    findings: int
    found: str = ""
    """What was found, in words."""
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """What `annot check` looked at, and found."""

    parts: dict[str, CheckedPart] = field(default_factory=dict)
    unchecked: dict[str, str] = field(default_factory=dict)
    """Parts that the study does not have yet, or that could not be looked at, and why."""

    @property
    def text(self) -> str:
        """What was found, by part where several were looked at."""
        texts = {name: part.text for name, part in self.parts.items()}
        texts |= {name: f"not checked: {why}" for name, why in self.unchecked.items()}
        if len(texts) == 1:
            return "".join(texts.values())
        shown = {name: text.rstrip("\n").replace("\n", "\n  ") for name, text in texts.items()}
        return "\n".join(f"{name}\n  {shown[name]}" for name in PARTS if name in shown)

    @property
    def finding(self) -> FindingError | None:
        """What ends the command where something was found."""
        bad = {name: part for name, part in self.parts.items() if part.findings}
        if not bad:
            return None
        if len(bad) == 1:
            (part,) = bad.values()
            return FindingError(part.found, hint=part.remedy)
        counts = ", ".join(f"{name} {part.findings}" for name, part in bad.items())
        return FindingError(f"{counted(sum(part.findings for part in bad.values()), 'problem')} found: {counts}")


@dataclass(frozen=True, slots=True)
class Verified:
    """The files and records that were compared with their hashes."""

    manifests: int
    revisions: int
    """Rows of judgements and adjudications."""
    findings: tuple[str, ...]
    lasting: tuple[str, ...]
    """What has changed and stays so: nothing needs to be done about it."""


class _Examined(NamedTuple):
    """What a part is described from."""

    study: Examination
    words: tuple[str, ...]
    """What shows that the study is in a state of this part that has to be mended."""
    remedies: tuple[str, ...]
    """How these are mended, each once."""
    lasting: tuple[str, ...]
    """What shows states that stay, and are no problem."""
    release: Path | None
    """A release that is compared too."""
    audited: audit.Audit | None
    """What was found on the server, if it was looked at."""


def check(ws: Workspace, part: str | None, *, release: Path | None, advance: Advance) -> Checked:
    """Check at one part of the study, or at all it has: then what one part is refused for is a finding of that part.

    release: a folder that is compared with its own hashes and with the study's files.
    """
    if release is not None and part not in (None, "files"):
        raise InputError(f"--release can only be used with `annot check files`, found {part!r}")
    study = Examination(ws, advance=advance)
    if part is not None:
        return Checked({part: _checked(study, part, release, advance)})
    with ws.store():
        pass  # Without a database nothing can be looked at.
    checked = Checked()
    for name in PARTS:
        try:
            checked.parts[name] = _checked(study, name, release, advance)
        except (MissingInput, StudioError) as error:
            checked.unchecked[name] = "; ".join([error.message, *error.faults])
        except InputError as error:
            faults = (error.message, *error.faults)
            checked.parts[name] = CheckedPart(
                faults, "\n".join(faults), max(1, len(error.faults)), error.message, error.hint
            )
    return checked


def _checked(study: Examination, part: str, release: Path | None, advance: Advance) -> CheckedPart:
    """Look at one part. Raises MissingInput if the study does not have it, InputError if it cannot be read."""
    audited = audit.audit(study.ws, advance=advance) if part == "server" else None
    found = [(state, told(state, study)) for state in STATES if state.part == part]
    words, lasting = (
        tuple(line for state, lines in found if state.lasting is stays for line in lines) for stays in (False, True)
    )
    remedies = tuple(dict.fromkeys(state.remedy for state, lines in found if lines and not state.lasting))
    return PARTS[part](_Examined(study, words, remedies, lasting, release, audited))


def _plan(examined: _Examined) -> CheckedPart:
    plan, count = examined.study.plan, len(examined.words)
    return CheckedPart(plan, rendered("checked", found=plan), count, f"the plan has {counted(count, 'fault')}")


def _pools(examined: _Examined) -> CheckedPart:
    replayed, count = examined.study.pools, len(examined.words)
    why = "`annot check files` shows whether the corpus or a file has changed since"
    return CheckedPart(
        replayed,
        rendered("replayed", replayed=replayed),
        count,
        f"{counted(count, 'pool')} {verb(count, 'differs', 'differ')} from the record",
        why,
    )


def _guidelines(examined: _Examined) -> CheckedPart:
    ws = examined.study.ws
    checked = examined.study.guidelines
    note_as_read(ws, checked)
    count = len(examined.words)
    pages = ", ".join(f"{page}.md" for page in checked.pages)
    fit = f"no problems found in {pages}; {checked.examples} quotations are in the corpus"
    if checked.left_out:
        fit += "\n" + "\n".join(sentences("commands.examples_left_out", pages=checked.left_out))
    told = ["\n".join(examined.words) or fit]
    if checked.without_criteria:
        silent = ", ".join(f"{page}.md" for page in checked.without_criteria)
        told += [
            f"the screen does not say what the grades mean: no list (`- 2: ...`, a line for each grade) in {silent}"
        ]
    where = f"correct the pages in {ws.root / 'guidelines'}; `annot guidelines FACET` prints the page in use"
    words = f"{counted(count, 'place')} in the guidelines {verb(count, 'does', 'do')} not fit the study"
    return CheckedPart(checked, "\n".join(told), count, words, where)


def _sent(examined: _Examined) -> CheckedPart:
    count = len(examined.words)
    with examined.study.ws.reading() as session:
        sent = bool(read_histories(session))
    fit = (
        "annot.toml, the guidelines and the templates are as people were sent them" if sent else "nothing was sent yet"
    )
    words = f"{counted(count, 'finding')} about what was sent"
    return CheckedPart(examined.words, "\n".join(examined.words) or fit, count, words, "; ".join(examined.remedies))


def _index(examined: _Examined) -> CheckedPart:
    count = len(examined.words)
    sound = "no file of the index has changed since it was written"
    words = f"index: {counted(count, 'file')} changed since {verb(count, 'it was', 'they were')} written"
    again = "make them again with `annot index --repair`"
    return CheckedPart(examined.words, "\n".join(examined.words) or sound, count, words, again)


def _files(examined: _Examined) -> CheckedPart:
    ws = examined.study.ws
    with ws.reading() as session:
        counts = row_counts(session.connection())
    findings = [*examined.words, *(() if examined.release is None else _release_faults(ws, examined.release))]
    manifests = sum((ws.root / name).is_file() for name, _ in LINKS)
    verified = Verified(manifests, counts["judgement"] + counts["adjudication"], tuple(findings), examined.lasting)
    words = f"{counted(len(findings), 'change')} since the files were written"
    again = "make each file again with the command named above, or restore it from a backup with `annot restore`"
    return CheckedPart(verified, rendered("verified", verified=verified), len(findings), words, again)


def _server(examined: _Examined) -> CheckedPart:
    assert examined.audited is not None
    count = len(examined.audited.findings)
    words = f"{counted(count, 'problem')} on the server"
    return CheckedPart(examined.audited, audit.described(examined.audited), count, words)


PARTS: dict[str, Callable[[_Examined], CheckedPart]] = {
    "plan": _plan,
    "pools": _pools,
    "guidelines": _guidelines,
    "sent": _sent,
    "index": _index,
    "files": _files,
    "server": _server,
}
"""How each part of a study is described."""


def _release_faults(ws: Workspace, folder: Path) -> Iterator[str]:
    if not folder.is_dir():
        yield f"{folder}: {'a file' if folder.exists() else 'no such folder'}, expected the folder of a release"
        return
    try:
        check_folder(folder, name=dataset_id(ws.settings.collection.name))
    except InputError as error:
        yield from (f"{folder}/{fault}" for fault in error.faults)
        if not error.faults:
            yield error.message
    sums = folder / SUMS_FILE
    listed = sums.read_text(encoding="utf-8", errors="replace").splitlines() if sums.is_file() else []
    for name in (line.partition("  ")[2] for line in listed):
        path, source = folder / name, ws.exports / name
        if not is_named_inside(path, folder) or not path.is_file():
            yield f"{folder}/{name}: missing"
        elif name == SAMPLE_FILE and path.read_bytes() != _sample_now(ws):
            yield f"{folder}/{name}: differs from the sample on record; `annot release` updates it"
        elif (
            (name == "qrels.txt" or name.endswith(".run"))
            and source.is_file()
            and path.read_bytes() != source.read_bytes()
        ):
            yield f"{folder}/{name}: differs from {source.relative_to(ws.root)}; `annot release` updates it"


def _sample_now(ws: Workspace) -> bytes:
    return sample_files(read_snapshot(ws)).get(SAMPLE_FILE, "").encode("utf-8")
