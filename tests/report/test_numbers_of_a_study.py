"""A number of things has one form on every page of a study with thousands of pairs."""

import re
from pathlib import Path

from command_line import annot_done
from csfcube_study import csfcube_study

NO_WORDS = re.compile(r"<style>.*?</style>|<script.*?</script>|<desc.*?</desc>|<[^>]*>|`[^`]*`", re.DOTALL)
BARE = re.compile(r"(?<![\w.,/#:=-])\d{4,}(?![\w/]|[-:.,]\w)")
YEAR = re.compile(r"(?:19|20)\d\d")


def test_every_count_has_its_thousands_apart_and_states_of_pairs_add_up(shared: Path, tmp_path: Path) -> None:
    ws = csfcube_study(shared, tmp_path / "study")
    status = annot_done("status", folder=ws.root).stdout
    for words in (("report",), ("status", "--page")):
        annot_done(*words, folder=ws.root)
    papers = (shared / "csfcube" / "abstracts-csfcube-preds.jsonl").read_text(encoding="utf-8")
    ids = set(re.findall(r'"paper_id": "(\d+)"', papers))
    assert len(ids) > 3000
    page = (ws.cache / "status.html").read_text(encoding="utf-8")
    for name, text in (
        ("report", (ws.exports / "report.md").read_text(encoding="utf-8")),
        ("status", status),
        ("page", page),
    ):
        words = NO_WORDS.sub(" ", text)
        bare = {number for number in BARE.findall(words) if number not in ids and not YEAR.fullmatch(number)}
        assert not bare, name
    counts = [int(number.replace(",", "")) for number in re.findall(r"<li><i[^>]*></i><b>([\d,]+)</b>", page)]
    total = re.search(r"Pairs <small>([\d,]+) in all", page)
    assert total
    assert sum(counts) == int(total[1].replace(",", ""))
    # The terminal and the page have the same states.
    assert all(f"{count:,} " in status for count in counts)
