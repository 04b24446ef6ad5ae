"""The models' opinions in a release: each with its prompts, settings and costs, in a folder of its own.

Reasons may quote the papers, so they are published only with the papers' texts. The server's address is never
published.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, get_args, get_type_hints

from annot.base.names import file_name
from annot.formats.input_files import json_lines
from annot.publishing.release.released_files import ReleasedPart, ReleasedStudy
from annot.publishing.terms import Terms
from annot.store.models import ModelCall
from annot.store.shown import texts_in
from annot.study.shown_versions import numbers_of_answers
from annot.study.snapshot import Snapshot

from annot_opinions import stored
from annot_opinions.measured import recorded_opinions
from annot_opinions.on_record import OpinionOnRecord, served_models

FOLDER = "opinions/"
UNKNOWN = "The training data of the model are not known here; a collection that was public before may be among them."


def released_opinions(released: ReleasedStudy) -> ReleasedPart:
    """The opinions that are no trials, why models were asked early, and the texts that they answered on."""
    study, on_record = released.report, recorded_opinions(released.report)
    reported = [opinion for opinion in on_record if opinion.standing.reported]
    trials = [opinion.standing for opinion in on_record if not opinion.standing.reported]
    displays = [display for opinion in reported for display in opinion.displays.values()]
    files = opinion_files(reported, study.snapshot, study.terms, currency=study.settings.forecast.currency)
    return ReleasedPart(
        {path: text.encode("utf-8") for path, text in files.items()},
        told=tuple(f"the opinion {standing.name} is left out: {standing.reason_not_reported}" for standing in trials),
        texts=tuple(("why a model was asked early", why) for opinion in on_record for _, _, why in opinion.asked.early),
        versions=frozenset(sha256 for display in displays for sha256 in texts_in(display) if sha256),
    )


def opinion_files(
    on_record: Sequence[OpinionOnRecord], study: Snapshot, terms: Terms, *, currency: str
) -> dict[str, str]:
    """Two files for each opinion: its prompts, settings and costs, and its answer for each pair; neither has a date.

    If something was shown in several versions, each answer has the numbers of those in its prompt, as judgements have.
    An answer on another version of a text than its pair is judged on has the mark of such judgements.
    """
    files = {}
    for opinion in on_record:
        aside = {*opinion.set_aside}
        answers = sorted((*opinion.set_aside, *opinion.settled), key=attrgetter("query_id", "doc_id", "repeat"))
        shown = {answer: opinion.display_of(answer) for answer in answers}
        numbers = numbers_of_answers(shown, study.version_numbers, study.queries)
        files[f"{FOLDER}{file_name(opinion.asked.name, '.json')}"] = _described(opinion, study, terms, currency)
        files[f"{FOLDER}{file_name(opinion.asked.name, '.jsonl')}"] = json_lines(
            {"query_id": answer.query_id, "doc_id": answer.doc_id, "repeat": answer.repeat, "grade": answer.grade}
            | ({"cannot_judge": True} if answer.cannot_judge else {})
            | ({"reason": answer.reason or ""} if terms.with_text else {})
            | ({"versions": numbers[answer]} if answer in numbers else {})
            | ({"set_aside": True} if answer in aside else {})
            for answer in answers
        )
    return files


def _guidelines(opinion: OpinionOnRecord, study: Snapshot) -> dict[str, str]:
    """SHA-256 of the guidelines that the prompts contain, by facet."""
    displays = [(answer, opinion.display_of(answer)) for answer in (*opinion.settled, *opinion.set_aside)]
    return {
        study.facets[answer.query_id]: display["guidelines"] for answer, display in displays if "guidelines" in display
    }


def _described(opinion: OpinionOnRecord, study: Snapshot, terms: Terms, currency: str) -> str:
    request, calls = opinion.asked, opinion.calls
    answered = [call for call in calls if call.state in stored.ANSWERED]
    record: dict[str, Any] = {
        "name": request.name,
        "model": request.model,
        "served": [
            {"model": model or None, "version": version or None, "answers": count}
            for (model, version), (_, count) in served_models(calls).items()
        ],
        "settings": dict(request.settings),
        "prompts": dict(sorted(request.prompts.items())),
        "guidelines_sha256": dict(sorted(_guidelines(opinion, study).items())),
        "examples": [list(pair) for pair in request.examples],
        "early": [{"what": part, "why": reason} for _, part, reason in request.early],
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
