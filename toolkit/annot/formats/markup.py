"""Markup that means something, as signs: raised and lowered text of HTML and JATS, and MathML.

>>> signs_of("10<sup>5</sup> cells, H<sub>2</sub>O, log<sub>2</sub>10")
'10⁵ cells, H2O, log₂10'
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

_RAISED = str.maketrans("0123456789+-−–=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−–=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
_HAS_SIGN = re.compile(r"[0-9+\-−–=()ni]+")
_ENDINGS = ("st", "nd", "rd", "th")
_SCRIPT = re.compile(r"<(?:\w+:)?(su[pb])\b[^<>]*>((?:[^<]|<(?!/?(?:\w+:)?su[pb]\b))*+)</(?:\w+:)?\1\s*>")
_TAG = re.compile(r"<(/?)(?:\w+:)?(\w+)[^<>]*?(/?)>")
_WITHIN = r"((?:[^<]|<(?!(?:\w+:)?(?:tex-)?math\b))*?)"
_MATHML = re.compile(rf"<((?:\w+:)?math)\b[^<>]*>{_WITHIN}</\1\s*>")
_TEX_TWICE = re.compile(rf"<((?:\w+:)?tex-math)\b[^<>]*>{_WITHIN}</\1\s*>(?=\s*<(?:\w+:)?math\b)")
_TEX = re.compile(rf"<((?:\w+:)?tex-math)\b[^<>]*>{_WITHIN}</\1\s*>")


def raised(text: str) -> str:
    """An exponent or a mark above the line: `⁵`, `²⁺`, or with a caret before it."""
    text = text.strip()
    if _HAS_SIGN.fullmatch(text):
        return text.translate(_RAISED)
    if text == "TM" or text in _ENDINGS or not any(map(str.isalnum, text)):
        return "™" if text == "TM" else text
    return f"^{text}" if text.isalnum() else f"^({text})"


def lowered(text: str) -> str:
    """An index: `₂`, or with an underscore before it."""
    text = text.strip()
    if not text or re.fullmatch(r"[0-9+\-−–=()]+", text):
        return text.translate(_LOWERED)
    return f"_{text}" if text.isalnum() else f"_({text})"


def signs_of(text: str) -> str:
    """The text with raised and lowered parts and MathML as signs; other tags stay.

    An index has signs of its own only beside a digit, so that `CO2` is the same word however it was written.
    """
    if "math" in text:
        text = _TEX.sub(lambda formula: f"${formula[2].strip().strip('$')}$", _TEX_TWICE.sub("", text))
        text = _MATHML.sub(lambda formula: _math_of(formula[0]), text)
    return _SCRIPT.sub(_script, text)


def _script(script: re.Match[str]) -> str:
    inner = _TAG.sub("", script[2])
    if script[1] == "sup":
        return raised(inner)
    text, start, end = script.string, script.start(), script.end()
    by_a_digit = (start and text[start - 1].isdigit()) or text[end : end + 1].isdigit()
    return lowered(inner) if by_a_digit else inner


def _math_of(markup: str) -> str:
    try:
        return math_text(ElementTree.fromstring(_TAG.sub(r"<\1\2\3>", markup)))
    except (ElementTree.ParseError, RecursionError):
        return _TAG.sub(" ", markup)


def math_text(element: ElementTree.Element) -> str:
    """A formula of MathML on one line."""
    name = element.tag.rpartition("}")[2]
    parts = [math_text(child) for child in element]
    if not parts:
        return "" if name.startswith("annotation") else (element.text or "").strip()
    first, *others = parts
    match name:
        case "semantics":
            return first
        case "msup":
            return first + "".join(map(raised, others))
        case "msub":
            return first + "".join(map(lowered, others))
        case "msubsup" if len(parts) == 3:
            return first + lowered(parts[1]) + raised(parts[2])
        case "mfrac" if len(parts) == 2:
            return "/".join(part if len(part) < 2 or part.isalnum() else f"({part})" for part in parts)
        case "msqrt":
            whole = "".join(parts)
            return f"√{whole}" if len(whole) == 1 else f"√({whole})"
    return "".join(parts)
