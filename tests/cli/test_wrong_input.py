"""Wrong input for every command: one clear message on stderr, the exit code of the README, and nothing changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from annot.facets.crf import train
from annot.facets.training import LabelledAbstract
from annot.formats.csfcube import write_csfcube
from command_line import Result, annot, annot_done, commands, difference, snapshot
from demo_collection import demo_material
from spoiling import (
    Spoil,
    both,
    damaged_pages,
    judgements_with,
    labelled_with,
    line_17,
    remove,
    replace,
    sql,
    write,
)
from usual import engine_run, examples, isolated

NOWHERE = "http://127.0.0.1:9"
"""An address where no server answers."""
DOWN = ("--url", NOWHERE, "--api-key", "not-a-real-token")
RUN_LINES = "".join(f"fic0407-background Q0 fic{at:04} {at} {1 / at:.3f} mine\n" for at in range(1, 41))


def small_model(folder: Path) -> None:
    """A model of two labels, trained on one abstract."""
    abstract = LabelledAbstract(sentences=("We know.", "We did."), labels=("background", "method"))
    write("mine.xz", train([abstract]))(folder)


def unlabelled_paper(folder: Path) -> None:
    """One paper more, which came without labels."""
    sentences = [f"We look at the {what} of bare papers." for what in ("shape", "size", "colour")]
    paper = {"paper_id": "bare", "title": "Bare", "abstract": sentences, "year": 2001}
    write("bare.jsonl", json.dumps(paper).encode())(folder)
    annot_done("corpus", "add", "bare.jsonl", folder=folder)


def imported_engine(folder: Path) -> None:
    engine_run(folder)
    annot_done("pool", "import-run", "engine.run", "--method", "engine", folder=folder)


@dataclass(frozen=True)
class Wrong:
    """One wrong input: the command as typed, in a study of this stage, spoiled so, and what the message must say."""

    command: str
    typed: str
    says: tuple[str, ...]
    stage: str = "made"
    spoil: Spoil = field(default=lambda folder: None)
    exit_code: int = 2
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def arguments(self) -> list[str]:
        return [*self.command.split(), *self.typed.split()]


WRONG: dict[str, Wrong] = {
    # -- init
    "init: the folder is a file": Wrong("init", "annot.toml", ("annot.toml: a file, expected a folder",)),
    "init: below a file": Wrong("init", "annot.toml/study", ("annot.toml", "expected a folder", "put it right")),
    "init: another study's folder": Wrong("init", ". --name other", ("annot.toml: exists, for 'annot-demo'",)),
    "init: an option that is none": Wrong("init", ". --nam x", ("No such option: --nam", "--name")),
    # -- corpus
    "corpus add: missing files": Wrong(
        "corpus add", "none.jsonl papers.jsonl neither.jsonl", ("none.jsonl: no such file", "neither.jsonl: no such")
    ),
    "corpus add: no file": Wrong("corpus add", "", ("Missing argument 'files'",)),
    "corpus add: a folder": Wrong("corpus add", "corpus", ("corpus: no such file",)),
    "corpus add: no line that can be read": Wrong(
        "corpus add",
        "papers.jsonl broken.jsonl",
        ("broken.jsonl:1: not valid JSON", "broken.jsonl:2: no field 'title'", "nothing was kept"),
        spoil=write("broken.jsonl", '{"paper_id": "p17", \n{"paper_id": "p18"}\n'),
    ),
    "corpus add: a format that is none": Wrong(
        "corpus add", "papers.jsonl --format arxvi", ("format 'arxvi'", "did you mean 'arxiv'?")
    ),
    "corpus add: not UTF-8": Wrong(
        "corpus add",
        "broken.jsonl",
        ("broken.jsonl", "not UTF-8"),
        spoil=write("broken.jsonl", b'{"paper_id": "\xff"}'),
    ),
    "corpus add: an empty file": Wrong(
        "corpus add",
        "papers.jsonl empty.jsonl",
        ("empty.jsonl: found no line, or only blank ones", "expected one paper a line", "nothing was kept"),
        spoil=write("empty.jsonl", b""),
    ),
    "corpus add: blank lines alone": Wrong(
        "corpus add",
        "blank.jsonl",
        ("blank.jsonl: found no line, or only blank ones", "expected one paper a line", "nothing was kept"),
        spoil=write("blank.jsonl", b"\n  \n\t\n"),
    ),
    "corpus add: a dataset that is none": Wrong(
        "corpus add", "cranfeld --format irds", ("cranfeld: no dataset of ir_datasets", "did you mean 'cranfield'?")
    ),
    "corpus: no papers": Wrong("corpus", "", ("no papers", "annot corpus add")),
    "citations add: a missing file": Wrong("citations add", "none.csv", ("none.csv: no such file",), "labelled"),
    "citations add: no corpus": Wrong("citations add", "papers.jsonl", ("not there yet", "annot corpus add")),
    "citations add: three columns": Wrong(
        "citations add",
        "edges.csv",
        ("edges.csv: 3 columns, expected citing and cited",),
        "labelled",
        write("edges.csv", "a,b,c\n"),
    ),
    "corpus add: a damaged corpus": Wrong(
        "corpus add",
        "papers.jsonl",
        ("corpus/part-00001.parquet",),
        "labelled",
        write("corpus/part-00001.parquet", "not parquet"),
    ),
    # -- import
    "import csfcube: no such folder": Wrong(
        "import csfcube", "nowhere", ("nowhere: no such folder, expected a CSFCube release",)
    ),
    "import csfcube: a file": Wrong("import csfcube", "papers.jsonl", ("papers.jsonl: no such folder",)),
    "import csfcube: a folder of something else": Wrong("import csfcube", "templates", ("templates", "CSFCube")),
    "import csfcube: a broken file": Wrong(
        "import csfcube",
        "release",
        ("test-pid2anns-csfcube-method.json:1: not valid JSON"),
        spoil=write("release/test-pid2anns-csfcube-method.json", "{"),
    ),
    "import grades: a form that is not known": Wrong(
        "import grades", "papers.jsonl --format beir", ("form of grades 'beir': not known", "qrels")
    ),
    "import judgements: no such file": Wrong("import judgements", "none.csv", ("none.csv: no such file",)),
    "import judgements: a folder": Wrong("import judgements", "corpus", ("corpus: no such file",)),
    "import judgements: unknown facet": Wrong(
        "import judgements",
        "mine.csv --facet metod",
        ("'metod'", "did you mean 'method'?"),
        spoil=judgements_with("q,d,a,1"),
    ),
    "import judgements: a grade off the scale on line 17": Wrong(
        "import judgements", "mine.csv", ("mine.csv:17:", "'7'"), spoil=judgements_with("p-method,d17,ann,7")
    ),
    "import judgements: a query without a facet on line 17": Wrong(
        "import judgements",
        "mine.csv",
        ("mine.csv:17: query 'p'", "--facet"),
        spoil=judgements_with("p,d17,ann,1"),
    ),
    "import judgements: no such column": Wrong(
        "import judgements",
        "mine.csv --grade-column rate",
        ("mine.csv: no column for the grade; did you mean 'grade'?",),
        spoil=judgements_with("p-method,d17,ann,1"),
    ),
    "import judgements: an adjudicator that is not there": Wrong(
        "import judgements",
        "mine.csv --adjudicator zoe",
        ("--adjudicator",),
        spoil=judgements_with("p-method,d17,ann,1"),
    ),
    "import judgements: a study of its own": Wrong(
        "import judgements",
        "mine.csv",
        ("has its own plan",),
        "planned",
        judgements_with("p-method,d17,ann,1"),
    ),
    # -- facets
    "facets: no corpus": Wrong("facets", "", ("corpus", "annot corpus add")),
    "facets: no such model": Wrong("facets", "--model mine.xz", ("mine.xz: no such file",), "labelled"),
    "facets: no such scheduler": Wrong(
        "facets", "--cluster nowhere://x", ("nowhere://x: no Dask scheduler answers",), "labelled"
    ),
    "facets: a model that is none": Wrong("facets", "--model papers.jsonl", ("papers.jsonl",), "labelled"),
    "facets: the model that comes with annot has other labels": Wrong(
        "facets",
        "",
        ("the model that comes with annot gives other labels", "funding", "annot facets train"),
        "labelled",
        both(unlabelled_paper, replace("annot.toml", '"result", "other"]', '"result", "other", "funding"]')),
    ),
    "facets: papers that came with other labels": Wrong(
        "facets",
        "--model mine.xz",
        ("came with the label 'other', expected one of background, objective, method, result", "[labels]"),
        "labelled",
        both(
            replace("annot.toml", '"result", "other"]', '"result"]'),
            small_model,
        ),
    ),
    "push: labels of an earlier annot.toml": Wrong(
        "push",
        "",
        ("sentences are labelled other, but the labels of the study are background", "annot facets"),
        "planned",
        replace("annot.toml", '"result", "other"]', '"result"]'),
    ),
    "status: labels that the screen confuses": Wrong(
        "status",
        "",
        ("labels.names", "label 'my-method' is or ends with label 'method'"),
        spoil=replace("annot.toml", '"result", "other"]', '"result", "my-method"]'),
    ),
    "facets: no such verb": Wrong("facets", "trian", ("No such command 'trian'", "train")),
    "facets train: no such file": Wrong("facets train", "none.jsonl --out m.xz", ("none.jsonl: no such file",)),
    "facets train: nowhere to write": Wrong("facets train", "papers.jsonl", ("Missing option '--out'",)),
    "facets train: broken line 17": Wrong(
        "facets train", "broken.jsonl --out m.xz", ("broken.jsonl:17: not valid JSON",), spoil=labelled_with("{")
    ),
    "facets train: unknown label on line 17": Wrong(
        "facets train",
        "broken.jsonl --out m.xz",
        ("broken.jsonl:17: unknown label 'methods', did you mean 'method'?",),
        spoil=labelled_with('{"sentences": ["One."], "labels": ["methods"]}'),
    ),
    "facets train: no such held-out file": Wrong(
        "facets train", "papers.jsonl --out m.xz --held-out dev.jsonl", ("dev.jsonl: no such file",)
    ),
    "facets train: the model's place is a folder": Wrong(
        "facets train",
        "few.jsonl --out corpus",
        ("corpus", "a folder"),
        spoil=write("few.jsonl", '{"sentences": ["One.", "Two."], "labels": ["method", "result"]}\n'),
    ),
    # -- query
    "query sample: no corpus": Wrong("query sample", "", ("annot corpus add",)),
    "query sample: no labels": Wrong(
        "query sample", "", ("no sentence labels", "annot facets"), "labelled", sql("DELETE FROM facet_labels")
    ),
    "query sample: a sheet that stands": Wrong(
        "query sample", "--out papers.jsonl", ("papers.jsonl: exists already",), "labelled"
    ),
    "query sample: no papers wanted": Wrong(
        "query sample", "--per-period 0", ("--per-period", "greater than or equal to 1"), "labelled"
    ),
    "query sample: below a file": Wrong(
        "query sample", "--out papers.jsonl/sheet.csv", ("papers.jsonl", "expected a folder"), "labelled"
    ),
    "query choose: no sheet": Wrong("query choose", "4", ("queries.csv: no such sheet", "query sample"), "labelled"),
    "query choose: not a number": Wrong(
        "query choose", "four", ("'number': Input should be a valid integer",), "labelled"
    ),
    "query choose: none": Wrong("query choose", "0", ("greater than or equal to 1",), "labelled"),
    "query choose: another header": Wrong(
        "query choose", "4", ("queries.csv:1:", "'rating'"), "labelled", write("queries.csv", "paper_id,period\n")
    ),
    "query choose: faults in rows": Wrong(
        "query choose",
        "4",
        ("queries.csv:2: type: found 'emprical', did you mean 'empirical'?", "queries.csv:3: rating: found '9'"),
        "labelled",
        write(
            "queries.csv",
            "paper_id,period,type,rating,facets\nfic0802,1994-1999,emprical,3,method\nfic1402,1994-1999,survey,9,method\n",
        ),
    ),
    "query choose: unknown paper": Wrong(
        "query choose",
        "1",
        ("queries.csv:2: paper 'fic9999' is not in the corpus",),
        "labelled",
        write("queries.csv", "paper_id,period,type,rating,facets\nfic9999,1994-1999,empirical,3,method\n"),
    ),
    "query choose: more than there are": Wrong(
        "query choose",
        "9",
        ("9", "1"),
        "labelled",
        write("queries.csv", "paper_id,period,type,rating,facets\nfic0802,1994-1999,empirical,3,method\n"),
    ),
    "query add: unknown paper": Wrong(
        "query add", "fic0820 --facet method", ("paper 'fic0820': not known; did you mean 'fic08",), "labelled"
    ),
    "query add: unknown facet": Wrong(
        "query add", "fic0802 --facet metod", ("unknown facet 'metod': did you mean 'method'?",), "labelled"
    ),
    "query add: no facet": Wrong("query add", "fic0802", ("no paper and facet",), "labelled"),
    "query add: sentences that are no numbers": Wrong(
        "query add", "fic0802 --facet method --sentences two", ("found 'two', expected numbers",), "labelled"
    ),
    "query add: sentences there are not": Wrong(
        "query add", "fic0802 --facet method --sentences 2,77", ("sentence 77: found no such sentence",), "labelled"
    ),
    "query add: no sentence of the facet": Wrong(
        "query add",
        "fic0503 --facet background",
        ("has no sentence of facet",),
        "labelled",
        sql("UPDATE facet_labels SET labels = replace(replace(labels, 'background', 'result'), 'objective', 'result')"),
    ),
    "query add: no corpus": Wrong("query add", "fic0802 --facet method", ("annot corpus add",)),
    "query add: a file with faults on three lines": Wrong(
        "query add",
        "--file wanted.csv",
        (
            "wanted.csv:2: unknown facet 'methd'",
            "wanted.csv:3: paper 'gone': not in the corpus",
            "wanted.csv:4: sentence",
        ),
        "labelled",
        write("wanted.csv", "paper_id,facet,sentences\nfic0802,methd,\ngone,method,\nfic0802,method,99\n"),
    ),
    "query add: a file and a paper": Wrong("query add", "fic0802 --file x.csv", ("one or the other",), "labelled"),
    "query add: neither": Wrong("query add", "", ("no paper and facet",), "labelled"),
    "query remove: unknown": Wrong(
        "query remove", "fic0407-backgruond", ("did you mean 'fic0407-background'?",), "queried"
    ),
    "query remove: planned": Wrong(
        "query remove",
        "fic0407-background",
        ("planned assignment(s) stand on them", "annot plan withdraw --query fic0407-background"),
        "planned",
    ),
    "query remove: judged": Wrong(
        "query remove", "fic0407-background", ("judgement(s) stand on them", "judgements are never deleted"), "judged"
    ),
    "query list: a query of a paper that is gone": Wrong(
        "query list",
        "",
        ("gone: not in the corpus", "annot corpus add"),
        "queried",
        sql("UPDATE query SET paper_id = 'gone', query_id = 'gone-background' WHERE query_id = 'fic0407-background'"),
    ),
    # -- index
    "index build: no papers": Wrong("index build", "", ("no papers", "annot corpus add")),
    "index build: no such memory": Wrong("index build", "--memory 4", ("memory '4'", "4G"), "queried"),
    "index build: too little memory": Wrong(
        "index build", "--memory 500M", ("memory: found 0.49 G, expected 1.8 G or more",), "queried"
    ),
    "index list: no papers": Wrong("index list", "", ("no papers", "annot corpus add")),
    "index gc: no papers": Wrong("index gc", "", ("no papers", "annot corpus add")),
    "index build: --repair without a corpus": Wrong("index build", "--repair", ("no papers", "annot corpus add")),
    "index verify: no index": Wrong("index verify", "", ("no index", "annot index build")),
    # -- pool
    "pool: no queries": Wrong("pool", "", ("no queries", "annot query add"), "labelled"),
    "pool: wrong mode": Wrong("pool", "--mode round-robbin", ("mode 'round-robbin'", "round-robin"), "queried"),
    "pool: unknown method left out": Wrong(
        "pool", "--without abs_tfdif", ("method to leave out 'abs_tfdif'", "did you mean 'abs_tfidf'?"), "queried"
    ),
    "pool: unknown method in annot.toml": Wrong(
        "pool",
        "",
        ("abs_tfdif", "did you mean 'abs_tfidf'?"),
        "queried",
        replace("annot.toml", '"abs_tfidf"', '"abs_tfdif"'),
    ),
    "vectors import: no ids": Wrong(
        "vectors import", "mine theirs.npy --space s", ("found no --ids",), "labelled", write("theirs.npy", "")
    ),
    "vectors import: no space": Wrong(
        "vectors import",
        "mine theirs.jsonl",
        ("theirs.jsonl:2: does not name the space", "--space"),
        "labelled",
        write("theirs.jsonl", '{"corpusid": 1, "vector": "[1]"}\n{"corpusid": "fic0101", "vector": "[1]"}\n'),
    ),
    "vectors import-words: no vectors": Wrong(
        "vectors import-words", "papers.jsonl", ("papers.jsonl:1: found", "expected the number of words")
    ),
    "vectors list: a damaged set": Wrong(
        "vectors list",
        "",
        ("corpus/vectors/mine: no vectors there", "vectors.npy"),
        "labelled",
        write("corpus/vectors/mine/ids.txt", "fic0101\n"),
    ),
    "encode: no such encoder": Wrong("encode", "spectre", ("did you mean 'specter'?", "--model"), "labelled"),
    "pool: no vectors": Wrong(
        "pool",
        "",
        ("specter: no vectors at", "annot encode specter", "annot vectors import specter", "--without specter"),
        "queried",
        replace("annot.toml", '"lsa"', '"specter"'),
    ),
    "pool: broken vectors": Wrong(
        "pool",
        "",
        ("corpus/vectors/specter", "--without specter"),
        "queried",
        both(
            replace("annot.toml", '"lsa"', '"specter"'),
            write("corpus/vectors/specter/ids.txt", "fic0101\n"),
            write("corpus/vectors/specter/vectors.npy", "not an array"),
            write("corpus/vectors/specter/vectors.json", "{}"),
        ),
    ),
    "pool: every method left out": Wrong(
        "pool",
        "--without title_tfidf --without abs_tfidf --without title_cbow200 --without abs_cbow200 --without "
        "title_tfidfcbow200 --without abs_tfidfcbow200 --without lsa --without cited",
        ("no method is left",),
        "queried",
    ),
    "pool: no documents wanted": Wrong("pool", "--per-method 0", ("greater than or equal to 1",), "queried"),
    "pool: a method that is a path": Wrong(
        "pool",
        "--frozen",
        ("pool.methods.0", "'../../x'"),
        "pooled",
        replace("annot.toml", '"title_tfidf"', '"../../x"'),
    ),
    "pool: nothing frozen": Wrong("pool", "--frozen", ("pools/rankings/manifest.json",), "queried"),
    "pool: a frozen ranking is missing": Wrong(
        "pool", "--frozen", ("abs_tfidf.run: no rankings",), "pooled", remove("pools/rankings/abs_tfidf.run")
    ),
    "pool: the manifest of rankings is broken": Wrong(
        "pool", "--frozen", ("manifest.json",), "pooled", write("pools/rankings/manifest.json", "{}")
    ),
    "pool: the manifest of rankings is no JSON": Wrong(
        "pool", "--frozen", ("manifest.json: not a manifest",), "pooled", write("pools/rankings/manifest.json", "{")
    ),
    "pool replay: a ranking that was changed": Wrong(
        "pool replay",
        "",
        ("abs_tfidf.run: its SHA-256 is", "manifest.json", "backup"),
        "pooled",
        line_17("pools/rankings/abs_tfidf.run", "fic0407 Q0 fic0101 17 0.5 abs_tfidf"),
    ),
    "pool: frozen, from a ranking that was changed": Wrong(
        "pool",
        "--frozen",
        ("abs_tfidf.run: its SHA-256 is",),
        "pooled",
        line_17("pools/rankings/abs_tfidf.run", "fic0407 Q0 fic0101 17 0.5 abs_tfidf"),
    ),
    "pool stats: no pool yet": Wrong("pool stats", "", ("no pools", "annot pool"), "queried"),
    "pool compare: not a study": Wrong("pool compare", ". guidelines", ("guidelines: not a study",), "pooled"),
    "pool: a query that is none": Wrong("pool", "--query fic0408", ("query 'fic0408': not in this study",), "pooled"),
    "pool import-run: the name of a method of our own": Wrong(
        "pool import-run",
        "engine.run --method abs_tfidf",
        ("'abs_tfidf': is the name of a method of our own", "another name"),
        "pooled",
        engine_run,
    ),
    "pool import-run: a name that is a path": Wrong(
        "pool import-run", "engine.run --method ../x", ("--method '../x'",), "pooled", engine_run
    ),
    "pool import-run: no run": Wrong("pool import-run", "papers.jsonl --method x", ("papers.jsonl",), "pooled"),
    "pool import-run: not there": Wrong("pool import-run", "x.run --method x", ("x.run: no such file",), "pooled"),
    "pool import-run: of another study": Wrong(
        "pool import-run",
        "engine.run --method x --foreign drop",
        ("no document of this corpus for a query of this study", "such as fic"),
        "pooled",
        write("engine.run", "q9 Q0 fic0101 1 2 engine\n"),
    ),
    "pool import-run: a ranking that was changed": Wrong(
        "pool",
        "--method engine",
        ("pools/imported/engine.run: its SHA-256 is", "annot pool import-run"),
        "pooled",
        both(imported_engine, write("pools/imported/engine.run", "fic0407 Q0 fic0103 1 2 engine\n")),
    ),
    "pool add: not in the corpus": Wrong(
        "pool add", "fic0407 nowhere --reason mine", ("nowhere: not in the corpus", "annot corpus add"), "pooled"
    ),
    "pool add: no reason": Wrong("pool add", "fic0407 fic0101 --reason=", ("--reason: found nothing",), "pooled"),
    "pool add: no pool yet": Wrong("pool add", "fic0407 fic0101 --reason mine", ("no pool", "annot pool"), "queried"),
    "pool topup: a method that drew": Wrong(
        "pool topup", "--method abs_tfidf", ("--method abs_tfidf: drew these pools", "--per-method"), "pooled"
    ),
    "pool topup: what a person found": Wrong(
        "pool topup", "--method manual", ("--method manual: has no ranking", "annot pool add"), "pooled"
    ),
    "pool topup: nobody's method": Wrong(
        "pool topup",
        "--method colbert",
        ("--method colbert: no run and no vectors of this name", "annot pool topup FILE"),
        "pooled",
    ),
    "pool topup: deeper than the rankings": Wrong(
        "pool topup",
        "engine.run --method engine --depth 51",
        ("--depth 51: the rankings of query paper fic", "50 or less"),
        "pooled",
        engine_run,
    ),
    "pool design: no rankings": Wrong(
        "pool design", "", ("pools/rankings/manifest.json: not there yet", "annot pool"), "queried"
    ),
    "pool show: unknown query": Wrong(
        "pool show", "fic0407-backgruond", ("did you mean 'fic0407-background'?", "annot query list"), "pooled"
    ),
    "pool show: no pool yet": Wrong("pool show", "fic0407-background", ("no pool", "annot pool"), "queried"),
    # -- assessor
    "assessor add: no name of this kind": Wrong("assessor add", "a/1 --account a@example.org", ("found 'a/1'",)),
    "assessor add: no e-mail address": Wrong("assessor add", "a1 --account ann", ("--account: expected an e-mail",)),
    "assessor add: no account": Wrong("assessor add", "a1", ("Missing option '--account'",)),
    "assessor add: another one's account": Wrong(
        "assessor add", "a9 --account a1@demo.example.org", ("belongs to a1 already",), "planned"
    ),
    "assessor add: another one's account in capitals": Wrong(
        "assessor add", "a9 --account A1@Demo.example.org", ("belongs to a1 already",), "planned"
    ),
    "assessor add: server down": Wrong(
        "assessor add",
        f"a1 --account a@example.org --url {NOWHERE} --api-key not-a-real-token",
        (f"no server answers at {NOWHERE}",),
        exit_code=3,
    ),
    "assessor add: another account where answers stand": Wrong(
        "assessor add",
        "a1 --account b1@demo.example.org",
        ("a1 has another account", "annot assessor account"),
        "judged",
    ),
    "assessor list: surplus words": Wrong("assessor list", "a1", ("unexpected extra argument",)),
    "assessor account: unknown": Wrong(
        "assessor account", "a7 x@example.org", ("assessor 'a7': not known; expected one of a1",), "planned"
    ),
    "assessor account: another one's": Wrong(
        "assessor account", "a1 a2@demo.example.org", ("belongs to a2 already",), "planned"
    ),
    "assessor server: one server for all": Wrong(
        "assessor server", "a1 --url https://a1.example.org", ('isolation = "project"', "set isolation"), "planned"
    ),
    "assessor server: unknown": Wrong("assessor server", "a7", ("assessor 'a7': not known",), "planned", isolated),
    "assessor server: none yet": Wrong(
        "assessor server", "a1", ("no server of a1 is known here", "--per-assessor"), "planned", isolated, exit_code=3
    ),
    "assessor server: no address": Wrong(
        "assessor server", "a1 --url here", ("--url here: expected an address such as",), "planned", isolated
    ),
    "assessor server: no token": Wrong(
        "assessor server",
        f"a1 --url {NOWHERE}",
        ("LABEL_STUDIO_API_KEY is no token",),
        "planned",
        isolated,
        exit_code=3,
    ),
    "assessor server: server down": Wrong(
        "assessor server",
        " ".join(("a1", *DOWN)),
        (f"no server answers at {NOWHERE}",),
        "planned",
        isolated,
        exit_code=3,
    ),
    "push: no server of anybody": Wrong(
        "push", "", ("none of 4 server(s) could be asked", "no server of a1 is known"), "planned", isolated, exit_code=3
    ),
    "push: a server of nobody": Wrong(
        "push", " ".join(DOWN), ("is the server of nobody in this study", "leave out --url"), "planned", isolated
    ),
    "pull: nothing was sent to anybody": Wrong("pull", "", ("nothing was sent", "annot push"), "planned", isolated),
    "studio up: a server each, where all share one": Wrong(
        "studio up", "--per-assessor", ('isolation = "project"', "set isolation"), "planned"
    ),
    "studio up: one port for everybody": Wrong("studio up", "--port 8090", ("--port names one",), "planned", isolated),
    "studio up: a server each for nobody": Wrong(
        "studio up", "--per-assessor", ("nobody needs a server yet", "annot assessor add"), "made", isolated
    ),
    "assessor account: no address": Wrong("assessor account", "a1 someone", ("expected an e-mail address",), "planned"),
    "assessor replace: by themselves": Wrong(
        "assessor replace", "a1 --by a1", ("found the person who leaves, expected another",), "planned"
    ),
    "assessor replace: by an adjudicator": Wrong(
        "assessor replace", "a1 --by j1", ("an adjudicator, expected", "adjudicator_may_assess"), "planned"
    ),
    "assessor replace: by somebody unknown": Wrong(
        "assessor replace", "a1 --by a9", ("--by 'a9': not known",), "planned"
    ),
    "assessor replace: by somebody who left": Wrong(
        "assessor replace",
        "a1 --by a2",
        ("--by a2: has left, too", "annot assessor add"),
        "planned",
        sql("UPDATE assessor SET left_on = '2030-01-01T00:00:00+00:00' WHERE assessor = 'a2'"),
    ),
    "assessor leave: tasks on a server that cannot be asked": Wrong(
        "assessor leave",
        "a1",
        ("no Label Studio is named", "--offline"),
        "planned",
        sql(
            "INSERT INTO project (round, assessor, server, url, version, remote_id) "
            "VALUES ('judge', 'a1', 's', 'u', '1', 1)",
            "INSERT INTO task SELECT 1, query_id, doc_id, 1, 7, '[]' FROM assignment WHERE assessor = 'a1' LIMIT 1",
        ),
        exit_code=3,
    ),
    "assessor leave: unknown": Wrong("assessor leave", "b1", ("assessor 'b1': not known",), "planned"),
    "assessor silent: days that are none": Wrong("assessor silent", "--days -1", ("--days",)),
    # -- invite
    "invite: nobody": Wrong("invite", "", ("nobody to invite", "annot assessor add"), "pooled"),
    "invite: unknown": Wrong("invite", "a9", ("assessor 'a9': not known",), "planned"),
    "invite: no server": Wrong("invite", "", ("no Label Studio is named",), "planned", exit_code=3),
    # -- guidelines
    "guidelines: unknown facet": Wrong("guidelines show", "metod", ("facet 'metod'", "did you mean method?")),
    "guidelines: none for a facet of one's own": Wrong(
        "guidelines show",
        "claim",
        ("guidelines/claim.md: not in the study",),
        spoil=replace("annot.toml", 'result = ["result"]', 'claim = ["result"]'),
    ),
    "guidelines: too long a definition": Wrong(
        "guidelines show",
        "method",
        ("guidelines/method.md", "200 characters, expected 1 to 140"),
        spoil=write("guidelines/method.md", f"# Method\n\n{'x' * 200}\n"),
    ),
    "guidelines: empty": Wrong(
        "guidelines show", "method", ("guidelines/method.md", "0 characters"), spoil=write("guidelines/method.md", "")
    ),
    "guidelines: not UTF-8": Wrong(
        "guidelines show",
        "method",
        ("guidelines/method.md", "UTF-8"),
        spoil=write("guidelines/method.md", b"# M\n\n\xff\n"),
    ),
    "guidelines: a template with a wrong tag": Wrong(
        "guidelines show",
        "method --screen",
        ("templates/judge.xml.j2:1:", "correct it"),
        spoil=write("templates/judge.xml.j2", "{% for grade in grades %}"),
    ),
    "guidelines: a template with an unknown name": Wrong(
        "guidelines show",
        "method --screen",
        ("templates/judge.xml.j2:2:", "'grads' is undefined"),
        spoil=write("templates/judge.xml.j2", "<View>\n{{ grads }}</View>"),
    ),
    "guidelines: a template that is no XML": Wrong(
        "guidelines show",
        "method --screen",
        ("judge.xml.j2", "not a valid labelling configuration"),
        spoil=write("templates/judge.xml.j2", "<View>"),
    ),
    "guidelines: a control for nothing": Wrong(
        "guidelines show",
        "method --screen",
        ("judge.xml.j2", "nowhere"),
        spoil=write(
            "templates/judge.xml.j2",
            '<View><Text name="pair" value="$pair_html"/><Choices name="rating" toName="nowhere">'
            '<Choice value="0"/></Choices></View>',
        ),
    ),
    "guidelines: a screen without the rating": Wrong(
        "guidelines show",
        "method --screen",
        ("judge.xml.j2: the screen cannot be used", "found no control named 'rating'"),
        spoil=write("templates/judge.xml.j2", '<View><Text name="pair" value="$pair_html"/></View>'),
    ),
    "guidelines: a key that serves twice": Wrong(
        "guidelines show",
        "method --screen",
        ("judge.xml.j2", "the key '0' serves 2 choices"),
        spoil=write(
            "templates/judge.xml.j2",
            '{% extends "screen.xml.j2" %}\n{% block differences %}<Choices name="sure" toName="{{ controls.TEXT }}">'
            '<Choice value="sure" hotkey="0"/></Choices>{% endblock %}',
        ),
    ),
    "guidelines: a template that is not UTF-8": Wrong(
        "guidelines show", "method --screen", ("judge.xml.j2", "utf-8"), spoil=write("templates/judge.xml.j2", b"\xff")
    ),
    "guidelines check: a page of no facet": Wrong(
        "guidelines check",
        "",
        ("guidelines/claim.md: is the page of a facet that the study does not have",),
        exit_code=1,
        spoil=write("guidelines/claim.md", "# Claim\n\nWhat is claimed.\n"),
    ),
    "comments: a day that is none": Wrong(
        "comments", "--since soon", ("--since 'soon': no day, expected ISO 8601",), "judged"
    ),
    "meeting: answers without a moment": Wrong(
        "meeting", "", ("no pair has an answer of each of its assessors",), "judged"
    ),
    "meeting: a day that is none": Wrong("meeting", "--since soon", ("--since 'soon': no day",), "judged"),
    # -- plan
    "plan: too few assessors": Wrong(
        "plan", "", ("0 assessor(s), expected at least 2", "annot assessor add"), "pooled"
    ),
    "plan: unknown query": Wrong(
        "plan", "--query fic0407-backgruond", ("did you mean 'fic0407-background'?",), "planned"
    ),
    "plan: no pools": Wrong("plan", "", ("no pool for", "annot pool"), "queried"),
    "plan: no queries": Wrong("plan", "", ("no queries", "annot query add")),
    "plan: shares that are none": Wrong(
        "plan",
        "--share a1 --share a2=-1 --share a3=many",
        ("--share a1: expected a name and a number above 0", "--share a2=-1", "--share a3=many"),
        "planned",
    ),
    "plan: a share of nobody": Wrong("plan", "--share a9=2", ("--share 'a9': not known",), "planned"),
    "plan check: nothing is planned": Wrong("plan check", "", ("nothing is planned",), "pooled"),
    "plan withdraw: nothing is planned": Wrong("plan withdraw", "", ("nothing is planned",), "pooled"),
    "plan withdraw: sent": Wrong(
        "plan withdraw",
        "",
        ("were sent to a1",),
        "planned",
        sql(
            "INSERT INTO project (round, assessor, server, url, version) VALUES ('judge', 'a1', 's', 'u', '1')",
            "INSERT INTO task SELECT 1, query_id, doc_id, 1, min(rowid), '[]' FROM assignment "
            "GROUP BY query_id, doc_id",
        ),
    ),
    "plan simulate: unknown coefficient": Wrong(
        "plan simulate", "--coefficient alpha_ordinl", ("did you mean 'alpha_ordinal'?",), "settled"
    ),
    "plan simulate: nobody": Wrong("plan simulate", "--assessors 0", ("--assessors",), "settled"),
    "plan simulate: more for a pair than there are": Wrong(
        "plan simulate", "--assessors 2 --per-pair 3", ("2", "3"), "settled"
    ),
    "plan simulate: no judgements": Wrong("plan simulate", "", ("no pilot", "and pull"), "planned"),
    # -- push
    "push: nothing planned": Wrong("push", " ".join(DOWN), ("nothing is planned", "annot plan"), "pooled"),
    "push: server down": Wrong("push", " ".join(DOWN), (f"no server answers at {NOWHERE}",), "planned", exit_code=3),
    "push: no address": Wrong("push", "--url elsewhere --api-key x", ("elsewhere",), "planned", exit_code=3),
    "push: no token": Wrong(
        "push", f"--url {NOWHERE}", (f"no token for {NOWHERE}", "LABEL_STUDIO_API_KEY"), "planned", exit_code=3
    ),
    "push: no server": Wrong("push", "", ("no Label Studio is named", "annot studio up"), "planned", exit_code=3),
    "push: a template with an unknown name": Wrong(
        "push",
        " ".join(DOWN),
        ("templates/judge.xml.j2:2:", "'grads' is undefined"),
        "planned",
        write("templates/judge.xml.j2", "<View>\n{{ grads }}</View>"),
    ),
    "push: too long a definition": Wrong(
        "push",
        " ".join(DOWN),
        ("guidelines/method.md", "expected 1 to 140"),
        "planned",
        write("guidelines/method.md", f"# Method\n\n{'x' * 200}\n"),
    ),
    "push: a paper of the plan is gone": Wrong(
        "push",
        " ".join(DOWN),
        ("not in the corpus", "annot corpus add"),
        "planned",
        sql(
            "UPDATE assignment SET doc_id = 'gone' WHERE doc_id = 'fic0101'",
            "UPDATE pool_entry SET doc_id = 'gone' WHERE doc_id = 'fic0101'",
        ),
    ),
    "push: sentences without labels": Wrong(
        "push", " ".join(DOWN), ("no sentence labels", "annot facets"), "planned", sql("DELETE FROM facet_labels")
    ),
    "push: a method's name in the guidelines": Wrong(
        "push",
        " ".join(DOWN),
        ("names 'abs_tfidf'", "nothing was sent"),
        "planned",
        write("guidelines/method.md", "# Method\n\nFound by abs_tfidf.\n"),
    ),
    "push: server down, by the environment": Wrong(
        "push",
        "",
        (f"no server answers at {NOWHERE}",),
        "planned",
        exit_code=3,
        environment={"LABEL_STUDIO_URL": NOWHERE, "LABEL_STUDIO_API_KEY": "not-a-real-token"},
    ),
    "push: a password in the address": Wrong(
        "push",
        "--url https://ada:s3cret@studio.example.org --api-key not-a-real-token",
        ("holds a user name or a password", "LABEL_STUDIO_URL"),
        "planned",
        exit_code=3,
    ),
    # -- status, pull
    "status: a facet that is a path": Wrong(
        "status", "", ("facets", "'../x'"), spoil=replace("annot.toml", "[facets]", '[facets]\n"../x" = ["result"]')
    ),
    "status: a database without one of its tables": Wrong(
        "status", "", ("no such table", "restore a backup"), "judged", sql("DROP TABLE adjudication")
    ),
    "status: an option that is none": Wrong("status", "--url x", ("No such option: --url",)),
    "pull: server down": Wrong("pull", " ".join(DOWN), (f"no server answers at {NOWHERE}",), "planned", exit_code=3),
    "pull: no server": Wrong("pull", "", ("no Label Studio is named",), "planned", exit_code=3),
    "forecast: no plan": Wrong("forecast", "", ("annot plan",), "pooled"),
    "pull: watch a server that is down": Wrong(
        "pull", " ".join(("--watch", *DOWN)), (f"no server answers at {NOWHERE}",), "planned", exit_code=3
    ),
    "pull: no seconds": Wrong("pull", "--watch --every 0", ("greater than or equal to 1",), "planned"),
    "pull: every, and no watch": Wrong("pull", "--every 5", ("--every and --hook need --watch",), "planned"),
    "pull: watch and accept": Wrong("pull", "--watch --accept-deletions", ("leave --watch out",), "planned"),
    "pull: no place to listen": Wrong("pull", "--watch --hook lead", ("'lead'", "expected HOST:PORT"), "planned"),
    "pull: another machine's address": Wrong(
        "pull", "--watch --hook 192.0.2.7:8765", ("--hook 192.0.2.7:8765: nobody can listen there",), "planned"
    ),
    # -- settle
    "agreement: no judgements": Wrong("agreement", "", ("no judgements", "annot pull"), "planned"),
    "agreement: unknown policy": Wrong("agreement", "--missing zeor", ("'zeor'", "did you mean 'zero'?"), "judged"),
    "agreement assessors: no judgements": Wrong("agreement assessors", "", ("no judgements", "annot pull"), "planned"),
    "agreement: binarised off the scale": Wrong(
        "agreement", "--binarised-at 9", ("9", "expected one of 1, 2, 3"), "judged"
    ),
    "facets push: an unknown person": Wrong(
        "facets push", " ".join(["a7", *DOWN]), ("assessor 'a7': not known",), "planned"
    ),
    "facets push: server down": Wrong(
        "facets push", " ".join(["a1", *DOWN]), (f"no server answers at {NOWHERE}",), "planned", exit_code=3
    ),
    "facets push: a label that is not the study's": Wrong(
        "facets push",
        " ".join(["a1", *DOWN]),
        ("sentences are labelled", "annot facets"),
        "planned",
        sql("UPDATE facet_labels SET labels = replace(labels, 'method', 'ways')"),
    ),
    "facets pull: server down": Wrong(
        "facets pull", " ".join(DOWN), (f"no server answers at {NOWHERE}",), "planned", exit_code=3
    ),
    "adjudicate: no verb": Wrong("adjudicate push", "now", ("unexpected extra argument",), "judged"),
    "adjudicate push: no judgements": Wrong("adjudicate push", " ".join(DOWN), ("no judgements",), "planned"),
    "adjudicate push: server down": Wrong(
        "adjudicate push", " ".join(DOWN), (f"no server answers at {NOWHERE}",), "judged", exit_code=3
    ),
    "adjudicate push: a template with a wrong tag": Wrong(
        "adjudicate push",
        " ".join(DOWN),
        ("templates/adjudicate.xml.j2:1:",),
        "judged",
        write("templates/adjudicate.xml.j2", "{% if %}"),
    ),
    "adjudicate push: no adjudicator": Wrong(
        "adjudicate push",
        " ".join(DOWN),
        ("adjudicator", "annot assessor add"),
        "judged",
        sql("UPDATE assessor SET adjudicator = 0"),
    ),
    "agreement guidelines: an option that is none": Wrong("agreement guidelines", "--all", ("No such option: --all",)),
    "audit: server down": Wrong("audit", " ".join(DOWN), (f"no server answers at {NOWHERE}",), "planned", exit_code=3),
    "adjudicate pull: server down": Wrong(
        "adjudicate pull", " ".join(DOWN), (f"no server answers at {NOWHERE}",), "judged", exit_code=3
    ),
    "adjudicate status: an option that is none": Wrong("adjudicate status", "--all", ("No such option: --all",)),
    "qrels: no judgements": Wrong("qrels", "", ("no judgements", "annot pull"), "planned"),
    "qrels: before the adjudication is finished": Wrong(
        "qrels", "", ("have no final grade", "in dispute, not adjudicated", "--partial"), "judged"
    ),
    # -- measure
    "run: unknown system": Wrong("run", "fabs_tfdif", ("did you mean 'fabs_tfidf'?",), "pooled"),
    "run matches: a run that matched nothing": Wrong(
        "run matches",
        "fabs_bm25 fic0407-background fic0101",
        ("fabs_bm25.matches.jsonl: not there", "annot run list"),
        "measured",
    ),
    "run list: an option that is none": Wrong("run list", "--all", ("No such option: --all",)),
    "run: no pools": Wrong("run", "fabs_tfidf", ("no pools", "annot pool"), "queried"),
    # -- encoder
    "encoder contexts: no file": Wrong(
        "encoder contexts", "full.jsonl --out c.jsonl", ("full.jsonl: no such file",), "pooled"
    ),
    "encoder contexts: a full text without its text": Wrong(
        "encoder contexts",
        "full.jsonl --out c.jsonl",
        ("full.jsonl:1: no field 'body_text'", "expected full texts as S2ORC writes them"),
        "pooled",
        write("full.jsonl", b'{"paper_id": "c1", "bib_entries": {}}\n'),
    ),
    "encoder contexts: a window that is none": Wrong(
        "encoder contexts",
        "full.jsonl --out c.jsonl --window section",
        ("--window section", "sentence"),
        "pooled",
    ),
    "encoder examples: co-citations without contexts": Wrong(
        "encoder examples", "ts-aspire --out d", ("found no --contexts", "`annot encoder contexts`"), "pooled"
    ),
    "encoder examples: shares that do not sum to 1": Wrong(
        "encoder examples", "specter-id --out d --mix Medicine=0.7", ("the shares sum to 0.7",), "pooled"
    ),
    "encoder examples: a system that nobody trains": Wrong(
        "encoder examples", "specter-ix --out d", ("'specter-ix': not known; did you mean 'specter-id'?",), "pooled"
    ),
    "encoder train: no examples": Wrong(
        "encoder train", "specter-id --data d", ("train.jsonl: not there", "`annot encoder examples"), "pooled"
    ),
    "encoder train: examples of papers for a system of sentences": Wrong(
        "encoder train",
        "cosentbert --data examples --from start",
        ("train.jsonl:1: found papers, expected texts",),
        "pooled",
        examples,
    ),
    "encoder train: weights already there": Wrong(
        "encoder train",
        "specter-id --data examples --from start --out start",
        ("start: there already, and not trained like this",),
        "pooled",
        examples,
    ),
    "encoder train: a loss that it has not": Wrong(
        "encoder train", "ts-aspire --data d --loss softmax", ("found softmax, expected triplet",), "pooled"
    ),
    "run import: no file": Wrong("run import", "mine.run --tag mine", ("mine.run: no such file",), "pooled"),
    "run import: a run broken on line 17": Wrong(
        "run import",
        "mine.run --tag mine",
        ("mine.run:17: 2 columns, expected 6",),
        "pooled",
        both(write("mine.run", RUN_LINES), line_17("mine.run", "two columns")),
    ),
    "run import: of other queries": Wrong(
        "run import",
        "mine.run --tag mine",
        ("none of its queries is in this study", "found 31", "expected fic0407-background"),
        "pooled",
        write("mine.run", "31 Q0 d 1 1.0 mine\n"),
    ),
    "run import: documents of no pool": Wrong(
        "run import",
        "mine.run --tag mine",
        ("foreign candidates", "--foreign drop"),
        "pooled",
        write("mine.run", RUN_LINES),
        exit_code=1,
    ),
    "run import: no pools": Wrong(
        "run import", "mine.run --tag mine", ("no pools and no judgements",), "queried", write("mine.run", RUN_LINES)
    ),
    "run import: an unknown rule": Wrong(
        "run import",
        "mine.run --tag mine --foreign dorp",
        ("--foreign 'dorp': not known; did you mean 'drop'?",),
        "pooled",
        write("mine.run", RUN_LINES),
    ),
    "evaluate: unknown measure": Wrong(
        "evaluate", "--measure ndgc@10", ("measure 'ndgc@10': not known", "nDCG@10"), "measured"
    ),
    "evaluate: unknown way with ties": Wrong(
        "evaluate", "--ties expect", ("--ties 'expect': not known; did you mean 'expected'?",), "measured"
    ),
    "compare: an unknown run": Wrong("compare", "fabs_bm52", ("did you mean 'fabs_bm25'?",), "measured"),
    "compare: one run": Wrong("compare", "fabs_bm25", ("1 run, expected at least 2",), "measured"),
    "query folds: no queries": Wrong("query folds", "", ("no queries", "annot query add"), "labelled"),
    "query folds: more folds than papers": Wrong("query folds", "--folds 999", ("999 folds: expected",), "queried"),
    "evaluate: an unknown average": Wrong(
        "evaluate", "--average tset", ("--average 'tset': not known; did you mean 'test'?",), "measured"
    ),
    "evaluate: no folds": Wrong("evaluate", "--average dev", ("no development fold", "annot query folds"), "measured"),
    "qrels compare: no such file": Wrong(
        "qrels compare", "exports/qrels.txt b.txt", ("b.txt: no such file",), "measured"
    ),
    "qrels compare: other queries": Wrong(
        "qrels compare",
        "exports/qrels.txt b.txt",
        ("no query of this study is in both", "b.txt: found 31"),
        "measured",
        write("b.txt", "31 0 d 1\n"),
    ),
    "evaluate: no such published table": Wrong(
        "evaluate", "--against csfcub", ("no such file", "did you mean 'csfcube'?"), "measured"
    ),
    "evaluate: no qrels": Wrong("evaluate", "", ("qrels.txt: no qrels yet", "annot qrels"), "settled"),
    "evaluate: no runs": Wrong(
        "evaluate",
        "",
        ("exports/runs: no runs", "annot run"),
        "settled",
        write("exports/qrels.txt", "fic0407-background 0 fic0101 1\n"),
    ),
    "evaluate: no such run": Wrong("evaluate", "mine.run", ("mine.run: no such file",), "measured"),
    "evaluate: a run broken on line 17": Wrong(
        "evaluate",
        "mine.run",
        ("mine.run:17: 2 columns, expected 6",),
        "measured",
        both(write("mine.run", RUN_LINES), line_17("mine.run", "two columns")),
    ),
    "evaluate: a run of other queries": Wrong(
        "evaluate",
        "mine.run",
        ("none of its queries is in the qrels", "found 31", "expected fic0407-background"),
        "measured",
        write("mine.run", "31 Q0 d 1 1.0 mine\n"),
    ),
    "evaluate: one tag in two files": Wrong(
        "evaluate",
        "mine.run mine.run",
        ("the tag 'mine' stands in another file",),
        "measured",
        write("mine.run", RUN_LINES),
    ),
    "evaluate: a run that is not text": Wrong(
        "evaluate", "mine.run", ("mine.run: not UTF-8",), "measured", write("mine.run", b"\xff\xfe")
    ),
    "evaluate: unknown convention": Wrong("evaluate", "--convention treck", ("did you mean 'trec'?",), "measured"),
    "evaluate: broken qrels": Wrong(
        "evaluate",
        "",
        ("exports/qrels.txt:17: 3 columns, expected 4",),
        "measured",
        line_17("exports/qrels.txt", "three columns only"),
    ),
    "evaluate: qrels of a query that is not in the study": Wrong(
        "evaluate",
        "",
        ("exports/qrels.txt", "'gone-method'"),
        "measured",
        line_17("exports/qrels.txt", "gone-method 0 fic0101 1"),
    ),
    "evaluate: qrels that are not text": Wrong(
        "evaluate", "", ("exports/qrels.txt", "UTF-8"), "measured", write("exports/qrels.txt", b"\xff\xfe")
    ),
    "train gold: nothing is settled": Wrong("train gold", "", ("nothing is settled yet",), "planned"),
    "train gold: a file that is not there": Wrong("train gold", "gold.csv", ("gold.csv: not there",), "settled"),
    "train gold: rows that cannot be used": Wrong(
        "train gold",
        "gold.csv",
        (
            "gold.csv: 4 faults",
            "gold.csv:2: query 'fic0407-backgruond': not in this study; did you mean 'fic0407-background'?",
            "gold.csv:3: grade: found '4', expected one of 0, 1, 2, 3",
            "gold.csv:5: fic0407-background fic0101: given twice",
            "gold.csv:6: doc_id is empty",
        ),
        "settled",
        write(
            "gold.csv",
            "query_id;doc_id;grade;why\nfic0407-backgruond;fic0101;1;x\nfic0407-background;fic0102;4;x\n"
            "fic0407-background;fic0101;2;x\nfic0407-background;fic0101;1;x\nfic0407-background;;1;x\n",
        ),
    ),
    "train gold: a column that is not there": Wrong(
        "train gold",
        "gold.csv",
        ("found no column 'why'", "query_id, doc_id, grade and why"),
        "settled",
        write("gold.csv", "query_id,doc_id,grade\nfic0407-background,fic0101,1\n"),
    ),
    "train gold: a paper that is not in the corpus": Wrong(
        "train gold",
        "gold.csv",
        ("nowhere: not in the corpus",),
        "settled",
        write("gold.csv", "query_id,doc_id,grade,why\nfic0407-background,nowhere,1,\n"),
    ),
    "train push: no gold": Wrong("train push", "", ("no gold pairs", "annot train gold"), "settled"),
    "train pull: a server that is not there": Wrong(
        "train pull", " ".join(DOWN), ("no server answers at",), "settled", exit_code=3
    ),
    "train hide: nothing is settled": Wrong("train hide", "", ("nothing is settled yet",), "planned"),
    "train hide: nothing is planned": Wrong("train hide", "", ("nothing is planned", "annot plan"), "pooled"),
    "train hide: more than half": Wrong("train hide", "--share 0.6", ("less than or equal to 0.5",), "settled"),
    "train report: nobody is trained": Wrong("train report", "", ("nobody is in training",), "settled"),
    "substudy draw: nothing is settled": Wrong(
        "substudy draw", "--assessor j1", ("nothing is settled yet",), "planned"
    ),
    "substudy draw: nobody of that name": Wrong(
        "substudy draw", "--assessor j2", ("assessor 'j2': not known; expected one of a1",), "settled"
    ),
    "substudy draw: more queries than there are": Wrong(
        "substudy draw",
        "--assessor j1 --queries 90",
        ("the sub-study cannot be drawn", "expected 90", "--queries"),
        "settled",
    ),
    "substudy push: nothing is drawn": Wrong(
        "substudy push", "--view abstract", ("no sub-study is drawn", "annot substudy draw"), "settled"
    ),
    "substudy push: unknown view": Wrong("substudy push", "--view fulll", ("did you mean 'full'?",), "settled"),
    "substudy pull: unknown view": Wrong("substudy pull", "--view both", ("view 'both': not known",), "settled"),
    "substudy report: nothing is drawn": Wrong("substudy report", "", ("no sub-study is drawn",), "settled"),
    "assessor-effect: unknown measure": Wrong(
        "assessor-effect", "--convention trec --measure nDCGG", ("did you mean 'nDCG'?",), "measured"
    ),
    "assessor-effect: unknown convention": Wrong(
        "assessor-effect", "--convention treck", ("did you mean 'trec'?",), "measured"
    ),
    "assessor-effect: one run alone": Wrong(
        "assessor-effect", "", ("1 run(s), expected at least 2",), "measured", remove("exports/runs/fabs_tfidf.run")
    ),
    "assessor-effect: qrels of a query that is not in the study": Wrong(
        "assessor-effect",
        "",
        ("exports/qrels.txt", "'gone-method'"),
        "measured",
        line_17("exports/qrels.txt", "gone-method 0 fic0101 1"),
    ),
    "assessor-effect: no random assessors": Wrong(
        "assessor-effect", "--random-assessors 0", ("greater than or equal to 1",), "measured"
    ),
    "reusability: no qrels": Wrong("reusability", "", ("annot qrels",), "measured", remove("exports/qrels.txt")),
    "adjudicate return: not their pair": Wrong(
        "adjudicate return",
        "fic0407-background fic0101 --to j1 --why Again.",
        ("not of j1", "it is of a1, a3"),
        "judged",
    ),
    "adjudicate return: a table without reasons": Wrong(
        "adjudicate return",
        "--file mine.csv",
        ("mine.csv", "found no column 'to'", "found no column 'why'"),
        "judged",
        write("mine.csv", "query_id,doc_id\n"),
    ),
    "import labelstudio: not its JSON": Wrong(
        "import labelstudio",
        "papers.jsonl --rating rel --query topic --document paper",
        ("papers.jsonl: not valid JSON", "Export, format JSON"),
    ),
    "errors: a pair is open": Wrong("errors", "", ("have no final grade", "annot adjudicate"), "judged"),
    "errors: a sheet without the columns that are read": Wrong(
        "errors",
        "",
        ("errors.csv:1: found no column 'kind'", "errors.csv:1: found no column 'note'"),
        "measured",
        write("errors.csv", "query_id,doc_id,type\n"),
    ),
    # -- publish
    "browse: no runs": Wrong("browse", "", ("exports/runs: no runs", "annot run"), "settled"),
    "browse: no corpus": Wrong(
        "browse",
        "",
        ("no corpus: there is nothing to read", "annot corpus add"),
        "measured",
        remove("corpus/part-00001.parquet"),
    ),
    "browse: matches broken on line 17": Wrong(
        "browse",
        "",
        ("fabs_bm25.matches.jsonl:17: no field 'matches'",),
        "measured",
        both(
            write(
                "exports/runs/fabs_bm25.matches.jsonl",
                "".join(f'{{"query_id": "q", "doc_id": "d{at}", "matches": []}}\n' for at in range(20)),
            ),
            line_17("exports/runs/fabs_bm25.matches.jsonl", '{"query_id": "q", "doc_id": "d"}'),
        ),
    ),
    "report: no judgements": Wrong("report", "", ("no judgements",), "planned"),
    "report: a broken run": Wrong(
        "report", "", ("fabs_tfidf.run:17:",), "measured", line_17("exports/runs/fabs_tfidf.run", "two columns")
    ),
    "report: a template with a wrong tag": Wrong(
        "report", "", ("templates/report.html.j2:1:",), "measured", write("templates/report.html.j2", "{% if %}")
    ),
    "datasheet: broken answers": Wrong(
        "datasheet", "", ("datasheet.toml", "line 1"), "measured", write("datasheet.toml", "[motivation\n")
    ),
    "datasheet: an unknown question": Wrong(
        "datasheet",
        "",
        ("datasheet.toml", "purpse"),
        "measured",
        write("datasheet.toml", '[motivation]\npurpse = "To measure."\n'),
    ),
    "datasheet: no judgements": Wrong("datasheet", "", ("no judgements", "annot pull"), "planned"),
    "datasheet: a template with a wrong tag": Wrong(
        "datasheet", "", ("templates/datasheet.md.j2:1:",), "measured", write("templates/datasheet.md.j2", "{% if %}")
    ),
    "release: a folder in use": Wrong(
        "release", "corpus --licence CC0-1.0", ("corpus: not empty, and not a release made here",), "measured"
    ),
    "release: a file": Wrong("release", "papers.jsonl --licence CC0-1.0", ("papers.jsonl: a file",), "measured"),
    "release: no licence": Wrong("release", "out", ("licence",), "measured", exit_code=1),
    "release: a date that is none": Wrong("release", "out --date soon", ("--date", "soon"), "measured"),
    "release: before the adjudication is finished": Wrong(
        "release", "out --licence CC0-1.0", ("in dispute, not adjudicated", "--draft"), "judged", exit_code=1
    ),
    "release: questions without an answer": Wrong(
        "release", "out --licence CC0-1.0", ("annot datasheet",), "measured", exit_code=1
    ),
    "trace: unknown query": Wrong(
        "trace", "fic0407-backgruond fic0101", ("did you mean 'fic0407-background'?",), "measured"
    ),
    "trace: unknown document": Wrong(
        "trace", "fic0407-background fic010", ("fic010", "did you mean 'fic0"), "measured"
    ),
    "judgements withdrawn: as two things": Wrong(
        "judgements withdrawn", "--json --csv", ("expected one of them",), "judged"
    ),
    "judgements restore: nothing named": Wrong(
        "judgements restore", "", ("expected QUERY DOC --assessor NAME, or --all",), "judged"
    ),
    "judgements restore: both": Wrong(
        "judgements restore", "fic0407-background fic0101 --all", ("expected QUERY DOC",), "judged"
    ),
    "judgements restore: a stranger": Wrong(
        "judgements restore", "fic0407-background fic0101 --assessor a9", ("'a9'", "a1, a2"), "judged"
    ),
    "judgements restore: unknown query": Wrong(
        "judgements restore",
        "fic0407-backgruond fic0101 --assessor a1",
        ("did you mean 'fic0407-background'?",),
        "judged",
    ),
    "judgements restore: nothing to restore": Wrong(
        "judgements restore",
        "fic0407-background fic9999 --assessor a1",
        ("a1: no answer to fic0407-background fic9999", "annot judgements withdrawn"),
        "judged",
    ),
    # -- keep
    "backup: a file that is there": Wrong("backup", "papers.jsonl", ("papers.jsonl: is there already",)),
    "restore: a file that is no backup": Wrong("restore", "papers.jsonl new", ("papers.jsonl: not a whole backup",)),
    "restore: no file": Wrong("restore", "none.tar.gz new", ("none.tar.gz: no such file", "annot backup")),
    "verify: an option that is none": Wrong("verify", "--relase out", ("No such option: --relase", "--release")),
    "migrate: an option that is none": Wrong("migrate", "--to 3", ("No such option: --to",)),
    "rebuild: a study that is there": Wrong("rebuild", "", ("holds a plan", "annot restore"), "planned"),
    "rebuild: no plan": Wrong("rebuild", "", ("plan.jsonl: not there",), "pooled"),
    # -- help
    "doctor: an option that is none": Wrong("doctor", "--fix", ("No such option: --fix",)),
    "studio up: no Label Studio where it is said to be": Wrong(
        "studio up",
        "",
        ("ANNOT_STUDIO_VENV=nowhere: there is no bin/label-studio in it", "pip install"),
        exit_code=3,
        environment={"ANNOT_STUDIO_VENV": "nowhere"},
    ),
    "studio up: a port that is none": Wrong(
        "studio up", "--port 99999", ("less than or equal to 65535",), environment={"ANNOT_STUDIO_VENV": "nowhere"}
    ),
    "studio down: an option that is none": Wrong("studio down", "--port 1", ("No such option: --port",)),
    "studio status: no Label Studio where it is said to be": Wrong(
        "studio status",
        "",
        ("ANNOT_STUDIO_VENV=nowhere: there is no bin/label-studio in it",),
        exit_code=3,
        environment={"ANNOT_STUDIO_VENV": "nowhere"},
    ),
    "demo: another study's folder": Wrong(
        "demo", ".", ("holds the study 'mine'",), spoil=replace("annot.toml", '"annot-demo"', '"mine"')
    ),
    "demo: a folder that is in use": Wrong(
        "demo", "guidelines", ("guidelines: not empty",), spoil=write("guidelines/x", "")
    ),
    "demo: a file": Wrong("demo", "papers.jsonl", ("papers.jsonl: ",)),
}

WORKSPACELESS = {"pool compare", "init", "demo", "facets train", "encoder train", "restore", "doctor", "run list"}
"""Commands that need no workspace."""
WITHOUT_DATABASE = {
    *WORKSPACELESS,
    *("corpus", "corpus add", "citations add", "vectors import", "vectors import-words", "vectors list", "encode"),
    *("encoder contexts", "guidelines show", "guidelines check", "studio down", "studio status"),
    *("index build", "index list", "index verify", "index gc"),
}
"""Commands that never open the database."""
USUAL = {
    "vectors import": "mine theirs.npy",
    "vectors import-words": "theirs.vec",
    "encode": "specter",
    "qrels compare": "exports/qrels.txt exports/qrels.txt",
    "run import": "theirs.run --tag theirs",
    "pool import-run": "engine.run --method engine",
    "pool add": "fic0407 fic0104 --reason mine",
    "pool topup": "--method engine",
    "encoder contexts": "full.jsonl --out contexts.jsonl",
    "encoder examples": "specter-id --out examples",
    "corpus add": "papers.jsonl",
    "citations add": "papers.jsonl",
    "import csfcube": "release",
    "import judgements": "mine.csv",
    "import grades": "mine.qrels",
    "query sample": "--out sheet.csv",
    "query choose": "1",
    "query add": "fic0802 --facet method",
    "query remove": "fic0407-background",
    "pool show": "fic0407-background",
    "assessor account": "a1 b1@demo.example.org",
    "assessor server": "a1",
    "assessor replace": "a1 --by a2",
    "assessor leave": "a1",
    "backup": "../backup.tar.gz",
    "assessor add": "a1 --account a1@demo.example.org",
    "guidelines show": "method",
    "import labelstudio": "theirs.json --rating rel --query topic --document paper",
    "adjudicate return": "fic0407-background fic0101 --to a1 --why Again.",
    "release": "out --licence CC0-1.0",
    "trace": "fic0407-background fic0101",
    "run matches": "mine fic0407-background fic0101",
    "judgements restore": "--all",
    "facets push": " ".join(["a1", *DOWN]),
    "facets pull": " ".join(DOWN),
    "push": " ".join(DOWN),
    "pull": " ".join(DOWN),
    "adjudicate push": " ".join(DOWN),
    "adjudicate pull": " ".join(DOWN),
    "train pull": " ".join(DOWN),
    "substudy draw": "--assessor j1",
    "substudy push": "--view abstract",
    "substudy pull": f"--view abstract {' '.join(DOWN)}",
}
"""What is typed after a command where nothing but the workspace is wrong."""
NAMES = [command.name for command in commands()]


def refused(result: Result, *, exit_code: int) -> None:
    """One message on stderr, in words; nothing on stdout."""
    assert result.exit_code == exit_code, result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    first = result.stderr.splitlines()[0]
    assert first.startswith(("annot: ", "Usage: annot ")), result.stderr
    assert sum(line.startswith("annot: ") for line in result.stderr.splitlines()) <= 1
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_told_and_changes_nothing(
    name: str, study: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = WRONG[name]
    for variable, value in wrong.environment.items():
        monkeypatch.setenv(variable, value)
    folder = study(wrong.stage)
    wrong.spoil(folder)
    before = snapshot(folder)
    result = annot(*wrong.arguments, folder=folder)
    refused(result, exit_code=wrong.exit_code)
    for words in wrong.says:
        assert words in result.message(), result.stderr
    assert not difference(before, snapshot(folder))


def test_every_command_has_a_wrong_input_of_its_own() -> None:
    assert {wrong.command for wrong in WRONG.values()} == set(NAMES)


WORKSPACES: dict[str, tuple[Spoil, tuple[str, ...]]] = {
    "not a study": (remove("annot.toml"), (".: not a study (no annot.toml)", "annot init")),
    "an unknown key": (
        replace("annot.toml", "per_method =", "per_metod ="),
        ("annot.toml: 1 fault(s)", "pool.per_metod: unknown key; did you mean 'per_method'?"),
    ),
    "two values that do not fit": (
        both(replace("annot.toml", "per_pair = 2", "per_pair = 0"), replace("annot.toml", '"drop"', '"droop"')),
        ("annot.toml: 2 fault(s)", "judging.per_pair", "found 0", "judging.missing", "found 'droop'"),
    ),
    "settings that are a number or a word": (
        both(
            replace("annot.toml", "epochs = 1 ", 'epochs = "many" '),
            replace("annot.toml", "workers = 1", "workers = 0"),
        ),
        (
            "2 fault(s)",
            "word_vectors.epochs: Value error, expected a whole number from 1 on, or 'auto', found 'many'",
            "word_vectors.workers: Value error, expected a whole number from 1 on, or 'all', found 0",
        ),
    ),
    "settings that are no TOML": (write("annot.toml", "[pool\n"), ("annot.toml: not valid TOML", "line 1")),
    "settings that are not UTF-8": (write("annot.toml", b"\xff"), ("annot.toml: not valid TOML",)),
}
DATABASES: dict[str, tuple[Spoil, tuple[str, ...]]] = {
    "no database": (remove("annot.db"), ("annot.db: no database there", "annot init")),
    "a file that is no database": (write("annot.db", "text"), ("annot.db: not a SQLite database",)),
    "a damaged database": (damaged_pages, ("annot.db", "damaged")),
    "a database of a newer program": (
        sql("INSERT INTO annot_schema (version) VALUES (99)"),
        ("the database has version 99", "update annot"),
    ),
    "another program's database": (
        both(write("annot.db", b""), sql("CREATE TABLE songs (title TEXT)")),
        ("tables of another program (songs",),
    ),
}


@pytest.mark.parametrize("command", [name for name in NAMES if name not in WORKSPACELESS])
def test_a_workspace_that_cannot_be_used_is_told_by_every_command(command: str, study: Callable[[str], Path]) -> None:
    folder = study("made")
    settings = (folder / "annot.toml").read_bytes()
    for spoil, says in WORKSPACES.values():
        (folder / "annot.toml").write_bytes(settings)
        spoil(folder)
        before = snapshot(folder)
        result = annot(*command.split(), *USUAL.get(command, "").split(), folder=folder)
        refused(result, exit_code=2)
        for words in says:
            assert words in result.message(), result.stderr
        assert not difference(before, snapshot(folder))


@pytest.mark.parametrize("command", [name for name in NAMES if name not in WITHOUT_DATABASE])
def test_a_database_that_cannot_be_used_is_told_by_every_command(command: str, study: Callable[[str], Path]) -> None:
    folder = study("measured")
    made_by = '[{"id": 1, "completed_by": 1, "result": [{"from_name": "rel", "value": {"choices": ["1"]}}]}]'
    data = '{"topic": "p-method", "paper": "d17"}'
    write("theirs.json", f'[{{"id": 1, "data": {data}, "annotations": {made_by}}}]')(folder)
    judgements_with("p-method,d17,ann,1")(folder)
    write("queries.csv", "paper_id,period,type,rating,facets\nfic0802,1994-1999,empirical,3,method\n")(folder)
    for name, content in write_csfcube(demo_material(), folder="release/", with_text=True).items():
        write(name, content)(folder)
    database = (folder / "annot.db").read_bytes()
    for spoil, says in DATABASES.values():
        for log in folder.glob("annot.db-*"):
            log.unlink()
        (folder / "annot.db").write_bytes(database)
        spoil(folder)
        before = snapshot(folder)
        result = annot(*command.split(), *USUAL.get(command, "").split(), folder=folder)
        refused(result, exit_code=2)
        for words in says:
            assert words in result.message(), result.stderr
        assert not difference(before, snapshot(folder))
