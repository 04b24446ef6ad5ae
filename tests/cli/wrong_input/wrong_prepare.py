"""Wrong input for the commands of Prepare."""

from __future__ import annotations

from pathlib import Path

from annot.corpus.labelling import LabelledAbstract, train
from spoiling import both, judgements_with, labelled_with, replace, sql, write
from wrong import Wrong


def small_model(folder: Path) -> None:
    """A model of two labels, trained on one abstract."""
    abstract = LabelledAbstract(sentences=("We know.", "We did."), labels=("background", "method"))
    write("mine.xz", train([abstract]))(folder)


WRONG: dict[str, Wrong] = {
    "init: the folder is a file": Wrong("init", "annot.toml", ("annot.toml: a file, expected a folder",)),
    "init: below a file": Wrong(
        "init", "annot.toml/study", ("annot.toml", "expected a folder", "run the same command again")
    ),
    "init: another study's folder": Wrong("init", ". --name other", ("annot.toml: already exists, for 'annot-demo'",)),
    "corpus corrected: a decision without a pair": Wrong("corpus corrected", "--stays why", ("--all",), "judged"),
    "corpus add: missing files": Wrong(
        "corpus add", "none.jsonl papers.jsonl neither.jsonl", ("none.jsonl: no such file", "neither.jsonl: no such")
    ),
    "corpus add: no file": Wrong("corpus add", "", ("Missing argument 'files'",)),
    "corpus add: an empty folder": Wrong(
        "corpus add", "corpus", ("corpus: an empty folder, expected files of papers",)
    ),
    "corpus add: no line that can be read": Wrong(
        "corpus add",
        "papers.jsonl broken.jsonl",
        ("broken.jsonl:1: not valid JSON", "broken.jsonl:2: no field 'abstract'", "nothing was kept"),
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
        ("empty.jsonl: the file is empty, or has only blank lines", "nothing was kept"),
        spoil=write("empty.jsonl", b""),
    ),
    "corpus add: a dataset that is none": Wrong(
        "corpus add", "cranfeld --format irds", ("cranfeld: not a dataset of ir_datasets", "did you mean 'cranfield'?")
    ),
    "corpus withdraw: an id that no paper has": Wrong(
        "corpus withdraw",
        "ids.txt --reason retracted --version 2",
        ("fic9999",),
        "pooled",
        spoil=write("ids.txt", "fic0101\nfic9999\n"),
    ),
    "corpus show: no papers": Wrong("corpus show", "", ("no papers", "annot corpus add")),
    "import --as citations: no corpus": Wrong(
        "import --as citations", "papers.jsonl", ("manifest.json: missing", "annot corpus add")
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
    "import --as csfcube: a file": Wrong(
        "import --as csfcube", "papers.jsonl", ("papers.jsonl: a file, expected the folder of a CSFCube release",)
    ),
    "import --as csfcube: a folder of something else": Wrong(
        "import --as csfcube", "templates", ("templates", "CSFCube")
    ),
    "import: an option of another kind": Wrong(
        "import",
        "mine.csv --as judgements --format qrels",
        ("--format can only be used with --as grades, found --as judgements",),
    ),
    "import: a kind that is not known": Wrong(
        "import", "mine.csv --as runs", ("found 'runs', expected one of csfcube",)
    ),
    "import: content that is of no kind": Wrong(
        "import", "papers.jsonl", ("papers.jsonl: unknown kind of file", "name it with --as csfcube|")
    ),
    "import: two files of judgements": Wrong("import", "a.csv b.csv --as judgements", ("found 2 files, expected one",)),
    "import: an export without its keys": Wrong(
        "import", "theirs.json --as labelstudio --rating rel", ("needs --rating, --query and --document",)
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
    "import --as judgements: a folder": Wrong("import --as judgements", "corpus", ("corpus: a folder",)),
    "import --as judgements: unknown facet": Wrong(
        "import --as judgements",
        "mine.csv --facet metod",
        ("'metod'", "did you mean 'method'?"),
        spoil=judgements_with("q,d,a,1"),
    ),
    "import --as judgements: a grade off the scale on line 17": Wrong(
        "import --as judgements", "mine.csv", ("mine.csv:17:", "'7'"), spoil=judgements_with("p-method,d17,ann,7")
    ),
    "import --as judgements: a query without a facet on line 17": Wrong(
        "import --as judgements",
        "mine.csv",
        ("mine.csv:17: query 'p'", "--facet"),
        spoil=judgements_with("p,d17,ann,1"),
    ),
    "import --as judgements: no such column": Wrong(
        "import --as judgements",
        "mine.csv --grade-column rate",
        ("mine.csv: no column for the grade; did you mean 'grade'?",),
        spoil=judgements_with("p-method,d17,ann,1"),
    ),
    "import --as judgements: an adjudicator that is not there": Wrong(
        "import --as judgements",
        "mine.csv --adjudicator zoe",
        ("--adjudicator",),
        spoil=judgements_with("p-method,d17,ann,1"),
    ),
    "import --as judgements: a study of its own": Wrong(
        "import --as judgements",
        "mine.csv",
        ("has its own plan",),
        "planned",
        judgements_with("p-method,d17,ann,1"),
    ),
    "facets: no corpus": Wrong("facets", "", ("corpus", "annot corpus add")),
    "facets: no such scheduler": Wrong(
        "facets", "--cluster nowhere://x", ("nowhere://x: no Dask scheduler answers",), "labelled"
    ),
    "facets: a model that is none": Wrong("facets", "--model papers.jsonl", ("papers.jsonl",), "labelled"),
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
    "facets: no such verb": Wrong("facets", "trian", ("No such command 'trian'", "train")),
    "facets train: broken line 17": Wrong(
        "facets train", "broken.jsonl --out m.xz", ("broken.jsonl:17: not valid JSON",), spoil=labelled_with("{")
    ),
    "facets train: unknown label on line 17": Wrong(
        "facets train",
        "broken.jsonl --out m.xz",
        ("broken.jsonl:17: unknown label 'methods', did you mean 'method'?",),
        spoil=labelled_with('{"sentences": ["One."], "labels": ["methods"]}'),
    ),
    "facets train: the model's place is a folder": Wrong(
        "facets train",
        "few.jsonl --out corpus",
        ("corpus", "a folder"),
        spoil=write("few.jsonl", '{"sentences": ["One.", "Two."], "labels": ["method", "result"]}\n'),
    ),
    "facets: all would be left out": Wrong(
        "facets",
        "--leave-out",
        ("no paper has sentence labels", "annot facets"),
        "labelled",
        sql("DELETE FROM facet_labels"),
    ),
    "query sample: no corpus": Wrong("query sample", "", ("annot corpus add",)),
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
    "query sample: no papers wanted": Wrong(
        "query sample", "--per-period 0", ("--per-period", "greater than or equal to 1"), "labelled"
    ),
    "query sample: below a file": Wrong(
        "query sample", "--out papers.jsonl/sheet.csv", ("papers.jsonl", "expected a folder"), "labelled"
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
    "query choose: no sheet": Wrong("query choose", "4", ("queries.csv: no such sheet", "query sample"), "labelled"),
    "query choose: not a number": Wrong(
        "query choose", "four", ("'number': Input should be a valid integer",), "labelled"
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
    "query add: no facet": Wrong("query add", "fic0802", ("found paper 'fic0802' without --facet",), "labelled"),
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
    "query add: a file and a paper": Wrong(
        "query add", "fic0802 --file x.csv", ("found --file and a paper",), "labelled"
    ),
    "query add: neither": Wrong("query add", "", ("found no paper",), "labelled"),
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
}
