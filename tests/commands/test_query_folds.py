"""Folds that are drawn say what their sides share."""

from pathlib import Path

from command_line import annot_done
from study_stages import copied
from topic_study import OfTopics


def test_copies_among_texts_are_in_one_fold_and_no_column_counts_what_is_judged_whole(tmp_path: Path) -> None:
    folder = copied(OfTopics(), "queried", tmp_path / "study").root
    for name in ("T8", "T9"):
        annot_done("query", "add", "--text", "Tea and the heart", "--id", name, folder=folder)
    drawn = annot_done("query", "folds", "--folds", "2", folder=folder)
    assert "T8 and T9 are in one fold: their texts are nearly the same" in drawn.stderr
    heading, _, *rows = drawn.stdout.splitlines()
    assert heading.split() == ["fold", "topics"]
    assert sorted(int(row.split()[1]) for row in rows) == [3, 3]
    again = annot_done("query", "folds", "--folds", "2", folder=folder)
    assert again.stdout == drawn.stdout
