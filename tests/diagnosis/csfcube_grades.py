"""CSFCube's grades from its release: what each of its annotators gave, and what was decided."""

import json
from pathlib import Path

from annot.base.records import Decision, Judgement
from annot.measuring.diagnosis.panel import Panel, panel_of


def csfcube_panel(shared: Path) -> Panel:
    """Both facets, 4,051 pairs; a rating of -1 is missing."""
    judgements, decisions, facets = [], [], {}
    for facet in ("background", "method"):
        release = json.loads((shared / "csfcube" / f"test-pid2anns-csfcube-{facet}.json").read_text(encoding="utf-8"))
        for paper_id, lists in release.items():
            query_id = f"{paper_id}-{facet}"
            facets[query_id] = facet
            given = {name.removeprefix("relevance_"): lists[name] for name in lists if name.startswith("relevance_ann")}
            for name, grades in given.items():
                judgements += [
                    Judgement(query_id, doc_id, name, grade)
                    for doc_id, grade in zip(lists["cands"], grades, strict=True)
                    if grade != -1
                ]
            for doc_id, grade, *all_given in zip(lists["cands"], lists["relevance_adju"], *given.values(), strict=True):
                origin = "agreed" if set(all_given) == {grade} else "adjudicated"
                decisions.append(Decision(query_id, doc_id, grade, origin))
    return panel_of(judgements, decisions, facets, scale=(0, 1, 2, 3), open_pairs=(), assignments=(), by_clock=False)
