"""Examples on the pages that people judge by: not from another field in silence, and none that gives a grade away."""

from __future__ import annotations

import re
from pathlib import Path

from annot.demo import simulated_people
from annot.study import guidelines
from annot.study.guideline_pages import __file__ as packaged_pages
from command_line import Result, annot, annot_done
from worlds import QUERY, World

PAPER_OF_SAMPLE = re.compile(r"\bfic\d{4}\b")


def run(world: World, *words: object) -> Result:
    return annot(*words, folder=world.folder)


def saved(world: World, text: str) -> Path:
    path = world.folder / "guidelines" / "method.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_people_of_another_field_read_no_example_of_the_sample_corpus(planned: World) -> None:
    planned.push()
    (read,) = {str(project["expert_instruction"]) for project in planned.studio.projects.values()}
    assert not PAPER_OF_SAMPLE.search(read)
    assert "For example" not in read
    assert "The mechanism as a whole is the same" in read


def test_a_study_of_the_sample_corpus_has_its_examples(planned: World) -> None:
    source = planned.folder / "sample.jsonl"
    source.write_text(simulated_people.corpus_text(), encoding="utf-8")
    annot_done("corpus", "add", source, folder=planned.folder)
    full = (Path(packaged_pages).parent / "method.md").read_text(encoding="utf-8")
    assert guidelines.page(planned.ws, "method") == full


def test_pages_differ_from_the_full_ones_by_whole_sections_only(planned: World) -> None:
    """Line by line: what is left is in the page as it was, in its order, with every grade and its criteria."""
    for name in ("background", "method", "result", "general"):
        full = guidelines.page(planned.ws, name, examples=True)
        bare = guidelines.page(planned.ws, name)
        lines = iter(full.splitlines())
        assert all(line in lines for line in bare.splitlines())
        assert [line for line in full.splitlines() if line.startswith(("# ", "## "))] == [
            line for line in bare.splitlines() if line.startswith("#")
        ]
        assert "> " not in bare
        assert not PAPER_OF_SAMPLE.search(bare)


def test_settled_pairs_of_the_study_become_examples_that_the_lead_completes(settled: World) -> None:
    """Of ten pairs eight have grade 1 and two grade 2; papers of the study say "Why", "How" and "What" they do it."""
    page = annot_done("guidelines", "method", "--examples", folder=settled.folder)
    two, one = (page.stdout.partition(f"## {grade} ")[2].partition("## ")[2] for grade in (2, 1))
    for below in (two, one):
        assert "> **Query** (p1): How p1." in below.partition("## ")[0]
        assert re.search(r"> \*\*Candidate\*\* \((d\d\d)\): How \1\.\n", below.partition("## ")[0])
    assert page.stdout.count("### For example") == 2
    assert not PAPER_OF_SAMPLE.search(page.stdout)
    assert not (settled.folder / "guidelines" / "method.md").exists()
    path = saved(settled, page.stdout)
    path.write_text(re.sub("WHY:.*", "Both say how.", page.stdout), encoding="utf-8")
    assert "no problems found in" in annot_done("check", "guidelines", folder=settled.folder).stdout
    # The page goes out as any change does: with a reason.
    assert "the guidelines of method have changed" in run(settled, "push").stderr


def test_nothing_is_settled_at_first_and_gold_of_the_leads_serves(planned: World) -> None:
    refused = run(planned, "guidelines", "method", "--examples")
    assert refused.exit_code == 2
    assert "no pair of method is settled, and none is gold" in refused.stderr
    gold = planned.folder / "gold.tsv"
    gold.write_text(f"query_id\tdoc_id\tgrade\twhy\n{QUERY}\td07\t3\tThe same steps.\n", encoding="utf-8")
    annot_done("train", "gold", gold, folder=planned.folder)
    page = annot_done("guidelines", "method", "--examples", folder=planned.folder)
    assert "> **Candidate** (d07): How d07.\n\nThe same steps.\n" in page.stdout
    assert "WHY" not in page.stdout
    assert f"1 pair of the page is gold ({QUERY} d07): take it out of the gold" in page.stderr
