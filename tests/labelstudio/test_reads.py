"""A task's own texts are read back from its HTML, whatever characters they have and whatever is folded or marked."""

from annot.base.records import PairKey, Paper, Query
from annot.labelstudio.tasks import facets_task, judge_task, reads
from hypothesis import given
from hypothesis import strategies as st

WORDS = st.text(st.characters(codec="utf-8"), max_size=30) | st.sampled_from(
    [
        "",
        " ",
        "a  b",
        "<mark>x</mark>",
        "</p>",
        '<div class="a-side a-cand',
        "a & b",
        "\u2028",
        "\x00",
        "x</h2>",
        "&lt;",
    ]
)
TEXTS = st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=5))


@given(topic=TEXTS, document=TEXTS, labelled=st.booleans(), fold=st.sampled_from([1, 5, 1000]), mark=st.booleans())
def test_a_side_reads_as_the_text_that_it_was_made_of(
    topic: tuple[str, list[str]], document: tuple[str, list[str]], labelled: bool, fold: int, mark: bool
) -> None:
    papers = [
        Paper(name, title, tuple(sentences), labels=("method",) * len(sentences) if labelled else None)
        for name, (title, sentences) in (("p", topic), ("d", document))
    ]
    task = judge_task(
        question=PairKey("p-method", "d"),
        query=Query("p-method", "p", "method", (0,)),
        topic=papers[0],
        document=papers[1],
        facet_help="",
        facet_labels=("method",) if labelled else (),
        progress="",
        first=True,
        fold_after=fold,
        mark_terms=mark,
    )
    html = task["data"]["pair_html"]
    assert reads(html, "query", topic[0], topic[1])
    assert reads(html, "cand", document[0], document[1])
    assert not reads(html, "cand", f"{document[0]}x", document[1])
    assert not reads(html, "query", topic[0], [*topic[1], "Another sentence."])
    labels = Paper("p", topic[0], tuple(topic[1]), labels=("method",) * len(topic[1]))
    assert reads(facets_task("key", labels, progress="")["data"]["pair_html"], "query", topic[0], topic[1])
