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
from annot.formats.json_lines import json_lines
from annot.judging.opinions.standing import OpinionOnRecord
from annot.publishing.terms import Terms
from annot.store import opinions
from annot.store.opinions import ModelCall
from annot.study.shown_versions import numbers_of_answers
from annot.study.snapshot import Snapshot

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
