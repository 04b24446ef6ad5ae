"""Phrases that are not English do not come back into any text that a user reads."""

from __future__ import annotations

import re
import sys

import pytest
from documented import CHECKOUT

sys.path.insert(0, str(CHECKOUT / "benchmarks"))
import user_texts  # it is beside the measurements

TEXTS = [text.split(": ", 1) for text in user_texts.texts(CHECKOUT)]
PHRASES = (
    r"everybody everybody's",
    r"nobody anybody's",
    r"\blies? (?:in|beside|there|where|under)\b",
    r"\bstands? (?:in|on|there|under|below|beside|above|again)\b",
    r"\b(?:is|are|was|were) told\b",
    r"\btold of\b",
    r"\b[Ss]aid so\b",
    r"\banew\b",
    r"\bit errs\b",
    r"[Bb]etter (?:them|the reasons)\b",
    r"not as it was written",
    r"puts settled pairs among others",
    r"proves? a plan",
    r"a finding or a study",
    r"is a named policy",
    r"one work on every shard",
    r"What the run lacks",
    r"The table gives, of 100",
    r"not known, as no difference",
    r"Letters: the runs",
    r"and at most 1, one for each",
    r"only 0 papers",
    r"^Write the certificate",
    r"^(?:Compared|Looked at|Left out) (?:is|are)\b",
    r"\bto nobody\b",
    r"^Of (?:it|them|these)\b",
    r"^Of [A-Z]\w+: ",
)
"""What `Plain English` of the guide to writing warns of, as far as a pattern can find it."""


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_does_not_come_back(phrase: str) -> None:
    assert not [": ".join(text) for text in TEXTS if re.search(phrase, text[1])]
