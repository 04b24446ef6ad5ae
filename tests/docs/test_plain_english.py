"""Phrases that are not English do not come back into any text that a user reads."""

import ast
import re
from collections.abc import Iterator

import user_texts
from documented import CHECKOUT, references

PHRASES = (
    r"everybody everybody's",
    r"nobody anybody's",
    # 45: things do not stand, lie or live anywhere.
    r"\bl(?:ies?|ying|ay) (?:in|beside|there|where|under|on|below|at|next)\b",
    r"\b(?:lives?|living) (?:in|on|there)\b",
    r"\bst(?:ands?|ood|anding)\b",
    # 46: nothing is told.
    r"\b(?:is|are|was|were|be|been) told\b",
    r"\btold (?:of|at|in|by|with|where|how)\b",
    r"\btells? (?:of|whether|where|nothing|how|which)\b",
    r"\b[Ss]aid so\b",
    # 47: subject first.
    r"^(?:[A-Z][a-z]+ed|Shown|Found|Given|Taken|Sent|Left out|Looked at) (?:is|are|was|were)\b",
    r"^(?:Compared|Looked at|Left out|Counted|Asked):",
    r"^Of (?:it|them|these)\b",
    r"^Of [^,.]{1,40}:",
    # 48: a relative clause hangs on a noun.
    r"^What (?:was|were|is|are|has|have|had) [^?]*\b(?:has|have|is|are|was|were) (?:ended|gone|told|lost|out)\b",
    # 49: the passive or the role.
    r"^(?!nobody can judge$).*(?<!`)\b[Nn]obody\b",
    r"\b(?:[Ss]ome|[Ee]very|[Aa]ny)body\b",
    # 50: if and when, not where.
    r"(?:^Where|[,;:] where|^or where|\bnan where) (?:a|an|no|there|none|nothing|neither) \w+ (?:is|are|has|have)\b",
    r"\bwhere there (?:is|are) (?:none|no)\b",
    # 51: verbs with objects.
    r"[Bb]etter (?:them|the reasons)\b",
    r"\b(?:brought|handed) in\b",
    r"not as it was written",
    r"; exit code \d",
    # 52: again, not anew.
    r"\banew\b",
    r"\bbeside\b",
    r"\b(?:errs|erring)\b",
    r"\ball the same\b",
    r"\bmeanwhile\b",
    # Counts agree with their nouns; per line, per pair.
    r"\w\((?:s|ies)\)",
    r"\b(?:objects?|records?|papers?|ids?) a line\b",
    r"\bseconds a pair\b",
    # 55: more of ours.
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
)
"""What `Plain English` of the guide to writing warns of, as far as a pattern can find it."""

IN_DOCSTRINGS = (
    # 50: if and when, not where; an array has values where something holds.
    r"\b[Rr]aises? \w+ where\b",
    r"\w(?:Error|Input) where\b",
    r"\b(?:None|[Ee]mpty|[Nn]othing|none),? (?:or )?where\b",
)
"""The same for those who read the program."""


def texts_of_users() -> Iterator[str]:
    """Every text as `place: text`; headings of two words, too."""
    yield from user_texts.texts(CHECKOUT)
    for path in [CHECKOUT / "README.md", *(CHECKOUT / "docs").rglob("*.md")]:
        for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if re.match(r"#+ ", line):
                yield f"{path.relative_to(CHECKOUT)}:{at}: {line.lstrip('# ')}"
    yield from (f"settings.md: {line}" for line in references.settings())


def test_no_phrase_comes_back() -> None:
    patterns = [re.compile(phrase) for phrase in PHRASES]
    texts = list(texts_of_users())
    assert len(texts) > 3000
    assert not [text for text in texts for phrase in patterns if phrase.search(text.split(": ", 1)[1])]


def test_a_phrase_does_not_come_back_into_docstrings() -> None:
    phrase, found = re.compile("|".join(IN_DOCSTRINGS)), []
    for path in (CHECKOUT / "toolkit" / "annot").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                text = " ".join(node.value.value.split())
                found += [f"{path.relative_to(CHECKOUT)}:{node.lineno}: {text}"] if phrase.search(text) else []
    assert not found
