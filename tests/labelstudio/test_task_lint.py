"""The lint before a push: one leak of every kind is found, and clean tasks pass."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from annot.base.errors import LeakError
from annot.labelstudio.screens import is_prediction_of_ours, lint_tasks, named_in
from annot.labelstudio.studio_records import Prediction
from annot.labelstudio.tasks import (
    LABELS_FROM,
    adjudicate_task,
    facets_task,
    feedback_task,
    full_text_task,
    reasoned_task,
    returned_task,
)
from labelling_texts import CANDIDATE, FACETS, LABELS, QUERY, SCALE, opinion, task, text

PRIVATE = ("specter", "abs_tfidf", "a1", "ann@example.org")

LEAKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "method": lambda t: t["data"].update(method="specter"),
    "rank": lambda t: t["data"].update(rank=3),
    "score": lambda t: t["data"].update(score="0.81"),
    "source": lambda t: t["data"].update(source="cited"),
    "grade of another": lambda t: t["data"].update(rating_a="1 Related"),
    "comment of another": lambda t: t["data"].update(comment_a="close"),
    "meta": lambda t: t.update(meta={"assessor": "a2"}),
    "annotation": lambda t: t.update(annotations=[{"result": []}]),
    "method in the progress": lambda t: t["data"].update(progress="37 of 300 · query 4, candidate 7 of 30 (specter)"),
    "pseudonym in the help": lambda t: t["data"].update(facet_help="As a1 said."),
    "account in the facet": lambda t: t["data"].update(facet="ann@example.org"),
    "method as the model": lambda t: t["predictions"][0].update(model_version="specter"),
    "free text as the model": lambda t: t["predictions"][0].update(model_version="graded 3 by someone"),
    "score of the prediction": lambda t: t["predictions"][0].update(score=0.9),
    "score of a region": lambda t: t["predictions"][0]["result"][0].update(score=0.9),
    "meta of a region": lambda t: t["predictions"][0]["result"][0].update(meta={"rank": 1}),
    "extra in a value": lambda t: t["predictions"][0]["result"][0]["value"].update(rank=1),
    "grade filled in": lambda t: t["predictions"][0]["result"].append(
        {"id": "g", "from_name": "rating", "to_name": "pair", "type": "choices", "value": {"choices": ["2"]}}
    ),
    "attribute in the text": lambda t: t["data"].update(
        pair_html=t["data"]["pair_html"].replace("<p ", '<p title="rank 3" ', 1)
    ),
    "comment in the text": lambda t: t["data"].update(pair_html=t["data"]["pair_html"] + "<!-- rank 3 -->"),
    "mark of another's grade": lambda t: t["data"].update(
        pair_html=t["data"]["pair_html"] + '<div class="a-gave a-gave-1a"></div>'
    ),
    "a label of no study": lambda t: t["predictions"][0]["result"][0]["value"].update(labels=["specter"]),
    "a label of no study in the text": lambda t: t["data"].update(
        pair_html=t["data"]["pair_html"].replace("a-wants-method", "a-wants-specter", 1)
    ),
    "a number instead of text": lambda t: t["data"].update(progress=3),
    "a missing field": lambda t: t["data"].pop("facet"),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_found(leak: str) -> None:
    made = copy.deepcopy(task())
    LEAKS[leak](made)
    with pytest.raises(LeakError) as caught:
        lint_tasks([task(2), made], screen="judge", labels=LABELS, private=PRIVATE)
    assert caught.value.faults
    assert all(fault.startswith("fic1-method/fic101: ") for fault in caught.value.faults)


PREFILLED: dict[str, Callable[[Prediction], Prediction]] = {
    "a grade": lambda one: one._replace(result=(*one.result, chosen("rating", "3"))),
    "a grade alone": lambda one: one._replace(result=(chosen("rating", "3"),)),
    "a score": lambda one: one._replace(score=0.9),
    "a score of a region": lambda one: one._replace(result=({**one.result[0], "score": 0.9}, *one.result[1:])),
    "another author": lambda one: one._replace(model_version="graded-3-by-a2"),
    "a label of no study": lambda one: one._replace(
        result=({**one.result[0], "value": {**one.result[0]["value"], "labels": ["grade 3"]}}, *one.result[1:])
    ),
}


def chosen(name: str, choice: str) -> dict[str, Any]:
    return {"id": "g", "from_name": name, "to_name": "pair", "type": "choices", "value": {"choices": [choice]}}


@pytest.mark.parametrize("what", PREFILLED)
def test_what_is_filled_in_is_labels_and_nothing_else(what: str) -> None:
    (sent,) = task()["predictions"]
    ours = Prediction(1, sent["model_version"], None, tuple(sent["result"]))
    assert is_prediction_of_ours(ours, screen="judge", labels=LABELS)
    assert is_prediction_of_ours(ours._replace(result=()), screen="judge", labels=LABELS)
    assert not is_prediction_of_ours(PREFILLED[what](ours), screen="adjudicate", labels=LABELS)


@pytest.mark.parametrize("facet", FACETS)
def test_clean_tasks_pass_even_where_the_papers_speak_of_private_words(facet: str) -> None:
    about = text("Specter, ranks and a1", ("We rank with specter & abs_tfidf; score 3.",), ("method",))
    lint_tasks([task(facet=facet), task(candidate=about)], screen="judge", labels=LABELS, private=PRIVATE)


def test_the_reason_for_returning_a_pair_is_read_and_nothing_else_may_stand_there() -> None:
    lint_tasks([returned_task(task(), "Read <the> end & start.")], screen="judge", labels=LABELS, private=PRIVATE)
    for why in ("As A1 has it.", "specter put it first", "ask ann@example.org"):
        with pytest.raises(LeakError, match="would show") as caught:
            lint_tasks([returned_task(task(), why)], screen="judge", labels=LABELS, private=PRIVATE)
        assert "the reason for returning the pair names" in caught.value.faults[0]
    made = returned_task(task(), "Read it again.")
    made["data"]["pair_html"] += "<p>graded 3</p>"
    with pytest.raises(LeakError):
        lint_tasks([made], screen="judge", labels=LABELS, private=PRIVATE)


def test_an_adjudicator_sees_opinions_and_an_assessor_does_not() -> None:
    opinions = [opinion(1, None, "a near miss"), opinion(None, "not in English", None)]
    made = adjudicate_task(task(), opinions, scale_names=SCALE)
    lint_tasks([made], screen="adjudicate", labels=LABELS, private=PRIVATE)
    with pytest.raises(LeakError):
        lint_tasks([made], screen="judge", labels=LABELS, private=PRIVATE)


def test_that_grades_are_far_apart_is_marked_only_beside_the_grades() -> None:
    shown = reasoned_task(adjudicate_task(task(), [opinion(1, None, None), opinion(3, None, None)], scale_names=SCALE))
    lint_tasks([shown], screen="adjudicate", labels=LABELS, private=PRIVATE)
    for screen in ("judge", "full-text", "feedback"):
        with pytest.raises(LeakError):
            lint_tasks([shown], screen=screen, labels=LABELS, private=PRIVATE)
    with pytest.raises(LeakError):
        lint_tasks([reasoned_task(task())], screen="adjudicate", labels=LABELS, private=PRIVATE)
    ours = Prediction(1, LABELS_FROM, None, tuple(shown["predictions"][0]["result"]))
    assert is_prediction_of_ours(ours, screen="adjudicate", labels=LABELS)
    assert not is_prediction_of_ours(ours, screen="judge", labels=LABELS)


def test_a_comment_may_hold_any_word() -> None:
    made = adjudicate_task(task(), [opinion(1, None, "as abs_tfidf and a1 would say")], scale_names=SCALE)
    lint_tasks([made], screen="adjudicate", labels=LABELS, private=PRIVATE)


def test_an_opinion_that_names_its_assessor_is_found() -> None:
    made = adjudicate_task(task(), [opinion(1, None, None)], scale_names=SCALE)
    made["data"]["rating_a"] = "1 Related (a1)"
    with pytest.raises(LeakError):
        lint_tasks([made], screen="adjudicate", labels=LABELS, private=PRIVATE)


def test_all_leaks_of_all_tasks_are_told_at_once() -> None:
    one, two = copy.deepcopy(task(1)), copy.deepcopy(task(2))
    one["data"]["rank"] = "1"
    two["data"]["score"] = "1"
    two["meta"] = {}
    with pytest.raises(LeakError) as caught:
        lint_tasks([one, two], screen="judge", labels=LABELS, private=PRIVATE)
    assert len(caught.value.faults) == 3


def full_text(where: str = "https://example.org/x.pdf?a=1&b=2") -> dict[str, Any]:
    papers = [replace(paper, paper_id=name) for name, paper in (("fic1", QUERY), ("fic101", CANDIDATE))]
    return full_text_task(task(), *papers, {"fic1": where, "fic101": "Folder 3/<b>.pdf"}, facet="method")


def trained() -> dict[str, Any]:
    return feedback_task(task(), opinion(None, "outside my field", None), gold=2, why="As specter.", scale_names=SCALE)


FULL_TEXT_LEAKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "the abstract": lambda t: t["data"].update(pair_html=task()["data"]["pair_html"]),
    "the grade on the abstract": lambda t: t["data"].update(rating_own="1 Related"),
    "a label": lambda t: t.update(predictions=task()["predictions"]),
    "a link that is a script": lambda t: t["data"].update(
        pair_html=t["data"]["pair_html"].replace("https://example.org/x.pdf?a=1&amp;b=2", "javascript:alert(1)")
    ),
}
FEEDBACK_LEAKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "the grade of another": lambda t: t["data"].update(rating_a="1 Related"),
    "a pseudonym in the grade": lambda t: t["data"].update(rating_gold="2 as a1 said"),
    "a number instead of a grade": lambda t: t["data"].update(rating_gold=2),
    "no reason": lambda t: t["data"].pop("comment_gold"),
}


@pytest.mark.parametrize("where", ["https://example.org/x.pdf?a=1&b=2", "ask the librarian", "javascript:alert(1)"])
def test_where_a_full_text_is_passes_and_only_the_web_is_a_link(where: str) -> None:
    made = full_text(where)
    lint_tasks([made], screen="full-text", labels=LABELS, private=PRIVATE)
    assert made["data"]["pair_html"].count("<a ") == where.startswith("https")
    assert "Folder 3/&lt;b&gt;.pdf" in made["data"]["pair_html"]


@pytest.mark.parametrize("leak", FULL_TEXT_LEAKS)
def test_a_leak_on_the_screen_of_full_texts_is_found(leak: str) -> None:
    made = full_text()
    FULL_TEXT_LEAKS[leak](made)
    with pytest.raises(LeakError):
        lint_tasks([full_text(), made], screen="full-text", labels=LABELS, private=PRIVATE)


@pytest.mark.parametrize("leak", FEEDBACK_LEAKS)
def test_a_leak_on_the_screen_of_gold_grades_is_found(leak: str) -> None:
    lint_tasks([trained()], screen="feedback", labels=LABELS, private=PRIVATE)
    made = trained()
    FEEDBACK_LEAKS[leak](made)
    with pytest.raises(LeakError):
        lint_tasks([made], screen="feedback", labels=LABELS, private=PRIVATE)


def test_a_gold_grade_never_goes_where_pairs_are_judged() -> None:
    with pytest.raises(LeakError):
        lint_tasks([trained()], screen="judge", labels=LABELS, private=PRIVATE)


def test_an_abstract_whose_labels_are_corrected_shows_no_more_than_that() -> None:
    made = facets_task("fic1/labels", QUERY, progress="1 of 9")
    lint_tasks([made], screen="facets", labels=LABELS, private=PRIVATE)
    for leak in (
        {"rating_a": "1 Related"},
        {"progress": "1 of 9 (specter)"},
        {"pair_html": task()["data"]["pair_html"]},
    ):
        leaking = {**made, "data": {**made["data"], **leak}}
        with pytest.raises(LeakError):
            lint_tasks([leaking], screen="facets", labels=LABELS, private=PRIVATE)


def test_the_help_of_a_facet_has_at_most_140_letters() -> None:
    for letters, passes in ((140, True), (141, False)):
        made = task()
        made["data"]["facet_help"] = "x" * letters
        if passes:
            lint_tasks([made], screen="judge", labels=LABELS, private=PRIVATE)
            continue
        with pytest.raises(LeakError):
            lint_tasks([made], screen="judge", labels=LABELS, private=PRIVATE)


def test_a_place_in_the_text_is_a_number_and_no_text() -> None:
    made = copy.deepcopy(task())
    made["predictions"][0]["result"][0]["value"]["endOffset"] = "72"
    with pytest.raises(LeakError):
        lint_tasks([made], screen="judge", labels=LABELS, private=PRIVATE)


def test_not_even_one_empty_prediction_is_on_a_task_of_full_texts() -> None:
    made = {**full_text(), "predictions": [{"model_version": "sentence-labels", "result": []}]}
    with pytest.raises(LeakError):
        lint_tasks([made], screen="full-text", labels=LABELS, private=PRIVATE)


def test_of_an_opinion_in_another_form_sixty_letters_are_quoted() -> None:
    made = adjudicate_task(task(), [opinion(1, None, None)], scale_names=SCALE)
    made["data"]["rating_a"] = "x" * 70
    with pytest.raises(LeakError) as caught:
        lint_tasks([made], screen="adjudicate", labels=LABELS, private=PRIVATE)
    assert f"found '{'x' * 60}'" in caught.value.faults[0]


def test_words_are_searched_whole_in_any_case_and_without_any_nothing_is_named() -> None:
    assert named_in("Specter put A1 first.", ["specter", "a1", "", "ann"]) == ["specter", "a1"]
    assert named_in("inspecter a12", ["specter", "a1"]) == []
    lint_tasks([task()], screen="judge", labels=LABELS, private=["", *()])
    made = task()
    made["data"]["facet_help"] = "As a1 and specter said."
    with pytest.raises(LeakError) as caught:
        lint_tasks([made], screen="judge", labels=LABELS, private=PRIVATE)
    assert caught.value.faults == (
        "fic1-method/fic101: data.facet_help names 'specter'",
        "fic1-method/fic101: data.facet_help names 'a1'",
    )
