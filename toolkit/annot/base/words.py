"""Words that people who judge read on screens, in instructions and in letters, in a language.

A language is a file `templates/words/LANGUAGE.toml`, of the program or of the study. Words change what is shown; the
values that are stored are English in every language.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from annot.base.errors import InputError
from annot.base.names import check_name, counted

Entry = str | tuple[str, ...]
"""A text, a text for one and a text for many, or the names of the months."""
Entries = Mapping[str, Mapping[str, Entry]]
"""Entries by table and key."""

ENGLISH_CODE = "en"
FOLDER = "words"
"""Folder of the files in the templates."""
STUDY_NAMES = "names"
"""Table of the names of grades, labels and facets: a study may have others, and leave out some."""
ON_SCREENS = ("screen", "task", "choices", STUDY_NAMES)
"""Tables of the words that screens and tasks show, which go on record."""
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def is_english(language: str) -> bool:
    """True if a language (BCP 47) is English, of any country."""
    return language.replace("_", "-").split("-")[0].lower() == ENGLISH_CODE


@dataclass(frozen=True, eq=False)
class Words:
    """The words of one language."""

    language: str
    entries: Entries

    def __call__(self, key: str, **values: object) -> str:
        """The text under a key such as `task.place`, filled in. `count` chooses between the text for one and the other.

        >>> ENGLISH("task.rest", count=2000)
        'The rest of the document: 2,000 words'
        """
        return _PLACEHOLDER.sub(lambda match: self.written(values[match[1]]), self._text(key, values.get("count")))

    def name(self, name: str) -> str:
        """A grade, a label or a facet as it is shown; the name in annot.toml if it has no other."""
        return str(self.entries[STUDY_NAMES].get(name, name))

    def choice(self, value: str) -> str:
        """Text that is shown for a stored value."""
        return str(self.entries["choices"].get(value, value))

    def pattern(self, key: str, *, in_html: bool = False, **patterns: str) -> str:
        """Regular expression of the texts under a key, as they are or as HTML has them.

        patterns: what is filled in, as regular expressions.
        """
        entry = self._entry(key)
        texts = (entry,) if isinstance(entry, str) else entry
        texts = tuple(escape(text) for text in texts) if in_html else texts
        # The texts between placeholders are even, the names of placeholders odd.
        pieces = (_PLACEHOLDER.split(text) for text in dict.fromkeys(texts))
        forms = ("".join(patterns[p] if n % 2 else re.escape(p) for n, p in enumerate(parts)) for parts in pieces)
        return f"(?:{'|'.join(forms)})"

    def written(self, value: object) -> str:
        """A value as it is written in this language."""
        if isinstance(value, bool | str) or not isinstance(value, int | float):
            return str(value)
        return self.marked(f"{value:,}" if isinstance(value, int) else f"{value:,g}")

    def marked(self, figure: str) -> str:
        """A figure such as `1,234.5` with the marks of this language."""
        marks = {",": self("numbers.thousands"), ".": self("numbers.decimal")}
        return "".join(marks.get(letter, letter) for letter in figure)

    def date(self, day: date) -> str:
        """A day with its month in words."""
        months = self._entry("numbers.months")
        return self("numbers.date", day=str(day.day), month=months[day.month - 1], year=str(day.year))

    @property
    def is_plain(self) -> bool:
        """True if these are the program's English words, which are on record nowhere."""
        return self.language == ENGLISH_CODE and self.shown == ENGLISH.shown

    @property
    def shown(self) -> dict[str, Any]:
        """Words that screens and tasks show, with their language, as JSON has them: they are put on record."""
        tables = {table: self.entries[table] for table in ON_SCREENS}
        return dict(json.loads(json.dumps({"language": self.language, **tables})))

    def _entry(self, key: str) -> Entry:
        table, _, name = key.partition(".")
        return self.entries[table][name]

    def _text(self, key: str, count: object) -> str:
        entry = self._entry(key)
        return entry if isinstance(entry, str) else entry[0 if count == 1 else -1]


def read_words(language: str, *, overrides: Path | None) -> Words:
    """The words of a language: the program's, and before them those of the study's file of that name.

    Words that neither has are English: an earlier study lacks those of a later release.

    overrides: the study's `templates/`. Raises InputError, with the languages that there are, for another, and for a
    file that has unknown words, or other placeholders than the English file.
    """
    return Words(language, _completed(_entries_of(language, overrides)))


def missing_words(language: str, *, overrides: Path | None) -> list[str]:
    """Lines of the English file that a language lacks, such as `screen.why = "Why?"`. Raises as `read_words`."""
    entries = _entries_of(language, overrides)
    return [
        f"{table}.{key} = {json.dumps(text, ensure_ascii=False)}"
        for table, lines in ENGLISH.entries.items()
        if table != STUDY_NAMES
        for key, text in lines.items()
        if key not in entries.get(table, {})
    ]


def recorded_words(body: Mapping[str, Any]) -> Words:
    """Words as they were put on record; those that are not on record are the program's English ones."""
    tables = {table: {key: _entry_of(value) for key, value in body[table].items()} for table in ON_SCREENS}
    return Words(body["language"], _completed(tables))


def languages(overrides: Path | None) -> tuple[str, ...]:
    """Languages with words in the program or in the study, by name."""
    names = (path.name for folder in _folders(overrides) if folder.is_dir() for path in folder.iterdir())
    return tuple(sorted({name.removesuffix(".toml") for name in names if name.endswith(".toml")}))


def _folders(overrides: Path | None) -> list[Any]:
    return [files("annot.templates") / FOLDER, *([] if overrides is None else [overrides / FOLDER])]


def _entries_of(language: str, overrides: Path | None) -> Entries:
    """The entries of the files of a language, those of the study before the program's."""
    check_name(language, languages(overrides), what="language")
    paths = [folder / f"{language}.toml" for folder in _folders(overrides)]
    entries: dict[str, dict[str, Entry]] = {}
    for path in paths:
        if path.is_file():
            for table, lines in _read(path).items():
                entries[table] = entries.get(table, {}) | lines
    if faults := list(_faults(entries)):
        raise InputError(
            f"{paths[-1]}: {counted(len(faults), 'fault')}", faults=faults, hint="see docs/howto/languages.md"
        )
    return entries


def _completed(entries: Entries) -> Entries:
    """These entries, and the English ones where there is none; a name that is not among them is shown as it is."""
    return {
        table: {**({} if table == STUDY_NAMES else english), **entries.get(table, {})}
        for table, english in ENGLISH.entries.items()
    }


def _faults(entries: Entries) -> Iterator[str]:
    """Faults of a language compared with English, in words: unknown tables and keys, other forms or placeholders."""
    for table, lines in entries.items():
        english = ENGLISH.entries.get(table)
        if english is None:
            yield f"{table}: unknown table"
            continue
        if table != STUDY_NAMES:
            yield from (f"{table}.{key}: unknown key" for key in lines if key not in english)
        for key in english.keys() & lines.keys():
            unknown = _placeholders(lines[key]) - _placeholders(english[key])
            if unknown or _form(english[key]) != _form(lines[key]):
                yield f"{table}.{key}: found {lines[key]!r}, expected the form and placeholders of {english[key]!r}"


@cache
def _form(entry: Entry) -> object:
    """Number of forms, and placeholders of the last. One may do for all numbers; the first may leave the number out."""
    return (0, _placeholders(entry)) if isinstance(entry, str) else (max(len(entry), 2), _placeholders(entry[-1]))


@cache
def _placeholders(entry: Entry) -> frozenset[str]:
    # Of hundreds of entries, for each page of guidelines and so for each task.
    return frozenset(_PLACEHOLDER.findall("".join(entry)))


def _read(path: Any) -> dict[str, dict[str, Entry]]:
    try:
        return _tables(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}", hint="save it as UTF-8 text") from None
    except (AttributeError, TypeError):
        raise InputError(f"{path}: expected tables of texts, as in the file of English") from None


@cache
def _tables(text: str) -> dict[str, dict[str, Entry]]:
    # Each page of guidelines asks for them.
    tables = tomllib.loads(text)
    return {table: {key: _entry_of(value) for key, value in lines.items()} for table, lines in tables.items()}


def _entry_of(value: Any) -> Entry:
    if isinstance(value, str) and "\n" not in value:
        return value
    if isinstance(value, list | tuple) and value and all(isinstance(text, str) and "\n" not in text for text in value):
        return tuple(value)
    raise TypeError


ENGLISH = Words(ENGLISH_CODE, _read(files("annot.templates") / FOLDER / f"{ENGLISH_CODE}.toml"))
