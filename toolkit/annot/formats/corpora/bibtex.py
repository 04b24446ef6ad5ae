"""BibTeX and biblatex, and TeX in titles and abstracts as Unicode."""

from __future__ import annotations

import codecs
import io
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import unquote

from annot.base.errors import InputError
from annot.formats.cleaning import subscript, superscript
from annot.formats.corpora.pieces import BrokenRecord, Format, Head, Piece, Records, encoding_fault, whole_file_piece
from annot.formats.input_files import LONGEST_LINE, WINDOWS_1252, encoding_of, opened, packaged_table, text_of
from annot.formats.paper_records import year_in

# ----------------------------------------------------------------------------------------------------------------------
# TeX of a title or an abstract as Unicode: accents, letters and symbols, and maths on one line.
#
# The commands are those of LaTeX's kernel and of `textcomp`, `inputenc` and `fontenc` (LaTeX2e: An unofficial
# reference manual, https://latexref.xyz, "Special insertions"), with what managers of references write in their
# place. A command that is not among them stays as it is, so that a person can see it.
# ----------------------------------------------------------------------------------------------------------------------


_TEX = packaged_table("tex.toml")
_ACCENTS: Mapping[str, str] = _TEX["accents"]
"""The combining mark that each puts on the first letter of its argument."""
_DOTLESS = {"ı": "i", "ȷ": "j"}
_SYMBOLS: dict[str, str | None] = {
    **dict.fromkeys("&%$#_{}"),
    **dict.fromkeys((" ", ",", ";", ":", ">", "\\", "\n", "\t", "space", "quad", "qquad", "enspace", "thinspace"), " "),
    **dict.fromkeys(("newline", "linebreak", "enskip"), " "),
    **dict.fromkeys(("!", "/", "-", "@", "relax", "protect", "null"), ""),
    **{"par": "\n\n"},
    **_TEX["signs"],
}
"""The text of a command without an argument; None: the command itself."""
for _name in _TEX["greek"].split():
    # Unicode has `LAMDA`.
    _letter = _name.upper().replace("LAMBDA", "LAMDA")
    for _command, _size in ((_name, "SMALL"), (_name.capitalize(), "CAPITAL")):
        _SYMBOLS[_command] = _SYMBOLS[f"text{_command}"] = unicodedata.lookup(f"GREEK {_size} LETTER {_letter}")
_SHAPES = {*_TEX["shapes"].split()}
"""Commands for the look or the link of the following text: only they and the braces are removed."""
_SILENT = _SHAPES | {*_TEX["sizes"].split()}
"""Commands that are removed in formulas: those of `_SHAPES`, and those for the size of brackets."""
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
_PLAIN_MATHS = {f"${symbol}$": symbol for symbol in "<>|"}
"""Signs that old fonts have only in maths."""
_DEEPEST = 100
"""Commands inside this many braces are left out: each is applied to all that it encloses."""


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
        brace = token[0]
        match token.lastgroup:
            case "command":
                reading.command(token["command"], before_brace=text.startswith("{", token.end()))
            case "brace" if brace == "{":
                reading.open()
            case "brace":
                reading.close()
            case "maths":
                reading.put(_PLAIN_MATHS.get(brace, brace))
            case "print" if in_print and (quoted or brace != "''"):
                reading.put(_PRINT[brace])
            case _:
                reading.text(brace)
    return reading.whole()


class _Reading:
    """The text read so far, and the commands that wait for their argument."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._waiting: list[str] = []
        self._groups: list[tuple[int, list[str]]] = []
        """Open braces: the position in the parts where each begins, and the commands whose argument it is."""

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
        if name in _SYMBOLS:
            symbol = _SYMBOLS[name]
            self.put(name if symbol is None else symbol)
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
    # An accent alone is the character itself: `\~{}`. Before what is no letter it was not meant: `\u00e9`, `\"(`.
    if command.isalpha():
        return argument and f"\\{command}{argument}"
    return command + argument


_DOCUMENT = re.compile(
    r"\\documentclass(?:[^\\]|\\(?!begin\{document\}|documentclass))*\\begin\{document\}|\\end\{document\}"
)
"""Markup around each formula in Springer's abstracts."""
_MATHS = re.compile(
    rf"{_TOKEN.pattern.partition('|' + chr(92) * 2 + '(?P<command>')[0]}|\\\[([^$\[\]]{{1,2000}}+)\\\]", re.DOTALL
)
_MARKED = re.compile(r"[\\^_{}]")
_LETTERS = re.compile(r"[A-Za-z]{3}")
_GROUP = re.compile(r"(?:(\\[A-Za-z]+|[\^_])\s*)?\{([^{}]*)\}")
_ARGUMENT = r"\{((?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\})*+\})*+)\}"
"""A group with up to three others in one another."""
_FRACTION = re.compile(rf"\\[dt]?frac\s*{_ARGUMENT}\s*{_ARGUMENT}(?=\s*(\\[A-Za-z]+|[^\W_])?)")
_BARE = re.compile(r"\\([A-Za-z]+)\*?(\s*)|\\(.)", re.DOTALL)
_MARK = re.compile(r"([\^_])\s*([^\s(])")
_ALPHABETS: Mapping[str, str] = _TEX["alphabets"]
_OVER: Mapping[str, str] = _TEX["over"]


def unicode_of_tex(text: str) -> str:
    r"""`text` with its maths as Unicode symbols. Amounts of money, with words between their signs, stay.

    >>> unicode_of_tex(r"The loss $\mathcal{L}(\theta) \leq \frac{1}{n}\sum_{i} x_i^{2}$ costs $5, not $10.")
    'The loss ℒ(θ) ≤ 1/n ∑_i x_i² costs $5, not $10.'
    """
    if "$" not in text and "\\" not in text:
        return text
    return _MATHS.sub(_formula, _DOCUMENT.sub("", text))


def _formula(match: re.Match[str]) -> str:
    maths = match[0].strip("$") if match[0].startswith("$") else match[0][2:-2]
    if not _MARKED.search(maths) and (
        _LETTERS.search(maths) or (maths[:1].isdigit() and not re.search("[=<>]", maths))
    ):
        return maths if maths.replace(".", "").isdigit() else match[0]
    maths = _MARK.sub(lambda mark: _script(mark[1], mark[2]), _plain(_without_groups(maths)))
    return " ".join(maths.replace("~", " ").split())


def _without_groups(maths: str) -> str:
    """Maths with its fractions on one line and without braces."""
    previous = None
    while maths != previous:
        previous = maths
        maths = _GROUP.sub(_group, _FRACTION.sub(_fraction, maths))
    return maths


def _fraction(match: re.Match[str]) -> str:
    """A fraction on one line, with a space before a sign or letter that would seem to be part of its denominator."""
    following = (match[3] or "").lstrip("\\")
    blank = " " if following and following not in _SILENT else ""
    return f"{{{_over(match[1])}/{_over(match[2])}}}{blank}"


def _group(match: re.Match[str]) -> str:
    command, inner = match[1] or "", _plain(match[2])
    name = command.lstrip("\\")
    if name in ("^", "_"):
        return _script(name, inner)
    if name.startswith("math") and (alphabet := _ALPHABETS.get(name.removeprefix("math"))):
        return "".join(_styled(char, alphabet) for char in inner)
    if name in _OVER:
        return inner[:1] + _OVER[name] + inner[1:]
    if name == "sqrt":
        return f"√{inner}" if len(inner) == 1 else f"√({inner})"
    return f" {_SYMBOLS[name]} {inner}" if name and _SYMBOLS.get(name) else inner


def _script(mark: str, text: str) -> str:
    return superscript(text) if mark == "^" else subscript(text)


def _over(text: str) -> str:
    shown = _plain(_without_groups(text) if "{" in text else text).strip()
    return shown if len(shown) == 1 or shown.isalnum() else f"({shown})"


def _styled(char: str, alphabet: str) -> str:
    size = "CAPITAL" if char.isupper() else "SMALL"
    for name in (f"{alphabet} {size} {char.upper()}", f"MATHEMATICAL {alphabet} {size} {char.upper()}"):
        with suppress(KeyError):
            return unicodedata.lookup(name)
    return char


def _plain(text: str) -> str:
    """Commands without an argument as their symbols, or as their names: `\\log`."""

    def symbol(match: re.Match[str]) -> str:
        name = match[1] or match[3]
        if name in _SILENT or name.startswith("math"):
            return ""
        known_symbol = _SYMBOLS.get(name, name)
        return (name if known_symbol is None else known_symbol) + (" " if match[2] else "")

    return _BARE.sub(symbol, text)


# ----------------------------------------------------------------------------------------------------------------------
# BibTeX and biblatex, as managers of references, publishers and DBLP write them.
#
# The syntax is BibTeX's (Patashnik: BibTeXing, 1988; Markey: Tame the BeaST, 2009), the fields are BibTeX's and
# biblatex's (https://ctan.org/pkg/biblatex). More is allowed than by BibTeX: no comma, or several, between fields; a
# key of any characters; a field twice, of which the first counts; a macro that is not defined, which becomes its
# name. Encodings: `input_files`; JabRef's `% Encoding: ...` counts in a file that is not UTF-8.
# ----------------------------------------------------------------------------------------------------------------------


_BLOCK = 1 << 20
_INDENT = 200
_MOST_JOINED = 100
_LONGEST_VALUE, _MOST_IN_MACROS = 1 << 20, 1 << 24
"""The most characters of a value with macros, and of all macros together: each line of macros can double them."""
_START = re.compile(r"@[ \t]*[A-Za-z](?:[\w-]*[ \t]*[{(]|[^\s{}()]*,[ \t]*\n)")
"""An entry; also one whose brace is missing, `@articlekey,` on a line of its own."""
_SHAPE = re.compile(
    r"@[ \t]*(?:(?:comment|preamble|string)[ \t]*[{(]"
    r"|[A-Za-z][\w-]*+[ \t]*(?:\{\s*+(?:[^,{}=\n]*+[,\n])?|\(\s*+[^,{}()=\n]++[,\n])"
    r"\s*+[A-Za-z][\w-]*+\s*+=\s*+[\w{\"])",
    re.IGNORECASE,
)
"""The beginning of a paper's entry with its first field, or of an entry that is no paper."""
_HEAD = re.compile(r"@[ \t]*([A-Za-z][\w-]*)[ \t]*([{(])")
_KEY = re.compile(r"\s*+((?![A-Za-z][\w-]*\s*=\s*[{\"\d])[^,\n}]*?)\s*(?=[,\n}]|$)")
_BETWEEN = re.compile(r"(?:[\s,]++|%[^\n]*)*")
_FIELD = re.compile(r"([^\s=,{}()\"#@%]+(?:[^\S\n]+[\w-]+){0,3})\s*=\s*")
"""A field, whose name may have spaces of any kind in it: Scopus writes `funding_text 1={`."""
_AFTER = re.compile(r"\s*+,?\s*+[A-Za-z][\w-]*\s*=\s*[{\"]")
"""A field after the end of its entry."""
_WORD = re.compile(r"[^\s#,{}()\"=]+")
_AND = re.compile(r"\s*#\s*")
_BRACE = re.compile("[{}]")
# `\"` is an accent that its writer forgot to put into braces.
_IN_QUOTES = re.compile(r'\\["\\]|[{}"]')
_ESCAPED_BRACE = re.compile(r"(?<!\\)((?:\\\\)*)\\([{}])")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_NO_PAPER = re.compile(r"@[ \t]*(?:comment|preamble|string)\b", re.IGNORECASE)
_NO_PAPERS = ("comment", "preamble", "string", "control", "ieeetranbstctl", "xdata", "set")
_BOOKS = ("book", "mvbook", "proceedings", "mvproceedings", "collection", "mvcollection")

_LINKS = ("url", "ee", "bdsk-url-1", "howpublished")
_READ = frozenset(
    (
        *("title", "subtitle", "booktitle", "abstract", "year", "date", "doi", *_LINKS),
        *("pmid", "eprint", "eprinttype", "archiveprefix", "note", "langid", "language"),
    )
)
"""The fields that are used here."""
_DOI_LINK = re.compile(r"doi\.org/(10\.\d[^\s{}]*)", re.IGNORECASE)
_PMID = re.compile(r"\bPMID:?\s*(\d+)", re.IGNORECASE)
_ENCODING = re.compile(rb"^%[ \t]*Encoding:[ \t]*(?:x-)?([\w-]+)", re.MULTILINE)
_OF_ONE_BYTE = re.compile(r"(?:cp|iso8859|mac|koi8)[\w-]*")


class _Fault(Exception):
    """The entry cannot be read because of something at this place of the text."""

    def __init__(self, position: int, words: str) -> None:
        self.at, self.words = position, words


class _Macros:
    """The text of each macro. Every style defines the months."""

    def __init__(self) -> None:
        self._values = {month[:3].lower(): month for month in _MONTHS}
        self._size = 0

    def value(self, name: str) -> str:
        return self._values.get(name.lower(), name)

    def define(self, name: str, value: str) -> None:
        self._size += len(value)
        if self._size <= _MOST_IN_MACROS:
            self._values[name] = value


def records(piece: Piece) -> Records:
    """The entries, each with the line where it begins; a macro applies from its definition on."""
    macros, line = _Macros(), 0
    with _text(Path(piece.path)) as text:
        for line, part in _joined(_parts(text, piece.path)):
            yield line, _record(part, line, macros)
    if not line:
        yield 1, BrokenRecord("no BibTeX entry", ("found no `@` with an entry at the beginning of a line",), "")


@contextmanager
def _text(path: Path) -> Iterator[TextIO]:
    with opened(path) as file:
        declared = _ENCODING.search(file.read(1 << 12))
    name = declared[1].decode("ascii", "replace") if declared else ""
    if name and encoding_of(path) == WINDOWS_1252 and (encoding := _one_byte_encoding(name)):
        with opened(path) as file, io.TextIOWrapper(file, encoding, errors="replace") as text:
            yield text
    else:
        with text_of(path) as text:
            yield text


def _one_byte_encoding(java_name: str) -> str:
    """Python's name of the encoding; "" where it is another than one of one byte a character."""
    try:
        name = codecs.lookup(java_name).name
    except LookupError:
        return ""
    return name if _OF_ONE_BYTE.fullmatch(name) else ""


def _parts(text: TextIO, name: str) -> Iterator[tuple[int, str]]:
    """The text from each `@word{` to the next, with its line. Everything before the first one is comment."""
    rest, line = "", 1
    while block := text.read(_BLOCK):
        rest += block
        if len(rest) > LONGEST_LINE:
            raise InputError(
                f"{name}:{line}: an entry of more than {LONGEST_LINE} characters, expected many short ones",
                hint="is the file in another format?",
            )
        starts = [match.start() for match in _START.finditer(rest) if _begins(rest, match.start())]
        first = starts[0] if starts else rest.rfind("\n") + 1
        line += rest.count("\n", 0, first)
        for start, stop in pairwise(starts):
            yield line, rest[start:stop]
            line += rest.count("\n", start, stop)
        rest = rest[starts[-1] if starts else first :]
    if _START.match(rest):
        yield line, rest


def _begins(text: str, position: int) -> bool:
    """True if an entry may begin here: at the beginning of a line, or after the end of another one."""
    indent = text[max(0, position - _INDENT) : position].rstrip(" \t")
    return not indent or indent[-1] in "\n})"


def _joined(parts: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Parts, several in one if an abstract has something like the beginning of an entry: the first has too few closing
    braces, and the next as many too many, or not the shape of an entry."""
    line, first = next(parts, (0, ""))
    open_parts, depth = [first], _depth(first)
    for next_line, part in parts:
        extra = _depth(part)
        inside = depth > 0 and not _NO_PAPER.match(open_parts[0]) and (depth + extra == 0 or not _SHAPE.match(part))
        if inside and len(open_parts) < _MOST_JOINED:
            open_parts.append(part)
            depth += extra
        else:
            yield line, "".join(open_parts)
            line, open_parts, depth = next_line, [part], extra
    if line:
        yield line, "".join(open_parts)


def _depth(part: str) -> int:
    return part.count("{") - part.count("}")


def _record(part: str, line: int, macros: _Macros) -> dict[str, Any] | BrokenRecord | None:
    """The entry of a part, if it is a paper's. Macros that it defines are added to the others."""
    head = _HEAD.match(part)
    if head is None:
        fault = f"{part.partition(chr(10))[0].strip()}: no brace after the kind of entry (line {line})"
        return BrokenRecord("not valid BibTeX", (fault,), part)
    try:
        entry = _entry(part, head, macros)
    except _Fault as fault:
        # BibTeX counts `\{` as a brace; those who write it do not always.
        meant = _ESCAPED_BRACE.sub(_named_brace, part)
        if meant != part:
            read = _record(meant, line, macros)
            return read._replace(record=part) if isinstance(read, BrokenRecord) else read
        key = _KEY.match(part, head.end())
        place = line + part.count("\n", 0, fault.at)
        words = f"@{head[1]} {key[1] if key else ''}".strip()
        return BrokenRecord("not valid BibTeX", (f"{words}: {fault.words} (line {place})",), part)
    return None if entry["@"] in _NO_PAPERS else encoding_fault(part) or entry


def _named_brace(match: re.Match[str]) -> str:
    return f"{match[1]}\\{'lbrace' if match[2] == '{' else 'rbrace'}{{}}"


def _entry(text: str, head: re.Match[str], macros: _Macros) -> dict[str, str]:
    """The kind of the entry as `@`, its key as `@key`, and a paper's fields of `_READ` by name in lower case, with
    macros filled in and TeX as it is."""
    kind = head[1].lower()
    if kind in ("comment", "preamble"):
        return {"@": kind}
    closing = "}" if head[2] == "{" else ")"
    position, key = head.end(), ""
    if kind != "string" and (key_match := _KEY.match(text, position)):
        position, key = key_match.end(), key_match[1]
    fields: dict[str, str] = {}
    while True:
        position = _place_after(_BETWEEN, text, position)
        if text.startswith(closing, position):
            break
        field = _FIELD.match(text, position)
        if position == len(text):
            raise _Fault(len(text.rstrip()), f"no {closing!r} before the next entry or the end")
        if field is None:
            raise _Fault(position, f"found {_shown(text, position)}, expected a field or {closing!r}")
        value, position = _value(text, field.end(), macros)
        name = field[1].lower()
        if kind == "string":
            macros.define(name, value)
        elif name in _READ:
            fields[name] = fields.get(name) or value
    if _AFTER.match(text, position + 1):
        raise _Fault(position, f"the entry ends here, but fields follow: {_shown(text, position + 1)}")
    return {**fields, "@": kind, "@key": key}


def _value(text: str, position: int, macros: _Macros) -> tuple[str, int]:
    """The value that begins here, and where it ends: texts in braces or quotation marks, numbers and macros, with `#`
    between them."""
    parts: list[str] = []
    size = 0
    while True:
        start = position
        if text.startswith("{", position):
            position = _closed(text, position)
            parts.append(text[start + 1 : position - 1])
        elif text.startswith('"', position):
            position = _quoted(text, position)
            parts.append(text[start + 1 : position - 1])
        elif word := _WORD.match(text, position):
            position = word.end()
            parts.append(macros.value(word[0]))
        size += len(parts[-1]) if parts else 0
        if len(parts) > 1 and size > _LONGEST_VALUE:
            raise _Fault(start, f"a value of more than {_LONGEST_VALUE} characters of macros")
        if (between := _AND.match(text, position)) is None:
            return parts[0] if len(parts) == 1 else "".join(parts), position
        position = between.end()


def _closed(text: str, position: int) -> int:
    """The end of the group that opens here."""
    depth = 0
    for brace in _BRACE.finditer(text, position):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    raise _Fault(position, f"this brace is not closed: {_shown(text, position)}")


def _quoted(text: str, position: int) -> int:
    """The end of the text in quotation marks that begins here; marks in braces are part of it."""
    depth = 0
    for match in _IN_QUOTES.finditer(text, position + 1):
        if match[0] == '"' and depth == 0:
            return match.end()
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth < 0:
            break
    raise _Fault(position, f"this quotation mark is not closed: {_shown(text, position)}")


def _place_after(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _shown(text: str, position: int) -> str:
    return repr(" ".join(text[position : position + 60].split())[:40])


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the paper. A book may have its title in `booktitle`; the subtitle is part of the title; the year is
    the first in `year` or `date`; a DOI may be in a link, a PMID in a note."""
    title = record.get("title") or (record.get("booktitle") if record["@"] in _BOOKS else None)
    if title and record.get("subtitle"):
        title = f"{title}: {record['subtitle']}"
    abstract = record.get("abstract")
    return {
        "key": record["@key"] or None,
        "title": unicode_of(title) if title else None,
        "abstract": unicode_of(abstract) if abstract else None,
        "year": year_in(unicode_of(record.get(name, "")) for name in ("year", "date")),
        "doi": _doi(record),
        "pmid": _pmid(record),
        "language": record.get("langid") or record.get("language"),
    }


def _doi(record: Mapping[str, Any]) -> str | None:
    if doi := _id(record.get("doi", "")):
        return doi
    links = (_DOI_LINK.search(_id(record.get(name, ""))) for name in _LINKS)
    return next((unquote(link[1]) for link in links if link), None)


def _pmid(record: Mapping[str, Any]) -> str | None:
    if pmid := _id(record.get("pmid", "")):
        return pmid
    if record.get("eprinttype", record.get("archiveprefix", "")).lower() == "pubmed":
        return _id(record.get("eprint", "")) or None
    note = _PMID.search(record.get("note", ""))
    return note[1] if note else None


def _id(text: str) -> str:
    # `$<$` is how some programs write the angles of DOIs.
    return unicode_of(text, in_print=False).strip()


def _matches(head: Head) -> bool:
    start = head.start.replace(b"\0", b"").lstrip(codecs.BOM_UTF8 + codecs.BOM_UTF16).lstrip().decode("latin-1")
    begins = (match.start() for match in _START.finditer(start) if _begins(start, match.start()))
    return start[:1] not in ("{", "[") and _SHAPE.match(start, next(begins, 0)) is not None


BIBTEX = Format("bibtex", paper=paper, records=records, cut=whole_file_piece, matches=_matches, bibliographic=True)
