"""Wrong input for the commands of Publish."""

from spoiling import both, line_17, remove, write
from wrong import Wrong

WRONG: dict[str, Wrong] = {
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
}
