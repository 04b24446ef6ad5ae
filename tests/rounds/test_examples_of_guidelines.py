"""Examples on the pages that people judge by: not from another field in silence, and none that gives a grade away."""

import re
from pathlib import Path

from command_line import Result, annot, annot_done
from worlds import World

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
