"""Vectors that encoders make: parts, cache, columns for a cluster's worker, and runs that are killed."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.base.array_files import held_alone
from annot.base.errors import BusyError, InputError
from annot.base.parallel import Engine
from annot.base.records import Paper
from annot.base.settings import Settings
from annot.ranking import encoding, vectors
from annot.ranking.encoding import CorpusEncoding, EncodePart, encoded_abstracts, encoded_sentences
from annot.ranking.systems import encoders
from annot.ranking.systems.system import EncoderWeights
from annot.ranking.vectors import topic_name
from annot.store.papers import PaperWriter, groups_for, groups_of
from annot.study.workspace import Workspace

PAPERS = [Paper("p", "A", ("One.", "Two.")), Paper("q", "B", ()), Paper("r", "C", ("Three.",))]


def quietly(done: int, total: int | None) -> None:
    pass


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    found = Workspace(tmp_path, Settings())
    for name in ("mine", "other"):
        (tmp_path / "weights" / name).mkdir(parents=True)
        (tmp_path / "weights" / name / "config.json").write_text(f'"{name}"')
    return found


def numbered(texts: Sequence[Any]) -> Any:
    """A vector for each: its place and 1."""
    return np.array([[at, 1] for at in range(len(texts))], np.float32).reshape(len(texts), 2)


class Encoders:
    """Stand-in for the encoders of `annot.ranking.systems.encoders`, which remembers its input."""

    BATCH, MIXED = 32, encoders.MIXED

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: list[Any] = []
        monkeypatch.setattr(encoding, "encoders", self)

    def encode_in_context(self, folder: Path, papers: Sequence[Paper], *, advance: Any) -> list[Any]:
        self.read.append(("context", [paper.paper_id for paper in papers]))
        # Of the third paper it reads nothing.
        return [numbered(paper.sentences) if paper.paper_id != "r" else numbered(()) for paper in papers]

    def open_text_encoder(self, folder: Path, reading: str, *, device: str | None, topics: bool = False) -> Any:
        def encode(texts: Sequence[str], advance: Any) -> Any:
            self.read.append(("topic", reading, list(texts)) if topics else (reading, list(texts)))
            return numbered(texts)

        return encode

    def open_paper_encoder(self, folder: Path, reading: str, *, device: Any) -> Any:
        def encode(papers: Sequence[Paper], advance: Any) -> Any:
            self.read.append((reading, [paper.paper_id for paper in papers]))
            return numbered(papers)

        return encode


def test_texts_are_read_as_topics_and_stand_behind_the_papers(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    used = Encoders(monkeypatch)
    mine = EncoderWeights("mine", None, "document")
    for _ in range(2):
        found = encoded_abstracts(ws, mine, PAPERS, {"p": "What is asked?", "T2": "More."}, advance=quietly)
    assert used.read == [("document", ["p", "q", "r"]), ("topic", "document", ["What is asked?", "More."])]
    assert found.ids.to_pylist() == ["p", "q", "r", topic_name("p", "What is asked?"), topic_name("T2", "More.")]
    assert found.matrix[:, 0].tolist() == [0, 1, 2, 0, 1]


def test_sentences_are_read_by_themselves_and_belong_to_their_paper(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = Encoders(monkeypatch)
    found = encoded_sentences(ws, EncoderWeights("mine", None, "cls"), PAPERS, advance=quietly)
    assert used.read == [("cls", ["One.", "Two.", "Three."])]
    assert [found.of(paper_id)[:, 0].tolist() for paper_id in "pqr"] == [[0, 1], [], [2]]
    assert found.facts["encoder"] == "mine"
    assert found.facts["reading"] == "cls"
    assert "layers" not in found.facts


def test_sentences_that_were_not_read_in_context_have_no_vector(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    used = Encoders(monkeypatch)
    (ws.root / "weights" / "mine" / "model_cur_best.pt").write_text("")
    found = encoded_sentences(ws, EncoderWeights("mine", "a/b", "context"), PAPERS, advance=quietly)
    assert used.read == [("context", ["p", "q", "r"])]
    assert [found.of(paper_id)[:, 0].tolist() for paper_id in "pqr"] == [[0, 1], [], []]
    assert (found.facts["encoder"], found.facts["layers"]) == ("a/b", "mixed")


@pytest.fixture
def corpus(ws: Workspace) -> Workspace:
    """Nine papers in two files, in groups of rows of three, of two and of four."""
    import pyarrow.parquet

    for name, ids, rows in (("a", "pqrst", 3), ("b", "uvwx", 9)):
        with PaperWriter(ws.corpus, name=f"{name}.parquet") as writer:
            for paper_id in ids:
                writer.add(Paper(paper_id, paper_id.upper(), (f"{paper_id}.",)))
        path = ws.corpus / f"{name}.parquet"
        pyarrow.parquet.write_table(pyarrow.parquet.read_table(path), path, row_group_size=rows)
    assert [group.papers for group in groups_of(ws.corpus)] == [3, 2, 4]
    return ws


def letters(papers: Sequence[Paper], advance: Any) -> Any:
    assert all(paper.title == paper.paper_id.upper() and len(paper.sentences) == 1 for paper in papers)
    return np.array([[ord(paper.paper_id), 1] for paper in papers], np.float32)


@pytest.mark.parametrize(("start", "stop", "ids"), [(0, 9, "pqrstuvwx"), (2, 4, "rs"), (4, 6, "tu"), (5, 9, "uvwx")])
def test_a_worker_reads_its_papers_wherever_the_groups_of_rows_end(
    corpus: Workspace, start: int, stop: int, ids: str
) -> None:
    work = EncodePart(tuple(groups_for(corpus.corpus, "")), lambda: letters)
    found, rows = work((start, stop))
    assert "".join(found) == ids
    assert rows[:, 0].tolist() == [ord(one) for one in ids]


def encoding_of(ws: Workspace) -> CorpusEncoding:
    return CorpusEncoding(ws, "mine", facts={"weights_sha256": "w"}, precision="float32")


def test_workers_of_a_cluster_encode_what_is_missing(corpus: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "PART", 2)
    sent: list[Any] = []

    def map_shards(work: Any, parts: Sequence[Any], *, engine: Engine) -> Any:
        sent.extend(parts)
        return map(work, parts)

    def here() -> Any:
        raise AssertionError("the workers encode")

    monkeypatch.setattr(encoding, "map_shards", map_shards)
    monkeypatch.setattr(encoding, "EncodePart", lambda groups, _: EncodePart(groups, lambda: letters))
    told: list[Any] = []
    about = {"model": "m", "space": "s", "metric": "l2"}

    def run() -> tuple[int, int]:
        return encoding_of(corpus).run(
            here, engine=Engine(1, "tcp://x"), about=about, advance=lambda done, total: told.append((done, total))
        )

    assert run() == (9, 9)
    assert sent == [(0, 2), (2, 4), (4, 6), (6, 8), (8, 9)]
    assert told == [(done, 9) for done in (2, 4, 6, 8, 9)] * 2
    matrix = np.load(corpus.vectors / "mine" / "vectors.npy")
    assert matrix[:, 0].tolist() == [ord(one) for one in "pqrstuvwx"]
    assert all(re.fullmatch("[0-9a-f]{32}", key) for key in (corpus.vectors / "mine/parts.txt").read_text().split())
    sent.clear()
    assert run() == (9, 0)
    assert sent == []


def test_topics_stand_behind_the_papers_and_are_encoded_anew_where_they_change(corpus: Workspace) -> None:
    opened: list[int] = []

    def with_topics(texts: dict[str, str]) -> tuple[list[str], list[float]]:
        def open_encoder() -> Any:
            opened.append(len(texts))
            return lambda read, advance: np.array([[len(text), 0.5] for text in read], dtype=np.float32)

        about = {"model": "m", "space": "s", "metric": "l2"}
        encoding_of(corpus).run(
            lambda: letters,
            engine=Engine(1),
            about=about,
            advance=quietly,
            topics=texts,
            open_topic_encoder=open_encoder,
        )
        made = vectors.load(corpus.vectors / "mine", hint="")
        return made.ids.to_pylist(), made.matrix[:, 0].tolist()

    papers, firsts = list("pqrstuvwx"), [float(ord(one)) for one in "pqrstuvwx"]
    assert with_topics({}) == (papers, firsts)
    for _ in range(2):
        names = [topic_name("T1", "four"), topic_name("T2", "seven77")]
        assert with_topics({"T1": "four", "T2": "seven77"}) == ([*papers, *names], [*firsts, 4, 7])
    assert opened == [2]
    assert with_topics({"T1": "other", "T2": "seven77"})[1][-2:] == [5, 7]
    assert with_topics({}) == (papers, firsts)
    assert opened == [2, 2]


def test_the_order_in_which_facts_are_given_does_not_matter(corpus: Workspace) -> None:
    about = {"model": "m", "space": "s", "metric": "l2"}
    facts = {"weights_sha256": "w", "layers": "mixed"}
    CorpusEncoding(corpus, "mine", facts=facts, precision="float32").run(
        lambda: letters, engine=Engine(1), about=about, advance=quietly
    )
    turned = dict(reversed(facts.items()))
    assert CorpusEncoding(corpus, "mine", facts=turned, precision="float32").count() == (9, 9)
    assert CorpusEncoding(corpus, "mine", facts={"weights_sha256": "w"}, precision="float32").count() == (0, 9)


def test_what_a_set_says_of_itself_is_brought_up_to_date(corpus: Workspace) -> None:
    about = {"model": "m", "space": "s", "metric": "l2"}

    def run(**changed: str) -> float:
        encoding_of(corpus).run(lambda: letters, engine=Engine(1), about=about | changed, advance=quietly)
        return (corpus.vectors / "mine" / "vectors.json").stat().st_mtime_ns

    first = run()
    assert run() == first
    assert run(model="n") != first
    assert '"model": "n"' in (corpus.vectors / "mine" / "vectors.json").read_text()


@pytest.fixture
def five(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(encoding, "PART", 2)
    found = Workspace(tmp_path, Settings())
    add(found, "a", "pqrst")
    return found


def add(five: Workspace, name: str, papers: str, title: str = "T") -> None:
    with PaperWriter(five.corpus, name=f"{name}.parquet") as writer:
        for paper_id in papers:
            writer.add(Paper(paper_id, title, ("One.",)))


class Encoder:
    """Gives each paper the number of its letter, and remembers what it read; dies at one paper if it is asked to."""

    def __init__(self, *, dies_at: str = "", broken: str = "") -> None:
        self.read: list[str] = []
        self._dies_at, self._broken = dies_at, broken

    def __call__(self, papers: Sequence[Paper], advance: Any) -> np.ndarray:
        ids = [paper.paper_id for paper in papers]
        if self._dies_at in ids:
            raise KeyboardInterrupt
        self.read += ids
        advance(len(ids), len(ids))
        return np.array([[np.inf if one == self._broken else ord(one), 1] for one in ids], np.float32)


def run(five: Workspace, encoder: Encoder, told: list[Any] | None = None, **facts: Any) -> tuple[int, int]:
    facts = {"weights_sha256": "w", **facts}
    about = {"model": "m", "space": "s", "metric": "l2"}

    def advance(done: int, total: int | None) -> None:
        if told is not None:
            told.append((done, total))

    return CorpusEncoding(five, "mine", facts=facts, precision="float16").run(
        lambda: encoder, engine=Engine(1), about=about, advance=advance
    )


def test_what_is_there_is_not_encoded_again(five: Workspace) -> None:
    run(five, Encoder())
    before = (five.vectors / "mine" / "vectors.json").stat().st_mtime_ns
    again = Encoder()
    assert run(five, again) == (5, 0)
    assert again.read == []
    assert (five.vectors / "mine" / "vectors.json").stat().st_mtime_ns == before
    other = Encoder()
    assert run(five, other, weights_sha256="x") == (5, 5)


def test_papers_that_were_added_are_encoded_with_the_part_that_they_change(five: Workspace) -> None:
    run(five, Encoder())
    add(five, "b", "uvw")
    assert CorpusEncoding(five, "mine", facts={"weights_sha256": "w"}, precision="float16").count() == (4, 8)
    added = Encoder()
    assert run(five, added) == (8, 4)
    assert added.read == list("tuvw")
    assert vectors.load(five.vectors / "mine", hint="").matrix[:, 0].tolist() == [ord(one) for one in "pqrstuvw"]


def test_a_killed_run_goes_on_where_it_was(five: Workspace) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(five, Encoder(dies_at="r"))
    assert not (five.vectors / "mine").exists()
    assert CorpusEncoding(five, "mine", facts={"weights_sha256": "w"}, precision="float16").count() == (2, 5)
    rest = Encoder()
    assert run(five, rest) == (5, 3)
    assert rest.read == list("rst")


def test_a_set_that_is_not_as_it_was_written_is_made_anew(five: Workspace) -> None:
    run(five, Encoder())
    (five.vectors / "mine" / "vectors.npy").write_bytes(b"")
    assert run(five, Encoder()) == (5, 5)
    (five.vectors / "mine" / "vectors.json").write_text("")
    assert run(five, Encoder()) == (5, 5)


def test_vectors_that_are_not_finite_are_refused_by_paper(five: Workspace) -> None:
    with pytest.raises(InputError, match="the encoder made vectors that are not finite") as caught:
        run(five, Encoder(broken="s"))
    assert caught.value.faults == ("s: not finite in float16",)


def test_a_second_run_for_the_same_set_is_refused(five: Workspace) -> None:
    lock = five.cache / "encoding" / "mine.lock"
    with held_alone(lock, busy="", hint=""), pytest.raises(BusyError, match="mine: another process is encoding it"):
        run(five, Encoder())
