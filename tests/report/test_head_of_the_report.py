"""The head of the report: who made the collection, under which licence, how it is cited, and the hours that it took."""

from types import SimpleNamespace
from typing import Any

import pytest
from annot import __version__
from annot.base.records import Adjudication, Judgement
from annot.base.settings import CollectionSettings, Settings
from annot.base.stats.values import Undefined
from annot.publishing.report.pages import latex, markdown, page
from annot.publishing.report.sections.whole import about
from annot.publishing.report.study import Study, Work
from annot.publishing.report.tables import Document, Fact
from annot.publishing.terms import terms_of

NOT_TIMED = Work(Undefined("no times"), 0, 3)
BIBTEX = "@misc{one,\n  title = {A % & <b>}\n}"


def facts(work: Work = NOT_TIMED, **settings: Any) -> dict[str, str]:
    collection = CollectionSettings(**settings)
    terms = terms_of(collection, with_text=None, licence=None, published=None)[0]
    found: Any = SimpleNamespace(terms=terms, work=work, settings=Settings(collection=collection))
    return {fact.name: f"{fact.words} {fact.address}".strip() for fact in about(found)}


def test_what_is_not_known_is_left_out() -> None:
    assert facts() == {"Version": "0.1", "Software": f"annot {__version__}"}
    assert facts(licence="free for all", url="javascript:alert(1)") == facts() | {"Address": "javascript:alert(1)"}


def test_the_head_says_what_the_card_says() -> None:
    given = {"creators": ("Ada", "Bob"), "licence": "cc-by-4.0", "text_licence": "with the publishers"}
    found = facts(**given, title="T", version="2.0", url="https://a.example", published="2031-02-03")
    assert found == {
        "Makers": "Ada, Bob",
        "Version": "2.0, 2031-02-03",
        "Licence": "CC-BY-4.0 https://creativecommons.org/licenses/by/4.0/",
        "Licence of the texts": "with the publishers",
        "Address": "https://a.example https://a.example",
        "Software": f"annot {__version__}",
        "Cite as": "Ada, Bob (2031). T. Version 2.0. https://a.example",
    }
    assert facts(citation=BIBTEX)["Cite as"] == BIBTEX


def answered(times: dict[str, list[float | None]]) -> tuple[Judgement, ...]:
    return tuple(
        Judgement("q", f"d{at}", name, 1, lead_time=time) for name, of in times.items() for at, time in enumerate(of)
    )


def test_work_is_that_of_assessors_and_adjudicators_where_an_answer_without_a_time_is_an_average_one() -> None:
    settled = (
        Adjudication("q", "d0", "j1", 1, "hidden", (), lead_time=360.0),
        Adjudication("q", "d1", "j1", None, "hidden", (), cannot_judge="not readable", lead_time=180.0),
    )
    given = (
        *answered({"a1": [30.0, 42.0, None], "a2": [72.0]}),
        Judgement("q", "d9", "a2", 1, flags=("other account",)),
    )
    snapshot: Any = SimpleNamespace(
        outcome=SimpleNamespace(everything=given, rulings=settled),
        ws=SimpleNamespace(settings=SimpleNamespace(forecast=SimpleNamespace(fence=3.0))),
    )
    hours, timed, answers = Study(snapshot).work
    # a1: 30, 42 and an average 36 seconds; a2 72; j1 360, and 180 for a pair that could not be judged.
    assert hours == pytest.approx((30 + 42 + 36 + 72 + 360 + 180) / 3600)
    assert (timed, answers) == (5, 6)
    snapshot.outcome = SimpleNamespace(everything=answered({"a1": [None, 0.0]}), rulings=())
    assert isinstance(Study(snapshot).work.hours, Undefined)


def test_an_entry_of_bibtex_keeps_its_lines_on_the_page_and_obeys_nothing() -> None:
    about = (Fact("Makers", "</title><script>"), Fact("Licence", "CC", "https://a.example"), Fact("Cite as", BIBTEX))
    made = Document("T", "", about=about)
    text = page(made, overrides=None)
    assert "<pre>@misc{one,\n  title = {A % &amp; &lt;b&gt;}\n}</pre>" in text
    assert "<dt>Makers</dt> <dd>&lt;/title&gt;&lt;script&gt;</dd>" in text
    assert '<dd><a href="https://a.example">CC</a></dd>' in text
    assert f"- Cite as:\n\n```\n{BIBTEX}\n```\n".replace("<b>", "&lt;b>") in markdown(made)
    assert r"\paragraph{Cite as.} @misc\{one, title = \{A \% \& \textless{}b\textgreater{}\}" in latex(made)
