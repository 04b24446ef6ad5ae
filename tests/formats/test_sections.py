"""Structured abstracts: which label the sentences of a section have, and how often which heading was met."""

from typing import Any

import pytest
from annot.base.settings import Settings
from annot.formats.corpora.sections import MOST_HEADINGS, NO_HEADING, OTHERS, USUAL, HeadingCount, SectionLabels
from annot.formats.paper_records import document_of_record
from pydantic import ValidationError

FIVE = ("background", "objective", "method", "result", "other")
OWN = ("aim", "approach", "findings")
TRIAL = [
    ("AIM", "OBJECTIVE", "Do waltzes help? We asked."),
    ("WHAT WE DID", "METHODS", "Forty adults danced.\n\nForty others sat."),
    ("RESULTS:", "", "Falls fell."),
]


def labelled(sections: list[tuple[str, str, str]], labels: SectionLabels, names: tuple[str, ...]) -> Any:
    """(sentences, labels) of the paper."""
    fields, _ = labels.applied({"paper_id": "p", "title": "T", "sections": sections})
    paper = document_of_record(fields, names)
    return paper.sentences, paper.labels


def default() -> SectionLabels:
    return SectionLabels.of(FIVE, {}, faceted=True)


def test_each_sentence_has_the_label_of_its_section_and_headings_are_no_text() -> None:
    assert labelled(TRIAL, default(), FIVE) == (
        ("Do waltzes help?", "We asked.", "Forty adults danced.", "Forty others sat.", "Falls fell."),
        ("objective", "objective", "method", "method", "result"),
    )


@pytest.mark.parametrize(
    ("heading", "category", "label"),
    [
        ("Methods", "", "method"),
        ("MATERIALS  and Methods :", "", "method"),
        ("PATIENTS", "UNASSIGNED", "method"),
        ("A HEADING OF ITS OWN", "OBJECTIVE", "objective"),
        ("", "BACKGROUND", "background"),
        # The Lancet: Background, Methods, Findings, Interpretation, Funding; NLM has no category of the last.
        ("FINDINGS", "RESULTS", "result"),
        ("INTERPRETATION", "CONCLUSIONS", "result"),
        ("FUNDING", "BACKGROUND", "other"),
        ("A HEADING OF ITS OWN", "UNASSIGNED", ""),
        ("", "", ""),
    ],
)
def test_the_usual_headings_and_the_categories_of_nlm_fit_the_default_labels(
    heading: str, category: str, label: str
) -> None:
    _, headings = default().applied({"sections": [(heading, category, "Text.")]})
    assert [heading_label for _, heading_label in headings] == [label]


def test_every_category_of_nlm_has_a_label_and_no_heading_has_two() -> None:
    assert {"BACKGROUND", "OBJECTIVE", "METHODS", "RESULTS", "CONCLUSIONS"} <= default().label_of.keys()
    assert len(default().label_of) == sum(map(len, USUAL.values()))
    assert USUAL.keys() == {*Settings().labels.names}


@pytest.mark.parametrize("part", [("PRACTICE", "UNASSIGNED", "Dance."), ("", "", "Dance.")])
def test_a_paper_with_one_part_of_no_label_comes_without_labels_and_with_all_its_text(
    part: tuple[str, str, str],
) -> None:
    sentences, labels = labelled([*TRIAL, part], default(), FIVE)
    assert (len(sentences), sentences[-1], labels) == (6, "Dance.", None)
    assert labelled([*TRIAL, (part[0], part[1], "  ")], default(), FIVE)[1] is not None


def test_a_study_with_labels_of_its_own_has_no_usual_ones_and_writes_its_lines() -> None:
    assert labelled(TRIAL, SectionLabels.of(OWN, {}, faceted=True), OWN)[1] is None
    written = Settings.model_validate(
        {
            "labels": {
                "names": list(OWN),
                "sections": {"aim": ["aim"], "approach": ["Methods"], "findings": ["Results", "Conclusions"]},
            },
            "facets": {"aim": ["aim"]},
        }
    ).labels
    own = SectionLabels.of(written.names, written.sections, faceted=True)
    assert labelled(TRIAL, own, OWN)[1] == ("aim", "aim", "approach", "approach", "findings")


def test_a_line_goes_before_the_usual_ones_and_adds_to_them() -> None:
    labels = SectionLabels.of(FIVE, {"background": ["Aim"], "other": ["PRACTICE"]}, faceted=True)
    found = labelled([*TRIAL, ("Practice", "", "Dance.")], labels, FIVE)[1]
    assert found == ("background", "background", "method", "method", "result", "other")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ({"methods": ["METHODS"]}, "unknown label 'methods'; did you mean 'method'"),
        ({"method": ["Setting"], "result": ["SETTING:"]}, "heading 'SETTING:' already belongs to 'method'"),
    ],
)
def test_a_line_of_no_label_and_a_heading_of_two_are_refused(lines: dict[str, list[str]], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Settings.model_validate({"labels": {"sections": lines}})


def test_a_study_that_judges_no_facets_keeps_the_headings_in_the_text() -> None:
    labels = SectionLabels.of(FIVE, {}, faceted=False)
    sections = [*TRIAL, ("", "", "Nobody knows.")]
    fields, headings = labels.applied({"paper_id": "p", "sections": sections})
    assert headings == ()
    assert fields == {
        "paper_id": "p",
        "abstract": "AIM: Do waltzes help? We asked.\n\nWHAT WE DID: Forty adults danced.\n\nForty others sat."
        "\n\nRESULTS: Falls fell.\n\nNobody knows.",
    }
    assert labels.applied({"abstract": "Text."}) == ({"abstract": "Text."}, ())


def test_headings_are_counted_by_paper_and_those_without_a_label_come_first() -> None:
    count = HeadingCount()
    twice = [("METHODS", "", "A."), ("methods", "", "B."), ("PRACTICE", "", "C.")]
    count.take(default().applied({"sections": sections})[1] for sections in (TRIAL, twice, [("", "", "D.")]))
    found = count.found
    assert (found.papers, found.unlabelled) == (3, 2)
    assert found.headings[:2] == ((NO_HEADING, "", 1), ("PRACTICE", "", 1))
    assert ("METHODS", "method", 1) in found.headings
    again = HeadingCount()
    for _ in range(2):
        again.remember(count.facts)
    assert (again.found.papers, again.found.headings[0]) == (6, (NO_HEADING, "", 2))
    assert HeadingCount().facts == {}


def test_headings_without_number_are_counted_together() -> None:
    count = HeadingCount()
    count.take(((f"H{at}", ""),) for at in range(MOST_HEADINGS + 5))
    assert len(count.found.headings) == MOST_HEADINGS + 1
    assert (OTHERS, "", 5) in count.found.headings
