"""Wrong input for the commands of Keep."""

from __future__ import annotations

from wrong import Wrong

WRONG: dict[str, Wrong] = {
    "backup: a file that is there": Wrong("backup", "papers.jsonl", ("papers.jsonl: is there already",)),
    "restore: a file that is no backup": Wrong("restore", "papers.jsonl new", ("papers.jsonl: not a whole backup",)),
    "restore: no file": Wrong("restore", "none.tar.gz new", ("none.tar.gz: no such file", "annot backup")),
    "check: an option that is none": Wrong("check", "--relase out", ("No such option: --relase", "--release")),
    "check: a part that is none": Wrong("check", "pool", ("'pool' is not one of", "'pools'")),
    "check: a release of the plan": Wrong("check", "plan --release out", ("--release: found with 'plan'",)),
    "migrate: an option that is none": Wrong("migrate", "--to 3", ("No such option: --to",)),
    "rebuild: a study that is there": Wrong("rebuild", "", ("holds a plan", "annot restore"), "planned"),
    "rebuild: no plan": Wrong("rebuild", "", ("plan.jsonl: not there",), "pooled"),
}
