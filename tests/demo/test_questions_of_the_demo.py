"""The made questions: each has papers of every grade, and what answers it follows from what the papers are about."""

import pytest
from annot.base.records import Topic
from annot_demo import simulated_people
from annot_demo.simulated_people import JITTER, Latent, MadeQuestion, answer_relevance

LATENTS = simulated_people.latents()
QUESTIONS = {one.topic.topic_id: one for one in simulated_people.questions()}
ASKED = MadeQuestion(Topic("t", "a question"), "01", "b", {"claim": ("noise-hurts",), "method": ("crf",)})


def about(problem: str, subproblem: str, *, method: str = "rnn", claim: str = "context-helps") -> Latent:
    return Latent(problem, subproblem, method, "any", claim, 1)


@pytest.mark.parametrize(
    ("doc", "middle"),
    [
        (about("01", "b", claim="noise-hurts"), 2.9),
        (about("01", "b", method="crf"), 2.9),
        (about("01", "a", claim="noise-hurts"), 1.9),
        (about("01", "b"), 1.0),
        (about("01", "a"), 1.0),
        # 01 and 14 are related problems, and so are 02b and 01a; nothing else of these is.
        (about("14", "a", claim="noise-hurts"), 0.3),
        (about("02", "b"), 0.0),
        (about("03", "b", claim="noise-hurts", method="crf"), 0.0),
    ],
)
def test_what_a_paper_is_about_decides_how_well_it_answers(doc: Latent, middle: float) -> None:
    latents = {f"p{number}": doc for number in range(200)}
    found = [answer_relevance(ASKED, name, latents) for name in latents]
    assert all(0 <= one <= 3 and abs(one - middle) <= JITTER for one in found)
    assert max(found) - min(found) > JITTER / 2
    assert found == [answer_relevance(ASKED, name, latents) for name in latents]


def test_the_papers_that_answer_are_those_that_a_reader_would_name() -> None:
    """Chosen by reading titles and abstracts, not by what the papers are said to be about."""
    read = {
        "q01": ("fic0107",), "q02": ("fic0204", "fic0209"), "q03": ("fic0305",), "q04": ("fic0510",),
        "q05": ("fic0602", "fic0607"), "q06": ("fic0707", "fic0710"), "q07": ("fic0801", "fic0809"),
        "q08": ("fic1004", "fic1008"), "q09": ("fic1203", "fic1204"), "q10": ("fic1501", "fic1504", "fic1508"),
    }  # fmt: skip
    assert read.keys() == QUESTIONS.keys()
    for name, full in read.items():
        for doc in full:
            assert answer_relevance(QUESTIONS[name], doc, LATENTS) > 2.5, (name, doc)
