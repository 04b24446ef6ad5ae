"""Which examples an encoder of a study is trained on: none with a query paper, so many at most, the rest counted."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.study.workspace import Workspace
from annot_systems import encoder_training
from annot_systems.encoder_training import WrittenExamples, _Sampler
from annot_systems.training_examples import DEV, TRAIN, CitationContext, recipe_of
from small_study import DOCUMENTS, Small
from study_stages import copied

ALL = {"examples": None, "dev": 1000, "dev_share": 0.0, "seed": 0}
"""All that there is, and nothing held out."""


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Fifteen papers of three sentences, of which p1 to p4 are query papers."""
    return copied(Small(), "queried", tmp_path_factory.mktemp("examples") / "study")


def sampler(ws: Workspace, system: str, sampling: Mapping[str, Any] = ALL) -> _Sampler:
    return _Sampler(ws, recipe_of(system), {"p1", "p2", "p3", "p4"}, **sampling)


def contexts(*sets: str, said: int = 1) -> dict[tuple[str, ...], list[CitationContext]]:
    return {
        tuple(papers.split()): [CitationContext(f"c{at}", f"Said {at} of {papers}.") for at in range(said)]
        for papers in sets
    }


def cocited(
    ws: Workspace,
    system: str,
    given: Mapping[tuple[str, ...], Sequence[CitationContext]],
    sampling: Mapping[str, Any] = ALL,
) -> tuple[list[Any], list[Any], dict[str, int]]:
    one = sampler(ws, system, sampling)
    train, dev = one.of_cocitations(given)
    return list(train), list(dev), +one.left_out


def test_every_two_papers_of_a_set_are_an_example_unless_the_set_is_large_or_has_a_query_paper(ws: Workspace) -> None:
    given = contexts("d00 d01", "d02 d03 d04", "d00 d01 d02 d03", "d05 p1", "d05 elsewhere")
    train, dev, left_out = cocited(ws, "specter-cocite", given)
    found = {tuple(sorted((one.query.paper_id, one.positive.paper_id))) for one in train}
    assert found == {("d00", "d01"), ("d02", "d03"), ("d02", "d04"), ("d03", "d04")}
    assert len(train) == 4
    assert dev == []
    assert left_out == {
        "sets with a query paper of this study": 1,
        "sets of more than 3 papers": 1,
        "sets with a paper that is not in the corpus": 1,
    }


def test_two_contexts_of_a_set_are_an_example_of_sentences(ws: Workspace) -> None:
    given = {**contexts("d00 d01", said=3), **contexts("d02 d03", said=2), **contexts("d04 d05")}
    train, _, left_out = cocited(ws, "cosentbert", given)
    assert len(train) == 3 + 1
    assert left_out == {"sets with one context": 1}


def test_what_is_held_out_is_no_more_than_wanted(ws: Workspace) -> None:
    given = contexts("d00 d01 d02", "d03 d04 d05", "d06 d07 d08")
    train, dev, _ = cocited(ws, "specter-cocite", given, ALL | {"dev": 2, "dev_share": 1.0})
    assert (len(train), len(dev)) == (0, 2)


def test_sentences_of_abstracts_leave_out_the_query_papers(ws: Workspace) -> None:
    one = sampler(ws, "ictsentbert")
    train, dev = one.of_abstracts()
    found = list(train)
    assert {paper for example in found for paper in example.papers} == {*DOCUMENTS, "d99"}
    assert len(found) == 11 * 2  # of three sentences, two
    assert list(dev) == []
    assert +one.left_out == {"query papers of this study": 4}
    held_out = sampler(ws, "ictsentbert", ALL | {"dev": 5, "dev_share": 1.0})
    train, dev = held_out.of_abstracts()
    assert (len(list(train)), len(dev)) == (0, 5)
    assert +held_out.left_out == {"query papers of this study": 4}
    few = sampler(ws, "ictsentbert", ALL | {"examples": 3, "dev": 5, "dev_share": 0.0})
    assert len(list(few.of_abstracts()[0])) == 3


def write(ws: Workspace, out: Path, system: str, **of: Any) -> WrittenExamples:
    wanted = {"contexts": None, "dry_run": False, **ALL} | of
    return encoder_training.write_examples(ws, recipe_of(system), out=out, **wanted)


def test_files_are_written_if_there_is_an_example_and_not_in_a_dry_run(ws: Workspace, tmp_path: Path) -> None:
    out = tmp_path / "out"
    dry = write(ws, out, "ictsentbert", dry_run=True)
    assert (dry.train, dry.dev, out.exists()) == (22, 0, False)
    out.mkdir()
    (out / DEV).write_text("of another draw", encoding="utf-8")
    assert write(ws, out, "ictsentbert") == dry
    assert [path.name for path in out.iterdir()] == [TRAIN]
    assert len((out / TRAIN).read_text(encoding="utf-8").splitlines()) == 22
    assert dry.left_out == {"query papers of this study": 4}
    assert write(ws, out, "ictsentbert") == dry


def test_without_an_example_nothing_is_written(ws: Workspace, tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="specter-cocite: found no --contexts"):
        write(ws, tmp_path / "out", "specter-cocite")
    # No paper of this corpus cites another.
    with pytest.raises(InputError, match="specter-id: no example to train on") as error:
        write(ws, tmp_path / "out", "specter-id")
    assert set(error.value.faults) == {
        "4 left out: query papers of this study",
        "11 left out: cites no paper of the corpus",
    }
    with pytest.raises(InputError, match="ictsentbert: no dev example"):
        write(ws, tmp_path / "out", "ictsentbert", dev=5, dev_share=1e-9)
    assert not (tmp_path / "out").exists()
