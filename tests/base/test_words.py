"""The words of each language, held against the English ones, and what a study calls its topics and documents."""

import re
from datetime import date
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.names import OF_PAPERS, StudyVocabulary
from annot.base.settings import settings_of
from annot.base.words import ENGLISH, Words, languages, missing_words, read_words, recorded_words
from annot.labelstudio.studio_records import DIFFERENCES, DIFFERENCES_OF_WHOLES, KNOWN_REASONS
from annot.publishing.report.tables import facet_column
from annot.study import snapshot
from study_stages import copied
from topic_study import GRADED, OfTopics

OTHERS = [language for language in languages(None) if language != "en"]


@pytest.fixture(params=languages(None))
def words(request: pytest.FixtureRequest) -> Words:
    return read_words(request.param, overrides=None)


def test_there_are_four_languages_with_the_same_keys_and_placeholders() -> None:
    assert languages(None) == ("de", "en", "es", "zh")
    assert not any(missing_words(language, overrides=None) for language in OTHERS)


def test_every_stored_value_and_every_name_of_a_new_study_has_a_word(words: Words) -> None:
    stored = {*KNOWN_REASONS, *(difference.value for difference in (*DIFFERENCES, *DIFFERENCES_OF_WHOLES))}
    assert words.entries["choices"].keys() == stored
    kinds = [settings_of(kind) for kind in ("facets", "topics", "questions")]
    names = {name for settings in kinds for name in (*settings.scale.names, *settings.labels.names)}
    assert names <= words.entries["names"].keys()
    for group in (stored, *(settings.scale.names for settings in kinds), kinds[0].labels.names):
        shown = [words.choice(value) if group is stored else words.name(value) for value in group]
        assert len({*shown}) == len(shown), "two that look the same"


def test_nothing_is_left_in_english(words: Words) -> None:
    if words.language == "en":
        return
    same = [
        (table, key)
        for table, lines in ENGLISH.entries.items()
        for key, text in lines.items()
        if words.entries[table][key] == text and re.search("[a-z]{4}", "".join(text))
    ]
    # Words of German and Spanish that are spelled as in English.
    assert {key for _, key in same} <= {
        *("Irrelevant", "Relevant", "Similar", "abstract", "alpha", "tables", "unit_in_guidelines")
    }


def test_numbers_and_days_are_written_as_in_the_language() -> None:
    written = {language: read_words(language, overrides=None) for language in languages(None)}
    assert [written[language].written(1234) for language in ("en", "de", "es", "zh")] == [
        "1,234",
        "1.234",
        "1.234",
        "1,234",
    ]
    day = date(2031, 3, 1)
    assert [written[language].date(day) for language in ("en", "de", "es", "zh")] == [
        *("1 March 2031", "1. März 2031", "1 de marzo de 2031", "2031年3月1日")
    ]
    assert written["de"]("letter.hours", count=2.5) == "2,5 Stunden"
    assert written["de"]("letter.hours", count=1.0) == "1 Stunde"


def test_a_pattern_finds_what_is_written_and_nothing_else(words: Words) -> None:
    pattern = re.compile(words.pattern("task.rest", count=r"[\d.,]+"))
    assert pattern.fullmatch(words("task.rest", count=1))
    assert pattern.fullmatch(words("task.rest", count=2000))
    assert not pattern.fullmatch(words("task.rest", count=2000) + " bm25")


def own(folder: Path, language: str, text: str) -> Path:
    path = folder / "words" / f"{language}.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return folder


def test_a_study_changes_single_words_and_brings_a_language_of_its_own(tmp_path: Path) -> None:
    own(tmp_path, "de", '[screen]\nwhy = "Wieso?"\n[names]\nLinked = "Verbunden"\n')
    words = read_words("de", overrides=tmp_path)
    assert (words("screen.why"), words.name("Linked"), words.name("Other")) == ("Wieso?", "Verbunden", "Other")
    assert words("screen.new") == read_words("de", overrides=None)("screen.new")
    packaged = (Path(__file__).parents[2] / "templates" / "words" / "en.toml").read_text(encoding="utf-8")
    own(tmp_path, "sco", packaged.replace('"Why?"', '"Whit wey?"'))
    assert languages(tmp_path) == ("de", "en", "es", "sco", "zh")
    assert read_words("sco", overrides=tmp_path)("screen.why") == "Whit wey?"
    assert missing_words("sco", overrides=tmp_path) == []


def test_words_that_an_earlier_study_lacks_are_english_and_named(tmp_path: Path) -> None:
    packaged = (Path(__file__).parents[2] / "templates" / "words" / "en.toml").read_text(encoding="utf-8")
    shorter = re.sub(r"(?m)^(query|rest) = .*\n", "", packaged, count=3).replace('"Why?"', '"Whit wey?"')
    own(tmp_path, "sco", shorter.replace("[names]", '[names]\nLinked = "Jyned"'))
    words = read_words("sco", overrides=tmp_path)
    assert (words("screen.why"), words("screen.query"), words.name("Linked")) == ("Whit wey?", "query", "Jyned")
    assert words("task.rest", count=2) == ENGLISH("task.rest", count=2)
    missing = dict.fromkeys(line.split(" = ")[0] for line in missing_words("sco", overrides=tmp_path))
    assert [*missing] == ["screen.query", "task.query", "task.rest"]
    # What was sent by the earlier release is read in the same way.
    recorded = {**words.shown, "task": {key: text for key, text in words.shown["task"].items() if key != "rest"}}
    assert recorded_words(recorded).shown == words.shown
    assert recorded_words({**recorded, "names": {}}).name("Relevant") == "Relevant"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[screen]\nwhi = "Pourquoi ?"\n', "screen.whi: unknown key"),
        ('[task]\nplace = "{position} sur {total}"\n', "task.place: found"),
        ('[task]\nrest = "Le reste"\n', "task.rest: found"),
        ('[screens]\nwhy = "Pourquoi ?"\n', "screens: unknown table"),
        ("why = 3\n", "expected tables of texts"),
        ("[screen]\nwhy = 3\n", "expected tables of texts"),
        ("[screen\n", "not valid TOML"),
    ],
)
def test_a_file_with_faults_is_refused_with_what_is_expected(tmp_path: Path, text: str, says: str) -> None:
    own(tmp_path, "fr", text)
    with pytest.raises(InputError) as error:
        read_words("fr", overrides=tmp_path)
    assert says in "\n".join([error.value.message, *error.value.faults])
    assert "fr.toml" in error.value.message


def test_an_unknown_language_names_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="language 'dee': not known"):
        read_words("dee", overrides=tmp_path)


OF_TEXTS = StudyVocabulary("topic", "document", faceted=False, binary=True, query="topic")


def test_units_alpha_and_reasons_follow_them() -> None:
    assert (OF_PAPERS.unit, OF_TEXTS.unit) == ("paper", "topic")
    assert (OF_PAPERS.alpha, OF_TEXTS.alpha) == ("Krippendorff's ordinal alpha", "Krippendorff's alpha")
    reason = "the value is 1 or 0, on all query papers or without one of them"
    assert OF_PAPERS.said(reason) == reason
    assert OF_TEXTS.said(reason) == "the value is 1 or 0, on all topics or without one of them"
    assert OF_TEXTS.said("Fewer than 6 queries, `query list`") == "Fewer than 6 topics, `query list`"


def test_a_facet_is_a_column_where_facets_are_judged_and_always_in_the_data() -> None:
    of_papers, of_texts = facet_column(str, OF_PAPERS), facet_column(str, OF_TEXTS)
    assert (of_papers.heading, of_papers.field) == ("Facet", "facet")
    assert (of_texts.heading, of_texts.field) == ("", "facet")


def test_the_words_of_a_study_follow_from_its_queries_topics_and_scale(tmp_path: Path) -> None:
    binary = copied(OfTopics(), "queried", tmp_path / "binary")
    mixed = copied(OfTopics(scale=GRADED, mixed=True), "queried", tmp_path / "mixed")
    assert binary.vocabulary == snapshot.read_snapshot(binary).words == OF_TEXTS
    assert mixed.vocabulary == snapshot.read_snapshot(mixed).words == StudyVocabulary("topic", "document")


def test_without_queries_annot_toml_says_whether_facets_are_judged(tmp_path: Path) -> None:
    bare = copied(OfTopics(), "labelled", tmp_path / "bare")
    assert bare.vocabulary == StudyVocabulary(faceted=False, binary=True)
