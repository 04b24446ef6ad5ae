"""Wrong input for what is sent to Label Studio and read back: `annot push` and `annot pull`."""

from spoiling import replace, sql
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
}
