"""Co-citation contexts: the sentences of full texts that cite several papers of the corpus, written to a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

from annot.base.errors import InputError
from annot.base.names import near
from annot.formats.citing_text import CitingText, Window, read_citing_texts
from annot.formats.corpora.cutting import opened
from annot.formats.json_lines import json_lines
from annot.ranking.index import Advance
from annot.ranking.systems.training.cocitations import Cocitations, Limits, gather
from annot.store.papers import paper_ids
from annot.study.given_files import check_files
from annot.study.workspace import Workspace, write_file

WINDOWS: tuple[Window, ...] = ("sentence", "paragraph")


@dataclass(frozen=True, slots=True)
class WrittenContexts:
    """What became of the contexts of the full texts."""

    path: Path
    texts: int
    read: int
    kept: int
    left_out: Mapping[str, int]
    unlinked: int
    not_in_corpus: int
    sets_by_size: Mapping[int, int]
    """Sets of papers that are cited together, by how many they are."""
    paraphrased: int
    """Sets with two contexts or more, which teach the encoder of sentences."""


def write(
    ws: Workspace,
    files: Sequence[Path],
    *,
    out: Path,
    window: str,
    limits: Limits,
    dry_run: bool,
    advance: Advance,
) -> WrittenContexts:
    """Find the co-citations of papers of the corpus in S2ORC's full texts. All files are sound, or nothing is written.

    The corpus's own filters (`[corpus]` in annot.toml, CSFCube's unless changed) say which abstracts qualify.
    """
    if window not in WINDOWS:
        raise InputError(f"--window {window}: {near(window, WINDOWS)}")
    (kind,) = (one for one in WINDOWS if one == window)
    check_files(files)
    found = gather(_texts(files, kind, advance), set(paper_ids(ws.corpus)), limits=limits)
    if not dry_run:
        write_file(out, json_lines(_records(found)))
    return WrittenContexts(
        out,
        texts=found.texts,
        read=found.read,
        kept=found.kept,
        left_out={reason.value: count for reason, count in sorted(found.left_out.items())},
        unlinked=found.unlinked,
        not_in_corpus=found.not_in_corpus,
        sets_by_size=dict(sorted(Counter(map(len, found.contexts)).items())),
        paraphrased=sum(len(said) > 1 for said in found.contexts.values()),
    )


def _texts(files: Sequence[Path], window: Window, advance: Advance) -> Iterator[CitingText]:
    done = 0
    for path in files:
        try:
            with opened(path) as file, TextIOWrapper(file, encoding="utf-8") as lines:
                for text in read_citing_texts(lines, name=str(path), window=window):
                    done += 1
                    advance(done, None)
                    yield text
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: not UTF-8 text at byte {error.start}") from None


def _records(found: Cocitations) -> Iterator[dict[str, object]]:
    for papers, sayings in found.contexts.items():
        said = [{"citing": one.citing, "text": one.text, "fields": list(one.fields)} for one in sayings]
        yield {"papers": list(papers), "contexts": said}
