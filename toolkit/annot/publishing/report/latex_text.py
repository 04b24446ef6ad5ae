"""Text as LaTeX has it: special characters escaped, and those that pdfLaTeX's fonts lack still printed somehow."""

from __future__ import annotations

import re
import unicodedata

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "‘": r"\textquoteleft{}",
    "’": r"\textquoteright{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "†": r"\textdagger{}",
    "‡": r"\textdaggerdbl{}",
    "…": r"\ldots{}",
    "−": r"\ensuremath{-}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "×": r"\ensuremath{\times}",
    "α": r"\ensuremath{\alpha}",
    "κ": r"\ensuremath{\kappa}",
    "ρ": r"\ensuremath{\rho}",
    "τ": r"\ensuremath{\tau}",
}
"""What has a meaning of its own in LaTeX, and the signs that the reports are likely to have."""
_TYPED = re.compile("`([^`]+)`")
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w|\s|$)")
_LIGATURE = re.compile(r"([-,])(?=\1)")
"""Two hyphens or commas in a row, of which TeX makes one sign."""
_IN_T1 = frozenset(map(chr, [*range(0x20, 0x7F), *range(0xC0, 0x17F)])) - frozenset("×÷ĦħĿŀŊĸŉŦŧ")
"""Letters that every LaTeX prints with the font encoding T1."""


def escape(text: str) -> str:
    r"""`text` as one line that LaTeX prints as it is; control characters are blanks.

    >>> escape("50% of a_1 & b")
    '50\\% of a\\_1 \\& b'
    >>> escape("don't --help")
    "don't -{}-help"
    """
    letters = unicodedata.normalize("NFC", text)
    line = " ".join(
        "".join(" " if unicodedata.category(letter) in ("Cc", "Cf") else letter for letter in letters).split()
    )
    # An apostrophe within or after a word is the one that LaTeX prints by itself.
    escaped = "'".join("".join(map(_letter, part)) for part in _APOSTROPHE.split(line))
    return _LIGATURE.sub(r"\1{}", escaped)


def inline(text: str) -> str:
    r"""A sentence in which what stands between backticks is set as what one types.

    >>> inline("made by `annot qrels`")
    'made by \\texttt{annot qrels}'
    """
    parts = _TYPED.split(text)
    return "".join(rf"\texttt{{{escape(part)}}}" if at % 2 else _with_ends(part) for at, part in enumerate(parts))


def _with_ends(text: str) -> str:
    """Escaped, with the blanks at both ends that `escape` takes away."""
    body = escape(text)
    if not body:
        return " " if text else ""
    return f"{' ' if text[:1] == ' ' else ''}{body}{' ' if text[-1:] == ' ' else ''}"


def _letter(letter: str) -> str:
    if letter in _SPECIAL:
        return _SPECIAL[letter]
    return letter if letter in _IN_T1 else rf"\annotchar{{{ord(letter):04X}}}"
