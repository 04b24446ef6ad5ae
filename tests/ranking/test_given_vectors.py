"""Vectors from files: rows that are kept and counted, words without one, the bytes and faults of their folders."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.base.settings import Settings
from annot.formats import vector_files
from annot.formats.vector_files import Block, RowCounts
from annot.ranking import given_vectors, vectors
from annot.ranking.given_vectors import (
    SEMANTIC_SCHOLAR,
    Form,
    ImportedVectors,
    KeptRows,
    blocks_of,
    coverage_of,
    read_word_vectors,
)
from annot.ranking.vectors import Precision, Vectors, VectorsWriter
from annot.ranking.word_vectors import WordVectors, hashed
from annot.study.workspace import Workspace
from gensim.models import KeyedVectors
from indexed import corpus_of


def kept(folder: Path, *, asked: str | None = "space-1", own: str | None = None) -> KeptRows:
    counts = ImportedVectors("mine", precision="float16")
    return KeptRows(Workspace(folder, Settings()), counts, RowCounts(), asked, own)


def test_the_first_finite_row_of_each_paper_is_kept_and_the_others_are_counted(tmp_path: Path) -> None:
    rows = kept(tmp_path)
    matrix = np.array([[1, 0], [0, 0], [1, 1], [1, 0], [np.nan, 1], [1e9, 1], [2, 2]])
    ids, found = rows.take(Block(["a", "b", "a", "a", "c", "d", "c"], matrix, "f: row 1"))
    assert ids == ["a", "b", "c"]
    assert found.tolist() == [[1, 0], [0, 0], [2, 2]]
    assert found.dtype == np.float16
    assert (rows.counts.zero, rows.counts.duplicate, rows.counts.differing, rows.counts.not_finite) == (1, 2, 1, 2)
    assert rows.take(Block(["b", "d"], np.array([[0, 0], [0, 1]]), "f: row 8"))[0] == ["d"]
    assert (rows.counts.zero, rows.counts.duplicate, rows.counts.differing, rows.counts.not_finite) == (1, 3, 1, 2)
    assert (rows.counts.space, rows.counts.dimensions, rows.first, list(rows.ids)) == (
        "space-1",
        2,
        "f: row 1",
        ["a", "b", "c", "d"],
    )
    with pytest.raises(InputError, match=r"g: row 1: found 3 numbers, expected 2 as in f: row 1"):
        rows.take(Block(["e"], np.zeros((1, 3)), "g: row 1"))


def test_the_space_is_the_asked_one_else_the_named_one_else_that_of_the_name(tmp_path: Path) -> None:
    block = Block(["a"], np.zeros((1, 1)), "f: row 1")
    own = kept(tmp_path, asked=None, own="mine")
    own.take(block)
    assert own.counts.space == "mine"
    named = kept(tmp_path, asked=None, own="mine")
    named.tally.name_space("other", "f")
    named.take(block)
    assert named.counts.space == "other"
    both = kept(tmp_path, asked="other")
    both.tally.name_space("other", "f")
    both.take(block)
    assert both.counts.space == "other"
    differs = kept(tmp_path)
    differs.tally.name_space("other", "f")
    with pytest.raises(InputError, match="found vectors of other, expected space-1 as --space says"):
        differs.take(block)
    with pytest.raises(InputError, match="the space of the vectors is not known"):
        kept(tmp_path, asked=None).take(block)


def test_a_file_is_read_as_its_name_says_unless_a_format_is_given() -> None:
    form = Form(None, None, None, None)
    names = {"v.npy": "npy", "v.parquet": "parquet", "v.jsonl.gz": SEMANTIC_SCHOLAR, "npy": SEMANTIC_SCHOLAR}
    assert {name: form.of(Path(name)) for name in names} == names
    assert form._replace(name="npy").of(Path("v.parquet")) == "npy"


def test_rows_of_several_files_are_counted_as_they_come(tmp_path: Path) -> None:
    ids, npy, lines = tmp_path / "ids.txt", tmp_path / "v.npy", tmp_path / "v.jsonl"
    ids.write_text(" a\nb \n")
    np.save(npy, np.ones((2, 1)))
    lines.write_text('{"corpusid": 5, "vector": [1]}\n')
    told: list[tuple[int, int | None]] = []

    def blocks(form: Form, *files: Path) -> Iterator[Block]:
        return blocks_of(files, form, {"a", "b", "5"}, RowCounts(), lambda done, total: told.append((done, total)))

    form = Form(None, ids, None, None)
    assert [list(block.ids) for block in blocks(form, npy, lines)] == [["a", "b"], ["5"]]
    assert told == [(2, 3), (3, 3)]
    with pytest.raises(InputError, match="its rows have no ids"):
        list(blocks(form._replace(ids=None), npy))
    with pytest.raises(InputError, match=r"--format 'nyp': not known; did you mean 'npy'\?"):
        list(blocks(form._replace(name="nyp"), npy))


def word2vec(folder: Path, *lines: str) -> Path:
    (folder / "v.txt").write_text("".join(f"{line}\n" for line in lines))
    return folder / "v.txt"


def test_words_that_no_text_has_and_rows_that_are_no_numbers_are_left_out(tmp_path: Path) -> None:
    path = word2vec(tmp_path, "5 2", "cell 1 2", "Cell 3 4", "don't 5 6", "bad nan 7", "new_york 8 9")
    vectors, found = read_word_vectors(path, english=True, matrix=tmp_path / "rows.npy")
    assert (found.form, found.unusable, found.not_finite) == ("word2vec text", 2, 1)
    assert vectors.words == ("cell", "don't")
    assert vectors.matrix.tolist() == [[1, 2], [5, 6]]
    facts: dict[str, Any] = dict(vectors.facts)
    assert (facts["dimensions"], facts["words"], facts["file"]) == (2, 2, "v.txt")
    with pytest.raises(InputError, match="none of its 1 words can occur in a text"):
        read_word_vectors(word2vec(tmp_path, "1 2", "Cell 3 4"), english=True, matrix=tmp_path / "rows.npy")


def test_the_format_is_seen_from_the_content(tmp_path: Path) -> None:
    path = tmp_path / "v.bin"
    rows = {"cell": [1, 2], "gene": [3, 4]}
    body = b"".join(word.encode() + b" " + np.array(row, "<f4").tobytes() for word, row in rows.items())
    path.write_bytes(b"2 2\n" + body)
    words, found = read_word_vectors(path, english=True, matrix=tmp_path / "rows.npy")
    assert (found.form, words.words, words.matrix.tolist()) == ("word2vec binary", ("cell", "gene"), [[1, 2], [3, 4]])
    path.write_bytes((793_712_314).to_bytes(4, "little") + b"2 2\n")
    with pytest.raises(InputError, match="not readable as fastText binary"):
        read_word_vectors(path, english=True, matrix=tmp_path / "rows.npy")
    path.write_bytes(b"2 2\n" + body[:-3])
    with pytest.raises(InputError, match="not readable as word2vec binary"):
        read_word_vectors(path, english=True, matrix=tmp_path / "rows.npy")


@pytest.mark.parametrize("first", ["2", "2 2 2", "2 x", "cell 1 2"])
def test_a_first_line_without_the_two_sizes_is_refused(tmp_path: Path, first: str) -> None:
    with pytest.raises(InputError, match="expected the number of words and of dimensions"):
        read_word_vectors(word2vec(tmp_path, first, "cell 1 2"), english=True, matrix=tmp_path / "rows.npy")


def test_a_line_that_ends_and_is_no_line_of_numbers_is_binary(tmp_path: Path) -> None:
    path = tmp_path / "v"
    for line, form in (
        (b"cell 1 x\n", "word2vec binary"),
        (b"cell 1 2\n", "word2vec text"),
        (b"cell 1 2", "word2vec binary"),
    ):
        path.write_bytes(b"1 2\n" + line)
        assert given_vectors._form(path) == form


def of_words(*words: str) -> WordVectors:
    return hashed(words, np.zeros((len(words), 1), np.float32), {})


def test_coverage_counts_running_and_distinct_words_and_names_the_commonest_without_a_vector() -> None:
    corpus = corpus_of(
        [Paper("p", "gene cell cell", ("Cell rare other rare.", "Zed zed zed.")), Paper("q", "gene", ())]
    )
    # gene 2, cell 3, rare 2, other 1, zed 3: of 11 running words 5 have a vector, of 5 distinct ones 2.
    found = coverage_of(corpus, of_words("cell", "gene", "unused"), most=2)
    assert found is not None
    assert (found.running, found.distinct) == (pytest.approx(5 / 11), pytest.approx(2 / 5))
    assert found.lacking == (("zed", 3), ("rare", 2))
    but_one = coverage_of(corpus, of_words("cell", "gene", "rare", "zed"), most=2)
    assert but_one is not None
    assert (but_one.running, but_one.distinct) == (pytest.approx(10 / 11), pytest.approx(4 / 5))
    assert but_one.lacking == (("other", 1),)
    assert coverage_of(corpus_of([Paper("p", "", ())]), of_words("cell"), most=2) is None


def test_words_and_numbers_are_those_that_gensim_reads(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    words = [f"{first}{second}" for first in "abcdefghijklmnopqrstuvwxyz" for second in "aeiouy"]
    matrix = (random.standard_normal((len(words), 9)) * 10.0 ** random.integers(-30, 30, (len(words), 9))).astype("f4")
    keyed = KeyedVectors(9)
    keyed.add_vectors(words, matrix)
    for binary in (False, True):
        path = tmp_path / f"{binary}.vec"
        keyed.save_word2vec_format(str(path), binary=binary)
        vectors, figures = read_word_vectors(path, english=True, matrix=tmp_path / "rows.npy")
        expected = KeyedVectors.load_word2vec_format(str(path), binary=binary)
        assert figures.form == ("word2vec binary" if binary else "word2vec text")
        assert list(vectors.words) == expected.index_to_key == words
        assert np.array_equal(vectors.matrix, expected.vectors)


def test_a_block_may_end_anywhere_in_a_word_or_its_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "words.bin"
    rows = [(word, np.arange(3, dtype="<f4") + len(word)) for word in ("a", "longer", "bb", "muchlonger", "c")]
    path.write_bytes(b"5 3\n" + b"".join(word.encode() + b" " + row.tobytes() + b"\n" for word, row in rows))
    for size in range(10, 70):
        monkeypatch.setattr(vector_files, "WORD_BLOCK", size)
        vectors, _ = read_word_vectors(path, english=True, matrix=tmp_path / "rows.npy")
        assert vectors.words == tuple(word for word, _ in rows)
        assert np.array_equal(vectors.matrix, [row for _, row in rows])


def test_the_first_vector_of_a_word_counts(tmp_path: Path) -> None:
    vectors, figures = read_word_vectors(
        word2vec(tmp_path, "3 2", "cell 1 2", "cell 3 4", "wall 5 6"), english=True, matrix=tmp_path / "rows.npy"
    )
    assert vectors.words == ("cell", "wall")
    assert vectors.matrix.tolist() == [[1, 2], [5, 6]]
    assert (figures.kept, figures.unusable, figures.not_finite) == (2, 0, 0)


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["3 2", "cell 1 2", "wall 3 4"], "1 words are missing"),
        (["2 2", "cell 1 2", "wall 3"], "found 1 numbers, expected 2"),
        (["2 2", "cell 1 2", "wall 3 4 5"], "found 3 numbers, expected 2"),
        (["2 2", "cell 1 2", "wall 3 x"], "not readable as word2vec text"),
        (["1000000000000 300", "cell 1 2"], "not readable as word2vec"),
    ],
)
def test_a_file_that_is_not_as_its_first_line_says_is_refused(tmp_path: Path, lines: list[str], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        read_word_vectors(word2vec(tmp_path, *lines), english=True, matrix=tmp_path / "rows.npy")


def test_a_full_disk_is_no_fault_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        read_word_vectors(word2vec(tmp_path, "1 2", "cell 1 2"), english=True, matrix=Path("/dev/full"))


def write(folder: Path, ids: str, rows: Any, *, precision: Precision = "float32", most: int = 100) -> None:
    with VectorsWriter(folder, most=most, precision=precision) as writer:
        writer.about = {"model": "ü", "space": "s", "metric": "cosine", "batch": 8}
        writer.parts = ("p1", "p2")
        for paper_id, row in zip(ids, rows, strict=True):
            writer.add([paper_id], np.array([row]))


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_the_files_are_those_of_the_format(tmp_path: Path, precision: Precision) -> None:
    write(tmp_path / "v", "abc", [[1, 2], [3, 4], [5, 6]], precision=precision)
    assert {path.name for path in (tmp_path / "v").iterdir()} == {"ids.txt", "vectors.npy", "vectors.json", "parts.txt"}
    assert (tmp_path / "v" / "ids.txt").read_text() == "a\nb\nc\n"
    assert (tmp_path / "v" / "parts.txt").read_text() == "p1\np2\n"
    found = np.load(tmp_path / "v" / "vectors.npy")
    assert found.dtype == np.dtype(precision)
    assert found.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert found.flags.c_contiguous
    # The file ends with the last number.
    with (tmp_path / "v" / "vectors.npy").open("rb") as file:
        assert np.lib.format.read_magic(file) == (1, 0)
        assert np.lib.format.read_array_header_1_0(file)[:2] == ((3, 2), False)
        assert len(file.read()) == 6 * found.itemsize
    text = (tmp_path / "v" / "vectors.json").read_text(encoding="utf-8")
    # People read it: indented by two, in the order of the keys, letters as they are.
    assert text.startswith('{\n  "batch": 8,\n  "dimensions": 2,\n  "files": {\n    "ids.txt": "')
    assert '"model": "ü"' in text
    about = json.loads(text)
    assert list(about) == ["batch", "dimensions", "files", "metric", "model", "precision", "space"]
    assert about["precision"] == precision
    assert set(about["files"]) == {"ids.txt", "vectors.npy", "parts.txt"}


def test_a_folder_that_is_read_back_keeps_what_its_maker_wrote_down(tmp_path: Path) -> None:
    write(tmp_path / "v", "ab", [[1, 2], [3, 4]])
    found = vectors.load(tmp_path / "v", hint="")
    assert set(found.facts) == {"batch", "files", "precision"}
    assert found.description["dimensions"] == 2
    assert found.description["metric"] == "cosine"
    assert found.rows == {"a": 0, "b": 1}
    (tmp_path / "v" / "vectors.json").write_text('{"model": "m", "space": "s"}')
    assert vectors.load(tmp_path / "v", hint="").metric == "l2"


def faults(folder: Path, **given: Any) -> tuple[str, ...]:
    with pytest.raises(InputError, match="vectors that cannot be used") as caught:
        vectors.load(folder, hint="", **given)
    return tuple(caught.value.faults)


def test_an_empty_id_and_a_doubled_one_are_named_by_place(tmp_path: Path) -> None:
    write(tmp_path / "v", "abcd", [[1, 2]] * 4)
    (tmp_path / "v" / "ids.txt").write_text("a\n  \nb\na\n")
    assert faults(tmp_path / "v") == (
        "ids.txt:2: empty, expected a paper id",
        "ids.txt: 'a': found 2 times, expected once",
    )
    # The search itself finds what is there twice.
    assert faults(tmp_path / "v", unread=True) == ("ids.txt:2: empty, expected a paper id",)


@pytest.mark.parametrize(
    ("matrix", "fault"),
    [
        (np.ones((2, 2)), "vectors.npy: found float64 in 2 dimensions, expected float32 or float16 in 2"),
        (np.ones(2, np.float32), "vectors.npy: found float32 in 1 dimension, expected float32 or float16 in 2"),
        (
            np.ones((2, 2, 1), np.float16),
            "vectors.npy: found float16 in 3 dimensions, expected float32 or float16 in 2",
        ),
        (np.ones((3, 2), np.float32), "vectors.npy: 3 rows, expected 2, one for each id of ids.txt"),
        (np.ones((1, 2), np.float16), "vectors.npy: 1 rows, expected 2, one for each id of ids.txt"),
    ],
)
@pytest.mark.parametrize("unread", [False, True])
def test_a_matrix_of_another_form_is_named(tmp_path: Path, matrix: Any, fault: str, unread: bool) -> None:
    write(tmp_path / "v", "ab", [[1, 2]] * 2)
    np.save(tmp_path / "v" / "vectors.npy", matrix)
    assert faults(tmp_path / "v", unread=unread) == (fault,)


def test_a_matrix_of_python_objects_is_never_opened(tmp_path: Path) -> None:
    write(tmp_path / "v", "a", [[1, 2]])
    np.save(tmp_path / "v" / "vectors.npy", np.array([[{}, None]], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="not readable as vectors"):
        vectors.load(tmp_path / "v", hint="")


def test_facts_that_are_no_object_are_named(tmp_path: Path) -> None:
    write(tmp_path / "v", "a", [[1, 2]])
    (tmp_path / "v" / "vectors.json").write_text("[]")
    assert faults(tmp_path / "v") == ("vectors.json: found list, expected an object",)


@pytest.mark.parametrize(("row", "broken"), [(0, np.inf), (4, -np.inf), (5, np.nan), (9, np.nan), (10, np.nan)])
def test_a_number_that_is_not_finite_is_found_in_any_block(
    tmp_path: Path, row: int, broken: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "BLOCK", 5)
    rows = np.ones((11, 2))
    rows[row, 1] = broken
    write(tmp_path / "v", "abcdefghijk", rows)
    assert faults(tmp_path / "v") == (f"vectors.npy: row {row} ({'abcdefghijk'[row]}): not finite",)
    assert vectors.load(tmp_path / "v", hint="", unread=True).matrix.shape == (11, 2)


def made(ids: str, *, source: Any = None) -> Vectors:
    matrix = np.array([[at + 1, 1] for at in range(len(ids))], np.float32)
    return Vectors(strings_of(ids), matrix, "m", "s", "l2", {}, source=source)


@pytest.mark.parametrize(
    ("ids", "corpus", "ranked"),
    [("abc", "abc", "abc"), ("abc", "axc", "ac"), ("abcd", "ab", "ab"), ("ab", "abcd", "ab"), ("abc", "cba", "abc")],
)
def test_only_papers_of_the_corpus_rank(ids: str, corpus: str, ranked: str) -> None:
    (found,) = vectors.nearest(
        made(ids), vectors.vectors_named(made(ids), ["a"]), corpus=strings_of(corpus), depths=np.array([9])
    )
    assert "".join(doc.doc_id for doc in found) == ranked
    with pytest.raises(InputError) as caught:
        vectors.vectors_named(made(ids), ["y", "a", "z"])
    assert caught.value.faults == ("y: no vector", "z: no vector")


def test_of_no_vectors_and_no_papers_nothing_is_ranked() -> None:
    empty = Vectors(strings_of(""), np.zeros((0, 2), np.float32), "m", "s", "l2", {})
    assert (
        vectors.nearest(empty, vectors.vectors_named(empty, []), corpus=strings_of(""), depths=np.zeros(0, np.int64))
        == []
    )
