"""Wrong input for what is sent to Label Studio and read back: `annot push` and `annot pull`."""

from spoiling import replace, sql, write
from usual import isolated
from wrong import DOWN, NOWHERE, Wrong

WRONG: dict[str, Wrong] = {
    "push: labels of an earlier annot.toml": Wrong(
        "push",
        "",
        ("sentences are labelled other, but the labels of the study are background", "annot facets"),
        "planned",
        replace("annot.toml", '"result", "other"]', '"result"]'),
    ),
    "push: no server of anybody": Wrong(
        "push",
        "",
        ("none of 4 servers could be reached", "no server is known for a1"),
        "planned",
        isolated,
        exit_code=3,
    ),
    "push: a server of nobody": Wrong(
        "push", " ".join(DOWN), ("does not belong to anyone in this study", "leave out --url"), "planned", isolated
    ),
    "pull: nothing was sent to anybody": Wrong("pull", "", ("nothing was sent", "annot push"), "planned", isolated),
    "push: no address": Wrong("push", "--url elsewhere --api-key x", ("elsewhere",), "planned", exit_code=3),
    "push: no token": Wrong(
        "push", f"--url {NOWHERE}", (f"no token for {NOWHERE}", "LABEL_STUDIO_API_KEY"), "planned", exit_code=3
    ),
    "push: no server": Wrong(
        "push", "", ("no Label Studio is running here", "annot studio up"), "planned", exit_code=3
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
    "push: a method's name in the guidelines": Wrong(
        "push",
        " ".join(DOWN),
        ("names 'abs_tfidf'", "nothing was sent"),
        "planned",
        write("guidelines/method.md", "# Method\n\nFound by abs_tfidf.\n"),
    ),
    "push: a password in the address": Wrong(
        "push",
        "--url https://ada:s3cret@studio.example.org --api-key not-a-real-token",
        ("found a user name", "LABEL_STUDIO_URL"),
        "planned",
    ),
    "pull: watch and accept": Wrong("pull", "--watch --accept-deletions", ("cannot be used with --watch",), "planned"),
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
    "push labels: a label that is not the study's": Wrong(
        "push",
        " ".join(["labels", "--assessor", "a1", *DOWN]),
        ("sentences are labelled", "annot facets"),
        "planned",
        sql("UPDATE facet_labels SET labels = replace(labels, 'method', 'ways')"),
    ),
    "push: an unknown round": Wrong("push", "judgin", ("round 'judgin': not known", "judging"), "planned"),
    "push: an option of another round": Wrong(
        "push", "--view full", ("--view is not for `annot push judging`", "`annot push substudy`"), "planned"
    ),
    "pull: an option of one round": Wrong(
        "pull", "--dry-run", ("--dry-run is not for `annot pull`", "`annot pull labels`"), "planned"
    ),
    "pull: watched, and a round": Wrong("pull", "training --watch", ("cannot be used with a round",), "planned"),
    "push training: no gold": Wrong("push", "training", ("no gold pairs", "annot train gold"), "settled"),
    "pull training: a server that is not there": Wrong(
        "pull", " ".join(["training", *DOWN]), ("no server answers at",), "settled", exit_code=3
    ),
}
