"""Files of topics in the forms in which collections publish them: made ones, with what a person reads in them.

The forms: the topics of TREC-1 to TREC-8 (https://trec.nist.gov/data/topics_eng/), TREC-COVID's XML (Voorhees et al.
2021), the Web track's and the Clinical Trials track's, CLEF's, BEIR's `queries.jsonl` (Thakur et al. 2021), and MS
MARCO's `queries.tsv`.
"""

import codecs
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.records import WHOLE, Paper, Query, Topic
from annot.formats.beir import write_beir
from annot.formats.topics import id_fault, names_papers, read_topics, topics_in
from annot.formats.trec import write_topics

CLASSIC = """

<top>
<head> Tipster Topic Description
<num> Number:  051
<dom> Domain:  International Economics
<title> Topic:  Made Subsidies

<desc> Description: 
A document will discuss R&amp;D at
made-up firms, or p<0.05.

<narr> Narrative: 
A relevant document will say
which firm.

Dates are not needed.

<con> Concept(s):
1. firm, <i>subsidy</i>
<fac> Factor(s):
<nat> Nationality: U.S.
<nat> Nationality: U.S.S.R.
</fac>
<def> Definition(s):
</top>
<top>
<num> Number: 302 
<title> Poliomyelitis &unknown; and Post-Polio

<desc> Description: 
Is the disease
under control?

<narr> Narrative: 
It is.

<top>
<num>Number: 303</num>
<title>Telescope</title>
</top>
"""
READ = (
    Topic(
        "051",
        "Made Subsidies",
        "A document will discuss R&D at made-up firms, or p<0.05.",
        "A relevant document will say which firm.\n\nDates are not needed.",
        {
            "head": "Tipster Topic Description",
            "dom": "International Economics",
            "con": "1. firm, subsidy",
            "nat": "U.S.\n\nU.S.S.R.",
        },
    ),
    Topic("302", "Poliomyelitis &unknown; and Post-Polio", "Is the disease under control?", "It is."),
    Topic("303", "Telescope"),
)
COVID = """<?xml version="1.0" encoding="UTF-8"?>
<topics task="COVIDSearch" batch="1">
  <topic number="1">
    <query>made virus origin</query>
    <question>where does the made virus
      come from</question>
    <narrative>Facts on its origin &amp; <i>spread</i>.</narrative>
  </topic>
  <!-- a comment -->
  <topic number="2"><query>weather</query><question>does weather matter</question><narrative/></topic>
</topics>
"""
ORIGIN = Topic("1", "made virus origin", "where does the made virus come from", "Facts on its origin & spread.")
WEB = """<webtrack2010>
<topic number="51" type="faceted">
<query>made horses</query><description>Find horses.</description>
<subtopic number="1" type="inf">Which are fast?</subtopic>
<subtopic number="2" type="nav">Where are they sold?</subtopic>
</topic></webtrack2010>"""
FIRE = """<?xml version="1.0"?>
<!-- a comment -->
<topics>
<top lang="en">
<num>C041</num>
<EN-title>Pesticides in food</EN-title>
<EN-desc>Find reports of pesticides.</EN-desc>
</top>
</topics>
"""


def topics(text: str) -> tuple[Topic, ...]:
    return tuple(topic for _, topic in topics_in(text.encode(), name="topics").topics)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_classic_topics_are_read_with_end_tags_or_without(end: str) -> None:
    found = topics_in(CLASSIC.replace("\n", end).encode(), name="topics")
    assert tuple(topic for _, topic in found.topics) == READ
    assert [line for line, _ in found.topics] == [3, 27, 38]
    assert found.form == "TREC SGML"
    assert found.fields == {"topic_id": "num", "title": "title", "description": "desc", "narrative": "narr"}


def test_tags_in_capitals_and_those_of_a_language_are_the_same() -> None:
    assert topics("<TOP><NUM>1</NUM><TITLE>one</TITLE></TOP>") == (Topic("1", "one"),)
    assert topics(FIRE) == (Topic("C041", "Pesticides in food", "Find reports of pesticides."),)


def test_a_tag_may_end_on_the_next_line() -> None:
    found = topics_in(b"<top\n>\n<num\n> 1 <title> one\n<top>\n<num> 2 <title> two", name="topics")
    assert [line for line, _ in found.topics] == [1, 5]


def test_topics_of_trec_4_have_a_description_alone() -> None:
    text = "<top>\n<num> Number: 201\n<desc> Description:\nIs it so?\n</top>\n"
    assert topics(text) == (Topic("201", "Is it so?"),)


def test_the_query_question_and_narrative_of_trec_covid_are_title_description_and_narrative() -> None:
    found = topics_in(COVID.encode(), name="topics")
    assert [tuple(one) for one in found.topics] == [(3, ORIGIN), (10, Topic("2", "weather", "does weather matter"))]
    assert found.form == "XML"


def test_other_elements_and_attributes_of_xml_are_fields_of_the_topic() -> None:
    own = {"type": "faceted", "subtopic": "Which are fast?\n\nWhere are they sold?"}
    assert topics(WEB) == (Topic("51", "made horses", "Find horses.", None, own),)


def test_a_topic_of_xml_may_have_its_id_in_an_element_and_its_text_in_itself() -> None:
    both = '<topics><topic number="1">\nA patient of 19.\n</topic><topic number="2">Another.</topic></topics>'
    assert topics(both) == (Topic("1", "A patient of 19."), Topic("2", "Another."))
    health = "<topics><topic><number> 101 </number><query>brace</query></topic></topics>"
    assert topics(health) == (Topic("101", "brace"),)


def test_topics_in_xml_may_have_no_root() -> None:
    first = "\n<TOPIC>\n<NUM>0001</NUM>\n<TITLE>one</TITLE><DESC>d</DESC></TOPIC>\n"
    assert topics(first + "<TOPIC><NUM>2</NUM><TITLE>two</TITLE></TOPIC>") == (
        Topic("0001", "one", "d"),
        Topic("2", "two"),
    )
    assert topics('<topic number="1"><title>alone</title></topic>') == (Topic("1", "alone"),)


def test_beir_queries_keep_their_metadata() -> None:
    text = (
        '{"_id": "q1", "text": "is it so", "metadata": {"url": "u", "id": 5, "n": ["é"], "narrative": "Only so."}}\n'
        '\n{"_id": 7, "text": "why", "metadata": {}}\n'
    )
    own = {"url": "u", "id": "5", "n": '["é"]'}
    assert topics(text) == (Topic("q1", "is it so", None, "Only so.", own), Topic("7", "why"))


def test_beirs_trec_covid_has_its_short_form_in_the_metadata() -> None:
    text = '{"_id": "1", "text": "where is it from", "metadata": {"query": "made origin", "narrative": "Facts."}}\n'
    assert topics(text) == (Topic("1", "made origin", "where is it from", "Facts."),)


ALL_OF_IT = (Topic("T1", 'R&D <5% "so"', "What is it?\n\nAnd why?", "Not of images."), Topic("T2", "naïve pools"))


def test_topics_of_a_release_are_read_as_they_were() -> None:
    assert topics(write_topics(ALL_OF_IT)) == ALL_OF_IT
    asked = [Query(topic.topic_id, topic.topic_id, WHOLE, ()) for topic in ALL_OF_IT]
    texts = {topic.topic_id: topic for topic in ALL_OF_IT}
    made = write_beir(
        papers=[Paper("d1", "T", ("S.",))],
        queries=asked,
        texts=texts,
        qrels=[],
        pools=[],
        judged={name: ["d1"] for name in texts},
        folder="",
        with_text=True,
    )
    assert topics(made["queries.jsonl"].decode()) == ALL_OF_IT


def test_tables_need_only_the_columns_that_are_used() -> None:
    assert topics('topic_id,title\n1,"one, two"\n,\n2,three\n') == (Topic("1", "one, two"), Topic("2", "three"))
    assert topics("sep=;\nQID;Question;Narrative;Source\n1;why?;because;x\n2;how?;;\n") == (
        Topic("1", "why?", None, "because", {"source": "x"}),
        Topic("2", "how?"),
    )
    assert topics("id\ttext\ttitle\n1\tlong form\tshort\n") == (Topic("1", "short", "long form"),)


def test_a_list_without_header_has_an_id_a_tab_and_a_text() -> None:
    assert topics('1048585\twhat is "pb\n2\t;why\n') == (Topic("1048585", 'what is "pb'), Topic("2", ";why"))


@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF8 + COVID.encode(),
        COVID.replace("UTF-8", "UTF-16").encode("utf-16"),
        COVID.replace("UTF-8", "ISO-8859-1").encode("latin-1"),
    ],
)
def test_a_file_says_its_encoding_by_its_mark_or_declaration(data: bytes) -> None:
    assert topics_in(data, name="topics").topics[0][1] == ORIGIN
    accented = data.replace("made virus origin".encode("utf-16-le"), "mädé".encode("utf-16-le"))
    accented = accented.replace(b"made virus origin", "mädé".encode("latin-1" if b"8859" in data else "utf-8"))
    assert topics_in(accented, name="topics").topics[0][1].title == "mädé"


@pytest.mark.parametrize(
    ("text", "of_papers"),
    [
        ("paper_id,facet\np1,method\n", True),
        ("\ufeffsep=;\nfacet;Paper ID;sentences\n", True),
        ("paper,facet\n", True),
        ("topic_id,title,paper_id\n", False),
        ("topic_id,title\n", False),
        (COVID, False),
        ("", False),
    ],
)
def test_a_table_of_papers_is_told_from_topics_by_its_columns(tmp_path: Path, text: str, of_papers: bool) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    assert names_papers(path) is of_papers
    assert not names_papers(tmp_path / "absent")


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
    "an id that is not there": (HEADER + "1,a,\n,b,\n", ["f:3: topic_id: no id"]),
    "an id that is no whole number": (
        '{"id": 1.5, "text": "a"}\n{"id": true, "text": "a"}\n',
        ["f:1: id: no id", "f:2: id: no id"],
    ),
    "a title without words": (HEADER + "1,a,\n2,  ,b\n", ["f:3: topic 2: title: found no words"]),
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
        ["f:2: found no id among name, title; expected one of topic_id, query_id, question_id, _id, id, qid, num"],
    ),
    "no column of texts": (
        "topic_id,titel\n1,a\n",
        ["f:2: found no title or question among topic_id, titel; expected one of title, query, question, text, desc"],
    ),
    "a cell too many": (HEADER + "1,a, b,c\n", ["f:2: found 4 cells, expected 3; quote a cell with a separator"]),
    "a list with a tab in a text": ("1\ta\n2\ta\tb\n", ["f:2: found 3 cells, expected an id, a tab and a text"]),
    "UTF-16 with half a character": (
        codecs.BOM_UTF16_LE + "1\ta\n2\tb".encode("utf-16-le") + b"\0",
        ["not UTF-16-LE: byte 0x00 at position 16"],
    ),
    "a zero byte": ("1\ta\n\0", ["f:2: found a zero byte, expected text"]),
    "a second number in a topic": (
        TOP + "<num> Number: 2\n",
        ["f:4: found a second <num> in the topic of line 1; is a <top> missing?"],
    ),
    "text outside of every tag": (TOP + "</top>\n\nmore\ntext\n", ["f:6: found 'more' outside of every tag"]),
    "a topic that begins without its tag": (
        "<num> Number: 0\n" + TOP,
        ["f:1: found <num> before the first <top>", "f:1: found 'Number: 0' outside of every tag"],
    ),
    "XML with an ampersand": (
        "<topics>\n<topic number='1'><query>R & D</query></topic></topics>",
        ["f:2: not valid XML: not well-formed (invalid token) at column 29"],
    ),
    "entities": (BOMB, ["f:1: declares a document type (<!DOCTYPE t>)"]),
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
    "nothing": ("\n", ["f: found an empty file, expected TREC topics"]),
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
