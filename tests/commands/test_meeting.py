"""The page for the talk between two batches: what stands on it, what must not, and which answers are of the period."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from annot.base.words import read_words
from annot.study.workspace import Workspace
from small_study import build

Run = Callable[..., Any]
HEADER = "query,document,assessor,grade,time,comment"
EARLIER = [(0, 0), (1, 1), (2, 2), (3, 0)]
"""Grades of Ada and Bob in the first period: equal on 3 of 4."""
LATER = [(0, 3), (1, 2), (1, 2), (2, 1), (0, 0), (None, 1)]
"""And in the second: equal on 1 of the 5 that both graded."""


@pytest.fixture
def judged(ws: Workspace, annot: Run, tmp_path: Path) -> Workspace:
    lines = [HEADER]
    for at, (ada, bob) in enumerate(EARLIER):
        lines += [f"p1-method,e{at},Ada,{ada},2031-03-0{at + 1}T09:00:00Z,", f"p1-method,e{at},Bob,{bob},2031-03-05,"]
    for at, (ada, bob) in enumerate(LATER):
        written = "" if ada is None else ada
        lines.append(
            f"p2-method,l{at},Ada,{written},2031-03-11T09:0{at}:00Z,{'Same steps | other data.' if at == 0 else ''}"
        )
        lines.append(f"p2-method,l{at},Bob,{bob},2031-03-12T09:0{at}:00Z,{'A clear zero.' if at == 4 else ''}")
    # Begun in the second period by one of them, and not yet answered by the other.
    lines.append("p2-method,half,Ada,3,2031-03-12T10:00:00Z,A secret so far.")
    path = tmp_path / "j.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert annot("import", "--as", "judgements", path).exit_code == 0
    return ws


def section(page: str, title: str) -> str:
    return re.split(r"^## ", page.split(f"## {title}\n", 1)[1], flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    found = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines() if line[:1] == "|"
    ]
    return found[2:]


def test_the_page_tells_where_they_differ_and_how_agreement_moved(judged: Workspace, annot: Run) -> None:
    # `half` has one assessor in the file, so it is whole: the plan is what the file says.
    done = annot("meeting", "--since", "2031-03-10", "--json")
    assert done.exit_code == 0, done.stderr
    assert (done.data["pairs"], done.data["differing"], done.data["held_back"]) == (7, 4, 0)
    page = (judged.exports / "meeting.md").read_text(encoding="utf-8")
    assert [row[2:4] for row in rows(section(page, "Widest gaps"))] == [
        ["l0", "0 and 3"],
        ["l1", "1 and 2"],
        ["l2", "1 and 2"],
        ["l3", "1 and 2"],
    ]
    assert rows(section(page, "Widest gaps"))[0][4] == "0: Same steps \\| other data."
    assert rows(section(page, "Grades that often differ on the same pair")) == [
        ["method", "1 and 2", "3", "5"],
        ["method", "0 and 3", "1", "5"],
    ]
    assert "no grade in the file (1)" in section(page, "Grades that often differ on the same pair")
    assert [row[2:] for row in rows(section(page, "Comments on other pairs"))] == [
        ["half", "3", "A secret so far."],
        ["l4", "0", "A clear zero."],
    ]
    figures = {tuple(row[:2]): row[2:] for row in rows(section(page, "Agreement in this period and before it"))}
    assert [figures["together", when][1] for when in ("before", "this period")] == ["4", "5"]
    assert figures["together", "before"][3].startswith("75")
    assert figures["together", "this period"][3].startswith("20")
    html = (judged.exports / "meeting.html").read_text(encoding="utf-8")
    for text in (page, html):
        assert not re.search(r"\b(a1|a2|Ada|Bob)\b", text)
        assert "Appendix" not in text
    assert "<script" not in html
    assert "Same steps | other data." in html


def test_the_page_is_in_the_words_of_the_study_and_keeps_the_lists_of_its_guidelines(ws: Workspace, annot: Run) -> None:
    build(ws, judged=40)
    assert annot("meeting").exit_code == 0
    english = rows(section((ws.exports / "meeting.md").read_text("utf-8"), "Agreement in this period and before it"))
    settings = ws.root / "annot.toml"
    settings.write_text(settings.read_text("utf-8").replace("[judging]\n", '[judging]\nlanguage = "de"\n'), "utf-8")
    page = ws.root / "guidelines" / "de" / "method.md"
    page.parent.mkdir(parents=True)
    page.write_text(
        "## 1 Verwandt\n\nEines davon genügt:\n\n- gleiche Schritte\n- Daten\n\n## 0 Irrelevant\n\nNichts.\n",
        encoding="utf-8",
    )
    assert annot("meeting").exit_code == 0
    html = (ws.exports / "meeting.html").read_text(encoding="utf-8")
    words = read_words("de", overrides=None)
    assert '<html lang="de">' in html
    for key in ("widest", "agreement", "notice", "read_again_facets", "equal_grades", "grades"):
        assert words(f"meeting.{key}") in unescape(html), key
    assert "Methode, 0 und 1" in html
    german = rows(section((ws.exports / "meeting.md").read_text("utf-8"), words("meeting.agreement")))
    too_wide = ("(interval too wide)", "[–]")
    marked = [[cell.replace(", ", "; ").replace(".", ",").replace(*too_wide) for cell in row[2:]] for row in english]
    assert [row[2:] for row in german] == marked
    assert german[-1][4] == "0,90"
    assert re.search(r"<b>1 Verwandt</b>: <p>Eines davon genügt:</p>\s*<ul>\s*<li>gleiche Schritte</li>", html)
    seen = re.sub(r"<[^>]*>", " ", re.split("<main>", html)[1])
    # Texts of papers aside, no English word is left.
    assert not re.findall(
        r"\b(the|and|pairs?|grades?|query|of|before|period)\b", re.sub(r"Title of|annot meeting", "", seen)
    )


def test_a_period_without_a_finished_pair_is_refused(judged: Workspace, annot: Run) -> None:
    refused = annot("meeting", "--since", "2031-04-01")
    assert refused.exit_code == 2
    assert "no pair was finished since 2031-04-01" in refused.stderr
    assert "the newest: 2031-03-12" in refused.stderr
