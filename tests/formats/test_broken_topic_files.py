"""Files of topics that cannot be read: each fault with its line, what was found and what was expected."""

import codecs
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.formats.topics import id_fault, read_topics, topics_in

HEADER = "topic_id,title,narrative\n"
TOP = "<top>\n<num> Number: 1\n<title> one\n"
BOMB = (
    '<!DOCTYPE t [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>\n<topics><topic number="1"><query>&b;</query></topic></topics>'
)


def faults_of(data: bytes | str) -> list[str]:
    with pytest.raises(InputError) as caught:
        topics_in(data.encode() if isinstance(data, str) else data, name="f")
    return list(caught.value.faults)


BROKEN = {
    "an id twice": (HEADER + "1,a,\n2,b,\n1,c,\n", ["f:4: topic '1' is listed twice, first on line 2"]),
    "an id twice on one line": (
        '<t><topic number="1"><query>a</query></topic><topic number="1"><query>b</query></topic></t>',
        ["f:1: topic '1' is listed twice, first on line 1"],
    ),
    "an id with a space": (
        HEADER + "a b,a,\n",
        ["f:2: topic_id: 'a b': expected no space, no slash and nothing that cannot be printed"],
    ),
    "an id with a slash, and one that turns its direction": (
        '{"_id": "a/b", "text": "a"}\n{"_id": "a\u202eb", "text": "b"}\n',
        [
            "f:1: _id: 'a/b': expected no space, no slash and nothing that cannot be printed",
            r"f:2: _id: 'a\u202eb': expected no space, no slash and nothing that cannot be printed",
        ],
    ),
    "an id that is not there": (
        HEADER + "1,a,\n,b,\n",
        ["f:3: topic_id: no id"],
    ),
    "an id that is no whole number": (
        '{"id": 1.5, "text": "a"}\n{"id": true, "text": "a"}\n',
        ["f:1: id: no id", "f:2: id: no id"],
    ),
    "a title without words": (HEADER + "1,a,\n2,  ,b\n", ["f:3: topic 2: title: found no words"]),
    "a title that cleaning leaves nothing of": (
        '<t><topic number="1"><query>a</query></topic>\n<topic number="2"><query>&lt;i&gt;</query></topic></t>',
        ["f:2: topic 2: query: found no words"],
    ),
    "a topic without the title that the others have": (
        '<t>\n<topic number="1"><query>a</query><question>b</question></topic>\n'
        '<topic number="2"><question>b</question></topic></t>',
        ["f:3: topic 2: query: found no words"],
    ),
    "a text that is none": (
        '{"id": "1", "text": ["a"]}\n{"id": "2", "text": "a", "narrative": 3}\n',
        ['f:1: topic 1: text: found ["a"], expected text', "f:2: topic 2: narrative: found 3, expected text"],
    ),
    "a text that nobody reads": (
        f"1\ta\n2\t{'a' * 20_001}\n",
        ["f:2: topic 2: text: 20,001 characters, expected 20,000 at most"],
    ),
    "no column of ids": (
        "name,title\n1,a\n",
        [
            "f:2: found no id among name, title; expected one of topic_id, query_id, question_id, _id, id, qid, num",
        ],
    ),
    "no column of texts": (
        "topic_id,titel\n1,a\n",
        ["f:2: found no title or question among topic_id, titel; expected one of title, query, question, text, desc"],
    ),
    "a cell too many": (
        HEADER + "1,a, b,c\n",
        ["f:2: found 4 cells, expected 3; quote a cell with a separator"],
    ),
    "a list with a tab in a text": ("1\ta\n2\ta\tb\n", ["f:2: found 3 cells, expected an id, a tab and a text"]),
    "Latin-1": (
        "1\tone\n2\tcaf\xe9 noir\n".encode("latin-1"),
        ["f:2: not UTF-8: byte 0xE9 at position 11"],
    ),
    "Latin-1 that is declared as UTF-8": (
        '<?xml version="1.0" encoding="utf-8"?>\n<t>\n<topic number="1">\xe9</topic></t>'.encode("latin-1"),
        ["f:3: not UTF-8: byte 0xE9 at position 61"],
    ),
    "an encoding that is declared and unknown": (
        '<?xml version="1.0" encoding="zlib"?><t/>',
        ["f:1: declares the encoding 'zlib', expected UTF-8"],
    ),
    "UTF-16 with half a character": (
        codecs.BOM_UTF16_LE + "1\ta\n2\tb".encode("utf-16-le") + b"\0",
        ["not UTF-16-LE: byte 0x00 at position 16"],
    ),
    "UTF-8 with its mark, and Latin-1": (
        codecs.BOM_UTF8 + b"1\ta\n" + b"b" * 50 + b"\xe9" + b"c" * 50 + b"\n",
        ["f:2: not UTF-8: byte 0xE9 at position 57"],
    ),
    "a zero byte": ("1\ta\n\0", ["f:2: found a zero byte, expected text"]),
    "a second number in a topic": (
        TOP + "<num> Number: 2\n<title> two\n",
        [
            "f:4: found a second <num> in the topic of line 1; is a <top> missing?",
            "f:5: found a second <title> in the topic of line 1; is a <top> missing?",
        ],
    ),
    "text outside of every tag": (TOP + "</top>\n\nmore\ntext\n", ["f:6: found 'more' outside of every tag"]),
    "a misspelt tag": (
        "<top>\n<num> Number: 1</num>\n<titel> one</titel>\n<desc> d\n",
        ["f:3: found 'one' outside of every tag"],
    ),
    "a topic that begins without its tag": (
        "<num> Number: 0\n" + TOP,
        ["f:1: found <num> before the first <top>", "f:1: found 'Number: 0' outside of every tag"],
    ),
    "XML with an ampersand": (
        "<topics>\n<topic number='1'><query>R & D</query></topic></topics>",
        ["f:2: not valid XML: not well-formed (invalid token) at column 29"],
    ),
    "XML that ends early": (
        "<topics>\n<topic number='1'><query>a</query></topic>\n",
        ["f:3: not valid XML: no element found at column 1"],
    ),
    "entities": (BOMB, ["f:1: declares a document type (<!DOCTYPE t>)"]),
    "a file that is named": (
        '<!DOCTYPE t SYSTEM "file:///etc/passwd">\n<t/>',
        ["f:1: declares a document type (<!DOCTYPE t>)"],
    ),
    "a line that is no JSON": (
        '{"id": "1", "text": "a"}\n{"id": "2", "text": \n',
        ["f:2: not valid JSON: Expecting value at column 21"],
    ),
    "text outside of every topic": (
        "<t>\n<topic number='1'><query>a</query></topic>\nmore</t>",
        ["f:3: found 'more' outside of every topic"],
    ),
    "a JSON array": ('[{"id": "1", "text": "a"}]', ["f: found a JSON array: write one object per line, expected TREC"]),
    "a web page": ("<!DOCTYPE html>\n<html><body>404</body></html>", ["f: found a web page (HTML), expected TREC"]),
    "something else": (
        "hello, you\n1\n",
        ["f: found 'hello, you', expected TREC topics, BEIR queries"],
    ),
    "nothing": ("\n", ["f: found an empty file, expected TREC topics"]),
    "a header alone": (HEADER, ["f: found no topic"]),
    "a root alone": ("<topics></topics>", ["f: found no topic"]),
    "topics without anything": ("<top></top>\n<top></top>", ["f:1: found no id", "f:1: found no title or question"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_with_line_and_reason(name: str) -> None:
    data, expected = BROKEN[name]
    found = faults_of(data)
    assert len(found) == len(expected)
    for fault, beginning in zip(found, expected, strict=True):
        assert beginning in fault


LONG = "many words of no kind " * 9


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LONG, f"f: found {LONG[:40]!r}, expected TREC topics"),
        (f"<top>\n{LONG}", f"f:2: found {LONG[:40]!r} outside of every tag"),
        (f"<t>{LONG}</t>", f"f:1: found {LONG[:40]!r} outside of every topic"),
        (f"{'x' * 201}\ta\n", f"f:1: id: {'x' * 40!r}: expected no space"),
        ('{"id": "1", "text": ["' + LONG + '"]}', f'f:1: topic 1: text: found ["{LONG[:38]}, expected text'),
    ],
)
def test_of_a_long_text_the_beginning_is_shown(text: str, found: str) -> None:
    assert any(fault.startswith(found) for fault in faults_of(text))


def test_what_is_whole_in_a_broken_file_is_checked_too() -> None:
    assert faults_of("<t>\n<topic number='a b'><query>x</query></topic>\n<topic>") == [
        "f:3: not valid XML: no element found at column 8",
        "f:2: number: 'a b': expected no space, no slash and nothing that cannot be printed",
    ]


@pytest.mark.parametrize(
    ("topic_id", "good"),
    [
        ("T1", True),
        ("é-1.2_x", True),
        ("a" * 200, True),
        ("a" * 201, False),
        ("", False),
        ("a\\b", False),
        ("\x7f", False),
    ],
)
def test_ids_are_what_runs_and_qrels_can_carry(topic_id: str, good: bool) -> None:
    assert (id_fault(topic_id) == "") is good


def test_no_file_a_folder_and_a_file_too_large_are_refused(tmp_path: Path) -> None:
    for path, found in ((tmp_path / "absent", "no such file"), (tmp_path, "a folder")):
        with pytest.raises(InputError, match=f"{found}, expected TREC topics"):
            read_topics(str(path))
    large = tmp_path / "large.tsv"
    for size, found in ((1 << 26, "1 fault"), ((1 << 26) + 1, "more than 64 MiB, expected TREC topics")):
        with large.open("wb") as file:
            file.truncate(size)
        with pytest.raises(InputError, match=found):
            read_topics(str(large))
