"""Reading papers by columns gives the same as reading them one by one."""

from pathlib import Path

import pyarrow.parquet
from annot.base.records import Paper
from annot.store.papers import PaperWriter, groups_of, known_ids, read_columns, read_papers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

titles = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


def written(folder: Path, names: list[str]) -> None:
    papers = [Paper(str(at), title, (f"About {title}.",)) for at, title in enumerate(names)]
    half = len(papers) // 2
    for at, part in enumerate((papers[:half], papers[half:])):
        with PaperWriter(folder, name=f"part-{at:05d}.parquet") as writer:
            for paper in part:
                writer.add(paper)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(titles, min_size=1, max_size=12))
def test_columns_and_ids_are_those_of_the_papers(tmp_path: Path, names: list[str]) -> None:
    for path in tmp_path.glob("*"):
        path.unlink()
    written(tmp_path, names)
    assert known_ids(tmp_path, {"0", "no such"}) == {"0"}
    read = [row for batch in read_columns(groups_of(tmp_path), ("paper_id", "title")) for row in batch.to_pylist()]
    assert read == [{"paper_id": paper.paper_id, "title": paper.title} for paper in read_papers(tmp_path)]


def test_each_row_group_tells_how_many_papers_it_has(tmp_path: Path) -> None:
    written(tmp_path, [str(at) for at in range(14)])
    first = tmp_path / "part-00000.parquet"
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(first), first, row_group_size=3)
    assert [(group.first, group.papers) for group in groups_of(tmp_path)] == [(0, 3), (1, 3), (2, 1), (0, 7)]
