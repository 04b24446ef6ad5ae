"""Wrong input for the commands, one for each class of fault."""

from pathlib import Path

from command_line import annot_done
from spoiling import add_to, both, line_17, remove, replace, sql, write
from usual import engine_run, examples, isolated
from wrong import DOWN, NOWHERE, Wrong


def imported_engine(folder: Path) -> None:
    engine_run(folder)
    annot_done("pool", "import", "engine.run", "--method", "engine", folder=folder)


RUN_LINES = "".join(f"fic0407-background Q0 fic{at:04} {at} {1 / at:.3f} mine\n" for at in range(1, 41))
CONTEXTS = (
    '{"papers": ["fic0501", "%s"], "contexts": [{"citing": "c1", "text": "Both (1, 2)."}]}\n'
    '{"papers": ["fic0503", "%s"], "contexts": [{"citing": "c2", "text": "These two (1, 2)."}]}\n'
)
"""Two sets of papers, as `annot encoder contexts` writes them."""


WRONG: dict[str, Wrong] = {
    # -- prepare
    "init: the folder is a file": Wrong("init", "annot.toml", ("annot.toml: a file, expected a folder",)),
    "corpus corrected: a decision without a pair": Wrong("corpus corrected", "--stays why", ("--all",), "judged"),
    "corpus add: missing files": Wrong(
        "corpus add", "none.jsonl papers.jsonl neither.jsonl", ("none.jsonl: no such file", "neither.jsonl: no such")
    ),
    "corpus add: an empty folder": Wrong(
        "corpus add", "corpus", ("corpus: an empty folder, expected files of papers",)
    ),
    "corpus add: a format that is none": Wrong(
        "corpus add", "papers.jsonl --format arxvi", ("format 'arxvi'", "did you mean 'arxiv'?")
    ),
    "corpus withdraw: an id that no paper has": Wrong(
        "corpus withdraw",
        "ids.txt --reason retracted --version 2",
        ("fic9999",),
        "pooled",
        spoil=write("ids.txt", "fic0101\nfic9999\n"),
    ),
    "import --as citations: three columns": Wrong(
        "import --as citations",
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
    "import --as csfcube: no such folder": Wrong(
        "import --as csfcube", "nowhere", ("nowhere: no such folder, expected the folder of a CSFCube release",)
    ),
    "import --as csfcube: a broken file": Wrong(
        "import --as csfcube",
        "release",
        ("test-pid2anns-csfcube-method.json:1: not valid JSON"),
        spoil=write("release/test-pid2anns-csfcube-method.json", "{"),
    ),
    "import --as grades: a form that is not known": Wrong(
        "import --as grades", "papers.jsonl --format beir", ("form of grades 'beir': not known", "qrels")
    ),
    "facets: no such scheduler": Wrong(
        "facets", "--cluster nowhere://x", ("nowhere://x: no Dask scheduler answers",), "labelled"
    ),
    "facets train: the model's place is a folder": Wrong(
        "facets train",
        "few.jsonl --out corpus",
        ("corpus", "a folder"),
        spoil=write("few.jsonl", '{"sentences": ["One.", "Two."], "labels": ["method", "result"]}\n'),
    ),
    "query sample: no labels": Wrong(
        "query sample",
        "",
        ("96 papers without sentence labels", "annot facets"),
        "labelled",
        sql("DELETE FROM facet_labels"),
    ),
    "query sample: a sheet that stands": Wrong(
        "query sample", "--out papers.jsonl", ("papers.jsonl: exists already",), "labelled"
    ),
    "query sample: periods without papers": Wrong(
        "query sample",
        "",
        ("queries.periods in annot.toml: found no paper of 1901-1910", "from 1995 to 2024", "set periods = []"),
        "labelled",
        replace("annot.toml", "periods = []", "periods = [[1901, 1910]]"),
    ),
    "query sample: more than there are": Wrong(
        "query sample", "--choose 30 --per-period 1", ("30 queries cannot be chosen", "--per-period"), "labelled"
    ),
    "query add: unknown paper": Wrong(
        "query add", "fic0820 --facet method", ("paper 'fic0820': not known; did you mean 'fic08",), "labelled"
    ),
    "query add: sentences that are no numbers": Wrong(
        "query add", "fic0802 --facet method --sentences two", ("found 'two', expected numbers",), "labelled"
    ),
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
    "query add: a file with a column nearly called so": Wrong(
        "query add",
        "--file wanted.csv",
        ("wanted.csv:1: found column 'sentence': did you mean 'sentences'?",),
        "labelled",
        write("wanted.csv", "paper_id,facet,sentence\nfic0802,method,2\n"),
    ),
    "query remove: planned": Wrong(
        "query remove",
        "fic0407-background",
        ("planned assignments", "annot plan --withdraw --query fic0407-background"),
        "planned",
    ),
    "query remove: judged": Wrong(
        "query remove", "fic0407-background", ("judgement", "judgements are never deleted"), "judged"
    ),
    "query list: a query of a paper that is gone": Wrong(
        "query list",
        "",
        ("gone: not in the corpus", "annot corpus add"),
        "queried",
        sql("UPDATE query SET topic_id = 'gone', query_id = 'gone-background' WHERE query_id = 'fic0407-background'"),
    ),
    "query folds: more folds than papers": Wrong("query folds", "--folds 999", ("999 folds: expected",), "queried"),
    "import --as labelstudio: not its JSON": Wrong(
        "import --as labelstudio",
        "papers.jsonl --rating rel --query topic --document paper",
        ("papers.jsonl: not valid JSON", "Export, format JSON"),
    ),
    # -- pool
    "index: no such memory": Wrong("index", "--memory 4", ("memory '4'", "4G"), "queried"),
    "pool: wrong mode": Wrong("pool", "--mode round-robbin", ("mode 'round-robbin'", "round-robin"), "queried"),
    "pool: unknown method left out": Wrong(
        "pool", "--without abs_tfdif", ("method to leave out 'abs_tfdif'", "did you mean 'abs_tfidf'?"), "queried"
    ),
    "vectors list: a damaged set": Wrong(
        "vectors list",
        "",
        ("corpus/vectors/mine: vectors are missing", "vectors.npy"),
        "labelled",
        write("corpus/vectors/mine/ids.txt", "fic0101\n"),
    ),
    "vectors add: an option of another kind": Wrong(
        "vectors add",
        "--words theirs.vec --metric l2",
        ("`annot vectors add --words` cannot be used with --metric",),
        "labelled",
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
    "pool: a method that is a path": Wrong(
        "pool",
        "--frozen",
        ("pool.methods.0", "'../../x'"),
        "pooled",
        replace("annot.toml", '"title_tfidf"', '"../../x"'),
    ),
    "pool: the manifest of rankings is broken": Wrong(
        "pool", "--frozen", ("manifest.json",), "pooled", write("pools/rankings/manifest.json", "{}")
    ),
    "pool: a query that is none": Wrong("pool", "--query fic0408", ("query 'fic0408': not in this study",), "pooled"),
    "pool import: of another study": Wrong(
        "pool import",
        "engine.run --method x --foreign drop",
        ("no query of this study has a document of this corpus", "such as fic"),
        "pooled",
        write("engine.run", "q9 Q0 fic0101 1 2 engine\n"),
    ),
    "pool import: a ranking that was changed": Wrong(
        "pool",
        "--method engine",
        ("pools/imported/engine.run: its SHA-256 is", "annot pool import"),
        "pooled",
        both(imported_engine, write("pools/imported/engine.run", "fic0407 Q0 fic0103 1 2 engine\n")),
    ),
    "pool add --method: deeper than the rankings": Wrong(
        "pool add",
        "--run engine.run --method engine --depth 51",
        ("--depth 51: the rankings of query paper fic", "end at 50"),
        "pooled",
        engine_run,
    ),
    "forecast: no rankings": Wrong(
        "forecast", "--pools", ("pools/rankings/manifest.json: missing", "annot pool"), "queried"
    ),
    # -- judge: planning and following the work
    "status: labels that the screen confuses": Wrong(
        "status",
        "",
        ("labels.names", "label 'my-method' is or ends with label 'method'"),
        spoil=replace("annot.toml", '"result", "other"]', '"result", "my-method"]'),
    ),
    "assessor add: no name of this kind": Wrong("assessor add", "a/1 --account a@example.org", ("found 'a/1'",)),
    "assessor add: no e-mail address": Wrong("assessor add", "a1 --account ann", ("--account: expected an e-mail",)),
    "assessor add: server down": Wrong(
        "assessor add",
        f"a1 --account a@example.org --url {NOWHERE} --api-key not-a-real-token",
        (f"no server answers at {NOWHERE}",),
        exit_code=3,
    ),
    "assessor change: unknown": Wrong(
        "assessor change", "a7 --account x@example.org", ("assessor 'a7': not known; expected one of a1",), "planned"
    ),
    "assessor change: one server for all": Wrong(
        "assessor change", "a1 --server https://a1.example.org", ('found "project"', "under [judging]"), "planned"
    ),
    "assessor change: no token": Wrong(
        "assessor change",
        f"a1 --server {NOWHERE}",
        ("LABEL_STUDIO_API_KEY is not a token",),
        "planned",
        isolated,
        exit_code=3,
    ),
    "assessor leave: by themselves": Wrong(
        "assessor leave", "a1 --to a1", ("found the person who leaves, expected another",), "planned"
    ),
    "assessor leave: tasks on a server that cannot be asked": Wrong(
        "assessor leave",
        "a1",
        ("no Label Studio is running here", "--offline"),
        "planned",
        sql(
            "INSERT INTO project (round, assessor, server, url, version, remote_id, set_back) "
            "VALUES ('judge', 'a1', 's', 'u', '1', 1, '[]')",
            "INSERT INTO task SELECT 1, query_id, doc_id, 1, 7, '[]' FROM assignment WHERE assessor = 'a1' LIMIT 1",
        ),
        exit_code=3,
    ),
    "guidelines: unknown facet": Wrong("guidelines", "metod", ("facet 'metod'", "did you mean 'method'?")),
    "guidelines: too long a definition": Wrong(
        "guidelines",
        "method",
        ("guidelines/method.md", "200 characters, expected 1 to 140"),
        spoil=write("guidelines/method.md", f"# Method\n\n{'x' * 200}\n"),
    ),
    "guidelines: a template with a wrong tag": Wrong(
        "guidelines",
        "method --screen",
        ("templates/judge.xml.j2:1:", "correct the template"),
        spoil=write("templates/judge.xml.j2", "{% for grade in grades %}"),
    ),
    "guidelines: a template that is no XML": Wrong(
        "guidelines",
        "method --screen",
        ("judge.xml.j2", "not a valid labelling configuration"),
        spoil=write("templates/judge.xml.j2", "<View>"),
    ),
    "guidelines: a control for nothing": Wrong(
        "guidelines",
        "method --screen",
        ("judge.xml.j2", "nowhere"),
        spoil=write(
            "templates/judge.xml.j2",
            '<View><Text name="pair" value="$pair_html"/><Choices name="rating" toName="nowhere">'
            '<Choice value="0"/></Choices></View>',
        ),
    ),
    "comments: a day that is none": Wrong(
        "comments", "--since soon", ("--since 'soon': not a date, expected ISO 8601",), "judged"
    ),
    "plan: too few assessors": Wrong("plan", "", ("0 assessors, expected at least 2", "annot assessor add"), "pooled"),
    "plan: shares that are none": Wrong(
        "plan",
        "--share a1 --share a2=-1 --share a3=many",
        ("--share a1: expected a name and a number above 0", "--share a2=-1", "--share a3=many"),
        "planned",
    ),
    "forecast: more for a pair than there are": Wrong(
        "forecast", "--design --assessors 2 --per-pair 3", ("2", "3"), "settled"
    ),
    "plan: only new without a share": Wrong(
        "plan", "--only-new", ("--only-new can only be used with --sample, --hours or --cost",), "pooled"
    ),
    "status: a facet that is a path": Wrong(
        "status", "", ("facets", "'../x'"), spoil=replace("annot.toml", "[facets]", '[facets]\n"../x" = ["result"]')
    ),
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
    "answers restore: a stranger": Wrong(
        "answers restore", "fic0407-background fic0101 --assessor a9", ("'a9'", "a1, a2"), "judged"
    ),
    # -- judge: push and pull
    "push: labels of an earlier annot.toml": Wrong(
        "push",
        "",
        ("sentences are labelled other, but the labels of the study are background", "annot facets"),
        "planned",
        replace("annot.toml", '"result", "other"]', '"result"]'),
    ),
    "push: a server of nobody": Wrong(
        "push", " ".join(DOWN), ("does not belong to anyone in this study", "leave out --url"), "planned", isolated
    ),
    "push: no address": Wrong("push", "--url elsewhere --api-key x", ("elsewhere",), "planned", exit_code=3),
    "push: no token": Wrong(
        "push", f"--url {NOWHERE}", (f"no token for {NOWHERE}", "LABEL_STUDIO_API_KEY"), "planned", exit_code=3
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
    "push adjudication: no adjudicator": Wrong(
        "push",
        " ".join(["adjudication", *DOWN]),
        ("adjudicator", "annot assessor add"),
        "judged",
        sql("UPDATE assessor SET adjudicator = 0"),
    ),
    "push substudy: nothing is drawn": Wrong(
        "push", "substudy --view abstract", ("no sub-study is drawn", "annot substudy draw"), "settled"
    ),
    "push: an unknown round": Wrong("push", "judgin", ("round 'judgin': not known", "judging"), "planned"),
    "push: an option of another round": Wrong(
        "push", "--view full", ("--view is not for `annot push judging`", "`annot push substudy`"), "planned"
    ),
    "pull: an option of one round": Wrong(
        "pull", "--dry-run", ("--dry-run is not for `annot pull`", "`annot pull labels`"), "planned"
    ),
    # -- settle
    "agreement: by nothing known": Wrong("agreement", "--by assesor", ("--by 'assesor'", "'assessor'?"), "judged"),
    "agreement: binarised off the scale": Wrong(
        "agreement", "--binarised-at 9", ("9", "expected one of 1, 2, 3"), "judged"
    ),
    "qrels: before the adjudication is finished": Wrong(
        "qrels", "", ("without a final grade", "in dispute, not adjudicated", "--partial"), "judged"
    ),
    "qrels compare: other queries": Wrong(
        "qrels compare",
        "exports/qrels.txt b.txt",
        ("the two files have no query of this study in common", "b.txt: found 31"),
        "measured",
        write("b.txt", "31 0 d 1\n"),
    ),
    "opinion ask: a model that is not in the settings": Wrong(
        "opinion ask", "small", ("opinion 'small': not in annot.toml", "[opinions.small]"), "planned"
    ),
    "opinion ask: no model is named": Wrong(
        "opinion ask",
        "small",
        ("opinions.small: model: expected the name of the model",),
        "planned",
        add_to("annot.toml", "[opinions.small]\n"),
    ),
    "opinion ask: an address with a password": Wrong(
        "opinion ask",
        "small",
        ("opinions.small: url: found a user name", "ANNOT_OPINION_KEY"),
        "planned",
        add_to("annot.toml", '[opinions.small]\nmodel = "m"\nurl = "http://me:secret@host/v1"\n'),
    ),
    "opinion qrels: nothing was asked": Wrong(
        "opinion qrels", "small", ("opinion small: no model was asked under this name", "annot opinion ask"), "judged"
    ),
    "substudy draw: more queries than there are": Wrong(
        "substudy draw",
        "--assessor j1 --queries 90",
        ("the sub-study cannot be drawn", "expected 90", "--queries"),
        "settled",
    ),
    "return: a table without reasons": Wrong(
        "return",
        "--file mine.csv",
        ("mine.csv", "found no column 'to'", "found no column 'why'"),
        "judged",
        write("mine.csv", "query_id,doc_id\n"),
    ),
    # -- measure
    "encoder contexts: a full text without its text": Wrong(
        "encoder contexts",
        "full.jsonl --out c.jsonl",
        ("full.jsonl:1: no field 'body_text'", "expected full texts as S2ORC writes them"),
        "pooled",
        write("full.jsonl", b'{"paper_id": "c1", "bib_entries": {}}\n'),
    ),
    "encoder examples: a system that nobody trains": Wrong(
        "encoder examples", "specter-ix --out d", ("'specter-ix': not known; did you mean 'specter-id'?",), "pooled"
    ),
    "encoder examples: every set has one context": Wrong(
        "encoder examples",
        "cosentbert --contexts contexts.jsonl --out d",
        ("no example to train on", "2 left out: sets with one context"),
        "pooled",
        write("contexts.jsonl", CONTEXTS % ("fic0502", "fic0502")),
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
        ("start: weights of another training are there",),
        "pooled",
        examples,
    ),
    "encoder train: a setting that is no number": Wrong(
        "encoder train", "ts-aspire --data d --set epochs=x", ("epochs: found 'x'",), "pooled"
    ),
    "run import: a run broken on line 17": Wrong(
        "run import",
        "mine.run --tag mine",
        ("mine.run:17: 2 columns, expected 6",),
        "pooled",
        both(write("mine.run", RUN_LINES), line_17("mine.run", "two columns")),
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
    "evaluate: qrels and a version": Wrong(
        "evaluate", "--qrels mine.txt --corpus 2026", ("found --corpus and --qrels, expected one of them",), "measured"
    ),
    "evaluate: no such published table": Wrong(
        "evaluate", "--against csfcub", ("no such file", "did you mean 'csfcube'?"), "measured"
    ),
    "evaluate: a run of other queries": Wrong(
        "evaluate",
        "mine.run",
        ("the qrels have none of its queries", "found 31", "expected fic0407-background"),
        "measured",
        write("mine.run", "31 Q0 d 1 1.0 mine\n"),
    ),
    "assessor-effect: qrels of a query that is not in the study": Wrong(
        "assessor-effect",
        "",
        ("exports/qrels.txt", "'gone-method'"),
        "measured",
        line_17("exports/qrels.txt", "gone-method 0 fic0101 1"),
    ),
    "errors: a sheet without the columns that are read": Wrong(
        "errors",
        "",
        ("errors.csv:1: found no column 'kind'", "errors.csv:1: found no column 'note'"),
        "measured",
        write("errors.csv", "query_id,doc_id,type\n"),
    ),
    # -- publish
    "browse: no corpus": Wrong(
        "browse",
        "",
        ("no corpus yet, so there is nothing to browse", "annot corpus add"),
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
    "report: a broken run": Wrong(
        "report", "", ("fabs_tfidf.run:17:",), "measured", line_17("exports/runs/fabs_tfidf.run", "two columns")
    ),
    "datasheet: an unknown question": Wrong(
        "datasheet",
        "",
        ("datasheet.toml", "purpse"),
        "measured",
        write("datasheet.toml", '[motivation]\npurpse = "To measure."\n'),
    ),
    "release: no licence": Wrong("release", "out", ("licence",), "measured", exit_code=1),
    # -- keep
    "backup: a file that is there": Wrong("backup", "papers.jsonl", ("papers.jsonl: already exists",)),
    "restore: no file": Wrong("restore", "none.tar.gz new", ("none.tar.gz: no such file", "annot backup")),
    "check: a ranking that was changed": Wrong(
        "check",
        "pools",
        ("abs_tfidf.run: its SHA-256 is", "manifest.json", "backup"),
        "pooled",
        line_17("pools/rankings/abs_tfidf.run", "fic0407 Q0 fic0101 17 0.5 abs_tfidf"),
    ),
    "check: a part that is none": Wrong("check", "pool", ("'part': 'pool' is not one of", "'pools'")),
    # -- help
    "studio up: a database without a server for all": Wrong(
        "studio up",
        "--domain s.example.org --database postgresql://u:secret@h/d",
        ("--database can only be used with --shared",),
        "planned",
    ),
    "studio up: nobody to have a server": Wrong("studio up", "--domain s.example.org", ("no assessors yet",), "made"),
    "studio status: no Label Studio where it is said to be": Wrong(
        "studio status",
        "",
        ("ANNOT_STUDIO_VENV=nowhere: no bin/label-studio found in it",),
        exit_code=3,
        environment={"ANNOT_STUDIO_VENV": "nowhere"},
    ),
    "demo: another study's folder": Wrong(
        "demo", ".", ("found the study 'mine'",), spoil=replace("annot.toml", '"annot-demo"', '"mine"')
    ),
    "demo: a folder that is in use": Wrong("demo", "../in-use", ("in-use: not empty",), spoil=write("../in-use/x", "")),
    "demo: papers over another file": Wrong(
        "demo", "--corpus-only annot.toml", ("annot.toml: found another file, which was not changed",)
    ),
    "demo: papers to a folder": Wrong("demo", "--corpus-only guidelines", ("guidelines: a folder, expected a file",)),
}
