"""The index on disk: the same rankings however it is cut, extended, killed or made by several processes."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet
import pytest
import tomlkit
from annot.corpus.corpus_facts import current_sha256
from annot.ranking import index, word_vectors
from annot.store.papers import corpus_sha256
from annot.study.workspace import Workspace
from command_line import annot, annot_done

Study = Callable[[str], Path]


def in_small_groups(folder: Path, *, rows: int = 7) -> None:
    """The same papers in the same file, in row groups of a few."""
    (path,) = (folder / "corpus").glob("*.parquet")
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(path), path, row_group_size=rows)


def small_shards(monkeypatch: pytest.MonkeyPatch, *, papers: int) -> None:
    monkeypatch.setattr(index, "PAPERS", papers)
    monkeypatch.setattr(index, "LEAST", 3)
    monkeypatch.setattr(index, "AT_ONCE", 3)


def shards(folder: Path) -> dict[str, int]:
    """When each shard was written."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / ".annot/index/shards").glob("*")}


def rankings(folder: Path) -> dict[str, bytes]:
    annot_done("pool", folder=folder)
    return {path.name: path.read_bytes() for path in (folder / "pools/rankings").glob("*.run")}


def with_processes(folder: Path, number: int) -> None:
    path = folder / "annot.toml"
    settings = tomlkit.parse(path.read_text("utf-8"))
    settings["machine"] = {"processes": number}
    path.write_text(tomlkit.dumps(settings), "utf-8")


def test_rankings_are_the_same_bytes_however_the_corpus_is_cut(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = study("queried")
    expected = rankings(folder)
    assert {"lsa.run", "abs_tfidf.run", "title_tfidfcbow200.run"} <= expected.keys()
    assert len(shards(folder)) == 1
    shutil.rmtree(folder / ".annot")
    in_small_groups(folder)
    small_shards(monkeypatch, papers=7)
    with_processes(folder, 1)
    assert rankings(folder) == expected
    assert len(shards(folder)) > 2


KILLED = """
import os, signal, sys
from annot.cli.main import run
from annot.ranking import unfinished, word_vectors

unfinished.SECONDS_BETWEEN_SAVES = 0
train = word_vectors.train
word_vectors.train = lambda *corpus, after_epoch, **settings: train(
    *corpus, after_epoch=lambda done, total: os.kill(os.getpid(), signal.SIGKILL) if done == 2 else None, **settings
)
run()
"""


def test_a_killed_training_leaves_its_last_pass_and_the_next_build_goes_on(study: Study) -> None:
    folder = study("queried")
    settings = (folder / "annot.toml").read_text("utf-8")
    (folder / "annot.toml").write_text(settings.replace("epochs = 1", "epochs = 3"), "utf-8")
    killed = subprocess.run([sys.executable, "-c", KILLED, "index"], cwd=folder, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    index = folder / ".annot/index"
    (own,) = index.glob("corpora/*")
    kept = own / word_vectors.UNFINISHED
    assert {path.name for path in own.iterdir()} == {"whole", kept.name}
    assert "nothing to remove" in annot_done("index", "--clean", folder=folder).stdout
    stands = {path: path.stat().st_mtime_ns for path in index.rglob("*") if path.is_file() and path.parent != kept}
    assert "built: word vectors and averages, lsa" in annot_done("index", folder=folder).stdout
    assert not kept.exists()
    assert stands.items() <= {path: path.stat().st_mtime_ns for path in index.rglob("*") if path.is_file()}.items()
    made = {path.relative_to(index): path.read_bytes() for path in index.rglob("*") if path.is_file()}
    shutil.rmtree(index)
    annot_done("index", folder=folder)
    assert {path.relative_to(index): path.read_bytes() for path in index.rglob("*") if path.is_file()} == made


def kinds(index: Path) -> dict[str, Path]:
    """One file of each kind that the index holds, by the part and its name."""
    return {
        f"{path.relative_to(index).parts[0]}/{re.sub('[0-9a-f-]{6,}', '', path.parent.name)}/{path.name}": path
        for path in sorted(index.rglob("*"))
        if path.is_file()
    }


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def test_a_flipped_byte_in_any_file_is_named_and_made_again(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = study("pooled")
    in_small_groups(folder)
    small_shards(monkeypatch, papers=40)
    expected = rankings(folder)
    index = folder / ".annot/index"
    before = {path: path.read_bytes() for path in index.rglob("*") if path.is_file()}
    assert len(kinds(index)) > 50
    annot_done("check", "index", folder=folder)
    for path in kinds(index).values():
        flip(path, int(0.6 * path.stat().st_size))
    told = annot("check", "index", folder=folder)
    assert told.exit_code == 1
    for path in kinds(index).values():
        # Where the list of hashes itself is damaged, the others of its folder cannot be looked at.
        assert f"{path.parent.relative_to(folder)}/" in told.stdout, path
    assert "annot index --repair" in told.stderr
    would = annot_done("index", "--repair", "--dry-run", folder=folder).stdout
    assert "damaged, would rebuild: corpora/" in would
    assert annot("check", "index", folder=folder).stdout == told.stdout
    done = annot_done("index", "--repair", folder=folder).stdout
    assert done.partition("damaged, rebuilt: ")[2] == would.partition("damaged, would rebuild: ")[2]
    annot_done("check", "index", folder=folder)
    assert {path: path.read_bytes() for path in index.rglob("*") if path.is_file()} == before
    assert rankings(folder) == expected


def test_a_corpus_exchanged_under_its_old_size_and_date_is_another(study: Study) -> None:
    folder = study("queried")
    ws = Workspace.open(folder)
    (path,) = ws.corpus.glob("*.parquet")
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(table, path, compression="none")
    first, before = current_sha256(ws, keep=True), path.stat()
    assert first == corpus_sha256(ws.corpus) == current_sha256(ws, keep=True)
    whole = path.read_bytes()
    # The same letters in another order, so that the file is as long as before.
    path.write_bytes(whole.replace(b"parser", b"praser"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert path.read_bytes() != whole
    assert current_sha256(ws, keep=True) == corpus_sha256(ws.corpus) != first
