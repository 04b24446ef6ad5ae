"""Papers read lot by lot: what is kept, what cannot be read and where it is, and how lots are made of files."""

import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from annot.base.errors import InputError
from annot.base.settings import Settings
from annot.corpus import adding
from annot.corpus.adding import CleaningCount, Rejects, lots_of, read_lot
from annot.corpus.corpus_filters import KEPT, REASONS, Rejection, Tally
from annot.formats.cleaning import CleanedPaper
from annot.formats.corpora.pieces import BrokenRecord, Piece, PieceRead
from annot.formats.corpora.sections import HeadingCount

GOOD = ["One two three four.", "Five six seven eight.", "Nine ten eleven twelve."]


def line(paper_id: str, sentences: list[str], title: str = "A title") -> str:
    return json.dumps({"paper_id": paper_id, "title": title, "abstract": sentences})


def read(folder: Path, *lines: str, write: bool = True) -> adding.LotRead:
    path = folder / "papers.jsonl"
    path.write_text("".join(f"{one}\n" for one in lines))
    (folder / "out").mkdir(exist_ok=True)
    return reading(folder / "out" if write else None, 7, path)


def reading(out: Path | None, number: int, *paths: Path) -> adding.LotRead:
    return read_lot(
        (number, [Piece(str(path), "annot", 0, None) for path in paths]), folder=out, settings=Settings(), works=False
    )


LINES = (
    line("a", GOOD),
    "",
    "no JSON",
    line("b", []),
    line("c", [*GOOD[:2], "Nine &amp; ten eleven twelve."]),
    '{"id": 1}',
)


def test_a_lot_has_its_good_papers_in_a_file_and_what_cannot_be_read_in_another(tmp_path: Path) -> None:
    brought = read(tmp_path, *LINES)
    (one,) = brought.pieces
    assert (one.places, one.read) == (6, 3)
    assert one.broken == Counter({"not valid JSON": 1, "no field 'abstract'": 1})
    assert [place for place, _ in one.faults] == [3, 6]
    assert brought.marks.ids.to_pylist() == ["a", "b", "c"]
    assert brought.marks.reason.tolist() == [KEPT, REASONS.index(Rejection.NO_ABSTRACT), KEPT]
    assert brought.papers is not None
    assert brought.papers.name.startswith("000007-")
    assert pq.read_table(brought.papers)["paper_id"].to_pylist() == ["a", "c"]
    assert brought.rejected is not None
    rejected = [json.loads(record) for record in brought.rejected.read_text().splitlines()]
    assert [(record["piece"], record["place"], record["record"]) for record in rejected] == [
        (0, 3, "no JSON\n"),
        (0, 6, '{"id": 1}'),
    ]
    ((position, notes),) = brought.notes.items()
    assert notes.cleaned is not None
    _, cleaned = notes.cleaned
    assert position == 2
    assert cleaned is not None
    assert cleaned.paper_id == "c"


def test_only_papers_that_are_not_known_stay_in_the_file(tmp_path: Path) -> None:
    tally, cleanings = Tally(), CleaningCount()
    first = read(tmp_path, line("a", GOOD), line("a", GOOD), line("b", GOOD))
    assert first.keep(tally, cleanings, HeadingCount(), [], []) == first.papers
    assert pq.read_table(first.papers)["paper_id"].to_pylist() == ["a", "b"]
    assert read(tmp_path, line("b", GOOD)).keep(tally, cleanings, HeadingCount(), [], []) is None
    third = read(tmp_path, line("c", [*GOOD[:2], "Nine &amp; ten eleven twelve."]))
    assert third.keep(tally, cleanings, HeadingCount(), [], []) == third.papers
    assert sum(cleanings.facts.values()) >= 1


def test_small_files_share_a_lot_and_large_ones_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"a": 4, "b": 6, "c": 1, "d": 25, "e": 5}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(b"\n" * size)
    monkeypatch.setattr(adding, "PIECE_BYTES", 10)
    monkeypatch.setattr("annot.formats.corpora.pieces.PIECE_BYTES", 10)
    lots = lots_of([("annot", str(tmp_path / name)) for name in sizes])
    assert [[(Path(piece.path).name, piece.start, piece.stop) for piece in lot] for lot in lots] == [
        [("a", 0, None), ("b", 0, None)],
        [("c", 0, None), ("d", 0, 10)],
        [("d", 10, 20)],
        [("d", 20, 25)],
        [("e", 0, None)],
    ]


def cleaned(paper_id: str) -> CleanedPaper:
    return CleanedPaper(paper_id, (), {"title": "a\ud800"}, {"title": "a"})


def test_cleaned_papers_are_all_counted_and_the_first_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adding, "MOST", 2)
    count = CleaningCount()
    count.take([(("x",), cleaned("a")), (("x", "y"), None), (("y",), cleaned("b")), (("y",), cleaned("c"))])
    assert count.facts == {"x": 2, "y": 3}
    found = count.written(tmp_path, "0123456789abcdef")
    path = tmp_path / "cleaned-0123456789ab.jsonl"
    assert (found.file, found.written) == (str(path), 2)
    assert [json.loads(record)["paper_id"] for record in path.read_text().splitlines()] == ["a", "b"]
    assert (count.written(None, "x").file, CleaningCount().written(tmp_path, "x").file) == (None, None)


def piece_read(name: str, places: int, read: int, *faults: tuple[int, str], form: str = "annot") -> PieceRead:
    found = PieceRead(Piece(name, form, 0, None), places, read)
    for place, fault in faults:
        found.reject(place, BrokenRecord("no field", (fault,), ""), None)
    return found


def test_places_of_rejects_go_on_from_piece_to_piece_of_a_file(tmp_path: Path) -> None:
    found = Rejects("paper", most_shown=3)
    scratch = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for path, piece in zip(scratch, (0, 1), strict=True):
        path.write_text(json.dumps({"piece": piece, "place": 2, "reason": "no field"}) + "\n")
    found.count((piece_read("f", 10, 9, (2, "bad")),), scratch[0])
    found.count((piece_read("g", 5, 5), piece_read("f", 10, 8, (2, "worse"), (4, "worst"))), scratch[1])
    found.count((piece_read("h", 1, 1, (1, "too many")),), tmp_path / "none.jsonl")
    assert found.faults == ["f:2: bad", "f:12: worse", "f:14: worst"]
    assert found.counts == {"cannot be read: no field": 4}
    found.raise_if_unreadable(partial=False)
    out = tmp_path / "rejected.jsonl"
    assert found.write(out) == str(out)
    written = [json.loads(record) for record in out.read_text().splitlines()]
    assert [(record["file"], record["place"], record["reason"]) for record in written] == [
        ("f", 2, "no field"),
        ("f", 12, "no field"),
    ]
    assert Rejects("paper", most_shown=1).write(out) is None


def refusal(of: Rejects, *pieces: PieceRead) -> tuple[str, tuple[str, ...]]:
    def take() -> None:
        of.count(pieces, None)
        of.raise_if_unreadable(partial=False)

    with pytest.raises(InputError) as caught:
        take()
    return caught.value.message, caught.value.faults


def test_a_file_of_which_nothing_can_be_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(Rejects("paper", most_shown=1), piece_read("f", 0, 0)) == (
        "f: no paper can be read",
        ("f: the file is empty, or has only blank lines",),
    )
    assert refusal(Rejects("paper", most_shown=1), piece_read("f", 1, 0, (1, "bad")), piece_read("g", 1, 1)) == (
        "f: no paper can be read",
        ("f:1: bad",),
    )
    monkeypatch.setattr(adding, "MOST_FAULTS", 3)
    faults = tuple((place, "bad") for place in range(1, 5))
    message, told = refusal(Rejects("paper", most_shown=1), piece_read("f", 9, 0, *faults[:3]))
    assert message == "f: the first 3 records cannot be read, reading stopped"
    assert told == ("f: no field in each of 3 records; the first: f:1: bad",)
    Rejects("paper", most_shown=1).count((piece_read("f", 9, 1, *faults),), None)
    assert refusal(Rejects("paper", most_shown=1), piece_read("f", 9, 0, *faults[:2]))[0] == "f: no paper can be read"


def test_a_file_of_which_nothing_can_be_read_gives_one_fault_a_reason_with_its_count() -> None:
    one, other = piece_read("f", 1_300, 0), piece_read("f", 4, 0)
    for place in range(1, 901):
        one.reject(place, BrokenRecord("not valid JSON", (f"not valid JSON: at {place}",), ""), None)
    for number in range(12):
        other.reject(number + 1, BrokenRecord(f"reason {number}", (f"fault {number}", "another"), ""), None)
    other.reject(1, BrokenRecord("not valid JSON", ("not valid JSON: again",), ""), None)
    message, told = refusal(Rejects("paper", most_shown=1), one, other)
    assert message == "f: no paper can be read"
    assert told[0] == "f: not valid JSON in each of 901 records; the first: f:1: not valid JSON: at 1"
    assert told[1] == "f:1301: fault 0"
    assert (len(told), told[-1]) == (11, "f: 3 other reasons")


def test_each_piece_knows_what_it_brought(tmp_path: Path) -> None:
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    files[0].write_text(line("a", GOOD) + "\n" + line("b", []) + "\n" + line("a", GOOD) + "\n")
    files[1].write_text("{}\n" + line("a", GOOD) + "\n" + line("c", GOOD).replace("}", ', "year": 2001}') + "\n")
    (tmp_path / "out").mkdir()
    brought = reading(tmp_path / "out", 0, *files)
    brought.keep(Tally(), CleaningCount(), HeadingCount(), [], [])
    counts = [(one.read, one.kept, one.without_abstract, one.without_year) for one in brought.pieces]
    assert counts == [(3, 1, 1, 3), (2, 1, 0, 1)]
