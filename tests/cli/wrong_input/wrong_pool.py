"""Wrong input for the commands of Pool."""

from pathlib import Path

from command_line import annot_done
from spoiling import both, line_17, replace, write
from usual import engine_run
from wrong import Wrong


def imported_engine(folder: Path) -> None:
    engine_run(folder)
    annot_done("pool", "import", "engine.run", "--method", "engine", folder=folder)


WRONG: dict[str, Wrong] = {
    "index: no papers": Wrong("index", "", ("no papers", "annot corpus add")),
    "index: no such memory": Wrong("index", "--memory 4", ("memory '4'", "4G"), "queried"),
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
    "vectors list: a damaged set": Wrong(
        "vectors list",
        "",
        ("corpus/vectors/mine: vectors are missing", "vectors.npy"),
        "labelled",
        write("corpus/vectors/mine/ids.txt", "fic0101\n"),
    ),
    "vectors add: no such encoder": Wrong(
        "vectors add", "spectre --encoder spectre", ("did you mean 'specter'?", "a folder of weights"), "labelled"
    ),
    "vectors add: an option of another kind": Wrong(
        "vectors add",
        "--words theirs.vec --metric l2",
        ("`annot vectors add --words` cannot be used with --metric",),
        "labelled",
    ),
    "pool: no vectors of the method that is asked for": Wrong(
        "pool", "--method specter", ("specter: no vectors at", "annot vectors add specter"), "queried"
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
    "pool: no documents wanted": Wrong("pool", "--per-method 0", ("greater than or equal to 1",), "queried"),
    "pool: a method that is a path": Wrong(
        "pool",
        "--frozen",
        ("pool.methods.0", "'../../x'"),
        "pooled",
        replace("annot.toml", '"title_tfidf"', '"../../x"'),
    ),
    "pool: nothing frozen": Wrong("pool", "--frozen", ("pools/rankings/manifest.json",), "queried"),
    "pool: the manifest of rankings is broken": Wrong(
        "pool", "--frozen", ("manifest.json",), "pooled", write("pools/rankings/manifest.json", "{}")
    ),
    "pool: the manifest of rankings is no JSON": Wrong(
        "pool", "--frozen", ("manifest.json: not a manifest",), "pooled", write("pools/rankings/manifest.json", "{")
    ),
    "pool: frozen, from a ranking that was changed": Wrong(
        "pool",
        "--frozen",
        ("abs_tfidf.run: its SHA-256 is",),
        "pooled",
        line_17("pools/rankings/abs_tfidf.run", "fic0407 Q0 fic0101 17 0.5 abs_tfidf"),
    ),
    "pool: a query that is none": Wrong("pool", "--query fic0408", ("query 'fic0408': not in this study",), "pooled"),
    "pool import: a name that is a path": Wrong(
        "pool import", "engine.run --method ../x", ("--method '../x'",), "pooled", engine_run
    ),
    "pool import: no run": Wrong("pool import", "papers.jsonl --method x", ("papers.jsonl",), "pooled"),
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
    "pool add: not in the corpus": Wrong(
        "pool add", "fic0407 nowhere --reason mine", ("nowhere: not in the corpus", "annot corpus add"), "pooled"
    ),
    "pool add: no pool yet": Wrong("pool add", "fic0407 fic0101 --reason mine", ("no pool", "annot pool"), "queried"),
    "pool add --method: what a person found": Wrong(
        "pool add", "--method manual", ("--method manual: has no ranking", "annot pool add"), "pooled"
    ),
    "pool add --method: nobody's method": Wrong(
        "pool add",
        "--method colbert",
        ("colbert: no vectors at", "annot pool import"),
        "pooled",
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
    "pool show: unknown query": Wrong(
        "pool show", "fic0407-backgruond", ("did you mean 'fic0407-background'?", "annot query list"), "pooled"
    ),
}
