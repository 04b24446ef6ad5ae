"""The headings of a structured abstract that comes as one text: `BACKGROUND: ... METHODS: ...`.

PubMed prints abstracts like this, and so do exports from it. A heading has a colon after it, where the abstract or a
sentence begins. In capitals, at least one of its words is one of those that the headings of MEDLINE have. In small
letters (`Background: ... Methods: ...`, or with a full stop, as Scopus and Web of Science have it), all its words are
such words or others that headings have, and the abstract has headings of two categories. Each word of MEDLINE's
headings belongs to one of the five categories of the National Library of Medicine:
Ripple, Mork, Knecht and Humphreys: A retrospective cohort study of structured abstracts in MEDLINE, 1992-2006. Journal
of the Medical Library Association 99 (2011), https://doi.org/10.3163/1536-5050.99.2.009.
"""

from __future__ import annotations

import re

_WORDS = {
    "BACKGROUND": "BACKGROUND CONTEXT IMPORTANCE INTRODUCTION KNOWN RATIONALE",
    "OBJECTIVE": "AIM AIMS GOAL GOALS HYPOTHESES HYPOTHESIS OBJECTIVE OBJECTIVES PURPOSE PURPOSES QUESTION QUESTIONS",
    "METHODS": "ANALYSES ANALYSIS ANIMAL ANIMALS APPROACH CASE CASES CRITERIA DESIGN ELIGIBILITY EXPOSURE EXPOSURES "
    "EXTRACTION INTERVENTION INTERVENTIONS MATERIAL MATERIALS MEASURE MEASUREMENT MEASUREMENTS MEASURES METHOD "
    "METHODOLOGY METHODS OUTCOME OUTCOMES PARTICIPANT PARTICIPANTS PATIENT PATIENTS POPULATION PROCEDURE PROCEDURES "
    "PROTOCOL SAMPLE SEARCH SELECTION SETTING SETTINGS SOURCE SOURCES SUBJECT SUBJECTS SYNTHESIS",
    "RESULTS": "FINDING FINDINGS OBSERVATION OBSERVATIONS RESULT RESULTS",
    "CONCLUSIONS": "COMMENT CONCLUSION CONCLUSIONS DISCUSSION IMPLICATION IMPLICATIONS INTERPRETATION LIMITATION "
    "LIMITATIONS MESSAGE MESSAGES RECOMMENDATION RECOMMENDATIONS RELEVANCE SIGNIFICANCE SUMMARY",
    "": "DISSEMINATION ETHICS EVIDENCE FUNDING KEYWORDS REGISTRATION",
}
_CATEGORY = {word: category for category, words in _WORDS.items() for word in words.split()}
_COLON = re.compile(r":\s+(?=\S)")
_COLON_OR_STOP = re.compile(r"[:.]\s+(?=\S)")
_STOPPED = ("ethods. ", "ETHODS. ", "esults. ", "ESULTS. ")
_BEFORE_COLON = re.compile(r"[A-Z][A-Za-z &/,()'’-]*\Z")
_WORD = re.compile("[A-Z]+")
_BESIDE = re.compile(
    "A|AND|AT|CLINICAL|DATA|FOR|FUTURE|IN|KEY|MAIN|MAJOR|OF|ON|OR|OUR|OVERALL|POTENTIAL|PRACTICE|PRIMARY|PRINCIPAL"
    "|RECENT|RESEARCH|REVIEW|REVIEWERS|SECONDARY|STATISTICAL|STUDY|SYSTEMATIC|THE|THIS|TO|TRIAL"
)
"""Words of headings beside those of a category."""
_SENTENCE_END = re.compile(r"[.!?][)\]\"'”’]{0,2},?\s*\Z|\n\s*\Z")
"""Ovid has a comma after each part but the last."""
_LONGEST = 80


def parts_of(abstract: str) -> list[tuple[str, str, str]]:
    """The parts of a structured abstract, as (heading, category, text); empty if the abstract has no heading.

    A text before the first heading has the heading and the category "".

    >>> parts_of("AIMS/HYPOTHESIS: To see. METHODS: We split DNA: twice. CONCLUSION: It works.")
    [('AIMS/HYPOTHESIS', 'OBJECTIVE', 'To see.'), ('METHODS', 'METHODS', 'We split DNA: twice.'), \
('CONCLUSION', 'CONCLUSIONS', 'It works.')]
    """
    stopped = any(end in abstract for end in _STOPPED)
    if ":" not in abstract and not stopped:
        return []
    headings = []
    for colon in (_COLON_OR_STOP if stopped else _COLON).finditer(abstract):
        found = _BEFORE_COLON.search(abstract, max(0, colon.start() - _LONGEST), colon.start())
        if found and (of := _category(found[0], abstract[max(0, found.start() - 8) : found.start()])) is not None:
            headings.append((found[0], of, found.start(), colon.end()))
    if len({of for _, of, _, _ in headings}) < 2:
        headings = [one for one in headings if one[0].isupper() and abstract[one[2] + len(one[0])] == ":"]
    if not headings:
        return []
    parts = []
    heading, category, begin = "", "", 0
    for name, of, start, end in headings:
        text = abstract[begin:start].strip()
        parts.append((heading, category, text.removesuffix(",") if text.endswith((".,", "?,")) else text))
        heading, category, begin = name, of, end
    parts.append((heading, category, abstract[begin:].strip()))
    return [part for part in parts if part[2]]


def _category(heading: str, before: str) -> str | None:
    """The category of what may be a heading, None if it is none.

    Of several it is the last, as NLM has it for `BACKGROUND AND AIMS`, but results go before all others.
    """
    words = _WORD.findall(heading.upper())
    of = [_CATEGORY[word] for word in words if word in _CATEGORY]
    if not of or (before.strip() and not _SENTENCE_END.search(before)):
        return None
    if not heading.isupper() and not all(word in _CATEGORY or _BESIDE.fullmatch(word) for word in words):
        return None
    return "RESULTS" if "RESULTS" in of else of[-1]
