"""Folds that keep papers together, and what is found where two sides are not apart."""

from collections import Counter

import pytest
from annot.base.errors import InputError, LeakError
from annot.base.records import Paper, Query, Topic
from annot.measuring.folds import find_leaks, grouped_folds, near_copies, refuse_leaks
from annot.measuring.study_analyses import StudyGrades
from sklearn.model_selection import StratifiedGroupKFold

FACETS = ("background", "method", "result")


def drawn(papers: int) -> list[Query]:
    """Every third paper has one facet, the others two."""
    return [
        Query(f"p{at}-{facet}", f"p{at}", facet, (0,))
        for at in range(papers)
        for facet in ((FACETS[at % 3],) if at % 3 == 0 else (FACETS[at % 3], FACETS[(at + 1) % 3]))
    ]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("count", [2, 3, 5])
def test_folds_hold_every_query_once_and_no_paper_twice(seed: int, count: int) -> None:
    queries = drawn(30)
    folds = grouped_folds(queries, copies=(), count=count, seed=seed)
    assert sorted(query_id for fold in folds for query_id in fold) == sorted(query.query_id for query in queries)
    papers = [{query_id.split("-")[0] for query_id in fold} for fold in folds]
    assert sum(map(len, papers)) == len(set.union(*papers))
    for facet in FACETS:
        sizes = [Counter(query_id.split("-")[1] for query_id in fold)[facet] for fold in folds]
        assert max(sizes) - min(sizes) <= 2
    assert folds == grouped_folds(queries[::-1], copies=(), count=count, seed=seed)


@pytest.mark.parametrize("seed", range(4))
def test_folds_are_as_even_as_those_of_scikit_learn(seed: int) -> None:
    """Its StratifiedGroupKFold keeps groups whole too and evens out classes; ours also takes near-copies as one."""
    queries = drawn(30)
    theirs = StratifiedGroupKFold(3, shuffle=True, random_state=seed).split(
        queries, [query.facet for query in queries], [query.topic_id for query in queries]
    )
    ours = grouped_folds(queries, copies=(), count=3, seed=seed)

    def spread(folds: list[list[str]]) -> int:
        """Queries of a facet that the fullest fold has more than the emptiest, over the facets."""
        counts = [Counter(name.split("-")[1] for name in fold) for fold in folds]
        return sum(max(of[facet] for of in counts) - min(of[facet] for of in counts) for facet in FACETS)

    assert spread([list(fold) for fold in ours]) <= spread(
        [[queries[at].query_id for at in test] for _, test in theirs]
    )


def test_seeds_draw_other_folds_and_too_few_papers_are_refused() -> None:
    assert len({grouped_folds(drawn(12), copies=(), count=2, seed=seed) for seed in range(10)}) > 5
    with pytest.raises(InputError, match=r"4 folds: .*found 3 query papers"):
        grouped_folds(drawn(3), copies=(), count=4, seed=1)


@pytest.mark.parametrize("seed", range(3))
def test_near_copies_are_in_one_fold(seed: int) -> None:
    copies = [("p7", "p1"), ("p1", "p10"), ("p4", "p5")]
    folds = grouped_folds(drawn(12), copies=copies, count=3, seed=seed)
    papers = [{query_id.split("-")[0] for query_id in fold} for fold in folds]
    assert sum(map(len, papers)) == len(set.union(*papers)) == 12
    assert all(len(of & {"p1", "p7", "p10"}) in (0, 3) and len(of & {"p4", "p5"}) in (0, 2) for of in papers)
    with pytest.raises(InputError, match=r"2 folds: .*found 1 query paper"):
        grouped_folds(drawn(3), copies=[("p0", "p1"), ("p1", "p2")], count=2, seed=seed)


def texts(**given: str) -> dict[str, Paper]:
    return {paper_id: Paper(paper_id, "", (text,)) for paper_id, text in given.items()}


LONG = "we learn to parse long sentences with graphs and show that this helps in nine languages of two families"


def test_grouped_folds_of_unlike_papers_have_nothing_to_refuse() -> None:
    train, test = [Query("p1-method", "p1", "method", (0,))], [Query("p2-method", "p2", "method", (0,))]
    papers = texts(p1=LONG, p2="colours of paintings are restored by comparing pigments under several kinds of light")
    pools = {"p1-method": ["c1", "c2", "p2"], "p2-method": ["c2", "c3"]}
    leaks = find_leaks(train, test, pools=pools, topics=papers)
    refuse_leaks(leaks, where="fold 1")
    assert leaks.candidates == ("c2",)
    assert leaks.other_way_round == ()


def test_two_query_papers_judged_for_each_other_on_two_sides_are_reported() -> None:
    train, test = [Query("p1-method", "p1", "method", (0,))], [Query("p2-result", "p2", "result", (0,))]
    leaks = find_leaks(train, test, pools={"p1-method": ["c1", "p2"], "p2-result": ["p1", "c2"]}, topics={})
    refuse_leaks(leaks, where="fold 1")
    assert leaks.other_way_round == (("p1", "p2"),)


def test_every_planted_leak_is_refused_by_name() -> None:
    train = [Query("p1-method", "p1", "method", (0,)), Query("p3-result", "p3", "result", (0,))]
    test = [Query("p1-result", "p1", "result", (0,)), Query("p2-method", "p2", "method", (0,)), train[1]]
    papers = texts(p1=LONG, p2=LONG.replace("nine", "ten").upper(), p3="something else altogether, said in six words")
    leaks = find_leaks(train, test, pools={"p3-result": ["c1"]}, topics=papers)
    assert leaks.topics == ("p1", "p3")
    assert leaks.pairs == (("p3-result", "c1"),)
    with pytest.raises(LeakError) as caught:
        refuse_leaks(leaks, where="fold 1")
    assert "p1: this query paper is in both training and test" in caught.value.faults
    assert "p3-result c1: this judged pair is in both training and test" in caught.value.faults


def test_near_copies_in_a_script_without_blanks_are_found_by_their_characters() -> None:
    """By hand: 40 characters have 36 runs of five, and one more at the end gives one run that only one of them has."""
    text = "我们研究了蜜蜂的舞蹈行为和信息传递方式结果表明舞蹈能够准确地指示花朵的方向和距离"[:40]
    topics = {"a": Topic("a", text), "b": Topic("b", text + "乙"), "c": Topic("c", text[::-1])}
    assert near_copies(topics) == (("a", "b"),)


def test_papers_with_most_queries_are_dealt_first_and_folds_come_out_even() -> None:
    """One paper of three queries and three of one: three on either side, whatever the seed."""
    facets = ("a", "b", "c")
    queries = [Query(f"big-{facet}", "big", facet, ()) for facet in facets]
    queries += [Query(f"p{facet}-{facet}", f"p{facet}", facet, ()) for facet in facets]
    for seed in range(8):
        one, two = grouped_folds(queries, copies=(), count=2, seed=seed)
        assert {one, two} == {("big-a", "big-b", "big-c"), ("pa-a", "pb-b", "pc-c")}


@pytest.mark.parametrize(("common", "near"), [(6, True), (5, False)])
def test_texts_are_near_duplicates_from_six_tenths_of_their_word_fives_on(common: int, near: bool) -> None:
    """Ten fives of words in all: those in common, and two of either text or more."""
    shared = [f"w{at}" for at in range(common + 4)]
    rest = 10 - common
    first, second = rest // 2, rest - rest // 2
    left = " ".join([*shared, *(f"l{at}" for at in range(first))])
    right = " ".join([*shared, *(f"r{at}" for at in range(second))])
    leaks = find_leaks(
        [Query("a-x", "a", "x", ())], [Query("b-x", "b", "x", ())], pools={}, topics=texts(a=left, b=right)
    )
    assert leaks.near_duplicates == ((("a", "b", pytest.approx(0.6)),) if near else ())
    if near:
        with pytest.raises(LeakError) as caught:
            refuse_leaks(leaks, where="fold 1")
        assert caught.value.faults == ("a and b: 60% of the text is the same",)


def test_questions_are_copies_by_title_and_description_however_short() -> None:
    """Topics that are texts; the narrative says what counts, and is not what is asked."""
    asked = {
        "T1": Topic("T1", "tea and hearts", None, "Only trials."),
        "T2": Topic("T2", "Tea and", "Hearts", "Only reviews."),
        "T3": Topic("T3", "tea and", None, "Only trials."),
        "T4": Topic("T4", "tea and hearts in old men"),
    }
    assert near_copies(asked) == (("T1", "T2"),)
    assert near_copies({**asked, **texts(T0="tea and hearts in old men")}) == (("T0", "T4"), ("T1", "T2"))


def grades(recorded: list[list[str]]) -> StudyGrades:
    papers = {paper_id: Paper(paper_id, "", (f"{paper_id} says " * 9,)) for paper_id in ("p0", "p1", "p2", "p3")}
    return StudyGrades((), 4, 7, recorded, papers)


def test_systems_learn_on_the_folds_on_record_of_queries_that_are_known() -> None:
    queries = [Query(f"p{at}-m", f"p{at}", "m", ()) for at in range(4)]
    assert grades([["p0-m", "gone"], ["p1-m"]]).folds(queries) == ([["p0-m"], ["p1-m"]], False)


def test_what_learned_and_tested_sides_share_is_found_or_refused() -> None:
    one, two = (Query(f"p{at}-m", f"p{at}", "m", ()) for at in range(2))
    pools = {"p0-m": ["c1", "p1"], "p1-m": ["c1", "p0"]}
    candidates, other_way_round = grades([]).shared([one], [two], documents=pools, where="fold 1")
    assert (candidates, other_way_round) == (("c1",), (("p0", "p1"),))
    with pytest.raises(LeakError):
        grades([]).shared([one], [one], documents=pools, where="fold 1")
