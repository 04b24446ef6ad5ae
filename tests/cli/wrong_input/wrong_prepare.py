"""Wrong input for the commands of Prepare."""

from spoiling import replace, sql, write
from wrong import Wrong

WRONG: dict[str, Wrong] = {
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
}
