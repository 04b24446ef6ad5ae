"""Studies in languages other than English, from papers to pools, and what happens when the language changes."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from abstracts_in_languages import SUBJECTS, records, sentences
from annot.pools.frozen_rankings import method_settings, read_rankings
from annot.ranking.corpus import UNICODE
from annot.store.papers import read_papers
from annot.study.workspace import Workspace
from command_line import Result, annot, annot_done

BY_TERMS = ("title_tfidf", "abs_tfidf", "abs_bm25")


def study(folder: Path, language: str, *, kind: str = "topics") -> Path:
    annot_done("init", "study", "--kind", kind, folder=folder)
    say(folder / "study", language)
    return folder / "study"


def say(root: Path, language: str) -> None:
    """Write the language into annot.toml."""
    path = root / "annot.toml"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if line.startswith("language = "))
    lines[place] = f'language = "{language}"\n'
    path.write_text("".join(lines), encoding="utf-8")


def file_of(folder: Path, papers: Sequence[dict[str, str]]) -> Path:
    path = folder / "papers.jsonl"
    path.write_text("".join(json.dumps(paper, ensure_ascii=False) + "\n" for paper in papers), encoding="utf-8")
    return path


def pooled(root: Path, topics: Sequence[str], *, more: Sequence[str] = ()) -> Result:
    for number, topic in enumerate(topics):
        annot_done("query", "add", "--id", f"t{number}", "--text", topic, folder=root)
    chosen = [part for method in (*BY_TERMS, *more) for part in ("--method", method)]
    return annot_done("pool", "--per-method", "2", *chosen, folder=root)


@pytest.mark.parametrize(("language", "stated"), [("ja", "ja"), ("hi", "hi"), ("zh", "en"), ("ru", "en")])
def test_a_study_in_any_language_goes_from_papers_to_pools(tmp_path: Path, language: str, stated: str) -> None:
    """Of a text in another script than Latin, the script tells what the collection's language does not."""
    root = study(tmp_path, stated)
    added = annot_done("corpus", "add", file_of(tmp_path, records(language)), "--json", folder=root).data
    assert (added["kept"], added["rejected"]) == (12, {})
    assert [paper.sentences for paper in read_papers(root / "corpus")] == [sentences(language, n) for n in range(12)]
    pooled(root, SUBJECTS[language][:3])
    ws = Workspace.open(root)
    rankings = read_rankings(ws, {method: ["t0", "t1", "t2"] for method in BY_TERMS})
    for method in BY_TERMS:
        # Each subject has words, or pairs of characters, that no other paper has.
        assert [rankings[method][f"t{n}"][0].doc_id for n in range(3)] == [f"{language}{n}" for n in range(3)], method
    assert {settings["tokens"] for settings in method_settings(ws).values()} == {UNICODE}


def test_a_language_changed_after_pools_were_drawn_draws_no_pool_beside_them(tmp_path: Path) -> None:
    root = study(tmp_path, "de")
    annot_done("corpus", "add", file_of(tmp_path, records("de")), folder=root)
    pooled(root, SUBJECTS["de"][:2])
    drawn = (root / "pools/rankings/manifest.json").read_bytes()
    annot_done("query", "add", "--id", "t2", "--text", SUBJECTS["de"][2], folder=root)
    say(root, "en")
    refused = annot("pool", "--query", "t2", folder=root)
    assert refused.exit_code == 2
    assert "by the rule 'unicode-1' of other languages, new ones would by the rules of English" in refused.message()
    assert "set `[collection] language` in annot.toml back" in refused.message()
    assert (root / "pools/rankings/manifest.json").read_bytes() == drawn
    added = annot("pool", "add", "--method", "lsa", folder=root)
    assert added.exit_code == 2
    assert "new ones would by the rules of English" in added.message()
    assert (root / "pools/rankings/manifest.json").read_bytes() == drawn
    say(root, "de")
    annot_done("pool", "--query", "t2", folder=root)
    annot_done("pool", "add", "--method", "lsa", folder=root)
    say(root, "en")
    annot_done("pool", folder=root)
    assert method_settings(Workspace.open(root))["abs_bm25"]["tokens"] == "words"


def test_a_corpus_of_two_languages_is_cut_by_each_and_ranked_by_one_rule(tmp_path: Path) -> None:
    root = study(tmp_path, "en")
    english = [
        {
            "paper_id": f"en{number}",
            "title": f"Bees of {place}",
            "abstract": f"We study the bees of {place}. It is as in Eq. (3) of Ref. [4]. They dance.",
        }
        for number, place in enumerate(("Turin", "Lyon", "Graz", "Ghent"))
    ]
    german = [{**paper, "lang": "ger"} for paper in records("de")[:4]]
    added = annot_done("corpus", "add", file_of(tmp_path, [*english, *records("ru")[:4], *german]), folder=root)
    assert "4 records: sentences were cut as Russian (ru), not as English (en)" in added.stdout
    assert "4 records: sentences were cut as German (de), not as English (en)" in added.stdout
    texts = {paper.paper_id: paper.sentences for paper in read_papers(root / "corpus")}
    assert [texts[f"{language}{n}"] for language in ("ru", "de") for n in range(4)] == [
        sentences(language, n) for language in ("ru", "de") for n in range(4)
    ]
    assert texts["en0"][1] == "It is as in Eq. (3) of Ref. [4]."
    pooled(root, ["Bees of Graz", SUBJECTS["ru"][1], SUBJECTS["de"][3]])
    best = read_rankings(Workspace.open(root), {"abs_bm25": ["t0", "t1", "t2"]})["abs_bm25"]
    assert [best[topic][0].doc_id for topic in ("t0", "t1", "t2")] == ["en2", "ru1", "de3"]


def test_texts_in_thai_are_refused_in_a_sentence_unless_they_come_as_sentences(tmp_path: Path) -> None:
    root = study(tmp_path, "th")
    thai = ["เราศึกษาการเต้นรำของผึ้งในทุ่งนา", "ผลการศึกษาพบว่าการเต้นรำชี้ทิศทาง", "ข้อสรุปของการศึกษานี้ชัดเจน"]
    paper = {"paper_id": "p", "title": "ผึ้ง"}
    for stated in ("th", "en"):
        say(root, stated)
        refused = annot("corpus", "add", file_of(tmp_path, [{**paper, "abstract": " ".join(thai)}]), folder=root)
        assert refused.exit_code == 2
        assert "found one text in Thai (th), expected a list of its sentences" in refused.message()
        assert not list((root / "corpus").glob("*.parquet"))
    added = annot_done("corpus", "add", file_of(tmp_path, [{**paper, "abstract": thai}]), "--json", folder=root)
    assert added.data["kept"] == 1


def test_a_corpus_without_a_word_is_refused_and_told_why(tmp_path: Path) -> None:
    root = study(tmp_path, "en")
    signs = [
        {"paper_id": f"p{number}", "title": "Signs", "abstract": ["+ + + +", "- - - -", "* * * *"]} for number in (1, 2)
    ]
    annot_done("corpus", "add", file_of(tmp_path, signs), folder=root)
    annot_done("query", "add", "--id", "t0", "--text", "bees", folder=root)
    refused = annot("pool", "--method", "abs_bm25", folder=root)
    assert refused.exit_code == 2
    assert "none of 2 abstracts has a word, expected texts in English (en)" in refused.message()
    assert not (root / "pools/rankings/manifest.json").exists()


TITLE = "Tänze der Käfer"
STATED = {
    "jsonl": '{"id": "p", "title": "TITLE", "abstract": "TEXT", "lang": "GER"}\n',
    "csl.json": '[{"id": "p", "type": "book", "title": "TITLE", "abstract": "TEXT", "language": "GER-AT"}]',
    "csv": "Article Title,Abstract,DOI,Language\nTITLE,TEXT,10.1000/1,GER\n",
    "bib": "@book{p, title = {TITLE}, abstract = {TEXT}, langid = {GER}}\n",
    "biblatex.bib": "@book{p, title = {TITLE}, abstract = {TEXT}, language = {GER}}\n",
    "ris": "TY  - JOUR\nTI  - TITLE\nAB  - TEXT\nLA  - GER\nID  - p\nER  - \n",
    "nbib": "PMID- 1\nTI  - TITLE\nLA  - GER\nAB  - TEXT\n",
    "other.nbib": "PMID- 1\nTI  - TITLE\nLA  - eng\nOAB - TEXT\nOABL- GER\n",
    "ciw": "FN Clarivate Analytics Web of Science\nPT J\nTI TITLE\nAB TEXT\nLA GER\nUT p\nER\n\nEF\n",
    "pubmed.xml": "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>TITLE"
    "</ArticleTitle><Abstract><AbstractText>TEXT</AbstractText></Abstract><Language>GER</Language></Article>"
    "</MedlineCitation></PubmedArticle></PubmedArticleSet>",
    "acl.xml": '<collection id="P18"><volume id="1"><meta><year>2018</year></meta><paper id="7"><title>TITLE</title>'
    "<abstract>TEXT</abstract><language>GER</language></paper></volume></collection>",
}
FOUND_AS = {"bib": "ngerman", "biblatex.bib": "german", "csl.json": "de", "ciw": "German", "csv": "German"}
"""How a kind of file names German, if not by the code of libraries."""


@pytest.mark.parametrize("kind", STATED)
def test_a_record_of_every_kind_hands_its_language_on(tmp_path: Path, kind: str) -> None:
    """A database has the language of the paper, whose abstract may be English; what is no language is no fault."""
    german = "Wir messen sie laut Abb. 3. Das Ergebnis gilt. Vgl. dazu die Tafel."
    english = "We follow the dances of these beetles with a clock. They were short and from the north. We end."
    records = [(german, FOUND_AS.get(kind, "ger"), "de")]
    if kind == "jsonl":  # what follows is the same for all kinds
        records += [(english, "ger", None), (german, "???", None)]
    for number, (text, stated, language) in enumerate(records):
        folder = tmp_path / str(number)
        folder.mkdir()
        root = study(folder, "en")
        written = STATED[kind].replace("TITLE", TITLE).replace("TEXT", text).replace("GER", stated)
        (folder / f"papers.{kind}").write_text(written, encoding="utf-8")
        annot_done("corpus", "add", folder / f"papers.{kind}", folder=root)
        (paper,) = read_papers(root / "corpus")
        assert (paper.title, paper.language) == (TITLE, language)
        assert ("Wir messen sie laut Abb. 3." in paper.sentences) == (language == "de")
