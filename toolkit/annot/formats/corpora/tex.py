r"""What TeX says in a title or an abstract, in Unicode: accents, letters and signs, and maths on one line.

The commands are those of LaTeX's kernel and of `textcomp`, `inputenc` and `fontenc` (LaTeX2e: An unofficial reference
manual, https://latexref.xyz, "Special insertions"), with what managers of references write in their place. A command
that is not among them stays as it is, so that a person can see it.
"""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress

from annot.formats.markup import lowered, raised


def _words(text: str) -> list[str]:
    return text.split()


_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306", ".": "\u0307",
    '"': "\u0308", "h": "\u0309", "r": "\u030a", "H": "\u030b", "v": "\u030c", "G": "\u030f", "d": "\u0323",
    "textcommabelow": "\u0326", "c": "\u0327", "k": "\u0328", "b": "\u0331", "t": "\u0361",
}  # fmt: skip
"""The combining mark that each puts on the first letter of its argument."""
_DOTLESS = {"ı": "i", "ȷ": "j"}
_GREEK = _words(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi "
    "psi omega"
)
_SIGNS = {
    **dict.fromkeys("&%$#_{}", None),
    **dict.fromkeys((" ", ",", ";", ":", ">", "\\", "\n", "\t", "space", "quad", "qquad", "enspace", "thinspace"), " "),
    **dict.fromkeys(("newline", "linebreak", "enskip"), " "),
    **dict.fromkeys(("!", "/", "-", "@", "relax", "protect", "null"), ""),
    "par": "\n\n",
    "ss": "ß", "SS": "ẞ", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "o": "ø", "O": "Ø",
    "l": "ł", "L": "Ł", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ",
    "ng": "ŋ", "NG": "Ŋ",
    "S": "§", "P": "¶", "dag": "†", "ddag": "‡", "copyright": "©", "pounds": "£", "euro": "€", "EUR": "€",
    "ldots": "…", "dots": "…", "slash": "/", "lq": "‘", "rq": "’", "TeX": "TeX", "LaTeX": "LaTeX", "BibTeX": "BibTeX",
    "LaTeXe": "LaTeX2e", "XeTeX": "XeTeX", "quotesinglbase": "‚", "quotedblbase": "„", "glqq": "„", "grqq": "“",
    "guillemotleft": "«", "guillemotright": "»", "guillemetleft": "«", "guillemetright": "»", "guilsinglleft": "‹",
    "guilsinglright": "›", "flqq": "«", "frqq": "»",
    "lbrace": "{", "rbrace": "}", "textbraceleft": "{", "textbraceright": "}",
    "textless": "<", "textgreater": ">", "textbar": "|", "textbackslash": "\\", "backslash": "\\",
    "textasciitilde": "~", "textasciicircum": "^", "textasciigrave": "`", "textasteriskcentered": "*",
    "textunderscore": "_", "textdollar": "$", "textquotesingle": "'", "textquotedbl": '"', "textquoteleft": "‘",
    "textquoteright": "’", "textquotedblleft": "“", "textquotedblright": "”", "textendash": "–", "textemdash": "—",
    "textellipsis": "…", "textbullet": "•", "textperiodcentered": "·", "textdagger": "†", "textdaggerdbl": "‡",
    "textsection": "§", "textparagraph": "¶", "textexclamdown": "¡", "textquestiondown": "¿", "textdegree": "°",
    "textcelsius": "℃", "textmu": "µ", "textohm": "Ω", "textpm": "±", "texttimes": "×", "textdiv": "÷",
    "textminus": "−", "textsurd": "√", "textlnot": "¬", "textonehalf": "½", "textonequarter": "¼",
    "textthreequarters": "¾", "textonesuperior": "¹",
    "texttwosuperior": "²", "textthreesuperior": "³", "textordfeminine": "ª",
    "textordmasculine": "º", "textperthousand": "‰", "textpertenthousand": "‱", "textcopyright": "©",
    "textregistered": "®", "texttrademark": "™", "textservicemark": "℠", "textnumero": "№", "textestimated": "℮",
    "texteuro": "€", "textsterling": "£", "textyen": "¥", "textcent": "¢", "textcurrency": "¤", "textflorin": "ƒ",
    "textbrokenbar": "¦", "textleftarrow": "←", "textrightarrow": "→", "textuparrow": "↑", "textdownarrow": "↓",
    "textvisiblespace": "␣", "textschwa": "ə",
    "pm": "±", "mp": "∓", "times": "×", "div": "÷", "cdot": "·", "le": "≤", "leq": "≤", "leqslant": "⩽", "ge": "≥",
    "geq": "≥", "geqslant": "⩾", "ll": "≪", "gg": "≫", "ne": "≠", "neq": "≠", "approx": "≈", "sim": "∼", "simeq": "≃",
    "cong": "≅", "equiv": "≡", "propto": "∝", "infty": "∞", "partial": "∂", "nabla": "∇", "sum": "∑", "prod": "∏",
    "int": "∫", "in": "∈", "subset": "⊂", "cup": "∪", "cap": "∩", "forall": "∀", "exists": "∃", "to": "→",
    "rightarrow": "→", "leftarrow": "←", "leftrightarrow": "↔", "uparrow": "↑", "downarrow": "↓", "Rightarrow": "⇒",
    "prime": "′", "circ": "∘", "bullet": "∙", "hbar": "ħ", "ell": "ℓ", "varepsilon": "ε", "varphi": "φ",
    "vartheta": "ϑ", "varsigma": "ς", "odot": "⊙", "otimes": "⊗", "oplus": "⊕", "langle": "⟨", "rangle": "⟩",
    "mid": "|", "vert": "|", "emptyset": "∅", "lesssim": "≲", "gtrsim": "≳", "mapsto": "↦", "star": "⋆",
    "cdots": "⋯", "perp": "⊥", "wedge": "∧", "vee": "∨", "neg": "¬", "lfloor": "⌊", "rfloor": "⌋",
    "lceil": "⌈", "rceil": "⌉", "degree": "°",
}  # fmt: skip
"""The text of a command without an argument; None: the command itself."""
for _name in _GREEK:
    # Unicode has `LAMDA`.
    _letter = _name.upper().replace("LAMBDA", "LAMDA")
    for _command, _size in ((_name, "SMALL"), (_name.capitalize(), "CAPITAL")):
        _SIGNS[_command] = _SIGNS[f"text{_command}"] = unicodedata.lookup(f"GREEK {_size} LETTER {_letter}")
_SHAPES = _words(
    "textit textbf textsc textsl texttt textrm textsf textup textmd textnormal text emph em it bf sc sl tt rm sf "
    "itshape bfseries scshape slshape upshape ttfamily sffamily rmfamily mdseries normalfont mbox hbox underline uline "
    "ensuremath mathrm url path nolinkurl mkbibemph mkbibitalic mkbibbold textsuperscript textsubscript "
    "MakeUppercase MakeLowercase NoCaseChange nocase small"
)
"""Commands for the look or the link of what follows: only they and the braces are removed."""
_QUOTES = frozenset(("enquote", "mkbibquote"))
_UNSEEN = frozenset(("href", "foreignlanguage", "textcolor", "noopsort", "hspace", "vspace", "label"))
"""Their first argument is not part of the text."""

_NEEDED = re.compile(r"[\\{}]|--|[`~]|\$[<>|]\$")
_TOKEN = re.compile(
    r"(?P<maths>\$\$[^$]{1,2000}+\$\$|\$(?=[^\s$])(?:[^$\\]|\\.){1,2000}+(?<=\S)\$(?!\d)|\\\((?:[^()\\]|\\[^()]){1,2000}+\\\))"
    r"|\\(?P<command>[A-Za-z]+(?:\*|\s*)|.)"
    r"|(?P<brace>[{}])"
    # A tilde that stands for a space has something on both sides: `J.~Doe`, not `about ~5` or `/~doe`.
    r"|(?P<print>(?<!-)---?(?!-)|``|''|(?<=[\w.,;:)\]}'])~(?=\S))"
    r"|[^\\{}$`'~-]+|.",
    re.DOTALL,
)
_PRINT = {"---": "—", "--": "–", "~": " ", "``": "“", "''": "”"}
_PLAIN_MATHS = {f"${sign}$": sign for sign in "<>|"}
"""Signs that old fonts have only in maths."""
_DEEPEST = 100
"""Commands inside so many braces are left out: each is applied to all that it encloses."""


def unicode_of(text: str, *, in_print: bool = True) -> str:
    r"""`text` without TeX's commands and braces.

    in_print: whether `--`, ` `` ` and `~` mean a dash, a quotation mark and a space, as in texts; in ids they do not.

    >>> unicode_of(r"{\"O}konomie \& {DNA}: the \textit{na\"{\i}ve} reader, pp.~1--2, $x^{2}$")
    'Ökonomie & DNA: the naïve reader, pp. 1–2, $x^{2}$'
    """
    if not _NEEDED.search(text):
        return text
    reading = _Reading()
    quoted = "``" in text
    for token in _TOKEN.finditer(text):
        found = token[0]
        match token.lastgroup:
            case "command":
                reading.command(token["command"], before_brace=text.startswith("{", token.end()))
            case "brace" if found == "{":
                reading.open()
            case "brace":
                reading.close()
            case "maths":
                reading.put(_PLAIN_MATHS.get(found, found))
            case "print" if in_print and (quoted or found != "''"):
                reading.put(_PRINT[found])
            case _:
                reading.text(found)
    return reading.whole()


class _Reading:
    """The text read so far, and the commands that wait for their argument."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._waiting: list[str] = []
        self._groups: list[tuple[int, list[str]]] = []
        """For each open brace: where in the parts it begins, and the commands whose argument it is."""

    def put(self, part: str) -> None:
        """A part of the text, the argument of the commands that wait."""
        while self._waiting:
            part = _applied(self._waiting.pop(), part)
        self._parts.append(part)

    def text(self, text: str) -> None:
        """Plain text, whose first letter is the argument of the commands that wait."""
        if self._waiting:
            text = text.lstrip()
            if not text:
                return
            self.put(text[0])
            text = text[1:]
        self._parts.append(text)

    def command(self, command: str, *, before_brace: bool) -> None:
        name = command.rstrip("*\n\t ") or command
        if name in _SIGNS:
            sign = _SIGNS[name]
            self.put(name if sign is None else sign)
        elif name in _ACCENTS or name in _QUOTES or name in _UNSEEN or (name not in _SHAPES and before_brace):
            if len(self._groups) < _DEEPEST:
                self._waiting.append(name)
        elif name not in _SHAPES:
            self.put(f"\\{command}")

    def open(self) -> None:
        self._groups.append((len(self._parts), self._waiting))
        self._waiting = []

    def close(self) -> None:
        """The end of a group; a brace that closes no group is ignored."""
        if not self._groups:
            return
        if self._waiting:
            self.put("")
        start, self._waiting = self._groups.pop()
        if self._waiting:
            within = "".join(self._parts[start:])
            del self._parts[start:]
            self.put(within)

    def whole(self) -> str:
        while self._groups:
            self.close()
        if self._waiting:
            self.put("")
        return "".join(self._parts)


def _applied(command: str, argument: str) -> str:
    if command in _UNSEEN:
        return ""
    if command in _QUOTES:
        return f"“{argument}”"
    mark = _ACCENTS.get(command)
    if mark is None:
        return f"\\{command}{{{argument}}}"
    if command == "." and argument in _DOTLESS:
        return _DOTLESS[argument]
    letter = _DOTLESS.get(argument[:1], argument[:1])
    if letter.isalpha():
        return unicodedata.normalize("NFC", letter + mark) + argument[1:]
    # An accent alone is the sign itself: `\~{}`. Before what is no letter it was not meant: `\u00e9`, `\"(`.
    if command.isalpha():
        return argument and f"\\{command}{argument}"
    return command + argument


_DOCUMENT = re.compile(
    r"\\documentclass(?:[^\\]|\\(?!begin\{document\}|documentclass))*\\begin\{document\}|\\end\{document\}"
)
"""What Springer's abstracts have around each formula."""
_MATHS = re.compile(
    rf"{_TOKEN.pattern.partition('|' + chr(92) * 2 + '(?P<command>')[0]}|\\\[([^$\[\]]{{1,2000}}+)\\\]", re.DOTALL
)
_MARKED = re.compile(r"[\\^_{}]")
_LETTERS = re.compile(r"[A-Za-z]{3}")
_GROUP = re.compile(r"(\\[A-Za-z]+|[\^_])?\s*\{([^{}]*)\}")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_BARE = re.compile(r"\\([A-Za-z]+)\*?(\s*)|\\(.)", re.DOTALL)
_MARK = re.compile(r"([\^_])\s*(\S)")
_ALPHABETS = {"cal": "SCRIPT", "scr": "SCRIPT", "bb": "DOUBLE-STRUCK", "frak": "FRAKTUR"}
_OVER = {"hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "bar": "\u0304", "overline": "\u0304", 
         "dot": "\u0307", "ddot": "\u0308", "vec": "\u20d7"}  # fmt: skip
_SIZES = _words("left right big Big bigg Bigg bigl bigr displaystyle textstyle limits nolimits")


def with_signs(text: str) -> str:
    r"""`text` with its maths as signs. Amounts of money, between whose signs words are, stay.

    >>> with_signs(r"The loss $\mathcal{L}(\theta) \leq \frac{1}{n}\sum_{i} x_i^{2}$ costs $5, not $10.")
    'The loss ℒ(θ) ≤ 1/n ∑_i x_i² costs $5, not $10.'
    """
    if "$" not in text and "\\" not in text:
        return text
    return _MATHS.sub(_in_signs, _DOCUMENT.sub("", text))


def _in_signs(found: re.Match[str]) -> str:
    maths = found[0].strip("$") if found[0].startswith("$") else found[0][2:-2]
    if not _MARKED.search(maths) and (
        _LETTERS.search(maths) or (maths[:1].isdigit() and not re.search("[=<>]", maths))
    ):
        return maths if maths.replace(".", "").isdigit() else found[0]
    before = None
    while maths != before:
        before = maths
        maths = _GROUP.sub(_group, _FRACTION.sub(lambda parts: f"{{{_over(parts[1])}/{_over(parts[2])}}}", maths))
    maths = _MARK.sub(lambda mark: _script(mark[1], mark[2]), _plain(maths))
    return " ".join(maths.replace("~", " ").split())


def _group(found: re.Match[str]) -> str:
    command, inner = found[1] or "", _plain(found[2])
    name = command.lstrip("\\")
    if name in ("^", "_"):
        return _script(name, inner)
    if name.startswith("math") and (alphabet := _ALPHABETS.get(name.removeprefix("math"))):
        return "".join(_styled(char, alphabet) for char in inner)
    if name in _OVER:
        return inner[:1] + _OVER[name] + inner[1:]
    if name == "sqrt":
        return f"√{inner}" if len(inner) == 1 else f"√({inner})"
    return f" {_SIGNS[name]} {inner}" if name and _SIGNS.get(name) else inner


def _script(mark: str, text: str) -> str:
    return raised(text) if mark == "^" else lowered(text)


def _over(text: str) -> str:
    shown = _plain(text).strip()
    return shown if len(shown) == 1 or shown.isalnum() else f"({shown})"


def _styled(char: str, alphabet: str) -> str:
    size = "CAPITAL" if char.isupper() else "SMALL"
    for name in (f"{alphabet} {size} {char.upper()}", f"MATHEMATICAL {alphabet} {size} {char.upper()}"):
        with suppress(KeyError):
            return unicodedata.lookup(name)
    return char


def _plain(text: str) -> str:
    """Commands without an argument as their signs, or as their names: `\\log`."""

    def sign(found: re.Match[str]) -> str:
        name = found[1] or found[3]
        if name in _SIZES or name in _SHAPES or name.startswith("math"):
            return ""
        known = _SIGNS.get(name, name)
        return (name if known is None else known) + (" " if found[2] else "")

    return _BARE.sub(sign, text)
