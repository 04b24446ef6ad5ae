"""TeX in titles and abstracts, as other decoders and the names of Unicode have it."""

import re
import string
import unicodedata
from itertools import product

import pytest
from annot.formats.corpora.bibtex import unicode_of
from pylatexenc.latex2text import get_default_latex_context_db

MARKS = {
    "`": "GRAVE", "'": "ACUTE", "^": "CIRCUMFLEX", "~": "TILDE", '"': "DIAERESIS", "=": "MACRON", ".": "DOT ABOVE",
    "u": "BREVE", "v": "CARON", "H": "DOUBLE ACUTE", "c": "CEDILLA", "k": "OGONEK", "r": "RING ABOVE",
    "d": "DOT BELOW", "b": "LINE BELOW", "h": "HOOK ABOVE", "G": "DOUBLE GRAVE",
}  # fmt: skip
"""The accents by the word that the names of Unicode's letters have for them."""


def named(letter: str, mark: str) -> str:
    """The letter with this mark; "" where Unicode has none of that name."""
    size = "SMALL" if letter.islower() else "CAPITAL"
    try:
        return unicodedata.lookup(f"LATIN {size} LETTER {letter.upper()} WITH {mark}")
    except KeyError:
        return ""


def test_every_letter_with_an_accent_is_the_one_that_unicode_names() -> None:
    found = 0
    for (accent, mark), letter in product(MARKS.items(), string.ascii_letters):
        if not (expected := named(letter, mark)):
            continue
        found += 1
        space = " " if accent.isalpha() else ""
        forms = [f"\\{accent}{{{letter}}}", f"{{\\{accent}{space}{letter}}}", f"\\{accent}{{{{{letter}}}}}"]
        if letter in "ij":
            forms += [f"\\{accent}{{\\{letter}}}", f"{{\\{accent}\\{letter}}}"] if accent != "." else []
        assert {unicode_of(form) for form in forms} == {expected}, forms[0]
        assert unicode_of(f"x\\{accent}{space}{letter}x") == f"x{expected}x"
    assert found > 250


OTHERWISE_THERE = {"textasciicircum", "textperiodcentered", "textphi", "textasteriskcentered"}
"""A modifier letter, a dot above, a letter of phonetics and a low asterisk: not what these commands print."""


def test_signs_are_those_of_another_decoder() -> None:
    """Compared in the form in which Greek letters of maths are those of texts."""
    compared = 0
    for macro in get_default_latex_context_db().iter_macro_specs():
        name, theirs = macro.macroname, macro.simplify_repl
        if not isinstance(theirs, str) or not theirs.strip() or not name.isalpha() or re.search("[%<]", theirs):
            continue
        ours = unicode_of(f"\\{name}{{}}")
        if ours == f"\\{name}{{}}" or name in OTHERWISE_THERE:
            continue
        compared += 1
        normal = [unicodedata.normalize("NFKC", text).replace("'", "′") for text in (ours, theirs)]
        assert normal[0] == normal[1], name
    assert compared > 150


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"Stra{\ss}e, {\AA}ngstr{\"o}m, {\O}rsted, {\L}\'{o}d\'{z}", "Straße, Ångström, Ørsted, Łódź"),
        (r"Erd{\H o}s and Erd\H{o}s, \c{S}i\c{s}man, Dvo\v{r}\'ak", "Erdős and Erdős, Şişman, Dvořák"),
        (r"R\&D at 5\% of \$3 is \#1: a\_b \{c\}", "R&D at 5% of $3 is #1: a_b {c}"),
        (r"{The {DNA} of {{BERT}}} in {\em Escherichia coli}", "The DNA of BERT in Escherichia coli"),
        (r"pp.~1--9 --- {J.}~Doe ---- x-y", "pp. 1–9 — J. Doe ---- x-y"),
        ("``Quoted'' words, 5'-end and 5''-end", "“Quoted” words, 5'-end and 5”-end"),
        (r"about ~50, https://x.org/~doe, {\textasciitilde}50, \~{}x", "about ~50, https://x.org/~doe, ~50, ~x"),
        (r"\enquote{Yes}, \href{https://x.org/a_b}{here}, \url{https://y.org}", "“Yes”, here, https://y.org"),
        (r"{\textless}i{\textgreater}p{\textless}/i{\textgreater} $<$ 0.05", "<i>p</i> < 0.05"),
        (r"A \emph{word, {\'e}t\'e", "A word, été"),
    ],
)
def test_what_tex_says(tex: str, expected: str) -> None:
    assert unicode_of(tex) == expected


@pytest.mark.parametrize(
    "maths", [r"$O(n \log n)$", r"$\mathrm{H_2O}$", r"$$x^{2} -- y$$", r"\(a_{1}~b\)", r"$\alpha$"]
)
def test_maths_stays_as_it_is(maths: str) -> None:
    assert unicode_of(f"In {{A}} {maths} {{\\'e}}") == f"In A {maths} é"


def test_what_is_not_known_stays_to_be_seen() -> None:
    text = r"as in \cite{x}, \foo bar, caf\u00e9, C:\users"
    assert unicode_of(text) == text


def test_ids_have_no_dashes_and_no_spaces() -> None:
    assert unicode_of(r"10.1007/978--3{\_}12\_x~y", in_print=False) == "10.1007/978--3_12_x~y"
