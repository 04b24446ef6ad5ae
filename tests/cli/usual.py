"""What is typed after each command where everything is as it should be, and at which stage of the study."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from annot.base.records import Assignment, Judgement
from annot.formats.trec import Match
from annot.labelstudio import front
from annot.measuring.measured import write_matches
from annot.publishing.release.prose import answer_sheet, questions
from annot.store import trials
from annot.store.answers import JUDGEMENTS, TRIALS, SourcedAnswer
from annot.store.database import open_store
from annot.store.models import AskedModel, ModelCall, StoredRound
from annot.store.papers import find_papers, paper_ids
from annot.study.workspace import Workspace
from annot_csfcube.files import write_csfcube
from annot_opinions import stored
from command_line import annot, annot_done
from demo_collection import demo_material
from study_stages import give_reasons

LABELLED = (
    '{"sentences": ["We know this.", "We did that.", "It helped."], "labels": ["background", "method", "result"]}\n'
)


def domain(folder: Path) -> None:
    """A domain of the servers, as `annot studio up` remembers it."""
    front.keep(folder / ".annot" / "front", front.Front("study.example.org"))


def release_folder(folder: Path) -> None:
    """A folder in the form of CSFCube's release, of invented papers."""
    (folder / "release").mkdir()
    for name, content in write_csfcube(demo_material(), folder="", with_text=True).items():
        (folder / "release" / name).write_bytes(content)


def edges_file(folder: Path) -> None:
    """Who cites whom: one paper of the corpus, and one that is not there."""
    (folder / "edges.csv").write_text("citing,cited\nfic0407,fic0101\nelsewhere,fic0101\n")


def judgements_file(folder: Path) -> None:
    rows = [f"fic0407-background,fic01{at:02},{who},{at % 4}" for at in range(1, 11) for who in ("ann", "bob")]
    (folder / "mine.csv").write_text("\n".join(["query_id,doc_id,assessor,grade", *rows]) + "\n")


def grades_file(folder: Path) -> None:
    rows = [f"fic0407-background 0 fic01{at:02} {at % 4}" for at in range(1, 11)]
    (folder / "mine.qrels").write_text("\n".join(rows) + "\n")
    annot_done("corpus", "add", "papers.jsonl", folder=folder)


def export_file(folder: Path) -> None:
    tasks = [
        {
            "id": at,
            "data": {"topic": "fic0407", "paper": f"fic01{at:02}"},
            "annotations": [
                {"id": 10 * at, "completed_by": 1, "result": [{"from_name": "rel", "value": {"choices": ["2"]}}]}
            ],
        }
        for at in range(1, 11)
    ]
    (folder / "theirs.json").write_text(json.dumps(tasks))


def a_run(folder: Path) -> None:
    """A run of one document of one pool, and how it was made."""
    (folder / "theirs.run").write_text("fic0407-background Q0 fic0101 1 2 x\n")
    (folder / "theirs.yaml").write_text("system: theirs\nseed: 1\n")


def engine_run(folder: Path) -> None:
    """What another engine found for one query paper."""
    (folder / "engine.run").write_text("fic0407 Q0 fic0101 1 2 engine\nfic0407 Q0 fic0102 2 1 engine\n")


def vectors_file(folder: Path) -> None:
    """Vectors of three papers and of one that is not in the corpus."""
    np.save(folder / "theirs.npy", np.eye(4, 3, dtype=np.float32))
    (folder / "ids.txt").write_text("fic0101\nfic0102\nfic0103\nelsewhere\n")


def vectors_set(folder: Path) -> None:
    vectors_file(folder)
    annot_done("vectors", "add", "mine", "theirs.npy", "--ids", "ids.txt", "--space", "theirs", folder=folder)


def words_file(folder: Path) -> None:
    (folder / "theirs.vec").write_text("2 2\nparser 1 2\ntree 3 4\n")


def labelled_file(folder: Path) -> None:
    (folder / "labelled.jsonl").write_text(LABELLED * 6)
    (folder / "held-out.jsonl").write_text(LABELLED.replace(".", " too."))


def timed_judgements(folder: Path) -> None:
    rows = [
        f"fic0407-background,fic01{at:02},{who},{at % 4},2031-03-{at:02}"
        for at in range(1, 11)
        for who in ("ann", "bob")
    ]
    (folder / "timed.csv").write_text("\n".join(["query_id,doc_id,assessor,grade,time", *rows]) + "\n")
    assert annot("import", "--as", "judgements", "timed.csv", folder=folder).exit_code == 0


def sheet(folder: Path) -> None:
    papers = [json.loads(line) for line in (folder / "papers.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = [
        f"{one['paper_id']},1995-2024,{kind},4,method"
        for one, kind in zip(papers[:40:4], ["empirical", "resource"] * 5, strict=True)
    ]
    (folder / "queries.csv").write_text("\n".join(["paper_id,period,type,rating,facets", *rows]) + "\n")


def answers(folder: Path) -> None:
    """Everything that a release asks: the questions of the datasheet, and whether comments and reasons go out."""
    settings = folder / "annot.toml"
    text = settings.read_text(encoding="utf-8")
    for kind in ("comments", "reasons"):
        text = text.replace(f'# {kind} = "published"', f'{kind} = "published"')
    settings.write_text(text, encoding="utf-8")
    (folder / "datasheet.toml").write_text(answer_sheet({one.id: "As invented." for one in questions()}))


DRAW = ("substudy", "draw", "--assessor", "j1", "--candidates", "3")


def substudy(folder: Path) -> None:
    annot_done(*DRAW, folder=folder)


def judged_substudy(folder: Path) -> None:
    """A drawn sub-study with the answers of one view."""
    substudy(folder)
    answered("substudy-abstract", folder)


def answered(round: StoredRound, folder: Path) -> None:
    """What was asked in the round is answered, by place in the sequence."""
    with open_store(Workspace.open(folder).database_url) as store, store.begin() as session:
        answers = [
            Judgement(one.query_id, one.doc_id, one.assessor, at % 4, lead_time=10.0 + at)
            for at, one in enumerate(trials.read_assignments(session, round))
        ]
        sourced = [SourcedAnswer(one, round, str(at), {}) for at, one in enumerate(answers)]
        TRIALS.record(session, sourced, recorded_at="2026-01-01T00:00:00+00:00")


def gold(folder: Path) -> None:
    """A gold set, and somebody who has none of its pairs in the plan."""
    annot_done("train", "gold", "--per-facet", "4", folder=folder)
    give_reasons(folder)
    annot_done("assessor", "add", "a9", "--account", "a9@demo.example.org", folder=folder)


def trained(folder: Path) -> None:
    """Somebody has answered the gold pairs."""
    gold(folder)
    with open_store(Workspace.open(folder).database_url) as store, store.begin() as session:
        pairs = [one.pair for one in trials.read_gold(session)]
        asked = [Assignment(*pair, "a9", position) for position, pair in enumerate(pairs, start=1)]
        trials.replace_assignments(session, "train", asked)
    answered("train", folder)


def with_one_withdrawn(folder: Path) -> None:
    """The lead has accepted that one answer is gone from the server."""
    with open_store(Workspace.open(folder).database_url) as store, store.begin() as session:
        (line,) = [
            line
            for line in JUDGEMENTS.lines(session, person="a1")
            if line.current.record.pair_key == ("fic0407-background", "fic0101", 1)
        ]
        JUDGEMENTS.withdraw(session, [(line.current, "its task was deleted")], recorded_at="2031-01-01T00:00:00Z")


def backup(folder: Path) -> None:
    annot_done("backup", "../backup.tar.gz", folder=folder)


def isolated(folder: Path) -> None:
    """Each person is to have a Label Studio of their own."""
    settings = folder / "annot.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace('isolation = "project"', 'isolation = "server"'), encoding="utf-8")


def indexed(folder: Path) -> None:
    annot_done("index", folder=folder)


def left_by_a_killed_build(folder: Path) -> None:
    (folder / ".annot/index/shards/.0123.tmp").mkdir(parents=True)
    (folder / ".annot/index/shards/.0123.tmp/title_ids.npy").write_bytes(b"half")


def matches(folder: Path) -> None:
    """What a run of a system with an encoder leaves."""
    found = {"fic0407-background": {"fic0101": (Match(0, 1, 0.75, -2.5), Match(1, 0, 0.25, -3.0))}}
    for tag in ("mine", "fabs_bm25"):
        write_matches(Workspace.open(folder), tag, found)


CITING = (
    '{"paper_id": "c%d", "body_text": [{"text": "Both of them help many readers (1, 2).", '
    '"cite_spans": [{"start": 31, "end": 33, "ref_id": "B0"}, {"start": 34, "end": 36, "ref_id": "B1"}]}], '
    '"bib_entries": {"B0": {"link": "fic05%02d"}, "B1": {"link": "fic06%02d"}}}\n'
)
"""A full text that cites two papers of the demonstration in one sentence."""


def full_texts(folder: Path) -> None:
    (folder / "full.jsonl").write_text("".join(CITING % (at, at, at) for at in range(1, 11)))


def examples(folder: Path) -> None:
    """Examples, and a folder where weights could be."""
    annot_done("encoder", "examples", "specter-id", "--out", "examples", folder=folder)
    (folder / "start").mkdir()


def model(folder: Path) -> None:
    """A model that could be asked."""
    settings = folder / "annot.toml"
    text = settings.read_text(encoding="utf-8")
    if "\n[opinions.small]\n" not in text:
        settings.write_text(f'{text}\n[opinions.small]\nmodel = "tiny"\n', encoding="utf-8")


def asked_model(folder: Path) -> None:
    """A model has said of two pairs what it thinks."""
    model(folder)
    with open_store(Workspace.open(folder).database_url) as store, store.begin() as session:
        if stored.opinion_names(session):
            return
        now = "2026-01-01T00:00:00+00:00"
        stored.put_asked_model(session, AskedModel("small", "http://localhost/v1", "tiny", {}, {}, (), now))
        for at, doc_id in enumerate(("fic0101", "fic0102")):
            call = ModelCall("small", "fic0407-background", doc_id, 1, 1, "read", "abc", now, 0.0, grade=at, reason="")
            stored.note_sent(session, call)


def judged_paper_corrected(folder: Path) -> None:
    """A paper is corrected after pairs were judged with its earlier text."""
    ws = Workspace.open(folder)
    with ws.reading() as session:
        doc_id = next(iter(JUDGEMENTS.current(session))).record.doc_id
    (paper,) = find_papers(ws.corpus, [doc_id]).values()
    record = {"paper_id": doc_id, "title": f"{paper.title}, corrected", "abstract": paper.sentences, "year": paper.year}
    record |= {"labels": paper.labels, "citations": paper.citations}
    (folder / "corrected.jsonl").write_text(json.dumps(record), encoding="utf-8")
    annot_done("corpus", "add", "corrected.jsonl", "--corrected", "a slip", folder=folder)


def ids_file(folder: Path) -> None:
    """The ids of two papers of the corpus."""
    ids = paper_ids(Workspace.open(folder).corpus)
    (folder / "ids.txt").write_text("\n".join(ids[:2]), encoding="utf-8")


class Usual(NamedTuple):
    """A call that succeeds."""

    stage: str
    typed: str = ""
    prepare: Callable[[Path], None] = lambda folder: None
    again: int = 0
    """The exit code of the same call again."""


USUAL: dict[str, Usual] = {
    "init": Usual("made", "."),
    "corpus show": Usual("labelled"),
    "corpus add": Usual("made", "papers.jsonl"),
    "corpus withdraw": Usual("pooled", "ids.txt --reason retracted --version 2", ids_file),
    "corpus corrected": Usual("judged", "", judged_paper_corrected),
    "import --as citations": Usual("labelled", "edges.csv", edges_file),
    "import --as csfcube": Usual("made", "release", release_folder),
    "import --as judgements": Usual("made", "mine.csv", judgements_file),
    "import --as grades": Usual("made", "mine.qrels", grades_file),
    "import --as labelstudio": Usual(
        "made", "theirs.json --rating rel --query topic --document paper -f method", export_file
    ),
    "facets": Usual("labelled"),
    "facets train": Usual("made", "labelled.jsonl --out mine.xz --held-out held-out.jsonl", labelled_file),
    "push labels": Usual("planned", "--assessor a1 --dry-run"),
    # A sheet may be filled in: it is never written over.
    "query sample": Usual("labelled", "--per-period 2", again=2),
    "query choose": Usual("labelled", "4", sheet),
    "query add": Usual("labelled", "fic0802 --facet method"),
    "query remove": Usual("pooled", "fic0407-background", again=2),
    "query remove --sent": Usual("planned", "fic0407-background", again=2),
    "query folds": Usual("queried"),
    "query list": Usual("queried"),
    "vectors add": Usual("labelled", "mine theirs.npy --ids ids.txt --space theirs", vectors_file),
    "vectors add --words": Usual("labelled", "theirs.vec", words_file),
    "vectors list": Usual("labelled", "", vectors_set),
    "index": Usual("queried"),
    "index --list": Usual("queried", "", indexed),
    "index --clean": Usual("pooled", "", left_by_a_killed_build),
    "pool": Usual("queried"),
    "pool import": Usual("pooled", "engine.run --method engine", engine_run),
    "pool add": Usual("pooled", "fic0407-background fic0104 --reason Cited_by_a_survey."),
    "pool add --run": Usual("pooled", "engine.run --method engine", engine_run),
    "pool show": Usual("pooled", "fic0407-background"),
    "assessor add": Usual("pooled", "a1 --account a1@demo.example.org"),
    "assessor list": Usual("planned"),
    "assessor change": Usual("planned", "a1 --account another@demo.example.org"),
    "assessor leave": Usual("planned", "a4 --to a3"),
    "guidelines": Usual("made", "method --screen"),
    "comments": Usual("judged"),
    "meeting": Usual("made", "", timed_judgements),
    "plan": Usual("planned"),
    "plan --withdraw": Usual("planned", again=2),
    "push": Usual("planned", "--dry-run"),
    "status": Usual("judged"),
    "status --adjudication": Usual("judged"),
    "status --returned": Usual("judged"),
    "forecast": Usual("judged"),
    "forecast --design": Usual("settled", "--queries 20"),
    "forecast --pools": Usual("judged", "--hourly-rate 20"),
    "forecast --sample": Usual("judged", "--hourly-rate 20"),
    "return": Usual("judged", "fic0407-background fic0101 --to a1 --why Read_the_last_sentence."),
    "agreement": Usual("settled"),
    "answers list": Usual("judged", "", with_one_withdrawn),
    "answers restore": Usual("judged", "fic0407-background fic0101 --assessor a1", with_one_withdrawn),
    "push adjudication": Usual("judged", "--dry-run"),
    "qrels": Usual("settled"),
    "qrels compare": Usual("measured", "exports/qrels.txt exports/qrels.txt"),
    "opinion ask": Usual("judged", "small --before-judging A_pilot. --dry-run", model),
    "opinion list": Usual("judged", "", asked_model),
    "opinion qrels": Usual("settled", "small", asked_model),
    "opinion report": Usual("settled", "", asked_model),
    "train gold": Usual("settled", "--per-facet 4"),
    "push training": Usual("settled", "--dry-run", gold),
    "train hide": Usual("settled", "--share 0.1"),
    "train report": Usual("settled", "", trained),
    "substudy draw": Usual("settled", " ".join(DRAW[2:])),
    "push substudy": Usual("settled", "--view abstract --dry-run", substudy),
    "substudy report": Usual("settled", "", judged_substudy),
    "encoder contexts": Usual("pooled", "full.jsonl --out contexts.jsonl", full_texts),
    "encoder examples": Usual("pooled", "specter-id --out examples"),
    # To train, it takes libraries that these tests do without.
    "encoder train": Usual("pooled", "specter-id --data examples --from start --dry-run", examples),
    "run": Usual("pooled"),
    "run import": Usual("pooled", "theirs.run --tag theirs --meta theirs.yaml", a_run),
    "run list": Usual("made"),
    "evaluate": Usual("measured", "--out compared"),
    "assessor-effect": Usual("measured", "--convention trec"),
    "reusability": Usual("measured"),
    "errors": Usual("measured"),
    "browse": Usual("measured", "", matches),
    "report": Usual("measured"),
    "figures": Usual("measured"),
    "paper": Usual("measured"),
    "datasheet": Usual("measured", "", answers),
    "release": Usual("measured", "out --licence CC0-1.0", answers),
    "trace": Usual("measured", "fic0407-background fic0101"),
    # A backup is never written over, and nothing is restored over a study.
    "backup": Usual("settled", "../backup.tar.gz", again=2),
    "restore": Usual("settled", "../backup.tar.gz ../restored", backup, again=2),
    "check": Usual("measured"),
    "studio down": Usual("made"),
    "studio status": Usual("made"),
    "studio service": Usual("made", "", domain),
    "studio nightly": Usual("made", "03:15"),
    "doctor": Usual("judged"),
}
WITH_A_SERVER = {"invite", "pull", "studio up", "demo"}
"""Commands that do nothing without a Label Studio."""
