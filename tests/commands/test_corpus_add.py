"""`annot corpus add`: pieces of files give what whole files give, broken records go aside, a kill costs nothing."""

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from annot.corpus import adding
from annot.formats.corpora import pieces
from annot.steps import corpus
from annot.steps.corpus import AddedPapers
from annot.store.papers import corpus_sha256, paper_ids, read_papers
from annot.study.workspace import Workspace

BROKEN = {
    17: '{"paper_id": "p17", "title": ',
    23: json.dumps({"paper_id": "p23", "title": "No abstract"}),
    31: json.dumps({"paper_id": "p31", "title": "T", "abstract": ["One two three four."], "labels": ["unheard-of"]}),
}


def line(number: int, **given: Any) -> str:
    sentences = [f"We look at the {what} of paper {number}." for what in ("shape", "size", "colour", "naïveté")]
    return json.dumps({"paper_id": f"p{number}", "title": f"Paper {number}", "abstract": sentences} | given)


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    return path


def add(ws: Workspace, *files: Path, dry_run: bool = False, processes: int = 1) -> AddedPapers:
    own = ws.replaced("machine", processes=processes)
    return corpus.add(own, files, form=None, dry_run=dry_run, advance=lambda done, total: None)


def small_pieces(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    for module in (pieces, adding):
        monkeypatch.setattr(module, "PIECE_BYTES", size)


def test_pieces_and_processes_give_the_corpus_that_the_whole_file_gives(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [line(number % 300, year=2000 + number // 400) for number in range(500)]
    source = write(tmp_path / "papers.jsonl", lines)
    whole = add(ws, source)
    assert (whole.read, whole.kept, len(paper_ids(ws.corpus))) == (500, 300, 300)
    assert whole.rejected == {"id seen before, other content": 100, "id seen before, same content": 100}
    read = list(read_papers(ws.corpus))
    for path in ws.corpus.glob("*.parquet"):
        path.unlink()
    small_pieces(monkeypatch, 5_000)
    cut = add(ws, source, processes=2)
    assert cut == whole
    assert list(read_papers(ws.corpus)) == read
    assert len(list(ws.corpus.glob("*.parquet"))) > 10
    again = add(ws, source)
    assert (again.kept, again.in_corpus, again.sha256) == (0, 300, whole.sha256)


def test_broken_records_are_counted_and_written_aside_with_their_line(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [BROKEN.get(number, line(number)) for number in range(1, 41)]
    lines.insert(3, "")
    source = write(tmp_path / "papers.jsonl", lines)
    small_pieces(monkeypatch, 1_000)
    added = add(ws, source)
    assert (added.read, added.kept) == (40, 37)
    assert added.rejected == {
        "cannot be read: no field 'abstract'": 1,
        "cannot be read: not valid JSON": 1,
        "cannot be read: unknown sentence label": 1,
    }
    assert [fault.split(": ")[0] for fault in added.faults] == [f"{source}:{number + 1}" for number in BROKEN]
    assert added.rejected_file is not None
    aside = [json.loads(text) for text in Path(added.rejected_file).read_text(encoding="utf-8").splitlines()]
    assert [(one["file"], one["place"]) for one in aside] == [(str(source), number + 1) for number in BROKEN]
    assert aside[0]["record"].rstrip("\n") == BROKEN[17]
    again = add(ws, source)
    assert (again.kept, again.rejected_file) == (0, added.rejected_file)
    assert not (ws.corpus / corpus.SCRATCH).exists()


KILLED = """
import sys
from pathlib import Path
from annot.corpus import adding
from annot.formats.corpora import pieces
from annot.steps import corpus
from annot.study.workspace import Workspace
adding.PIECE_BYTES = pieces.PIECE_BYTES = int(sys.argv[3])
ws = Workspace.open(Path(sys.argv[1])).replaced("machine", processes=2)
def tell(done, total):
    print("in the middle", flush=True)
    sys.stdin.read()
corpus.add(ws, [Path(sys.argv[2])], form=None, dry_run=False, advance=tell)
"""


def test_a_killed_run_leaves_no_paper_and_the_next_one_finishes(ws: Workspace, tmp_path: Path) -> None:
    source = write(tmp_path / "papers.jsonl", [line(number) for number in range(2_000)])
    command = [sys.executable, "-c", KILLED, ws.root, source, str(source.stat().st_size // 4)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"in the middle\n"
        os.kill(process.pid, signal.SIGKILL)
        # The end of the stream: its workers have ended, too.
        assert process.stdout.read() == b""
    assert list(ws.corpus.glob("*.parquet")) == []
    assert add(ws, source).kept == 2_000
    assert not (ws.corpus / corpus.SCRATCH).exists()


def test_a_run_ended_between_two_parts_is_finished_with_the_same_corpus(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "papers.jsonl", [line(number) for number in range(200)])
    small_pieces(monkeypatch, 10_000)
    whole = add(ws, source)
    parts = sorted(ws.corpus.glob("*.parquet"))
    for path in parts[2:]:
        path.unlink()
    assert 0 < len(paper_ids(ws.corpus)) < 200
    assert add(ws, source).in_corpus == 200
    assert corpus_sha256(ws.corpus) == whole.sha256


def test_papers_and_abstracts_of_semantic_scholar_come_in_joined(ws: Workspace, tmp_path: Path) -> None:
    numbers = range(1, 60)
    titles = [{"corpusid": at, "title": f"Title {at}", "year": 2001, "authors": []} for at in numbers]
    text = "We look at the papers. We count all of them. The count is right."
    texts = [{"corpusid": at, "openaccessinfo": {}, "abstract": text} for at in (*numbers[:50], 99)]
    papers = write(tmp_path / "papers.jsonl", [*map(json.dumps, titles), "{"])
    abstracts = write(tmp_path / "abstracts.gz", [json.dumps(one) for one in texts])
    abstracts.write_bytes(gzip.compress(abstracts.read_bytes()))
    told = add(ws, abstracts, papers, dry_run=True)
    added = add(ws, abstracts, papers)
    assert paper_ids(ws.corpus) == tuple(map(str, numbers[:50]))
    expected = {"no abstract": 9, "cannot be read: not valid JSON": 1, "cannot be read: abstract without a paper": 1}
    assert (added.read, added.kept, added.rejected) == (61, 50, expected)
    assert (told.read, told.kept, told.rejected) == (61, 50, expected)
    assert added.rejected_file is not None
    aside = [json.loads(line) for line in Path(added.rejected_file).read_text(encoding="utf-8").splitlines()]
    assert [(one["file"], one["place"]) for one in aside] == [(str(papers), 60), ("papers and abstracts", 60)]
    assert [path.name for path in ws.corpus.iterdir() if path.is_dir()] == []


def test_a_file_of_a_folder_that_cannot_be_read_is_left_out_and_named(ws: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "parses"
    folder.mkdir()
    for name, lines in {"1": [line(1)], "2": [BROKEN[17]], "3": [], "4": [line(4)], "5": [" "]}.items():
        write(folder / name, lines)
    added = add(ws, folder)
    assert (added.read, added.kept) == (5, 2)
    assert added.rejected == {"cannot be read: not valid JSON": 1, "cannot be read: the file is empty": 2}
    assert [fault.partition(": ")[0] for fault in added.faults] == [f"{folder}/2:1", f"{folder}/3", f"{folder}/5"]
    assert added.rejected_file is not None
    assert json.loads(Path(added.rejected_file).read_text())["file"] == f"{folder}/2"
