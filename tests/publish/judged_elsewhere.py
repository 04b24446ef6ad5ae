"""A study that was judged with another tool, as a lead would have it: papers as JSON Lines, judgements as CSV."""

import csv
import io
import json
from pathlib import Path

import tomlkit
from study_stages import COLLECTION, answered

QUERIES = {
    "p1-method": ("Zoe Quill", "Ada Byron"),
    "p1-background": ("Zoe Quill", "Ada Byron"),
    "p2-method": ("Zoe Quill", "Ada Byron", "Ben Ode"),
    "p3-background": ("Zoe Quill", "Ada Byron"),
}
DOCUMENTS = 8
LEFT_OUT = ("p3-background", "d0", "Ada Byron")
"""No row: this pair has one judgement."""
UNGRADED = ("p3-background", "d1", "Ada Byron")
"""A row without a grade."""
JUDGE = "Ivo Judge"
OPEN = ("p2-method", "d7")
"""In dispute, and not settled."""


def judgements_csv() -> str:
    """62 rows of assessors: they differ on d3 and d7 of each query; the adjudicator settles all but one."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["query", "document", "assessor", "grade", "comment"])
    for query, team in QUERIES.items():
        for at in range(DOCUMENTS):
            document = f"d{at}"
            for place, name in enumerate(team):
                if (query, document, name) != LEFT_OUT:
                    grade: object = (at + (place if at in (3, 7) else 0)) % 4
                    writer.writerow([query, document, name, "" if (query, document, name) == UNGRADED else grade, ""])
            disputed = at in (3, 7) or (query, document) == UNGRADED[:2]
            if disputed and (query, document) != OPEN:
                writer.writerow([query, document, JUDGE, 2, "read twice"])
    return out.getvalue()


def papers_jsonl(names: list[str] | None = None) -> str:
    """The papers that the judgements name, or only `names`."""
    everyone = [*dict.fromkeys(query.partition("-")[0] for query in QUERIES), *(f"d{at}" for at in range(DOCUMENTS))]
    return "".join(
        json.dumps(
            {
                "paper_id": name,
                "title": f"A paper of its own, called {name}",
                "abstract": [
                    f"Before {name} appeared, nobody knew of this matter.",
                    f"We propose a method under the name of {name}.",
                    f"The results of {name} are better than all others.",
                ],
                "labels": ["background", "method", "result"],
                "year": 2001,
            }
        )
        + "\n"
        for name in everyone
        if names is None or name in names
    )


def made_public(root: Path, *, name: str = "elsewhere") -> None:
    """Everything that a release asks a person for."""
    path = root / "annot.toml"
    settings = tomlkit.parse(path.read_text(encoding="utf-8"))
    settings["collection"].update(COLLECTION | {"name": name})
    settings["release"]["reasons"] = "published"
    path.write_text(tomlkit.dumps(settings), encoding="utf-8")
    (root / "datasheet.toml").write_text(answered(), encoding="utf-8")
