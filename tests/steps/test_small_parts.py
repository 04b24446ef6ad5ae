"""Small parts of the steps, each by itself: sizes in words, seeds, sheets, grades, folds, and records of a training."""

from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.records import Query
from annot.base.settings import Settings
from annot.formats.judgements_file import FileJudgement, columns_of
from annot.labelstudio import server
from annot.steps import changes, imports, run, setup, vectors
from annot.study.workspace import Workspace
from small_study import FirstPairs, Small
from study_stages import copied

# -- index -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 K"),
        (1024, "1 K"),
        (1024**2 - 1024, "1020 K"),
        (1024**3, "1 G"),
        (5 * 1024**4, "5 T"),
    ],
)
def test_bytes_are_said_in_the_largest_unit_of_which_there_is_one(size: int, words: str) -> None:
    assert vectors.in_words(size) == words


@pytest.mark.parametrize(
    ("text", "size"), [("1K", 1024), ("2m", 2 * 1024**2), ("0.5G", 2**29), ("1T", 2**40), ("12K", 12 * 1024)]
)
def test_memory_is_a_number_with_a_unit(text: str, size: int) -> None:
    assert vectors.parsed_memory(text) == size


@pytest.mark.parametrize("text", ["", "4", "4X", "G", "4GB", "infG"])
def test_memory_without_a_number_or_a_unit_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected a number with a unit"):
        vectors.parsed_memory(text)


# -- runs --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tag", "fits"),
    [
        ("a" * 100, True),
        ("1.a_b+c@d-e", True),
        *((tag, False) for tag in ("a" * 101, "_a", "a b", "", "-a", "../a", "a/b")),
    ],
)
def test_a_tag_has_a_hundred_characters_at_most(tag: str, fits: bool, tmp_path: Path) -> None:
    ws = Workspace(tmp_path, Settings())
    if fits:
        run._check_tag(ws, tag, {}, (), replace=False)
        return
    with pytest.raises(InputError, match="expected letters, digits"):
        run._check_tag(ws, tag, {}, (), replace=False)


def test_a_seed_is_a_whole_number_or_none() -> None:
    assert [run._seed(value) for value in (None, 0, 3)] == [None, 0, 3]
    for wrong in (True, "3", 1.0):
        with pytest.raises(InputError, match="expected a whole number"):
            run._seed(wrong)


def test_a_ranked_pool_goes_by_the_paper_and_the_facet() -> None:
    names, known = ("p1", "p2-method"), {"p2-method"}
    assert [run._query_id(name, None, known) for name in names] == ["p1", "p2-method"]
    assert [run._query_id(name, "method", known) for name in names] == ["p1-method", "p2-method"]


# -- imports -----------------------------------------------------------------------------------------------------------


def graded(grade: int | None, line: int = 1) -> FileJudgement:
    return FileJudgement(line, "q", "d", "a1", grade, None, None, None, 1, {})


def test_grades_are_those_of_the_scale() -> None:
    imports._check_grades(columns_of([graded(0), graded(3)]), 4, name="f")
    with pytest.raises(InputError) as error:
        imports._check_grades(columns_of([graded(-1, 1), graded(4, 2), graded(None, 3), graded(3, 4)]), 4, name="f")
    assert [fault.partition(": ")[0] for fault in error.value.faults] == ["f:1", "f:2", "f:3"]
    assert all(fault.endswith("expected 0 to 3") for fault in error.value.faults)


def test_folds_are_tested_on_by_their_name_or_each_in_turn() -> None:
    queries = [Query(f"{name}-method", name, "method", (1,)) for name in ("a", "b")]
    one, other = ({query.query_id} for query in queries)

    def tested_on(**folds: set[str]) -> set[tuple[str, ...]]:
        splits = imports._splits(folds, queries).values()
        return {ids for parts in splits for part, ids in parts.items() if part.endswith("test")}

    assert tested_on(train=one, MyTest=other) == {("b-method",)}
    assert tested_on(fold1=one, fold2=other) == {("a-method",), ("b-method",)}


# -- error cases and answers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "doc", "who", "every"),
    [
        (None, None, None, False),
        ("p1-method", None, "a1", False),
        ("p1-method", "d00", None, False),
        ("p1-method", "d00", "a1", True),
    ],
)
def test_answers_are_named_by_pair_and_person_or_all(
    ws: Workspace, query: str | None, doc: str | None, who: str | None, every: bool
) -> None:
    with pytest.raises(InputError, match="expected QUERY DOC --assessor NAME, or --all"):
        changes.restore(ws, query, doc, assessor=who, every=every, dry_run=False)


def test_an_answer_that_counts_stays_and_one_that_is_not_there_is_refused(ws: Workspace) -> None:
    for who, doc in (("a1", "d00"), ("j1", "d08")):
        found = changes.restore(ws, "p1-method", doc, assessor=who, every=False, dry_run=False)
        assert found == ([], [])
    assert changes.restore(ws, None, None, assessor=None, every=True, dry_run=False) == ([], [])
    for who, doc in (("j1", "d00"), ("a1", "d99")):
        with pytest.raises(InputError, match=f"{who}: no answer to p1-method {doc}"):
            changes.restore(ws, "p1-method", doc, assessor=who, every=False, dry_run=False)


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return copied(Small(answers=FirstPairs(10)), "settled", tmp_path_factory.mktemp("parts") / "study")


# -- servers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("free", "fits"), [(None, True), (2 * 10**9, True), (2 * 10**9 - 1, False)])
def test_servers_are_started_only_if_their_memory_is_free(
    monkeypatch: pytest.MonkeyPatch, free: int | None, fits: bool
) -> None:
    running = Path("runs")
    monkeypatch.setattr(server, "status", lambda folder: "up" if folder == running else None)
    monkeypatch.setattr(server, "SERVER_BYTES", 10**9)
    monkeypatch.setattr(server, "free_bytes", lambda: free)
    setup._check_memory([running])
    folders = [running, Path("one"), Path("other")]
    if fits:
        setup._check_memory(folders)
        return
    with pytest.raises(InputError, match=r"2 servers need 2.0 GB of memory; 2.0 GB are free"):
        setup._check_memory(folders)
