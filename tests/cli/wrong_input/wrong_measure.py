"""Wrong input for the commands of Measure."""

from spoiling import both, line_17, write
from usual import examples
from wrong import Wrong

RUN_LINES = "".join(f"fic0407-background Q0 fic{at:04} {at} {1 / at:.3f} mine\n" for at in range(1, 41))
CONTEXTS = (
    '{"papers": ["fic0501", "%s"], "contexts": [{"citing": "c1", "text": "Both (1, 2)."}]}\n'
    '{"papers": ["fic0503", "%s"], "contexts": [{"citing": "c2", "text": "These two (1, 2)."}]}\n'
)
"""Two sets of papers, as `annot encoder contexts` writes them."""


WRONG: dict[str, Wrong] = {
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
}
