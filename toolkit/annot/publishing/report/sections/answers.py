"""The first screen: what this is, whether it can be trusted and for what, which run is best, what to do next."""

from __future__ import annotations

from annot.base.stats.values import Undefined
from annot.publishing.report import verdict
from annot.publishing.report.document import Reply
from annot.publishing.report.sections.agreement import alpha, disputed
from annot.publishing.report.study import Study
from annot.publishing.report.words import sentence, sentences

QUESTIONS = {
    "what": "What is this collection?",
    "trust": "Can its judgements be trusted?",
    "best": "Which system is best?",
    "next": "What to do next?",
}


def answers(study: Study) -> tuple[Reply, ...]:
    """The four answers."""
    values = _values(study)
    return tuple(
        Reply(question, sentence(f"answers.{name}_verdict", **values), sentences(f"answers.{name}", **values))
        for name, question in QUESTIONS.items()
    )


def _values(study: Study) -> dict[str, object]:
    """All that the sentences may name."""
    together = study.agreement.groups[-1]
    effect = None if isinstance(study.effect, Undefined) else study.effect
    diagnosis = study.diagnosed.diagnosed.diagnosis
    found, best = alpha(study.agreement), verdict.best(study.evaluated)
    reliability = verdict.reliability(found)
    robustness = verdict.robustness(study.effect, study.evaluated, judged_twice=together.n_pairs)
    return {
        "study": study,
        "level": f"{100 * study.settings.agreement.level:g}",
        "together": together,
        "facets": [(group.name, group.n_queries) for group in study.agreement.groups[:-1]],
        "assessors": len({judgement.assessor for judgement in study.judgements}),
        "alpha": found,
        "alpha_after": alpha(study.agreement, after=True),
        "disputed": disputed(study.agreement),
        "reliability": reliability,
        "robustness": robustness,
        "known": reliability != "unknown" and robustness in ("robust", "fragile"),
        "effect": effect,
        "tau": None if effect is None else verdict.tau(effect),
        "same_order": effect is not None and verdict.same_order(effect),
        "best": best,
        **{name: sentence(f"runs.{name}", best=best) if best else "" for name in ("too_few", "groups", "like_chance")},
        "limits": verdict,
        "gaps": () if isinstance(diagnosis, Undefined) else diagnosis.gaps,
        "findings": () if isinstance(diagnosis, Undefined) else diagnosis.findings,
        "unfinished": study.open + study.incomplete,
    }
