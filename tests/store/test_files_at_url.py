"""The corpus at a URL: workers read the same papers there, and never other ones."""

import fcntl
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.names import sha256_of
from annot.base.parallel import Engine, map_shards
from annot.base.records import Paper
from annot.base.settings import MachineSettings
from annot.store import papers
from annot.store.papers import (
    PaperWriter,
    RowGroups,
    fetch_file,
    groups_for,
    groups_of,
    local_copy,
    put_files,
    read_columns,
)

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder with two files of papers; fetched files go into the test's folder."""
    fetched = tmp_path / "fetched"
    fetched.mkdir()
    monkeypatch.setenv("TMPDIR", str(fetched))
    monkeypatch.setattr(tempfile, "tempdir", str(fetched))
    for part in range(2):
        with PaperWriter(tmp_path / "corpus") as writer:
            for at in range(3):
                writer.add(Paper(f"p{part}{at}", f"Title {at}", (f"Sentence {at}.",)))
    return tmp_path / "corpus"


def ids_of(group: RowGroups) -> list[str]:
    return [paper_id for batch in read_columns([group], ("paper_id",)) for paper_id in batch.column(0).to_pylist()]


def unseen(folder: Path, url: str) -> list[RowGroups]:
    """The row groups as a worker has them that does not see the study's folder."""
    return [group._replace(path=Path("/nowhere.parquet")) for group in groups_for(folder, url)]


def test_without_a_cluster_or_a_url_files_are_read_in_place(corpus: Path) -> None:
    for machine in (MachineSettings(shards="memory://unused"), MachineSettings(cluster="tcp://login:8786")):
        assert groups_for(corpus, machine.url) == groups_of(corpus)
    assert MachineSettings(cluster="tcp://login:8786", shards="memory://used").url == "memory://used"


@pytest.mark.parametrize("url", ["memory://corpus-{}/a", "file://{}/far/a/"])
def test_papers_are_those_of_the_folder(corpus: Path, url: str) -> None:
    groups = unseen(corpus, url.format(corpus.parent))
    assert [ids_of(group) for group in groups] == [ids_of(group) for group in groups_of(corpus)]


def test_workers_read_what_they_do_not_see(corpus: Path, cluster: Engine) -> None:
    groups = unseen(corpus, f"file://{corpus.parent}/far")
    assert list(map_shards(ids_of, groups, engine=cluster)) == [["p00", "p01", "p02"], ["p10", "p11", "p12"]]


def test_a_file_that_is_another_is_refused(corpus: Path) -> None:
    far = corpus.parent / "far"
    group = unseen(corpus, f"file://{far}")[0]
    path = far / group.url.rpartition("/")[2]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match="its bytes do not have the hash in its name"):
        ids_of(group)
    assert not list((corpus.parent / "fetched").rglob("*.parquet"))


def test_what_others_put_since_the_place_was_listed_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Object stores behave like this: their client keeps a listing, and takes files outside it for absent."""
    system = fsspec.filesystem("memory")
    kept: dict[str, list[str]] = {}
    find, opened = system.find, system.open

    def listed(path: str, **options: object) -> list[str]:
        return kept.setdefault(path, find(path, **options))

    def open_listed(name: str, mode: str, **options: object) -> object:
        if mode == "rb" and name not in kept.get(name.rpartition("/")[0], [name]):
            raise FileNotFoundError(name)
        return opened(name, mode, **options)

    monkeypatch.setattr(system, "find", listed)
    monkeypatch.setattr(system, "open", open_listed)
    monkeypatch.setattr(system, "invalidate_cache", kept.clear)
    mine, other = tmp_path / "a.npy", tmp_path / "b.npy"
    mine.write_bytes(b"mine")
    other.write_bytes(b"other")
    put_files({mine: sha256_of(mine)}, "memory://kept/a")
    assert kept
    name = f"{sha256_of(other)}.npy"
    system.pipe_file(f"/kept/a/{name}", b"other")
    fetch_file(f"memory://kept/a/{name}", tmp_path / "copy.npy")
    assert (tmp_path / "copy.npy").read_bytes() == b"other"


def test_a_file_that_was_sent_half_way_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, far = tmp_path / "a.npy", tmp_path / "far"
    path.write_bytes(b"numbers")
    files = {path: sha256_of(path)}

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("fsspec.implementations.local.LocalFileSystem.mv", killed)
        with pytest.raises(KeyboardInterrupt):
            put_files(files, f"file://{far}")
    (unfinished,) = far.iterdir()
    assert unfinished.name != f"{files[path]}.npy"
    (url,) = put_files(files, f"file://{far}").values()
    fetch_file(url, tmp_path / "copy.npy")
    assert (tmp_path / "copy.npy").read_bytes() == b"numbers"


def test_a_file_that_is_not_as_it_was_written_is_not_sent(tmp_path: Path) -> None:
    path, far = tmp_path / "a.npy", tmp_path / "far"
    path.write_bytes(b"numbers")
    files = {path: sha256_of(path)}
    path.write_bytes(b"others!")
    with pytest.raises(InputError, match=r"a\.npy: changed since it was written"):
        put_files(files, f"file://{far}")
    assert not list(far.iterdir())


def test_a_file_is_fetched_by_one_worker_of_a_machine_while_the_others_wait(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = next(corpus.iterdir())
    (url,) = put_files({path: sha256_of(path)}, f"file://{corpus.parent}/far").values()
    place, waits = local_copy(url), threading.Event()
    place.unlink()

    def told(*lock: int) -> None:
        waits.set()
        flock(*lock)

    flock = fcntl.flock
    monkeypatch.setattr(papers.fcntl, "flock", told)
    monkeypatch.setattr(papers, "fetch_file", lambda *_: pytest.fail("fetched twice"))
    with ThreadPoolExecutor(1) as pool:
        with place.with_name(f"{place.name}.part").open("ab") as fetched:
            flock(fetched, fcntl.LOCK_EX)
            found = pool.submit(local_copy, url)
            assert waits.wait(60)
            place.write_bytes(path.read_bytes())
        assert found.result() == place
