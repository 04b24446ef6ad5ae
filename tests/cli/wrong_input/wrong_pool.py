"""Wrong input for the commands of Pool."""

from pathlib import Path

from command_line import annot_done
from spoiling import both, replace, write
from usual import engine_run
from wrong import Wrong


def imported_engine(folder: Path) -> None:
    engine_run(folder)
    annot_done("pool", "import", "engine.run", "--method", "engine", folder=folder)


WRONG: dict[str, Wrong] = {
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
}
