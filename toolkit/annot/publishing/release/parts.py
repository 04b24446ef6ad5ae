"""Parts of a release: the protocol of judging, and the table of a sample."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping

from annot.base.records import Source
from annot.base.stats.values import Undefined
from annot.base.templating import render
from annot.base.words import ENGLISH_CODE, Words
from annot.formats.input_files import json_lines
from annot.judging.planning import plan_lines
from annot.measuring.evaluation.measures import JudgedWhole, MeasureSelection
from annot.measuring.sampled.estimates import DrawnPairs
from annot.measuring.sampled.grades import KINDS
from annot.measuring.sampled_study import drawn_pairs
from annot.publishing.report.sections.collection import final_grades
from annot.publishing.report.study import Study
from annot.publishing.report.tables import sentence
from annot.store.shown import in_language, subject_and_language
from annot.study import guidelines
from annot.study.shown_versions import changed_versions, numbered, version_record
from annot.study.snapshot import Snapshot

# ----------------------------------------------------------------------------------------------------------------------
# Protocol of judging, as it was sent to the assessors: guidelines, screen and plan, with their versions.
# ----------------------------------------------------------------------------------------------------------------------


VERSIONS_FILE = "versions.jsonl"
"""File of the versions of everything that was shown in several versions, a line each."""
IN_LIST = ("scale", "facet", "words")
"""Parts that are in that file in full."""


def protocol_of(study: Snapshot) -> dict[str, str]:
    """Guidelines, screen and plan of the assessors, by file; none if the judgements were imported.

    They are those that were sent last, by the record; earlier versions are next to them, numbered as in
    `annot agreement --by guidelines`.
    """
    if Source.LABEL_STUDIO not in study.sources:
        return {}
    sent = {(version.part, version.subject): version for version in numbered(study.shown) if version.in_force}
    screens = {_judged_in(*thing): version for thing, version in sent.items() if _judged_in(*thing)}
    pages = {subject: version.body for (part, subject), version in sent.items() if part == "guidelines"}
    files: dict[str, str] = {}
    for language in screens or [study.ws.settings.judging.language]:
        words, screen = guidelines.words_in(study.ws, language), screens.get(language)
        files |= _pages_sent(study, pages, words)
        files[in_language("screen", language).replace("/", "-") + ".xml"] = (
            json.loads(screen.body)["config"] if screen else guidelines.screen(study.ws, "judge", words)
        )
    return {**files, **_earlier(study), "plan.jsonl": plan_lines(study.assignments).decode()}


def _judged_in(part: str, subject: str) -> str | None:
    """Language of a screen for judging; None of anything else."""
    kind, language = subject_and_language(subject)
    return language if (part, kind) == ("screen", "judge") else None


def _pages_sent(study: Snapshot, sent: Mapping[str, str], words: Words) -> dict[str, str]:
    """The page of each facet and the general one, in a language; if they have changed since, both as they were sent, in
    one file."""
    ws, facets = study.ws, sorted(set(study.facets.values()))
    pages = {facet: guidelines.read(ws, facet, words=words) for facet in facets}
    now = {facet: guidelines.shown(ws, facet, words=words) for facet in facets}
    of_facets = {facet: sent.get(in_language(facet, words.language), now[facet]) for facet in facets}
    changed = {facet: text for facet, text in of_facets.items() if text != now[facet]}
    pages |= changed
    if changed.keys() != {*facets}:
        pages["general"] = guidelines.page(ws, "general", words=words)
    return {_file_of(in_language(name, words.language)): text for name, text in pages.items()}


def _file_of(subject: str, ending: str = ".md") -> str:
    """File of guidelines: those in other languages than English are in a folder of the language."""
    name, language = subject_and_language(subject)
    return f"guidelines/{'' if language == ENGLISH_CODE else f'{language}/'}{name}{ending}"


def _earlier(study: Snapshot) -> dict[str, str]:
    """Earlier versions of shown texts: a list of all versions, and the earlier guidelines and screens in full."""
    changed = changed_versions(study.shown)
    if not changed:
        return {}
    files = {}
    for version in changed:
        if version.part == "guidelines" and not version.in_force:
            files[_file_of(version.subject, f".version-{version.number}.md")] = version.body
        elif (language := _judged_in(version.part, version.subject)) and not version.in_force:
            screen = in_language("screen", language).replace("/", "-")
            files[f"screens/{screen}-{version.number}.xml"] = json.loads(version.body)["config"]
    listed = [
        version_record(version) | ({"content": json.loads(version.body)} if version.part in IN_LIST else {})
        for version in changed
    ]
    return {VERSIONS_FILE: json_lines(listed), **files}


# ----------------------------------------------------------------------------------------------------------------------
# Parts of the release of a sampled study: the table of all pairs, a program that evaluates runs by it, and warnings.
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


class SampleInWords:
    """Facts of the sample for card, datasheet, Croissant and the module for ir_datasets."""

    kinds, prels = KINDS, PRELS
    """Kinds of measures, each with a weight of the predictions, and the command that makes the file of relevances."""

    def __init__(self, study: Study) -> None:
        errors = list(_plainly_off(study))
        measure = None if isinstance(study.evaluated, Undefined) else study.evaluated.measure
        files = (SAMPLE_FILE, EVALUATOR_FILE)
        self.certificate = study.certificate
        """Share of the pools that was judged, and its cost; the same in the report."""
        self.warning = sentence("sample.warning", off=[*map(abs, errors)], measure=measure, files=files)
        """Error of a plain evaluation of the qrels."""
        self.n_grades = len(study.settings.scale.grades)
        self.grades = final_grades(study)
        """The estimated final grades of the whole pools, with intervals of `interval_level`."""
        self.interval_level = study.level
        self.opinion = opinion_of(study.snapshot)


def opinion_of(study: Snapshot) -> str:
    """The opinion that predicts grades besides the rankings; empty if there is none."""
    label = study.sample and study.sample.design.cheap_label
    return drawn_pairs(study, study.outcome.qrels, unfinished=True).opinion if label else ""


def _plainly_off(study: Study) -> Iterator[float]:
    """Plain evaluation of the qrels less the estimate, for each run, on the measure that decides."""
    evaluated = study.evaluated
    if isinstance(evaluated, Undefined):
        return
    selection = MeasureSelection(evaluated.convention, (evaluated.measure,), evaluated.relevant_from)
    plain = JudgedWhole(study.outcome.qrels, ())
    for tag, by_convention in evaluated.evaluations.items():
        estimated = {
            query.query_id: query.values[evaluated.measure] for query in by_convention[evaluated.convention].queries
        }
        queries = plain.measured(study.runs[tag], estimated, selection, ties="order").queries
        measured = {query.query_id: query.values for query in queries}
        gaps = (measured.get(query_id, {}).get(evaluated.measure, 0.0) - value for query_id, value in estimated.items())
        yield math.fsum(gaps) / len(estimated)


def sample_files(study: Snapshot) -> dict[str, str]:
    """The table and the program that reads it; none if all pairs of the pools were to be judged."""
    if not study.samples:
        return {}
    drawn = drawn_pairs(study, study.outcome.qrels, unfinished=True)
    relevant_from = study.ws.settings.evaluation.relevant_from
    values = {"file": SAMPLE_FILE, "relevant_from": relevant_from, "opinion": drawn.opinion, "kinds": KINDS}
    return {SAMPLE_FILE: sample_table(drawn), EVALUATOR_FILE: render(f"{EVALUATOR_FILE}.j2", values, overrides=None)}


def sample_table(drawn: DrawnPairs) -> str:
    """A line for each pair of the pools; the grade is empty if it was not drawn, and 0 if it could not be judged.

    Probabilities are those on record. In a draft with drawn pairs that have no grade yet they are multiplied by the
    share of the drawn pairs of the query that have one, as in `annot evaluate --so-far`.
    """
    predicted, weights = drawn.predicted, drawn.weights
    predictions = (*(f"f{grade}" for grade in range(drawn.highest + 1)), *(f"w_{kind}" for kind in KINDS))
    lines = ["\t".join((*COLUMNS, *predictions))]
    nothing = (1.0, *[0.0] * drawn.highest)
    for query_id, probabilities in sorted(drawn.pi.items()):
        for doc_id, probability in sorted(probabilities.items()):
            f = nothing if predicted is None else predicted[query_id][doc_id]
            grade = drawn.judged[query_id].get(doc_id, "")
            w = (0.0 if weights is None else weights[query_id][kind] for kind in KINDS)
            cells = (query_id, doc_id, grade, repr(probability), *(f"{number:.6f}" for number in (*f, *w)))
            lines.append("\t".join(map(str, cells)))
    return "\n".join(lines) + "\n"
