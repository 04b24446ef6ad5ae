"""A study with facets of its own names, whose labels are those of PubMed's structured abstracts, up to its pools."""

from pathlib import Path

import pytest
from annot.base.records import Source
from annot.store import facet_labels
from annot.study.workspace import Workspace
from command_line import annot, annot_done

SETTINGS = """
[labels]
names = ["aim", "approach", "findings"]

[facets]
purpose = ["aim"]
approach = ["approach"]
findings = ["findings"]

[pool]
methods = ["title_tfidf", "abs_tfidf"]
per_method = 3
"""
LINES = """
[labels.sections]
aim = ["Objective"]
approach = ["Methods", "Participants"]
findings = ["Results", "Conclusions", "Implications"]
"""
CURES = ("peppermint tea", "slow waltzes", "cold porridge", "woollen socks")


def article(number: int) -> str:
    cure, other = CURES[number % 4], CURES[(number + 1) % 4]
    parts = (
        ("PURPOSE", "OBJECTIVE", f"We asked whether {cure} is better than {other} against hiccups."),
        ("PARTICIPANTS:", "UNASSIGNED", f"We enrolled {40 + number} adults who hiccup. All gave consent in writing."),
        ("FINDINGS", "RESULTS", f"Hiccups fell by {10 + number} percent with {cure} in four weeks."),
        ("IMPLICATIONS", "CONCLUSIONS", f"People who hiccup should be offered {cure}."),
    )
    sections = "".join(
        f'<AbstractText Label="{name}" NlmCategory="{of}">{text}</AbstractText>' for name, of, text in parts
    )
    plain = "<AbstractText>Hiccups are common. They are a nuisance too. Many cures are known.</AbstractText>"
    return f"""<PubmedArticle><MedlineCitation><PMID>{number}</PMID><Article><Journal><JournalIssue><PubDate>
    <Year>{2000 + number}</Year></PubDate></JournalIssue></Journal><ArticleTitle>Trial {number} of {cure}</ArticleTitle>
    <Abstract>{sections if number < 13 else plain}</Abstract></Article></MedlineCitation></PubmedArticle>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve papers with sections, and one without."""
    (tmp_path / "annot.toml").write_text(SETTINGS)
    annot_done("init", folder=tmp_path)
    articles = "".join(map(article, range(1, 14)))
    (tmp_path / "pubmed.xml").write_text(f"<PubmedArticleSet>{articles}</PubmedArticleSet>")
    return tmp_path


def test_a_study_with_facets_of_its_own_goes_to_its_pools_without_a_model(folder: Path) -> None:
    (folder / "annot.toml").write_text(SETTINGS + LINES)
    annot_done("corpus", "add", "pubmed.xml", folder=folder)
    labelled = annot("facets", folder=folder)
    assert (labelled.exit_code, "without labels: 13" in labelled.stdout) == (1, True)
    annot_done("facets", "--leave-out", folder=folder)
    ws = Workspace.open(folder)
    with ws.reading() as session:
        labels = {one.paper_id: one for one in facet_labels.read_labels(session)}
    assert {one.origin for one in labels.values()} == {Source.CARRIED}
    assert labels["7"].labels == ("aim", "approach", "approach", "findings", "findings")
    assert "sentences 4, 5" in annot_done("query", "add", "7", "--facet", "findings", folder=folder).stdout
    annot_done("index", folder=folder)
    (pool,) = annot_done("pool", "--json", folder=folder).data["pools"]
    assert pool["topic_id"] == "7"
    shown = annot_done("pool", "show", "7", "--json", folder=folder).data["entries"]
    assert len(shown) >= 3
    assert "13" not in {entry["doc_id"] for entry in shown}


def test_headings_without_a_label_are_listed_with_the_line_to_add(folder: Path) -> None:
    (folder / "annot.toml").write_text(SETTINGS + LINES.replace(', "Participants"', ""))
    shown = annot_done("corpus", "add", "pubmed.xml", folder=folder).stdout
    assert 'LABEL = ["PARTICIPANTS"]' in shown
    assert Workspace.open(folder).has_corpus
