"""The corpus in Parquet: papers come back as they went in, whole or not at all, however they lie in files."""

import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Paper
from annot.store.papers import PaperWriter, corpus_sha256, find_papers, paper_ids, read_papers
from hypothesis import given, settings
from hypothesis import strategies as st

FULL = Paper("p1", "A title", ("One.", "Two."), 1999, ("background", "method"), ("p2", "elsewhere"))
BARE = Paper("p0", "", ())


def write(folder: Path, *written: Paper, name: str | None = None) -> Path:
    with PaperWriter(folder, name=name) as writer:
        for paper in written:
            writer.add(paper)
    return writer.path


def many(count: int, *, start: int = 0) -> list[Paper]:
    return [
        Paper(f"p{n:07d}", f"Title {n}", (f"Sentence {n}.", "Another."), 2000 + n % 20, None, (f"p{n + 1:07d}",))
        for n in range(start, start + count)
    ]


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@st.composite
def any_paper(draw: st.DrawFn) -> Paper:
    sentences = draw(st.lists(TEXT, max_size=4))
    labels = draw(st.none() | st.lists(TEXT, min_size=len(sentences), max_size=len(sentences)))
    return Paper(
        draw(TEXT),
        draw(TEXT),
        tuple(sentences),
        draw(st.none() | st.integers(-9999, 9999)),
        None if labels is None else tuple(labels),
        tuple(draw(st.lists(TEXT, max_size=3))),
        draw(st.none() | TEXT),
    )


@settings(deadline=None, max_examples=40)
@given(st.lists(any_paper(), min_size=1, max_size=6), st.integers(0, 6))
def test_any_papers_come_back_and_their_hash_does_not_see_how_they_are_cut(
    tmp_path_factory: pytest.TempPathFactory, corpus: list[Paper], cut: int
) -> None:
    whole, parts = tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("parts")
    write(whole, *corpus)
    write(parts, *corpus[:cut])
    write(parts, *corpus[cut:])
    assert list(read_papers(whole)) == list(read_papers(parts)) == corpus
    assert corpus_sha256(whole) == corpus_sha256(parts)


@pytest.mark.parametrize(
    "other",
    [
        Paper("p2", *[getattr(FULL, name) for name in ("title", "sentences", "year", "labels", "citations")]),
        Paper("p1", "A titlo", FULL.sentences, 1999, FULL.labels, FULL.citations),
        Paper("p1", "A title", ("One.Two", "."), 1999, FULL.labels, FULL.citations),
        Paper("p1", "A title", FULL.sentences, None, FULL.labels, FULL.citations),
        Paper("p1", "A title", FULL.sentences, 2000, FULL.labels, FULL.citations),
        Paper("p1", "A title", FULL.sentences, 1999, None, FULL.citations),
        Paper("p1", "A title", FULL.sentences, 1999, FULL.labels, ("p2",)),
    ],
)
def test_the_hash_sees_every_field(tmp_path: Path, other: Paper) -> None:
    write(tmp_path / "one", FULL)
    write(tmp_path / "two", other)
    assert corpus_sha256(tmp_path / "one") != corpus_sha256(tmp_path / "two")


def test_the_hash_sees_where_a_paper_ends_and_no_year_is_not_the_year_0(tmp_path: Path) -> None:
    corpora = {
        "one": [Paper("a", "", ("x", "y")), Paper("b", "", ("z",))],
        "two": [Paper("a", "", ("x",)), Paper("b", "", ("y", "z"))],
        "three": [Paper("b", "", ("z",)), Paper("a", "", ("x", "y"))],
        "four": [Paper("a", "", ("x", "y"), 0), Paper("b", "", ("z",), 0)],
        "five": [Paper("a", "", ("x", "y"), None, ("", "")), Paper("b", "", ("z",), None, ("",))],
    }
    for name, corpus in corpora.items():
        write(tmp_path / name, *corpus)
    assert len({corpus_sha256(tmp_path / name) for name in corpora}) == len(corpora)


def test_papers_are_found_by_id_over_files_and_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annot.store.papers.ROWS_IN_GROUP", 10)
    corpus = many(95)
    write(tmp_path, *corpus[:52])
    write(tmp_path, *corpus[52:])
    assert list(read_papers(tmp_path)) == corpus
    wanted = [corpus[at].paper_id for at in (94, 9, 10, 51, 52, 9)]
    found = find_papers(tmp_path, [*wanted, "no-such-paper"])
    assert list(found) == sorted(set(wanted))
    assert list(found.values()) == [corpus[at] for at in (9, 10, 51, 52, 94)]
    assert find_papers(tmp_path, []) == {}


def test_an_error_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = write(tmp_path, FULL, name="x.parquet")
    before = path.read_bytes()

    def fails() -> None:
        with PaperWriter(tmp_path, name="x.parquet") as writer:
            writer.add(BARE)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert [one.name for one in tmp_path.iterdir()] == ["x.parquet"]
    assert path.read_bytes() == before
    write(tmp_path, BARE, name="x.parquet")
    assert list(read_papers(tmp_path)) == [BARE]


KILLED = """
import sys
from pathlib import Path
from annot.base.records import Paper
from annot.store.papers import PaperWriter
with PaperWriter(Path(sys.argv[1])) as writer:
    for n in range(12_000):
        writer.add(Paper(f"q{n}", "t", ("s",)))
    print("in the middle", flush=True)
    sys.stdin.read()
"""


def test_a_writer_killed_in_the_middle_leaves_no_paper_and_the_next_finishes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "in the middle\n"
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
    with pytest.raises(MissingInput):
        paper_ids(tmp_path)
    write(tmp_path, FULL)
    assert list(read_papers(tmp_path)) == [FULL]
    assert [path.name for path in tmp_path.iterdir()] == ["part-00001.parquet"]


def test_a_file_that_is_not_ours_is_named_with_its_faults(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_text("not parquet")
    with pytest.raises(InputError, match=r"x\.parquet: not a Parquet file"):
        list(read_papers(tmp_path))
    pyarrow.parquet.write_table(pyarrow.table({"paper_id": [1], "title": ["t"]}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match="not written by annot") as caught:
        paper_ids(tmp_path)
    assert "x.parquet: column paper_id: found int64, expected string" in caught.value.faults
    assert "x.parquet: column year: found none, expected int32" in caught.value.faults


def test_finding_papers_makes_no_object_of_the_others(tmp_path: Path) -> None:
    write(tmp_path, *many(20_000))
    list(read_papers(tmp_path))
    tracemalloc.start()
    try:
        assert len(find_papers(tmp_path, ["p0019999"])) == 1
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # One paper is about 500 bytes of Python objects; all of them would be 10 MB.
    assert peak < 2_000_000
