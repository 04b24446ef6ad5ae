"""What people read of a record: formulas as signs, headings as sections, notices cut, and what was done on record."""

from typing import Any

import pytest
from annot.formats.cleaning import clean, is_retracted
from annot.formats.corpora.bibtex import unicode_of_tex
from annot.formats.corpora.sections import parts_of, readable
from annot.formats.paper_records import document_of_record

MATHML = "<mml:math><mml:msup><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msup><mml:mo>+</mml:mo>{}</mml:math>"


@pytest.mark.parametrize(
    ("markup", "signs"),
    [
        ("10<sup>5</sup> cells", "10⁵ cells"),
        ("Ca<sup>2+</sup>, <sup>13</sup>C, e<jats:sup>-kt</jats:sup>", "Ca²⁺, ¹³C, e^(-kt)"),
        ("the 1<sup>st</sup> R<sup><i>2</i></sup> of A<sup>®</sup>", "the 1st R² of A®"),
        ("H<sub>2</sub>O and log<sub>2</sub>10", "H2O and log₂10"),
        ('<p dir="ltr">One.</p><h4>Two</h4>', "One. Two"),
        (MATHML.format("<mml:mfrac><mml:mn>1</mml:mn><mml:mi>k</mml:mi></mml:mfrac>"), "x²+1/k"),
        (MATHML.format("<mml:mi>&lt;&alpha;</mml:mi>").replace("&lt;", ""), "x²+α"),
        ("if 5 <sup and a<b", "if 5 <sup and a<b"),
    ],
)
def test_markup_that_means_something_becomes_signs(markup: str, signs: str) -> None:
    assert clean(markup) == signs
    assert clean(clean(markup)) == signs


@pytest.mark.parametrize(
    ("tex", "signs"),
    [
        (r"$\mathcal{L}(\theta)$", "ℒ(θ)"),
        (r"$O(n \log n)$ for $k=3$, $n$-ary, $10^{-3}$", "O(n log n) for k=3, n-ary, 10⁻³"),
        (r"$$\frac{\alpha}{\beta+1} \leq \sqrt{n}$$", "α/(β+1) ≤ √n"),
        (r"$\frac{\frac{a}{b}}{c} + \frac{c}{\frac{a}{b}} = \frac{x^{2}}{y}$", "(a/b)/c + c/(a/b) = x²/y"),
        (r"\(x_1^2\) in $\mathbb{R}^d$", "x₁² in ℝ^d"),
        (r"\documentclass[12pt]{minimal} \usepackage{amsmath} \begin{document}$$R^{2}$$\end{document}", "R²"),
        ("$5 and $10, US$5-$10 or $3 million to $5 million", "$5 and $10, US$5-$10 or $3 million to $5 million"),
        (r"C:\temp and 50% of a_b", r"C:\temp and 50% of a_b"),
    ],
)
def test_formulas_of_tex_become_signs_and_amounts_of_money_stay(tex: str, signs: str) -> None:
    assert unicode_of_tex(tex) == signs


def test_headings_in_small_letters_give_sections_where_there_are_two_of_them() -> None:
    expected = [
        ("Objective", "OBJECTIVE", "To see."),
        ("Methods", "METHODS", "We split: twice."),
        ("Results", "RESULTS", "Fine."),
    ]
    assert parts_of("Objective: To see. Methods: We split: twice. Results: Fine.") == expected
    assert parts_of("Objective. To see. Methods. We split: twice. Results. Fine.") == expected
    assert parts_of("PURPOSE: A., FINDINGS: B.") == [("PURPOSE", "OBJECTIVE", "A."), ("FINDINGS", "RESULTS", "B.")]
    for plain in (
        "We used two methods: A and B. Results: fine.",
        "Three methods: A. Patients with diabetes: many.",
        "Bees dance. They point. Results show a gain.",
        "Context: bees. In this context: two methods.",
    ):
        assert parts_of(plain) == []


@pytest.mark.parametrize(
    "abstract",
    [
        "<h4>Background</h4>Bees dance.<h4>Methods:</h4> We counted.",
        "<jats:title>Abstract</jats:title><jats:sec><jats:title>Background</jats:title><jats:p>Bees dance.</jats:p>"
        "</jats:sec><jats:sec><jats:title>Methods</jats:title><jats:p>We counted.</jats:p></jats:sec>",
        "Abstract: <b>Background:</b> Bees dance. <b>Methods</b>: We counted.",
        "(C) 2013 IEEE. Background: Bees dance. Methods: We counted. © 2013 IEEE",
    ],
)
def test_headings_in_markup_are_those_of_sections(abstract: str) -> None:
    found = readable({"title": "T", "abstract": abstract}, published=False)[0]["sections"]
    assert found == [("Background", "BACKGROUND", "Bees dance."), ("Methods", "METHODS", "We counted.")]


def test_what_was_done_is_on_record_with_the_text_as_it_came() -> None:
    came = {"paper_id": "p", "title": "On $x^2$", "abstract": "Bees <i>dance</i>. We counted. © 2021 Elsevier Ltd"}
    record, changes = readable(came, published=False)
    paper = document_of_record(record, ())
    assert (paper.title, paper.sentences) == ("On x²", ("Bees dance.", "We counted."))
    changed = changes(paper)
    assert changed is not None
    assert changed.ways == ("tags", "formulas", "a notice: copyright")
    assert changed.before == {name: came[name] for name in ("title", "abstract")}
    assert changed.notices == (("a notice: copyright", "© 2021 Elsevier Ltd"),)


@pytest.mark.parametrize("own", [{"labels": ["a"]}, {"paragraph_labels": ["a"]}, {"part_of": "d"}])
def test_a_passage_and_a_text_with_labels_stay_as_they_came(own: dict[str, Any]) -> None:
    came = {"paper_id": "p", "title": "T", "abstract": "Bees dance. © 2021 Elsevier Ltd"} | own
    assert readable(came, published=False)[0] is came


@pytest.mark.parametrize(
    ("title", "abstract", "retracted"),
    [
        ("RETRACTED: On bees", "A.", True),
        ("Retracted Article: On bees", "A.", True),
        ("On bees (Retracted article. See vol. 3, pg. 5)", "A.", True),
        ("WITHDRAWN: On bees", "A.", True),
        ("On bees", "This paper has been withdrawn by the author due to an error.", True),
        ("Retraction of the tongue in bees", "A.", False),
        ("Withdrawn: the lives of students", "Bees were withdrawn.", False),
        ("Why papers are retracted (and cited)", "This paper has been cited.", False),
    ],
)
def test_retracted_and_withdrawn_papers_are_known_by_title_or_abstract(
    title: str, abstract: str, retracted: bool
) -> None:
    paper = document_of_record({"paper_id": "p", "title": title, "abstract": abstract}, ())
    assert is_retracted({}, paper) is retracted
    assert is_retracted({"retracted": True}, paper)


@pytest.mark.parametrize(
    ("year", "expected", "noted"),
    [
        ("NA", None, 0),
        ("n.d.", None, 1),
        ("2001-05-03", 2001, 0),
        (2001.0, 2001, 0),
        ([2001], 2001, 0),
        (123456, None, 1),
        ("in press", None, 1),
    ],
)
def test_a_year_that_cannot_be_used_costs_no_paper(year: Any, expected: int | None, noted: int) -> None:
    notes: list[tuple[str, str]] = []
    record = {"paper_id": "p", "title": "T", "abstract": "A.", "year": year, "citations": 12}
    paper = document_of_record(record, (), noted=notes)
    assert (paper.year, paper.citations) == (expected, ())
    assert len(notes) == noted + 1
    bad = record | {"citations": ["c", None, "x y", 7]}
    assert document_of_record(bad, (), noted=notes).citations == ("c", "7")
