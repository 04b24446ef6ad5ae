"""The guidelines that people judge by: pages of the study or of the package, and their versions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annot.base.errors import InputError
from annot.base.names import check_name, sha256_of
from annot.base.records import WHOLE
from annot.base.settings import Kind
from annot.base.templating import overriding
from annot.base.words import ENGLISH, Words, read_words
from annot.store.shown import ShownVersion, as_json, hash_of_text
from annot.study.workspace import Workspace

if TYPE_CHECKING:
    from annot.labelstudio.studio_records import Screen

LONGEST_DEFINITION = 140
"""Characters; more does not fit the bar of the screen (requirement 9 of the screens)."""

NOT_FOR_ASSESSORS = ("adjudication", "labels", "queries", "sources")
"""Pages for others than assessors: settling, correcting labels, choosing queries, and the debts to the source."""

OF_ROUNDS = ("full-text", "training")
"""Pages that come before the others if the sub-study shows full texts, and if training shows gold grades."""

EXAMPLES = re.compile(r"^### For example\n.*?(?=^#{1,3} |\Z)", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"^> ?\*\*[^*\n]+\*\* +\(([^()\s]+)\): ", re.MULTILINE)
"""`> **Query** (1791179): ...`: a quoted example and the paper that it is from."""

PAGES_OF: Mapping[Kind, tuple[str, ...]] = {
    "facets": ("",),
    "topics": ("topics", ""),
    "questions": ("questions", "topics", ""),
}
"""The folders of the package in which a page is looked for, by the kind of the study."""


def read(ws: Workspace, facet: str, *, examples: bool | None = None, words: Words = ENGLISH) -> str:
    """The page of `facet`, as Markdown, with a definition that fits the screen. examples, words: as in `page`."""
    check_name(facet, tuple({**ws.settings.facets, WHOLE: ()}), what="facet")
    text = page(ws, facet, examples=examples, words=words)
    if not 0 < (length := len(definition_of(text))) <= LONGEST_DEFINITION:
        raise InputError(
            f"guidelines/{facet}.md: the definition (first paragraph after the heading) has {length} characters, "
            f"expected 1 to {LONGEST_DEFINITION}",
            hint="shorten it: the screen shows it above every pair",
        )
    return text


def shown(ws: Workspace, name: str, *, examples: bool | None = None, words: Words = ENGLISH) -> str:
    """Pages that `annot guidelines` prints: the page of a facet and the general one, or one of the others.

    examples, words: as in `page`.
    """
    if name in (*NOT_FOR_ASSESSORS, *OF_ROUNDS) and name not in ws.settings.facets:
        return page(ws, name, words=words)
    of_facet = read(ws, name, examples=examples, words=words).rstrip()
    return f"{of_facet}\n\n{page(ws, 'general', examples=examples, words=words)}"


def words_in(ws: Workspace, language: str | None) -> Words:
    """The words of a language, or of that of the study."""
    return read_words(language or ws.settings.judging.language, overrides=ws.root / "templates")


def screen(ws: Workspace, kind: Screen = "judge", words: Words = ENGLISH) -> str:
    """The labelling configuration of a screen, checked without a server."""
    from annot.labelstudio.screens import screen_of

    inputs = screen_inputs(ws, kind, words)
    values = {name: inputs[name] for name in ("labels", "language", "opinions", "published", "criteria")}
    return screen_of(kind, scale_names=inputs["scale"], **values, overrides=ws.root / "templates", words=words)


def screen_inputs(ws: Workspace, kind: Screen, words: Words = ENGLISH) -> dict[str, Any]:
    """Inputs of the configuration of a screen, besides the program's own templates."""
    settings = ws.settings
    remarks = settings.release.reasons if kind == "adjudicate" else settings.release.comments
    with_opinions = kind == "adjudicate" and settings.adjudication.ratings != "hidden"
    templates = overriding(f"{kind}.xml.j2", overrides=ws.root / "templates")
    return {
        "scale": list(settings.scale.names),
        "labels": list(labels_shown(ws)),
        "language": settings.collection.language,
        "opinions": settings.judging.per_pair if with_opinions else 0,
        "published": kind in ("judge", "adjudicate") and remarks != "left out",
        "criteria": _criteria_shown(ws, words) if kind in ("judge", "adjudicate") else {},
        "screen": settings.screen.model_dump(mode="json"),
        "templates": {path.name: sha256_of(path) for path in templates},
        **({} if words.is_plain else {"words": hash_of_text(as_json(words.shown))}),
    }


def _criteria_shown(ws: Workspace, words: Words) -> dict[str, list[str]]:
    """Meaning of each grade in a few words, by facet; only of facets whose page has it for every grade."""
    criteria_of = {}
    for facet in {**ws.settings.facets, WHOLE: ()}:
        try:
            criteria = short_criteria(page(ws, facet, words=words), len(ws.settings.scale.names))
        except InputError:
            continue  # a facet without a page: `read` says so to whoever asks about it
        if criteria:
            criteria_of[facet] = criteria
    return criteria_of


def labels_shown(ws: Workspace) -> tuple[str, ...]:
    """The sentence labels that people see and correct: none if everything is judged whole."""
    return ws.settings.labels.names if ws.settings.faceted else ()


def page(ws: Workspace, name: str, *, examples: bool | None = None, words: Words = ENGLISH) -> str:
    """A page of this name, as Markdown; a file in the study's `guidelines/` wins over the package's, and one in its
    folder of the person's language over both. A file without text is none, but for the general page.

    examples: True keeps the examples of the package's page; None keeps them if the papers that they quote are in the
    corpus, since people of another field could not follow them. words: those of the person's language.
    """
    folder = ws.root / "guidelines"
    path = folder / f"{name}.md"
    for written in (folder / words.language / f"{name}.md", path):
        if written.is_file():
            try:
                own_page = written.read_text(encoding="utf-8-sig")
            except UnicodeDecodeError as error:
                raise InputError(f"{written}: not UTF-8 text at byte {error.start}", hint="save it as UTF-8") from None
            # `annot guidelines method > guidelines/method.md`: the shell empties the file before it is read here.
            if own_page.strip() or name == "general":
                return own_page
    text = _packaged(ws, name, words)
    if text is None:
        raise InputError(f"guidelines/{name}.md: no such page", hint=f"write {path}: heading, definition, grades")
    return text if examples or (examples is None and _quotes_corpus(ws, text)) else without_examples(text)


def left_out(ws: Workspace, names: Iterable[str]) -> dict[str, int]:
    """The package's pages among these that have no examples in this study, and how many quotations each lacks."""
    own_names = {path.stem for path in (ws.root / "guidelines").glob("*.md")}
    texts = {
        name: text for name in names if name not in own_names and (text := _packaged(ws, name, ENGLISH)) is not None
    }
    return {name: len(QUOTED.findall(text)) for name, text in texts.items() if not _quotes_corpus(ws, text)}


def without_examples(text: str) -> str:
    """The page without its sections `### For example`.

    >>> without_examples("## 1 Alike\\n\\nThe same.\\n\\n### For example\\n\\n> **Query** (p1): A.\\n\\n## 0 Not\\n")
    '## 1 Alike\\n\\nThe same.\\n\\n## 0 Not\\n'
    """
    return EXAMPLES.sub("", text).rstrip() + "\n"


def _packaged(ws: Workspace, name: str, words: Words) -> str | None:
    # The package's pages are in English, whatever the language of the screen.
    unit = words_in(ws, ENGLISH.language)("keys.unit_in_guidelines")
    values = {
        "cannot_judge": words("screen.cannot_judge"),
        "topic": unit,
        "Topic": unit.capitalize(),
        "shown_as": "" if unit == "question" else f", shown as the {unit},",
    }
    for folder in PAGES_OF[ws.settings.kind]:
        packaged = files("annot.study.guideline_pages") / folder / f"{name}.md"
        if packaged.is_file():
            return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], packaged.read_text(encoding="utf-8"))
    return None


def _quotes_corpus(ws: Workspace, text: str) -> bool:
    """True if all papers that the page quotes are in the corpus, or if it quotes none."""
    quoted = frozenset(QUOTED.findall(text))
    if not quoted or not ws.has_corpus:
        return not quoted
    # Imported here alone: the arrays of papers load slowly, and most commands need none.
    from annot.store.papers import files_of

    states = [(path.name, path.stat()) for path in files_of(ws.corpus)]
    return _all_known(ws.corpus, quoted, tuple((name, at.st_ino, at.st_size, at.st_mtime_ns) for name, at in states))


@lru_cache(maxsize=64)
def _all_known(corpus: Path, ids: frozenset[str], _files: tuple[tuple[str, int, int, int], ...]) -> bool:
    """True if the corpus, as long as its files do not change, has papers of all these ids."""
    from annot.store.papers import known_ids

    return ids <= known_ids(corpus, ids)


def definition_of(text: str) -> str:
    """The first paragraph that is not a heading, as one line."""
    for block in text.split("\n\n"):
        lines = [line.strip() for line in block.strip().splitlines() if line.strip() and not line.startswith("#")]
        if lines:
            return " ".join(lines)
    return ""


_CRITERION = re.compile(r"^[-*] (\d+): (.+(?:\n[ \t]+\S.*)*)", re.MULTILINE)


def short_criteria(text: str, n_grades: int) -> list[str]:
    """Meaning of each grade, from grade 0 upward: the items of a list that begin with the grade and a colon.

    Empty if a grade has none, or two.

    >>> short_criteria("# Method\\n\\n- 1: the same steps,\\n  with the same aim\\n- 0: anything else\\n", 2)
    ['anything else', 'the same steps, with the same aim']
    >>> short_criteria("# Method\\n\\n- 1: the same steps\\n", 2)
    []
    """
    items = [(int(item[1]), " ".join(item[2].split())) for item in _CRITERION.finditer(text)]
    return [words for _, words in sorted(items)] if sorted(grade for grade, _ in items) == [*range(n_grades)] else []


def distinct(versions: Iterable[ShownVersion]) -> list[ShownVersion]:
    """Versions of one facet by their first sending: a text that was sent again is not a new version."""
    first_sent: dict[str, ShownVersion] = {}
    for sent in versions:
        first_sent.setdefault(sent.sha256, sent)
    return list(first_sent.values())
