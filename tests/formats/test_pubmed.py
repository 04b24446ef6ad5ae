"""PubMed's XML: articles, books; what is missing, odd or broken in them.

The files are made by hand after NLM's DTDs (https://dtd.nlm.nih.gov/ncbi/pubmed/doc/out/190101/).
"""

import gzip
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from annot.base.errors import InputError
from annot.formats.corpora import xml_papers as module
from annot.formats.corpora.pieces import BrokenRecord, Head, Piece
from annot.formats.corpora.sections import SectionLabels
from annot.formats.corpora.xml_papers import PUBMED, xml_records
from annot.formats.corpora.xml_papers import acl_records as papers_of_acl
from annot.formats.paper_records import document_of_record

HEAD = (
    '<?xml version="1.0" encoding="utf-8"?>\n'
    '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2019//EN"'
    ' "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_190101.dtd">\n'
)
ISSUE = "<Journal><JournalIssue><PubDate>{}</PubDate></JournalIssue><Title>J Made Up</Title></Journal>"
ARTICLE = """<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="2">{pmid}</PMID>
<DateRevised><Year>2020</Year></DateRevised><Article>{article}</Article>{more}</MedlineCitation>
<PubmedData>{data}</PubmedData></PubmedArticle>"""
TODAY = ARTICLE.format(
    pmid="31452104",
    article=ISSUE.format("<Year>2019</Year><Month>Aug</Month>")
    + """<ArticleTitle>Uptake of CO<sub>2</sub> by <i>Zostera marina</i> at 4&#xa0;&lt; pH
&lt; 9: Größe z&#228;hlt.</ArticleTitle>
<ELocationID EIdType="pii" ValidYN="Y">S1</ELocationID>
<ELocationID EIdType="doi" ValidYN="Y">10.5555/elsewhere</ELocationID>
<Abstract><AbstractText Label="AIMS" NlmCategory="OBJECTIVE">We asked. <b>Why?</b></AbstractText>
<AbstractText Label="METHODS:" NlmCategory="METHODS">We <mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:mi>k</mml:mi>
<mml:mo>=</mml:mo><mml:mn>2</mml:mn></mml:math> looked.</AbstractText>
<AbstractText Label="Data" NlmCategory="UNASSIGNED">Open.</AbstractText>
<CopyrightInformation>Copyright of nobody.</CopyrightInformation></Abstract><ArticleDate><Year>2018</Year>
</ArticleDate>""",
    more='<OtherAbstract Language="spa"><AbstractText Label="FINES">Algo.</AbstractText></OtherAbstract>',
    data="""<History><PubMedPubDate PubStatus="pubmed"><Year>2017</Year></PubMedPubDate></History>
<ArticleIdList><ArticleId IdType="pubmed">31452104</ArticleId>
<ArticleId IdType="doi"> 10.5555/made.1 </ArticleId></ArticleIdList>
<ReferenceList><Title>References</Title><Reference><Citation>One.</Citation><ArticleIdList>
<ArticleId IdType="pubmed">101</ArticleId><ArticleId IdType="doi">10.5555/R1</ArticleId></ArticleIdList>
</Reference>
<ReferenceList><Reference><Citation>Two.</Citation><ArticleIdList><ArticleId IdType="pmc">PMC9</ArticleId>
<ArticleId IdType="pubmed">102</ArticleId></ArticleIdList></Reference><Reference><Citation>None.</Citation>
</Reference></ReferenceList></ReferenceList>""",
)
OTHER_LANGUAGES = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2019//EN" "http://www.nlm.nih.gov/x.dtd">
<PubmedArticleSet><DeleteCitation><PMID>7</PMID></DeleteCitation>
<PubmedArticle><MedlineCitation Owner="NLM" Status="MEDLINE"><PMID>1</PMID>
<Article><Journal><JournalIssue><PubDate><MedlineDate>1998 Dec-1999 Jan</MedlineDate></PubDate></JournalIssue>
</Journal>
<ArticleTitle>[On bees and honey].</ArticleTitle><Abstract>
<AbstractText>Bees hum. (ABSTRACT TRUNCATED AT 250 WORDS)</AbstractText></Abstract>
<VernacularTitle>Über Bienen.</VernacularTitle></Article></MedlineCitation></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID>2</PMID><Article><Journal><JournalIssue><PubDate><Year>1976</Year>
<Month>Jan</Month></PubDate></JournalIssue></Journal>
<ArticleTitle>[Not Available].</ArticleTitle><VernacularTitle>Sur les abeilles.</VernacularTitle></Article>
</MedlineCitation></PubmedArticle>
</PubmedArticleSet>"""
BOOK = """<PubmedBookArticle><BookDocument><PMID>20301295</PMID><ArticleIdList>
<ArticleId IdType="bookaccession">NBK1</ArticleId>
<ArticleId IdType="doi">10.5555/book</ArticleId></ArticleIdList>
<Book><BookTitle>Made-up reviews</BookTitle><PubDate><Year>1993</Year></PubDate></Book>{}
<Abstract><AbstractText Label="CLINICAL CHARACTERISTICS">Rare.</AbstractText></Abstract></BookDocument>
<PubmedBookData><ArticleIdList><ArticleId IdType="pubmed">20301295</ArticleId></ArticleIdList>
</PubmedBookData></PubmedBookArticle>"""


def found_in(folder: Path, text: str, *, packed: bool = False) -> list[Any]:
    path = folder / ("pubmed.xml.gz" if packed else "pubmed.xml")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return list(PUBMED.records(Piece(str(path), "pubmed", 0, None)))


def article(**given: str) -> str:
    return ARTICLE.format(**{"pmid": "1", "article": "", "more": "", "data": ""} | given)


def one(folder: Path, record: str) -> dict[str, Any]:
    """The fields of the one record of a file."""
    ((place, fields),) = found_in(folder, f"{HEAD}<PubmedArticleSet>{record}</PubmedArticleSet>")
    assert place == 1
    return dict(PUBMED.paper(fields))


def test_an_article_of_today(tmp_path: Path) -> None:
    fields = one(tmp_path, TODAY)
    assert {name: fields[name] for name in ("year", "pmid", "doi", "cited")} == {
        "year": "2019",
        "pmid": "31452104",
        "doi": "10.5555/made.1",
        "cited": [(("pmid", "101"), ("doi", "10.5555/R1")), (("pmid", "102"),)],
    }
    assert [part[:2] for part in fields["sections"]] == [
        *(("AIMS", "OBJECTIVE"), ("METHODS:", "METHODS"), ("Data", ""))
    ]
    labels = SectionLabels.of(("aim", "how"), {"aim": ["aims", "data"], "how": ["methods"]}, faceted=True)
    paper = document_of_record(labels.applied(fields | {"paper_id": "p"})[0], ("aim", "how"))
    assert paper.title == "Uptake of CO2 by Zostera marina at 4 < pH < 9: Größe zählt."
    assert paper.sentences == ("We asked.", "Why?", "We k=2 looked.", "Open.")
    assert paper.labels == ("aim", "aim", "how", "aim")


def test_titles_in_other_languages_and_what_was_deleted(tmp_path: Path) -> None:
    deleted, first, second = (record for _, record in found_in(tmp_path, OTHER_LANGUAGES, packed=True))
    assert deleted is None
    assert first == {
        "title": "[On bees and honey].",
        "abstract": "Bees hum. (ABSTRACT TRUNCATED AT 250 WORDS)",
        "year": "1998",
        "pmid": "1",
        "language": None,
        "doi": None,
        "cited": [],
    }
    assert (second["title"], second["abstract"], second["year"]) == ("Sur les abeilles.", None, "1976")


@pytest.mark.parametrize(
    ("chapter", "title"),
    [
        ("", "Made-up reviews"),
        ("<ArticleTitle book='b'>Hiccups <i>sive</i> singultus</ArticleTitle>", "Hiccups sive singultus"),
    ],
)
def test_a_book_and_a_chapter_of_one(tmp_path: Path, chapter: str, title: str) -> None:
    fields = one(tmp_path, BOOK.format(chapter))
    assert fields == {
        "title": title,
        "sections": [("CLINICAL CHARACTERISTICS", "", "Rare.")],
        "year": "1993",
        "pmid": "20301295",
        "language": None,
        "doi": "10.5555/book",
        "cited": [],
    }


@pytest.mark.parametrize(
    ("issue", "article_date", "history", "year"),
    [
        ("<Year>2001</Year>", "2000", "1999", "2001"),
        ("<MedlineDate>Winter 1999-2000</MedlineDate>", "2000", "1999", "1999"),
        ("<MedlineDate>undated</MedlineDate>", "2000", "1999", "2000"),
        ("", "", "1999", "1999"),
        ("", "", "", None),
    ],
)
def test_the_year_is_that_of_the_issue_else_the_electronic_one_else_that_of_pubmed(
    tmp_path: Path, issue: str, article_date: str, history: str, year: str | None
) -> None:
    date = f"<ArticleDate><Year>{article_date}</Year><Month>12</Month></ArticleDate>" if article_date else ""
    entered = '<PubMedPubDate PubStatus="{}"><Year>{}</Year></PubMedPubDate>'
    past = (
        f"<History>{entered.format('received', 1901)}{entered.format('pubmed', history) if history else ''}</History>"
    )
    assert one(tmp_path, article(article=ISSUE.format(issue) + date, data=past))["year"] == year


def test_a_doi_is_valid_and_that_of_the_paper_itself(tmp_path: Path) -> None:
    place = '<ELocationID EIdType="doi" ValidYN="{}">10.5555/{}</ELocationID>'
    ids = "<ArticleIdList><ArticleId IdType='doi'>10.5555/cited</ArticleId></ArticleIdList>"
    cited = f"<ReferenceList><Reference>{ids}</Reference></ReferenceList>"
    fields = one(tmp_path, article(article=place.format("N", "wrong") + place.format("Y", "right"), data=cited))
    assert (fields["doi"], fields["cited"]) == ("10.5555/right", [(("doi", "10.5555/cited"),)])
    assert one(tmp_path, article(article=place.format("N", "wrong"), data=cited))["doi"] is None


@pytest.mark.parametrize(
    ("parts", "fields"),
    [
        ("", {"abstract": None}),
        ("<Abstract><AbstractText/></Abstract>", {"abstract": None}),
        (
            "<Abstract><AbstractText>A.</AbstractText><AbstractText>B.</AbstractText></Abstract>",
            {"abstract": "A.\n\nB."},
        ),
        (
            '<Abstract><AbstractText Label="UNLABELLED" NlmCategory="UNASSIGNED">A.</AbstractText></Abstract>',
            {"abstract": "A."},
        ),
        (
            '<Abstract><AbstractText>A.</AbstractText><AbstractText Label="AIM">B.</AbstractText></Abstract>',
            {"sections": [("", "", "A."), ("AIM", "", "B.")]},
        ),
    ],
)
def test_abstracts_without_sections_and_with_some(tmp_path: Path, parts: str, fields: dict[str, Any]) -> None:
    found = one(tmp_path, article(article=parts))
    assert {name: found[name] for name in ("abstract", "sections") if name in found} == fields


def test_a_record_of_which_next_to_nothing_is_there_is_read(tmp_path: Path) -> None:
    fields = one(tmp_path, "<PubmedArticle/>")
    assert fields == {
        "title": None,
        "abstract": None,
        "year": None,
        "pmid": None,
        "language": None,
        "doi": None,
        "cited": [],
    }


def test_xml_of_others_is_one_fault_and_entities_are_refused(tmp_path: Path) -> None:
    ((_, broken),) = found_in(tmp_path, "<eFetchResult><ERROR>No items found.</ERROR><ERROR/></eFetchResult>")
    assert broken.faults == ("found the XML of 'eFetchResult', expected PubmedArticleSet or PubmedBookArticleSet",)
    with pytest.raises(InputError, match="declares the entity 'a'"):
        found_in(tmp_path, '<!DOCTYPE s [<!ENTITY a "aaaa">]><PubmedArticleSet>&a;</PubmedArticleSet>')


@pytest.mark.parametrize(
    ("start", "told"),
    [
        (f"{HEAD}<PubmedArticleSet>", True),
        ("<PubmedBookArticleSet><PubmedBookArticle>", True),
        ('<collection id="P18"><volume>', False),
        ('{"title": "On <PubmedArticle>"}', False),
    ],
)
def test_a_file_is_told_by_its_root(start: str, told: bool) -> None:
    assert bool(PUBMED.matches(Head("x.txt", start.encode(), {}))) is told


@pytest.mark.parametrize(("own", "expected"), [("", "In English."), ("<AbstractText>Own.</AbstractText>", "Own.")])
def test_another_abstract_counts_only_if_the_article_has_none_of_its_own(
    tmp_path: Path, own: str, expected: str
) -> None:
    others = "".join(
        f'<OtherAbstract Type="Publisher" Language="{language}"><AbstractText>{text}</AbstractText></OtherAbstract>'
        for language, text in (("spa", "En español."), ("eng", "In English."))
    )
    assert one(tmp_path, article(article=f"<Abstract>{own}</Abstract>", more=others))["abstract"] == expected


def named(found: Iterator[module.XmlRecord | BrokenRecord]) -> list[str]:
    """The text of each record, and what is wrong with a broken one."""
    return [one.reason if isinstance(one, BrokenRecord) else "".join(one[0].itertext()) for one in found]


@pytest.mark.parametrize("at_once", [1, 7, 1 << 16])
@pytest.mark.parametrize("depth", [1, 2])
def test_records_are_those_of_the_whole_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int, depth: int
) -> None:
    text = "<r> <a><b>1</b>t<c/></a>\n<a/><a><b>2<i>x</i></b><b>é</b></a><d>4</d> </r>"
    (tmp_path / "r.xml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    expected = ElementTree.fromstring(text).findall("/".join("*" * depth))
    assert named(xml_records(tmp_path / "r.xml", depth=depth)) == ["".join(one.itertext()) for one in expected]


@pytest.mark.parametrize("at_once", [1, 1 << 16])
@pytest.mark.parametrize("rest", ["</x>", "<a>3", "<", "", "&none;"])
def test_a_fault_ends_the_file_and_what_was_whole_before_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int, rest: str
) -> None:
    (tmp_path / "r.xml").write_text(f"<r><a>1</a><a>2</a>{rest}", encoding="utf-8")
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    *whole, broken = xml_records(tmp_path / "r.xml", depth=1)
    assert named(iter(whole)) == ["1", "2"]
    assert isinstance(broken, BrokenRecord)
    assert "line 1, column" in broken.faults[0]


@pytest.mark.parametrize("text", ["", "no XML", "<r>"])
def test_a_file_without_a_record_is_one_fault(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.xml").write_text(text)
    assert named(xml_records(tmp_path / "r.xml", depth=1)) == ["not valid XML"]


def test_a_record_is_in_the_elements_around_it(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text('<r n="0"><a n="1"><b/></a><a n="2"><b/><b/></a></r>')
    found = [one for one in xml_records(tmp_path / "r.xml", depth=2) if not isinstance(one, BrokenRecord)]
    assert [[element.get("n") for element in around] for _, around in found] == [["0", "1"], ["0", "2"], ["0", "2"]]


def test_a_document_type_elsewhere_is_not_fetched_and_a_record_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "none.dtd").write_text('<!ENTITY e "from elsewhere">')
    elsewhere = f'<!DOCTYPE r PUBLIC "-//X" "{(tmp_path / "none.dtd").as_uri()}">'
    (tmp_path / "r.xml").write_text(f"{elsewhere}<r><a>1</a><a>&e;</a></r>")
    assert named(xml_records(tmp_path / "r.xml", depth=1)) == ["1", "not valid XML"]
    monkeypatch.setattr(module, "LONGEST_LINE", 1 << 17)
    (tmp_path / "long.xml.gz").write_bytes(gzip.compress(b"<r><a>" + b"x " * (1 << 18)))
    with pytest.raises(InputError, match=r"long\.xml\.gz: a record of more than 131072 bytes"):
        list(xml_records(tmp_path / "long.xml.gz", depth=1))


def peak(path: Path, papers: int) -> int:
    paper = '<paper id="{}"><title>A title</title><abstract>' + "One two three. " * 20 + "</abstract></paper>\n"
    volumes = (f'<volume id="{at}">{"".join(map(paper.format, range(1, 101)))}</volume>' for at in range(papers // 100))
    path.write_text(f'<collection id="P18">{"".join(volumes)}</collection>')
    tracemalloc.start()
    assert sum(1 for _ in papers_of_acl(Piece(str(path), "acl", 0, None))) == papers
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    assert peak(tmp_path / "large.xml", 2_000) < 1.5 * peak(tmp_path / "small.xml", 500)
