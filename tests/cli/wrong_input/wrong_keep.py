"""Wrong input for the commands of Keep."""

from spoiling import line_17
from wrong import Wrong

WRONG: dict[str, Wrong] = {
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
}
