"""Files in forty encodings before every reader: each is read rightly, or refused in a sentence; none is an error."""

import ast
import gzip
import lzma
import tracemalloc
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import annot
import pyarrow
import pyarrow.parquet
import pytest
from annot.base.errors import AnnotError, InputError
from annot.corpus.labelling import Labeller
from annot.formats import input_files
from annot.formats.citation_edges import edge_format, edges_of
from annot.formats.corpora import FORMATS, Piece, encoding_in, format_named, format_of
from annot.formats.corpora.pieces import BrokenRecord, encoding_fault
from annot.formats.input_files import (
    content_of,
    encoding_of,
    read_error_sheet,
    read_full_texts,
    read_gold,
    read_returned_lines,
    text_of,
)
from annot.formats.judgements_file import read_export, read_judgements, read_relish
from annot.formats.topics import read_topics
from annot.formats.trec import read_qrels, read_run, read_submitted
from annot.pools.selection import read_sheet
from annot.ranking.given_vectors import read_word_vectors
from annot.study.workspace import given_text

CHINESE, TRADITIONAL, JAPANESE, KOREAN, RUSSIAN, POLISH, THAI = (
    *("蜜蜂的舞", "蜜蜂的舞蹈", "蜂のダンス", "벌의춤", "танцыпчёл", "żółw", "ผึ้ง"),
)
UNICODE = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
TEXTS = {
    **dict.fromkeys(UNICODE, f"{CHINESE}{POLISH}"),
    **dict.fromkeys(("gb2312", "gbk", "gb18030", "hz"), CHINESE),
    **dict.fromkeys(("big5", "big5hkscs", "cp950"), TRADITIONAL),
    **dict.fromkeys(("shift_jis", "cp932", "euc-jp", "iso-2022-jp"), JAPANESE),
    **dict.fromkeys(("euc-kr", "cp949", "johab", "iso-2022-kr"), KOREAN),
    **dict.fromkeys(("windows-1251", "koi8-r", "iso-8859-5"), RUSSIAN),
    **dict.fromkeys(("iso-8859-2", "windows-1250"), POLISH),
    **dict.fromkeys(("iso-8859-1", "windows-1252", "iso-8859-15", "macintosh", "ibm437"), "Größe"),
    "tis-620": THAI,
    "us-ascii": "dance",
}
"""A word that each encoding has, by the name with which XML declares it."""
REFUSED = (
    *("utf-7", "idna", "punycode", "unicode_escape", "rot13", "zlib", "hex", "undefined", "cp037", "x-none", "ü", ""),
)
"""What XML may declare and no text is in: the first looks like ASCII and is none, others are no encodings of text."""


def article(word: str, declared: str) -> str:
    head = f'<?xml version="1.0" encoding="{declared}"?>\n<!DOCTYPE PubmedArticleSet SYSTEM "pubmed.dtd">\n'
    citation = f"<PMID>1</PMID><Article><ArticleTitle>{word}</ArticleTitle></Article>"
    cited = f"<MedlineCitation>{citation}</MedlineCitation>"
    return f"{head}<PubmedArticleSet><PubmedArticle>{cited}</PubmedArticle></PubmedArticleSet>"


def volume(word: str, declared: str) -> str:
    paper = f'<paper id="1"><title>{word}</title></paper>'
    head = f'<?xml version="1.0" encoding="{declared}"?>\n'
    return f'{head}<collection id="P18"><volume id="1">{paper}</volume></collection>'


def xml_topics(word: str, declared: str) -> str:
    topic = f'<topic number="1"><query>{word}</query></topic>'
    return f'<?xml version="1.0" encoding="{declared}"?>\n<topics>\n{topic}</topics>'


def papers(form: str | None) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        name = format_of(str(path), form)
        found = [record for _, record in format_named(name).records(Piece(str(path), name, 0, None))]
        if any(isinstance(record, BrokenRecord) for record in found):
            raise InputError(str(found))
        # The program says which encoding it took a file to be in, if that is not UTF-8.
        return found, encoding_in(name, str(path))

    return read


def edges(path: Path) -> object:
    form = edge_format(str(path))
    return [(part.cited.to_pylist(), part.broken) for part in edges_of(Piece(str(path), form, 0, None))]


def of_bytes(read: Callable[..., object], **given: Any) -> Callable[[Path], object]:
    return lambda path: read(content_of(path, expected="a table"), name="f", **given)


def of_lines(read: Callable[..., object]) -> Callable[[Path], object]:
    return lambda path: read(given_text(path, expected="lines").splitlines(), name="f")


def topics(path: Path) -> object:
    return read_topics(str(path))


PLACES = {"grade": "rel", "query": "q", "document": "d"}
XML: dict[str, tuple[Callable[[str, str], str], Callable[[Path], object]]] = {
    "pubmed": (article, papers(None)),
    "acl": (volume, papers("acl")),
    "topics": (xml_topics, topics),
}
"""Readers of XML, by what they read: how its file is written, and how it is read."""
OTHERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    **{
        form: (text, papers(form))
        for form, text in {
            "ris": "TY  - JOUR\nTI  - {}\nER  - \n",
            "medline": "PMID- 1\nTI  - {}\n\n",
            "bibtex": "@misc{{a, title = {{{}}}}}\n",
            "csv": "id,title,abstract\n1,{},x\n",
            "annot": '{{"paper_id":"1","title":"{}"}}\n',
            "json": '[{{"id":"1",\n"title":"{}"}}]\n',
            "openalex": '{{"id":"https://openalex.org/W1","title":"{}"}}\n',
            "arxiv": '{{"id":"0704.0001","title":"{}","update_date":"2001-01-01"}}\n',
            "s2orc": '{{"corpusid":1,"content":{{"text":"{}"}}}}\n',
            "cord19": "cord_uid,title,abstract,pdf_json_files,pmc_json_files\n1,{},x,,\n",
        }.items()
    },
    "citations": ("citing,cited\na,{}\n", edges),
    "TREC topics": ("<top>\n<num> Number: 1\n<title> {}\n</top>\n", topics),
    "listed topics": ("1\t{}\n", topics),
    "topics in CSV": ("topic_id,title\n1,{}\n", topics),
    "topics in JSON": ('{{"_id":"1","text":"{}"}}\n', topics),
    "judgements": (
        "query,document,assessor,grade\nq,d,{},1\n",
        of_bytes(read_judgements, columns={}, scale=("no", "yes")),
    ),
    "judgements in JSON": (
        '{{"query":"q","document":"d","assessor":"{}","grade":1}}\n',
        of_bytes(read_judgements, columns={}, scale=("no", "yes")),
    ),
    "export": (
        '[{{"id":1,"data":{{"q":"q","d":"{}"}},"annotations":[{{"id":2,"completed_by":1,'
        '"result":[{{"from_name":"rel","value":{{"choices":["1"]}}}}]}}]}}]',
        of_bytes(read_export, places=PLACES, grades={}, scale=("no", "yes")),
    ),
    "relish": ('[{{"pmid":"1","response":{{"relevant":["{}"],"partial":[],"irrelevant":[]}}}}]', of_bytes(read_relish)),
    "qrels": ("q 0 {} 1\n", of_lines(read_qrels)),
    "run": ("q Q0 {} 1 2.5 tag\n", of_lines(read_run)),
    "submitted run": ("q Q0 {} 1 2.5 tag\n", of_bytes(read_submitted)),
    "gold": ("query_id,doc_id,grade,why\nq,d,1,{}\n", of_bytes(read_gold, grades=(0, 1), queries=("q",))),
    "returned": ("query_id,doc_id,to,why\nq,d,a1,{}\n", of_bytes(read_returned_lines)),
    "full texts": ("paper_id,where\n1,{}\n", of_bytes(read_full_texts, ids=None)),
    "errors": ("query_id,doc_id,kind,note\nq,d,,{}\n", of_bytes(read_error_sheet, kinds=("typo",))),
    "rating sheet": (
        "paper_id,title,period,type,rating,facets\n1,{},1994-1999,empirical,4,method\n",
        of_bytes(read_sheet, facets=("method",), types=("empirical",)),
    ),
}
"""The other readers: a text with a place for a word, and how it is read."""


def outcome(read: Callable[[Path], object], path: Path, data: bytes) -> str:
    """What the reader made of the bytes, or the sentence with which it refused them."""
    path.write_bytes(data)
    try:
        return f"read {read(path)!r}"
    except AnnotError as error:
        return f"refused {error.message} {error.faults}"


@pytest.mark.parametrize("encoding", TEXTS)
@pytest.mark.parametrize("name", XML)
def test_xml_is_read_in_the_encoding_that_it_declares(name: str, encoding: str, tmp_path: Path) -> None:
    written, read = XML[name]
    word = TEXTS[encoding]
    data = written(word, encoding).encode(encoding)
    assert word in outcome(read, tmp_path / "f.xml", data)
    assert word in outcome(read, tmp_path / "f.xml.gz", gzip.compress(data))


@pytest.mark.parametrize("encoding", REFUSED)
@pytest.mark.parametrize("name", XML)
def test_xml_in_an_encoding_that_no_text_is_in_is_refused_by_name(name: str, encoding: str, tmp_path: Path) -> None:
    written, read = XML[name]
    found = outcome(read, tmp_path / "f.xml", written("dance", encoding).encode("ascii", "replace"))
    assert found.startswith("refused")
    assert f"declares the encoding {encoding.replace('ü', '?')!r}" in found


@pytest.mark.parametrize("name", XML)
def test_a_byte_that_the_declared_encoding_does_not_have_is_named_with_its_place(name: str, tmp_path: Path) -> None:
    written, read = XML[name]
    for encoding, bad in (("utf-8", b"\xe9x"), ("gb2312", b"\xff"), ("us-ascii", b"\xe9"), ("shift_jis", b"\x85 ")):
        data = written("BAD", encoding).encode("ascii")
        position = data.index(b"BAD")
        found = outcome(read, tmp_path / "f.xml", data.replace(b"BAD", bad))
        assert f"byte 0x{bad[0]:02X} at position {position}" in found


SEVEN_BITS = {"hz", "iso-2022-jp", "iso-2022-kr"}
"""Without a declaration, nothing tells them from ASCII."""


@pytest.mark.parametrize("encoding", [*sorted({*TEXTS} - SEVEN_BITS), "utf-7", "cp037"])
def test_every_reader_reads_the_text_or_says_what_it_took_it_for_or_refuses_it(encoding: str, tmp_path: Path) -> None:
    word = TEXTS.get(encoding, "dance+")
    for name, (text, read) in OTHERS.items():
        found = outcome(read, tmp_path / "f", text.format(word).encode(encoding))
        # A text of one byte a letter may be taken for Windows-1252; then the program says so.
        assert encoding not in ("utf-8", "utf-8-sig") or word in found, name
        assert word in found or found.startswith("refused") or name in SAY_NOTHING or "windows-1252" in found, name


SAY_NOTHING = (
    "judgements",
    "judgements in JSON",
    "gold",
    "returned",
    "full texts",
    "errors",
    "rating sheet",
    "citations",
)
"""Tables that people fill in: ids in them are compared with those of the study, and only notes can be garbled."""


@pytest.mark.parametrize("form", sorted({*FORMATS} - {"irds"}))
def test_bytes_of_no_encoding_are_refused_by_every_format_of_papers(form: str, tmp_path: Path) -> None:
    for data in (bytes(range(256)) * 4, b"\xff\xfe\xff", b"\xff\xfe\0\0\xff", b"\0\0\xfe\xff\0", b"<\0?\0\xd8"):
        (tmp_path / "f").write_bytes(data)
        with suppress(AnnotError):
            papers(form)(tmp_path / "f")


def opens(path: Path) -> Iterable[str]:
    """The calls in a module that open or unpack a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name == "open" and not node.args:
                continue
            if name in ("open", "read_bytes", "read_text", "decompress", "ZipFile", "ParquetFile"):
                yield name


def test_readers_of_formats_get_their_bytes_through_one_door() -> None:
    formats = Path(annot.__file__).parent / "formats"
    opening = {path.relative_to(formats).as_posix() for path in formats.rglob("*.py") if [*opens(path)]}
    # A workbook is a folder of files: its parts are unpacked one by one, under a limit of their own. In `pieces.py`,
    # records that cannot be read are written aside.
    assert opening == {"input_files.py", "corpora/tables.py", "corpora/pieces.py"}


def test_a_model_that_unpacks_to_more_than_a_hundred_times_its_size_is_refused_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(input_files, "LONGEST_LINE", 1 << 16)
    bomb = lzma.compress(b"\0" * (1 << 25), preset=0)
    tracemalloc.start()
    with pytest.raises(InputError, match="m: unpacks to more than 100 times its size, expected a model"):
        Labeller(bomb, name="m")
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()
    monkeypatch.setattr(input_files, "_XZ_MEMORY", 1 << 20)
    with pytest.raises(InputError, match="m: cannot be decompressed"):
        Labeller(lzma.compress(b"x"), name="m")  # whose dictionary takes 8 MiB


def test_word_vectors_and_tables_that_swell_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_files, "LONGEST_LINE", 1 << 16)
    words = tmp_path / "w.vec.gz"
    words.write_bytes(gzip.compress(b"2 3\na 1 2 3\nb" + b" 0" * (1 << 22)))
    with pytest.raises(InputError, match="unpacks to more than 100 times its size"):
        read_word_vectors(words, english=True, matrix=tmp_path / "rows.npy")
    table = pyarrow.table({"id": ["1"], "title": ["t" * (1 << 24)], "abstract": ["x"]})
    pyarrow.parquet.write_table(table, tmp_path / "p.parquet", compression="zstd")
    with pytest.raises(InputError, match="unpacks to more than 100 times its size"):
        papers("parquet")(tmp_path / "p.parquet")


POLISH = "Zażółć gęślą jaźń — naïve “café”, Müller & Søn, 中文 𝒳\n"
WESTERN = "naïve “café” – Müller, Søn, €5…\n"


def file_of(folder: Path, data: bytes, name: str = "refs.txt") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def read(path: Path, newline: str | None = None) -> str:
    with text_of(path, newline) as text:
        return text.read()


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (POLISH.encode(), "utf-8", POLISH),
        (POLISH.encode("utf-8-sig"), "utf-8", POLISH),
        (b"\xff\xfe" + POLISH.encode("utf-16-le"), "utf-16", POLISH),
        (b"\xfe\xff" + POLISH.encode("utf-16-be"), "utf-16", POLISH),
        (WESTERN.encode("windows-1252"), "windows-1252", WESTERN),
        ("Gödel, Lukács\n".encode("latin-1"), "windows-1252", "Gödel, Lukács\n"),
        (b"plain\n", "utf-8", "plain\n"),
        (b"", "utf-8", ""),
    ],
)
def test_text_is_read_as_it_was_written(tmp_path: Path, data: bytes, encoding: str, text: str) -> None:
    for path in (file_of(tmp_path, data), file_of(tmp_path, gzip.compress(data), "refs.txt.gz")):
        assert encoding_of(path) == encoding
        assert read(path) == text


def test_bytes_that_windows_1252_leaves_undefined_are_those_of_latin_1(tmp_path: Path) -> None:
    # The index of windows-1252 (https://encoding.spec.whatwg.org/index-windows-1252.txt) maps each of them to itself.
    undefined = b"\x81\x8d\x8f\x90\x9d"
    assert read(file_of(tmp_path, undefined)) == "\x81\x8d\x8f\x90\x9d"
    defined = bytes(byte for byte in range(0x80, 0x100) if byte not in undefined)
    assert read(file_of(tmp_path, defined, "defined")) == defined.decode("cp1252")


def test_one_broken_place_does_not_change_the_encoding_of_a_file(tmp_path: Path) -> None:
    good = "Müller, Gödel, Søn\n".encode()
    path = file_of(tmp_path, good + b"M\xfcller\n")
    assert encoding_of(path) == "utf-8"
    with text_of(path) as text:
        first, second = text
    assert encoding_fault(first) is None
    assert encoding_fault(second) == BrokenRecord("not UTF-8", ("not UTF-8",), "M\ufffdller\n")
    assert encoding_of(file_of(tmp_path, "Müller\n".encode() + b"M\xfcller, G\xf6del\n")) == "windows-1252"


@pytest.mark.parametrize("chunk", range(1, 8))
def test_where_a_character_is_cut_in_two_by_reading_does_not_matter(
    tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_files, "_CHUNK", chunk)
    assert encoding_of(file_of(tmp_path, (POLISH * 3).encode(), f"good{chunk}")) == "utf-8"
    assert encoding_of(file_of(tmp_path, POLISH.encode() + b"\xe9\n", f"one{chunk}")) == "utf-8"
    assert encoding_of(file_of(tmp_path, b"abc " * 9 + b"\xe9t\xe9", f"no{chunk}")) == "windows-1252"


def test_line_ends_are_those_asked_for(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"a\rb\r\nc\nd")
    with text_of(path) as text:
        assert list(text) == ["a\n", "b\n", "c\n", "d"]
    with text_of(path, newline="") as text:
        assert list(text) == ["a\r", "b\r\n", "c\n", "d"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_file_without_line_ends_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(input_files, "LONGEST_LINE", 10)
    path = file_of(tmp_path, pack(b"123456789\n1234567890\n"))
    with text_of(path) as text:
        assert next(text) == "123456789\n"
        with pytest.raises(InputError, match=f"{path}: a line of more than 10 characters"):
            next(text)
