"""Ids that differ only in case, Unicode form or a ligature are named when they are added, and both are kept."""

from pathlib import Path

from command_line import annot_done


def test_topics_are_compared_with_each_other_and_with_the_study(tmp_path: Path) -> None:
    annot_done("init", "study", "--kind", "topics", folder=tmp_path)
    study = tmp_path / "study"
    plain = annot_done("query", "add", "--id", "T1", "--text", "What do bees do?", folder=study)
    assert "differ only" not in plain.stderr
    same = annot_done("query", "add", "--id", "t1", "--text", "What do ants do?", folder=study)
    assert "1 group of ids that differ only in case, Unicode form or ligatures: T1 and t1" in same.stderr
    (study / "topics.tsv").write_text("t2\tWasps\nT2\tFlies\nT3\tMoths\n", encoding="utf-8")
    several = annot_done("query", "add", "--file", "topics.tsv", "--dry-run", folder=study)
    assert "1 group of ids that differ only in case, Unicode form or ligatures: t2 and T2" in several.stderr
