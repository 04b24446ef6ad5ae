"""Entries of BibTeX: what people make of them, macros, what is broken, and what is none."""

import time
import tracemalloc
from pathlib import Path

import pytest
from annot.formats.corpora import bibtex
from annot.formats.corpora.pieces import BrokenRecord, Piece
from bibtex_files import Reader, read_file, reader_in, told


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    return reader_in(tmp_path)


@pytest.mark.parametrize(
    ("entry", "key", "title"),
    [
        ('@article{o"brien, title={T}}', 'o"brien', "T"),
        ("@article{a=b, title={T}}", "a=b", "T"),
        ("@article{smith(2001), title={T}}", "smith(2001)", "T"),
        ("@article{Smith & Wesson 2001, title={T}}", "Smith & Wesson 2001", "T"),
        ("@article{k#1/ä:b, title={T}}", "k#1/ä:b", "T"),
        ("@article{title = {T}, year = 2001}", None, "T"),
        ("@article{, title = {T}}", None, "T"),
        ("@article{k\n title = {T}\n year = 2001}", "k", "T"),
        ("@article{k, year = 2001 title = {T} note = jan volume = 1}", "k", "T"),
        ("@article{k,, title = {T},,\n, year = 2001,,}", "k", "T"),
        ("@article{k, title = {T}, year = , note = }", "k", "T"),
        ("@article{k, title = {}, title = {T}, title = {U}}", "k", "T"),
        ("@article(k, title = {T :)}, note = {)}, year = 2001)", "k", "T :)"),
        ('@article(k, title = "T :)")', "k", "T :)"),
        ('@article{k, title = "On {"T, {U}"} x"}', "k", 'On "T, U" x'),
        ('@article{k, title = "G\\"odel"}', "k", "Gödel"),
        ("@article{k, title = {T \\\\}, year = 2001}", "k", "T  "),
        ("@article{k, title = {T \\} and \\{ U \\}}}", "k", "T } and { U }"),
        ("@article{k,\n % title = {No},\n title = {T}}", "k", "T"),
        ("@InProceedings {k ,TITLE={T}}", "k", "T"),
        ("  @article{k, title={T}}", "k", "T"),
        ("@article{k, title={T}, abstract={In BibTeX:\n@article{x,\n title = {U}\n}\nas here.}}", "k", "T"),
    ],
)
def test_what_people_make_of_an_entry(read: Reader, entry: str, key: str | None, title: str) -> None:
    other = {"key": "other", "title": "Other"}
    first, second = read(f"{entry}\n@misc{{other, title = {{Other}}}}")
    assert (first.get("key"), first["title"], second) == (key, title, other)


def test_macros_hold_from_their_definition_on_whatever_their_case(read: Reader) -> None:
    text = """@misc{a, title = later}
@string(Later = "X" # { Y})
@string{acm:J = later # " of " # LATER}
@misc{b, title = ACM:j # ", " # feb # { } # 7 # unknown}
@string{later = "Z"}
@misc{c, title = Later}"""
    assert [one["title"] for one in read(text)] == ["later", "X Y of X Y, February 7unknown", "Z"]


def test_macros_that_double_are_stopped(read: Reader) -> None:
    doubling = "".join(f"@string{{m{at + 1} = m{at} # m{at}}}\n" for at in range(100))
    *broken, last = read(f'@string{{m0 = "0123456789"}}\n{doubling}@misc{{a, title = {{T}}}}')
    assert last == {"key": "a", "title": "T"}
    assert {one.faults[0].rpartition(" (")[0].partition(": ")[2] for one in broken} == {
        "a value of more than 1048576 characters of macros"
    }


def test_many_long_macros_do_not_fill_the_memory(tmp_path: Path) -> None:
    """200 macros of a million characters, in a file of half a million."""
    path = tmp_path / "refs.bib"
    longer = "".join(f"@string{{m{at} = long # long}}\n" for at in range(200))
    path.write_text(f"@string{{long = {{{'x' * 500_000}}}}}\n{longer}@misc{{a, title = m199}}", encoding="utf-8")
    tracemalloc.start()
    assert read_file(path) == [{"key": "a", "title": "m199"}]
    assert tracemalloc.get_traced_memory()[1] < 5e7
    tracemalloc.stop()


def test_entries_that_are_no_papers(read: Reader) -> None:
    text = """@comment{x, y = {z}}
@comment{ not closed
@IEEEtranBSTCTL{IEEEexample:BSTcontrol, CTLuse_url = "no"}
@Control{achemso-control, ctrl-use-title = "yes"}
@xdata{x, publisher = {P}}
@set{s, entryset = {a, b}}
% @misc{z, title = {Z}}
@misc{a, title = {A}}"""
    assert read(text) == [{"key": "a", "title": "A"}]


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("@article{k,\n title = {T},\n year = 2001\n", "no '}' before the next entry or the end (line 4)"),
        ("@article(k,\n title = {T},\n year = 2001}\n", "found '}', expected a field or ')' (line 4)"),
        ("@article{k,\n title = {T,\n year = {2001}\n", "this brace is not closed: '{T, year = {2001}' (line 3)"),
        (
            '@article{k,\n title = "T,\n year = 2001\n}',
            "this quotation mark is not closed: '\"T, year = 2001 }' (line 3)",
        ),
        ("@article{k,\n title = T U, year = 2001}", "found 'U, year = 2001}', expected a field or '}' (line 3)"),
        ("@article{k,\n title {T}}", "found 'title {T}}', expected a field or '}' (line 3)"),
        (
            "@article{k,\n title = {T}},\n year = {2001}\n}",
            "the entry ends here, but fields follow: ', year = {2001} }' (line 3)",
        ),
    ],
)
def test_a_broken_entry_is_one_fault_and_reading_goes_on(read: Reader, entry: str, fault: str) -> None:
    first, broken, third = read(f"@misc{{a, title = {{A}}}}\n{entry}\n@misc{{b, title = {{B}}}}")
    assert broken == BrokenRecord("not valid BibTeX", (f"@article k: {fault}",), f"{entry}\n")
    assert [first["key"], third["key"]] == ["a", "b"]


def test_a_file_that_breaks_off_keeps_what_came_before(read: Reader) -> None:
    first, broken = read("@misc{a, title = {A}}\n@misc{b, title = {B")
    assert first["key"] == "a"
    assert broken.faults == ("@misc b: this brace is not closed: '{B' (line 2)",)


def test_places_are_lines(tmp_path: Path) -> None:
    path = tmp_path / "refs.bib"
    path.write_text("x\n\n@misc{a}\n@comment{x}\n\n@misc{b,\n}\n  @misc{c, title = {\n}}", encoding="utf-8")
    assert [place for place, _ in bibtex.records(Piece(str(path), "bibtex", 0, None))] == [3, 4, 6, 8]


@pytest.mark.parametrize("text", ["", "TY  - JOUR\nER  - \n", "nothing but words, x@y.org {z}"])
def test_a_file_without_an_entry_is_one_fault(read: Reader, text: str) -> None:
    (broken,) = read(text)
    assert broken.reason == "no BibTeX entry"
    assert not told(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"bib": "\n@article{k, title = {T}}"}',
        '[\n"\n@article{k, title = {T}}"]',
        "From: x@y.org\n@all (see below), greetings = none",
        "@dataclass(frozen=True)\nclass X:\n    y: int",
        "@Override {\n}\n",
        "@prefix dc: <http://purl.org/dc/> .",
    ],
)
def test_what_is_no_bibtex_is_not_told(text: str) -> None:
    assert not told(text)


RUNS = [" ", "\n", "{", '"', "\\{", "a", "$", "\\(", "~", "-", "\\'", "\n%", "x={},", "\n@x{", "}@x(", "#a", ",", "="]


@pytest.mark.parametrize("run", RUNS, ids=[repr(run) for run in RUNS])
def test_long_runs_take_linear_time(read: Reader, run: str) -> None:
    """What costs the square of a run's length takes half a minute for so many."""
    long = run * (50_000 // len(run))
    begin = time.process_time()
    for entry in (f"@misc{{k{long}", f"@misc{{k, title = {{T}}{long}", f'@misc{{k, title = "{long}"}}', f"@misc{long}"):
        assert read(f"{entry}\n@misc{{a, title = {{A}}}}")[-1] == {"key": "a", "title": "A"}
    assert time.process_time() - begin < 5
