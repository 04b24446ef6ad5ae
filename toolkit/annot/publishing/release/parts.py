"""Parts of a release: opinions, the protocol of judging, and the table of a sample."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, get_args, get_type_hints

from annot.base.names import file_name
from annot.base.records import Source
from annot.base.stats.values import Undefined
from annot.base.templating import render
from annot.formats.input_files import json_lines
from annot.judging.opinions.on_record import OpinionOnRecord
from annot.judging.planning import plan_lines
from annot.measuring.evaluation.measures import JudgedWhole, MeasureSelection
from annot.measuring.sampled.grades import KINDS
from annot.measuring.sampled_study import DrawnPairs, drawn_pairs
from annot.publishing.report.sections.collection import final_grades
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Table, sentence
from annot.publishing.terms import Terms
from annot.store import opinions
from annot.store.opinions import ModelCall
from annot.study import guidelines
from annot.study.shown_versions import changed_versions, numbered, numbers_of_answers, version_record
from annot.study.snapshot import Snapshot

# ----------------------------------------------------------------------------------------------------------------------
# The models' opinions in a release: each with its prompts, settings and costs, in a folder of its own.
#
# Reasons may quote the papers, so they are published only with the papers' texts. The server's address is never
# published.
# ----------------------------------------------------------------------------------------------------------------------


FOLDER = "opinions/"
UNKNOWN = "The training data of the model are not known here; a collection that was public before may be among them."


def opinion_files(found: Sequence[OpinionOnRecord], study: Snapshot, terms: Terms, *, currency: str) -> dict[str, str]:
    """Two files for each opinion: its prompts, settings and costs, and its answer for each pair; neither has a date.

    If something was shown in several versions, each answer has the numbers of those in its prompt, as judgements have.
    An answer on another version of a text than its pair is judged on has the mark of such judgements.
    """
    files = {}
    for one in found:
        aside = {*one.set_aside}
        answers = sorted((*one.set_aside, *one.settled), key=attrgetter("query_id", "doc_id", "repeat"))
        shown = {said: one.display_of(said) for said in answers}
        numbers = numbers_of_answers(shown, study.version_numbers, study.queries)
        files[f"{FOLDER}{file_name(one.asked.name, '.json')}"] = _described(one, study, terms, currency)
        files[f"{FOLDER}{file_name(one.asked.name, '.jsonl')}"] = json_lines(
            {"query_id": said.query_id, "doc_id": said.doc_id, "repeat": said.repeat, "grade": said.grade}
            | ({"cannot_judge": True} if said.cannot_judge else {})
            | ({"reason": said.reason} if terms.with_text else {})
            | ({"versions": numbers[said]} if said in numbers else {})
            | ({"set_aside": True} if said in aside else {})
            for said in answers
        )
    return files


def _guidelines(one: OpinionOnRecord, study: Snapshot) -> dict[str, str]:
    """By facet, the SHA-256 of the guidelines that the prompts contain."""
    displays = [(said, one.display_of(said)) for said in (*one.settled, *one.set_aside)]
    return {study.facets[said.query_id]: display["guidelines"] for said, display in displays if "guidelines" in display}


def _described(one: OpinionOnRecord, study: Snapshot, terms: Terms, currency: str) -> str:
    asked, calls = one.asked, one.calls
    answered = [call for call in calls if call.state in opinions.ANSWERED]
    served: dict[tuple[str | None, str | None], list[str]] = {}
    for call in answered:
        served.setdefault((call.served, call.version), []).append(call.sent_at)
    record: dict[str, Any] = {
        "name": asked.name,
        "model": asked.model,
        "served": [
            {"model": model, "version": version, "answers": len(at)}
            for (model, version), at in sorted(served.items(), key=lambda item: min(item[1]))
        ],
        "settings": dict(asked.settings),
        "prompts": dict(sorted(asked.prompts.items())),
        "guidelines_sha256": dict(sorted(_guidelines(one, study).items())),
        "examples": [list(pair) for pair in asked.examples],
        "early": [{"what": what, "why": why} for _, what, why in asked.early],
        "requests": {
            state: sum(call.state == state for call in calls) for state in get_args(get_type_hints(ModelCall)["state"])
        },
        "tokens_in": sum(call.tokens_in or 0 for call in answered),
        "tokens_out": sum(call.tokens_out or 0 for call in answered),
        "tokens_estimated": sum(call.estimated for call in answered),
        "cost": round(sum(call.cost for call in calls), 6),
        "currency": currency,
        "collection_published": terms.published or None,
        "training_data": UNKNOWN,
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


# ----------------------------------------------------------------------------------------------------------------------
# What the assessors were given, as it was sent: guidelines, screen and plan, with the versions that they had.
# ----------------------------------------------------------------------------------------------------------------------


VERSIONS_FILE = "versions.jsonl"
"""What was shown in several versions, a line each."""


def protocol_of(study: Snapshot) -> dict[str, str]:
    """What the assessors were given, by file: guidelines, screen and plan. Of imported judgements none is on record.

    They are those that were sent last, by the record; earlier versions are next to them, numbered as in
    `annot agreement --by guidelines`.
    """
    if Source.LABEL_STUDIO not in study.sources:
        return {}
    sent = {(one.part, one.subject): one for one in numbered(study.shown) if one.in_force}
    screen = sent.get(("screen", "judge"))
    return {
        **_pages_sent(study, {facet: one.body for (part, facet), one in sent.items() if part == "guidelines"}),
        **_earlier(study),
        "screen.xml": json.loads(screen.body)["config"] if screen else guidelines.screen(study.ws),
        "plan.jsonl": plan_lines(study.assignments),
    }


def _pages_sent(study: Snapshot, sent: Mapping[str, str]) -> dict[str, str]:
    """The page of each facet and the general one; if they have changed since, both as they were sent, in one file."""
    facets = sorted(set(study.facets.values()))
    changed = {facet for facet in facets if facet in sent and guidelines.shown(study.ws, facet).text != sent[facet]}
    pages = {facet: sent[facet] if facet in changed else guidelines.read(study.ws, facet).text for facet in facets}
    if changed != {*facets}:
        pages["general"] = guidelines.page(study.ws, "general")
    return {f"guidelines/{name}.md": text for name, text in pages.items()}


def _earlier(study: Snapshot) -> dict[str, str]:
    """What was sent in several versions: a list of them, and the earlier guidelines and screens whole."""
    changed = changed_versions(study.shown)
    if not changed:
        return {}
    files = {}
    for one in changed:
        if one.part == "guidelines" and not one.in_force:
            files[f"guidelines/{one.subject}.version-{one.number}.md"] = one.body
        elif (one.part, one.subject) == ("screen", "judge") and not one.in_force:
            files[f"screens/screen-{one.number}.xml"] = json.loads(one.body)["config"]
    listed = [
        version_record(one) | ({"content": json.loads(one.body)} if one.part in ("scale", "facet") else {})
        for one in changed
    ]
    return {VERSIONS_FILE: json_lines(listed), **files}


# ----------------------------------------------------------------------------------------------------------------------
# What a release of a sampled study has: the table of all pairs, a program that evaluates runs by it, and warnings.
#
# `qrels.txt` has the judged pairs. TREC's form for samples, the prels of the Million Query Track (topic, document,
# judgement, 1, probability; Carterette, Pavlu, Fang and Kanoulas 2009, Million Query Track 2009 Overview), has no
# place for pairs that were not drawn, nor for predictions. So there is one table, and `PRELS` makes that form from
# it.
# ----------------------------------------------------------------------------------------------------------------------


SAMPLE_FILE = "sample.tsv"
EVALUATOR_FILE = "evaluate_sample.py"
COLUMNS = ("query_id", "doc_id", "grade", "probability")
"""The first columns of the table. After them: f0, f1, ..., the predicted probability of each grade, and the weights of
the predictions, w_ and a kind of measure."""
PRELS = f"awk -F'\\t' 'NR > 1 && $3 != \"\" {{print $1, $2, $3, 1, $4}}' {SAMPLE_FILE} > prels.txt"


@dataclass(frozen=True, slots=True)
class SampleInWords:
    """What card, datasheet, Croissant and the module for ir_datasets say of the sample."""

    certificate: str
    """How much was judged, and what that costs; the same in the report."""
    warning: str
    """By how much a plain evaluation of the qrels is wrong."""
    n_grades: int
    grades: Table
    """The estimated final grades of the whole pools."""
    interval_level: float
    """Of the intervals in it."""
    opinion: str = ""
    """The opinion that predicts grades besides the rankings; empty if there is none."""
    kinds: tuple[str, ...] = KINDS
    """Of measures, each with a weight of the predictions."""
    prels: str = PRELS


def sampled_of(study: Study) -> SampleInWords | None:
    """None if all pairs of the pools were to be judged."""
    if study.sample_cost is None:
        return None
    off = list(_plainly_off(study))
    measure = None if isinstance(study.evaluated, Undefined) else study.evaluated.measure
    return SampleInWords(
        certificate=study.certificate,
        warning=sentence(
            "sample.warning", off=[abs(one) for one in off], measure=measure, files=(SAMPLE_FILE, EVALUATOR_FILE)
        ),
        n_grades=len(study.settings.scale.grades),
        grades=final_grades(study),
        interval_level=study.level,
        opinion=opinion_of(study.snapshot),
    )


def opinion_of(study: Snapshot) -> str:
    """The opinion that predicts grades besides the rankings; empty if there is none."""
    label = study.sample and study.sample.design.cheap_label
    return drawn_pairs(study, study.outcome.qrels, unfinished=True).opinion if label else ""


def _plainly_off(study: Study) -> Iterator[float]:
    """What plain evaluation of the qrels gives, less the estimate: of each run, on the measure that decides."""
    evaluated = study.evaluated
    if isinstance(evaluated, Undefined):
        return
    asked = MeasureSelection(evaluated.convention, (evaluated.measure,), evaluated.relevant_from)
    plain = JudgedWhole(study.outcome.qrels, ())
    for tag, by_convention in evaluated.evaluations.items():
        estimated = {one.query_id: one.values[evaluated.measure] for one in by_convention[evaluated.convention].queries}
        found = {
            one.query_id: one.values for one in plain.measured(study.runs[tag], estimated, asked, ties="order").queries
        }
        off = (found.get(query_id, {}).get(evaluated.measure, 0.0) - of for query_id, of in estimated.items())
        yield math.fsum(off) / len(estimated)


def sample_files(study: Snapshot) -> dict[str, str]:
    """The table and the program that reads it; none if all pairs of the pools were to be judged."""
    if not study.samples:
        return {}
    drawn = drawn_pairs(study, study.outcome.qrels, unfinished=True)
    relevant_from = study.ws.settings.evaluation.relevant_from
    values = {"file": SAMPLE_FILE, "relevant_from": relevant_from, "opinion": drawn.opinion, "kinds": KINDS}
    return {SAMPLE_FILE: sample_table(drawn), EVALUATOR_FILE: render(f"{EVALUATOR_FILE}.j2", values, overrides=None)}


def sample_table(drawn: DrawnPairs) -> str:
    """A line for each pair of the pools; the grade is empty if it was not drawn, and 0 if nobody could judge it.

    Probabilities are those on record. In a draft with drawn pairs that have no grade yet they are multiplied by the
    share of the drawn pairs of the query that have one, as in `annot evaluate --so-far`.
    """
    predicted, weights = drawn.predicted, drawn.weights
    predictions = (*(f"f{grade}" for grade in range(drawn.highest + 1)), *(f"w_{kind}" for kind in KINDS))
    lines = ["\t".join((*COLUMNS, *predictions))]
    nothing = (1.0, *[0.0] * drawn.highest)
    for query_id, of in sorted(drawn.pi.items()):
        for doc_id, probability in sorted(of.items()):
            f = nothing if predicted is None else predicted[query_id][doc_id]
            grade = drawn.judged[query_id].get(doc_id, "")
            w = (0.0 if weights is None else weights[query_id][kind] for kind in KINDS)
            cells = (query_id, doc_id, grade, repr(probability), *(f"{number:.6f}" for number in (*f, *w)))
            lines.append("\t".join(map(str, cells)))
    return "\n".join(lines) + "\n"
